//! The kill switch, and a person's release. Both work from a process that is not the server, and both go on record.

use std::borrow::Cow;
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
#[derive(Debug)]
pub struct Thrown {
    /// Whether anything used this folder before.
    pub was_founded: bool,
    /// Whether anybody of this name is on record. None: everybody was meant, or the record cannot be read.
    pub is_known: Option<bool>,
    /// Why the stop is not on record. It holds all the same.
    pub unrecorded: Option<AuditError>,
}

/// Stops one caller, or everyone, at once; and, as soon as the record was looked through, every lasting subject that
/// called by this name: a token with another name is still the same person's.
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
    let known = caller.and_then(|name| read::acquaintance(dir, name).ok());
    let subjects: Vec<_> =
        known.iter().flat_map(|known| &known.subjects).map(|name| subject::of(name)).collect();
    for subject in &subjects {
        standing::mark_via(dir, Some(subject), caller, Mark::Suspended, by, clock.now())?;
    }
    let words = "a person used the kill switch";
    let unrecorded = record(dir, EventKind::Stopped, caller, &subjects, by, words, clock).err();
    Ok(Thrown { was_founded, is_known: known.map(|known| known.is_known), unrecorded })
}

/// What became of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    pub was_stopped: bool,
    /// Everybody is stopped all the same.
    pub everyone_is_stopped: bool,
    /// Subjects that called by this name and are stopped for another reason.
    pub still_stopped: Vec<String>,
}

/// Releases one caller and whoever was stopped with it, or with `*` takes back the stop that was put on everyone. Who was
/// stopped by another name stays stopped.
pub fn resume(dir: &Path, caller: &str, by: &str, clock: Arc<dyn Clock>) -> Result<Released, AuditError> {
    let subject = Some(caller).filter(|name| *name != EVERYONE).map(subject::of);
    let caller = subject.as_deref();
    let before = standing::stopped(dir)?;
    let was_stopped = |name: Option<&str>| before.iter().any(|stopped| stopped.caller.as_deref() == name);
    let with_it = before.iter().filter(|stopped| caller.is_some() && stopped.via.as_deref() == caller);
    let subjects: Vec<Cow<'_, str>> =
        with_it.filter_map(|stopped| stopped.caller.as_deref()).map(Cow::Borrowed).collect();
    // The record comes first: nobody goes free unrecorded.
    let words = "a person released the caller";
    record(dir, EventKind::Resumed, caller, &subjects, by, words, Arc::clone(&clock))?;
    standing::mark(dir, caller, Mark::Free, by, clock.now())?;
    for subject in &subjects {
        standing::mark(dir, Some(subject), Mark::Free, by, clock.now())?;
    }
    // Only for what is told: the release is done.
    let known = caller.and_then(|name| read::acquaintance(dir, name).ok()).unwrap_or_default();
    let other = |name: &&str| was_stopped(Some(name)) && !subjects.iter().any(|released| released == name);
    let known = known.subjects.iter().map(|name| subject::of(name).into_owned()).collect::<Vec<_>>();
    let still_stopped = known.iter().map(String::as_str).filter(other).map(str::to_owned).collect();
    Ok(Released {
        was_stopped: was_stopped(caller) || !subjects.is_empty(),
        everyone_is_stopped: caller.is_some() && was_stopped(None),
        still_stopped,
    })
}

fn record(
    dir: &Path,
    kind: EventKind,
    caller: Option<&str>,
    subjects: &[Cow<'_, str>],
    by: &str,
    message: &str,
    clock: Arc<dyn Clock>,
) -> Result<(), AuditError> {
    let subjects = (!subjects.is_empty())
        .then(|| Tree::List(subjects.iter().map(|name| Tree::text(name.as_ref())).collect()));
    let details = subjects.map_or(Tree::Null, |subjects| Tree::map([("subjects", subjects)]));
    let event = EventLine {
        event: kind.as_str(),
        severity: Severity::Critical,
        caller: Some(caller.unwrap_or(EVERYONE)),
        by: Some(by),
        call_id: None,
        message,
        details: &details,
    };
    write_down(dir, &event, clock)
}

/// One event from a process that may have no record open, signed before this returns.
pub(crate) fn write_down(dir: &Path, event: &EventLine<'_>, clock: Arc<dyn Clock>) -> Result<(), AuditError> {
    let settings =
        AuditSettings { dir: dir.to_owned(), mirror: None, durable: false, alerts: AlertSettings::default() };
    let log = AuditLog::open(settings, clock)?;
    let _receipt = log.write_event(event).wait()?;
    log.seal()
}
