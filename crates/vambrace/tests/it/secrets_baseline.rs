//! `secrets baseline`: what a person accepts is shown and may be written; nobody else can accept anything.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Ran, World, credential};

const FILE: &str = ".vambrace/secrets-baseline.json";

/// Put together at run time; nobody's password.
fn sample() -> String {
    ["kQz9", "ghij", "12Wn", "4vRt"].concat()
}

fn world() -> World {
    let world = World::new();
    world.file("conf.ini", format!("[db]\npassword = \"{}\"\n", sample()));
    world.file("docs/a.md", format!("use {} here\n", credential()));
    world
        .file(".gitignore", "out/\n")
        .file("out/log.txt", credential())
        .file(".env.local", credential().replace("a1", "c9"));
    world
}

#[track_caller]
fn baseline(world: &World, args: &[&str]) -> Value {
    let ran = world.run(&[&["secrets", "baseline"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    let shown = ran.json();
    for secret in [sample(), credential()] {
        assert!(!ran.text().contains(&secret) && !ran.stderr.contains(&secret), "a value is shown");
    }
    shown
}

fn places(shown: &Value) -> Vec<(String, u64, String)> {
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("path"), row["line"].as_u64().unwrap(), text("rule"))
    };
    shown["findings"].as_array().unwrap().iter().map(row).collect()
}

fn read(world: &World, path: &str) -> String {
    world.call("read_file", &json!({"path": path})).json()["data"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn looking_writes_nothing_and_sees_what_a_search_sees() {
    let world = world();
    let shown = baseline(&world, &[]);
    let expected = [("conf.ini", 2, "secret-assignment"), ("docs/a.md", 1, "github-token")];
    let expected = expected.map(|(path, line, rule)| (path.to_owned(), line, rule.to_owned()));
    assert_eq!(places(&shown), expected, "neither ignored nor blocked files");
    assert_eq!((&shown["written"], &shown["accepted"]), (&json!(false), &json!(0)));
    assert!(!world.work().join(FILE).exists());
    baseline(&world, &["--write", "--dry-run"]);
    assert!(!world.work().join(FILE).exists());
}

#[test]
fn what_is_accepted_is_shown_and_may_be_written() {
    let world = world();
    assert!(read(&world, "docs/a.md").contains("[REDACTED:github-token]"));
    baseline(&world, &["--write", "docs"]);
    assert_eq!(read(&world, "docs/a.md"), format!("use {} here\n", credential()));
    assert!(read(&world, "conf.ini").contains("[REDACTED:"), "the other one was not looked at");
    let copy = world.call("write_file", &json!({"path": "new.md", "content": credential()}));
    assert_eq!(copy.code, 0, "{copy:?}");
    assert_eq!(world.feed(&["redact"], credential()).text(), credential());
    assert_eq!(world.feed(&["check", "text"], credential()).code, 0);
    // One character more is another value.
    assert_eq!(world.feed(&["check", "text"], credential().replace("a1", "b7")).code, 3);
    assert!(places(&baseline(&world, &["docs"])).is_empty());
}

#[test]
fn the_file_is_stable_and_holds_no_value() {
    let world = world();
    baseline(&world, &["--write"]);
    let first = world.text(FILE);
    let kept: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&kept["version"], kept["salt"].as_str().unwrap().len()), (&json!(1), 32));
    assert_eq!(kept["accepted"].as_array().unwrap().len(), 2);
    assert!(!first.contains(&sample()) && !first.contains(&credential()));
    baseline(&world, &["--write"]);
    assert_eq!(world.text(FILE), first);
    // Old entries stay until they are pruned.
    fs::remove_file(world.work().join("conf.ini")).unwrap();
    baseline(&world, &["--write"]);
    assert_eq!(world.text(FILE), first);
    assert_eq!(baseline(&world, &["--write", "--prune"])["pruned"], 1);
    let kept: Value = serde_json::from_str(&world.text(FILE)).unwrap();
    assert_eq!(kept["accepted"].as_array().unwrap().len(), 1);
}

#[test]
fn a_known_value_is_never_accepted() {
    let world = world().with_env("DEPLOY_TOKEN", &credential());
    let ran = world.run(&["secrets", "baseline", "--write"]);
    assert_eq!(places(&ran.json()).len(), 1, "{ran:?}");
    assert!(ran.stderr.contains("docs/a.md:1"), "{ran:?}");
    // Accepted while nobody knew it, and known later.
    let world = self::world();
    baseline(&world, &["--write"]);
    let world = world.with_env("DEPLOY_TOKEN", &credential());
    assert_eq!(read(&world, "docs/a.md"), "use [REDACTED:env-deploy-token] here\n");
}

#[test]
fn a_file_that_is_not_understood_stops_the_start() {
    let world = world();
    for (text, expected) in
        [("{\n\"version\": 1,\n!", "line 3"), (r#"{"version": 9, "salt": "", "accepted": []}"#, "version 9")]
    {
        world.file(FILE, text);
        for args in [&["call", "list_files"][..], &["redact"], &["check", "text"], &["secrets", "baseline"]] {
            let ran = world.run(args);
            assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
            assert!(ran.stderr.contains(FILE) && ran.stderr.contains(expected), "{ran:?}");
        }
    }
    fs::remove_file(world.work().join(FILE)).unwrap();
    world.file("elsewhere.json", "{}").link(FILE, "../elsewhere.json");
    let ran = world.run(&["call", "list_files"]);
    assert!(ran.code == 2 && ran.stderr.contains("link"), "{ran:?}");
}

#[track_caller]
fn denied(ran: &Ran) {
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "ProtectedPath"), "{ran:?}");
}

/// THREAT: P02, an agent that accepts a finding by itself.
#[test]
fn neither_tools_nor_caged_programs_can_change_it() {
    let world = world();
    let content = r#"{"version": 1, "salt": "0123456789abcdef", "accepted": []}"#;
    denied(&world.call("write_file", &json!({"path": FILE, "content": content})));
    baseline(&world, &["--write", "docs"]);
    let before = world.text(FILE);
    denied(&world.call("write_file", &json!({"path": FILE, "content": content})));
    denied(&world.call("delete_file", &json!({"path": FILE})));
    denied(&world.call("edit_file", &json!({"path": FILE, "old_text": "version", "new_text": "x"})));
    for script in [
        format!("echo '{content}' > {FILE}"),
        format!("rm -f {FILE}"),
        format!("mv .vambrace other; mkdir .vambrace; echo '{content}' > {FILE}"),
        format!("echo '{content}' > x; mv -f x {FILE}"),
        format!("echo '{content}' > y; ln -f y {FILE}"),
    ] {
        world.run(&["run", "--", "sh", "-c", &script]);
        assert_eq!(world.text(FILE), before, "{script}");
    }
}

#[test]
fn paths_outside_and_blocked_are_refused() {
    let world = world();
    for path in ["../x", "/etc", ".env.local", "absent"] {
        let ran = world.run(&["secrets", "baseline", path]);
        assert!(
            ran.code == 1 && ran.stdout.is_empty() && ran.stderr.starts_with("error: "),
            "{path}: {ran:?}"
        );
    }
    let wrong = world.run(&["secrets", "baseline", "--prune"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

/// What a team accepted is shared; the log beside it is not.
#[test]
fn the_list_can_be_committed() {
    let ignored = |world: &World| fs::read_to_string(world.work().join(".vambrace/.gitignore")).unwrap();
    let fresh = world();
    let operator = fresh.beside("operator.yaml", "audit: {mirror: true}\n");
    fresh.run(&["--config", &operator, "call", "list_files"]);
    assert_eq!(ignored(&fresh), "*\n!secrets-baseline.json\n");
    // As an earlier version made it.
    let old = world();
    old.file(".vambrace/.gitignore", "*\n");
    baseline(&old, &["--write"]);
    assert_eq!(ignored(&old), "*\n!secrets-baseline.json\n");
    // A person's own stays.
    let own = world();
    own.file(".vambrace/.gitignore", "*.jsonl\n");
    baseline(&own, &["--write"]);
    assert_eq!(ignored(&own), "*.jsonl\n");
}
