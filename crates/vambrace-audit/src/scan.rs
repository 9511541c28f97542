//! Walks along a chained file and finds the first place where it does not hold. Pure, given a reader.

use std::io::{self, BufRead, Read as _};

use crate::chain::{LinkFault, Tip, follow};
use crate::line::LONGEST_RECORD;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From one; equal to the `seq` that the line has or should have.
    pub(crate) line: u64,
    pub(crate) why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Behind the last good line.
    pub(crate) tip: Tip,
    /// Bytes of an unfinished line at the end, not covered by the head.
    pub(crate) torn: usize,
    pub(crate) fault: Option<Fault>,
}

/// Reads lines from `start` on. `head` is what the file must at least agree with.
pub(crate) fn scan(
    start: Tip,
    head: Option<Tip>,
    mut reader: impl BufRead,
    mut each: impl FnMut(u64, &[u8]),
) -> io::Result<Scan> {
    let mut scan = Scan { tip: start, torn: 0, fault: contradiction(start, head) };
    let mut line = Vec::new();
    while scan.fault.is_none() {
        line.clear();
        let longest = LONGEST_RECORD as u64;
        let length = reader.by_ref().take(longest + 1).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            if length as u64 > longest {
                scan.fault = Some(Fault {
                    line: scan.tip.count + 1,
                    why: "the line is longer than a record".to_owned(),
                });
            }
            scan.torn = length;
            break;
        }
        match follow(scan.tip, &line) {
            Ok(tip) => {
                scan.tip = tip;
                scan.fault = contradiction(tip, head);
                each(tip.count, &line);
            }
            Err(fault) => scan.fault = Some(explain(scan.tip, fault)),
        }
    }
    if let Some(head) = head
        && scan.fault.is_none()
        && scan.tip.count < head.count
    {
        let why =
            format!("the file ends after {} lines, its signed head counts {}", scan.tip.count, head.count);
        scan.fault = Some(Fault { line: scan.tip.count + 1, why });
    }
    Ok(scan)
}

fn contradiction(tip: Tip, head: Option<Tip>) -> Option<Fault> {
    let head = head?;
    let differs = tip.count == head.count && tip != head;
    differs.then(|| Fault { line: tip.count, why: "the line is not the one in the signed head".to_owned() })
}

fn explain(tip: Tip, fault: LinkFault) -> Fault {
    let next = tip.count + 1;
    match fault {
        LinkFault::NotARecord => Fault { line: next, why: "the line is not a record".to_owned() },
        LinkFault::Sequence { expected, found } => Fault {
            line: next,
            why: format!("`seq` is {found} where {expected} must be: lines were removed, added or moved"),
        },
        LinkFault::Previous if tip.count == 0 => {
            Fault { line: next, why: "the line does not begin this file".to_owned() }
        }
        // Which of the two was changed cannot be told; the earlier one is named.
        LinkFault::Previous => Fault {
            line: tip.count,
            why: format!("the line is not the one that line {next} names as the one before it"),
        },
    }
}
