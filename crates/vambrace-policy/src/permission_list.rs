//! Who may read and change memory: the lists of people and groups of specification 001.
//!
//! Pure: the caller's address and groups were proved by whoever let the caller in.

use vambrace_types::{AccessLevel, Caller};

use crate::{Capability, Denial, Reason, role_has};

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// An email address or the name of a group.
    pub value: String,
    pub access: AccessLevel,
}

/// Whether the lists are asked about reading (decision C40).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryReads {
    /// Once there are lists, only who stands on one reads.
    #[default]
    Checked,
    /// Everybody whose role reads memory (specification 001).
    Open,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionList {
    pub emails: Vec<Permission>,
    pub groups: Vec<Permission>,
    pub reads: MemoryReads,
}

/// Why a caller may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryGrant {
    /// Both lists are empty, and the role writes.
    NoListsForWriting,
    NoListsForReading,
    ReadsOpen,
    EmailWrites(String),
    EmailReads(String),
    GroupWrites(String),
    GroupReads(String),
}

/// Why a caller may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryRefusal {
    ReadRole,
    EmailReadOnly(String),
    GroupReadOnly(String),
    NotListed,
    /// Neither an address nor a group is known of the caller.
    NoIdentity,
}

impl MemoryGrant {
    /// Specification 001's words, which operators search the log for.
    pub fn text(&self) -> String {
        match self {
            MemoryGrant::NoListsForWriting => {
                "no permission restrictions configured, role='write' allows write".to_owned()
            }
            MemoryGrant::NoListsForReading => "no permission restrictions configured".to_owned(),
            MemoryGrant::ReadsOpen => "memory reads are open".to_owned(),
            MemoryGrant::EmailWrites(email) => format!("email '{email}' has write permission"),
            MemoryGrant::EmailReads(email) => format!("email '{email}' has read permission"),
            MemoryGrant::GroupWrites(group) => format!("group '{group}' has write permission"),
            MemoryGrant::GroupReads(group) => format!("group '{group}' has read permission"),
        }
    }

    pub fn rule(&self) -> &'static str {
        match self {
            MemoryGrant::NoListsForWriting | MemoryGrant::NoListsForReading => "permissions",
            MemoryGrant::ReadsOpen => "memory.reads",
            MemoryGrant::EmailWrites(_) | MemoryGrant::EmailReads(_) => "permissions.allowed_emails",
            MemoryGrant::GroupWrites(_) | MemoryGrant::GroupReads(_) => "permissions.allowed_groups",
        }
    }
}

impl MemoryRefusal {
    /// Specification 001's words, which operators search the log for.
    pub fn text(&self) -> String {
        match self {
            MemoryRefusal::ReadRole => "caller has role='read' (read-only access)".to_owned(),
            MemoryRefusal::EmailReadOnly(email) => format!("email '{email}' has read-only permission"),
            MemoryRefusal::GroupReadOnly(group) => format!("group '{group}' has read-only permission"),
            MemoryRefusal::NotListed => "no matching email or group found in allowed permissions".to_owned(),
            MemoryRefusal::NoIdentity => {
                "no user identity available (missing email and groups from JWT)".to_owned()
            }
        }
    }

    fn rule(&self) -> &'static str {
        match self {
            MemoryRefusal::ReadRole => "permissions.role",
            MemoryRefusal::EmailReadOnly(_) => "permissions.allowed_emails",
            MemoryRefusal::GroupReadOnly(_) => "permissions.allowed_groups",
            MemoryRefusal::NotListed | MemoryRefusal::NoIdentity => "permissions",
        }
    }
}

impl From<MemoryRefusal> for Denial {
    fn from(refusal: MemoryRefusal) -> Denial {
        let rule = refusal.rule();
        Denial::new(Reason::Memory(refusal), rule)
    }
}

impl PermissionList {
    /// With both lists empty, whoever may write may save.
    pub fn is_empty(&self) -> bool {
        self.emails.is_empty() && self.groups.is_empty()
    }

    /// What the lists say about a capability; nothing about any that is not memory's.
    pub fn ruling(
        &self,
        caller: &Caller,
        capability: Capability,
    ) -> Option<Result<MemoryGrant, MemoryRefusal>> {
        match capability {
            Capability::WriteMemory => Some(self.may_save(caller)),
            Capability::ReadMemory => Some(self.may_read(caller)),
            Capability::ReadFiles
            | Capability::WriteFiles
            | Capability::ReadOutput
            | Capability::ReadPosture
            | Capability::ReadGit
            | Capability::CommitGit
            | Capability::PushGit
            | Capability::RunPrograms
            | Capability::RunTests
            | Capability::InstallDependencies
            | Capability::FetchWeb
            | Capability::SendNotifications
            | Capability::ReadKnowledge
            | Capability::UseDeclaredTools
            | Capability::ManageSystem => None,
        }
    }

    /// Specification 001's order: the role, then the person, then the groups, then nobody.
    pub fn may_save(&self, caller: &Caller) -> Result<MemoryGrant, MemoryRefusal> {
        if !role_has(caller.role, Capability::WriteMemory) {
            return Err(MemoryRefusal::ReadRole);
        }
        if self.is_empty() {
            return Ok(MemoryGrant::NoListsForWriting);
        }
        if let Some((email, access)) = self.by_email(caller) {
            return match access {
                AccessLevel::Write => Ok(MemoryGrant::EmailWrites(email.to_owned())),
                AccessLevel::Read => Err(MemoryRefusal::EmailReadOnly(email.to_owned())),
            };
        }
        let group = |wanted: AccessLevel| self.by_groups(caller).find(|(_, access)| *access == wanted);
        if let Some((group, _)) = group(AccessLevel::Write) {
            return Ok(MemoryGrant::GroupWrites(group.to_owned()));
        }
        Err(match group(AccessLevel::Read) {
            Some((group, _)) => MemoryRefusal::GroupReadOnly(group.to_owned()),
            None => unlisted(caller),
        })
    }

    /// Whoever stands on a list reads, whatever stands beside the name.
    pub fn may_read(&self, caller: &Caller) -> Result<MemoryGrant, MemoryRefusal> {
        if self.is_empty() {
            return Ok(MemoryGrant::NoListsForReading);
        }
        if let Some((email, _)) = self.by_email(caller) {
            return Ok(MemoryGrant::EmailReads(email.to_owned()));
        }
        if let Some((group, _)) = self.by_groups(caller).next() {
            return Ok(MemoryGrant::GroupReads(group.to_owned()));
        }
        match self.reads {
            MemoryReads::Open => Ok(MemoryGrant::ReadsOpen),
            MemoryReads::Checked => Err(unlisted(caller)),
        }
    }

    /// The caller's own address as the caller has it, and what its entry gives.
    fn by_email<'c>(&self, caller: &'c Caller) -> Option<(&'c str, AccessLevel)> {
        let email = known_email(caller)?;
        // THREAT: P13, only ASCII letters fold: the Kelvin sign is no `k`, and must not make one person into
        // another.
        let entries = self.emails.iter().filter(|entry| entry.value.eq_ignore_ascii_case(email));
        strictest(entries).map(|access| (email, access))
    }

    /// The caller's groups that are listed, in the caller's order. Names are compared as they are.
    fn by_groups<'c>(&self, caller: &'c Caller) -> impl Iterator<Item = (&'c str, AccessLevel)> {
        known_groups(caller).filter_map(|group| {
            let entries = self.groups.iter().filter(|entry| entry.value == group);
            strictest(entries).map(|access| (group, access))
        })
    }
}

/// Of one name that stands on a list twice: reading beats writing.
fn strictest<'l>(entries: impl Iterator<Item = &'l Permission>) -> Option<AccessLevel> {
    entries.map(|entry| entry.access).reduce(|one, other| match (one, other) {
        (AccessLevel::Write, AccessLevel::Write) => AccessLevel::Write,
        (AccessLevel::Read, _) | (_, AccessLevel::Read) => AccessLevel::Read,
    })
}

/// An empty text is nobody's, and must not meet an entry that was left empty.
fn known_email(caller: &Caller) -> Option<&str> {
    caller.email.as_deref().filter(|email| !email.is_empty())
}

fn known_groups(caller: &Caller) -> impl Iterator<Item = &str> {
    caller.groups.iter().map(String::as_str).filter(|group| !group.is_empty())
}

fn unlisted(caller: &Caller) -> MemoryRefusal {
    if known_email(caller).is_none() && known_groups(caller).next().is_none() {
        MemoryRefusal::NoIdentity
    } else {
        MemoryRefusal::NotListed
    }
}
