//! `posture_report`: the self-attack table, as it stands.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, ReadPosture};
use vambrace_process::{Posture, RowState};
use vambrace_types::{Enforcement, RawOutput, ToolError, Tree};

use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct PostureReportTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostureReportArgs {}

impl Tool for PostureReportTool {
    type Args = PostureReportArgs;
    type Action = ReadPosture;

    fn about(&self) -> About {
        About::of(
            "posture_report",
            "Show what holds programs",
            "Shows what stands around every program that is started here: the layers that are missing, and \
                      each attack of the self-test with whether it was held.",
            Hints::READS,
        )
    }

    fn plan(&self, _args: PostureReportArgs, _context: &CallContext<'_>) -> Result<ReadPosture, ToolError> {
        Ok(ReadPosture)
    }

    async fn run(&self, _permit: Permit<ReadPosture>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        // The walk has proved the cage by now, if that was possible at all.
        let programs = hands.programs();
        Ok(RawOutput::new(match programs.posture() {
            Some(posture) => table(&posture, programs.enforcement()),
            None => Tree::map([
                ("holds", Tree::Bool(false)),
                ("message", Tree::text("The self-test has not run.")),
            ]),
        }))
    }
}

fn table(posture: &Posture, enforcement: Enforcement) -> Tree {
    let rows = posture.rows.iter().map(|row| {
        Tree::map([
            ("name", Tree::text(&row.name)),
            ("held", Tree::Bool(row.state == RowState::Held)),
            ("state", Tree::text(row.state.as_str())),
            ("detail", Tree::text(&row.detail)),
        ])
    });
    let missing = posture.missing.iter().map(|missing| {
        Tree::map([("layer", Tree::text(missing.layer.as_str())), ("why", Tree::text(&missing.why))])
    });
    Tree::map([
        ("backend", Tree::text(posture.backend)),
        ("holds", Tree::Bool(posture.holds())),
        ("enforcement", Tree::text(enforcement.as_str())),
        ("rows", Tree::List(rows.collect())),
        ("missing", Tree::List(missing.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use vambrace_process::PostureRow;
    use vambrace_process::RowState::{Broken, Held, Untried};

    use super::*;

    #[test]
    fn one_lost_row_is_seen() {
        let row = |state| PostureRow { name: "read outside".to_owned(), state, detail: String::new() };
        let tables = [
            (vec![row(Held)], true),
            (vec![row(Held), row(Broken)], false),
            (vec![row(Held), row(Untried)], false),
        ];
        for (rows, holds) in tables {
            let posture = Posture { rows, missing: Vec::new(), backend: "native" };
            assert_eq!(table(&posture, Enforcement::Full).get("holds"), Some(&Tree::Bool(holds)));
        }
    }
}
