//! A message that is too long to be read is still answered.
//!
//! The protocol library drops a line beyond its limit and says nothing, so a client would wait for ever. This reader
//! passes every byte on, and behind a line that was too long it puts a short request of its own with the same id, which
//! the handler answers with an error.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

/// The library's own limit for one line.
pub(super) const LONGEST: usize = 16 << 20;
/// The method of the request that stands in for one that was dropped.
pub(super) const TOO_LONG: &str = "vambrace/message_too_large";
/// How much of both ends of a line is kept to find its id.
const KEPT: usize = 256;
const READ: usize = 64 << 10;

pub(super) struct Answering<R> {
    inner: R,
    line: Line,
    incoming: Vec<u8>,
    /// Read, and not given yet.
    held: Vec<u8>,
    n_given: usize,
}

impl<R> Answering<R> {
    pub(super) fn new(inner: R) -> Answering<R> {
        Answering { inner, line: Line::default(), incoming: vec![0; READ], held: Vec::new(), n_given: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Answering<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        if this.n_given == this.held.len() {
            let mut incoming = ReadBuf::new(&mut this.incoming);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut incoming))?;
            this.held.clear();
            this.n_given = 0;
            this.line.pass(incoming.filled(), &mut this.held);
        }
        let rest = this.held.get(this.n_given..).unwrap_or_default();
        let (given, _) = rest.split_at(rest.len().min(buffer.remaining()));
        buffer.put_slice(given);
        this.n_given += given.len();
        Poll::Ready(Ok(()))
    }
}

/// What is known of the line that is passing by.
#[derive(Default)]
struct Line {
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Line {
    /// Copies the bytes, and puts a stand-in behind every line that was too long.
    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            out.extend_from_slice(piece);
            self.add(piece);
            if !piece.ends_with(b"\n") {
                continue;
            }
            let ended = std::mem::take(self);
            if ended.length > LONGEST
                && let Some(id) = ended.id()
            {
                let stand_in = json!({"jsonrpc": "2.0", "id": id, "method": TOO_LONG});
                out.extend_from_slice(format!("{stand_in}\n").as_bytes());
            }
        }
    }

    fn add(&mut self, piece: &[u8]) {
        self.length = self.length.saturating_add(piece.len());
        let room = KEPT.saturating_sub(self.head.len());
        self.head.extend(piece.iter().take(room));
        let last = piece.len().saturating_sub(KEPT);
        self.tail.extend(piece.iter().skip(last));
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
    }

    /// The id of the message itself, never one inside its arguments: it stands before the first nested value, or is
    /// the last member.
    fn id(&self) -> Option<Value> {
        id_in_front(&String::from_utf8_lossy(&self.head))
            .or_else(|| id_at_end(&String::from_utf8_lossy(&self.tail)))
    }
}

fn id_in_front(text: &str) -> Option<Value> {
    let mut rest = text.trim_start().strip_prefix('{')?;
    loop {
        let mut members = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let key = members.next()?.ok()?;
        let after_key = rest.get(members.byte_offset()..)?.trim_start().strip_prefix(':')?.trim_start();
        if after_key.starts_with(['{', '[']) {
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(after_key).into_iter::<Value>();
        let value = values.next()?.ok()?;
        if key == "id" {
            return is_id(&value).then_some(value);
        }
        rest = after_key.get(values.byte_offset()..)?.trim_start().strip_prefix(',')?.trim_start();
    }
}

fn id_at_end(text: &str) -> Option<Value> {
    let inside = text.trim_end().strip_suffix('}')?;
    let (_, value) = inside.rsplit_once("\"id\"")?;
    let value: Value = serde_json::from_str(value.trim_start().strip_prefix(':')?).ok()?;
    is_id(&value).then_some(value)
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[track_caller]
    fn id_of(message: &str, expected: Option<Value>) {
        let mut line = Line::default();
        line.add(message.as_bytes());
        assert_eq!(line.id(), expected, "{message}");
    }

    #[test]
    fn only_the_messages_own_id_is_found() {
        id_of(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":8}}"#, Some(json!(7)));
        id_of(r#"{ "id" : "a\"b", "method":"x"}"#, Some(json!("a\"b")));
        id_of(r#"{"method":"x","params":{"id":8},"jsonrpc":"2.0","id":9}"#, Some(json!(9)));
        id_of(r#"{"method":"x","params":{"arguments":{"id":8}}}"#, None);
        id_of(r#"{"method":"x","params":{"id":8}}"#, None);
        id_of(r#"{"id":null,"method":"x"}"#, None);
        id_of("not json", None);
        id_of("", None);
    }

    #[test]
    fn a_stand_in_follows_a_line_that_is_too_long_and_nothing_else() {
        let long = format!("{{\"id\":1,\"x\":\"{}\"}}\n", "a".repeat(LONGEST));
        let input = format!("{{\"id\":0}}\n{long}{{\"id\":2}}\n{long}{{\"id\":3}}\n");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut output = String::new();
        runtime.block_on(Answering::new(input.as_bytes()).read_to_string(&mut output)).unwrap();
        let stand_in = json!({"jsonrpc": "2.0", "id": 1, "method": TOO_LONG});
        let short: Vec<&str> = output.lines().filter(|line| line.len() < 1000).collect();
        let (first, second, third) = (r#"{"id":0}"#, r#"{"id":2}"#, r#"{"id":3}"#);
        assert_eq!(short, [first, &stand_in.to_string(), second, &stand_in.to_string(), third]);
    }
}
