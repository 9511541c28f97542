//! `cargo xtask COMMAND`: what keeps the house in order. Started by people and by CI, never shipped.
//!
//! It reads manifests and sources as text and starts cargo. It must not depend on any other crate, ours or foreign:
//! it has to build in seconds, and it has to run when everything else is broken.

#![expect(clippy::print_stdout, reason = "a task runner talks to the person who started it")]

mod bench;
mod code;
mod failure;
mod layers;
mod libtest;
mod manifest;
mod misuse;
mod promises;
mod reference;
mod requirements;
mod run;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use requirements::Installing;
use workspace::{Workspace, WriteMode};

const HELP: &str = "\
cargo xtask COMMAND

  test [--quick]       what CI runs: requirements, format, tidy, promises, lints, reference, misuse, tests
                       (--quick installs nothing and says what it therefore did not run)
  tidy                 layers, banned names, places of power, credentials, licenses, package budget
  promises [--write]   every promise has a page and every named proof exists; PROMISES.md is current
  reference [--write]  docs/reference is what the binary generates
  misuse               the wrong programs do not compile, for the right reason
  bench [NAME …]       side-by-side measurements
  help                 this text";

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
    let root = workspace::find_root()?;
    match words {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["test"] => test::run(&root, Installing::Allowed),
        ["test", "--quick"] => test::run(&root, Installing::Forbidden),
        ["tidy"] => tidy::run(&Workspace::read(root)?),
        ["promises"] => promises::run(&Workspace::read(root)?, WriteMode::Check),
        ["promises", "--write"] => promises::run(&Workspace::read(root)?, WriteMode::Write),
        ["reference"] => reference::run(&root, WriteMode::Check),
        ["reference", "--write"] => reference::run(&root, WriteMode::Write),
        ["misuse"] => misuse::run(&root),
        ["bench", names @ ..] => bench::run(&root, names),
        other => Err(Failure::new(
            format!("`{}` is not a command of xtask", other.join(" ")),
            "Run `cargo xtask help` for the list.",
        )),
    }
}
