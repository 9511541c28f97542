//! `git_add`: stages named files, never those that agents may not change.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::command::Join;
use vambrace_policy::{ChangeRepository, Permit, RepositoryChange};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::{PLAIN_DIFF, beneath, demand_success, git, may_show, never_staged, pathspec, report};
use crate::{About, CallContext, Hands, Hints, Look, Tool};

pub(crate) struct GitAddTool;

const MOST_FILES: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitAddArgs {
    /// Files or folders, relative to the service folder. A folder stands for all changes in it, deletions too.
    files: Vec<String>,
}

impl Tool for GitAddTool {
    type Args = GitAddArgs;
    type Action = ChangeRepository;

    fn about(&self) -> About {
        About::of(
            "git_add",
            "Stage files",
            "Stages changed, new and deleted files for the next commit and returns everything that is staged \
                      in the service folder. Blocked and protected files inside a folder are left out.",
            Hints { read_only: false, destructive: false, idempotent: true, open_world: false },
        )
    }

    fn plan(&self, args: GitAddArgs, context: &CallContext<'_>) -> Result<ChangeRepository, ToolError> {
        if args.files.is_empty() || args.files.len() > MOST_FILES {
            return Err(ToolError::new(
                ErrorCode::ValidationError,
                format!("`files` must name between 1 and {MOST_FILES} files or folders."),
            )
            .suggestion("Use git_status to see what has changed; `.` stands for the whole service folder."));
        }
        let paths = args.files.iter().map(|text| context.path(text)).collect::<Result<Vec<_>, _>>()?;
        let specs = paths.iter().map(|path| pathspec(path, context)).collect::<Result<Vec<_>, _>>()?;
        let add = git(["add", "--all", "--"].into_iter().chain(specs.iter().map(String::as_str)));
        let words = ["diff", "--cached", "--name-status", "-z", "--no-renames", "--relative"];
        let show = git(words.into_iter().chain(PLAIN_DIFF.iter().copied()).chain(["--", "."]));
        Ok(ChangeRepository {
            change: RepositoryChange::Stage(paths),
            steps: vec![(Join::First, add), (Join::IfOk, show)],
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    /// A folder may hold what agents must not stage: in the cage a masked file looks as if somebody had emptied it.
    fn settle(
        &self,
        action: &ChangeRepository,
        look: &Look<'_>,
    ) -> Result<Option<ChangeRepository>, ToolError> {
        let mut action = action.clone();
        let hidden = look.hidden_in(&action.folder)?;
        if let Some((_, add)) = action.steps.first_mut() {
            let patterns = never_staged(look.policy);
            add.extend(patterns.iter().map(|pattern| format!(":(exclude,icase,glob){pattern}")));
            // What the operator hides is named as it is: what stands there counts, not how git
            // would read the pattern.
            add.extend(hidden.iter().map(|path| format!(":(exclude,literal){path}")));
        }
        Ok(Some(action))
    }

    async fn run(&self, permit: Permit<ChangeRepository>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let folder = permit.action().folder.clone();
        let withheld = permit.withheld().clone();
        let finished = hands.run(permit, None).await?;
        let output = String::from_utf8_lossy(demand_success(&finished)?).into_owned();
        let staged = report::name_status(&output).into_iter().filter_map(|(state, path)| {
            let path = beneath(folder.components(), &path)?;
            let shown = may_show(&path, hands.scope(), &withheld);
            let entries = [("path", Tree::Text(hands.spelled(&path))), ("state", Tree::text(state))];
            shown.then(|| Tree::map(entries))
        });
        Ok(RawOutput::new(Tree::map([("staged", Tree::List(staged.collect()))])))
    }
}
