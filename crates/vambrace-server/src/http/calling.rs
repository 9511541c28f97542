//! From an admitted request to a call of the corridor.

use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use serde_json::Value;
use vambrace_audit::Standing;
use vambrace_json::Fault;
use vambrace_runtime::{Corridor, Incoming, Leash, Purpose, Reply};
use vambrace_tools::ProgressSink;
use vambrace_types::{Caller, Chain, ErrorCode, SessionId};

use super::bell::Strange;
use super::teller::Seen;
use super::{Front, Problem};
use crate::mcp::DryRun;

/// One call on behalf of an admitted request.
pub(crate) struct Calling {
    pub(crate) caller: Caller,
    pub(crate) session: SessionId,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) dry_run: bool,
    pub(crate) chain: Chain,
}

impl Front {
    /// Walks the corridor. The walk goes on in its own task if this future is dropped, and is told that the
    /// caller has gone. `None`: the process is going down.
    // Neither this nor what is below waits itself: everything it was given would be held, and moved, by all who wait for it.
    pub(crate) fn call(&self, calling: Calling, leash: Leash) -> impl Future<Output = Option<Reply>> + Send {
        self.call_telling(calling, leash, None)
    }

    /// The same, with somebody who wants to hear how far it is. INVARIANT: no other way leads from HTTP to the corridor,
    /// so what the operator said of all calls holds for each of them, and each is counted.
    pub(crate) fn call_telling(
        &self,
        calling: Calling,
        leash: Leash,
        progress: Option<Arc<dyn ProgressSink>>,
    ) -> impl Future<Output = Option<Reply>> + Send {
        let gone = Gone(Some(leash.clone()));
        let Calling { caller, session, tool, arguments, dry_run, chain } = calling;
        let dry_run = dry_run || self.settings.dry_run == DryRun::Always;
        let (began, context) = (self.moment(), caller.context.clone());
        let replying = self.corridor.call(Incoming {
            caller,
            session,
            tool,
            arguments,
            dry_run,
            purpose: Purpose::Call,
            leash,
            progress,
            live: None,
            approver: None,
            chain,
        });
        async move {
            let reply = replying.await;
            gone.stay();
            if let Some(reply) = &reply {
                self.metrics.call(reply, context.as_deref(), self.moment().saturating_sub(began));
            }
            reply
        }
    }
}

/// Whether a person has stopped a caller, for what is done without a call: a stopped one neither looks nor answers.
pub(crate) fn is_stopped(corridor: &Corridor, caller: &Caller) -> Result<bool, AuditFault> {
    let standing = corridor.audit().map_err(|_| AuditFault)?.standing_of(caller).map_err(|_| AuditFault)?;
    Ok(match standing {
        Standing::Free | Standing::Alerted => false,
        Standing::Suspended { .. } | Standing::Terminated => true,
    })
}

/// The record, where the kill switch lies, cannot be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditFault;

impl Front {
    /// What made it impossible to read a body, put on record if nobody sends that by mistake: no call is left of it.
    pub(crate) fn told(&self, problem: Problem, address: IpAddr, head: &Parts) -> Problem {
        if problem.is_attack() {
            self.bell.strange(self, Strange::Json, Seen::of(address, head));
        }
        problem
    }

    /// The same for other doors.
    pub(crate) fn tell_of_json(&self, fault: &Fault, address: IpAddr, head: &Parts) {
        if fault.what().is_attack() {
            self.bell.strange(self, Strange::Json, Seen::of(address, head));
        }
    }

    /// THREAT: P12, the record does not free anybody by being unreadable.
    pub(crate) fn refuse_stopped(&self, caller: &Caller) -> Result<(), Problem> {
        match is_stopped(&self.corridor, caller) {
            Ok(false) => Ok(()),
            Ok(true) => {
                let message = "The caller is suspended until a person releases it.";
                Err(Problem::new(StatusCode::FORBIDDEN, ErrorCode::Suspended, message)
                    .suggestion("Ask the operator, who can release it with `vambrace resume`."))
            }
            Err(AuditFault) => {
                let message = "Whether a person has stopped this caller cannot be seen.";
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::AuditUnavailable, message)
                    .suggestion("Ask the operator to look at the state folder."))
            }
        }
    }
}

/// Tells a call that its caller has gone, unless it was answered.
pub(crate) struct Gone(pub(crate) Option<Leash>);

impl Gone {
    pub(crate) fn stay(mut self) {
        self.0 = None;
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(leash) = &self.0 {
            leash.caller_gone();
        }
    }
}
