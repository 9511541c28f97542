//! `vambrace run`: what a person types in front of a program, so it must behave like the program.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;
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
        // Whether reads wait is a matter of the program's own terminal.
        let expected = format!("[True, False] {code} [False, False]\n");
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
outer, inner = os.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=inner, stdout=inner, stderr=inner)
while not os.path.exists("written") and child.poll() is None: select.select([], [], [], 0.02)
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

/// All that can be done to an object by a descriptor of it.
const MEDDLE: &str = r#"
import os, stat
for name, attempt in [
    ("mode", lambda: os.fchmod(0, stat.S_IMODE(os.fstat(0).st_mode))),
    ("other mode", lambda: None if stat.S_ISCHR(os.fstat(0).st_mode) else os.fchmod(0, 0o667)),
    ("times", lambda: os.utime(0, (1, 1))),
    ("note", lambda: os.setxattr(0, "user.note", b"x")),
    ("write", lambda: None if stat.S_ISCHR(os.fstat(0).st_mode) else os.write(0, b"written")),
    ("cut", lambda: os.ftruncate(0, 0)),
    ("anew", lambda: None if stat.S_ISCHR(os.fstat(0).st_mode) else os.open("/proc/self/fd/0", os.O_RDWR | os.O_NONBLOCK)),
    ("climb", lambda: os.open("..", os.O_PATH, dir_fd=0)),
    ("enter", lambda: os.fchdir(0)),
]:
    try: attempt(); print(name, "worked")
    except OSError as error: print(name, error.strerror)
print(os.read(0, 5), os.readlink("/proc/self/fd/0").split(":")[0])
"#;

#[test]
fn a_file_that_is_read_from_is_out_of_reach() {
    if !has("python3", "the input of a program") {
        return;
    }
    let world = World::new();
    let path = world.beside("outside", "input of a person");
    let file = fs::File::options().read(true).write(true).open(&path).unwrap();
    let before = file.metadata().unwrap();
    let output = world.command(&["run", "--", "python3", "-c", MEDDLE]).stdin(file).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("b'input' pipe\n"), "{said}");
    assert!(said.contains("climb Not a directory\nenter Not a directory\n"), "{said}");
    let after = fs::metadata(&path).unwrap();
    let state = |found: &fs::Metadata| (found.mode(), found.mtime(), found.ctime(), found.ctime_nsec());
    assert_eq!(state(&after), state(&before), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "input of a person");
}

/// As root it would be changed, for the whole machine.
#[test]
fn the_null_device_of_the_host_is_not_handed_in() {
    if !has("python3", "the input of a program") {
        return;
    }
    let world = World::new();
    let before = fs::metadata("/dev/null").unwrap();
    let output =
        world.command(&["run", "--", "python3", "-c", MEDDLE]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("mode Read-only file system\n"), "{said}");
    assert!(said.contains("times Read-only file system\n") && said.ends_with("b'' /dev/null\n"), "{said}");
    let after = fs::metadata("/dev/null").unwrap();
    assert_eq!((after.mode(), after.ctime_nsec()), (before.mode(), before.ctime_nsec()));
}

#[test]
fn a_folder_is_no_input() {
    let world = World::new();
    let folder = fs::File::open(world.dir()).unwrap();
    let output = world.command(&["run", "--", "true"]).stdin(folder).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(126), "{told}");
    assert!(told.contains("standard input is a folder") && told.contains("as an argument"), "{told}");
}

/// More than any limit on what is kept, both ways.
#[test]
fn what_is_passed_on_has_no_size() {
    const SIZE: u64 = 25_000_000;
    let world = World::new();
    let path = world.beside("large", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(SIZE).unwrap();
    let input = fs::File::open(&path).unwrap();
    let output = world.command(&["run", "--", "cat"]).stdin(input).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len() as u64), (Some(0), SIZE), "{told}");
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let world = World::new();
    for (program, code) in [("echo hello", 1), ("yes | head -c 12000000", 141), ("echo hello; exit 7", 7)] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = world.command(&["run", "--", "sh", "-c", program]).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("could not be written: No space left"), "{program}: {told}");
        assert_eq!(output.status.code(), Some(code), "{program}: {told}");
    }
}

#[test]
fn an_input_without_end_holds_nobody() {
    let world = World::new();
    let mut command = world.command(&["run", "--", "sh", "-c", "exit 4"]);
    let (input, _writer) = std::io::pipe().unwrap();
    assert_eq!(command.stdin(input).status().unwrap().code(), Some(4));
    let endless = fs::File::open("/dev/zero").unwrap();
    let mut command = world.command(&["run", "--", "head", "-c", "3"]);
    let output = command.stdin(endless).output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(0), vec![0; 3]));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program() {
    let world = World::new();
    let mut command = world.command(&["run", "--", "yes"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut seen = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut seen).unwrap();
    assert_eq!((&seen, child.wait().unwrap().code()), (b"y\ny\n", Some(141)), "as a shell tells SIGPIPE");
}

/// In the order of the program, also where a line is written in parts.
#[test]
fn streams_that_end_in_one_place_stay_in_order() {
    let world = World::new();
    let path = world.beside("both", "");
    let both = fs::File::options().append(true).open(&path).unwrap();
    let script =
        "i=0; while [ $i -lt 300 ]; do i=$((i+1)); printf 'one '; printf 'line\n'; echo err >&2; done";
    let mut command = world.command(&["run", "--", "sh", "-c", script]);
    let status =
        command.stdin(Stdio::null()).stdout(both.try_clone().unwrap()).stderr(both).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one line\nerr\n".repeat(300));
}

/// Runs a command in a terminal of 33 rows whose mode is told before and after; types what the second argument says.
const AT_A_TERMINAL: &str = r#"
import fcntl, os, struct, subprocess, sys, termios
outer, inner = os.openpty()
fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("4H", 33, 77, 0, 0))
before = os.fstat(inner)
child = subprocess.Popen(sys.argv[2:], stdin=inner, stdout=inner, stderr=inner)
os.write(outer, sys.argv[1].encode())
said = b""
while b"the end" not in said: said += os.read(outer, 1000)
code = child.wait()
after = os.fstat(inner)
print(code, (before.st_mode, before.st_uid) == (after.st_mode, after.st_uid))
print(said.decode().replace("\r", ""))
"#;

#[track_caller]
fn at_a_terminal(world: &World, typed: &str, args: &[&str]) -> String {
    let mut command = world.bare("python3");
    command.args(["-c", AT_A_TERMINAL, typed, binary(), "--state"]).arg(world.state()).arg("run");
    finish(command.args(args), b"").text()
}

#[test]
fn a_terminal_is_read_but_not_held() {
    if !has("python3", "a terminal") {
        return;
    }
    let world = World::new();
    world.file("token", credential());
    let script = "test -t 0 && chmod 0666 /proc/self/fd/0; cat token >&0; cat; echo the end";
    let said = at_a_terminal(&world, "typed\n\u{4}", &["--", "sh", "-c", script]);
    assert!(said.starts_with("0 True\n"), "{said}");
    // Once as it was echoed, once by the program.
    assert_eq!(said.matches("typed\n").count(), 2, "{said}");
    assert!(!said.contains(&credential()), "{said}");
}

#[test]
fn a_raw_terminal_is_like_ours_and_not_ours() {
    if !has("python3", "a terminal") {
        return;
    }
    let world = World::new();
    let script =
        "for i in 0 1 2; do test -t $i || echo no terminal; done; stty size; chmod 0666 /proc/self/fd/1;
        read line; echo got $line; echo the end";
    let said = at_a_terminal(&world, "typed\n", &["--raw", "--", "sh", "-c", script]);
    assert!(said.starts_with("0 True\n") && said.contains("33 77\n"), "{said}");
    assert!(said.contains("got typed\n") && !said.contains("no terminal"), "{said}");
    let interrupted = at_a_terminal(&world, "", &["--raw", "--", "sh", "-c", "echo the end; exit 7"]);
    assert!(interrupted.starts_with("7 True\n"), "{interrupted}");
}
