//! Where and when walks run. A walk begins where its call came in; one that is not over at once
//! becomes a task of its own, which ends whether or not its caller is still there. Nothing else in
//! this crate knows of threads.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::task::TaskTracker;
use vambrace_tools::thread::as_own_task;

use crate::Reply;

/// A walk that needs nobody to hold its corridor.
pub(crate) type Walking = Pin<Box<dyn Future<Output = Reply> + Send>>;

#[derive(Debug, Default)]
pub(crate) struct Executor {
    tasks: TaskTracker,
    /// Unset: where they were called.
    home: OnceLock<Handle>,
}

impl Executor {
    /// From now on, walks that are not over at once are tasks of this runtime, whose threads can
    /// make way for each other; whoever calls need not be able to. Once and for good: the runtime
    /// has to outlive all calls.
    pub(crate) fn live_on(&self, runtime: Handle) {
        // INVARIANT: what goes there to hold a thread can do so.
        if runtime.runtime_flavor() == RuntimeFlavor::MultiThread {
            let _ = self.home.set(runtime);
        }
    }

    pub(crate) fn runtime(&self) -> Handle {
        self.home.get().cloned().unwrap_or_else(Handle::current)
    }

    /// THREAT: P03, a caller that goes away does not take the outcome line along: until its first
    /// rest a walk cannot be dropped, and then it is a task. `meanwhile` makes what lives as long
    /// as that task.
    ///
    /// `None` means that the runtime itself is going down.
    pub(crate) async fn run<G: Send + 'static>(
        &self,
        mut walk: Walking,
        meanwhile: impl FnOnce() -> G,
    ) -> Option<Reply> {
        let counted = self.tasks.token();
        // A walk catches what it falls over; what its last words fall over is caught here.
        let mut begin =
            |context: &mut Context<'_>| catch_unwind(AssertUnwindSafe(|| walk.as_mut().poll(context)));
        match poll_fn(|context| Poll::Ready(begin(context))).await {
            Ok(Poll::Ready(reply)) => return Some(reply),
            Ok(Poll::Pending) => {}
            Err(_) => return None,
        }
        let meanwhile = meanwhile();
        let task = as_own_task(async move {
            let _lives = (meanwhile, counted);
            walk.await
        });
        self.runtime().spawn(task).await.ok()
    }

    /// Waits for the walks under way.
    pub(crate) async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
