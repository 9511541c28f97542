//! Cages that other programs build: bubblewrap's lacks nothing, firejail's says what it lacks, and both hold bombs.

use std::process::Command;

use rustix::fs::{CWD, RenameFlags};
use serde_json::json;

use crate::mcp_client::Client;
use crate::programs_bombs::{a_bomb_of_memories, a_bomb_of_memory, a_bomb_of_processes};
use crate::programs_doctor::{every_row_holds, meanwhile};
use crate::programs_host::{as_nobody, as_user, has, is_root, on_host};
use crate::support::{Ran, World, finish, skip};

const BUBBLEWRAP: &str = "sandbox: {backend: bubblewrap}\n";
const FIREJAIL: &str = "sandbox: {backend: firejail, when_missing: warn}\n";
const SWEPT_FIREJAIL: &str = "sandbox: {backend: firejail, when_missing: warn, absent_names: sweep}\n";

/// `vambrace …` in a world, as one user or another.
type As = fn(&World, &[&str]) -> Command;

fn as_ourselves(world: &World, args: &[&str]) -> Command {
    world.command(args)
}

#[track_caller]
fn shows_a_file(world: &World, user: As, config: &str) -> Ran {
    world.file("a.txt", "one\n");
    let config = world.beside("backend.yaml", config);
    let mut command = user(world, &["--config", &config, "call", "exec_shell", r#"{"command":"cat a.txt"}"#]);
    let ran = finish(&mut command, b"");
    assert_eq!((ran.code, &ran.json()["data"]["stdout"]), (0, &json!("one\n")), "{ran:?}");
    ran
}

#[track_caller]
fn bubblewrap_is_whole(user: As) {
    let world = World::new();
    let ran = shows_a_file(&world, user, BUBBLEWRAP);
    let metadata = &ran.json()["metadata"];
    assert_eq!((&metadata["enforcement"], &metadata["warnings"]), (&json!("full"), &json!(null)), "{ran:?}");
    let config = world.beside("backend.yaml", BUBBLEWRAP);
    every_row_holds(&finish(&mut user(&world, &["--config", &config, "doctor"]), b""));
}

#[test]
fn bubblewrap_lacks_nothing() {
    if has("bwrap", "the backend bubblewrap") {
        bubblewrap_is_whole(as_ourselves);
    }
}

#[test]
fn bubblewrap_lacks_nothing_for_an_ordinary_user() {
    if !is_root() {
        return skip("bubblewrap as another user: the tests are not root");
    }
    if has("bwrap", "the backend bubblewrap as another user") && has("setpriv", "bubblewrap as another user")
    {
        bubblewrap_is_whole(as_nobody);
    }
}

/// It goes by names, looks first and mounts later; a program of another cage can exchange a folder for a link in between.
#[test]
fn bubblewrap_shows_nothing_by_a_link_that_comes_while_it_builds() {
    if !has("bwrap", "links in the backend bubblewrap") {
        return;
    }
    let world = World::new();
    world.file("s/.env", "A=1\n").file("../outside/key", "a canary\n");
    world.link("l", world.dir().join("outside"));
    let config = world.beside("backend.yaml", BUBBLEWRAP);
    let mut client = Client::open(&world, &["--config", &config]);
    client.call("posture_report", &json!({}));
    let (folder, link) = (world.work().join("s"), world.work().join("l"));
    let exchange = || {
        rustix::fs::renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
    };
    meanwhile(&exchange, || {
        for _ in 0..60 {
            let said = client.call("exec_shell", &json!({"command": "cat s/key"}));
            assert!(!said.to_string().contains("a canary"), "{said}");
        }
    });
    // Not because nothing works.
    if folder.is_symlink() {
        exchange();
    }
    let said = client.call("exec_shell", &json!({"command": "ls s"}));
    assert_eq!(said["structuredContent"]["status"], "success", "{said}");
}

/// Its processes are counted from the first one on, and so is its memory.
#[test]
fn bubblewrap_holds_bombs() {
    if has("bwrap", "bombs in the backend bubblewrap") {
        a_bomb_of_processes(BUBBLEWRAP);
        a_bomb_of_memory(BUBBLEWRAP);
        a_bomb_of_memories(BUBBLEWRAP);
    }
}

/// Installed is not enough: the machine may not let this user have it.
fn firejail_works(user: &str, probe: impl FnOnce(&World) -> Ran) -> bool {
    if !has("firejail", &format!("the backend firejail as {user}")) {
        return false;
    }
    let probed = probe(&World::new());
    if probed.code != 0 {
        let said = probed.stderr.lines().next().unwrap_or_default();
        skip(&format!("the backend firejail as {user}: it does not start here: {said}"));
    }
    probed.code == 0
}

const PROBE: [&str; 5] = ["firejail", "--noprofile", "--quiet", "--", "true"];

#[track_caller]
fn firejail_names(ran: &Ran, missing: &[&str], held: &[&str]) {
    let metadata = ran.json()["metadata"].clone();
    assert_eq!(metadata["enforcement"], "partial", "{ran:?}");
    let warnings = metadata["warnings"].to_string();
    for layer in missing {
        assert!(warnings.contains(layer), "`{layer}` is not said to be missing: {warnings}");
    }
    for layer in held {
        assert!(!warnings.contains(layer), "`{layer}` is said to be missing: {warnings}");
    }
}

const HELD: [&str; 8] = [
    "mount namespace",
    "pid namespace",
    "network namespace",
    "Landlock",
    "seccomp",
    "capabilities",
    "process limit",
    "memory limit",
];

#[test]
fn firejail_runs_a_program_and_names_what_it_lacks() {
    if !firejail_works("whoever runs the tests", |world| on_host(world, &PROBE)) {
        return;
    }
    let (world, strict) = (World::new(), FIREJAIL.replace(", when_missing: warn", ""));
    let config = world.beside("strict.yaml", &strict);
    let refused = world.run(&["--config", &config, "call", "exec_shell", r#"{"command":"pwd"}"#]);
    assert_eq!(refused.error_code(), "IsolationTooWeak", "{refused:?}");
    let doctor = world.run(&["--config", &config, "doctor"]).json();
    let lacks = doctor.as_array().unwrap().iter().find(|row| row["row"] == "missing: private root").unwrap();
    assert!(lacks["detail"].as_str().unwrap().contains("sandbox.backend: native"), "{lacks}");
    let ran = shows_a_file(&world, as_ourselves, FIREJAIL);
    firejail_names(&ran, &["private root", "cgroup namespace"], &HELD);
    a_bomb_of_processes(FIREJAIL);
    // LIMIT: its private /tmp has no size, so only a control group counts what lies there, and only root has one.
    if is_root() {
        a_bomb_of_memory(FIREJAIL);
        a_bomb_of_memories(FIREJAIL);
    }
}

/// It leaves an ordinary user the IPC of the machine.
#[test]
fn firejail_names_what_it_lacks_for_an_ordinary_user() {
    if !is_root() {
        return skip("firejail as another user: the tests are not root");
    }
    if !has("setpriv", "firejail as another user") {
        return;
    }
    if firejail_works("another user", |world| finish(as_user(world, "env").args(PROBE), b"")) {
        let ran = shows_a_file(
            &World::new(),
            |world, args| {
                let mut command = as_user(world, crate::support::binary());
                command.arg("--state").arg(world.state()).args(args);
                command
            },
            FIREJAIL,
        );
        firejail_names(&ran, &["private root", "cgroup namespace", "ipc namespace"], &HELD);
    }
}

#[test]
fn a_backend_that_is_not_there_is_named() {
    let world = World::new();
    for (backend, program) in [("bubblewrap", "bwrap"), ("firejail", "firejail")] {
        let config = format!("sandbox: {{backend: {backend}}}\nenv: {{path: host}}\n");
        let config = world.beside("absent.yaml", &config);
        let mut command = world.command(&["--config", &config, "run", "--", "true"]);
        let ran = finish(command.env("PATH", world.home()), b"");
        assert_eq!(ran.code, 125, "{ran:?}");
        assert!(ran.stderr.contains(&format!("`{program}` is not installed")), "{ran:?}");
    }
}

/// There is no guard, so what is planted can only be told.
#[test]
fn what_is_planted_in_firejail_is_told_and_stays() {
    if !firejail_works("whoever runs the tests", |world| on_host(world, &PROBE)) {
        return;
    }
    let world = World::new();
    let config = world.beside("firejail.yaml", SWEPT_FIREJAIL);
    let plant = "mkdir -p .vscode .claude .git/hooks; echo x | tee .vscode/tasks.json .claude/settings.json .git/hooks/x";
    let ran = world.run(&["--config", &config, "run", "--", "sh", "-c", plant]);
    assert!(ran.stdout.contains(&b'x'), "{ran:?}");
    assert!(ran.stderr.contains("guard of names (sandbox.absent_names: sweep)"), "{ran:?}");
    for name in [".vscode", ".claude", ".git"] {
        let told = format!("`{name}` is protected and appeared during the run; it is still there");
        assert!(world.work().join(name).exists() && ran.stderr.contains(&told), "`{name}`: {ran:?}");
    }
}
