//! The tool modes of specification 002: which effects may happen at all in this run, whatever the role.

/// What a capability does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Read,
    Write,
    Command,
}

/// A set of effects. Reading is part of every mode but `none`, as in specification 002.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ToolMode {
    read: bool,
    write: bool,
    command: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMode(pub String);

impl ToolMode {
    pub const NONE: ToolMode = ToolMode { read: false, write: false, command: false };
    pub const ALL: ToolMode = ToolMode { read: true, write: true, command: true };

    /// A comma-separated list of `none`, `read`, `write`, `command`, `all`. `none` goes with nothing else.
    pub fn parse(text: &str) -> Result<ToolMode, UnknownMode> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        if words == ["none"] {
            return Ok(ToolMode::NONE);
        }
        let mut mode = ToolMode { read: true, write: false, command: false };
        for word in words {
            match word {
                "read" => {}
                "write" => mode.write = true,
                "command" => mode.command = true,
                "all" => mode = ToolMode::ALL,
                other => return Err(UnknownMode(other.to_owned())),
            }
        }
        Ok(mode)
    }

    pub fn includes(self, effect: Effect) -> bool {
        match effect {
            Effect::Read => self.read,
            Effect::Write => self.write,
            Effect::Command => self.command,
        }
    }

    /// What both include.
    #[must_use]
    pub fn and(self, other: ToolMode) -> ToolMode {
        ToolMode {
            read: self.read && other.read,
            write: self.write && other.write,
            command: self.command && other.command,
        }
    }

    pub fn describe(self) -> &'static str {
        match (self.read, self.write, self.command) {
            (false, _, _) => "none",
            (true, false, false) => "read",
            (true, true, false) => "write",
            (true, false, true) => "command",
            (true, true, true) => "all",
        }
    }
}

impl std::fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "unknown tool mode `{}` (modes: none, read, write, command, all, or a list such as read,write)",
            self.0
        )
    }
}

impl std::error::Error for UnknownMode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(ToolMode::parse(text).map(ToolMode::describe), Ok(expected), "{text:?}");
    }

    #[test]
    fn modes_and_lists() {
        check("none", "none");
        check("read", "read");
        check("write", "write");
        check("read,write", "write");
        check("command, read", "command");
        check("write,command", "all");
        check("all", "all");
        for wrong in ["", "none,read", "reading", "read,,write", "ALL"] {
            assert!(ToolMode::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
