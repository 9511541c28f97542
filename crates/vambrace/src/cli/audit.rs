//! `audit`: looking at the record.

use std::io::Read as _;

use owo_colors::OwoColorize as _;
use serde_json::json;
use vambrace_audit::{Entry, Filter, RecordKind, Verdict, VerifyReport, View, rfc3339};
use vambrace_files::{StateOpen, open_state_file};
use vambrace_json::Limits;
use vambrace_redact::{Fingerprint, FingerprintKey};
use vambrace_server::wire;
use vambrace_types::Secret;

use super::Exit;
use super::options::{AuditArgs, AuditWhat, Global};
use super::start::{audit_dir, redaction_key, state_folder, usage};
use crate::terminal::{self, one_line};

pub(crate) fn run(global: &Global, args: AuditArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: AuditArgs) -> Result<Exit, Exit> {
    let dir = audit_dir(global)?;
    let told = |error: vambrace_audit::AuditError| {
        terminal::fail(&error.to_string());
        Exit::Failed
    };
    match args.what {
        AuditWhat::List { last, caller, tool_name, decision, request, secret } => {
            let verdict = decision.map(|word| {
                Verdict::parse(&word)
                    .ok_or_else(|| usage(&format!("no decision is called `{word}` (allow, ask, deny)")))
            });
            let filter = Filter {
                last: last.or_else(|| request.is_none().then_some(USUAL)),
                caller,
                owner: None,
                tool: tool_name,
                verdict: verdict.transpose()?,
                since: None,
                request,
                secret: if secret { Some(asked_for(global)?) } else { None },
            };
            list(global, &vambrace_audit::list(&dir, &filter).map_err(told)?);
            Ok(Exit::Done)
        }
        AuditWhat::Show { id } => {
            let records = vambrace_audit::show(&dir, &id).map_err(told)?;
            if records.is_empty() {
                terminal::fail(&format!(
                    "no record has the call id `{id}`; if it is a request's, try `vambrace audit list --request {id}`"
                ));
                return Ok(Exit::Failed);
            }
            for record in records {
                match vambrace_json::read(record.json.as_bytes(), Limits::document(usize::MAX)) {
                    Ok(value) => terminal::json(&value),
                    Err(_) => terminal::say(&one_line(&record.json)),
                }
            }
            Ok(Exit::Done)
        }
        AuditWhat::Verify => {
            let report = vambrace_audit::verify(&dir).map_err(told)?;
            let exit = verified(global, &report);
            if report.is_absent {
                terminal::fail(&format!(
                    "there is no record in `{}`; --state DIR names another folder",
                    dir.display()
                ));
            }
            Ok(exit)
        }
        AuditWhat::Alerts => {
            let alerts = vambrace_audit::alerts(&dir).map_err(told)?;
            if alerts.is_empty() && !global.json && terminal::is_watched() {
                terminal::say("no alert was raised");
            }
            for alert in alerts {
                if global.json || !terminal::is_watched() {
                    terminal::json_line(&wire::alert(&alert));
                } else {
                    let (time, rule, caller) = (rfc3339(alert.time), alert.rule, alert.caller);
                    let caller = one_line(&caller);
                    terminal::say(&format!(
                        "{time}  {}  {caller}  {}  {}",
                        one_line(&rule).red(),
                        one_line(&alert.action),
                        one_line(&alert.call_id)
                    ));
                }
            }
            Ok(Exit::Done)
        }
        AuditWhat::Export { view } => {
            let view = View::parse(&view)
                .ok_or_else(|| usage(&format!("no view is called `{view}` (full, 001, 002, 004)")))?;
            let mut out = std::io::stdout().lock();
            vambrace_audit::export(&dir, view, &mut out).map_err(told)?;
            Ok(Exit::Done)
        }
    }
}

/// LIMIT: as the redactor's longest known value; whoever pipes a file in by mistake is told.
const LONGEST_SECRET: u64 = 64 << 10;

/// The fingerprint of the value on standard input. An argument would be seen by everybody who lists processes, and kept in
/// the shell's history.
fn asked_for(global: &Global) -> Result<Fingerprint, Exit> {
    let mut value = Vec::with_capacity(4096);
    let read = std::io::stdin().lock().take(LONGEST_SECRET + 1).read_to_end(&mut value);
    read.map_err(|error| usage(&format!("standard input: {error}")))?;
    let value = Secret::new(value);
    let trimmed = value.expose().trim_ascii();
    if trimmed.is_empty() || value.expose().len() as u64 > LONGEST_SECRET {
        return Err(usage("--secret wants the value on standard input, and nothing else"));
    }
    let path = redaction_key(&state_folder(global)?);
    // Reading makes no key: without one, nothing was ever numbered.
    let mut key = Vec::new();
    let opened = open_state_file(&path, StateOpen::Read);
    let read = opened.and_then(|file| file.take(LONGEST_SECRET).read_to_end(&mut key));
    read.map_err(|_| {
        terminal::fail(
            "no fingerprint was ever put on record here: what calls ask for has them, and what they are answered has \
             them with `redact.placeholders: numbered`",
        );
        Exit::Failed
    })?;
    Ok(FingerprintKey::new(Secret::new(key)).fingerprint(trimmed))
}

/// How many are listed when nothing is said.
const USUAL: usize = 20;

fn list(global: &Global, entries: &[Entry]) {
    for entry in entries {
        if global.json || !terminal::is_watched() {
            terminal::json_line(&wire::audit_entry(entry));
            continue;
        }
        // Names and messages repeat what an agent wrote.
        let text = |value: &Option<String>| value.as_deref().map(one_line).unwrap_or_default();
        let decision = match entry.verdict {
            Some(Verdict::Allow) => "allow".green().to_string(),
            Some(Verdict::Ask) => "ask".yellow().to_string(),
            Some(Verdict::Deny) => "deny".red().to_string(),
            None => "-".to_owned(),
        };
        let what = match entry.kind {
            RecordKind::Event => text(&entry.event),
            RecordKind::Intent | RecordKind::Outcome => text(&entry.tool),
        };
        let (id, mut who) = (text(&entry.call_id), text(&entry.caller));
        if entry.client_ip.is_some() {
            who.push_str(&format!(" from {}", text(&entry.client_ip)));
        }
        let marks: Vec<String> = entry.marks.iter().map(|mark| one_line(&mark.marker)).collect();
        let words = [text(&entry.ending), text(&entry.code), text(&entry.message), marks.join(" ")].join(" ");
        terminal::say(&format!(
            "{}  {id}  {:<7} {decision}  {who}  {what}  {words}",
            rfc3339(entry.time),
            entry.kind.as_str()
        ));
    }
}

fn verified(global: &Global, report: &VerifyReport) -> Exit {
    let is_intact = report.broken.is_none() && !report.is_absent;
    let exit = if is_intact { Exit::Done } else { Exit::Failed };
    if global.json || !terminal::is_watched() {
        terminal::json(&json!({
            "intact": is_intact,
            "found": !report.is_absent,
            "segments": report.n_segments,
            "records": report.n_records,
            "sealed": report.n_sealed,
            "unsealed_tail": report.unsealed_tail,
            "broken": report.broken.as_ref().map(|broken| json!({
                "segment": broken.segment, "line": broken.line, "seq": broken.seq, "why": broken.why,
            })),
            "open_intents": report.open_intents.iter().map(|intent| json!({
                "call_id": intent.call_id, "tool": intent.tool, "timestamp": rfc3339(intent.time),
            })).collect::<Vec<_>>(),
            "notes": report.notes,
        }));
        return exit;
    }
    if report.is_absent {
        return exit;
    }
    match &report.broken {
        Some(broken) => terminal::say(&format!(
            "{}  {} line {} (record {}): {}",
            "broken".red().bold(),
            one_line(&broken.segment),
            broken.line,
            broken.seq,
            one_line(&broken.why)
        )),
        None => terminal::say(&format!(
            "{}  {} records in {} segments, {} sealed",
            "intact".green().bold(),
            report.n_records,
            report.n_segments,
            report.n_sealed
        )),
    }
    for intent in &report.open_intents {
        terminal::say(&format!(
            "intent without outcome: {} {} at {}",
            one_line(&intent.call_id),
            one_line(&intent.tool),
            rfc3339(intent.time)
        ));
    }
    for note in &report.notes {
        terminal::say(&format!("note: {}", one_line(note)));
    }
    exit
}
