//! Rules the operator writes: a tool, perhaps a path, and a verdict.

use globset::{GlobBuilder, GlobMatcher};
use vambrace_types::{ScopedPath, ToolName};

use crate::PatternError;

/// Ordered by strictness, so that combining verdicts is taking the greatest and the order of rules cannot matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// `None` stands for every tool, or for every path.
#[derive(Debug, Clone)]
pub struct OperatorRule {
    tool: Option<String>,
    path: Option<GlobMatcher>,
    verdict: Verdict,
    reason: String,
    set_at: String,
}

impl OperatorRule {
    pub fn new(
        tool: Option<&str>,
        path: Option<&str>,
        verdict: Verdict,
        reason: &str,
        set_at: &str,
    ) -> Result<OperatorRule, PatternError> {
        let glob = |text: &str| {
            GlobBuilder::new(text.trim_start_matches("./").trim_start_matches('/'))
                .literal_separator(true)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| PatternError { pattern: text.to_owned(), why: error.kind().to_string() })
        };
        Ok(OperatorRule {
            tool: tool.map(str::to_owned),
            path: path.map(glob).transpose()?,
            verdict,
            reason: reason.to_owned(),
            set_at: set_at.to_owned(),
        })
    }

    /// A rule with a path speaks only of calls that touch such a path.
    pub(crate) fn applies(&self, tool: &ToolName, targets: &[&ScopedPath]) -> bool {
        let tool_fits = self.tool.as_deref().is_none_or(|name| name == tool.as_str());
        let path_fits = self
            .path
            .as_ref()
            .is_none_or(|glob| targets.iter().any(|path| glob.is_match(path.components().join("/"))));
        tool_fits && path_fits
    }

    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub fn set_at(&self) -> &str {
        &self.set_at
    }
}
