//! Rules the operator writes: a tool or a kind of call, perhaps a path, and a verdict.

use vambrace_types::{ScopedPath, ToolName};

use crate::permit::WithheldPaths;
use crate::{Kind, Kinds, PathPattern, PatternError};

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

/// What a rule is about.
#[derive(Debug, Clone)]
pub enum Subject {
    Everything,
    /// `kinds` are what the tool of this name does; of one that reaches only what the operator chose, none.
    Tool {
        name: String,
        kinds: Kinds,
    },
    Kind(Kind),
}

/// Without a path, it is about every path.
#[derive(Debug, Clone)]
pub struct OperatorRule {
    subject: Subject,
    path: Option<PathPattern>,
    verdict: Verdict,
    reason: String,
    set_at: String,
}

impl OperatorRule {
    pub fn new(
        subject: Subject,
        path: Option<&str>,
        verdict: Verdict,
        reason: &str,
        set_at: &str,
    ) -> Result<OperatorRule, PatternError> {
        Ok(OperatorRule {
            subject,
            path: path.map(PathPattern::parse_from_root).transpose()?,
            verdict,
            reason: reason.to_owned(),
            set_at: set_at.to_owned(),
        })
    }

    /// A program shows whatever it reads, so what refuses reading refuses programs. A rule about
    /// writing with a path makes the path read-only for them instead; without one, they could write
    /// anywhere.
    fn is_about(&self, tool: &ToolName, kinds: Kinds) -> bool {
        let refuses = self.verdict > Verdict::Allow;
        match &self.subject {
            Subject::Everything => true,
            Subject::Tool { name, kinds: named } => name == tool.as_str() || (refuses && named.imply(kinds)),
            Subject::Kind(kind) => {
                let reaches_programs = match kind {
                    Kind::Reads => true,
                    Kind::Writes => self.path.is_none(),
                    Kind::Runs | Kind::Sends => false,
                };
                kinds.are(*kind) || (refuses && reaches_programs && kinds.runs_programs())
            }
        }
    }

    /// A rule with a path speaks only of calls that touch such a path.
    pub(crate) fn applies(&self, tool: &ToolName, kinds: Kinds, targets: &[&ScopedPath]) -> bool {
        let touches = |path: &PathPattern| targets.iter().any(|target| path.covers(target.components()));
        self.is_about(tool, kinds) && self.path.as_ref().is_none_or(touches)
    }

    /// What it says of such a call. The sandbox keeps from every program what a path rule refuses or asks about, and a
    /// program cannot be asked while it runs: there an approval would be used up for nothing, so it is refused at once.
    pub(crate) fn verdict_on(&self, kinds: Kinds) -> Verdict {
        match self.verdict {
            Verdict::Ask if self.path.is_some() && kinds.runs_programs() => Verdict::Deny,
            verdict @ (Verdict::Allow | Verdict::Ask | Verdict::Deny) => verdict,
        }
    }

    /// The paths that a call of this tool must not come across on its way, because naming them would be denied or
    /// asked about. THREAT: P04, a recursive search from above a forbidden folder. `targets` are those that the call
    /// names: where the rule only asks about them, there is a permit for them only with a person's yes.
    pub(crate) fn withholds(
        &self,
        tool: &ToolName,
        kinds: Kinds,
        targets: &[&ScopedPath],
    ) -> Option<WithheldPaths> {
        let verdict = self.verdict_on(kinds);
        // What the sandbox hides from a program, it takes for deleted or empty, and tells us so.
        let is_hidden = kinds.runs_programs() && self.hides().is_some();
        let pattern = self.path.as_ref().filter(|_| is_hidden || self.is_about(tool, kinds))?;
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
        match &self.subject {
            Subject::Tool { kinds, .. } => kinds.changes && !kinds.runs_programs(),
            Subject::Kind(kind) => *kind == Kind::Writes,
            Subject::Everything => false,
        }
    }

    /// Whether programs may reach no host that the operator lists for them: they cannot be asked
    /// while they run.
    pub(crate) fn cuts_off_programs(&self) -> bool {
        self.verdict > Verdict::Allow && matches!(self.subject, Subject::Kind(Kind::Sends))
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
