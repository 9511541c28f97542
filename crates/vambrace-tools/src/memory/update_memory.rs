//! `update_memory`: another text for one memory (specification 001).

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, UpdateMemory};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{content, id, would};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct UpdateMemoryTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateMemoryArgs {
    /// The memory's id, as search_memory shows it.
    id: String,
    /// The whole new text.
    content: String,
}

impl Tool for UpdateMemoryTool {
    type Args = UpdateMemoryArgs;
    type Action = UpdateMemory;

    fn about(&self) -> About {
        About::of(
            "update_memory",
            "Change a memory",
            "Replaces the whole text of one memory and makes the caller its author.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
        )
    }

    fn plan(&self, args: UpdateMemoryArgs, _context: &CallContext<'_>) -> Result<UpdateMemory, ToolError> {
        Ok(UpdateMemory { id: id(args.id)?, content: content(&args.content)? })
    }

    fn preview(&self, permit: &Permit<UpdateMemory>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let UpdateMemory { id, content } = permit.action();
        let before = look.memories().find(look.caller, id)?;
        let entries = vec![
            ("id", Tree::Text(before.id)),
            ("before", Tree::Text(before.text)),
            ("after", Tree::text(content)),
        ];
        Ok(would(&self.about().name, look.memories().sharing(), entries))
    }

    async fn run(&self, permit: Permit<UpdateMemory>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let id = permit.action().id.clone();
        let memories = hands.memories_to_change()?;
        hands.blocking(|| memories.update(permit, hands.caller())).await?.answer().await?;
        Ok(RawOutput::new(Tree::map([
            ("success", Tree::Bool(true)),
            ("message", Tree::Text(format!("The memory {id} was updated."))),
            ("id", Tree::Text(id)),
        ])))
    }
}
