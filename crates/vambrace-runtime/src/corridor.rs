//! What a running Vambrace is made of, and the door front ends knock on.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use vambrace_audit::{
    AnswerError, Approvals, AuditError, AuditLog, BareStanding, Clock, Event, EventKind, Question, Severity,
    Standing,
};
use vambrace_net::NetError;
use vambrace_policy::command::{WordVerdict, explain};
use vambrace_policy::url::{UrlStep, WebUrl};
use vambrace_policy::{Capability, Policy};
use vambrace_process::{Missing, Posture};
use vambrace_redact::{RedactedTree, Redactor};
use vambrace_tools::{Instruments, Limits, Toolbox};
use vambrace_types::{Caller, Chain, ErrorCode, ScopedPath, SessionId, Timestamp, ToolError, Tree};

use crate::chance::chance;
use crate::stage::{Unsent, prove};
use crate::table::{Table, ToolDescription};
use crate::underway::Underway;
use crate::{Incoming, Leash, Level, Log, LogLine, Reply, brief};

/// What happens to calls while the record cannot be written (decision C24).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnAuditFailure {
    /// Everything goes on, with a warning.
    Warn,
    /// Reading goes on, with a warning; nothing is changed.
    DenyWrites,
    DenyAll,
}

/// A walk that needs nobody to hold its corridor.
pub(crate) type Walking = Pin<Box<dyn Future<Output = Unsent> + Send>>;

/// Looks whether there are new secrets to know.
pub type Relearn = Box<dyn Fn() -> Relearned + Send + Sync>;

/// What became of looking.
#[derive(Debug, Default)]
pub struct Relearned {
    /// One that knows more than the last.
    pub redactor: Option<Redactor>,
    /// What a person should know about the files that were looked at, said once.
    pub warnings: Vec<String>,
}

/// Notes that a program runs, until what it gives is dropped: what turns up meanwhile may be the program's.
pub type MarkPrograms = Box<dyn Fn() -> Box<dyn std::any::Any + Send> + Send + Sync>;

const LOOK_FOR_STOP: Duration = Duration::from_millis(500);

/// In milliseconds. LIMIT: a secret that was written down a moment ago may still be unknown.
const LOOK_AGAIN: u64 = 1000;

pub struct CorridorParts {
    pub policy: Policy,
    pub redactor: Redactor,
    /// Asked at the beginning of calls and before strangers are told of, at most once a second.
    pub relearn: Option<Relearn>,
    pub mark_programs: Option<MarkPrograms>,
    pub instruments: Instruments,
    /// The error when the record could not even be opened; calls then meet `on_audit_failure`.
    pub audit: Result<AuditLog, AuditError>,
    pub on_audit_failure: OnAuditFailure,
    /// The kill switch, for when the record cannot be opened.
    pub bare_standing: BareStanding,
    pub limits: Limits,
    pub toolbox: Toolbox,
    pub clock: Arc<dyn Clock>,
    pub log: Arc<dyn Log>,
    /// Questions that wait for a person; without them, what needs a person is refused.
    pub approvals: Option<Approvals>,
    /// Stands for the whole policy in what an approval is bound to, across processes.
    pub policy_fingerprint: [u8; 32],
}

pub struct Corridor {
    pub(crate) parts: CorridorParts,
    table: Table,
    walking: TaskTracker,
    pub(crate) underway: Arc<Underway>,
    learned: Learned,
    /// Programs have run since anybody last looked at the workspace's hidden files.
    ran: AtomicBool,
    /// Where walks go on that are not over at once. Unset: where they were called.
    home: OnceLock<Handle>,
}

/// What became known since the start, and when that was last asked. Whoever asks keeps only those waiting who want to ask
/// too.
struct Learned {
    redactor: OnceLock<RwLock<Redactor>>,
    asking: Mutex<()>,
    /// In milliseconds.
    asked: AtomicI64,
}

impl Learned {
    const NEVER: i64 = i64::MIN;

    fn nothing() -> Learned {
        Learned { redactor: OnceLock::new(), asking: Mutex::default(), asked: AtomicI64::new(Learned::NEVER) }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let asked = self.asked.load(Ordering::Acquire);
        let then = Timestamp::from_millis(asked);
        // A clock that was set back must not keep us from looking.
        asked == Learned::NEVER || then > now || now.millis_since(then) >= LOOK_AGAIN
    }
}

impl Corridor {
    pub fn new(parts: CorridorParts) -> Corridor {
        let table = Table::new(&parts.toolbox);
        Corridor {
            parts,
            table,
            walking: TaskTracker::new(),
            underway: Arc::default(),
            learned: Learned::nothing(),
            ran: AtomicBool::new(false),
            home: OnceLock::new(),
        }
    }

    /// From now on, walks that may hold their thread for long are tasks of this runtime, whose threads can make way for
    /// each other; whoever calls need not be able to. Once and for good: the runtime has to outlive all calls.
    pub fn live_on(&self, runtime: Handle) {
        // INVARIANT: what goes there to make way can do so.
        if runtime.runtime_flavor() == RuntimeFlavor::MultiThread {
            let _ = self.home.set(runtime);
        }
    }

    pub(crate) fn has_home(&self) -> bool {
        self.home.get().is_some()
    }

    /// One call through the whole corridor. The walk is a task of its own, or becomes one when its caller goes away, who does
    /// not take the outcome line along. THREAT: P03.
    ///
    /// `None` means that the runtime itself is going down, or that answering a panic fell over too; the front end says so.
    // Not itself one that waits: everything it was given would be held, and moved, by all who wait for it.
    pub fn call(self: &Arc<Self>, incoming: Incoming) -> impl Future<Output = Option<Reply>> + Send {
        let (owner, leash) = (incoming.caller.owner(), incoming.leash.clone());
        // A disk that has to be waited for is no short call's business.
        let is_durable = self.parts.audit.as_ref().is_ok_and(AuditLog::is_durable);
        let is_brief = !is_durable && self.table.is_brief(&incoming);
        let heeded = (!is_brief).then(|| Box::new(incoming.caller.clone()));
        let walk = self.walking(incoming);
        async move {
            match heeded {
                Some(caller) => {
                    let _heeding = self.heed_stop(*caller, leash.clone());
                    self.spawned(walk, owner, leash).await.ok()
                }
                None => brief::call(self, walk, owner, leash).await,
            }
        }
    }

    fn walking(self: &Arc<Self>, incoming: Incoming) -> Walking {
        let corridor = Arc::clone(self);
        let walk = async move { corridor.table.walk(&corridor, incoming).await };
        Box::pin(self.walking.track_future(walk))
    }

    /// The kill switch ends also what is under way, within about a second. THREAT: P12.
    fn heed_stop(self: &Arc<Self>, caller: Caller, leash: Leash) -> Heeding {
        let corridor = Arc::clone(self);
        // Not where the caller waits: a thread that is held there must not hold up the switch.
        Heeding(self.runtime().spawn(async move {
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

    /// As a task of its own. Not itself one that waits: every connection would have to hold the whole walk.
    pub(crate) fn spawned(self: &Arc<Self>, walk: Walking, owner: String, leash: Leash) -> JoinHandle<Reply> {
        let entered = self.underway.enter(owner, leash);
        let corridor = Arc::clone(self);
        let walk = async move {
            let _entered = entered;
            walk.await.recorded(&corridor)
        };
        self.walking.spawn_on(walk, &self.runtime())
    }

    fn runtime(&self) -> Handle {
        self.home.get().cloned().unwrap_or_else(Handle::current)
    }

    /// Waits for the calls under way.
    pub async fn finish(&self) {
        self.walking.close();
        self.walking.wait().await;
    }

    /// What this caller may use, by role and mode.
    pub fn tools_for(&self, caller: &Caller) -> Vec<ToolDescription> {
        self.table.offered(|capability| self.may_use(caller, capability))
    }

    /// One of those, by name.
    pub fn tool_for(&self, caller: &Caller, name: &str) -> Option<ToolDescription> {
        self.table.one(name, |capability| self.may_use(caller, capability))
    }

    pub(crate) fn may_use(&self, caller: &Caller, capability: Capability) -> bool {
        self.parts.policy.authorize(caller, capability).is_ok()
    }

    /// Every tool there is, for the reference.
    pub fn all_tools() -> Vec<ToolDescription> {
        Table::new(&Toolbox::default()).offered(|_| true)
    }

    /// Runs the self-attack battery now, if it has not run yet, and puts the result on record. Calls that start programs
    /// wait for it.
    pub fn prove(&self) -> Result<Posture, ToolError> {
        let proved = prove(self);
        match (self.parts.instruments.programs.posture(), proved) {
            // A table with broken rows is what whoever asks wants to see.
            (Some(posture), _) => Ok(posture),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(ToolError::new(ErrorCode::IsolationTooWeak, "The cage was not proved.")),
        }
    }

    /// Whether anything is served. Waits for no proof.
    pub fn unbroken(&self) -> Result<(), ToolError> {
        self.parts.instruments.programs.unbroken().map_err(|error| error.to_tool_error())
    }

    /// The walls that the last attempt at a cage could not have.
    pub fn missing_layers(&self) -> Vec<Missing> {
        self.parts.instruments.programs.missing_layers()
    }

    /// Every word of a command line and the rule that judged it. What is no plan has no words.
    pub fn explain(&self, line: &str) -> Vec<WordVerdict> {
        let policy = &self.parts.policy;
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
        let policy = self.parts.policy.url();
        let answers = match WebUrl::parse(text) {
            Ok(url) if look_up && policy.admit(&url).is_ok() => {
                Some(self.parts.instruments.web.resolve(url.host()).await.unwrap_or_default())
            }
            Ok(_) | Err(_) => None,
        };
        policy.explain(text, answers.as_deref())
    }

    /// What the operator's own configuration asks for, through the network door but not by its rules for models.
    pub async fn fetch_for_operator(&self, url: &str) -> Result<Vec<u8>, NetError> {
        self.parts.instruments.web.fetch_for_operator(url).await
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
        &self.parts.redactor
    }

    /// For one call: everything that is known by now, and numbers from one.
    pub fn redactor_for_call(&self, now: Timestamp) -> Redactor {
        if let Some(relearn) = &self.parts.relearn
            && self.learned.is_due(now)
        {
            let _asking = self.learned.asking.lock().unwrap_or_else(PoisonError::into_inner);
            if self.learned.is_due(now) {
                // One who falls over here is told so, and the next goes on with what is known: without a redactor, no call
                // could even be written down.
                let fault = match catch_unwind(AssertUnwindSafe(relearn)) {
                    Ok(Relearned { redactor, warnings }) => {
                        redactor.into_iter().for_each(|redactor| self.learn(redactor));
                        self.tell_of_files(&warnings);
                        None
                    }
                    Err(fault) => Some(fault),
                };
                // Behind what was learned, so that nobody goes on without it.
                self.learned.asked.store(now.millis(), Ordering::Release);
                if let Some(fault) = fault {
                    resume_unwind(fault);
                }
            }
        }
        self.redactor_so_far()
    }

    pub(crate) fn program_ran(&self) {
        self.ran.store(true, Ordering::Release);
    }

    /// For whoever ends after programs have run: what hidden files they left is written down as theirs, so that what a
    /// person makes from now on is a person's.
    pub fn look_again(&self) {
        if let Some(relearn) = &self.parts.relearn
            && self.ran.swap(false, Ordering::AcqRel)
        {
            // The next start tells what there is to tell, and looks again if this failed.
            let _ = catch_unwind(AssertUnwindSafe(relearn));
        }
    }

    /// Limits that were reached and files that nobody vouches for are told aloud: what is not known is not hidden.
    fn tell_of_files(&self, warnings: &[String]) {
        let redactor = self.redactor_so_far().for_record();
        for warning in warnings {
            let message = redactor.text(warning).value;
            if let Ok(audit) = self.audit() {
                // Whoever looks next is told by the outcome that the record cannot be written.
                let _ = audit.event(&Event {
                    kind: EventKind::AlertRaised,
                    severity: Severity::Warning,
                    caller: None,
                    by: Some("redactor".to_owned()),
                    call_id: None,
                    message: message.clone(),
                    details: RedactedTree::null(),
                });
            }
            self.log().line(&LogLine { level: Level::Warn, message, fields: Vec::new() });
        }
    }

    fn learn(&self, redactor: Redactor) {
        if let Err(redactor) = self.learned.redactor.set(RwLock::new(redactor))
            && let (Some(learned), Ok(redactor)) = (self.learned.redactor.get(), redactor.into_inner())
        {
            *learned.write().unwrap_or_else(PoisonError::into_inner) = redactor;
        }
    }

    /// What was known when it was last asked.
    fn redactor_so_far(&self) -> Redactor {
        match self.learned.redactor.get() {
            Some(learned) => learned.read().unwrap_or_else(PoisonError::into_inner).for_call(),
            None => self.parts.redactor.for_call(),
        }
    }

    /// Where a call came from, as fields of a log line.
    pub fn origin(&self, chain: &Chain) -> Vec<(&'static str, RedactedTree)> {
        let redactor = self.redactor_so_far();
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

/// An empty object, for calls without arguments.
pub(crate) fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments }
}
