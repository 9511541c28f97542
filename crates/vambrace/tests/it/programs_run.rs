//! `vambrace run`: what a person types in front of a program, so it must behave like the program.

use std::fs;
use std::thread;

use serde_json::json;

use crate::mcp_client::Client;
use crate::programs_host::has;
use crate::support::{Ran, World, binary, credential, finish};

#[track_caller]
fn run(world: &World, args: &[&str], code: i32) -> Ran {
    let ran = world.run(&[&["run"], args].concat());
    assert_eq!(ran.code, code, "{args:?}: {ran:?}");
    ran
}

#[test]
fn exit_codes_pass_through() {
    let world = World::new();
    run(&world, &["--", "true"], 0);
    run(&world, &["--", "sh", "-c", "exit 3"], 3);
    run(&world, &["--", "sh", "-c", "exit 255"], 255);
    run(&world, &["--", "sh", "-c", "kill -9 $$"], 137);
    let missing = run(&world, &["--", "no-such-program"], 127);
    assert!(missing.stderr.contains("no-such-program"), "{missing:?}");
    let slow = run(&world, &["--timeout", "1", "--", "sleep", "60"], 124);
    assert!(slow.stderr.contains("time limit"), "{slow:?}");
    let net = world.run(&["run", "--net", "not a host", "--", "true"]);
    assert!(net.code != 0 && net.stderr.contains("not a host"), "{net:?}");
    let records = world.raw_records();
    assert!(records.contains("no-such-program") && records.contains(r#""tool":"run""#));
}

/// The list of programs is for models; a person starts what lies in the project.
#[test]
fn a_program_of_the_project_can_be_started() {
    let world = World::new();
    world.file("build.sh", "#!/bin/sh\necho built > built\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(world.work().join("build.sh"), mode).unwrap();
    run(&world, &["--", "./build.sh"], 0);
    assert_eq!(world.text("built"), "built\n");
}

#[test]
fn streams_are_separate_and_input_arrives() {
    let world = World::new();
    let ran = world.feed(&["run", "--", "sh", "-c", "cat; echo wrong >&2; cat nothing"], "in\nput");
    assert_eq!((ran.code, ran.text().as_str()), (1, "in\nput"), "{ran:?}");
    assert!(ran.stderr.starts_with("wrong\n") && ran.stderr.contains("nothing"), "{ran:?}");
    let much = vec![b'x'; 300_000];
    let ran = world.feed(&["run", "--", "wc", "-c"], &much);
    assert_eq!(ran.text().trim(), "300000", "{ran:?}");
    let ran = world.feed(&["run", "--", "head", "-c", "1"], &much);
    assert_eq!((ran.code, ran.text().as_str()), (0, "x"), "a program need not read all of it: {ran:?}");
}

#[test]
fn secrets_are_cut_out_of_both_streams() {
    let world = World::new();
    world.file("token", credential());
    let ran =
        run(&world, &["--", "sh", "-c", "cat token; cat token >&2; head -c 10 token; tail -c +11 token"], 0);
    for stream in [ran.text(), ran.stderr] {
        assert!(stream.contains("REDACTED") && !stream.contains(&credential()), "{stream}");
    }
    assert!(!world.raw_records().contains(&credential()));
}

/// Each holds the mount points of the protected names while it runs, and none takes them away from another.
#[test]
fn several_at_once_do_not_disturb_each_other() {
    const AT_ONCE: usize = 6;
    let world = World::new();
    let script =
        "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; mv .git moved; test ! -e .git/hooks && pwd";
    let ended: Vec<Ran> = thread::scope(|scope| {
        let start = || scope.spawn(|| world.run(&["run", "--", "sh", "-c", script]));
        let started: Vec<_> = (0..AT_ONCE).map(|_| start()).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let failed: Vec<&Ran> = ended.iter().filter(|ran| ran.code != 0).collect();
    assert!(failed.is_empty(), "{} of {AT_ONCE}: {failed:?}", failed.len());
    let names: Vec<_> = fs::read_dir(world.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [".vambrace"]);
}

#[test]
fn calls_of_one_session_run_at_once() {
    let world = World::new();
    let mut client = Client::open(&world, &[]);
    let call = json!({"name": "exec_shell", "arguments": {"command": "ls -a | wc -l; pwd"}});
    let ids: Vec<_> = (0..8).map(|_| client.ask("tools/call", &call)).collect();
    let mut answers: Vec<_> = (0..ids.len()).map(|_| client.next()).collect();
    answers.retain(|answer| answer["result"]["isError"] != false);
    assert!(answers.is_empty(), "{answers:?}");
    assert_eq!(client.close().0, 0);
}

#[test]
fn one_more_folder_can_be_opened() {
    let world = World::new();
    let folder = world.dir().join("more");
    fs::create_dir(&folder).unwrap();
    fs::write(world.dir().join("other"), "x").unwrap();
    let script = format!("echo made > {}/made; ls {}", folder.display(), world.dir().display());
    let without = world.run(&["run", "--", "sh", "-c", &script]);
    assert!(!folder.join("made").exists(), "{without:?}");
    let ran = run(&world, &["--write", folder.to_str().unwrap(), "--", "sh", "-c", &script], 0);
    assert_eq!(fs::read_to_string(folder.join("made")).unwrap(), "made\n", "{ran:?}");
    assert!(!ran.text().contains("other"), "only that folder: {ran:?}");
}

/// Makes a terminal, runs a command in it until it has said `changed`, sends it a signal if one is named, and tells
/// what is not as it was before.
const TERMINAL: &str = r#"
import fcntl, os, signal, subprocess, sys, termios
outer, inner = os.openpty()
def state():
    return termios.tcgetattr(inner), fcntl.fcntl(inner, fcntl.F_GETFL)
def take():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
before = state()
child = subprocess.Popen(sys.argv[2:], stdin=inner, stdout=inner, stderr=inner, preexec_fn=take)
said = b""
while b"changed" not in said:
    said += os.read(outer, 1000)
was_changed = [old != new for old, new in zip(before, state())]
if sys.argv[1]:
    child.send_signal(getattr(signal, sys.argv[1]))
else:
    os.write(outer, b"end\n")
code = child.wait()
print(was_changed, code, [old != new for old, new in zip(before, state())])
"#;

/// Neither echo nor lines, and reads that do not wait; then it waits all the same.
const RUDE: &str = r#"
import fcntl, os, select, tty
tty.setraw(0)
fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_NONBLOCK)
print("changed", flush=True)
select.select([0], [], [])
"#;

#[test]
fn a_terminal_is_given_back_as_it_was() {
    if !has("python3", "a terminal") {
        return;
    }
    let world = World::new();
    let check = |signal: &str, raw: &[&str], code: i32| {
        let mut command = world.bare("python3");
        command.args(["-c", TERMINAL, signal, binary(), "--state"]).arg(world.state()).arg("run");
        let ran = finish(command.args(raw).args(["--", "python3", "-c", RUDE]), b"");
        let expected = format!("[True, True] {code} [False, False]\n");
        assert_eq!(ran.text(), expected, "{signal} {raw:?}: {ran:?}");
    };
    check("", &[], 0);
    check("", &["--raw"], 0);
    for signal in ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] {
        check(signal, &[], 130);
    }
}

/// Reads that do not wait make writes to the same terminal not wait, ours too.
#[test]
fn a_terminal_that_does_not_wait_loses_nothing() {
    if !has("python3", "a terminal") {
        return;
    }
    const LINES: usize = 3000;
    let world = World::new();
    // It stays until all has been read: afterwards the terminal waits again.
    let flood = r#"
import fcntl, os, select
fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_NONBLOCK)
for line in range(3000): print(line, "x" * 60, flush=True)
print("all", flush=True)
open("written", "w").close()
select.select([0], [], [])
"#;
    // It begins to read when far more is written than a terminal holds.
    let reader = r#"
import os, select, subprocess, sys
os.mkfifo("written")
outer, inner = os.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=inner, stdout=inner, stderr=inner)
open("written").close()
said = b""
while b"all" not in said and select.select([outer], [], [], 20)[0]: said += os.read(outer, 100000)
os.write(outer, b"\n")
child.wait()
print(said.count(b"x\r\n"))
"#;
    let mut command = world.bare("python3");
    command.args(["-c", reader, binary(), "--state"]).arg(world.state());
    let ran = finish(command.args(["run", "--", "python3", "-c", flood]), b"");
    assert_eq!(ran.text(), format!("{LINES}\n"), "{ran:?}");
}
