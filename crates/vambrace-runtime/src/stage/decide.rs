//! Stage 6, as often as it is needed: an action that the disk has completed is decided again.

use std::time::Duration;

use vambrace_files::Stop;
use vambrace_policy::{Action, Allowance, Capability, Decision, Kind, Permit, Standing};
use vambrace_tools::{Look, Tool};
use vambrace_types::ToolError;

use super::question::ask;
use super::validate::scan;
use super::{Call, Setback, Trail, hold_if};
use crate::Corridor;

/// Decides, completes the action by what the disk says, decides that again, and only then asks a person, who is shown
/// what would really be done.
pub(crate) async fn decide<T: Tool>(
    tool: &T,
    corridor: &Corridor,
    call: &Call,
    standing: &Standing,
    action: T::Action,
    look: &Look<'_>,
    trail: &mut Trail,
) -> Result<Permit<T::Action>, Setback> {
    let policy = &call.context.policy;
    let mut warnings = Vec::new();
    let mut judge = |action: T::Action| {
        let facts = scan(&call.redactor, policy.on_write(), &action);
        warnings = policy.warnings(&facts);
        policy.decide(&call.entry.caller, standing, &call.entry.tool, action, &facts)
    };
    let mut decision = judge(action);
    let settled = match &decision {
        Decision::Allow(permit) => settle(tool, permit.action(), look).await?,
        Decision::Ask(pending) => settle(tool, pending.action(), look).await?,
        Decision::Deny(_) => None,
    };
    if let Some(settled) = settled {
        decision = judge(settled);
    }
    let permit = match decision {
        Decision::Allow(permit) => permit,
        Decision::Ask(pending) => ask(corridor, call, pending, look, trail).await?,
        Decision::Deny(denial) => return Err(denial.into()),
    };
    trail.warnings.extend(warnings);
    trail.allowed_by(&permit);
    Ok(permit)
}

/// What only the disk or the network can tell, looked up without hands.
async fn settle<T: Tool>(
    tool: &T,
    action: &T::Action,
    look: &Look<'_>,
) -> Result<Option<T::Action>, ToolError> {
    let kinds = T::Action::KINDS;
    let waits =
        kinds.are(Kind::Runs) || kinds.are(Kind::Sends) || T::Action::CAPABILITY == Capability::ManageSystem;
    hold_if(waits, || tool.settle(action, look)).await
}

/// Eyes for this call. THREAT: P01, what is looked at for a decision is never cut short by whoever
/// hangs up: half a look at what an approval is about would be good for another half.
pub(crate) fn look(call: &Call) -> Look<'_> {
    look_until(call, Stop::default())
}

/// The same for what nobody decides about.
pub(super) fn look_until(call: &Call, stop: Stop) -> Look<'_> {
    let context = &call.context;
    Look::new(
        &context.instruments,
        &context.toolbox,
        &context.policy,
        &call.redactor,
        &call.entry.caller,
        context.limits,
        stop,
    )
}

/// How long the walk waits. A door that runs programs keeps their time itself, and reports more when it does.
pub(super) fn patience(allowance: Allowance, usual: Duration) -> Duration {
    // For looking at the workspace, for ending what does not want to end, and for bringing home its output.
    const BEYOND: Duration = Duration::from_secs(15);
    const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
    match allowance {
        Allowance::Usual => usual,
        Allowance::Own(time) => time + BEYOND,
        Allowance::Unlimited => FOR_EVER,
    }
}
