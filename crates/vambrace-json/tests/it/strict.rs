//! The texts of the fuzz target `strict_json`, replayed, and a search for new ones.

#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

mod recipe;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

#[test]
fn every_text_of_the_corpus_holds() {
    replay::replay("strict_json", 20, recipe::check);
}

/// Pieces of JSON, joined as chance has it.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "\\ud800",
        "\\udc00",
        "\\u0024",
        "null",
        "true",
        "0",
        "-1",
        "1.5",
        "1e400",
        "18446744073709551616",
        " ",
        "\n",
        "\"a\"",
        "\"a\":",
        "{\"a\":",
        "{\"b\":1,",
        "\"$serde_json::private::RawValue\"",
        "{\"$serde_json::private::RawValue\":\"{}\"}",
        "[0,0,0,0,0,0,0,0]",
        "[[[[[[[[",
        "]]]]]]]]",
        "\"é漢\"",
        "\u{feff}",
        "\u{7f}",
    ];
    let piece = proptest::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec());
    let piece = prop_oneof![12 => piece, 1 => proptest::collection::vec(any::<u8>(), 1..3)];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What is JSON, so that the search does not end at the first comma.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("JSON has no others", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        any::<String>().prop_map(|text| serde_json::Value::String(text).to_string()),
    ];
    let name = proptest::sample::select(vec!["", "a", "b", "\\u0061", "$serde_json::private::Number"]);
    let tree = scalar.prop_recursive(12, 200, 8, move |inner| {
        let members = proptest::collection::vec((name.clone(), inner.clone()), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..8).prop_map(|items| format!("[{}]", items.join(", "))),
            members.prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    tree.prop_map(String::into_bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_holds(text in prop_oneof![text(), document()]) {
        let outcome = recipe::check(&text);
        prop_assert!(outcome.is_ok(), "{}\n{}", String::from_utf8_lossy(&text), outcome.unwrap_err());
    }
}
