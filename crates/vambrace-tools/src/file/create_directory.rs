//! `create_directory`: a folder and the folders above it.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{CreateDirectory, Permit};
use vambrace_types::{RawOutput, ToolError, Tree};

use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct CreateDirectoryTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateDirectoryArgs {
    /// Path of the folder, relative to the service folder.
    path: String,
}

impl Tool for CreateDirectoryTool {
    type Args = CreateDirectoryArgs;
    type Action = CreateDirectory;

    fn about(&self) -> About {
        About::of(
            "create_directory",
            "Create a folder",
            "Creates a folder and the missing folders above it. A folder that exists already is fine.",
            Hints { read_only: false, destructive: false, idempotent: true, open_world: false },
        )
    }

    fn plan(
        &self,
        args: CreateDirectoryArgs,
        context: &CallContext<'_>,
    ) -> Result<CreateDirectory, ToolError> {
        Ok(CreateDirectory { path: context.path(&args.path)? })
    }

    async fn run(&self, permit: Permit<CreateDirectory>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let path = hands.spelled(&permit.action().path);
        let door = hands.files_to_change()?;
        let created = hands.blocking(|| door.create_directory(permit)).await.map_err(files)?;
        Ok(RawOutput::new(Tree::map([("path", Tree::Text(path)), ("created", Tree::Bool(!created.existed))])))
    }
}
