//! `query_multiple_agents`: several questions at the same time. One that fails leaves the others their
//! answers.

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use vambrace_policy::{AskAgents, Asked, FetchUrl, Permit};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::super::journey::{decided, travel};
use super::{AgentTool, UNKNOWN, checked};
use crate::{About, CallContext, Hands, Look, SubAgent, Tool};

pub(crate) struct AgentsTool {
    agents: Vec<AgentTool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsArgs {
    queries: Vec<Query>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    agent: String,
    query: String,
}

/// LIMIT: of questions at once.
const MOST: usize = 16;

impl AgentsTool {
    pub(crate) fn new(agents: &[SubAgent]) -> AgentsTool {
        AgentsTool { agents: agents.iter().filter_map(AgentTool::new).collect() }
    }

    fn find(&self, name: &str) -> Option<&AgentTool> {
        self.agents.iter().find(|tool| tool.agent.name == name)
    }

    fn names(&self) -> Vec<&str> {
        self.agents.iter().map(|tool| tool.agent.name.as_str()).collect()
    }

    async fn ask(&self, asked: Asked, hands: &Hands<'_>) -> Result<(String, bool), ToolError> {
        let request: FetchUrl = asked.request?;
        let tool = self.find(&asked.agent).ok_or_else(|| unknown(&asked.agent, &self.names()))?;
        // THREAT: P05, by the agent's own tool name: what the operator's rules say about it counts here too.
        let permit = decided(&tool.about.name, request, hands).await?;
        let mut response = travel(&tool.about.name, permit, hands, tool.agent.time).await?;
        hands.blocking(|| tool.heard(&mut response, hands)).await
    }
}

fn unknown(name: &str, known: &[&str]) -> ToolError {
    let message = format!("There is no agent `{name}`.");
    ToolError::new(ErrorCode::ValidationError, message)
        .suggestion(format!("The agents are: {}.", known.join(", ")))
}

impl Tool for AgentsTool {
    type Args = AgentsArgs;
    type Action = AskAgents;

    fn about(&self) -> About {
        About::of(
            "query_multiple_agents",
            "Ask several agents",
            "Asks several agents at the same time, each a question of its own. An agent that fails \
                      does not take the answers of the others with it.",
            UNKNOWN,
        )
    }

    fn own_schema(&self) -> Option<Map<String, Value>> {
        let query = json!({
            "type": "object",
            "properties": {
                "agent": {"type": "string", "enum": self.names()},
                "query": {"type": "string", "description": "The question, in words."},
            },
            "required": ["agent", "query"],
            "additionalProperties": false,
        });
        let schema = json!({
            "type": "object",
            "properties": {"queries": {"type": "array", "items": query, "minItems": 1, "maxItems": MOST}},
            "required": ["queries"],
            "additionalProperties": false,
        });
        schema.as_object().cloned()
    }

    fn plan(&self, args: AgentsArgs, context: &CallContext<'_>) -> Result<AskAgents, ToolError> {
        if !(1..=MOST).contains(&args.queries.len()) {
            let message = format!("There are {} queries; 1 to {MOST} fit.", args.queries.len());
            return Err(
                ToolError::new(ErrorCode::ValidationError, message).suggestion("Ask in several calls.")
            );
        }
        let mut asked = Vec::new();
        for Query { agent, query } in args.queries {
            let tool = self.find(&agent).ok_or_else(|| unknown(&agent, &self.names()))?;
            let request = tool.request(&checked(query)?, context);
            asked.push(Asked { agent, request });
        }
        // Nobody can be asked: then the call has not been made, and says why.
        if asked.iter().all(|asked| asked.request.is_err())
            && let Some(Err(error)) = asked.first().map(|first| first.request.clone())
        {
            return Err(error);
        }
        Ok(AskAgents { asked })
    }

    fn preview(&self, permit: &Permit<AskAgents>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let places = permit.action().asked.iter().map(|asked| {
            let place = match &asked.request {
                Ok(request) => ("url", Tree::text(request.url.as_str())),
                Err(error) => ("error", Tree::text(&error.message)),
            };
            Tree::map([("agent", Tree::text(&asked.agent)), place])
        });
        Ok(RawOutput::new(Tree::map([
            ("would", Tree::text(self.about().name.as_str())),
            ("agents", Tree::List(places.collect())),
        ])))
    }

    async fn run(&self, permit: Permit<AskAgents>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let asked = permit.action().asked.clone();
        let names: Vec<String> = asked.iter().map(|asked| asked.agent.clone()).collect();
        let heard = join_all(asked.into_iter().map(|asked| self.ask(asked, hands))).await;
        let n_good = heard.iter().filter(|heard| heard.is_ok()).count();
        let n_bad = heard.len().saturating_sub(n_good);
        let results = names.iter().zip(heard).map(|(agent, heard)| {
            let mut entries = vec![("agent", Tree::text(agent)), ("success", Tree::Bool(heard.is_ok()))];
            match heard {
                Ok((answer, is_cut)) => {
                    entries.extend([("answer", Tree::Text(answer)), ("truncated", Tree::Bool(is_cut))]);
                }
                Err(error) => {
                    entries.push(("error_code", Tree::text(error.code.as_str())));
                    entries.push(("error", Tree::Text(error.message)));
                }
            }
            Tree::map(entries)
        });
        Ok(RawOutput::new(Tree::map([
            ("results", Tree::List(results.collect())),
            ("total_agents", Tree::count(names.len())),
            ("successful", Tree::count(n_good)),
            ("failed", Tree::count(n_bad)),
        ])))
    }
}
