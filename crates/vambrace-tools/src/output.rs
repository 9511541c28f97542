//! `read_output`: the rest of an answer that was cut.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, ReadOutput};
use vambrace_types::{ByteLimit, ErrorCode, RawOutput, ToolError, Tree};

use crate::render::content;
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Reading, Tool};

pub(crate) struct ReadOutputTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadOutputArgs {
    /// The handle that the cut answer named.
    handle: String,
    /// Where to begin, in bytes.
    #[serde(default)]
    offset: u64,
    /// How many bytes to return at most.
    limit: Option<u64>,
}

impl Tool for ReadOutputTool {
    type Args = ReadOutputArgs;
    type Action = ReadOutput;
    const READING: Reading = Reading::of(content);

    fn about(&self) -> About {
        About::of(
            "read_output",
            "Read the rest of a cut answer",
            "Returns a part of an answer that was too long to show. Use the handle and offset that the cut \
                      answer named.",
            Hints::READS,
        )
    }

    fn plan(&self, args: ReadOutputArgs, context: &CallContext<'_>) -> Result<ReadOutput, ToolError> {
        // The part itself must fit into a reply, with room for the words around it.
        let most = context.limits.reply.bytes().saturating_sub(2048).max(1024);
        let limit = ByteLimit::new(args.limit.unwrap_or(most).clamp(1, most));
        Ok(ReadOutput { handle: args.handle, offset: args.offset, limit })
    }

    async fn run(&self, permit: Permit<ReadOutput>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let ReadOutput { handle, offset, limit } = permit.action();
        let owner = &hands.caller().owner();
        let read = || hands.outputs().read(owner, handle, *offset, limit.bytes());
        let part = hands.blocking(read).await.map_err(files)?.ok_or_else(|| {
            ToolError::new(ErrorCode::UnknownHandle, format!("No output has the handle `{handle}`."))
                .suggestion("Make the call again and ask for less at once; old outputs are dropped.")
        })?;
        let end = part.offset + part.text.len() as u64;
        let mut entries = vec![
            ("offset", Tree::bytes(part.offset)),
            ("bytes", Tree::count(part.text.len())),
            ("total_bytes", Tree::bytes(part.total_bytes)),
            ("truncated", Tree::Bool(end < part.total_bytes)),
        ];
        if end < part.total_bytes {
            entries.push(("next_offset", Tree::bytes(end)));
        }
        entries.push(("content", Tree::Text(part.text)));
        let tree = Tree::map(entries);
        Ok(RawOutput::bounded_by_request(tree))
    }
}
