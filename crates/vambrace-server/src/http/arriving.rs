//! A request's body on its way in: so many bytes, within so much time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// What became of a body. Whoever reads it is told that it ended too early; why is told here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nobody has read it to its end.
    Unread,
    Whole,
    TooLarge,
    TooSlow,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<AtomicU8>);

impl Watch {
    pub(super) fn fate(&self) -> Fate {
        match self.0.load(Ordering::Acquire) {
            0 => Fate::Unread,
            1 => Fate::Whole,
            2 => Fate::TooLarge,
            _ => Fate::TooSlow,
        }
    }

    fn note(&self, fate: Fate) {
        let number = match fate {
            Fate::Unread => 0,
            Fate::Whole => 1,
            Fate::TooLarge => 2,
            Fate::TooSlow => 3,
        };
        self.0.store(number, Ordering::Release);
    }
}

pub(super) struct Arriving<B> {
    body: B,
    left: usize,
    time: Duration,
    /// Set when it first has to be waited for.
    clock: Option<Pin<Box<Sleep>>>,
    watch: Watch,
}

impl<B> Arriving<B> {
    pub(super) fn new(body: B, most: usize, time: Duration, watch: Watch) -> Arriving<B> {
        Arriving { body, left: most, time, clock: None, watch }
    }
}

impl<B> HttpBody for Arriving<B>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let n_bytes = frame.data_ref().map_or(0, Bytes::len);
                let Some(left) = this.left.checked_sub(n_bytes) else {
                    this.watch.note(Fate::TooLarge);
                    return Poll::Ready(Some(Err("the body is too large".into())));
                };
                this.left = left;
                if this.body.is_end_stream() {
                    this.watch.note(Fate::Whole);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => {
                this.watch.note(Fate::Whole);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let clock = this.clock.get_or_insert_with(|| Box::pin(sleep(this.time)));
                std::task::ready!(clock.as_mut().poll(context));
                this.watch.note(Fate::TooSlow);
                Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
