//! `write_file`: the whole text of a file, replaced at once.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Content, Permit, WriteFile};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::veiled;
use crate::render::field;
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Look, Reading, Tense, Tool};

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
    const READING: Reading = Reading::of(written);

    fn about(&self) -> About {
        About::of(
            "write_file",
            "Write a text file",
            "Creates a file or replaces its whole text, atomically. For a change to a part of a file use \
                      edit_file. Refused when the text holds a known secret or a [REDACTED:…] marker.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
        )
    }

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
        let written = hands.blocking(|| door.write(permit, hands.stop())).await.map_err(files)?;
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

fn written(tree: &Tree, tense: Tense, out: &mut String) {
    let verb = if tree.get("created") == Some(&Tree::Bool(true)) {
        tense.choose("Created", "Would create")
    } else {
        tense.choose("Wrote", "Would write")
    };
    let bytes = tree.get("bytes").and_then(Tree::as_int).unwrap_or(0);
    let _ = write!(out, "{verb} {} ({bytes} bytes)\n{}", field(tree, "path"), field(tree, "diff"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(created: bool, tense: Tense, expected: &str) {
        let tree = Tree::map([
            ("path", Tree::text("a.txt")),
            ("created", Tree::Bool(created)),
            ("bytes", Tree::Int(3)),
            ("diff", Tree::text("+x\n")),
        ]);
        let mut out = String::new();
        WriteFileTool::READING.write(&tree, tense, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn what_was_done_and_what_would_be_done_read_differently() {
        check(true, Tense::Done, "Created a.txt (3 bytes)\n+x\n");
        check(false, Tense::Done, "Wrote a.txt (3 bytes)\n+x\n");
        check(true, Tense::Would, "Would create a.txt (3 bytes)\n+x\n");
        check(false, Tense::Would, "Would write a.txt (3 bytes)\n+x\n");
    }
}
