//! The hosts that programs asked for through the proxy: each is on record, and a refused one is a violation.

use vambrace_audit::{Event, EventKind, Severity, Violation, ViolationKind};
use vambrace_net::{Contact, Outcome};
use vambrace_policy::url::{Attempt, UrlRefusal, Voice};
use vambrace_redact::Redactor;
use vambrace_types::Tree;

use super::Call;
use crate::Corridor;

fn refused(contact: &Contact) -> Option<&UrlRefusal> {
    match &contact.outcome {
        Outcome::Refused(refusal) => Some(refusal),
        Outcome::Reached { .. } | Outcome::Failed { .. } => None,
    }
}

/// One event for each host. What cannot be written is met by the outcome, which comes after.
pub(super) fn record(corridor: &Corridor, call: &Call, contacts: &[Contact]) {
    let Ok(audit) = corridor.audit() else { return };
    let redactor = corridor.redactor();
    for contact in contacts {
        let (severity, what) = match &contact.outcome {
            Outcome::Reached { address } => (Severity::Info, format!("reached at {address}")),
            Outcome::Failed { why } => (Severity::Info, format!("not reached: {why}")),
            Outcome::Refused(refusal) => (Severity::Warning, format!("refused: {}", refusal.logged())),
        };
        let Contact { host, port, times, bytes_sent, bytes_received, .. } = contact;
        let _ = audit.event(&Event {
            kind: EventKind::Egress,
            severity,
            caller: Some(call.entry.caller.id.clone()),
            by: None,
            call_id: Some(call.entry.call_id.clone()),
            message: redactor.text(&format!("{host}:{port} {what}")).value,
            details: redactor
                .plain_tree(Tree::map([
                    ("host", Tree::text(host)),
                    ("port", Tree::Int(i64::from(*port))),
                    ("times", Tree::bytes(*times)),
                    ("bytes_sent", Tree::bytes(*bytes_sent)),
                    ("bytes_received", Tree::bytes(*bytes_received)),
                ]))
                .value,
        });
    }
}

/// The worst of what was refused stands for all of it; the text names them.
pub(super) fn violation(redactor: &Redactor, call: &Call, contacts: &[Contact]) -> Option<Violation> {
    // LIMIT: the events name every one.
    const MOST: usize = 10;
    let rank = |attempt: Attempt| match attempt {
        Attempt::Metadata => 3,
        Attempt::Kubernetes => 2,
        Attempt::Private => 1,
        Attempt::Other => 0,
    };
    let refusals: Vec<&UrlRefusal> = contacts.iter().filter_map(refused).collect();
    let worst = refusals.iter().max_by_key(|refusal| rank(refusal.attempt()))?;
    let kind = match worst.attempt() {
        Attempt::Metadata => ViolationKind::SsrfMetadata,
        Attempt::Kubernetes => ViolationKind::SsrfKubernetes,
        Attempt::Private => ViolationKind::SsrfPrivate,
        Attempt::Other => ViolationKind::Other,
    };
    let texts: Vec<String> = refusals.iter().take(MOST).map(|refusal| refusal.logged()).collect();
    let command_args = call.command.as_deref().map(|command| redactor.text(command).value);
    Some(Violation { kind, target: redactor.text(&texts.join("; ")).value, command_args })
}

/// For whoever ran the program: its own words about a proxy say little.
pub(super) fn warnings(contacts: &[Contact]) -> Vec<String> {
    const MOST: usize = 5;
    let refusals = contacts.iter().filter_map(refused).take(MOST);
    refusals.map(|refusal| format!("{}. {}", refusal.text(Voice::Seed000), refusal.suggestion())).collect()
}
