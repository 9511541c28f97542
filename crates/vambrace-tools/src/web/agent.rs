//! `query_NAME`: a question to an agent that the operator lists (specification 001). Who asks, and through
//! which agents the question came, goes along; the credential is the operator's and seen by nobody.

mod answer;
mod several;

pub(crate) use several::AgentsTool;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use vambrace_net::Response;
use vambrace_policy::url::{Voice, WebUrl};
use vambrace_policy::{Answers, Author, FetchUrl, Header, Named, Permit};
use vambrace_types::{Caller, Chain, Endless, ErrorCode, RawOutput, Secret, ToolError, ToolName, Tree};

use super::journey::travel;
use super::{cut, preview, settle, text_of};
use crate::{About, AgentProtocol, CallContext, Hands, Hints, Look, SubAgent, Tool};

/// Whatever the other agent does; nobody has told us.
const UNKNOWN: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: true };

/// LIMIT: of one question and of what is shown of its answer (specification 001's 100 kB), in bytes.
const LONGEST: usize = 100_000;
/// LIMIT: of the words that stand in an error.
const LONGEST_REASON: usize = 2000;

pub(crate) struct AgentTool {
    about: About,
    agent: SubAgent,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentArgs {
    /// The question, in words, with everything the agent has to know.
    query: String,
}

impl AgentTool {
    /// None where the name is no name; the configuration refuses those.
    pub(crate) fn new(agent: &SubAgent) -> Option<AgentTool> {
        let name = ToolName::parse(&format!("query_{}", agent.name))?;
        let description = match agent.description.trim() {
            "" => format!("Asks the agent `{}`.", agent.name),
            known => format!("Asks the agent `{}`: {known}", agent.name),
        };
        Some(AgentTool { about: About::configured(name, description, UNKNOWN), agent: agent.clone() })
    }

    /// The request that asks `query`.
    fn request(&self, query: &str, context: &CallContext<'_>) -> Result<FetchUrl, ToolError> {
        let agent = &self.agent;
        let chain = context.chain.onward(&context.toolbox.chain, &agent.name).map_err(looped)?;
        let url = WebUrl::parse(&agent.url).map_err(|refusal| {
            let why = refusal.text(Voice::Seed000);
            let message = format!("The address of the agent `{}` cannot be used: {why}", agent.name);
            ToolError::new(ErrorCode::ConnectionFailed, message)
                .suggestion(format!("Go on without it, and tell the operator to correct {}.", agent.rule))
        })?;
        let credential = agent.credential.as_ref().map_err(|variable| {
            let message = format!(
                "The agent `{}` wants a credential, and the variable `{variable}` is not set.",
                agent.name
            );
            ToolError::new(ErrorCode::SecretUnresolved, message)
                .suggestion("Go on without it, and tell the operator to set the variable.")
        })?;
        let request_id = chain.request_id.clone().unwrap_or_else(|| context.call_id.as_str().to_owned());
        let mut headers = onward(&request_id, &chain, context.caller);
        headers.push(("content-type", "application/json".to_owned()));
        let body = match agent.protocol {
            AgentProtocol::Rest => json!({"query": query}),
            AgentProtocol::A2a => {
                headers.push(("a2a-version", "1.0".to_owned()));
                let parts = json!([{"text": query}]);
                let message =
                    json!({"messageId": context.call_id.as_str(), "role": "ROLE_USER", "parts": parts});
                json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}})
            }
        };
        let header =
            |(name, value): (&str, String)| Header { name: name.to_owned(), value: Secret::new(value) };
        let mut headers: Vec<Header> = headers.into_iter().map(header).collect();
        if let Some((name, value)) = credential {
            let name = name.to_ascii_lowercase();
            headers.retain(|header| header.name != name);
            headers.push(Header { name, value: value.clone() });
        }
        let named = Named { host: url.host().clone(), port: url.port(), rule: agent.rule.clone() };
        Ok(FetchUrl {
            url,
            method: "POST".to_owned(),
            headers,
            body: Some(Secret::new(body.to_string())),
            author: Author::Operator,
            voice: Voice::Seed000,
            answers: Answers::Unasked,
            time: Some(agent.time),
            // What others gave us to send on is theirs like the question.
            spelled: vec![query.to_owned(), request_id, chain.list()],
            length: None,
            named: Some(named),
        })
    }

    /// What the agent said, with a sign whether it said more.
    fn heard(&self, response: &mut Response, hands: &Hands<'_>) -> Result<(String, bool), ToolError> {
        let mut is_cut = response.truncated;
        // THREAT: P02, cleaned before anything is taken out of it: a secret in another spelling is none that
        // we know.
        let cleaned = hands.redactor().text_owned(text_of(response, hands, |text| text));
        hands.redacted(cleaned.n_redactions);
        let body = cleaned.value.into_string();
        let name = &self.agent.name;
        if !(200..300).contains(&response.status) {
            let mut words = body;
            cut(&mut words, LONGEST_REASON, hands);
            let message = format!("The agent `{name}` answered with status {}: {words}", response.status);
            return Err(failed(ErrorCode::HttpStatus, message));
        }
        let said = match self.agent.protocol {
            AgentProtocol::Rest => Ok(answer::of_rest(body)),
            AgentProtocol::A2a => answer::of_a2a(&body),
        };
        let mut said = said.map_err(|mut words| {
            cut(&mut words, LONGEST_REASON, hands);
            failed(ErrorCode::HttpStatus, format!("The agent `{name}` has no answer: {words}"))
        })?;
        if said.len() > LONGEST {
            is_cut = true;
            cut(&mut said, LONGEST, hands);
        }
        Ok((said, is_cut))
    }
}

fn failed(code: ErrorCode, message: String) -> ToolError {
    ToolError::new(code, message).suggestion("Put the question differently, or go on without this agent.")
}

fn looped(endless: Endless) -> ToolError {
    ToolError::new(ErrorCode::CallLoop, endless.words()).suggestion(Endless::SUGGESTION).rule("a2a")
}

/// A question that is one.
fn checked(query: String) -> Result<String, ToolError> {
    let message = match query.len() {
        _ if query.trim().is_empty() => "The query is empty.".to_owned(),
        length if length > LONGEST => format!("The query is longer than {LONGEST} bytes."),
        _ => return Ok(query),
    };
    Err(ToolError::new(ErrorCode::ValidationError, message).suggestion("Ask one short question in words."))
}

/// The headers of a call to the next agent: the same request, one step deeper, on behalf of the same person.
fn onward(request_id: &str, chain: &Chain, caller: &Caller) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("x-request-id", request_id.to_owned()),
        ("x-call-chain", chain.list()),
        ("x-call-depth", chain.depth().to_string()),
    ];
    // THREAT: P13, a line break in a name would write a header of its own.
    let is_value = |text: &&str| !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let person = [("x-user-email", &caller.email), ("x-slack-user-id", &caller.user)];
    for (name, value) in person {
        headers.extend(value.as_deref().filter(is_value).map(|value| (name, value.to_owned())));
    }
    // A group with a comma in it would become two for whoever reads the list.
    let groups = caller.groups.iter().map(String::as_str).filter(|group| !group.contains(','));
    let groups: Vec<&str> = groups.filter(is_value).collect();
    if !groups.is_empty() {
        headers.push(("x-user-groups", groups.join(",")));
    }
    headers
}

impl Tool for AgentTool {
    type Args = AgentArgs;
    type Action = FetchUrl;

    fn about(&self) -> About {
        self.about.clone()
    }

    fn plan(&self, args: AgentArgs, context: &CallContext<'_>) -> Result<FetchUrl, ToolError> {
        self.request(&checked(args.query)?, context)
    }

    fn settle(&self, action: &FetchUrl, look: &Look<'_>) -> Result<Option<FetchUrl>, ToolError> {
        Ok(settle(action, look))
    }

    fn preview(&self, permit: &Permit<FetchUrl>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about.name.as_str(), permit.action()))
    }

    async fn run(&self, permit: Permit<FetchUrl>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let mut response = travel(&self.about.name, permit, hands, self.agent.time).await?;
        let (answer, is_cut) = hands.blocking(|| self.heard(&mut response, hands)).await?;
        Ok(RawOutput::new(Tree::map([
            ("agent", Tree::text(&self.agent.name)),
            ("answer", Tree::Text(answer)),
            ("truncated", Tree::Bool(is_cut)),
        ])))
    }
}

#[cfg(test)]
mod tests {
    use vambrace_types::{ChainRules, Door, Role};

    use super::*;

    #[test]
    fn the_person_goes_along() {
        let chain = Chain::read(Some("r1".to_owned()), [b"root".as_slice()], Some("1")).unwrap();
        let rules = ChainRules { self_name: "Vambrace".to_owned(), most_depth: 5 };
        let chain = chain.onward(&rules, "docs").unwrap();
        let caller = Caller {
            email: Some("ann@example.com".to_owned()),
            groups: ["dev", "a,admins", "\u{f6}ps", "x\r\nX-Evil: 1", "ops"].map(str::to_owned).to_vec(),
            user: Some("U1\r\nX-Evil: 1".to_owned()),
            ..Caller::named("bridge", Role::Dev, Door::A2a)
        };
        let expected = [
            ("x-request-id", "r1"),
            ("x-call-chain", "root,Vambrace"),
            ("x-call-depth", "2"),
            ("x-user-email", "ann@example.com"),
            ("x-user-groups", "dev,ops"),
        ];
        assert_eq!(onward("r1", &chain, &caller), expected.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(onward("r1", &chain, &Caller::local(Role::Dev, Door::CommandLine)).len(), 3);
    }

    #[test]
    fn questions_have_a_length() {
        for (n_bytes, is_one) in [(0, false), (1, true), (LONGEST, true), (LONGEST + 1, false)] {
            assert_eq!(checked("x".repeat(n_bytes)).is_ok(), is_one, "{n_bytes}");
        }
        assert!(checked(" \n".to_owned()).is_err());
    }
}
