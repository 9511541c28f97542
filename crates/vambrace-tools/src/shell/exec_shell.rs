//! `exec_shell` (specification 003): a command line with a time limit of its own. `run_command` is the same under the
//! name that older agents know, and offered only where the operator says so (decision C30).

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, RunLine};
use vambrace_types::{RawOutput, ToolError};

use super::bash_command::RUNS;
use super::line::{plan_line, settle_line, time_of};
use super::outcome::{Outcome, preview};
use crate::{About, CallContext, Hands, Look, Tool};

pub(crate) struct ExecShellTool;
pub(crate) struct RunCommandTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecShellArgs {
    /// The command line: words, quotes, pipes, `&&`, `||`, `;`, globs, and redirects to files of the project.
    command: String,
    /// Seconds after which it is ended. Default 30, at most 300 unless the operator chose otherwise.
    timeout: Option<u64>,
}

fn plan(args: ExecShellArgs, context: &CallContext<'_>) -> Result<RunLine, ToolError> {
    let time = time_of(args.timeout, context.toolbox.time, context.toolbox.time_most)?;
    plan_line(context, args.command, time, String::new())
}

async fn run(permit: Permit<RunLine>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
    let finished = hands.run(permit, None).await?;
    Ok(Outcome::of(&finished, hands).into_output())
}

impl Tool for ExecShellTool {
    type Args = ExecShellArgs;
    type Action = RunLine;

    fn about(&self) -> About {
        About::of(
            "exec_shell",
            "Run a command line with a time limit",
            "Runs a command line in the service folder, in a cage that reaches listed hosts only, and returns exit code and \
                      output. Only listed programs with harmless arguments run; variables, substitutions and \
                      background jobs are refused.",
            RUNS,
        )
    }

    fn plan(&self, args: ExecShellArgs, context: &CallContext<'_>) -> Result<RunLine, ToolError> {
        plan(args, context)
    }

    fn settle(&self, action: &RunLine, look: &Look<'_>) -> Result<Option<RunLine>, ToolError> {
        settle_line(action, look)
    }

    fn preview(&self, permit: &Permit<RunLine>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<RunLine>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        run(permit, hands).await
    }
}

impl Tool for RunCommandTool {
    type Args = ExecShellArgs;
    type Action = RunLine;

    fn about(&self) -> About {
        About::of(
            "run_command",
            "Run a command line (older name)",
            "The older name of exec_shell: runs a command line in the service folder, in a cage that \
                      reaches listed hosts only, under the same rules. Prefer exec_shell, run_test and run_lint.",
            RUNS,
        )
    }

    fn plan(&self, args: ExecShellArgs, context: &CallContext<'_>) -> Result<RunLine, ToolError> {
        plan(args, context)
    }

    fn settle(&self, action: &RunLine, look: &Look<'_>) -> Result<Option<RunLine>, ToolError> {
        settle_line(action, look)
    }

    fn preview(&self, permit: &Permit<RunLine>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<RunLine>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        run(permit, hands).await
    }
}
