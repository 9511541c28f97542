//! The way of one job: a seat, a cage, the programs, and what they left. A run and a session walk
//! it alike, and differ only in where input comes from and output goes to.

use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use vambrace_policy::{Input, Job, Level, Permit, Place, Runs};
use vambrace_types::Enforcement;

use super::keep::Kept;
use super::way_out::WayOut;
use super::{FOR_EVER, GRACE, Live, MOST_CAGES, OutputStream, Outputs, Planted, Programs, RunContext, input};
use crate::cell::{self, CageError, Captured, Cell, Channel, Stdio, Watch};
use crate::cgroup::Group;
use crate::fetched::{self, Fetched};
use crate::lent::Lent;
use crate::order::Order;
use crate::workspace::View;
use crate::{Finished, Layers, Network, ProgramError, Reuse};

/// One job, and for whom it is.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) job: &'a Job,
    /// Whose prepared cage may be used.
    pub(super) caller: &'a str,
    pub(super) network: Option<&'a dyn Network>,
}

/// A cage that is ready for its job, and what stands around it.
pub(super) struct Prepared {
    pub(super) kept: Kept,
    pub(super) order: Order,
    fetched: Fetched,
    way_out: WayOut,
    /// The workspace as it was before the job.
    before: Arc<View>,
    warnings: Vec<String>,
    is_warm: bool,
    /// The limit that is in force.
    memory: u64,
}

/// What became of a job whose cage reported its end.
pub(super) struct Concluded {
    pub(super) captured: Captured,
    pub(super) enforcement: Enforcement,
    pub(super) warnings: Vec<String>,
}

impl Programs {
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

    pub(super) fn run_caged(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let stdin = std::io::stdin();
        let input = match &job.stdin {
            Input::Nothing => cell::Input::Null,
            Input::Text(text) => cell::Input::Text(text.as_bytes()),
            Input::Terminal => input::of(stdin.as_fd())?,
        };
        let asked = Asked { job, caller: context.caller, network: context.network };
        let mut prepared = self.prepare(asked)?;
        let outcome = self.execute(&mut prepared.kept.cell, &prepared.order, job, (input, context));
        let Concluded { captured, enforcement, warnings } =
            self.conclude(prepared, outcome, context.caller, context.planted)?;
        finish(captured, job.time, enforcement, warnings)
    }

    /// Everything up to the first program.
    pub(super) fn prepare(&self, asked: Asked<'_>) -> Result<Prepared, ProgramError> {
        let Asked { job, network, .. } = asked;
        let mut order = self.order(job, Place::Cage)?;
        let fetched = self.fetched_for(job, network);
        let mut kept = self.settled_cell(&fetched, asked)?;
        let warnings = self.weigh(&kept.layers)?;
        if !self.is_as_proved(&kept.layers) {
            self.shelf.dissolve(kept);
            return Err(ProgramError::Unproved {
                why: "the cage is not the one that was attacked".to_owned(),
            });
        }
        let way_out = self.open_way_out(&mut kept, network)?;
        order.environment = self.environment_of(job, Some(&way_out.reach), &fetched)?;
        let (before, is_warm) = (Arc::clone(&kept.view), self.may_be_warm(asked));
        let memory = job.memory.unwrap_or(self.settings.limits.memory).bytes();
        Ok(Prepared { kept, order, fetched, way_out, before, warnings, is_warm, memory })
    }

    /// Everything after the last program, however the job ended.
    pub(super) fn conclude(
        &self,
        prepared: Prepared,
        outcome: Result<Captured, CageError>,
        caller: &str,
        planted: Planted<'_>,
    ) -> Result<Concluded, ProgramError> {
        let Prepared { mut kept, fetched, way_out, before, mut warnings, is_warm, memory, .. } = prepared;
        if outcome.is_err() {
            kept.cell.end_wholly();
        }
        // LIMIT: a runner that was killed takes along what it had refused.
        if let Ok(captured) = &outcome {
            self.tell_refused(&captured.refused, planted);
        }
        let exceeded = kept.group.as_ref().is_some_and(Group::has_exceeded_memory);
        let layers = kept.layers.clone();
        // INVARIANT: nothing of the job is alive when its traces are looked for. A cell that
        // reported the end has ended all of it; any other is ended here.
        let mut kept = Some(kept);
        if !(is_warm && outcome.is_ok() && kept.as_ref().is_some_and(|kept| kept.cell.is_settling())) {
            kept.take().into_iter().for_each(|kept| self.shelf.dissolve(kept));
        }
        // Only now, so that every connection of the job was served or refused under its own grants.
        drop(way_out);
        self.tell_planted(&before, &layers, planted);
        let cleaned = fetched::clean(&fetched).map_err(|why| ProgramError::LeftBehind { why });
        // Its runner has looked around meanwhile.
        if let Some(mut kept) = kept {
            match kept.cell.is_reusable() {
                true => self.shelf.put(caller, kept),
                false => self.shelf.dissolve(kept),
            }
        }
        cleaned?;
        let captured = match outcome {
            Err(CageError::Died) if exceeded => return Err(ProgramError::OutOfMemory { limit: memory }),
            outcome => outcome.map_err(started)?,
        };
        if exceeded {
            warnings.push("A program used more memory than it may and was ended.".to_owned());
        }
        Ok(Concluded { captured, enforcement: layers.enforcement(), warnings })
    }

    /// Something that a cage was to lie on may go while it is built, by a person or by another
    /// program; then it is looked at anew.
    fn settled_cell(&self, fetched: &Fetched, asked: Asked<'_>) -> Result<Kept, ProgramError> {
        const TRIES: usize = 3;
        let mut built = self.cell_for(fetched, asked);
        for _ in 1..TRIES {
            if !matches!(built, Err(ProgramError::Unsettled { .. })) {
                break;
            }
            built = self.cell_for(fetched, asked);
        }
        built
    }

    /// THREAT: P05, a connection that one job left waiting must not be served under the grants of
    /// the next, so who has a way out has a cage of its own.
    pub(super) fn may_be_warm(&self, asked: Asked<'_>) -> bool {
        let is_wanted = asked.job.level == Level::Warm && self.settings.reuse == Reuse::PerCaller;
        is_wanted && asked.network.is_none()
    }

    /// On the machine itself, by the same runner, which then has no walls around it.
    fn run_on_host(&self, job: &Job, context: &RunContext<'_>) -> Result<Finished, ProgramError> {
        let order = self.order(job, Place::Host)?;
        let mut cell = self.bare_cell(None)?;
        let input = match &job.stdin {
            Input::Nothing | Input::Terminal => cell::Input::Null,
            Input::Text(text) => cell::Input::Text(text.as_bytes()),
        };
        let captured = self.execute(&mut cell, &order, job, (input, context)).map_err(started)?;
        finish(captured, job.time, Enforcement::Host, Vec::new())
    }

    /// Less than required is a refusal.
    pub(super) fn weigh(&self, layers: &Layers) -> Result<Vec<String>, ProgramError> {
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
        cell: &mut Cell,
        order: &Order,
        job: &Job,
        (input, context): (cell::Input<'_>, &RunContext<'_>),
    ) -> Result<Captured, CageError> {
        let stdout = std::io::stdout();
        let mut pass_on = context.live.map(PassOn);
        let mut lent = Vec::new();
        if let cell::Input::Terminal(person) = &input {
            lent.push(*person);
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

/// INVARIANT: counted before it is compared, so two callers cannot both take the last seat.
pub(super) fn seat(taken: &Arc<AtomicUsize>, n_most: usize) -> Result<Seat, ProgramError> {
    let seat = Seat(Arc::clone(taken));
    if taken.fetch_add(1, Ordering::SeqCst) >= n_most {
        return Err(ProgramError::TooMany { n_most });
    }
    Ok(seat)
}

/// One place among those that may run at once; given back when dropped.
pub(super) struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) fn started(error: CageError) -> ProgramError {
    match error {
        CageError::Changed(path) => ProgramError::Untrusted {
            program: path.display().to_string(),
            why: "its file changed after it was looked up".to_owned(),
        },
        CageError::Exec { ref program, .. } => {
            ProgramError::NotStarted { program: program.display().to_string(), why: error.to_string() }
        }
        CageError::InFlight => ProgramError::InFlight,
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
    Ok(Finished {
        exit: captured.exit,
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
