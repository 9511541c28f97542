//! The folders of `testdata/walks`: a workspace and calls in, replies and records out.
//!
//! - `settings.json` (may be absent): what `settings.rs` reads.
//! - `files.json`: the workspace. A text is a file; `{"link": …}`, `{"hard_link_to": …}`, `{"hex": …}`, `{"fifo": true}`,
//!   `{"directory": true}` and `{"repeat": …, "times": …}` are what they say.
//! - `call.json`: one call, or a list of calls made one after the other.
//! - `reply.json`: the reply, or the list of replies. `*` stands for what no two runs share.
//! - `audit.jsonl`: the whole record.
//! - `after.json`: what the workspace holds in the end; absent when nothing may change.
//!
//! With `VAMBRACE_BLESS_WALKS` set, the last three are written anew; what they then say is for a person to judge.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vambrace_runtime::{Incoming, Purpose, Reply};
use vambrace_types::Caller;

use crate::disk;
use crate::settings::Settings;
use crate::text::{differences, shown, without_chance};
use crate::world::World;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/walks")
}

/// What a scenario says, with its words filled in.
struct Scenario {
    folder: PathBuf,
    settings: Settings,
}

impl Scenario {
    fn open(folder: PathBuf) -> Scenario {
        let path = folder.join("settings.json");
        let settings = if disk::exists(&path) {
            serde_json::from_str(&disk::read(&path))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        } else {
            Settings::default()
        };
        Scenario { folder, settings }
    }

    fn json(&self, name: &str) -> Value {
        let text = self.settings.fill(&disk::read(&self.folder.join(name)));
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}/{name}: {error}", self.folder.display()))
    }

    fn has(&self, name: &str) -> bool {
        disk::exists(&self.folder.join(name))
    }

    fn is_without_record(&self) -> bool {
        self.settings.audit_broken || self.settings.audit_full
    }

    /// Makes the calls, and compares everything that they leave behind.
    fn run(&self, found: &mut Vec<String>) {
        let world = World::new(self.settings.clone(), &self.json("files.json"));
        let before = world.snapshot();
        let (calls, is_list) = match self.json("call.json") {
            Value::Array(calls) => (calls, true),
            one => (vec![one], false),
        };
        let replies: Vec<Reply> = calls.iter().map(|call| send(&world, call)).collect();
        let mut shown: Vec<Value> = replies.iter().map(shown).collect();
        let reply = if is_list { Value::Array(shown) } else { shown.remove(0) };
        let records = if self.is_without_record() { Vec::new() } else { world.all_records() };
        let after = world.snapshot();
        if is_blessing() {
            self.bless(&world, &reply, &records, (after != before).then(|| json!(after)));
        }
        self.compare("reply.json", &self.json("reply.json"), &reply, found);
        let expected: Vec<Value> = disk::read(&self.folder.join("audit.jsonl"))
            .lines()
            .map(|line| serde_json::from_str(&self.settings.fill(line)).unwrap())
            .collect();
        self.compare("audit.jsonl", &Value::Array(expected), &Value::Array(records.clone()), found);
        let expected = if self.has("after.json") { self.json("after.json") } else { json!(before) };
        self.compare("after.json", &expected, &json!(after), found);
        // The identifiers are left to chance, but not their agreement.
        for reply in replies.iter().filter(|_| !self.is_without_record()) {
            let id = reply.metadata().call_id.as_str();
            assert!(records.iter().any(|record| record["call_id"] == id && record["kind"] == "outcome"));
        }
    }

    fn compare(&self, name: &str, expected: &Value, found: &Value, all: &mut Vec<String>) {
        let folder = self.folder.file_name().unwrap().to_string_lossy();
        all.extend(
            differences(expected, found).iter().map(|difference| format!("{folder}/{name}{difference}")),
        );
    }

    fn bless(&self, world: &World, reply: &Value, records: &[Value], after: Option<Value>) {
        let state = world.state.to_str().unwrap();
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap().replace(state, "*") + "\n";
        disk::write(&self.folder.join("reply.json"), &pretty(&without_chance(reply)));
        let lines: String = records.iter().map(|record| format!("{}\n", without_chance(record))).collect();
        disk::write(&self.folder.join("audit.jsonl"), &lines);
        if let Some(after) = after {
            disk::write(&self.folder.join("after.json"), &pretty(&after));
        }
    }
}

fn send(world: &World, call: &Value) -> Reply {
    let flag = |key: &str| call.get(key).is_some_and(|value| value.as_bool().unwrap());
    let mut caller = world.caller();
    if let Some(id) = call.get("caller") {
        caller = Caller { id: id.as_str().unwrap().to_owned(), ..caller };
    }
    world.send(Incoming {
        caller,
        dry_run: flag("dry_run"),
        purpose: if flag("check") { Purpose::Check } else { Purpose::Call },
        ..world.incoming(call["tool"].as_str().unwrap(), call["arguments"].clone())
    })
}

#[expect(clippy::disallowed_methods, reason = "a person asks for it on the command line")]
fn is_blessing() -> bool {
    std::env::var_os("VAMBRACE_BLESS_WALKS").is_some()
}

#[test]
fn every_walk_goes_as_written() {
    let folders = disk::folders(&folder());
    assert!(folders.len() >= 30, "{}", folders.len());
    let mut found = Vec::new();
    for folder in folders {
        Scenario::open(folder).run(&mut found);
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
