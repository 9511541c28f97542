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
use crate::{AuditError, disk, registry, subject};

/// The name that stands for all callers.
pub const EVERYONE: &str = "*";

/// Stops one caller, or everyone, at once.
pub fn stop(dir: &Path, caller: Option<&str>, by: &str, clock: Arc<dyn Clock>) -> Result<(), AuditError> {
    let subject = caller.filter(|name| *name != EVERYONE).map(subject::of);
    let caller = subject.as_deref();
    disk::private_dir(dir)?;
    // The stop comes first: a record that cannot be written must not keep the agent running.
    if !registry::is_founded(dir)? {
        standing::found(dir)?;
    }
    standing::mark(dir, caller, Mark::Suspended, by, clock.now())?;
    record(dir, EventKind::Stopped, caller, by, "a person used the kill switch", clock)
}

/// Releases one caller, or with `*` takes back the stop that was put on everyone. Who was stopped by name stays
/// stopped then.
pub fn resume(dir: &Path, caller: &str, by: &str, clock: Arc<dyn Clock>) -> Result<(), AuditError> {
    let subject = Some(caller).filter(|name| *name != EVERYONE).map(subject::of);
    let caller = subject.as_deref();
    // The record comes first: nobody goes free unrecorded.
    record(dir, EventKind::Resumed, caller, by, "a person released the caller", Arc::clone(&clock))?;
    standing::mark(dir, caller, Mark::Free, by, clock.now())
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
