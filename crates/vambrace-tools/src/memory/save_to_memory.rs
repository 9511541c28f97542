//! `save_to_memory`: one more fact (specification 001).

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, SaveMemory, Saving};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{category, content, would};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct SaveToMemoryTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveToMemoryArgs {
    /// What is to be remembered, as a text that can be understood by itself.
    content: String,
    /// A word or two that says what it is about, such as `deployment`.
    category: Option<String>,
}

impl Tool for SaveToMemoryTool {
    type Args = SaveToMemoryArgs;
    type Action = SaveMemory;

    fn about(&self) -> About {
        About::of(
            "save_to_memory",
            "Remember a fact",
            "Keeps a text, so that search_memory finds it later, also in other conversations. Refused for \
                      callers who are not listed as writers, and when the text holds a known secret.",
            Hints { read_only: false, destructive: false, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: SaveToMemoryArgs, _context: &CallContext<'_>) -> Result<SaveMemory, ToolError> {
        let category = category(args.category.as_deref())?;
        Ok(SaveMemory { content: content(&args.content)?, category, saving: Saving::Fact })
    }

    fn preview(&self, permit: &Permit<SaveMemory>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let SaveMemory { content, category, .. } = permit.action();
        look.memories().owner(look.caller)?;
        let mut entries = vec![("bytes", Tree::count(content.len()))];
        entries.extend(category.as_ref().map(|category| ("category", Tree::text(category))));
        Ok(would(&self.about().name, look.memories().sharing(), entries))
    }

    async fn run(&self, permit: Permit<SaveMemory>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let memories = hands.memories_to_change()?;
        let saved = hands.blocking(|| memories.save(permit, hands.caller())).await?.answer().await?;
        Ok(RawOutput::new(Tree::map([
            ("success", Tree::Bool(true)),
            ("message", Tree::Text(format!("The memory was saved with the id {}.", saved.id))),
            ("id", Tree::Text(saved.id)),
        ])))
    }
}
