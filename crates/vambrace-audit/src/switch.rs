//! The kill switch, and a person's release. Both work from a process that is not the server, and both go on record.

use std::path::Path;
use std::sync::Arc;

use vambrace_types::Tree;

use crate::alert::AlertSettings;
use crate::clock::Clock;
use crate::event::EventKind;
use crate::line::EventLine;
use crate::log::{AuditLog, AuditSettings};
use crate::standing::{self, Mark};
use crate::words::Severity;
use crate::{AuditError, disk, read, registry, subject};

/// The name that stands for all callers.
pub const EVERYONE: &str = "*";

/// What became of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thrown {
    /// Whether anything used this folder before.
    pub was_founded: bool,
    /// Whether anybody of this name is on record. None: everybody was meant, or the record cannot be read.
    pub is_known: Option<bool>,
}

/// Stops one caller, or everyone, at once. Whoever is on record under the name is stopped under its lasting subject too:
/// a token with another name is still the same person's.
pub fn stop(dir: &Path, caller: Option<&str>, by: &str, clock: Arc<dyn Clock>) -> Result<Thrown, AuditError> {
    let subject = caller.filter(|name| *name != EVERYONE).map(subject::of);
    let caller = subject.as_deref();
    disk::private_dir(dir)?;
    // The stop comes first: a record that cannot be written must not keep the agent running.
    let was_founded = registry::is_founded(dir)?;
    if !was_founded {
        standing::found(dir)?;
    }
    standing::mark(dir, caller, Mark::Suspended, by, clock.now())?;
    let recorded =
        record(dir, EventKind::Stopped, caller, by, "a person used the kill switch", Arc::clone(&clock));
    let known = caller.and_then(|name| read::acquaintance(dir, name).ok());
    for subject in known.iter().flat_map(|known| &known.subjects) {
        standing::mark(dir, Some(&subject::of(subject)), Mark::Suspended, by, clock.now())?;
    }
    recorded?;
    Ok(Thrown { was_founded, is_known: known.map(|known| known.is_known) })
}

/// What became of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    pub was_stopped: bool,
    /// Everybody is stopped all the same.
    pub everyone_is_stopped: bool,
}

/// Releases one caller, or with `*` takes back the stop that was put on everyone. Who was stopped by name stays
/// stopped then.
pub fn resume(dir: &Path, caller: &str, by: &str, clock: Arc<dyn Clock>) -> Result<Released, AuditError> {
    let subject = Some(caller).filter(|name| *name != EVERYONE).map(subject::of);
    let caller = subject.as_deref();
    let before = standing::stopped(dir)?;
    let was_stopped = |name: Option<&str>| before.iter().any(|stopped| stopped.caller.as_deref() == name);
    // The record comes first: nobody goes free unrecorded.
    record(dir, EventKind::Resumed, caller, by, "a person released the caller", Arc::clone(&clock))?;
    standing::mark(dir, caller, Mark::Free, by, clock.now())?;
    let known = caller.map(|name| read::acquaintance(dir, name)).transpose()?.unwrap_or_default();
    let mut any_subject = false;
    for name in known.subjects.iter().map(|name| subject::of(name)).filter(|name| was_stopped(Some(name))) {
        any_subject = true;
        standing::mark(dir, Some(&name), Mark::Free, by, clock.now())?;
    }
    Ok(Released {
        was_stopped: was_stopped(caller) || any_subject,
        everyone_is_stopped: caller.is_some() && was_stopped(None),
    })
}

fn record(
    dir: &Path,
    kind: EventKind,
    caller: Option<&str>,
    by: &str,
    message: &str,
    clock: Arc<dyn Clock>,
) -> Result<(), AuditError> {
    let event = EventLine {
        event: kind.as_str(),
        severity: Severity::Critical,
        caller: Some(caller.unwrap_or(EVERYONE)),
        by: Some(by),
        call_id: None,
        message,
        details: &Tree::Null,
    };
    write_down(dir, &event, clock)
}

/// One event from a process that may have no record open, signed before this returns.
pub(crate) fn write_down(dir: &Path, event: &EventLine<'_>, clock: Arc<dyn Clock>) -> Result<(), AuditError> {
    let settings =
        AuditSettings { dir: dir.to_owned(), mirror: None, durable: false, alerts: AlertSettings::default() };
    let log = AuditLog::open(settings, clock)?;
    let _receipt = log.write_event(event)?;
    log.seal()
}
