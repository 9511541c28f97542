//! What follows when a call sets off an alert: the caller is told, operators are told, and what the defence ended ends.

use vambrace_audit::Standing;
use vambrace_types::Tree;

use super::Call;
use crate::{Corridor, Level, LogLine};

/// The sentences for the reply.
pub(super) fn tell(corridor: &Corridor, call: &Call, rules: &[String]) -> Vec<String> {
    let redactor = &call.redactor;
    let text = |text: &str| redactor.plain_tree(Tree::text(text)).value;
    for rule in rules {
        corridor.log().line(&LogLine {
            level: Level::Warn,
            message: redactor.text(&format!("Alert raised: {rule}")).value,
            fields: vec![
                ("rule", text(rule)),
                ("caller_id", text(&call.entry.caller.id)),
                ("tool", text(call.entry.tool.as_str())),
            ],
        });
    }
    // `terminate` in a process that serves others: the caller's calls end, the server lives.
    let caller = &call.entry.caller;
    let standing = corridor.audit().ok().filter(|_| !rules.is_empty()).map(|audit| audit.standing_of(caller));
    if let Some(Ok(Standing::Terminated)) = standing {
        corridor.underway.terminate(caller);
    }
    let sentences = rules.iter().map(|rule| format!("Alert raised: {rule}."));
    sentences.map(|text| redactor.text(&text).value.into_string()).collect()
}
