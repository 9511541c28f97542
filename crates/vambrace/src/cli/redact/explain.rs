//! `redact --explain`: which rule, where and why, and not a byte of what was found.

use std::io::Read as _;

use owo_colors::OwoColorize as _;
use serde_json::json;
use vambrace_redact::Redactor;

use super::input::{Input, Place, places};
use crate::cli::Exit;
use crate::cli::options::{Global, RedactArgs};
use crate::cli::start::redacting;
use crate::terminal::{self, one_line};

/// LIMIT: a finding has its place in the whole text, so the whole text is held.
const LONGEST_TEXT: u64 = 64 << 20;

pub(super) fn run(global: &Global, args: &RedactArgs) -> Result<Exit, Exit> {
    let redactor = redacting(global, args.marking())?;
    let as_table = terminal::is_watched() && !global.json;
    let mut exit = Exit::Done;
    let mut n_found = 0;
    for place in places(&args.files) {
        match explain(&redactor, &place, as_table) {
            Ok(n_here) => n_found += n_here,
            Err(why) => {
                terminal::fail(&format!("{place}: {why}"));
                exit = Exit::Failed;
            }
        }
    }
    if as_table {
        terminal::say(&format!("{n_found} {}", if n_found == 1 { "finding" } else { "findings" }));
    }
    Ok(exit)
}

fn explain(redactor: &Redactor, place: &Place, as_table: bool) -> Result<usize, String> {
    let mut bytes = Vec::new();
    let read = Input::open(place)?.take(LONGEST_TEXT + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(format!(
            "it is longer than {LONGEST_TEXT} bytes, which is as much as can be explained; without --explain any length is fine"
        ));
    }
    let findings = redactor.scan(&bytes);
    let (mut line_start, mut seen) = (0, 0);
    for found in &findings {
        // Findings are in order, so every byte is passed once, however long the lines are.
        let passed = bytes.get(seen..found.start).unwrap_or_default();
        line_start = passed.iter().rposition(|byte| *byte == b'\n').map_or(line_start, |at| seen + at + 1);
        seen = found.start;
        let column = found.start - line_start + 1;
        let (rule, length) = (found.rule.to_string(), found.end - found.start);
        if as_table {
            let at = format!("{}:{}:{column}", one_line(&place.name()), found.line);
            let told =
                format!("{at:<32} {} {length:>6} bytes  {}", format!("{rule:<28}").yellow(), found.why());
            terminal::say(&told);
        } else {
            let row = json!({"file": place.name(), "line": found.line, "column": column, "rule": rule,
                             "start": found.start, "end": found.end, "length": length, "why": found.why()});
            terminal::say(&row.to_string());
        }
    }
    Ok(findings.len())
}
