//! The door itself: each run uses up one permit. It looks programs up, decides what the cage shows, has it built or takes
//! the caller's prepared one, and looks for what the job made of protected names.

mod backends;
mod build;
mod input;
mod keep;
mod planted;
mod proof;
mod way_out;

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use vambrace_policy::{Epoch, Input, Job, Level, Naming, Permit, Place, Runs, Variable};
use vambrace_types::Enforcement;

use crate::cell::{self, Captured, Channel, Launcher, Stdio, Watch};
use crate::cgroup::Group;
use crate::environment::{EnvironmentError, Git, Reach, SafeEnvironment};
use crate::fetched::{self, Fetched};
use crate::lent::Lent;
use crate::lookup::{LookupError, TrustedPath};
use crate::order::{Order, ProgramFile};
use crate::surroundings::Surroundings;
use crate::workspace::Walker;
use crate::{
    Backend, Exit, Finished, Layers, Missing, Network, ProgramError, ProgramsSettings, Reuse, WhenMissing,
    cache, cgroup,
};

use build::Staged;
use keep::Shelf;
use proof::Proving;

/// Programs for one policy.
pub struct Programs {
    settings: ProgramsSettings,
    epoch: Epoch,
    trusted: TrustedPath,
    environment: SafeEnvironment,
    /// The toolchain that rustup starts where nothing else is said.
    default_rust: Option<String>,
    /// The error is told to whoever wants to run something.
    surroundings: Result<Surroundings, String>,
    /// The file by which cages take turns is there.
    turns: OnceLock<()>,
    staged: Mutex<Option<Arc<Staged>>>,
    walker: Walker,
    groups: OnceLock<cgroup::Groups>,
    launcher: Mutex<Option<Arc<Launcher>>>,
    shelf: Arc<Shelf>,
    proving: Proving,
    n_running: AtomicUsize,
    n_cages: AtomicUsize,
    missing: Mutex<Vec<Missing>>,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// Which of a program's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

/// How a program's two outputs reach the person who runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    Apart,
    /// They end in one place, so they come in one order: all of it as `OutputStream::Out`.
    Together,
    /// Through a terminal like our own standard output; errors too, or apart from it.
    Terminal {
        with_errors: bool,
    },
}

/// Where output goes while the program runs, instead of being collected.
pub trait Live: Send + Sync {
    fn output(&self, stream: OutputStream, bytes: &[u8]);

    /// Whether more of it is wanted now. Meanwhile the program waits.
    fn room(&self, _stream: OutputStream) -> cell::Room {
        cell::Room::Free
    }

    fn outputs(&self) -> Outputs {
        Outputs::Apart
    }
}

/// The same for a cell.
struct PassOn<'a>(&'a dyn Live);

impl cell::Sink for PassOn<'_> {
    fn take(&mut self, channel: Channel, bytes: &[u8]) {
        self.0.output(stream(channel), bytes);
    }

    fn room(&self, channel: Channel) -> cell::Room {
        self.0.room(stream(channel))
    }
}

fn stream(channel: Channel) -> OutputStream {
    match channel {
        Channel::Out => OutputStream::Out,
        Channel::Err => OutputStream::Err,
    }
}

/// What surrounds one run.
pub struct RunContext<'a> {
    /// Whose prepared cage may be used.
    pub caller: &'a str,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    pub live: Option<&'a dyn Live>,
    /// The most programs of this kind that may run at once.
    pub n_at_once: Option<usize>,
    /// The way out of the cage. None: there is none.
    pub network: Option<&'a dyn Network>,
    /// Hears of protected names that the job tried to make or that appeared while it ran, however it ended.
    pub planted: &'a (dyn Fn(Vec<String>) + Sync),
}

/// Between TERM and KILL (decision C13).
const GRACE: Duration = Duration::from_secs(5);
/// For a person who can stop it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// LIMIT: jobs at once, of all callers together.
const MOST_CAGES: usize = 64;
/// How long a prepared cage is kept without use.
const IDLE: Duration = Duration::from_secs(30);

impl Programs {
    pub fn new(settings: ProgramsSettings, epoch: Epoch) -> Programs {
        build::programs(settings, epoch)
    }

    /// The walls that the last cage could not have, for whoever explains a refusal.
    pub fn missing_layers(&self) -> Vec<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hooks that a person's own commit in this folder of the workspace would run, and no program of ours does.
    pub fn skipped_hooks(&self, folder: &vambrace_types::ScopedPath) -> Vec<&'static str> {
        crate::repository::hooks::of_commit(&self.place_of(folder), &self.settings.workspace)
    }

    /// What a sandbox hides now of this folder of the workspace, as paths in it: programs find such
    /// a file empty, and take what is in such a folder for deleted. Paths that are no text are
    /// spelled with the sign for that.
    pub fn hidden_in(&self, folder: &vambrace_types::ScopedPath) -> Result<Vec<String>, ProgramError> {
        let place = self.place_of(folder);
        let view = self.view()?;
        let inside = view.masked.iter().filter_map(|masked| masked.path.strip_prefix(&place).ok());
        Ok(inside.map(|path| path.to_string_lossy().into_owned()).collect())
    }

    fn place_of(&self, folder: &vambrace_types::ScopedPath) -> PathBuf {
        folder.components().iter().fold(self.settings.workspace.clone(), |place, name| place.join(name))
    }

    /// What is missing from a cage with holes was said at the start; a whole cage that does not hold is never accepted.
    fn accepts_weak(&self, layers: &Layers) -> bool {
        let is_weak = !layers.is_whole();
        is_weak
            && (self.settings.when_missing == WhenMissing::Warn
                || self.settings.backend == Backend::DangerouslyNone)
    }

    /// Where a program is, for those who choose between programs.
    pub fn find(&self, program: &str) -> Result<PathBuf, ProgramError> {
        self.trusted.find(program).map(|found| found.path).map_err(not_found)
    }

    /// Blocks until the job is done, stopped or out of time.
    pub fn run<A: Runs>(
        &self,
        permit: Permit<A>,
        context: &RunContext<'_>,
    ) -> Result<Finished, ProgramError> {
        let _cage = seat(&self.n_cages, MOST_CAGES)?;
        let action = permit.redeem(self.epoch)?;
        let job = action.job();
        let _seat = context.n_at_once.map(|most| seat(&self.n_running, most)).transpose()?;
        match job.place {
            Place::Host => {
                self.unbroken()?;
                self.run_on_host(&job, context)
            }
            Place::Cage => {
                self.ready()?;
                self.run_caged(&job, context)
            }
        }
    }

    fn run_caged(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let stdin = std::io::stdin();
        let input = match &job.stdin {
            Input::Nothing => cell::Input::Null,
            Input::Text(text) => cell::Input::Text(text.as_bytes()),
            Input::Terminal => input::of(stdin.as_fd())?,
        };
        let mut order = self.order(job, Some(context))?;
        let fetched = self.fetched_for(job, context);
        let mut kept = self.settled_cell(job, &fetched, context)?;
        let mut warnings = self.weigh(&kept.layers)?;
        if !self.is_as_proved(&kept.layers) {
            self.shelf.dissolve(kept);
            return Err(ProgramError::Unproved {
                why: "the cage is not the one that was attacked".to_owned(),
            });
        }
        let way_out = self.open_way_out(&mut kept, context.network)?;
        order.environment = self.environment_of(job, Some(&way_out.reach), &fetched)?;
        let outcome = self.execute(&mut kept.cell, &order, job, (input, context));
        if outcome.is_err() {
            kept.cell.end_wholly();
        }
        // LIMIT: a runner that was killed takes along what it had refused.
        if let Ok(captured) = &outcome {
            self.tell_refused(&captured.refused, context);
        }
        let exceeded = kept.group.as_ref().is_some_and(Group::has_exceeded_memory);
        let enforcement = kept.layers.enforcement();
        let (before, layers) = (Arc::clone(&kept.view), kept.layers.clone());
        let warm = self.may_be_warm(job, context);
        // INVARIANT: nothing of the job is alive when its traces are looked for. A cell that reported the end has ended
        // all of it; any other is ended here.
        let mut kept = Some(kept);
        if !(warm && outcome.is_ok() && kept.as_ref().is_some_and(|kept| kept.cell.is_settling())) {
            kept.take().into_iter().for_each(|kept| self.shelf.dissolve(kept));
        }
        // Only now, so that every connection of the job was served or refused under its own grants.
        drop(way_out);
        self.tell_planted(&before, &layers, context);
        let cleaned = fetched::clean(&fetched).map_err(|why| ProgramError::LeftBehind { why });
        // Its runner has looked around meanwhile.
        if let Some(mut kept) = kept {
            match kept.cell.is_reusable() {
                true => self.shelf.put(context.caller, kept),
                false => self.shelf.dissolve(kept),
            }
        }
        cleaned?;
        let captured = match outcome {
            Err(cell::CageError::Died) if exceeded => {
                let limit = job.memory.unwrap_or(self.settings.limits.memory).bytes();
                return Err(ProgramError::OutOfMemory { limit });
            }
            outcome => outcome.map_err(started)?,
        };
        if exceeded {
            warnings.push("A program used more memory than it may and was ended.".to_owned());
        }
        finish(captured, job.time, enforcement, warnings)
    }

    /// Something that a cage was to lie on may go while it is built, by a person or by another program; then it is looked
    /// at anew.
    fn settled_cell(
        &self,
        job: &Job,
        fetched: &Fetched,
        context: &RunContext<'_>,
    ) -> Result<keep::Kept, ProgramError> {
        const TRIES: usize = 3;
        let mut built = self.cell_for(job, fetched, context);
        for _ in 1..TRIES {
            if !matches!(built, Err(ProgramError::Unsettled { .. })) {
                break;
            }
            built = self.cell_for(job, fetched, context);
        }
        built
    }

    /// THREAT: P05, a connection that one job left waiting must not be served under the grants of the next, so who has a way
    /// out has a cage of its own.
    fn may_be_warm(&self, job: &Job, context: &RunContext<'_>) -> bool {
        let is_wanted = job.level == Level::Warm && self.settings.reuse == Reuse::PerCaller;
        is_wanted && context.network.is_none()
    }

    /// On the machine itself, by the same runner, which then has no walls around it.
    fn run_on_host(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let order = self.order(job, None)?;
        let mut cell = self.bare_cell(None)?;
        let input = match &job.stdin {
            Input::Nothing | Input::Terminal => cell::Input::Null,
            Input::Text(text) => cell::Input::Text(text.as_bytes()),
        };
        let captured = self.execute(&mut cell, &order, job, (input, context)).map_err(started)?;
        finish(captured, job.time, Enforcement::Host, Vec::new())
    }

    /// Less than required is a refusal.
    fn weigh(&self, layers: &Layers) -> Result<Vec<String>, ProgramError> {
        if layers.missing.is_empty() {
            return Ok(Vec::new());
        }
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = layers.missing.clone();
        let missing = layers.describe_missing();
        if layers.is_whole() || self.accepts_weak(layers) {
            return Ok(vec![format!("The program ran without: {missing}.")]);
        }
        Err(ProgramError::TooWeak { missing })
    }

    fn execute(
        &self,
        cell: &mut cell::Cell,
        order: &Order,
        job: &Job,
        (input, context): (cell::Input<'_>, &RunContext<'_>),
    ) -> Result<Captured, cell::CageError> {
        let stdout = std::io::stdout();
        let mut pass_on = context.live.map(PassOn);
        let mut lent = Vec::new();
        if let cell::Input::Terminal(person) = input {
            lent.push(person);
        }
        let output = match (context.live.map(Live::outputs), &mut pass_on) {
            (Some(Outputs::Apart), Some(sink)) => cell::Output::Stream(sink),
            (Some(Outputs::Together), Some(sink)) => cell::Output::Joined(sink),
            (Some(Outputs::Terminal { with_errors }), Some(sink)) => {
                lent.push(stdout.as_fd());
                cell::Output::Terminal { sink, like: stdout.as_fd(), joined: with_errors }
            }
            (None, _) | (_, None) => cell::Output::Capture,
        };
        let _lent = Lent::remember(lent);
        // What is passed on is not kept, so it may be as much as it likes.
        let output_bytes = match context.live {
            Some(_) => u64::MAX,
            None => self.settings.limits.output.bytes(),
        };
        let watch = Watch {
            time_limit: job.time.unwrap_or(FOR_EVER),
            grace: GRACE,
            output_bytes,
            cancelled: &|| (context.cancelled)(),
        };
        cell.run(order, Stdio { input, output }, &watch)
    }

    fn order(&self, job: &Job, caged: Option<&RunContext<'_>>) -> Result<Order, ProgramError> {
        // THREAT: P07, files of the workspace that tell a program of the host what to run (`rust-toolchain.toml`). What
        // runs on the host starts where no agent writes.
        let mut folder = PathBuf::from("/");
        if caged.is_some() {
            folder.clone_from(&self.settings.workspace);
            folder.extend(job.folder.components());
        }
        let plan = job.plan.looked_up(|program| self.look_up(program, job.naming, &folder))?;
        // What a way out and packages add is known when there is a cage.
        let caged = caged.is_some().then_some(&Reach::Nothing);
        let environment = self.environment_of(job, caged, &Fetched::default())?;
        Ok(Order { plan, folder, environment })
    }

    /// None for what runs on the machine itself.
    fn environment_of(
        &self,
        job: &Job,
        caged: Option<&Reach>,
        fetched: &Fetched,
    ) -> Result<Vec<(String, String)>, ProgramError> {
        let git = if job.programs().any(|program| program == "git") { Git::Direct } else { Git::Inside };
        let mut environment = self.variables(&job.variables, git, caged)?;
        let mut found = fetched.variables.clone();
        found.extend(caged.and_then(|_| self.go_cache(job)));
        environment.retain(|(name, _)| found.iter().all(|(other, _)| other != name));
        environment.extend(found);
        Ok(environment)
    }

    fn go_cache(&self, job: &Job) -> Option<(String, String)> {
        let is_writable = self.surroundings.as_ref().is_ok_and(Surroundings::service_is_writable);
        if !self.is_caging() || !is_writable {
            return None;
        }
        let cache = cache::of_go(job, &self.settings.workspace, &self.service())?;
        Some((cache::VARIABLE.to_owned(), cache.to_str()?.to_owned()))
    }

    fn fetched_for(&self, job: &Job, context: &RunContext<'_>) -> Fetched {
        if !self.is_caging() {
            return Fetched::default();
        }
        let line = match context.network {
            Some(_) => fetched::Line::Up,
            None => fetched::Line::Down,
        };
        fetched::of(job, line, self.rustup(), &self.settings.state, &self.service())
    }

    fn rustup(&self) -> fetched::Rustup<'_> {
        if let Some(name) = &self.default_rust {
            return fetched::Rustup::Default(name);
        }
        // Its stand-ins are links to it or lie beside it.
        let is_by_rustup = self.trusted.find("cargo").is_ok_and(|found| {
            let places = [found.path.as_path(), found.file.path.as_path()];
            places.iter().any(|path| path.ends_with("rustup") || path.with_file_name("rustup").exists())
        });
        if is_by_rustup { fetched::Rustup::Unknown } else { fetched::Rustup::Absent }
    }

    fn variables(
        &self,
        variables: &[Variable],
        git: Git,
        caged: Option<&Reach>,
    ) -> Result<Vec<(String, String)>, ProgramError> {
        let secret = |name: &str| self.settings.secrets.get(name).cloned().flatten();
        let mut safe = self.environment.clone();
        if let Some(home) =
            self.settings.environment.host.get("HOME").filter(|_| caged.is_none() || !self.is_caging())
        {
            // The letter of specification 000 where nothing else is private either.
            safe.home = PathBuf::from(home);
        }
        let environment = safe.build(variables, git, caged.unwrap_or(&Reach::Nothing), &secret).map_err(
            |error| match error {
                EnvironmentError::MissingSecret { secret, .. } => {
                    ProgramError::SecretUnresolved { name: secret }
                }
                EnvironmentError::BadName { .. } | EnvironmentError::BadValue { .. } => {
                    ProgramError::Broken { why: error.to_string() }
                }
            },
        )?;
        if let Some(name) = environment.dropped.first() {
            // The operator meant a program to have it, and it would not.
            let why = format!("the variable `{name}` changes how programs are loaded, so none gets it");
            return Err(ProgramError::NotStarted { program: "the tool".to_owned(), why });
        }
        Ok(environment.variables)
    }

    fn is_caging(&self) -> bool {
        self.settings.backend != Backend::DangerouslyNone
    }

    fn look_up(&self, program: &str, naming: Naming, folder: &Path) -> Result<ProgramFile, ProgramError> {
        match naming {
            Naming::AnyPath if program.contains('/') => file_at(&folder.join(program), program),
            Naming::Workspace if program.contains('/') && !program.starts_with('/') => {
                let file = file_at(&folder.join(program), program)?;
                // THREAT: P04, a planted link would tell by the kind of failure what there is on this machine.
                Some(file)
                    .filter(|file| file.path.starts_with(&self.settings.workspace))
                    .ok_or_else(|| ProgramError::NotInstalled { program: program.to_owned() })
            }
            Naming::AnyPath | Naming::Workspace | Naming::Trusted => {
                self.trusted.find(program).map(|found| found.file).map_err(not_found)
            }
        }
    }

    fn service(&self) -> PathBuf {
        self.walker.service()
    }

    fn launcher(&self) -> Result<Arc<Launcher>, ProgramError> {
        let mut held = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(launcher) = held.as_ref() {
            return Ok(Arc::clone(launcher));
        }
        let launcher = Launcher::start(&self.settings.launcher)
            .map_err(|error| ProgramError::Broken { why: error.to_string() })?;
        let launcher = Arc::new(launcher);
        *held = Some(Arc::clone(&launcher));
        Ok(launcher)
    }

    /// A launcher that has gone is replaced at the next call.
    fn forget_launcher(&self, gone: &Arc<Launcher>) {
        let mut held = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have started a new one already, and its cages hang on it.
        if held.as_ref().is_some_and(|launcher| Arc::ptr_eq(launcher, gone)) {
            *held = None;
        }
    }
}

/// INVARIANT: counted before it is compared, so two callers cannot both take the last seat.
fn seat(taken: &AtomicUsize, n_most: usize) -> Result<Seat<'_>, ProgramError> {
    let seat = Seat(taken);
    if taken.fetch_add(1, Ordering::SeqCst) >= n_most {
        return Err(ProgramError::TooMany { n_most });
    }
    Ok(seat)
}

/// One place among those that may run at once; given back when dropped.
struct Seat<'a>(&'a AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A file that a person named; whether it may be executed is the kernel's to say.
fn file_at(path: &Path, spelled: &str) -> Result<ProgramFile, ProgramError> {
    let missing = |_| ProgramError::NotInstalled { program: spelled.to_owned() };
    let path = std::fs::canonicalize(path).map_err(missing)?;
    let stat =
        rustix::fs::stat(&path).map_err(|_| ProgramError::NotInstalled { program: spelled.to_owned() })?;
    Ok(ProgramFile { path, device: stat.st_dev, inode: stat.st_ino })
}

fn not_found(error: LookupError) -> ProgramError {
    match error {
        LookupError::NotInstalled { program } => ProgramError::NotInstalled { program },
        LookupError::Untrusted { program, why } => ProgramError::Untrusted { program, why },
    }
}

fn started(error: cell::CageError) -> ProgramError {
    match error {
        cell::CageError::Changed(path) => ProgramError::Untrusted {
            program: path.display().to_string(),
            why: "its file changed after it was looked up".to_owned(),
        },
        cell::CageError::Exec { ref program, .. } => {
            ProgramError::NotStarted { program: program.display().to_string(), why: error.to_string() }
        }
        cell::CageError::InFlight => ProgramError::InFlight,
        other => ProgramError::Broken { why: other.to_string() },
    }
}

fn finish(
    captured: Captured,
    time_limit: Option<Duration>,
    enforcement: Enforcement,
    warnings: Vec<String>,
) -> Result<Finished, ProgramError> {
    if captured.cancelled {
        return Err(ProgramError::Cancelled);
    }
    let exit = match captured.exit {
        cell::Exit::Code(code) => Exit::Code(code),
        cell::Exit::Signal(signal) => Exit::Signal(signal),
    };
    Ok(Finished {
        exit,
        stdout: captured.stdout,
        stderr: captured.stderr,
        cut: captured.cut,
        timed_out: captured.timed_out,
        time_limit,
        duration: captured.duration,
        enforcement,
        warnings,
    })
}

#[cfg(test)]
mod tests;
