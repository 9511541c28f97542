//! Edits and diffs in a text whose secrets the caller was not shown.
//!
//! The caller sees markers where secrets stand. So a pattern cannot feel for what is behind a marker, an edit cannot
//! uncover it by changing the words that gave it away, and a diff shows markers even where its few lines of context hold
//! only a part of a key. THREAT: P02.

use std::ops::Range;

use vambrace_edit::{Applied, Edit, EditError, Language, apply_around, diff_for_new, unified_diff};
use vambrace_policy::{OnWrite, Verdict};
use vambrace_redact::{FARTHEST, Finding, FindingKind, PLACEHOLDER_PREFIX, Redactor};
use vambrace_types::{ErrorCode, ToolError};

use crate::hands::PatternTime;

/// How many secrets a diff covers.
pub(crate) fn n_covered(diff: &str) -> usize {
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
    on_write: OnWrite,
    path: &str,
    old: &str,
    language: Option<Language>,
    edits: &[Edit],
    budget: &dyn Fn() -> PatternTime,
) -> Result<Outcome, ToolError> {
    // Always the whole text: whether it is looked at must not depend on what a pattern found in it, or the time a call
    // takes would tell what the answer does not.
    let findings = redactor.scan(old.as_bytes());
    let hidden: Vec<_> = findings.iter().map(|finding| finding.start..finding.end).collect();
    // A budget of its own: the time the redactor took is not the pattern's.
    let applied = apply_around(old, &hidden, language, edits, &budget())
        .map_err(|error| explain(&error, path, !hidden.is_empty()))?;
    // Without secrets before, new ones can only stand where something was put in.
    if findings.is_empty() && is_clear_around(redactor, old, &applied) {
        let diff = changed(path, old, &applied.text);
        return Ok(Outcome { text: applied.text, n_matches: applied.n_matches, diff });
    }
    demand_secrets_stay(redactor, on_write, &findings, &applied)?;
    let diff = changed(path, redactor.text(old).value.as_str(), redactor.text(&applied.text).value.as_str());
    Ok(Outcome { text: applied.text, n_matches: applied.n_matches, diff })
}

/// The diff of a file that is written whole; `None` for a new one.
pub(crate) fn diff(redactor: &Redactor, path: &str, old: Option<&str>, new: &str) -> String {
    match old {
        None => diff_for_new(&format!("b/{path}"), redactor.text(new).value.as_str()),
        Some(old) if is_clear(redactor, old) && is_clear(redactor, new) => changed(path, old, new),
        Some(old) => changed(path, redactor.text(old).value.as_str(), redactor.text(new).value.as_str()),
    }
}

fn is_clear(redactor: &Redactor, text: &str) -> bool {
    redactor.scan(text.as_bytes()).is_empty()
}

fn changed(path: &str, old: &str, new: &str) -> String {
    unified_diff(&format!("a/{path}"), &format!("b/{path}"), old, new)
}

/// Whether no secret stands in or near what was put in.
fn is_clear_around(redactor: &Redactor, old: &str, applied: &Applied) -> bool {
    let front = applied.touched.start.saturating_sub(FARTHEST);
    let behind = old.len().saturating_sub(applied.touched.end).saturating_sub(FARTHEST);
    let near = applied.text.as_bytes().get(front..applied.text.len().saturating_sub(behind));
    redactor.scan(near.unwrap_or_default()).is_empty()
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
///
/// Random text that may be none is held more loosely: it may be touched as long as it is still found whole, because its
/// rule has no first or last words to feel for. But it is not uncovered either, or whoever sees a marker need only change
/// the name before it.
fn demand_secrets_stay(
    redactor: &Redactor,
    on_write: OnWrite,
    before: &[Finding],
    applied: &Applied,
) -> Result<(), ToolError> {
    let after = redactor.scan(applied.text.as_bytes());
    let known =
        |findings: &[Finding]| findings.iter().filter(|finding| finding.kind == FindingKind::Known).count();
    if on_write.known != Verdict::Allow && known(&after) > known(before) {
        return Err(ToolError::new(ErrorCode::SecretInWrite, "The edited text would hold one more secret.")
            .suggestion("Refer to the secret by the name of its variable instead of its value.")
            .rule("redact.on_write:known"));
    }
    let mut replaced = applied.replaced.iter().peekable();
    let (mut taken, mut put) = (0, 0);
    for finding in before {
        let loose = match finding.kind {
            FindingKind::Known | FindingKind::Pattern => false,
            FindingKind::Entropy => true,
        };
        let before_it =
            |span: &Range<usize>| span.end < finding.start || (loose && span.end == finding.start);
        while let Some((span, length)) = replaced.next_if(|(span, _)| before_it(span)) {
            taken += span.len();
            put += length;
        }
        let touching = replaced.peek().filter(|(span, _)| span.start <= finding.end);
        match touching {
            // Taken out whole, as a part of what a syntax pattern matched.
            Some((span, _)) if span.start < finding.start && finding.end < span.end => continue,
            Some((span, _)) if loose && span.start == finding.end => {}
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
    .suggestion(
        "Keep the match at least one character away from a [REDACTED:…] marker and leave the name before it as it is, or \
         let a person make this change. What is no secret can be accepted with `vambrace secrets baseline`.",
    )
    .rule("redact.uncover")
}

#[cfg(test)]
mod tests {
    use super::*;
    use vambrace_edit::{Captures, MatchMode, Operation};
    use vambrace_redact::{Entropy, KnownValue, RedactorSettings};
    use vambrace_types::Secret;

    fn known() -> String {
        ["Vq81", "Kx0v", "Tt2L", "mB77"].concat()
    }

    fn redactor() -> Redactor {
        redactor_with(Entropy::default())
    }

    fn redactor_with(entropy: Entropy) -> Redactor {
        let value = KnownValue { name: "TOKEN".into(), value: Secret::new(known()) };
        Redactor::new(RedactorSettings { known: vec![value], entropy, ..Default::default() }).unwrap()
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
        let result = super::edit(&redactor(), OnWrite::REFUSE, "f", old, None, &[edit], &unhurried);
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
            let result = super::edit(
                &redactor_with(Entropy::Off),
                OnWrite::REFUSE,
                "f",
                &tail,
                None,
                &[edit],
                &unhurried,
            );
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
    fn random_text_may_be_touched_but_not_uncovered() {
        let random = ["q7Zt", "X2mK", "9vRw", "L4pB", "s8Hd", "N3fY", "c6Jg"].concat();
        let text = format!("a = 1\n{random}\nb = 2\n");
        let kinds: Vec<_> = redactor().scan(text.as_bytes()).iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Entropy]);
        // Lines around it, up to its very ends.
        check(&text, replace(MatchMode::Exact, "a = 1\n", "a = 3\n\n"), Ok(&text.replace("1\n", "3\n\n")));
        check(
            &text,
            replace(MatchMode::Exact, "\nb = 2", "\n\nb = 3"),
            Ok(&text.replace("\nb = 2", "\n\nb = 3")),
        );
        // In the middle of a sentence it would be shown.
        let sentence = replace(MatchMode::Exact, "a = 1\n", "the words before it are ");
        check(&text, sentence, Err(ErrorCode::SecurityError));
    }

    #[test]
    fn a_syntax_pattern_neither_copies_nor_compares_a_secret() {
        let value = ["Plum", "Trio", "77xK", "horse"].concat();
        let text = format!("password = \"{value}\"\ncheck(1)\n");
        let ast = |spec: &str, content: &str| Edit {
            captures: Captures::Expand,
            ..replace(MatchMode::Ast, spec, content)
        };
        let code = |edit: Edit| {
            super::edit(
                &redactor(),
                OnWrite::REFUSE,
                "f.py",
                &text,
                Some(Language::Python),
                &[edit],
                &unhurried,
            )
            .err()
            .map(|e| e.code)
        };
        assert_eq!(code(ast("password = $A", "x = $A")), Some(ErrorCode::SecurityError));
        assert_eq!(code(ast("$A = $B", "print($B)")), Some(ErrorCode::SecurityError));
        let copy = Edit { operation: Operation::AppendAfter, ..ast("password = $A", "x = $A") };
        assert_eq!(code(copy), Some(ErrorCode::SecurityError));
        // Right and wrong guesses get the same answer.
        for guess in [value.as_str(), "SomethingElse77"] {
            let spec = format!("password = \"{guess}\"");
            assert_eq!(code(ast(&spec, "y = 1")), Some(ErrorCode::MatchCountDiffers), "{guess}");
        }
        assert_eq!(code(ast("check($A)", "check($A, 2)")), None);
    }

    #[test]
    fn a_diff_never_shows_a_part_of_a_key() {
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(9);
        let old = format!("-----BEGIN {label}-----\n{body}-----END {label}-----\nlast\n");
        let edit = replace(MatchMode::Exact, "last", "end");
        let outcome = super::edit(
            &redactor(),
            OnWrite::REFUSE,
            "f",
            &old,
            None,
            std::slice::from_ref(&edit),
            &unhurried,
        )
        .unwrap();
        assert!(outcome.diff.contains("+end") && !outcome.diff.contains("MII"), "{}", outcome.diff);
        // Behind a line so long that the key is far from the change, and still in the context of the diff.
        let far = format!("{}{}\nlast\n", old.trim_end_matches("last\n"), "y".repeat(200_000));
        let outcome = super::edit(
            &redactor(),
            OnWrite::REFUSE,
            "f",
            &far,
            None,
            std::slice::from_ref(&edit),
            &unhurried,
        )
        .unwrap();
        assert!(outcome.diff.contains("+end") && !outcome.diff.contains("MII"));
        let written = super::diff(&redactor(), "f", Some(&old), "end\n");
        assert!(written.contains("+end") && !written.contains("MII"), "{written}");
    }
}
