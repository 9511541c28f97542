//! The list of every segment ever made, itself a chain with a signed head, so that a deleted segment shows.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ed25519_dalek::{SigningKey, VerifyingKey};
use serde::Deserialize;
use vambrace_types::Timestamp;

use crate::chain::{Hash, Head, Tip, hex};
use crate::line::Object;
use crate::scan::{Fault, scan};
use crate::{AuditError, disk, key, standing};

/// The name under which the registry's chain starts and its head is signed.
pub(crate) const NAME: &str = "segments.jsonl";
const WHY_LIMIT: usize = 512;
// LIMIT: some three hundred thousand segments, twenty terabytes of records.
const LONGEST: u64 = 64 << 20;
const LONGEST_HEAD: u64 = 1024;

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

pub(crate) fn head_path(dir: &Path) -> PathBuf {
    dir.join("segments.head")
}

pub(crate) fn segments_dir(dir: &Path) -> PathBuf {
    dir.join("segments")
}

/// What the registry says.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) public_key: VerifyingKey,
    /// Which book of standings belongs to this record.
    standing_id: String,
    /// In the order in which they were made.
    pub(crate) segments: Vec<String>,
    /// Segments that contradicted their head when somebody wanted to go on in them.
    pub(crate) set_aside: BTreeSet<String>,
    tip: Tip,
    pub(crate) torn: usize,
}

#[derive(Deserialize)]
struct Line {
    event: String,
    segment: Option<String>,
    public_key: Option<String>,
    standing_id: Option<String>,
}

/// Pure: the bytes of the registry and of its head, or the first line that does not hold.
pub(crate) fn parse(bytes: &[u8], head: &[u8]) -> Result<Listing, Fault> {
    let fault = |line, why: &str| Fault { line, why: why.to_owned() };
    let head =
        Head::parse(head).ok_or_else(|| fault(0, "the registry's head is missing or cannot be read"))?;
    let (mut public_key, mut standing_id) = (None, None);
    let (mut segments, mut set_aside) = (Vec::new(), BTreeSet::new());
    let mut odd = None;
    let each = |number, line: &[u8]| {
        let line: Option<Line> = vambrace_json::own_line(line);
        let named = |line: &Line| line.segment.clone().filter(|name| is_plain(name));
        match line.as_ref().map(|line| (line.event.as_str(), line)) {
            Some(("made", line)) if number == 1 => {
                public_key = line.public_key.as_deref().and_then(key::parse_public);
                standing_id = line.standing_id.clone();
            }
            Some(("segment", line)) => segments.extend(named(line)),
            Some(("set_aside", line)) => set_aside.extend(named(line)),
            Some(_) | None => odd = odd.or(Some(number)),
        }
    };
    // Reading from memory cannot fail.
    let read =
        scan(Tip::start(NAME), Some(head.tip), bytes, each).map_err(|cause| fault(0, &cause.to_string()))?;
    if let Some(found) = read.fault {
        return Err(found);
    }
    if let Some(line) = odd {
        return Err(fault(line, "the line is no entry of a registry"));
    }
    let public_key = public_key.ok_or_else(|| fault(1, "the first line names no public key"))?;
    let standing_id = standing_id.ok_or_else(|| fault(1, "the first line names no book of standings"))?;
    if !head.is_signed_by(NAME, &public_key) {
        return Err(fault(0, "the registry's head is not signed by the key in its first line"));
    }
    Ok(Listing { public_key, standing_id, segments, set_aside, tip: read.tip, torn: read.torn })
}

/// A name that is a file name and nothing else, whoever wrote the registry.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(crate) fn read_files(dir: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    // The head first: the registry only grows, so what is read next is at least as long.
    let head = match disk::read_small(&head_path(dir), LONGEST_HEAD) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    Ok((disk::read_small(&path(dir), LONGEST)?, head))
}

/// What to do where there is no record yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Founding {
    Allowed,
    /// There was a record: a folder that is gone must not come back empty, as if nothing had happened.
    Refused,
}

/// The registry, held by this process alone until it is dropped.
pub(crate) struct Registry {
    dir: PathBuf,
    key: SigningKey,
    listing: Listing,
    _lock: File,
}

/// Which book of standings belongs to the record, for who only reads.
pub(crate) fn standing_id(dir: &Path) -> Result<String, AuditError> {
    let (bytes, head) = read_files(dir).map_err(AuditError::io("read", &path(dir)))?;
    let listing = parse(&bytes, &head)
        .map_err(|fault| AuditError::broken(&path(dir), format!("line {}: {}", fault.line, fault.why)))?;
    Ok(listing.standing_id)
}

impl Registry {
    /// Waits for the lock, but not for ever.
    pub(crate) fn open(dir: &Path, now: Timestamp, founding: Founding) -> Result<Registry, AuditError> {
        if founding == Founding::Allowed {
            disk::private_dir(dir)?;
            disk::private_dir(&segments_dir(dir))?;
        }
        let lock_path = dir.join("segments.lock");
        let lock = disk::open_to_append(&lock_path).map_err(AuditError::io("open", &lock_path))?;
        disk::lock(&lock).map_err(AuditError::io("lock", &lock_path))?;
        let key = match (is_unused(dir)?, founding) {
            (true, Founding::Allowed) => found(dir, now)?,
            (true, Founding::Refused) => return Err(AuditError::broken(dir, "the record was deleted")),
            (false, Founding::Allowed | Founding::Refused) => key::load(dir)?,
        };
        let (bytes, head) = read_files(dir).map_err(AuditError::io("read", &path(dir)))?;
        let listing = parse(&bytes, &head)
            .map_err(|fault| AuditError::broken(&path(dir), format!("line {}: {}", fault.line, fault.why)))?;
        if listing.public_key != key.verifying_key() {
            return Err(AuditError::broken(
                &key::private_path(dir),
                "the key is not the one in the registry",
            ));
        }
        Ok(Registry { dir: dir.to_owned(), key, listing, _lock: lock })
    }

    pub(crate) fn key(&self) -> &SigningKey {
        &self.key
    }

    pub(crate) fn standing_id(&self) -> &str {
        &self.listing.standing_id
    }

    /// Segments in which one could go on, newest first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &String> {
        self.listing.segments.iter().rev().filter(|name| !self.listing.set_aside.contains(*name))
    }

    /// Those that somebody found damaged, now or at an earlier start.
    pub(crate) fn set_aside_so_far(&self) -> Vec<String> {
        self.listing.set_aside.iter().cloned().collect()
    }

    pub(crate) fn add_segment(&mut self, name: &str, now: Timestamp) -> Result<(), AuditError> {
        self.append(now, |line| {
            line.text("event", "segment", WHY_LIMIT);
            line.text("segment", name, WHY_LIMIT);
        })
    }

    pub(crate) fn set_aside(&mut self, name: &str, why: &str, now: Timestamp) -> Result<(), AuditError> {
        self.append(now, |line| {
            line.text("event", "set_aside", WHY_LIMIT);
            line.text("segment", name, WHY_LIMIT);
            line.text("why", why, WHY_LIMIT);
        })?;
        self.listing.set_aside.insert(name.to_owned());
        Ok(())
    }

    fn append(&mut self, now: Timestamp, fill: impl FnOnce(&mut Object<'_>)) -> Result<(), AuditError> {
        let registry = path(&self.dir);
        let line = chained(self.listing.tip, now, fill);
        let file = disk::open_existing(&registry).map_err(AuditError::io("open", &registry))?;
        if self.listing.torn > 0 {
            // A crash cut the last entry off before anybody relied on it.
            file.set_len(self.listing.tip.bytes).map_err(AuditError::io("repair", &registry))?;
            self.listing.torn = 0;
        }
        let written = disk::append_locked(&file, &line).and_then(|()| file.sync_data());
        written.map_err(AuditError::io("write", &registry))?;
        self.listing.tip = after(self.listing.tip, &line);
        write_head(&self.dir, self.listing.tip, now, &self.key)
    }
}

/// Nothing of value can be lost: there is no head and no segment. A first start that crashed also looks like this.
fn is_unused(dir: &Path) -> Result<bool, AuditError> {
    let segments = segments_dir(dir);
    let mut entries = fs::read_dir(&segments).map_err(AuditError::io("list", &segments))?;
    Ok(entries.next().is_none() && !is_founded(dir)?)
}

/// Whether there has been a record here, as opposed to a folder in which one may begin.
pub(crate) fn is_founded(dir: &Path) -> Result<bool, AuditError> {
    let head = head_path(dir);
    fs::exists(&head).map_err(AuditError::io("look at", &head))
}

/// Makes the key, the book of standings and the first line.
fn found(dir: &Path, now: Timestamp) -> Result<SigningKey, AuditError> {
    let standing_id = standing::found(dir)?;
    let key = key::make(dir)?;
    let public = hex(key.verifying_key().as_bytes());
    let line = chained(Tip::start(NAME), now, |line| {
        line.text("event", "made", WHY_LIMIT);
        line.text("public_key", &public, WHY_LIMIT);
        line.text("standing_id", &standing_id, WHY_LIMIT);
    });
    disk::replace(&path(dir), line.as_bytes()).map_err(AuditError::io("write", &path(dir)))?;
    write_head(dir, after(Tip::start(NAME), &line), now, &key)?;
    disk::sync_dir(dir).map_err(AuditError::io("sync", dir))?;
    Ok(key)
}

fn chained(tip: Tip, now: Timestamp, fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = String::new();
    let mut line = Object::begin(&mut out);
    line.number("seq", tip.count + 1);
    line.text("prev", &tip.hash.to_hex(), WHY_LIMIT);
    line.time("timestamp", now);
    fill(&mut line);
    line.end_line();
    out
}

fn after(tip: Tip, line: &str) -> Tip {
    tip.after(Hash::of(line.trim_end_matches('\n').as_bytes()), line.len())
}

fn write_head(dir: &Path, tip: Tip, now: Timestamp, key: &SigningKey) -> Result<(), AuditError> {
    let head = Head::sign(NAME, tip, now, key);
    let path = head_path(dir);
    disk::replace(&path, head.to_line().as_bytes()).map_err(AuditError::io("write", &path))
}
