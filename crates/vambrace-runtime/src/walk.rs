//! The walk: one generic function for every tool. Read this first.
//!
//! A call is authorized, validated, decided, written down, done, cleaned, measured, written down again and answered.
//! Denials, failures, panics, timeouts and cancelled calls leave by the same door as success: `conclude`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::task::yield_now;
use vambrace_files::Stop;
use vambrace_policy::{Action, Capability, Denial, Obligations};
use vambrace_tools::{CallContext, Hands, Look, Tool, Warrant};
use vambrace_types::{Enforcement, ErrorCode, RawOutput, ToolError};

use crate::stage::{self, Call, Setback, Shown, Trail, Unsent};
use crate::{Corridor, Incoming, OnAuditFailure};

pub(crate) async fn walk<T: Tool>(tool: &T, corridor: &Corridor, incoming: Incoming) -> Unsent {
    let call = match begin(corridor, incoming, tool.about().name) {
        Ok(call) => call,
        Err(call) => return stage::conclude(corridor, &call, Trail::default(), Err(Setback::Panicked)),
    };
    let mut trail = Trail::default();
    let attempt = {
        // Pinned where it is: what is passed on as a value is held twice.
        let attempt = pin!(attempt(tool, corridor, &call, &mut trail));
        AssertUnwindSafe(attempt).catch_unwind().await
    };
    let attempt = attempt.unwrap_or(Err(Setback::Panicked));
    if stage::needs_room(&attempt) {
        stage::make_way(corridor).await;
    }
    // Stages 10 to 13, whichever way the attempt ended.
    conclude(corridor, &call, trail, attempt)
}

/// The call, or the little that is left of it when its arguments or its name make us fall over: who, and when.
fn begin(corridor: &Corridor, mut incoming: Incoming, tool: &'static str) -> Result<Call, Call> {
    let moment = || {
        let started = corridor.parts.clock.now();
        (started, corridor.redactor_for_call(started))
    };
    let begun = catch_unwind(AssertUnwindSafe(|| {
        let (started, redactor) = moment();
        let shown = Shown::of(&redactor, &mut incoming, tool);
        (started, redactor, shown)
    }));
    match begun {
        Ok((started, redactor, shown)) => Ok(Call::begin(corridor, incoming, tool, started, redactor, shown)),
        Err(_) => {
            incoming.arguments = Value::Null;
            let (started, redactor) = moment();
            Err(Call::begin(corridor, incoming, tool, started, redactor, Shown::nothing()))
        }
    }
}

/// What makes us fall over on the way out is left out, and the call ends as one that failed.
fn conclude(corridor: &Corridor, call: &Call, trail: Trail, attempt: Result<RawOutput, Setback>) -> Unsent {
    catch_unwind(AssertUnwindSafe(|| stage::conclude(corridor, call, trail, attempt)))
        .unwrap_or_else(|_| stage::conclude(corridor, call, Trail::default(), Err(Setback::Panicked)))
}

/// Stages 4 to 9.
async fn attempt<T: Tool>(
    tool: &T,
    corridor: &Corridor,
    call: &Call,
    trail: &mut Trail,
) -> Result<RawOutput, Setback> {
    let parts = &corridor.parts;
    let policy = &parts.policy;

    // 4 authorize: standing, role and mode, before any argument is looked at.
    let standing = stage::standing(corridor, call, T::Action::CAPABILITY, trail)?;
    policy.admit(&standing)?;
    let authorized = policy.authorize(&call.entry.caller, T::Action::CAPABILITY);
    // A mode that leaves memory out has asked no list.
    if authorized.as_ref().map_or_else(Denial::is_of_memory, |()| true) {
        trail.refusal_is_told = stage::tell_permission(corridor, call, T::Action::CAPABILITY);
    }
    authorized?;
    // However it ends, what it wanted to do decides how loudly it is told.
    trail.severity = Obligations::of(call.entry.caller.role, T::Action::CAPABILITY).severity;
    if T::Action::CAPABILITY == Capability::ManageSystem {
        trail.enforcement = Enforcement::Host;
    }
    // No wall is claimed for a program until one stood around it.
    if T::Action::CAPABILITY.runs_programs() {
        trail.enforcement = Enforcement::None;
    }
    stage::unbroken(corridor, T::Action::CAPABILITY, trail)?;

    // 5 validate: arguments become an action.
    let args = stage::decode::<T::Args>(call)?;
    let action = tool.plan(
        args,
        &CallContext {
            bearings: policy.scope().bearings(),
            limits: parts.limits,
            command: policy.command(),
            toolbox: &parts.toolbox,
            dry_run: call.entry.dry_run,
            caller: &call.entry.caller,
            chain: &call.chain,
            call_id: &call.entry.call_id,
        },
    )?;

    // 6 decide. Nothing below runs without the permit. What only the disk can tell is looked up once the action is
    // allowed as it stands, and the whole is decided again: globs, for instance.
    let stop = Stop::default();
    let caller = &call.entry.caller;
    let look = Look::new(
        &parts.instruments,
        &parts.toolbox,
        policy,
        &call.redactor,
        caller,
        parts.limits,
        stop.clone(),
    );
    let permit = stage::decide(tool, corridor, call, &standing, action, &look, trail).await?;
    trail.allowed_by(&permit);

    // What follows is watched: the caller may cancel or go, and time may run out.
    let time = stage::patience(permit.action().time(), parts.limits.time);
    let is_brief = tool.is_brief(&call.arguments);
    let mut watch = if is_brief {
        call.leash.watch_here(time, stop.clone())
    } else {
        call.leash.watch(time, stop.clone())
    };

    // 6½ preview: a dry run ends here.
    if call.entry.dry_run {
        stage::make_way(corridor).await;
        return stage::preview(tool, &permit, &look, &stop);
    }

    // 6¾ a cage that was not proved runs nothing.
    if T::Action::CAPABILITY.runs_programs() {
        trail.enforcement = stage::prove(corridor)?;
    }

    // The table is read from a proof, whatever it found.
    if T::Action::CAPABILITY == Capability::ReadPosture {
        let _ = stage::prove(corridor);
    }

    // A person may have thought about it for a while.
    stage::unbroken(corridor, T::Action::CAPABILITY, trail)?;

    // 7 record the intent: without it, only reading goes on unless the operator chose otherwise.
    let noted = stage::note_intent(corridor, call, &permit, trail);
    if is_brief {
        // Whatever else has come gets as far first: the intents of short calls are written together.
        yield_now().await;
    }
    let intent = stage::record_intent(corridor, noted, T::Action::CAPABILITY, trail)?;
    let warrant = match (&intent, parts.on_audit_failure) {
        (Ok(receipt), _) => Warrant::Written(receipt),
        (Err(error), OnAuditFailure::Warn) => Warrant::Waived(error),
        (Err(error), OnAuditFailure::DenyWrites | OnAuditFailure::DenyAll) => Warrant::Unrecorded(error),
    };

    // 9 execute. What stood around a program is known when it has run.
    if T::Action::CAPABILITY.runs_programs() {
        trail.enforcement = Enforcement::None;
    }
    let marks = parts.mark_programs.as_ref().filter(|_| T::Action::CAPABILITY.runs_programs());
    // It may wait for whoever looks at the workspace's hidden files.
    if marks.is_some() {
        corridor.program_ran();
        stage::make_way(corridor).await;
    }
    let _running = marks.map(|mark| stage::waiting_if(true, mark));
    let hands = Hands::new(
        warrant,
        &parts.instruments,
        policy,
        &call.redactor,
        &call.entry.caller,
        parts.limits,
        stop,
        call.progress.as_ref(),
        call.live.as_ref(),
        stage::in_place,
    );
    let result = tokio::select! {
        biased;
        result = tool.run(permit, &hands) => result,
        () = watch.lost_patience() => Err(ToolError::new(ErrorCode::Cancelled, "The call did not stop in time.")),
    };
    trail.learn(hands.into_notes());
    Ok(result?)
}

/// A call to a tool that does not exist is answered and recorded like any other.
pub(crate) fn walk_nowhere(corridor: &Corridor, incoming: Incoming, offered: &str) -> Unsent {
    let name = incoming.tool.clone();
    let call = match begin(corridor, incoming, stage::UNKNOWN) {
        Ok(call) => call,
        Err(call) => return stage::conclude(corridor, &call, Trail::default(), Err(Setback::Panicked)),
    };
    let error = ToolError::new(ErrorCode::ToolNotFound, format!("There is no tool `{name}`."))
        .suggestion(format!("The tools are: {offered}."));
    conclude(corridor, &call, Trail::default(), Err(error.into()))
}
