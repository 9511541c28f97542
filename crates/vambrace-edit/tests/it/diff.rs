//! The diff, read back by a tiny patch program.

use proptest::prelude::*;
use vambrace_edit::{diff_for_deleted, diff_for_new, unified_diff};

/// Applies a unified diff. Knows only what our own diffs contain, and trusts nothing: context and removed lines
/// must be there.
fn patch(old: &str, diff: &str) -> String {
    if diff.is_empty() {
        return old.to_owned();
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut next = 0;
    let mut new = String::new();
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let range = header.split(' ').next().unwrap();
            let (start, len) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().unwrap();
            let start = if len == "0" { start } else { start - 1 };
            new.push_str(&old_lines[next..start].concat());
            next = start;
            continue;
        }
        let cut = lines.next_if(|hint| hint.starts_with('\\')).is_some();
        let (sign, text) = line.split_at(1);
        let text = if cut { text.strip_suffix('\n').unwrap() } else { text };
        if sign != "+" {
            assert_eq!(old_lines[next], text);
            next += 1;
        }
        if sign != "-" {
            new.push_str(text);
        }
    }
    new.push_str(&old_lines[next..].concat());
    new
}

#[test]
fn a_small_change_looks_familiar() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let new = "a\nb\nc\nd\nE\nf\ng\nh\n";
    assert_eq!(
        unified_diff("a/x", "b/x", old, new),
        "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n"
    );
    assert_eq!(unified_diff("a/x", "b/x", old, old), "");
    assert_eq!(
        unified_diff("x", "x", "a", "a\n"),
        "--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
    );
    assert_eq!(unified_diff("x", "x", "a\n", "a\r\n"), "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+a\r\n");
}

#[test]
fn new_and_deleted_files() {
    assert_eq!(diff_for_new("x", "a\nb\n"), "--- /dev/null\n+++ x\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!(diff_for_deleted("x", "a\nb\n"), "--- x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    assert_eq!(diff_for_new("x", ""), "");
}

#[test]
fn a_name_cannot_forge_lines() {
    let diff = unified_diff("x\n+++ y\n@@ -1 +1 @@", "x", "a\n", "b\n");
    assert!(diff.starts_with("--- x\\n+++ y\\n@@ -1 +1 @@\n+++ x\n@@ -1 +1 @@\n-a\n"), "{diff}");
}

#[test]
fn a_huge_change_is_coarse_but_true() {
    let old: String = (0..200_000).map(|n| format!("{}\n", n % 7)).collect();
    let new: String = (0..200_000).map(|n| format!("{}\n", n % 11)).collect();
    assert_eq!(patch(&old, &unified_diff("x", "x", &old, &new)), new);
}

#[test]
fn far_apart_changes_in_a_long_file_stay_small() {
    let old: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    let new =
        old.replace("line 17\n", "LINE 17\n").replace("line 99000\n", "").replace("line 50000\n", "x\ny\n");
    let diff = unified_diff("x", "x", &old, &new);
    assert!(diff.lines().count() < 40, "{} lines", diff.lines().count());
    assert_eq!(patch(&old, &diff), new);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_applied_gives_the_new_text(old in "[ab\n]{0,60}", new in "[ab\n]{0,60}") {
        prop_assert_eq!(patch(&old, &unified_diff("x", "x", &old, &new)), new);
    }

    #[test]
    fn a_diff_of_similar_texts_too(
        lines in proptest::collection::vec("[abc]{0,2}\r?\n", 0..40),
        at in 0_usize..40,
        n_dropped in 0_usize..4,
        added in "[abc\n\r]{0,6}",
    ) {
        let at = at.min(lines.len());
        let until = (at + n_dropped).min(lines.len());
        let new = format!("{}{added}{}", lines[..at].concat(), lines[until..].concat());
        let old = lines.concat();
        prop_assert_eq!(patch(&old, &unified_diff("x", "x", &old, &new)), new);
    }
}
