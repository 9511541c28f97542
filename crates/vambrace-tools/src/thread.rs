//! Where a call may hold the thread that it runs on. The runtime decides where calls run; this is
//! all that stages and tools need to know of it.

use std::future::poll_fn;
use std::task::Poll;

use tokio::runtime::{Handle, RuntimeFlavor};

tokio::task_local! {
    static OWN_TASK: ();
}

/// Runs what may hold its thread, as a task that nothing else shares.
pub async fn as_own_task<F: Future>(work: F) -> F::Output {
    OWN_TASK.scope((), work).await
}

/// Work that may take longer than about a millisecond without waiting for others: on disks, at
/// locks, in programs. Whoever began a call makes it a task of its own as soon as it is not over at
/// once, so nobody has to be woken for this.
pub async fn hold<T>(work: impl FnOnce() -> T) -> T {
    poll_fn(|_| if OWN_TASK.try_with(|()| ()).is_ok() { Poll::Ready(()) } else { Poll::Pending }).await;
    in_place(work)
}

/// For work that takes the processor and waits for nothing: not on a thread that others cannot
/// leave. Where they can, it goes on at once: moving them would take longer than such work.
pub async fn leave_shared() {
    let may_go_on = || makes_way() || OWN_TASK.try_with(|()| ()).is_ok();
    poll_fn(|_| if may_go_on() { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Only where it really may take long: moving other work away costs more than a line of the audit log.
pub fn in_place_if<T>(may_take_long: bool, work: impl FnOnce() -> T) -> T {
    if may_take_long { in_place(work) } else { work() }
}

/// The same where there is nothing to wait for: for what is no call.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    if makes_way() { tokio::task::block_in_place(work) } else { work() }
}

fn makes_way() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}
