//! `a2a_notify`: news of a task, sent to the address that the task's caller named. Front ends of ours call it, through the
//! corridor like everybody; the policy refuses it to anybody else.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::url::{Voice, WebUrl};
use vambrace_policy::{Answers, Author, FetchUrl, Header, Permit, SendNotification};
use vambrace_types::{ErrorCode, RawOutput, Secret, ToolError, Tree};

use super::journey::travel;
use super::{preview, refused, settle};
use crate::{About, Audience, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct NotifyTool;

/// What our front ends call it by.
pub const NOTIFY: &str = "a2a_notify";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotifyArgs {
    url: String,
    /// The receiver's own: how it knows us again.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// JSON.
    body: String,
}

/// Receivers are to take the news and do their work later.
const TIME: Duration = Duration::from_secs(10);

impl Tool for NotifyTool {
    type Args = NotifyArgs;
    type Action = SendNotification;
    const AUDIENCE: Audience = Audience::Ourselves;

    fn about(&self) -> About {
        About::of(
            NOTIFY,
            "Send news of a task",
            "Sends news of a task to the address that its caller named.",
            Hints { read_only: false, destructive: false, idempotent: false, open_world: true },
        )
    }

    fn plan(&self, args: NotifyArgs, _context: &CallContext<'_>) -> Result<SendNotification, ToolError> {
        let voice = Voice::Seed000;
        let url = WebUrl::parse(&args.url).map_err(|refusal| refused(refusal, voice))?;
        let headers = args.headers.into_iter();
        let headers = headers
            .map(|(name, value)| Header { name: name.to_ascii_lowercase(), value: Secret::new(value) });
        let request = FetchUrl {
            url,
            method: "POST".to_owned(),
            headers: headers.collect(),
            body: Some(Secret::new(args.body)),
            author: Author::Ourselves,
            voice,
            answers: Answers::Unasked,
            time: Some(TIME),
            spelled: vec![args.url],
            length: None,
            named: None,
        };
        Ok(SendNotification { request })
    }

    fn settle(
        &self,
        action: &SendNotification,
        look: &Look<'_>,
    ) -> Result<Option<SendNotification>, ToolError> {
        Ok(settle(&action.request, look).map(|request| SendNotification { request }))
    }

    fn preview(&self, permit: &Permit<SendNotification>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), &permit.action().request))
    }

    /// What the receiver says is of no interest, and nobody's to see.
    async fn run(&self, permit: Permit<SendNotification>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let response = travel(&self.about().name, permit.into_request(), hands, TIME).await?;
        match response.status {
            200..=299 => Ok(RawOutput::new(Tree::map([("status", Tree::Int(i64::from(response.status)))]))),
            status => Err(ToolError::new(
                ErrorCode::HttpStatus,
                format!("The receiver answered with status {status}."),
            )),
        }
    }
}
