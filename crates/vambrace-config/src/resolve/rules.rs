//! The operator's rules: each about a tool that there is, or about a kind of calls.

use vambrace_policy::{Kind, Kinds, OperatorRule, Subject, Verdict};
use vambrace_runtime::Corridor;
use vambrace_tools::{ALIASES, LegacyRunCommand, Toolbox};
use vambrace_types::ToolName;

use super::{ResolveError, agents};
use crate::problem::nearest;
use crate::section::{self, Config, Rule, ToolKind};

/// Every tool of ours, whatever the configuration offers of them.
pub(super) fn of_ours() -> Vec<(ToolName, Kinds)> {
    Corridor::every_tool(&Toolbox { legacy_run_command: LegacyRunCommand::Offered, ..Toolbox::default() })
}

/// Every tool that a rule may name, and what a rule about it is about as well.
fn known(config: &Config) -> Vec<(String, Kinds)> {
    let ours = of_ours().into_iter().map(|(name, kinds)| (name.as_str().to_owned(), kinds));
    let declared = config.tools.declared.iter().map(|tool| {
        let kinds = match tool.kind {
            ToolKind::Command | ToolKind::Inline => Kinds::RUNS,
            // It reaches what the operator chose: a rule about it is about nothing else.
            ToolKind::Http | ToolKind::Mcp => Kinds::NONE,
        };
        (tool.name.clone(), kinds)
    });
    let agents = agents::tool_names(config).map(|name| (name, Kinds::NONE));
    ours.chain(declared).chain(agents).collect()
}

/// THREAT: P09, a rule that was meant to deny something must not deny nothing.
pub(super) fn subjects(config: &Config) -> Result<Vec<Subject>, ResolveError> {
    let known = if config.rules.is_empty() { Vec::new() } else { known(config) };
    config.rules.iter().enumerate().map(|(place, rule)| subject(place, rule, &known)).collect()
}

fn subject(place: usize, rule: &Rule, known: &[(String, Kinds)]) -> Result<Subject, ResolveError> {
    let refuse = |why| Err(ResolveError::Rule { place, why });
    let name = match (&rule.tool, rule.kind) {
        (Some(_), Some(_)) => return refuse("`tool` and `kind` do not go together; write a rule for each"),
        (None, Some(section::CallKind::Sends)) if rule.path.is_some() => {
            return refuse("what is sent has no path; take `path` out, or write `kind: reads`");
        }
        (None, Some(kind)) => return Ok(Subject::Kind(kind_of(kind))),
        (None, None) => return Ok(Subject::Everything),
        (Some(name), None) => name,
    };
    let own = ALIASES.iter().find(|(alias, _)| alias == name).map_or(name.as_str(), |(_, tool)| tool);
    match known.iter().find(|(known, _)| known == own) {
        Some((name, kinds)) => Ok(Subject::Tool { name: name.clone(), kinds: *kinds }),
        None => {
            let hint = match nearest(name, known.iter().map(|(known, _)| known.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a rule without `tool` is about all tools".to_owned(),
            };
            Err(ResolveError::RuleForNoTool { name: name.clone(), hint })
        }
    }
}

fn kind_of(kind: section::CallKind) -> Kind {
    match kind {
        section::CallKind::Reads => Kind::Reads,
        section::CallKind::Writes => Kind::Writes,
        section::CallKind::Runs => Kind::Runs,
        section::CallKind::Sends => Kind::Sends,
    }
}

pub(super) fn rules(config: &Config) -> Result<Vec<OperatorRule>, ResolveError> {
    let subjects = subjects(config)?;
    let rules = config.rules.iter().zip(subjects).enumerate().map(|(place, (rule, subject))| {
        let verdict = match rule.decision {
            section::Decision::Deny => Verdict::Deny,
            section::Decision::Ask => Verdict::Ask,
            section::Decision::Allow => Verdict::Allow,
        };
        let reason = rule.reason.as_deref().unwrap_or_default();
        OperatorRule::new(subject, rule.path.as_deref(), verdict, reason, &format!("rules[{place}]"))
            .map_err(|error| ResolveError::Pattern { key: format!("rules[{place}].path"), error })
    });
    rules.collect()
}
