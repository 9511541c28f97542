//! News of a task for addresses that its caller named. Each is a call of the corridor (the tool `a2a_notify`), so it is
//! decided, dialled and recorded like any other request of that caller.

use std::sync::Arc;
use std::time::Duration;

use ::a2a::{AuthenticationInfo, Task, TaskPushNotificationConfig};
use serde_json::{Value, json};
use vambrace_redact::RedactedText;
use vambrace_runtime::{Leash, Level, LogLine, Reply};
use vambrace_state::{Authentication, Push};
use vambrace_tools::NOTIFY;
use vambrace_types::{Caller, Chain, Door, ErrorCode, Family, Secret, SessionId, Tree};

use super::message::check_id;
use super::older;
use super::rpc::{Fault, Revision, Wrong};
use super::store::{Desk, Settled};
use crate::http::{Calling, Front};

const UNDELIVERED: &str = "News of a task were not delivered";
const LONGEST_URL: usize = 2048;
const LONGEST_CREDENTIAL: usize = 4096;
/// Pauses before a delivery is tried again; then it is given up.
const PAUSES: &[Duration] = &[Duration::from_secs(1), Duration::from_secs(5)];

pub(super) fn read(
    config: TaskPushNotificationConfig,
    task_id: &str,
    revision: Revision,
) -> Result<Push, Fault> {
    let wrong = |message: &str| Fault::new(Wrong::Params, message);
    let id = config.id.filter(|id| !id.is_empty()).unwrap_or_else(|| task_id.to_owned());
    check_id("id", &id)?;
    if config.url.is_empty() || config.url.len() > LONGEST_URL {
        return Err(wrong("`url` must be 1 to 2048 bytes."));
    }
    let fits = |text: &str| {
        text.len() <= LONGEST_CREDENTIAL && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
    };
    let authentication = config.authentication.filter(|info| !info.scheme.is_empty());
    let is_word =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let credentials = authentication.as_ref().and_then(|info| info.credentials.as_deref());
    let token = config.token.filter(|token| !token.is_empty());
    if !token.as_deref().is_none_or(fits)
        || !credentials.is_none_or(fits)
        || !authentication.as_ref().is_none_or(|info| info.scheme.len() <= 64 && is_word(&info.scheme))
    {
        return Err(wrong("`token` and `authentication` must be plain text that fits into a header."));
    }
    let authentication = authentication
        .map(|info| Authentication { scheme: info.scheme, credentials: info.credentials.map(Secret::new) });
    Ok(Push { id, url: config.url, token: token.map(Secret::new), authentication, revision })
}

pub(super) fn shown(push: &Push, task_id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        url: push.url.clone(),
        id: Some(push.id.clone()),
        task_id: task_id.to_owned(),
        token: push.token.as_ref().map(|token| token.expose().clone()),
        authentication: push.authentication.as_ref().map(|info| AuthenticationInfo {
            scheme: info.scheme.clone(),
            credentials: info.credentials.as_ref().map(|credentials| credentials.expose().clone()),
        }),
        tenant: None,
    }
}

fn call(push: &Push, whose: &Whose, body: &Value, dry_run: bool) -> Calling {
    let mut headers = json!({"content-type": "application/json"});
    if let Value::Object(headers) = &mut headers {
        if let Some(token) = &push.token {
            headers.insert("x-a2a-notification-token".to_owned(), json!(token.expose()));
        }
        if let Some(info) = &push.authentication {
            let credentials = info.credentials.as_ref().map(Secret::expose);
            let credentials = credentials.map_or("", String::as_str);
            let value = format!("{} {credentials}", info.scheme);
            headers.insert("authorization".to_owned(), json!(value.trim_end()));
        }
    }
    Calling {
        // Our own work for this caller: with the caller's rights, and no door of the caller's leads
        // here.
        caller: Caller { door: Door::System, ..whose.caller.clone() },
        session: whose.session.clone(),
        tool: NOTIFY.to_owned(),
        arguments: json!({"url": push.url, "headers": headers, "body": body.to_string()}),
        dry_run,
        chain: whose.chain.clone(),
    }
}

/// For whom news are sent, and which request led to it.
#[derive(Debug, Clone)]
pub(super) struct Whose {
    pub(super) caller: Caller,
    pub(super) session: SessionId,
    pub(super) chain: Chain,
}

/// Asks beforehand whether news may go there, so that a caller learns it at once. Each delivery is decided again.
pub(super) async fn check(front: &Front, whose: &Whose, push: &Push) -> Result<(), Fault> {
    let reply = front.call(call(push, whose, &Value::Null, true), Leash::default()).await;
    let Some(error) = reply.as_ref().and_then(Reply::error) else { return Ok(()) };
    // A name may have an address by then.
    if error.code == ErrorCode::DnsFailed {
        return Ok(());
    }
    Err(Fault::new(Wrong::Params, format!("News cannot be sent to this address: {}", error.message.as_str()))
        .suggestion(error.suggestion.as_str()))
}

/// Tells everybody who wants to know. Waits for nobody.
pub(super) fn deliver(front: &Arc<Front>, desk: &Arc<Desk>, whose: &Whose, settled: Settled) {
    let Settled(record) = settled;
    for push in record.pushes.iter().cloned() {
        // LIMIT: when as many as may be are under way, news are dropped; the task itself can be asked for.
        let Ok(place) = Arc::clone(&desk.deliveries).try_acquire_owned() else {
            lost(front, whose, UNDELIVERED, "too many news are under way");
            continue;
        };
        let (front, whose, task) = (Arc::clone(front), whose.clone(), record.task.clone());
        let deliveries = front.deliveries.clone();
        deliveries.spawn(async move {
            let body = news(task, push.revision);
            for pause in PAUSES.iter().map(Some).chain([None]) {
                let reply = front.call(call(&push, &whose, &body, false), Leash::default()).await;
                let Some(reply) = reply else {
                    lost(&front, &whose, UNDELIVERED, "the service is shutting down");
                    break;
                };
                match (reply.error(), pause) {
                    (None, _) => break,
                    // INVARIANT: whoever waits for the end is not kept by pauses.
                    (Some(error), Some(pause)) if may_help(error.code) && !front.ending.is_cancelled() => {
                        let _ = tokio::time::timeout(*pause, front.ending.cancelled()).await;
                    }
                    (Some(_), _) => {
                        lost(&front, &whose, UNDELIVERED, "the address did not take them");
                        break;
                    }
                }
            }
            drop(place);
        });
    }
}

/// For operators: somebody will not hear of a task.
pub(super) fn lost(front: &Front, whose: &Whose, what: &'static str, why: &str) {
    let redactor = front.corridor.redactor_for_call(front.corridor.clock().now());
    let field = |text: &str| redactor.plain_tree(Tree::text(text)).value;
    let mut fields = vec![("caller_id", field(&whose.caller.id)), ("why", field(why))];
    fields.extend(front.corridor.origin(&whose.chain));
    front.corridor.log().line(&LogLine { level: Level::Warn, message: RedactedText::fixed(what), fields });
}

/// What was denied stays denied.
fn may_help(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::ConnectionFailed | ErrorCode::HttpStatus | ErrorCode::Timeout)
        || code.family() == Family::Busy
}

/// The task without the caller's own words: they were said to us, not to whoever listens.
fn news(mut task: Task, revision: Revision) -> Value {
    task.history = None;
    let task = json!(task);
    match revision {
        Revision::V1 => json!({"task": task}),
        Revision::V03 => older::task(task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_another_door_is_not_shown_to_debuggers() {
        let (token, credentials) = ("t0ken".repeat(3), "cr3d".repeat(3));
        let config = TaskPushNotificationConfig {
            url: "https://example.com/".to_owned(),
            id: None,
            task_id: "t".to_owned(),
            token: Some(token.clone()),
            authentication: Some(AuthenticationInfo {
                scheme: "Bearer".to_owned(),
                credentials: Some(credentials.clone()),
            }),
            tenant: None,
        };
        let push = read(config.clone(), "t", Revision::V1).unwrap();
        let told = format!("{push:?}");
        assert!(!told.contains(&token) && !told.contains(&credentials), "{told}");
        // Its owner reads it as it was.
        assert_eq!(
            json!(shown(&push, "t")),
            json!(TaskPushNotificationConfig { id: Some("t".to_owned()), ..config })
        );
        assert!(push.n_bytes() >= token.len() + credentials.len());
    }
}
