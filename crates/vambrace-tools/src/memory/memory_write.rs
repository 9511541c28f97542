//! `memory_write`: one more note, or the only one (specification 003).

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, SaveMemory, Saving};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{content, would};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct MemoryWriteTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryWriteArgs {
    /// The text to write.
    content: String,
    /// `append` adds a note; `overwrite` puts it in the place of all notes that this tool has written here.
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    #[default]
    Append,
    Overwrite,
}

impl Tool for MemoryWriteTool {
    type Args = MemoryWriteArgs;
    type Action = SaveMemory;

    fn about(&self) -> About {
        About::of(
            "memory_write",
            "Write notes",
            "Adds a note to what is remembered, or replaces all notes that were written this way. What \
                      save_to_memory keeps is never replaced.",
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: MemoryWriteArgs, _context: &CallContext<'_>) -> Result<SaveMemory, ToolError> {
        let saving = match args.mode {
            Mode::Append => Saving::Append,
            Mode::Overwrite => Saving::Overwrite,
        };
        Ok(SaveMemory { content: content(&args.content)?, category: None, saving })
    }

    fn preview(&self, permit: &Permit<SaveMemory>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let SaveMemory { content, saving, .. } = permit.action();
        look.memories().owner(look.caller)?;
        let entries = vec![("mode", Tree::text(word(*saving))), ("bytes", Tree::count(content.len()))];
        Ok(would(&self.about().name, look.memories().sharing(), entries))
    }

    async fn run(&self, permit: Permit<SaveMemory>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let (bytes, saving) = (permit.action().content.len(), permit.action().saving);
        let memories = hands.memories_to_change()?;
        let saved = hands.blocking(|| memories.save(permit, hands.caller())).await?.answer().await?;
        let message = format!("Successfully wrote {bytes} bytes to memory (mode: {})", word(saving));
        Ok(RawOutput::new(Tree::map([
            ("message", Tree::Text(message)),
            ("id", Tree::Text(saved.id)),
            ("replaced", Tree::count(saved.n_gone)),
        ])))
    }
}

fn word(saving: Saving) -> &'static str {
    match saving {
        Saving::Fact | Saving::Append => "append",
        Saving::Overwrite => "overwrite",
    }
}
