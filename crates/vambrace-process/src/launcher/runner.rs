//! Runs orders: pipelines joined as bash joins them, without a shell. It serves one order at a time over its line, ends
//! everything when one is done, and goes when the line is gone.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Rlimit, Signal};
use vambrace_policy::command::{Command, Join, Simple, Step};

use super::confine::said;
use super::guard::Guard;
use super::program::{Program, RedirectFailed, Streams, environment, words};
use super::reaper::{Pristine, Reaper};
use super::score::Score;
use super::spawn_unsafe::{self, Stack, Start};
use super::{kernel_unsafe, spawn_unsafe::Executable};
use crate::cage::Missing;
use crate::finished::Exit;
use crate::order::{Order, ProgramFile};
use crate::wire::Line;
use crate::wire::message::{Done, End, Report, Request};

pub(super) struct Runner {
    line: Line,
    /// Readable when a child has ended.
    children: OwnedFd,
    null: OwnedFd,
    stack: Stack,
    reaper: Reaper,
    pristine: Pristine,
    score: Option<Score>,
    /// How many files a program may have open.
    files: Rlimit,
    /// Where programs may not make every name.
    pub(super) guard: Option<Guard>,
}

/// What an order carries from step to step.
struct Course<'a> {
    streams: [BorrowedFd<'a>; 3],
    environment: Vec<CString>,
    folder: OwnedFd,
    last: Exit,
    statuses: Vec<i32>,
    /// Told to stop: nothing more is started.
    stopped: bool,
}

/// The other end is gone; so is this process, with all it started.
struct Gone;

impl Runner {
    pub(super) fn new(
        line: Line,
        memories: &[PathBuf],
        score: Option<Score>,
        files: Rlimit,
    ) -> Result<Runner, Errno> {
        Ok(Runner {
            line,
            children: kernel_unsafe::child_signals()?,
            null: rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?,
            stack: Stack::new(),
            reaper: Reaper::new(),
            pristine: Pristine::remember(memories)?,
            score,
            files,
            guard: None,
        })
    }

    /// Returns the process's exit code when there is nobody left to serve.
    pub(super) fn serve(&mut self, missing: Vec<Missing>, way_out: Option<OwnedFd>) -> i32 {
        let served = self.serve_all(missing, way_out);
        self.reaper.end_all();
        i32::from(served.is_err())
    }

    fn serve_all(&mut self, missing: Vec<Missing>, way_out: Option<OwnedFd>) -> Result<(), Errno> {
        let beside: Vec<_> = way_out.iter().map(AsFd::as_fd).collect();
        self.line.send(&Report::Ready(missing), &beside)?;
        drop(beside);
        // THREAT: P05, a program that got hold of it would answer others in our name.
        drop(way_out);
        while let Some(frame) = self.line.receive()? {
            let order = match frame.read().map_err(|_| Errno::BADMSG)? {
                Request::Run(order) => order,
                // It came as the order ended by itself.
                Request::<Order>::Terminate | Request::Kill => continue,
            };
            let streams = self.streams(frame.descriptors)?;
            let Ok((end, statuses)) = self.run(&order, &streams) else { return Ok(()) };
            // THREAT: P07, what is left in the background would see the next order, and outlive this one.
            self.reaper.end_all();
            drop(streams);
            let refused = self.guard.as_mut().map(Guard::take_refused).unwrap_or_default();
            self.line.send(&Report::Done(Done { end, statuses, refused }), &[])?;
            // Looked for while the other side looks at what the order did.
            let is_clean = self.reaper.is_first() && self.pristine.holds();
            self.line.send(&Report::Clean(is_clean), &[])?;
        }
        Ok(())
    }

    /// THREAT: P07, root could change the mode of a null device of the host that it was given. The one that was opened here
    /// lies on a mount that cannot be written.
    fn streams(&self, mut given: Vec<OwnedFd>) -> Result<[OwnedFd; 3], Errno> {
        if given.len() == 2 {
            given.insert(0, rustix::io::fcntl_dupfd_cloexec(&self.null, 3)?);
        }
        <[OwnedFd; 3]>::try_from(given).map_err(|_| Errno::BADMSG)
    }

    fn run(&mut self, order: &Order, streams: &[OwnedFd; 3]) -> Result<(End, Vec<i32>), Gone> {
        let not_started =
            |errno: Errno| End::NotStarted { program: order.folder.clone(), errno: errno.raw_os_error() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(&order.folder, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(errno) => return Ok((not_started(errno), Vec::new())),
        };
        let environment = match environment(&order.environment) {
            Ok(environment) => environment,
            Err(errno) => return Ok((not_started(errno), Vec::new())),
        };
        let [input, output, errors] = streams;
        let mut course = Course {
            streams: [input.as_fd(), output.as_fd(), errors.as_fd()],
            environment,
            folder,
            last: Exit::Code(0),
            statuses: Vec::new(),
            stopped: false,
        };
        for step in &order.plan.steps {
            if course.stopped {
                break;
            }
            if !is_due(step.join, course.last) {
                continue;
            }
            if let Err(end) = self.step(step, &mut course)? {
                return Ok((end, course.statuses));
            }
        }
        Ok((End::Exited(course.last), course.statuses))
    }

    fn step(
        &mut self,
        step: &Step<Command<ProgramFile>>,
        course: &mut Course<'_>,
    ) -> Result<Result<(), End>, Gone> {
        if let [Command::Enter(folder)] = step.pipeline.as_slice() {
            course.last = enter(folder, course);
            course.statuses.push(status(course.last));
            return Ok(Ok(()));
        }
        let mut running = match self.start_pipeline(&step.pipeline, course) {
            Ok(running) => running,
            Err(end) => return Ok(Err(end)),
        };
        self.wait(&mut running, course)?;
        for command in &running {
            let exit = command.exit.unwrap_or(Exit::Code(0));
            course.statuses.push(status(exit));
            course.last = exit;
        }
        Ok(Ok(()))
    }

    fn start_pipeline(
        &mut self,
        pipeline: &[Command<ProgramFile>],
        course: &Course<'_>,
    ) -> Result<Vec<Running>, End> {
        let [first_input, last_output, errors] = course.streams;
        let mut running = Vec::with_capacity(pipeline.len());
        let mut from_previous: Option<OwnedFd> = None;
        for (place, command) in pipeline.iter().enumerate() {
            let (to_this, from_this) = if place + 1 < pipeline.len() {
                let (read, write) =
                    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|errno| broken(command, errno))?;
                (Some(read), Some(write))
            } else {
                (None, None)
            };
            let input = from_previous.as_ref().map_or(first_input, AsFd::as_fd);
            let output = from_this.as_ref().map_or(last_output, AsFd::as_fd);
            running.push(match command {
                // In a longer pipeline it happens in a process of its own in bash, and nobody sees it.
                Command::Enter(_) => Running { pid: None, exit: Some(Exit::Code(0)) },
                Command::Run(program) => self.start(program, [input, output, errors], course)?,
            });
            from_previous = to_this;
        }
        Ok(running)
    }

    fn start(
        &mut self,
        program: &Simple<String, ProgramFile>,
        given: [BorrowedFd<'_>; 3],
        course: &Course<'_>,
    ) -> Result<Running, End> {
        let streams = match Streams::redirect(&program.redirects, course.folder.as_fd(), self.guard.as_mut())
        {
            Ok(streams) => streams,
            Err(RedirectFailed { path, errno }) => {
                let [_, _, errors] = given;
                tell(errors, &path, errno);
                return Ok(Running { pid: None, exit: Some(Exit::Code(1)) });
            }
        };
        let opened = Program::open(&program.file)?;
        let not_started = |errno: Errno| End::NotStarted {
            program: program.file.path.clone(),
            errno: errno.raw_os_error(),
        };
        let vector = words(&program.words).map_err(not_started)?;
        let executable: Executable<'_> = opened.executable();
        let start = Start {
            executable,
            vector: &vector,
            environment: &course.environment,
            folder: course.folder.as_fd(),
            streams: streams.resolve(given, self.null.as_fd()),
            own_group: !self.reaper.is_first(),
            files: self.files,
        };
        let stack = &mut self.stack;
        let pid =
            Score::raised(self.score.as_ref(), || spawn_unsafe::start(&start, stack)).map_err(not_started)?;
        Ok(Running { pid: Some(pid), exit: None })
    }

    /// Until every command of the pipeline has ended. Others that end meanwhile are reaped as well.
    fn wait(&mut self, running: &mut [Running], course: &mut Course<'_>) -> Result<(), Gone> {
        loop {
            if running.iter().all(|command| command.exit.is_some()) {
                return Ok(());
            }
            let [child, told, asked] = self.look()?;
            if let Some(guard) = &mut self.guard {
                if asked {
                    guard.serve();
                }
                guard.tend();
            }
            if child {
                let mut note = [0u8; 128];
                let _cleared = rustix::io::read(&self.children, &mut note);
                while let Some((pid, exit)) = self.reaper.ended() {
                    for command in running.iter_mut().filter(|command| command.pid == Some(pid)) {
                        command.exit = Some(exit);
                    }
                }
            }
            if told || self.line.has_more() {
                self.obey(course)?;
            }
        }
    }

    /// Waits until a child has ended, something was said, or a program asks for a name; which of them.
    fn look(&self) -> Result<[bool; 3], Gone> {
        // Without a guard the third is never ready for anything but what the first is.
        let names = self.guard.as_ref().map_or(self.children.as_fd(), Guard::listener);
        let mut watched = [self.children.as_fd(), self.line.as_fd(), names]
            .map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN));
        let most = self.guard.as_ref().and_then(Guard::patience);
        match rustix::event::poll(&mut watched, most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Err(Gone),
        }
        Ok(watched.map(|one| !one.revents().is_empty()))
    }

    fn obey(&mut self, course: &mut Course<'_>) -> Result<(), Gone> {
        let frame = self.line.receive().ok().flatten().ok_or(Gone)?;
        let signal = match frame.read() {
            Ok(Request::<Order>::Terminate) => Signal::TERM,
            Ok(Request::Kill) => Signal::KILL,
            // Only one order at a time is ever sent.
            Ok(Request::Run(_)) | Err(_) => return Err(Gone),
        };
        course.stopped = true;
        self.reaper.signal_all(signal);
        Ok(())
    }
}

/// One command of a pipeline.
struct Running {
    pid: Option<Pid>,
    exit: Option<Exit>,
}

fn is_due(join: Join, last: Exit) -> bool {
    match join {
        Join::First | Join::Then => true,
        Join::IfOk => last == Exit::Code(0),
        Join::IfFailed => last != Exit::Code(0),
    }
}

fn status(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    }
}

/// Step by step and through no link: a later `..` was judged by how the folder is spelled, and behind a link the disk would
/// disagree.
fn open_folder(from: BorrowedFd<'_>, folder: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let start = if folder.starts_with('/') { "/" } else { "." };
    let mut opened = rustix::fs::openat(from, start, flags, Mode::empty())?;
    for part in folder.split('/').filter(|part| !part.is_empty() && *part != ".") {
        opened = rustix::fs::openat(&opened, part, flags, Mode::empty())?;
    }
    Ok(opened)
}

fn enter(folder: &str, course: &mut Course<'_>) -> Exit {
    match open_folder(course.folder.as_fd(), folder) {
        Ok(opened) => {
            course.folder = opened;
            Exit::Code(0)
        }
        Err(errno) => {
            let [_, _, errors] = course.streams;
            tell(errors, folder, errno);
            Exit::Code(1)
        }
    }
}

/// Where the program itself would say it.
fn tell(errors: BorrowedFd<'_>, what: &str, errno: Errno) {
    let _told = rustix::io::write(errors, format!("vambrace: {what}: {}\n", said(errno)).as_bytes());
}

fn broken(command: &Command<ProgramFile>, errno: Errno) -> End {
    let program = match command {
        Command::Enter(folder) => PathBuf::from(folder),
        Command::Run(program) => program.file.path.clone(),
    };
    End::NotStarted { program, errno: errno.raw_os_error() }
}
