//! A connection that counts what passes, and ends when nothing does.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::ledger::Meter;

/// Moving bytes either way keeps it alive.
pub(super) struct Metered<S> {
    stream: S,
    meter: Arc<Meter>,
    idle: Duration,
    moved_at: Instant,
    /// Set again only when it rings: bytes move far more often than that.
    alarm: Pin<Box<Sleep>>,
}

impl<S> Metered<S> {
    pub(super) fn new(stream: S, idle: Duration, meter: Arc<Meter>) -> Metered<S> {
        Metered { stream, meter, idle, moved_at: Instant::now(), alarm: Box::pin(sleep(idle)) }
    }

    pub(super) fn allow_idle(&mut self, idle: Duration) {
        self.idle = idle;
        self.moved_at = Instant::now();
    }

    /// Nothing moves now: how long has it been?
    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let deadline = self.moved_at + self.idle;
            if deadline <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(deadline);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(context, buffer) else {
            return this.wait(context);
        };
        let n_bytes = buffer.filled().len().saturating_sub(before);
        this.meter.received.fetch_add(n_bytes as u64, Ordering::Relaxed);
        this.moved_at = Instant::now();
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let Poll::Ready(written) = Pin::new(&mut this.stream).poll_write(context, bytes) else {
            return this.wait(context);
        };
        if let Ok(n_bytes) = written {
            this.meter.sent.fetch_add(n_bytes as u64, Ordering::Relaxed);
            this.moved_at = Instant::now();
        }
        Poll::Ready(written)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match Pin::new(&mut this.stream).poll_flush(context) {
            Poll::Ready(flushed) => Poll::Ready(flushed),
            Poll::Pending => this.wait(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match Pin::new(&mut this.stream).poll_shutdown(context) {
            Poll::Ready(shut) => Poll::Ready(shut),
            Poll::Pending => this.wait(context),
        }
    }
}

/// A connection of which the first bytes were read already.
pub(super) struct Prefixed<S> {
    prefix: io::Cursor<Vec<u8>>,
    stream: S,
}

impl<S> Prefixed<S> {
    pub(super) fn new(prefix: Vec<u8>, stream: S) -> Prefixed<S> {
        Prefixed { prefix: io::Cursor::new(prefix), stream }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.prefix.position() < this.prefix.get_ref().len() as u64 {
            return Pin::new(&mut this.prefix).poll_read(context, buffer);
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
