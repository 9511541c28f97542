//! `call`: one tool call, or a line each.

use std::io::Read as _;

use serde_json::{Value, json};
use vambrace_json::Limits;
use vambrace_runtime::{Purpose, Reply};
use vambrace_server::{text, wire};
use vambrace_types::{Door, Status};

use super::Exit;
use super::lines::{LONGEST, Line, Lines};
use super::options::{CallArgs, Global};
use super::start::{Session, fell_over, runtime, session, tell_denial, until_told, usage};
use crate::terminal;

pub(crate) fn run(global: &Global, args: CallArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: CallArgs) -> Result<Exit, Exit> {
    let session = session(global, Door::CommandLine)?;
    let runtime = runtime()?;
    let Some(tool) = args.tool_name else {
        let ended = runtime.block_on(batch(global, &session));
        session.corridor.look_again();
        return ended;
    };
    let arguments = arguments(args.arguments.as_deref())?;
    let incoming = session.incoming(&tool, arguments, global.dry_run, Purpose::Call);
    let reply = runtime.block_on(until_told(&session.corridor, incoming));
    let reply = reply.ok_or_else(fell_over)?;
    session.corridor.look_again();
    tell_denial(global, &reply);
    show(global, &reply);
    Ok(Exit::of(&reply))
}

fn arguments(text: Option<&str>) -> Result<Value, Exit> {
    let mut read = String::new();
    let text = match text {
        None => return Ok(Value::Null),
        Some("-") => {
            let mut input = std::io::stdin().lock().take(LONGEST + 1);
            input.read_to_string(&mut read).map_err(|error| usage(&format!("standard input: {error}")))?;
            if read.len() as u64 > LONGEST {
                return Err(usage(&format!("the arguments are longer than {LONGEST} bytes")));
            }
            read.as_str()
        }
        Some(text) => text,
    };
    match vambrace_json::read(text.as_bytes(), Limits::message(LONGEST as usize)) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(usage("the arguments must be a JSON object, for instance '{\"path\": \"README.md\"}'")),
        Err(error) => Err(usage(&format!(
            "the arguments are not JSON ({error}); quote them for the shell, for instance '{{\"path\": \"README.md\"}}'"
        ))),
    }
}

/// A person sees text and colored diffs, a program the ToolResult.
fn show(global: &Global, reply: &Reply) {
    if global.json || !terminal::is_watched() {
        terminal::json(&wire::tool_result(reply));
        return;
    }
    let text = terminal::paint_diff(&text(reply));
    match reply.status() {
        Status::Success => terminal::say(&text),
        Status::Error => terminal::complain(text.trim_end()),
    }
}

async fn batch(global: &Global, session: &Session) -> Result<Exit, Exit> {
    let mut lines = Lines::new(std::io::stdin().lock());
    while let Some((number, line)) = lines.next()? {
        let result = match line {
            Line::TooLong => {
                malformed("MessageTooLarge", number, &format!("it is longer than {LONGEST} bytes"))
            }
            Line::NotText => malformed("ValidationError", number, "it is not UTF-8 text"),
            Line::Text(line) => match request(&line) {
                Ok((tool, arguments, dry_run)) => {
                    let dry_run = dry_run || global.dry_run;
                    let reply = session.call(&tool, arguments, dry_run, Purpose::Call).await;
                    let reply = reply.ok_or_else(fell_over)?;
                    tell_denial(global, &reply);
                    wire::tool_result(&reply)
                }
                Err(problem) => malformed("ValidationError", number, &problem),
            },
        };
        terminal::json_line(&result);
    }
    Ok(Exit::Done)
}

fn request(line: &str) -> Result<(String, Value, bool), String> {
    let value: Value = vambrace_json::read(line.as_bytes(), Limits::message(LONGEST as usize))
        .map_err(|error| error.to_string())?;
    let tool = value.get("tool").and_then(Value::as_str).ok_or("`tool` is missing")?;
    let arguments = value.get("arguments").cloned().unwrap_or(Value::Null);
    let dry_run = match value.get("dry_run") {
        None => false,
        Some(Value::Bool(wish)) => *wish,
        Some(_) => return Err("`dry_run` must be true or false".to_owned()),
    };
    Ok((tool.to_owned(), arguments, dry_run))
}

/// A line that is not a call never reaches the corridor, so its answer is made here, in the same shape.
fn malformed(code: &str, number: u64, problem: &str) -> Value {
    json!({
        "status": "error",
        "data": null,
        "error": {
            "code": code,
            "message": format!("Line {number} is not a call: {problem}."),
            "suggestion": "Write one object a line: {\"tool\": …, \"arguments\": {…}}.",
        },
        "metadata": {"duration_ms": 0, "security_checks": "passed", "dry_run": false, "truncated": false, "redactions": 0},
    })
}
