//! `delete_file`: one regular file, never a folder.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{DeleteFile, Permit};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct DeleteFileTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFileArgs {
    /// Path of the file, relative to the service folder.
    path: String,
}

impl Tool for DeleteFileTool {
    type Args = DeleteFileArgs;
    type Action = DeleteFile;

    fn about(&self) -> About {
        About::of(
            "delete_file",
            "Delete a file",
            "Deletes one regular file. Folders, links and files with several names are refused.",
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: DeleteFileArgs, context: &CallContext<'_>) -> Result<DeleteFile, ToolError> {
        let path = context.path(&args.path)?;
        if path.is_root() {
            return Err(ToolError::new(ErrorCode::IsADirectory, format!("`{}` names a folder.", args.path))
                .suggestion("delete_file removes single files; name one."));
        }
        Ok(DeleteFile { path })
    }

    async fn run(&self, permit: Permit<DeleteFile>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let path = hands.spelled(&permit.action().path);
        let door = hands.files_to_change()?;
        let bytes = hands.blocking(|| door.delete(permit, hands.stop())).await.map_err(files)?;
        Ok(RawOutput::new(Tree::map([("path", Tree::Text(path)), ("bytes", Tree::bytes(bytes))])))
    }
}
