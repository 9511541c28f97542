//! The agents that we may ask, in the words of the tools that ask them.

use std::collections::BTreeMap;

use vambrace_policy::url::{Voice, WebUrl, is_ours, is_token};
use vambrace_redact::KnownValue;
use vambrace_tools::{AgentProtocol, SubAgent};
use vambrace_types::{ChainRules, Secret, ToolName};

use super::{RESERVED, ResolveError};
use crate::section::{self, A2aAuthKind, Config};

/// The tool that asks several, which is there with two or more.
const SEVERAL: &str = "query_multiple_agents";

/// Who we are in chains of agents.
pub fn chain_rules(config: &Config) -> ChainRules {
    ChainRules { self_name: config.a2a.self_name.clone(), most_depth: config.a2a.max_call_depth }
}

fn tool_name(agent: &section::SubAgent) -> String {
    format!("query_{}", agent.name)
}

/// Of the tools that agents are asked by.
pub(super) fn tool_names(config: &Config) -> impl Iterator<Item = String> {
    let agents = &config.a2a.sub_agents;
    let several = (agents.len() > 1).then(|| SEVERAL.to_owned());
    agents.iter().map(tool_name).chain(several)
}

/// Names that no tool can have, or that another has.
pub(super) fn names(config: &Config) -> Result<(), ResolveError> {
    let agents = &config.a2a.sub_agents;
    let built_in = if agents.is_empty() { Vec::new() } else { super::rules::of_ours() };
    let mut seen: Vec<String> = config.tools.declared.iter().map(|tool| tool.name.clone()).collect();
    for (place, agent) in agents.iter().enumerate() {
        let name = tool_name(agent);
        let why = if ToolName::parse(&name).is_none() || agent.name.is_empty() {
            "is not a name for an agent: letters, digits, `_` and `-`, at most 58"
        } else if RESERVED.contains(&name.as_str())
            || name == SEVERAL
            || built_in.iter().any(|(known, _)| known.as_str() == name)
        {
            "would take the name of a tool that Vambrace has itself"
        } else if seen.contains(&name) || agents.len() > 1 && seen.iter().any(|seen| seen == SEVERAL) {
            "would take a tool name that another tool has"
        } else {
            seen.push(name);
            continue;
        };
        return Err(ResolveError::SubAgent { place, name: agent.name.clone(), why });
    }
    Ok(())
}

/// The variable that holds the agent's credential, and the value where there is one.
type Held<'c> = (Option<&'c str>, Option<Secret<String>>);

fn held<'c>(agent: &'c section::SubAgent, environment: &BTreeMap<String, String>) -> Option<Held<'c>> {
    let variable = match agent.auth.kind {
        A2aAuthKind::None => return None,
        A2aAuthKind::ApiKey => agent.auth.key_env.as_deref(),
        A2aAuthKind::Bearer => agent.auth.token_env.as_deref(),
    };
    let value = variable.and_then(|name| environment.get(name)).map(|value| value.trim());
    // An empty value is no value: a call with an empty key fails later and further away.
    Some((variable, value.filter(|value| !value.is_empty()).map(|value| Secret::new(value.to_owned()))))
}

/// Whatever a variable is called, what an agent gets as its credential is one.
pub(super) fn known(config: &Config, environment: &BTreeMap<String, String>) -> Vec<KnownValue> {
    let agents = config.a2a.sub_agents.iter();
    let values = agents.filter_map(|agent| {
        let value = held(agent, environment)?.1?;
        Some(KnownValue { name: format!("agent-{}-credential", agent.name), value })
    });
    values.collect()
}

pub(super) fn sub_agents(config: &Config, environment: &BTreeMap<String, String>) -> Vec<SubAgent> {
    let most = config.limits.time_max.duration();
    let agents = config.a2a.sub_agents.iter().enumerate();
    let made = agents.map(|(place, agent)| SubAgent {
        name: agent.name.clone(),
        description: agent.description.clone().unwrap_or_default(),
        protocol: match agent.protocol {
            section::A2aProtocol::A2a => AgentProtocol::A2a,
            section::A2aProtocol::Rest => AgentProtocol::Rest,
        },
        url: url(agent),
        credential: match (agent.auth.kind, held(agent, environment)) {
            (A2aAuthKind::None, _) | (_, None) => Ok(None),
            (A2aAuthKind::ApiKey, Some((_, Some(value)))) => Ok(Some((agent.auth.header.clone(), value))),
            (A2aAuthKind::Bearer, Some((_, Some(value)))) => {
                let value = Secret::new(format!("Bearer {}", value.expose()));
                Ok(Some(("authorization".to_owned(), value)))
            }
            (kind, Some((variable, None))) => Err(variable.unwrap_or(missing_key(kind)).to_owned()),
        },
        time: agent.timeout.duration().min(most),
        rule: format!("a2a.sub_agents[{place}]"),
    });
    made.collect()
}

/// What the operator forgot to set.
fn missing_key(kind: A2aAuthKind) -> &'static str {
    match kind {
        A2aAuthKind::None => "",
        A2aAuthKind::ApiKey => "auth.key_env",
        A2aAuthKind::Bearer => "auth.token_env",
    }
}

fn url(agent: &section::SubAgent) -> String {
    match agent.protocol {
        section::A2aProtocol::A2a => agent.endpoint.clone(),
        section::A2aProtocol::Rest => {
            let path = agent.api_path.trim_start_matches('/');
            format!("{}/{path}", agent.endpoint.trim_end_matches('/'))
        }
    }
}

/// An agent that cannot be asked does not stop the start; its tool says the same when it is called.
pub(super) fn warnings(agents: &[SubAgent]) -> Vec<String> {
    let mut warnings = Vec::new();
    for agent in agents {
        let mut warn = |why: String| {
            warnings.push(format!("{}: the agent `{}` cannot be asked: {why}", agent.rule, agent.name));
        };
        if let Err(refusal) = WebUrl::parse(&agent.url) {
            warn(refusal.text(Voice::Seed000));
        }
        match &agent.credential {
            Err(variable) => warn(format!("`{variable}` is not set")),
            Ok(Some((header, _))) if !is_token(header) || is_ours(header) => {
                warn(format!("`{header}` is no header for a credential"));
            }
            Ok(_) => {}
        }
    }
    warnings
}
