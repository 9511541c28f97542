//! `list_files`: what is in a folder.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{ListFiles, Permit};
use vambrace_types::{RawOutput, ToolError, Tree};

use crate::render::{field, marker};
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Reading, Tense, Tool};

pub(crate) struct ListFilesTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFilesArgs {
    /// Path of the folder, relative to the service folder. Default: the service folder itself.
    #[serde(default)]
    path: String,
    /// Also list what is in the folders beneath. Default false.
    #[serde(default)]
    recursive: bool,
}

impl Tool for ListFilesTool {
    type Args = ListFilesArgs;
    type Action = ListFiles;
    const READING: Reading = Reading::of(listed);

    fn about(&self) -> About {
        About::of(
            "list_files",
            "List a folder",
            "Lists the entries of a folder with kind and size. Blocked names are shown with blocked: true \
                      and never entered; links are shown and not followed.",
            Hints::READS,
        )
    }

    fn plan(&self, args: ListFilesArgs, context: &CallContext<'_>) -> Result<ListFiles, ToolError> {
        Ok(ListFiles { path: context.path(&args.path)?, recursive: args.recursive })
    }

    async fn run(&self, permit: Permit<ListFiles>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        // With `mcp` the self-test runs beside the first calls; what it makes is gone before anybody could use it. It may
        // have begun or ended meanwhile.
        let mut scratch = hands.programs().self_test_names();
        let listing =
            hands.blocking(|| hands.files().list(permit, &hands.deadline())).await.map_err(files)?;
        scratch.extend(hands.programs().self_test_names());
        let is_scratch = |path: &str| scratch.iter().any(|name| path.rsplit('/').next() == Some(name));
        let shown = listing.entries.into_iter().filter(|entry| !is_scratch(&entry.path));
        let entries = shown.map(|entry| {
            let mut fields = vec![
                ("path", Tree::Text(entry.path)),
                ("kind", Tree::text(entry.kind.as_str())),
                ("bytes", Tree::bytes(entry.bytes)),
            ];
            if entry.blocked {
                fields.push(("blocked", Tree::Bool(true)));
            }
            Tree::map(fields)
        });
        let entries = Tree::List(entries.collect());
        Ok(RawOutput::new(Tree::map([("entries", entries), ("truncated", Tree::Bool(listing.truncated))])))
    }
}

fn listed(tree: &Tree, _tense: Tense, out: &mut String) {
    for entry in tree.get("entries").and_then(Tree::as_list).unwrap_or_default() {
        if entry.get("kind").is_none() {
            marker(entry, out);
            continue;
        }
        let blocked = if entry.get("blocked").is_some() { " (blocked)" } else { "" };
        let bytes = entry.get("bytes").and_then(Tree::as_int).unwrap_or(0);
        let _ = match field(entry, "kind") {
            "file" => writeln!(out, "{} {bytes}{blocked}", field(entry, "path")),
            "directory" => writeln!(out, "{}/{blocked}", field(entry, "path")),
            kind => writeln!(out, "{} ({kind}){blocked}", field(entry, "path")),
        };
    }
}
