//! Standard input and output, line by line, as a transport of the protocol library.
//!
//! The library's own passes over what it cannot read, so that a client would wait for ever, and gives what it reads to a
//! reader that obeys names. Here every line is checked first, and whoever sent one that is no message is told so, under
//! its id where that can be found.

use std::io;
use std::sync::Arc;

use bytes::{BufMut as _, BytesMut};
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use vambrace_json::{Fault, Limits};
use vambrace_types::ErrorCode;

use crate::mcp::http::told_of;

/// Of one line, with its end.
const LONGEST: usize = 16 << 20;
/// How much of both ends of a longer line is kept to find its id.
const KEPT: usize = 256;
/// Of an id that is found in what is no message.
const LONGEST_ID: usize = 256;

pub(super) struct Pipe<R, W> {
    input: BufReader<R>,
    line: Line,
    output: Arc<Mutex<Output<W>>>,
    /// What this side has to say, and whether it is being said.
    unsaid: Vec<u8>,
    is_saying: bool,
    /// Hears of lines that nobody sends by mistake.
    alarm: Box<dyn Fn() + Send>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pipe<R, W> {
    pub(super) fn new(input: R, output: W, alarm: impl Fn() + Send + 'static) -> Pipe<R, W> {
        let output = Output { pipe: Some(output), waiting: BytesMut::new() };
        Pipe {
            input: BufReader::new(input),
            line: Line::default(),
            output: Arc::new(Mutex::new(output)),
            unsaid: Vec::new(),
            is_saying: false,
            alarm: Box::new(alarm),
        }
    }

    /// Whoever waits for the next message may stop waiting at any point and wait again: nothing is lost or said twice.
    async fn say(&mut self) -> io::Result<()> {
        if self.unsaid.is_empty() && !self.is_saying {
            return Ok(());
        }
        let mut output = self.output.lock().await;
        self.is_saying = true;
        output.waiting.put_slice(&std::mem::take(&mut self.unsaid));
        output.drain().await?;
        self.is_saying = false;
        Ok(())
    }

    /// One whole line; `None` at the end of the input, where half a line is none.
    async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let n_taken = end.map_or(available.len(), |end| end + 1);
            self.line.add(available.get(..n_taken).unwrap_or_default());
            self.input.consume(n_taken);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }

    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) {
        let answer = TxJsonRpcMessage::<RoleServer>::error(error, id);
        // What cannot be written down here is nothing that anybody could be told.
        if serde_json::to_writer(&mut self.unsaid, &answer).is_ok() {
            self.unsaid.push(b'\n');
        }
    }
}

impl<R, W> Transport<RoleServer> for Pipe<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let text = serde_json::to_vec(&message);
        let output = Arc::clone(&self.output);
        async move {
            let text = text?;
            let mut output = output.lock().await;
            output.waiting.put_slice(&text);
            output.waiting.put_u8(b'\n');
            output.drain().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.say().await.ok()?;
            let line = self.next_line().await.ok()??;
            match line.read() {
                Heard::Message(message) => return Some(*message),
                Heard::Nothing => {}
                Heard::NoMessage { id, error, is_attack } => {
                    if is_attack {
                        (self.alarm)();
                    }
                    self.refuse(id, error);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.pipe = None;
        Ok(())
    }
}

struct Output<W> {
    /// None: closed.
    pipe: Option<W>,
    /// Whole messages, of which the first may be half written.
    waiting: BytesMut,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Whoever stops waiting leaves the rest to the next.
    async fn drain(&mut self) -> io::Result<()> {
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        while !self.waiting.is_empty() {
            if pipe.write_buf(&mut self.waiting).await? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        self.waiting = BytesMut::new();
        pipe.flush().await
    }
}

/// A line, or both ends of one that is too long.
#[derive(Default)]
struct Line {
    length: usize,
    bytes: Vec<u8>,
    tail: Vec<u8>,
}

/// What a line is.
enum Heard {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// What nobody waits to be told of.
    Nothing,
    NoMessage {
        id: Option<RequestId>,
        error: ErrorData,
        is_attack: bool,
    },
}

impl Line {
    fn add(&mut self, piece: &[u8]) {
        self.length = self.length.saturating_add(piece.len());
        if self.length <= LONGEST {
            self.bytes.extend_from_slice(piece);
            return;
        }
        if self.bytes.len() > KEPT {
            self.tail = last(&self.bytes).to_vec();
            self.bytes.truncate(KEPT);
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(last(piece));
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
    }

    fn read(&self) -> Heard {
        if self.length > LONGEST {
            let id = id_of(&self.bytes).or_else(|| id_at_end(&self.tail));
            return Heard::NoMessage { id, error: too_long(), is_attack: false };
        }
        // An editor's mark, not content.
        let text = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes).trim_ascii();
        if text.is_empty() {
            return Heard::Nothing;
        }
        let value = match vambrace_json::check(text, Limits::message(LONGEST)) {
            Ok(()) => match vambrace_json::checked::<RxJsonRpcMessage<RoleServer>>(text) {
                Ok(message) => return Heard::Message(Box::new(message)),
                Err(_) => vambrace_json::read(text, Limits::message(LONGEST)),
            },
            Err(fault) => Err(fault),
        };
        match value {
            Ok(value) => no_message(&value, id_of(text)),
            Err(fault) => unreadable(&fault, id_of(text)),
        }
    }
}

fn last(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default()
}

fn too_long() -> ErrorData {
    let details = json!({
        "code": ErrorCode::MessageTooLarge.as_str(),
        "suggestion": "Send less at once; large files can be written in parts with edit_file.",
    });
    let message = format!("The message is longer than {LONGEST} bytes and was not read.");
    ErrorData::invalid_request(message, Some(details))
}

fn unreadable(fault: &Fault, id: Option<RequestId>) -> Heard {
    Heard::NoMessage { id, error: told_of(fault), is_attack: fault.what().is_attack() }
}

/// JSON that is nothing of the protocol. Notifications and answers are never answered, whatever they are.
fn no_message(value: &Value, id: Option<RequestId>) -> Heard {
    let has = |name: &str| value.get(name).is_some();
    let is_notification = !has("id") && value.get("method").is_some_and(Value::is_string);
    let is_answer = !has("method") && (has("result") || has("error"));
    if is_notification || is_answer {
        return Heard::Nothing;
    }
    let message = if value.is_array() {
        "Batches are not accepted: send one message a line."
    } else {
        "This is no message of the protocol: a request has `jsonrpc`, `id` and `method`."
    };
    Heard::NoMessage { id, error: ErrorData::invalid_request(message, None), is_attack: false }
}

/// The message's own id, never one inside its arguments, also where it is no JSON further on or breaks off.
fn id_of(text: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let inside = text.get(at + 1..)?;
                let (written, rest) = inside.split_at_checked(closing(inside)?)?;
                let value = rest.strip_prefix(b"\"")?.trim_ascii_start().strip_prefix(b":");
                if let Some(value) = value.filter(|_| depth == 1 && written == b"id") {
                    return id(value.trim_ascii_start());
                }
                at += written.len() + 1;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Of a line whose middle is gone: where it is the last member.
fn id_at_end(text: &[u8]) -> Option<RequestId> {
    const NAME: &[u8] = b"\"id\"";
    let inside = text.trim_ascii_end().strip_suffix(b"}")?;
    let at = inside.windows(NAME.len()).rposition(|name| name == NAME)?;
    let value = inside.get(at + NAME.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let is_last = !value.iter().any(|byte| matches!(byte, b'}' | b']'));
    id(value.trim_ascii_start()).filter(|_| is_last)
}

/// Where the quote is that ends a text.
fn closing(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })
}

/// An id, and what may follow it.
fn id(text: &[u8]) -> Option<RequestId> {
    let length = match text.strip_prefix(b"\"") {
        Some(inside) => closing(inside)? + 2,
        None => text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count(),
    };
    let (written, rest) = text.split_at_checked(length)?;
    let ends = rest.trim_ascii_start().first().is_none_or(|byte| matches!(byte, b',' | b'}'));
    if !ends || written.len() > LONGEST_ID {
        return None;
    }
    match vambrace_json::read(written, Limits::message(LONGEST_ID)).ok()? {
        Value::String(id) => Some(RequestId::String(id.into())),
        Value::Number(id) => id.as_i64().map(RequestId::Number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests;
