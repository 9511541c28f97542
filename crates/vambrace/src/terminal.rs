//! Talking to a person or to a pipe.

use std::io::{IsTerminal as _, Write as _};

use owo_colors::OwoColorize as _;
use serde_json::Value;

/// Whether a person looks at standard output.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

/// One line or more on standard output. A reader that went away is no error of ours.
pub(crate) fn say(text: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = out.write_all(b"\n");
    }
    let _ = out.flush();
}

/// One line on standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

pub(crate) fn warn(text: &str) {
    complain(&format!("{} {text}", "warning:".yellow().bold()));
}

pub(crate) fn fail(text: &str) {
    complain(&format!("{} {text}", "error:".red().bold()));
}

/// JSON: readable for a person, one line for a program.
pub(crate) fn json(value: &Value) {
    if is_watched() {
        say(&format!("{value:#}"));
    } else {
        say(&value.to_string());
    }
}

/// Colors the lines of a unified diff inside a text.
pub(crate) fn paint_diff(text: &str) -> String {
    let mut painted = String::new();
    let mut in_diff = false;
    for line in text.lines() {
        in_diff |= line.starts_with("--- ") || line.starts_with("@@ ");
        let line = match line.chars().next() {
            Some('+') if in_diff => line.green().to_string(),
            Some('-') if in_diff => line.red().to_string(),
            Some('@') if in_diff => line.cyan().to_string(),
            Some(_) | None => line.to_owned(),
        };
        painted.push_str(&line);
        painted.push('\n');
    }
    painted
}
