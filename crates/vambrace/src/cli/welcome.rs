//! What a person sees who types the bare name.

use std::path::Path;

use owo_colors::OwoColorize as _;
use serde_json::json;

use super::Exit;
use super::doctor;
use super::options::Global;
use crate::terminal;

pub(crate) fn run(global: &Global) -> Exit {
    let program =
        std::env::current_exe().map_or_else(|_| "vambrace".to_owned(), |path| path.display().to_string());
    // A client starts us elsewhere, so the path must hold from there too.
    let workspace = global.workspace.as_deref().unwrap_or(Path::new("."));
    let workspace = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
    let workspace = workspace.components().as_path().display().to_string();
    terminal::say(&format!(
        "{} {}: armoured hands for AI agents.\n\
         Your agent decides; Vambrace acts: file tools with scope, secrets cleaned, every call on record.\n",
        "vambrace".bold(),
        env!("CARGO_PKG_VERSION")
    ));
    terminal::say(&"What this machine can enforce".bold().to_string());
    for row in doctor::kernel_rows() {
        terminal::say(&row.line());
    }
    let server = json!({"command": program, "args": ["mcp", "--workspace", workspace]});
    terminal::say(&format!("\n{}", "Give these tools to your MCP client".bold()));
    terminal::say(&format!(
        "\nClaude Code:\n  claude mcp add vambrace -- {} mcp --workspace {}",
        quoted(&program),
        quoted(&workspace)
    ));
    terminal::say(&format!(
        "\nClaude Desktop, Cursor, Windsurf, Gemini CLI (\"mcpServers\" in the client's settings):\n{:#}",
        json!({"mcpServers": {"vambrace": server}})
    ));
    terminal::say(&format!("\nVS Code (.vscode/mcp.json):\n{:#}", json!({"servers": {"vambrace": server}})));
    terminal::say(&format!(
        "\nCodex (~/.codex/config.toml):\n[mcp_servers.vambrace]\ncommand = {}\nargs = {}",
        json!(program),
        json!(["mcp", "--workspace", workspace])
    ));
    terminal::say(
        "\nTry it here:\n  vambrace call list_files '{}'\n  vambrace check path ../secret\n  vambrace doctor\n  vambrace --help",
    );
    Exit::Done
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
}
