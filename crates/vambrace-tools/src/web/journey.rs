//! A request and where its redirects lead. Every hop is looked up, decided and permitted like a fresh call.

use std::time::Duration;

use vambrace_net::{NetError, Response, next};
use vambrace_policy::{FetchUrl, Permit};
use vambrace_types::ToolError;

use super::refused;
use crate::Hands;
use crate::hands::answers;

/// The answer at the end of the way.
pub(super) async fn travel(
    tool: &'static str,
    permit: Permit<FetchUrl>,
    hands: &Hands<'_>,
    time: Duration,
) -> Result<Response, ToolError> {
    let (voice, host) = (permit.action().voice, permit.action().url.host().to_string());
    // One limit for the whole way: five slow hosts are not five times as slow.
    match tokio::time::timeout(time, go(tool, permit, hands)).await {
        Ok(arrived) => arrived,
        Err(_) => Err(NetError::TimedOut { host, after: time }.to_tool_error(voice)),
    }
}

async fn go(
    tool: &'static str,
    mut permit: Permit<FetchUrl>,
    hands: &Hands<'_>,
) -> Result<Response, ToolError> {
    let web = hands.web()?;
    let voice = permit.action().voice;
    let mut n_hops = 0;
    loop {
        let action = permit.action().clone();
        let response = web.send(permit).await.map_err(|error| error.to_tool_error(voice))?;
        let location = response.location.as_deref();
        let next = next(web.redirects(), &action.url, response.status, &action.method, location, n_hops)
            .map_err(|refusal| refused(refusal, voice))?;
        let Some(next) = next else { return Ok(response) };
        n_hops += 1;
        let mut onward = FetchUrl { url: next.url, ..action };
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
        onward.answers = answers(web, onward.url.host()).await;
        permit = hands.decide(tool, onward)?;
    }
}
