//! A call that needs a person's yes: the client puts the question to its user, if the operator lets it.
//!
//! Up to revision 2025-11-25 the server asks while the call waits (elicitation). From 2026-07-28 on the call ends with
//! the question and a sealed state, and the client makes it again with the answer and the state. The question itself
//! lies in `Approvals`; an answer is good for exactly the call that was asked about, once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
    RequestStateCodec, SealOptions,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use vambrace_audit::AnswerError;
use vambrace_redact::RedactedText;
use vambrace_runtime::{Answerer, Corridor, Level, LogLine, Reply, Ticket};
use vambrace_types::{CallId, Caller, Chain, Enforcement, ErrorCode, Metadata, SecurityChecks, Tree};

use crate::http::is_stopped;
use crate::wire;

/// The key of our question among those of an input-required result, and of the one field of its form.
const QUESTION: &str = "approval";
const YES: &str = "approve";

/// Who may answer the questions of calls that came in here.
#[derive(Clone)]
pub enum Questions {
    /// The client's user too. The key is this process's own: a state that outlives it is worth nothing.
    ByClient(RequestStateCodec, Dialogs),
    /// Operators alone, by the command line or REST.
    Elsewhere,
}

/// Which questions the dialog of a client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialogs {
    None,
    /// Not those that only an operator answers.
    Ordinary,
    /// The operator said so aloud.
    All,
}

impl Questions {
    /// Without randomness to seal with, the answers come from elsewhere.
    pub fn new(dialogs: Dialogs) -> Questions {
        let mut key = [0; 32];
        if dialogs == Dialogs::None || getrandom::fill(&mut key).is_err() {
            return Questions::Elsewhere;
        }
        let codec = RequestStateCodec::try_new(key.to_vec());
        codec.map_or(Questions::Elsewhere, |codec| Questions::ByClient(codec, dialogs))
    }

    /// What states are sealed with, where the client's user may be asked.
    pub(super) fn codec(&self) -> Option<&RequestStateCodec> {
        match self {
            Questions::ByClient(codec, _) => Some(codec),
            Questions::Elsewhere => None,
        }
    }

    /// Whether the client's user may answer this one. THREAT: P13, an agent that drives its own client.
    pub(super) fn may_answer(&self, ticket: &Ticket) -> bool {
        match (self, ticket.answerer) {
            (Questions::Elsewhere | Questions::ByClient(_, Dialogs::None), _)
            | (Questions::ByClient(_, Dialogs::Ordinary), Answerer::Operator) => false,
            (Questions::ByClient(_, Dialogs::Ordinary), Answerer::ClientsUser)
            | (Questions::ByClient(_, Dialogs::All), Answerer::ClientsUser | Answerer::Operator) => true,
        }
    }
}

/// How this client can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// While the call waits.
    Elicit,
    /// By an input-required result.
    Return,
    None,
}

/// How long a question may still be answered.
pub(super) fn patience(ticket: &Ticket, corridor: &Corridor) -> Duration {
    Duration::from_millis(ticket.expires_at.millis_since(corridor.clock().now()))
}

/// Without any mode named, forms are meant.
fn shows_forms(capabilities: &ClientCapabilities) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

impl Way {
    /// For revisions in which nothing waits.
    pub(super) fn returning(questions: &Questions, capabilities: &ClientCapabilities) -> Way {
        match questions {
            Questions::ByClient(..) if shows_forms(capabilities) => Way::Return,
            Questions::ByClient(..) | Questions::Elsewhere => Way::None,
        }
    }

    pub(super) fn of(questions: &Questions, context: &RequestContext<RoleServer>) -> Way {
        if matches!(questions, Questions::Elsewhere) {
            return Way::None;
        }
        let newer = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        // A request of the older revisions may be waited for only where the client said so when it greeted us.
        if newer {
            return Way::returning(questions, &context.client_capabilities().unwrap_or_default());
        }
        match context.peer.peer_info() {
            Some(info) if shows_forms(&info.capabilities) => Way::Elicit,
            Some(_) | None => Way::None,
        }
    }
}

/// What a client's user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// Neither: the dialog was closed. The question waits on.
    Closed,
    /// Nothing that can be understood.
    Nothing,
}

impl Said {
    fn by(result: &ElicitResult) -> Said {
        let approves =
            || result.content.as_ref().and_then(|content| content.get(YES)).and_then(Value::as_bool);
        match result.action {
            ElicitationAction::Accept => match approves() {
                Some(true) => Said::Yes,
                Some(false) => Said::No,
                None => Said::Nothing,
            },
            ElicitationAction::Decline => Said::No,
            // Or something that the protocol may learn later.
            _ => Said::Closed,
        }
    }
}

/// LIMIT: no call waits longer for its client's user; the question itself waits on, for an operator.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Asks while the call waits.
pub(super) async fn elicit(
    ticket: &Ticket,
    tool: &str,
    context: &RequestContext<RoleServer>,
    ending: &CancellationToken,
    patience: Duration,
) -> Said {
    let Some(params) = form(ticket, tool) else { return Said::Nothing };
    let patience = patience.min(LONGEST_WAIT);
    let answer = context.peer.create_elicitation_with_timeout(params, Some(patience));
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Said::Nothing,
        () = ending.cancelled() => Said::Nothing,
        answer = answer => answer.map_or(Said::Nothing, |result| Said::by(&result)),
    }
}

fn form(ticket: &Ticket, tool: &str) -> Option<ElicitRequestParams> {
    let message = format!(
        "The agent wants to use `{tool}`, and a person has to allow it: {}",
        ticket.question.as_str()
    );
    let requested_schema = ElicitationSchema::builder()
        .required_bool_with(YES, |field| {
            field.title("Allow this call once").description("Yes: it is done, once. No: it is not done.")
        })
        .build()
        .ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Ends the call with the question. The state says which one it was; whose, and about what, is sealed with it.
pub(super) fn input_required(
    questions: &Questions,
    ticket: &Ticket,
    asked: &Asked<'_>,
    patience: Duration,
) -> Option<InputRequiredResult> {
    let codec = questions.codec().filter(|_| questions.may_answer(ticket))?;
    let request = InputRequest::Elicitation(ElicitRequest::new(form(ticket, asked.tool)?));
    let bound_to = asked.bound_to();
    let options = SealOptions::new().associated_data(&bound_to).ttl(patience);
    let state = codec.seal_with(ticket.id.as_bytes(), &options);
    Some(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(state)))
}

/// The call that a question is about.
pub(super) struct Asked<'c> {
    pub(super) caller: &'c Caller,
    pub(super) tool: &'c str,
    pub(super) arguments: &'c Value,
}

impl Asked<'_> {
    /// THREAT: P13, a state is worth nothing to another caller, for another tool or with other arguments.
    fn bound_to(&self) -> [u8; 32] {
        let mut arguments = self.arguments.clone();
        arguments.sort_all_objects();
        let mut hash = Sha256::new();
        for part in [self.caller.owner().as_bytes(), self.tool.as_bytes(), arguments.to_string().as_bytes()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }

    fn by(&self) -> String {
        format!("{} (client)", self.caller.id)
    }
}

/// Why a call that came with a state is not made.
#[derive(Debug)]
pub(super) enum Refused {
    /// Forged, altered, too old, somebody else's or for another call. One answer for all of them.
    State,
    Answer(AnswerError),
    /// The user said no.
    Declined,
    /// The user said nothing and does not want to be asked again now.
    Closed,
    /// A person has stopped the caller, or that cannot be seen.
    Stopped,
}

/// Takes the answer out of a call that was made again. `Ok`: go on; the walk finds the approval, or asks once more.
pub(super) async fn redeem(
    questions: &Questions,
    corridor: &Arc<Corridor>,
    asked: &Asked<'_>,
    state: &str,
    responses: Option<&InputResponses>,
) -> Result<(), Refused> {
    let codec = questions.codec().ok_or(Refused::State)?;
    // THREAT: P12, a stopped caller answers nothing.
    if is_stopped(corridor, asked.caller).unwrap_or(true) {
        return Err(Refused::Stopped);
    }
    let opened = codec.open_with(state, &asked.bound_to()).map_err(|_| Refused::State)?;
    let id = String::from_utf8(opened).map_err(|_| Refused::State)?;
    let response = responses.and_then(|responses| responses.get(QUESTION)).cloned();
    let said = response
        .and_then(|response| serde_json::from_value::<ElicitResult>(response).ok())
        .map_or(Said::Nothing, |result| Said::by(&result));
    match said {
        Said::Nothing => Ok(()),
        Said::Yes => answer(corridor, &id, true, asked).await.map_err(Refused::Answer),
        Said::No => {
            answer(corridor, &id, false, asked).await.map_err(Refused::Answer)?;
            Err(Refused::Declined)
        }
        Said::Closed => Err(Refused::Closed),
    }
}

/// An answer is written to the disk, which the threads that serve everybody do not wait for.
pub(super) async fn answer(
    corridor: &Arc<Corridor>,
    id: &str,
    yes: bool,
    asked: &Asked<'_>,
) -> Result<(), AnswerError> {
    let (corridor, asked_about, by) = (Arc::clone(corridor), id.to_owned(), asked.by());
    let answering = tokio::task::spawn_blocking(move || corridor.answer(&asked_about, yes, &by).map(drop));
    answering.await.unwrap_or_else(|_| Err(AnswerError::NotFound(id.to_owned())))
}

impl Refused {
    /// What operators may want to see: somebody tries states. Answers that come late are everyday.
    pub(super) fn tell(&self, corridor: &Corridor, caller: &Caller, chain: &Chain, tool: &str) {
        if !matches!(self, Refused::State) {
            return;
        }
        let redactor = corridor.redactor_for_call(corridor.clock().now());
        let field = |text: &str| redactor.plain_tree(Tree::text(text)).value;
        let mut fields = vec![("caller_id", field(&caller.id)), ("tool", field(tool))];
        fields.extend(corridor.origin(chain));
        corridor.log().line(&LogLine {
            level: Level::Warn,
            message: RedactedText::fixed("Invalid request state"),
            fields,
        });
    }

    /// For a call that was not walked.
    pub(super) fn into_result(self, corridor: &Corridor, tool: &str) -> CallToolResult {
        let mut chance = [0; 10];
        // Different, not secret.
        let _ = getrandom::fill(&mut chance);
        let metadata = Metadata {
            call_id: CallId::new(corridor.clock().now(), chance),
            duration_ms: 0,
            security_checks: SecurityChecks::Denied,
            dry_run: false,
            truncated: false,
            redactions: 0,
            enforcement: Enforcement::None,
            checkpoint: None,
            warnings: Vec::new(),
        };
        self.told(tool, &metadata)
    }

    /// For a call that was walked and found to need a person; it is on record.
    pub(super) fn instead_of(self, reply: &Reply, tool: &str) -> CallToolResult {
        let metadata = Metadata { security_checks: SecurityChecks::Denied, ..reply.metadata().clone() };
        self.told(tool, &metadata)
    }

    fn told(self, tool: &str, metadata: &Metadata) -> CallToolResult {
        let again = "Make the call again without a request state; it asks once more.";
        let (code, message, suggestion) = match self {
            Refused::State => (
                ErrorCode::ApprovalNotFound,
                format!("The request state of this call to `{tool}` does not fit it, or is too old."),
                again,
            ),
            Refused::Answer(error) => {
                (ErrorCode::ApprovalNotFound, format!("The answer cannot be taken: {error}."), again)
            }
            Refused::Declined => (
                ErrorCode::ApprovalRequired,
                format!("The person who was asked did not allow this call to `{tool}`."),
                "Do not try another way round; ask what to do instead.",
            ),
            Refused::Closed => (
                ErrorCode::ApprovalRequired,
                format!("The question about this call to `{tool}` was closed without an answer."),
                "It waits on for an operator; ask the person you work for before you call again.",
            ),
            Refused::Stopped => (
                ErrorCode::Suspended,
                "The caller is suspended until a person releases it.".to_owned(),
                "Ask the operator, who can release it with `vambrace resume`.",
            ),
        };
        let text = format!("{}: {message} {suggestion}", code.as_str());
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(wire::unwalked(code, &message, suggestion, metadata));
        result
    }
}
