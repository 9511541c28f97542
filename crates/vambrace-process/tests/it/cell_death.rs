//! Whoever is killed, nothing goes on running.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

pub(crate) struct Held {
    front: Child,
    pub(crate) launcher: OwnedFd,
    pub(crate) cell: OwnedFd,
    pub(crate) program: OwnedFd,
    _folder: Option<tempfile::TempDir>,
}

/// A front that runs a script.
pub(crate) fn hold(how: &str, folder: &Path, script: &str) -> Held {
    let mut front = Command::new(crate::front())
        .args([how, folder.to_str().unwrap(), "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(front.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let [launcher, cell] = pids[..] else { panic!("{line}") };
    let program = first_child(cell);
    Held { front, launcher: open(launcher), cell: open(cell), program: open(program), _folder: None }
}

pub(crate) fn open(pid: u32) -> OwnedFd {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

#[track_caller]
pub(crate) fn assert_ends(process: &OwnedFd) {
    let mut watched = [PollFd::new(process, PollFlags::IN)];
    let most = Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut watched, Some(&most)), Ok(1), "still running");
}

impl Held {
    /// A front that runs a program which ignores everything but SIGKILL.
    fn new() -> Held {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM HUP INT PIPE; while :; do sleep 1000; done";
        let held = hold("hold", folder.path(), script);
        Held { _folder: Some(folder), ..held }
    }

    pub(crate) fn kill(mut self) {
        self.front.kill().unwrap();
        self.front.wait().unwrap();
    }
}

/// The program appears a moment after its cell.
fn first_child(cell: u32) -> u32 {
    let began = Instant::now();
    loop {
        let children = std::fs::read_to_string(format!("/proc/{cell}/task/{cell}/children")).unwrap();
        if let Some(pid) = children.split_whitespace().next() {
            return pid.parse().unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no program was started");
        std::thread::yield_now();
    }
}

#[test]
fn killing_the_front_ends_all() {
    let mut held = Held::new();
    held.front.kill().unwrap();
    held.front.wait().unwrap();
    for process in [&held.launcher, &held.cell, &held.program] {
        assert_ends(process);
    }
}

#[test]
fn killing_the_launcher_ends_its_cells() {
    let mut held = Held::new();
    rustix::process::pidfd_send_signal(&held.launcher, Signal::KILL).unwrap();
    for process in [&held.launcher, &held.cell, &held.program] {
        assert_ends(process);
    }
    assert_eq!(held.front.wait().unwrap().code(), Some(125));
}

#[test]
fn killing_a_cell_ends_its_programs() {
    let mut held = Held::new();
    rustix::process::pidfd_send_signal(&held.cell, Signal::KILL).unwrap();
    assert_ends(&held.program);
    assert_eq!(held.front.wait().unwrap().code(), Some(125));
}

#[test]
fn a_dropped_cell_is_gone() {
    let place = crate::Setting::new();
    let cell = open(place.cell.pid().unwrap());
    drop(place);
    assert_ends(&cell);
}
