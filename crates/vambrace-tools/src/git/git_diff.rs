//! `git_diff`: changes as a patch and as counts.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, ReadRepository};
use vambrace_redact::{Redactor, cover};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::{PLAIN_DIFF, beneath, demand_success, git, may_show, patch, pathspec, show_prefix, split_prefix};
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct GitDiffTool;

/// LIMIT: a longer patch is cut and marked; the counts are always those of the whole.
const LONGEST_PATCH: usize = 1 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitDiffArgs {
    /// Show what is staged for the next commit instead of what is not. Default false.
    #[serde(default)]
    staged: bool,
    /// A file or folder, relative to the service folder. Default: the service folder itself.
    path: Option<String>,
}

impl Tool for GitDiffTool {
    type Args = GitDiffArgs;
    type Action = ReadRepository;

    fn about(&self) -> About {
        About::of(
            "git_diff",
            "Show changes",
            "Returns the changes of tracked files of the service folder as a unified diff, with added and \
                      deleted lines per file. Untracked files do not appear; git_status lists them. Blocked files are \
                      left out and counted.",
            Hints::READS,
        )
    }

    fn plan(&self, args: GitDiffArgs, context: &CallContext<'_>) -> Result<ReadRepository, ToolError> {
        let path = args.path.as_deref().map(|path| context.path(path)).transpose()?;
        let spec = path.as_ref().map(|path| pathspec(path, context)).transpose()?;
        let staged = if args.staged { &["--cached"][..] } else { &[] };
        // Without renames every section names one file, and that one is judged.
        let words =
            ["diff", "--patch", "--no-renames", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"]
                .iter()
                .chain(["--submodule=short", "--diff-algorithm=histogram"].iter())
                .chain(PLAIN_DIFF)
                .chain(staged)
                .copied()
                .chain(["--", spec.as_deref().unwrap_or(".")]);
        Ok(ReadRepository {
            steps: vec![show_prefix(), git(words)],
            paths: path.into_iter().collect(),
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    async fn run(&self, permit: Permit<ReadRepository>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let folder = permit.action().folder.clone();
        let withheld = permit.withheld().clone();
        let finished = hands.run(permit, None).await?;
        let (prefix, rest) = split_prefix(demand_success(&finished)?);
        let output = String::from_utf8_lossy(rest).into_owned();
        let place = |path: &str| beneath(folder.components(), path.strip_prefix(prefix.as_str())?);
        let (mut files, mut diff, mut n_hidden) = (Vec::new(), String::new(), 0);
        for section in patch::sections(&output) {
            let path = section.path.as_deref().and_then(place);
            // The cage masks what is blocked, and git would show its old contents as deleted. THREAT: P02.
            let Some(path) = path.filter(|path| may_show(path, hands.scope(), &withheld)) else {
                n_hidden += 1;
                continue;
            };
            let (text, n_covered) = veil(section.text, hands.redactor());
            hands.redacted(n_covered);
            diff.push_str(&text);
            files.push(Tree::map([
                ("path", Tree::Text(hands.spelled(&path))),
                ("added", Tree::bytes(section.added)),
                ("deleted", Tree::bytes(section.deleted)),
                ("binary", Tree::Bool(section.binary)),
            ]));
        }
        let truncated = diff.len() > LONGEST_PATCH;
        if truncated {
            diff.truncate(diff.floor_char_boundary(LONGEST_PATCH));
        }
        let mut entries = vec![
            ("files", Tree::List(files)),
            ("truncated", Tree::Bool(truncated)),
            ("diff", Tree::Text(diff)),
        ];
        if n_hidden > 0 {
            entries.push(("blocked_hidden", Tree::count(n_hidden)));
        }
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

/// Secrets of several lines are recognized without the sign at each line's start, and before a cut could halve one.
/// THREAT: P02.
fn veil(section: &str, redactor: &Redactor) -> (String, usize) {
    // A conflict is shown against both sides at once.
    let n_columns = if section.starts_with("diff --cc ") { 2 } else { 1 };
    let mut bare = String::new();
    let mut lines = Vec::new();
    for line in section.split_inclusive('\n') {
        let is_sign = |letter: &char| matches!(letter, ' ' | '+' | '-');
        let n_signs = line.chars().take(n_columns).take_while(is_sign).count();
        let (sign, rest) = line.split_at_checked(n_signs).unwrap_or(("", line));
        lines.push((sign, rest, bare.len()));
        bare.push_str(rest);
    }
    let findings = redactor.scan(bare.as_bytes());
    let mut text = String::new();
    let mut n_covered = 0;
    for (sign, rest, at) in lines {
        // The line's end stays, so that the patch keeps its lines.
        let (body, end) = rest.strip_suffix('\n').map_or((rest, ""), |body| (body, "\n"));
        let (shown, n_found) = cover(body, at, &findings);
        n_covered += n_found;
        text.extend([sign, &shown, end]);
    }
    (text, n_covered)
}

#[cfg(test)]
mod tests {
    use vambrace_redact::RedactorSettings;

    use super::*;

    #[test]
    fn a_key_is_covered_behind_the_signs() {
        let label = ["PRIVATE", "KEY"].join(" ");
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        let patch = format!(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n old\n+-----BEGIN {label}-----\n+{body}\n+{body}\n\
             +-----END {label}-----\n+new\n"
        );
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let (shown, n_covered) = veil(&patch, &redactor);
        assert!(n_covered > 0 && !shown.contains("kiG9"), "{shown}");
        assert!(shown.ends_with("+new\n") && shown.contains("\n old\n"), "{shown}");
        assert_eq!(shown.lines().count(), patch.lines().count());
        assert_eq!(veil("@@ -1 +1 @@\n-a\n+b", &redactor), ("@@ -1 +1 @@\n-a\n+b".to_owned(), 0));
    }
}
