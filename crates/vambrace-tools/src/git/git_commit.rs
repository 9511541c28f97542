//! `git_commit`: commits what is staged, with no hook, editor or signature.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::command::Join;
use vambrace_policy::{ChangeRepository, Permit, RepositoryChange};
use vambrace_process::Finished;
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::{OUTSIDE, PLAIN_DIFF, demand_whole, failure, git, mark, marked};
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct GitCommitTool;

/// Printed once nothing of others' is staged.
const OURS_ALONE: &str = "ours-alone";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitCommitArgs {
    /// What the change does: a first line, then more after an empty line if needed.
    message: String,
}

impl Tool for GitCommitTool {
    type Args = GitCommitArgs;
    type Action = ChangeRepository;

    fn about(&self) -> About {
        About::of(
            "git_commit",
            "Commit staged changes",
            "Commits what git_add staged. The repository's hooks are not run; the result names those that \
                      would have been. Fails when nothing is staged, or when files outside the service folder are.",
            Hints { read_only: false, destructive: false, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: GitCommitArgs, context: &CallContext<'_>) -> Result<ChangeRepository, ToolError> {
        let mut others = vec!["diff", "--cached", "--name-only", "--exit-code", "--no-renames"];
        others.extend(PLAIN_DIFF);
        others.push("--");
        others.extend(OUTSIDE);
        let message = format!("--message={}", args.message);
        let steps = [
            git(others),
            mark(OURS_ALONE),
            // Who commits is in the cage's own configuration, beneath what the repository says.
            git([
                "commit",
                "--quiet",
                "--no-verify",
                "--no-gpg-sign",
                "--no-status",
                "--no-edit",
                "--cleanup=whitespace",
                &message,
            ]),
            git(["rev-parse", "HEAD"]),
            git(["rev-parse", "--abbrev-ref", "HEAD"]),
            git(["diff-tree", "-r", "--root", "--no-commit-id", "--name-only", "--no-renames", "HEAD"]),
        ];
        Ok(ChangeRepository {
            change: RepositoryChange::Commit { message: args.message },
            steps: steps.into_iter().map(|vector| (Join::IfOk, vector)).collect(),
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    async fn run(&self, permit: Permit<ChangeRepository>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let RepositoryChange::Commit { message } = permit.action().change.clone() else {
            return Err(ToolError::new(ErrorCode::InternalError, "Another change was permitted."));
        };
        let folder = permit.action().folder.clone();
        let finished = hands.run(permit, None).await?;
        let made = made(&finished)?;
        let skipped = hands.skipped_hooks(&folder);
        if !skipped.is_empty() {
            let names = skipped.join(", ");
            hands.warn(vec![format!("Hooks were not run: {names}. What they check is not checked.")]);
        }
        Ok(RawOutput::new(Tree::map([
            ("commit", Tree::Text(made.commit)),
            ("branch", made.branch.map_or(Tree::Null, Tree::Text)),
            ("message", Tree::Text(message)),
            ("files_changed", Tree::count(made.n_files)),
            ("hooks_not_run", Tree::List(skipped.into_iter().map(Tree::text).collect())),
        ])))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Made {
    commit: String,
    branch: Option<String>,
    n_files: usize,
}

fn made(finished: &Finished) -> Result<Made, ToolError> {
    demand_whole(finished)?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    let Some((others, rest)) = output.split_once(&marked(OURS_ALONE)) else {
        // Either the look at the others' files found some, or git could not look at all.
        return Err(if output.is_empty() { failure(finished) } else { others_staged() });
    };
    if finished.exit.code() != 0 || !others.is_empty() {
        return Err(if is_nothing_staged(rest) { nothing_staged() } else { failure(finished) });
    }
    let mut lines = rest.lines();
    let commit = lines.next().unwrap_or_default().to_owned();
    let branch = lines.next().filter(|name| *name != "HEAD").map(str::to_owned);
    Ok(Made { commit, branch, n_files: lines.count() })
}

/// git says it on its ordinary output, in one of three ways.
fn is_nothing_staged(output: &str) -> bool {
    ["nothing to commit", "no changes added to commit", "nothing added to commit"]
        .iter()
        .any(|words| output.contains(words))
}

fn nothing_staged() -> ToolError {
    ToolError::new(ErrorCode::CommandFailed, "Nothing is staged.")
        .suggestion("Stage files with git_add first; git_status shows what has changed.")
}

fn others_staged() -> ToolError {
    ToolError::new(
        ErrorCode::CommandFailed,
        "Files outside the service folder are staged, so nothing was committed.",
    )
    .suggestion("Ask the person you work for to commit or unstage them.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::ended;

    #[track_caller]
    fn check(code: i32, stdout: &str, stderr: &str, message: &str) {
        let error = made(&ended(code, stdout, stderr)).unwrap_err();
        assert!(error.message.contains(message), "{}", error.message);
    }

    #[test]
    fn each_way_to_fail_says_which_it_was() {
        check(1, "other/file\n", "", "outside the service");
        check(128, "", "fatal: not a git repository\n", "not a git repository");
        check(
            1,
            " 'ours-alone'\nOn branch x\nnothing to commit, working tree clean\n",
            "",
            "Nothing is staged",
        );
        check(1, " 'ours-alone'\nUntracked files:\n\nnothing added to commit but\n", "", "Nothing is staged");
        check(128, " 'ours-alone'\n", "fatal: Unable to create 'index.lock'\n", "index.lock");
    }

    #[test]
    fn a_commit_is_read_back() {
        let read = made(&ended(0, " 'ours-alone'\nabc\nfeat/x\na\nb c\n", "")).unwrap();
        assert_eq!(read, Made { commit: "abc".to_owned(), branch: Some("feat/x".to_owned()), n_files: 2 });
        assert_eq!(made(&ended(0, " 'ours-alone'\nabc\nHEAD\n", "")).unwrap().branch, None);
    }
}
