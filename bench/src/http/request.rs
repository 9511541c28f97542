//! The requests of the rows, as bytes, made once.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// One request, and what its answer must hold; nothing: any answer of status 200 will do.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) holds: Vec<u8>,
}

/// To whom, and as whom.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// Nothing for the echo, which knows nobody.
    pub(super) key: Option<String>,
}

impl Target {
    fn post(&self, path: &str, headers: &str, body: &Value, holds: &str) -> Request {
        let body = body.to_string();
        let mut bytes = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        if let Some(key) = &self.key {
            bytes.push_str(&format!("X-API-Key: {key}\r\n"));
        }
        bytes.push_str(headers);
        bytes.push_str("\r\n");
        bytes.push_str(&body);
        Request { bytes: bytes.into_bytes(), holds: holds.as_bytes().to_vec() }
    }

    pub(super) fn health(&self) -> Request {
        let bytes = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).into_bytes();
        Request { bytes, holds: Vec::new() }
    }

    /// MCP 2026-07-28: each request carries what the server has to know.
    pub(super) fn mcp(&self, tool: &str, arguments: &Value, holds: &str) -> Request {
        let headers = format!(
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        );
        self.post("/mcp", &headers, &mcp_body(tool, arguments), holds)
    }

    pub(super) fn rest(&self, tool: &str, arguments: &Value, holds: &str) -> Request {
        self.post(&format!("/api/tools/{tool}"), "", arguments, holds)
    }

    pub(super) fn a2a(&self, tool: &str, arguments: &Value, holds: &str) -> Request {
        let part = json!({"data": {"tool": tool, "arguments": arguments}});
        let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [part]});
        let body =
            json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": message}});
        self.post("/a2a/invoke", "A2A-Version: 1.0\r\n", &body, holds)
    }

    /// The body of an MCP call, of which the echo gives the params back.
    pub(super) fn echo(&self, tool: &str, arguments: &Value, holds: &str) -> Request {
        self.post("/", "", &mcp_body(tool, arguments), holds)
    }
}

fn mcp_body(tool: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
}
