//! Trees: leaf by leaf, keys too.

use std::borrow::Cow;

use vambrace_redact::{RedactedText, RedactedTree, Redactor, RedactorSettings};
use vambrace_types::{RawOutput, Tree};

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

#[test]
fn our_own_words_need_no_redactor() {
    assert_eq!(RedactedText::fixed("Nothing to show.").as_str(), "Nothing to show.");
    assert_eq!(RedactedTree::null().as_tree(), &Tree::Null);
}
