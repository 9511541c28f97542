//! A body on its way through, piece by piece.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::task::AbortHandle;

use crate::credential::Cover;

/// Ends a task when it is dropped.
pub(super) struct Ends(pub(super) AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Data as it comes; trailers stay behind, because nobody looked at them.
pub(super) struct Relay {
    from: Incoming,
    cover: Option<Cover>,
    /// The connection that the body comes from lives as long as the body.
    _connection: Option<Ends>,
}

impl Relay {
    /// From a program.
    pub(super) fn up(from: Incoming) -> Relay {
        Relay { from, cover: None, _connection: None }
    }

    /// To a program.
    pub(super) fn down(from: Incoming, cover: Option<Cover>, connection: Ends) -> Relay {
        // An empty one is known to be empty, which a cover would hide.
        let cover = cover.filter(|_| !from.is_end_stream());
        Relay { from, cover, _connection: Some(connection) }
    }
}

impl Body for Relay {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        loop {
            let frame = ready!(Pin::new(&mut this.from).poll_frame(context));
            let data = match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    let rest = this.cover.take().map(|mut cover| cover.finish()).unwrap_or_default();
                    let rest = (!rest.is_empty()).then(|| Ok(Frame::data(Bytes::from(rest))));
                    return Poll::Ready(rest);
                }
            };
            let data = match &mut this.cover {
                Some(cover) => Bytes::from(cover.push(&data)),
                None => data,
            };
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // What is held back still has to come.
        self.cover.is_none() && self.from.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.cover {
            None => self.from.size_hint(),
            // Stars are as many as the bytes they stand for, and some bytes may wait here.
            Some(cover) => {
                let held = cover.n_held() as u64;
                let hint = self.from.size_hint();
                let mut hint_with_held = SizeHint::new();
                hint_with_held.set_lower(hint.lower() + held);
                if let Some(upper) = hint.upper() {
                    hint_with_held.set_upper(upper + held);
                }
                hint_with_held
            }
        }
    }
}
