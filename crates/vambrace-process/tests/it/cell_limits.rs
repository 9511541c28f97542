//! Limits of time, bytes, memory and processes.

use std::cell::Cell as Flag;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use vambrace_process::Layer;
use vambrace_process::cell::{CageError, Cell, Exit, Input, Output, Stdio, Watch};

use crate::setting::{MEBIBYTE, one, spec, watch};
use crate::{Setting, launcher, text};

fn children(place: &Setting) -> String {
    let pid = place.cell.pid().unwrap();
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap()
}

/// One that ends when asked, one that does not, and one that left its parents.
const STUBBORN: &str =
    "echo begun; (trap '' TERM; while :; do sleep 1; done) & setsid sleep 1000 & exec sleep 1000";

#[test]
fn time_runs_out_and_what_was_said_is_kept() {
    let mut place = Setting::new();
    let watch = Watch { time_limit: Duration::from_secs(2), grace: Duration::from_secs(2), ..watch() };
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let captured = place.cell.run(&one(&["sh", "-c", STUBBORN]), stdio, &watch).unwrap();
    assert!(captured.timed_out && !captured.cancelled && !captured.cut);
    assert_eq!((captured.exit, text(&captured.stdout).as_str()), (Exit::Signal(15), "begun\n"));
    assert!(!place.cell.is_reusable());
    assert_eq!(children(&place), "");
}

#[test]
fn a_caller_that_goes_away_takes_its_programs_along() {
    let mut place = Setting::new();
    let begun = Flag::new(false);
    let mut sink = |_, _: &[u8]| begun.set(true);
    let cancelled = || begun.get();
    let watch = Watch { cancelled: &cancelled, ..watch() };
    let stdio = Stdio { input: Input::Null, output: Output::Stream(&mut sink) };
    let captured = place.cell.run(&one(&["sh", "-c", STUBBORN]), stdio, &watch).unwrap();
    assert!(captured.cancelled && !captured.timed_out);
    assert_eq!(children(&place), "");
}

#[test]
fn output_is_read_whole_or_cut() {
    let mut place = Setting::new();
    let captured = place.shell("head -c 3000000 /dev/zero; head -c 200000 /dev/zero >&2");
    assert_eq!((captured.stdout.len(), captured.stderr.len(), captured.cut), (3_000_000, 200_000, false));
    for (bytes, cut) in [(MEBIBYTE, false), (MEBIBYTE + 1, true), (u64::MAX / 4, true)] {
        let watch = Watch { output_bytes: MEBIBYTE, ..watch() };
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        let mut place = Setting::new();
        let order = one(&["head", "-c", &bytes.to_string(), "/dev/zero"]);
        let captured = place.cell.run(&order, stdio, &watch).unwrap();
        assert_eq!((captured.stdout.len() as u64, captured.cut), (MEBIBYTE, cut), "{bytes}");
    }
}

#[test]
fn memory_files_and_private_memory_are_bounded() {
    let refused = |script: &str, words: &str| {
        let captured = Setting::new().shell(script);
        let said = text(&captured.stderr);
        assert!(
            captured.exit != Exit::Code(0) && said.contains(words),
            "{script}: {:?} {said}",
            captured.exit
        );
    };
    refused("dd if=/dev/zero of=/dev/null bs=2G count=1", "exhausted");
    refused("head -c 100M /dev/zero > /tmp/x", "No space left");
    refused("head -c 100M /dev/zero > /dev/shm/x", "No space left");
    // Ended by SIGXFSZ, which its shell reports.
    let captured = Setting::new().shell("truncate -s 1G /work/x");
    assert_ne!(captured.exit, Exit::Code(0));
}

/// The last number that was reached by starting sleepers, at most 300.
const FORKS: &str = "i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i+1)); echo $i; done";

#[test]
fn programs_are_killed_before_what_watches_them() {
    let mut place = Setting::new();
    let score = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    let own = score(std::process::id());
    let look = "cat /proc/self/oom_score_adj; sh -c 'cat /proc/self/oom_score_adj'";
    assert_eq!(text(&place.shell(look).stdout), "1000\n1000\n");
    // The runner has the programs' score only while it starts one.
    assert_eq!(score(place.cell.pid().unwrap()), own);
    let captured = place.shell("echo 0 > /proc/self/oom_score_adj");
    assert_ne!(captured.exit, Exit::Code(0));
}

/// One process that takes too much alone, and one that is the largest of several which are too much together: it
/// holds its share before the others begin, so that it is the one the kernel takes, whoever is quick.
const EATERS: [&str; 2] = [
    "exec python3 -c 'x = bytearray(500 << 20); print(len(x))'",
    "exec python3 -c 'import subprocess, sys\nx = bytearray(40 << 20)\n\
     held = [subprocess.Popen([sys.executable, \"-c\", \"x = bytearray(15 << 20); input()\"], \
     stdin=subprocess.PIPE) for _ in range(8)]\nheld[0].wait()'",
];

/// A group of version 1 that counts memory, beneath our own, if this machine and user have one.
fn memory_group(bytes: u64) -> Option<Group> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let place =
        own.lines().find_map(|line| line.split_once(":memory:/").map(|(_, place)| place.to_owned()))?;
    let folder = Path::new("/sys/fs/cgroup/memory")
        .join(place)
        .join(format!("vambrace-test-memory-{}", std::process::id()));
    std::fs::create_dir(&folder).ok()?;
    let group = Group(folder);
    std::fs::write(group.0.join("memory.limit_in_bytes"), bytes.to_string()).ok()?;
    Some(group)
}

#[test]
fn a_program_that_takes_all_memory_is_killed_and_its_cell_tells() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path());
    // Where groups cannot be made the limit of a single process is what holds, and the first of these fails by it.
    let group = memory_group(64 * MEBIBYTE);
    spec.groups = group.iter().map(|group| group.0.join("tasks")).collect();
    if group.is_none() {
        spec.limits.memory_bytes = 64 * MEBIBYTE;
    }
    for eater in EATERS.iter().take(if group.is_some() { 2 } else { 1 }) {
        let mut cell = launcher().cell(&spec).unwrap();
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        let captured = cell.run(&one(&["sh", "-c", eater]), stdio, &watch()).unwrap();
        let expected = if group.is_some() { Exit::Signal(9) } else { Exit::Code(1) };
        assert_eq!(captured.exit, expected, "{eater}: {}", text(&captured.stderr));
        assert!(!captured.timed_out, "{eater}");
        assert_eq!(text(&captured.stdout), "", "{eater}");
        // The same cell goes on.
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        assert_eq!(cell.run(&one(&["true"]), stdio, &watch()).unwrap().exit, Exit::Code(0), "{eater}");
        let process = crate::cell_death::open(cell.pid().unwrap());
        drop(cell);
        crate::cell_death::assert_ends(&process);
    }
}

struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        let _removed = std::fs::remove_dir(&self.0);
    }
}

/// A group of version 1 that counts processes, if this machine and user have one.
fn process_group(name: &str, most: u32) -> Option<Group> {
    let folder =
        Path::new("/sys/fs/cgroup/pids").join(format!("vambrace-test-{name}-{}", std::process::id()));
    std::fs::create_dir(&folder).ok()?;
    let group = Group(folder);
    std::fs::write(group.0.join("pids.max"), most.to_string()).ok()?;
    Some(group)
}

#[test]
fn processes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(folder.path());
    let group = process_group("counted", 50);
    spec.groups = group.iter().map(|group| group.0.join("tasks")).collect();
    let mut cell = launcher().cell(&spec).unwrap();
    let is_missing = cell.layers().missing.iter().any(|missing| missing.layer == Layer::ProcessLimit);
    if is_missing {
        // Without any limit that holds for this user nothing is tried, and the cell says so.
        assert!(group.is_none(), "{}", cell.layers().describe_missing());
        return;
    }
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let captured = cell.run(&one(&["sh", "-c", FORKS]), stdio, &watch()).unwrap();
    let reached: u32 = text(&captured.stdout).lines().last().unwrap().parse().unwrap();
    assert!((10..=100).contains(&reached) && text(&captured.stderr).contains("fork"), "{reached}");
    // The group can be removed once the last process is gone; an end that is under way is waited for.
    let process = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(i32::try_from(cell.pid().unwrap()).unwrap()).unwrap(),
        rustix::process::PidfdFlags::empty(),
    )
    .unwrap();
    drop(cell);
    crate::cell_death::assert_ends(&process);
}

/// A runner that another program would have built a cage around, in these groups.
fn entered(files: &[PathBuf], words: &[&str]) -> Result<Cell, CageError> {
    let mut command = Command::new(crate::front());
    command.arg("__cage-enter").args(files).arg("--").args(words);
    let folder = tempfile::tempdir().unwrap();
    Cell::inside(command, Some(&spec(folder.path())))
}

#[test]
fn all_that_comes_from_what_entered_a_group_is_counted() {
    let Some(group) = process_group("entered", 50) else {
        // Then there is nothing to enter, and `processes_are_counted` shows what is said of that.
        return;
    };
    let front = crate::front();
    let words = [front.to_str().unwrap(), "__cage-runner"];
    let mut cell = entered(&[group.0.join("tasks")], &words).unwrap();
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let mut order = one(&["sh", "-c", FORKS]);
    order.folder = PathBuf::from("/");
    let captured = cell.run(&order, stdio, &watch()).unwrap();
    let reached: u32 = text(&captured.stdout).lines().last().unwrap().parse().unwrap();
    assert!((10..=50).contains(&reached) && text(&captured.stderr).contains("fork"), "{reached}");
    drop(cell);
    assert_eq!(std::fs::read_to_string(group.0.join("tasks")).unwrap(), "");
}

/// Nothing is started outside of its group.
#[test]
fn a_group_that_cannot_be_entered_is_the_end() {
    let refused = |files: &[PathBuf], words: &[&str], expected: &str| match entered(files, words) {
        Err(CageError::Refused(why)) => assert!(why.contains(expected), "{files:?} {words:?}: {why}"),
        other => panic!("{files:?} {words:?}: {other:?}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let touch = ["/usr/bin/touch", made.to_str().unwrap()];
    refused(&[folder.path().join("tasks")], &touch, "cannot be entered: no such file");
    refused(
        &[PathBuf::from("/dev/null"), folder.path().to_owned()],
        &touch,
        "cannot be entered: is a directory",
    );
    assert!(!made.exists());
    refused(&[], &["/no/such/program"], "`/no/such/program`: No such file");
    refused(&[], &[], "no program was named");
}
