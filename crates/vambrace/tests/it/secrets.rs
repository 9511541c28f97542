//! A secret of the environment in no answer, no mirror and no record, wherever it stands and however it is written.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::support::{Ran, World};

/// Put together at run time; the shape is nobody's, so only the environment makes it known.
fn secret() -> String {
    ["Zq8", "vT3x", "Lm5n", "Rw2k", "Yp7j"].concat()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Every spelling that must not leave.
fn forms() -> Vec<String> {
    let secret = secret();
    let upper_hex = hex(secret.as_bytes()).to_uppercase();
    vec![base64(secret.as_bytes()), hex(secret.as_bytes()), upper_hex, secret]
}

fn world() -> World {
    let world = World::new().with_env("DEPLOY_TOKEN", &secret());
    let lines: String = forms().iter().map(|form| format!("before {form} after\n")).collect();
    world.file("config.txt", &lines).file("other.txt", "nothing\n");
    world
}

#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    for form in forms() {
        let found = bytes.windows(form.len()).any(|window| window == form.as_bytes());
        assert!(!found, "{what} holds the secret as {form:.4}…");
    }
}

/// Neither what came back nor anything that was written down.
#[track_caller]
fn clean_everywhere(world: &World, ran: &Ran) {
    clean("standard output", &ran.stdout);
    clean("standard error", ran.stderr.as_bytes());
    for folder in [world.state(), world.work().join(".vambrace")] {
        for (path, bytes) in World::everything_in(&folder) {
            clean(&path.display().to_string(), &bytes);
        }
    }
}

#[track_caller]
fn check(world: &World, tool: &str, arguments: Value, code: i32) -> Ran {
    let ran = world.call(tool, &arguments);
    assert_eq!(ran.code, code, "{tool} {arguments}");
    clean_everywhere(world, &ran);
    ran
}

#[test]
fn in_files_that_are_read_searched_and_edited() {
    let world = world();
    let read = check(&world, "read_file", json!({"path": "config.txt"}), 0);
    let content = read.json()["data"]["content"].as_str().unwrap().to_owned();
    assert_eq!(content.matches("[REDACTED:").count(), 4, "{content}");
    assert_eq!(content.matches("before ").count(), 4, "{content}");
    assert_eq!(read.json()["metadata"]["redactions"], 4);
    check(&world, "search_file", json!({"regex": "before .*"}), 0);
    check(&world, "search_file", json!({"regex": ".{0,7}after"}), 0);
    let edit = json!({"path": "config.txt", "edits": [{"match_mode": "regex", "spec": "after", "count": 4, "content": "END"}]});
    check(&world, "edit_file", edit, 0);
    assert!(world.text("config.txt").contains(&secret()), "the file itself keeps its value");
    let replaced = check(&world, "write_file", json!({"path": "config.txt", "content": "clean\n"}), 0);
    assert!(replaced.text().contains("[REDACTED:"), "the diff shows that something was there");
}

#[test]
fn in_arguments_names_and_messages() {
    for form in forms() {
        let world = world();
        for tool in ["read_file", "delete_file", "list_files", "create_directory"] {
            let ran = world.call(tool, &json!({"path": format!("a/{form}/../../../{form}")}));
            assert_eq!(ran.code, 3, "{tool}");
            clean_everywhere(&world, &ran);
        }
        check(&world, "read_file", json!({"path": form}), 1);
        check(&world, "read_file", json!({form.clone(): 1}), 1);
        check(&world, &format!("tool_{form}"), json!({}), 1);
        check(&world, "search_file", json!({"regex": format!("({form}")}), 1);
        check(&world, "edit_file", json!({"path": "other.txt", "old_text": form, "new_text": "x"}), 1);
        check(&world, "read_output", json!({"handle": form}), 1);
        let batch = world.feed(&["call", "--batch"], format!("{{\"tool\": \"{form}\n"));
        clean_everywhere(&world, &batch);
    }
}

#[test]
fn in_what_is_to_be_written() {
    for form in forms() {
        let world = world();
        for arguments in [
            ("write_file", json!({"path": "new.txt", "content": form})),
            ("edit_file", json!({"path": "other.txt", "old_text": "nothing", "new_text": form})),
        ] {
            let ran = check(&world, arguments.0, arguments.1, 3);
            assert_eq!(ran.error_code(), "SecretInWrite");
        }
        assert_eq!(world.text("other.txt"), "nothing\n");
        assert!(!world.work().join("new.txt").exists());
    }
    // What a model was shown must not come back as if it were the text.
    let world = world();
    let shown =
        check(&world, "read_file", json!({"path": "config.txt"}), 0).json()["data"]["content"].clone();
    let back = check(&world, "write_file", json!({"path": "config.txt", "content": shown}), 3);
    assert_eq!(back.error_code(), "PlaceholderInWrite");
}

#[test]
fn in_names_of_files() {
    let world = world();
    let secret = secret();
    world.file(&format!("folder/{secret}.txt"), "x\n").file(&format!("{secret}/x"), "x\n");
    check(&world, "list_files", json!({"recursive": true}), 0);
    check(&world, "search_file", json!({"regex": "x"}), 0);
    check(&world, "count_matches", json!({"regex": "x"}), 0);
    check(&world, "read_file", json!({"path": format!("folder/{secret}.txt")}), 0);
    check(&world, "delete_file", json!({"path": format!("folder/{secret}.txt")}), 0);
}

#[test]
fn in_answers_that_are_cut_and_kept() {
    let world = world();
    let line = format!("{} {}\n", "x".repeat(50), secret());
    world.file("long.txt", line.repeat(1000));
    let ran = check(&world, "search_file", json!({"path": "long.txt", "regex": "x+", "limit": 1000}), 0);
    let result = ran.json();
    assert_eq!(result["metadata"]["truncated"], true);
    assert!(ran.stdout.len() < 100_000, "{}", ran.stdout.len());
    check(&world, "read_file", json!({"path": "long.txt", "max_bytes": 1_000_000}), 0);
}

#[test]
fn over_mcp_in_both_halves() {
    let world = world();
    let mut client = Client::open(&world, &[]);
    for (tool, arguments) in [
        ("read_file", json!({"path": "config.txt"})),
        ("search_file", json!({"regex": "before .*"})),
        ("read_file", json!({"path": secret()})),
        ("read_file", json!({"path": format!("../{}", secret())})),
        ("write_file", json!({"path": "new.txt", "content": secret()})),
    ] {
        let answer = client.call(tool, &arguments);
        clean(tool, answer.to_string().as_bytes());
    }
    let (code, complaint) = client.close();
    assert_eq!(code, 0);
    clean("standard error", complaint.as_bytes());
    for (path, bytes) in World::everything_in(&world.state()) {
        clean(&path.display().to_string(), &bytes);
    }
}

#[test]
fn in_the_other_commands() {
    let world = world();
    let secret = secret();
    for form in forms() {
        clean_everywhere_after(&world, &world.feed(&["redact"], format!("a {form} b")));
        clean_everywhere_after(&world, &world.feed(&["check", "text"], format!("a {form} b")));
    }
    clean_everywhere_after(&world, &world.run(&["config", "show"]));
    clean_everywhere_after(&world, &world.run(&["doctor"]));
    let ran = world.feed(&["check", "path", "--batch"], format!("{}\n", json!({"input": "a.txt"})));
    clean_everywhere_after(&world, &ran);
    world.call("read_file", &json!({"path": secret}));
    for args in [&["audit", "list"][..], &["audit", "export"], &["audit", "export", "--view", "002"]] {
        clean_everywhere_after(&world, &world.run(args));
    }
}

/// Some of these commands write nothing down.
#[track_caller]
fn clean_everywhere_after(world: &World, ran: &Ran) {
    assert!(ran.code == 0 || ran.code == 3, "{}", ran.code);
    if world.state().exists() && world.work().join(".vambrace").exists() {
        return clean_everywhere(world, ran);
    }
    clean("standard output", &ran.stdout);
    clean("standard error", ran.stderr.as_bytes());
}
