//! `spawn` (specification 003): one program with its arguments as a list. Nothing splits or expands them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::command::{CommandPlan, Simple};
use vambrace_policy::{Permit, RunLine};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::bash_command::RUNS;
use super::line::time_of;
use super::outcome::{Outcome, preview};
use crate::{About, CallContext, Hands, Look, Tool};

pub(crate) struct SpawnTool;

/// Specification 003: so many run at once.
const AT_ONCE: usize = 5;
const USUAL_TIME: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpawnArgs {
    /// The name of the program, without arguments.
    command: String,
    /// Its arguments, each as the program shall get it.
    #[serde(default)]
    args: Vec<String>,
    /// What it is for; it comes back with the result.
    #[serde(default)]
    description: String,
    /// Seconds after which it is ended. Default 60, at most 300 unless the operator chose otherwise.
    timeout: Option<u64>,
}

impl Tool for SpawnTool {
    type Args = SpawnArgs;
    type Action = RunLine;

    fn about(&self) -> About {
        About::of(
            "spawn",
            "Run one program",
            "Runs one listed program with a list of arguments in the service folder, in a cage that \
                      reaches listed hosts only, and returns exit code and output. No shell is involved: quotes, globs and pipes mean \
                      nothing. At most five run at once.",
            RUNS,
        )
    }

    fn plan(&self, args: SpawnArgs, context: &CallContext<'_>) -> Result<RunLine, ToolError> {
        let SpawnArgs { command, args, description, timeout } = args;
        demand_name(&command)?;
        demand_no_nul(&args)?;
        let time = time_of(timeout, USUAL_TIME, context.toolbox.time_most)?;
        let text = std::iter::once(&command).chain(&args).map(String::as_str).collect::<Vec<_>>().join(" ");
        let plan = CommandPlan::vector(&command, &args);
        Ok(RunLine { text, plan, folder: context.service()?, time, purpose: description })
    }

    fn preview(&self, permit: &Permit<RunLine>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<RunLine>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let command = permit.action().plan.simples().next().map(Simple::program).unwrap_or_default();
        let description = permit.action().purpose.clone();
        let finished = hands.run(permit, Some(AT_ONCE)).await?;
        let mut entries = Outcome::of(&finished, hands).entries();
        entries.push(("command", Tree::Text(command)));
        entries.push(("description", Tree::Text(description)));
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

fn demand_name(command: &str) -> Result<(), ToolError> {
    if !command.is_empty() && !command.contains(|letter: char| letter.is_whitespace() || letter.is_control())
    {
        return Ok(());
    }
    let message = format!("`{command}` is not the name of a program.");
    Err(ToolError::new(ErrorCode::ValidationError, message).suggestion(
        "Put the program alone into `command` and each argument into `args`, or use exec_shell for a line.",
    ))
}

fn demand_no_nul(args: &[String]) -> Result<(), ToolError> {
    if args.iter().any(|word| word.contains('\0')) {
        return Err(ToolError::new(ErrorCode::ValidationError, "An argument holds a NUL byte.")
            .suggestion("Send the arguments as plain text."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expected: bool) {
        assert_eq!(demand_name(command).is_ok(), expected, "{command:?}");
    }

    #[test]
    fn a_command_is_a_name() {
        check("ls", true);
        check("python3.11", true);
        check("", false);
        check("ls -la", false);
        check("ls\t", false);
        check("ls\n", false);
        check("ls\0", false);
    }
}
