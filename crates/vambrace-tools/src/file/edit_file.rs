//! `edit_file`: surgical changes to one or several files, all or nothing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_edit::{Captures, Edit, Language, MatchMode, Operation};
use vambrace_files::FilesError;
use vambrace_policy::{EditFiles, FileEdits, OnWrite, Permit, Writes};
use vambrace_redact::Redactor;
use vambrace_types::{ErrorCode, RawOutput, ScopedPath, ToolError, Tree};

use super::veiled::{self, Outcome};
use crate::hands::PatternTime;
use crate::render::{field, marker};
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Limits, Look, Reading, Tense, Tool};

pub(crate) struct EditFileTool;

/// LIMIT: more files in one call are refused.
const MOST_FILES: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFileArgs {
    /// Path of the file, relative to the service folder. Not together with `files`.
    path: Option<String>,
    /// The edits of that file.
    edits: Option<Vec<EditArgs>>,
    /// Short form of one exact replacement: the text to find, exactly once.
    old_text: Option<String>,
    /// Short form of one exact replacement: what to put in its place.
    new_text: Option<String>,
    /// Several files at once, all or nothing.
    files: Option<Vec<FileArgs>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileArgs {
    /// Path of the file, relative to the service folder.
    path: String,
    edits: Vec<EditArgs>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditArgs {
    #[serde(default)]
    operation: OperationArg,
    #[serde(default)]
    match_mode: ModeArg,
    /// The text, regular expression or syntax pattern (such as `fn $NAME($$$ARGS)`) to find.
    spec: String,
    /// The text to put in. Ignored by delete.
    #[serde(default)]
    content: String,
    /// How many matches are expected. If there are more or fewer, nothing is changed. Default 1.
    #[serde(default = "one")]
    count: usize,
    /// `expand` fills $1, ${name} (regex) or $NAME (ast) in content from the match. Default literal.
    #[serde(default)]
    captures: CapturesArg,
}

fn one() -> usize {
    1
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperationArg {
    #[default]
    Replace,
    AppendAfter,
    PrependBefore,
    Delete,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeArg {
    #[default]
    Exact,
    Regex,
    Ast,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CapturesArg {
    #[default]
    Literal,
    Expand,
}

/// One edit as the permit carries it.
#[derive(Debug, Clone)]
pub struct Change(Edit);

impl Writes for Change {
    fn written(&self) -> &str {
        match self.0.operation {
            Operation::Replace | Operation::AppendAfter | Operation::PrependBefore => &self.0.content,
            Operation::Delete => "",
        }
    }
}

impl Tool for EditFileTool {
    type Args = EditFileArgs;
    type Action = EditFiles<Change>;
    const READING: Reading = Reading::of(listed);

    fn about(&self) -> About {
        About::of(
            "edit_file",
            "Edit files",
            "Changes parts of one or several text files: replace, append_after, prepend_before or delete \
                      what an exact text, a regular expression or a syntax pattern (ast: Rust, Python, TypeScript, \
                      JavaScript, Go, Bash, JSON) matches. Matches are counted before anything is changed; if a count \
                      differs or edits overlap, nothing is changed. Returns a unified diff per file.",
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: EditFileArgs, context: &CallContext<'_>) -> Result<EditFiles<Change>, ToolError> {
        let mut seen = BTreeSet::new();
        let mut planned = Vec::new();
        for (path, edits) in files_of(args)? {
            let scoped = context.path(&path)?;
            if edits.is_empty() {
                return Err(invalid(format!("`edits` for `{path}` is empty."), "Give at least one edit."));
            }
            if !seen.insert(scoped.clone()) {
                return Err(invalid(
                    format!("`{path}` is named twice."),
                    "Put all edits of one file into one list; they are matched against the same text.",
                ));
            }
            planned.push(FileEdits { path: scoped, edits: edits.into_iter().map(change).collect() });
        }
        if planned.is_empty() || planned.len() > MOST_FILES {
            return Err(invalid(
                format!("One call edits between 1 and {MOST_FILES} files."),
                "Give `path` and `edits`, or `files`.",
            ));
        }
        Ok(EditFiles { files: planned })
    }

    fn preview(&self, permit: &Permit<EditFiles<Change>>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        look.probe(permit)?;
        let mut shown = Vec::new();
        for file in &permit.action().files {
            let old = look.text(&file.path, look.limits.read_most)?.content;
            let budget = || PatternTime::start(time_for(&file.edits, look.limits), &look.stop);
            let spelled = look.spelled(&file.path);
            let outcome = edited(
                look.redactor,
                look.policy.on_write(),
                &spelled,
                &file.path,
                &old,
                &file.edits,
                &budget,
            )?;
            shown.push(describe(&spelled, outcome.n_matches, outcome.diff));
        }
        Ok(RawOutput::new(Tree::map([("files", Tree::List(shown))])))
    }

    async fn run(
        &self,
        permit: Permit<EditFiles<Change>>,
        hands: &Hands<'_>,
    ) -> Result<RawOutput, ToolError> {
        let door = hands.files_to_change()?;
        let mut seen = Vec::new();
        let mut apply_to = |path: &ScopedPath, old: &str, edits: &[Change]| -> Result<String, Setback> {
            let budget = || PatternTime::start(time_for(edits, hands.limits()), hands.stop());
            let outcome =
                edited(hands.redactor(), hands.on_write(), &hands.spelled(path), path, old, edits, &budget)
                    .map_err(|error| {
                    // The budget ends with the call: a pattern that was stopped with it did nothing wrong.
                    if hands.stop().is_set() { files(FilesError::Stopped) } else { error }
                })?;
            hands.redacted(veiled::n_covered(&outcome.diff));
            seen.push((outcome.n_matches, outcome.diff));
            Ok(outcome.text)
        };
        let (edited, warnings) = hands
            .blocking(|| door.edit(permit, hands.stop(), &mut apply_to))
            .await
            .map_err(|Setback(error)| error)?;
        hands.warn(warnings);
        let shown = edited
            .iter()
            .zip(seen)
            .map(|(file, (n_matches, diff))| describe(&hands.spelled(&file.path), n_matches, diff))
            .collect();
        Ok(RawOutput::new(Tree::map([("files", Tree::List(shown))])))
    }
}

/// Carries a `ToolError` through the door.
struct Setback(ToolError);

impl From<FilesError> for Setback {
    fn from(error: FilesError) -> Setback {
        Setback(files(error))
    }
}

impl From<ToolError> for Setback {
    fn from(error: ToolError) -> Setback {
        Setback(error)
    }
}

/// The three ways to say which edits go to which file.
fn files_of(args: EditFileArgs) -> Result<Vec<(String, Vec<EditArgs>)>, ToolError> {
    match (args.path, args.edits, args.old_text, args.new_text, args.files) {
        (Some(path), Some(edits), None, None, None) => Ok(vec![(path, edits)]),
        (Some(path), None, Some(old_text), Some(new_text), None) => {
            let edit = EditArgs {
                operation: OperationArg::Replace,
                match_mode: ModeArg::Exact,
                spec: old_text,
                content: new_text,
                count: 1,
                captures: CapturesArg::Literal,
            };
            Ok(vec![(path, vec![edit])])
        }
        (None, None, None, None, Some(files)) => {
            Ok(files.into_iter().map(|file| (file.path, file.edits)).collect())
        }
        _ => Err(invalid(
            "Say what to edit in exactly one of three ways.".to_owned(),
            "Give `path` and `edits`, or `path`, `old_text` and `new_text`, or `files`.",
        )),
    }
}

fn change(args: EditArgs) -> Change {
    Change(Edit {
        operation: match args.operation {
            OperationArg::Replace => Operation::Replace,
            OperationArg::AppendAfter => Operation::AppendAfter,
            OperationArg::PrependBefore => Operation::PrependBefore,
            OperationArg::Delete => Operation::Delete,
        },
        mode: match args.match_mode {
            ModeArg::Exact => MatchMode::Exact,
            ModeArg::Regex => MatchMode::Regex,
            ModeArg::Ast => MatchMode::Ast,
        },
        spec: args.spec,
        content: args.content,
        count: args.count,
        captures: match args.captures {
            CapturesArg::Literal => Captures::Literal,
            CapturesArg::Expand => Captures::Expand,
        },
    })
}

/// Specification 004 bounds regular expressions. Plain text needs no bound but the call's, and a grammar reads the whole
/// file before it looks for anything.
/// LIMIT: one budget for all edits of a file, so beside others a regular expression gets their time too.
fn time_for(edits: &[Change], limits: Limits) -> Duration {
    let only_regex = edits.iter().all(|change| change.0.mode == MatchMode::Regex);
    if only_regex { limits.pattern_time } else { limits.time }
}

fn edited(
    redactor: &Redactor,
    on_write: OnWrite,
    spelled: &str,
    path: &ScopedPath,
    old: &str,
    edits: &[Change],
    budget: &dyn Fn() -> PatternTime,
) -> Result<Outcome, ToolError> {
    let language = path.file_name().and_then(Language::of_file_name);
    let edits: Vec<Edit> = edits.iter().map(|change| change.0.clone()).collect();
    veiled::edit(redactor, on_write, spelled, old, language, &edits, budget)
}

fn describe(path: &str, n_applied: usize, diff: String) -> Tree {
    Tree::map([("path", Tree::text(path)), ("applied", Tree::count(n_applied)), ("diff", Tree::Text(diff))])
}

fn invalid(message: String, suggestion: &str) -> ToolError {
    ToolError::new(ErrorCode::ValidationError, message).suggestion(suggestion)
}

fn listed(tree: &Tree, tense: Tense, out: &mut String) {
    let verb = tense.choose("Edited", "Would edit");
    for file in tree.get("files").and_then(Tree::as_list).unwrap_or_default() {
        let Some(applied) = file.get("applied").and_then(Tree::as_int) else {
            marker(file, out);
            continue;
        };
        let places = if applied == 1 { "place" } else { "places" };
        let _ = write!(out, "{verb} {} in {applied} {places}\n{}", field(file, "path"), field(file, "diff"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_list_of_edits_ends_with_its_marker() {
        let file = Tree::map([
            ("path", Tree::text("a.txt")),
            ("applied", Tree::Int(1)),
            ("diff", Tree::text("+x\n")),
        ]);
        let cut = Tree::map([("omitted", Tree::Int(7))]);
        let tree = Tree::map([("files", Tree::List(vec![file, cut]))]);
        let end = "a.txt in 1 place\n+x\n[cut: {\"omitted\":7}]\n";
        for (tense, verb) in [(Tense::Done, "Edited"), (Tense::Would, "Would edit")] {
            let mut out = String::new();
            EditFileTool::READING.write(&tree, tense, &mut out);
            assert_eq!(out, format!("{verb} {end}"));
        }
    }
}
