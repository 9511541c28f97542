//! `redact`: files, standard input, counts and explanations.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{World, credential, finish};

const MARKER: &str = "[REDACTED:github-token]";

#[test]
fn files_are_copied_in_order_like_cat() {
    let world = World::new();
    world.file("a.txt", format!("a {}\n", credential())).file("b.txt", "b\n");
    let ran = world.feed(&["redact", "b.txt", "-", "a.txt", "b.txt"], "in\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(ran.text(), format!("b\nin\na {MARKER}\nb\n"));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_copied() {
    let world = World::new();
    world.file("a.txt", "a\n").file("folder/x", "x\n").file("b.txt", "b\n");
    let ran = world.run(&["redact", "a.txt", "absent", "folder", "b.txt"]);
    assert_eq!((ran.code, ran.text().as_str()), (1, "a\nb\n"), "{ran:?}");
    let told: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    assert!(told[0].contains("absent: there is no such file") && told[1].contains("folder: it is a folder"));
    assert_eq!(world.run(&["redact", "--explain", "a.txt", "absent"]).code, 1);
}

#[test]
fn the_end_of_a_file_ends_a_secret() {
    let world = World::new();
    // Without a last line end, the next file's first word stands right behind it.
    world.file("a", format!("x {}", credential())).file("b", "y\n");
    assert_eq!(world.run(&["redact", "a", "b"]).text(), format!("x {MARKER}y\n"));
}

#[test]
fn a_file_is_not_copied_into_itself() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut command = world.command(&["redact", "a.txt"]);
    let out = fs::OpenOptions::new().append(true).open(world.work().join("a.txt")).unwrap();
    let child = command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("also the output"));
    assert_eq!(world.text("a.txt"), "one\n");
}

#[test]
fn counts_go_to_standard_error() {
    let world = World::new();
    world.file("a.txt", format!("{}\n{}\n", credential(), credential())).file("b.txt", "plain\n");
    let ran = world.run(&["redact", "--stats", "a.txt", "b.txt"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.starts_with("2 secrets replaced, "), "{ran:?}");
    assert!(ran.stderr.lines().any(|line| line.trim() == "2  github-token"), "{ran:?}");
    let ran = world.run(&["redact", "--stats", "--json", "a.txt", "b.txt"]);
    let told: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&told["secrets"], &told["inputs"]), (&json!(2), &json!(2)), "{told}");
    assert_eq!(told["by_rule"], json!({"github-token": 2}));
    assert_eq!(told["bytes_written"], ran.stdout.len(), "{told}");
    assert_eq!(told["bytes_read"], 2 * (credential().len() + 1) + 6);
}

#[test]
fn an_explanation_has_the_place_and_never_the_value() {
    let world = World::new();
    let secret = credential();
    world.file("a.txt", format!("one\nkey {secret} end\n")).file("b.txt", "nothing\n");
    let ran = world.run(&["redact", "--explain", "a.txt", "b.txt"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let rows = ran.lines();
    assert_eq!(rows.len(), 1, "{ran:?}");
    let row = &rows[0];
    assert_eq!((&row["file"], &row["rule"]), (&json!("a.txt"), &json!("github-token")));
    assert_eq!((&row["line"], &row["column"]), (&json!(2), &json!(5)));
    assert_eq!(row["length"], secret.len());
    assert!(!row["why"].as_str().unwrap().is_empty(), "{row}");
    for width in 6..=secret.len() {
        let leaked = secret
            .as_bytes()
            .windows(width)
            .any(|part| ran.text().contains(std::str::from_utf8(part).unwrap()));
        assert!(!leaked, "{row} holds a part of the secret");
    }
    let piped = world.feed(&["redact", "--explain", "--json"], &secret).lines();
    assert_eq!((&piped[0]["file"], &piped[0]["column"]), (&json!("-"), &json!(1)));
}

#[test]
fn too_much_to_explain_is_said_before_anything_is_shown() {
    let world = World::new();
    fs::File::create(world.work().join("long")).unwrap().set_len((64 << 20) + 1).unwrap();
    let ran = world.run(&["redact", "--explain", "long"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.is_empty() && ran.stderr.contains("without --explain any length is fine"), "{ran:?}");
}

#[test]
fn numbers_tell_two_secrets_apart() {
    let world = World::new();
    let (one, two) = (credential(), credential().replace("a1", "b7"));
    let ran = world.feed(&["redact", "--numbered"], format!("{one} {two} {one}\n"));
    let marked = |number: u32| format!("[REDACTED:github-token#{number}]");
    assert_eq!(ran.text(), format!("{} {} {}\n", marked(1), marked(2), marked(1)));
    // What was redacted once is not redacted again.
    let again = world.feed(&["redact", "--numbered"], ran.text());
    assert_eq!(again.text(), ran.text());
}

#[test]
fn a_bar_is_drawn_for_a_person_and_is_gone_at_the_end() {
    let world = World::new();
    world.file("a.txt", "plain text\n".repeat(200_000));
    let piped = world.run(&["redact", "a.txt"]);
    assert_eq!((piped.code, piped.stderr.as_str()), (0, ""), "a pipe sees no bar");
    if !crate::programs_host::has("script", "a terminal") {
        return;
    }
    let on_terminal = |args: &str| {
        let line = format!("{} redact {args} a.txt > /dev/null", crate::support::binary());
        let mut command = world.bare("script");
        command.args(["-q", "-e", "-c", &line, "/dev/null"]);
        let ran = finish(&mut command, b"");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.text()
    };
    let drawn = on_terminal("");
    assert!(drawn.contains(" %") && drawn.contains("MB/s") && drawn.contains("0 secrets"), "{drawn:?}");
    assert!(drawn.trim_end().ends_with("\r\u{1b}[K"), "{drawn:?}");
    assert_eq!(on_terminal("-q"), "");
}
