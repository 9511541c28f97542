//! The name of a tool: `snake_case`, and it never changes.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Cow<'static, str>);

impl ToolName {
    pub const LONGEST: usize = 64;

    /// A name we wrote ourselves.
    pub const fn of(name: &'static str) -> ToolName {
        ToolName(Cow::Borrowed(name))
    }

    /// A name somebody else wrote: anything but a short identifier is nobody's tool.
    pub fn parse(text: &str) -> Option<ToolName> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
        let valid = !text.is_empty() && text.len() <= Self::LONGEST && text.chars().all(plain);
        valid.then(|| ToolName(Cow::Owned(text.to_owned())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// For looking up by text: ordered and compared as its text is.
impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
