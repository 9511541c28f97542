//! How results read: text for people, and for clients that show a model nothing else.

use std::fmt::Write as _;

use vambrace_types::Tree;

/// Whether something was done, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tense {
    Done,
    Would,
}

impl Tense {
    pub(crate) fn choose(self, done: &'static str, would: &'static str) -> &'static str {
        match self {
            Tense::Done => done,
            Tense::Would => would,
        }
    }
}

/// How one tool's results read. It is given nothing but clean data.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub(crate) text: fn(&Tree, Tense, &mut String),
    /// Whether a result is an error to the model, although the tool did its work.
    pub(crate) is_failure: fn(&Tree) -> bool,
    /// Whether a dry run's own text says that it is one.
    pub(crate) tells_dry_run: bool,
}

impl Reading {
    /// A program's end in the words of specification 002; everything else as JSON.
    pub const PLAIN: Reading = Reading { text: plain, is_failure: |_| false, tells_dry_run: false };

    pub(crate) const fn of(text: fn(&Tree, Tense, &mut String)) -> Reading {
        Reading { text, ..Reading::PLAIN }
    }

    pub fn write(self, data: &Tree, tense: Tense, out: &mut String) {
        // A preview that shows no result: the words for a result would say that nothing was found.
        if data.get("would").is_some() { would(data, out) } else { (self.text)(data, tense, out) }
    }

    pub fn is_failure(self, data: &Tree) -> bool {
        (self.is_failure)(data)
    }

    pub fn tells_dry_run(self) -> bool {
        self.tells_dry_run
    }
}

pub(crate) fn plain(tree: &Tree, _tense: Tense, out: &mut String) {
    if tree.get("exit_code").is_some() && tree.get("stdout").is_some() {
        ran(tree, out);
    } else {
        tree.write_json(out);
    }
}

fn would(tree: &Tree, out: &mut String) {
    let paths = tree.get("paths").and_then(Tree::as_list).unwrap_or_default();
    let _ = write!(out, "Would call {}", field(tree, "would"));
    for (place, path) in paths.iter().enumerate() {
        out.push_str(if place == 0 { " on " } else { ", " });
        match path.as_text() {
            Some(path) => out.push_str(path),
            None => path.write_json(out),
        }
    }
}

/// The words of specification 002.
fn ran(tree: &Tree, out: &mut String) {
    let number = |key: &str| tree.get(key).and_then(Tree::as_int).unwrap_or(0);
    if tree.get("timed_out") == Some(&Tree::Bool(true)) {
        let limit = number("time_limit_ms") / 1000;
        let _ = write!(
            out,
            "Error: Command timeout after {limit}s\nStdout: {}\nStderr: {}",
            stream(tree, "stdout"),
            stream(tree, "stderr")
        );
    } else {
        let error = if number("exit_code") == 0 { "" } else { "Error: " };
        let _ = write!(
            out,
            "{error}Exit code: {}\nDuration: {}ms\nStdout:\n{}\nStderr:\n{}",
            number("exit_code"),
            number("duration_ms"),
            stream(tree, "stdout"),
            stream(tree, "stderr")
        );
    }
    if let Some(summary) = tree.get("summary").filter(|summary| **summary != Tree::Null) {
        let _ = write!(out, "\nSummary: {}", summary.to_json());
    }
    let shown = [
        "exit_code",
        "stdout",
        "stderr",
        "duration_ms",
        "timed_out",
        "time_limit_ms",
        "truncated",
        "summary",
    ];
    if let Tree::Map(entries) = tree {
        for (key, value) in entries.iter().filter(|(key, _)| !shown.contains(&key.as_ref())) {
            let _ = write!(out, "\n{key}: ");
            match value.as_text() {
                Some(text) => out.push_str(text),
                None => value.write_json(out),
            }
        }
    }
    if tree.get("truncated") == Some(&Tree::Bool(true)) {
        out.push_str("\n[the output was cut]");
    }
}

/// A stream that was cut to its limit is a map with its parts.
fn stream(tree: &Tree, key: &str) -> String {
    match tree.get(key) {
        Some(value) => value.as_text().map_or_else(|| value.to_json(), str::to_owned),
        None => String::new(),
    }
}

/// A part of a text, and where the next one begins.
pub(crate) fn content(tree: &Tree, _tense: Tense, out: &mut String) {
    out.push_str(field(tree, "content"));
    if let Some(next) = tree.get("next_offset").and_then(Tree::as_int) {
        let total = tree.get("total_bytes").and_then(Tree::as_int).unwrap_or(0);
        let _ = write!(out, "\n[more: continue with offset {next}; {total} bytes in all]");
    }
}

/// What stands at the end of a list that was cut.
pub(crate) fn marker(item: &Tree, out: &mut String) {
    let _ = writeln!(out, "[cut: {}]", item.to_json());
}

pub(crate) fn field<'t>(tree: &'t Tree, key: &str) -> &'t str {
    tree.get(key).and_then(Tree::as_text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_without_a_result_says_what_would_be_called() {
        let paths = Tree::List(vec![Tree::text("a"), Tree::text("b")]);
        let preview = Tree::map([("would", Tree::text("search_file")), ("paths", paths)]);
        let mut out = String::new();
        Reading::PLAIN.write(&preview, Tense::Would, &mut out);
        assert_eq!(out, "Would call search_file on a, b");
    }
}
