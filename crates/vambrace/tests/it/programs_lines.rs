//! Command lines that nobody should write, and everyday ones: what is refused names the word, is on record, and never hangs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Ran, World};

fn exec(line: &str) -> String {
    format!("{}\n", json!({"tool": "exec_shell", "arguments": {"command": line}}))
}

/// A refusal, with this in its message.
#[track_caller]
fn refused(answer: &Value, code: &str, word: &str) {
    let error = &answer["error"];
    assert_eq!(
        (&error["code"], &answer["metadata"]["security_checks"]),
        (&json!(code), &json!("denied")),
        "{answer}"
    );
    assert!(error["message"].as_str().unwrap().contains(word), "`{word}` is not in {error}");
    assert!(!error["suggestion"].as_str().unwrap().is_empty(), "{error}");
}

#[test]
fn malformed_lines_are_refused_by_name_and_recorded() {
    let megabyte = format!("echo {}", "a".repeat(1_000_000));
    let (pipes, quotes) = ("ls | ".repeat(10_000) + "ls", "\"'".repeat(3_001));
    let (deep, open) = ("$(".repeat(3_000), format!("echo {}'", "'\"'\"'".repeat(2_000)));
    let rows = [
        ("", "no command"),
        ("   ", "no command"),
        (megabyte.as_str(), "16384 bytes"),
        ("ls \0 x", "u{0}"),
        ("ls 'abc", "`'`"),
        ("ls \"abc", "`\"`"),
        ("ls abc\\", "`\\`"),
        (pipes.as_str(), "more than"),
        (quotes.as_str(), "`"),
        (deep.as_str(), "`$(`"),
        (open.as_str(), "`'`"),
        ("echo a; $(id)", "`$(`"),
        ("echo a\nid", "`"),
        ("echo `id`", "```"),
        ("ls & id", "`&`"),
        ("echo $HOME", "`$HOME`"),
        ("cat <<X", "`<<`"),
        ("(ls)", "`(`"),
    ];
    let world = World::new();
    let ran = world.feed(&["call", "--batch"], rows.iter().map(|(line, _)| exec(line)).collect::<String>());
    let answers = ran.lines();
    assert_eq!(answers.len(), rows.len());
    for (answer, (_, word)) in answers.iter().zip(rows) {
        refused(answer, "CommandSyntax", word);
    }
    let violations = fs::read_to_string(world.audit().join("security.jsonl")).unwrap();
    for answer in &answers {
        let id = answer["metadata"]["call_id"].as_str().unwrap();
        assert!(violations.contains(id), "{id} is not in the security stream");
    }
    let alerts = world.run(&["audit", "alerts"]).lines();
    assert_eq!(alerts.len(), 1, "one alert for more than five in a minute: {alerts:?}");
    assert_eq!(alerts[0]["call_id"], answers[5]["metadata"]["call_id"], "by the sixth");
    let single = world.run(&["call", "exec_shell", r#"{"command":"ls 'abc"}"#]);
    assert_eq!(single.code, 3, "{single:?}");
}

#[test]
fn five_denials_are_no_alert() {
    let world = World::new();
    world.feed(&["call", "--batch"], exec("ls 'abc").repeat(5));
    assert_eq!(world.run(&["audit", "alerts"]).text(), "");
}

/// The rows of a table in testdata, first column only.
fn table(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// Every line in one process, each answered on a line of its own.
#[track_caller]
fn judged(world: &World, lines: &[String]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{}\n", json!({"input": line}))).collect();
    let answers = world.feed(&["check", "command", "--batch"], input).lines();
    assert_eq!(answers.len(), lines.len());
    answers
}

#[test]
fn everyday_lines_are_allowed_and_abuse_is_denied() {
    let world = World::new();
    for (name, expected) in [("harmless.txt", "allow"), ("abuse.tsv", "deny")] {
        let lines = table(name);
        assert!(lines.len() > 400, "{name} is a long table");
        let answers = judged(&world, &lines);
        let wrong: Vec<(&String, &Value)> =
            lines.iter().zip(&answers).filter(|(_, answer)| answer["decision"] != expected).collect();
        assert!(wrong.is_empty(), "{} rows of {name}: {wrong:?}", wrong.len());
    }
    assert!(!world.audit().join("security.jsonl").exists(), "asking is no violation");
}

#[track_caller]
fn call(world: &World, tool: &str, arguments: &Value, code: &str, word: &str) {
    let ran: Ran = world.call(tool, arguments);
    assert_eq!(ran.code, 3, "{ran:?}");
    refused(&ran.json(), code, word);
}

/// What the original projects let through.
#[test]
fn programs_in_disguise_are_refused() {
    let world = World::new();
    let script = "#!/bin/sh\necho x > planted\n";
    world.file("ls", script).file("bin/cat", script).file("planted.txt", "one\n");
    for path in ["ls", "bin/cat"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(world.work().join(path), mode).unwrap();
    }
    let absolute = world.work().join("ls").to_str().unwrap().to_owned();
    let beside = world.beside("ls", script);
    call(
        &world,
        "spawn",
        &json!({"command": "env", "args": ["sh", "-c", "echo x > planted"]}),
        "ArgumentNotAllowed",
        "`sh`",
    );
    call(
        &world,
        "spawn",
        &json!({"command": "env", "args": ["-S", "sh -c id"]}),
        "ArgumentNotAllowed",
        "`-S`",
    );
    call(&world, "spawn", &json!({"command": "sh", "args": ["-c", "id"]}), "NotAllowed", "sh");
    let joined = world.call("spawn", &json!({"command": "ls; sh -c id"}));
    assert_eq!(joined.error_code(), "ValidationError", "one program, not a line: {joined:?}");
    for name in ["./ls", "bin/cat", absolute.as_str(), beside.as_str(), "../ls"] {
        call(&world, "exec_shell", &json!({"command": name}), "NotAllowed", name);
        call(&world, "spawn", &json!({"command": name}), "NotAllowed", name);
    }
    // The same name alone is the system's program.
    let ran = world.call("exec_shell", &json!({"command": "ls planted.txt"}));
    assert_eq!(ran.json()["data"]["stdout"], "planted.txt\n", "{ran:?}");
    let ran = world.call("exec_shell", &json!({"command": "/usr/bin/ls planted.txt"}));
    assert_eq!(ran.code, 0, "a trusted folder of the system: {ran:?}");
    assert!(!world.work().join("planted").exists());
}

#[test]
fn a_file_name_is_never_an_option_and_the_expansion_is_on_record() {
    let world = World::new();
    for name in ["-delete", "-exec", "-la", "a.txt", "b c.txt"] {
        world.file(name, "one\n");
    }
    let ran = world.call("exec_shell", &json!({"command": "find * -type f"}));
    let result = ran.json();
    assert_eq!((ran.code, &result["data"]["exit_code"]), (0, &json!(0)), "{ran:?}");
    for name in ["-delete", "-exec", "-la", "a.txt", "b c.txt"] {
        assert_eq!(world.text(name), "one\n");
    }
    let shown = world.run(&["audit", "show", result["metadata"]["call_id"].as_str().unwrap()]).lines();
    let plan = &shown.iter().find(|line| line["kind"] == "intent").expect("an intent")["plan"];
    let expected = json!([["find", "./-delete", "./-exec", "./-la", "a.txt", "b c.txt", "-type", "f"]]);
    assert_eq!(*plan, expected, "{shown:?}");
}
