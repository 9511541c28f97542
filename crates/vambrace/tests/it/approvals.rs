//! A question waits for a person, who answers from another process; the same call, made again, takes the answer once.

use std::fs;

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::programs_host::{has, on_host};
use crate::support::{Ran, World, credential};

const RULES: &str = "rules: [{tool: delete_file, decision: ask, reason: deleting needs a second look.}]\n";

struct Asking {
    world: World,
    file: String,
}

impl Asking {
    fn new() -> Asking {
        Asking::with("")
    }

    fn with(more: &str) -> Asking {
        let world = World::new();
        world.file("a.txt", "one\n").file("b.txt", "two\n");
        let file = world.beside("operator.yaml", &format!("{RULES}{more}"));
        Asking { world, file }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.world.run(&[&["--config", &self.file], args].concat())
    }

    fn delete(&self, path: &str) -> Ran {
        self.run(&["call", "delete_file", &json!({"path": path}).to_string()])
    }

    /// The call is refused with a question; its id.
    #[track_caller]
    fn asked(&self, ran: &Ran) -> String {
        assert_eq!((ran.code, ran.error_code().as_str()), (4, "ApprovalRequired"), "{ran:?}");
        let error = &ran.json()["error"];
        let id = error["details"]["approval_id"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned();
        let suggestion = error["suggestion"].as_str().unwrap();
        assert!(suggestion.contains(&format!("`vambrace approvals approve {id}`")), "{suggestion}");
        assert!(error["details"]["expires_at"].as_str().unwrap().ends_with('Z'), "{ran:?}");
        id
    }

    #[track_caller]
    fn approve(&self, id: &str) {
        let ran = self.run(&["approvals", "approve", id]);
        assert_eq!((ran.code, &ran.json()["state"]), (0, &json!("approved")), "{ran:?}");
    }

    fn waiting(&self) -> Vec<Value> {
        self.run(&["approvals"]).lines()
    }

    fn events(&self) -> Vec<Value> {
        let records = self.world.raw_records();
        let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["event"] == "approval").collect()
    }
}

#[test]
fn an_approved_call_is_done_once() {
    let asking = Asking::new();
    assert_eq!(asking.run(&["approvals"]).stdout, b"");
    let id = asking.asked(&asking.delete("a.txt"));
    assert_eq!(asking.asked(&asking.delete("a.txt")), id, "the same question waits already");
    let waiting = asking.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(
        (&waiting[0]["id"], &waiting[0]["tool"], &waiting[0]["caller"], &waiting[0]["state"]),
        (&json!(id), &json!("delete_file"), &json!("local"), &json!("waiting"))
    );
    let question = waiting[0]["question"].as_str().unwrap();
    assert_eq!(question, r#"deleting needs a second look. It is called with {"path":"a.txt"}."#);

    asking.approve(&id);
    let done = asking.delete("a.txt");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!asking.world.work().join("a.txt").exists());
    // The same state again, but the approval was used up.
    asking.world.file("a.txt", "one\n");
    assert_ne!(asking.asked(&asking.delete("a.txt")), id);

    let events = asking.events();
    let call_id = done.json()["metadata"]["call_id"].clone();
    assert_eq!(events.len(), 2, "{events:?}"); // the answer, and its use
    assert!(events.iter().all(|event| event["by"] == "a person at this machine"), "{events:?}");
    assert!(events.iter().all(|event| event["details"]["approval_id"] == json!(id)), "{events:?}");
    assert_eq!(events[1]["call_id"], call_id);
    let shown = asking.run(&["audit", "show", call_id.as_str().unwrap()]).text();
    let at = |what: &str| shown.find(what).unwrap_or_else(|| panic!("{what}: {shown}"));
    assert!(at("\"approval\"") < at("\"intent\"") && at("\"intent\"") < at("\"outcome\""), "{shown}");
    assert_eq!(asking.run(&["audit", "verify"]).code, 0);
}

#[test]
fn anything_else_than_what_was_approved_is_another_question() {
    type Change = fn(&Asking) -> Ran;
    let rows: [(&str, Change); 6] = [
        ("the file", |asking| {
            asking.world.file("a.txt", "two\n");
            asking.delete("a.txt")
        }),
        ("the file, exchanged for an equal one", |asking| {
            let path = asking.world.work().join("a.txt");
            fs::rename(&path, asking.world.work().join("old.txt")).unwrap();
            fs::copy(asking.world.work().join("old.txt"), &path).unwrap();
            asking.delete("a.txt")
        }),
        ("the arguments", |asking| asking.delete("b.txt")),
        ("the role", |asking| asking.run(&["--role", "sre", "call", "delete_file", r#"{"path":"a.txt"}"#])),
        ("the mode", |asking| {
            asking.run(&["--tool", "read,write", "call", "delete_file", r#"{"path":"a.txt"}"#])
        }),
        ("the policy", |asking| {
            asking.world.beside("operator.yaml", &format!("{RULES}limits: {{time: 29}}\n"));
            asking.delete("a.txt")
        }),
    ];
    for (what, change) in rows {
        let asking = Asking::new();
        let id = asking.asked(&asking.delete("a.txt"));
        asking.approve(&id);
        assert_ne!(asking.asked(&change(&asking)), id, "{what}");
        assert!(asking.world.work().join("a.txt").exists(), "{what}");
    }
}

/// A yes to a command that runs a script is one to this script.
#[test]
fn a_file_that_a_program_could_run_is_part_of_the_question() {
    let rows = [("exec_shell", json!({"command": "ls"})), ("run_test", json!({}))];
    for (tool, arguments) in rows {
        let world = World::new();
        world.file("pyproject.toml", "").file("sub/run.sh", "echo 1\n");
        let rule = format!("rules: [{{tool: {tool}, decision: ask, reason: look first.}}]\n");
        let chain = "tools: {toolchain: {python: {detect: pyproject.toml, test: [ls]}}}\n";
        let file = world.beside("operator.yaml", &format!("{rule}{chain}"));
        let asking = Asking { world, file };
        let call = || asking.run(&["call", tool, &arguments.to_string()]);
        let id = asking.asked(&call());
        asking.approve(&id);
        asking.world.file("sub/run.sh", "echo 2\n");
        let next = asking.asked(&call());
        assert_ne!(next, id, "{tool}");
        // Other calls, and the record of them, change nothing of it.
        assert_eq!(asking.run(&["call", "read_file", r#"{"path":"sub/run.sh"}"#]).code, 0);
        assert_eq!(asking.asked(&call()), next, "{tool}");
        asking.approve(&next);
        let done = call();
        assert_eq!(done.json()["data"]["exit_code"], 0, "{tool}: {done:?}");
    }
}

/// Of a folder, the repository in it is what was asked about.
#[test]
fn a_repository_that_moved_on_is_another_question() {
    if !has("git", "a question about a repository") {
        return;
    }
    let world = World::new();
    world.file("a.txt", "one\n").file("b.txt", "two\n");
    let file =
        world.beside("operator.yaml", "rules: [{tool: git_commit, decision: ask, reason: look first.}]\n");
    let asking = Asking { world, file };
    let git = |args: &[&str]| {
        let who = ["git", "-c", "user.name=test", "-c", "user.email=test@example.com"];
        let ran = on_host(&asking.world, &[&who[..], args].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "a.txt"]);
    let commit = || asking.run(&["call", "git_commit", r#"{"message":"feat: start"}"#]);
    let mut seen = vec![asking.asked(&commit())];
    for args in [&["add", "b.txt"][..], &["commit", "-q", "-m", "start"], &["checkout", "-q", "-b", "other"]]
    {
        assert_eq!(asking.asked(&commit()), *seen.last().unwrap(), "nothing has happened");
        asking.approve(seen.last().unwrap());
        git(args);
        let id = asking.asked(&commit());
        assert!(!seen.contains(&id), "{args:?}");
        seen.push(id);
    }
}

/// A rule with a path asks like any other: the yes opens what was asked about, once.
#[test]
fn a_rule_about_a_path_can_be_satisfied() {
    let world = World::new();
    world.file("ask/old.txt", "one\n").file("plain.txt", "two\n").link("way", "ask");
    let rules = "rules:\n  - {tool: write_file, path: 'ask/**', decision: ask}\n  - {tool: read_file, path: ask, decision: ask}\n";
    let file = world.beside("operator.yaml", rules);
    let asking = Asking { world, file };
    let calls = [
        ("write_file", json!({"path": "ask/new/x.txt", "content": "x\n"})),
        ("write_file", json!({"path": "ask/old.txt", "content": "x\n"})),
        ("read_file", json!({"path": "ask/old.txt"})),
        ("search_file", json!({"path": "ask", "regex": "x"})),
    ];
    for (tool, arguments) in calls {
        let call = || asking.run(&["call", tool, &arguments.to_string()]);
        asking.approve(&asking.asked(&call()));
        let done = call();
        assert_eq!((done.code, &done.json()["status"]), (0, &json!("success")), "{tool}: {done:?}");
        asking.asked(&call());
    }
    assert_eq!(asking.world.text("ask/new/x.txt"), "x\n");
    // Nobody is asked about a way round it.
    let round = asking.run(&["call", "write_file", r#"{"path":"way/y.txt","content":"y"}"#]);
    assert_eq!((round.code, round.error_code().as_str()), (3, "RuleDenied"), "{round:?}");
}

/// Where a file would come to be is part of the question, as long as it is not there.
#[test]
fn a_folder_that_became_a_link_is_another_question() {
    let world = World::new();
    world.file("src/x.txt", "one\n").file("tmp/d/x.txt", "one\n");
    let file = world.beside("operator.yaml", "rules: [{tool: write_file, decision: ask}]\n");
    let asking = Asking { world, file };
    let write = || asking.run(&["call", "write_file", r#"{"path":"tmp/d/new/n.txt","content":"x\n"}"#]);
    let id = asking.asked(&write());
    asking.approve(&id);
    let folder = asking.world.work().join("tmp/d");
    fs::rename(&folder, asking.world.work().join("tmp/old")).unwrap();
    asking.world.link("tmp/d", "../src");
    let next = asking.asked(&write());
    assert_ne!(next, id);
    assert!(!asking.world.work().join("src/new").exists());
    asking.approve(&next);
    assert_eq!(write().code, 0);
    assert_eq!(asking.world.text("src/new/n.txt"), "x\n");
}

/// Folders that come meanwhile, for another approved file perhaps, change nothing.
#[test]
fn several_new_files_of_a_new_folder_can_be_approved_together() {
    let world = World::new();
    let file = world.beside("operator.yaml", "rules: [{tool: write_file, decision: ask}]\n");
    let asking = Asking { world, file };
    let write = |path: &str| {
        asking.run(&["call", "write_file", &json!({"path": path, "content": "x\n"}).to_string()])
    };
    let paths = ["new/a.txt", "new/deep/b.txt", "new/deep/c.txt"];
    let ids = paths.map(|path| asking.asked(&write(path)));
    ids.iter().for_each(|id| asking.approve(id));
    for path in paths {
        assert_eq!(write(path).code, 0, "{path}");
    }
}

/// A program cannot be asked while it runs, so a yes would be used up for nothing.
#[test]
fn a_program_is_refused_what_a_rule_asks_about() {
    let world = World::new();
    world.file("ask/old.txt", "one\n");
    let file = world.beside("operator.yaml", "rules: [{tool: read_file, path: ask, decision: ask}]\n");
    let asking = Asking { world, file };
    let ran = asking.run(&["call", "exec_shell", r#"{"command":"cat ask/old.txt"}"#]);
    assert_eq!((ran.code, ran.error_code().as_str()), (3, "RuleDenied"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("cannot be asked while it runs"), "{message}");
    assert_eq!(asking.waiting(), Vec::<Value>::new());
}

#[test]
fn a_preview_and_a_check_leave_no_question() {
    let asking = Asking::new();
    let ran = asking.run(&["--dry-run", "call", "delete_file", r#"{"path":"a.txt"}"#]);
    assert_eq!((ran.code, &ran.json()["error"]["details"]), (4, &Value::Null), "{ran:?}");
    let ran = asking.run(&["call", "delete_file", r#"{"path":"a.txt","dry_run":true}"#]);
    assert_eq!(ran.code, 4, "{ran:?}");
    asking.run(&["check", "path", "a.txt", "--for", "delete"]);
    assert_eq!(asking.waiting(), Vec::<Value>::new());
    assert!(!asking.world.audit().join("approvals").exists());
}

#[test]
fn a_rejected_call_is_not_done() {
    let asking = Asking::new();
    let id = asking.asked(&asking.delete("a.txt"));
    let ran = asking.run(&["approvals", "reject", &id]);
    assert_eq!((ran.code, &ran.json()["state"]), (0, &json!("rejected")), "{ran:?}");
    let again = asking.delete("a.txt");
    assert_eq!((again.code, again.error_code().as_str()), (4, "ApprovalRequired"), "{again:?}");
    let message = again.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("said no"), "{message}");
    assert_eq!(asking.waiting(), Vec::<Value>::new(), "nobody is asked until they say yes");
    let late = asking.run(&["approvals", "approve", &id]);
    assert_eq!(late.code, 1, "{late:?}");
    assert!(late.stderr.contains("answered already"), "{late:?}");
    assert!(asking.world.work().join("a.txt").exists());
}

#[test]
fn what_has_expired_is_not_answered() {
    // Shorter than any process takes to start.
    let asking = Asking::with("approvals: {expires: 1ms}\n");
    let id = asking.asked(&asking.delete("a.txt"));
    let late = asking.run(&["approvals", "approve", &id]);
    assert_eq!(late.code, 1, "{late:?}");
    assert!(late.stderr.contains("has expired"), "{late:?}");
    assert_ne!(asking.asked(&asking.delete("a.txt")), id);
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let asking = Asking::new();
    let one = asking.asked(&asking.delete("a.txt"));
    let other = asking.asked(&asking.delete("b.txt"));
    for unknown in ["ap_0", "", "ap_", "../../etc/passwd", "ap_aaaaaaaaaaaaaaa"] {
        let ran = asking.run(&["approvals", "approve", unknown]);
        assert_eq!(ran.code, 1, "{ran:?}");
    }
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    asking.approve(one.split_at(common + 1).0);
    asking.approve(other.strip_prefix("ap_").unwrap());
    assert_eq!(asking.delete("a.txt").code, 0);
    assert_eq!(asking.delete("b.txt").code, 0);
}

/// A question is text for a person, and stays in a file: it is as clean as everything else that is kept.
#[test]
fn a_question_holds_no_secret() {
    let asking = Asking::new();
    let secret = credential();
    let path = format!("{secret}.txt");
    asking.world.file(&path, "x");
    asking.asked(&asking.delete(&path));
    for (path, bytes) in World::everything_in(&asking.world.state()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&secret), "{}", path.display());
    }
}

#[test]
fn without_a_place_for_questions_the_answer_is_the_same_and_says_so() {
    let asking = Asking::new();
    assert_eq!(asking.run(&["call", "read_file", r#"{"path":"a.txt"}"#]).code, 0);
    fs::write(asking.world.audit().join("approvals"), "not a folder").unwrap();
    let ran = asking.delete("a.txt");
    assert_eq!((ran.code, ran.error_code().as_str()), (4, "ApprovalRequired"), "{ran:?}");
    assert_eq!(ran.json()["error"]["details"], Value::Null);
    let warning = ran.json()["metadata"]["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.starts_with("No question was left for a person: "), "{warning}");
    assert!(!warning.contains(asking.world.dir().to_str().unwrap()), "{warning}");
}

#[test]
fn a_planted_file_is_told_and_answers_nothing() {
    let asking = Asking::new();
    let id = asking.asked(&asking.delete("a.txt"));
    let folder = asking.world.audit().join("approvals");
    let text = fs::read_to_string(folder.join(format!("{id}.json"))).unwrap();
    let forged = text
        .replace('}', ",\"answer\":\"approved\",\"by\":\"x\",\"answered_at\":\"2999-01-01T00:00:00.000Z\"}");
    fs::write(folder.join("ap_aaaaaaaaaa.json"), forged).unwrap();
    let listed = asking.run(&["approvals"]);
    assert!(listed.stderr.contains("ap_aaaaaaaaaa.json is no question of ours"), "{listed:?}");
    assert_eq!(asking.asked(&asking.delete("a.txt")), id);
}

#[test]
fn a_person_answers_beside_a_running_server() {
    let asking = Asking::with(NO_LIMIT);
    let served = Served::with_args(&asking.world, &["--config", &asking.file]);
    let delete = || served.post("/api/tools/delete_file", &json!({"path": "a.txt"})).json();
    let refused = delete();
    assert_eq!(refused["error"]["code"], "ApprovalRequired", "{refused}");
    let id = refused["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(asking.waiting()[0]["id"], json!(id));
    asking.approve(&id);
    assert_eq!(delete()["status"], "success");
    asking.world.file("a.txt", "one\n");
    assert_eq!(delete()["error"]["code"], "ApprovalRequired");
    assert_eq!(asking.waiting().len(), 1);
}

/// Many processes take one approval at once.
#[test]
fn of_several_processes_one_takes_the_approval() {
    let asking = Asking::new();
    let id = asking.asked(&asking.delete("a.txt"));
    asking.approve(&id);
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| asking.delete("a.txt").code)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert_eq!(asking.events().len(), 2);
}

/// THREAT: P01, a yes to a sentence that leaves out what matters. The caller chooses the order of its arguments.
#[test]
fn a_question_names_what_it_is_about_however_long_the_rest() {
    let world = World::new();
    let config = "rules: [{tool: write_file, decision: ask, reason: look first.}]\n";
    let config = world.beside("operator.yaml", config);
    let long = "x".repeat(5000);
    for (path, shown) in [
        ("SENSITIVE.txt", "It concerns `SENSITIVE.txt`."),
        ("vis\u{1b}ible", r"It concerns `vis\u{1b}ible`."),
        ("a\u{202e}txt.b", r"It concerns `a\u{202e}txt.b`."),
    ] {
        let arguments = serde_json::json!({"content": long, "path": path});
        let ran = world.run(&["--config", &config, "call", "write_file", &arguments.to_string()]);
        assert_eq!(ran.error_code(), "ApprovalRequired", "{ran:?}");
        let questions = world.run(&["approvals"]).lines();
        assert!(
            questions.iter().any(|one| one["question"].as_str().unwrap().contains(shown)),
            "{questions:?}"
        );
    }
}
