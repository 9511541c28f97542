//! `verify_binary`: whether a program is there and can be started.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{ManageSystem, Permit};
use vambrace_process::{Exit, Finished, ProgramError};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{bad_name, is_plain_name, words};
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct VerifyBinaryTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyBinaryArgs {
    /// Name of the program, without a path.
    binary_name: String,
}

impl Tool for VerifyBinaryTool {
    type Args = VerifyBinaryArgs;
    type Action = ManageSystem;

    fn about(&self) -> About {
        // It starts a program that only its name says is harmless.
        let hints = Hints { read_only: false, destructive: false, idempotent: true, open_world: false };
        About::of(
            "verify_binary",
            "Check that a program works",
            "Tells whether a program is in the trusted folders of this machine and can be started, by asking \
                      it for its version. A person approves each call.",
            hints,
        )
    }

    fn plan(&self, args: VerifyBinaryArgs, context: &CallContext<'_>) -> Result<ManageSystem, ToolError> {
        let name = args.binary_name;
        if !is_plain_name(&name, "+._-") {
            return Err(bad_name("binary_name", &name, "the plain name of a program, such as curl"));
        }
        Ok(ManageSystem {
            what: format!("run `{name} --version` on this machine."),
            steps: vec![words(&[&name, "--version"])],
            variables: Vec::new(),
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    async fn run(&self, permit: Permit<ManageSystem>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let name = permit.action().steps.iter().flatten().next().cloned().unwrap_or_default();
        let absent = |found: bool| {
            let entries = [("found", Tree::Bool(found)), ("runnable", Tree::Bool(false))];
            RawOutput::new(Tree::map([("binary_name", Tree::text(&name))].into_iter().chain(entries)))
        };
        let path = match hands.programs().find(&name) {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(ProgramError::NotInstalled { .. }) => return Ok(absent(false)),
            Err(ProgramError::Untrusted { why, .. }) => {
                hands.warn(vec![format!("`{name}` is there but would not be started: {why}.")]);
                return Ok(absent(true));
            }
            Err(other) => return Err(other.to_tool_error()),
        };
        let finished = hands.run(permit, None).await?;
        Ok(RawOutput::new(Tree::map([
            ("binary_name", Tree::text(&name)),
            ("found", Tree::Bool(true)),
            ("path", Tree::Text(path)),
            ("runnable", Tree::Bool(is_runnable(&finished))),
            ("version", version(&finished).map_or(Tree::Null, Tree::Text)),
        ])))
    }
}

/// It ran and ended by itself. Not every program knows `--version`, so an error of its own is no failure.
fn is_runnable(finished: &Finished) -> bool {
    match finished.exit {
        Exit::Code(code) => !finished.timed_out && !matches!(code, 126 | 127),
        Exit::Signal(_) => false,
    }
}

fn version(finished: &Finished) -> Option<String> {
    const LONGEST: usize = 200;
    if finished.exit.code() != 0 || finished.timed_out {
        return None;
    }
    let line = [&finished.stdout, &finished.stderr].into_iter().find_map(|stream| {
        let text = String::from_utf8_lossy(stream).into_owned();
        text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    });
    line.map(|line| line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::ended;

    #[track_caller]
    fn check(code: i32, stdout: &str, stderr: &str, runnable: bool, expected: Option<&str>) {
        let finished = ended(code, stdout, stderr);
        assert_eq!((is_runnable(&finished), version(&finished).as_deref()), (runnable, expected));
    }

    #[test]
    fn the_first_line_is_the_version() {
        check(0, "\ncurl 8.1\nmore\n", "", true, Some("curl 8.1"));
        check(0, "", "java 21\n", true, Some("java 21"));
        check(2, "usage: x\n", "", true, None);
        check(127, "", "not found\n", false, None);
        check(0, "", "", true, None);
    }
}
