//! The same as an ordinary user, and inside no cage at all.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output as Printed};

use vambrace_process::cell::{Cell, Exit, Input, Output, Stdio};

use crate::setting::{one, watch};
use crate::{front, text};

/// Runs a script in a cell that belongs to an ordinary user, whoever runs the tests.
fn as_user(before: &[&str], script: &str) -> Printed {
    as_user_with("run", before, script)
}

pub(crate) fn as_user_with(how: &str, before: &[&str], script: &str) -> Printed {
    let folder = tempfile::tempdir().unwrap();
    let everybody = |mode| std::fs::Permissions::from_mode(mode);
    // The build's own folder may be closed to others. Not copied by this process: what another test starts meanwhile
    // would inherit the file as it is written, and then the kernel does not execute it.
    let copy = folder.path().join("front");
    assert!(Command::new("cp").args([&front(), &copy]).status().unwrap().success());
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::set_permissions(&copy, everybody(0o755)).unwrap();
    std::fs::set_permissions(folder.path(), everybody(0o755)).unwrap();
    std::fs::set_permissions(&work, everybody(0o777)).unwrap();
    let words = [how, work.to_str().unwrap(), "sh", "-c", script];
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&copy);
        command
    } else {
        Command::new(&copy)
    };
    command.args(before).args(words).env("CANARY", "seen").output().unwrap()
}

#[track_caller]
fn check(script: &str, stdout: &str) {
    let printed = as_user(&[], script);
    assert_eq!(text(&printed.stdout), stdout, "{script}: {}", text(&printed.stderr));
    // All layers are held, also the number of processes: the kernel counts those of an ordinary user.
    assert!(text(&printed.stderr).ends_with("missing: \n"), "{}", text(&printed.stderr));
}

#[test]
fn an_ordinary_user_has_every_layer() {
    check(
        "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t'",
        "CapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n",
    );
    check("env", "PATH=/usr/bin:/bin\nPWD=/work\n");
    check("echo a > /work/a; cat /work/a; echo b > /tmp/b; cat /tmp/b", "a\nb\n");
    check("echo /proc/[0-9]*; cat /proc/1/environ 2>/dev/null; echo $?", "/proc/1 /proc/2\n1\n");
    check("(echo > /usr/x) 2>/dev/null; echo $?", "2\n");
}

#[test]
fn the_processes_of_an_ordinary_user_are_counted() {
    let printed = as_user(&[], "i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i+1)); echo $i; done");
    let reached: u32 = text(&printed.stdout).lines().last().unwrap().parse().unwrap();
    assert!((10..=100).contains(&reached) && text(&printed.stderr).contains("fork"), "{reached}");
}

fn runner(confine: bool) -> (tempfile::TempDir, Cell) {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = crate::setting::spec(folder.path());
    spec.writable = vec![folder.path().to_owned()];
    spec.mounts.clear();
    let mut command = Command::new(front());
    command.arg("__cage-runner");
    let cell = Cell::inside(command, confine.then_some(&spec)).unwrap();
    (folder, cell)
}

#[test]
fn a_runner_outside_any_namespace_ends_only_its_own() {
    // Ours, and no descendant of the runner.
    let mut bystander = Command::new("sleep").arg("1000").spawn().unwrap();
    let (folder, mut cell) = runner(false);
    let mut order = one(&["sh", "-c", "echo a; (setsid sleep 1000 &); sleep 1000 & exit 3"]);
    order.folder = folder.path().to_owned();
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let captured = cell.run(&order, stdio, &watch()).unwrap();
    assert_eq!((captured.exit, text(&captured.stdout).as_str()), (Exit::Code(3), "a\n"));
    assert!(!cell.is_reusable());
    assert_eq!(cell.layers().missing.len(), vambrace_process::Layer::ALL.len());
    assert_eq!(bystander.try_wait().unwrap(), None);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn a_runner_puts_on_itself_what_needs_no_namespace() {
    let (folder, mut cell) = runner(true);
    let script = "echo a > in; cat in; echo b > /tmp/vambrace-outside || echo refused; grep Seccomp: /proc/self/status";
    let mut order = one(&["sh", "-c", script]);
    order.folder = folder.path().to_owned();
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let captured = cell.run(&order, stdio, &watch()).unwrap();
    assert_eq!(text(&captured.stdout), "a\nrefused\nSeccomp:\t2\n", "{}", text(&captured.stderr));
}

/// What is missing under a filter that refuses a call; the script tells whether the cell still works.
#[track_caller]
fn missing_without(call: &str, expected: &[&str]) {
    let printed = as_user(&["without", call], "echo ran; (sleep 1000 &); exit 4");
    let said = text(&printed.stderr);
    assert_eq!((text(&printed.stdout).as_str(), printed.status.code()), ("ran\n", Some(4)), "{call}: {said}");
    let missing = said.strip_prefix("missing: ").unwrap().trim_end();
    let names: Vec<_> = missing.split(", ").map(|part| part.split(" (").next().unwrap()).collect();
    assert_eq!(names, expected, "{call}: {said}");
}

#[test]
fn what_an_outer_filter_takes_away_is_named() {
    missing_without("clone3", &[""]);
    missing_without("landlock", &["Landlock"]);
    missing_without("unshare", &["cgroup namespace", "mount namespace", "private root"]);
    missing_without(
        "user",
        &[
            "user namespace",
            "mount namespace",
            "pid namespace",
            "network namespace",
            "ipc namespace",
            "uts namespace",
            "cgroup namespace",
            "private root",
        ],
    );
}
