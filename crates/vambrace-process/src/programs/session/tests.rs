//! Sessions with real programs in real cages.

use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{UrlPolicy, UrlSettings};
use vambrace_policy::{
    Decision, Facts, GitRules, OnWrite, PermissionList, Policy, PolicySettings, RequestRules, RunLine,
    Standing, ToolMode,
};
use vambrace_types::{Caller, Door, Role, ScopedPath, ToolName};

use super::*;
use crate::programs::tests::{World, stand, world};
use crate::{AbsentNames, Backend};

const SOON: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(30);
const LARGEST: usize = 1000;

fn proved(backend: Backend) -> World {
    let world = world(backend, AbsentNames::Refuse);
    world.programs.prove(None, &|_| {}).unwrap();
    world
}

fn job(program: &str, arguments: &[&str]) -> Job {
    let top = ScopedPath::from_components(Vec::new()).unwrap();
    Job::program(program, arguments.iter().map(|&word| word.to_owned()).collect(), top)
}

const ALONE: SessionContext<'static> = SessionContext { caller: "somebody", n_at_once: None, network: None };

fn open_job(world: &World, job: &Job) -> Result<Session, ProgramError> {
    let seats = (seat(&world.programs.n_cages, MOST_CAGES)?, None);
    world.programs.open_caged(job, &ALONE, seats)
}

#[track_caller]
fn open(world: &World, script: &str) -> Session {
    open_job(world, &job("sh", &["-c", script])).unwrap()
}

#[track_caller]
fn line(session: &Session) -> Option<String> {
    session.read_line(LARGEST, LONG).unwrap().map(|line| String::from_utf8(line).unwrap())
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::yield_now();
    }
}

/// How many processes of this machine have this word in their command line.
fn n_alive(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap();
    let lines = entries.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

#[test]
fn a_program_answers_until_its_input_ends() {
    for backend in [Backend::Native, Backend::Bubblewrap] {
        let world = proved(backend);
        let session = open_job(&world, &job("cat", &[])).unwrap();
        assert_eq!(session.enforcement(), Enforcement::Full);
        for text in ["one", "two", ""] {
            session.write(format!("{text}\n").as_bytes(), LONG).unwrap();
            assert_eq!(line(&session).as_deref(), Some(text));
        }
        assert_eq!(session.read(&mut [0; 9], SOON), Err(SessionError::TimedOut { n_written: 0 }));
        session.write(b"bytes", LONG).unwrap();
        session.close_input();
        let mut bytes = [0; 9];
        assert_eq!((session.read(&mut bytes, LONG), &bytes[..5]), (Ok(5), &b"bytes"[..]));
        assert_eq!(line(&session), None);
        assert_eq!(session.write(b"x", SOON), Err(SessionError::Ended));
        assert!(session.has_ended(LONG));
        let end = session.end();
        assert_eq!((end.outcome, end.stopped, end.timed_out), (Ok(Exit::Code(0)), false, false));
        assert_eq!((end.enforcement, end.warnings, end.planted), (Enforcement::Full, vec![], vec![]));
    }
}

/// More than both pipes hold goes through while one thread writes and another reads.
#[test]
fn what_is_written_waits_for_the_reader() {
    let world = proved(Backend::Native);
    let session = open_job(&world, &job("cat", &[])).unwrap();
    let text: Vec<u8> = (0..2_000_000u32).map(|n| (n % 251) as u8).collect();
    let mut back = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            session.write(&text, LONG).unwrap();
            session.close_input();
        });
        let mut chunk = [0; 5000];
        while let n_read @ 1.. = session.read(&mut chunk, LONG).unwrap() {
            back.extend_from_slice(&chunk[..n_read]);
        }
    });
    assert!(back == text, "{} of {} bytes came back", back.len(), text.len());
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let world = proved(Backend::Native);
    let session = open(&world, "head -c 300000 /dev/zero | tr '\\0' x; echo; echo next; cat");
    assert_eq!(session.read_line(LARGEST, LONG), Err(SessionError::LineTooLong { largest: LARGEST }));
    assert_eq!(line(&session).as_deref(), Some("next"));
    session.write(b"still there\n", LONG).unwrap();
    assert_eq!(line(&session).as_deref(), Some("still there"));
}

#[test]
fn a_program_that_never_reads_holds_nobody() {
    let world = proved(Backend::Native);
    let session = open(&world, "exec sleep 100");
    let written = session.write(&vec![b'x'; 1 << 20], SOON);
    assert!(matches!(written, Err(SessionError::TimedOut { n_written: 4096.. })), "{written:?}");
    let end = session.end();
    assert!(end.stopped && end.outcome.is_ok_and(|exit| exit.code() != 0));
}

#[test]
fn one_that_never_ends_is_killed() {
    let world = proved(Backend::Native);
    let session = open(&world, "trap '' TERM; echo ready; while :; do :; done");
    assert_eq!(line(&session).as_deref(), Some("ready"));
    assert!(!session.has_ended(SOON));
    session.stop();
    assert!(session.has_ended(LONG));
    let end = session.end();
    assert_eq!((end.outcome, end.stopped), (Ok(Exit::Signal(9)), true));
}

#[test]
fn its_time_is_the_jobs() {
    let world = proved(Backend::Native);
    let mut limited = job("sleep", &["100"]);
    limited.time = Some(Duration::from_millis(200));
    let session = open_job(&world, &limited).unwrap();
    assert!(session.has_ended(LONG));
    let end = session.end();
    assert!(end.timed_out && !end.stopped, "{end:?}");
}

#[test]
fn one_that_dies_at_once_says_so() {
    let world = proved(Backend::Native);
    let session = open(&world, "echo why >&2; exit 3");
    assert_eq!(line(&session), None);
    assert!(session.has_ended(LONG));
    assert_eq!(session.write(b"x", LONG), Err(SessionError::Ended));
    assert_eq!(session.errors().bytes(), b"why\n");
    let end = session.end();
    assert_eq!((end.outcome, end.stopped), (Ok(Exit::Code(3)), false));
    let absent = open_job(&world, &job("no-such-program", &[]));
    assert!(matches!(absent, Err(ProgramError::NotInstalled { .. })), "{absent:?}");
}

#[test]
fn it_is_stopped_while_it_writes() {
    let world = proved(Backend::Native);
    let session = open(&world, "yes output; echo unreached");
    assert_eq!(line(&session).as_deref(), Some("output"));
    let end = session.end();
    assert!(end.stopped && end.outcome.is_ok(), "{end:?}");
    let session = open(&world, "yes errors >&2");
    // They are taken although nobody asks for them.
    until("more errors came than are kept", || session.errors().n_dropped > 0);
    assert!(!session.has_ended(Duration::ZERO));
}

#[test]
fn a_dropped_session_leaves_no_process() {
    for backend in [Backend::Native, Backend::Bubblewrap] {
        let world = proved(backend);
        let name = format!("{}.{:?}", std::process::id(), std::thread::current().id());
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let word = format!("1000.{}{digits}", backend.as_str().len());
        let session = open(
            &world,
            &format!("trap '' TERM; setsid sleep {word} & echo one; sleep {word} & echo two; wait"),
        );
        assert_eq!((line(&session).as_deref(), line(&session).as_deref()), (Some("one"), Some("two")));
        until("both sleep", || n_alive(&word) == 2);
        drop(session);
        assert_eq!(n_alive(&word), 0, "{backend:?}");
    }
}

#[test]
fn it_is_confined_like_a_run() {
    let world = proved(Backend::Native);
    let script = "cat /etc/shadow; (echo x > .envrc); (echo x > /usr/x); curl -sS --max-time 5 http://192.0.2.1/; \
                  env | grep -c SECRET; echo x > made; echo done";
    let session = open(&world, script);
    assert_eq!((line(&session).as_deref(), line(&session).as_deref()), (Some("0"), Some("done")));
    assert!(session.has_ended(LONG));
    let errors = String::from_utf8(session.errors().bytes()).unwrap();
    for said in ["/etc/shadow: No such file", ".envrc: Read-only", "/usr/x: Read-only", "curl: ("] {
        assert!(errors.contains(said), "{said}: {errors}");
    }
    let end = session.end();
    assert_eq!(end.planted, ["`.envrc` is protected; a program tried to make it and was refused"]);
    assert!(world.programs.service().join("made").exists());
}

#[test]
fn it_has_the_way_out_of_its_job() {
    let world = proved(Backend::Native);
    let (stand, asked) = stand("200 OK");
    let seats = (seat(&world.programs.n_cages, MOST_CAGES).unwrap(), None);
    let context = SessionContext { network: Some(&stand), ..ALONE };
    let fetch = job("curl", &["-sS", "--max-time", "20", "http://listed.test/"]);
    let session = world.programs.open_caged(&fetch, &context, seats).unwrap();
    assert_eq!(line(&session).as_deref(), Some("serve"));
    assert!(session.has_ended(LONG));
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), ["GET http://listed.test/ HTTP/1.1"]);
}

#[test]
fn several_live_at_once_and_no_more_than_may() {
    let world = proved(Backend::Native);
    let policy = Policy::new(
        PolicySettings {
            scope: (*world.programs.settings.scope).clone(),
            mode: ToolMode::ALL,
            rules: Vec::new(),
            on_write: OnWrite::REFUSE,
            command: CommandPolicy::default(),
            git: GitRules::default(),
            url: UrlPolicy::new(UrlSettings::default()),
            requests: RequestRules::default(),
            grants: Vec::new(),
            allowed_commands: Vec::new(),
            permissions: PermissionList::default(),
        },
        world.programs.epoch,
    );
    let open = || {
        let plan = CommandPolicy::default().read("cat").unwrap();
        let folder = ScopedPath::from_components(Vec::new()).unwrap();
        let action = RunLine { text: "cat".to_owned(), plan, folder, time: LONG, purpose: String::new() };
        let caller = Caller::local(Role::Dev, Door::CommandLine);
        let tool = ToolName::of("exec_shell");
        match policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => {
                world.programs.open(permit, &SessionContext { n_at_once: Some(2), ..ALONE })
            }
            Decision::Deny(_) | Decision::Ask(_) => panic!("`cat` is on the list"),
        }
    };
    let (one, other) = (open().unwrap(), open().unwrap());
    assert_eq!(open().map(drop), Err(ProgramError::TooMany { n_most: 2 }));
    for text in ["a", "b"] {
        one.write(format!("one {text}\n").as_bytes(), LONG).unwrap();
        other.write(format!("other {text}\n").as_bytes(), LONG).unwrap();
        assert_eq!(line(&other), Some(format!("other {text}")));
        assert_eq!(line(&one), Some(format!("one {text}")));
    }
    drop(one);
    other.write(b"still\n", LONG).unwrap();
    assert_eq!(line(&other).as_deref(), Some("still"));
    drop(open().unwrap());
}
