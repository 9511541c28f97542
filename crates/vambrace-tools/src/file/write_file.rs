//! `write_file`: the whole text of a file, replaced at once.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Content, Permit, WriteFile};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::veiled;
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct WriteFileTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileArgs {
    /// Path of the file, relative to the service folder. Missing folders are created.
    path: String,
    /// The whole new text.
    content: String,
}

impl Tool for WriteFileTool {
    type Args = WriteFileArgs;
    type Action = WriteFile;
    const ABOUT: About = About {
        name: "write_file",
        title: "Write a text file",
        description: "Creates a file or replaces its whole text, atomically. For a change to a part of a file use \
                      edit_file. Refused when the text holds a known secret or a [REDACTED:…] marker.",
        hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
    };

    fn plan(&self, args: WriteFileArgs, context: &CallContext<'_>) -> Result<WriteFile, ToolError> {
        let path = context.path(&args.path)?;
        if path.is_root() || args.path.ends_with('/') {
            return Err(ToolError::new(ErrorCode::IsADirectory, format!("`{}` names a folder.", args.path))
                .suggestion("Name the file itself, or use create_directory for a folder."));
        }
        Ok(WriteFile { path, content: Content(args.content) })
    }

    fn preview(&self, permit: &Permit<WriteFile>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        look.probe(permit)?;
        let WriteFile { path, content } = permit.action();
        let old = match look.text(path, look.limits.read_most) {
            Ok(text) => Some(text.content),
            Err(error) if error.code == ErrorCode::FileNotFound => None,
            // There, but not text: it would be replaced, and there is no diff to show.
            Err(error) if error.code == ErrorCode::BinaryFile || error.code == ErrorCode::FileTooLarge => {
                return Ok(describe(&look.spelled(path), content, false, String::new()));
            }
            Err(error) => return Err(error),
        };
        let spelled = look.spelled(path);
        let diff = veiled::diff(look.redactor, &spelled, old.as_deref(), &content.0);
        Ok(describe(&spelled, content, old.is_none(), diff))
    }

    async fn run(&self, permit: Permit<WriteFile>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let WriteFile { path, content } = permit.action();
        let (spelled, content) = (hands.spelled(path), content.clone());
        let door = hands.files_to_change()?;
        let written = hands.blocking(|| door.write(permit, hands.stop()))?.map_err(files)?;
        let diff = match (&written.old, written.created) {
            (None, false) => String::new(),
            (old, _) => veiled::diff(hands.redactor(), &spelled, old.as_deref(), &content.0),
        };
        hands.redacted(veiled::n_covered(&diff));
        hands.warn(written.warnings);
        Ok(describe(&spelled, &content, written.created, diff))
    }
}

fn describe(path: &str, content: &Content, created: bool, diff: String) -> RawOutput {
    RawOutput::new(Tree::map([
        ("path", Tree::text(path)),
        ("bytes", Tree::count(content.0.len())),
        ("created", Tree::Bool(created)),
        ("diff", Tree::Text(diff)),
    ]))
}
