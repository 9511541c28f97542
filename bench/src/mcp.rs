//! A client of the Model Context Protocol, just enough to time its servers.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::pipes::Pipes;

pub(crate) struct Server {
    pipes: Pipes,
    n_sent: u64,
}

impl Server {
    pub(crate) fn start(
        who: &'static str,
        command: &mut Command,
        complaints: &Path,
    ) -> Result<Server, Failure> {
        let mut server = Server { pipes: Pipes::start(who, command, complaints)?, n_sent: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "vambrace-bench", "version": env!("CARGO_PKG_VERSION")},
        });
        server.ask("initialize", &hello)?;
        server.pipes.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(server)
    }

    pub(crate) fn process(&self) -> u32 {
        self.pipes.process()
    }

    /// Asks and waits. The answer is looked at after the clock has stopped.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<(Duration, Value), Failure> {
        self.n_sent += 1;
        let id = self.n_sent;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let who = self.pipes.who;
        let (took, line) = self.pipes.exchange(format!("{request}\n").as_bytes())?;
        let wrong = || Failure::wrong(who, "gave a strange answer", &String::from_utf8_lossy(line));
        let mut answer: Value = serde_json::from_slice(line).map_err(|_| wrong())?;
        if answer.get("id") != Some(&json!(id)) {
            return Err(wrong());
        }
        let result = answer.get_mut("result").map(Value::take).ok_or_else(wrong)?;
        Ok((took, result))
    }

    /// A tool call that must succeed.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Duration, Value), Failure> {
        let (took, result) = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        if result.get("isError") == Some(&Value::Bool(true)) {
            return Err(Failure::wrong(self.pipes.who, &format!("refused `{tool}`"), &result.to_string()));
        }
        Ok((took, result))
    }

    /// How long the last answer was, in bytes on the wire.
    pub(crate) fn last_length(&self) -> usize {
        self.pipes.last_length()
    }
}
