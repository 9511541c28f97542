//! Programs that plant protected names in every way they know, where they are only swept for. Looked at from the host,
//! after the call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::programs_host::{alive, as_nobody, has, is_root, marker, nothing_runs, until};
use crate::support::{World, finish, skip};

/// Who runs the binary.
#[derive(Debug, Clone, Copy)]
enum Who {
    Ourselves,
    Nobody,
}

/// Root enters every folder, so closed ones are only closed to somebody else.
fn everyone() -> Vec<Who> {
    if is_root() && has("setpriv", "planting as another user") {
        return vec![Who::Ourselves, Who::Nobody];
    }
    skip("planting as another user: the tests are not root");
    vec![Who::Ourselves]
}

fn command(world: &World, who: Who, args: &[&str]) -> Command {
    let config = sweep(world);
    let args = [&["--config", &config], args].concat();
    match who {
        Who::Ourselves => world.command(&args),
        Who::Nobody => as_nobody(world, &args),
    }
}

fn sweep(world: &World) -> String {
    world.beside("sweep.yaml", "sandbox: {absent_names: sweep}\n")
}

fn started(world: &World, who: Who, script: &str) -> Child {
    let mut command = command(world, who, &["run", "--", "sh", "-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Every path beneath the workspace, whose folders are then open.
fn everything(world: &World) -> Vec<String> {
    fn add(folder: &Path, base: &Path, all: &mut Vec<String>) {
        if fs::read_dir(folder).is_err() || mode(folder) & 0o100 == 0 {
            fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
        }
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            all.push(path.strip_prefix(base).unwrap().to_string_lossy().into_owned());
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                add(&path, base, all);
            }
        }
    }
    let mut all = Vec::new();
    add(&world.work(), &world.work(), &mut all);
    all.retain(|path| !path.starts_with(".vambrace"));
    all.sort();
    all
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// What a script leaves behind, beside `a.txt`.
#[track_caller]
fn check(script: &str, left: &[&str]) {
    for who in everyone() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let ran = finish(&mut command(&world, who, &["run", "--", "sh", "-c", script]), b"");
        assert_eq!(ran.code, 0, "{who:?}: {ran:?}");
        assert!(ran.stderr.contains("quarantine/"), "{who:?}: {ran:?}");
        let mut expected = vec!["a.txt"];
        expected.extend(left);
        expected.sort_unstable();
        assert_eq!(everything(&world), expected, "{who:?} {script}: {ran:?}");
    }
}

#[test]
fn what_looks_like_something_else() {
    let bare =
        "mkdir -p .idea/objects .idea/refs; echo 'ref: refs/heads/m' > .idea/HEAD; echo x > .idea/tasks";
    check(bare, &[]);
    check("mkdir cfg; echo x > cfg/config.toml; ln -s cfg .cargo", &["cfg", "cfg/config.toml"]);
    check("mkdir -p secrets/.vscode s/.env.d/.git/hooks", &["s", "s/.env.d", "secrets"]);
    check("mkdir -p Node_Modules/p/.vscode", &["Node_Modules", "Node_Modules/p"]);
    check("mkfifo .envrc; mkdir s; mkfifo s/.mcp.json", &["s"]);
    check("echo x > b; ln b .envrc; ln -s /etc .idea; ln -s nowhere .zed", &["b"]);
    check(
        "mkdir .VSCODE .Idea; mkdir .CARGO; echo x > .CARGO/Config.toml; echo x > A.Code-Workspace",
        &[".CARGO"],
    );
}

#[test]
fn what_is_hidden_behind_closed_folders() {
    for mode in ["000", "111", "311", "400", "600"] {
        let script = format!(
            "mkdir -p d/e/.idea; echo x > d/.envrc; chmod {mode} d/e/.idea d/e d; mkdir s; echo x > s/.envrc; chmod 555 s"
        );
        check(&script, &["d", "d/e", "s"]);
    }
    let nested = "p=n; mkdir n; for i in 1 2 3 4 5 6 7 8 9; do p=$p/n/n/n/n/n/n/n/n; mkdir -p $p; done; echo x > $p/.envrc
                  find n -depth -type d -exec chmod 111 {} \\;";
    let folders: Vec<String> = (1..=73).map(|n_parts| vec!["n"; n_parts].join("/")).collect();
    check(nested, &folders.iter().map(String::as_str).collect::<Vec<_>>());
}

/// What is too deep to be looked into goes as a whole.
#[test]
fn what_lies_too_deep() {
    let script =
        "p=n; i=1; while [ $i -lt 110 ]; do p=$p/n; i=$((i+1)); done; mkdir -p $p; echo x > $p/.envrc";
    let folders: Vec<String> = (1..=96).map(|n_parts| vec!["n"; n_parts].join("/")).collect();
    check(script, &folders.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn more_than_anyone_counts() {
    let world = World::new();
    let script = "mkdir p; cd p; i=0; while [ $i -lt 11000 ]; do mkdir $i; : > $i/.envrc; i=$((i+1)); done";
    let ran = world.run(&["--config", &sweep(&world), "run", "--", "sh", "-c", script]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(everything(&world).iter().filter(|path| path.ends_with(".envrc")).count(), 0);
}

/// The empty folders that we make ourselves, and what is planted beside them.
#[test]
fn a_service_that_is_closed_by_its_program() {
    for who in everyone() {
        for (plant, closed, found) in
            [("", 0o555, 0o555), ("echo x > .envrc;", 0o555, 0o555), ("", 0o311, 0o711)]
        {
            let world = World::new();
            world.file("a.txt", "one\n");
            let script = format!("{plant} chmod {closed:o} .");
            let ran = finish(&mut command(&world, who, &["run", "--", "sh", "-c", &script]), b"");
            assert_eq!(ran.code, 0, "{who:?}: {ran:?}");
            // Nobody could read it any more, so it stays open; root can, and leaves it alone.
            let expected = if matches!(who, Who::Nobody) || !is_root() { found } else { closed };
            assert_eq!(
                (mode(&world.work()), everything(&world)),
                (expected, vec!["a.txt".to_owned()]),
                "{who:?}"
            );
            fs::set_permissions(world.work(), PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
}

/// The first plants; the second begins, so that it finds the plants there; the first ends and is swept after; the second
/// plants the same again.
#[test]
fn two_processes_do_not_take_each_others_plants_for_old() {
    for who in everyone() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let there = |name: &str| until(name, || world.work().join(name).exists());
        let plant = "echo x > .envrc; mkdir -p s secrets/.idea; echo x > s/.npmrc;";
        let mut first = started(&world, who, &format!("{plant} : > one; while [ ! -e go-one ]; do :; done"));
        there("one");
        let mut second =
            started(&world, who, &format!(": > two; while [ ! -e go-two ]; do :; done; {plant} :"));
        there("two");
        world.file("go-one", "");
        assert_eq!(first.wait().unwrap().code(), Some(0));
        assert!(!everything(&world).iter().any(|path| path.ends_with("rc")), "{who:?}");
        world.file("go-two", "");
        assert_eq!(second.wait().unwrap().code(), Some(0));
        let left = ["a.txt", "go-one", "go-two", "one", "s", "secrets", "two"];
        assert_eq!(everything(&world), left, "{who:?}");
    }
}

/// A process of which the other one knew is killed while that one is at work.
#[test]
fn what_a_killed_process_planted_is_taken_by_one_that_goes_on() {
    for who in everyone() {
        let (world, sleep) = (World::new(), marker());
        world.file("a.txt", "one\n");
        let mut command = command(&world, who, &["call", "--batch"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output));
        let mut ask = || {
            let line = b"{\"tool\":\"exec_shell\",\"arguments\":{\"command\":\"ls\"}}\n";
            std::io::Write::write_all(&mut input, line).unwrap();
            lines.next().unwrap().unwrap()
        };
        assert!(ask().contains("a.txt"));
        let plant = "mkdir d s; echo x > d/.envrc; mkdir d/.idea; chmod 311 d; echo x > s/.npmrc;";
        let mut killed = started(&world, who, &format!("{plant} sleep {sleep}"));
        until("it sleeps", || !alive(&sleep).is_empty());
        killed.kill().unwrap();
        killed.wait().unwrap();
        nothing_runs(&sleep);
        let said = ask();
        assert!(said.contains("quarantine/"), "{said}");
        drop(input);
        server.wait().unwrap();
        assert_eq!(mode(&world.work().join("d")), 0o311);
        assert_eq!(everything(&world), names(&["a.txt", "d", "s"]));
    }
}

#[test]
fn what_was_planted_behind_a_closed_folder_before_the_kill_does_not_stay() {
    for who in everyone() {
        let (world, sleep) = (World::new(), marker());
        let plant = "mkdir -p d/e f; echo x > d/e/.envrc; mkdir d/.idea; chmod 000 d/e; chmod 311 d; echo x > f/.npmrc; chmod 600 f;";
        let mut killed = started(&world, who, &format!("{plant} sleep {sleep}"));
        until("it sleeps", || !alive(&sleep).is_empty());
        killed.kill().unwrap();
        killed.wait().unwrap();
        nothing_runs(&sleep);
        let ran = finish(&mut command(&world, who, &["run", "--", "sh", "-c", "exit 4"]), b"");
        assert_eq!(ran.code, 4, "{ran:?}");
        for (folder, found) in [("d", 0o311), ("d/e", 0), ("f", 0o600)] {
            assert_eq!(mode(&world.work().join(folder)), found, "{who:?} {folder}");
        }
        assert_eq!(everything(&world), names(&["d", "d/e", "f"]), "{who:?}");
    }
}

/// A folder that somebody else made beside a running program. What we cannot enter, no program of ours could.
#[test]
fn a_closed_folder_of_somebody_else_is_not_the_programs() {
    if !is_root() || !has("setpriv", "a folder of somebody else") {
        return skip("a folder of somebody else: the tests are not root");
    }
    let world = World::new();
    let mut child = started(&world, Who::Nobody, ": > one; while [ ! -e go ]; do :; done");
    until("it runs", || world.work().join("one").exists());
    world.file("data/x", "theirs").file("open/x", "theirs");
    fs::set_permissions(world.work().join("data"), PermissionsExt::from_mode(0o700)).unwrap();
    world.file("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!((world.text("data/x").as_str(), mode(&world.work().join("data"))), ("theirs", 0o700));
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
