//! Random known values in random spellings and surroundings.

use proptest::prelude::*;

use crate::spelling::{left, redactor, spellings, streamed};

/// Values as people choose them and as machines do.
fn value() -> impl Strategy<Value = String> {
    let awkward = proptest::sample::select(vec![
        'a', 'Z', '0', '9', '+', '/', '=', '-', '_', '.', '~', '!', '$', '%', '&', '\'', '"', '`', '\\', ' ',
        '<', '#', ';', 'é', '漢', '😀', 'n', 'x', 'u', 'k', 'Q', '5',
    ]);
    let random = "[A-Za-z0-9]{8,80}";
    let mixed = proptest::collection::vec(awkward, 8..40).prop_map(String::from_iter);
    prop_oneof![random, mixed].prop_filter("a trimmed value of several characters", |value| {
        let mut chars: Vec<char> = value.trim().chars().collect();
        let n_chars = chars.len();
        chars.sort_unstable();
        chars.dedup();
        n_chars >= 8 && chars.len() >= 6 && value.trim() == value
    })
}

fn around() -> impl Strategy<Value = String> {
    let words = vec![
        " ",
        "\n",
        "\r\n",
        "=",
        "\"",
        "'",
        "\\",
        "\\n",
        "%",
        "%2",
        "&",
        "&amp",
        "x",
        "ordinary words",
        "[REDACTED:jwt]",
        "é",
        "\u{200b}",
        "+",
        ", ",
        "0x",
        "\t",
        "// ",
        "12:",
        "[1",
        "$'",
        "/",
    ];
    proptest::collection::vec(proptest::sample::select(words), 0..6).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_spelling_of_a_random_value_is_left(
        value in value(), pick in any::<prop::sample::Index>(), before in around(), after in around(), size in 1usize..90,
    ) {
        let redactor = redactor(&[&value]);
        let all = spellings(&value);
        let (name, spelled) = pick.get(&all);
        // What stands directly before or after can make another text of it, such as the end of an escape.
        let text = format!("{before} {spelled} {after}");
        let shown = redactor.text(&text).value.into_string();
        prop_assert_eq!(left(spelled, shown.as_bytes()), None, "{}: {:?} of {:?} gives {:?}", name, text, value, shown);
        let twice = redactor.text(&shown).value.into_string();
        prop_assert_eq!(&twice, &shown, "{}: {:?} of {:?}", name, text, value);
        let whole = streamed(&redactor, text.as_bytes(), text.len());
        prop_assert_eq!(streamed(&redactor, text.as_bytes(), size), whole, "{}: {:?} of {:?}", name, text, value);
    }

    #[test]
    fn text_without_the_value_stays(value in value(), words in proptest::collection::vec(around(), 0..6), size in 1usize..90) {
        let redactor = redactor(&[&value]);
        let text = words.concat();
        prop_assume!(redactor.scan(text.as_bytes()).is_empty());
        prop_assert_eq!(streamed(&redactor, text.as_bytes(), size), text.as_bytes());
    }
}
