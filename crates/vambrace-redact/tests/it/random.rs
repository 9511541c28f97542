//! The table of random texts that must and must not count as secrets.

use vambrace_redact::{Entropy, FindingKind, Redactor, RedactorSettings};

const TABLE: &str = include_str!("../../../../testdata/random.tsv");
const SEPARATOR: &str = "␣+␣";

/// Is there a secret in the text? Where there is, a rule that knows it better may have found it; where there
/// is none, only randomness is asked.
fn finds(entropy: Entropy, text: &str, expected: bool) -> bool {
    let redactor = Redactor::new(RedactorSettings { entropy, ..RedactorSettings::default() }).unwrap();
    redactor.scan(text.as_bytes()).iter().any(|finding| expected || finding.kind == FindingKind::Entropy)
}

#[test]
fn every_row_holds() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [parts, expected, note] = columns[..] else { panic!("{line:?} has not three columns") };
        let text = parts.replace(SEPARATOR, "").replace("\\n", "\n");
        let (context, aggressive) = match expected {
            "secret" => (true, true),
            "aggressive" => (false, true),
            "plain" => (false, false),
            other => panic!("{other:?} is not a verdict"),
        };
        if finds(Entropy::Context, &text, context) != context {
            wrong.push(format!("{note}: {text:?} in context"));
        }
        if finds(Entropy::Aggressive, &text, aggressive) != aggressive {
            wrong.push(format!("{note}: {text:?}, aggressive"));
        }
        assert!(!finds(Entropy::Off, &text, false));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
