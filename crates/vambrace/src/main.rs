//! The command line, and nothing else: it reads what the person wants, builds the corridor and prints what comes back.

mod cli;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_panics();
    cli::run().into()
}

/// A fault is told in one line without its payload, which may hold a secret; the record knows the call.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|fault| {
        let place = fault.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        terminal::complain(&format!("vambrace: internal fault{}", place.unwrap_or_default()));
    }));
}
