//! What calls do, as constants of their actions. Operator rules are held against these, so that a
//! new tool is born under the rules that are there already.

/// What a rule can be about instead of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Shows the text or the names of files.
    Reads,
    /// Changes files.
    Writes,
    /// Starts programs.
    Runs,
    /// Reaches other hosts.
    Sends,
}

/// What the caller gets to see of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    Nothing,
    Names,
    Text,
}

/// Where programs are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Starts {
    Nothing,
    /// In the sandbox, where they show and change whatever they reach.
    InSandbox,
    /// On the machine itself, with vectors of ours.
    OnHost,
}

/// What leaves for another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sends {
    Nothing,
    /// The wish for a page.
    Page,
    /// A request of the caller's choice.
    Request,
    /// News of an earlier call, to an address that its caller named: no tool is called for it.
    News,
}

/// What every call of one action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kinds {
    pub shows: Shows,
    /// Files of the workspace.
    pub changes: bool,
    pub starts: Starts,
    pub sends: Sends,
}

impl Kinds {
    pub const NONE: Kinds =
        Kinds { shows: Shows::Nothing, changes: false, starts: Starts::Nothing, sends: Sends::Nothing };
    pub const SHOWS_NAMES: Kinds = Kinds { shows: Shows::Names, ..Kinds::NONE };
    pub const SHOWS_TEXT: Kinds = Kinds { shows: Shows::Text, ..Kinds::NONE };
    pub const CHANGES: Kinds = Kinds { changes: true, ..Kinds::NONE };
    /// The diff shows what was there.
    pub const CHANGES_AND_SHOWS: Kinds = Kinds { shows: Shows::Text, ..Kinds::CHANGES };
    pub const RUNS: Kinds = Kinds { starts: Starts::InSandbox, ..Kinds::NONE };
    pub const SENDS: Kinds = Kinds { sends: Sends::Request, ..Kinds::NONE };

    pub fn are(self, kind: Kind) -> bool {
        match kind {
            Kind::Reads => self.shows != Shows::Nothing,
            Kind::Writes => self.changes,
            Kind::Runs => self.starts != Starts::Nothing,
            Kind::Sends => self.sends != Sends::Nothing,
        }
    }

    /// Whether it is done by programs in the sandbox.
    pub fn runs_programs(self) -> bool {
        self.starts == Starts::InSandbox
    }

    /// Whether whoever refuses these refuses `other` with them, or the rule would only choose the
    /// name under which a file is read: text is shown in many ways, and a program shows whatever it
    /// reads. In the same way, who may not send requests may not have news sent. THREAT: P05.
    pub(crate) fn imply(self, other: Kinds) -> bool {
        let only_shows = self == Kinds::SHOWS_TEXT && (other.shows == Shows::Text || other.runs_programs());
        let only_sends = self == Kinds::SENDS && other.sends == Sends::News;
        only_shows || only_sends
    }
}
