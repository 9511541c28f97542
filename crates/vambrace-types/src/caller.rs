//! Who is calling, and through which door. Identity is a value carried through the walk, never ambient.

use crate::Role;

/// The front end a call came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    CommandLine,
    /// A person typed the program itself, after `run --`.
    Terminal,
    McpStdio,
    /// Our own effects: they need permits like everybody else's.
    System,
}

impl Door {
    pub fn as_str(self) -> &'static str {
        match self {
            Door::CommandLine => "cli",
            Door::Terminal => "run",
            Door::McpStdio => "mcp-stdio",
            Door::System => "system",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub id: String,
    pub email: Option<String>,
    pub groups: Vec<String>,
    pub role: Role,
    pub door: Door,
}

impl Caller {
    /// The person or agent at this machine, with no outside identity.
    pub fn local(role: Role, door: Door) -> Caller {
        Caller { id: "local".to_owned(), email: None, groups: Vec::new(), role, door }
    }
}
