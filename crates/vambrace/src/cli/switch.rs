//! `stop` and `resume`: the kill switch, and a person's release.

use std::path::Path;

use serde_json::{Value, json};
use vambrace_audit::{AuditError, Released, Stopped, Thrown, rfc3339};

use super::Exit;
use super::options::Global;
use super::start::{audit_dir, clock, environment, state_folder};
use crate::terminal;

pub(crate) fn stop(global: &Global, caller: Option<&str>) -> Exit {
    with_record(global, |dir| {
        let Thrown { was_founded, is_known, unrecorded } = vambrace_audit::stop(
            dir,
            caller,
            &person(),
            clock(),
        )
        .inspect_err(|_| {
            terminal::warn(
                "the stop was not written; fix the error below and run it again, or end the server process",
            );
        })?;
        let (who, name) = (caller.unwrap_or("everybody"), caller.unwrap_or("'*'"));
        let state = state_of(global, dir);
        let mut answer = json!({"stopped": caller.unwrap_or("*"), "state": state});
        if let (Value::Object(answer), Some(is_known)) = (&mut answer, is_known) {
            answer.insert("on_record".to_owned(), json!(is_known));
        }
        let words =
            format!("stopped {who} in `{state}`; `vambrace resume {name}` with the same folder releases it");
        tell(global, &words, &answer);
        if let Some(error) = unrecorded {
            terminal::warn("the stop holds, but it could not be put on record");
            return Err(error);
        }
        if !was_founded {
            terminal::warn(&format!(
                "nothing has used `{state}` yet: a service with another --state is not stopped by this"
            ));
        } else if is_known == Some(false) {
            terminal::warn(&format!(
                "nobody called {who} is on record there; `vambrace audit list` shows who is"
            ));
        }
        Ok(())
    })
}

pub(crate) fn resume(global: &Global, caller: &str) -> Exit {
    with_record(global, |dir| {
        let Released { was_stopped, everyone_is_stopped, still_stopped } =
            vambrace_audit::resume(dir, caller, &person(), clock())?;
        let words = if was_stopped { "released" } else { "nobody was stopped by the name" };
        let answer = json!({
            "resumed": caller, "was_stopped": was_stopped, "everybody_is_stopped": everyone_is_stopped,
            "still_stopped": still_stopped,
        });
        tell(global, &format!("{words} {caller}"), &answer);
        for subject in &still_stopped {
            terminal::warn(&format!(
                "`{subject}` called by this name too and is stopped for another reason; `vambrace stop --list` shows it"
            ));
        }
        if everyone_is_stopped {
            terminal::warn("everybody is still stopped; `vambrace resume '*'` releases them");
        }
        Ok(())
    })
}

/// Who is stopped, by whom and since when.
pub(crate) fn list(global: &Global) -> Exit {
    with_record(global, |dir| {
        let stopped = vambrace_audit::stopped(dir)?;
        if !global.json && terminal::is_watched() && stopped.is_empty() {
            terminal::say("nobody is stopped");
        }
        for Stopped { caller, by, since, via } in &stopped {
            let (name, since) = (caller.as_deref().unwrap_or("*"), rfc3339(*since));
            let with = via.as_ref().map(|via| format!(", with {via}")).unwrap_or_default();
            let words = format!("{name} since {since} by {by}{with}");
            tell(
                global,
                &terminal::one_line(&words),
                &json!({"caller": name, "by": by, "since": since, "via": via}),
            );
        }
        Ok(())
    })
}

/// Who threw the switch or gave the answer, as far as the machine knows.
pub(crate) fn person() -> String {
    environment().get("USER").cloned().unwrap_or_else(|| "a person at this machine".to_owned())
}

fn state_of(global: &Global, dir: &Path) -> String {
    state_folder(global).unwrap_or_else(|_| dir.to_owned()).display().to_string()
}

fn tell(global: &Global, words: &str, answer: &Value) {
    if global.json || !terminal::is_watched() {
        terminal::json(answer);
    } else {
        terminal::say(words);
    }
}

fn with_record(global: &Global, act: impl Fn(&Path) -> Result<(), AuditError>) -> Exit {
    match audit_dir(global).map(|dir| act(&dir)) {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(error)) => {
            terminal::fail(&error.to_string());
            Exit::Failed
        }
        Err(exit) => exit,
    }
}
