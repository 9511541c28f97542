//! `redact`: a filter for pipes and files. It sends nothing anywhere.

mod explain;
mod input;

use std::io::{IsTerminal as _, Write as _};

use serde_json::json;
use vambrace_redact::StreamStats;

use super::Exit;
use super::options::{Global, RedactArgs};
use super::start::redacting;
use crate::terminal;
use crate::terminal::progress::{Progress, bar};
use input::Input;

pub(crate) fn run(global: &Global, args: &RedactArgs) -> Exit {
    let exit = if args.explain { explain::run(global, args) } else { filter(global, args) };
    exit.unwrap_or_else(|exit| exit)
}

/// What went through.
#[derive(Default)]
struct Totals {
    n_inputs: u64,
    read: u64,
    written: u64,
}

/// Each input is a stream of its own: a secret at the end of a file without a last line end would otherwise be glued to the
/// next file's first word, and not be one any more. LIMIT: a secret that was cut into two files is not found.
fn filter(global: &Global, args: &RedactArgs) -> Result<Exit, Exit> {
    let redactor = redacting(global, args.marking())?;
    let mut stats = StreamStats::default();
    let mut output = std::io::stdout().lock();
    let mut progress = Progress::new(!global.quiet && !args.files.is_empty());
    let beside_text = output.is_terminal();
    let expected: u64 = args.files.iter().map(|path| input::size(path)).sum();
    let (mut chunk, mut clean) = (vec![0; 1 << 16], Vec::new());
    let mut totals = Totals::default();
    let mut exit = Exit::Done;
    for place in input::places(&args.files) {
        let mut input = match Input::open(&place) {
            Ok(input) => input,
            Err(why) => {
                progress.clear();
                terminal::fail(&format!("{place}: {why}"));
                exit = Exit::Failed;
                continue;
            }
        };
        totals.n_inputs += 1;
        let mut stream = redactor.stream();
        loop {
            let n_read = match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(n_read) => n_read,
                Err(error) => {
                    progress.clear();
                    terminal::fail(&format!("{place}: {error}"));
                    exit = Exit::Failed;
                    break;
                }
            };
            stream.push(chunk.get(..n_read).unwrap_or_default(), &mut clean);
            // The line of progress and the text may share a terminal.
            if beside_text && !clean.is_empty() {
                progress.clear();
            }
            output.write_all(&clean).map_err(|error| failed(&error))?;
            totals.read += n_read as u64;
            totals.written += clean.len() as u64;
            if !beside_text || clean.ends_with(b"\n") {
                let n_secrets = stats.n_redactions + stream.stats().n_redactions;
                progress.tell(|time| bar(totals.read, expected, time, n_secrets));
            }
            clean.clear();
        }
        stats.add(stream.finish(&mut clean));
        output.write_all(&clean).map_err(|error| failed(&error))?;
        totals.written += clean.len() as u64;
        clean.clear();
    }
    progress.clear();
    output.flush().map_err(|error| failed(&error))?;
    if args.stats {
        tell_stats(global, &stats, &totals);
    }
    Ok(exit)
}

fn tell_stats(global: &Global, stats: &StreamStats, totals: &Totals) {
    if global.json {
        let by_rule: serde_json::Map<String, serde_json::Value> =
            stats.by_rule.iter().map(|(rule, count)| (rule.to_string(), json!(count))).collect();
        let told = json!({"secrets": stats.n_redactions, "inputs": totals.n_inputs, "bytes_read": totals.read,
                          "bytes_written": totals.written, "by_rule": by_rule});
        return terminal::complain(&told.to_string());
    }
    terminal::complain(&format!(
        "{} secrets replaced, {} bytes read, {} written",
        stats.n_redactions, totals.read, totals.written
    ));
    for (rule, count) in &stats.by_rule {
        terminal::complain(&format!("{count:>8}  {rule}"));
    }
}

fn failed(error: &std::io::Error) -> Exit {
    // A reader that closed its end has seen enough.
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Exit::Done;
    }
    terminal::fail(&format!("standard output: {error}"));
    Exit::Failed
}
