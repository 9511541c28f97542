//! A reply as text. Some clients show a model only this half, so it says everything that the structured half says.

use std::fmt::Write as _;

use vambrace_runtime::Reply;
use vambrace_types::Tree;

pub fn text(reply: &Reply) -> String {
    let mut out = String::new();
    match reply.error() {
        Some(error) => {
            let _ = write!(out, "Error: {}", error.message.as_str());
            if !error.suggestion.is_empty() {
                let _ = write!(out, "\n{}", error.suggestion.as_str());
            }
            let _ = write!(out, "\n(code {}", error.code.as_str());
            if !reply.rule().is_empty() {
                let _ = write!(out, ", rule {}", reply.rule().as_str());
            }
            out.push(')');
            if let Some(details) = &error.details {
                let _ = write!(out, "\nDetails: {}", details.as_tree().to_json());
            }
        }
        None => data(reply.tool(), reply.data().as_tree(), Tense::of(reply), &mut out),
    }
    notes(reply, &mut out);
    out
}

/// Specification 002: a command that ends with an error is an error to the model, although the tool did its work.
pub(crate) fn is_failed_command(reply: &Reply) -> bool {
    let data = reply.data().as_tree();
    let failed = data.get("exit_code").and_then(Tree::as_int).is_some_and(|code| code != 0);
    reply.tool() == "bash_command" && (failed || data.get("timed_out") == Some(&Tree::Bool(true)))
}

/// Whether something was done, or would be.
#[derive(Clone, Copy)]
enum Tense {
    Done,
    Would,
}

impl Tense {
    fn of(reply: &Reply) -> Tense {
        if reply.metadata().dry_run { Tense::Would } else { Tense::Done }
    }

    fn choose(self, done: &'static str, would: &'static str) -> &'static str {
        match self {
            Tense::Done => done,
            Tense::Would => would,
        }
    }
}

fn data(tool: &str, tree: &Tree, tense: Tense, out: &mut String) {
    // A preview that shows no result: the words for a result would say that nothing was found.
    if tree.get("would").is_some() {
        return would(tree, out);
    }
    match tool {
        "read_file" | "read_output" => content(tree, out),
        "write_file" => written(tree, tense, out),
        "edit_file" => edited(tree, tense, out),
        "search_file" => found(tree, out),
        "list_files" => listed(tree, out),
        _ if tree.get("exit_code").is_some() && tree.get("stdout").is_some() => ran(tree, out),
        "bash_command" if tree.get("message").is_some() => out.push_str(field(tree, "message")),
        _ => tree.write_json(out),
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

fn content(tree: &Tree, out: &mut String) {
    out.push_str(field(tree, "content"));
    if let Some(next) = tree.get("next_offset").and_then(Tree::as_int) {
        let total = tree.get("total_bytes").and_then(Tree::as_int).unwrap_or(0);
        let _ = write!(out, "\n[more: continue with offset {next}; {total} bytes in all]");
    }
}

fn written(tree: &Tree, tense: Tense, out: &mut String) {
    let verb = if tree.get("created") == Some(&Tree::Bool(true)) {
        tense.choose("Created", "Would create")
    } else {
        tense.choose("Wrote", "Would write")
    };
    let bytes = tree.get("bytes").and_then(Tree::as_int).unwrap_or(0);
    let _ = write!(out, "{verb} {} ({bytes} bytes)\n{}", field(tree, "path"), field(tree, "diff"));
}

fn edited(tree: &Tree, tense: Tense, out: &mut String) {
    let verb = tense.choose("Edited", "Would edit");
    for file in tree.get("files").and_then(Tree::as_list).unwrap_or_default() {
        let Some(applied) = file.get("applied").and_then(Tree::as_int) else {
            marker(file, out);
            continue;
        };
        let places = if applied == 1 { "place" } else { "places" };
        let _ = write!(out, "{verb} {} in {applied} {places}\n{}", field(file, "path"), field(file, "diff"));
    }
}

fn found(tree: &Tree, out: &mut String) {
    let matches = tree.get("matches").and_then(Tree::as_list).unwrap_or_default();
    for item in matches {
        match (item.get("line").and_then(Tree::as_int), item.get("column").and_then(Tree::as_int)) {
            (Some(line), Some(column)) => {
                let _ = writeln!(out, "{}:{line}:{column}: {}", field(item, "path"), field(item, "text"));
            }
            _ => marker(item, out),
        }
    }
    let total = tree.get("total_matches").and_then(Tree::as_int).unwrap_or(0);
    let files = tree.get("files_searched").and_then(Tree::as_int).unwrap_or(0);
    let _ = write!(out, "[{total} matches in {files} files searched");
    for (key, words) in [
        ("binary_skipped", "binary"),
        ("blocked_skipped", "blocked"),
        ("ignored_skipped", "ignored"),
        ("unreadable_skipped", "unreadable"),
    ] {
        if let Some(count) = tree.get(key).and_then(Tree::as_int) {
            let _ = write!(out, ", {count} {words} passed over");
        }
    }
    out.push(']');
}

fn listed(tree: &Tree, out: &mut String) {
    for entry in tree.get("entries").and_then(Tree::as_list).unwrap_or_default() {
        if entry.get("kind").is_none() {
            marker(entry, out);
            continue;
        }
        let blocked = if entry.get("blocked").is_some() { " (blocked)" } else { "" };
        let bytes = entry.get("bytes").and_then(Tree::as_int).unwrap_or(0);
        let _ = match field(entry, "kind") {
            "file" => writeln!(out, "{} {bytes}{blocked}", field(entry, "path")),
            "directory" => writeln!(out, "{}/{blocked}", field(entry, "path")),
            kind => writeln!(out, "{} ({kind}){blocked}", field(entry, "path")),
        };
    }
}

/// What stands at the end of a list that was cut.
fn marker(item: &Tree, out: &mut String) {
    let _ = writeln!(out, "[cut: {}]", item.to_json());
}

fn notes(reply: &Reply, out: &mut String) {
    let metadata = reply.metadata();
    let mut note = |text: String| {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        let _ = writeln!(out, "[{text}]");
    };
    // The words of specification 002 stand alone.
    let says_so_itself = reply.tool() == "bash_command" && reply.data().as_tree().get("message").is_some();
    if metadata.dry_run && reply.error().is_none() && !says_so_itself {
        note("dry run: nothing was changed".to_owned());
    }
    if metadata.redactions > 0 {
        note(format!("{} secrets were redacted", metadata.redactions));
    }
    if metadata.truncated {
        note("truncated".to_owned());
    }
    for warning in &metadata.warnings {
        note(warning.clone());
    }
}

fn field<'t>(tree: &'t Tree, key: &str) -> &'t str {
    tree.get(key).and_then(Tree::as_text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, tense: Tense, tree: &Tree, expected: &str) {
        let mut out = String::new();
        data(tool, tree, tense, &mut out);
        assert_eq!(out, expected);
    }

    fn written(created: bool) -> Tree {
        let text = |text: &str| Tree::text(text);
        Tree::map([
            ("path", text("a.txt")),
            ("created", Tree::Bool(created)),
            ("bytes", Tree::Int(3)),
            ("diff", text("+x\n")),
        ])
    }

    #[test]
    fn what_was_done_and_what_would_be_done_read_differently() {
        check("write_file", Tense::Done, &written(true), "Created a.txt (3 bytes)\n+x\n");
        check("write_file", Tense::Done, &written(false), "Wrote a.txt (3 bytes)\n+x\n");
        check("write_file", Tense::Would, &written(true), "Would create a.txt (3 bytes)\n+x\n");
        check("write_file", Tense::Would, &written(false), "Would write a.txt (3 bytes)\n+x\n");
        let paths = Tree::List(vec![Tree::text("a"), Tree::text("b")]);
        let preview = Tree::map([("would", Tree::text("search_file")), ("paths", paths)]);
        check("search_file", Tense::Would, &preview, "Would call search_file on a, b");
    }

    #[test]
    fn a_cut_list_of_edits_ends_with_its_marker() {
        let file = Tree::map([
            ("path", Tree::text("a.txt")),
            ("applied", Tree::Int(1)),
            ("diff", Tree::text("+x\n")),
        ]);
        let cut = Tree::map([("omitted", Tree::Int(7))]);
        let tree = Tree::map([("files", Tree::List(vec![file, cut]))]);
        let end = "a.txt in 1 place\n+x\n[cut: {\"omitted\":7}]\n";
        check("edit_file", Tense::Done, &tree, &format!("Edited {end}"));
        check("edit_file", Tense::Would, &tree, &format!("Would edit {end}"));
    }
}
