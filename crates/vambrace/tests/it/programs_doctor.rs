//! What the machine can enforce: every row of the battery holds, as root and as an ordinary user; what is missing is named
//! and refused, or accepted and said.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    let wanted = [
        "connect by TCP",
        "use io_uring",
        "plant a git hook",
        "control: run a program",
        "change an object that was handed in",
        "end the process with JSON",
        "approve its own call over HTTP",
        "act in a dry run",
        "loosen the rules from a project file",
        "choose what is hidden",
        "lead a file of ours elsewhere",
        "hide a stop",
        "send news past a rule",
        "use an approval twice",
    ];
    for wanted in wanted {
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

/// Rules about every path leave no row broken: what the operator forbids to change, programs cannot change either, and
/// a wall that a rule keeps us from reaching is told as that.
#[test]
fn rules_about_everything_are_no_hole() {
    let rules = [
        "{tool: edit_file, path: '**', decision: ask}",
        "{tool: write_file, path: '**', decision: deny}",
        "{path: '**', decision: deny}",
        "{tool: read_file, path: '**', decision: ask}",
    ];
    for rule in rules {
        let world = World::new();
        world.file("a.txt", "one\n");
        let config = world.beside("operator.yaml", &format!("rules: [{rule}]\n"));
        let ran = world.run(&["--config", &config, "doctor"]);
        let rows = ran.json();
        let is_sound = |row: &&Value| row["state"] == "holds" || row["state"] == "told";
        let others: Vec<&Value> = rows.as_array().unwrap().iter().filter(|row| !is_sound(row)).collect();
        assert!(others.is_empty() && ran.code == 0, "{rule}: {others:?}");
        let script = "echo x >> a.txt; echo x > new.txt; mkdir -p .vambrace; echo x > .vambrace/x";
        let ran = world.run(&["--config", &config, "run", "--", "sh", "-c", script]);
        assert_eq!(world.text("a.txt"), "one\n", "{rule}: {ran:?}");
        assert!(!world.work().join(".vambrace/x").exists(), "{rule}");
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
/// clone3 is then missing altogether, since a filter cannot see its flags. `listener` is a filter that hands calls over,
/// of which there can be only one. A name after `!` is a lie: the call does nothing and says that all went well.
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
    elif name == "listener":
        steps += [step(EQUALS, 0, 3, numbers["seccomp"]), step(LOAD, 0, 0, 24), step(ANY_BIT, 0, 1, 8)]
    else:
        steps.append(step(EQUALS, 0, 1, numbers[name]))
    steps.append(step(END, 0, 0, FAIL | (0 if lies else {"clone3": 38, "listener": 16}.get(name, 1))))
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
    under_a_filter("listener", &["guard of names"]);
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
    if !has("python3", "outer filters") {
        return;
    }
    let world = World::new();
    world.file("a.txt", "text\n");
    // A guard would notice that nobody listens.
    let swept = world.beside("swept.yaml", "sandbox: {absent_names: sweep}\n");
    let doctor = filtered(&world, "!seccomp", &["--config", &swept, "doctor"]);
    assert_ne!(doctor.code, 0, "{doctor:?}");
    let rows = doctor.json();
    let broken: Vec<_> = rows.as_array().unwrap().iter().filter(|row| row["state"] == "broken").collect();
    assert!(!broken.is_empty(), "{doctor:?}");
    let name = broken.last().unwrap()["row"].as_str().unwrap();
    let ran = filtered(&world, "!seccomp", &["--config", &swept, "run", "--", "true"]);
    assert_eq!(ran.code, 125, "{ran:?}");
    assert!(ran.stderr.contains(name), "{ran:?}");
    let served = filtered(&world, "!seccomp", &["--config", &swept, "serve", "--listen", ":0"]);
    assert_eq!((served.code, served.text().as_str()), (1, ""), "{served:?}");
    assert!(served.stderr.contains(name), "{served:?}");

    for role in ["dev", "product_owner"] {
        let args = ["--config", &swept, "--role", role, "mcp"];
        let mut client = Client::started(under(&world, "!seccomp", &args)).greeted();
        // The table waits for the attack; from then on nothing else is served.
        let table = client.call("posture_report", &json!({}));
        assert!(table.to_string().contains(name), "{table}");
        for (tool, arguments) in [
            ("read_file", json!({"path": "a.txt"})),
            ("git_status", json!({})),
            ("write_file", json!({"path": "b.txt", "content": "x"})),
            ("exec_shell", json!({"command": "ls"})),
        ] {
            if role == "product_owner" && (tool == "write_file" || tool == "exec_shell") {
                continue;
            }
            let refused = client.call(tool, &arguments);
            let result = &refused["structuredContent"];
            assert_eq!(result["error"]["code"], "PostureBroken", "{refused}");
            assert_eq!(result["metadata"]["enforcement"], "none", "{refused}");
            assert!(refused.to_string().contains(name), "{refused}");
        }
    }
    assert!(!world.work().join("b.txt").exists());
    assert!(world.raw_records().contains("an attack succeeded"));
}

/// Runs the doctor, and `disturb` for as long as its first attack is under way.
fn disturbed(world: &World, disturb: impl Fn()) -> Value {
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
    while first.exists() {
        disturb();
    }
    let output = doctor.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn nothing_broken(rows: &Value) {
    let others = rows.as_array().unwrap().iter();
    let others: Vec<_> = others.filter(|row| row["state"] != "holds" && row["state"] != "told").collect();
    assert!(others.is_empty(), "{others:?}");
}

fn save(world: &World, name: &str, text: &str) {
    let new = format!("{name}.saved");
    world.file(&new, text);
    std::fs::rename(world.work().join(new), world.work().join(name)).unwrap();
}

/// An editor saves by renaming a new file over the old one, and the kernel takes the mount away with the old one.
#[test]
fn a_file_that_is_saved_during_the_attack_is_no_hole() {
    let world = World::new();
    world.file(".env", "A=1\n");
    nothing_broken(&disturbed(&world, || save(&world, ".env", "A=2\n")));
    world.file(".gitmodules", "");
    nothing_broken(&disturbed(&world, || save(&world, ".gitmodules", "[submodule]\n")));
    let folder = world.work().join(".idea");
    nothing_broken(&disturbed(&world, || {
        std::fs::create_dir(&folder).unwrap();
        std::fs::remove_dir(&folder).unwrap();
    }));
}

/// What the attack makes in the service can be seen and made again there, by a program of another cage.
#[test]
fn names_that_the_attack_makes_in_the_service_prove_nothing() {
    let world = World::new();
    world.file("s/.env", "A=1\n");
    let seen = RefCell::new(BTreeSet::new());
    let repeat = || {
        let mut seen = seen.borrow_mut();
        let entries = std::fs::read_dir(world.work()).unwrap().flatten().map(|entry| entry.path());
        seen.extend(entries.filter(|path| path.to_string_lossy().contains("/vambrace-attack-")));
        for path in seen.iter() {
            let _made = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
        }
        // Away and back: it is the same file afterwards, and was not there meanwhile.
        std::fs::rename(world.work().join("s/.env"), world.work().join("k")).unwrap();
        world.file("s/.env", "A=2\n");
        std::fs::rename(world.work().join("k"), world.work().join("s/.env")).unwrap();
    };
    for _ in 0..3 {
        let rows = disturbed(&world, repeat);
        let others = rows.as_array().unwrap().iter().filter(|row| row["state"] != "holds");
        let others: Vec<_> = others.collect();
        let is_broken = |row: &&Value| row["state"] == "broken" && row["row"] != "the cage for programs";
        assert!(!others.iter().any(is_broken), "{others:?}");
    }
}

/// The name of a folder does not tell the next one's, so whoever moves each away and takes names like it delays nobody. Nor
/// does whoever takes the rights of each, or fills it.
#[test]
fn disturbing_what_the_attack_makes_stops_no_program() {
    let move_away = |world: &World, path: &Path, number: usize| {
        let _moved = std::fs::rename(path, world.work().join(format!("moved-{number}")));
        for ending in ["", "-1", "-2"] {
            let _made = std::os::unix::fs::symlink("/tmp", format!("{}{ending}", path.display()));
        }
    };
    let take_rights = |_: &World, path: &Path, _: usize| {
        let _taken = std::fs::set_permissions(path, Permissions::from_mode(0o0));
    };
    let fill = |_: &World, path: &Path, _: usize| {
        let _made = std::fs::write(path.join("file"), "");
    };
    type Disturb<'a> = &'a (dyn Fn(&World, &Path, usize) + Sync);
    let ways: [Disturb<'_>; 3] = [&move_away, &take_rights, &fill];
    for way in ways {
        let world = World::new();
        let n_disturbed = AtomicUsize::new(0);
        let disturb = || {
            for entry in std::fs::read_dir(world.work()).unwrap().flatten() {
                let is_made = entry.file_name().to_string_lossy().starts_with("vambrace-attack-");
                if is_made && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    way(&world, &entry.path(), n_disturbed.fetch_add(1, Ordering::Relaxed));
                }
            }
        };
        meanwhile(&disturb, || {
            for _ in 0..8 {
                let ran = world.run(&["run", "--", "true"]);
                assert_eq!(ran.code, 0, "{ran:?}");
            }
        });
        assert!(n_disturbed.into_inner() > 0, "nothing was there to be disturbed");
    }
}

/// Does the first over and over until the second is over, however that ends.
pub(crate) fn meanwhile(disturb: &(dyn Fn() + Sync), act: impl FnOnce()) {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stopped);
        scope.spawn(|| {
            while !stopped.load(Ordering::Relaxed) {
                disturb();
            }
        });
        act();
    });
}

/// Somebody who does not stop gets no program started, and nothing worse: file tools go on.
#[test]
fn a_workspace_that_never_rests_is_not_taken_for_a_broken_cage() {
    let world = World::new();
    world.file("a.txt", "text\n").file(".env", "A=1\n");
    meanwhile(&|| save(&world, ".env", "A=2\n"), || {
        for _ in 0..5 {
            let mut client = Client::open(&world, &[]);
            let ran = client.call("exec_shell", &json!({"command": "ls"}))["structuredContent"].clone();
            assert!(
                ran["status"] == "success" || ran["error"]["code"] == "IsolationTooWeak",
                "neither ran nor was refused for the moment: {ran}"
            );
            let read = client.call("read_file", &json!({"path": "a.txt"}));
            assert_eq!(read["structuredContent"]["status"], "success", "{read}");
            client.close();
        }
    });
    assert_eq!(world.call("exec_shell", &json!({"command": "ls"})).code, 0);
}

/// Where the operator takes what there is, a program could have its files moved about while the next cage is built, and
/// get the next program a cage without walls.
#[test]
fn a_program_cannot_take_the_walls_from_the_next_one() {
    let world = World::new();
    world.file("s/.env", "A=1\n");
    let config = world.beside("warn.yaml", "sandbox: {when_missing: warn}\n");
    let full = world.run(&["--config", &config, "call", "exec_shell", r#"{"command":"ls"}"#]);
    assert_eq!(full.json()["metadata"]["enforcement"], "full", "{full:?}");
    let (one, other) = (world.work().join("s"), world.work().join("t"));
    let swap = || {
        std::fs::rename(&one, &other).unwrap();
        std::fs::rename(&other, &one).unwrap();
    };
    meanwhile(&swap, || {
        for _ in 0..12 {
            let ran = world.run(&["--config", &config, "call", "exec_shell", r#"{"command":"ls"}"#]);
            let result = ran.json();
            let code = &result["error"]["code"];
            let whole = result["metadata"]["enforcement"] == "full";
            assert!(if ran.code == 0 { whole } else { code == "IsolationTooWeak" }, "{ran:?}");
        }
    });
}

/// A service in which nobody can write is no broken cage: looking around works.
#[test]
fn a_workspace_that_cannot_be_written_is_served() {
    if !is_root() || !has("setpriv", "a workspace of somebody else") {
        return skip("a workspace of somebody else: the tests are not root");
    }
    let world = World::new();
    world.file("a.txt", "text\n");
    let mut command = as_nobody(&world, &["call", "exec_shell", r#"{"command":"cat a.txt"}"#]);
    std::os::unix::fs::chown(world.work(), Some(0), Some(0)).unwrap();
    std::fs::set_permissions(world.work(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = finish(&mut command, b"");
    assert_eq!((ran.code, ran.json()["status"].as_str()), (0, Some("success")), "{ran:?}");
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
