//! Large texts, known values, hostile chunks.

use vambrace_redact::{FindingKind, KnownValue, Redactor, RedactorError, RedactorSettings};
use vambrace_types::Secret;

fn known(name: &str, value: &str) -> KnownValue {
    KnownValue { name: name.to_owned(), value: Secret::new(value.to_owned()) }
}

fn redactor(known: Vec<KnownValue>) -> Redactor {
    Redactor::new(RedactorSettings { known, ..RedactorSettings::default() }).unwrap()
}

#[track_caller]
fn check(redactor: &Redactor, raw: &str, expected: &str) {
    assert_eq!(redactor.text(raw).value.as_str(), expected);
    assert_eq!(redactor.text_owned(raw.to_owned()).value.as_str(), expected);
}

#[test]
fn known_values_go_in_every_spelling() {
    let redactor = redactor(vec![known("MY_TOKEN", "blue/\"horse\" 7é"), known("", "quite plain words")]);
    check(&redactor, "is blue/\"horse\" 7é.", "is [REDACTED:env-my-token].");
    check(&redactor, r#"is blue/\"horse\" 7é."#, "is [REDACTED:env-my-token].");
    check(&redactor, "is blue%2F%22horse%22%207%C3%A9.", "is [REDACTED:env-my-token].");
    check(&redactor, "is blue%2f%22horse%22+7%c3%a9.", "is [REDACTED:env-my-token].");
    check(&redactor, "is é7 \"esroh\"/eulb.", "is [REDACTED:env-my-token].");
    check(&redactor, "is 626c75652f22686f727365222037c3a9.", "is [REDACTED:env-my-token].");
    check(&redactor, "is Ymx1ZS8iaG9yc2UiIDfDqQ==.", "is [REDACTED:env-my-token].");
    check(&redactor, "the quite plain words are gone", "the [REDACTED:known-value] are gone");
    check(&redactor, "the quite  plain words stay", "the quite  plain words stay");
}

/// THREAT: P02, whoever writes values must not decide what looking for them costs: each place of such a text begins all of
/// them, and compared one by one this takes minutes.
#[test]
fn values_that_repeat_themselves_are_one_finding() {
    let values = (0..60).map(|n| known("DULL", &format!("{}{n}", "a".repeat(1000))));
    let redactor = redactor(values.collect());
    let text = "a".repeat(100_000);
    check(&redactor, &text, "[REDACTED:env-dull]");
    let lines = "aaaaaaaaaaaa\n".repeat(4000);
    assert!(redactor.text(&lines).value.as_str().len() <= lines.len());
}

/// What nobody vouches for is hidden from whoever reads, and neither from the record nor from those who write.
#[test]
fn doubtful_values_are_hidden_in_replies_only() {
    let (sure, doubtful) = (["x9Kd02mQ", "77pZ41Lw"].concat(), ["Qm20dK9x", "wL14Zp77"].concat());
    let settings = RedactorSettings {
        known: vec![known("SURE", &sure)],
        doubtful: vec![known("DOUBTFUL", &doubtful)],
        patterns: vec!["operators-[0-9]+".to_owned()],
        project_patterns: vec!["projects-[0-9]+".to_owned()],
        ..RedactorSettings::default()
    };
    let redactor = Redactor::new(settings).unwrap();
    let text = format!("{sure} {doubtful} operators-1 projects-1");
    let hidden =
        "[REDACTED:env-sure] [REDACTED:env-doubtful] [REDACTED:custom-pattern-1] [REDACTED:custom-pattern-2]";
    check(&redactor, &text, hidden);
    let shown = format!("[REDACTED:env-sure] {doubtful} [REDACTED:custom-pattern-1] projects-1");
    check(&redactor.for_record(), &text, &shown);
    let kinds: Vec<FindingKind> = redactor.scan(text.as_bytes()).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [FindingKind::Known, FindingKind::Pattern, FindingKind::Pattern, FindingKind::Pattern]);
}

#[test]
fn a_known_value_wins_and_overlaps_become_one() {
    let token = ["ghp", "_", &"a1B2".repeat(9)].concat();
    let redactor = redactor(vec![known("PART", &format!("{}-and-more", &token[30..]))]);
    check(&redactor, &format!("<{token}-and-more>"), "<[REDACTED:env-part]>");
    check(&redactor, &format!("<{token}>"), "<[REDACTED:github-token]>");
    let findings = redactor.scan(format!("a\nb\n{token}-and-more").as_bytes());
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].line, findings[0].kind, findings[0].start), (3, FindingKind::Known, 4));
}

#[test]
fn control_characters_do_not_hide_a_secret() {
    let redactor = redactor(Vec::new());
    let done = redactor.text(&["g\0h", "p\u{1b}", "_", &"a1B2".repeat(9)].concat());
    assert_eq!(done.value.as_str(), "[REDACTED:github-token]");
    assert_eq!((done.n_redactions, done.n_controls_dropped), (1, 2));
}

#[test]
fn a_long_known_value_is_one_redaction() {
    let long: String = (0..900).map(|n| format!("{n:x}é")).collect();
    let redactor = redactor(vec![known("LONG", &long)]);
    check(&redactor, &format!("a{long}b"), "a[REDACTED:env-long]b");
}

fn key(n_lines: usize) -> String {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(n_lines);
    ["-----BEGIN RSA ", "PRIVATE KEY-----\n", &body, "-----END RSA ", "PRIVATE KEY-----\n"].concat()
}

#[test]
fn a_private_key_goes_whole_and_a_missing_end_is_bounded() {
    let redactor = redactor(Vec::new());
    check(&redactor, &format!("a\n{}b\n", key(30)), "a\n[REDACTED:private-key]\nb\n");
    let numbered: String = key(5).lines().enumerate().map(|(n, line)| format!("{n}\t{line}\n")).collect();
    check(&redactor, &numbered, "0\t[REDACTED:private-key]\n");
    let endless = key(2000).replace("-----END", "-----NOT");
    let left = redactor.text(&endless).value.len();
    assert_eq!(left, endless.len() - 64 * 1024 + "[REDACTED:private-key]".len());
}

/// Several hundred kilobytes with secrets at awkward places.
fn large() -> Vec<u8> {
    let token = ["ghp", "_", &"a1B2".repeat(9)].concat();
    let mut text = Vec::new();
    for n in 0..4000usize {
        text.extend_from_slice("let token = next_token(); // ordinary é text ".as_bytes());
        text.extend_from_slice(&vec![b'.'; n % 97]);
        match n % 400 {
            7 => text.extend_from_slice(format!("{token}\n").as_bytes()),
            90 => text.extend_from_slice(key(n % 50 + 1).as_bytes()),
            200 => text.extend_from_slice(b"the shared value is horse-battery-staple-9 \xff\xfe\0"),
            300 => text.extend_from_slice(&[b'A'; 5000]),
            _ => text.push(b'\n'),
        }
    }
    text.extend_from_slice(key(1500).replace("-----END", "").as_bytes());
    text
}

#[test]
fn chunks_of_any_size_give_the_same_bytes() {
    let settings = RedactorSettings {
        known: vec![known("SHARED", "horse-battery-staple-9")],
        patterns: vec![r"\bordinary \S{1,8} t[a-z]+ [.]{90,}".to_owned()],
        ..RedactorSettings::default()
    };
    let redactor = Redactor::new(settings).unwrap();
    let text = large();
    let run = |size: usize| {
        let mut out = Vec::new();
        let mut stream = redactor.stream();
        text.chunks(size).for_each(|chunk| stream.push(chunk, &mut out));
        (stream.finish(&mut out), out)
    };
    let (stats, whole) = run(text.len());
    assert_eq!(stats.n_redactions, redactor.scan(&text).len());
    assert_eq!(stats.by_rule.values().sum::<usize>(), stats.n_redactions);
    assert_eq!(stats.by_rule.len(), 4, "{stats:?}");
    for size in [1, 2, 3, 7, 61, 1000, 4096, 65_536, 65_537] {
        let (other_stats, other) = run(size);
        assert!(other == whole && other_stats == stats, "chunks of {size}");
    }
}

#[test]
fn a_finished_line_is_not_held_back() {
    let redactor = redactor(vec![known("SHARED", "horse-battery-staple-9")]);
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    stream.push(b"let token = 1; password: \nnext line\n....", &mut out);
    assert!(out.starts_with(b"let token = 1; password: \nnext line\n"), "{}", String::from_utf8_lossy(&out));
    stream.push(b"a token at the end of a line that goes on", &mut out);
    assert!(!out.ends_with(b"goes on"));
    assert_eq!(stream.finish(&mut out).n_redactions, 0);
    assert!(out.ends_with(b"goes on"));
}

#[test]
fn operators_patterns_are_checked_and_used() {
    let with = |pattern: &str| {
        Redactor::new(RedactorSettings { patterns: vec![pattern.to_owned()], ..RedactorSettings::default() })
    };
    check(
        &with("CORP-[0-9]+").unwrap(),
        "see CORP-123, CORP-4",
        "see [REDACTED:custom-pattern-1], [REDACTED:custom-pattern-1]",
    );
    for (pattern, bad) in [("(", "("), (r"(?=x)", "(?=x)"), (r"(\w{1,100}){100}", "100}){100}"), ("a*", "a*")]
    {
        let error = with(pattern).unwrap_err().to_string();
        assert!(error.contains(bad), "{error}");
    }
    assert!(matches!(with(&"x".repeat(5000)), Err(RedactorError::PatternTooLong { .. })));
}

#[test]
fn a_redactor_can_be_shared_and_does_not_show_its_values() {
    fn shared<T: Send + Sync>() {}
    shared::<Redactor>();
    let shown = format!("{:?}", redactor(vec![known("A", "horse-battery-staple-9")]));
    assert!(!shown.contains("horse"), "{shown}");
}

/// A false header far above a true key must not use the block's length up and show the key behind it.
#[test]
fn a_false_header_does_not_uncover_a_key() {
    let redactor = Redactor::new(RedactorSettings::default()).unwrap();
    let label = ["PRIVATE", "KEY"].join(" ");
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB\n";
    let key = format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", line.repeat(25));
    for distance in [1000, 64 * 1024 - 100, 64 * 1024 - 40, 64 * 1024 + 10] {
        let filler = "word of filler\n".repeat(distance / 15);
        let text = format!("-----BEGIN {label}-----\n{}\n{filler}{key}after\n", line.trim());
        let shown = redactor.text(&text).value.into_string();
        assert!(!shown.contains("MIIEvQIB"), "{distance}");
        assert!(shown.ends_with("after\n"), "{distance}");
    }
}
