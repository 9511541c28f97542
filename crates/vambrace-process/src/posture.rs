//! The cage is proved, not assumed: a battery of attacks runs inside a cage built from the live policy.

pub(crate) mod traps;

/// One attack and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostureRow {
    pub name: String,
    /// The attack failed, as it must.
    pub held: bool,
    pub detail: String,
}

/// The self-attack table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Posture {
    pub rows: Vec<PostureRow>,
    /// Layers that are not there, with the reason.
    pub missing: Vec<crate::Missing>,
    pub backend: &'static str,
    /// What was found of an earlier process that was killed, and where it is now.
    pub swept: Vec<String>,
}

impl Posture {
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.held)
    }

    pub fn broken(&self) -> Vec<&PostureRow> {
        self.rows.iter().filter(|row| !row.held).collect()
    }
}
