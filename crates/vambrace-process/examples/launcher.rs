//! A small front for cells, for the tests of this crate and for measuring: it is its own launcher, as the product is.
//!
//! ```text
//! launcher run FOLDER PROGRAM WORDS…    runs one program in a fresh cell, with FOLDER as /work
//! launcher hold FOLDER PROGRAM WORDS…   the same, after telling the processes' numbers; for tests that kill it
//! launcher proxied FOLDER PROGRAM …     runs one program with a way out, where everything is answered with one word
//! launcher hold-proxied FOLDER …        both
//! launcher without CALL run FOLDER …    the same under a filter that refuses one call, as containers have them
//! launcher measure FOLDER N PAUSE       medians of plain, fresh and warm starts of /usr/bin/true, PAUSE ms apart
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::net::SocketFlags;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use vambrace_process::cell::{Captured, Cell, Exit, Input, Launcher, Order, Output, Stdio};

#[path = "../tests/it/setting.rs"]
#[expect(unreachable_pub, reason = "shared with the tests, which use all of it")]
mod setting;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Telling,
    Proxied,
    ProxiedTelling,
    AtTheTop,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    if let Some(code) = vambrace_process::launch_if_asked() {
        return code;
    }
    if std::env::args().nth(1).as_deref() == Some("__attack") {
        return vambrace_process::attack_as_told();
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["without", call, "run", folder, program @ ..] => {
            refuse(call).and_then(|()| run(Path::new(folder), program, Mode::AtTheTop))
        }
        ["run", folder, program @ ..] => run(Path::new(folder), program, Mode::Plain),
        ["hold", folder, program @ ..] => run(Path::new(folder), program, Mode::Telling),
        ["proxied", folder, program @ ..] => run(Path::new(folder), program, Mode::Proxied),
        ["hold-proxied", folder, program @ ..] => run(Path::new(folder), program, Mode::ProxiedTelling),
        ["measure", folder, n_times, pause] => measure(
            Path::new(folder),
            n_times.parse().unwrap_or(200),
            Duration::from_millis(pause.parse().unwrap_or(0)),
        ),
        _ => Err("run, hold or measure".into()),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            let _told = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(125)
        }
    }
}

fn run(folder: &Path, words: &[&str], mode: Mode) -> Result<ExitCode, Failure> {
    let launcher = Launcher::start(Path::new("/proc/self/exe"))?;
    let mut spec = setting::spec(folder);
    spec.way_out = matches!(mode, Mode::Proxied | Mode::ProxiedTelling);
    let mut cell = launcher.cell(&spec)?;
    if let Some(listener) = cell.take_way_out() {
        std::thread::spawn(move || while answer(&listener).is_ok() {});
    }
    let mut out = std::io::stdout();
    if matches!(mode, Mode::Telling | Mode::ProxiedTelling) {
        writeln!(out, "{} {}", launcher.pid(), cell.pid().unwrap_or(0))?;
    }
    let mut order = setting::one(words);
    if mode == Mode::AtTheTop {
        // Without a private root the usual folder may not exist.
        order.folder = "/".into();
    }
    let captured = start(&mut cell, &order)?;
    out.write_all(&captured.stdout)?;
    std::io::stderr().write_all(&captured.stderr)?;
    writeln!(std::io::stderr(), "missing: {}", cell.layers().describe_missing())?;
    Ok(match captured.exit {
        Exit::Code(code) => ExitCode::from(u8::try_from(code).unwrap_or(255)),
        Exit::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(255)),
    })
}

/// Takes one connection and answers whatever it asks.
fn answer(listener: &OwnedFd) -> Result<(), rustix::io::Errno> {
    let mut caller = File::from(rustix::net::accept_with(listener, SocketFlags::CLOEXEC)?);
    let mut request = [0u8; 4096];
    let word = "from the front";
    // Whoever has gone gets no answer.
    let _ = caller.read(&mut request);
    let _ = write!(
        caller,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{word}",
        word.len()
    );
    Ok(())
}

/// As the profile of a container does it.
fn refuse(call: &str) -> Result<(), Failure> {
    let namespace = |flag: i32| -> Result<Vec<SeccompRule>, Failure> {
        let (flag, word) = (u64::try_from(flag)?, SeccompCmpArgLen::Qword);
        let condition = SeccompCondition::new(0, word, SeccompCmpOp::MaskedEq(flag), flag)?;
        Ok(vec![SeccompRule::new(vec![condition])?])
    };
    let refused = match call {
        "clone3" => vec![(libc::SYS_clone3, Vec::new())],
        "unshare" => vec![(libc::SYS_unshare, Vec::new())],
        "landlock" => vec![(libc::SYS_landlock_create_ruleset, Vec::new())],
        "user" => vec![
            (libc::SYS_clone3, Vec::new()),
            (libc::SYS_unshare, namespace(libc::CLONE_NEWUSER)?),
            (libc::SYS_clone, namespace(libc::CLONE_NEWUSER)?),
        ],
        other => return Err(format!("`{other}` is not known here").into()),
    };
    // A call that cannot be looked into is unknown; others are not permitted.
    for (errno, unknown) in [(libc::ENOSYS, true), (libc::EPERM, false)] {
        let rules: BTreeMap<_, _> =
            refused.iter().filter(|(call, _)| (*call == libc::SYS_clone3) == unknown).cloned().collect();
        if rules.is_empty() {
            continue;
        }
        let action = SeccompAction::Errno(u32::try_from(errno)?);
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, action, std::env::consts::ARCH.try_into()?)?;
        seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?;
    }
    Ok(())
}

fn start(cell: &mut Cell, order: &Order) -> Result<Captured, Failure> {
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    Ok(cell.run(order, stdio, &setting::watch())?)
}

fn measure(folder: &Path, n_times: usize, pause: Duration) -> Result<ExitCode, Failure> {
    let launcher = Launcher::start(Path::new("/proc/self/exe"))?;
    let spec = setting::spec(folder);
    let mut warm = launcher.cell(&spec)?;
    let order = setting::one(&["/usr/bin/true"]);
    let [mut plain, mut fresh, mut made, mut reused] = [(); 4].map(|()| Vec::new());
    for _ in 0..n_times {
        // The launcher prepares when it is not asked for anything, as between two calls of an agent.
        std::thread::park_timeout(pause);
        let began = Instant::now();
        // With captured pipes, as the others have them.
        Command::new("/usr/bin/true").env_clear().output()?;
        plain.push(began.elapsed());
        let began = Instant::now();
        let mut cell = launcher.cell(&spec)?;
        made.push(began.elapsed());
        start(&mut cell, &order)?;
        fresh.push(began.elapsed());
        drop(cell);
        let began = Instant::now();
        start(&mut warm, &order)?;
        reused.push(began.elapsed());
    }
    let plain = median(&mut plain);
    let mut out = std::io::stdout();
    for (name, times) in [("fresh", &mut fresh), ("of that building", &mut made), ("warm", &mut reused)] {
        let time = median(times);
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        writeln!(out, "{name}: {time:?}, {ratio:.2} x plain ({plain:?})")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
