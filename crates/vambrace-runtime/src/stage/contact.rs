//! The hosts that a call asked for, by its programs or by its own requests: each is on record. One inside that a program
//! asked for is a violation.

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
pub(super) async fn record(corridor: &Corridor, call: &Call, contacts: &[Contact]) {
    let Ok(audit) = corridor.audit() else { return };
    let redactor = call.redactor.for_record();
    for contact in contacts {
        let (severity, what) = match &contact.outcome {
            Outcome::Reached { address } => (Severity::Info, format!("reached at {address}")),
            Outcome::Failed { why } => (Severity::Info, format!("not reached: {why}")),
            Outcome::Refused(refusal) => (Severity::Warning, format!("refused: {}", refusal.logged())),
        };
        let Contact { host, port, times, bytes_sent, bytes_received, .. } = contact;
        let event = Event {
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
        };
        let _ = audit.event(&event).await;
    }
}

/// One for each host inside that was asked for. A host that is merely not listed is none: package managers ask for many.
pub(super) fn violations(redactor: &Redactor, call: &Call, contacts: &[Contact]) -> Vec<Violation> {
    // LIMIT: more than any rule counts.
    const MOST: usize = 64;
    let command_args = call.command.as_deref().map(|command| redactor.text(command).value);
    // The worst first: many harmless ones must not push it out.
    let rank = |refusal: &&UrlRefusal| match refusal.attempt() {
        Attempt::Metadata => 0,
        Attempt::Kubernetes => 1,
        Attempt::Private => 2,
        Attempt::Other => 3,
    };
    let mut refusals: Vec<&UrlRefusal> = contacts.iter().filter_map(refused).collect();
    refusals.sort_by_key(rank);
    let attempts = refusals.into_iter().filter_map(|refusal| {
        let kind = match refusal.attempt() {
            Attempt::Metadata => ViolationKind::SsrfMetadata,
            Attempt::Kubernetes => ViolationKind::SsrfKubernetes,
            Attempt::Private => ViolationKind::SsrfPrivate,
            Attempt::Other => return None,
        };
        let target = redactor.text(&refusal.logged()).value;
        Some(Violation { kind, target, command_args: command_args.clone() })
    });
    attempts.take(MOST).collect()
}

/// For whoever ran the program: its own words about a proxy say little.
pub(super) fn warnings(contacts: &[Contact]) -> Vec<String> {
    const MOST: usize = 5;
    let refusals = contacts.iter().filter_map(refused).take(MOST);
    refusals.map(|refusal| format!("{}. {}", refusal.text(Voice::Seed000), refusal.suggestion())).collect()
}
