//! One order while it runs: both outputs are read as they come, input is fed, limits of time and bytes are kept. It knows
//! pipes and the cell's line, not what is run.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::client::CageError;
use crate::finished::Exit;
use crate::order::Order;
use crate::wire::Line;
use crate::wire::message::{Done, End, KILL, Refused, Report, TERMINATE, decode_report, encode_run};

/// How soon a cancelled call is noticed.
const CANCEL_CHECK: Duration = Duration::from_millis(50);
/// A caller that has gone away waits for nothing, so its programs get less time to end.
const CANCEL_GRACE: Duration = Duration::from_secs(1);
/// After a kill; a process that takes longer is stuck in the kernel.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// When all writers are dead, what they wrote is there already.
const DRAIN: Duration = Duration::from_millis(100);
const CHUNK: usize = 64 << 10;

#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    Null,
    Text(&'a [u8]),
    Inherit(BorrowedFd<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Out,
    Err,
}

/// Called with each piece as it is read.
pub type Sink<'a> = &'a mut (dyn FnMut(Channel, &[u8]) + 'a);

pub enum Output<'a> {
    Capture,
    Inherit {
        out: BorrowedFd<'a>,
        err: BorrowedFd<'a>,
    },
    /// Given away as it comes; counted, not kept.
    Stream(Sink<'a>),
}

pub struct Stdio<'a> {
    pub input: Input<'a>,
    pub output: Output<'a>,
}

pub struct Watch<'a> {
    pub time_limit: Duration,
    /// Between the request to end and the kill.
    pub grace: Duration,
    /// Of each output.
    pub output_bytes: u64,
    pub cancelled: &'a dyn Fn() -> bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub exit: Exit,
    /// As a shell tells them, of every command that was started.
    pub statuses: Vec<i32>,
    /// Protected names that were not made.
    pub refused: Refused,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub cut: bool,
    pub timed_out: bool,
    pub cancelled: bool,
    pub duration: Duration,
    /// The cell did not answer even to a kill and must be ended as a whole.
    pub(crate) gave_up: bool,
}

/// The end of a pipe that is read here.
struct Tap {
    end: Option<OwnedFd>,
    kept: Vec<u8>,
    n_read: u64,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Running { until: Instant },
    Terminating { until: Instant },
    Killed { until: Instant },
}

struct Watching<'l, 'w, 's> {
    line: &'l mut Line,
    watch: &'w Watch<'w>,
    phase: Phase,
    taps: [Tap; 2],
    sink: Option<Sink<'s>>,
    feed: Feed<'s>,
    cut: bool,
    timed_out: bool,
    cancelled: bool,
}

pub(crate) fn run(
    line: &mut Line,
    order: &Order,
    stdio: Stdio<'_>,
    watch: &Watch<'_>,
) -> Result<Captured, CageError> {
    let started = Instant::now();
    let (input, feed) = open_input(stdio.input)?;
    let mut taps =
        [Tap { end: None, kept: Vec::new(), n_read: 0 }, Tap { end: None, kept: Vec::new(), n_read: 0 }];
    let mut writers: [Option<OwnedFd>; 2] = [None, None];
    let (sink, given) = match stdio.output {
        Output::Inherit { out, err } => (None, Some((out, err))),
        Output::Capture => (None, None),
        Output::Stream(sink) => (Some(sink), None),
    };
    if given.is_none() {
        for (tap, writer) in taps.iter_mut().zip(&mut writers) {
            let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            tap.end = Some(read);
            *writer = Some(write);
        }
    }
    {
        let input = input.as_fd();
        let [out, err] = &writers;
        let (out, err) = match (given, out, err) {
            (Some((out, err)), _, _) => (out, err),
            (None, Some(out), Some(err)) => (out.as_fd(), err.as_fd()),
            (None, _, _) => return Err(CageError::Protocol("no pipes".to_owned())),
        };
        line.send(&encode_run(order), &[input, out, err])?;
    }
    // Ours must be closed, or the pipes never end.
    drop(writers);
    drop(input);
    let until = started + watch.time_limit;
    let mut watching = Watching {
        line,
        watch,
        phase: Phase::Running { until },
        taps,
        sink,
        feed,
        cut: false,
        timed_out: false,
        cancelled: false,
    };
    let done = watching.watch()?;
    watching.drain();
    watching.finish(done, started)
}

enum Source<'a> {
    Own(OwnedFd),
    Given(BorrowedFd<'a>),
}

impl AsFd for Source<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Source::Own(own) => own.as_fd(),
            Source::Given(given) => *given,
        }
    }
}

type Feed<'a> = Option<(OwnedFd, &'a [u8])>;

fn open_input(input: Input<'_>) -> Result<(Source<'_>, Feed<'_>), Errno> {
    match input {
        Input::Inherit(given) => Ok((Source::Given(given), None)),
        Input::Null => {
            let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            Ok((Source::Own(null), None))
        }
        Input::Text(text) => {
            let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK)?;
            Ok((Source::Own(read), Some((write, text))))
        }
    }
}

/// What one round of waiting found.
#[derive(Default)]
struct Ready {
    line: bool,
    feed: bool,
    taps: [bool; 2],
}

impl Watching<'_, '_, '_> {
    /// Until the cell reports, or has been given up.
    fn watch(&mut self) -> Result<Option<Done>, CageError> {
        loop {
            let ready = self.poll()?;
            if ready.feed {
                self.feed();
            }
            for (place, is_ready) in ready.taps.into_iter().enumerate() {
                if is_ready {
                    self.read(place);
                }
            }
            if ready.line {
                return self.receive();
            }
            let now = Instant::now();
            if self.cut && !matches!(self.phase, Phase::Killed { .. }) {
                self.kill(now);
            }
            if !self.cancelled && matches!(self.phase, Phase::Running { .. }) && (self.watch.cancelled)() {
                self.cancelled = true;
                self.terminate(now, CANCEL_GRACE);
            }
            match self.phase {
                Phase::Running { until } if now >= until => {
                    self.timed_out = true;
                    self.terminate(now, self.watch.grace);
                }
                Phase::Terminating { until } if now >= until => self.kill(now),
                Phase::Killed { until } if now >= until => return Ok(None),
                Phase::Running { .. } | Phase::Terminating { .. } | Phase::Killed { .. } => {}
            }
        }
    }

    fn receive(&mut self) -> Result<Option<Done>, CageError> {
        let Some(frame) = self.line.receive()? else { return Err(CageError::Died) };
        match decode_report(&frame.body) {
            Ok(Report::Done(done)) => Ok(Some(done)),
            Ok(Report::Ready(_) | Report::Refused { .. } | Report::Clean(_)) | Err(_) => {
                Err(CageError::Protocol("report".to_owned()))
            }
        }
    }

    /// A line that is gone is noticed by the next look at it.
    fn terminate(&mut self, now: Instant, grace: Duration) {
        let _sent = self.line.send(TERMINATE, &[]);
        self.phase = Phase::Terminating { until: now + grace };
    }

    fn kill(&mut self, now: Instant) {
        let _sent = self.line.send(KILL, &[]);
        self.phase = Phase::Killed { until: now + KILL_GRACE };
    }

    fn poll(&self) -> Result<Ready, Errno> {
        let (Phase::Running { until } | Phase::Terminating { until } | Phase::Killed { until }) = self.phase;
        let wait = until.saturating_duration_since(Instant::now()).min(CANCEL_CHECK);
        let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        let mut watched = Vec::with_capacity(4);
        watched.push(PollFd::new(&*self.line, PollFlags::IN));
        let mut places = [None; 2];
        for (tap, place) in self.taps.iter().zip(&mut places) {
            if let Some(end) = &tap.end {
                *place = Some(watched.len());
                watched.push(PollFd::new(end, PollFlags::IN));
            }
        }
        if let Some((end, _)) = &self.feed {
            watched.push(PollFd::new(end, PollFlags::OUT));
        }
        match rustix::event::poll(&mut watched, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let is_ready = |place: usize| watched.get(place).is_some_and(|entry| !entry.revents().is_empty());
        Ok(Ready {
            line: is_ready(0) || self.line.has_more(),
            feed: self.feed.is_some() && is_ready(watched.len() - 1),
            taps: places.map(|place| place.is_some_and(is_ready)),
        })
    }

    /// As much as the pipe takes; a program that does not read its input is no error.
    fn feed(&mut self) {
        let Some((end, rest)) = &mut self.feed else { return };
        match rustix::io::write(&*end, rest) {
            Ok(n_written) => *rest = rest.get(n_written..).unwrap_or_default(),
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => *rest = &[],
        }
        if rest.is_empty() {
            self.feed = None;
        }
    }

    /// Once, because the pipe is known to have something or to be at its end.
    fn read(&mut self, place: usize) {
        let limit = self.watch.output_bytes;
        let Some(tap) = self.taps.get_mut(place) else { return };
        let Some(end) = &tap.end else { return };
        let mut chunk = [0u8; CHUNK];
        let n_read = match rustix::io::read(end, &mut chunk) {
            Ok(n_read) => n_read,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => 0,
        };
        if n_read == 0 {
            tap.end = None;
            return;
        }
        let room = usize::try_from(limit - tap.n_read.min(limit)).unwrap_or(usize::MAX);
        let fresh = chunk.get(..n_read.min(room)).unwrap_or_default();
        tap.n_read += fresh.len() as u64;
        match &mut self.sink {
            Some(sink) => sink(if place == 0 { Channel::Out } else { Channel::Err }, fresh),
            None => tap.kept.extend_from_slice(fresh),
        }
        if n_read > room {
            self.cut = true;
            tap.end = None;
        }
    }

    /// What was written before the end. A writer that escaped a weaker backend cannot hold us.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        for place in 0..self.taps.len() {
            while let Some(end) = self.taps.get(place).and_then(|tap| tap.end.as_ref()) {
                let wait = until.saturating_duration_since(Instant::now());
                let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
                let mut watched = [PollFd::new(end, PollFlags::IN)];
                match rustix::event::poll(&mut watched, Some(&wait)) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => self.read(place),
                }
            }
        }
    }

    fn finish(self, done: Option<Done>, started: Instant) -> Result<Captured, CageError> {
        let gave_up = done.is_none();
        let killed =
            || Done { end: End::Exited(Exit::Signal(9)), statuses: Vec::new(), refused: Refused::default() };
        let done = done.unwrap_or_else(killed);
        let exit = match done.end {
            End::Exited(exit) => exit,
            End::Changed(program) => return Err(CageError::Changed(program)),
            End::NotStarted { program, errno } => return Err(CageError::Exec { program, errno }),
        };
        let [out, err] = self.taps;
        Ok(Captured {
            exit,
            statuses: done.statuses,
            refused: done.refused,
            stdout: out.kept,
            stderr: err.kept,
            cut: self.cut,
            timed_out: self.timed_out,
            cancelled: self.cancelled,
            duration: started.elapsed(),
            gave_up,
        })
    }
}
