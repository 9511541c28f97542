//! Short calls: walked where they came in, and written down together with others that come at the same time.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, yield_now};

use crate::corridor::Walking;
use crate::stage::Unsent;
use crate::{Corridor, Leash, Reply};

/// How often a short call lets others go first: before its intent is written, and before its answer leaves.
pub const BRIEF_TURNS: usize = 2;

/// A brief call is over when it was polled twice: once up to its intent, which is written with those of others, and once
/// to its end, after which its answer waits for others. A task for it would cost more than its work; should it have to wait after all, or should its caller go,
/// it becomes one like the others.
pub(crate) async fn call(
    corridor: &Arc<Corridor>,
    walk: Walking,
    owner: String,
    leash: Leash,
) -> Option<Reply> {
    let mut brief = Brief { walk: Some((walk, owner, leash)), corridor };
    for _ in 0..BRIEF_TURNS {
        // A panic inside a call is caught by the walk.
        let polled = poll_fn(|context| Poll::Ready(catch_unwind(AssertUnwindSafe(|| brief.poll(context)))));
        match polled.await {
            Ok(Poll::Ready(unsent)) => {
                // Whatever else has come is worked on first: the outcomes of all are then written together, and their
                // answers leave together. Each alone would wake its reader, who takes the processor from those who
                // are still at work. A call that is alone waits for nobody.
                let waiting = Waiting { unsent, corridor };
                yield_now().await;
                return waiting.recorded();
            }
            Ok(Poll::Pending) => yield_now().await,
            Err(_) => return None,
        }
    }
    brief.spawn()?.await.ok()
}

/// A short call on its way to its end. Should its caller go meanwhile, it is walked to its end all the same.
struct Brief<'c> {
    walk: Option<(Walking, String, Leash)>,
    corridor: &'c Arc<Corridor>,
}

impl Brief<'_> {
    /// What it will be answered; nobody else holds the walk then, nor after it fell over.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Unsent>> {
        let Some((mut walk, owner, leash)) = self.walk.take() else { return Poll::Ready(None) };
        match walk.as_mut().poll(context) {
            Poll::Ready(unsent) => Poll::Ready(Some(unsent)),
            Poll::Pending => {
                self.walk = Some((walk, owner, leash));
                Poll::Pending
            }
        }
    }

    fn spawn(&mut self) -> Option<JoinHandle<Reply>> {
        let (walk, owner, leash) = self.walk.take()?;
        // Without a runtime nothing goes on, as nothing does when the process is killed.
        let has_runtime = self.corridor.has_home() || Handle::try_current().is_ok();
        has_runtime.then(|| self.corridor.spawned(walk, owner, leash))
    }
}

impl Drop for Brief<'_> {
    fn drop(&mut self) {
        let _goes_on = self.spawn();
    }
}

/// A short call that lets others go first. Should its caller go meanwhile, its outcome is written all the same.
struct Waiting<'c> {
    unsent: Option<Unsent>,
    corridor: &'c Corridor,
}

impl Waiting<'_> {
    fn recorded(mut self) -> Option<Reply> {
        self.write()
    }

    fn write(&mut self) -> Option<Reply> {
        let unsent = self.unsent.take()?;
        catch_unwind(AssertUnwindSafe(|| unsent.recorded(self.corridor))).ok()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.write();
    }
}
