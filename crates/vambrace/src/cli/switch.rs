//! `stop` and `resume`: the kill switch, and a person's release.

use serde_json::{Value, json};

use super::Exit;
use super::options::Global;
use super::start::{audit_dir, clock, environment};
use crate::terminal;

pub(crate) fn stop(global: &Global, caller: Option<&str>) -> Exit {
    let done = |dir: &std::path::Path, by: &str| vambrace_audit::stop(dir, caller, by, clock());
    let who = caller.unwrap_or("everybody");
    let words = format!("stopped {who}; `vambrace resume {}` releases it", caller.unwrap_or("'*'"));
    act(global, done, &words, &json!({"stopped": caller.unwrap_or("*")}))
}

pub(crate) fn resume(global: &Global, caller: &str) -> Exit {
    let done = |dir: &std::path::Path, by: &str| vambrace_audit::resume(dir, caller, by, clock());
    act(global, done, &format!("released {caller}"), &json!({"resumed": caller}))
}

/// Who threw the switch or gave the answer, as far as the machine knows.
pub(crate) fn person() -> String {
    environment().get("USER").cloned().unwrap_or_else(|| "a person at this machine".to_owned())
}

fn act(
    global: &Global,
    act: impl Fn(&std::path::Path, &str) -> Result<(), vambrace_audit::AuditError>,
    words: &str,
    answer: &Value,
) -> Exit {
    let dir = match audit_dir(global) {
        Ok(dir) => dir,
        Err(exit) => return exit,
    };
    let by = person();
    match act(&dir, &by) {
        Ok(()) => {
            if global.json || !terminal::is_watched() {
                terminal::json(answer);
            } else {
                terminal::say(words);
            }
            Exit::Done
        }
        Err(error) => {
            terminal::fail(&error.to_string());
            Exit::Failed
        }
    }
}
