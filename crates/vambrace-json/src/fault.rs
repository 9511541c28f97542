//! Why JSON was not read, and where.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is no JSON, or breaks off.
    Syntax,
    TooLong,
    TooDeep,
    TooMany,
    NameTwice,
    ReservedName,
    /// It is JSON, and not what was expected.
    Shape,
}

impl What {
    /// Whether nobody writes this by mistake. A message that is none, and one that is large or muddled, is everyday.
    pub fn is_attack(self) -> bool {
        match self {
            What::ReservedName | What::TooDeep | What::TooMany => true,
            What::Syntax | What::TooLong | What::NameTwice | What::Shape => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    what: What,
    /// With the place.
    said: String,
}

impl Fault {
    pub fn what(&self) -> What {
        self.what
    }

    pub(crate) fn too_long(most: usize) -> Fault {
        Fault { what: What::TooLong, said: format!("it is longer than {most} bytes") }
    }

    /// The library says where, also for what we found ourselves.
    pub(crate) fn of(error: &serde_json::Error, ours: Option<What>) -> Fault {
        Fault { what: ours.unwrap_or(What::Syntax), said: error.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Fault {}
