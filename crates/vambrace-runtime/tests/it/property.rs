//! Whatever is sent as arguments: an answer in the known shape, one outcome on record, and no change without success.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use vambrace_runtime::{Corridor, Incoming, Verdict};
use vambrace_types::{ErrorCode, Family, Status};

use crate::disk::Snapshot;
use crate::world::World;

const N_CASES: u32 = 60;

fn entries() -> Value {
    json!({"a.txt": "alpha\nbeta\n", "b/c.rs": "fn main() {}\n", ".env": "X=1\n", "link": {"link": "a.txt"}})
}

/// Texts that mean something to some tool, and texts that mean nothing.
fn text() -> impl Strategy<Value = String> {
    let telling = prop::sample::select(vec![
        "a.txt",
        "b",
        "b/c.rs",
        ".env",
        "link",
        "..",
        "/",
        "/etc/passwd",
        "",
        "new/file.txt",
        "alpha",
        "beta",
        "(",
        ".*",
        "replace",
        "append_after",
        "delete",
        "regex",
        "ast",
        "fn $A() {}",
        "$1",
        "out_000000000000000000000000",
        "\0",
    ]);
    prop_oneof![3 => telling.prop_map(str::to_owned), 1 => any::<String>(), 1 => "[a-z./]{0,12}"]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => (0u64..5).prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known = vec![
        "path",
        "content",
        "edits",
        "files",
        "old_text",
        "new_text",
        "spec",
        "operation",
        "match_mode",
        "count",
        "captures",
        "regex",
        "recursive",
        "limit",
        "include_ignored",
        "offset",
        "max_bytes",
        "handle",
        "reason",
    ];
    prop_oneof![9 => prop::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), value), 0..5)
        .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>()))
}

fn anything() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array), object(inner)]
    })
}

/// For each tool its own members, with values that mostly fit.
fn fitting(tool: &str) -> impl Strategy<Value = Value> + use<> {
    let tool = tool.to_owned();
    let edit = (text(), text(), 0usize..3, prop::sample::select(vec!["exact", "regex", "ast"])).prop_map(
        |(spec, content, count, mode)| json!({"spec": spec, "content": content, "count": count, "match_mode": mode}),
    );
    (text(), text(), prop::collection::vec(edit, 0..3), anything()).prop_map(
        move |(path, text, edits, odd)| match tool.as_str() {
            "write_file" => json!({"path": path, "content": text}),
            "edit_file" => json!({"path": path, "edits": edits}),
            "search_file" | "count_matches" => json!({"path": path, "regex": text}),
            "read_output" => json!({"handle": text, "offset": odd}),
            "list_files" => json!({"path": path, "recursive": true}),
            _ => json!({"path": path}),
        },
    )
}

fn check(world: &World, before: &RefCell<Snapshot>, incoming: Incoming) -> Result<(), TestCaseError> {
    let tool = incoming.tool.clone();
    let dry_run = incoming.dry_run;
    let reply = world.send(incoming);
    let after = world.snapshot();
    match (reply.status(), reply.error()) {
        (Status::Success, None) => prop_assert_eq!(reply.verdict(), Verdict::Allow),
        (Status::Error, Some(error)) => {
            prop_assert!(ErrorCode::ALL.contains(&error.code));
            prop_assert_ne!(error.code, ErrorCode::InternalError, "{} fell over", tool);
            prop_assert!(!error.message.is_empty() && !error.suggestion.is_empty(), "{:?}", error);
            prop_assert_eq!(reply.verdict() == Verdict::Deny, error.code.family() == Family::Denied);
            prop_assert_eq!(&after, &*before.borrow());
        }
        (status, error) => prop_assert!(false, "{:?} with {:?}", status, error),
    }
    if dry_run {
        prop_assert_eq!(&after, &*before.borrow());
    }
    let records = world.records_of(&reply);
    let outcomes = records.iter().filter(|record| record["kind"] == "outcome").count();
    prop_assert_eq!(outcomes, 1);
    before.replace(after);
    Ok(())
}

#[test]
fn no_arguments_make_a_tool_fall_over_or_change_things_and_fail() {
    for tool in Corridor::all_tools() {
        let tool = tool.about.name.as_str().to_owned();
        let world = World::plain(entries());
        let before = RefCell::new(world.snapshot());
        let config = Config { cases: N_CASES, failure_persistence: None, ..Config::default() };
        let arguments = prop_oneof![2 => fitting(&tool), 1 => object(anything()), 1 => anything()];
        TestRunner::new(config)
            .run(&(arguments, any::<bool>()), |(arguments, dry_run)| {
                // Asked as a person asks: hundreds of denials in a row would be an attack.
                let purpose = vambrace_runtime::Purpose::Check;
                check(&world, &before, Incoming { dry_run, purpose, ..world.incoming(&tool, arguments) })
            })
            .unwrap();
    }
}
