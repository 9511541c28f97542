//! The log that the walk writes to: intents, outcomes and events, each answered by a receipt.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use vambrace_types::{Caller, Timestamp, Tree};

use crate::alert::{AlertSettings, DefenceAction};
use crate::clock::Clock;
use crate::entry::{CallEntry, Intent, Outcome, Purpose};
use crate::event::{Event, EventKind};
use crate::line::{self, EventLine};
use crate::mirror::{Mirror, Mirrored};
use crate::receipt::{Beside, IntentReceipt, Line, Receipt, Recording};
use crate::registry::{Founding, Registry};
use crate::security::SecurityStream;
use crate::segment::{Claim, Segment};
use crate::standing::{self, Mark, Standing, StandingBook};
use crate::violation::{Violation, ViolationKind};
use crate::words::{RecordKind, Severity, Verdict};
use crate::writer::Shared;
use crate::{AuditError, alert, segment, subject};

/// How many idle segments a new process looks at before it makes its own.
const CLAIMS_TRIED: usize = 8;

#[derive(Debug, Clone)]
pub struct AuditSettings {
    /// The folder of the record, outside everything that tools can write.
    pub dir: PathBuf,
    /// The folder for `tool_log.jsonl` in the form of specification 002.
    pub mirror: Option<PathBuf>,
    /// Whether every record waits until it is on disk. Otherwise syncs are grouped in the background, and a record
    /// survives the end of the process but not always a power cut.
    pub durable: bool,
    pub alerts: AlertSettings,
}

/// The record, open for writing. Dropping it syncs and signs what it holds.
pub struct AuditLog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    mirror: Option<Arc<Mirror>>,
    alerts: AlertSettings,
    security: SecurityStream,
    standing: StandingBook,
    /// Damaged or missing segments, which are left alone as evidence.
    set_aside: Vec<String>,
}

/// What was found when the log was opened.
struct News {
    kind: EventKind,
    message: String,
    details: Tree,
}

/// Whom a violation is counted for.
struct Culprit<'a> {
    name: &'a str,
    call_id: &'a str,
    /// What stays when the name changes.
    subject: Option<&'a str>,
}

impl AuditLog {
    pub fn open(settings: AuditSettings, clock: Arc<dyn Clock>) -> Result<AuditLog, AuditError> {
        let AuditSettings { dir, mirror, durable, alerts } = settings;
        let mut registry = Registry::open(&dir, clock.now(), Founding::Allowed)?;
        let mut news = Vec::new();
        let segment = find_segment(&dir, &mut registry, clock.now(), &mut news)?;
        look_at_others(&dir, &mut registry, &segment.name, clock.now(), &mut news)?;
        let set_aside = registry.set_aside_so_far();
        let standing = StandingBook::open(&dir, registry.standing_id(), clock.now())?;
        let key = registry.key().clone();
        drop(registry);
        let shared = Arc::new(Shared::new(dir.clone(), key, clock, segment, durable));
        let mirror = mirror.map(|dir| Arc::new(Mirror::new(dir)));
        let (worker, copies) = (Arc::clone(&shared), mirror.clone());
        let thread = Builder::new()
            .name("audit".to_owned())
            .spawn(move || worker.run(|| copies.iter().for_each(|mirror| mirror.flush())))
            .map_err(AuditError::io("start the thread that syncs", &dir))?;
        let security = SecurityStream::new(&dir);
        let log = AuditLog { shared, thread: Some(thread), mirror, alerts, security, standing, set_aside };
        for News { kind, message, details } in &news {
            let is_damage = *kind == EventKind::SetAside;
            let severity = if is_damage { Severity::Critical } else { Severity::Warning };
            let event = EventLine { details, ..EventLine::own(*kind, severity, message) };
            let _receipt = log.write_event(&event).wait()?;
        }
        // THREAT: P03, somebody touched old records.
        if news.iter().any(|news| news.kind == EventKind::SetAside) {
            log.tell_of_damage()?;
        }
        // THREAT: P03, a line added behind the head. Nothing is written before the news of it is signed.
        if news.iter().any(|news| news.kind == EventKind::Adopted) {
            log.seal()?;
        }
        Ok(log)
    }

    /// Segments that were found damaged or missing, at this start or before. `verify` says what is wrong with each.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    fn tell_of_damage(&self) -> Result<(), AuditError> {
        let rule = alert::AlertRule {
            name: "audit-log-damaged".to_owned(),
            kinds: Vec::new(),
            more_than: 0,
            window_ms: 1,
        };
        let now = self.shared.clock.now();
        let caller = "the audit log";
        let alert = alert::Alert { rule: &rule, caller, action: DefenceAction::Alert, call_id: "", now };
        if alert.raise(&self.shared.dir, None)? {
            let message =
                "alert `audit-log-damaged`: old records were changed or deleted; human review needed";
            let _receipt = self
                .write_event(&EventLine::own(EventKind::AlertRaised, Severity::Critical, message))
                .wait()?;
        }
        Ok(())
    }

    /// Whether every line waits until it is on disk.
    pub fn is_durable(&self) -> bool {
        self.shared.is_durable()
    }

    /// Puts on record what is about to be done. Without this receipt there are no hands.
    ///
    /// As the two below, this does not wait for the disk, but holds the thread while too much is
    /// queued for it.
    pub fn intent(&self, call: &CallEntry, intent: &Intent) -> Recording<IntentReceipt> {
        let (_, line) = self.append(RecordKind::Intent, |out| line::intent(out, call, intent));
        Recording::of_intent(line)
    }

    /// The mirror's place in the project exists from now on. A cage protects what is there when it is built.
    pub fn prepare_mirror(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.prepare();
        }
    }

    /// Puts on record how a call ended, and what follows from it: the security stream, alerts and
    /// the mirror. Only the record itself can fail; the rest is told in the receipt's warning, and
    /// is done while a durable line is still on its way. A violation holds the thread while it is
    /// counted, because all processes count in one file.
    pub fn outcome(&self, call: &CallEntry, outcome: &Outcome) -> Recording<Receipt> {
        let (time, line) = self.append(RecordKind::Outcome, |out| line::outcome(out, call, outcome));
        if matches!(line, Line::Written(Err(_))) {
            return Recording::new(line, Beside::default());
        }
        let mut warnings = Vec::new();
        let mut raised = Vec::new();
        for violation in counted(call, outcome) {
            let culprit = Culprit {
                name: &subject::of_caller(&call.caller),
                call_id: call.call_id.as_str(),
                subject: call.caller.subject.as_deref(),
            };
            if let Err(cause) = self.defend(&culprit, violation, time, &mut raised) {
                warnings.push(cause.to_string());
                break;
            }
        }
        // THREAT: P13, the mirror lies in the project, where callers of every context may read it.
        let mirror = self.mirror.as_ref().filter(|_| call.caller.context.is_none());
        match mirror.map(|mirror| mirror.append(time, call, outcome)) {
            None | Some(Ok(Mirrored::Written | Mirrored::Waits)) => {}
            Some(Ok(Mirrored::WaitsFirst)) => self.shared.expect_more(),
            Some(Err(cause)) => {
                // The line itself may wait all the same.
                self.shared.expect_more();
                warnings.push(cause.to_string());
            }
        }
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        Recording::new(line, Beside { warning, alerts: raised })
    }

    /// Raises the alerts that are for wrong credentials: as many as they name came from one place, as the door has
    /// counted. There is nobody to stop; the place is all that is known. Gives the names of those that are new.
    pub fn too_many_wrong_credentials(&self, from: &str) -> Result<Vec<String>, AuditError> {
        let mut raised = Vec::new();
        for rule in self.alerts.rules.iter().filter(|rule| rule.kinds.contains(&ViolationKind::Auth)) {
            let now = self.shared.clock.now();
            let alert = alert::Alert { rule, caller: from, action: DefenceAction::Alert, call_id: "", now };
            if alert.raise(&self.shared.dir, None)? {
                raised.push(rule.name.clone());
                let message = alert.message();
                let mut event = EventLine::own(EventKind::AlertRaised, Severity::Critical, &message);
                event.caller = Some(from);
                let _receipt = self.write_event(&event).wait()?;
            }
        }
        Ok(raised)
    }

    /// Puts on record something that is not a call.
    pub fn event(&self, event: &Event) -> Recording<Receipt> {
        self.write_event(&EventLine {
            event: event.kind.as_str(),
            severity: event.severity,
            caller: event.caller.as_deref(),
            by: event.by.as_deref(),
            call_id: event.call_id.as_ref().map(|id| id.as_str()),
            message: event.message.as_str(),
            details: event.details.as_tree(),
        })
    }

    /// Syncs and signs everything written so far, and brings the mirror up to it.
    pub fn seal(&self) -> Result<(), AuditError> {
        if let Some(mirror) = &self.mirror {
            mirror.flush();
        }
        self.shared.seal()
    }

    /// Whether this caller may go on. Asked before every call; sees another process's `stop` at once.
    pub fn standing(&self, caller: &str) -> Result<Standing, AuditError> {
        self.standing.of(self.shared.clock.now(), || vec![subject::of(caller).into_owned()])
    }

    /// The same, by every name that the caller has: its own, and those of the person it speaks for.
    pub fn standing_of(&self, caller: &Caller) -> Result<Standing, AuditError> {
        self.standing_at(caller, self.shared.clock.now())
    }

    /// The same, for whoever has looked at the clock for this call.
    pub fn standing_at(&self, caller: &Caller, now: Timestamp) -> Result<Standing, AuditError> {
        self.standing.of(now, || subject::all_of(caller))
    }

    pub(crate) fn write_event(&self, event: &EventLine<'_>) -> Recording<Receipt> {
        let (_, line) = self.append(RecordKind::Event, |out| line::event(out, event));
        Recording::new(line, Beside::default())
    }

    /// `write` writes all but the beginning, before the lock is taken: others wait only for what the chain needs.
    fn append(&self, kind: RecordKind, write: impl FnOnce(&mut String)) -> (Timestamp, Line) {
        thread_local! {
            /// Reused for every line.
            static REST: RefCell<String> = const { RefCell::new(String::new()) };
        }
        REST.with_borrow_mut(|rest| {
            rest.clear();
            write(rest);
            self.shared.append(kind, rest)
        })
    }

    /// The violation goes to the security stream; rules that it sets off raise alerts and may stop the caller.
    fn defend(
        &self,
        culprit: &Culprit<'_>,
        violation: &Violation,
        now: Timestamp,
        raised: &mut Vec<String>,
    ) -> Result<(), AuditError> {
        let caller = culprit.name;
        let released = self.standing.released(caller, now)?;
        let mut line = String::new();
        line::violation(&mut line, now, caller, culprit.call_id, violation);
        let seen = self.security.record(&line, caller, released, now, self.alerts.longest_window_ms())?;
        for rule in alert::triggered(&self.alerts.rules, &seen, violation.kind, now) {
            let alert =
                alert::Alert { rule, caller, action: self.alerts.action, call_id: culprit.call_id, now };
            if !alert.raise(&self.shared.dir, released)? {
                continue;
            }
            raised.push(rule.name.clone());
            self.act_on(&alert, culprit.subject)?;
        }
        Ok(())
    }

    fn act_on(&self, alert: &alert::Alert<'_>, subject: Option<&str>) -> Result<(), AuditError> {
        let by = format!("defence: {}", alert.rule.name);
        let (mark, follow_up) = match alert.action {
            DefenceAction::Alert => (Mark::Alerted, None),
            DefenceAction::Suspend => (Mark::Suspended, Some(EventKind::Suspended)),
            DefenceAction::Terminate => (Mark::Terminated, Some(EventKind::Terminated)),
        };
        // The stop comes first: should the record fail now, the caller is stopped all the same.
        standing::mark(&self.shared.dir, Some(alert.caller), mark, &by, alert.now)?;
        // THREAT: P12, a new name for the next token is no way out.
        let subject = subject.map(subject::of).filter(|subject| *subject != alert.caller);
        if let (Some(subject), Some(_)) = (subject, follow_up) {
            standing::mark_via(&self.shared.dir, Some(&subject), Some(alert.caller), mark, &by, alert.now)?;
        }
        for kind in [Some(EventKind::AlertRaised), follow_up].into_iter().flatten() {
            let message = alert.message();
            let mut event = EventLine::own(kind, Severity::Critical, &message);
            event.caller = Some(alert.caller);
            event.by = Some(&by);
            event.call_id = Some(alert.call_id);
            let _receipt = self.write_event(&event).wait()?;
        }
        Ok(())
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take() {
            // The thread has no result, and a panic in it is no reason for another here.
            let _ = thread.join();
        }
        if let Some(mirror) = &self.mirror {
            mirror.flush();
        }
    }
}

/// Only real calls count: a person who asks with `check` must not set off alarms. An allowed call has a violation when its
/// programs tried something.
fn counted<'a>(call: &CallEntry, outcome: &'a Outcome) -> impl Iterator<Item = &'a Violation> {
    let counts = match (call.purpose, outcome.verdict) {
        (Purpose::Call, Verdict::Deny | Verdict::Allow) => true,
        (Purpose::Call, Verdict::Ask) | (Purpose::Check, Verdict::Allow | Verdict::Ask | Verdict::Deny) => {
            false
        }
    };
    outcome.violation.iter().chain(&outcome.further).filter(move |_| counts)
}

/// LIMIT: how many of the newest segments a start looks at; `verify` reads all.
const MOST_LOOKED_AT: usize = 128;

/// What is wrong with segments that this process does not write to is told once, and the segment left alone.
fn look_at_others(
    dir: &Path,
    registry: &mut Registry,
    own: &str,
    now: Timestamp,
    news: &mut Vec<News>,
) -> Result<(), AuditError> {
    let others: Vec<String> =
        registry.candidates().filter(|name| *name != own).take(MOST_LOOKED_AT).cloned().collect();
    for name in others {
        if let Some(why) = segment::damage(dir, &name) {
            registry.set_aside(&name, &why, now)?;
            let message = format!("segment {name} is left alone as evidence: {why}");
            news.push(News { kind: EventKind::SetAside, message, details: Tree::Null });
        }
    }
    Ok(())
}

/// An idle segment if there is one, so that a thousand short processes do not make a thousand files.
fn find_segment(
    dir: &Path,
    registry: &mut Registry,
    now: Timestamp,
    news: &mut Vec<News>,
) -> Result<Segment, AuditError> {
    let candidates: Vec<String> = registry.candidates().take(CLAIMS_TRIED).cloned().collect();
    for name in candidates {
        match Segment::claim(dir, &name, &registry.key().verifying_key())? {
            Claim::Ready { segment, cut, n_unsigned } => {
                if cut > 0 {
                    let message =
                        format!("an unfinished line of {cut} bytes was removed from segment {name}");
                    news.push(News { kind: EventKind::Recovered, message, details: Tree::Null });
                }
                if n_unsigned > 0 {
                    let message =
                        format!("segment {name} held {n_unsigned} records that no signed head covered");
                    let details = Tree::map([("n_unsigned", Tree::bytes(n_unsigned))]);
                    news.push(News { kind: EventKind::Adopted, message, details });
                }
                return Ok(segment);
            }
            Claim::Taken => {}
            Claim::Broken(why) => {
                registry.set_aside(&name, &why, now)?;
                let message = format!("segment {name} is left alone as evidence: {why}");
                news.push(News { kind: EventKind::SetAside, message, details: Tree::Null });
            }
        }
    }
    Segment::make(dir, registry, now)
}

#[cfg(test)]
mod tests;
