//! What comes with a permit: things the walk must do because the call is allowed.

use vambrace_types::Role;

use crate::{Capability, Effect};

/// How loudly the record speaks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Info,
    Warning,
    Critical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obligations {
    pub severity: Severity,
}

impl Obligations {
    pub fn of(role: Role, capability: Capability) -> Obligations {
        let changes = match capability.effect() {
            Effect::Read => false,
            Effect::Write | Effect::Command => true,
        };
        let severity = match (role, capability) {
            (_, Capability::ManageSystem | Capability::PushGit) => Severity::Critical,
            // Specification 004: what the privileged roles change stands out in the record.
            (Role::Sre | Role::ReleaseManager, _) if changes => Severity::Warning,
            (Role::Dev | Role::ProductOwner | Role::Sre | Role::ReleaseManager, _) => Severity::Info,
        };
        Obligations { severity }
    }
}
