//! Edits and diffs in a text whose secrets the caller was not shown.
//!
//! The caller sees markers where secrets stand. So a pattern cannot feel for what is behind a marker, an edit cannot
//! uncover it by changing the words that gave it away, and a diff shows markers even where its few lines of context hold
//! only a part of a key. THREAT: P02.

use vambrace_edit::{Applied, Edit, EditError, Language, apply, apply_around, diff_for_new, unified_diff};
use vambrace_redact::{FARTHEST, Finding, FindingKind, PLACEHOLDER_PREFIX, Redactor};
use vambrace_types::{ErrorCode, ToolError};

use crate::hands::PatternTime;

/// How many secrets a diff covers.
pub(super) fn n_covered(diff: &str) -> usize {
    diff.matches(PLACEHOLDER_PREFIX).count()
}

/// The text after the edits, and the diff as the caller may see it.
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) n_matches: usize,
    pub(super) diff: String,
}

pub(super) fn edit(
    redactor: &Redactor,
    path: &str,
    old: &str,
    language: Option<Language>,
    edits: &[Edit],
    budget: &dyn Fn() -> PatternTime,
) -> Result<Outcome, ToolError> {
    // Most edits are nowhere near a secret: then only what is around them has to be looked at, however long the text.
    if let Ok(applied) = apply(old, language, edits, &budget())
        && is_clear_around(redactor, old, &applied)
    {
        let diff = changed(path, old, &applied.text);
        return Ok(Outcome { text: applied.text, n_matches: applied.n_matches, diff });
    }
    let findings = redactor.scan(old.as_bytes());
    let hidden: Vec<_> = findings.iter().map(|finding| finding.start..finding.end).collect();
    // A budget of its own: the time the redactor took is not the pattern's.
    let applied = apply_around(old, &hidden, language, edits, &budget())
        .map_err(|error| explain(&error, path, !hidden.is_empty()))?;
    demand_secrets_stay(redactor, &findings, &applied)?;
    let diff = changed(path, redactor.text(old).value.as_str(), redactor.text(&applied.text).value.as_str());
    Ok(Outcome { text: applied.text, n_matches: applied.n_matches, diff })
}

/// The diff of a file that is written whole; `None` for a new one.
pub(super) fn diff(redactor: &Redactor, path: &str, old: Option<&str>, new: &str) -> String {
    match old {
        None => diff_for_new(&format!("b/{path}"), redactor.text(new).value.as_str()),
        Some(old) if is_clear(redactor, old, new) => changed(path, old, new),
        Some(old) => changed(path, redactor.text(old).value.as_str(), redactor.text(new).value.as_str()),
    }
}

fn changed(path: &str, old: &str, new: &str) -> String {
    unified_diff(&format!("a/{path}"), &format!("b/{path}"), old, new)
}

/// Whether no secret stands in or near a match. What was matched counts, not what was changed: a match that is replaced
/// by itself changes nothing and still tells that it is there.
fn is_clear_around(redactor: &Redactor, old: &str, applied: &Applied) -> bool {
    let front = applied.touched.start.saturating_sub(FARTHEST);
    let behind = old.len().saturating_sub(applied.touched.end).saturating_sub(FARTHEST);
    let near = |text: &str| {
        redactor.scan(text.as_bytes().get(front..text.len().saturating_sub(behind)).unwrap_or_default())
    };
    near(old).is_empty() && near(&applied.text).is_empty()
}

/// Whether no secret stands in or near what differs between the two texts.
fn is_clear(redactor: &Redactor, old: &str, new: &str) -> bool {
    let same = |(a, b): &(u8, u8)| a == b;
    let front = old.bytes().zip(new.bytes()).take_while(same).count();
    let back = old.bytes().rev().zip(new.bytes().rev()).take_while(same).count();
    let back = back.min(old.len().min(new.len()) - front);
    let near = |text: &str| {
        let end = (text.len() - back).saturating_add(FARTHEST).min(text.len());
        redactor.scan(text.as_bytes().get(front.saturating_sub(FARTHEST)..end).unwrap_or_default())
    };
    near(old).is_empty() && near(new).is_empty()
}

fn explain(error: &EditError, path: &str, veiled: bool) -> ToolError {
    let mut error = error.to_tool_error(path);
    if veiled && error.code == ErrorCode::MatchCountDiffers {
        error.suggestion.push_str(" Text shown as [REDACTED:…] cannot be matched.");
    }
    error
}

/// An edit may neither bring a secret in, put together from what stands in the file and what is put in, nor uncover
/// one: every secret that stays must be found again, whole, where it stands now. And nothing is changed right beside
/// one, because whether it is still found there would tell what it begins or ends with.
fn demand_secrets_stay(redactor: &Redactor, before: &[Finding], applied: &Applied) -> Result<(), ToolError> {
    let after = redactor.scan(applied.text.as_bytes());
    let known =
        |findings: &[Finding]| findings.iter().filter(|finding| finding.kind == FindingKind::Known).count();
    if known(&after) > known(before) {
        return Err(ToolError::new(ErrorCode::SecretInWrite, "The edited text would hold one more secret.")
            .suggestion("Refer to the secret by the name of its variable instead of its value.")
            .rule("redact.on_write:known"));
    }
    let mut replaced = applied.replaced.iter().peekable();
    let (mut taken, mut put) = (0, 0);
    for finding in before {
        while let Some((span, length)) = replaced.next_if(|(span, _)| span.end < finding.start) {
            taken += span.len();
            put += length;
        }
        let touching = replaced.peek().filter(|(span, _)| span.start <= finding.end);
        match touching {
            // Taken out whole, as a part of what a syntax pattern matched.
            Some((span, _)) if span.start < finding.start && finding.end < span.end => continue,
            Some(_) => return Err(uncovers()),
            None => {}
        }
        let now = finding.start - taken + put..finding.end - taken + put;
        let covered = after.iter().any(|found| found.start <= now.start && now.end <= found.end);
        if !covered {
            return Err(uncovers());
        }
    }
    Ok(())
}

fn uncovers() -> ToolError {
    ToolError::new(
        ErrorCode::SecurityError,
        "The edit would change the words around a secret by which it is recognized.",
    )
    .suggestion("Leave what stands before and behind a [REDACTED:…] marker as it is, or let a person make this change.")
    .rule("redact.uncover")
}

#[cfg(test)]
mod tests {
    use super::*;
    use vambrace_edit::{Captures, MatchMode, Operation};
    use vambrace_redact::{KnownValue, RedactorSettings};
    use vambrace_types::Secret;

    fn known() -> String {
        ["Vq81", "Kx0v", "Tt2L", "mB77"].concat()
    }

    fn redactor() -> Redactor {
        let value = KnownValue { name: "TOKEN".into(), value: Secret::new(known()) };
        Redactor::new(RedactorSettings { known: vec![value], ..Default::default() }).unwrap()
    }

    fn replace(mode: MatchMode, spec: &str, content: &str) -> Edit {
        let (spec, content) = (spec.to_owned(), content.to_owned());
        Edit { operation: Operation::Replace, mode, spec, content, count: 1, captures: Captures::Literal }
    }

    fn unhurried() -> PatternTime {
        PatternTime::start(std::time::Duration::from_secs(60), &vambrace_files::Stop::default())
    }

    #[track_caller]
    fn check(old: &str, edit: Edit, expected: Result<&str, ErrorCode>) {
        let result = super::edit(&redactor(), "f", old, None, &[edit], &unhurried);
        let result = result.as_ref().map(|outcome| outcome.text.as_str()).map_err(|error| error.code);
        assert_eq!(result, expected);
    }

    #[test]
    fn a_pattern_cannot_feel_for_a_secret() {
        let text = format!("a = 1\nkey = {}\nb = 2\n", known());
        check(&text, replace(MatchMode::Regex, "key = V.*", "x"), Err(ErrorCode::MatchCountDiffers));
        check(&text, replace(MatchMode::Regex, "key = W.*", "x"), Err(ErrorCode::MatchCountDiffers));
        check(&text, replace(MatchMode::Exact, "key = V", "x"), Err(ErrorCode::MatchCountDiffers));
        check(&text, replace(MatchMode::Exact, "mB7", "x"), Err(ErrorCode::MatchCountDiffers));
        check(&text, replace(MatchMode::Exact, "a = 1", "a = 3"), Ok(&text.replace("a = 1", "a = 3")));
        // Far from the end, and replaced by itself, so that nothing changes.
        let long = format!("{text}{}", "c = 3\n".repeat(10_000));
        // A match that would reach from a secret to what is behind it swallows nothing.
        let marked = format!("{text}MARK\n");
        for guess in ["V", "W"] {
            let swallow =
                replace(MatchMode::Regex, &format!("key = {guess}[^\\n]*\\n[^M]*MARK|MARK"), "MARK2");
            check(&marked, swallow, Ok(&marked.replace("MARK", "MARK2")));
        }
        let tail = format!("key = {}7777\n", known());
        for (guess, n_found) in [("77", 2), ("B7", 0)] {
            let edit = Edit { count: n_found, ..replace(MatchMode::Exact, guess, guess) };
            let result = super::edit(&redactor(), "f", &tail, None, &[edit], &unhurried);
            let refused = result.err().map(|error| error.code);
            assert_ne!(refused, Some(ErrorCode::MatchCountDiffers), "{guess}");
        }
        // What looks beside itself does not look into a secret.
        for edge in ["key = \\b", "key = \\B"] {
            check(&text, replace(MatchMode::Regex, edge, "x"), Err(ErrorCode::MatchCountDiffers));
        }
        let itself = Edit { captures: Captures::Expand, ..replace(MatchMode::Regex, "key = V.*", "$0") };
        check(&long, itself, Err(ErrorCode::MatchCountDiffers));
    }

    #[test]
    fn an_edit_neither_brings_a_secret_in_nor_uncovers_one() {
        let secret = known();
        let (half, rest) = secret.split_at(8);
        let text = format!("a = {half}-\n");
        check(&text, replace(MatchMode::Exact, "-", rest), Err(ErrorCode::SecretInWrite));
        let generic = format!("password = \"{}\"\n", ["Plum", "Trio", "77xK", "horse"].concat());
        check(&generic, replace(MatchMode::Exact, "password", "pwd_hint"), Err(ErrorCode::SecurityError));
        check(
            &generic,
            replace(MatchMode::Exact, "password", "password\u{1}"),
            Ok(&generic.replace("d =", "d\u{1} =")),
        );
        let veiled = generic.replace("d =", "d\u{1} =");
        check(&veiled, replace(MatchMode::Exact, "password\u{1} = ", "x = "), Err(ErrorCode::SecurityError));
        // Right beside it: without the quotation mark only a part would be taken for the secret.
        let split = format!("password = \"{}\"\n", ["s3cr", "3tp4;w0", "rd9xTail"].concat());
        check(
            &split,
            replace(MatchMode::Exact, "password = \"", "password = "),
            Err(ErrorCode::SecurityError),
        );
        check(&generic, replace(MatchMode::Exact, "\n", "\nx = 1\n"), Ok(&format!("{generic}x = 1\n")));
    }

    #[test]
    fn a_diff_never_shows_a_part_of_a_key() {
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(9);
        let old = format!("-----BEGIN {label}-----\n{body}-----END {label}-----\nlast\n");
        let edit = replace(MatchMode::Exact, "last", "end");
        let outcome =
            super::edit(&redactor(), "f", &old, None, std::slice::from_ref(&edit), &unhurried).unwrap();
        assert!(outcome.diff.contains("+end") && !outcome.diff.contains("MII"), "{}", outcome.diff);
        let written = super::diff(&redactor(), "f", Some(&old), "end\n");
        assert!(written.contains("+end") && !written.contains("MII"), "{written}");
    }
}
