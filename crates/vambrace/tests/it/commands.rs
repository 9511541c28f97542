//! The command table: what goes in, what comes out, and how it ends.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Ran, World, credential};

fn world() -> World {
    let world = World::new();
    world.file("a.txt", "one\ntwo\n").file("src/lib.rs", "fn a() {}\n").file(".env", "KEY=value");
    world
}

#[track_caller]
fn check(args: &[&str], code: i32) -> Ran {
    let ran = world().run(args);
    assert_eq!(ran.code, code, "{args:?}: {ran:?}");
    ran
}

#[test]
fn an_answer_that_cannot_be_written_is_told() {
    let world = World::new();
    world.file("a.txt", "one\n");
    world.call("list_files", &json!({}));
    let rows: [(&[&str], i32); 6] = [
        (&["call", "read_file", r#"{"path":"a.txt"}"#], 1),
        (&["call", "read_file", r#"{"path":"../a.txt"}"#], 3),
        (&["audit", "list"], 1),
        (&["audit", "verify"], 1),
        (&["check", "path", "a.txt", "--for", "read"], 1),
        (&["config", "show"], 1),
    ];
    for (args, code) in rows {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = world.command(args).stdout(full).stdin(std::process::Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(told.matches("could not be written: No space left").count(), 1, "{args:?}: {told}");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {told}");
    }
}

#[test]
fn exit_codes() {
    check(&["call", "read_file", r#"{"path":"a.txt"}"#], 0);
    check(&["call", "list_files"], 0); // no arguments are an empty object
    check(&["call", "list_directory", "{}"], 0); // the other name of the same tool
    check(&["call", "read_file", r#"{"path":"absent"}"#], 1);
    check(&["call", "read_file", r#"{"pth":"a.txt"}"#], 1);
    check(&["call", "no_such_tool", "{}"], 1);
    check(&["call", "read_file", r#"{"path":".env"}"#], 3);
    let secret = json!({"path": "b", "content": format!("token = {}", credential())}).to_string();
    check(&["call", "write_file", &secret], 4);
    check(&["check", "path", "a.txt"], 0);
    check(&["check", "path", "../x"], 3);
    check(&["check", "path", ".env", "--for", "write"], 3);
}

#[test]
fn wrong_usage_is_exit_2_and_does_nothing() {
    for args in [
        &["call"][..],
        &["call", "read_file", r#"{"path""#],
        &["call", "read_file", "[]"],
        &["call", "read_file", "7"],
        &["call", "--batch", "read_file"],
        &["no_such_command"],
        &["--role", "boss", "call", "list_files"],
        &["--tool", "everything", "call", "list_files"],
        &["--profile", "lax", "call", "list_files"],
        &["check", "path"],
        &["check", "path", "a.txt", "--for", "eat"],
        &["audit", "list", "--decision", "maybe"],
        &["audit", "export", "--view", "005"],
        &["--workspace", "absent", "call", "list_files"],
        &["--workspace", "a.txt", "call", "list_files"],
        &["--service", "absent", "call", "list_files"],
        &["--service", "..", "call", "list_files"],
    ] {
        let ran = check(args, 2);
        assert!(ran.stdout.is_empty(), "{ran:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    }
}

#[test]
fn a_tool_result_has_the_shape_of_the_interface() {
    let result = check(&["call", "read_file", r#"{"path":"a.txt"}"#], 0).json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&result), ["status", "data", "error", "metadata"]);
    assert_eq!((&result["status"], &result["error"]), (&json!("success"), &Value::Null));
    assert_eq!(result["data"]["content"], "one\ntwo\n");
    let metadata = ["call_id", "duration_ms", "security_checks", "dry_run", "truncated", "redactions"];
    assert_eq!(keys(&result["metadata"])[..6], metadata);
    assert_eq!(keys(&result["metadata"])[6..], ["enforcement", "checkpoint"]);
    let refused = check(&["call", "read_file", r#"{"path":"absent"}"#], 1).json();
    assert_eq!((&refused["status"], &refused["data"]), (&json!("error"), &Value::Null));
    assert_eq!(keys(&refused["error"])[..3], ["code", "message", "suggestion"]);
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    let world = world();
    for args in [
        &["--role", "product_owner", "--json", "-q", "call", "list_files", "{}"][..],
        &["call", "--role", "product_owner", "list_files", "--json", "{}", "-q"],
        &["call", "list_files", "{}", "--json", "-q", "--role", "product_owner"],
    ] {
        let ran = world.run(args);
        assert_eq!((ran.code, &ran.json()["status"]), (0, &json!("success")), "{args:?}: {ran:?}");
    }
    assert_eq!(world.records().len(), 3);
}

#[test]
fn every_command_that_answers_speaks_json() {
    let world = world();
    world.call("read_file", &json!({"path": ".env"}));
    let id = world.call("list_files", &json!({})).json()["metadata"]["call_id"].as_str().unwrap().to_owned();
    let file = world.dir().join("new.yaml").to_str().unwrap().to_owned();
    for args in [
        &["call", "list_files"][..],
        &["check", "path", "a.txt"],
        &["check", "text"],
        &["audit", "list"],
        &["audit", "show", &id],
        &["audit", "verify"],
        &["audit", "alerts"],
        &["audit", "export"],
        &["audit", "export", "--view", "001"],
        &["audit", "export", "--view", "002"],
        &["audit", "export", "--view", "004"],
        &["config", "check"],
        &["config", "show"],
        &["config", "schema"],
        &["config", "init", &file],
        &["doctor"],
        &["stop", "somebody"],
        &["resume", "somebody"],
    ] {
        let ran = world.run(&[args, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        let whole: Vec<Result<Value, _>> =
            serde_json::Deserializer::from_slice(&ran.stdout).into_iter().collect();
        assert!(whole.iter().all(Result::is_ok), "{args:?}: {ran:?}");
        assert!(!whole.is_empty() || args == ["audit", "alerts"], "{args:?}: {ran:?}");
    }
}

#[test]
fn call_batch_answers_every_line_in_order() {
    let world = world();
    let lines = [
        json!({"tool": "read_file", "arguments": {"path": "a.txt"}}).to_string(),
        json!({"tool": "read_file", "arguments": {"path": ".env"}}).to_string(),
        "not json".to_owned(),
        String::new(),
        json!({"tool": "write_file", "arguments": {"path": "n", "content": "x"}, "dry_run": true})
            .to_string(),
        json!({"tool": "list_files"}).to_string(),
        json!({"arguments": {}}).to_string(),
        json!({"tool": 7}).to_string(),
        json!({"tool": "list_files", "dry_run": "yes"}).to_string(),
        json!({"tool": "write_file", "arguments": {"path": "w", "content": "x"}}).to_string(),
    ];
    let mut input = lines.join("\n").into_bytes();
    input.extend(b"\n{\"tool\": \"\xff\"}\n");
    let ran = world.feed(&["call", "--batch"], input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let codes: Vec<String> =
        ran.lines().iter().map(|line| line["error"]["code"].as_str().unwrap_or("-").to_owned()).collect();
    let bad = "ValidationError";
    assert_eq!(codes, ["-", "BlockedPath", bad, "-", "-", bad, bad, bad, "-", bad]);
    assert!(!world.work().join("n").exists(), "a dry run");
    assert_eq!(world.text("w"), "x");
}

#[test]
fn check_path_batch_echoes_its_input_in_order() {
    let world = world();
    let rows = [
        (json!({"input": "a.txt"}), "allow", "Allowed"),
        (json!({"input": "../x", "for": "write"}), "deny", "PathOutsideProject"),
        (json!({"input": ".env", "for": "delete"}), "deny", "BlockedPath"),
        (json!({"input": "new", "for": "write"}), "allow", "Allowed"),
        (json!({"input": ".mcp.json", "for": "write"}), "deny", "ProtectedPath"),
        (json!({"input": "a\u{0}b"}), "deny", "InvalidPath"),
        (json!({"input": "a.txt", "for": "delete"}), "allow", "Allowed"),
    ];
    let input: String = rows.iter().map(|(row, ..)| format!("{row}\n")).collect();
    let ran = world.feed(&["check", "path", "--batch"], input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answers = ran.lines();
    assert_eq!(answers.len(), rows.len());
    for ((row, decision, code), answer) in rows.iter().zip(&answers) {
        assert_eq!((&answer["input"], &answer["decision"]), (&row["input"], &json!(decision)), "{answer}");
        assert_eq!(answer["code"], *code);
        for key in ["rule", "message", "suggestion"] {
            assert!(answer[key].is_string(), "{key} in {answer}");
        }
    }
    assert_eq!(world.text("a.txt"), "one\ntwo\n", "asking changes nothing");
    assert!(!world.work().join("new").exists());
}

#[test]
fn a_check_that_cannot_be_read_is_wrong_usage() {
    for line in
        ["{", "[]", r#"{"for":"read"}"#, r#"{"input":"a.txt","for":"eat"}"#, r#"{"input":"a.txt","for":7}"#]
    {
        let input = format!("{{\"input\":\"a.txt\"}}\n{line}\n");
        let ran = world().feed(&["check", "path", "--batch"], input);
        assert_eq!((ran.code, ran.lines().len()), (2, 1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("line 2: "), "{ran:?}");
    }
}

#[test]
fn check_text_tells_places_and_not_values() {
    let (world, secret) = (world(), credential());
    let text = format!("é one\ntwo {secret} three\n");
    let ran = world.feed(&["check", "text"], &text);
    assert_eq!(ran.code, 3, "{ran:?}");
    let findings = ran.json();
    let found = &findings[0];
    let place = |key: &str| usize::try_from(found[key].as_u64().unwrap()).unwrap();
    assert_eq!(text.get(place("start")..place("end")), Some(secret.as_str()));
    assert_eq!((place("line"), findings.as_array().unwrap().len()), (2, 1));
    assert!(!ran.text().contains(&secret));
    let none = world.feed(&["check", "text"], "nothing to see");
    assert_eq!((none.code, none.json()), (0, json!([])));
}

#[test]
fn redact_passes_every_other_byte() {
    let (world, secret) = (world(), credential());
    let noise: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let input = [&noise[..], b" ", secret.as_bytes(), b"\n", &noise[..], b"\xff\xfe\x00"].concat();
    let ran = world.feed(&["redact"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let marker = b"[REDACTED:github-token]";
    assert!(!find(&ran.stdout, secret.as_bytes()));
    assert!(find(&ran.stdout, marker));
    assert_eq!(ran.stdout.len(), input.len() - secret.len() + marker.len());
    assert!(ran.stdout.ends_with(b"\xff\xfe\x00") && ran.stdout.starts_with(&noise));
    let counted = world.feed(&["redact", "--stats"], &secret);
    assert!(counted.stderr.starts_with("1 secrets replaced"), "{counted:?}");
}

fn find(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let world = world();
    let before = World::everything_in(&world.work());
    let rows = [
        ("write_file", json!({"path": "a.txt", "content": "one\nTWO\n"}), "-two\n+TWO\n"),
        ("write_file", json!({"path": "new/x", "content": "x\n"}), "+x\n"),
        ("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "TWO"}), "-two\n+TWO\n"),
        ("delete_file", json!({"path": "a.txt"}), ""),
        ("create_directory", json!({"path": "new"}), ""),
    ];
    for (tool, arguments, diff) in rows {
        let ran = world.run(&["--dry-run", "call", tool, &arguments.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let result = ran.json();
        assert_eq!(result["metadata"]["dry_run"], true);
        let shown = [&result["data"]["diff"], &result["data"]["files"][0]["diff"]];
        let shown = shown.iter().find_map(|diff| diff.as_str()).unwrap_or_default();
        assert!(shown.contains(diff), "{ran:?}");
    }
    let mirror = world.work().join(".vambrace");
    let after: Vec<_> = World::everything_in(&world.work())
        .into_iter()
        .filter(|(path, _)| !path.starts_with(&mirror))
        .collect();
    assert_eq!(before.len(), after.len());
    assert!(before.iter().all(|entry| after.contains(entry)));
    assert!(!world.work().join("new").exists());
    let records = world.records();
    assert!(records.iter().all(|record| record["dry_run"] == true && record["ending"] == "dry_run"));
    assert_eq!(records.len(), 5);
}

#[test]
fn a_dry_run_gives_the_verdict_of_the_real_call() {
    let world = world();
    for (tool, arguments, code) in [
        ("write_file", json!({"path": ".env", "content": "x"}), 3),
        ("write_file", json!({"path": "b", "content": credential()}), 4),
        ("edit_file", json!({"path": "a.txt", "old_text": "absent", "new_text": "x"}), 1),
    ] {
        let real = world.call(tool, &arguments);
        let dry = world.feed(&["--dry-run", "call", tool, "-"], arguments.to_string());
        assert_eq!((dry.code, dry.error_code()), (code, real.error_code()), "{tool} {arguments}");
        assert_eq!(real.code, code, "{real:?}");
    }
}

#[test]
fn completions_and_the_manual_page_are_there() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = check(&["completions", shell], 0).text();
        assert!(script.contains("vambrace") && script.contains("doctor"), "{shell}");
    }
    let page = check(&["man"], 0).text();
    assert!(page.contains(".TH vambrace 1") && page.contains("dry\\-run"), "{page}");
    check(&["completions", "tcsh"], 2);
}

/// A reader such as `head` that has seen enough is no fault of ours.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    for args in [&["completions", "bash"][..], &["man"], &["config", "schema"], &["config", "show"]] {
        let mut command = world.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn doctor_finds_every_row_holding() {
    let world = world();
    let ran = world.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let rows = ran.json();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| row["state"] != "broken"), "{ran:?}");
    assert!(rows.iter().filter(|row| row["state"] == "holds").count() >= 10, "{ran:?}");
    let left: Vec<_> =
        fs::read_dir(world.state()).map(|entries| entries.flatten().collect()).unwrap_or_default();
    let names = ["audit", "groups", "hidden", "redaction.key", "runs", "turns"];
    let kept = |entry: &fs::DirEntry| names.iter().any(|name| entry.file_name() == *name);
    assert!(left.iter().all(kept), "the self-attack leaves nothing but its record: {left:?}");
}

#[test]
fn audit_show_tells_the_whole_call() {
    let world = world();
    let result = world.call("write_file", &json!({"path": "n", "content": "x"})).json();
    let ran = world.run(&["audit", "show", result["metadata"]["call_id"].as_str().unwrap()]);
    let kinds: Vec<Value> = ran.lines().iter().map(|record| record["kind"].clone()).collect();
    assert_eq!((ran.code, kinds), (0, vec![json!("intent"), json!("outcome")]));
    assert_eq!(world.run(&["audit", "show", "call_00000000000000000000000000"]).code, 1);
}

#[test]
fn the_mirror_has_the_form_of_specification_002() {
    let world = world();
    world.call("read_file", &json!({"path": "a.txt"}));
    world.call("read_file", &json!({"path": ".env"}));
    let mirror = world.text(".vambrace/tool_log.jsonl");
    let lines: Vec<Value> = mirror.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let success: Vec<bool> = lines.iter().map(|line| line["success"].as_bool().unwrap()).collect();
    assert_eq!(success, [true, false]);
    let keys: Vec<&String> = lines[1].as_object().unwrap().keys().collect();
    let expected = ["timestamp", "tool", "input", "result", "success", "duration_ms", "conversation_id"];
    assert_eq!(keys[..7], expected);
    assert_eq!(world.text(".vambrace/.gitignore"), "*\n!secrets-baseline.json\n");
    let other = World::new();
    other.file("a.txt", "x");
    other.run(&["--profile", "terminal-agent", "-q", "call", "read_file", r#"{"path":"a.txt"}"#]);
    assert_eq!(other.text(".claude/tool_log.jsonl").lines().count(), 1);
}

#[test]
fn a_call_may_ask_for_a_dry_run_in_its_arguments() {
    let world = world();
    let write = |path: &str| json!({"path": path, "content": "x", "dry_run": true});
    let alone = world.call("write_file", &write("n1"));
    assert_eq!((alone.code, &alone.json()["metadata"]["dry_run"]), (0, &json!(true)), "{alone:?}");
    let line = json!({"tool": "write_file", "arguments": write("n2")}).to_string();
    let batch = world.feed(&["call", "--batch"], line);
    assert_eq!((batch.code, &batch.json()["metadata"]["dry_run"]), (0, &json!(true)), "{batch:?}");
    assert!(!world.work().join("n1").exists() && !world.work().join("n2").exists());
}

#[test]
fn arguments_in_a_batch_are_an_object_too() {
    let world = world();
    let line = |arguments: Value| json!({"tool": "read_file", "arguments": arguments}).to_string();
    let lines = [line(json!(["a.txt"])), line(json!([".env"])), line(json!("a.txt"))];
    let ran = world.feed(&["call", "--batch"], lines.join("\n"));
    for answer in ran.lines() {
        assert_eq!(answer["error"]["code"], "ValidationError", "{answer}");
    }
}

#[test]
fn check_text_bounds_what_it_holds() {
    let ran = world().feed(&["check", "text"], vec![b'a'; (64 << 20) + 1]);
    assert_eq!((ran.code, ran.stdout.len()), (2, 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("longer than 67108864 bytes"), "{}", ran.stderr);
}

#[test]
fn the_doctors_rows_do_not_depend_on_who_asks() {
    let world = world();
    // How long the record is by now is not about who asks.
    let rows = |ran: &Ran| -> Vec<Value> {
        let rows = ran.json().as_array().unwrap().clone();
        rows.into_iter().filter(|row| row["row"] != "the record is intact").collect()
    };
    let strict = world.run(&["doctor"]);
    let strict = rows(&strict);
    let attacks = strict.iter().filter(|row| row["state"] == "holds").count();
    assert!(attacks > 8, "{strict:?}");
    let file = world.beside("no_links.yaml", "scope: {symlinks: deny}\n");
    for options in [&["--role", "product_owner"][..], &["--tool", "read"], &["--config", &file]] {
        let ran = world.run(&[options, &["doctor"]].concat());
        assert_eq!(ran.code, 0, "{options:?}: {ran:?}");
        assert_eq!(rows(&ran), strict, "{options:?}");
    }
}

#[test]
fn a_doctor_that_cannot_begin_says_so_in_words() {
    let world = world();
    let file = world.beside("operator.yaml", "git: {require_checkpoint: true}\n");
    let ran = world.run(&["--config", &file, "doctor"]);
    let row = ran.json().as_array().unwrap().iter().find(|row| row["row"] == "self-attack").cloned();
    let detail = row.unwrap()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "could not be run: the corridor could not be built; the error above says why");
}

#[test]
fn a_complaint_is_one_line_whatever_it_repeats() {
    let ran = world().run(&["audit", "show", "x\nerror: forged\r\u{202e}"]);
    let id = "x\\nerror: forged\\r\\u{202e}";
    assert!(ran.stderr.starts_with(&format!("error: no record has the call id `{id}`; ")), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}
