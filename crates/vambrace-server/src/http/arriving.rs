//! A request's body on its way in: so many bytes, within so much time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use bytes::BytesMut;
use http_body_util::BodyExt as _;
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

/// All of a body. Most come in one piece, which is not copied then. What bounds it is around it already.
pub(crate) async fn whole(mut body: Body) -> Result<Bytes, axum::Error> {
    let mut first = Bytes::new();
    while let Some(frame) = body.frame().await {
        // What is no data are trailers, which nobody asked for.
        let Ok(data) = frame?.into_data() else { continue };
        if body.is_end_stream() && first.is_empty() {
            return Ok(data);
        }
        if first.is_empty() {
            first = data;
            continue;
        }
        let mut all = BytesMut::from(first);
        all.extend_from_slice(&data);
        all.extend_from_slice(&body.collect().await?.to_bytes());
        return Ok(all.freeze());
    }
    Ok(first)
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

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http::HeaderMap;
    use http_body_util::StreamBody;

    use super::*;

    #[track_caller]
    fn check(frames: Vec<Result<Frame<Bytes>, &'static str>>, expected: Result<&'static str, ()>) {
        let body = Body::new(StreamBody::new(stream::iter(frames)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(whole(body)).map_err(|_| ());
        assert_eq!(read, expected.map(|text| Bytes::from_static(text.as_bytes())));
    }

    #[test]
    fn a_body_is_whole_in_however_many_pieces_it_came() {
        let data = |text: &'static str| Ok(Frame::data(Bytes::from_static(text.as_bytes())));
        let trailers = || Ok(Frame::trailers(HeaderMap::new()));
        check(vec![], Ok(""));
        check(vec![data("a")], Ok("a"));
        check(vec![data(""), data("a")], Ok("a"));
        check(vec![data("ab"), data("c")], Ok("abc"));
        check(vec![data("ab"), data(""), data("c"), data("d"), trailers()], Ok("abcd"));
        check(vec![trailers()], Ok(""));
        check(vec![Err("broken off")], Err(()));
        check(vec![data("a"), Err("broken off")], Err(()));
        check(vec![data("a"), data("b"), Err("broken off")], Err(()));
    }

    #[test]
    fn one_piece_is_not_copied() {
        let piece = Bytes::from(vec![b'x'; 100]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(whole(Body::from(piece.clone()))).unwrap();
        assert_eq!(read.as_ptr(), piece.as_ptr());
    }
}
