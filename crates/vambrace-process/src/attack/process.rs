//! Attacks on other processes, and what this one was given at its birth: environment, descriptors, rights.

use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::{FileType, Mode, OFlags, StatVfsMountFlags, Timespec, Timestamps, XattrFlags};
use rustix::process::Pid;

use super::facts::Facts;
use super::{Outcome, all, failed, words};

/// More than a cage's own processes, whatever built it.
const MOST_PROCESSES: usize = 16;

/// Where the standard library is not asked: what the kernel keeps is what another process could read.
pub(super) fn own_environment(facts: &Facts) -> Outcome {
    let Ok(bytes) = std::fs::read("/proc/self/environ") else {
        return Outcome::Untried("could not be looked at".to_owned());
    };
    // The detail names the variable; its value may be the secret.
    let stranger = names(&bytes).into_iter().find(|name| !facts.variables.contains(name));
    match stranger {
        Some(name) => Outcome::Broken(format!("`{name}`")),
        None => Outcome::Held("only what was given".to_owned()),
    }
}

fn names(environment: &[u8]) -> Vec<String> {
    environment
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| entry.split(|byte| *byte == b'=').next().unwrap_or(entry))
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

pub(super) fn other_environments() -> Outcome {
    let own = std::process::id().to_string();
    let others: Vec<_> = processes().into_iter().filter(|number| *number != own).collect();
    all(others.iter().map(|number| {
        let outcome = match std::fs::read(format!("/proc/{number}/environ")) {
            Ok(bytes) if bytes.is_empty() => Outcome::Held("empty".to_owned()),
            Ok(_) => Outcome::Broken("read".to_owned()),
            Err(error) => Outcome::Held(error.kind().to_string()),
        };
        (number.as_str(), outcome)
    }))
}

fn processes() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

/// A cage counts its own processes from one, so the number may exist here and be somebody else.
pub(super) fn counts_as_the_host(facts: &Facts) -> bool {
    let own = std::fs::read_link("/proc/self/ns/pid").ok();
    own.is_none_or(|own| own.to_str() == Some(facts.pid_namespace.as_str()))
}

pub(super) fn signal_host(facts: &Facts) -> Outcome {
    let Some(pid) = i32::try_from(facts.pid).ok().and_then(Pid::from_raw) else {
        return Outcome::Untried("could not be tried".to_owned());
    };
    match rustix::process::test_kill_process(pid) {
        Ok(()) if !counts_as_the_host(facts) => {
            Outcome::Held("the number is another process here".to_owned())
        }
        result => failed(result),
    }
}

pub(super) fn see_host(facts: &Facts) -> Outcome {
    let own = std::process::id().to_string();
    let seen_as = std::fs::read_link("/proc/self").ok();
    if seen_as.is_none_or(|path| path.to_str() != Some(own.as_str())) {
        return Outcome::Broken("/proc is that of other processes".to_owned());
    }
    let processes = processes();
    if processes.contains(&facts.pid.to_string()) && counts_as_the_host(facts) {
        return Outcome::Broken(format!("{} processes", processes.len()));
    }
    if processes.len() > MOST_PROCESSES {
        return Outcome::Broken(format!("{} processes", processes.len()));
    }
    // Not how many: one of the guard's may just be ending.
    Outcome::Held("a few of its own".to_owned())
}

pub(super) fn descriptors() -> Outcome {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return Outcome::Untried("could not be looked at".to_owned());
    };
    // The whole list first: the descriptor by which it is read is closed when they are looked at.
    let numbers: Vec<_> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let left = numbers
        .iter()
        .filter(|number| !matches!(number.as_str(), "0" | "1" | "2"))
        .find_map(|number| Some((number, std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?)));
    match left {
        Some((number, leads_to)) => Outcome::Broken(format!("{number}: {}", leads_to.display())),
        None => Outcome::Held("only the three standard ones".to_owned()),
    }
}

/// Errors go to the null device that programs get as their input.
pub(super) fn handed_in() -> Outcome {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    all([
        ("input", handed(input.as_fd())),
        ("writing to the input", failed(rustix::io::write(&input, &[]))),
        ("output", handed(output.as_fd())),
        ("errors", handed(errors.as_fd())),
    ])
}

/// Mode and times are set to what they are, so nothing changes whatever happens.
fn handed(stream: BorrowedFd<'_>) -> Outcome {
    const PIPES: u64 = 0x5049_5045;
    let (found, system) = match (rustix::fs::fstat(stream), rustix::fs::fstatfs(stream)) {
        (Ok(found), Ok(system)) => (found, system),
        (Err(errno), _) | (_, Err(errno)) => return Outcome::Untried(words(errno)),
    };
    // Without a name nobody else has it but who reads the other end.
    if FileType::from_raw_mode(found.st_mode).is_fifo() && u64::try_from(system.f_type) == Ok(PIPES) {
        return Outcome::Held("a pipe of its own".to_owned());
    }
    let time = |tv_sec, nanoseconds| Timespec { tv_sec, tv_nsec: i64::try_from(nanoseconds).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(found.st_atime, found.st_atime_nsec),
        last_modification: time(found.st_mtime, found.st_mtime_nsec),
    };
    let note = || {
        rustix::fs::fsetxattr(stream, "user.vambrace-attack", b"x", XattrFlags::CREATE)?;
        rustix::fs::fremovexattr(stream, "user.vambrace-attack")
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    all([
        ("mode", failed(rustix::fs::fchmod(stream, Mode::from_raw_mode(found.st_mode)))),
        ("times", failed(rustix::fs::futimens(stream, &times))),
        ("note", failed(note())),
        ("folder above", failed(rustix::fs::openat(stream, "..", flags, Mode::empty()))),
    ])
}

/// Addresses, keys, what other programs do, and how the machine was started.
const KERNEL_FILES: [&str; 22] = [
    "acpi",
    "bootconfig",
    "cmdline",
    "interrupts",
    "iomem",
    "ioports",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "locks",
    "modules",
    "pagetypeinfo",
    "sched_debug",
    "slabinfo",
    "timer_list",
    "vmallocinfo",
];

pub(super) fn kernel_files() -> Outcome {
    all(KERNEL_FILES.map(|name| {
        let path = format!("/proc/{name}");
        if std::fs::read_dir(&path).is_ok_and(|mut names| names.next().is_some()) {
            return (name, Outcome::Broken("listed".to_owned()));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty()).map(std::fs::File::from);
        let outcome = match opened.map(|mut file| file.read(&mut [0; 64])) {
            Ok(Ok(0)) => Outcome::Held("empty".to_owned()),
            Ok(Ok(_)) => Outcome::Broken("read".to_owned()),
            Ok(Err(error)) => Outcome::Held(error.kind().to_string()),
            Err(errno) => Outcome::Held(words(errno)),
        };
        (name, outcome)
    }))
}

pub(super) fn capabilities() -> Outcome {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return Outcome::Untried("could not be looked at".to_owned());
    };
    all(["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(|name| {
        let outcome = match field(&status, name) {
            Some(value) if value.bytes().all(|byte| byte == b'0') => Outcome::Held("none".to_owned()),
            Some(value) => Outcome::Broken(value.to_owned()),
            None => Outcome::Untried("not reported".to_owned()),
        };
        (name, outcome)
    }))
}

fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

pub(super) fn new_privileges() -> Outcome {
    status_is("NoNewPrivs", "1")
}

pub(super) fn filter() -> Outcome {
    status_is("Seccomp", "2")
}

fn status_is(name: &str, expected: &str) -> Outcome {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    match field(&status, name) {
        Some(value) if value == expected => Outcome::Held(format!("{name} is {value}")),
        Some(value) => Outcome::Broken(format!("{name} is {value}")),
        None => Outcome::Untried("not reported".to_owned()),
    }
}

pub(super) fn set_uid(facts: &Facts) -> Outcome {
    all(["/usr", "/tmp", facts.service.as_str()].map(|folder| {
        let outcome = match rustix::fs::statvfs(folder) {
            Ok(found) if found.f_flag.contains(StatVfsMountFlags::NOSUID) => {
                Outcome::Held("nosuid".to_owned())
            }
            Ok(_) => Outcome::Broken("mounted without nosuid".to_owned()),
            Err(errno) => Outcome::Untried(words(errno)),
        };
        (folder, outcome)
    }))
}

/// A control: programs must start.
pub(super) fn run_program() -> Outcome {
    let started = Command::new("/bin/sh")
        .arg0("sh")
        .args(["-c", "exit 7"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match started {
        Ok(status) if status.code() == Some(7) => Outcome::Held("works".to_owned()),
        Ok(status) => Outcome::Untried(status.to_string()),
        Err(error) => Outcome::Untried(error.kind().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables() {
        assert_eq!(names(b"A=1\0B=x=y\0C\0"), ["A", "B", "C"]);
        assert_eq!(names(b""), Vec::<String>::new());
    }

    #[test]
    fn fields_of_the_status() {
        let status = "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n";
        assert_eq!(field(status, "Seccomp"), Some("2"));
        assert_eq!(field(status, "NoNewPrivs"), Some("1"));
        assert_eq!(field(status, "Cap"), None);
    }
}
