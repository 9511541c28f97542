//! A program that lives: its input and output are pipes that whoever opened it holds. It walks the
//! way of every job (`run`), on a thread of its own, so it has the same permit, cage, guard and
//! limits.

mod stream;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;
use vambrace_policy::{Input, Job, Permit, Place, Runs};
use vambrace_types::Enforcement;

use super::run::{Asked, Concluded, Prepared, Seat, seat};
use super::{FOR_EVER, GRACE, MOST_CAGES, Programs};
use crate::cell::{self, Channel, Stdio, Watch};
use crate::{Exit, Network, ProgramError};
use stream::{Reader, Writer};
pub use stream::{SessionError, Tail};

/// What surrounds a session.
pub struct SessionContext<'a> {
    /// Whose prepared cage may be used.
    pub caller: &'a str,
    /// The most programs of this kind that may run at once, runs and sessions together.
    pub n_at_once: Option<usize>,
    /// The way out of the cage. None: there is none.
    pub network: Option<&'a dyn Network>,
}

/// What came of a session.
#[derive(Debug)]
pub struct SessionEnd {
    pub outcome: Result<Exit, ProgramError>,
    /// It was told to stop.
    pub stopped: bool,
    pub timed_out: bool,
    pub duration: Duration,
    pub enforcement: Enforcement,
    /// Sentences for the result and the record, as of a run.
    pub warnings: Vec<String>,
    /// Protected names that it tried to make or that appeared while it ran.
    pub planted: Vec<String>,
}

/// A program that runs, with both pipes. Threads may share it: one may write while another reads.
/// Dropping it ends all that runs in the cage, and comes back when nothing of it is alive.
#[derive(Debug)]
pub struct Session {
    input: Mutex<Option<Writer>>,
    output: Mutex<Reader>,
    errors: Arc<Mutex<Tail>>,
    enforcement: Enforcement,
    stop: Arc<AtomicBool>,
    /// The first process of the cage, where ending it ends all others.
    first: Option<OwnedFd>,
    ended: Mutex<Ended>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Ended {
    coming: Receiver<SessionEnd>,
    came: Option<SessionEnd>,
}

impl Programs {
    /// Starts a job whose input and output stay open. Its errors are kept, as far as they are the
    /// last; its time counts as for a run.
    pub fn open<A: Runs>(
        self: &Arc<Self>,
        permit: Permit<A>,
        context: &SessionContext<'_>,
    ) -> Result<Session, ProgramError> {
        let cage = seat(&self.n_cages, MOST_CAGES)?;
        let job = permit.redeem(self.epoch)?.job();
        let seat = context.n_at_once.map(|most| seat(&self.n_running, most)).transpose()?;
        self.ready()?;
        self.open_caged(&job, context, (cage, seat))
    }

    pub(super) fn open_caged(
        self: &Arc<Self>,
        job: &Job,
        context: &SessionContext<'_>,
        seats: (Seat, Option<Seat>),
    ) -> Result<Session, ProgramError> {
        let refused = |why: &str| Err(ProgramError::Broken { why: why.to_owned() });
        match (job.place, &job.stdin) {
            (Place::Cage, Input::Nothing) => {}
            (Place::Host, _) => return refused("a session runs in a cage, and this job on the host"),
            (Place::Cage, Input::Text(_) | Input::Terminal) => {
                return refused("a session is fed by whoever opened it, and this job brings its own input");
            }
        }
        let asked = Asked { job, caller: context.caller, network: context.network };
        let prepared = self.prepare(asked)?;
        let caller = context.caller.to_owned();
        let life = Life { programs: Arc::clone(self), time: job.time.unwrap_or(FOR_EVER), caller, seats };
        Session::start(life, prepared).map_err(|why| ProgramError::Broken { why: why.to_string() })
    }
}

/// What the thread of a session takes along.
struct Life {
    programs: Arc<Programs>,
    time: Duration,
    caller: String,
    /// Given back when all is over.
    seats: (Seat, Option<Seat>),
}

impl Session {
    fn start(life: Life, prepared: Prepared) -> std::io::Result<Session> {
        let (reads, input) = stream::pipe_to_program()?;
        let (output, writes) = stream::pipe_from_program()?;
        let (errors, stop) = (Arc::new(Mutex::new(Tail::default())), Arc::new(AtomicBool::new(false)));
        let (enforcement, first) = (prepared.kept.layers.enforcement(), prepared.kept.cell.first_process());
        let (done, coming) = mpsc::channel();
        let (tail, told) = (Arc::clone(&errors), Arc::clone(&stop));
        let live = move || {
            // Who does not want to know has dropped the session.
            let _unwanted = done.send(life.live(prepared, (reads, writes), &tail, &told));
        };
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(live)?;
        Ok(Session {
            input: Mutex::new(Some(input)),
            output: Mutex::new(output),
            errors,
            enforcement,
            stop,
            first,
            ended: Mutex::new(Ended { coming, came: None }),
            thread: Some(thread),
        })
    }

    /// What stands around the program, for the record of its start.
    pub fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    /// Writes all of it. Waits while the program does not read, `most` in all.
    pub fn write(&self, bytes: &[u8], most: Duration) -> Result<(), SessionError> {
        lock(&self.input).as_mut().ok_or(SessionError::Ended)?.write(bytes, most)
    }

    /// The program then finds the end of its input.
    pub fn close_input(&self) {
        *lock(&self.input) = None;
    }

    /// Waits `most` for something. Nothing: the program writes no more.
    pub fn read(&self, into: &mut [u8], most: Duration) -> Result<usize, SessionError> {
        lock(&self.output).read(into, most)
    }

    /// A line without its end; what stands after the last one is a line too. None: the program
    /// writes no more. A line of more than `largest` bytes is an error, and the next call reads the
    /// line after it.
    pub fn read_line(&self, largest: usize, most: Duration) -> Result<Option<Vec<u8>>, SessionError> {
        lock(&self.output).line(largest, most)
    }

    /// The end of what was written as errors so far.
    pub fn errors(&self) -> Tail {
        lock(&self.errors).clone()
    }

    /// Asks everything in the cage to end; what does not is killed a second later.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Whether the program and all that it left in the background have ended; waits `most` for it.
    pub fn has_ended(&self, most: Duration) -> bool {
        let mut ended = lock(&self.ended);
        if ended.came.is_none() {
            ended.came = ended.coming.recv_timeout(most).ok();
        }
        ended.came.is_some()
    }

    /// What came of it. One that still runs is stopped.
    pub fn end(mut self) -> SessionEnd {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
        let ended = &mut *lock(&self.ended);
        let came = ended.came.take().or_else(|| ended.coming.try_recv().ok());
        came.unwrap_or_else(|| SessionEnd {
            outcome: Err(ProgramError::Broken { why: "the thread of the session ended early".to_owned() }),
            stopped: true,
            timed_out: false,
            duration: Duration::ZERO,
            enforcement: self.enforcement,
            warnings: Vec::new(),
            planted: Vec::new(),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stop();
        if let Some(first) = &self.first {
            let _ended = rustix::process::pidfd_send_signal(first, Signal::KILL);
        }
        let _ended = thread.join();
    }
}

impl Life {
    fn live(
        self,
        mut prepared: Prepared,
        (reads, writes): (OwnedFd, OwnedFd),
        tail: &Mutex<Tail>,
        stop: &AtomicBool,
    ) -> SessionEnd {
        let Life { programs, time, caller, seats } = self;
        let mut errors = |_: Channel, bytes: &[u8]| lock(tail).add(bytes);
        let stdio = Stdio {
            input: cell::Input::Pipe(reads),
            output: cell::Output::Pipe { to: writes, errors: &mut errors },
        };
        // What is handed on is not kept, and of errors only the last.
        let watch = Watch {
            time_limit: time,
            grace: GRACE,
            output_bytes: u64::MAX,
            cancelled: &|| stop.load(Ordering::SeqCst),
        };
        let enforcement = prepared.kept.layers.enforcement();
        let outcome = prepared.kept.cell.run(&prepared.order, stdio, &watch);
        let planted = Mutex::new(Vec::new());
        let concluded = programs.conclude(prepared, outcome, &caller, &|names| lock(&planted).extend(names));
        drop(seats);
        let planted = planted.into_inner().unwrap_or_else(PoisonError::into_inner);
        match concluded {
            Ok(Concluded { captured, enforcement, warnings }) => SessionEnd {
                outcome: Ok(captured.exit),
                stopped: captured.cancelled,
                timed_out: captured.timed_out,
                duration: captured.duration,
                enforcement,
                warnings,
                planted,
            },
            Err(error) => SessionEnd {
                outcome: Err(error),
                stopped: stop.load(Ordering::SeqCst),
                timed_out: false,
                duration: Duration::ZERO,
                enforcement,
                warnings: Vec::new(),
                planted,
            },
        }
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
