//! Stage 4: who calls, and whether such a caller may do such a thing at all.

use vambrace_policy::{Action, Capability, Denial, Obligations, Standing, Starts};
use vambrace_types::Enforcement;

use super::permission::tell_permission;
use super::prove::unbroken;
use super::record::standing;
use super::{Call, Setback, Trail};
use crate::Corridor;

/// Looks at no argument. What the trail says from here on is how loudly the call is told, however
/// it ends, and what stands around it.
pub(crate) async fn authorize<A: Action>(
    corridor: &Corridor,
    call: &Call,
    trail: &mut Trail,
) -> Result<Standing, Setback> {
    let policy = &call.context.policy;
    let caller = &call.entry.caller;
    let standing = standing(corridor, call, A::CAPABILITY, trail)?;
    policy.admit(&standing)?;
    let authorized = policy.authorize(caller, A::CAPABILITY);
    // A mode that leaves memory out has asked no list.
    if authorized.as_ref().map_or_else(Denial::is_of_memory, |()| true) {
        trail.refusal_is_told = tell_permission(corridor, call, A::CAPABILITY).await;
    }
    authorized?;
    trail.severity = Obligations::of(caller.role, A::CAPABILITY).severity;
    trail.enforcement = match A::KINDS.starts {
        // No wall is claimed for a program until one stood around it.
        Starts::InSandbox => Enforcement::None,
        Starts::OnHost => Enforcement::Host,
        // What changes the machine is not held by any wall of ours.
        Starts::Nothing if A::CAPABILITY == Capability::ManageSystem => Enforcement::Host,
        Starts::Nothing => trail.enforcement,
    };
    unbroken(call, A::CAPABILITY, trail)?;
    Ok(standing)
}
