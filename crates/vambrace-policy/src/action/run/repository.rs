//! What is done by running git. The steps are vectors of ours; the rules judge what the call named.

use std::time::Duration;

use vambrace_types::{Caller, ScopedPath};

use super::{allowance, chained, joined, owned};
use crate::action::{Access, Action, Allowance, sealed};
use crate::command::Join;
use crate::git;
use crate::job::{Job, Level, Repository, Runs};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings, Question, Sends};

#[derive(Debug, Clone)]
pub struct ReadRepository {
    pub steps: Vec<Vec<String>>,
    /// What the call names; nothing: the whole folder.
    pub paths: Vec<ScopedPath>,
    pub folder: ScopedPath,
    pub time: Duration,
}

/// What is done to the repository, besides its steps, for the rules to judge.
#[derive(Debug, Clone)]
pub enum RepositoryChange {
    Stage(Vec<ScopedPath>),
    Commit { message: String },
    Checkout { branch: String },
}

#[derive(Debug, Clone)]
pub struct ChangeRepository {
    pub change: RepositoryChange,
    pub steps: Vec<(Join, Vec<String>)>,
    pub folder: ScopedPath,
    pub time: Duration,
}

/// Whether a push only shows what it would do, or does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushStage {
    Rehearsal,
    /// Exactly what the rehearsal showed, with what proves that it did.
    Confirmed {
        commit: String,
        token: String,
    },
}

#[derive(Debug, Clone)]
pub struct PushBranch {
    pub remote: String,
    pub branch: String,
    pub stage: PushStage,
    pub steps: Vec<Vec<String>>,
    pub folder: ScopedPath,
    pub time: Duration,
}

impl sealed::Sealed for ReadRepository {}
impl Action for ReadRepository {
    const CAPABILITY: Capability = Capability::ReadGit;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        std::iter::once(&self.folder).chain(&self.paths).map(|path| (path, Access::Read)).collect()
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for ReadRepository {
    fn job(&self) -> Job {
        let mut job = chained(&self.steps, &self.folder, self.time);
        job.level = Level::Warm;
        job
    }
}

impl sealed::Sealed for ChangeRepository {}
impl Action for ChangeRepository {
    const CAPABILITY: Capability = Capability::CommitGit;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        match &self.change {
            RepositoryChange::Stage(paths) => paths.iter().map(|path| (path, Access::Write)).collect(),
            RepositoryChange::Commit { .. } | RepositoryChange::Checkout { .. } => {
                vec![(&self.folder, Access::Write)]
            }
        }
    }

    fn written(&self) -> Vec<&str> {
        match &self.change {
            // A message is kept for ever and travels with every push.
            RepositoryChange::Commit { message } => vec![message],
            RepositoryChange::Stage(_) | RepositoryChange::Checkout { .. } => Vec::new(),
        }
    }

    fn judge(&self, settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        match &self.change {
            RepositoryChange::Stage(_) => Ok(Judgement::default()),
            RepositoryChange::Commit { message } => git::judge_message(&settings.git, message),
            RepositoryChange::Checkout { branch } => git::judge_branch(&settings.git, branch),
        }
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for ChangeRepository {
    fn job(&self) -> Job {
        let steps = self.steps.iter().map(|(join, vector)| (*join, vector.as_slice()));
        let mut job = joined(steps, &self.folder, self.time);
        job.repository = Repository::Writable;
        job
    }
}

impl sealed::Sealed for PushBranch {}
impl Action for PushBranch {
    const CAPABILITY: Capability = Capability::PushGit;
    const KINDS: Kinds = Kinds { sends: Sends::Request, ..Kinds::RUNS };

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        vec![(&self.folder, Access::Read)]
    }

    fn judge(&self, settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let mut judgement = git::judge_push(&settings.git, &self.remote, &self.branch)?;
        // A rehearsal shows; only what leaves the machine needs a person.
        judgement.question = match &self.stage {
            PushStage::Rehearsal => None,
            PushStage::Confirmed { commit, .. } => Some(Question {
                rule: "git_push".to_owned(),
                what: format!("push `{}` at commit `{commit}` to `{}`.", self.branch, self.remote),
            }),
        };
        Ok(judgement)
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for PushBranch {
    fn job(&self) -> Job {
        let mut job = chained(&self.steps, &self.folder, self.time);
        job.repository = Repository::Writable;
        job
    }
}
