//! Programs that plant protected names where the operator wants no guard (`sandbox.absent_names:
//! sweep`): the sandbox says that it is partial, what was planted is told after the call, and
//! nothing of it is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::programs_host::{as_nobody, has, is_root};
use crate::support::{Ran, World, finish, skip};

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

fn sweep(world: &World) -> String {
    world.beside("sweep.yaml", "sandbox: {absent_names: sweep}\n")
}

fn run(world: &World, who: Who, script: &str) -> Ran {
    let config = sweep(world);
    let args = ["--config", &config, "run", "--", "sh", "-c", script];
    let mut command = match who {
        Who::Ourselves => world.command(&args),
        Who::Nobody => as_nobody(world, &args),
    };
    finish(&mut command, b"")
}

/// What is told of a script, by name.
#[track_caller]
fn check(script: &str, told: &[&str]) {
    for who in everyone() {
        let world = World::new();
        world.file("a.txt", "one\n");
        let ran = run(&world, who, script);
        assert_eq!(ran.code, 0, "{who:?}: {ran:?}");
        let lines = ran.stderr.lines().filter(|line| line.contains("appeared during the run"));
        let mut names: Vec<&str> = lines.filter_map(|line| line.split('`').nth(1)).collect();
        names.sort_unstable();
        assert_eq!(names, told, "{who:?} {script}: {ran:?}");
        for name in told {
            assert!(world.work().join(name).symlink_metadata().is_ok(), "`{name}` is gone: {ran:?}");
        }
    }
}

#[test]
fn what_looks_like_something_else_is_told() {
    let bare =
        "mkdir -p .idea/objects .idea/refs; echo 'ref: refs/heads/m' > .idea/HEAD; echo x > .idea/tasks";
    check(bare, &[".idea"]);
    check("mkdir cfg; echo x > cfg/config.toml; ln -s cfg .cargo", &[".cargo"]);
    check("mkdir -p Node_Modules/p/.vscode", &["Node_Modules/p/.vscode"]);
    check("mkfifo .envrc; mkdir s; mkfifo s/.mcp.json", &[".envrc", "s/.mcp.json"]);
    check("echo x > b; ln b .envrc; ln -s /etc .idea; ln -s nowhere .zed", &[".envrc", ".idea", ".zed"]);
    check(
        "mkdir .VSCODE .Idea; mkdir .CARGO; echo x > .CARGO/Config.toml; echo x > A.Code-Workspace",
        &[".CARGO/Config.toml", ".Idea", ".VSCODE", "A.Code-Workspace"],
    );
    check("echo x > plain; mkdir -p a/b", &[]);
}

#[test]
fn what_cannot_be_looked_into_is_told() {
    let deep = "p=n; i=1; while [ $i -lt 110 ]; do p=$p/n; i=$((i+1)); done; mkdir -p $p; echo x > $p/.envrc";
    let ran = run(&World::new(), Who::Ourselves, deep);
    assert!(ran.code == 0 && ran.stderr.contains("/n` cannot be read since the run"), "{ran:?}");
    let ran = run(&World::new(), Who::Ourselves, "mkdir -p secrets/.git/hooks");
    assert!(ran.code == 0 && ran.stderr.contains("`secrets` is blocked since the run"), "{ran:?}");
    for who in everyone().into_iter().filter(|who| matches!(who, Who::Nobody) || !is_root()) {
        let world = World::new();
        let ran = run(&world, who, "mkdir -p d/.idea; chmod 311 d");
        assert!(ran.code == 0 && ran.stderr.contains("`d` cannot be read since the run"), "{ran:?}");
        let mode = fs::metadata(world.work().join("d")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o311, "it is left as the program left it");
        let ran = run(&world, who, "chmod 000 .");
        assert!(ran.stderr.contains("protected names were not looked for after the run"), "{ran:?}");
        fs::set_permissions(world.work(), PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn of_many_names_some_are_told() {
    let world = World::new();
    let script = "mkdir p; cd p; i=0; while [ $i -lt 1000 ]; do mkdir $i; : > $i/.envrc; i=$((i+1)); done";
    let ran = run(&world, Who::Ourselves, script);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("980 more protected names or closed folders appeared"), "{ran:?}");
}

#[test]
fn the_sandbox_is_partial_and_says_so() {
    let world = World::new();
    let config = world.beside(
        "sweep.yaml",
        "sandbox: {absent_names: sweep}\ntools: {command_policy: {allowlist: [sh], argument_rules: \"off\"}}\n",
    );
    world.file("plant.sh", "echo x > .envrc; cat .envrc");
    let args = json!({"command": "sh plant.sh"}).to_string();
    for n_names in [1, 0] {
        let ran = world.run(&["--config", &config, "call", "exec_shell", &args]);
        let reply = ran.json();
        assert_eq!((ran.code, &reply["data"]["stdout"]), (0, &json!("x\n")), "{ran:?}");
        assert_eq!(reply["metadata"]["enforcement"], "partial", "{ran:?}");
        let said = reply.to_string();
        assert!(said.contains("The program ran without: guard of names"), "{ran:?}");
        assert_eq!(
            said.matches("`.envrc` is protected and appeared during the run").count(),
            n_names,
            "{ran:?}"
        );
    }
    let records = world.raw_records();
    assert_eq!(records.matches("`.envrc` is protected and appeared").count(), 1, "{records}");
    let doctor = world.run(&["--config", &config, "doctor"]);
    assert!(doctor.text().contains("sandbox.absent_names: refuse"), "{doctor:?}");
}

/// With a guard too: no single call makes it, so it is found after the run.
#[test]
fn a_folder_that_is_laid_out_like_a_repository_is_told() {
    let world = World::new();
    let script = "mkdir -p lib/objects lib/refs; echo 'ref: refs/heads/m' > lib/HEAD";
    let ran = world.run(&["run", "--", "sh", "-c", script]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("`lib` is protected and appeared during the run"), "{ran:?}");
    assert!(!ran.stderr.contains("ran without"), "{ran:?}");
}

/// What an earlier version kept in its state folder.
#[test]
fn an_older_state_folder_is_left_alone() {
    let world = World::new();
    let left = ["quarantine/1-0/0-.envrc", "runs/1-1-0"].map(|name| world.state().join(name));
    for path in &left {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "busy 00000000001790000000 000000123\nat /work /work 1\nend\n").unwrap();
    }
    let ran = world.run(&["run", "--", "sh", "-c", "echo x > made"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(left.iter().all(|path| path.exists()));
}
