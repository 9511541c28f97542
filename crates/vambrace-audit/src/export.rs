//! The record in the forms of the specifications that it is a superset of.

use std::io::Write;
use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use vambrace_types::Timestamp;

use crate::entry::Purpose;
use crate::mirror::Seed002;
use crate::words::{RecordKind, Verdict, words};
use crate::{AuditError, moment, read};

words! {
    pub enum View {
        /// The lines as they stand, of all segments.
        Full = "full",
        /// `tool_log.jsonl`: one line per call.
        Seed002 = "002",
        /// The security stream: one line per violation, five members.
        Seed004 = "004",
        /// The permission log: one line per decision.
        Seed001 = "001",
    }
}

/// Writes the view, one JSON object per line, and says how many lines.
pub fn export(dir: &Path, view: View, out: &mut dyn Write) -> Result<u64, AuditError> {
    let zone = TimeZone::system();
    let mut n_lines = 0;
    read::each_record(dir, |_, _, line| {
        let rendered = match view {
            View::Full => Some(format!("{}\n", String::from_utf8_lossy(line))),
            View::Seed002 | View::Seed004 | View::Seed001 => {
                read::whole(line).and_then(|record| render(&record, view, &zone))
            }
        };
        if let Some(text) = rendered {
            out.write_all(text.as_bytes()).map_err(AuditError::io("write the export of", dir))?;
            n_lines += 1;
        }
        Ok(())
    })?;
    Ok(n_lines)
}

fn render(record: &Map<String, Value>, view: View, zone: &TimeZone) -> Option<String> {
    if text(record, "kind") != RecordKind::Outcome.as_str() {
        return None;
    }
    match view {
        View::Full => None,
        View::Seed002 => Some(seed_002(record, zone)),
        View::Seed004 => seed_004(record),
        View::Seed001 => Some(seed_001(record)),
    }
}

fn seed_002(record: &Map<String, Value>, zone: &TimeZone) -> String {
    let time = moment::parse(text(record, "timestamp")).unwrap_or(Timestamp::from_millis(0));
    let mut out = String::new();
    Seed002 {
        timestamp: &moment::local(time, zone),
        tool: text(record, "tool"),
        input: &object(record, "input", "input_truncated"),
        result: &object(record, "result", "result_truncated"),
        success: flag(record, "success"),
        duration_ms: record.get("duration_ms").and_then(Value::as_u64).unwrap_or(0),
        conversation_id: text(record, "session_id"),
        dry_run: flag(record, "dry_run"),
        error: text(record, "message"),
        git_commit: record.get("git_commit").and_then(Value::as_str),
    }
    .write(&mut out);
    out
}

fn seed_004(record: &Map<String, Value>) -> Option<String> {
    let violation = record.get("violation")?.as_object()?;
    // The same calls that the security stream counts.
    if text(record, "decision") != Verdict::Deny.as_str() || text(record, "purpose") != Purpose::Call.as_str()
    {
        return None;
    }
    let line = json!({
        "timestamp": text(record, "timestamp"),
        "agent_id": text(record, "caller_id"),
        "violation_type": text(violation, "violation_type"),
        "target_path": text(violation, "target_path"),
        "command_args": violation.get("command_args"),
    });
    Some(format!("{line}\n"))
}

/// The members of the guide's log lines, `can_save` meaning that the call was permitted.
fn seed_001(record: &Map<String, Value>) -> String {
    let permitted = text(record, "decision") == Verdict::Allow.as_str();
    let (level, says) = match permitted {
        true => ("INFO", "permission granted"),
        false => ("WARN", "BLOCKED: insufficient permissions"),
    };
    let line = json!({
        "timestamp": text(record, "timestamp"),
        "level": level,
        "message": format!("{} {says}", text(record, "tool")),
        "caller_id": text(record, "caller_id"),
        "user_email": text(record, "user_email"),
        "user_groups": record.get("user_groups"),
        "can_save": permitted,
        "permission_reason": text(record, "rule"),
        "session_id": text(record, "session_id"),
    });
    format!("{line}\n")
}

fn text<'a>(record: &'a Map<String, Value>, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn flag(record: &Map<String, Value>, name: &str) -> bool {
    record.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// As the mirror writes it: an object, or one made around what is none or was cut.
fn object(record: &Map<String, Value>, name: &str, truncated: &str) -> String {
    match record.get(name) {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(value @ Value::Object(_)) => value.to_string(),
        Some(value) if flag(record, truncated) => json!({ "value": value, "truncated": true }).to_string(),
        Some(value) => json!({ "value": value }).to_string(),
    }
}
