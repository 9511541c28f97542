//! The viewer: reads the folder as it is, without a lock, while others may write.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use vambrace_json::Limits;
use vambrace_redact::Fingerprint;
use vambrace_types::{ErrorCode, Timestamp, owner_of};

use crate::line::LONGEST_RECORD;
use crate::registry::{is_plain, segments_dir};
use crate::words::{RecordKind, Verdict};
use crate::{AuditError, alert, disk, moment, segment, subject};

/// Which records to list. Every condition that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only so many, the newest.
    pub last: Option<usize>,
    pub caller: Option<String>,
    /// As `Caller::owner` names it.
    pub owner: Option<String>,
    pub tool: Option<String>,
    pub verdict: Option<Verdict>,
    pub since: Option<Timestamp>,
    /// Only calls of the request with this name.
    pub request: Option<String>,
    /// Only outcomes in which this secret was shown under a number.
    pub secret: Option<Fingerprint>,
}

/// A record in short: outcomes, events, and intents that have no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub segment: String,
    pub seq: u64,
    pub time: Timestamp,
    pub kind: RecordKind,
    /// What happened, for events.
    pub event: Option<String>,
    pub call_id: Option<String>,
    pub session_id: Option<String>,
    pub caller: Option<String>,
    /// To whom it belongs: the caller, and the person it speaks for. None: operators alone.
    pub owner: Option<String>,
    pub client_ip: Option<String>,
    pub request_id: Option<String>,
    pub tool: Option<String>,
    pub verdict: Option<Verdict>,
    pub rule: Option<String>,
    pub ending: Option<String>,
    pub code: Option<String>,
    pub message: Option<String>,
    pub dry_run: bool,
    pub duration_ms: Option<u64>,
    pub severity: Option<String>,
    pub git_commit: Option<String>,
    /// Secrets that were shown under a number: the marker's name and number, and how the value is looked up.
    pub marks: Vec<MarkEntry>,
    /// How many more there were than `marks` holds. A secret among them cannot be found.
    pub marks_left_off: u64,
}

/// One secret of a call, as the record names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkEntry {
    /// As in the placeholder, for instance `github-token#1`.
    pub marker: String,
    pub fingerprint: Fingerprint,
}

/// A record as it stands in its segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub segment: String,
    pub line: u64,
    /// To whom it belongs: the caller, and the person it speaks for.
    pub owner: Option<String>,
    pub json: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRecord {
    pub time: Timestamp,
    pub rule: String,
    pub caller: String,
    pub action: String,
    pub call_id: String,
}

#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    kind: Cow<'a, str>,
    event: Option<String>,
    call_id: Option<String>,
    session_id: Option<String>,
    caller_id: Option<String>,
    user_id: Option<Cow<'a, str>>,
    user_email: Option<Cow<'a, str>>,
    subject: Option<Cow<'a, str>>,
    context: Option<Cow<'a, str>>,
    task: Option<Cow<'a, str>>,
    client_ip: Option<String>,
    request_id: Option<String>,
    tool: Option<String>,
    decision: Option<Cow<'a, str>>,
    rule: Option<String>,
    ending: Option<String>,
    code: Option<String>,
    message: Option<String>,
    #[serde(default)]
    dry_run: bool,
    duration_ms: Option<u64>,
    severity: Option<String>,
    git_commit: Option<String>,
    #[serde(default)]
    marks: Vec<MarkLine<'a>>,
    #[serde(default)]
    marks_left_off: u64,
}

#[derive(Deserialize)]
struct MarkLine<'a> {
    #[serde(borrow)]
    marker: Cow<'a, str>,
    fingerprint: Cow<'a, str>,
}

/// The records that pass the filter, oldest first.
pub fn list(dir: &Path, filter: &Filter) -> Result<Vec<Entry>, AuditError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut open: BTreeMap<String, Entry> = BTreeMap::new();
    each_record(dir, |segment, _, line| {
        let Some(entry) = entry(segment, line) else { return Ok(()) };
        match (entry.kind, &entry.call_id) {
            (RecordKind::Intent, Some(id)) => {
                open.insert(id.clone(), entry);
                return Ok(());
            }
            (RecordKind::Outcome, Some(id)) => {
                open.remove(id);
            }
            (RecordKind::Event, _) | (RecordKind::Intent | RecordKind::Outcome, None) => {}
        }
        if filter.passes(&entry) {
            entries.push(entry);
            // Twice as many as asked for, so that sorting is rare and memory stays bounded.
            if filter.last.is_some_and(|last| entries.len() > last.saturating_mul(2) + 1024) {
                filter.keep_newest(&mut entries);
            }
        }
        Ok(())
    })?;
    entries.extend(open.into_values().filter(|entry| filter.passes(entry)));
    filter.keep_newest(&mut entries);
    Ok(entries)
}

/// Every record of one call.
pub fn show(dir: &Path, call_id: &str) -> Result<Vec<Record>, AuditError> {
    let mut records = Vec::new();
    each_record(dir, |segment, number, line| {
        let entry = entry(segment, line).filter(|entry| entry.call_id.as_deref() == Some(call_id));
        if let Some(entry) = entry {
            let json = String::from_utf8_lossy(line).into_owned();
            records.push(Record { segment: segment.to_owned(), line: number, owner: entry.owner, json });
        }
        Ok(())
    })?;
    // Events of a call belong to whom the call belongs.
    let owner = records.iter().find_map(|record| record.owner.clone());
    for record in &mut records {
        record.owner = owner.clone();
    }
    Ok(records)
}

/// Every alert, oldest first.
pub fn alerts(dir: &Path) -> Result<Vec<AlertRecord>, AuditError> {
    #[derive(Deserialize)]
    struct AlertLine {
        timestamp: String,
        rule: String,
        caller: String,
        action: String,
        call_id: String,
    }
    let path = alert::path(dir);
    let mut alerts = Vec::new();
    let read = each_line(&path, |_, line| {
        if let Some(line) = vambrace_json::own_line::<AlertLine>(line)
            && let Some(time) = moment::parse(&line.timestamp)
        {
            let AlertLine { rule, caller, action, call_id, .. } = line;
            alerts.push(AlertRecord { time, rule, caller, action, call_id });
        }
        Ok(())
    });
    match read {
        Err(AuditError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map(|()| alerts),
    }
}

/// What the record knows of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Acquaintance {
    /// Whether anybody called by it.
    pub(crate) is_known: bool,
    /// Whom an issuer of tokens meant by it: people change their names, these stay.
    pub(crate) subjects: BTreeSet<String>,
}

pub(crate) fn acquaintance(dir: &Path, name: &str) -> Result<Acquaintance, AuditError> {
    #[derive(Deserialize)]
    struct Who<'a> {
        #[serde(borrow)]
        kind: Cow<'a, str>,
        caller_id: Option<Cow<'a, str>>,
        user_id: Option<Cow<'a, str>>,
        user_email: Option<Cow<'a, str>>,
        subject: Option<Cow<'a, str>>,
        code: Option<Cow<'a, str>>,
    }
    let name = subject::of(name);
    let mut found = Acquaintance::default();
    each_record(dir, |_, _, line| {
        let Some(who) = vambrace_json::own_line::<Who<'_>>(line) else { return Ok(()) };
        let names = [&who.caller_id, &who.user_id, &who.user_email, &who.subject];
        let is_one = names.into_iter().flatten().any(|known| subject::of(known) == name);
        // As alerts name people behind a caller that speaks for several.
        let behind = || {
            let person = who.user_email.as_deref().or(who.user_id.as_deref());
            who.caller_id
                .as_deref()
                .zip(person)
                .is_some_and(|(id, person)| subject::behind(id, person) == name)
        };
        // An event may be a person's own word about somebody who never called.
        let is_call = RecordKind::parse(&who.kind).is_some_and(|kind| kind != RecordKind::Event);
        if is_call && (is_one || behind()) {
            found.is_known = true;
            // THREAT: P12, somebody who is stopped takes another's name: that one's release must not be theirs.
            if who.code.as_deref() != Some(ErrorCode::Suspended.as_str()) {
                found.subjects.extend(who.subject.map(Cow::into_owned));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

impl Filter {
    fn passes(&self, entry: &Entry) -> bool {
        let same = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        same(&self.caller, &entry.caller)
            && same(&self.owner, &entry.owner)
            && same(&self.tool, &entry.tool)
            && same(&self.request, &entry.request_id)
            && (self.verdict.is_none() || self.verdict == entry.verdict)
            && self.since.is_none_or(|since| entry.time >= since)
            && self.secret.is_none_or(|secret| entry.marks.iter().any(|mark| mark.fingerprint == secret))
    }

    fn keep_newest(&self, entries: &mut Vec<Entry>) {
        // Segments overlap in time. The sort is stable, so records of one segment keep their order.
        entries.sort_by_key(|entry| entry.time);
        let surplus = self.last.map_or(0, |last| entries.len().saturating_sub(last));
        entries.drain(..surplus);
    }
}

/// A record with everything in it, also what tools and callers wrote.
pub(crate) fn whole(line: &[u8]) -> Option<Map<String, Value>> {
    match vambrace_json::read(line, Limits::document(LONGEST_RECORD)).ok()? {
        Value::Object(record) => Some(record),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn entry(segment: &str, file_line: &[u8]) -> Option<Entry> {
    let line: Line<'_> = vambrace_json::own_line(file_line)?;
    let kind = RecordKind::parse(&line.kind)?;
    let owner = match kind {
        // THREAT: P13, an event names a caller and not the person behind it.
        RecordKind::Event => None,
        RecordKind::Intent | RecordKind::Outcome => line.caller_id.as_deref().map(|id| {
            let (user, email) = (line.user_id.as_deref(), line.user_email.as_deref());
            let (context, task) = (line.context.as_deref(), line.task.as_deref());
            owner_of(id, user, email, line.subject.as_deref(), context, task)
        }),
    };
    let details = (kind == RecordKind::Event).then(|| whole(file_line)?.remove("details")).flatten();
    let detail = |name: &str| Some(details.as_ref()?.get(name)?.as_str()?.to_owned());
    Some(Entry {
        segment: segment.to_owned(),
        seq: line.seq,
        time: moment::parse(&line.timestamp)?,
        kind,
        event: line.event,
        call_id: line.call_id,
        session_id: line.session_id,
        owner,
        caller: line.caller_id,
        client_ip: line.client_ip.or_else(|| detail("client_ip")),
        request_id: line.request_id.or_else(|| detail("request_id")),
        tool: line.tool,
        verdict: line.decision.as_deref().and_then(Verdict::parse),
        rule: line.rule,
        ending: line.ending,
        code: line.code,
        message: line.message,
        dry_run: line.dry_run,
        duration_ms: line.duration_ms,
        severity: line.severity,
        git_commit: line.git_commit,
        marks: line.marks.into_iter().filter_map(mark).collect(),
        marks_left_off: line.marks_left_off,
    })
}

fn mark(line: MarkLine<'_>) -> Option<MarkEntry> {
    Some(MarkEntry { fingerprint: line.fingerprint.parse().ok()?, marker: line.marker.into_owned() })
}

/// The names of the segment files that exist, in the order in which they were made.
pub(crate) fn segment_names(dir: &Path) -> Result<Vec<String>, AuditError> {
    let folder = segments_dir(dir);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(AuditError::io("list", &folder)(cause)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let file = entry.map_err(AuditError::io("list", &folder))?.file_name();
        if let Some(name) =
            file.to_str().and_then(|file| file.strip_suffix(".jsonl")).filter(|name| is_plain(name))
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Hands over every whole line of every segment, with its number from one.
pub(crate) fn each_record(
    dir: &Path,
    mut each: impl FnMut(&str, u64, &[u8]) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    for name in segment_names(dir)? {
        each_line(&segment::record_path(dir, &name), |number, line| each(&name, number, line))?;
    }
    Ok(())
}

/// What is longer than a record is not one, and the rest of that file is `verify`'s business.
fn each_line(
    path: &Path,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    let file = disk::open_to_read(path).map_err(AuditError::io("open", path))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bounded = reader.by_ref().take(LONGEST_RECORD as u64);
        bounded.read_until(b'\n', &mut line).map_err(AuditError::io("read", path))?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            break;
        }
        each(number, &line)?;
    }
    Ok(())
}
