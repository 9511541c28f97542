//! Numbers, fingerprints and the baseline.

use vambrace_redact::{
    Baseline, FingerprintKey, KnownValue, Marking, Redactor, RedactorSettings, cover, holds_placeholder,
};
use vambrace_types::{Secret, Tree};

fn token(letter: char) -> String {
    let word = if letter == 'a' { "a1B2" } else { "c3D4" };
    ["ghp", "_", &word.repeat(9)].concat()
}

fn key(n_lines: usize) -> String {
    let label = ["PRIVATE", "KEY"].join(" ");
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(n_lines);
    format!("-----BEGIN {label}-----\n{body}-----END {label}-----")
}

fn fingerprints() -> FingerprintKey {
    FingerprintKey::new(Secret::new(b"a key for tests".to_vec()))
}

fn numbered(accepted: &[(&str, &str)]) -> Redactor {
    let accepted = accepted.iter().map(|(rule, value)| Baseline::fingerprint("salt", rule, value.as_bytes()));
    Redactor::new(RedactorSettings {
        known: vec![KnownValue { name: "APP".to_owned(), value: Secret::new("horse-battery/9".to_owned()) }],
        patterns: ["corp-[0-9]{6}", "x{600}", "x{701}"].map(str::to_owned).to_vec(),
        baseline: Baseline::new("salt", accepted),
        marking: Marking::Numbered,
        key: Some(fingerprints()),
        ..RedactorSettings::default()
    })
    .unwrap()
}

#[track_caller]
fn check(redactor: &Redactor, raw: &str, expected: &str) {
    assert_eq!(redactor.text(raw).value.as_str(), expected, "as a text");
    for size in [1, 700, 100_000] {
        let (mut out, redactor) = (Vec::new(), redactor.for_call());
        let mut stream = redactor.stream();
        raw.as_bytes().chunks(size).for_each(|chunk| stream.push(chunk, &mut out));
        stream.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "in chunks of {size}");
    }
    let redactor = redactor.for_call();
    assert_eq!(cover(raw, 0, &redactor.scan(raw.as_bytes())).0, expected, "covered");
}

#[test]
fn one_value_has_one_number_throughout_a_call() {
    let redactor = numbered(&[]);
    let (a, b) = (token('a'), token('b'));
    check(
        &redactor,
        &format!("{a} {b} {a}\n"),
        "[REDACTED:github-token#1] [REDACTED:github-token#2] [REDACTED:github-token#1]\n",
    );
    // The same call: a tree, its keys and parts of texts agree.
    let tree =
        Tree::map([("content", Tree::text(format!("x {b}"))), ("password", Tree::text("Plum77xKhorse"))]);
    assert_eq!(
        redactor.plain_tree(tree).value.as_tree().to_json(),
        "{\"content\":\"x [REDACTED:github-token#2]\",\"password\":\"[REDACTED:secret-assignment#1]\"}"
    );
    let line = format!("password = \"{}\"", "Plum77xKhorse");
    assert_eq!(redactor.text(&line).value.as_str(), "password = \"[REDACTED:secret-assignment#1]\"");
    // Another call begins with one, and knows nothing of this.
    let other = redactor.for_call();
    assert_eq!(other.text(&b).value.as_str(), "[REDACTED:github-token#1]");
    assert_eq!((other.marked().len(), redactor.marked().len()), (1, 3));
}

#[test]
fn a_number_is_looked_up_by_value_in_any_spelling() {
    let redactor = numbered(&[]);
    check(
        &redactor,
        "a horse-battery/9 b horse-battery%2F9 c 9/yrettab-esroh d",
        "a [REDACTED:env-app#1] b [REDACTED:env-app#1] c [REDACTED:env-app#1] d",
    );
    let marks = redactor.marked();
    assert_eq!(marks.len(), 1);
    assert_eq!((marks[0].rule.as_str(), marks[0].number), ("env-app", 1));
    assert_eq!(marks[0].fingerprint, fingerprints().fingerprint(b"horse-battery/9"));
    // A control character in the middle is dropped before a text is shown, and does not make another value.
    let broken = token('a').replacen('B', "B\u{0}", 1);
    assert_eq!(redactor.text(&broken).value.as_str(), "[REDACTED:github-token#1]");
    assert_eq!(cover(&broken, 0, &redactor.scan(broken.as_bytes())).0, "[REDACTED:github-token#1]");
    assert_eq!(redactor.marked()[1].fingerprint, fingerprints().fingerprint(token('a').as_bytes()));
}

#[test]
fn only_what_is_shown_has_a_number() {
    let redactor = numbered(&[]);
    let text = format!("{} {}", token('a'), token('b'));
    let findings = redactor.scan(text.as_bytes());
    assert_eq!(redactor.marked(), []);
    let second = findings[1].start;
    assert_eq!(cover(&text[second..], second, &findings).0, "[REDACTED:github-token#1]");
    assert_eq!(findings[0].marker(), "[REDACTED:github-token#2]");
    assert_eq!(redactor.marked().len(), 2);
}

#[test]
fn a_numbered_placeholder_stays_as_it_is() {
    let plain = Redactor::new(RedactorSettings::default()).unwrap();
    for redactor in [&numbered(&[]), &plain] {
        for name in ["github-token", "secret-assignment", "jwt", "private-key"] {
            let marker = format!("[REDACTED:{name}#12]");
            assert!(holds_placeholder(&marker));
            let text = format!("password = \"{marker}\" token={marker}; {name}: {marker}");
            assert_eq!(redactor.text(&text).value.as_str(), text);
        }
        // Nobody's name, and no number: not ours, so nothing is taken on trust.
        for dressed in ["[REDACTED:x#1]", "[REDACTED:jwt#12345]", "[REDACTED:jwt#]"] {
            let text = format!("{dressed}{}", token('a'));
            assert!(!redactor.text(&text).value.as_str().contains("a1B2"), "{text}");
        }
    }
}

#[test]
fn what_is_accepted_is_no_finding() {
    let (a, b) = (token('a'), token('b'));
    let long = key(300);
    let accepted = [
        ("github-token", a.as_str()),
        ("private-key", &long),
        ("custom-pattern-1", "corp-123456"),
        ("secret-assignment", "Plum77xKhorse"),
        ("env-app", "horse-battery/9"),
    ];
    let redactor = numbered(&accepted);
    check(&redactor, &format!("<{a}> <{b}>"), &format!("<{a}> <[REDACTED:github-token#1]>"));
    let text = format!("x\n{long}\ny\n{}\nz corp-123456 corp-654321\n", key(2));
    let shown =
        format!("x\n{long}\ny\n[REDACTED:private-key#1]\nz corp-123456 [REDACTED:custom-pattern-1#1]\n");
    check(&redactor.for_call(), &text, &shown);
    // Whichever rule sees the same text: whoever accepted it accepted the text.
    check(&redactor.for_call(), &format!("password = \"{a}\"\n"), &format!("password = \"{a}\"\n"));
    check(&redactor.for_call(), "password = \"Plum77xKhorse\"\n", "password = \"Plum77xKhorse\"\n");
    let tree = Tree::map([("password", Tree::text("Plum77xKhorse"))]);
    assert_eq!(redactor.plain_tree(tree.clone()).value.into_tree(), tree);
    // One byte more or less is another value.
    check(
        &redactor.for_call(),
        "password = \"Plum77xKhorsf\"\n",
        "password = \"[REDACTED:secret-assignment#1]\"\n",
    );
    // A known value is secret whatever anybody accepts, in accepted text too.
    check(&redactor.for_call(), "is horse-battery/9.", "is [REDACTED:env-app#1].");
    let inside = key(3).replacen("AgEAAoIB", "horse-battery/9", 1);
    let redactor = numbered(&[("private-key", &inside)]);
    let left = redactor.text(&inside).value.into_string();
    assert!(left.contains("[REDACTED:env-app#1]") && left.contains("MIIEvQ"), "{left}");
}

#[test]
fn what_was_joined_can_be_accepted_as_it_was_shown() {
    // Two findings that overlap: what a scan reports is their union.
    let text = "password = \"xcorp-123456-and-more-9X\"\n";
    let plain = numbered(&[]);
    let findings = plain.scan(text.as_bytes());
    assert_eq!(findings.len(), 1);
    let value = &text[findings[0].start..findings[0].end];
    check(&numbered(&[(findings[0].rule.as_str(), value)]), text, text);
}

#[test]
fn findings_say_why() {
    let redactor = numbered(&[]);
    let text = format!("{} corp-123456 horse-battery/9", token('a'));
    let why: Vec<String> = redactor.scan(text.as_bytes()).iter().map(|finding| finding.why()).collect();
    assert!(!why[0].is_empty());
    assert_eq!(why[1], "pattern 1 of secrets.redact_patterns");
    assert_eq!(why[2], "the value of the environment variable or configured secret APP");
}

#[test]
fn what_never_ends_is_one_redaction() {
    let redactor = numbered(&[]);
    check(&redactor, &"horse-battery/9".repeat(6_000), "[REDACTED:env-app#1]");
    // Longer than anything that is kept, so there is no number.
    check(&redactor, &"x".repeat(100_000), &format!("[REDACTED:custom-pattern-3]{}", "x".repeat(400)));
}
