//! The security stream: one line per violation, shared by all processes, and the memory of the last hour that the
//! alert rules count in.

use std::collections::VecDeque;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use vambrace_types::Timestamp;

use crate::alert::Sighting;
use crate::violation::ViolationKind;
use crate::{AuditError, disk, moment};

/// LIMIT: how much of the stream is read at once, some five thousand violations. What lies further back was written
/// within the window by somebody who set off the frequency rule long ago.
const TAIL: u64 = 1 << 20;
/// LIMIT: how many violations are kept in memory.
const REMEMBERED: usize = 16_384;

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("security.jsonl")
}

pub(crate) struct SecurityStream {
    path: PathBuf,
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    /// Which file, and how far it has been read.
    inode: u64,
    offset: u64,
    violations: VecDeque<(String, Sighting)>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: String,
    agent_id: String,
    violation_type: String,
}

impl SecurityStream {
    pub(crate) fn new(dir: &Path) -> SecurityStream {
        SecurityStream { path: path(dir), recent: Mutex::default() }
    }

    /// Writes a line, then reads what is new, that line and those of other processes included. Returns the caller's
    /// violations since its last release.
    pub(crate) fn record(
        &self,
        line: &str,
        caller: &str,
        released: Option<Timestamp>,
        now: Timestamp,
        window_ms: u64,
    ) -> Result<Vec<Sighting>, AuditError> {
        disk::append_shared(&self.path, line).map_err(AuditError::io("write", &self.path))?;
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.catch_up(&self.path).map_err(AuditError::io("read", &self.path))?;
        recent.forget(now, window_ms);
        let counts = |sighting: &Sighting| released.is_none_or(|released| sighting.time > released);
        let own = recent.violations.iter().filter(|(who, _)| who == caller).map(|(_, sighting)| *sighting);
        Ok(own.filter(counts).collect())
    }
}

impl Recent {
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let file = disk::open_to_read(path)?;
        let found = file.metadata()?;
        if found.ino() != self.inode || found.len() < self.offset {
            *self = Recent { inode: found.ino(), ..Recent::default() };
        }
        let from = self.offset.max(found.len().saturating_sub(TAIL));
        let bytes = disk::read_span(&file, from, found.len())?;
        // Another process may be in the middle of its line: that one is read next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (lines, _) = bytes.split_at(whole);
        self.violations.extend(lines.split(|byte| *byte == b'\n').filter_map(parse));
        self.offset = from + whole as u64;
        Ok(())
    }

    fn forget(&mut self, now: Timestamp, window_ms: u64) {
        self.violations.retain(|(_, sighting)| now.millis_since(sighting.time) < window_ms);
        let surplus = self.violations.len().saturating_sub(REMEMBERED);
        self.violations.drain(..surplus);
    }
}

fn parse(line: &[u8]) -> Option<(String, Sighting)> {
    let line: Line = vambrace_json::own_line(line)?;
    let (time, kind) = (moment::parse(&line.timestamp)?, ViolationKind::parse(&line.violation_type)?);
    Some((line.agent_id, Sighting { time, kind }))
}
