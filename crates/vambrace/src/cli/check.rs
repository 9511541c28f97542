//! `check`: what would be decided, and why. Each check is a dry run through the corridor, so it cannot differ from the
//! real call.

use std::io::Read as _;

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};
use vambrace_json::Limits;
use vambrace_runtime::{Purpose, Reply};
use vambrace_server::wire;
use vambrace_types::{Door, ErrorCode};

use super::Exit;
use super::lines::{LONGEST, Line, Lines};
use super::options::{CheckArgs, CheckWhat, Global, PathPurpose};
use super::start::{Session, fell_over, redacting, runtime, session, tell_denial, usage};
use crate::terminal;

pub(crate) fn run(global: &Global, args: CheckArgs) -> Exit {
    let exit = match args.what {
        CheckWhat::Path { path: Some(path), purpose, .. } => one(global, &path, Subject::Path(purpose)),
        CheckWhat::Path { path: None, purpose, .. } => batch(global, Subject::Path(purpose)),
        CheckWhat::Command { line: Some(line), explain: false, .. } => one(global, &line, Subject::Command),
        CheckWhat::Command { line: Some(line), explain: true, .. } => explain(global, &line),
        CheckWhat::Command { line: None, .. } => batch(global, Subject::Command),
        CheckWhat::Url { url: Some(url), explain: false, .. } => one(global, &url, Subject::Url),
        CheckWhat::Url { url: Some(url), explain: true, .. } => explain_url(global, &url),
        CheckWhat::Url { url: None, .. } => batch(global, Subject::Url),
        CheckWhat::Text => text(global),
    };
    exit.unwrap_or_else(|exit| exit)
}

/// What is asked about.
#[derive(Clone, Copy)]
enum Subject {
    Path(PathPurpose),
    Command,
    Url,
}

fn one(global: &Global, input: &str, subject: Subject) -> Result<Exit, Exit> {
    let session = session(global, Door::CommandLine)?;
    let reply = runtime()?.block_on(judge(&session, input, subject)).ok_or_else(fell_over)?;
    tell_denial(global, &reply);
    show(global, &wire::decision(&reply, input));
    Ok(exit_of(&reply))
}

/// The decision, and below it every word with the rule that judged it.
fn explain(global: &Global, line: &str) -> Result<Exit, Exit> {
    let session = session(global, Door::CommandLine)?;
    let reply = runtime()?.block_on(judge(&session, line, Subject::Command)).ok_or_else(fell_over)?;
    tell_denial(global, &reply);
    let mut decision = wire::decision(&reply, line);
    let words = session.corridor.explain(line);
    if global.json || !terminal::is_watched() {
        let rows = words.iter().map(
            |word| json!({"word": word.word, "allowed": word.allowed, "rule": word.rule, "note": word.note}),
        );
        if let Some(decision) = decision.as_object_mut() {
            decision.insert("words".to_owned(), Value::Array(rows.collect()));
        }
        terminal::json(&decision);
        return Ok(exit_of(&reply));
    }
    show(global, &decision);
    for word in &words {
        let mark = if word.allowed { "ok".green().to_string() } else { "no".red().bold().to_string() };
        let (text, note) = (terminal::one_line(&word.word), terminal::one_line(&word.note));
        terminal::say(&format!("  {mark}  {text:<28} {:<40} {note}", word.rule));
    }
    Ok(exit_of(&reply))
}

/// The decision, and below it every step with its rule, and every address of the name.
fn explain_url(global: &Global, url: &str) -> Result<Exit, Exit> {
    let session = session(global, Door::CommandLine)?;
    let runtime = runtime()?;
    let reply = runtime.block_on(judge(&session, url, Subject::Url)).ok_or_else(fell_over)?;
    tell_denial(global, &reply);
    let mut decision = wire::decision(&reply, url);
    // THREAT: P02, a look-up tells somebody the name; one that the decision did not make is not made here either.
    let code = reply.error().map(|error| error.code);
    let looked_up = matches!(
        code,
        None | Some(ErrorCode::PrivateAddress | ErrorCode::MetadataAddress | ErrorCode::DnsFailed)
    );
    let steps = runtime.block_on(session.corridor.explain_url(url, looked_up));
    if global.json || !terminal::is_watched() {
        let rows = steps.iter().map(
            |step| json!({"step": step.step, "what": step.what, "allowed": step.allowed, "rule": step.rule}),
        );
        if let Some(decision) = decision.as_object_mut() {
            decision.insert("steps".to_owned(), Value::Array(rows.collect()));
        }
        terminal::json(&decision);
        return Ok(exit_of(&reply));
    }
    show(global, &decision);
    for step in &steps {
        let mark = if step.allowed { "ok".green().to_string() } else { "no".red().bold().to_string() };
        let what = terminal::one_line(&step.what);
        terminal::say(&format!("  {mark}  {:<16} {what:<48} {}", step.step, step.rule));
    }
    Ok(exit_of(&reply))
}

fn show(global: &Global, decision: &Value) {
    if global.json || !terminal::is_watched() {
        terminal::json(decision);
    } else {
        let word =
            |key: &str| terminal::one_line(decision.get(key).and_then(Value::as_str).unwrap_or_default());
        let verdict = word("decision");
        let painted = match verdict.as_str() {
            "allow" => verdict.green().bold().to_string(),
            "ask" => verdict.yellow().bold().to_string(),
            _ => verdict.red().bold().to_string(),
        };
        terminal::say(&format!("{painted}  {} ({}, rule {})", word("message"), word("code"), word("rule")));
        if !word("suggestion").is_empty() {
            terminal::say(&word("suggestion"));
        }
    }
}

fn exit_of(reply: &Reply) -> Exit {
    match wire::decision_word(reply) {
        "allow" => Exit::Done,
        "ask" => Exit::Ask,
        _ => Exit::Denied,
    }
}

async fn judge(session: &Session, input: &str, subject: Subject) -> Option<Reply> {
    let (tool, arguments) = match subject {
        Subject::Path(PathPurpose::Read) => ("read_file", json!({"path": input})),
        // A path that ends in a slash is still a path; whether it is a folder is not the question.
        Subject::Path(PathPurpose::Write) => {
            ("write_file", json!({"path": input.trim_end_matches('/'), "content": ""}))
        }
        Subject::Path(PathPurpose::Delete) => ("delete_file", json!({"path": input})),
        Subject::Command => ("exec_shell", json!({"command": input})),
        Subject::Url => ("web_fetch", json!({"url": input})),
    };
    session.call(tool, arguments, true, Purpose::Check).await
}

fn batch(global: &Global, subject: Subject) -> Result<Exit, Exit> {
    let session = session(global, Door::CommandLine)?;
    let runtime = runtime()?;
    let mut lines = Lines::new(std::io::stdin().lock());
    while let Some((number, line)) = lines.next()? {
        let wrong = |problem: String| usage(&format!("standard input, line {number}: {problem}"));
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong => return Err(wrong(format!("longer than {LONGEST} bytes"))),
            Line::NotText => return Err(wrong("not UTF-8 text".to_owned())),
        };
        let row: Value = vambrace_json::read(line.as_bytes(), Limits::message(LONGEST as usize))
            .map_err(|error| wrong(error.to_string()))?;
        let input = row.get("input").and_then(Value::as_str);
        let input = input.ok_or_else(|| wrong("`input` is missing".to_owned()))?;
        let subject = match (subject, row.get("for").map(Value::as_str)) {
            (subject, None) | (subject @ (Subject::Command | Subject::Url), Some(_)) => subject,
            (Subject::Path(_), Some(Some("read"))) => Subject::Path(PathPurpose::Read),
            (Subject::Path(_), Some(Some("write"))) => Subject::Path(PathPurpose::Write),
            (Subject::Path(_), Some(Some("delete"))) => Subject::Path(PathPurpose::Delete),
            (Subject::Path(_), Some(_)) => {
                return Err(wrong("`for` must be read, write or delete".to_owned()));
            }
        };
        let reply = runtime.block_on(judge(&session, input, subject)).ok_or_else(fell_over)?;
        tell_denial(global, &reply);
        terminal::json_line(&wire::decision(&reply, input));
    }
    Ok(Exit::Done)
}

/// LIMIT: a finding has its place in the whole text, so the whole text is held.
const LONGEST_TEXT: u64 = 64 << 20;

/// Where the secrets are, never what they are.
fn text(global: &Global) -> Result<Exit, Exit> {
    let redactor = redacting(global, None)?;
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| usage(&format!("standard input: {error}")))?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(usage(&format!(
            "standard input is longer than {LONGEST_TEXT} bytes; `vambrace redact` takes text of any length"
        )));
    }
    let findings: Vec<Value> = redactor
        .scan(&bytes)
        .iter()
        .map(|found| json!({"rule": found.rule.to_string(), "start": found.start, "end": found.end, "line": found.line}))
        .collect();
    let exit = if findings.is_empty() { Exit::Done } else { Exit::Denied };
    terminal::json(&Value::Array(findings));
    Ok(exit)
}
