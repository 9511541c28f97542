//! `mcp`: governed tools for any MCP client, over standard input and output.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use vambrace_config::section::{ByClient, OverStdio};
use vambrace_process::RowState;
use vambrace_redact::prove_rules;
use vambrace_server::mcp::{Dialogs, DryRun, Gate, Questions, serve_stdio};
use vambrace_types::Door;

use super::Exit;
use super::options::Global;
use super::start::{configuration, runtime, session, told_to_end};
use crate::terminal;

pub(crate) fn run(global: &Global) -> Exit {
    attempt(global).unwrap_or_else(|exit| exit)
}

/// Who started us is at the other end.
fn dialogs(by_client: ByClient) -> Dialogs {
    match by_client {
        ByClient::Over(OverStdio::Stdio) => Dialogs::Ordinary,
        ByClient::Always(true) => Dialogs::All,
        ByClient::Always(false) => Dialogs::None,
    }
}

fn attempt(global: &Global) -> Result<Exit, Exit> {
    let session = session(global, Door::McpStdio)?;
    let dry_run = if global.dry_run { DryRun::Always } else { DryRun::OnRequest };
    let questions = Questions::new(dialogs(configuration(global)?.config.approvals.by_client));
    let gate = Gate::new(session.corridor.clone(), session.caller.clone(), session.session.clone(), dry_run)
        .with_questions(questions);
    let runtime = runtime()?;
    // The first `tools/list` does not wait for the self-attack; the first program does.
    let proving = Arc::clone(&session.corridor);
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let rules_fail = Arc::new(Notify::new());
    let tell_failure = Arc::clone(&rules_fail);
    runtime.spawn_blocking(move || {
        if let Err(problem) = prove_rules() {
            terminal::fail(&format!("{problem}; secrets would be shown, so nothing is served"));
            return tell_failure.notify_one();
        }
        let proved = proving.prove();
        // A proof that ends with us proves nothing, and nobody is left to be told.
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        match (proving.unbroken(), proved) {
            (Err(error), _) => terminal::fail(&format!("{} {}", error.message, error.suggestion)),
            (Ok(()), Ok(posture)) if posture.holds() => {}
            // The operator accepted a cage with holes.
            (Ok(()), Ok(posture)) if posture.has(RowState::Broken) => {
                terminal::warn(&format!(
                    "attacks on the cage succeeded: {}",
                    posture.names(RowState::Broken)
                ));
            }
            (Ok(()), Ok(posture)) => {
                let rows = posture.names(RowState::Untried);
                terminal::warn(&format!("no program is started until these attacks can be made: {rows}"));
            }
            (Ok(()), Err(error)) => terminal::warn(&format!("no program will be started: {}", error.message)),
        }
    });
    if std::io::stdin().is_terminal() && !global.quiet {
        terminal::complain("a client starts this and speaks MCP to it here; Ctrl-C ends it");
    }
    let served = runtime.block_on(async {
        let served = tokio::select! {
            served = serve_stdio(gate) => served.map(|()| Exit::Done),
            () = told_to_end() => Ok(Exit::Done),
            () = rules_fail.notified() => Ok(Exit::Failed),
        };
        session.corridor.finish().await;
        session.corridor.look_again();
        over.store(true, Ordering::Relaxed);
        served
    });
    // Whoever still reads from a terminal, or proves, is not waited for; what was written is signed.
    if let Ok(audit) = session.corridor.audit()
        && let Err(error) = audit.seal()
    {
        terminal::warn(&format!("the record cannot be written: {error}"));
    }
    runtime.shutdown_background();
    match served {
        Ok(exit) => Ok(exit),
        Err(error) => {
            terminal::fail(&error.to_string());
            Ok(Exit::Failed)
        }
    }
}
