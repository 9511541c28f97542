//! Tells what the lists of specification 001 said: a line for operators in its words, and an event in the record. The
//! decision itself is policy's.

use vambrace_audit::{Event, EventKind, Severity};
use vambrace_policy::{Capability, MemoryGrant, MemoryRefusal};
use vambrace_types::Tree;

use super::Call;
use crate::{Corridor, Level, LogLine};

/// Nothing is told about what is not memory, nor about reading while there are no lists to ask. Whether operators were told
/// of a refusal.
pub(super) async fn tell_permission(corridor: &Corridor, call: &Call, capability: Capability) -> bool {
    let policy = &call.context.policy;
    let caller = &call.entry.caller;
    let can = match capability {
        Capability::WriteMemory => "can_save",
        _ => "can_read",
    };
    let ruling: Result<MemoryGrant, MemoryRefusal> = match policy.permission(caller, capability) {
        None | Some(Ok(MemoryGrant::NoListsForReading)) => return false,
        Some(ruling) => ruling,
    };
    let tool = call.entry.tool.as_str();
    // The words that specification 001 tells operators to search for.
    let (level, severity, words, reason) = match &ruling {
        Ok(grant) => (Level::Info, Severity::Info, "permission granted", grant.text()),
        Err(refusal) => (Level::Warn, Severity::Warning, "BLOCKED: insufficient permissions", refusal.text()),
    };
    let texts = |items: &[String]| Tree::List(items.iter().map(Tree::text).collect());
    let fields = [
        ("caller_id", Tree::text(&caller.id)),
        ("user_email", Tree::text(caller.email.as_deref().unwrap_or_default())),
        ("user_groups", texts(&caller.groups)),
        (can, Tree::Bool(ruling.is_ok())),
        ("permission_reason", Tree::Text(reason)),
        ("session_id", Tree::text(call.entry.session_id.as_str())),
    ];
    let redactor = call.redactor.for_record();
    let message = redactor.text(&format!("{tool} {words}")).value;
    let clean = |(name, value): &(&'static str, Tree)| (*name, redactor.plain_tree(value.clone()).value);
    corridor.log().line(&LogLine {
        level,
        message: message.clone(),
        fields: fields.iter().map(clean).collect(),
    });
    // What cannot be written is met by the intent or the outcome, which come after.
    let Ok(audit) = corridor.audit() else { return ruling.is_err() };
    let event = Event {
        kind: EventKind::MemoryPermission,
        severity,
        caller: Some(caller.id.clone()),
        by: None,
        call_id: Some(call.entry.call_id.clone()),
        message,
        details: redactor.plain_tree(Tree::map(fields)).value,
    };
    let _ = audit.event(&event).await;
    ruling.is_err()
}
