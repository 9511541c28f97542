//! Completions and the manual page, made from the options themselves.

use clap::CommandFactory as _;

use super::Exit;
use super::options::Options;
use crate::terminal;

pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    // Into memory first: the generator panics when its reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "vambrace", &mut script);
    terminal::say(&String::from_utf8_lossy(&script));
    Exit::Done
}

pub(crate) fn page() -> Exit {
    let mut page = Vec::new();
    if clap_mangen::Man::new(Options::command()).render(&mut page).is_err() {
        return Exit::Failed;
    }
    terminal::say(&String::from_utf8_lossy(&page));
    Exit::Done
}
