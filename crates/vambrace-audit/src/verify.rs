//! Reads the whole record and names the first place where it does not hold.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::Path;

use ed25519_dalek::VerifyingKey;
use serde::Deserialize;
use vambrace_types::Timestamp;

use crate::chain::Tip;
use crate::event::EventKind;
use crate::registry::{self, Listing};
use crate::scan::{Scan, scan};
use crate::words::RecordKind;
use crate::{AuditError, disk, key, moment, read, segment};

/// What the record looks like from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    pub n_segments: u64,
    pub n_records: u64,
    /// Records that a signed head covers.
    pub n_sealed: u64,
    /// Chained records behind the heads: written in the last moment, or before a crash.
    pub unsealed_tail: u64,
    /// Records that no head covered when the next process took their segment over. Each time is in the notes.
    pub n_adopted: u64,
    /// The first thing that is wrong. Others, if any, are in the notes.
    pub broken: Option<Broken>,
    /// Effects that were begun and of which no end is known.
    pub open_intents: Vec<OpenIntent>,
    pub notes: Vec<String>,
    /// Nothing has ever been recorded in this folder, so there is nothing that could be intact.
    pub is_absent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The segment's name, or the name of the registry's or the key's file.
    pub segment: String,
    /// From one; zero when it is about the file as a whole.
    pub line: u64,
    /// What the line's `seq` is or should be; the same number.
    pub seq: u64,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    pub call_id: String,
    pub tool: String,
    pub time: Timestamp,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.segment, self.why),
            line => write!(f, "{} line {line}: {}", self.segment, self.why),
        }
    }
}

pub fn verify(dir: &Path) -> Result<VerifyReport, AuditError> {
    let mut check = Check::default();
    // The files first, then the registry: a segment made in between is then listed, not smuggled in.
    let present = read::segment_names(dir)?;
    let (bytes, head) = match registry::read_files(dir) {
        Ok(files) => files,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            check.without_registry(dir, &present)?;
            return Ok(check.report);
        }
        Err(cause) => return Err(AuditError::io("read", &registry::path(dir))(cause)),
    };
    let listing = match registry::parse(&bytes, &head) {
        Ok(listing) => listing,
        Err(fault) => {
            check.broken(registry::NAME, fault.line, fault.why);
            return Ok(check.report);
        }
    };
    if listing.torn > 0 {
        let note = format!("{}: an unfinished line of {} bytes at the end", registry::NAME, listing.torn);
        check.report.notes.push(note);
    }
    check.pinned(dir, &listing.public_key);
    for name in &listing.segments {
        check.segment(dir, name, &listing.public_key)?;
    }
    check.strangers(dir, &present, &listing)?;
    check.report.open_intents = check.open.into_values().collect();
    Ok(check.report)
}

#[derive(Default)]
struct Check {
    report: VerifyReport,
    open: BTreeMap<String, OpenIntent>,
}

#[derive(Deserialize)]
struct CallLine<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    event: Option<Cow<'a, str>>,
    call_id: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    timestamp: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Adoption {
    details: Unsigned,
}

#[derive(Deserialize)]
struct Unsigned {
    n_unsigned: u64,
}

impl Check {
    fn broken(&mut self, segment: &str, line: u64, why: impl Into<String>) {
        let found = Broken { segment: segment.to_owned(), line, seq: line, why: why.into() };
        if self.report.broken.is_some() {
            self.report.notes.push(format!("also broken: {found}"));
        } else {
            self.report.broken = Some(found);
        }
    }

    fn without_registry(&mut self, dir: &Path, present: &[String]) -> Result<(), AuditError> {
        let key = key::private_path(dir);
        let has_key = std::fs::exists(&key).map_err(AuditError::io("look at", &key))?;
        if present.is_empty() && !has_key {
            self.report.notes.push("nothing has been recorded here".to_owned());
            self.report.is_absent = true;
        } else {
            self.broken(registry::NAME, 0, "the registry is missing");
        }
        Ok(())
    }

    fn pinned(&mut self, dir: &Path, listed: &VerifyingKey) {
        match key::pinned(dir) {
            Ok(pinned) if pinned == *listed => {}
            Ok(_) => self.broken("audit.pub", 0, "the pinned public key is not the one in the registry"),
            Err(why) => self.broken("audit.pub", 0, why),
        }
    }

    fn segment(&mut self, dir: &Path, name: &str, pinned: &VerifyingKey) -> Result<(), AuditError> {
        self.report.n_segments += 1;
        // The head first: the file only grows, so what is read next is at least as long.
        let head = segment::read_head(dir, name, pinned);
        let path = segment::record_path(dir, name);
        let file = match disk::open_to_read(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.broken(name, 0, "the segment was deleted");
                return Ok(());
            }
            Err(cause) => return Err(AuditError::io("open", &path)(cause)),
        };
        let sealed = head.as_ref().ok().map(|head| head.tip);
        let reader = BufReader::with_capacity(1 << 16, file);
        let (open, report) = (&mut self.open, &mut self.report);
        let each = |number, line: &[u8]| {
            let Some(record) = vambrace_json::own_line::<CallLine<'_>>(line) else { return };
            if record.event.as_deref() == Some(EventKind::Adopted.as_str()) {
                let n_unsigned = n_unsigned(line);
                report.n_adopted = report.n_adopted.saturating_add(n_unsigned);
                report.notes.push(format!(
                    "{name}: the {n_unsigned} records before line {number} were not signed when the next process went on behind them"
                ));
            }
            follow_call(open, record);
        };
        let Scan { tip, torn, fault } =
            scan(Tip::start(name), sealed, reader, each).map_err(AuditError::io("read", &path))?;
        self.report.n_records += tip.count;
        let n_sealed = sealed.map_or(0, |sealed| sealed.count.min(tip.count));
        self.report.n_sealed += n_sealed;
        self.report.unsealed_tail += tip.count - n_sealed;
        if let Some(fault) = fault {
            self.broken(name, fault.line, fault.why);
        } else if torn > 0 {
            self.report.notes.push(format!("{name}: an unfinished line of {torn} bytes at the end"));
        }
        if let Err(why) = head {
            self.broken(name, 0, why);
        }
        Ok(())
    }

    /// Files that the registry does not know.
    fn strangers(&mut self, dir: &Path, present: &[String], listing: &Listing) -> Result<(), AuditError> {
        let known: BTreeSet<&String> = listing.segments.iter().collect();
        for name in present.iter().filter(|name| !known.contains(name)) {
            let path = segment::record_path(dir, name);
            let length = std::fs::symlink_metadata(&path).map_err(AuditError::io("look at", &path))?.len();
            if length == 0 {
                // A crash between making a segment and listing it leaves just this.
                self.report.notes.push(format!("{name}: an empty file that the registry does not list"));
            } else {
                self.broken(name, 0, "the registry does not list this segment");
            }
        }
        for name in &listing.set_aside {
            self.report.notes.push(format!("{name}: set aside earlier, because it contradicted its head"));
        }
        Ok(())
    }
}

fn n_unsigned(line: &[u8]) -> u64 {
    vambrace_json::own_line::<Adoption>(line).map_or(0, |adoption| adoption.details.n_unsigned)
}

fn follow_call(open: &mut BTreeMap<String, OpenIntent>, line: CallLine<'_>) {
    let (Some(kind), Some(call_id)) = (RecordKind::parse(&line.kind), line.call_id) else { return };
    match kind {
        RecordKind::Intent => {
            let intent = OpenIntent {
                call_id: call_id.clone().into_owned(),
                tool: line.tool.unwrap_or_default().into_owned(),
                time: moment::parse(&line.timestamp).unwrap_or(Timestamp::from_millis(0)),
            };
            open.insert(call_id.into_owned(), intent);
        }
        RecordKind::Outcome => {
            open.remove(call_id.as_ref());
        }
        RecordKind::Event => {}
    }
}
