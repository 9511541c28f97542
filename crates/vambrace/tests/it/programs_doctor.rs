//! What the machine can enforce: every row of the battery holds, as root and as an ordinary user; what is missing is named
//! and refused, or accepted and said.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::programs_host::{as_nobody, has, is_root};
use crate::support::{Ran, World, binary, finish, skip};

#[track_caller]
pub(crate) fn every_row_holds(ran: &Ran) {
    let rows = ran.json();
    let rows = rows.as_array().unwrap();
    let held = |row: &&Value| row["state"] == "holds";
    let others: Vec<&Value> = rows.iter().filter(|row| !held(row)).collect();
    assert!(others.iter().all(|row| row["row"] == "kernel"), "{others:?}, {}", ran.stderr);
    assert_eq!(ran.code, 0, "{ran:?}");
    for wanted in ["connect by TCP", "use io_uring", "plant a git hook", "control: run a program"] {
        assert!(rows.iter().filter(held).any(|row| row["row"] == wanted), "{wanted}: {ran:?}");
    }
}

#[test]
fn the_doctor_finds_every_row_held() {
    every_row_holds(&World::new().run(&["doctor"]));
    if !is_root() {
        skip("the doctor as root: the tests are not root");
    }
}

#[test]
fn the_doctor_finds_every_row_held_as_an_ordinary_user() {
    if !is_root() {
        return skip("the doctor as another user: the tests are not root");
    }
    if !has("setpriv", "the doctor as another user") {
        return;
    }
    let world = World::new();
    every_row_holds(&finish(&mut as_nobody(&world, &["doctor"]), b""));
    let ran = finish(&mut as_nobody(&world, &["run", "--", "sh", "-c", "echo made > made; exit 5"]), b"");
    assert_eq!((ran.code, world.text("made").as_str()), (5, "made\n"), "{ran:?}");
}

/// Puts a filter around a program. The named system calls fail with EPERM, of clone those that make a user namespace;
/// clone3 is then missing altogether, since a filter cannot see its flags. A name after `!` is a lie: the call does
/// nothing and says that all went well.
const FILTER: &str = r#"
import ctypes, os, platform, struct, sys

def step(code, yes, no, value):
    return struct.pack("=HBBI", code, yes, no, value)

LOAD, EQUALS, ANY_BIT, END = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
numbers = {
    "x86_64": {"unshare": 272, "clone": 56, "clone3": 435, "landlock_create_ruleset": 444, "seccomp": 317},
    "aarch64": {"unshare": 97, "clone": 220, "clone3": 435, "landlock_create_ruleset": 444, "seccomp": 277},
}[platform.machine()]
steps = []
for name in sys.argv[1].split(","):
    lies, name = name.startswith("!"), name.lstrip("!")
    steps.append(step(LOAD, 0, 0, 0))
    if name == "clone":
        steps += [step(EQUALS, 0, 3, numbers[name]), step(LOAD, 0, 0, 16), step(ANY_BIT, 0, 1, 0x10000000)]
    else:
        steps.append(step(EQUALS, 0, 1, numbers[name]))
    steps.append(step(END, 0, 0, FAIL | (0 if lies else 38 if name == "clone3" else 1)))
steps.append(step(END, 0, 0, ALLOW))

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

text = ctypes.create_string_buffer(b"".join(steps))
program = Program(len(steps), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"#;

fn under(world: &World, calls: &str, args: &[&str]) -> Command {
    let mut command = world.bare("python3");
    command.args(["-c", FILTER, calls, binary(), "--state"]).arg(world.state()).args(args);
    command
}

#[track_caller]
fn filtered(world: &World, calls: &str, args: &[&str]) -> Ran {
    finish(&mut under(world, calls, args), b"")
}

#[track_caller]
fn under_a_filter(calls: &str, layers: &[&str]) {
    let world = World::new();
    let ran = filtered(&world, calls, &["run", "--", "true"]);
    assert_eq!(ran.code, 125, "{ran:?}");
    for layer in layers {
        assert!(ran.stderr.contains(layer), "`{layer}` is not named: {ran:?}");
    }
    let doctor = filtered(&world, calls, &["doctor"]);
    assert_ne!(doctor.code, 0, "{doctor:?}");

    let config = world.beside("warn.yaml", "sandbox: {when_missing: warn}\n");
    let ran = filtered(&world, calls, &["--config", &config, "run", "--", "sh", "-c", "exit 7"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    let ran = filtered(&world, calls, &["--config", &config, "call", "exec_shell", r#"{"command":"ls"}"#]);
    let metadata = ran.json()["metadata"].clone();
    assert_eq!((ran.code, &metadata["enforcement"]), (0, &json!("partial")), "{ran:?}");
    let warnings = metadata["warnings"].to_string();
    let shown = world.run(&["audit", "show", metadata["call_id"].as_str().unwrap()]).lines();
    let kinds: Vec<&Value> = shown.iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds, ["intent", "outcome"], "{shown:?}");
    assert!(shown.iter().all(|line| line["enforcement"] == "partial"), "{shown:?}");
    for layer in layers {
        assert!(warnings.contains(layer), "`{layer}` is not in {warnings}");
        assert!(world.raw_records().contains(layer), "`{layer}` is not on record");
    }
}

#[test]
fn a_layer_that_an_outer_filter_takes_away_is_named_and_refused_or_accepted() {
    if !has("python3", "outer filters") {
        return;
    }
    under_a_filter("unshare", &["mount namespace"]);
    under_a_filter("landlock_create_ruleset", &["Landlock"]);
    under_a_filter("unshare,landlock_create_ruleset", &["mount namespace", "Landlock"]);
    under_a_filter("unshare,clone,clone3", &["user namespace", "mount namespace"]);
}

#[test]
fn a_call_that_was_refused_claims_no_cage() {
    if !has("python3", "outer filters") {
        return;
    }
    let ran = filtered(&World::new(), "unshare", &["call", "exec_shell", r#"{"command":"ls"}"#]);
    assert_eq!((ran.code, ran.error_code().as_str()), (1, "IsolationTooWeak"), "{ran:?}");
    assert_ne!(ran.json()["metadata"]["enforcement"], "full", "nothing ran in any cage: {ran:?}");
}

/// A kernel that lies: every layer seems to stand, and only the attack finds out that one does nothing.
#[test]
fn one_attack_that_succeeds_refuses_to_serve_and_names_its_row() {
    const ROW: &str = "use io_uring";
    if !has("python3", "outer filters") {
        return;
    }
    let world = World::new();
    world.file("a.txt", "text\n");
    let doctor = filtered(&world, "!seccomp", &["doctor"]);
    assert_ne!(doctor.code, 0, "{doctor:?}");
    assert!(doctor.json().as_array().unwrap().iter().any(|row| row["row"] == ROW && row["state"] != "holds"));
    let ran = filtered(&world, "!seccomp", &["run", "--", "true"]);
    assert_eq!(ran.code, 125, "{ran:?}");
    assert!(ran.stderr.contains(ROW), "{ran:?}");

    let mut client = Client::started(under(&world, "!seccomp", &["mcp"])).greeted();
    // The table waits for the attack; from then on nothing else is served.
    let table = client.call("posture_report", &json!({}));
    assert!(table.to_string().contains(ROW), "{table}");
    for (tool, arguments) in [
        ("read_file", json!({"path": "a.txt"})),
        ("write_file", json!({"path": "b.txt", "content": "x"})),
        ("exec_shell", json!({"command": "ls"})),
    ] {
        let refused = client.call(tool, &arguments);
        assert_eq!(refused["structuredContent"]["error"]["code"], "PostureBroken", "{refused}");
        assert!(refused.to_string().contains(ROW), "{refused}");
    }
    assert!(!world.work().join("b.txt").exists());
    assert!(world.raw_records().contains("an attack succeeded"));
}

/// An editor saves by renaming a new file over the old one, and the kernel takes the mask away with the old one.
#[test]
fn a_masked_file_that_is_saved_during_the_attack_is_no_hole() {
    let world = World::new();
    world.file(".env", "A=1\n");
    let mut doctor = world.command(&["doctor"]).stdout(Stdio::piped()).spawn().unwrap();
    let traps = || {
        let state = std::fs::read_dir(world.state()).ok()?;
        state.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("/traps-"))
    };
    let first = loop {
        match traps() {
            Some(first) => break first,
            None => assert!(doctor.try_wait().unwrap().is_none(), "it set no traps"),
        }
    };
    let mut n_saved = 0;
    while first.exists() {
        world.file(".env.saved", "A=2\n");
        std::fs::rename(world.work().join(".env.saved"), world.work().join(".env")).unwrap();
        n_saved += 1;
    }
    let output = doctor.wait_with_output().unwrap();
    assert!(output.status.success(), "saved {n_saved} times: {}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn no_cage_says_so() {
    let world = World::new();
    let config = world.beside("none.yaml", "sandbox: {backend: none}\n");
    let ran = world.run(&["--config", &config, "call", "exec_shell", r#"{"command":"pwd"}"#]);
    let result = ran.json();
    assert_eq!((ran.code, &result["metadata"]["enforcement"]), (0, &json!("none")), "{ran:?}");
    assert!(result["metadata"]["warnings"][0].is_string(), "{ran:?}");
    let doctor = world.run(&["--config", &config, "doctor"]);
    assert_ne!(doctor.code, 0, "{doctor:?}");
    assert!(!world.raw_records().contains("every row held"), "no row was tried");
}
