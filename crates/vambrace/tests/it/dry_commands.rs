//! `--dry-run` with every command: nothing is changed, or the command says that it has no dry run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::http_world::Served;
use crate::mcp_client::Client;
use crate::support::{World, finish};

/// The commands that the binary itself lists, with those below them: a new one without a row below fails the test.
fn commands(world: &World, above: &[String]) -> BTreeSet<String> {
    let args: Vec<&str> = above.iter().map(String::as_str).chain(["--help"]).collect();
    let help = finish(world.bare(crate::support::binary()).args(&args), b"").text();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| line.starts_with("  ")).filter_map(|line| {
        let name = line.trim_start().split(' ').next()?;
        (line.len() - line.trim_start().len() == 2).then(|| name.to_owned())
    });
    let mut found = BTreeSet::new();
    for name in names {
        let whole: Vec<String> = above.iter().cloned().chain([name]).collect();
        let below = commands(world, &whole);
        found.insert(whole.join(" "));
        found.extend(below);
    }
    found
}

/// Every file and folder by its bytes, except the audit log: that a call was shown is on record.
fn seen(folders: &[PathBuf]) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut rest = folders.to_vec();
    while let Some(path) = rest.pop() {
        // The segments of the audit log, their heads, the list of them, which grows when the one before is still in use, and
        // the mirror for agents; and by what name the control groups of this process go, so that the next one finds them
        // after a kill.
        let is_log = [
            "audit/segments",
            "audit/heads",
            "audit/segments.jsonl",
            "audit/segments.head",
            ".vambrace/tool_log.jsonl",
            "state/groups",
        ];
        if is_log.iter().any(|log| path.ends_with(log)) {
            continue;
        }
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            rest.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let bytes = about.is_file().then(|| std::fs::read(&path).unwrap());
        found.insert(path, bytes);
    }
    found
}

struct Shown {
    world: World,
    config: String,
    folders: Vec<PathBuf>,
    asked: String,
}

impl Shown {
    /// A state folder in which everything has happened once: a call, a question, a stop, a program.
    fn new() -> Shown {
        let world = World::new();
        world.file("a.txt", "one\n").file("found.txt", format!("token = {}\n", crate::support::credential()));
        let config = world.beside("operator.yaml", "rules: [{tool: delete_file, decision: ask}]\n");
        let folders = vec![world.work(), world.home(), world.state()];
        let mut shown = Shown { world, config, folders, asked: String::new() };
        let delete = shown.run(&["call", "delete_file", r#"{"path":"a.txt"}"#]);
        shown.asked = delete.json()["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
        assert_eq!(shown.run(&["stop", "somebody"]).code, 0);
        assert_eq!(Served::with_args(&shown.world, &["--config", &shown.config]).end(), 0);
        // Where no program can be started this is refused, which is as good here.
        shown.run(&["run", "--", "true"]);
        shown
    }

    fn run(&self, args: &[&str]) -> crate::support::Ran {
        self.world.run(&[&["--config", &self.config], args].concat())
    }

    /// `code` is 2 where the command refuses.
    #[track_caller]
    fn check(&self, args: &[&str], code: i32) {
        let before = seen(&self.folders);
        let ran = self.run(&[&["--dry-run"], args].concat());
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        if code == 2 {
            assert!(ran.stderr.contains("no dry run") && ran.stdout.is_empty(), "{args:?}: {ran:?}");
        }
        self.demand_same(&before, args);
    }

    #[track_caller]
    fn demand_same(&self, before: &BTreeMap<PathBuf, Option<Vec<u8>>>, args: &[&str]) {
        let after = seen(&self.folders);
        let differ = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let changed: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(differ).collect();
        assert!(changed.is_empty(), "{args:?} changed {changed:?}");
    }
}

#[test]
fn every_command_honours_a_dry_run_or_refuses_it() {
    let shown = Shown::new();
    let file = shown.world.dir().join("work/new.yaml").to_str().unwrap().to_owned();
    let folder = shown.world.dir().join("work/reference").to_str().unwrap().to_owned();
    let write = json!({"path": "new.txt", "content": "x"}).to_string();
    let rows: &[(&str, &[&str], i32)] = &[
        ("call", &["call", "write_file", &write], 0),
        ("call", &["call", "delete_file", r#"{"path":"a.txt"}"#], 4),
        ("check path", &["check", "path", "a.txt", "--for", "write"], 0),
        ("check command", &["check", "command", "ls"], 0),
        ("check url", &["check", "url", "http://127.0.0.1/"], 3),
        ("check text", &["check", "text"], 0),
        ("run", &["run", "--", "touch", "new.txt"], 0),
        ("redact", &["redact", "a.txt"], 0),
        ("secrets baseline", &["secrets", "baseline", "--write"], 0),
        ("audit list", &["audit", "list"], 0),
        ("audit show", &["audit", "show", "absent"], 1),
        ("audit verify", &["audit", "verify"], 0),
        ("audit alerts", &["audit", "alerts"], 0),
        ("audit export", &["audit", "export"], 0),
        ("stop", &["stop"], 2),
        ("stop", &["stop", "local"], 2),
        ("stop", &["stop", "--list"], 0),
        ("resume", &["resume", "somebody"], 2),
        ("config init", &["config", "init", &file], 2),
        ("config init", &["config", "init"], 2),
        ("config check", &["config", "check"], 0),
        ("config schema", &["config", "schema"], 0),
        ("config show", &["config", "show"], 0),
        ("approvals", &["approvals"], 0),
        ("approvals approve", &["approvals", "approve", &shown.asked], 2),
        ("approvals reject", &["approvals", "reject", &shown.asked], 2),
        ("token internal", &["token", "internal"], 2),
        ("token api-key", &["token", "api-key", "somebody"], 2),
        ("token task", &["token", "task"], 2),
        ("doctor", &["doctor"], 2),
        ("completions", &["completions", "bash"], 0),
        ("man", &["man"], 0),
        // Hidden from the help.
        ("reference", &["reference", &folder], 2),
    ];
    // A client keeps these two open; below.
    let kept_open = ["serve", "mcp"];
    // Of these only what is below them can be asked for.
    let groups = ["check", "secrets", "audit", "config", "token"];
    let tried: BTreeSet<&str> = rows.iter().map(|row| row.0).chain(kept_open).chain(groups).collect();
    for command in commands(&shown.world, &[]) {
        assert!(tried.contains(command.as_str()), "`{command}` has no row here");
    }
    for (_, args, code) in rows {
        shown.check(args, *code);
    }
}

#[test]
fn what_serves_under_a_dry_run_changes_nothing() {
    let shown = Shown::new();
    let before = seen(&shown.folders);
    {
        let mut client = Client::open(&shown.world, &["--dry-run"]);
        let written = client.call("write_file", &json!({"path": "new.txt", "content": "x"}));
        assert_eq!(written["structuredContent"]["metadata"]["dry_run"], true, "{written}");
    }
    shown.demand_same(&before, &["mcp"]);
    {
        let mut served = Served::with_args(&shown.world, &["--config", &shown.config, "--dry-run"]);
        let written = served.post("/api/tools/write_file", &json!({"path": "new.txt", "content": "x"}));
        assert_eq!(written.json()["metadata"]["dry_run"], true, "{written:?}");
        assert_eq!(served.end(), 0);
    }
    shown.demand_same(&before, &["serve"]);
}

/// The first start makes a token and keeps it; one that only shows keeps nothing.
#[test]
fn a_dry_first_start_keeps_no_token() {
    let world = World::new();
    assert_eq!(Served::with_args(&world, &["--dry-run"]).end(), 0);
    let token: &Path = &world.state().join("token");
    assert!(!token.exists());
}

#[test]
fn a_dry_run_of_a_program_says_that_nothing_was_started() {
    let ran = World::new().run(&["--dry-run", "run", "--", "echo", "words"]);
    assert!(ran.code == 0 && ran.stdout.is_empty() && ran.stderr.starts_with("dry run: nothing"), "{ran:?}");
}
