//! Before the first program: the cage is attacked from inside, and the result is on record.

use std::sync::Arc;

use vambrace_audit::{Event, EventKind, Severity};
use vambrace_policy::{Action, Capability};
use vambrace_process::{Posture, RowState};
use vambrace_redact::RedactedText;
use vambrace_tools::{WayOut, thread};
use vambrace_types::{Enforcement, ToolError, Tree};

use super::{Call, Trail};
use crate::{Context, Corridor};

/// Stage 6¾. A person may have thought about the call for a while, so whether anything is served is
/// asked again.
pub(crate) async fn prove_before<A: Action>(
    corridor: &Corridor,
    call: &Call,
    trail: &mut Trail,
) -> Result<(), ToolError> {
    let is_posture = A::CAPABILITY == Capability::ReadPosture;
    if A::KINDS.runs_programs() || is_posture {
        let proved = thread::hold(|| prove(corridor, &call.context)).await;
        // The table is read from a proof, whatever it found.
        if !is_posture {
            trail.enforcement = proved?;
        }
    }
    unbroken(call, A::CAPABILITY, trail)
}

/// Waits for the proof, whoever runs it, and says what stands around programs from now on.
pub(crate) fn prove(corridor: &Corridor, context: &Context) -> Result<Enforcement, ToolError> {
    let programs = &context.instruments.programs;
    if !programs.is_proved() {
        if let Ok(audit) = corridor.audit() {
            audit.prepare_mirror();
        }
        // Every job that gets a host has such a way out, so it is attacked as well.
        let way_out = WayOut::to_nowhere(Arc::clone(&context.instruments.web), &context.policy);
        let proof = programs.prove(Some(&way_out), &|posture| record(corridor, context, posture));
        proof.map_err(|error| error.to_tool_error())?;
    }
    programs.ready().map_err(|error| error.to_tool_error())?;
    Ok(programs.enforcement())
}

/// A cage that was broken into: nothing is served but the table that says so, and no wall is claimed.
pub(super) fn unbroken(call: &Call, capability: Capability, trail: &mut Trail) -> Result<(), ToolError> {
    if capability == Capability::ReadPosture {
        return Ok(());
    }
    call.context.unbroken().inspect_err(|_| trail.enforcement = Enforcement::None)
}

fn record(corridor: &Corridor, context: &Context, posture: &Posture) {
    let Ok(audit) = corridor.audit() else { return };
    let (severity, message) = if posture.rows.is_empty() {
        (Severity::Warning, RedactedText::fixed("there is no cage, so there was nothing to attack"))
    } else if posture.has(RowState::Broken) {
        (Severity::Critical, RedactedText::fixed("the self-attack battery ran: an attack succeeded"))
    } else if posture.has(RowState::Untried) {
        (Severity::Warning, RedactedText::fixed("the self-attack battery could not be completed"))
    } else {
        (Severity::Info, RedactedText::fixed("the self-attack battery ran: every row held"))
    };
    let event = Event {
        kind: EventKind::Posture,
        severity,
        caller: None,
        by: None,
        call_id: None,
        message,
        details: context.redaction.redactor.plain_tree(tree(posture)).value,
    };
    // Whoever proves holds its thread.
    let _ = audit.event(&event).wait();
}

fn tree(posture: &Posture) -> Tree {
    let rows = posture.rows.iter().map(|row| {
        Tree::map([
            ("row", Tree::text(&row.name)),
            ("held", Tree::Bool(row.state == RowState::Held)),
            ("state", Tree::text(row.state.as_str())),
            ("detail", Tree::text(&row.detail)),
        ])
    });
    let missing = posture.missing.iter().map(|missing| Tree::text(missing.layer.as_str()));
    Tree::map([
        ("backend", Tree::text(posture.backend)),
        ("rows", Tree::List(rows.collect())),
        ("missing", Tree::List(missing.collect())),
    ])
}
