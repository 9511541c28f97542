//! What is done by running programs. Each says what it may be refused for, and which job it means.

use std::time::Duration;

use vambrace_types::{Caller, Door, ScopedPath};

use super::{Access, Action, Allowance, sealed};
use crate::command::{CommandPlan, CommandRefusal, Join, Judged, RedirectMode, Target, is_builtin};
use crate::git;
use crate::job::{
    Input, Job, JobCommand, JobProgram, JobRedirect, JobStep, JobTarget, Level, Naming, Place, Repository,
    Runs, Variable,
};
use crate::{Capability, Denial, Judgement, PolicySettings, Question, Reason};

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

/// Infrastructure, on the host, with vectors that are fixed by us.
#[derive(Debug, Clone)]
pub struct ManageSystem {
    /// What would be done, for the person who is asked.
    pub what: String,
    pub steps: Vec<Vec<String>>,
    pub variables: Vec<Variable>,
    pub folder: ScopedPath,
    pub time: Duration,
}

/// What a configuration file holds and what it would hold.
#[derive(Debug, Clone)]
pub struct ConfigChange {
    pub old: String,
    pub new: String,
    /// The name, beside the file, under which the old text is kept.
    pub backup: String,
}

/// Bringing a configuration file to another version. The file is protected; this is the one way an agent may cause a
/// change in it, and the change itself is ours.
#[derive(Debug, Clone)]
pub struct MigrateConfig {
    pub path: ScopedPath,
    pub target: u64,
    /// Only shows what would be done.
    pub rehearsal: bool,
    /// INVARIANT: empty until the file was read, and whoever fills it has the action decided again.
    pub change: Option<ConfigChange>,
}

/// The self-attack table.
#[derive(Debug, Clone)]
pub struct ReadPosture;

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
        let run = JobProgram { program, arguments, redirects: Vec::new() };
        job.steps.push(JobStep { join, pipeline: vec![JobCommand::Run(run)] });
    }
    job.time = Some(time);
    job
}

impl sealed::Sealed for RunLine {}
impl Action for RunLine {
    const CAPABILITY: Capability = Capability::RunPrograms;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let Judged { rule, touched, .. } =
            settings.command.judge(&self.text, &self.plan, &settings.scope, &self.folder)?;
        Ok(Judgement { rule: Some(rule), touched, question: None })
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for RunLine {
    /// INVARIANT: called on plans without globs; the walk expands them first and asks again. A glob that is left is
    /// written as it stands, which matches nothing but itself.
    fn job(&self) -> Job {
        let steps = self.plan.steps.iter().map(|step| JobStep {
            join: step.join,
            pipeline: step.pipeline.iter().map(command_of).collect(),
        });
        let mut job = Job::program("", Vec::new(), self.folder.clone());
        job.steps = steps.collect();
        job.time = Some(self.time);
        job.level = Level::Warm;
        job
    }
}

fn command_of(simple: &crate::command::Simple) -> JobCommand {
    let mut words = simple.words.iter().map(crate::command::Word::spelled);
    let program = words.next().unwrap_or_default();
    if is_builtin(&program) {
        return JobCommand::Enter(words.next().unwrap_or_default());
    }
    let mut arguments: Vec<String> = words.collect();
    // Only a shell has `command` and `type`, and their harmless forms are another program's purpose.
    let program = if program == "command" && arguments.first().is_some_and(|word| word == "-v") {
        arguments.remove(0);
        "which".to_owned()
    } else if program == "type" {
        "which".to_owned()
    } else {
        program
    };
    let redirects = simple.redirects.iter().map(|redirect| JobRedirect {
        stream: redirect.stream,
        target: match &redirect.target {
            Target::Null => JobTarget::Null,
            Target::Stream(stream) => JobTarget::Stream(*stream),
            Target::File(word) => JobTarget::File { path: word.spelled(), mode: redirect.mode },
        },
    });
    JobCommand::Run(JobProgram { program, arguments, redirects: redirects.collect() })
}

impl sealed::Sealed for RunTyped {}
impl Action for RunTyped {
    const CAPABILITY: Capability = Capability::RunPrograms;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, _settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
        match caller.door {
            Door::Terminal => Ok(Judgement::by("run")),
            Door::CommandLine | Door::McpStdio | Door::System => Err(Denial::new(Reason::OnlyPeople, "run")),
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
        job
    }
}

impl<W> sealed::Sealed for RunToolchain<W> {}
impl<W: Send + 'static> Action for RunToolchain<W> {
    const CAPABILITY: Capability = Capability::RunTests;

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

impl<W: Send + 'static> Runs for RunToolchain<W> {
    fn job(&self) -> Job {
        chained(std::slice::from_ref(&self.vector), &self.folder, self.time)
    }
}

impl sealed::Sealed for InstallDependencies {}
impl Action for InstallDependencies {
    const CAPABILITY: Capability = Capability::InstallDependencies;

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

impl sealed::Sealed for ReadRepository {}
impl Action for ReadRepository {
    const CAPABILITY: Capability = Capability::ReadGit;

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

impl sealed::Sealed for RunDeclared {}
impl Action for RunDeclared {
    const CAPABILITY: Capability = Capability::UseDeclaredTools;

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

impl sealed::Sealed for ManageSystem {}
impl Action for ManageSystem {
    const CAPABILITY: Capability = Capability::ManageSystem;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, _settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let question = Question { rule: "system tools".to_owned(), what: self.what.clone() };
        Ok(Judgement { rule: Some("system tools".to_owned()), touched: Vec::new(), question: Some(question) })
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for ManageSystem {
    fn job(&self) -> Job {
        let mut job = chained(&self.steps, &self.folder, self.time);
        job.variables = self.variables.clone();
        job.place = Place::Host;
        job
    }
}

impl sealed::Sealed for MigrateConfig {}
impl Action for MigrateConfig {
    const CAPABILITY: Capability = Capability::ManageSystem;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        vec![(&self.path, Access::Read)]
    }

    fn judge(&self, _settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let mut judgement = Judgement::by("system tools");
        // Without a change there is nothing that could be done, so nothing to ask about.
        if self.change.is_some() && !self.rehearsal {
            let name = self.path.file_name().unwrap_or_default();
            let what = format!("bring the configuration file `{name}` to version {}.", self.target);
            judgement.question = Some(Question { rule: "system tools".to_owned(), what });
        }
        Ok(judgement)
    }
}

impl sealed::Sealed for ReadPosture {}
impl Action for ReadPosture {
    const CAPABILITY: Capability = Capability::ReadPosture;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }
}

fn allowance(job: &Job) -> Allowance {
    job.time.map_or(Allowance::Unlimited, Allowance::Own)
}

fn owned(job: &Job) -> Vec<Vec<String>> {
    job.vectors().into_iter().map(|words| words.into_iter().map(str::to_owned).collect()).collect()
}

impl RedirectMode {
    pub fn access(self) -> Access {
        match self {
            RedirectMode::Read => Access::Read,
            RedirectMode::Truncate | RedirectMode::Append => Access::Write,
        }
    }
}
