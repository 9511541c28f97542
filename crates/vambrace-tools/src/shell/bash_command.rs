//! `bash_command` (specification 002): a command line with the reason for it. No shell reads it.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, RunLine};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::line::{plan_line, settle_line};
use super::outcome::{Outcome, vectors};
use crate::render::{field, plain};
use crate::{About, CallContext, Hands, Hints, Look, Reading, Tense, Tool};

pub(crate) struct BashCommandTool;

/// It may write where the line redirects to, and a listed program may write too.
pub(super) const RUNS: Hints =
    Hints { read_only: false, destructive: true, idempotent: false, open_world: false };

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashCommandArgs {
    /// The command line: words, quotes, pipes, `&&`, `||`, `;`, globs, and redirects to files of the project.
    command: String,
    /// Why this command is needed; it is kept in the record.
    reason: String,
}

impl Tool for BashCommandTool {
    type Args = BashCommandArgs;
    type Action = RunLine;
    const READING: Reading = Reading { text: reads, is_failure, tells_dry_run: true };

    fn about(&self) -> About {
        About::of(
            "bash_command",
            "Run a command line",
            "Runs a command line in the service folder, in a cage that reaches listed hosts only. Only listed programs with \
                      harmless arguments run; variables, substitutions and background jobs are refused. Use the file \
                      tools to read and change files.",
            RUNS,
        )
    }

    fn plan(&self, args: BashCommandArgs, context: &CallContext<'_>) -> Result<RunLine, ToolError> {
        let time = context.toolbox.time.min(context.toolbox.time_most);
        plan_line(context, args.command, time, args.reason)
    }

    fn settle(&self, action: &RunLine, look: &Look<'_>) -> Result<Option<RunLine>, ToolError> {
        settle_line(action, look)
    }

    fn preview(&self, permit: &Permit<RunLine>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let action = permit.action();
        Ok(RawOutput::new(Tree::map([
            ("command", Tree::text(&action.text)),
            ("reason", Tree::text(&action.purpose)),
            ("vectors", vectors(action)),
            ("message", Tree::Text(dry_run(&action.text, &action.purpose))),
        ])))
    }

    async fn run(&self, permit: Permit<RunLine>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let finished = hands.run(permit, None).await?;
        Ok(Outcome::of(&finished, hands).into_output())
    }
}

/// The bytes of specification 002.
fn dry_run(command: &str, reason: &str) -> String {
    format!(
        "Dry-run: would execute command: {command}\nReason: {reason}\nUse --tool=command or --tool=all to execute"
    )
}

fn reads(tree: &Tree, tense: Tense, out: &mut String) {
    match tree.get("message") {
        Some(_) => out.push_str(field(tree, "message")),
        None => plain(tree, tense, out),
    }
}

/// Specification 002: a command that ends with an error is an error to the model.
fn is_failure(tree: &Tree) -> bool {
    let failed = tree.get("exit_code").and_then(Tree::as_int).is_some_and(|code| code != 0);
    failed || tree.get("timed_out") == Some(&Tree::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_says_what_specification_002_says() {
        assert_eq!(
            dry_run("ls -la", "look around"),
            "Dry-run: would execute command: ls -la\nReason: look around\n\
             Use --tool=command or --tool=all to execute"
        );
    }
}
