//! A secret we know leaves by no way: not in a reply, not in the record, its streams, the mirror or a kept output.

use serde_json::{Value, json};
use vambrace_runtime::{Incoming, Reply};
use vambrace_types::ErrorCode;

use crate::settings::{RuleText, Settings};
use crate::text::shown;
use crate::world::{World, code, demand_success};

const NAME: &str = "DEPLOY_KEY";

/// Put together here, so that no file holds it whole.
fn secret() -> String {
    ["hunter", "2-staple-", "Q7x"].concat()
}

fn known() -> Settings {
    Settings { mirror: true, ..Settings::knowing(NAME, &secret()) }
}

#[track_caller]
fn demand_clean(world: &World, replies: &[Reply]) {
    let written = world.everything_written_down();
    for reply in replies {
        let seen = shown(reply).to_string() + &format!("{reply:?}");
        assert!(!seen.contains(&secret()), "in the reply: {seen}");
    }
    let line = written.lines().find(|line| line.contains(&secret()));
    assert_eq!(line, None, "on disk");
}

/// One call that carries the secret in, and leaves it nowhere.
#[track_caller]
fn check(tool: &str, arguments: Value, expected: Option<ErrorCode>) -> (World, Reply) {
    let world =
        World::new(known(), &json!({"a.txt": format!("one\nkey = {}\n", secret()), "b/c.txt": "x\n"}));
    let reply = world.call(tool, arguments);
    assert_eq!(code(&reply), expected, "{:?}", reply.error());
    demand_clean(&world, std::slice::from_ref(&reply));
    (world, reply)
}

#[test]
fn contents_are_redacted_by_every_tool_that_shows_them() {
    let (_, reply) = check("read_file", json!({"path": "a.txt"}), None);
    assert_eq!(reply.metadata().redactions, 1);
    assert!(shown(&reply)["data"]["content"].as_str().unwrap().contains("[REDACTED:env-deploy-key]"));
    check("search_file", json!({"regex": "key"}), None);
    check("count_matches", json!({"regex": secret()}), None); // the pattern itself goes to the record
    check("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}), None); // the diff has context
    check("write_file", json!({"path": "a.txt", "content": "two\n"}), None); // the diff shows what went
    // What was not shown cannot be matched either, even by whoever guesses it.
    let guess = json!({"path": "a.txt", "old_text": secret(), "new_text": "gone"});
    check("edit_file", guess, Some(ErrorCode::MatchCountDiffers));
}

#[test]
fn arguments_and_the_errors_that_repeat_them_are_redacted() {
    let s = secret;
    check("read_file", json!({"path": s()}), Some(ErrorCode::FileNotFound));
    check("read_file", json!({"path": format!("b/{}/x", s())}), Some(ErrorCode::FileNotFound));
    check("read_file", json!({"path": format!("../{}", s())}), Some(ErrorCode::PathOutsideProject));
    check("read_file", json!({"path": format!(".env/{}", s())}), Some(ErrorCode::BlockedPath));
    check("read_file", json!({"path": "a.txt", "max_bytes": s()}), Some(ErrorCode::ValidationError)); // wrong type
    check("read_file", json!({"path": [s()]}), Some(ErrorCode::ValidationError));
    check("read_file", json!({s(): 1}), Some(ErrorCode::ValidationError)); // unknown member
    check("read_file", json!(s()), Some(ErrorCode::ValidationError));
    check(
        "edit_file",
        json!({"path": "a.txt", "edits": [{"spec": "x", "operation": s()}]}),
        Some(ErrorCode::ValidationError),
    );
    check("search_file", json!({"regex": format!("({}", s())}), Some(ErrorCode::InvalidPattern));
    check("read_output", json!({"handle": s()}), Some(ErrorCode::UnknownHandle));
    check("read_file", json!({"path": "a.txt", "reason": s()}), Some(ErrorCode::ValidationError));
    check(
        "edit_file",
        json!({"path": "a.txt", "old_text": "nowhere ".to_owned() + &s(), "new_text": "x"}),
        Some(ErrorCode::MatchCountDiffers),
    );
    check("create_directory", json!({"path": format!("d/{}", s())}), None);
    check("write_file", json!({"path": s(), "content": "x"}), None); // the path in the reply and in the diff
    check("list_files", json!({"path": s()}), Some(ErrorCode::FileNotFound));
    check("delete_file", json!({"path": s()}), Some(ErrorCode::FileNotFound));
}

#[test]
fn a_secret_as_the_name_of_a_tool_is_redacted() {
    check(&secret(), json!({}), Some(ErrorCode::ToolNotFound));
    check(&format!("read_file {}", secret()), json!({}), Some(ErrorCode::ToolNotFound));
}

#[test]
fn a_secret_is_never_written_into_a_file() {
    let edit = |content: &str| json!({"path": "b/c.txt", "old_text": "x", "new_text": content});
    let (world, _) =
        check("write_file", json!({"path": "n.txt", "content": secret()}), Some(ErrorCode::SecretInWrite));
    assert!(!crate::disk::exists(&world.workspace.join("n.txt")));
    check("edit_file", edit(&secret()), Some(ErrorCode::SecretInWrite));
    check("edit_file", edit("[REDACTED:env-deploy-key]"), Some(ErrorCode::PlaceholderInWrite));
}

#[test]
fn names_of_files_are_redacted_too() {
    let world = World::new(known(), &json!({secret(): "text\n", format!("d/{}.txt", secret()): "text\n"}));
    let replies = [
        world.call("list_files", json!({"recursive": true})),
        world.call("search_file", json!({"regex": "text"})),
    ];
    replies.iter().for_each(demand_success);
    demand_clean(&world, &replies);
}

#[test]
fn the_operators_own_words_are_redacted_as_well() {
    let rules = ["deny", "ask"].map(|decision| RuleText {
        tool: None,
        path: Some(format!("{decision}.txt")),
        decision: decision.to_owned(),
        reason: format!("ask for {} first.", secret()),
    });
    let settings = Settings { rules: rules.to_vec(), block: vec![format!("x-{}", secret())], ..known() };
    let world = World::new(settings, &json!({}));
    let paths = ["deny.txt".to_owned(), "ask.txt".to_owned(), format!("x-{}", secret())];
    let replies = paths.map(|path| world.call("read_file", json!({"path": path})));
    let codes: Vec<_> = replies.iter().filter_map(code).collect();
    assert_eq!(codes, [ErrorCode::RuleDenied, ErrorCode::ApprovalRequired, ErrorCode::BlockedPath]);
    demand_clean(&world, &replies);
}

#[test]
fn warnings_are_redacted_and_name_no_place() {
    // A mirror that cannot be written is told in a warning.
    let world = World::new(known(), &json!({".vambrace": "a file where the mirror's folder should be"}));
    let reply = world.call("read_file", json!({"path": secret()}));
    let warnings = reply.metadata().warnings.join("\n");
    assert!(warnings.contains("could not be written"), "{warnings}");
    // Where things lie on this machine is not the agent's.
    assert!(!warnings.contains('/') && !warnings.contains(world.workspace.to_str().unwrap()), "{warnings}");
    demand_clean(&world, &[reply]);
}

#[test]
fn what_was_cut_is_kept_redacted() {
    let text = format!("line with {} in it\n", secret()).repeat(2000);
    let world = World::new(known(), &json!({"long.txt": text}));
    let reply = world.call("write_file", json!({"path": "long.txt", "content": "short\n"}));
    demand_success(&reply);
    assert!(reply.metadata().truncated);
    assert!(shown(&reply).to_string().contains("line with [REDACTED:env-deploy-key] in it"));
    demand_clean(&world, &[reply]);
}

#[test]
fn a_secret_with_a_control_character_inside_is_put_together_before_it_is_sought() {
    let (head, tail) = (&secret()[..6], &secret()[6..]);
    let world = World::new(known(), &json!({"a.txt": format!("{head}\u{1}{tail}\n")}));
    let replies = [
        world.call("read_file", json!({"path": "a.txt"})),
        world.call("read_file", json!({"path": format!("{head}\u{7}{tail}")})),
    ];
    demand_clean(&world, &replies);
}

#[test]
fn control_characters_are_dropped_and_announced() {
    let world = World::plain(
        json!({"a.txt": "plain \u{1b}[31mred\u{1b}[0m\ttab\r\nbell \u{7}\n", "b.txt": "plain\n"}),
    );
    let reply = world.call("read_file", json!({"path": "a.txt"}));
    demand_success(&reply);
    assert_eq!(shown(&reply)["data"]["content"], "plain [31mred[0m\ttab\r\nbell \n");
    assert_eq!(reply.metadata().warnings, ["3 control characters were dropped."]);
    assert!(world.call("read_file", json!({"path": "b.txt"})).metadata().warnings.is_empty());
    assert!(!world.all_records().iter().any(|record| record.to_string().contains("u001b")));
}

#[test]
fn a_secret_that_is_sent_as_a_number_is_redacted_too() {
    let digits = ["86753", "09867", "5309"].concat();
    let world = World::new(Settings::knowing(NAME, &digits), &json!({}));
    let arguments = json!({"path": digits.parse::<u64>().unwrap()});
    let reply = world.call("read_file", arguments);
    assert_eq!(code(&reply), Some(ErrorCode::ValidationError));
    assert!(!shown(&reply).to_string().contains(&digits), "the message repeats what was wrong");
    assert!(!world.everything_written_down().contains(&digits));
}

#[test]
fn what_looks_like_a_token_is_redacted_without_being_known() {
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let world = World::new(
        Settings { mirror: true, ..Settings::default() },
        &json!({"a.txt": format!("t: {token}\n")}),
    );
    let replies = [
        world.call("read_file", json!({"path": "a.txt"})),
        world.call("read_file", json!({"path": token})),
        world.call(&token, json!({})),
        world.send(Incoming {
            dry_run: true,
            ..world.incoming("write_file", json!({"path": "a.txt", "content": "x"}))
        }),
    ];
    for reply in &replies {
        assert!(!shown(reply).to_string().contains(&token), "{reply:?}");
    }
    assert!(!world.everything_written_down().contains(&token));
}
