//! The command line, and nothing else: it reads what the person wants, builds the corridor and prints what comes back.

mod cli;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    // INVARIANT: before any thread. We may have been started as the launcher of cages or as their attacker.
    if let Some(code) = vambrace_process::launch_if_asked() {
        return code;
    }
    if std::env::args().nth(1).as_deref() == Some("__attack") {
        return vambrace_process::attack_as_told();
    }
    quiet_panics();
    match cli::run() {
        cli::Exit::Done if terminal::has_lost_output() => cli::Exit::Failed.into(),
        exit => exit.into(),
    }
}

/// A fault is told in one line without its payload, which may hold a secret; the record knows the call.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|fault| {
        let place = fault.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        terminal::complain(&format!("vambrace: internal fault{}", place.unwrap_or_default()));
    }));
}
