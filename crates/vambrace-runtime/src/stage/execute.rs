//! Stage 9: the permit and the hands go to the tool.

use vambrace_policy::{Action, Permit};
use vambrace_tools::{Hands, Tool, Warrant, thread};
use vambrace_types::{Enforcement, ErrorCode, RawOutput, ToolError};

use super::decide::patience;
use super::record::Intent;
use super::{Call, Setback, Trail};
use crate::{Corridor, OnAuditFailure};

pub(crate) async fn execute<T: Tool>(
    tool: &T,
    corridor: &Corridor,
    call: &Call,
    permit: Permit<T::Action>,
    intent: Intent<'_>,
    trail: &mut Trail,
) -> Result<RawOutput, Setback> {
    let context = &call.context;
    let warrant = match (&intent, corridor.parts.on_audit_failure) {
        (Ok(receipt), _) => Warrant::Written(receipt),
        (Err(error), OnAuditFailure::Warn) => Warrant::Waived(error),
        (Err(error), OnAuditFailure::DenyWrites | OnAuditFailure::DenyAll) => Warrant::Unrecorded(error),
    };
    let runs_programs = T::Action::KINDS.runs_programs();
    let _running = if runs_programs {
        // What stood around a program is known when it has run.
        trail.enforcement = Enforcement::None;
        thread::hold(|| context.redaction.program_runs()).await
    } else {
        None
    };
    // The caller may cancel or go, and time may run out.
    let time = patience(permit.action().time(), context.limits.time);
    let hands = Hands::new(
        warrant,
        &context.instruments,
        &context.policy,
        &call.redactor,
        &call.entry.caller,
        context.limits,
        call.leash.stop_within(time),
        call.progress.as_ref(),
        call.live.as_ref(),
    );
    let result = tokio::select! {
        biased;
        result = tool.run(permit, &hands) => result,
        () = call.leash.lost_patience(time) => {
            Err(ToolError::new(ErrorCode::Cancelled, "The call did not stop in time."))
        }
    };
    trail.learn(hands.into_notes());
    Ok(result?)
}
