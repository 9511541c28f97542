//! Long answers are cut, the cut is announced, and the rest can be read byte for byte by its owner alone.

#![expect(clippy::disallowed_methods, reason = "a test reads its own JSON")]

use serde_json::{Map, Value, json};
use vambrace_runtime::{Incoming, Reply};
use vambrace_types::{Caller, DEFAULT_REPLY, ErrorCode};

use crate::settings::Settings;
use crate::text::shown;
use crate::world::{World, code, demand_success};

/// Reads a kept output to its end, in parts of the size that `read_output` likes best.
fn read_all(world: &World, handle: &str) -> String {
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let reply = world.call("read_output", json!({"handle": handle, "offset": offset}));
        demand_success(&reply);
        assert!(reply.data().as_tree().json_len() as u64 <= 2 * DEFAULT_REPLY.bytes());
        let data = shown(&reply)["data"].clone();
        whole.push_str(data["content"].as_str().unwrap());
        assert_eq!(data["bytes"], data["content"].as_str().unwrap().len());
        assert_eq!(reply.metadata().truncated, data["truncated"].as_bool().unwrap());
        match data["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => {
                assert_eq!(data["total_bytes"], whole.len());
                return whole;
            }
        }
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The list that a cut answer shows, and the marker behind it.
fn cut_list<'a>(data: &'a Value, key: &str) -> (&'a [Value], &'a Value) {
    let (marker, leading) = data[key].as_array().unwrap().split_last().unwrap();
    assert_eq!(marker["_truncated"], true);
    assert_eq!(marker["shown"], leading.len());
    (leading, marker)
}

#[track_caller]
fn demand_cut(reply: &Reply) {
    demand_success(reply);
    assert!(reply.metadata().truncated);
    let length = reply.data().as_tree().json_len() as u64;
    assert!((DEFAULT_REPLY.bytes() / 2..=DEFAULT_REPLY.bytes()).contains(&length), "{length}");
}

#[test]
fn a_megabyte_of_matches_is_cut_and_kept_whole() {
    const N_LINES: usize = 9000;
    let text: String = (0..N_LINES).map(|n| format!("needle number {n} {}\n", "é".repeat(40))).collect();
    let world = World::plain(json!({"long.txt": text}));
    let reply = world.call("search_file", json!({"regex": "needle", "limit": 10_000}));
    demand_cut(&reply);
    let data = &shown(&reply)["data"];
    let (leading, marker) = cut_list(data, "matches");
    assert_eq!(marker["original_count"], N_LINES);
    assert_eq!(data["total_matches"], N_LINES);
    let kept = read_all(&world, marker["handle"].as_str().unwrap());
    assert!(kept.len() > 1 << 20, "{}", kept.len());
    let kept = lines(&kept);
    assert_eq!(kept.len(), N_LINES);
    assert_eq!(kept[..leading.len()], *leading);
    for (n, found) in kept.iter().enumerate() {
        assert_eq!(found["line"], n + 1);
        assert!(found["text"].as_str().unwrap().starts_with(&format!("needle number {n} ")));
    }
    assert_eq!(world.records_of(&reply)[1]["truncated"], true);
}

#[test]
fn a_long_listing_is_cut_and_kept_whole() {
    const N_FILES: usize = 1200;
    let name = |n: usize| format!("folder/{n:04}-{}.txt", "x".repeat(60));
    let world =
        World::plain(Value::Object((0..N_FILES).map(|n| (name(n), json!("t"))).collect::<Map<_, _>>()));
    let reply = world.call("list_directory", json!({"path": "folder"}));
    demand_cut(&reply);
    assert_eq!(reply.tool(), "list_files");
    let data = &shown(&reply)["data"];
    let (leading, marker) = cut_list(data, "entries");
    assert_eq!(marker["original_count"], N_FILES);
    let kept = lines(&read_all(&world, marker["handle"].as_str().unwrap()));
    assert_eq!(kept[..leading.len()], *leading);
    let paths: Vec<_> = kept.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect();
    assert_eq!(paths, (0..N_FILES).map(name).collect::<Vec<_>>());
}

#[test]
fn a_long_text_keeps_its_head_and_its_tail() {
    let old: String = (0..8000).map(|n| format!("line {n}\n")).collect();
    let world = World::plain(json!({"long.txt": old}));
    let reply = world.call("write_file", json!({"path": "long.txt", "content": "short\n"}));
    demand_cut(&reply);
    let shown = shown(&reply);
    let diff = shown["data"]["diff"].as_str().unwrap();
    let (head, rest) = diff.split_once("\n[… ").unwrap();
    let (note, tail) = rest.split_once(" …]\n").unwrap();
    let words: Vec<&str> = note.split_whitespace().collect();
    let (n_cut, handle, offset) = (words[0], words[5], words[7]);
    let kept = read_all(&world, handle);
    assert_eq!(offset.parse::<usize>().unwrap(), head.len());
    assert_eq!(kept.len(), head.len() + n_cut.parse::<usize>().unwrap() + tail.len());
    assert!(kept.starts_with(head) && kept.ends_with(tail));
    assert!(head.starts_with("--- a/long.txt") && tail.ends_with("+short\n"));
}

#[test]
fn read_file_is_bounded_by_max_bytes_and_not_by_the_reply() {
    let text = "0123456789\n".repeat(20_000);
    let world = World::plain(json!({"long.txt": text}));
    let reply = world.call("read_file", json!({"path": "long.txt"}));
    assert_eq!(code(&reply), Some(ErrorCode::FileTooLarge));
    let reply = world.call("read_file", json!({"path": "long.txt", "max_bytes": 300_000}));
    demand_success(&reply);
    assert_eq!(shown(&reply)["data"]["content"], text);
    assert!(!reply.metadata().truncated);
    let reply = world
        .call("read_file", json!({"path": "long.txt", "offset": 10, "limit": 15_000, "max_bytes": 100_000}));
    demand_success(&reply);
    assert!(reply.metadata().truncated);
    let data = &shown(&reply)["data"];
    assert!((99_000..=100_000).contains(&data["bytes"].as_u64().unwrap()));
    assert_eq!(data["next_offset"], 10 + data["bytes"].as_u64().unwrap() / 11);
}

#[test]
fn an_answer_that_just_fits_is_not_touched() {
    let world = World::new(Settings { reply_bytes: 2048, ..Settings::default() }, &json!({}));
    let write = |n: usize| world.dry_run("write_file", json!({"path": "a.txt", "content": "x".repeat(n)}));
    let fits = (0..2048).rev().map(write).find(|reply| !reply.metadata().truncated).unwrap();
    assert_eq!(fits.data().as_tree().json_len(), 2048);
}

#[test]
fn a_handle_is_its_owners_alone() {
    let world = World::plain(json!({"long.txt": "line of the owner\n".repeat(8000)}));
    let reply = world.call("write_file", json!({"path": "long.txt", "content": ""}));
    let shown = shown(&reply).to_string();
    let at = shown.find("out_").unwrap();
    let handle = &shown[at..at + 28];
    let ask = |id: &str| {
        let caller = Caller { id: id.to_owned(), ..world.caller() };
        world.send(Incoming { caller, ..world.incoming("read_output", json!({"handle": handle})) })
    };
    demand_success(&ask("local"));
    for stranger in ["somebody", "loca", "local2", ""] {
        let reply = ask(stranger);
        assert_eq!(code(&reply), Some(ErrorCode::UnknownHandle), "{stranger}");
        assert!(!format!("{reply:?}").contains("line of the owner"));
    }
}

#[test]
fn a_handle_names_no_file() {
    let world = World::plain(json!({}));
    for handle in
        ["", "out_", "../audit/audit.key", "out_../../../../../../etc/passwd", "/etc/passwd", "out_\0"]
    {
        let reply = world.call("read_output", json!({"handle": handle}));
        assert_eq!(code(&reply), Some(ErrorCode::UnknownHandle), "{handle:?}");
    }
}
