//! The cage is proved, not assumed: a battery of attacks runs inside a cage built from the live policy.

pub(crate) mod traps;

/// One attack and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostureRow {
    pub name: String,
    pub state: RowState,
    pub detail: String,
}

/// What became of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It failed, as it must.
    Held,
    Broken,
    /// It could not be made, or what it found says nothing about the cage.
    Untried,
}

impl RowState {
    pub fn as_str(self) -> &'static str {
        match self {
            RowState::Held => "held",
            RowState::Broken => "broken",
            RowState::Untried => "untried",
        }
    }
}

/// The self-attack table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Posture {
    pub rows: Vec<PostureRow>,
    /// Layers that are not there, with the reason.
    pub missing: Vec<crate::Missing>,
    pub backend: &'static str,
}

impl Posture {
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.state == RowState::Held)
    }

    /// The names of the rows that are in this state, for people.
    pub fn names(&self, state: RowState) -> String {
        let rows = self.rows.iter().filter(|row| row.state == state);
        rows.map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    pub fn has(&self, state: RowState) -> bool {
        self.rows.iter().any(|row| row.state == state)
    }
}
