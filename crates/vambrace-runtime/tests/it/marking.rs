//! Numbered placeholders, accepted findings, and what a write that looks like a secret is told.

use serde_json::{Value, json};
use vambrace_audit::{Filter, list};
use vambrace_runtime::Reply;
use vambrace_types::ErrorCode;

use crate::settings::{Settings, fingerprint_key};
use crate::text::shown;
use crate::world::{World, code, demand_success};

/// Put together here, so that no file holds one whole.
fn token(word: &str) -> String {
    ["gh", "p_", &word.repeat(9)].concat()
}

fn one() -> String {
    token("a1B2")
}

fn two() -> String {
    token("c3D4")
}

fn numbered() -> Settings {
    Settings {
        placeholders: "numbered".to_owned(),
        mirror: true,
        ..Settings::knowing("DEPLOY_KEY", "horse-battery-9")
    }
}

#[track_caller]
fn demand_clean(world: &World, replies: &[&Reply]) {
    let written = world.everything_written_down();
    for value in [one(), two(), "horse-battery-9".to_owned()] {
        assert!(replies.iter().all(|reply| !shown(reply).to_string().contains(&value)));
        assert!(!written.contains(&value), "on disk");
    }
}

fn marks(world: &World, reply: &Reply) -> Vec<(String, String)> {
    let records = world.records_of(reply);
    let outcome = records.iter().find(|record| record["kind"] == "outcome").unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let marks = outcome["marks"].as_array().cloned().unwrap_or_default();
    marks.iter().map(|mark| (text(&mark["marker"]), text(&mark["fingerprint"]))).collect()
}

#[test]
fn two_secrets_are_told_apart_and_looked_up_by_their_values() {
    let text = format!("a: {}\nb: {}\nc: {}\nd: horse-battery-9\n", one(), two(), one());
    let world = World::new(numbered(), &json!({"a.txt": text}));
    let read = world.call("read_file", json!({"path": "a.txt"}));
    demand_success(&read);
    assert_eq!(
        shown(&read)["data"]["content"],
        "a: [REDACTED:github-token#1]\nb: [REDACTED:github-token#2]\nc: [REDACTED:github-token#1]\n\
         d: [REDACTED:env-deploy-key#1]\n"
    );
    let fingerprint = |value: &str| fingerprint_key().fingerprint(value.as_bytes());
    let expected = [
        ("github-token#1", one()),
        ("github-token#2", two()),
        ("env-deploy-key#1", "horse-battery-9".into()),
    ]
    .map(|(marker, value)| (marker.to_owned(), fingerprint(&value).to_string()));
    assert_eq!(marks(&world, &read), expected);
    // Whoever holds the key finds the calls that met a value, and no others.
    let other = world.call("list_files", json!({}));
    let find = |value: &str| {
        let filter = Filter { secret: Some(fingerprint(value)), ..Filter::default() };
        list(&world.audit_folder(), &filter).unwrap()
    };
    let found = find(&two());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].marks[1].marker, "github-token#2");
    assert_eq!(found[0].call_id.as_deref(), Some(read.metadata().call_id.as_str()));
    assert_eq!((find("something else").len(), marks(&world, &other).len()), (0, 0));
    demand_clean(&world, &[&read, &other]);
}

#[test]
fn a_number_means_the_same_in_arguments_data_errors_and_the_record() {
    let world = World::new(numbered(), &json!({"a.txt": format!("x {}\ny {}\n", two(), one())}));
    // The second secret of the file is the first of the call: the pattern names it.
    let searched = world.call("search_file", json!({"regex": format!("{}|x|y", one())}));
    demand_success(&searched);
    let data = shown(&searched)["data"].to_string();
    assert!(
        data.contains("y [REDACTED:github-token#1]") && data.contains("x [REDACTED:github-token#2]"),
        "{data}"
    );
    let failed = world.call("read_file", json!({"path": format!("{}/{}/{}", two(), one(), two())}));
    assert_eq!(code(&failed), Some(ErrorCode::FileNotFound));
    let message = shown(&failed)["error"]["message"].as_str().unwrap().to_owned();
    let path = "[REDACTED:github-token#1]/[REDACTED:github-token#2]/[REDACTED:github-token#1]";
    assert!(message.contains(path), "{message}");
    let records = world.records_of(&failed);
    assert!(records.iter().any(|record| record["input"]["path"] == path), "{records:?}");
    // A diff shows one number for what stays and another for what comes.
    let text = format!("x {}\nz {}\n", two(), one());
    let edited = world.call("edit_file", json!({"path": "a.txt", "old_text": "y ", "new_text": "z "}));
    assert_eq!(code(&edited), Some(ErrorCode::SecurityError), "right beside a secret");
    world.put_back(&json!({"b.txt": text}));
    let edited = world.call("edit_file", json!({"path": "b.txt", "old_text": "z", "new_text": "w"}));
    demand_success(&edited);
    let diff = shown(&edited)["data"].to_string();
    assert!(diff.contains("x [REDACTED:github-token#1]"), "{diff}");
    assert!(
        diff.contains("-z [REDACTED:github-token#2]") && diff.contains("+w [REDACTED:github-token#2]"),
        "{diff}"
    );
    demand_clean(&world, &[&searched, &failed, &edited]);
}

#[test]
fn a_numbered_placeholder_is_not_written_back() {
    let world = World::new(numbered(), &json!({"a.txt": format!("a: {}\n", one())}));
    let shown_text = shown(&world.call("read_file", json!({"path": "a.txt"})))["data"]["content"].clone();
    let reply = world.call("write_file", json!({"path": "a.txt", "content": shown_text}));
    assert_eq!(code(&reply), Some(ErrorCode::PlaceholderInWrite));
    assert!(!shown(&reply)["error"]["suggestion"].as_str().unwrap().is_empty());
    assert_eq!(world.file("a.txt"), format!("a: {}\n", one()));
}

#[test]
fn what_is_accepted_is_read_and_written() {
    let settings = Settings {
        words: [
            ("ONE".to_owned(), vec![one()]),
            ("DEPLOY_KEY".to_owned(), vec!["horse-battery-9".to_owned()]),
        ]
        .into(),
        known: vec!["DEPLOY_KEY".to_owned()],
        accepted: vec![
            ("github-token".to_owned(), "ONE".to_owned()),
            ("env-deploy-key".to_owned(), "DEPLOY_KEY".to_owned()),
        ],
        ..Settings::default()
    };
    let world = World::new(settings, &json!({"a.txt": format!("a: {}\nb: {}\n", one(), two())}));
    let read = world.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(shown(&read)["data"]["content"], format!("a: {}\nb: [REDACTED:github-token]\n", one()));
    demand_success(&world.call("write_file", json!({"path": "b.txt", "content": one()})));
    let refused = world.call("write_file", json!({"path": "c.txt", "content": two()}));
    assert_eq!(code(&refused), Some(ErrorCode::ApprovalRequired));
    // Nobody can accept a known value.
    let refused = world.call("write_file", json!({"path": "c.txt", "content": "is horse-battery-9"}));
    assert_eq!(code(&refused), Some(ErrorCode::SecretInWrite));
}

#[test]
fn a_write_is_refused_warned_about_or_let_pass_as_the_operator_says() {
    let check = |on_write: &str, content: &str, expected: Option<ErrorCode>, warned: bool| {
        let settings =
            Settings { on_write: on_write.to_owned(), ..Settings::knowing("DEPLOY_KEY", "horse-battery-9") };
        let world = World::new(settings, &json!({"e.txt": "first\nMARK\n"}));
        for arguments in [
            ("write_file", json!({"path": "n.txt", "content": content})),
            ("edit_file", json!({"path": "e.txt", "old_text": "MARK", "new_text": content})),
        ] {
            let reply = world.call(arguments.0, arguments.1);
            assert_eq!(code(&reply), expected, "{on_write} {}", arguments.0);
            let warnings = reply.metadata().warnings.join("\n");
            let told = warnings.contains("looks as if it holds a secret") && warnings.contains("line 2");
            assert_eq!(told, warned, "{on_write}: {warnings}");
            assert!(!warnings.contains(content.trim_start()), "{warnings}");
        }
    };
    let (known, pattern) = ("\nhorse-battery-9", format!("\n{}", one()));
    check("refuse", known, Some(ErrorCode::SecretInWrite), false);
    check("refuse", &pattern, Some(ErrorCode::ApprovalRequired), false);
    check("warn", known, None, true);
    check("warn", &pattern, None, true);
    check("off", known, None, false);
    check("off", &pattern, None, false);
    // Nothing but its randomness: told, and never in the way.
    let random = format!("\n{}\n", ["q7Zt", "X2mK", "9vRw", "L4pB", "s8Hd", "N3fY", "c6Jg"].concat());
    check("refuse", &random, None, true);
    check("warn", &random, None, true);
    check("off", &random, None, false);
    check("off", "[REDACTED:jwt#1]", Some(ErrorCode::PlaceholderInWrite), false);
}
