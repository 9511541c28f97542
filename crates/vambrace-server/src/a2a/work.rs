//! A task at work: one call through the corridor, and how its reply looks as a task.

use std::sync::Arc;

use ::a2a::{Artifact, Message, Part, Role, Task, TaskState};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::broadcast;
use tokio_util::task::AbortOnDropHandle;
use vambrace_audit::rfc3339;
use vambrace_runtime::{Leash, Reply, Verdict};
use vambrace_state::{News, StateError, Wanted};
use vambrace_types::{Caller, Chain, ErrorCode, Family, SessionId};

use super::conformance::{Script, Step};
use super::message::Accepted;
use super::push::{self, Whose, lost};
use super::store::{Desk, Now, Piece};
use crate::http::{Calling, Front};
use crate::{text, wire};

/// What is to be done for a task.
pub(super) enum Job {
    Call(Wanted),
    /// A fixture of the public test kit.
    Script(Script),
}

pub(super) struct Order {
    pub(super) task: Task,
    pub(super) caller: Caller,
    pub(super) chain: Chain,
    pub(super) job: Job,
    pub(super) accepted: Accepted,
    pub(super) leash: Leash,
    pub(super) signals: broadcast::Receiver<News>,
}

/// A context is the caller's own word for a conversation; two callers may choose the same one. THREAT: P13.
pub(super) fn session(owner: &str, context_id: &str) -> SessionId {
    let mut hash = Sha256::new();
    hash.update((owner.len() as u64).to_le_bytes());
    hash.update(owner.as_bytes());
    hash.update(context_id.as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let (first, _) =
        digest.split_first_chunk::<16>().map_or(([0; 16], &[][..]), |(first, rest)| (*first, rest));
    SessionId::random(first)
}

/// Fails when the store of tasks does: then nobody finds in the task what became of it.
pub(super) async fn work(front: Arc<Front>, desk: Arc<Desk>, order: Order) -> Result<(), StateError> {
    let Order { task, caller, chain, job, accepted, leash, signals } = order;
    // A task of its own: the call may hold this one for as long as it takes.
    let _obeying = AbortOnDropHandle::new(tokio::spawn(obey(signals, leash.clone())));
    let owner = caller.owner();
    let session = session(&owner, &task.context_id);
    let whose = Whose { caller, session, chain };
    let key = (owner.as_str(), task.id.as_str());
    let now = || (front.moment(), front.corridor.clock().now());
    let done = match job {
        Job::Call(wanted) => {
            let calling = calling(&whose, wanted);
            made(&front, &desk, &task, key, (calling, leash), accepted).await
        }
        Job::Script(script) => play(&desk, &task, key, &leash, script, now).await,
    };
    let settled = match done {
        Ok((state, message)) => desk.change(key, state, message, now()).await,
        Err(error) => Err(error),
    };
    let settled =
        settled.inspect_err(|error| lost(&front, &whose, "A task could not be kept", &error.to_string()))?;
    if let Some(settled) = settled {
        push::deliver(&front, &desk, &whose, settled);
    }
    Ok(())
}

/// The task's owner may want it to stop, at whatever process.
async fn obey(mut signals: broadcast::Receiver<News>, leash: Leash) {
    loop {
        match signals.recv().await {
            Ok(News::Stop) => leash.cancel(),
            Ok(News::Event(_)) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

fn calling(whose: &Whose, wanted: Wanted) -> Calling {
    let Wanted { tool, arguments, dry_run } = wanted;
    let Whose { caller, session, chain } = whose.clone();
    Calling { caller, session, tool, arguments, dry_run, chain }
}

/// Makes the call. INVARIANT: not before the store has said that the task is at work: what nobody
/// can ask about or cancel is not begun.
async fn made(
    front: &Front,
    desk: &Desk,
    task: &Task,
    key: (&str, &str),
    (calling, leash): (Calling, Leash),
    accepted: Accepted,
) -> Result<(TaskState, Option<Message>), StateError> {
    let now = (front.moment(), front.corridor.clock().now());
    desk.change(key, TaskState::Working, None, now).await?;
    let Some(reply) = front.call(calling, leash).await else {
        let words = "The service is shutting down, and the call has no answer.";
        return Ok((TaskState::Failed, Some(say(task, vec![Part::text(words)]))));
    };
    desk.add(key, artifact(&reply, accepted), Piece::Whole, front.moment()).await?;
    Ok((state(&reply), told(&reply, task)))
}

fn state(reply: &Reply) -> TaskState {
    match (reply.verdict(), reply.error().map(|error| error.code)) {
        (_, None) => TaskState::Completed,
        (Verdict::Ask, Some(_)) if reply.ticket().is_some() => TaskState::InputRequired,
        // Said no, or there is nobody to ask: nothing is waited for.
        (Verdict::Ask, Some(_)) => TaskState::Rejected,
        (Verdict::Allow | Verdict::Deny, Some(ErrorCode::Cancelled)) => TaskState::Canceled,
        (Verdict::Allow | Verdict::Deny, Some(code)) => match code.family() {
            Family::Denied => TaskState::Rejected,
            Family::Ask => TaskState::InputRequired,
            Family::Invalid | Family::Busy | Family::Failed | Family::Internal => TaskState::Failed,
        },
    }
}

const RESULT: &str = "tool_result";

/// The ToolResult, and the same as text: a client may show either half to its model.
fn artifact(reply: &Reply, accepted: Accepted) -> Artifact {
    let mut parts = Vec::new();
    if accepted.data {
        parts.push(Part::data(wire::tool_result(reply)).with_media_type("application/json"));
    }
    if accepted.text {
        parts.push(Part::text(text(reply)).with_media_type("text/plain"));
    }
    Artifact {
        // One for a task: when a call that needed a person is made again, its result takes the place of the question.
        artifact_id: RESULT.to_owned(),
        name: Some(RESULT.to_owned()),
        description: None,
        parts,
        metadata: None,
        extensions: None,
    }
}

/// What stands beside a state that is not success.
fn told(reply: &Reply, task: &Task) -> Option<Message> {
    reply.error()?;
    let mut parts = vec![Part::text(text(reply))];
    if let Some(ticket) = reply.ticket() {
        parts.push(Part::text(
            "A person has to answer first. When it is approved, send any message to this task, and the same call is made.",
        ));
        parts.push(Part::data(json!({"ticket": {
            "id": ticket.id,
            "question": ticket.question.as_str(),
            "expires_at": rfc3339(ticket.expires_at),
        }})));
    }
    Some(say(task, parts))
}

pub(super) fn say(task: &Task, parts: Vec<Part>) -> Message {
    let mut message = Message::new(Role::Agent, parts);
    message.context_id = Some(task.context_id.clone());
    message.task_id = Some(task.id.clone());
    message
}

async fn play(
    desk: &Desk,
    task: &Task,
    key: (&str, &str),
    leash: &Leash,
    script: Script,
    now: impl Fn() -> Now,
) -> Result<(TaskState, Option<Message>), StateError> {
    for step in script.steps {
        match step {
            Step::Work => {
                desk.change(key, TaskState::Working, None, now()).await?;
            }
            Step::Add(part, piece) => {
                let artifact = Artifact {
                    artifact_id: "fixture".to_owned(),
                    name: None,
                    description: None,
                    parts: vec![part],
                    metadata: None,
                    extensions: None,
                };
                desk.add(key, artifact, piece, now().0).await?;
            }
            Step::Wait(time) => {
                let pulled = async {
                    while !leash.is_pulled() {
                        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    }
                };
                if tokio::time::timeout(time, pulled).await.is_ok() {
                    return Ok((TaskState::Canceled, None));
                }
            }
        }
    }
    Ok((script.end, script.words.map(|words| say(task, vec![Part::text(words)]))))
}
