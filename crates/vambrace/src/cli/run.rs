//! `run`: one program that a person typed, in the cage and on record. Its output is cleaned of secrets as it passes, unless
//! a terminal asks for it raw.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use serde_json::json;
use vambrace_policy::url::AllowEntry;
use vambrace_process::cell::Room;
use vambrace_process::{Live, OutputStream, Outputs};
use vambrace_redact::Redactor;
use vambrace_runtime::{Corridor, Incoming, Leash, Purpose, Reply};
use vambrace_types::{Chain, Door, ErrorCode, Tree};

use super::Exit;
use super::options::{Global, RunArgs};
use super::start::{clock, fell_over, runtime, session, tell_denial, until_told, usage};
use crate::terminal;

pub(crate) fn run(global: &Global, args: RunArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: RunArgs) -> Result<Exit, Exit> {
    for host in &args.net {
        AllowEntry::for_programs(host).map_err(|error| usage(&format!("--net {host}: {}", error.why)))?;
    }
    let raw = args.raw && std::io::stdout().is_terminal();
    let mut words = args.command.into_iter();
    let Some(program) = words.next() else { return Err(usage("name a program after `--`")) };
    let here = std::env::current_dir().map_err(|error| usage(&format!("the current folder: {error}")))?;
    let absolute = |folder: &std::path::PathBuf| here.join(folder).to_string_lossy().into_owned();
    let arguments = json!({
        "program": program,
        "arguments": words.collect::<Vec<_>>(),
        "timeout": args.timeout,
        "net": args.net,
        "write": args.write.iter().map(absolute).collect::<Vec<_>>(),
    });
    let session = session(global, Door::Terminal)?;
    let live = Arc::new(Passing::start(Arc::clone(&session.corridor), raw));
    let incoming = Incoming {
        caller: session.caller.clone(),
        session: session.session.clone(),
        tool: "run".to_owned(),
        arguments,
        dry_run: global.dry_run,
        purpose: Purpose::Call,
        leash: Leash::default(),
        progress: None,
        live: Some(Arc::clone(&live) as Arc<dyn Live>),
        approver: None,
        chain: Chain::default(),
    };
    let reply = runtime()?.block_on(until_told(&session.corridor, incoming)).ok_or_else(fell_over)?;
    live.finish();
    session.corridor.look_again();
    tell_denial(global, &reply);
    if global.dry_run && reply.error().is_none() {
        terminal::complain(
            "dry run: nothing was started; without `--dry-run` the program runs in the sandbox",
        );
    }
    let exit = exit_of(&reply);
    let Some(lost) = live.way.lost.get() else { return Ok(exit) };
    terminal::fail(&format!("the program's output could not be written: {}", std::io::Error::from(*lost)));
    Ok(if matches!(exit, Exit::Done | Exit::Program(0)) { Exit::Failed } else { exit })
}

/// The program's own code, or why there is none.
fn exit_of(reply: &Reply) -> Exit {
    for warning in &reply.metadata().warnings {
        terminal::warn(warning);
    }
    if let Some(error) = reply.error() {
        terminal::fail(error.message.as_str());
        if !error.suggestion.is_empty() {
            terminal::complain(error.suggestion.as_str());
        }
        return match error.code {
            ErrorCode::IsolationTooWeak | ErrorCode::PostureBroken => Exit::NoCage,
            ErrorCode::NotInstalled => Exit::Program(127),
            ErrorCode::CommandFailed => Exit::Program(126),
            // As a shell tells it for an interrupt.
            ErrorCode::Cancelled => Exit::Program(130),
            _ => Exit::of(reply),
        };
    }
    let data = reply.data().as_tree();
    if data.get("timed_out") == Some(&Tree::Bool(true)) {
        terminal::fail("the time limit was reached, and the program was stopped");
        return Exit::TimedOut;
    }
    let code = data.get("exit_code").and_then(Tree::as_int).unwrap_or(0);
    Exit::Program(u8::try_from(code).unwrap_or(1))
}

type Chunk = (OutputStream, Vec<u8>);

/// LIMIT: bytes of output that wait for a slow reader; until he has taken some, the program waits too.
const MOST_WAITING: usize = 4 << 20;
/// What a piece takes beside its bytes.
const PIECE: usize = 64;

/// Output on its way to the person, handed to a thread that cleans and prints it.
struct Passing {
    outputs: Outputs,
    chunks: Mutex<Option<Sender<Chunk>>>,
    printing: Mutex<Option<JoinHandle<()>>>,
    way: Arc<Way>,
}

/// What the two threads know of each other.
#[derive(Default)]
struct Way {
    n_waiting: AtomicUsize,
    /// The reader of this stream closed its end.
    out_gone: AtomicBool,
    err_gone: AtomicBool,
    /// Why output could not be written, a full disk for instance.
    lost: OnceLock<Errno>,
}

impl Way {
    fn gone(&self, stream: OutputStream) -> &AtomicBool {
        match stream {
            OutputStream::Out => &self.out_gone,
            OutputStream::Err => &self.err_gone,
        }
    }
}

impl Passing {
    fn start(corridor: Arc<Corridor>, raw: bool) -> Passing {
        let (chunks, arriving) = channel();
        let way = Arc::new(Way::default());
        let printed = Arc::clone(&way);
        let printing = std::thread::spawn(move || {
            let redactor = corridor.redactor_for_call(clock().now());
            print(&redactor, raw, &arriving, &printed);
        });
        let outputs = match (raw, end_in_one_place()) {
            (true, _) => Outputs::Terminal { with_errors: std::io::stderr().is_terminal() },
            (false, true) => Outputs::Together,
            (false, false) => Outputs::Apart,
        };
        Passing { outputs, chunks: Mutex::new(Some(chunks)), printing: Mutex::new(Some(printing)), way }
    }

    /// Prints what is left.
    fn finish(&self) {
        drop(self.chunks.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(printing) = self.printing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = printing.join();
        }
    }
}

/// Two streams that are cleaned apart would come in another order than the program wrote them, in the middle of lines.
fn end_in_one_place() -> bool {
    let found = |stream: &dyn AsFd| rustix::fs::fstat(stream.as_fd()).map(|it| (it.st_dev, it.st_ino));
    let (out, err) = (found(&std::io::stdout()), found(&std::io::stderr()));
    out.is_ok() && out == err
}

impl Live for Passing {
    fn output(&self, stream: OutputStream, bytes: &[u8]) {
        if let Some(chunks) = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            self.way.n_waiting.fetch_add(bytes.len() + PIECE, Ordering::Relaxed);
            let _ = chunks.send((stream, bytes.to_vec()));
        }
    }

    fn room(&self, stream: OutputStream) -> Room {
        if self.way.gone(stream).load(Ordering::Relaxed) {
            return Room::Gone;
        }
        match self.way.n_waiting.load(Ordering::Relaxed) < MOST_WAITING {
            true => Room::Free,
            false => Room::Full,
        }
    }

    fn outputs(&self) -> Outputs {
        self.outputs
    }
}

/// How long a part of a line waits on a terminal for the rest of it.
const PAUSE: Duration = Duration::from_millis(100);

/// What may be the beginning of a secret waits for what follows; on a terminal only a moment, because somebody may be
/// waiting for a prompt.
///
/// LIMIT: on a terminal, a secret that a program prints in two parts with a pause between them is not recognized.
fn print(redactor: &Redactor, raw: bool, arriving: &Receiver<Chunk>, way: &Way) {
    let (mut out, mut err) = (redactor.stream(), redactor.stream());
    let patience = if std::io::stdout().is_terminal() { PAUSE } else { Duration::MAX };
    let mut clean = Vec::new();
    loop {
        match arriving.recv_timeout(patience) {
            Ok((stream, bytes)) => {
                let size = bytes.len() + PIECE;
                match stream {
                    OutputStream::Out if raw => clean.extend_from_slice(&bytes),
                    OutputStream::Out => out.push(&bytes, &mut clean),
                    OutputStream::Err => err.push(&bytes, &mut clean),
                }
                write(stream, &mut clean, way);
                way.n_waiting.fetch_sub(size, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {
                std::mem::replace(&mut out, redactor.stream()).finish(&mut clean);
                write(OutputStream::Out, &mut clean, way);
                std::mem::replace(&mut err, redactor.stream()).finish(&mut clean);
                write(OutputStream::Err, &mut clean, way);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    out.finish(&mut clean);
    write(OutputStream::Out, &mut clean, way);
    err.finish(&mut clean);
    write(OutputStream::Err, &mut clean, way);
}

/// A reader that closed its end has seen enough; the program is told as by a pipe of its own. So it
/// is where nothing can be written any more, and then the person is told too.
fn write(stream: OutputStream, clean: &mut Vec<u8>, way: &Way) {
    let written = match stream {
        OutputStream::Out => write_all(std::io::stdout(), clean),
        OutputStream::Err => write_all(std::io::stderr(), clean),
    };
    if let Err(errno) = written {
        way.gone(stream).store(true, Ordering::Relaxed);
        if errno != Errno::PIPE {
            let _first = way.lost.set(errno);
        }
    }
    clean.clear();
}

/// By the descriptor itself: after an error nobody would know how much of a buffer was written.
fn write_all(to: impl AsFd, mut rest: &[u8]) -> Result<(), Errno> {
    while !rest.is_empty() {
        match rustix::io::write(&to, rest) {
            Ok(n_written) => rest = rest.get(n_written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => match rustix::event::poll(&mut [PollFd::new(&to, PollFlags::OUT)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            },
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
