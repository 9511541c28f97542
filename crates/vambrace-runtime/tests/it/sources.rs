//! Sources of tools that are exchanged while calls are served.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use vambrace_policy::{Permit, ReadPosture};
use vambrace_runtime::{Corridor, ToolSource};
use vambrace_tools::{About, CallContext, Hands, Hints, Tool, Visitor as _};
use vambrace_types::{Caller, Door, ErrorCode, RawOutput, Role, ToolError, ToolName, Tree};

use crate::world::{RUNTIME, World, code};

/// Says which one it is, once it may.
struct Says {
    name: &'static str,
    word: &'static str,
    may: Arc<Semaphore>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Says {
    type Args = Nothing;
    type Action = ReadPosture;

    fn about(&self) -> About {
        About::configured(ToolName::parse(self.name).unwrap(), self.word.to_owned(), Hints::READS)
    }

    fn plan(&self, _args: Nothing, _context: &CallContext<'_>) -> Result<ReadPosture, ToolError> {
        Ok(ReadPosture)
    }

    async fn run(&self, _permit: Permit<ReadPosture>, _hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let _may = self.may.acquire().await;
        Ok(RawOutput::new(Tree::map([("word", Tree::text(self.word))])))
    }
}

fn source(name: &'static str, word: &'static str, n_may: usize) -> (ToolSource, Arc<Semaphore>) {
    let may = Arc::new(Semaphore::new(n_may));
    let mut source = ToolSource::new("test");
    source.visit(Says { name, word, may: Arc::clone(&may) });
    (source, may)
}

fn described(corridor: &Corridor, name: &str) -> Option<String> {
    let caller = Caller::local(Role::Dev, Door::McpStdio);
    corridor.tool_for(&caller, name).map(|tool| tool.about.description.into_owned())
}

#[test]
fn a_source_is_exchanged_as_a_whole_and_those_who_watch_are_told() {
    let world = World::plain(json!({}));
    let corridor = &world.corridor;
    let mut changes = corridor.tool_changes();
    assert!(!changes.has_changed().unwrap());
    corridor.replace_tools(source("says", "one", 1).0);
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    assert_eq!(described(corridor, "says").as_deref(), Some("one"));
    assert_eq!(world.call("says", json!({})).data().as_tree().get("word"), Some(&Tree::text("one")));
    corridor.replace_tools(source("other", "two", 1).0);
    assert!(changes.has_changed().unwrap());
    assert_eq!(described(corridor, "says"), None);
    assert_eq!(code(&world.call("says", json!({}))), Some(ErrorCode::ToolNotFound));
    assert!(described(corridor, "read_file").is_some(), "other sources stay");
}

/// THREAT: P01, a source from outside that calls its tool like one of ours.
#[test]
fn nobody_takes_the_name_of_a_tool_of_ours() {
    let world = World::plain(json!({"a.txt": "ours"}));
    world.corridor.replace_tools(source("read_file", "theirs", 1).0);
    world.corridor.replace_tools(ToolSource::new("built in"));
    let reply = world.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(reply.data().as_tree().get("content"), Some(&Tree::text("ours")));
}

#[test]
fn a_call_ends_with_the_tool_it_began_with() {
    let world = World::plain(json!({}));
    let (first, may) = source("says", "one", 0);
    world.corridor.replace_tools(first);
    let (corridor, incoming) = (Arc::clone(&world.corridor), world.incoming("says", json!({})));
    let call = RUNTIME.spawn(async move { corridor.call(incoming).await });
    // The intent is on record when the tool has begun or is about to.
    while world.all_records().is_empty() {
        std::thread::yield_now();
    }
    world.corridor.replace_tools(source("says", "two", 1).0);
    may.add_permits(1);
    let reply = RUNTIME.block_on(call).unwrap().unwrap();
    assert_eq!(reply.data().as_tree().get("word"), Some(&Tree::text("one")));
    assert_eq!(world.call("says", json!({})).data().as_tree().get("word"), Some(&Tree::text("two")));
}
