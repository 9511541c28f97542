//! One order while it runs: both outputs are read as they come, input is fed, limits of time and bytes are kept. It knows
//! pipes and the cell's line, not what is run.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::client::CageError;
use crate::feed::Feed;
use crate::finished::Exit;
use crate::order::Order;
use crate::terminal::Terminal;
use crate::wire::Line;
use crate::wire::message::{Done, End, Refused, Report, Request};

/// How soon a cancelled call is noticed.
const CANCEL_CHECK: Duration = Duration::from_millis(50);
/// A caller that has gone away waits for nothing, so its programs get less time to end.
const CANCEL_GRACE: Duration = Duration::from_secs(1);
/// After a kill; a process that takes longer is stuck in the kernel.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// How soon a sink that was full is asked again.
const SINK_CHECK: Duration = Duration::from_millis(1);
/// When all writers are dead, what they wrote is there already.
const DRAIN: Duration = Duration::from_millis(100);
const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub enum Input<'a> {
    /// The cell's own `/dev/null`.
    Null,
    Text(&'a [u8]),
    /// What comes from here; the program never gets the object itself.
    Copied(BorrowedFd<'a>),
    /// A person's terminal: the program gets one of ours.
    Terminal(BorrowedFd<'a>),
    /// The reading end of a pipe of ours, whose other end somebody else feeds.
    Pipe(OwnedFd),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Out,
    Err,
}

/// Whether a sink can take more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Free,
    /// Asked again in a moment; the program waits meanwhile.
    Full,
    /// Nobody will read more of it, which the program is told as by any pipe.
    Gone,
}

/// Where output goes while the program runs.
pub trait Sink {
    /// Called with each piece as it is read.
    fn take(&mut self, channel: Channel, bytes: &[u8]);

    fn room(&self, _channel: Channel) -> Room {
        Room::Free
    }
}

impl<F: FnMut(Channel, &[u8])> Sink for F {
    fn take(&mut self, channel: Channel, bytes: &[u8]) {
        self(channel, bytes);
    }
}

pub enum Output<'a> {
    Capture,
    /// Given away as it comes; counted, not kept.
    Stream(&'a mut (dyn Sink + 'a)),
    /// The same, both outputs through one pipe, so that they stay in their order.
    Joined(&'a mut (dyn Sink + 'a)),
    /// The same, through a terminal like this one.
    Terminal {
        sink: &'a mut (dyn Sink + 'a),
        like: BorrowedFd<'a>,
        /// Whether errors go there too.
        joined: bool,
    },
    /// The writing end of a pipe of ours, whose other end somebody else reads; errors are given
    /// away as they come.
    Pipe {
        to: OwnedFd,
        errors: &'a mut (dyn Sink + 'a),
    },
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

/// The end of something that is read here.
struct Tap {
    /// None: nobody hears of what comes.
    channel: Option<Channel>,
    end: Option<OwnedFd>,
    kept: Vec<u8>,
    n_read: u64,
}

impl Tap {
    fn new(channel: Option<Channel>) -> Tap {
        Tap { channel, end: None, kept: Vec::new(), n_read: 0 }
    }
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
    taps: [Tap; 3],
    sink: Option<&'s mut (dyn Sink + 's)>,
    feed: Feed<'s>,
    terminal: Option<Terminal<'s>>,
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
    let Opened { input, writers, taps, sink, feed, terminal } = Opened::open(stdio)?;
    {
        let [out, err] = &writers;
        // Without an input the runner takes its own null device.
        let given: Vec<_> = input.iter().chain([out, err]).map(AsFd::as_fd).collect();
        line.send(&Request::Run(order), &given)?;
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
        terminal,
        cut: false,
        timed_out: false,
        cancelled: false,
    };
    let done = watching.watch()?;
    watching.drain();
    watching.finish(done, started)
}

/// The three streams of the program, and our ends of them.
struct Opened<'s> {
    input: Option<OwnedFd>,
    writers: [OwnedFd; 2],
    taps: [Tap; 3],
    sink: Option<&'s mut (dyn Sink + 's)>,
    feed: Feed<'s>,
    terminal: Option<Terminal<'s>>,
}

impl<'s> Opened<'s> {
    fn open(stdio: Stdio<'s>) -> Result<Opened<'s>, Errno> {
        let mut taps = [Some(Channel::Out), Some(Channel::Err), None].map(Tap::new);
        let [out, err, unheard] = &mut taps;
        let (like, is_shown) = match (&stdio.output, &stdio.input) {
            (Output::Terminal { like, .. }, _) => (Some(*like), true),
            (_, Input::Terminal(person)) => (Some(*person), false),
            (_, Input::Null | Input::Text(_) | Input::Copied(_) | Input::Pipe(_)) => (None, false),
        };
        let made = like.map(|person| Terminal::like(person, is_shown)).transpose()?;
        let (terminal, inner) = made.map_or((None, None), |(ours, inner)| (Some(ours), Some(inner)));
        let (feed, input) = match (stdio.input, &terminal, &inner) {
            (Input::Null, ..) => (Feed::nothing(), None),
            (Input::Pipe(end), ..) => (Feed::nothing(), Some(end)),
            (Input::Text(text), ..) => Feed::text(text).map(|(feed, end)| (feed, Some(end)))?,
            (Input::Terminal(person), Some(ours), Some(inner)) => {
                (Feed::typed(person, ours)?, Some(inner.try_clone().map_err(|_| Errno::MFILE)?))
            }
            (Input::Copied(from) | Input::Terminal(from), ..) => {
                Feed::copied(from).map(|(feed, end)| (feed, Some(end)))?
            }
        };
        let written = terminal.as_ref().map(Terminal::end).transpose()?;
        let (sink, joined, piped) = match stdio.output {
            Output::Capture => (None, false, None),
            Output::Stream(sink) => (Some(sink), false, None),
            Output::Joined(sink) => (Some(sink), true, None),
            Output::Terminal { sink, joined, .. } => (Some(sink), joined, None),
            Output::Pipe { to, errors } => (Some(errors), false, Some(to)),
        };
        let to_out = match (written, inner, piped) {
            (_, _, Some(piped)) => piped,
            (Some(written), Some(inner), None) if is_shown => {
                out.end = Some(written);
                inner
            }
            // What is written to an input reaches nobody.
            (written, _, None) => {
                unheard.end = written;
                pipe_into(out)?
            }
        };
        let to_err = match joined {
            true => to_out.try_clone().map_err(|_| Errno::MFILE)?,
            false => pipe_into(err)?,
        };
        Ok(Opened { input, writers: [to_out, to_err], taps, sink, feed, terminal })
    }
}

fn pipe_into(tap: &mut Tap) -> Result<OwnedFd, Errno> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    tap.end = Some(read);
    Ok(write)
}

/// What one round of waiting found.
#[derive(Default)]
struct Ready {
    line: bool,
    feed: bool,
    taps: [bool; 3],
}

impl Watching<'_, '_, '_> {
    /// Until the cell reports, or has been given up.
    fn watch(&mut self) -> Result<Option<Done>, CageError> {
        loop {
            let ready = self.poll()?;
            // Before output is passed on, so that who sees it sees the modes that came before it.
            if let Some(terminal) = &mut self.terminal {
                terminal.follow();
            }
            if ready.feed {
                self.feed.go_on(self.terminal.as_ref());
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
        match frame.read() {
            Ok(Report::Done(done)) => Ok(Some(done)),
            Ok(Report::Ready(_) | Report::Refused { .. } | Report::Clean(_)) | Err(_) => {
                Err(CageError::Protocol("report".to_owned()))
            }
        }
    }

    /// A line that is gone is noticed by the next look at it.
    fn terminate(&mut self, now: Instant, grace: Duration) {
        let _sent = self.line.send(&Request::<Order>::Terminate, &[]);
        self.phase = Phase::Terminating { until: now + grace };
    }

    fn kill(&mut self, now: Instant) {
        let _sent = self.line.send(&Request::<Order>::Kill, &[]);
        self.phase = Phase::Killed { until: now + KILL_GRACE };
    }

    fn poll(&mut self) -> Result<Ready, Errno> {
        let (Phase::Running { until } | Phase::Terminating { until } | Phase::Killed { until }) = self.phase;
        let mut wait = until.saturating_duration_since(Instant::now()).min(CANCEL_CHECK);
        let sink = &self.sink;
        let room = |channel| sink.as_ref().map_or(Room::Free, |sink| sink.room(channel));
        let rooms = self.taps.each_ref().map(|tap| tap.channel.map_or(Room::Free, room));
        let mut watched = Vec::with_capacity(5);
        watched.push(PollFd::new(&*self.line, PollFlags::IN));
        let mut places = [None; 3];
        for ((tap, room), place) in self.taps.iter_mut().zip(rooms).zip(&mut places) {
            match room {
                Room::Free => {}
                Room::Full => {
                    wait = wait.min(SINK_CHECK);
                    continue;
                }
                Room::Gone => tap.end = None,
            }
            if let Some(end) = &tap.end {
                *place = Some(watched.len());
                watched.push(PollFd::new(end, PollFlags::IN));
            }
        }
        let feed = self.feed.awaited(self.terminal.as_ref());
        let has_feed = feed.is_some();
        watched.extend(feed);
        let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        match rustix::event::poll(&mut watched, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let is_ready = |place: usize| watched.get(place).is_some_and(|entry| !entry.revents().is_empty());
        Ok(Ready {
            line: is_ready(0) || self.line.has_more(),
            feed: has_feed && is_ready(watched.len() - 1),
            taps: places.map(|place| place.is_some_and(is_ready)),
        })
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
        match (tap.channel, &mut self.sink) {
            (None, _) => return,
            (Some(channel), Some(sink)) => sink.take(channel, fresh),
            (Some(_), None) => tap.kept.extend_from_slice(fresh),
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
        let [out, err, _] = self.taps;
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
