//! What only a person may allow: asked at once where somebody can be, and otherwise left as a question that waits. The same
//! call, made again, takes the answer.

use vambrace_audit::{AuditError, Event, EventKind, NewQuestion, Purpose, QuestionState, Severity, rfc3339};
use vambrace_policy::{Action, Pending, Permit, Question};
use vambrace_redact::{RedactedText, RedactedTree};
use vambrace_tools::{Look, thread};
use vambrace_types::{ToolError, Tree, is_invisible};

use super::binding::Asked;
use super::{Call, Setback, Trail, Unanswered};
use crate::{Answer, Approver, Corridor, OnAuditFailure, Ticket};

impl Unanswered {
    pub(super) fn to_tool_error(&self) -> ToolError {
        let error = self.question.to_tool_error();
        let Some(Ticket { id, expires_at, .. }) = &self.ticket else { return error };
        error
            .suggestion(format!(
                "Ask the person you work for to run `vambrace approvals approve {id}`, then make exactly this call \
                 again; do not try another way round."
            ))
            .details(Tree::map([
                ("approval_id", Tree::text(id)),
                ("expires_at", Tree::Text(rfc3339(*expires_at))),
            ]))
    }
}

/// A preview is decided like the call itself and never bothers a person.
pub(super) async fn ask<A: Action>(
    corridor: &Corridor,
    call: &Call,
    pending: Pending<A>,
    look: &Look<'_>,
    trail: &mut Trail,
) -> Result<Permit<A>, Setback> {
    if call.entry.dry_run || call.entry.purpose != Purpose::Call {
        return Err(unanswered(pending, None));
    }
    let question = wording(call, &pending);
    match &call.approver {
        Some(approver) => at_once(corridor, call, pending, &question, approver.as_ref()).await,
        None => later(corridor, call, pending, question, look, trail).await,
    }
}

fn unanswered<A: Action>(pending: Pending<A>, ticket: Option<Ticket>) -> Setback {
    Setback::Ask(Unanswered { question: pending.into_question(), ticket })
}

fn refused<A: Action>(pending: Pending<A>) -> Setback {
    let Question { rule, what } = pending.into_question();
    let question = Question { rule, what: format!("{what} The person who was asked said no.") };
    Setback::Ask(Unanswered { question, ticket: None })
}

/// What would really be done, as far as it can be shown: why somebody is asked, with what, and which programs it starts.
/// THREAT: P01, a yes to a sentence that leaves out what matters.
fn wording<A: Action>(call: &Call, pending: &Pending<A>) -> RedactedText {
    // LIMIT: what is cut says so.
    const LONGEST: usize = 2048;
    let redactor = call.redactor.for_record();
    let whole = redactor.text(&call.entry.input.as_tree().to_json()).value;
    let is_cut = whole.as_str().len() > LONGEST;
    let arguments = whole.shortened(LONGEST);
    let mut text = pending.question().what.clone();
    // First what must not be missing: callers choose the order and the length of their arguments, and characters in
    // names that nobody sees.
    let paths = pending.action().targets().into_iter().map(|(path, _)| path.components().join("/"));
    let paths: Vec<String> = paths.collect();
    if !paths.is_empty() && (is_cut || paths.iter().any(|path| named(path) != *path)) {
        let mut names: Vec<_> =
            paths.iter().take(MOST_NAMED).map(|path| format!("`{}`", named(path))).collect();
        if let n_more @ 1.. = paths.len().saturating_sub(MOST_NAMED) {
            names.push(format!("and {n_more} more"));
        }
        text = format!("{text} It concerns {}.", names.join(", "));
    }
    let vectors = pending.action().vectors();
    if !vectors.is_empty() {
        let lines: Vec<_> = vectors.iter().map(|words| format!("`{}`", words.join(" "))).collect();
        text = format!("{text} It would run {}.", lines.join(", then "));
    }
    text = format!("{text} It is called with {}.", arguments.as_str());
    redactor.text(&seen(&text)).value
}

/// LIMIT: of names in a question; it says how many more there are.
const MOST_NAMED: usize = 10;
/// LIMIT: in characters; of a longer one both ends are shown.
const LONGEST_NAME: usize = 200;

/// A name as a person can read it: nothing hidden, nothing that ends the sentence around it, not too long.
fn named(path: &str) -> String {
    let spelled = |c: char| match c {
        '\n' | '\t' | '`' => c.escape_unicode().to_string(),
        c => seen(c.encode_utf8(&mut [0; 4])),
    };
    let n_characters = path.chars().count();
    if n_characters <= LONGEST_NAME {
        return path.chars().map(spelled).collect();
    }
    let half = LONGEST_NAME / 2;
    let head: String = path.chars().take(half).map(spelled).collect();
    let tail: String = path.chars().skip(n_characters - half).map(spelled).collect();
    format!("{head}…[{} characters]…{tail}", n_characters - 2 * half)
}

/// Spells out what a person would not see, or would see in another order.
fn seen(text: &str) -> String {
    let spelled = |c: char| if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(spelled).collect()
}

fn is_unseen(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || is_invisible(c)
}

async fn at_once<A: Action>(
    corridor: &Corridor,
    call: &Call,
    pending: Pending<A>,
    question: &RedactedText,
    approver: &dyn Approver,
) -> Result<Permit<A>, Setback> {
    let answer = thread::hold(|| approver.ask(call.entry.tool.as_str(), question.as_str())).await;
    let (by, said) = match &answer {
        Answer::Yes { by } => (Some(by.clone()), "approved"),
        Answer::No => (None, "rejected"),
    };
    let message = format!("{said}: {}", question.as_str());
    let goes_on = record(corridor, call, by, &message, RedactedTree::null()).await;
    match answer {
        Answer::Yes { .. } if goes_on => Ok(pending.approve()),
        Answer::Yes { .. } | Answer::No => Err(refused(pending)),
    }
}

/// THREAT: P03, an approval that nobody can find later is none. Whether the call may go on after this.
async fn record(
    corridor: &Corridor,
    call: &Call,
    by: Option<String>,
    message: &str,
    details: RedactedTree,
) -> bool {
    let event = Event {
        kind: EventKind::Approval,
        severity: Severity::Warning,
        caller: Some(call.entry.caller.id.clone()),
        by,
        call_id: Some(call.entry.call_id.clone()),
        message: call.redactor.for_record().text(message).value,
        details,
    };
    let recorded = match corridor.audit() {
        Ok(audit) => audit.event(&event).await.is_ok(),
        Err(_) => false,
    };
    recorded || corridor.parts.on_audit_failure == OnAuditFailure::Warn
}

/// What became of looking for an answer.
enum Standing {
    Approved { id: String, by: String },
    Rejected,
    Waiting(Ticket),
}

async fn later<A: Action>(
    corridor: &Corridor,
    call: &Call,
    pending: Pending<A>,
    question: RedactedText,
    look: &Look<'_>,
    trail: &mut Trail,
) -> Result<Permit<A>, Setback> {
    match thread::hold(|| stand(corridor, call, &pending, &question, look)).await {
        Ok(Some(Standing::Approved { id, by })) => {
            let message = format!("approved {id}: {}", question.as_str());
            let details =
                call.redactor.for_record().plain_tree(Tree::map([("approval_id", Tree::Text(id))])).value;
            if record(corridor, call, Some(by), &message, details).await {
                return Ok(pending.approve());
            }
            trail.warnings.push("The approval could not be put on record, so it was not used.".to_owned());
            Err(unanswered(pending, None))
        }
        Ok(Some(Standing::Rejected)) => Err(refused(pending)),
        Ok(Some(Standing::Waiting(ticket))) => Err(unanswered(pending, Some(ticket))),
        Ok(None) => Err(unanswered(pending, None)),
        Err(error) => {
            // Its own words name places on this machine, which are not for the agent.
            trail.warnings.push(format!("No question was left for a person: {}.", error.brief()));
            Err(unanswered(pending, None))
        }
    }
}

/// `None` where questions are not kept.
fn stand<A: Action>(
    corridor: &Corridor,
    call: &Call,
    pending: &Pending<A>,
    question: &RedactedText,
    look: &Look<'_>,
) -> Result<Option<Standing>, AuditError> {
    let Some(approvals) = corridor.approvals() else { return Ok(None) };
    let caller = &call.entry.caller;
    let owner = caller.owner();
    let action = pending.action();
    let mut touched: Vec<(String, Vec<String>)> = action
        .targets()
        .into_iter()
        .map(|(path, _)| (path.components().join("/"), look.stamps(path)))
        .collect();
    if A::KINDS.runs_programs() {
        touched.extend(look.surroundings());
    }
    let binding = Asked {
        owner: &owner,
        channel: caller.channel.as_deref(),
        role: caller.role,
        tool: call.entry.tool.as_str(),
        arguments: &call.arguments,
        vectors: &action.vectors(),
        policy: call.context.policy_fingerprint,
        volume: call.context.instruments.files.volume().device(),
        touched: &touched,
    }
    .binding();
    if let Some(taken) = approvals.take_question(binding)? {
        return Ok(Some(Standing::Approved { id: taken.id, by: taken.by.unwrap_or_default() }));
    }
    let asked = approvals.ask(&NewQuestion {
        binding,
        caller: caller.id.clone(),
        owner,
        tool: call.entry.tool.as_str().to_owned(),
        rule: call.redactor.for_record().text(&pending.question().rule).value,
        question: question.clone(),
        call_id: call.entry.call_id.as_str().to_owned(),
    })?;
    Ok(Some(match asked.state {
        QuestionState::Rejected => Standing::Rejected,
        QuestionState::Waiting | QuestionState::Approved | QuestionState::Used | QuestionState::Expired => {
            Standing::Waiting(Ticket {
                id: asked.id,
                question: question.clone(),
                expires_at: asked.expires_at,
                answerer: pending.answerer(),
            })
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_spelled_out() {
        assert_eq!(seen("a b\n\tü"), "a b\n\tü");
        assert_eq!(seen("vis\u{1b}ible"), "vis\\u{1b}ible");
        assert_eq!(named("a`. It would run `ls\n"), "a\\u{60}. It would run \\u{60}ls\\u{a}");
        assert_eq!(named(&"ä".repeat(200)), "ä".repeat(200));
        let long = format!("{}{}{}", "a".repeat(100), "b".repeat(50), "c".repeat(100));
        assert_eq!(named(&long), format!("{}…[50 characters]…{}", "a".repeat(100), "c".repeat(100)));
        assert_eq!(seen("a\u{202e}b\u{200b}\u{7f}\r"), "a\\u{202e}b\\u{200b}\\u{7f}\\u{d}");
    }
}
