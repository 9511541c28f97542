//! Attacks on other processes, and what this one was given at its birth: environment, descriptors, rights.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::StatVfsMountFlags;
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
