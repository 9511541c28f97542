//! The door itself: each run uses up one permit. It looks programs up, decides what the cage shows, has it built or takes
//! the caller's prepared one, and sweeps up after the job.

mod build;
mod keep;

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use vambrace_policy::{Epoch, Input, Job, JobCommand, JobTarget, Level, Permit, Place, Runs, Variable};
use vambrace_types::Enforcement;

use crate::cell::{self, Captured, Channel, Launcher, Stdio, Watch};
use crate::environment::{EnvironmentError, Git, SafeEnvironment};
use crate::lookup::{LookupError, TrustedPath};
use crate::order::{Order, OrderCommand, OrderProgram, OrderRedirect, OrderStep, OrderTarget};
use crate::placeholder::{Placeholders, quarantine};
use crate::posture::traps::Traps;
use crate::surroundings::Surroundings;
use crate::workspace::{View, Walker};
use crate::{
    Backend, Exit, Finished, Layers, Missing, Posture, ProgramError, ProgramsSettings, Reuse, WhenMissing,
    cgroup,
};

use keep::Shelf;

/// Programs for one policy.
pub struct Programs {
    settings: ProgramsSettings,
    epoch: Epoch,
    trusted: TrustedPath,
    environment: SafeEnvironment,
    /// The error is told to whoever wants to run something.
    surroundings: Result<Surroundings, String>,
    walker: Walker,
    placeholders: OnceLock<Option<Arc<Placeholders>>>,
    groups: OnceLock<cgroup::Groups>,
    launcher: Mutex<Option<Arc<Launcher>>>,
    shelf: Arc<Shelf>,
    proof: OnceLock<Result<Proof, ProgramError>>,
    n_running: AtomicUsize,
    missing: Mutex<Vec<Missing>>,
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// What the battery found, and what stood around it.
#[derive(Debug, Clone)]
struct Proof {
    posture: Posture,
    enforcement: Enforcement,
}

/// Which of a program's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

/// Where output goes while the program runs, instead of being collected.
pub trait Live: Send + Sync {
    fn output(&self, stream: OutputStream, bytes: &[u8]);

    /// The program writes to our own standard streams itself, unseen.
    fn is_raw(&self) -> bool {
        false
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
}

/// Between TERM and KILL (decision C13).
const GRACE: Duration = Duration::from_secs(5);
/// For a person who can stop it.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// How long a prepared cage is kept without use.
const IDLE: Duration = Duration::from_secs(60);

impl Programs {
    pub fn new(settings: ProgramsSettings, epoch: Epoch) -> Programs {
        build::programs(settings, epoch)
    }

    /// Runs the attacks inside a cage built from the live settings, once. `told` hears of it from whichever caller ran it.
    /// One success refuses all programs from then on.
    pub fn prove(&self, told: &dyn Fn(&Posture)) -> Result<&Posture, ProgramError> {
        let proof = self.proof.get_or_init(|| {
            let proof = self.attack_ourselves()?;
            told(&proof.posture);
            Ok(proof)
        });
        proof.as_ref().map(|proof| &proof.posture).map_err(Clone::clone)
    }

    /// The walls that the last cage could not have, for whoever explains a refusal.
    pub fn missing_layers(&self) -> Vec<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the proof found, if there was one.
    pub fn posture(&self) -> Option<&Posture> {
        self.proof.get().and_then(|proof| proof.as_ref().ok()).map(|proof| &proof.posture)
    }

    /// Whether programs may be started at all.
    pub fn ready(&self) -> Result<(), ProgramError> {
        let proof = match self.proof.get() {
            Some(Ok(proof)) => proof,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(ProgramError::PostureBroken { rows: "it was not attacked yet".to_owned() }),
        };
        if proof.posture.holds() || self.accepts_weak(proof.enforcement) {
            return Ok(());
        }
        let rows: Vec<_> = proof.posture.broken().iter().map(|row| row.name.clone()).collect();
        Err(ProgramError::PostureBroken { rows: rows.join(", ") })
    }

    /// What is missing from a cage with holes was said at the start; a whole cage that does not hold is never accepted.
    fn accepts_weak(&self, enforcement: Enforcement) -> bool {
        let weak = enforcement < Enforcement::Full;
        weak && (self.settings.when_missing == WhenMissing::Warn
            || self.settings.backend == Backend::DangerouslyNone)
    }

    /// What stands around a program, as far as is known.
    pub fn enforcement(&self) -> Enforcement {
        let proof = self.proof.get().and_then(|proof| proof.as_ref().ok());
        proof.map_or(Enforcement::None, |proof| proof.enforcement)
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
        let action = permit.redeem(self.epoch)?;
        let job = action.job();
        let _seat = self.seat(context.n_at_once)?;
        match job.place {
            Place::Host => self.run_on_host(&job, context),
            Place::Cage => {
                self.ready()?;
                self.run_caged(&job, context)
            }
        }
    }

    /// INVARIANT: counted before it is compared, so two callers cannot both take the last seat.
    fn seat(&self, most: Option<usize>) -> Result<Option<Seat<'_>>, ProgramError> {
        let Some(n_most) = most else { return Ok(None) };
        let seat = Seat(&self.n_running);
        if self.n_running.fetch_add(1, Ordering::SeqCst) >= n_most {
            return Err(ProgramError::TooMany { n_most });
        }
        Ok(Some(seat))
    }

    fn run_caged(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let order = self.order(job, Some(context))?;
        let mut kept = self.cell_for(job, context.caller)?;
        let mut warnings = self.weigh(&kept.layers)?;
        let outcome = self.execute(&mut kept.cell, &order, job, context);
        let enforcement = kept.layers.enforcement();
        warnings.extend(self.sweep(&kept.view));
        let captured = match outcome {
            Ok(captured) => captured,
            Err(error) => return Err(started(error)),
        };
        if job.level == Level::Warm && self.settings.reuse == Reuse::PerCaller && kept.cell.is_reusable() {
            self.shelf.put(context.caller, kept);
        }
        finish(captured, job.time, enforcement, warnings)
    }

    /// On the machine itself, by the same runner, which then has no walls around it.
    fn run_on_host(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let order = self.order(job, None)?;
        let mut cell = self.bare_cell(None)?;
        let captured = self.execute(&mut cell, &order, job, context).map_err(started)?;
        finish(captured, job.time, Enforcement::Host, Vec::new())
    }

    /// Less than required is a refusal.
    fn weigh(&self, layers: &Layers) -> Result<Vec<String>, ProgramError> {
        if layers.missing.is_empty() {
            return Ok(Vec::new());
        }
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = layers.missing.clone();
        let missing = layers.describe_missing();
        if self.accepts_weak(layers.enforcement()) {
            return Ok(vec![format!("The program ran without: {missing}.")]);
        }
        Err(ProgramError::TooWeak { missing })
    }

    fn execute(
        &self,
        cell: &mut cell::Cell,
        order: &Order,
        job: &Job,
        context: &RunContext<'_>,
    ) -> Result<Captured, cell::CageError> {
        let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let input = match &job.stdin {
            Input::Nothing => cell::Input::Null,
            Input::Text(text) => cell::Input::Text(text.as_bytes()),
            Input::Terminal => cell::Input::Inherit(stdin.as_fd()),
        };
        let mut pass_on = |channel: Channel, bytes: &[u8]| {
            let stream = match channel {
                Channel::Out => OutputStream::Out,
                Channel::Err => OutputStream::Err,
            };
            if let Some(live) = context.live {
                live.output(stream, bytes);
            }
        };
        let output = match context.live {
            Some(live) if live.is_raw() => cell::Output::Inherit { out: stdout.as_fd(), err: stderr.as_fd() },
            Some(_) => cell::Output::Stream(&mut pass_on),
            None => cell::Output::Capture,
        };
        let watch = Watch {
            time_limit: job.time.unwrap_or(FOR_EVER),
            grace: GRACE,
            output_bytes: self.settings.limits.output.bytes(),
            cancelled: &|| (context.cancelled)(),
        };
        cell.run(order, Stdio { input, output }, &watch)
    }

    /// Protected names that appeared during the run are taken away, at whatever depth. THREAT: P07, a planted hook.
    fn sweep(&self, before: &View) -> Vec<String> {
        let after = match self.walker.walk() {
            Ok(after) => after,
            Err(error) => {
                return vec![format!("The workspace could not be looked at after the run: {error}.")];
            }
        };
        let planted = match self.placeholders() {
            Some(placeholders) => placeholders.planted(before, &after),
            None => crate::workspace::new_protected(before, &after),
        };
        if planted.is_empty() {
            return Vec::new();
        }
        let moved = quarantine(&planted, &self.settings.workspace, &self.settings.state);
        let name = |path: &Path| {
            path.strip_prefix(&self.settings.workspace).unwrap_or(path).to_string_lossy().into_owned()
        };
        moved
            .iter()
            .map(|moved| {
                format!(
                    "The program made `{}`, which is protected; it was moved out of the workspace.",
                    name(&moved.from)
                )
            })
            .collect()
    }

    fn order(&self, job: &Job, caged: Option<&RunContext<'_>>) -> Result<Order, ProgramError> {
        let steps = job.steps.iter().map(|step| {
            let pipeline = step.pipeline.iter().map(|command| self.command(command));
            Ok(OrderStep { join: step.join, pipeline: pipeline.collect::<Result<_, ProgramError>>()? })
        });
        let steps: Vec<_> = steps.collect::<Result<_, ProgramError>>()?;
        let git = if job.programs().any(|program| program == "git") { Git::Direct } else { Git::Inside };
        let environment = self.variables(&job.variables, git, caged.is_some())?;
        let mut folder = self.settings.workspace.clone();
        folder.extend(job.folder.components());
        Ok(Order { steps, folder, environment })
    }

    fn variables(
        &self,
        variables: &[Variable],
        git: Git,
        caged: bool,
    ) -> Result<Vec<(String, String)>, ProgramError> {
        let secret = |name: &str| self.settings.secrets.get(name).cloned().flatten();
        let mut safe = self.environment.clone();
        if let Some(home) = self.settings.environment.host.get("HOME").filter(|_| !caged || !self.is_caging())
        {
            // The letter of specification 000 where nothing else is private either.
            safe.home = PathBuf::from(home);
        }
        let environment = safe.build(variables, git, &secret).map_err(|error| match error {
            EnvironmentError::MissingSecret { secret, .. } => ProgramError::SecretUnresolved { name: secret },
            EnvironmentError::BadName { .. } | EnvironmentError::BadValue { .. } => {
                ProgramError::Broken { why: error.to_string() }
            }
        })?;
        Ok(environment.variables)
    }

    fn is_caging(&self) -> bool {
        self.settings.backend != Backend::DangerouslyNone
    }

    fn command(&self, command: &JobCommand) -> Result<OrderCommand, ProgramError> {
        let run = match command {
            JobCommand::Enter(folder) => return Ok(OrderCommand::Enter(folder.clone())),
            JobCommand::Run(run) => run,
        };
        let found = self.trusted.find(&run.program).map_err(not_found)?;
        let vector = std::iter::once(run.program.clone()).chain(run.arguments.iter().cloned()).collect();
        let redirects = run.redirects.iter().map(|redirect| OrderRedirect {
            stream: redirect.stream,
            target: match &redirect.target {
                JobTarget::Null => OrderTarget::Null,
                JobTarget::Stream(stream) => OrderTarget::Stream(*stream),
                JobTarget::File { path, mode } => OrderTarget::File { path: path.clone(), mode: *mode },
            },
        });
        Ok(OrderCommand::Run(OrderProgram { file: found.file, vector, redirects: redirects.collect() }))
    }

    /// The battery of `posture`, in a cage that differs from the others only by showing our own binary.
    fn attack_ourselves(&self) -> Result<Proof, ProgramError> {
        if !self.is_caging() {
            let layers = build::nothing("backend: none");
            let posture = Posture { rows: Vec::new(), missing: layers.missing.clone(), backend: "none" };
            return Ok(Proof { posture, enforcement: Enforcement::None });
        }
        let broken = |why: String| ProgramError::Broken { why };
        let service = self.service();
        let traps = Traps::set(&self.settings.state, &self.settings.workspace, &service)
            .map_err(|error| broken(format!("the traps of the self-test: {error}")))?;
        let (order, mut kept, traps) = self.attack_cell(traps)?;
        let missing = kept.layers.missing.clone();
        let enforcement = kept.layers.enforcement();
        self.weigh(&kept.layers)?;
        let watch = Watch {
            time_limit: Duration::from_secs(30),
            grace: GRACE,
            output_bytes: 1 << 20,
            cancelled: &|| false,
        };
        let stdio = Stdio { input: cell::Input::Null, output: cell::Output::Capture };
        let captured = kept.cell.run(&order, stdio, &watch).map_err(started)?;
        drop(kept);
        let rows = traps.judge(&captured.stdout);
        Ok(Proof { posture: Posture { rows, missing, backend: self.settings.backend.as_str() }, enforcement })
    }

    fn service(&self) -> PathBuf {
        let mut service = self.settings.workspace.clone();
        service.extend(self.settings.scope.bearings().service());
        service
    }

    fn placeholders(&self) -> Option<&Arc<Placeholders>> {
        let open = || Placeholders::open(&self.settings.state).ok().map(Arc::new);
        self.placeholders.get_or_init(open).as_ref()
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
    fn forget_launcher(&self) {
        *self.launcher.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// One place among those that may run at once; given back when dropped.
struct Seat<'a>(&'a AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
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
