//! Killed with SIGKILL in the middle of a program: nothing goes on running, and the next start
//! works as before.

use std::fs;
use std::process::{Child, Stdio};

use crate::programs_host::{alive, children, marker, nothing_runs, until};
use crate::support::World;

/// A program in the cage that does something first, with a grandchild in a session of its own, both asleep.
fn started(world: &World, before: &str, sleep: &str) -> Child {
    let script = format!("{before} setsid sleep {sleep} & sleep {sleep}");
    let mut command = world.command(&["run", "--", "sh", "-c", &script]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The shell has the number in a longer argument and is not counted.
    until("both sleep", || alive(sleep).len() >= 2);
    child
}

fn names(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.work()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[track_caller]
fn works_as_before(world: &World) {
    let ran = world.run(&["run", "--", "sh", "-c", "exit 4"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(names(world), [".vambrace", "a.txt"], "something is left behind");
    let verified = world.run(&["audit", "verify"]);
    assert_eq!((verified.code, &verified.json()["intact"]), (0, &true.into()), "{verified:?}");
}

#[test]
fn the_front_process_is_killed() {
    let (world, sleep) = (World::new(), marker());
    world.file("a.txt", "one\n");
    let mut child = started(&world, "", &sleep);
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_runs(&sleep);
    works_as_before(&world);
}

#[test]
fn the_launcher_is_killed() {
    let (world, sleep) = (World::new(), marker());
    world.file("a.txt", "one\n");
    let mut child = started(&world, "", &sleep);
    let launchers = children(child.id());
    assert!(!launchers.is_empty(), "the cage is not built by threads of the front process");
    for launcher in launchers {
        let ran = crate::programs_host::on_host(&world, &["kill", "-KILL", &launcher.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let code = child.wait().unwrap().code();
    assert!(code.is_some_and(|code| code != 0), "the front process says that it failed: {code:?}");
    nothing_runs(&sleep);
    works_as_before(&world);
}

#[test]
fn a_server_that_is_killed_takes_its_programs_with_it() {
    let (world, sleep) = (World::new(), marker());
    world
        .file("a.txt", "one\n")
        .file("pyproject.toml", "")
        .file("slow.sh", format!("sleep {sleep} & sleep {sleep}"));
    let toolchain = "tools: {toolchain: {python: {detect: pyproject.toml, test: [sh, slow.sh]}}}\n";
    let config = world.beside("tools.yaml", toolchain);
    let mut command = world.command(&["--config", &config, "call", "--batch"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"tool\":\"run_test\",\"arguments\":{}}\n").unwrap();
    until("both sleep", || alive(&sleep).len() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_runs(&sleep);
}
