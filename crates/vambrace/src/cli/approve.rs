//! Asking the person at the terminal. Without a terminal on both ends nobody can be asked.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use vambrace_runtime::{Answer, Approver};

use crate::terminal;

struct Person;

pub(crate) fn approver() -> Option<Arc<dyn Approver>> {
    let watched = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    watched.then(|| Arc::new(Person) as Arc<dyn Approver>)
}

impl Approver for Person {
    /// Anything but a plain yes is a no.
    fn ask(&self, tool: &str, question: &str) -> Answer {
        let mut err = std::io::stderr().lock();
        let text = format!("{tool} needs your approval: {}", terminal::one_line(question));
        let _ = writeln!(err, "{text}\nAllow it? [y/N] ");
        let mut line = String::new();
        let heard = std::io::stdin().lock().read_line(&mut line);
        match (heard, line.trim()) {
            (Ok(_), "y" | "Y" | "yes") => Answer::Yes { by: "terminal".to_owned() },
            _ => Answer::No,
        }
    }
}
