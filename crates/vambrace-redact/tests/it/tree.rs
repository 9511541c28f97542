//! Trees: leaf by leaf, keys too.

use std::borrow::Cow;

use vambrace_redact::{KnownValue, RedactedText, RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{RawOutput, Secret, Tree};

fn token() -> String {
    ["ghp", "_", &"a1B2".repeat(9)].concat()
}

#[test]
fn leaves_and_keys_are_cleaned() {
    let redactor = Redactor::new(RedactorSettings::default()).unwrap();
    let tree = Tree::Map(vec![
        (
            Cow::Borrowed("lines"),
            Tree::List(vec![Tree::text(format!("a {}", token())), Tree::text("b\u{7}"), Tree::Int(3)]),
        ),
        (Cow::Owned(token()), Tree::Bool(true)),
        (Cow::Borrowed("password"), Tree::text(["kd8f", "7ah3", "kq9x"].concat())),
        (Cow::Borrowed("token_url"), Tree::text(["kd8f", "7ah3", "kq9x"].concat())),
        (Cow::Borrowed("path"), Tree::text("src/main.rs")),
    ]);
    let done = redactor.tree(RawOutput::new(tree));
    assert_eq!((done.n_redactions, done.n_controls_dropped), (3, 1));
    assert_eq!(
        done.value.as_tree().to_json(),
        "{\"lines\":[\"a [REDACTED:github-token]\",\"b\",3],\"[REDACTED:github-token]\":true,\
         \"password\":\"[REDACTED:secret-assignment]\",\"token_url\":\"kd8f7ah3kq9x\",\"path\":\"src/main.rs\"}"
    );
    let again = redactor.plain_tree(done.value.clone().into_tree());
    assert_eq!((again.value, again.n_redactions), (done.value, 0));
}

/// Names of requests and the like are random by nature; what is known or has the form of a secret is hidden in them too.
#[test]
fn in_names_random_text_counts_for_nothing() {
    let known = KnownValue { name: "DB".to_owned(), value: Secret::new("violet-harbor-9".to_owned()) };
    let settings = RedactorSettings { known: vec![known], ..RedactorSettings::default() };
    let redactor = Redactor::new(settings).unwrap();
    let ulid = format!("call_01ARZ3NDEKTSV4RR{}", "FFQ69G5FAV");
    assert_ne!(redactor.text(&ulid).n_redactions, 0, "else this shows nothing");
    let check = |raw: &str, expected: &str| assert_eq!(redactor.name(raw).as_str(), expected);
    check(&ulid, &ulid);
    check("a-violet-harbor-9-b", "a-[REDACTED:env-db]-b");
    check(&format!("r:{}", token()), "r:[REDACTED:github-token]");
    check("a\u{0}b", "ab");
    let map = RedactedTree::map([("id", redactor.name(&token()).into()), ("n", RedactedTree::null())]);
    assert_eq!(map.as_tree().to_json(), "{\"id\":\"[REDACTED:github-token]\",\"n\":null}");
}

#[track_caller]
fn check_number(known: &[&str], patterns: &[&str], number: i64, is_hidden: bool) {
    let known = known
        .iter()
        .map(|value| KnownValue { name: "N".to_owned(), value: Secret::new((*value).to_owned()) });
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let settings = RedactorSettings { known: known.collect(), patterns, ..RedactorSettings::default() };
    let done = Redactor::new(settings).unwrap().plain_tree(Tree::List(vec![Tree::Int(number)]));
    assert_eq!(done.n_redactions > 0, is_hidden, "{number}: {:?}", done.value);
}

#[test]
fn a_number_may_be_a_secret() {
    check_number(&["40718265"], &[], 40_718_265, true);
    check_number(&["-4071826"], &[], -4_071_826, true);
    check_number(&["40718265"], &[], 4_071_826, false);
    // The operator's own patterns know shorter ones.
    check_number(&[], &["407[0-9]"], 4071, true);
    check_number(&[], &["407[0-9]"], -407_182, true);
    check_number(&[], &["407[0-9]"], 5071, false);
}

#[test]
fn our_own_words_need_no_redactor() {
    assert_eq!(RedactedText::fixed("Nothing to show.").as_str(), "Nothing to show.");
    assert_eq!(RedactedTree::null().as_tree(), &Tree::Null);
}
