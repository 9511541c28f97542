//! Before the first program: the cage is attacked from inside, and the result is on record.

use std::sync::Arc;

use vambrace_audit::{Event, EventKind, Severity};
use vambrace_policy::Capability;
use vambrace_process::{Posture, RowState};
use vambrace_redact::RedactedText;
use vambrace_tools::WayOut;
use vambrace_types::{Enforcement, ToolError, Tree};

use crate::Corridor;
use crate::stage::{Trail, in_place};

/// Waits for the proof, whoever runs it, and says what stands around programs from now on.
pub(crate) fn prove(corridor: &Corridor) -> Result<Enforcement, ToolError> {
    let programs = &corridor.parts.instruments.programs;
    if !programs.is_proved() {
        if let Ok(audit) = corridor.audit() {
            audit.prepare_mirror();
        }
        let mut proof = Ok(());
        // Every job that gets a host has such a way out, so it is attacked as well.
        let way_out = WayOut::to_nowhere(Arc::clone(&corridor.parts.instruments.web), &corridor.parts.policy);
        in_place(&mut || {
            proof = programs.prove(Some(&way_out), &|posture| record(corridor, posture));
        });
        proof.map_err(|error| error.to_tool_error())?;
    }
    programs.ready().map_err(|error| error.to_tool_error())?;
    Ok(programs.enforcement())
}

/// A cage that was broken into: nothing is served but the table that says so, and no wall is claimed.
pub(crate) fn unbroken(
    corridor: &Corridor,
    capability: Capability,
    trail: &mut Trail,
) -> Result<(), ToolError> {
    if capability == Capability::ReadPosture {
        return Ok(());
    }
    corridor.unbroken().inspect_err(|_| trail.enforcement = Enforcement::None)
}

fn record(corridor: &Corridor, posture: &Posture) {
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
    let _ = audit.event(&Event {
        kind: EventKind::Posture,
        severity,
        caller: None,
        by: None,
        call_id: None,
        message,
        details: corridor.parts.redactor.plain_tree(tree(posture)).value,
    });
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
