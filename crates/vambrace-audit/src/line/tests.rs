//! The exact form of a line, and its bounds.

use serde_json::{Map, Value};
use vambrace_types::{Narrowed, SessionId, VolumeId};

use super::*;
use crate::FIELDS;
use crate::testing::{self, call, text, tree};

fn intent(out: &mut String, stamp: Stamp, call: &CallEntry, intent: &Intent) {
    begin(out, stamp, RecordKind::Intent);
    super::intent(out, call, intent);
}

fn outcome(out: &mut String, stamp: Stamp, call: &CallEntry, outcome: &Outcome) {
    begin(out, stamp, RecordKind::Outcome);
    super::outcome(out, call, outcome);
}

fn event(out: &mut String, stamp: Stamp, event: &EventLine<'_>) {
    begin(out, stamp, RecordKind::Event);
    super::event(out, event);
}

fn stamp() -> Stamp {
    Stamp { tip: Tip::start("s"), time: Timestamp::from_millis(1_700_000_000_007) }
}

fn parsed(write: impl FnOnce(&mut String)) -> Map<String, Value> {
    let mut out = String::new();
    write(&mut out);
    assert!(out.ends_with("}\n") && out.matches('\n').count() == 1, "one line: {out}");
    assert!(out.len() <= LONGEST_RECORD, "{} bytes", out.len());
    vambrace_json::own_line(out.as_bytes()).unwrap()
}

#[test]
fn an_outcome_reads_as_promised() {
    let mut out = String::new();
    outcome(&mut out, stamp(), &call(Tree::map([("path", Tree::text("a\"b"))])), &testing::outcome());
    let expected = format!(
        "{{\"seq\":1,\"prev\":\"{}\",\"timestamp\":\"2023-11-14T22:13:20.007Z\",\"kind\":\"outcome\",\
         \"call_id\":\"{}\",\"session_id\":\"s\",\"caller_id\":\"local\",\"user_groups\":[],\"role\":\"dev\",\
         \"door\":\"mcp-stdio\",\"tool\":\"write_file\",\"purpose\":\"call\",\"input\":{{\"path\":\"a\\\"b\"}},\
         \"dry_run\":false,\"decision\":\"deny\",\"rule\":\"r\",\"ending\":\"denied\",\"success\":false,\
         \"code\":\"OutsideScope\",\"message\":\"no\",\"result\":null,\"duration_ms\":1,\"redactions\":0,\
         \"truncated\":false,\"enforcement\":\"none\",\"severity\":\"WARNING\",\"git_commit\":\"c0ffee\",\
         \"violation\":{{\"violation_type\":\"scope\",\"target_path\":\"../b\",\"command_args\":\"rm -r\"}}}}\n",
        stamp().tip.hash.to_hex(),
        call(Tree::Null).call_id.as_str(),
    );
    assert_eq!(out, expected);
}

/// A call in which everything that can be long is, and needs an escape at every byte. The redactor leaves no control
/// characters but line breaks; names do not go through it.
fn longest_call() -> CallEntry {
    let (lines, long) = ("\n".repeat(100_000), "\u{1}".repeat(100_000));
    let mut call = call(Tree::map([("content", Tree::text(&lines))]));
    call.session_id = SessionId::parse(&"\t".repeat(256)).unwrap();
    call.caller.id = long.clone();
    call.caller.email = Some(long.clone());
    call.caller.task = Some(Narrowed { id: long.clone(), role: None, mode: None });
    call.caller.context = Some(long.as_str().into());
    call.caller.user = Some(long.clone());
    call.caller.subject = Some(long.clone());
    call.caller.groups = vec![long.clone(); 1000];
    call.reason = Some(text(&lines));
    call.request_id = Some(text(&lines));
    call.address = Some("1111:2222:3333:4444:5555:6666:7777:8888".parse().unwrap());
    call.volume = Some(VolumeId::new(u64::MAX));
    call
}

#[test]
fn no_record_is_longer_than_the_bound_and_every_cut_is_told() {
    let long = "\"".repeat(100_000);
    let call = longest_call();
    let big = Outcome {
        rule: long.clone(),
        error: Some((vambrace_types::ErrorCode::PlaceholderInWrite, text(&long))),
        result: tree(Tree::List(vec![Tree::text(&long); 3])),
        checkpoint: Some(long.clone()),
        violation: Some(Violation { target: text(&long), command_args: Some(text(&long)), ..violation_of() }),
        marks: testing::marks(100),
        ..testing::outcome()
    };
    // What is just within its bound is longer than what is cut to its head.
    let within = |bound: usize| tree(Tree::text("x".repeat(bound - 2)));
    let longest = Outcome { result: within(RESULT), ..big.clone() };
    let whole = CallEntry { input: within(INPUT), ..call.clone() };
    let record = parsed(|out| outcome(out, stamp(), &whole, &longest));
    assert!(!record.contains_key("input_truncated") && !record.contains_key("result_truncated"));
    let record = parsed(|out| outcome(out, stamp(), &call, &big));
    assert_eq!(
        (record["marks"].as_array().unwrap().len(), &record["marks_left_off"]),
        (64, &Value::from(36))
    );
    let first = &record["marks"][0];
    assert_eq!(first["marker"].as_str().unwrap().len(), 64 + "#1".len());
    assert_eq!(first["fingerprint"], big.marks[0].fingerprint.to_string());
    assert_eq!(record["input_truncated"], true);
    assert_eq!(record["result_truncated"], true);
    for name in ["caller_id", "user_email", "request_id", "reason", "rule", "message", "git_commit"] {
        assert!(record[name].as_str().unwrap().contains("[cut from"), "{name}");
    }
    assert!(record["user_groups"].as_array().unwrap().last().unwrap().as_str().unwrap().ends_with("more]"));
    let plan = tree(Tree::text(&long));
    parsed(|out| intent(out, stamp(), &call, &Intent { rule: long.clone(), plan, ..testing::intent() }));
    let (agent, id) = (crate::subject::of_caller(&call.caller), call.call_id.as_str());
    parsed(|out| violation(out, stamp().time, &agent, id, big.violation.as_ref().unwrap()));
    let details = Tree::text(&long);
    let line = EventLine {
        event: "started",
        severity: Severity::Info,
        caller: Some(&long),
        by: Some(&long),
        call_id: Some(&long),
        message: &long,
        details: &details,
    };
    assert_eq!(parsed(|out| event(out, stamp(), &line))["details_truncated"], true);
}

fn violation_of() -> Violation {
    testing::outcome().violation.unwrap()
}

#[test]
fn every_member_is_described() {
    let call = longest_call();
    let result = tree(Tree::text("x".repeat(9999)));
    let big = Outcome { result, marks: testing::marks(65), ..testing::outcome() };
    let details = Tree::text("x".repeat(99_999));
    let line = EventLine {
        event: "started",
        severity: Severity::Info,
        caller: Some("c"),
        by: Some("b"),
        call_id: Some("i"),
        message: "m",
        details: &details,
    };
    let started = Intent { plan: tree(Tree::text("x".repeat(9999))), ..testing::intent() };
    let records = [
        parsed(|out| intent(out, stamp(), &call, &started)),
        parsed(|out| outcome(out, stamp(), &call, &big)),
        parsed(|out| event(out, stamp(), &line)),
    ];
    let described: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
    for record in &records {
        for name in record.keys() {
            assert!(described.contains(&name.as_str()), "{name} is not described");
        }
    }
    for name in described {
        assert!(records.iter().any(|record| record.contains_key(name)), "{name} is never written");
    }
}

#[track_caller]
fn check_text(text: &str, limit: usize, expected: &str) {
    let mut out = String::new();
    write_text(text, limit, &mut out);
    assert_eq!(out, expected);
    assert!(out.len() <= limit);
}

#[test]
fn texts_are_cut_between_characters() {
    check_text("12345678", 10, "\"12345678\"");
    check_text(&"é".repeat(30), 40, "\"ééééééé … [cut from 60 bytes]\"");
    check_text(&"\n".repeat(60), 40, "\"\\n\\n\\n\\n\\n\\n\\n … [cut from 60 bytes]\"");
}

#[test]
fn trees_within_the_bound_are_whole() {
    let check = |tree: Tree, limit: usize, whole: bool| {
        let mut out = String::new();
        let mut object = Object::begin(&mut out);
        object.tree("t", "cut", &tree, limit, 32);
        object.end();
        let read: Value = vambrace_json::own_line(out.as_bytes()).unwrap();
        assert_eq!(read.get("cut").is_none(), whole, "{out}");
        if whole {
            assert_eq!(out, format!("{{\"t\":{}}}", tree.to_json()));
        }
    };
    check(Tree::text("123"), 5, true);
    check(Tree::text("1234"), 5, false);
    check(Tree::List(vec![Tree::Int(1); 10]), 21, true);
    check(Tree::List(vec![Tree::Int(1); 10]), 20, false);
    check(Tree::map([("k", Tree::text("é"))]), 10, true);
    check(Tree::map([("k", Tree::text("é"))]), 9, false);
    check(Tree::Null, 4, true);
}

#[test]
fn numbers_and_addresses_are_written_as_others_write_them() {
    for number in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX - 1, u64::MAX] {
        let mut out = String::new();
        write_number(number, &mut out);
        assert_eq!(out, number.to_string());
    }
    for address in ["0.0.0.0", "127.0.0.1", "255.249.10.9", "::1", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"]
    {
        let mut out = String::new();
        write_address(address.parse().unwrap(), &mut out);
        assert_eq!(out, address);
    }
}
