//! One file per command.

mod approvals;
mod approve;
mod audit;
mod call;
mod check;
mod config;
mod doctor;
mod dry;
mod exit;
mod lines;
mod log;
mod man;
mod mcp;
mod options;
mod redact;
mod reference;
mod run;
mod secrets;
mod serve;
mod start;
mod switch;
mod token;

use clap::Parser as _;

pub(crate) use exit::Exit;
use options::{Command, Options, ServeArgs};

pub(crate) fn run() -> Exit {
    let options = Options::parse();
    let global = &options.global;
    if global.dry_run
        && let Some(why) = dry::refusal(options.command.as_ref())
    {
        return start::usage(&why);
    }
    match options.command {
        Some(Command::Call(args)) => call::run(global, args),
        Some(Command::Check(args)) => check::run(global, args),
        Some(Command::Run(args)) => run::run(global, args),
        Some(Command::Redact(args)) => redact::run(global, &args),
        Some(Command::Secrets(args)) => secrets::run(global, args),
        Some(Command::Audit(args)) => audit::run(global, args),
        Some(Command::Stop { list: true, .. }) => switch::list(global),
        Some(Command::Stop { caller, .. }) => switch::stop(global, caller.as_deref()),
        Some(Command::Resume { caller }) => switch::resume(global, &caller),
        Some(Command::Config(args)) => config::run(global, args),
        Some(Command::Mcp) => mcp::run(global),
        Some(Command::Serve(args)) => serve::run(global, args),
        Some(Command::Approvals(args)) => approvals::run(global, &args),
        Some(Command::Token(args)) => token::run(global, &args),
        Some(Command::Doctor) => doctor::run(global),
        Some(Command::Completions { shell }) => man::completions(shell),
        Some(Command::Man) => man::page(),
        Some(Command::Reference { folder }) => reference::run(&folder),
        None => serve::run(global, ServeArgs::default()),
    }
}
