//! A task at work: one call through the corridor, and how its reply looks as a task.

use std::sync::Arc;

use ::a2a::{Artifact, Message, Part, Role, Task, TaskState};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use vambrace_audit::rfc3339;
use vambrace_runtime::{Leash, Reply, Verdict};
use vambrace_types::{Caller, Chain, ErrorCode, Family, SessionId};

use super::conformance::{Script, Step};
use super::message::{Accepted, Wanted};
use super::push::{self, Whose};
use super::store::{Desk, Piece};
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

pub(super) async fn work(front: Arc<Front>, desk: Arc<Desk>, order: Order) {
    let Order { task, caller, chain, job, accepted, leash } = order;
    let session = session(&caller.owner(), &task.context_id);
    let now = || (front.moment(), front.corridor.clock().now());
    let (state, message) = match job {
        Job::Call(wanted) => {
            desk.change(&task.id, TaskState::Working, None, now());
            let Wanted { tool, arguments, dry_run } = wanted;
            let (caller, session, chain) = (caller.clone(), session.clone(), chain.clone());
            let calling = Calling { caller, session, tool, arguments, dry_run, chain };
            match front.call(calling, leash).await {
                Some(reply) => {
                    desk.add(&task.id, artifact(&reply, accepted), Piece::Whole);
                    (state(&reply), told(&reply, &task))
                }
                None => {
                    let words = "The service is shutting down, and the call has no answer.";
                    (TaskState::Failed, Some(say(&task, vec![Part::text(words)])))
                }
            }
        }
        Job::Script(script) => play(&desk, &task, &leash, script, now).await,
    };
    if let Some(settled) = desk.change(&task.id, state, message, now()) {
        push::deliver(&front, &desk, &Whose { caller, session, chain }, settled);
    }
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
    leash: &Leash,
    script: Script,
    now: impl Fn() -> (std::time::Duration, vambrace_types::Timestamp),
) -> (TaskState, Option<Message>) {
    for step in script.steps {
        match step {
            Step::Work => {
                desk.change(&task.id, TaskState::Working, None, now());
            }
            Step::Add(part, piece) => desk.add(
                &task.id,
                Artifact {
                    artifact_id: "fixture".to_owned(),
                    name: None,
                    description: None,
                    parts: vec![part],
                    metadata: None,
                    extensions: None,
                },
                piece,
            ),
            Step::Wait(time) => {
                let pulled = async {
                    while !leash.is_pulled() {
                        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    }
                };
                if tokio::time::timeout(time, pulled).await.is_ok() {
                    return (TaskState::Canceled, None);
                }
            }
        }
    }
    (script.end, script.words.map(|words| say(task, vec![Part::text(words)])))
}
