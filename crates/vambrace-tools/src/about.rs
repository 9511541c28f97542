//! What a tool says about itself to people and models.

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

#[derive(Debug, Clone, Copy)]
pub struct About {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub hints: Hints,
}
