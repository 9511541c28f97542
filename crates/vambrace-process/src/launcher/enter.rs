//! Enters control groups and then becomes another program, so that this one and all that come from it are counted: the
//! third thing our binary is executed again for. It knows neither cages nor backends.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::confine::said;
use super::kernel_unsafe;
use crate::wire::Line;
use crate::wire::message::Report;

/// `FILE… -- PROGRAM WORDS…`; the files are those of `Group::procs_files`.
///
/// INVARIANT: the program runs in every group or not at all. Who started us waits for the first report of a cell, so
/// that is where a failure is told.
pub(super) fn enter_and_become(words: impl Iterator<Item = OsString>) -> ExitCode {
    let why = attempt(words);
    if let Ok(control) = super::take_control() {
        let _told = Line::new(control).send(&Report::Refused { why, lacks: false }, &[]);
    }
    ExitCode::FAILURE
}

/// Comes back only with the reason why it failed.
fn attempt(mut words: impl Iterator<Item = OsString>) -> String {
    // What we inherited without knowing is not for others either.
    if let Err(errno) = kernel_unsafe::close_from(3) {
        return format!("descriptors: {}", said(errno));
    }
    let files: Vec<PathBuf> = words.by_ref().take_while(|word| word != "--").map(PathBuf::from).collect();
    for file in files {
        if let Err(errno) = super::cell::write_once(file, "0") {
            return format!("its control group cannot be entered: {}", said(errno));
        }
    }
    let Some(program) = words.next() else { return "no program was named".to_owned() };
    let error = Command::new(&program).args(words).exec();
    format!("`{}`: {error}", program.display())
}
