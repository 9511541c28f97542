//! `delete_memory`: forgets one memory (specification 001).

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{DeleteMemory, Permit};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{id, would};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct DeleteMemoryTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteMemoryArgs {
    /// The memory's id, as search_memory shows it.
    id: String,
}

impl Tool for DeleteMemoryTool {
    type Args = DeleteMemoryArgs;
    type Action = DeleteMemory;

    fn about(&self) -> About {
        About::of(
            "delete_memory",
            "Forget a memory",
            "Removes one memory for good.",
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: DeleteMemoryArgs, _context: &CallContext<'_>) -> Result<DeleteMemory, ToolError> {
        Ok(DeleteMemory { id: id(args.id)? })
    }

    fn preview(&self, permit: &Permit<DeleteMemory>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let before = look.memories().find(look.caller, &permit.action().id)?;
        let entries = vec![("id", Tree::Text(before.id)), ("before", Tree::Text(before.text))];
        Ok(would(&self.about().name, look.memories().sharing(), entries))
    }

    async fn run(&self, permit: Permit<DeleteMemory>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let id = permit.action().id.clone();
        let memories = hands.memories_to_change()?;
        hands.blocking(|| memories.delete(permit, hands.caller())).await?.answer().await?;
        Ok(RawOutput::new(Tree::map([
            ("success", Tree::Bool(true)),
            ("message", Tree::Text(format!("The memory {id} was deleted."))),
            ("id", Tree::Text(id)),
        ])))
    }
}
