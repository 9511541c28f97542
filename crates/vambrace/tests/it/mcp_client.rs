//! A client that speaks raw JSON-RPC over the pipes of `vambrace mcp`, so that it can also say what no client would.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::support::{PATIENCE, World};

/// The greeting of revision 2025-11-25.
pub(crate) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": "greeting", "method": "initialize", "params": params})
}

pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    last_id: u64,
    /// What the server said without being asked.
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    /// Starts a server and says nothing yet.
    pub(crate) fn silent(world: &World, options: &[&str]) -> Client {
        Client::started(world.command(&[options, &["mcp"]].concat()))
    }

    /// The same with a command that becomes a server.
    pub(crate) fn started(mut command: Command) -> Client {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, lines, last_id: 0, notifications: Vec::new() }
    }

    /// Starts a server and shakes hands in revision 2025-11-25.
    pub(crate) fn open(world: &World, options: &[&str]) -> Client {
        Client::silent(world, options).greeted()
    }

    #[track_caller]
    pub(crate) fn greeted(mut self) -> Client {
        self.send(&initialize());
        let answer = self.answer(&json!("greeting"));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_ref()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// Sends a request and does not wait.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to this request; what comes in between is kept.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next();
            if message["id"] == *id && message.get("method").is_none() {
                return message;
            }
            self.notifications.push(message);
        }
    }

    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the server answers")
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(&id)
    }

    /// The result of a tool call.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer.get("error").is_none(), "a protocol error: {answer}");
        answer["result"].clone()
    }

    /// Closes our end and waits for the server to go; returns how it ended and what it complained of.
    #[track_caller]
    pub(crate) fn close(mut self) -> (i32, String) {
        drop(self.stdin.take());
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        let output = self.child.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!complaint.contains("internal fault"), "{complaint}");
        (output.status.code().unwrap_or(-1), complaint)
    }
}
