//! Stage 6, as often as it is needed: an action that the disk has completed is decided again.

use std::time::Duration;

use vambrace_audit::{Event, EventKind, Severity as Loudness};
use vambrace_policy::{Action, Allowance, Decision, Pending, Permit, Question, Standing};
use vambrace_redact::RedactedTree;
use vambrace_tools::{Look, Tool};
use vambrace_types::ToolError;

use super::{Call, Setback, in_place, scan};
use crate::{Answer, Corridor};

pub(crate) fn decide<A: Action>(
    corridor: &Corridor,
    call: &Call,
    standing: &Standing,
    action: A,
) -> Result<Permit<A>, Setback> {
    let policy = &corridor.parts.policy;
    let facts = scan(&corridor.parts.redactor, &action);
    match policy.decide(&call.entry.caller, standing, &call.entry.tool, action, &facts) {
        Decision::Allow(permit) => Ok(permit),
        Decision::Ask(pending) => ask(corridor, call, pending),
        Decision::Deny(denial) => Err(denial.into()),
    }
}

/// A preview is decided like the call itself and never bothers a person.
fn ask<A: Action>(corridor: &Corridor, call: &Call, pending: Pending<A>) -> Result<Permit<A>, Setback> {
    let Some(approver) = call.approver.as_ref().filter(|_| !call.entry.dry_run) else {
        return Err(Setback::Ask(pending.into_question()));
    };
    let question = corridor.parts.redactor.text(&pending.question().what).value;
    let mut answer = Answer::No;
    in_place(&mut || answer = approver.ask(call.entry.tool.as_str(), question.as_str()));
    let (by, said) = match &answer {
        Answer::Yes { by } => (Some(by.clone()), "approved"),
        Answer::No => (None, "rejected"),
    };
    if let Ok(audit) = corridor.audit() {
        // THREAT: P03, an approval nobody can find later. The call's own lines follow either way.
        let _ = audit.event(&Event {
            kind: EventKind::Approval,
            severity: Loudness::Warning,
            caller: Some(call.entry.caller.id.clone()),
            by,
            call_id: Some(call.entry.call_id.clone()),
            message: corridor.parts.redactor.text(&format!("{said}: {}", question.as_str())).value,
            details: RedactedTree::null(),
        });
    }
    match answer {
        Answer::Yes { .. } => Ok(pending.approve()),
        Answer::No => {
            let Question { rule, what } = pending.into_question();
            Err(Setback::Ask(Question { rule, what: format!("{what} The person who was asked said no.") }))
        }
    }
}

/// What only the disk can tell, looked up without hands.
pub(crate) fn settle<T: Tool>(
    tool: &T,
    permit: &Permit<T::Action>,
    look: &Look<'_>,
) -> Result<Option<T::Action>, ToolError> {
    let mut settled = Ok(None);
    in_place(&mut || settled = tool.settle(permit.action(), look));
    settled
}

/// How long the walk waits. A door that runs programs keeps their time itself, and reports more when it does.
pub(crate) fn patience(allowance: Allowance, usual: Duration) -> Duration {
    // For looking at the workspace, for ending what does not want to end, and for bringing home its output.
    const BEYOND: Duration = Duration::from_secs(15);
    const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
    match allowance {
        Allowance::Usual => usual,
        Allowance::Own(time) => time + BEYOND,
        Allowance::Unlimited => FOR_EVER,
    }
}
