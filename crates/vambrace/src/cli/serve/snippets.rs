//! What to tell an MCP client, ready to be copied.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use crate::terminal;

/// On standard error: standard output holds the address alone. `key`: none in open mode.
pub(super) fn tell(bound: SocketAddr, key: Option<&str>, workspace: &Path) {
    let url = format!("http://{}/mcp", reachable(bound));
    let program =
        std::env::current_exe().map_or_else(|_| "vambrace".to_owned(), |path| path.display().to_string());
    terminal::complain(&text(&url, key, &program, &workspace.display().to_string()));
}

/// A client on this machine cannot call "everywhere".
fn reachable(bound: SocketAddr) -> SocketAddr {
    let ip = match bound.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bound.port())
}

fn text(url: &str, key: Option<&str>, program: &str, workspace: &str) -> String {
    let headers = |mut server: Value| {
        if let (Some(key), Some(server)) = (key, server.as_object_mut()) {
            server.insert("headers".to_owned(), json!({"X-API-Key": key}));
        }
        server
    };
    let flag =
        key.map(|key| format!(" --header {}", quoted(&format!("X-API-Key: {key}")))).unwrap_or_default();
    let codex =
        key.map(|key| format!("\nhttp_headers = {{ \"X-API-Key\" = {} }}", json!(key))).unwrap_or_default();
    let cursor = json!({"mcpServers": {"vambrace": headers(json!({"url": url}))}});
    let code = json!({"servers": {"vambrace": headers(json!({"type": "http", "url": url}))}});
    format!(
        "{}\n\
         \nClaude Code:\n  claude mcp add --transport http vambrace {}{flag}\n\
         \nCursor, Windsurf (\"mcpServers\" in the client's settings):\n{cursor:#}\n\
         \nVS Code (.vscode/mcp.json):\n{code:#}\n\
         \nCodex (~/.codex/config.toml):\n[mcp_servers.vambrace]\nurl = {}{codex}\n\
         \nOr over standard input and output, without this server:\n  \
         claude mcp add vambrace -- {} mcp --workspace {}\n",
        "Give these tools to your MCP client".bold(),
        quoted(url),
        json!(url),
        quoted(program),
        quoted(workspace),
    )
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        assert_eq!(quoted(word), expected);
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        check("/home/me/project-1.2", "/home/me/project-1.2");
        check("/home/me/my project", "'/home/me/my project'");
        check("/a/$(touch x)", "'/a/$(touch x)'");
        check("it's", r"'it'\''s'");
        check("", "''");
    }

    #[test]
    fn every_snippet_carries_the_key_or_none_does() {
        let key = format!("ka_{}", "local_0");
        let url = "http://127.0.0.1:8081/mcp";
        assert_eq!(text(url, Some(&key), "v", "/w").matches(&key).count(), 4);
        assert!(!text(url, None, "v", "/w").contains("X-API-Key"));
        let everywhere = reachable("0.0.0.0:1".parse().unwrap());
        assert_eq!(everywhere.to_string(), "127.0.0.1:1");
    }
}
