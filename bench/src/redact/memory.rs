//! A stream of 2 GB through `vambrace redact`: how much memory it has had at most when the last byte has gone in.

use std::io::Write as _;
use std::process::Stdio;

use super::Bench;
use super::cost;
use super::kinds::KINDS;
use super::mixed::Mixed;
use super::plant::{Style, plant};
use super::scanners::quiet;
use super::speed::OURS;
use crate::failure::Failure;
use crate::sample::Numbers;

pub(super) const STREAM: usize = 2_000_000_000;
const PIECE: usize = 1 << 20;

/// Peak resident memory in bytes.
pub(super) fn run(bench: &Bench<'_>, mixed: &Mixed) -> Result<u64, Failure> {
    let mut command = quiet(bench.place, &bench.place.vambrace, "vambrace")?;
    let mut child = command.arg("redact").stdin(Stdio::piped()).spawn().map_err(Failure::start(OURS))?;
    let input = child.stdin.take();
    let mut input = input.ok_or_else(|| Failure::wrong(OURS, "has no pipe", ""))?;
    let mut numbers = Numbers::new(77);
    let mut n_sent = 0;
    for piece in mixed.bytes.chunks(PIECE).cycle() {
        // Text may come again, but secrets are always new: what is kept for each would add up.
        let kinds = (0..32).filter_map(|_| KINDS.get(numbers.below(KINDS.len())));
        let kinds: Vec<_> = kinds.collect();
        let mut fresh: String = "\n".to_owned();
        fresh.extend(kinds.into_iter().map(|kind| plant(kind, Style::Log, &mut numbers).text));
        for bytes in [piece, fresh.as_bytes()] {
            input
                .write_all(bytes)
                .map_err(|problem| Failure::wrong(OURS, "does not listen", &problem.to_string()))?;
            n_sent += bytes.len();
        }
        if n_sent >= STREAM {
            break;
        }
    }
    let peak = cost::peak(child.id())?;
    drop(input);
    let status = cost::wait(OURS, &mut child)?;
    if status.success() { Ok(peak) } else { Err(Failure::wrong(OURS, "ended with", &status.to_string())) }
}
