//! Rules the operator writes: a tool, perhaps a path, and a verdict.

use vambrace_types::{ScopedPath, ToolName};

use crate::permit::WithheldPaths;
use crate::{Capability, PathPattern, PatternError};

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
    path: Option<PathPattern>,
    verdict: Verdict,
    reason: String,
    set_at: String,
}

const CHANGES: [&str; 4] = ["write_file", "edit_file", "delete_file", "create_directory"];
const READS: [&str; 3] = ["read_file", "search_file", "count_matches"];
/// Those, and the tools whose diff shows what was there.
const SHOWS: [&str; 5] = ["read_file", "search_file", "count_matches", "write_file", "edit_file"];

/// Sends requests of the caller's choice.
const SENDS: &str = "web_fetch";

impl OperatorRule {
    pub fn new(
        tool: Option<&str>,
        path: Option<&str>,
        verdict: Verdict,
        reason: &str,
        set_at: &str,
    ) -> Result<OperatorRule, PatternError> {
        Ok(OperatorRule {
            tool: tool.map(str::to_owned),
            path: path.map(PathPattern::parse_from_root).transpose()?,
            verdict,
            reason: reason.to_owned(),
            set_at: set_at.to_owned(),
        })
    }

    /// What is refused to one tool that reads is refused to every tool that shows text, or the rule would only choose
    /// the name under which a file is read. A program shows whatever it reads. In the same way, who may not send requests
    /// may not have news sent, which carry results to an address of the caller's choice. THREAT: P05.
    fn is_about(&self, tool: &ToolName, capability: Capability) -> bool {
        let Some(name) = self.tool.as_deref() else { return true };
        let refuses = self.verdict > Verdict::Allow;
        let shows = SHOWS.contains(&tool.as_str()) || capability.runs_programs();
        let sends = capability == Capability::SendNotifications;
        let is_brother = (READS.contains(&name) && shows) || (name == SENDS && sends);
        name == tool.as_str() || (refuses && is_brother)
    }

    /// A rule with a path speaks only of calls that touch such a path.
    pub(crate) fn applies(&self, tool: &ToolName, capability: Capability, targets: &[&ScopedPath]) -> bool {
        let touches = |path: &PathPattern| targets.iter().any(|target| path.covers(target.components()));
        self.is_about(tool, capability) && self.path.as_ref().is_none_or(touches)
    }

    /// What it says of such a call. The sandbox keeps from every program what a path rule refuses or asks about, and a
    /// program cannot be asked while it runs: there an approval would be used up for nothing, so it is refused at once.
    pub(crate) fn verdict_on(&self, capability: Capability) -> Verdict {
        match self.verdict {
            Verdict::Ask if self.path.is_some() && capability.runs_programs() => Verdict::Deny,
            verdict @ (Verdict::Allow | Verdict::Ask | Verdict::Deny) => verdict,
        }
    }

    /// The paths that a call of this tool must not come across on its way, because naming them would be denied or
    /// asked about. THREAT: P04, a recursive search from above a forbidden folder. `targets` are those that the call
    /// names: where the rule only asks about them, there is a permit for them only with a person's yes.
    pub(crate) fn withholds(
        &self,
        tool: &ToolName,
        capability: Capability,
        targets: &[&ScopedPath],
    ) -> Option<WithheldPaths> {
        let verdict = self.verdict_on(capability);
        // What the sandbox hides from a program, it takes for deleted or empty, and tells us so.
        let is_hidden = capability.runs_programs() && self.hides().is_some();
        let pattern = self.path.as_ref().filter(|_| is_hidden || self.is_about(tool, capability))?;
        let approved = match verdict {
            Verdict::Allow => return None,
            Verdict::Deny => Vec::new(),
            Verdict::Ask => {
                let named = targets.iter().filter(|target| pattern.covers(target.components()));
                named.map(|target| (*target).clone()).collect()
            }
        };
        Some(WithheldPaths { pattern: pattern.clone(), approved })
    }

    fn refuses_only_changes(&self) -> bool {
        self.tool.as_deref().is_some_and(|tool| CHANGES.contains(&tool))
    }

    /// What programs must not see.
    pub(crate) fn hides(&self) -> Option<&PathPattern> {
        self.path.as_ref().filter(|_| self.verdict > Verdict::Allow && !self.refuses_only_changes())
    }

    /// What programs may read and must not change.
    pub(crate) fn fixes(&self) -> Option<&PathPattern> {
        self.path.as_ref().filter(|_| self.verdict > Verdict::Allow && self.refuses_only_changes())
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
