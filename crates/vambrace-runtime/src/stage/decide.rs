//! Stage 6, as often as it is needed: an action that the disk has completed is decided again.

use std::time::Duration;

use vambrace_policy::{Action, Allowance, Capability, Decision, Permit, Standing};
use vambrace_tools::{Look, Tool};
use vambrace_types::ToolError;

use super::question::ask;
use super::{Call, Setback, Trail, in_place, make_way, scan};
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
    let policy = &corridor.parts.policy;
    let mut warnings = Vec::new();
    let mut judge = |action: T::Action| {
        let facts = scan(&call.redactor, policy.on_write(), &action);
        warnings = policy.warnings(&facts);
        policy.decide(&call.entry.caller, standing, &call.entry.tool, action, &facts)
    };
    let mut decision = judge(action);
    let settled = match &decision {
        Decision::Allow(permit) => settle(tool, permit.action(), look)?,
        Decision::Ask(pending) => settle(tool, pending.action(), look)?,
        Decision::Deny(_) => None,
    };
    if let Some(settled) = settled {
        decision = judge(settled);
    }
    let permit = match decision {
        Decision::Allow(permit) => permit,
        Decision::Ask(pending) => {
            make_way(corridor).await;
            ask(corridor, call, pending, look, trail)?
        }
        Decision::Deny(denial) => return Err(denial.into()),
    };
    trail.warnings.extend(warnings);
    Ok(permit)
}

/// What only the disk can tell, looked up without hands.
fn settle<T: Tool>(tool: &T, action: &T::Action, look: &Look<'_>) -> Result<Option<T::Action>, ToolError> {
    // Making room for others on this thread costs more than reading a file, so it is done only for what looks at disks or
    // asks for names.
    let waits = match T::Action::CAPABILITY {
        Capability::ManageSystem | Capability::FetchWeb | Capability::SendNotifications => true,
        capability => capability.runs_programs(),
    };
    if !waits {
        return tool.settle(action, look);
    }
    let mut settled = Ok(None);
    in_place(&mut || settled = tool.settle(action, look));
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
