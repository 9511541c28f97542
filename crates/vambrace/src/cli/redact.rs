//! `redact`: a filter for pipes.

use std::io::{Read as _, Write as _};

use vambrace_config::resolve::redactor;

use super::Exit;
use super::options::{Global, RedactArgs};
use super::start::{configuration, environment, usage};
use crate::terminal;

pub(crate) fn run(global: &Global, args: &RedactArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: &RedactArgs) -> Result<Exit, Exit> {
    let loaded = configuration(global)?;
    let redactor = redactor(&loaded.config, &environment()).map_err(|error| usage(&error.to_string()))?;
    let mut stream = redactor.stream();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut chunk = vec![0; 1 << 16];
    let mut clean = Vec::new();
    loop {
        let n_read = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed("standard input", &error)),
        };
        stream.push(chunk.get(..n_read).unwrap_or_default(), &mut clean);
        output.write_all(&clean).map_err(|error| failed("standard output", &error))?;
        clean.clear();
    }
    let stats = stream.finish(&mut clean);
    output
        .write_all(&clean)
        .and_then(|()| output.flush())
        .map_err(|error| failed("standard output", &error))?;
    if args.stats {
        terminal::complain(&format!("{} secrets replaced", stats.n_redactions));
        for (rule, count) in &stats.by_rule {
            terminal::complain(&format!("{count:>8}  {rule}"));
        }
    }
    Ok(Exit::Done)
}

fn failed(what: &str, error: &std::io::Error) -> Exit {
    // A reader that closed its end has seen enough.
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Exit::Done;
    }
    terminal::fail(&format!("{what}: {error}"));
    Exit::Failed
}
