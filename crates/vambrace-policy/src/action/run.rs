//! What is done by running programs. Each says what it may be refused for, and which job it means.

mod repository;
mod system;

use std::time::Duration;

use vambrace_types::{Caller, Door, ScopedPath};

use super::{Access, Action, Allowance, sealed};
use crate::command::{CommandPlan, CommandRefusal, Join, Judged, RedirectMode, Step, Word, is_git};
use crate::job::{Input, Job, Level, Naming, Repository, Runs, Variable};
use crate::url::{AllowEntry, undone};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings, Reason};

pub use repository::{ChangeRepository, PushBranch, PushStage, ReadRepository, RepositoryChange};
pub use system::{ConfigChange, ManageSystem, MigrateConfig, ReadPosture};

/// A command line or vector that a model wrote.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// As it was written; for a vector, its words joined.
    pub text: String,
    pub plan: CommandPlan,
    pub folder: ScopedPath,
    pub time: Duration,
    /// What it is for, in the caller's words. Nothing is decided by it.
    pub purpose: String,
}

/// What a person typed after `run --`: always caged, never held against a list.
#[derive(Debug, Clone)]
pub struct RunTyped {
    pub program: String,
    pub arguments: Vec<String>,
    pub folder: ScopedPath,
    pub time: Option<Duration>,
    pub writable: Vec<String>,
    pub hosts: Vec<AllowEntry>,
}

/// The operator's own vector for a toolchain, with the call's target in its place; `W` is what the tool wants to find
/// again when it runs, which policy need not know.
#[derive(Debug, Clone)]
pub struct RunToolchain<W> {
    pub vector: Vec<String>,
    pub folder: ScopedPath,
    /// What the target names, if it is a path.
    pub target: Option<ScopedPath>,
    pub time: Duration,
    pub wish: W,
}

/// An install that follows a lock file.
#[derive(Debug, Clone)]
pub struct InstallDependencies {
    pub manager: String,
    pub vector: Vec<String>,
    pub folder: ScopedPath,
    pub time: Duration,
}

/// Which kind of declared tool starts a program (specification 000).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredKind {
    /// The program must be on `allowed_commands`.
    Command,
    /// An interpreter of ours with the operator's script.
    Inline,
}

#[derive(Debug, Clone)]
pub struct RunDeclared {
    pub kind: DeclaredKind,
    pub program: String,
    pub arguments: Vec<String>,
    pub input: String,
    pub variables: Vec<Variable>,
    pub folder: ScopedPath,
    pub time: Duration,
    pub memory: Option<vambrace_types::ByteLimit>,
}

fn words_of(vector: &[String]) -> (String, Vec<String>) {
    let mut words = vector.iter().cloned();
    (words.next().unwrap_or_default(), words.collect())
}

/// Steps that each need the one before to succeed.
fn chained(steps: &[Vec<String>], folder: &ScopedPath, time: Duration) -> Job {
    joined(steps.iter().map(|vector| (Join::IfOk, vector.as_slice())), folder, time)
}

/// The first step depends on nothing, whatever it says.
fn joined<'a>(
    mut steps: impl Iterator<Item = (Join, &'a [String])>,
    folder: &ScopedPath,
    time: Duration,
) -> Job {
    let (program, arguments) = steps.next().map(|(_, vector)| words_of(vector)).unwrap_or_default();
    let mut job = Job::program(&program, arguments, folder.clone());
    for (join, vector) in steps {
        let (program, arguments) = words_of(vector);
        job.plan.steps.push(Step::program(join, &program, arguments));
    }
    job.time = Some(time);
    job
}

impl sealed::Sealed for RunLine {}
impl Action for RunLine {
    const CAPABILITY: Capability = Capability::RunPrograms;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let Judged { rule, touched, .. } =
            settings.command.judge(&self.text, &self.plan, &settings.scope, &self.folder)?;
        Ok(Judgement { rule: Some(rule), touched, question: None })
    }

    /// THREAT: P02, `curl -d SECRET`, also by way of another program (`echo SECRET | curl -d @-`): the line as it was
    /// written, and its words, whose quotes hide nothing.
    fn sent(&self) -> Vec<String> {
        if !self.plan.simples().any(|simple| sends(&simple.program())) {
            return Vec::new();
        }
        let words = self.plan.simples().flat_map(|simple| simple.words.iter().map(Word::spelled));
        std::iter::once(self.text.clone()).chain(words).flat_map(|text| undone(&text)).collect()
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for RunLine {
    /// INVARIANT: called on plans without globs; the walk expands them first and asks again.
    fn job(&self) -> Job {
        let mut job = Job::program("", Vec::new(), self.folder.clone());
        job.plan = self.plan.settled();
        job.time = Some(self.time);
        // A prepared cage shows the repository read-only.
        (job.level, job.repository) = match self.plan.fetches() {
            true => (Level::Fresh, Repository::Writable),
            false => (Level::Warm, Repository::ReadOnly),
        };
        job
    }
}

/// Programs that send what their words say.
fn sends(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("curl" | "wget"))
}

impl sealed::Sealed for RunTyped {}
impl Action for RunTyped {
    const CAPABILITY: Capability = Capability::RunPrograms;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, _settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
        match caller.door {
            Door::Terminal => Ok(Judgement::by("run")),
            Door::CommandLine | Door::McpStdio | Door::McpHttp | Door::Rest | Door::A2a | Door::System => {
                Err(Denial::new(Reason::OnlyPeople, "run"))
            }
        }
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for RunTyped {
    fn job(&self) -> Job {
        let mut job = Job::program(&self.program, self.arguments.clone(), self.folder.clone());
        job.time = self.time;
        job.stdin = Input::Terminal;
        job.naming = Naming::AnyPath;
        job.further_writable = self.writable.clone();
        job.hosts = self.hosts.clone();
        // A person who types git means to work with the repository; hooks and configuration stay read-only.
        if is_git(&self.program) {
            job.repository = Repository::Writable;
        }
        job
    }
}

impl<W> sealed::Sealed for RunToolchain<W> {}
impl<W: Send + Sync + 'static> Action for RunToolchain<W> {
    const CAPABILITY: Capability = Capability::RunTests;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        let target = self.target.as_ref().map(|path| (path, Access::Read));
        std::iter::once((&self.folder, Access::Write)).chain(target).collect()
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl<W: Send + Sync + 'static> Runs for RunToolchain<W> {
    fn job(&self) -> Job {
        let mut job = chained(std::slice::from_ref(&self.vector), &self.folder, self.time);
        // A program of the project's environment (`./.venv/bin/pytest`). An agent may have written it, as it may have
        // written the tests that it runs; the cage holds either.
        job.naming = Naming::Workspace;
        job
    }
}

impl sealed::Sealed for InstallDependencies {}
impl Action for InstallDependencies {
    const CAPABILITY: Capability = Capability::InstallDependencies;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        vec![(&self.folder, Access::Write)]
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for InstallDependencies {
    fn job(&self) -> Job {
        chained(std::slice::from_ref(&self.vector), &self.folder, self.time)
    }
}

impl sealed::Sealed for RunDeclared {}
impl Action for RunDeclared {
    const CAPABILITY: Capability = Capability::UseDeclaredTools;
    const KINDS: Kinds = Kinds::RUNS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let refuse = |refusal: CommandRefusal, rule: &str| Err(Denial::new(Reason::Command(refusal), rule));
        match self.kind {
            DeclaredKind::Inline => Ok(Judgement::by("tools.declared")),
            DeclaredKind::Command if settings.allowed_commands.is_empty() => {
                refuse(CommandRefusal::NoAllowlist, "allowed_commands")
            }
            // Exact names: a path with an allowed last part is another program (specification 000's own hole).
            DeclaredKind::Command if settings.allowed_commands.contains(&self.program) => {
                Ok(Judgement::by("allowed_commands"))
            }
            DeclaredKind::Command => {
                refuse(CommandRefusal::NotAllowed { program: self.program.clone() }, "allowed_commands")
            }
        }
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for RunDeclared {
    fn job(&self) -> Job {
        let mut job = Job::program(&self.program, self.arguments.clone(), self.folder.clone());
        job.stdin = Input::Text(self.input.clone());
        job.variables = self.variables.clone();
        job.time = Some(self.time);
        job.memory = self.memory;
        job
    }
}

fn allowance(job: &Job) -> Allowance {
    job.time.map_or(Allowance::Unlimited, Allowance::Own)
}

fn owned(job: &Job) -> Vec<Vec<String>> {
    job.plan.vectors()
}

impl RedirectMode {
    pub fn access(self) -> Access {
        match self {
            RedirectMode::Read => Access::Read,
            RedirectMode::Truncate | RedirectMode::Append => Access::Write,
        }
    }
}

#[cfg(test)]
mod tests;
