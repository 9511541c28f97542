//! One connection's bytes, with the time that each phase of it may take. hyper has one clock for a head and
//! for the silence before it; these are two limits here, so the clocks are ours.

use std::cell::RefCell;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::FutureExt as _;
use futures_util::task::AtomicWaker;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing of a request has come since the last answer.
    Silent,
    /// A head has begun.
    Head,
    /// A request is being answered; its own limits hold.
    Serving,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) head: Duration,
    pub(super) write: Duration,
}

/// Shared by the bytes and the service of one connection.
#[derive(Debug)]
pub(super) struct Meter {
    phase: AtomicU8,
    ending: AtomicBool,
    /// Whether the last answer was given before its request was read to its end.
    unread: AtomicBool,
    began: Instant,
    /// In milliseconds since then: when it last became silent.
    silent_since: AtomicU64,
    /// Whether any byte has come.
    spoken: AtomicBool,
    /// Woken when a request has been answered.
    answered: AtomicWaker,
}

/// How long a connection may be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    /// Before its first byte. THREAT: P12, connections that cost nothing would hold every place.
    pub(super) first: Duration,
    pub(super) later: Duration,
}

impl Meter {
    pub(super) fn new() -> Meter {
        Meter {
            phase: AtomicU8::new(0),
            ending: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            began: Instant::now(),
            silent_since: AtomicU64::new(0),
            spoken: AtomicBool::new(false),
            answered: AtomicWaker::new(),
        }
    }

    /// Ends when the connection has been silent for so long. hyper does not read while it waits for the end
    /// of an answer, so this clock is not among those of the bytes.
    pub(super) async fn silent_for(&self, silence: Silence) {
        let mut wake = self.began + silence.first.min(silence.later);
        loop {
            sleep_until(wake).await;
            let has_spoken = self.spoken.load(Ordering::Acquire);
            let limit = if has_spoken { silence.later } else { silence.first.min(silence.later) };
            let since = self.began + Duration::from_millis(self.silent_since.load(Ordering::Acquire));
            wake = match self.phase() {
                Phase::Silent if since + limit <= Instant::now() => return,
                Phase::Silent => since + limit,
                Phase::Head | Phase::Serving => Instant::now() + limit,
            };
        }
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Silent,
            1 => Phase::Head,
            _ => Phase::Serving,
        }
    }

    fn enter(&self, phase: Phase) {
        let number = match phase {
            Phase::Silent => 0,
            Phase::Head => 1,
            Phase::Serving => 2,
        };
        if phase == Phase::Silent {
            let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.silent_since.store(since, Ordering::Release);
        }
        self.phase.store(number, Ordering::Release);
        if phase == Phase::Silent {
            self.answered.wake();
        }
    }

    /// A request begins; it ends when what is returned is dropped.
    pub(super) fn serving(self: &Arc<Self>) -> Serving {
        self.enter(Phase::Serving);
        Serving(Arc::clone(self))
    }

    /// The request is refused before all of it was read.
    pub(super) fn leaves_unread(&self) {
        self.unread.store(true, Ordering::Release);
    }

    /// From here on, silence ends the connection.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::Release);
    }
}

pub(super) struct Serving(Arc<Meter>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.enter(Phase::Silent);
    }
}

/// An answer's body, which holds the phase until it has left.
pub(super) struct Leaving {
    pub(super) body: Body,
    pub(super) _serving: Serving,
}

impl HttpBody for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(super) struct Timed<S> {
    stream: S,
    meter: Arc<Meter>,
    times: Times,
    /// Set when a head has begun and is not whole yet.
    heading: Option<Pin<Box<Sleep>>>,
    writing: Option<Pin<Box<Sleep>>>,
    /// Set when the peer has said its last word while a request is being answered.
    ended: Option<Pin<Box<Sleep>>>,
    /// Whether hyper was waiting for bytes when it was last here.
    reads: bool,
    /// Set while a request is being answered and hyper reads nothing.
    glance: Option<Pin<Box<Sleep>>>,
    /// Whether the peer had hung up at the last glance.
    is_leaving: bool,
    draining: Option<Draining>,
}

/// Reading on behind a refusal.
struct Draining {
    clock: Pin<Box<Sleep>>,
    left: usize,
}

/// Tells of the peer's end what reading would tell only behind all bytes that came before it.
pub(super) trait HangsUp {
    fn has_hung_up(&self) -> bool;
}

impl HangsUp for TcpStream {
    fn has_hung_up(&self) -> bool {
        // Ready for words out of band, for which nobody asked, or because the other side has closed; that stays known.
        self.ready(Interest::PRIORITY)
            .now_or_never()
            .is_some_and(|ready| ready.is_ok_and(Ready::is_read_closed))
    }
}

/// Copying an answer of at most so many bytes takes less time than telling the kernel about its pieces.
const LARGEST_COPIED: usize = 16 << 10;

thread_local! {
    /// Head and body of an answer that is being written. One for a thread: connections that wait need none.
    static JOINED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How long a call goes on whose caller may have gone.
const FAREWELL: Duration = Duration::from_secs(1);

/// LIMIT: of a refused request that is read and thrown away, so that its client, which may write all of it before it reads,
/// gets the answer. Closed with bytes unread, the connection would break, and the answer with it.
const MOST_DRAINED: usize = 64 << 20;
/// LIMIT: and for how long.
const DRAIN: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 16 << 10;
/// So many pieces, then others have their turn.
const MOST_PIECES: usize = 32;

impl<S> Timed<S> {
    pub(super) fn new(stream: S, meter: Arc<Meter>, times: Times) -> Timed<S> {
        Timed {
            stream,
            meter,
            times,
            heading: None,
            writing: None,
            ended: None,
            reads: false,
            glance: None,
            is_leaving: false,
            draining: None,
        }
    }

    /// A peer that takes nothing holds an answer for so long and no longer.
    fn bounded<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.writing = None;
            return written;
        }
        let limit = self.times.write;
        let clock = self.writing.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(clock.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> Timed<S> {
    /// Ends when the peer has closed its side, or will not in time.
    fn poll_drained(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let draining = self
            .draining
            .get_or_insert_with(|| Draining { clock: Box::pin(sleep(DRAIN)), left: MOST_DRAINED });
        let mut scratch = [MaybeUninit::uninit(); AT_ONCE];
        for _ in 0..MOST_PIECES {
            if draining.clock.as_mut().poll(context).is_ready() || self.meter.ending.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::uninit(&mut scratch);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let n_bytes = buffer.filled().len();
            let Some(left) = draining.left.checked_sub(n_bytes) else { return Poll::Ready(()) };
            draining.left = left;
            if read.is_err() || n_bytes == 0 {
                return Poll::Ready(());
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: HangsUp> Timed<S> {
    /// Whether the peer has gone, and was gone a moment ago. hyper does not read while bytes of a next request lie in its
    /// buffer; without this a call would go on for a client that is gone.
    fn has_left(&mut self, context: &mut Context<'_>) -> bool {
        if std::mem::take(&mut self.reads) || self.meter.phase() != Phase::Serving {
            (self.glance, self.is_leaving) = (None, false);
            return false;
        }
        loop {
            let clock = self.glance.get_or_insert_with(|| Box::pin(sleep(FAREWELL)));
            if clock.as_mut().poll(context).is_pending() {
                return false;
            }
            self.glance = None;
            // As with the end that is read: a client may be silent from now on, and gets what is ready in a moment.
            let was_leaving = std::mem::replace(&mut self.is_leaving, self.stream.has_hung_up());
            if was_leaving {
                return true;
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        // Only a read that waits is told when the peer goes. After bytes of a next request hyper
        // reads no more.
        self.reads = read.is_pending() || self.meter.phase() != Phase::Serving;
        if let Poll::Ready(read) = read {
            let has_ended =
                matches!(read, Ok(())) && buffer.filled().len() == before && buffer.remaining() > 0;
            if has_ended && self.meter.phase() == Phase::Serving {
                // Gone, or only silent from now on, which is a client's right: it gets what is ready in a moment.
                self.meter.answered.register(context.waker());
                let clock = self.ended.get_or_insert_with(|| Box::pin(sleep(FAREWELL)));
                ready!(clock.as_mut().poll(context));
            }
            if buffer.filled().len() > before && self.meter.phase() == Phase::Silent {
                self.meter.spoken.store(true, Ordering::Release);
                self.meter.enter(Phase::Head);
                self.heading = None;
            }
            return Poll::Ready(read);
        }
        let phase = self.meter.phase();
        if phase == Phase::Silent && self.meter.ending.load(Ordering::Acquire) {
            // As if the peer had closed: there is nothing to answer.
            return Poll::Ready(Ok(()));
        }
        if phase != Phase::Head {
            return Poll::Pending;
        }
        let limit = self.times.head;
        let clock = self.heading.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(clock.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + HangsUp + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(written, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.has_left(context) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.draining.is_none() {
            let ended = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.bounded(ended, context))?;
        }
        if self.meter.unread.load(Ordering::Acquire) {
            ready!(self.poll_drained(context));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let n_bytes: usize = bytes.iter().map(|piece| piece.len()).sum();
        let written = if n_bytes > LARGEST_COPIED {
            Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
        } else {
            JOINED.with_borrow_mut(|joined| {
                joined.clear();
                bytes.iter().for_each(|piece| joined.extend_from_slice(piece));
                Pin::new(&mut self.stream).poll_write(context, joined)
            })
        };
        self.bounded(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes at a time.
    struct Narrow {
        taken: Vec<u8>,
        most: usize,
    }

    impl AsyncRead for Narrow {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl HangsUp for Narrow {
        fn has_hung_up(&self) -> bool {
            false
        }
    }

    impl AsyncWrite for Narrow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let n_bytes = bytes.len().min(self.most);
            self.taken.extend_from_slice(&bytes[..n_bytes]);
            Poll::Ready(Ok(n_bytes))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let first = bytes.iter().find(|piece| !piece.is_empty()).map_or(&[][..], |piece| piece);
            self.poll_write(context, first)
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }
    }

    #[track_caller]
    fn check(head: usize, body: usize, most: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let times = Times { head: Duration::from_secs(1), write: Duration::from_secs(1) };
        let mut timed = Timed::new(Narrow { taken: Vec::new(), most }, Arc::new(Meter::new()), times);
        let (head, body) = (vec![b'h'; head], vec![b'b'; body]);
        let mut pieces = [io::IoSlice::new(&head), io::IoSlice::new(&body)];
        let mut rest = &mut pieces[..];
        let mut context = Context::from_waker(std::task::Waker::noop());
        while !rest.is_empty() && rest.iter().any(|piece| !piece.is_empty()) {
            let Poll::Ready(Ok(n_bytes)) = Pin::new(&mut timed).poll_write_vectored(&mut context, rest)
            else {
                panic!("not written");
            };
            io::IoSlice::advance_slices(&mut rest, n_bytes);
        }
        assert!(timed.stream.taken == [head.as_slice(), &body].concat());
    }

    #[test]
    fn an_answer_in_pieces_is_written_whole_and_in_order() {
        for most in [1, 7, 1000, usize::MAX] {
            check(3, 5, most);
            check(300, 0, most);
        }
        for most in [1000, 20_000, usize::MAX] {
            check(400, LARGEST_COPIED - 400, most);
            check(400, LARGEST_COPIED - 399, most);
            check(400, 100_000, most);
        }
    }
}
