//! `cargo xtask bench NAME`: Vambrace beside its peers and beside what physics allows, on this machine, in one run.
//!
//! Starts the release binary and speaks to it as any client does. Never shipped, and no part of the test suite: a
//! number that depends on the machine is for a person to read, not for CI to fail on.

#![expect(clippy::print_stdout, reason = "a benchmark talks to the person who started it")]

mod failure;
mod files;
mod http;
mod mcp;
mod measure;
mod net;
mod peers;
mod pipes;
mod place;
mod redact;
mod report;
mod resident;
mod sample;
mod spawn;
mod table;

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use failure::Failure;
use place::Place;

const HELP: &str = "\
cargo xtask bench NAME …

  files   read_file over MCP, start and memory, search, durable edits, the record
  http    calls over MCP, REST and A2A at 16 connections, beside a bare echo; idle connections, memory, bearer tokens
  net     web_fetch and fetch_url over MCP, beside curl and another fetch server
  redact  secrets found and missed, false hits, speed and memory, beside other scanners
  spawn   a program in a cage, beside other cages and a plain start; deciding about command lines

Prints a table and rewrites the section NAME of docs/performance.md.";

type Benchmark = fn(&Place) -> Result<(), Failure>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("\nFAILED: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    if let ["--echo", n_bytes] = words {
        let _ = echo(n_bytes.parse().unwrap_or(1));
        return Ok(());
    }
    if words.is_empty() || words.iter().any(|word| matches!(*word, "help" | "--help" | "-h")) {
        println!("{HELP}");
        return Ok(());
    }
    if let ["--ordinary", paths @ ..] = words {
        return spawn::as_ordinary_user(paths);
    }
    if let ["--http-echo"] = words {
        return http::echo();
    }
    let known: [(&str, Benchmark); 5] = [
        ("files", files::run),
        ("http", http::run),
        ("net", net::run),
        ("redact", redact::run),
        ("spawn", spawn::run),
    ];
    let find = |word: &&str| {
        known.iter().find(|(name, _)| name == word).map(|(_, run)| run).ok_or_else(|| {
            let what = format!("there is no benchmark `{word}`");
            Failure::new(what, "Run `cargo xtask bench` for the list.")
        })
    };
    // All names first, so that a slip of the pen is told before anything takes its time.
    let wanted = words.iter().map(find).collect::<Result<Vec<_>, Failure>>()?;
    let place = Place::find()?;
    wanted.into_iter().try_for_each(|run| run(&place))
}

/// The pipe echo for machines without a C compiler; see `echo.c`. It ends when nobody listens.
fn echo(n_bytes: usize) -> std::io::Result<()> {
    let mut answer = vec![b'x'; n_bytes.saturating_sub(1)];
    answer.push(b'\n');
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&answer)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
