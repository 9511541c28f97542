//! A request and where its redirects lead. Every hop is decided, looked up, decided again and permitted like a fresh call,
//! and stands in the record.

use std::time::Duration;

use vambrace_net::{Contact, NetError, Outcome, Response, next};
use vambrace_policy::url::WebUrl;
use vambrace_policy::{Answers, Author, FetchUrl, Permit};
use vambrace_types::{ErrorCode, ToolError, ToolName};

use super::refused;
use crate::Hands;
use crate::hands::answers;

/// How often a call looks whether it was stopped while it waits for a server.
const GLANCE: Duration = Duration::from_millis(50);

/// The answer at the end of the way.
pub(super) async fn travel(
    tool: &ToolName,
    permit: Permit<FetchUrl>,
    hands: &Hands<'_>,
    time: Duration,
) -> Result<Response, ToolError> {
    let (voice, host) = (permit.action().voice, permit.action().url.host().to_string());
    // One limit for the whole way: five slow hosts are not five times as slow.
    let way = tokio::time::timeout(time, go(tool, permit, hands));
    let arrived = tokio::select! {
        arrived = way => arrived,
        () = stopped(hands) => return Err(ToolError::new(ErrorCode::Cancelled, "The request was stopped.")),
    };
    arrived.unwrap_or_else(|_| Err(NetError::TimedOut { host, after: time }.to_tool_error(voice)))
}

async fn stopped(hands: &Hands<'_>) {
    while !hands.stop().is_set() {
        tokio::time::sleep(GLANCE).await;
    }
}

async fn go(tool: &ToolName, mut permit: Permit<FetchUrl>, hands: &Hands<'_>) -> Result<Response, ToolError> {
    let web = hands.web()?;
    let voice = permit.action().voice;
    let mut n_hops = 0;
    loop {
        let action = permit.action().clone();
        let sent = web.send(permit).await;
        hands.met(contact(&action.url, &sent));
        let response = sent.map_err(|error| error.to_tool_error(voice))?;
        // What the operator named is one place, and whoever answers there may not send a question on. News go to the
        // address that was named and nowhere else.
        if action.named.is_some() || action.author == Author::Ourselves {
            return Ok(response);
        }
        let location = response.location.as_deref();
        let next = next(web.redirects(), &action.url, response.status, &action.method, location, n_hops)
            .map_err(|refusal| refused(refusal, voice))?;
        let Some(next) = next else { return Ok(response) };
        n_hops += 1;
        let mut onward = FetchUrl { url: next.url, answers: Answers::Unasked, ..action };
        if next.becomes_get {
            onward.method = "GET".to_owned();
            onward.body = None;
            onward.headers.retain(|header| !header.name.starts_with("content-"));
        }
        // THREAT: P02, what was meant for one host is not for whoever it names.
        if next.drops_headers {
            onward.headers.clear();
            onward.body = None;
        }
        // What the server wrote is searched for secrets like what a model writes: it may name any place.
        onward.spelled.push(onward.url.as_str().to_owned());
        let place = onward.url.as_str().to_owned();
        permit = decided(tool, onward, hands).await.inspect_err(|_| {
            hands.warn(vec![format!("The server redirects to `{place}`, and that was refused.")]);
        })?;
    }
}

/// THREAT: P05, P02: a look-up is a message to somebody, so a hop is decided before it and after it.
pub(super) async fn decided(
    tool: &ToolName,
    onward: FetchUrl,
    hands: &Hands<'_>,
) -> Result<Permit<FetchUrl>, ToolError> {
    let onward = hands.decide(tool, onward)?.action().clone();
    let answers = answers(hands.web()?, onward.url.host()).await;
    hands.decide(tool, FetchUrl { answers, ..onward })
}

fn contact(url: &WebUrl, sent: &Result<Response, NetError>) -> Contact {
    let outcome = match sent {
        Ok(response) => Outcome::Reached { address: response.address.clone() },
        Err(NetError::Refused(refusal)) => Outcome::Refused(refusal.clone()),
        Err(error) => Outcome::Failed { why: error.to_string() },
    };
    let n_received = sent.as_ref().map_or(0, |response| response.body.len() as u64);
    Contact {
        host: url.host().to_string(),
        port: url.port(),
        outcome,
        times: 1,
        bytes_sent: 0,
        bytes_received: n_received,
    }
}
