//! Completions and the manual page, made from the options themselves.

use clap::CommandFactory as _;

use super::Exit;
use super::options::Options;

pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    clap_complete::generate(shell, &mut Options::command(), "vambrace", &mut std::io::stdout().lock());
    Exit::Done
}

pub(crate) fn page() -> Exit {
    match clap_mangen::Man::new(Options::command()).render(&mut std::io::stdout().lock()) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::Failed,
    }
}
