//! Laws that hold for every text, with a second, naive engine as the judge.

use proptest::prelude::*;
use vambrace_edit::{Applied, Edit, EditError, MatchMode, Operation, apply};

use crate::{edit, unhurried};

fn run(text: &str, edits: &[Edit]) -> Result<Applied, EditError> {
    apply(text, None, edits, &unhurried)
}

/// Exact replace and delete, one byte at a time: every byte knows which edit owns it.
fn naive(text: &str, edits: &[Edit]) -> Option<String> {
    let bytes = text.as_bytes();
    let mut owner: Vec<Option<usize>> = vec![None; bytes.len()];
    let mut starts: Vec<Option<usize>> = vec![None; bytes.len() + 1];
    for (place, edit) in edits.iter().enumerate() {
        let spec = edit.spec.as_bytes();
        let (mut at, mut n_found) = (0, 0);
        while at + spec.len() <= bytes.len() {
            if &bytes[at..at + spec.len()] == spec {
                n_found += 1;
                starts[at] = Some(place);
                for slot in &mut owner[at..at + spec.len()] {
                    if slot.replace(place).is_some() {
                        return None;
                    }
                }
                at += spec.len();
            } else {
                at += 1;
            }
        }
        if n_found != edit.count {
            return None;
        }
    }
    let mut result = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if let Some(place) = starts[at]
            && edits[place].operation == Operation::Replace
        {
            result.extend_from_slice(edits[place].content.as_bytes());
        }
        if owner[at].is_none() {
            result.push(*byte);
        }
    }
    Some(String::from_utf8(result).unwrap())
}

/// Small alphabets, so that specs are found often and overlap often.
fn texts() -> impl Strategy<Value = String> {
    "[abcé\n]{0,20}"
}

fn operations() -> impl Strategy<Value = Operation> {
    proptest::sample::select(Operation::ALL.to_vec())
}

fn any_edit() -> impl Strategy<Value = Edit> {
    (operations(), "[abcé\n]{1,3}", "[xyß \n]{0,4}", 0_usize..3).prop_map(
        |(operation, spec, content, count)| edit(operation, MatchMode::Exact, &spec, &content, count),
    )
}

fn changes() -> impl Strategy<Value = Edit> {
    let operation = prop_oneof![Just(Operation::Replace), Just(Operation::Delete)];
    (operation, "[abcé\n]{1,2}", "[xyß]{0,3}", 0_usize..4).prop_map(|(operation, spec, content, count)| {
        edit(operation, MatchMode::Exact, &spec, &content, count)
    })
}

/// Sets every count to what is in the text, so that the run gets past counting.
fn counted(text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
    for edit in &mut edits {
        edit.count = text.matches(&edit.spec).count();
    }
    edits
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_exact_changes_agree_with_the_naive_engine(
        text in texts(),
        edits in proptest::collection::vec(changes(), 1..4),
        exact_counts in any::<bool>(),
    ) {
        let edits = if exact_counts { counted(&text, edits) } else { edits };
        prop_assert_eq!(run(&text, &edits).ok().map(|applied| applied.text), naive(&text, &edits));
    }

    #[test]
    fn a_counted_replace_is_the_standard_replace(text in texts(), spec in "[abcé]{1,2}", content in "[xy\n]{0,3}") {
        let count = text.matches(&spec).count();
        let applied = run(&text, &[edit(Operation::Replace, MatchMode::Exact, &spec, &content, count)]).unwrap();
        prop_assert_eq!(applied.text, text.replacen(&spec, &content, count));
        prop_assert_eq!(applied.n_matches, count);
    }

    #[test]
    fn every_edit_is_applied_or_none(text in texts(), edits in proptest::collection::vec(any_edit(), 1..4)) {
        let mut edits = counted(&text, edits);
        let before = run(&text, &edits);
        if let Ok(applied) = &before {
            prop_assert_eq!(applied.n_matches, edits.iter().map(|edit| edit.count).sum::<usize>());
        }
        // One wrong count refuses all of them, whatever the others say.
        edits.last_mut().unwrap().count += 1;
        let is_refused = matches!(run(&text, &edits), Err(EditError::MatchCountDiffers { .. }));
        prop_assert!(is_refused);
    }

    #[test]
    fn the_order_of_edits_does_not_matter(
        text in texts(),
        edits in proptest::collection::vec(any_edit(), 1..5).prop_shuffle(),
        turn in 0_usize..5,
    ) {
        let edits = counted(&text, edits);
        let mut turned = edits.clone();
        let n_edits = turned.len();
        turned.rotate_left(turn % n_edits);
        let mut reversed = edits.clone();
        reversed.reverse();
        let result = run(&text, &edits).ok();
        prop_assert_eq!(&run(&text, &turned).ok(), &result);
        prop_assert_eq!(&run(&text, &reversed).ok(), &result);
    }

    #[test]
    fn crlf_is_lf_with_another_ending(
        head in texts(),
        tail in texts(),
        edits in proptest::collection::vec(any_edit(), 1..4),
    ) {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let text = format!("{head}\n{tail}"); // without a line, no file is CRLF
        let edits = counted(&text, edits);
        let from_lf = run(&text, &edits).map(|applied| crlf(&applied.text));
        let from_crlf = run(&crlf(&text), &edits).map(|applied| applied.text);
        prop_assert_eq!(&from_crlf, &from_lf);
        // Also when the agent itself writes CRLF.
        let mut spelled = edits;
        for edit in &mut spelled {
            edit.spec = crlf(&edit.spec);
            edit.content = crlf(&edit.content);
        }
        prop_assert_eq!(run(&crlf(&text), &spelled).map(|applied| applied.text), from_lf);
    }

    #[test]
    fn an_insertion_adds_its_content_and_line_endings_only(
        text in texts(),
        spec in "[abc\n]{1,2}",
        content in "[xyz]{1,3}",
        after in any::<bool>(),
    ) {
        let count = text.matches(&spec).count();
        let operation = if after { Operation::AppendAfter } else { Operation::PrependBefore };
        if let Ok(applied) = run(&text, &[edit(operation, MatchMode::Exact, &spec, &content, count)]) {
            prop_assert_eq!(applied.text.matches(&content).count(), count);
            // Without blanks in play, the content stands alone at least on the side of its anchor.
            let taken_out = applied.text.replace(&content, "");
            prop_assert_eq!(taken_out.replace('\n', ""), text.replace('\n', ""));
            prop_assert!(taken_out.len() - text.len() <= 2 * count);
        }
    }

    #[test]
    fn a_byte_order_mark_changes_nothing_else(text in texts(), edits in proptest::collection::vec(any_edit(), 1..3)) {
        let edits = counted(&text, edits);
        let plain = run(&text, &edits).map(|applied| format!("\u{feff}{}", applied.text));
        prop_assert_eq!(run(&format!("\u{feff}{text}"), &edits).map(|applied| applied.text), plain);
    }

    #[test]
    fn exact_and_escaped_regex_agree(text in texts(), operation in operations(), spec in "[abcé\n.*]{1,3}", content in "[x$1\n]{0,3}") {
        let count = text.matches(&spec).count();
        let escaped: String = spec.chars().map(|c| if ".*".contains(c) { format!("\\{c}") } else { c.to_string() }).collect();
        let exact = run(&text, &[edit(operation, MatchMode::Exact, &spec, &content, count)]);
        let regex = run(&text, &[edit(operation, MatchMode::Regex, &escaped, &content, count)]);
        prop_assert_eq!(exact, regex);
    }
}
