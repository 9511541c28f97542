//! Answers that are too long.

use proptest::prelude::*;
use vambrace_redact::truncate::{Cut, fit};
use vambrace_redact::{RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{ByteLimit, Tree};

fn clean(tree: Tree) -> RedactedTree {
    Redactor::new(RedactorSettings::default()).unwrap().plain_tree(tree).value
}

fn cut(tree: Tree, limit: u64) -> (Tree, Option<Cut>, Vec<String>) {
    let mut kept = Vec::new();
    let (tree, cut) = fit(clean(tree), ByteLimit::new(limit), &mut |text| {
        kept.push(text.into_string());
        Some(format!("out_{}", kept.len()))
    });
    (tree.into_tree(), cut, kept)
}

#[test]
fn what_fits_is_not_touched() {
    let tree = Tree::map([("text", Tree::text("x".repeat(1000)))]);
    let exact = tree.json_len() as u64;
    let (same, none, kept) = cut(tree.clone(), exact.max(1024));
    assert_eq!((same, none, kept.len()), (tree, None, 0));
}

#[test]
fn the_longest_text_keeps_head_and_tail() {
    let long: String = (0..3000).map(|n| format!("line {n} é\n")).collect();
    let tree =
        Tree::map([("stdout", Tree::text(long.clone())), ("stderr", Tree::text("short ".repeat(100)))]);
    let (tree, done, kept) = cut(tree, 4096);
    let done = done.unwrap();
    assert_eq!((done.n_cuts, done.n_lost), (1, 0));
    assert_eq!(kept, std::slice::from_ref(&long));
    assert!(tree.json_len() <= 4096 && tree.json_len() > 3900, "{}", tree.json_len());
    assert_eq!(done.bytes_after, tree.json_len());
    let shown = tree.get("stdout").unwrap().as_text().unwrap();
    assert!(shown.starts_with("line 0 é\n") && shown.ends_with("line 2999 é\n"));
    let (head, rest) = shown.split_once("\n[… ").unwrap();
    let offset: usize = rest.split_once("offset ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    let n_cut: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
    let tail = shown.split_once("…]\n").unwrap().1;
    assert_eq!(offset, head.len());
    assert_eq!(format!("{head}{}{tail}", &long[offset..offset + n_cut]), long);
    assert!(rest.contains("read_output handle out_1"));
    assert_eq!(tree.get("stderr").unwrap().as_text().unwrap().len(), 600);
}

#[test]
fn a_long_list_counts_elements() {
    let items = (0..5000)
        .map(|n| Tree::map([("path", Tree::text(format!("src/file_{n}.rs"))), ("line", Tree::Int(n))]));
    let tree = Tree::map([("matches", Tree::List(items.collect())), ("total", Tree::Int(5000))]);
    let (tree, done, kept) = cut(tree, 8192);
    assert_eq!(done.unwrap().n_cuts, 1);
    assert!(tree.json_len() <= 8192 && tree.json_len() > 7000, "{}", tree.json_len());
    let shown = tree.get("matches").unwrap().as_list().unwrap();
    let marker = shown.last().unwrap();
    assert_eq!(marker.get("_truncated"), Some(&Tree::Bool(true)));
    assert_eq!(marker.get("original_count"), Some(&Tree::Int(5000)));
    assert_eq!(marker.get("shown"), Some(&Tree::count(shown.len() - 1)));
    assert_eq!(marker.get("handle").unwrap().as_text(), Some("out_1"));
    assert_eq!(kept[0].lines().count(), 5000);
    assert_eq!(tree.get("total"), Some(&Tree::Int(5000)));
}

#[test]
fn what_cannot_be_kept_is_said() {
    let (tree, done) = fit(clean(Tree::text("x".repeat(9000))), ByteLimit::new(2048), &mut |_| None);
    assert_eq!(done.unwrap().n_lost, 1);
    assert!(tree.as_tree().as_text().unwrap().contains("could not be kept"));
}

#[test]
fn a_placeholder_is_not_cut_in_two() {
    for shift in 0..40 {
        let text = format!("{}{}", "x".repeat(shift), "[REDACTED:github-token]".repeat(400));
        let (tree, _, _) = cut(Tree::text(text), 2048);
        let shown = tree.as_text().unwrap();
        let whole = shown.matches("[REDACTED:github-token]").count();
        assert_eq!(shown.matches("REDACTED").count(), whole, "{shown}");
        assert_eq!(shown.matches("github-token]").count(), whole, "{shown}");
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Tree::Int),
        "[a-z\"\\n\\\\é ]{0,40}".prop_map(Tree::text),
        ("[a-z\"\\né]{1,9}", 0usize..3000).prop_map(|(word, times)| Tree::text(word.repeat(times))),
    ];
    leaf.prop_recursive(4, 60, 12, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Tree::List),
            (inner.clone(), 0usize..800).prop_map(|(item, times)| Tree::List(vec![item; times % 40])),
            (inner.clone(), 0usize..800).prop_map(|(_, times)| Tree::List(vec![Tree::text("ab"); times])),
            proptest::collection::vec(("[a-z]{1,300}", inner), 0..12).prop_map(|entries| Tree::Map(
                entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_limit_is_kept(tree in tree(), limit in 1024u64..20_000) {
        let before = tree.json_len();
        let (after, done, kept) = cut(tree.clone(), limit);
        prop_assert!(after.json_len() as u64 <= limit, "{} of {limit}", after.json_len());
        match done {
            None => prop_assert_eq!(after, tree),
            Some(done) => {
                prop_assert!(before as u64 > limit);
                prop_assert_eq!(done.n_cuts, kept.len());
                prop_assert_eq!((done.bytes_before, done.bytes_after), (before, after.json_len()));
            }
        }
    }
}
