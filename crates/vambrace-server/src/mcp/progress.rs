//! How far a long call has come, told in order and never behind its answer.

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::watch;
use vambrace_tools::ProgressSink;

/// The end that the work holds. Its threads are not the runtime's, and must not wait for a slow client: only the
/// newest step is kept.
pub(super) struct Steps(watch::Sender<Step>);

#[derive(Clone, Default)]
struct Step {
    done: u64,
    message: String,
}

impl ProgressSink for Steps {
    fn progress(&self, done: u64, what: &str) {
        self.0.send_if_modified(|step| {
            // Threads may come here in another order than they counted in; the protocol wants numbers that grow.
            let newer = done > step.done;
            if newer {
                *step = Step { done, message: format!("{done} {what}") };
            }
            newer
        });
    }
}

/// Tells the client until it is dropped, which is before the answer is sent.
pub(super) struct Telling(tokio::task::JoinHandle<()>);

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn tell(peer: Peer<RoleServer>, token: ProgressToken) -> (Steps, Telling) {
    let (sender, mut receiver) = watch::channel(Step::default());
    let telling = tokio::spawn(async move {
        while receiver.changed().await.is_ok() {
            let Step { done, message } = receiver.borrow_and_update().clone();
            let mut params = ProgressNotificationParam::new(token.clone(), done as f64);
            params.message = Some(message);
            // Best effort: the answer itself says how it ended.
            if peer.notify_progress(params).await.is_err() {
                break;
            }
        }
    });
    (Steps(sender), Telling(telling))
}
