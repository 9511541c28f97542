//! The shape of a tool.

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use vambrace_files::FilesError;
use vambrace_policy::{Action, Permit};
use vambrace_types::{RawOutput, ToolError, Tree};

use crate::{About, Audience, CallContext, Hands, Look, Reading};

/// A capability shown to agents. Internal steps are plain functions and never appear here.
pub trait Tool: Send + Sync + 'static {
    type Args: DeserializeOwned + JsonSchema + Send;
    type Action: Action;
    const AUDIENCE: Audience = Audience::Agents;
    const READING: Reading = Reading::PLAIN;

    /// How it shows itself.
    fn about(&self) -> About;

    /// The schema of a declared tool's arguments, where the type alone does not say it.
    fn own_schema(&self) -> Option<serde_json::Map<String, Value>> {
        None
    }

    /// Turns arguments into an action. Pure, so that a preview shares it with the real call.
    fn plan(&self, args: Self::Args, context: &CallContext<'_>) -> Result<Self::Action, ToolError>;

    /// What only the disk can tell and the decision has to know, such as which files a glob matches. The action it
    /// returns is decided again.
    fn settle(&self, _action: &Self::Action, _look: &Look<'_>) -> Result<Option<Self::Action>, ToolError> {
        Ok(None)
    }

    /// What a dry run shows. It may look, with read permits of its own; it gets no hands, so it cannot act.
    fn preview(&self, permit: &Permit<Self::Action>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        look.probe(permit)?;
        let targets = permit.action().targets();
        let paths = targets.iter().map(|(path, _)| Tree::text(look.spelled(path))).collect();
        Ok(RawOutput::new(Tree::map([
            ("would", Tree::text(self.about().name.as_str())),
            ("paths", Tree::List(paths)),
        ])))
    }

    /// Does it. The permit is used up; hands exist only while the call is on record. What may take
    /// longer than about a millisecond without waiting for others goes through `Hands::blocking`.
    fn run(
        &self,
        permit: Permit<Self::Action>,
        hands: &Hands<'_>,
    ) -> impl Future<Output = Result<RawOutput, ToolError>> + Send;
}

/// For `?` on what the files door says.
pub(crate) fn files(error: FilesError) -> ToolError {
    error.to_tool_error()
}
