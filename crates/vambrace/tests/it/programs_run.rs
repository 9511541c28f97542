//! `vambrace run`: what a person types in front of a program, so it must behave like the program.

use std::fs;
use std::thread;

use serde_json::json;

use crate::mcp_client::Client;
use crate::support::{Ran, World, credential};

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
    let net = world.run(&["run", "--net", "example.com", "--", "true"]);
    assert_ne!(net.code, 0);
    assert!(net.stderr.contains("--net") && net.stderr.contains("no network"), "{net:?}");
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
