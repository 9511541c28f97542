//! How a record is written. This format is a public contract: `fields` describes it, `read` reads it back.
//!
//! Pure: the place in the chain and the time are arguments.

use std::fmt::Write as _;
use std::net::IpAddr;

use vambrace_redact::Mark;
use vambrace_types::{Caller, Timestamp, Tree, json_text_len, write_json_text};

use crate::chain::Tip;
use crate::entry::{CallEntry, Intent, Outcome};
use crate::event::EventKind;
use crate::violation::Violation;
use crate::words::{RecordKind, Severity, Verdict};
use crate::{moment, subject};

/// No record is longer, newline included. The bounds below add up to less, and a test builds the longest one.
pub(crate) const LONGEST_RECORD: usize = 80 * 1024;

// LIMIT: bounds in bytes of JSON. What is cut says so, in place or by a flag.
const INPUT: usize = 36 * 1024;
const INPUT_HEAD: usize = 16 * 1024;
const RESULT: usize = 4 * 1024;
const RESULT_HEAD: usize = 2 * 1024;
const DETAILS: usize = 36 * 1024;
const LONG: usize = 4 * 1024;
const SHORT: usize = 512;
/// Numbered secrets of one call; more are counted.
const MARKS: usize = 64;
/// The longest session id, every byte escaped.
const SESSION: usize = 1600;

/// Where a record stands: behind `tip`, at `time`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    pub(crate) tip: Tip,
    pub(crate) time: Timestamp,
}

/// An event with its texts borrowed; the texts are ours or redacted.
pub(crate) struct EventLine<'a> {
    pub(crate) event: &'static str,
    pub(crate) severity: Severity,
    pub(crate) caller: Option<&'a str>,
    pub(crate) by: Option<&'a str>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) details: &'a Tree,
}

impl<'a> EventLine<'a> {
    /// Of the record about itself.
    pub(crate) fn own(kind: EventKind, severity: Severity, message: &'a str) -> EventLine<'a> {
        const NOTHING: &Tree = &Tree::Null;
        EventLine {
            event: kind.as_str(),
            severity,
            caller: None,
            by: None,
            call_id: None,
            message,
            details: NOTHING,
        }
    }
}

/// As the two below, all of a record but its beginning, which needs the chain's lock.
pub(crate) fn intent(out: &mut String, call: &CallEntry, intent: &Intent) {
    let mut record = Object::resume(out);
    write_call(&mut record, call);
    // An intent is written for a permit, so the decision is known.
    record.word("decision", Verdict::Allow.as_str());
    record.text("rule", &intent.rule, SHORT);
    if *intent.plan.as_tree() != Tree::Null {
        record.tree("plan", "plan_truncated", intent.plan.as_tree(), RESULT, RESULT_HEAD);
    }
    record.word("enforcement", intent.enforcement.as_str());
    record.word("severity", intent.severity.as_str());
    record.maybe_text("git_commit", intent.checkpoint.as_deref(), SHORT);
    record.end_line();
}

pub(crate) fn outcome(out: &mut String, call: &CallEntry, outcome: &Outcome) {
    let mut record = Object::resume(out);
    write_call(&mut record, call);
    record.word("decision", outcome.verdict.as_str());
    record.text("rule", &outcome.rule, SHORT);
    record.word("ending", outcome.ending.as_str());
    record.flag("success", outcome.ending.is_success());
    if let Some((code, message)) = &outcome.error {
        record.word("code", code.as_str());
        record.text("message", message.as_str(), LONG);
    }
    record.tree("result", "result_truncated", outcome.result.as_tree(), RESULT, RESULT_HEAD);
    record.number("duration_ms", outcome.duration_ms);
    record.number("redactions", outcome.redactions as u64);
    write_marks(&mut record, &outcome.marks);
    record.flag("truncated", outcome.truncated);
    record.word("enforcement", outcome.enforcement.as_str());
    record.word("severity", outcome.severity.as_str());
    record.maybe_text("git_commit", outcome.checkpoint.as_deref(), SHORT);
    if let Some(violation) = &outcome.violation {
        let mut inner = record.object("violation");
        inner.word("violation_type", violation.kind.as_str());
        write_target(&mut inner, violation);
        inner.end();
    }
    record.end_line();
}

pub(crate) fn event(out: &mut String, event: &EventLine<'_>) {
    let mut record = Object::resume(out);
    record.word("event", event.event);
    record.word("severity", event.severity.as_str());
    record.maybe_text("caller_id", event.caller, SHORT);
    record.maybe_text("by", event.by, SHORT);
    record.maybe_text("call_id", event.call_id, SHORT);
    record.text("message", event.message, LONG);
    if *event.details != Tree::Null {
        record.tree("details", "details_truncated", event.details, DETAILS, INPUT_HEAD);
    }
    record.end_line();
}

/// The security stream's line: the five members of specification 004 and the call.
pub(crate) fn violation(
    out: &mut String,
    time: Timestamp,
    agent: &str,
    call_id: &str,
    violation: &Violation,
) {
    let mut record = Object::begin(out);
    record.time("timestamp", time);
    record.text("agent_id", agent, subject::JSON_LIMIT);
    record.word("violation_type", violation.kind.as_str());
    write_target(&mut record, violation);
    record.text("call_id", call_id, SHORT);
    record.end_line();
}

/// The beginning of a record: its place in the chain, and what kind it is.
pub(crate) fn begin(out: &mut String, stamp: Stamp, kind: RecordKind) {
    let mut record = Object::begin(out);
    record.number("seq", stamp.tip.count + 1);
    record.key("prev");
    record.out.push('"');
    stamp.tip.hash.write_hex(record.out);
    record.out.push('"');
    record.time("timestamp", stamp.time);
    record.word("kind", kind.as_str());
}

fn write_call(record: &mut Object<'_>, call: &CallEntry) {
    record.text("call_id", call.call_id.as_str(), SHORT);
    record.text("session_id", call.session_id.as_str(), SESSION);
    write_caller(record, &call.caller);
    if let Some(address) = call.address {
        record.key("client_ip");
        // An address needs no escape.
        record.out.push('"');
        write_address(address, record.out);
        record.out.push('"');
    }
    record.maybe_text("request_id", call.request_id.as_ref().map(|id| id.as_str()), SHORT);
    record.text("tool", call.tool.as_str(), SHORT);
    record.word("purpose", call.purpose.as_str());
    record.tree("input", "input_truncated", call.input.as_tree(), INPUT, INPUT_HEAD);
    record.maybe_text("reason", call.reason.as_ref().map(|reason| reason.as_str()), LONG);
    record.flag("dry_run", call.dry_run);
    if let Some(volume) = call.volume {
        record.number("volume", volume.device());
    }
}

/// As its `Display` does, which pads and so writes it twice.
fn write_address(address: IpAddr, out: &mut String) {
    match address {
        IpAddr::V4(address) => {
            for (place, octet) in address.octets().into_iter().enumerate() {
                if place > 0 {
                    out.push('.');
                }
                write_number(u64::from(octet), out);
            }
        }
        // Writing to a string cannot fail.
        IpAddr::V6(address) => drop(write!(out, "{address}")),
    }
}

/// Digit by digit: the machinery of formats takes longer than all the digits.
fn write_number(number: u64, out: &mut String) {
    let mut digits = [0; 20];
    let (mut rest, mut start) = (number, digits.len());
    for digit in digits.iter_mut().rev() {
        // The remainder is one digit.
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        start -= 1;
        if rest == 0 {
            break;
        }
    }
    let (_, digits) = digits.split_at(start);
    out.push_str(str::from_utf8(digits).unwrap_or_default());
}

fn write_caller(record: &mut Object<'_>, caller: &Caller) {
    record.text("caller_id", &caller.id, SHORT);
    record.maybe_text("context", caller.context.as_deref(), SHORT);
    record.maybe_text("task", caller.task.as_ref().map(|task| task.id.as_str()), SHORT);
    record.maybe_text("user_id", caller.user.as_deref(), SHORT);
    record.maybe_text("user_email", caller.email.as_deref(), SHORT);
    record.maybe_text("subject", caller.subject.as_deref(), LONG);
    record.key("user_groups");
    record.out.push('[');
    let start = record.out.len();
    for (place, group) in caller.groups.iter().enumerate() {
        if place > 0 {
            record.out.push(',');
        }
        if record.out.len() - start > LONG {
            write_text(&format!("… [{} more]", caller.groups.len() - place), SHORT, record.out);
            break;
        }
        write_text(group, SHORT, record.out);
    }
    record.out.push(']');
    record.word("role", caller.role.as_str());
    record.word("door", caller.door.as_str());
}

fn write_marks(record: &mut Object<'_>, marks: &[Mark]) {
    if marks.is_empty() {
        return;
    }
    record.key("marks");
    record.out.push('[');
    for (place, mark) in marks.iter().take(MARKS).enumerate() {
        if place > 0 {
            record.out.push(',');
        }
        // Names of rules and digits need no escape. Writing to a string cannot fail.
        let Mark { rule, number, fingerprint } = mark;
        let _ = write!(record.out, r#"{{"marker":"{rule}#{number}","fingerprint":"{fingerprint}"}}"#);
    }
    record.out.push(']');
    if let n_more @ 1.. = marks.len().saturating_sub(MARKS) {
        record.number("marks_left_off", n_more as u64);
    }
}

fn write_target(record: &mut Object<'_>, violation: &Violation) {
    record.text("target_path", violation.target.as_str(), LONG);
    record.key("command_args");
    match &violation.command_args {
        Some(arguments) => write_text(arguments.as_str(), LONG, record.out),
        None => record.out.push_str("null"),
    }
}

/// A JSON object under construction. Keys are ours and need no escape.
pub(crate) struct Object<'a> {
    out: &'a mut String,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn begin(out: &'a mut String) -> Object<'a> {
        out.push('{');
        Object { out, empty: true }
    }

    /// Goes on in one that was begun and has a member.
    fn resume(out: &'a mut String) -> Object<'a> {
        Object { out, empty: false }
    }

    fn key(&mut self, name: &str) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
    }

    /// One of our own words, which need no escape.
    fn word(&mut self, name: &str, word: &'static str) {
        self.key(name);
        self.out.push('"');
        self.out.push_str(word);
        self.out.push('"');
    }

    pub(crate) fn text(&mut self, name: &str, value: &str, limit: usize) {
        self.key(name);
        write_text(value, limit, self.out);
    }

    pub(crate) fn maybe_text(&mut self, name: &str, value: Option<&str>, limit: usize) {
        if let Some(value) = value {
            self.text(name, value, limit);
        }
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.key(name);
        write_number(value, self.out);
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.key(name);
        self.out.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn time(&mut self, name: &str, time: Timestamp) {
        self.key(name);
        self.out.push('"');
        moment::write(time, self.out);
        self.out.push('"');
    }

    /// JSON that somebody else has written and bounded.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.key(name);
        self.out.push_str(json);
    }

    /// A tree, or beyond `limit` the first part of its JSON as a text, and a flag that says so.
    pub(crate) fn tree(&mut self, name: &str, flag: &str, tree: &Tree, limit: usize, head: usize) {
        self.key(name);
        let start = self.out.len();
        if write_tree(tree, start + limit, self.out).is_err() {
            let part = self.out.split_off(start);
            write_text(&part, head, self.out);
            self.flag(flag, true);
        }
    }

    fn object(&mut self, name: &str) -> Object<'_> {
        self.key(name);
        Object::begin(self.out)
    }

    pub(crate) fn end(self) {
        self.out.push('}');
    }

    pub(crate) fn end_line(self) {
        self.out.push_str("}\n");
    }
}

struct Full;

/// Writes until `out` is `end` bytes long, so that a hundred megabytes of input cost no more than the bound.
fn write_tree(tree: &Tree, end: usize, out: &mut String) -> Result<(), Full> {
    match tree {
        Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) => tree.write_json(out),
        Tree::Text(text) => write_leaf(text, end, out)?,
        Tree::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_tree(item, end, out)?;
            }
            out.push(']');
        }
        Tree::Map(entries) => {
            out.push('{');
            for (place, (key, value)) in entries.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_leaf(key, end, out)?;
                out.push(':');
                write_tree(value, end, out)?;
            }
            out.push('}');
        }
    }
    if out.len() > end { Err(Full) } else { Ok(()) }
}

fn write_leaf(text: &str, end: usize, out: &mut String) -> Result<(), Full> {
    let room = end.saturating_sub(out.len());
    if text.len() <= room {
        write_json_text(text, out);
        return if out.len() > end { Err(Full) } else { Ok(()) };
    }
    let (part, _) = text.split_at(text.floor_char_boundary(room));
    write_json_text(part, out);
    Err(Full)
}

/// A JSON string of at most `limit` bytes, quotes included; a cut is said in the text itself.
pub(crate) fn write_text(text: &str, limit: usize, out: &mut String) {
    // The common case needs no second look: even if every byte were escaped, it would fit.
    if text.len() * 6 + 2 <= limit || json_text_len(text) <= limit {
        return write_json_text(text, out);
    }
    let note = format!(" … [cut from {} bytes]", text.len());
    let mut room = limit.saturating_sub(note.len() + 2);
    let mut end = 0;
    for character in text.chars() {
        let length = character.len_utf8();
        let cost =
            if character.is_ascii() { json_text_len(character.encode_utf8(&mut [0; 4])) - 2 } else { length };
        if cost > room {
            break;
        }
        room -= cost;
        end += length;
    }
    let (part, _) = text.split_at(end);
    write_json_text(&format!("{part}{note}"), out);
}

#[cfg(test)]
mod tests;
