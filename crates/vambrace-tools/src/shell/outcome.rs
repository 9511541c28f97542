//! What came of a program, as every tool that runs one tells it.

use std::time::Duration;

use vambrace_policy::{Action, Permit};
use vambrace_process::Finished;
use vambrace_redact::{Redactor, cover_bytes};
use vambrace_types::{RawOutput, Tree};

use crate::Hands;

/// LIMIT: of each stream, beginning and end are kept up to this many bytes together (decision C14).
const MOST_BYTES: usize = 1 << 20;

/// A program's end and its output as text.
pub(crate) struct Outcome {
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) duration_ms: u64,
    pub(crate) timed_out: bool,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) truncated: bool,
}

impl Outcome {
    pub(crate) fn of(finished: &Finished, hands: &Hands<'_>) -> Outcome {
        if finished.cut {
            hands.warn(vec![
                "The program wrote more than it may (`limits.output_bytes`) and was ended; what it had written is here."
                    .to_owned(),
            ]);
        }
        let (stdout, out_cut) = shown(&finished.stdout, hands);
        let (stderr, err_cut) = shown(&finished.stderr, hands);
        Outcome {
            exit_code: finished.exit.code(),
            stdout,
            stderr,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            timed_out: finished.timed_out,
            time_limit: finished.time_limit,
            truncated: finished.cut || out_cut || err_cut,
        }
    }

    pub(crate) fn entries(self) -> Vec<(&'static str, Tree)> {
        let mut entries = vec![
            ("exit_code", Tree::Int(i64::from(self.exit_code))),
            ("stdout", Tree::Text(self.stdout)),
            ("stderr", Tree::Text(self.stderr)),
            ("duration_ms", Tree::bytes(self.duration_ms)),
            ("timed_out", Tree::Bool(self.timed_out)),
            ("truncated", Tree::Bool(self.truncated)),
        ];
        if let Some(limit) = self.time_limit.filter(|_| self.timed_out) {
            entries
                .push(("time_limit_ms", Tree::bytes(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))));
        }
        entries
    }

    pub(crate) fn into_output(self) -> RawOutput {
        RawOutput::new(Tree::map(self.entries()))
    }
}

fn shown(bytes: &[u8], hands: &Hands<'_>) -> (String, bool) {
    let (text, cut, n_covered) = within(bytes, MOST_BYTES, hands.redactor());
    hands.redacted(n_covered);
    (text, cut)
}

/// Text of at most `most` bytes and a mark where something is missing; and how many secrets had to be covered for it.
fn within(bytes: &[u8], most: usize, redactor: &Redactor) -> (String, bool, usize) {
    if bytes.len() <= most {
        return (String::from_utf8_lossy(bytes).into_owned(), false, 0);
    }
    // Secrets are covered before the cut, which would leave a half that no rule recognizes. THREAT: P02.
    let findings = redactor.scan(bytes);
    let from = bytes.len() - most / 2;
    let (head, n_head) = cover_bytes(bytes.get(..most / 2).unwrap_or_default(), 0, &findings);
    let (tail, n_tail) = cover_bytes(bytes.get(from..).unwrap_or_default(), from, &findings);
    let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
    let n_missing = bytes.len() - most / 2 * 2;
    (format!("{head}\n[… {n_missing} bytes left out …]\n{tail}"), true, n_head + n_tail)
}

/// What a dry run shows of a call that would start programs.
pub(crate) fn preview<A: Action>(tool: &str, permit: &Permit<A>) -> RawOutput {
    RawOutput::new(Tree::map([("would", Tree::text(tool)), ("vectors", vectors(permit.action()))]))
}

pub(crate) fn vectors<A: Action>(action: &A) -> Tree {
    let vectors = action.vectors().into_iter();
    Tree::List(vectors.map(|words| Tree::List(words.into_iter().map(Tree::Text).collect())).collect())
}

#[cfg(test)]
mod tests {
    use vambrace_redact::RedactorSettings;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str, cut: bool) {
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let (text, is_cut, _) = within(bytes, 10, &redactor);
        assert_eq!((text.as_str(), is_cut), (expected, cut));
    }

    #[test]
    fn beginning_and_end_are_kept() {
        check(b"", "", false);
        check(b"0123456789", "0123456789", false);
        check(b"0123456789a", "01234\n[… 1 bytes left out …]\n6789a", true);
        check(b"a\xffb", "a\u{fffd}b", false);
        check("ééééééé".as_bytes(), "éé\u{fffd}\n[… 4 bytes left out …]\n\u{fffd}éé", true);
    }

    #[test]
    fn a_secret_at_the_cut_is_covered_on_both_sides() {
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(20);
        let key = format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n");
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let (text, cut, n_covered) = within(key.as_bytes(), 400, &redactor);
        assert!(cut && n_covered == 2, "{text}");
        assert!(!text.contains("MIIEvQ"), "{text}");
    }
}
