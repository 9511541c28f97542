//! The recipes of the fuzz target `redact_chunks`, replayed, and a search for new ones.

#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

mod recipe;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use proptest::prelude::*;

#[test]
fn every_recipe_of_the_corpus_holds() {
    replay::replay("redact_chunks", 20, recipe::check);
}

#[test]
fn every_ingredient_exists() {
    assert!(recipe::INGREDIENTS.iter().all(|name| recipe::ingredient(name).is_some()));
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        " ",
        "=",
        ": ",
        "\"",
        "'",
        "\\",
        "\\n",
        "%",
        "%2",
        "%25",
        "&",
        "&amp;",
        ".",
        "-",
        "_",
        "@",
        "token",
        "key: ",
        "é漢",
        "[REDACTED:",
        "]",
        "+",
        "0x",
        "ordinary words",
        "https://user:",
        "--token ",
        "[1",
        "x1b",
        "xe280",
        "x8b",
        "xff",
        "x00",
        "xc2",
        "*40 a",
        "*300 ab ",
        "*9000 A",
        "*70  ",
        "12:",
        "# ",
        "$'",
    ];
    let named = proptest::sample::select(recipe::INGREDIENTS.to_vec())
        .prop_map(|name| format!("={name}").into_bytes());
    let part =
        (proptest::sample::select(recipe::INGREDIENTS.to_vec()), any::<prop::sample::Index>(), any::<bool>());
    // One half of an ingredient; what is a word of the recipes' own language is taken as it is there.
    let half = part.prop_map(|(name, at, first)| {
        let bytes = recipe::ingredient(name).unwrap();
        let (head, tail) = bytes.split_at(at.index(bytes.len()));
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("x{}", hex(if first { head } else { tail })).into_bytes()
    });
    let word = proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec());
    prop_oneof![4 => named, 2 => half, 6 => word]
}

fn recipe() -> impl Strategy<Value = Vec<u8>> {
    let sizes = proptest::collection::vec(1usize..200, 1..4);
    (sizes, proptest::collection::vec(line(), 0..16)).prop_map(|(sizes, lines)| {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        std::iter::once(sizes.join(" ").into_bytes()).chain(lines).collect::<Vec<_>>().join(&b'\n')
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_recipe_holds(recipe in recipe()) {
        let outcome = recipe::check(&recipe);
        prop_assert!(outcome.is_ok(), "{}\n{}", String::from_utf8_lossy(&recipe), outcome.unwrap_err());
    }
}
