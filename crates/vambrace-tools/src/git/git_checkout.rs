//! `git_checkout`: switches to a branch, or makes one here.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::command::Join;
use vambrace_policy::{ChangeRepository, Permit, RepositoryChange};
use vambrace_process::Finished;
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::{OUTSIDE, PLAIN_DIFF, demand_whole, failure, git, mark, marked, untouchable};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct GitCheckoutTool;

/// Printed once the branch is there, once the service alone would change, and once nothing protected would.
const THERE: &str = "branch-there";
const OURS_ALONE: &str = "ours-alone";
const ALLOWED: &str = "allowed";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitCheckoutArgs {
    /// Name of a local branch.
    branch: String,
    /// Make the branch at the current commit if there is none of that name. Default false.
    #[serde(default)]
    create_if_missing: bool,
}

impl Tool for GitCheckoutTool {
    type Args = GitCheckoutArgs;
    type Action = ChangeRepository;

    fn about(&self) -> About {
        About::of(
            "git_checkout",
            "Switch branch",
            "Switches to a local branch; with create_if_missing it is made at the current commit first. \
                      Refuses when uncommitted changes would be lost, or when files outside the service folder or \
                      protected files differ between the branches.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
        )
    }

    fn plan(&self, args: GitCheckoutArgs, context: &CallContext<'_>) -> Result<ChangeRepository, ToolError> {
        let GitCheckoutArgs { branch, create_if_missing } = args;
        let steps = steps(&branch, create_if_missing);
        Ok(ChangeRepository {
            change: RepositoryChange::Checkout { branch },
            steps,
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    /// Protected files cannot be replaced in the cage, and git finds that out only when half of the rest is done.
    fn settle(
        &self,
        action: &ChangeRepository,
        look: &Look<'_>,
    ) -> Result<Option<ChangeRepository>, ToolError> {
        let mut action = action.clone();
        name_protected(&mut action.steps, &untouchable(look.policy));
        Ok(Some(action))
    }

    async fn run(&self, permit: Permit<ChangeRepository>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let RepositoryChange::Checkout { branch } = permit.action().change.clone() else {
            return Err(ToolError::new(ErrorCode::InternalError, "Another change was permitted."));
        };
        let finished = hands.run(permit, None).await?;
        let Switched { commit, created } = switched(&finished, &branch)?;
        Ok(RawOutput::new(Tree::map([
            ("branch", Tree::Text(branch)),
            ("created", Tree::Bool(created)),
            ("commit", Tree::Text(commit)),
        ])))
    }
}

fn steps(branch: &str, create_if_missing: bool) -> Vec<(Join, Vec<String>)> {
    let full = format!("refs/heads/{branch}");
    // By its full name: a tag or a commit of that name would leave the repository on no branch.
    let mut steps = vec![(Join::First, git(["show-ref", "--verify", full.as_str()]))];
    if create_if_missing {
        steps.push((Join::IfFailed, git(["branch", "--no-track", "--", branch, "HEAD"])));
    }
    let further = [
        mark(THERE),
        // In the cage the rest of the repository does not exist, so git could not bring it along.
        differences(&full, &OUTSIDE),
        mark(OURS_ALONE),
        // `settle` adds the names.
        differences(&full, &[]),
        mark(ALLOWED),
        git([
            "checkout",
            "--quiet",
            "--no-guess",
            "--no-overwrite-ignore",
            "--no-recurse-submodules",
            branch,
            "--",
        ]),
        git(["rev-parse", "HEAD"]),
    ];
    steps.extend(further.into_iter().map(|vector| (Join::IfOk, vector)));
    steps
}

/// Completes the last comparison. It is told by an option, which no branch can be called.
fn name_protected(steps: &mut [(Join, Vec<String>)], patterns: &[String]) {
    let is_comparison = |words: &[String]| words.iter().any(|word| word == COMPARES);
    if let Some((_, words)) = steps.iter_mut().rfind(|(_, words)| is_comparison(words)) {
        words.extend(patterns.iter().map(|pattern| format!(":(icase,glob){pattern}")));
    }
}

const COMPARES: &str = "--exit-code";

/// Fails and names the files if the branch has other contents there than the current commit.
fn differences(branch: &str, specs: &[&str]) -> Vec<String> {
    let mut words = vec!["diff", "--name-only", COMPARES, "--no-renames"];
    words.extend(PLAIN_DIFF);
    words.extend(["HEAD", branch, "--"]);
    words.extend(specs);
    git(words)
}

#[derive(Debug, PartialEq, Eq)]
struct Switched {
    commit: String,
    created: bool,
}

fn switched(finished: &Finished, branch: &str) -> Result<Switched, ToolError> {
    demand_whole(finished)?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    let refuse = |message: String, suggestion: &str| {
        Err(ToolError::new(ErrorCode::CommandFailed, message).suggestion(suggestion))
    };
    let Some((found, rest)) = output.split_once(&marked(THERE)) else {
        let errors = String::from_utf8_lossy(&finished.stderr);
        // `show-ref` complains of a missing branch; whatever else stands there is about something else.
        if errors.contains("not a valid ref") && !errors.contains("not a valid object name") {
            return refuse(
                format!("There is no branch `{branch}`."),
                "Set `create_if_missing` to make it at the current commit.",
            );
        }
        return Err(failure(finished));
    };
    let Some((_, rest)) = rest.split_once(&marked(OURS_ALONE)) else {
        return refuse(
            format!("The branch `{branch}` has other contents outside the service folder."),
            "Ask the person you work for to switch the branch.",
        );
    };
    let Some((protected, rest)) = rest.split_once(&marked(ALLOWED)) else {
        let first = rest.lines().next().unwrap_or("a protected file");
        return refuse(
            format!("The branch `{branch}` changes `{first}`, which agents may not change."),
            "Ask the person you work for to switch the branch.",
        );
    };
    if finished.exit.code() != 0 || !protected.is_empty() {
        return Err(failure(finished));
    }
    Ok(Switched { commit: rest.trim().to_owned(), created: found.is_empty() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::ended;

    #[track_caller]
    fn check(code: i32, stdout: &str, stderr: &str, message: &str) {
        let error = switched(&ended(code, stdout, stderr), "feat/x").unwrap_err();
        assert!(error.message.contains(message), "{}", error.message);
    }

    #[test]
    fn each_way_to_fail_says_which_it_was() {
        check(128, "", "fatal: 'refs/heads/feat/x' - not a valid ref\n", "no branch `feat/x`");
        check(128, "", "fatal: not a git repository\n", "not a git repository");
        check(
            128,
            "",
            "fatal: 'x' - not a valid ref\nfatal: not a valid object name: 'HEAD'\n",
            "not a valid",
        );
        let there = "abc refs/heads/feat/x\n 'branch-there'\n";
        check(1, &format!("{there}other/x\n"), "", "outside the service");
        check(1, &format!("{there} 'ours-alone'\n.mcp.json\n"), "", "`.mcp.json`");
        let allowed = format!("{there} 'ours-alone'\n 'allowed'\n");
        check(1, &allowed, "error: Your local changes would be overwritten\n", "local changes");
    }

    #[test]
    fn only_the_last_comparison_gets_the_names() {
        for branch in ["main", "diff", "checkout"] {
            let mut steps = steps(branch, true);
            let before = steps.clone();
            name_protected(&mut steps, &["**/x".to_owned()]);
            let changed: Vec<_> = steps.iter().zip(&before).filter(|(now, then)| now != then).collect();
            let [((_, words), _)] = changed.as_slice() else { panic!("{changed:?}") };
            assert!(words.contains(&"diff".to_owned()) && !words.contains(&OUTSIDE[0].to_owned()));
            assert_eq!(words.last().unwrap(), ":(icase,glob)**/x");
            assert!(words.contains(&format!("refs/heads/{branch}")));
        }
    }

    #[test]
    fn a_new_branch_is_told_from_an_old_one() {
        let rest = " 'branch-there'\n 'ours-alone'\n 'allowed'\nabc\n";
        let read = |found: &str| switched(&ended(0, &format!("{found}{rest}"), ""), "x").unwrap().created;
        assert!(read(""));
        assert!(!read("abc refs/heads/x\n"));
    }
}
