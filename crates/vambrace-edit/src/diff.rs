//! A unified diff for people and models to read. Its work is bounded by size, because there is no clock here.

mod ends;
mod lines;

use std::fmt::Write as _;

use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, DiffTag, group_diff_ops};

const CONTEXT: usize = 3;
const NOWHERE: &str = "/dev/null";

/// Empty when the texts are equal.
pub fn unified_diff(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let ends::Middle { old, new, n_before } = ends::set_aside(old, new, CONTEXT);
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let groups = group_diff_ops(lines::compare(&old, &new), CONTEXT);
    let mut out = format!("--- {}\n+++ {}\n", one_line(old_name), one_line(new_name));
    for ops in groups.iter().filter(|ops| !ops.is_empty()) {
        // Writing to a string does not fail.
        let in_file: Vec<DiffOp> = ops.iter().map(|op| lines::shifted(*op, n_before, n_before)).collect();
        let _ = writeln!(out, "{}", UnifiedHunkHeader::new(&in_file));
        for op in ops {
            write_op(&mut out, *op, &old, &new);
        }
    }
    out
}

/// The diff of a file that did not exist.
pub fn diff_for_new(name: &str, new: &str) -> String {
    unified_diff(NOWHERE, name, "", new)
}

/// The diff of a file that will not exist.
pub fn diff_for_deleted(name: &str, old: &str) -> String {
    unified_diff(name, NOWHERE, old, "")
}

fn write_op(out: &mut String, op: DiffOp, old: &[&str], new: &[&str]) {
    let (tag, old_range, new_range) = op.as_tag_tuple();
    let old = old.get(old_range).unwrap_or_default();
    let new = new.get(new_range).unwrap_or_default();
    match tag {
        DiffTag::Equal => write_lines(out, ' ', old),
        DiffTag::Delete => write_lines(out, '-', old),
        DiffTag::Insert => write_lines(out, '+', new),
        DiffTag::Replace => {
            write_lines(out, '-', old);
            write_lines(out, '+', new);
        }
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// THREAT: P08, a file name with a line break that forges lines of the diff.
fn one_line(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}
