//! What a running Vambrace is made of, and the door front ends knock on.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use vambrace_audit::{
    AnswerError, Approvals, AuditError, AuditLog, BareStanding, Clock, Event, EventKind, Question, Severity,
    Standing,
};
use vambrace_net::NetError;
use vambrace_policy::command::{WordVerdict, explain};
use vambrace_policy::url::{UrlStep, WebUrl};
use vambrace_policy::{Capability, Kinds};
use vambrace_process::{Missing, Posture};
use vambrace_redact::{RedactedTree, Redactor};
use vambrace_tools::{Toolbox, thread};
use vambrace_types::{Caller, Chain, ErrorCode, ScopedPath, SessionId, Timestamp, ToolError, ToolName, Tree};

use crate::catalog::{Catalog, ToolDescription, ToolSource};
use crate::chance::chance;
use crate::context::{Context, Contexts};
use crate::executor::Executor;
use crate::stage::prove;
use crate::underway::Underway;
use crate::walk::{no_context, nothing_there, walk_nowhere};
use crate::{Incoming, Leash, Level, Log, LogLine, Reply};

/// What happens to calls while the record cannot be written (decision C24).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnAuditFailure {
    /// Everything goes on, with a warning.
    Warn,
    /// Reading goes on, with a warning; nothing is changed.
    DenyWrites,
    DenyAll,
}

const LOOK_FOR_STOP: Duration = Duration::from_millis(500);

pub struct CorridorParts {
    /// The error when the record could not even be opened; calls then meet `on_audit_failure`.
    pub audit: Result<AuditLog, AuditError>,
    pub on_audit_failure: OnAuditFailure,
    /// The kill switch, for when the record cannot be opened.
    pub bare_standing: BareStanding,
    pub clock: Arc<dyn Clock>,
    pub log: Arc<dyn Log>,
    /// Questions that wait for a person; without them, what needs a person is refused.
    pub approvals: Option<Approvals>,
}

pub struct Corridor {
    pub(crate) parts: CorridorParts,
    pub(crate) contexts: Contexts,
    catalog: Catalog,
    executor: Executor,
    pub(crate) underway: Arc<Underway>,
}

impl Corridor {
    pub fn new(parts: CorridorParts, contexts: Contexts) -> Corridor {
        let catalog = Catalog::new(&contexts.default().toolbox);
        Corridor { parts, contexts, catalog, executor: Executor::default(), underway: Arc::default() }
    }

    /// From now on, walks that are not over at once are tasks of this runtime. Once and for good:
    /// it has to outlive all calls.
    pub fn live_on(&self, runtime: Handle) {
        self.executor.live_on(runtime);
    }

    /// One call through the whole corridor. `None` means that the runtime itself is going down, or
    /// that answering a panic fell over too; the front end says so.
    // Not itself one that waits: everything it was given would be held, and moved, by all who wait for it.
    pub fn call(self: &Arc<Self>, incoming: Incoming) -> impl Future<Output = Option<Reply>> + Send {
        let (caller, leash) = (Box::new(incoming.caller.clone()), incoming.leash.clone());
        let corridor = Arc::clone(self);
        let walk = Box::pin(async move {
            let found = corridor.catalog.find(&incoming.tool);
            match (found, corridor.contexts.of(&incoming.caller).cloned()) {
                (Some(tool), Some(context)) => tool.walk(&corridor, context, incoming).await,
                (None, Some(context)) => {
                    let may = |capability| context.may_use(&incoming.caller, capability);
                    let offered = corridor.catalog.names(may);
                    let error = nothing_there(&incoming.tool, &offered);
                    walk_nowhere(&corridor, context, incoming, error).await
                }
                // THREAT: P13, a place that is no more is no reason for another one.
                (_, None) => {
                    let context = Arc::clone(corridor.contexts.default());
                    walk_nowhere(&corridor, context, incoming, no_context()).await
                }
            }
        });
        self.executor.run(walk, || {
            let entered = self.underway.enter(caller.owner(), leash.clone());
            (entered, self.heed_stop(*caller, leash))
        })
    }

    /// The kill switch ends also what is under way, within about a second. THREAT: P12.
    fn heed_stop(self: &Arc<Self>, caller: Caller, leash: Leash) -> Heeding {
        let corridor = Arc::clone(self);
        // A task of its own: a thread that is held must not hold up the switch.
        Heeding(self.executor.runtime().spawn(async move {
            loop {
                tokio::time::sleep(LOOK_FOR_STOP).await;
                let Ok(audit) = corridor.audit() else { return };
                // What cannot be seen stops nobody here: the call was allowed to begin.
                if let Ok(Standing::Suspended { .. } | Standing::Terminated) = audit.standing_of(&caller) {
                    return leash.terminate();
                }
            }
        }))
    }

    /// Waits for the calls under way.
    pub async fn finish(&self) {
        self.executor.finish().await;
    }

    /// What this caller may use, by role and mode.
    pub fn tools_for(&self, caller: &Caller) -> Vec<ToolDescription> {
        self.catalog.offered(|capability| self.may_use(caller, capability))
    }

    /// One of those, by name.
    pub fn tool_for(&self, caller: &Caller, name: &str) -> Option<ToolDescription> {
        self.catalog.one(name, |capability| self.may_use(caller, capability))
    }

    pub(crate) fn may_use(&self, caller: &Caller, capability: Capability) -> bool {
        self.contexts.of(caller).is_some_and(|context| context.may_use(caller, capability))
    }

    /// Puts other tools in the place of those of the same source, while calls are served.
    pub fn replace_tools(&self, source: ToolSource) {
        self.catalog.replace(source);
    }

    /// Tells whenever other tools are there than before.
    pub fn tool_changes(&self) -> watch::Receiver<()> {
        self.catalog.changes()
    }

    /// Every tool of ours that agents may be offered, for the reference.
    pub fn all_tools() -> Vec<ToolDescription> {
        Catalog::new(&Toolbox::default()).offered(|_| true)
    }

    /// Every tool that there is with these settings, also those that no front end lists, and what it does.
    pub fn every_tool(toolbox: &Toolbox) -> Vec<(ToolName, Kinds)> {
        Catalog::new(toolbox).everything()
    }

    /// Runs the self-attack battery now, if it has not run yet, and puts the result on record. Calls that start programs
    /// wait for it.
    pub fn prove(&self) -> Result<Posture, ToolError> {
        let context = self.contexts.default();
        let proved = thread::in_place(|| prove(self, context));
        match (context.instruments.programs.posture(), proved) {
            // A table with broken rows is what whoever asks wants to see.
            (Some(posture), _) => Ok(posture),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(ToolError::new(ErrorCode::IsolationTooWeak, "The cage was not proved.")),
        }
    }

    /// Whether anything is served. Waits for no proof.
    pub fn unbroken(&self) -> Result<(), ToolError> {
        self.contexts.all().try_for_each(|context| context.unbroken())
    }

    /// The walls that the last attempt at a cage could not have.
    pub fn missing_layers(&self) -> Vec<Missing> {
        self.contexts.default().instruments.programs.missing_layers()
    }

    /// Every word of a command line and the rule that judged it. What is no plan has no words.
    pub fn explain(&self, line: &str) -> Vec<WordVerdict> {
        let policy = &self.contexts.default().policy;
        let scope = policy.scope();
        let Some(folder) = ScopedPath::from_components(scope.bearings().service().to_vec()) else {
            return Vec::new();
        };
        match policy.command().grammar(line) {
            Ok(plan) => explain(policy.command(), line, &plan, scope, &folder),
            Err(_) => Vec::new(),
        }
    }

    /// Every step of the judgement about a URL, with the addresses that its host has right now if it may be looked up.
    pub async fn explain_url(&self, text: &str, look_up: bool) -> Vec<UrlStep> {
        let context = self.contexts.default();
        let policy = context.policy.url();
        let answers = match WebUrl::parse(text) {
            Ok(url) if look_up && policy.admit(&url).is_ok() => {
                Some(context.instruments.web.resolve(url.host()).await.unwrap_or_default())
            }
            Ok(_) | Err(_) => None,
        };
        policy.explain(text, answers.as_deref())
    }

    /// What the operator's own configuration asks for, through the network door but not by its rules for models.
    pub async fn fetch_for_operator(&self, url: &str) -> Result<Vec<u8>, NetError> {
        self.contexts.default().instruments.web.fetch_for_operator(url).await
    }

    pub fn audit(&self) -> Result<&AuditLog, &AuditError> {
        self.parts.audit.as_ref()
    }

    pub fn approvals(&self) -> Option<&Approvals> {
        self.parts.approvals.as_ref()
    }

    /// A person's answer to a question, in the record that is open.
    pub fn answer(&self, id: &str, approved: bool, by: &str) -> Result<Question, AnswerError> {
        let approvals = self.approvals().ok_or_else(|| AnswerError::NotFound(id.to_owned()))?;
        approvals.answer_on(self.audit().ok(), id, approved, by)
    }

    pub fn log(&self) -> &dyn Log {
        self.parts.log.as_ref()
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.parts.clock
    }

    /// As it was at the start, for what is not part of a call.
    pub fn redactor(&self) -> &Redactor {
        &self.contexts.default().redaction.redactor
    }

    /// For what is told beside calls: everything that is known by now.
    pub fn redactor_for_call(&self, now: Timestamp) -> Redactor {
        self.redactor_in(self.contexts.default(), now)
    }

    pub(crate) fn redactor_in(&self, context: &Context, now: Timestamp) -> Redactor {
        context.redaction.for_call(now, |warnings| self.tell_of_files(context, warnings))
    }

    /// For whoever ends after programs have run.
    pub fn look_again(&self) {
        self.contexts.all().for_each(|context| context.redaction.look_again());
    }

    /// Limits that were reached and files that nobody vouches for are told aloud: what is not known is not hidden.
    fn tell_of_files(&self, context: &Context, warnings: &[String]) {
        let redactor = context.redaction.so_far().for_record();
        for warning in warnings {
            let message = redactor.text(warning).value;
            if let Ok(audit) = self.audit() {
                // Whoever looks next is told by the outcome that the record cannot be written.
                drop(audit.event(&Event {
                    kind: EventKind::AlertRaised,
                    severity: Severity::Warning,
                    caller: None,
                    by: Some("redactor".to_owned()),
                    call_id: None,
                    message: message.clone(),
                    details: RedactedTree::null(),
                }));
            }
            self.log().line(&LogLine { level: Level::Warn, message, fields: Vec::new() });
        }
    }

    /// Where a call came from, as fields of a log line.
    pub fn origin(&self, chain: &Chain) -> Vec<(&'static str, RedactedTree)> {
        let redactor = self.contexts.default().redaction.so_far();
        let address = |address: IpAddr| redactor.plain_tree(Tree::text(address.to_string())).value;
        let address = chain.address.map(|known| ("client_ip", address(known)));
        let id = chain.request_id.as_deref().map(|id| ("request_id", redactor.name(id).into()));
        address.into_iter().chain(id).collect()
    }

    /// A fresh session for a front end that has none of its own.
    pub fn new_session() -> SessionId {
        SessionId::random(chance())
    }
}

/// Looks whether a caller was stopped, for as long as its call lasts.
struct Heeding(JoinHandle<()>);

impl Drop for Heeding {
    fn drop(&mut self) {
        self.0.abort();
    }
}
