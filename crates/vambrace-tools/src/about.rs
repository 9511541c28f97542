//! What a tool says about itself to people and models.

use std::borrow::Cow;

use vambrace_types::ToolName;

/// True and complete: some clients refuse or hide tools by these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    /// It can remove or replace something that was there.
    pub destructive: bool,
    /// Doing it twice with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It reaches beyond this machine.
    pub open_world: bool,
}

impl Hints {
    pub const READS: Hints =
        Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
}

/// Who a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Agents,
    /// A person at a terminal; no front end lists it.
    People,
    /// Vambrace itself; no front end lists it, and the policy knows who called.
    Ourselves,
}

#[derive(Debug, Clone)]
pub struct About {
    pub name: ToolName,
    pub title: Cow<'static, str>,
    pub description: Cow<'static, str>,
    pub hints: Hints,
}

impl About {
    /// Of a tool of ours.
    pub fn of(name: &'static str, title: &'static str, description: &'static str, hints: Hints) -> About {
        About { name: ToolName::of(name), title: title.into(), description: description.into(), hints }
    }

    /// Of a tool that the operator's configuration names. Its name is its title.
    pub fn configured(name: ToolName, description: String, hints: Hints) -> About {
        About { title: name.as_str().to_owned().into(), name, description: description.into(), hints }
    }
}
