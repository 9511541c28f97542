//! A dry run gives the verdict of the real call, and changes nothing.

use serde_json::{Value, json};
use vambrace_runtime::{Incoming, Purpose, Reply, Verdict};
use vambrace_types::Status;

use crate::settings::{RuleText, Settings};
use crate::world::{World, code, demand_success};

const KEY: &str = "correct-horse-battery";

fn entries() -> Value {
    json!({
        "a.txt": "alpha\nbeta\n",
        "half.txt": "key = correct-horse-HERE\n",
        "main.rs": "fn main() {}\n",
        "folder/b.txt": "beta\n",
        "image": {"hex": "89504e470d0a00ff"},
        ".env": "SECRET=1\n",
        ".git/config": "[core]\n",
        "node_modules/x.js": "x\n",
        "inside": {"link": "a.txt"},
        "out": {"link": "../outside.txt"},
        "way": {"link": "folder"},
        "to_env": {"link": ".env"},
        "dangling": {"link": "nowhere"},
        "../outside.txt": "outside\n",
        "pipe": {"fifo": true},
        "twin.txt": {"hard_link_to": "folder/b.txt"},
        "deep/er/c.txt": "c\n",
        "frozen/d.txt": "d\n",
        "asked/e.txt": "e\n",
    })
}

fn settings() -> Settings {
    let rule = |path: &str, decision: &str| RuleText {
        tool: None,
        path: Some(path.to_owned()),
        decision: decision.to_owned(),
        reason: String::new(),
    };
    Settings {
        rules: vec![rule("frozen/**", "deny"), rule("asked/**", "ask")],
        ..Settings::knowing("DEPLOY_KEY", KEY)
    }
}

const PATHS: [&str; 27] = [
    "a.txt",
    "main.rs",
    "half.txt",
    "folder",
    "folder/b.txt",
    "image",
    ".env",
    ".ENV",
    ".git/config",
    "node_modules/x.js",
    "inside",
    "out",
    "way/b.txt",
    "way/new.txt",
    "to_env",
    "dangling",
    "pipe",
    "twin.txt",
    "../outside.txt",
    "deep/er/c.txt",
    "frozen/d.txt",
    "asked/e.txt",
    "nothing/at/all.txt",
    ".mcp.json",
    "a.txt/below",
    "",
    "a\0b",
];

/// Every tool that takes a path, with everything else in order.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let edit =
        |spec: &str, content: &str| json!({"path": path, "edits": [{"spec": spec, "content": content}]});
    vec![
        ("read_file", json!({"path": path})),
        ("list_files", json!({"path": path, "recursive": true})),
        ("search_file", json!({"path": path, "regex": "beta"})),
        ("count_matches", json!({"path": path, "regex": "beta"})),
        ("write_file", json!({"path": path, "content": "new\n"})),
        ("write_file", json!({"path": path, "content": format!("key = {KEY}")})),
        ("write_file", json!({"path": path, "content": "key = [REDACTED:env-deploy-key]"})),
        (
            "write_file",
            json!({"path": path, "content": format!("gh{}", "p_a1B2c3D4".to_owned() + &"e5F6".repeat(7))}),
        ),
        ("edit_file", edit("beta", "gamma")),
        ("edit_file", edit("HERE", "battery")), // puts the key together from what stands there
        ("edit_file", edit("beta", KEY)),
        ("edit_file", edit("", "x")),
        ("delete_file", json!({"path": path})),
        ("create_directory", json!({"path": path})),
        ("read_file", json!({"path": path, "max_bytes": 0})),
        ("write_file", json!({"path": path})),
    ]
}

#[track_caller]
fn check(settings: &Settings, paths: &[&str]) {
    let world = World::new(settings.clone(), &entries());
    for path in paths {
        for (tool, arguments) in calls(path) {
            let before = world.snapshot();
            let ask = |dry_run| {
                // Asked as a person asks: hundreds of denials in a row would be an attack.
                let purpose = Purpose::Check;
                world.send(Incoming { dry_run, purpose, ..world.incoming(tool, arguments.clone()) })
            };
            let preview = ask(true);
            assert_eq!(world.snapshot(), before, "a dry run of {tool} {arguments} changed something");
            let real = ask(false);
            let both = format!("{tool} {arguments}: {:?} and {:?}", preview.error(), real.error());
            demand_same_verdict(tool, &preview, &real, &both);
            if world.snapshot() != before {
                world.put_back(&entries());
            }
        }
    }
}

#[track_caller]
fn demand_same_verdict(tool: &str, preview: &Reply, real: &Reply, both: &str) {
    // LIMIT: the preview looks at the place of a folder as it would at a file, so it denies some calls that would have
    // failed for want of a folder. It never allows more.
    let for_folders = ["list_files", "create_directory"].contains(&tool);
    if for_folders && preview.verdict() == Verdict::Deny && real.status() == Status::Error {
        return;
    }
    assert_eq!(preview.verdict(), real.verdict(), "{both}");
    match real.verdict() {
        // How a denied or asked call is answered does not depend on the flag.
        Verdict::Deny | Verdict::Ask => assert_eq!(code(preview), code(real), "{both}"),
        Verdict::Allow if real.status() == Status::Success => demand_success(preview),
        Verdict::Allow => {}
    }
}

#[test]
fn a_dry_run_gives_the_verdict_of_the_real_call() {
    check(&settings(), &PATHS);
}

#[test]
fn and_so_it_does_for_a_role_and_a_mode_that_may_less() {
    let some = ["a.txt", ".env", "inside", "out", "way/b.txt", "frozen/d.txt", "asked/e.txt"];
    check(&Settings { role: "product_owner".to_owned(), ..settings() }, &some);
    check(&Settings { mode: "read".to_owned(), symlinks: "deny".to_owned(), ..settings() }, &some);
}

#[test]
fn a_dry_run_of_a_change_shows_the_diff_of_the_real_one() {
    let world = World::plain(entries());
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "alpha\ngamma\n"})),
        ("write_file", json!({"path": "fresh/new.txt", "content": "one\n"})),
        ("edit_file", json!({"path": "deep/er/c.txt", "old_text": "c", "new_text": "d"})),
    ] {
        let (preview, real) = (world.dry_run(tool, arguments.clone()), world.call(tool, arguments));
        assert_eq!(preview.data(), real.data());
        assert!(preview.metadata().dry_run && !real.metadata().dry_run);
        let records = world.records_of(&preview);
        assert_eq!(records.len(), 1, "a dry run has an outcome and no intent: {records:?}");
        assert_eq!((&records[0]["ending"], &records[0]["dry_run"]), (&json!("dry_run"), &json!(true)));
    }
}

#[test]
fn any_call_may_ask_for_a_dry_run_in_its_arguments() {
    let world = World::plain(json!({"a.txt": "alpha\n"}));
    // Whatever is not plainly `false` is the wish: a mistake in it must not become a change.
    for wish in [json!(true), json!("yes"), json!(1), json!(null), json!("false")] {
        let reply = world.call("write_file", json!({"path": "a.txt", "content": "x", "dry_run": wish}));
        demand_success(&reply);
        assert!(reply.metadata().dry_run, "{wish}");
        assert_eq!(world.file("a.txt"), "alpha\n", "{wish}");
        let records = world.records_of(&reply);
        assert_eq!((records.len(), &records[0]["dry_run"]), (1, &json!(true)), "{records:?}");
    }
    let reply = world.call("write_file", json!({"path": "a.txt", "content": "x", "dry_run": false}));
    demand_success(&reply);
    assert_eq!((reply.metadata().dry_run, world.file("a.txt").as_str()), (false, "x"));
    // A call that was handed in as a dry run cannot talk its way out of it.
    let reply = world.dry_run("write_file", json!({"path": "a.txt", "content": "y", "dry_run": false}));
    assert_eq!((reply.metadata().dry_run, world.file("a.txt").as_str()), (true, "x"));
}
