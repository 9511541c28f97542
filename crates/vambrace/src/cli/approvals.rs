//! `approvals`: the questions that wait for a person, and the answers to them. Works beside a running server.

use std::sync::Arc;
use std::time::Duration;

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};
use vambrace_audit::{AnswerError, Approvals, Clock as _, Question, SystemClock, rfc3339};
use vambrace_types::Timestamp;

use super::Exit;
use super::options::{ApprovalsArgs, ApprovalsWhat, Global};
use super::start::{audit_dir, state_folder};
use super::switch::person;
use crate::terminal::{self, one_line};

pub(crate) fn run(global: &Global, args: &ApprovalsArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: &ApprovalsArgs) -> Result<Exit, Exit> {
    // How long a question waits was decided when it was asked; nothing is asked here.
    let approvals = Approvals::new(&audit_dir(global)?, Arc::new(SystemClock), Duration::ZERO);
    for ignored in approvals.ignored().map_err(|error| failed(&error.to_string()))? {
        terminal::warn(&format!("approvals/{} is no question of ours: {}", ignored.name, ignored.why));
    }
    match &args.what {
        None => {
            list(global, &approvals.list(false).map_err(|error| failed(&error.to_string()))?);
            Ok(Exit::Done)
        }
        Some(ApprovalsWhat::Approve { id }) => answer(global, &approvals, id, true),
        Some(ApprovalsWhat::Reject { id }) => answer(global, &approvals, id, false),
    }
}

fn failed(text: &str) -> Exit {
    terminal::fail(text);
    Exit::Failed
}

fn list(global: &Global, questions: &[Question]) {
    let as_json = global.json || !terminal::is_watched();
    if questions.is_empty() && !as_json {
        terminal::say("nothing waits for a person");
        return;
    }
    let now = SystemClock.now();
    for question in questions {
        if as_json {
            terminal::json_line(&shown(question));
            continue;
        }
        terminal::say(&format!(
            "{}  {}  asked {} ago, {} left  {}  {}\n    {}",
            question.id.bold(),
            question.state.as_str(),
            span(question.asked_at, now),
            span(now, question.expires_at),
            one_line(&question.caller),
            one_line(&question.tool),
            one_line(&question.question),
        ));
    }
}

fn shown(question: &Question) -> Value {
    json!({
        "id": question.id,
        "state": question.state.as_str(),
        "caller": question.caller,
        "tool": question.tool,
        "rule": question.rule,
        "question": question.question,
        "call_id": question.call_id,
        "asked_at": rfc3339(question.asked_at),
        "expires_at": rfc3339(question.expires_at),
        "by": question.by,
    })
}

fn span(from: Timestamp, to: Timestamp) -> String {
    match to.millis_since(from) / 1000 {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn answer(global: &Global, approvals: &Approvals, wanted: &str, approved: bool) -> Result<Exit, Exit> {
    let id = find(global, approvals, wanted)?;
    let question = approvals.answer(&id, approved, &person()).map_err(|error| {
        failed(&match error {
            AnswerError::NotFound(_) => not_found(global, wanted),
            AnswerError::Answered => format!("{id} is answered already"),
            AnswerError::Expired => {
                format!("{id} has expired; when the call is made again it asks again, under another id")
            }
            AnswerError::Audit(error) => error.to_string(),
        })
    })?;
    if global.json || !terminal::is_watched() {
        terminal::json(&shown(&question));
    } else if approved {
        let left = span(SystemClock.now(), question.expires_at);
        terminal::say(&format!(
            "approved {id}: the same call is done once when it is made again within {left}"
        ));
    } else {
        terminal::say(&format!("rejected {id}"));
    }
    Ok(Exit::Done)
}

/// The beginning of an id is enough where only one has it; `ap_` may be left out.
fn find(global: &Global, approvals: &Approvals, wanted: &str) -> Result<String, Exit> {
    let all = approvals.list(true).map_err(|error| failed(&error.to_string()))?;
    let letters = |id: &str| id.strip_prefix("ap_").unwrap_or(id).to_owned();
    let start = letters(wanted);
    if let Some(whole) = all.iter().find(|question| letters(&question.id) == start) {
        return Ok(whole.id.clone());
    }
    // What is over is only found by its whole id.
    let waiting = approvals.list(false).map_err(|error| failed(&error.to_string()))?;
    let mut fits =
        waiting.iter().filter(|question| !start.is_empty() && letters(&question.id).starts_with(&start));
    match (fits.next(), fits.next()) {
        (Some(only), None) => Ok(only.id.clone()),
        (Some(_), Some(_)) => {
            Err(failed(&format!("several questions begin with `{wanted}`; give more of the id")))
        }
        (None, _) => Err(failed(&not_found(global, wanted))),
    }
}

fn not_found(global: &Global, wanted: &str) -> String {
    let state = state_folder(global).map(|state| state.display().to_string()).unwrap_or_default();
    format!(
        "there is no question `{wanted}` in `{state}`; `vambrace approvals` lists those that wait, and --state names \
         another folder"
    )
}
