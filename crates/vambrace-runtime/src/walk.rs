//! The walk: one generic function for every tool. Read this first.
//!
//! A call is authorized, validated, decided, written down, done, cleaned, measured, written down again and answered.
//! Denials, failures, panics, timeouts and cancelled calls leave by the same door as success: `conclude`.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use vambrace_tools::{Reading, Tool};
use vambrace_types::{ErrorCode, RawOutput, ToolError, ToolName};

use crate::stage::{self, Call, Setback, Trail};
use crate::{Context, Corridor, Incoming, Reply};

pub(crate) async fn walk<T: Tool>(
    tool: &T,
    name: &ToolName,
    corridor: &Corridor,
    context: Arc<Context>,
    incoming: Incoming,
) -> Reply {
    let mut trail = Trail::default();
    let call = match stage::begin(corridor, context, incoming, name).await {
        Ok(call) => call,
        Err(call) => {
            return stage::conclude(corridor, &call, T::READING, trail, Err(Setback::Panicked)).await;
        }
    };
    let attempt = {
        // Pinned where it is: what is passed on as a value is held twice.
        let attempt = pin!(attempt(tool, corridor, &call, &mut trail));
        AssertUnwindSafe(attempt).catch_unwind().await
    };
    let attempt = attempt.unwrap_or(Err(Setback::Panicked));
    // Stages 10 to 13, whichever way the attempt ended.
    stage::conclude(corridor, &call, T::READING, trail, attempt).await
}

/// Stages 4 to 9.
async fn attempt<T: Tool>(
    tool: &T,
    corridor: &Corridor,
    call: &Call,
    trail: &mut Trail,
) -> Result<RawOutput, Setback> {
    // 4 authorize: standing, role and mode, before any argument is looked at.
    let standing = stage::authorize::<T::Action>(corridor, call, trail).await?;

    // 5 validate: arguments become an action.
    let action = stage::validate(tool, call)?;

    // 6 decide. Nothing below runs without the permit.
    let look = stage::look(call);
    let permit = stage::decide(tool, corridor, call, &standing, action, &look, trail).await?;

    // 6½ preview: a dry run ends here.
    if call.entry.dry_run {
        return stage::preview(tool, call, &permit).await;
    }

    // 6¾ a sandbox that was not proved runs nothing.
    stage::prove_before::<T::Action>(corridor, call, trail).await?;

    // 7 record the intent: without it, only reading goes on unless the operator chose otherwise.
    let intent = stage::record_intent(corridor, call, &permit, trail).await?;

    // 9 execute.
    stage::execute(tool, corridor, call, permit, intent, trail).await
}

/// A call that leads nowhere is answered and recorded like any other.
pub(crate) async fn walk_nowhere(
    corridor: &Corridor,
    context: Arc<Context>,
    incoming: Incoming,
    error: ToolError,
) -> Reply {
    let (call, setback) = match stage::begin(corridor, context, incoming, &stage::UNKNOWN).await {
        Ok(call) => (call, Setback::Error(error)),
        Err(call) => (call, Setback::Panicked),
    };
    stage::conclude(corridor, &call, Reading::PLAIN, Trail::default(), Err(setback)).await
}

pub(crate) fn nothing_there(asked: &str, offered: &str) -> ToolError {
    ToolError::new(ErrorCode::ToolNotFound, format!("There is no tool `{asked}`."))
        .suggestion(format!("The tools are: {offered}."))
}

pub(crate) fn no_context() -> ToolError {
    ToolError::new(ErrorCode::PermissionDenied, "The context of the caller is no longer there.")
        .suggestion("Ask the operator for a row in `contexts` that is about you.")
}
