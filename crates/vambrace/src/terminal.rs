//! Talking to a person or to a pipe.

pub(crate) mod progress;

use std::io::{ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use owo_colors::OwoColorize as _;
use serde_json::Value;

/// Whether a person looks at standard output.
pub(crate) fn is_watched() -> bool {
    std::io::stdout().is_terminal()
}

static HAS_LOST_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Whether something that was said could not be written, which the exit code tells too.
pub(crate) fn has_lost_output() -> bool {
    HAS_LOST_OUTPUT.load(Ordering::Relaxed)
}

/// One line or more on standard output. A reader that went away is no error of ours; a full disk is
/// told once.
pub(crate) fn say(text: &str) {
    let written = write_line(anstream::stdout().lock(), text);
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !HAS_LOST_OUTPUT.swap(true, Ordering::Relaxed)
    {
        fail(&format!("the output could not be written: {error}"));
    }
}

fn write_line(mut out: impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// One line on standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

pub(crate) fn warn(text: &str) {
    complain(&format!("{} {}", "warning:".yellow().bold(), one_line(text)));
}

pub(crate) fn fail(text: &str) {
    complain(&format!("{} {}", "error:".red().bold(), one_line(text)));
}

/// A text that somebody else chose, as a part of one line: what would begin a line of its own, overwrite this one or
/// turn its order round is spelled out. THREAT: P03, a forged line looks like one of ours.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if is_treacherous(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Controls (C0, DEL, C1), separators of lines and paragraphs, and what changes the direction of writing.
fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON in which nothing is left that a terminal would obey, or that would be taken out on the way to standard output.
/// The line breaks between its texts stay.
fn spelled(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_treacherous(c) && c != '\n' {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    text
}

/// JSON: readable for a person, one line for a program.
pub(crate) fn json(value: &Value) {
    if is_watched() {
        say(&spelled(&format!("{value:#}")));
    } else {
        json_line(value);
    }
}

/// JSON on one line, for programs.
pub(crate) fn json_line(value: &Value) {
    say(&spelled(&value.to_string()));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
    }

    #[test]
    fn a_text_of_somebody_else_stays_on_its_line() {
        check("plain, ünï and 漢字", "plain, ünï and 漢字");
        check("a\nb", "a\\nb");
        check("a\r\tb", "a\\r\\tb");
        check("\u{1b}[2K", "\\u{1b}[2K");
        check("\u{7f}\u{85}\u{9b}", "\\u{7f}\\u{85}\\u{9b}");
        check("\u{202a}\u{202e}\u{2066}\u{2069}", "\\u{202a}\\u{202e}\\u{2066}\\u{2069}");
        check("\u{2028}\u{200f}", "\\u{2028}\\u{200f}");
    }

    #[test]
    fn readable_json_is_the_same_json() {
        let value = json!({"message": "a\n\u{202e}b\u{9b}", "plain": "ü", "delete": "a\u{7f}b"});
        for shown in [spelled(&format!("{value:#}")), spelled(&value.to_string())] {
            assert_eq!(vambrace_json::own_line::<Value>(shown.as_bytes()).unwrap(), value);
            assert!(shown.chars().all(|c| c == '\n' || !is_treacherous(c)), "{shown}");
        }
    }
}
