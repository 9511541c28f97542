//! Attacks on an operator's rules and approvals, under rules of our own: the same on every machine, whatever is configured.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use vambrace_audit::{Approvals, SystemClock};
use vambrace_config::resolve::audit_folder;
use vambrace_runtime::{Incoming, Purpose, Reply};
use vambrace_types::{Caller, Door, ErrorCode};

use super::{Row, row, session_in};
use crate::cli::Exit;
use crate::cli::start::{Session, runtime};
use crate::terminal;

const RULES: &str = r#"rules:
  - {tool: web_fetch, decision: deny}
  - {tool: create_directory, path: "asked/**", decision: ask}
"#;

pub(super) fn rows(folder: &Path) -> Result<Vec<Row>, Exit> {
    let config = folder.join("rules.yaml");
    std::fs::write(&config, RULES).map_err(|error| {
        terminal::fail(&format!("{}: {error}", config.display()));
        Exit::Failed
    })?;
    let session = session_in(folder, Some(config), None)?;
    let runtime = runtime()?;
    let called = |tool: &str, arguments: Value| runtime.block_on(call(&session, tool, arguments));
    // The name leads nowhere, so that nothing is sent where the rule does not hold either.
    let news = called("a2a_notify", json!({"url": "https://news.invalid/", "body": "canary", "headers": {}}));
    Ok(vec![
        row(
            "send news past a rule",
            code(news.as_ref()) == Some(ErrorCode::RuleDenied),
            "web_fetch is denied",
        ),
        row("use an approval twice", is_good_once(folder, &called), "a rule about a path that asks"),
    ])
}

/// As a server does for its caller. Nobody is asked at the terminal, where a person would wonder.
async fn call(session: &Session, tool: &str, arguments: Value) -> Option<Reply> {
    let incoming = session.incoming(tool, arguments, false, Purpose::Call);
    let caller = Caller { door: Door::System, ..incoming.caller.clone() };
    session.corridor.call(Incoming { caller, approver: None, ..incoming }).await
}

/// The first approval has to be of use, or the row would hold because nothing works.
fn is_good_once(folder: &Path, called: &dyn Fn(&str, Value) -> Option<Reply>) -> bool {
    let asked = || {
        let reply = called("create_directory", json!({"path": "asked/folder"}));
        let made = folder.join("work/asked/folder");
        let was_done = std::fs::remove_dir(made).is_ok();
        (was_done, reply.as_ref().and_then(Reply::ticket).map(|ticket| ticket.id.clone()))
    };
    let (false, Some(id)) = asked() else { return false };
    let approvals =
        Approvals::new(&audit_folder(&folder.join("state")), Arc::new(SystemClock), Duration::ZERO);
    approvals.answer(&id, true, "doctor").is_ok()
        && asked() == (true, None)
        && matches!(asked(), (false, Some(_)))
}

fn code(reply: Option<&Reply>) -> Option<ErrorCode> {
    reply.and_then(Reply::error).map(|error| error.code)
}
