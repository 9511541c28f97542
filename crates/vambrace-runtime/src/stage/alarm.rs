//! What operators are told while it happens: a call that was refused, and an alert that one sets off. The caller is told
//! of alerts too, and what the defence ended ends.

use vambrace_audit::{Purpose, Standing};
use vambrace_types::{Door, Tree};

use super::Call;
use crate::reply::ReplyError;
use crate::{Corridor, Level, LogLine};

/// A refused call of those who come to a service, in the words that the caller got: operators search for them
/// (specification 001). Whoever calls from a terminal or a pipe sees them there.
pub(super) fn refused(corridor: &Corridor, call: &Call, error: &ReplyError) {
    let caller = &call.entry.caller;
    let is_served = match caller.door {
        Door::Rest | Door::McpHttp | Door::A2a => true,
        // What we do ourselves, on behalf of a request.
        Door::System => call.chain.address.is_some(),
        Door::CommandLine | Door::Terminal | Door::McpStdio => false,
    };
    if !is_served || call.entry.purpose != Purpose::Call {
        return;
    }
    let text = |text: &str| call.redactor.plain_tree(Tree::text(text)).value;
    let mut fields = vec![
        ("code", text(error.code.as_str())),
        ("caller_id", text(&caller.id)),
        ("tool", text(call.entry.tool.as_str())),
    ];
    fields.extend(corridor.origin(&call.chain));
    corridor.log().line(&LogLine { level: Level::Warn, message: error.message.clone(), fields });
}

/// The sentences for the reply.
pub(super) fn tell(corridor: &Corridor, call: &Call, rules: &[String]) -> Vec<String> {
    let redactor = &call.redactor;
    let text = |text: &str| redactor.plain_tree(Tree::text(text)).value;
    for rule in rules {
        let mut fields = vec![
            ("rule", text(rule)),
            ("caller_id", text(&call.entry.caller.id)),
            ("tool", text(call.entry.tool.as_str())),
        ];
        fields.extend(corridor.origin(&call.chain));
        corridor.log().line(&LogLine {
            level: Level::Warn,
            message: redactor.text(&format!("Alert raised: {rule}")).value,
            fields,
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
