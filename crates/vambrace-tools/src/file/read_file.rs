//! `read_file`: UTF-8 text, whole or by lines, never more than asked for.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_files::Around;
use vambrace_policy::{Lines, Permit, ReadFile};
use vambrace_redact::cover;
use vambrace_types::{ByteLimit, ErrorCode, RawOutput, ToolError, Tree};

use crate::render::content;
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Reading, Tool};

pub(crate) struct ReadFileTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileArgs {
    /// Path of the file, relative to the service folder.
    path: String,
    /// Refuse (or, with offset or limit, stop) beyond this many bytes. Default 102400.
    max_bytes: Option<u64>,
    /// How many lines to pass over first.
    offset: Option<u64>,
    /// How many lines to return.
    limit: Option<u64>,
}

impl Tool for ReadFileTool {
    type Args = ReadFileArgs;
    type Action = ReadFile;
    const READING: Reading = Reading::of(content);

    fn about(&self) -> About {
        About::of(
            "read_file",
            "Read a text file",
            "Reads a UTF-8 text file. Fails on binary files and on files larger than max_bytes; use offset \
                      and limit (in lines) to read a part of a large file. Secrets in the text are replaced by \
                      [REDACTED:…] markers.",
            Hints::READS,
        )
    }

    fn plan(&self, args: ReadFileArgs, context: &CallContext<'_>) -> Result<ReadFile, ToolError> {
        let path = context.path(&args.path)?;
        let most = context.limits.read_most;
        let max_bytes = args.max_bytes.map_or(context.limits.read, ByteLimit::new);
        if max_bytes.bytes() == 0 || max_bytes > most {
            return Err(ToolError::new(
                ErrorCode::ValidationError,
                format!("`max_bytes` must be between 1 and {}.", most.bytes()),
            )
            .suggestion("Read a part of the file with `offset` and `limit` in lines."));
        }
        let lines = match (args.offset, args.limit) {
            (None, None) => None,
            (offset, limit) => {
                Some(Lines { first: offset.unwrap_or(0).saturating_add(1), count: limit.unwrap_or(u64::MAX) })
            }
        };
        Ok(ReadFile { path, max_bytes, lines })
    }

    async fn run(&self, permit: Permit<ReadFile>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let ReadFile { max_bytes, lines, .. } = permit.action();
        // Of a small part the read is over before another thread could take the rest over. Lines
        // may be far back.
        let is_short = lines.is_none() && *max_bytes <= hands.limits().read;
        let read = || hands.files().read(permit, &hands.deadline());
        let mut text = if is_short { read() } else { hands.blocking(read).await }.map_err(files)?;
        if !text.around.before.is_empty() || !text.around.after.is_empty() {
            let Around { before, after } = text.around;
            let whole = [before.as_slice(), text.content.as_bytes(), after.as_slice()].concat();
            let findings = hands.redactor().scan(&whole);
            let (content, n_covered) = cover(&text.content, before.len(), &findings);
            text.content = content;
            hands.redacted(n_covered);
        }
        let mut entries = vec![
            ("bytes", Tree::count(text.content.len())),
            ("total_bytes", Tree::bytes(text.total_bytes)),
            ("truncated", Tree::Bool(text.truncated)),
        ];
        if let Some(next) = text.next_line {
            entries.push(("next_offset", Tree::bytes(next.saturating_sub(1))));
        }
        // Last, so that the small facts stay in sight above a long text.
        entries.push(("content", Tree::Text(text.content)));
        let tree = Tree::map(entries);
        Ok(RawOutput::bounded_by_request(tree))
    }
}
