//! `run`: what a person typed behind `vambrace run --`. Its output goes to the terminal while it runs; no agent sees it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::url::AllowEntry;
use vambrace_policy::{Permit, RunTyped};
use vambrace_types::{ErrorCode, RawOutput, ToolError};

use super::bash_command::RUNS;
use super::outcome::{Outcome, preview};
use crate::{About, Audience, CallContext, Hands, Look, Tool};

pub(crate) struct RunTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArgs {
    program: String,
    #[serde(default)]
    arguments: Vec<String>,
    /// Seconds; none for a person who can stop it.
    timeout: Option<u64>,
    /// Hosts that the program may reach.
    #[serde(default)]
    net: Vec<String>,
    /// Further folders that the program may change, absolute.
    #[serde(default)]
    write: Vec<String>,
}

impl Tool for RunTool {
    type Args = RunArgs;
    type Action = RunTyped;
    const AUDIENCE: Audience = Audience::People;

    fn about(&self) -> About {
        About::of(
            "run",
            "Run a program in the cage",
            "Runs what a person typed, in the cage, with its output on the terminal.",
            RUNS,
        )
    }

    fn plan(&self, args: RunArgs, context: &CallContext<'_>) -> Result<RunTyped, ToolError> {
        let hosts = args.net.iter().map(|host| AllowEntry::for_programs(host)).collect::<Result<_, _>>();
        let hosts = hosts.map_err(|error| {
            ToolError::new(ErrorCode::ValidationError, format!("`{}` is no host: {}.", error.text, error.why))
        })?;
        Ok(RunTyped {
            program: args.program,
            arguments: args.arguments,
            folder: context.service()?,
            time: args.timeout.map(Duration::from_secs),
            writable: args.write,
            hosts,
        })
    }

    fn preview(&self, permit: &Permit<RunTyped>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<RunTyped>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let finished = hands.run(permit, None).await?;
        Ok(Outcome::of(&finished, hands).into_output())
    }
}
