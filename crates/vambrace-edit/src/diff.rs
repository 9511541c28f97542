//! A unified diff for people and models to read. Its work is bounded by size, because there is no clock here.

mod ends;
mod lines;

use std::fmt::Write as _;

use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, DiffTag, group_diff_ops};

use ends::Middle;

const CONTEXT: usize = 3;
const NOWHERE: &str = "/dev/null";

/// Empty when the texts are equal.
pub fn unified_diff(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let mut out = format!("--- {}\n+++ {}\n", one_line(old_name), one_line(new_name));
    write_hunks(&mut out, &ends::set_aside(old, new, CONTEXT));
    out
}

fn write_hunks(out: &mut String, middle: &Middle<'_>) {
    let old: Vec<&str> = middle.old.split_inclusive('\n').collect();
    let new: Vec<&str> = middle.new.split_inclusive('\n').collect();
    let groups = group_diff_ops(lines::compare(&old, &new), CONTEXT);
    for ops in groups.iter().filter(|ops| !ops.is_empty()) {
        let in_file: Vec<DiffOp> =
            ops.iter().map(|op| lines::shifted(*op, middle.n_before, middle.n_before)).collect();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}", UnifiedHunkHeader::new(&in_file));
        for op in ops {
            write_op(out, *op, &old, &new);
        }
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn setting_the_ends_aside_changes_nothing(
            lines in proptest::collection::vec("[ab]{0,1}\r?\n", 0..24),
            last in "[ab]{0,2}",
            at in 0_usize..24,
            n_dropped in 0_usize..3,
            added in "[ab\n]{0,4}",
        ) {
            let at = at.min(lines.len());
            let until = (at + n_dropped).min(lines.len());
            let old = format!("{}{last}", lines.concat());
            let new = format!("{}{added}{}{last}", lines[..at].concat(), lines[until..].concat());
            let (mut trimmed, mut whole) = (String::new(), String::new());
            write_hunks(&mut trimmed, &ends::set_aside(&old, &new, CONTEXT));
            write_hunks(&mut whole, &Middle { old: &old, new: &new, n_before: 0 });
            prop_assert_eq!(trimmed, whole);
        }
    }
}
