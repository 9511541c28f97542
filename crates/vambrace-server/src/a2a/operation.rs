//! The operations on tasks and their addresses for news. Each starts from the caller that the request was admitted for.

use std::sync::Arc;
use std::time::Duration;

use ::a2a::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, ListTasksRequest,
    ListTasksResponse, Task, TaskPushNotificationConfig, TaskState,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use vambrace_state::{Push, TaskRecord};
use vambrace_types::{Caller, Chain};

use super::message::history_length;
use super::push::{self, Whose};
use super::rpc::{Fault, Revision, Wrong};
use super::store::{Desk, Stopping};
use super::work::session;
use crate::http::Front;

/// Who asks, of whom.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) front: Arc<Front>,
    pub(super) desk: Arc<Desk>,
    pub(super) caller: Caller,
    pub(super) chain: Chain,
    pub(super) revision: Revision,
}

/// How long a call that was told to stop may take until the answer says that it still works.
const STOPPING: Duration = Duration::from_secs(10);
const MOST_ON_A_PAGE: i32 = 100;
const USUAL_PAGE: i32 = 50;

pub(super) fn params<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params).map_err(|error| {
        let why: String = error.to_string().chars().take(200).collect();
        Fault::new(Wrong::Params, format!("The parameters do not fit: {why}."))
    })
}

/// The newest messages.
pub(super) fn with_history(mut task: Task, length: Option<usize>) -> Task {
    match (length, &mut task.history) {
        (Some(0), history) => *history = None,
        (Some(length), Some(history)) => {
            let n_older = history.len().saturating_sub(length);
            history.drain(..n_older);
        }
        (Some(_) | None, _) => {}
    }
    task
}

impl Visit {
    pub(super) fn owner(&self) -> String {
        self.caller.owner()
    }

    pub(super) async fn record(&self, id: &str) -> Result<Arc<TaskRecord>, Fault> {
        self.desk.view(&self.owner(), id, self.front.moment()).await?.ok_or_else(Fault::no_task)
    }

    pub(super) async fn task(&self, id: &str) -> Result<Task, Fault> {
        Ok(self.record(id).await?.task.clone())
    }

    pub(super) async fn get(&self, value: Value) -> Result<Value, Fault> {
        let request: GetTaskRequest = params(value)?;
        let length = history_length(request.history_length)?;
        Ok(json!(with_history(self.task(&request.id).await?, length)))
    }

    pub(super) async fn list(&self, value: Value) -> Result<Value, Fault> {
        let request: ListTasksRequest = params(value)?;
        let wrong = |message: &str| Fault::new(Wrong::Params, message);
        let page_size = request.page_size.unwrap_or(USUAL_PAGE);
        let n_page = usize::try_from(page_size)
            .ok()
            .filter(|_| (1..=MOST_ON_A_PAGE).contains(&page_size))
            .ok_or_else(|| wrong("`pageSize` must be 1 to 100."))?;
        let length = history_length(request.history_length)?.unwrap_or(0);
        let token = request.page_token.as_deref().filter(|token| !token.is_empty());
        let before: Option<u64> = token
            .map(|token| token.parse().map_err(|_| wrong("`pageToken` is none of ours.")))
            .transpose()?;
        let state = request.status.filter(|state| *state != TaskState::Unspecified);
        let context = request.context_id.filter(|context| !context.is_empty());
        let fits = |task: &Task| {
            state.as_ref().is_none_or(|state| *state == task.status.state)
                && context.as_ref().is_none_or(|context| *context == task.context_id)
                && request.status_timestamp_after.is_none_or(|after| task.status.timestamp >= Some(after))
        };
        let mut found = self.desk.all_of(&self.owner(), self.front.moment()).await?;
        found.retain(|(_, record)| fits(&record.task));
        let total_size = i32::try_from(found.len()).unwrap_or(i32::MAX);
        found.retain(|(change, _)| before.is_none_or(|before| *change < before));
        let there_is_more = found.len() > n_page;
        found.truncate(n_page);
        let next_page_token = match found.last() {
            Some((change, _)) if there_is_more => change.to_string(),
            Some(_) | None => String::new(),
        };
        let told = |(_, record): (u64, Arc<TaskRecord>)| {
            let mut task = record.task.clone();
            if request.include_artifacts != Some(true) {
                task.artifacts = None;
            }
            with_history(task, Some(length))
        };
        let tasks = found.into_iter().map(told).collect();
        Ok(json!(ListTasksResponse { tasks, next_page_token, page_size, total_size }))
    }

    /// Pulls the leash and waits until the call has let go. A call that was done before it noticed is done.
    pub(super) async fn cancel(&self, value: Value) -> Result<Value, Fault> {
        let request: CancelTaskRequest = params(value)?;
        let now = (self.front.moment(), self.front.corridor.clock().now());
        let stopping = self.desk.cancel((&self.owner(), &request.id), now).await?;
        let over = || {
            Fault::new(Wrong::NotCancelable, "Task cannot be canceled: it is over.")
                .suggestion("GetTask shows how it ended.")
        };
        match stopping.ok_or_else(Fault::no_task)? {
            Stopping::Over => return Err(over()),
            Stopping::Done(settled) => {
                let whose = self.whose(&settled.0.task.context_id);
                push::deliver(&self.front, &self.desk, &whose, settled);
            }
            Stopping::Told(None) => {}
            Stopping::Told(Some(mut news)) => {
                let ended =
                    async { while !matches!(news.recv().await, Err(broadcast::error::RecvError::Closed)) {} };
                let _ = tokio::time::timeout(STOPPING, ended).await;
            }
        }
        let task = self.task(&request.id).await?;
        match task.status.state {
            TaskState::Completed | TaskState::Failed | TaskState::Rejected => Err(over()),
            TaskState::Canceled
            | TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired
            | TaskState::Unspecified => Ok(json!(with_history(task, None))),
        }
    }

    /// An address that news may go to.
    pub(super) async fn push(
        &self,
        config: TaskPushNotificationConfig,
        task_id: &str,
        context_id: &str,
    ) -> Result<Push, Fault> {
        let push = push::read(config, task_id, self.revision)?;
        push::check(&self.front, &self.whose(context_id), &push).await?;
        Ok(push)
    }

    fn whose(&self, context_id: &str) -> Whose {
        let session = session(&self.owner(), context_id);
        Whose { caller: self.caller.clone(), session, chain: self.chain.clone() }
    }

    pub(super) async fn set_push(&self, value: Value) -> Result<Value, Fault> {
        let config: TaskPushNotificationConfig = params(value)?;
        let task = self.task(&config.task_id).await?;
        let push = self.push(config, &task.id, &task.context_id).await?;
        let shown = push::shown(&push, &task.id);
        match self.desk.add_push((&self.owner(), &task.id), push, self.front.moment()).await? {
            Some(true) => Ok(json!(shown)),
            Some(false) => Err(Fault::new(Wrong::Busy, "A task tells at most 8 addresses.")),
            None => Err(Fault::no_task()),
        }
    }

    pub(super) async fn get_push(&self, value: Value) -> Result<Value, Fault> {
        let request: WhichPush = params(value)?;
        let record = self.record(&request.task_id).await?;
        let pushes = &record.pushes;
        // 0.3 may leave the id out; 1.0 may not.
        let found = match (&request.id, self.revision) {
            (Some(id), _) => pushes.iter().find(|push| push.id == *id),
            (None, Revision::V03) => pushes.first(),
            (None, Revision::V1) => return Err(Fault::new(Wrong::Params, "`id` is missing.")),
        };
        let found = found.ok_or_else(|| {
            Fault::new(Wrong::NoTask, "The task has no such address for news.")
                .suggestion("ListTaskPushNotificationConfigs shows those it has.")
        })?;
        Ok(json!(push::shown(found, &request.task_id)))
    }

    pub(super) async fn list_push(&self, value: Value) -> Result<Value, Fault> {
        let request: ListTaskPushNotificationConfigsRequest = params(value)?;
        let record = self.record(&request.task_id).await?;
        let configs = record.pushes.iter().map(|push| push::shown(push, &request.task_id)).collect();
        Ok(json!(ListTaskPushNotificationConfigsResponse { configs, next_page_token: None }))
    }

    /// What is not there is gone already.
    pub(super) async fn delete_push(&self, value: Value) -> Result<Value, Fault> {
        let request: DeleteTaskPushNotificationConfigRequest = params(value)?;
        let (owner, now) = (self.owner(), self.front.moment());
        let deleted = self.desk.delete_push((&owner, &request.task_id), &request.id, now).await?;
        deleted.map(|()| json!({})).ok_or_else(Fault::no_task)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WhichPush {
    task_id: String,
    id: Option<String>,
}
