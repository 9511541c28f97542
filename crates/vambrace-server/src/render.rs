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
        None => data(reply.tool(), reply.data().as_tree(), &mut out),
    }
    notes(reply, &mut out);
    out
}

fn data(tool: &str, tree: &Tree, out: &mut String) {
    match tool {
        "read_file" | "read_output" => content(tree, out),
        "write_file" => written(tree, out),
        "edit_file" => edited(tree, out),
        "search_file" => found(tree, out),
        "list_files" => listed(tree, out),
        _ => tree.write_json(out),
    }
}

fn content(tree: &Tree, out: &mut String) {
    out.push_str(field(tree, "content"));
    if let Some(next) = tree.get("next_offset").and_then(Tree::as_int) {
        let total = tree.get("total_bytes").and_then(Tree::as_int).unwrap_or(0);
        let _ = write!(out, "\n[more: continue with offset {next}; {total} bytes in all]");
    }
}

fn written(tree: &Tree, out: &mut String) {
    let verb = if tree.get("created") == Some(&Tree::Bool(true)) { "Created" } else { "Wrote" };
    let bytes = tree.get("bytes").and_then(Tree::as_int).unwrap_or(0);
    let _ = write!(out, "{verb} {} ({bytes} bytes)\n{}", field(tree, "path"), field(tree, "diff"));
}

fn edited(tree: &Tree, out: &mut String) {
    for file in tree.get("files").and_then(Tree::as_list).unwrap_or_default() {
        let applied = file.get("applied").and_then(Tree::as_int).unwrap_or(0);
        let places = if applied == 1 { "place" } else { "places" };
        let _ = write!(out, "Edited {} in {applied} {places}\n{}", field(file, "path"), field(file, "diff"));
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
    if metadata.dry_run && reply.error().is_none() {
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
