//! Projects whose own files run things: `run_test` does so inside the cage only, and what is hidden stays hidden.

use std::fs;

use serde_json::{Value, json};

use crate::programs_host::{has, holding};
use crate::support::World;

/// Tries everything that an attacker wants of a test run, and writes into the workspace what it got.
const ATTACK: &str = r#"#!/bin/sh
{ cat .env .env.local secrets/key ../outside "$HOME/notes"; env; cat /proc/*/environ; } >> got 2>/dev/null
echo x > ../escaped; echo x > "$OLD_HOME/escaped"; echo x > .git/hooks/post-checkout
echo ran >> ran
"#;

fn world() -> World {
    let world = World::new().with_env("BIRD", "feather");
    world.file(".env", "KEY=HIDDEN\n").file(".env.local", "KEY=HIDDEN\n").file("secrets/key", "HIDDEN\n");
    world.file("attack.sh", ATTACK).file("plain.txt", "KEY=shown\n");
    world.file("attack.js", "require('child_process').spawnSync('sh', ['attack.sh']);\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(world.work().join("attack.sh"), mode).unwrap();
    fs::write(world.dir().join("outside"), "OUTSIDE\n").unwrap();
    fs::write(world.home().join("notes"), "OUTSIDE\n").unwrap();
    world
}

/// The attack ran, got nothing, and reached nothing outside.
#[track_caller]
fn ran_inside(world: &World, result: &Value) {
    assert!(world.work().join("ran").exists(), "the project's own files run in its tests: {result}");
    let got = world.text("got");
    assert!(got.contains("PATH="), "{got}");
    for secret in ["HIDDEN", "OUTSIDE", "feather"] {
        assert!(!got.contains(secret), "{secret} in {got}");
    }
    let names = ["work", "home", "state", "outside", "tools.yaml"];
    for entry in fs::read_dir(world.dir()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&name.as_str()), "{name} was made outside");
    }
    assert_eq!(fs::read_dir(world.home()).unwrap().count(), 1);
    assert!(!world.work().join(".git").exists());
    assert_eq!(holding(&world.home(), "x\n").len(), 0);
}

#[track_caller]
fn run_test(world: &World, config: &str, arguments: &Value) -> Value {
    let config = world.beside("tools.yaml", config);
    let ran = world.run(&["--config", &config, "call", "run_test", &arguments.to_string()]);
    let result = ran.json();
    assert!(result["data"]["exit_code"].is_number(), "{ran:?}");
    assert_eq!(result["metadata"]["enforcement"], "full", "{ran:?}");
    result
}

#[test]
fn grep_does_not_find_what_is_hidden() {
    let world = world();
    let ran = world.call("exec_shell", &json!({"command": "grep -r KEY ."}));
    assert_eq!(ran.json()["data"]["stdout"], "./plain.txt:KEY=shown\n", "{ran:?}");
    let lines = [
        "grep -r KEY .",
        "grep -rs HIDDEN . secrets",
        "cat .e*",
        "find . -name '.env*' -size +0",
        "rg --hidden KEY",
    ];
    for line in lines {
        let ran = world.call("exec_shell", &json!({"command": line}));
        assert!(!ran.text().contains("HIDDEN\\n") && !ran.text().contains("=HIDDEN"), "{line}: {ran:?}");
    }
}

#[test]
fn a_python_project() {
    if !has("python3", "a Python project") {
        return;
    }
    let world = world();
    let test = "import os, subprocess, unittest\nsubprocess.call(['sh', 'attack.sh'])\n\
                class Hidden(unittest.TestCase):\n    def test_hidden(self):\n\
                \x20       self.assertEqual(open('.env').read() + open('plain.txt').read(), 'KEY=shown\\n')\n";
    world.file("pyproject.toml", "").file("test_hidden.py", test);
    // These run before any test does, if the interpreter finds them.
    world.file("sitecustomize.py", "import subprocess\nsubprocess.call(['sh', 'attack.sh'])\n");
    let config = "tools: {toolchain: {python: {detect: pyproject.toml, test: [python3, -m, unittest]}}}\n";
    let result = run_test(&world, config, &json!({}));
    assert_eq!(result["data"]["exit_code"], 0, "the file is there and empty: {result}");
    ran_inside(&world, &result);
}

/// The runner is the one that the cage finds: the machine's own `python3` may be another one, without `pytest`.
#[test]
fn a_conftest_of_pytest() {
    let world = world();
    let probe = world.run(&["run", "--", "pytest", "--version"]);
    if probe.code != 0 {
        return crate::support::skip("a hostile `conftest.py`: `pytest` is not among the system's programs");
    }
    world.file("pyproject.toml", "").file("test_a.py", "def test_a():\n    assert True\n");
    world.file("conftest.py", "import subprocess\nsubprocess.call(['sh', 'attack.sh'])\n");
    let result = run_test(&world, "", &json!({}));
    assert_eq!(
        (&result["data"]["exit_code"], &result["data"]["summary"]["passed"]),
        (&json!(0), &json!(1)),
        "{result}"
    );
    ran_inside(&world, &result);
}

/// A runner that an agent may have written: what it says is read, what it tries stays inside.
const OWN_RUNNER: &str = "#!/bin/sh\nsh attack.sh\necho 'FAILED test_a.py::test_b - assert 0'\n\
                          echo '1 failed, 2 passed in 0.01s'\nexit 1\n";

fn executable(world: &World, name: &str, text: &str) {
    world.file(name, text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(world.work().join(name), mode).unwrap();
}

#[test]
fn an_environment_of_the_project() {
    let world = world();
    world.file("api/pyproject.toml", "").file(".venv/pyvenv.cfg", "");
    world.file("api/attack.sh", ATTACK);
    executable(&world, ".venv/bin/pytest", &OWN_RUNNER.replace("attack.sh", "../attack.sh"));
    let result = run_test(&world, "", &json!({"target": "api"}));
    let data = &result["data"];
    assert_eq!(data["command"], json!(["../.venv/bin/pytest"]), "{result}");
    assert_eq!(data["summary"], json!({"passed": 2, "failed": 1, "skipped": 0}), "{result}");
    assert_eq!(data["failures"], json!(["test_a.py::test_b"]), "{result}");
    fs::rename(world.work().join("api/got"), world.work().join("got")).unwrap();
    fs::rename(world.work().join("api/ran"), world.work().join("ran")).unwrap();
    ran_inside(&world, &result);
}

/// THREAT: P04, a link that leads out of the workspace tells nothing of what is there.
#[test]
fn a_runner_is_a_file_of_the_workspace() {
    let world = world();
    world.file("pyproject.toml", "");
    executable(&world, "real.sh", "#!/bin/sh\necho '3 passed in 0.01s'\n");
    for (link, target) in [("there", "../outside"), ("missing", "../nothing"), ("own", "real.sh")] {
        std::os::unix::fs::symlink(target, world.work().join(link)).unwrap();
    }
    let call = |program: &str| {
        let config =
            format!("tools: {{toolchain: {{python: {{detect: pyproject.toml, test: [{program}]}}}}}}\n");
        let config = world.beside("tools.yaml", &config);
        world.run(&["--config", &config, "call", "run_test", "{}"]).json()
    };
    for program in ["./there", "./missing", "../outside"] {
        let error = call(program)["error"].clone();
        assert_eq!(error["code"], "NotInstalled", "{error}");
        assert_eq!(error["message"], format!("binary \"{program}\" not found on system"), "{error}");
    }
    assert_eq!(call("./own")["data"]["summary"]["passed"], 3);
    // As before, a path is no trusted name.
    assert_eq!(call("/srv/x")["error"]["code"], "UntrustedProgram");
}

#[test]
fn a_go_project() {
    if !has("go", "a Go project") {
        return;
    }
    let world = world();
    world.file("go.mod", "module example.com/hostile\n\ngo 1.18\n");
    let test = "package hostile\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\n\
                func TestA(t *testing.T) { exec.Command(\"sh\", \"attack.sh\").Run() }\n";
    world.file("a_test.go", test);
    let result = run_test(&world, "", &json!({}));
    assert_eq!(result["data"]["summary"]["passed"], 1, "{result}");
    assert!(world.work().join(".cage/go-build/README").exists(), "the cache is the cage's own");
    assert!(world.text(".cage/.gitignore").ends_with("\n*\n"));
    ran_inside(&world, &result);
}

#[test]
fn a_node_project() {
    if !has("npm", "a Node project") {
        return;
    }
    let world = world();
    let scripts =
        json!({"pretest": "sh attack.sh", "test": "sh attack.sh && echo passed", "posttest": "sh attack.sh"});
    world
        .file("package.json", json!({"name": "hostile", "version": "1.0.0", "scripts": scripts}).to_string());
    world.file(".npmrc", "script-shell=./attack.sh\nnode-options=--require=./attack.js\n");
    let result = run_test(&world, "", &json!({"language": "node"}));
    ran_inside(&world, &result);
}

#[test]
fn a_rust_project() {
    if !has("cargo", "a Rust project") {
        return;
    }
    // Toolchains are found beneath the person's home.
    let world = world().with_env("HOME", &std::env::var("HOME").unwrap());
    world.file(
        "Cargo.toml",
        "[package]\nname = \"hostile\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n",
    );
    world.file("Cargo.lock", "version = 3\n\n[[package]]\nname = \"hostile\"\nversion = \"0.1.0\"\n");
    world.file(
        "build.rs",
        "fn main() { std::process::Command::new(\"sh\").arg(\"attack.sh\").status().unwrap(); }\n",
    );
    world.file("src/lib.rs", "#[test]\nfn one() {}\n");
    world.file(".cargo/config.toml", "[target.'cfg(all())']\nrunner = [\"sh\", \"attack.sh\"]\n");
    let result = run_test(&world, "", &json!({"language": "rust"}));
    ran_inside(&world, &result);
}
