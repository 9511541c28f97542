//! Stage 7, and what the record says about a caller.

use vambrace_audit::{AuditError, IntentReceipt, Severity as Loudness, Standing as OnRecord};
use vambrace_policy::{Action, Capability, Effect, Permit, Severity, Standing};
use vambrace_redact::RedactedTree;
use vambrace_types::{ErrorCode, ToolError, Tree};

use super::{Call, Trail, hold_if};
use crate::Corridor;
use crate::corridor::OnAuditFailure;

/// Whether a person has stopped this caller. A record that cannot be read frees nobody.
pub(super) fn standing(
    corridor: &Corridor,
    call: &Call,
    capability: Capability,
    trail: &mut Trail,
) -> Result<Standing, ToolError> {
    let asked = match &corridor.parts.audit {
        Ok(audit) => audit.standing_at(&call.entry.caller, call.started),
        // A stop that was put on a full disk holds, although nothing else can be written.
        Err(_) => corridor.parts.bare_standing.of(&call.entry.caller, call.started),
    };
    match asked {
        Ok(OnRecord::Suspended { since, .. }) => {
            return Ok(Standing::Suspended { since: vambrace_audit::rfc3339(since) });
        }
        Ok(OnRecord::Terminated) => {
            return Ok(Standing::Suspended { since: "an alert that ended its session".to_owned() });
        }
        Ok(OnRecord::Free | OnRecord::Alerted) => {}
        Err(error) => unseen(corridor, &error, trail)?,
    }
    if let Err(error) = &corridor.parts.audit {
        unrecorded(corridor, capability.effect(), error, trail)?;
    }
    Ok(Standing::Free)
}

/// THREAT: P12, what cannot be seen may be a stop, so nobody goes on, whatever it would do; except where the operator chose
/// that everything does.
fn unseen(corridor: &Corridor, error: &AuditError, trail: &mut Trail) -> Result<(), ToolError> {
    if corridor.parts.on_audit_failure == OnAuditFailure::Warn {
        trail.warnings.push(format!("Warning: failed to write audit log: {}", error.brief()));
        trail.warnings.push("Whether a person has stopped this caller cannot be seen.".to_owned());
        return Ok(());
    }
    Err(ToolError::new(
        ErrorCode::AuditUnavailable,
        "Whether a person has stopped this caller cannot be seen, so the call was not made.",
    )
    .suggestion("Tell the person you work for; the log on standard error says what is wrong."))
}

/// Proof that the intent is in its file; or why it is not, for a call that goes on all the same.
pub(crate) type Intent<'c> = Result<IntentReceipt, AuditFailure<'c>>;

/// Stage 7. The error refuses the call.
pub(crate) async fn record_intent<'c, A: Action>(
    corridor: &'c Corridor,
    call: &Call,
    permit: &Permit<A>,
    trail: &mut Trail,
) -> Result<Intent<'c>, ToolError> {
    let vectors = permit.action().vectors();
    let plan = if vectors.is_empty() {
        RedactedTree::null()
    } else {
        let texts = |words: &Vec<String>| Tree::List(words.iter().map(Tree::text).collect());
        call.redactor.for_record().plain_tree(Tree::List(vectors.iter().map(texts).collect())).value
    };
    let intent = vambrace_audit::Intent {
        rule: permit.rule().to_owned(),
        plan,
        enforcement: trail.enforcement,
        severity: loudness(trail.severity),
        checkpoint: None,
    };
    let written = match &corridor.parts.audit {
        Ok(audit) => {
            // A durable one may have to wait for room in the queue.
            let brought = hold_if(audit.is_durable(), || audit.intent(&call.entry, &intent)).await;
            brought.await.map_err(AuditFailure::Now)
        }
        Err(error) => Err(AuditFailure::SinceStart(error)),
    };
    if let Err(error) = &written {
        unrecorded(corridor, A::CAPABILITY.effect(), error, trail)?;
    }
    Ok(written)
}

pub(crate) enum AuditFailure<'c> {
    Now(AuditError),
    SinceStart(&'c AuditError),
}

impl std::ops::Deref for AuditFailure<'_> {
    type Target = AuditError;

    fn deref(&self) -> &AuditError {
        match self {
            AuditFailure::Now(error) => error,
            AuditFailure::SinceStart(error) => error,
        }
    }
}

fn unrecorded(
    corridor: &Corridor,
    effect: Effect,
    error: &AuditError,
    trail: &mut Trail,
) -> Result<(), ToolError> {
    let goes_on = match (corridor.parts.on_audit_failure, effect) {
        (OnAuditFailure::Warn, _) | (OnAuditFailure::DenyWrites, Effect::Read) => true,
        (OnAuditFailure::DenyWrites, Effect::Write | Effect::Command) | (OnAuditFailure::DenyAll, _) => false,
    };
    // The words of specification 002.
    let warning = format!("Warning: failed to write audit log: {}", error.brief());
    if goes_on {
        if !trail.warnings.contains(&warning) {
            trail.warnings.push(warning);
        }
        return Ok(());
    }
    Err(ToolError::new(
        ErrorCode::AuditUnavailable,
        "The record cannot be written, so the call was not made.",
    )
    .suggestion("Tell the person you work for; the log on standard error says what is wrong."))
}

pub(crate) fn loudness(severity: Severity) -> Loudness {
    match severity {
        Severity::Info => Loudness::Info,
        Severity::Warning => Loudness::Warning,
        Severity::Critical => Loudness::Critical,
    }
}
