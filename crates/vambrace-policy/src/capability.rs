//! The matrix of specification 004 as capability sets, extended by the table of fixed interfaces.

use vambrace_types::{Effect, Role};

/// One kind of thing a caller may be able to do. A role is a named set of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    ReadFiles,
    WriteFiles,
    ReadOutput,
    ReadPosture,
    ReadGit,
    CommitGit,
    PushGit,
    RunPrograms,
    RunTests,
    InstallDependencies,
    FetchWeb,
    SendNotifications,
    ReadKnowledge,
    ReadMemory,
    WriteMemory,
    UseDeclaredTools,
    ManageSystem,
}

impl Capability {
    pub const ALL: [Capability; 17] = [
        Capability::ReadFiles,
        Capability::WriteFiles,
        Capability::ReadOutput,
        Capability::ReadPosture,
        Capability::ReadGit,
        Capability::CommitGit,
        Capability::PushGit,
        Capability::RunPrograms,
        Capability::RunTests,
        Capability::InstallDependencies,
        Capability::FetchWeb,
        Capability::SendNotifications,
        Capability::ReadKnowledge,
        Capability::ReadMemory,
        Capability::WriteMemory,
        Capability::UseDeclaredTools,
        Capability::ManageSystem,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Capability::ReadFiles => "files.read",
            Capability::WriteFiles => "files.write",
            Capability::ReadOutput => "output.read",
            Capability::ReadPosture => "posture.read",
            Capability::ReadGit => "git.read",
            Capability::CommitGit => "git.commit",
            Capability::PushGit => "git.push",
            Capability::RunPrograms => "exec.programs",
            Capability::RunTests => "exec.tests",
            Capability::InstallDependencies => "exec.install",
            Capability::FetchWeb => "web.fetch",
            Capability::SendNotifications => "web.notify",
            Capability::ReadKnowledge => "knowledge.read",
            Capability::ReadMemory => "memory.read",
            Capability::WriteMemory => "memory.write",
            Capability::UseDeclaredTools => "tools.declared",
            Capability::ManageSystem => "system.manage",
        }
    }

    pub fn effect(self) -> Effect {
        match self {
            Capability::ReadFiles
            | Capability::ReadOutput
            | Capability::ReadPosture
            | Capability::ReadGit
            | Capability::ReadKnowledge
            | Capability::ReadMemory => Effect::Read,
            Capability::WriteFiles | Capability::CommitGit | Capability::WriteMemory => Effect::Write,
            Capability::PushGit
            | Capability::RunPrograms
            | Capability::RunTests
            | Capability::InstallDependencies
            | Capability::FetchWeb
            | Capability::SendNotifications
            | Capability::UseDeclaredTools
            | Capability::ManageSystem => Effect::Command,
        }
    }
}

/// Whether the role's row holds the capability. Every pair is decided by name, so that a role or a capability that
/// someone adds next year is born with no powers.
pub fn role_has(role: Role, capability: Capability) -> bool {
    use Capability::{
        CommitGit, FetchWeb, InstallDependencies, ManageSystem, PushGit, ReadFiles, ReadGit, ReadKnowledge,
        ReadMemory, ReadOutput, ReadPosture, RunPrograms, RunTests, SendNotifications, UseDeclaredTools,
        WriteFiles, WriteMemory,
    };
    match (role, capability) {
        (
            Role::Dev | Role::Sre | Role::ReleaseManager | Role::ProductOwner,
            ReadFiles | ReadOutput | ReadPosture | ReadGit | ReadKnowledge | ReadMemory,
        ) => true,
        (
            Role::Dev | Role::Sre | Role::ReleaseManager,
            WriteFiles | CommitGit | RunPrograms | RunTests | InstallDependencies | FetchWeb
            | SendNotifications | WriteMemory | UseDeclaredTools,
        ) => true,
        (
            Role::ProductOwner,
            WriteFiles | CommitGit | RunPrograms | RunTests | InstallDependencies | FetchWeb
            | SendNotifications | WriteMemory | UseDeclaredTools | PushGit | ManageSystem,
        ) => false,
        (Role::ReleaseManager, PushGit) => true,
        (Role::Dev | Role::Sre, PushGit) => false,
        (Role::Sre, ManageSystem) => true,
        (Role::Dev | Role::ReleaseManager, ManageSystem) => false,
    }
}

/// Whether `role` may do everything that `other` may.
pub fn covers(role: Role, other: Role) -> bool {
    Capability::ALL.iter().all(|capability| role_has(role, *capability) || !role_has(other, *capability))
}
