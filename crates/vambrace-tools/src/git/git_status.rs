//! `git_status`: what has changed, as data.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, ReadRepository};
use vambrace_types::{RawOutput, ToolError, Tree};

use super::report::{self, StatusFile};
use super::{beneath, demand_success, git, may_show, show_prefix, split_prefix};
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct GitStatusTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitStatusArgs {}

impl Tool for GitStatusTool {
    type Args = GitStatusArgs;
    type Action = ReadRepository;

    fn about(&self) -> About {
        About::of(
            "git_status",
            "Show the state of the repository",
            "Tells the branch, how far it is from its upstream, and every changed, staged and untracked file \
                      of the service folder. Blocked files are left out and counted.",
            Hints::READS,
        )
    }

    fn plan(&self, _args: GitStatusArgs, context: &CallContext<'_>) -> Result<ReadRepository, ToolError> {
        Ok(ReadRepository {
            steps: vec![
                show_prefix(),
                git([
                    "status",
                    "--porcelain=v2",
                    "--branch",
                    "-z",
                    "--untracked-files=all",
                    "--ignore-submodules=dirty",
                    "--find-renames",
                    "--",
                    ".",
                ]),
            ],
            paths: Vec::new(),
            folder: context.service()?,
            time: context.toolbox.time,
        })
    }

    async fn run(&self, permit: Permit<ReadRepository>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let folder = permit.action().folder.clone();
        let withheld = permit.withheld().clone();
        let finished = hands.run(permit, None).await?;
        let (prefix, rest) = split_prefix(demand_success(&finished)?);
        let status = report::status(rest);
        let place = |path: &str| beneath(folder.components(), path.strip_prefix(prefix.as_str())?);
        let (mut files, mut n_hidden) = (Vec::new(), 0);
        for StatusFile { path, index, worktree, from } in status.files {
            let Some(path) = place(&path).filter(|path| may_show(path, hands.scope(), &withheld)) else {
                n_hidden += 1;
                continue;
            };
            let mut entries = vec![
                ("path", Tree::Text(hands.spelled(&path))),
                ("index", Tree::text(index)),
                ("worktree", Tree::text(worktree)),
            ];
            // An old name outside the service is not ours to tell.
            let from =
                from.and_then(|from| place(&from)).filter(|from| may_show(from, hands.scope(), &withheld));
            entries.extend(from.map(|from| ("from", Tree::Text(hands.spelled(&from)))));
            files.push(Tree::map(entries));
        }
        let known = |text: Option<String>| text.map_or(Tree::Null, Tree::Text);
        let (ahead, behind) = status.apart.unzip();
        let mut entries = vec![
            ("branch", known(status.branch)),
            ("upstream", known(status.upstream)),
            ("ahead", ahead.map_or(Tree::Null, Tree::bytes)),
            ("behind", behind.map_or(Tree::Null, Tree::bytes)),
            ("clean", Tree::Bool(files.is_empty())),
            ("files", Tree::List(files)),
        ];
        if n_hidden > 0 {
            entries.push(("blocked_hidden", Tree::count(n_hidden)));
        }
        Ok(RawOutput::new(Tree::map(entries)))
    }
}
