//! Messages in: a task is begun or goes on, and the answer waits for it, comes at once, or is a stream.

use std::sync::Arc;
use std::time::Duration;

use ::a2a::{
    Message, Part, Role, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    SubscribeToTaskRequest, Task, TaskState, new_context_id, new_task_id,
};
use futures_util::Stream;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use vambrace_runtime::Leash;
use vambrace_state::{Followed, Full, News, StateError, is_live};
use vambrace_types::{Caller, ErrorCode};

use super::conformance::{Fixture, Script, fixture};
use super::message::{Wish, accepted, history_length, wish};
use super::operation::{Visit, params, with_history};
use super::rpc::{Fault, Wrong};
use super::store::{Begun, Unable, status};
use super::work::{Job, Order, work};
use crate::http::{Conformance, Front, Gone, is_stopped};

type Work = JoinHandle<Result<(), StateError>>;

/// What became of a message.
enum Taken {
    /// An answer without a task.
    Answer(Box<Message>),
    Task {
        task: Box<Task>,
        news: broadcast::Receiver<News>,
        work: Work,
        leash: Leash,
        history: Option<usize>,
    },
}

impl Visit {
    async fn take(&self, request: SendMessageRequest) -> Result<(Taken, bool), Fault> {
        let accepted = accepted(&request)?;
        let SendMessageRequest { mut message, configuration, .. } = request;
        // Empty means absent to clients that are made from protocol buffers.
        message.task_id = message.task_id.filter(|id| !id.is_empty());
        message.context_id = message.context_id.filter(|id| !id.is_empty());
        let wish = wish(&message)?;
        let configuration = configuration.unwrap_or(SendMessageConfiguration {
            accepted_output_modes: None,
            task_push_notification_config: None,
            history_length: None,
            return_immediately: None,
        });
        let history = history_length(configuration.history_length)?;
        let at_once = configuration.return_immediately == Some(true);
        let (owner, now) = (self.owner(), (self.front.moment(), self.front.corridor.clock().now()));

        let script = match (&wish, self.front.settings.conformance) {
            (Wish::Words, Conformance::A2a) => Some(fixture(&message.message_id)),
            (Wish::Words | Wish::Call(_), _) => None,
        };
        let wanted = match wish {
            Wish::Call(wanted) => Some(wanted),
            Wish::Words => None,
        };
        let begun = if let Some(id) = &message.task_id {
            let known = self.record(id).await?;
            let push = match configuration.task_push_notification_config {
                Some(config) => Some(self.push(config, id, &known.task.context_id).await?),
                None => None,
            };
            let id = id.clone();
            let begun = self.desk.go_on(&owner, message, wanted, now).await?.ok_or_else(Fault::no_task)?;
            let begun = begun.map_err(unable)?;
            if let Some(push) = push {
                self.desk.add_push((&owner, &id), push, now.0).await?;
            }
            begun
        } else {
            let context_id = message.context_id.clone().unwrap_or_else(new_context_id);
            match (&wanted, &script) {
                (None, None) => return Ok((Taken::Answer(Box::new(no_model(context_id))), at_once)),
                (_, Some(Fixture::Message(words))) => {
                    let answer = agent_says(context_id, vec![Part::text(*words)]);
                    return Ok((Taken::Answer(Box::new(answer)), at_once));
                }
                (Some(_), _) | (None, Some(Fixture::Task(_))) => {}
            }
            let id = new_task_id();
            let mut pushes = Vec::new();
            if let Some(config) = configuration.task_push_notification_config {
                pushes.push(self.push(config, &id, &context_id).await?);
            }
            message.context_id = Some(context_id.clone());
            message.task_id = Some(id.clone());
            let task = Task {
                id,
                context_id,
                status: status(TaskState::Submitted, None, now.1),
                artifacts: None,
                history: Some(vec![message]),
                metadata: None,
            };
            self.desk.open(&owner, task, wanted, pushes, now.0).await?.map_err(full)?
        };
        // What there was before its work begins is for the work alone: it may be told to stop.
        let Begun { record, news: signals } = begun;
        let news = signals.resubscribe();
        let (task, leash) = (record.task.clone(), Leash::default());
        let job = match (record.wanted.clone(), script) {
            (_, Some(Fixture::Task(script))) => Job::Script(script),
            (Some(wanted), _) => Job::Call(wanted),
            (None, Some(Fixture::Message(words))) => Job::Script(Script::end(TaskState::Completed, words)),
            // Every task that is not the test kit's has its call.
            (None, None) => Job::Script(Script::end(TaskState::Failed, "The task has no call.")),
        };
        let order = Order {
            task: task.clone(),
            caller: self.caller.clone(),
            chain: self.chain.clone(),
            job,
            accepted,
            leash: leash.clone(),
            signals,
        };
        // On its own: a stream that ends does not end its task, because it may be subscribed to again; CancelTask does.
        let work = self.front.works.spawn(work(self.front.clone(), self.desk.clone(), order));
        Ok((Taken::Task { task: Box::new(task), news, work, leash, history }, at_once))
    }

    pub(super) async fn send(&self, value: Value) -> Result<Value, Fault> {
        match self.take(params(value)?).await? {
            (Taken::Answer(message), _) => Ok(json!({"message": message})),
            (Taken::Task { task, history, .. }, true) => Ok(json!({"task": with_history(*task, history)})),
            (Taken::Task { task, work, leash, history, .. }, false) => {
                // Who waits for the answer and hangs up has gone, unless the answer is to be told elsewhere as well.
                let is_told = !self.record(&task.id).await?.pushes.is_empty();
                let gone = Gone((!is_told).then_some(leash));
                let worked = work.await;
                gone.stay();
                if let Ok(Err(error)) = worked {
                    return Err(error.into());
                }
                Ok(json!({"task": with_history(self.task(&task.id).await?, history)}))
            }
        }
    }

    /// The task as it is, then what happens to it, until it stops.
    pub(super) async fn stream(&self, value: Value) -> Result<impl Stream<Item = Value> + use<>, Fault> {
        let (first, rest) = match self.take(params(value)?).await?.0 {
            Taken::Answer(message) => (json!({"message": message}), None),
            Taken::Task { task, news, work, history, .. } => {
                let work = Some(work);
                let following = Following { news, until: Until::Stopped, is_live: true, work };
                (json!({"task": with_history(*task, history)}), Some(following))
            }
        };
        Ok(follow(first, rest, self.watch()))
    }

    fn watch(&self) -> Watch {
        Watch { front: Arc::clone(&self.front), caller: self.caller.clone() }
    }

    /// The same for a task that is there already. One that waits for a person is followed on.
    pub(super) async fn subscribe(&self, value: Value) -> Result<impl Stream<Item = Value> + use<>, Fault> {
        let request: SubscribeToTaskRequest = params(value)?;
        let found = self.desk.follow(&self.owner(), &request.id, self.front.moment()).await?;
        let Followed { record, news } = found.ok_or_else(Fault::no_task)?;
        let news = news.ok_or_else(|| {
            Fault::new(Wrong::Unsupported, "The task is over, so nothing more happens to it.")
                .suggestion("GetTask shows how it ended.")
        })?;
        let is_live = record.is_live();
        let following = Following { news, until: Until::Over, is_live, work: None };
        Ok(follow(json!({"task": record.task}), Some(following), self.watch()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Over, or waiting for somebody.
    Stopped,
    Over,
}

/// LIMIT: a stream ends after this long even if its task goes on; a client may subscribe again.
const LONGEST_STREAM: Duration = Duration::from_secs(900);

/// What ends a stream beside its task.
struct Watch {
    front: Arc<Front>,
    caller: Caller,
}

struct Following {
    news: broadcast::Receiver<News>,
    until: Until,
    /// Whether its task is at work. One that waits for somebody does not keep the server from ending.
    is_live: bool,
    /// The work that this stream began.
    work: Option<Work>,
}

fn follow(first: Value, rest: Option<Following>, watch: Watch) -> impl Stream<Item = Value> + use<> {
    let deadline = tokio::time::Instant::now() + LONGEST_STREAM;
    stream::unfold((Some(first), rest, watch), move |(first, rest, watch)| async move {
        if let Some(first) = first {
            return Some((first, (None, rest, watch)));
        }
        let Following { mut news, until, mut is_live, mut work } = rest?;
        loop {
            let received = tokio::select! {
                biased;
                received = tokio::time::timeout_at(deadline, news.recv()) => received.ok()?,
                () = watch.front.ending.cancelled(), if !is_live => return None,
                () = lost(&mut work) => return None,
            };
            match received {
                // THREAT: P12, a stream that was opened before the stop shows nothing more.
                Ok(_) if is_stopped(&watch.front.corridor, &watch.caller).unwrap_or(true) => return None,
                Ok(News::Stop) => {}
                Ok(News::Event(event)) => {
                    let state = match &*event {
                        StreamResponse::StatusUpdate(update) => Some(&update.status.state),
                        StreamResponse::Task(_)
                        | StreamResponse::Message(_)
                        | StreamResponse::ArtifactUpdate(_) => None,
                    };
                    is_live = state.map_or(is_live, self::is_live);
                    let ends =
                        state.is_some_and(TaskState::is_terminal) || (until == Until::Stopped && !is_live);
                    let rest = (!ends).then_some(Following { news, until, is_live, work });
                    return Some((json!(&*event), (None, rest, watch)));
                }
                // What was missed may have been its rest.
                Err(broadcast::error::RecvError::Lagged(_)) => is_live = false,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    })
}

/// When the work has ended and could not say so: no news will come of it.
async fn lost(work: &mut Option<Work>) {
    if let Some(working) = work {
        let worked = working.await;
        *work = None;
        if let Ok(Err(_)) = worked {
            return;
        }
    }
    std::future::pending().await
}

fn full(why: Full) -> Fault {
    match why {
        Full::Number => Fault::new(Wrong::Busy, "You have as many tasks at work as you may have.")
            .suggestion("Wait for one of them, or cancel it."),
        Full::Bytes => Fault::new(Wrong::Busy, "Tasks at work hold as many bytes as they may.")
            .suggestion("Wait for one of them, cancel it, or send less at once."),
    }
}

fn unable(why: Unable) -> Fault {
    match why {
        Unable::Full => full(Full::Bytes),
        Unable::OtherContext => Fault::new(Wrong::Params, "`contextId` is not the one of this task.")
            .suggestion("Leave it out, or send the task's own."),
        Unable::Over => Fault::new(Wrong::Unsupported, "The task is over and takes no further message.")
            .suggestion("Send the message without `taskId`; the context goes on."),
        Unable::Working => Fault::new(Wrong::Unsupported, "The task is at work and takes no message now.")
            .suggestion("Wait for it, or cancel it."),
        Unable::TooOften => Fault::new(Wrong::Unsupported, "The task was asked about too often.")
            .suggestion("Send the call in a new message, without `taskId`."),
    }
}

fn agent_says(context_id: String, parts: Vec<Part>) -> Message {
    let mut message = Message::new(Role::Agent, parts);
    message.context_id = Some(context_id);
    message
}

fn no_model(context_id: String) -> Message {
    let text = "No language model is configured, so plain text cannot be answered.";
    let next = "Send a data part {\"tool\", \"arguments\"}; GetExtendedAgentCard shows the tools.";
    let error = json!({"code": ErrorCode::NoModel.as_str(), "message": text, "suggestion": next});
    agent_says(context_id, vec![Part::text(format!("{text} {next}")), Part::data(json!({"error": error}))])
}
