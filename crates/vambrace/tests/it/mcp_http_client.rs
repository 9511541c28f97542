//! A client that speaks raw JSON-RPC to `/mcp`, in both revisions.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http_world::{Answer, Served};
use crate::support::PATIENCE;

pub(crate) const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The messages of an answer, whether it came as one or as a stream.
#[track_caller]
pub(crate) fn messages(answer: &Answer) -> Vec<Value> {
    if answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
        answer.text().lines().filter_map(event).collect()
    } else {
        vec![answer.json()]
    }
}

fn event(line: &str) -> Option<Value> {
    serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()
}

/// A session of revision 2025-11-25.
pub(crate) struct Session<'s> {
    served: &'s Served,
    key: String,
    pub(crate) id: String,
    last_id: Cell<u64>,
}

impl<'s> Session<'s> {
    /// Greets, with these capabilities.
    #[track_caller]
    pub(crate) fn open(served: &'s Served, key: &str, capabilities: &Value) -> Session<'s> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = served.post_as(&[("X-API-Key", key), ACCEPT], "/mcp", &greeting);
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").expect("a session").to_owned();
        let greeted = messages(&answer).pop().unwrap();
        assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25", "{greeted}");
        let session = Session { served, key: key.to_owned(), id, last_id: Cell::new(0) };
        session.tell("notifications/initialized", &json!({}));
        session
    }

    fn headers(&self) -> [(&str, &str); 5] {
        [
            ("X-API-Key", &self.key),
            ("Mcp-Session-Id", &self.id),
            ("MCP-Protocol-Version", "2025-11-25"),
            ACCEPT,
            JSON,
        ]
    }

    #[track_caller]
    pub(crate) fn send(&self, method: &str, message: &Value) -> Answer {
        let body = if message.is_null() { Vec::new() } else { message.to_string().into_bytes() };
        self.served.send(method, "/mcp", &self.headers(), &body)
    }

    /// A notification or an answer.
    #[track_caller]
    pub(crate) fn tell(&self, method: &str, params: &Value) {
        let answer = self.send("POST", &json!({"jsonrpc": "2.0", "method": method, "params": params}));
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    fn message(&self, method: &str, params: &Value) -> Value {
        self.last_id.set(self.last_id.get() + 1);
        json!({"jsonrpc": "2.0", "id": self.last_id.get(), "method": method, "params": params})
    }

    /// The answer to a request, and what came before it.
    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: &Value) -> (Value, Vec<Value>) {
        let message = self.message(method, params);
        let answer = self.send("POST", &message);
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut all = messages(&answer);
        let last = all.pop().expect("an answer");
        assert_eq!(last["id"], message["id"], "{last}");
        (last, all)
    }

    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let (answer, _) = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer.get("error").is_none(), "a protocol error: {answer}");
        answer["result"].clone()
    }

    /// A request whose answer is read as it comes; and its id.
    #[track_caller]
    pub(crate) fn begin(&self, method: &str, params: &Value) -> (Events, Value) {
        let message = self.message(method, params);
        (Events::of(self.served, &self.headers(), &message), message["id"].clone())
    }
}

/// Requests of revision 2026-07-28, each for itself.
pub(crate) struct Modern<'s> {
    served: &'s Served,
    key: String,
    capabilities: Value,
}

impl<'s> Modern<'s> {
    pub(crate) fn new(served: &'s Served, key: &str, capabilities: &Value) -> Modern<'s> {
        Modern { served, key: key.to_owned(), capabilities: capabilities.clone() }
    }

    pub(crate) fn message(&self, method: &str, params: &Value) -> Value {
        let mut params = params.clone();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    fn headers<'h>(&'h self, message: &'h Value) -> Vec<(&'h str, &'h str)> {
        let mut headers = vec![
            ("X-API-Key", self.key.as_str()),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", message["method"].as_str().unwrap()),
            ACCEPT,
            JSON,
        ];
        headers.extend(message["params"]["name"].as_str().map(|name| ("Mcp-Name", name)));
        headers
    }

    #[track_caller]
    pub(crate) fn send(&self, message: &Value) -> Answer {
        self.send_by("POST", message)
    }

    #[track_caller]
    pub(crate) fn send_by(&self, method: &str, message: &Value) -> Answer {
        self.served.send(method, "/mcp", &self.headers(message), message.to_string().as_bytes())
    }

    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: &Value) -> Answer {
        self.send(&self.message(method, params))
    }

    #[track_caller]
    pub(crate) fn call(&self, params: &Value) -> Value {
        let answer = self.request("tools/call", params);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    #[track_caller]
    pub(crate) fn begin(&self, method: &str, params: &Value) -> Events {
        let message = self.message(method, params);
        Events::of(self.served, &self.headers(&message), &message)
    }
}

/// A stream of events, read one by one. Dropped, the connection is gone.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    #[track_caller]
    fn of(served: &Served, headers: &[(&str, &str)], message: &Value) -> Events {
        let body = message.to_string();
        let mut head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", served.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        Events(BufReader::new(stream))
    }

    /// The next message. One event is one chunk, so the frames of the transfer stand on lines of their own.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let n = self.0.by_ref().read_line(&mut line).expect("the stream goes on");
            assert!(n > 0, "the stream ended");
            if let Some(message) = event(line.trim_end()) {
                return message;
            }
        }
    }
}
