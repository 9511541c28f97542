//! Hosts that programs may reach.

use super::{AllowEntry, Host, HostPattern};
use crate::Epoch;

/// A host and the programs for which it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramGrant {
    pub entry: AllowEntry,
    /// By name. Empty: every program.
    pub programs: Vec<String>,
}

impl ProgramGrant {
    /// Whether a job that starts these programs gets it. One of them is enough: whoever chose it chose its
    /// arguments too.
    pub fn is_for<'p>(&self, mut programs: impl Iterator<Item = &'p str>) -> bool {
        self.programs.is_empty()
            || programs.any(|program| {
                let name = program.rsplit('/').next().unwrap_or_default();
                self.programs.iter().any(|own| own == name)
            })
    }
}

/// The hosts that the programs of one job may reach.
/// INVARIANT: made only by `Policy`, so a proxy opens what policy granted and nothing that somebody put together. Not
/// `Clone`, not `Default`, no public field.
#[derive(Debug)]
pub struct Grants {
    entries: Vec<AllowEntry>,
    epoch: Epoch,
}

impl Grants {
    pub(crate) fn mint(entries: Vec<AllowEntry>, epoch: Epoch) -> Grants {
        Grants { entries, epoch }
    }

    /// A name that nobody has (RFC 6761).
    pub(crate) fn nobody(epoch: Epoch) -> Grants {
        let nobody = HostPattern::Exactly(Host::Name("proxy.invalid".to_owned()));
        Grants::mint(vec![AllowEntry::plain(nobody)], epoch)
    }

    pub fn entries(&self) -> &[AllowEntry] {
        &self.entries
    }

    /// Whose policy granted it; each door is wired to one.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
