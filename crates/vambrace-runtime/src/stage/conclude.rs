//! Stages 10 to 13: every ending is cleaned, cut to size, written down and answered by this code.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use vambrace_audit::{Ending, Outcome, Verdict as Judged, Violation, ViolationKind};
use vambrace_policy::{Severity, Verdict};
use vambrace_redact::{RedactedText, RedactedTree, Redactor, truncate};
use vambrace_tools::{Reading, thread};
use vambrace_types::{ErrorCode, Family, Metadata, RawOutput, SecurityChecks, Status, ToolError, Tree};

use super::record::loudness;
use super::{Call, MOST_IN_PLACE, Setback, Trail, hold_if};
use super::{alarm, contact};
use crate::Corridor;
use crate::chance::chance;
use crate::corridor::OnAuditFailure;
use crate::leash::Stopped;
use crate::reply::{Recorded, Reply, ReplyError, Ticket};

/// What makes us fall over on the way out is left out, and the call ends as one that failed.
pub(crate) async fn conclude(
    corridor: &Corridor,
    call: &Call,
    reading: Reading,
    trail: Trail,
    attempt: Result<RawOutput, Setback>,
) -> Reply {
    let whole = AssertUnwindSafe(ended(corridor, call, reading, trail, attempt)).catch_unwind();
    match whole.await {
        Ok(reply) => reply,
        Err(_) => ended(corridor, call, reading, Trail::default(), Err(Setback::Panicked)).await,
    }
}

async fn ended(
    corridor: &Corridor,
    call: &Call,
    reading: Reading,
    mut trail: Trail,
    attempt: Result<RawOutput, Setback>,
) -> Reply {
    let mut end = End::of(call, attempt);
    if let Some(rule) = end.error.as_ref().and_then(|error| error.rule.clone()) {
        trail.rule = rule;
    }
    let clean = clean(call, &mut end, &mut trail).await;
    let told = record(corridor, call, &clean, &end, &mut trail).await;
    respond(corridor, call, reading, clean, end, trail, told).await
}

/// What is left of an ending when it was cleaned and cut to size.
struct Clean {
    data: RedactedTree,
    error: Option<ReplyError>,
    truncated: bool,
    n_redactions: usize,
}

/// Stages 10 and 11: redact, then truncate. A cut through the middle of a key leaves half a key,
/// which no rule recognizes. THREAT: P02.
async fn clean(call: &Call, end: &mut End, trail: &mut Trail) -> Clean {
    let redactor = &call.redactor;
    let mut n_redactions = trail.n_redacted;
    let (data, truncated) = match end.output.take() {
        Some(raw) => {
            if raw.n_text_bytes() > MOST_IN_PLACE {
                thread::leave_shared().await;
            }
            let whole = raw.is_bounded_by_request();
            let cleaned = redactor.tree(raw);
            n_redactions += cleaned.n_redactions;
            if cleaned.n_controls_dropped > 0 {
                let dropped = cleaned.n_controls_dropped;
                trail.warnings.push(format!("{dropped} control characters were dropped."));
            }
            if whole { (cleaned.value, false) } else { fit(call, cleaned.value) }
        }
        None => (RedactedTree::null(), false),
    };
    let error = end.error.as_ref().map(|error| clean_error(redactor, error, &mut n_redactions));
    let truncated = truncated || data.as_tree().get("truncated") == Some(&Tree::Bool(true));
    Clean { data, error, truncated, n_redactions }
}

/// What the audit log and those who watch were told.
struct Told {
    rule: RedactedText,
    duration_ms: u64,
    warnings: Vec<String>,
    recorded: Recorded,
}

/// Stage 12 audit.
async fn record(corridor: &Corridor, call: &Call, clean: &Clean, end: &End, trail: &mut Trail) -> Told {
    let redactor = &call.redactor;
    // Names of rules may hold the operator's own patterns.
    let for_record = redactor.for_record();
    let rule = for_record.text(&trail.rule).value;
    // What a refused call asked for is its own violation already, and its error has the words.
    let beside = match end.verdict {
        Verdict::Deny => &[][..],
        Verdict::Allow | Verdict::Ask => &trail.contacts[..],
    };
    // Before the numbers are written down, so that none is missing.
    trail.warnings.extend(contact::warnings(beside));
    let mut warnings: Vec<String> =
        trail.warnings.iter().map(|text| redactor.text(text).value.into_string()).collect();
    contact::record(corridor, call, &trail.contacts).await;
    let duration_ms = corridor.clock().now().millis_since(call.started);
    let outcome = outcome(call, clean, end, trail, &for_record, rule.as_str(), duration_ms);
    let noted = match corridor.audit() {
        Ok(audit) => {
            // Violations are counted in a file that all processes share, behind its lock.
            // A durable one may have to wait for room in the queue.
            let waits = audit.is_durable() || outcome.violation.is_some() || !outcome.further.is_empty();
            let brought = hold_if(waits, || audit.outcome(&call.entry, &outcome)).await;
            brought.await.map_err(|error| Recorded::no(&error))
        }
        Err(error) => Err(Recorded::no(error)),
    };
    let recorded = match noted {
        Ok(receipt) => {
            warnings.extend(alarm::tell(corridor, call, receipt.alerts()));
            // Its own words name places on this machine, which are not for the agent.
            warnings.extend(receipt.warning().map(|_| BESIDE_THE_RECORD.to_owned()));
            Recorded::Yes(receipt)
        }
        Err(failure) => {
            warnings.push("This call's outcome could not be recorded.".to_owned());
            failure
        }
    };
    if let (Verdict::Deny, Some(error), false) = (end.verdict, &clean.error, trail.refusal_is_told) {
        alarm::refused(corridor, call, error);
    }
    Told { rule, duration_ms, warnings, recorded }
}

fn outcome(
    call: &Call,
    clean: &Clean,
    end: &End,
    trail: &Trail,
    for_record: &Redactor,
    rule: &str,
    duration_ms: u64,
) -> Outcome {
    let beside = match end.verdict {
        Verdict::Deny => &[][..],
        Verdict::Allow | Verdict::Ask => &trail.contacts[..],
    };
    let mut violations = end
        .violation(for_record, call)
        .into_iter()
        .chain(planted(for_record, call, &trail.planted))
        .chain(contact::violations(for_record, call, beside));
    let violation = violations.next();
    Outcome {
        verdict: match end.verdict {
            Verdict::Allow => Judged::Allow,
            Verdict::Ask => Judged::Ask,
            Verdict::Deny => Judged::Deny,
        },
        rule: rule.to_owned(),
        ending: end.ending,
        error: end.error.as_ref().map(|error| (error.code, clean_message(for_record, &error.message).0)),
        result: call.redactor.plain_tree(summary(clean.data.as_tree())).value,
        duration_ms,
        redactions: clean.n_redactions,
        marks: call.redactor.marked(),
        truncated: clean.truncated,
        enforcement: trail.enforcement,
        severity: loudness(trail.severity.max(end.severity)),
        checkpoint: None,
        violation,
        further: violations.collect(),
    }
}

/// Stage 13 respond, with the outcome in its file. INVARIANT: nothing else makes a reply. THREAT: P03.
async fn respond(
    corridor: &Corridor,
    call: &Call,
    reading: Reading,
    clean: Clean,
    end: End,
    trail: Trail,
    told: Told,
) -> Reply {
    let Clean { mut data, mut error, truncated, n_redactions } = clean;
    if shows_unrecorded(corridor, call.entry.dry_run, &told.recorded).await {
        (data, error) = (RedactedTree::null(), Some(unrecorded()));
    }
    let metadata = Metadata {
        call_id: call.entry.call_id.clone(),
        duration_ms: told.duration_ms,
        security_checks: match end.verdict {
            Verdict::Allow => SecurityChecks::Passed,
            Verdict::Ask => SecurityChecks::ApprovalRequired,
            Verdict::Deny => SecurityChecks::Denied,
        },
        dry_run: call.entry.dry_run,
        truncated,
        redactions: n_redactions,
        enforcement: trail.enforcement,
        checkpoint: None,
        warnings: told.warnings,
    };
    Reply {
        status: if error.is_some() { Status::Error } else { Status::Success },
        data,
        error,
        metadata,
        verdict: end.verdict,
        rule: told.rule,
        tool: call.entry.tool.as_str().to_owned(),
        reading,
        ticket: end.ticket,
        recorded: told.recorded,
    }
}

/// What a receipt's warning is about: the mirror, the security stream or the alert rules.
const BESIDE_THE_RECORD: &str =
    "The call is on record, but a copy of the record or an alert could not be written.";

/// A preview has no intent: when its outcome is lost too, nothing at all is on record of what it shows. A line alone does
/// not tell whether its file is still there, sealing it does; that is worth a wait where nothing may go unrecorded.
async fn shows_unrecorded(corridor: &Corridor, dry_run: bool, recorded: &Recorded) -> bool {
    match (recorded, corridor.parts.on_audit_failure) {
        (Recorded::No(_), OnAuditFailure::DenyAll) => dry_run,
        (Recorded::Yes(_), OnAuditFailure::DenyAll) => {
            dry_run && thread::hold(|| corridor.audit().is_ok_and(|audit| audit.seal().is_err())).await
        }
        (Recorded::Yes(_) | Recorded::No(_), OnAuditFailure::Warn | OnAuditFailure::DenyWrites) => false,
    }
}

fn unrecorded() -> ReplyError {
    ReplyError {
        code: ErrorCode::AuditUnavailable,
        message: RedactedText::fixed("The record cannot be written, so there is no preview."),
        suggestion: RedactedText::fixed(
            "Tell the person you work for; the log on standard error says what is wrong.",
        ),
        details: None,
    }
}

/// One of the ways a call ends.
struct End {
    output: Option<RawOutput>,
    error: Option<ToolError>,
    ending: Ending,
    verdict: Verdict,
    severity: Severity,
    ticket: Option<Ticket>,
}

impl End {
    fn of(call: &Call, attempt: Result<RawOutput, Setback>) -> End {
        match attempt {
            Ok(output) => End {
                output: Some(output),
                error: None,
                ending: if call.entry.dry_run { Ending::DryRun } else { Ending::Success },
                verdict: Verdict::Allow,
                severity: Severity::Info,
                ticket: None,
            },
            Err(Setback::Ask(unanswered)) => {
                let error = unanswered.to_tool_error();
                let end = End::failed(error, Ending::AskedNobody, Verdict::Ask, Severity::Warning);
                End { ticket: unanswered.ticket, ..end }
            }
            Err(Setback::Panicked) => {
                let error =
                    ToolError::new(ErrorCode::InternalError, "Vambrace failed while doing this call.")
                        .suggestion("Report it with the call id; the record holds what is known.");
                End::failed(error, Ending::Panicked, Verdict::Allow, Severity::Critical)
            }
            Err(Setback::Error(error)) => match (error.family(), call.leash.stopped()) {
                (Family::Denied, _) => End::failed(error, Ending::Denied, Verdict::Deny, Severity::Warning),
                // A door that stops although nobody pulled has met its deadline a moment before the watch did.
                (_, stopped) if error.code == ErrorCode::Cancelled => {
                    End::stopped(stopped.unwrap_or(Stopped::TimedOut))
                }
                (Family::Invalid | Family::Ask | Family::Busy | Family::Failed | Family::Internal, _) => {
                    End::failed(error, Ending::Failed, Verdict::Allow, Severity::Info)
                }
            },
        }
    }

    fn stopped(stopped: Stopped) -> End {
        let (code, message, suggestion, ending) = match stopped {
            Stopped::Cancelled => (
                ErrorCode::Cancelled,
                "The caller cancelled the call.",
                "Look at the result of the last change before going on.",
                Ending::Cancelled,
            ),
            Stopped::CallerGone => (
                ErrorCode::Cancelled,
                "The caller went away during the call.",
                "Look at the result of the last change before going on.",
                Ending::CallerGone,
            ),
            Stopped::Terminated => (
                ErrorCode::Cancelled,
                "The caller was stopped, by a person or an alert, and its calls ended.",
                "A person has to look at what it did; `vambrace resume` releases it.",
                Ending::Cancelled,
            ),
            Stopped::TimedOut => (
                ErrorCode::Timeout,
                "The call ran longer than it may.",
                "Ask for less at once, for instance a smaller folder or a narrower pattern.",
                Ending::TimedOut,
            ),
        };
        let error = ToolError::new(code, message).suggestion(suggestion);
        End::failed(error, ending, Verdict::Allow, Severity::Info)
    }

    fn failed(error: ToolError, ending: Ending, verdict: Verdict, severity: Severity) -> End {
        End { output: None, error: Some(error), ending, verdict, severity, ticket: None }
    }

    /// What the security stream of specification 004 hears about.
    fn violation(&self, redactor: &Redactor, call: &Call) -> Option<Violation> {
        if self.verdict != Verdict::Deny {
            return None;
        }
        let error = self.error.as_ref()?;
        let kind = violation_kind(error.code)?;
        let command_args = call.command.as_deref().map(|command| redactor.text(command).value);
        // What operators search for, whichever words the caller got (specification 001).
        let reason = error.details.as_ref().and_then(|details| details.get("reason"));
        let target = match reason {
            Some(Tree::Text(reason)) => format!("{}: {reason}", call.target),
            _ => call.target.clone(),
        };
        Some(Violation { kind, target: redactor.text(&target).value, command_args })
    }
}

/// What a program tried behind an allowed call is a violation of its own.
fn planted(redactor: &Redactor, call: &Call, names: &[String]) -> Option<Violation> {
    let target = (!names.is_empty()).then(|| redactor.text(&names.join(", ")).value)?;
    let command_args = call.command.as_deref().map(|command| redactor.text(command).value);
    Some(Violation { kind: ViolationKind::Protected, target, command_args })
}

/// Codes outside the `Denied` family never get here; the list is by name, so that a new one is looked at.
fn violation_kind(code: ErrorCode) -> Option<ViolationKind> {
    use ErrorCode as Code;
    match code {
        Code::PathOutsideProject
        | Code::OutsideScope
        | Code::LinkRefused
        | Code::HardLinkRefused
        | Code::MountRefused
        | Code::SpecialFile
        | Code::ReadOnlyPath => Some(ViolationKind::Scope),
        Code::BlockedPath => Some(ViolationKind::Blocked),
        Code::ProtectedPath => Some(ViolationKind::Protected),
        Code::PermissionDenied => Some(ViolationKind::Role),
        Code::CommandSyntax
        | Code::NoAllowlist
        | Code::NotAllowed
        | Code::ArgumentNotAllowed
        | Code::DangerousCommand
        | Code::UntrustedProgram
        | Code::PolicyViolation
        | Code::BranchNotAllowed => Some(ViolationKind::Command),
        Code::SecretInWrite | Code::PlaceholderInWrite | Code::SecretInRequest => {
            Some(ViolationKind::SecretWrite)
        }
        Code::PrivateAddress | Code::SchemeNotAllowed => Some(ViolationKind::SsrfPrivate),
        Code::MetadataAddress => Some(ViolationKind::SsrfMetadata),
        Code::KubernetesAddress => Some(ViolationKind::SsrfKubernetes),
        // A name that is not there is a mistake.
        Code::DnsFailed => None,
        // A caller that is stopped already would otherwise raise alert after alert by asking again.
        Code::Suspended | Code::StalePermit => None,
        _ => Some(ViolationKind::Other),
    }
}

/// With the number of secrets that were in it.
fn clean_message(redactor: &Redactor, text: &str) -> (RedactedText, usize) {
    // LIMIT: a message quotes what it was given, which may be a megabyte.
    const LONGEST: usize = 4096;
    let cleaned = redactor.text(text);
    (cleaned.value.shortened(LONGEST), cleaned.n_redactions)
}

fn clean_error(redactor: &Redactor, error: &ToolError, n_redactions: &mut usize) -> ReplyError {
    let mut clean = |text: &str| {
        let (cleaned, n_found) = clean_message(redactor, text);
        *n_redactions += n_found;
        cleaned
    };
    let (message, suggestion) = (clean(&error.message), clean(&error.suggestion));
    let details = error.details.clone().map(|details| {
        let cleaned = redactor.plain_tree(details);
        *n_redactions += cleaned.n_redactions;
        cleaned.value
    });
    ReplyError { code: error.code, message, suggestion, details }
}

fn fit(call: &Call, tree: RedactedTree) -> (RedactedTree, bool) {
    let context = &call.context;
    let owner = &call.entry.caller.owner();
    let mut keep = |text: RedactedText| context.instruments.outputs.keep(owner, text.as_str(), chance()).ok();
    let (tree, cut) = truncate::fit(tree, context.limits.reply, &mut keep);
    if cut.is_none() {
        return (tree, false);
    }
    // The data say it too, where they have a word for it.
    let mut tree = tree.into_tree();
    if let Tree::Map(entries) = &mut tree {
        entries
            .iter_mut()
            .filter(|(key, _)| key == "truncated")
            .for_each(|(_, value)| *value = Tree::Bool(true));
    }
    (call.redactor.plain_tree(tree).value, true)
}

/// What the record keeps of a result: its shape and its small values, not its contents.
fn summary(tree: &Tree) -> Tree {
    const LONGEST: usize = 200;
    const MOST: usize = 20;
    match tree {
        Tree::Text(text) if text.len() > LONGEST => Tree::map([("bytes", Tree::count(text.len()))]),
        Tree::List(items) if items.len() > MOST => Tree::map([("count", Tree::count(items.len()))]),
        Tree::List(items) => Tree::List(items.iter().map(summary).collect()),
        Tree::Map(entries) => {
            Tree::Map(entries.iter().map(|(key, value)| (Cow::clone(key), summary(value))).collect())
        }
        Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::Text(_) => tree.clone(),
    }
}
