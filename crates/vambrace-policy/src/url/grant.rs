//! Hosts that programs may reach.

use super::AllowEntry;

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
