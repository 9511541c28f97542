//! A call that needs a person's yes, where the client can put the question to its user: done once, or not at all.

use std::time::Instant;

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::mcp_client::{Client, initialize};
use crate::mcp_http_client::{Modern, Session};
use crate::support::{PATIENCE, World};

const RULES: &str = "rules: [{tool: write_file, decision: ask, reason: writing needs a second look.}]\n";

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn key(name: &str) -> (String, String) {
    let secret = format!("ka_{name}_{}", "0f".repeat(16));
    let line = format!("  \"{secret}\": {{caller_id: {name}, role: write}}\n");
    (secret, line)
}

struct Asking {
    world: World,
    served: Served,
    ann: String,
    ben: String,
}

/// What lets a client's dialog count over HTTP.
const ALOUD: &str = "approvals: {by_client: true}\n";

impl Asking {
    /// The operator has said aloud that dialogs count.
    fn new() -> Asking {
        Asking::in_world(World::new(), ALOUD)
    }

    fn in_world(world: World, more: &str) -> Asking {
        let ((ann, anns), (ben, bens)) = (key("ann"), key("ben"));
        let config = format!("{NO_LIMIT}{RULES}{more}api_keys:\n{anns}{bens}");
        let served = Served::with_config(&world, &config);
        Asking { world, served, ann, ben }
    }

    fn modern(&self) -> Modern<'_> {
        Modern::new(&self.served, &self.ann, &forms())
    }

    fn exists(&self, path: &str) -> bool {
        self.world.work().join(path).exists()
    }

    /// How often something was really written.
    fn n_written(&self) -> usize {
        let is_write = |record: &&Value| record["tool"] == "write_file" && record["decision"] == "allow";
        self.world.calls().iter().filter(is_write).count()
    }
}

fn write(path: &str) -> Value {
    json!({"name": "write_file", "arguments": {"path": path, "content": "new\n"}})
}

/// The same call with an answer and a state.
fn answered(path: &str, said: &Value, state: &Value) -> Value {
    let mut params = write(path);
    params["inputResponses"] = json!({"approval": said});
    params["requestState"] = state.clone();
    params
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

#[track_caller]
fn state_of(result: &Value) -> Value {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create", "{result}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("`write_file`") && message.contains("a second look"), "{message}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["approve"]["type"], "boolean", "{result}");
    result["requestState"].clone()
}

#[track_caller]
fn code_of(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    let error = &result["structuredContent"]["error"];
    let text = result["content"][0]["text"].as_str().unwrap();
    for key in ["code", "message", "suggestion"] {
        assert!(text.contains(error[key].as_str().unwrap()), "{key} in the text of {result}");
    }
    error["code"].as_str().unwrap()
}

#[test]
fn a_yes_with_the_state_is_good_for_one_call() {
    let asking = Asking::new();
    let modern = asking.modern();
    let state = state_of(&modern.call(&write("a.txt")));
    assert!(!asking.exists("a.txt"));
    let done = modern.call(&answered("a.txt", &yes(), &state));
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(asking.world.text("a.txt"), "new\n");
    // Somebody changes the file; the used state does not change it back.
    asking.world.file("a.txt", "by hand\n");
    assert_eq!(code_of(&modern.call(&answered("a.txt", &yes(), &state))), "ApprovalNotFound");
    assert_eq!(asking.world.text("a.txt"), "by hand\n");
    assert_eq!(asking.n_written(), 1);
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let asking = Asking::new();
    let modern = asking.modern();
    let state = state_of(&modern.call(&write("a.txt")));
    let text = state.as_str().unwrap();
    let mut altered = text.to_owned();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let flipped = text.replacen(|c: char| c.is_ascii_lowercase(), "Z", 1);
    let cut = text.rsplit_once('.').map_or("", |(front, _)| front).to_owned();
    for forged in [altered, flipped, cut, String::new(), "x".to_owned(), format!("{text}{text}")] {
        let result = modern.call(&answered("a.txt", &yes(), &json!(forged)));
        assert_eq!(code_of(&result), "ApprovalNotFound", "{forged}");
    }
    // Somebody else's, for another file, for another tool.
    let bens = Modern::new(&asking.served, &asking.ben, &forms());
    assert_eq!(code_of(&bens.call(&answered("a.txt", &yes(), &state))), "ApprovalNotFound");
    assert_eq!(code_of(&modern.call(&answered("b.txt", &yes(), &state))), "ApprovalNotFound");
    let mut other = answered("a.txt", &yes(), &state);
    other["name"] = json!("delete_file");
    assert_eq!(code_of(&modern.call(&other)), "ApprovalNotFound");
    assert!(!asking.exists("a.txt") && !asking.exists("b.txt"));
    asking.served.hear("Invalid request state");
    // And the state itself is still good.
    assert_eq!(modern.call(&answered("a.txt", &yes(), &state))["isError"], false);
    assert_eq!(asking.n_written(), 1);
}

#[test]
fn what_is_no_answer_asks_again_and_a_no_is_a_no() {
    let asking = Asking::new();
    let modern = asking.modern();
    let state = state_of(&modern.call(&write("a.txt")));
    let nothing =
        [json!({}), json!(7), json!({"action": "accept"}), json!({"action": "accept", "content": {}})];
    for said in &nothing {
        state_of(&modern.call(&answered("a.txt", said, &state)));
    }
    let mut without = answered("a.txt", &yes(), &state);
    without["inputResponses"] = json!({"other": yes()});
    state_of(&modern.call(&without));
    for (path, said) in [
        ("a.txt", json!({"action": "decline"})),
        ("c.txt", json!({"action": "accept", "content": {"approve": false}})),
    ] {
        let state = state_of(&modern.call(&write(path)));
        assert_eq!(code_of(&modern.call(&answered(path, &said, &state))), "ApprovalRequired", "{said}");
        // The answer was given; another one comes too late.
        assert_eq!(code_of(&modern.call(&answered(path, &yes(), &state))), "ApprovalNotFound", "{said}");
        assert!(!asking.exists(path));
    }
    assert_eq!(asking.n_written(), 0);
    // A dialog that was closed is neither: nothing is done, nobody is asked again at once, and the question waits on.
    let state = state_of(&modern.call(&write("b.txt")));
    let closed = json!({"action": "cancel"});
    assert_eq!(code_of(&modern.call(&answered("b.txt", &closed, &state))), "ApprovalRequired");
    assert!(!asking.exists("b.txt"));
    assert_eq!(modern.call(&answered("b.txt", &yes(), &state))["isError"], false);
    assert_eq!(asking.n_written(), 1);
}

#[test]
fn who_cannot_be_asked_is_told_how_a_person_answers() {
    let asking = Asking::new();
    let elsewhere = Asking::in_world(World::new(), "approvals: {by_client: false}\n");
    let url = json!({"elicitation": {"url": {}}});
    let rows = [
        Modern::new(&asking.served, &asking.ann, &json!({})),
        Modern::new(&asking.served, &asking.ann, &url),
        elsewhere.modern(),
    ];
    for modern in &rows {
        let result = modern.call(&write("a.txt"));
        assert_eq!(code_of(&result), "ApprovalRequired");
        let error = &result["structuredContent"]["error"];
        let id = error["details"]["approval_id"].as_str().unwrap_or_else(|| panic!("{result}"));
        assert!(error["suggestion"].as_str().unwrap().contains(&format!("vambrace approvals approve {id}")));
    }
    let session = Session::open(&elsewhere.served, &elsewhere.ann, &forms());
    assert_eq!(code_of(&session.call("write_file", &write("a.txt")["arguments"])), "ApprovalRequired");
    // A state means nothing where nobody seals one.
    let state = state_of(&asking.modern().call(&write("a.txt")));
    let result = elsewhere.modern().call(&answered("a.txt", &yes(), &state));
    assert_eq!(code_of(&result), "ApprovalNotFound");
    assert!(!asking.exists("a.txt") && !elsewhere.exists("a.txt"));
}

#[test]
fn over_http_a_key_does_not_answer_its_own_request() {
    let asking = Asking::in_world(World::new(), "");
    let state = state_of(&Asking::new().modern().call(&write("a.txt")));
    let modern = asking.modern();
    let asked = modern.call(&write("a.txt"));
    assert_eq!(code_of(&asked), "ApprovalRequired");
    let id = &asked["structuredContent"]["error"]["details"]["approval_id"];
    // The library's sealing has no key here, and the id is none.
    for forged in [&state, id, &json!("")] {
        let result = modern.call(&answered("a.txt", &yes(), forged));
        assert_eq!(code_of(&result), "ApprovalNotFound");
    }
    let mut stateless = answered("a.txt", &yes(), &state);
    stateless.as_object_mut().unwrap().remove("requestState");
    assert_eq!(code_of(&modern.call(&stateless)), "ApprovalRequired");
    let session = Session::open(&asking.served, &asking.ann, &forms());
    let result = session.call("write_file", &write("a.txt")["arguments"]);
    assert_eq!(code_of(&result), "ApprovalRequired");
    // Both revisions left the same request, and it still waits for somebody else.
    assert_eq!(&result["structuredContent"]["error"]["details"]["approval_id"], id);
    assert!(!asking.exists("a.txt"));
    assert_eq!(asking.world.run(&["approvals", "approve", id.as_str().unwrap()]).code, 0);
    assert_eq!(modern.call(&write("a.txt"))["isError"], false);
    assert_eq!(asking.n_written(), 1);
}

#[test]
fn dialogs_that_count_over_http_are_told_at_the_start() {
    for (more, is_told) in [(ALOUD, true), ("", false), ("approvals: {by_client: false}\n", false)] {
        let asking = Asking::in_world(World::new(), more);
        assert_eq!(asking.served.log().contains("approvals.by_client"), is_told, "{more}");
    }
}

#[test]
fn a_session_is_asked_while_its_call_waits() {
    let asking = Asking::new();
    let session = Session::open(&asking.served, &asking.ann, &forms());
    for (path, said, is_done) in [
        ("a.txt", yes(), true),
        ("b.txt", json!({"action": "decline"}), false),
        ("c.txt", json!({"action": "cancel"}), false),
        ("d.txt", json!({"action": "accept", "content": {"approve": false}}), false),
        ("e.txt", json!({"action": "accept", "content": {"approve": "true"}}), false),
    ] {
        let (mut events, id) = session.begin("tools/call", &write(path));
        let question = events.next();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(!asking.exists(path), "before anybody said anything");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": said});
        assert_eq!(session.send("POST", &answer).status, 202);
        let last = events.next();
        assert_eq!(last["id"], id, "{last}");
        assert_eq!(last["result"]["isError"], !is_done, "{last}");
        assert_eq!(asking.exists(path), is_done, "{said}");
        if !is_done {
            assert_eq!(code_of(&last["result"]), "ApprovalRequired");
            // Who said no is not asked to say yes elsewhere; who said nothing may still be.
            let suggestion = &last["result"]["structuredContent"]["error"]["suggestion"];
            let said_no = said["action"] == "decline" || said["content"]["approve"] == false;
            let points_to_a_person = suggestion.as_str().unwrap().contains("vambrace approvals approve");
            assert_eq!(points_to_a_person, !said_no, "{last}");
        }
    }
    assert_eq!(asking.n_written(), 1);
}

#[test]
fn who_says_no_does_not_see_it_done_whatever_others_said() {
    let asking = Asking::new();
    let session = Session::open(&asking.served, &asking.ann, &forms());
    let (mut events, id) = session.begin("tools/call", &write("a.txt"));
    let question = events.next();
    let waiting: Value = serde_json::from_str(&asking.world.run(&["approvals", "--json"]).text()).unwrap();
    let ticket = waiting["id"].as_str().unwrap();
    assert_eq!(asking.world.run(&["approvals", "approve", ticket]).code, 0);
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(session.send("POST", &answer).status, 202);
    let last = events.next();
    assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(id), &json!(true)), "{last}");
    assert!(!asking.exists("a.txt"));
    // The refusal is found in the record.
    let call = last["result"]["structuredContent"]["metadata"]["call_id"].as_str().unwrap();
    assert_eq!(asking.world.run(&["audit", "show", call]).code, 0);
}

#[test]
fn a_server_that_ends_waits_for_nobodys_answer() {
    let mut asking = Asking::new();
    let mut events = {
        let session = Session::open(&asking.served, &asking.ann, &forms());
        let (mut events, _) = session.begin("tools/call", &write("a.txt"));
        assert_eq!(events.next()["method"], "elicitation/create");
        events
    };
    assert_eq!(asking.served.end(), 0);
    assert_eq!(code_of(&events.next()["result"]), "ApprovalRequired");
    assert!(!asking.exists("a.txt"));
}

#[test]
fn pipes_are_asked_too_in_both_revisions() {
    let world = World::new();
    let file = world.beside("operator.yaml", RULES);
    let mut greeting = initialize();
    greeting["params"]["capabilities"] = forms();
    let mut client = Client::silent(&world, &["--config", &file]);
    client.send(&greeting);
    client.answer(&json!("greeting"));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (path, said, is_done) in [("a.txt", yes(), true), ("b.txt", json!({"action": "decline"}), false)] {
        let id = client.ask("tools/call", &write(path));
        let question = client.next();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
        let answer = client.answer(&id);
        assert_eq!(answer["result"]["isError"], !is_done, "{answer}");
        assert_eq!(world.work().join(path).exists(), is_done);
    }
    assert_eq!(client.close().0, 0);

    let mut client = Client::silent(&world, &["--config", &file]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": forms(),
    });
    let mut first = write("c.txt");
    first["_meta"] = meta.clone();
    let state = state_of(&client.request("tools/call", &first)["result"]);
    let mut second = answered("c.txt", &yes(), &state);
    second["_meta"] = meta;
    let done = client.request("tools/call", &second);
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert_eq!(world.text("c.txt"), "new\n");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_stopped_caller_answers_nothing() {
    let asking = Asking::new();
    let modern = asking.modern();
    let state = state_of(&modern.call(&write("a.txt")));
    assert_eq!(asking.world.run(&["stop", "ann"]).code, 0);
    assert_eq!(code_of(&modern.call(&answered("a.txt", &yes(), &state))), "Suspended");
    assert_eq!(asking.world.run(&["resume", "ann"]).code, 0);
    // The question still waits: nobody answered it.
    assert!(!asking.exists("a.txt"));
    let done = modern.call(&answered("a.txt", &yes(), &state));
    assert_eq!(done["isError"], false, "{done}");
}

#[test]
fn others_are_served_while_an_answer_waits_for_the_disk() {
    let asking = Asking::in_world(World::new().with_env("TOKIO_WORKER_THREADS", "1"), ALOUD);
    let modern = asking.modern();
    let state = state_of(&modern.call(&write("a.txt")));
    let lock = std::fs::File::open(asking.world.audit().join("approvals/lock")).unwrap();
    lock.lock().unwrap();
    let _waiting = modern.begin("tools/call", &answered("a.txt", &yes(), &state));
    for _ in 0..5 {
        assert_eq!(asking.served.get("/live").status, 200, "{}", asking.served.log());
    }
    assert!(!asking.exists("a.txt"));
    // The lock is waited for a few seconds; whoever was not served meanwhile comes too late for this.
    drop(lock);
    let began = Instant::now();
    while !asking.exists("a.txt") {
        assert!(began.elapsed() < PATIENCE, "{}", asking.served.log());
        std::thread::yield_now();
    }
}

/// Text that a write asks about, put together here so that no file holds it.
fn key_block() -> String {
    let (kind, body) = ("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(4));
    format!("-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n")
}

/// Whether the client's user is asked over stdio, in both revisions; whoever is asked says no.
#[track_caller]
fn check_asked(options: &[&str], config: &str, call: &Value, expected: bool) {
    let world = World::new();
    let file = world.beside("operator.yaml", config);
    let options = [&["--config", file.as_str()], options].concat();
    let mut greeting = initialize();
    greeting["params"]["capabilities"] = forms();
    let mut client = Client::silent(&world, &options);
    client.send(&greeting);
    client.answer(&json!("greeting"));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let id = client.ask("tools/call", call);
    let mut next = client.next();
    assert_eq!(next["method"] == "elicitation/create", expected, "{next}");
    if expected {
        let no = json!({"action": "decline"});
        client.send(&json!({"jsonrpc": "2.0", "id": next["id"], "result": no}));
        next = client.answer(&id);
    }
    assert_eq!(code_of(&next["result"]), "ApprovalRequired");
    assert_eq!(client.close().0, 0);

    let mut client = Client::silent(&world, &options);
    let mut call = call.clone();
    call["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": forms(),
    });
    let result = client.request("tools/call", &call)["result"].clone();
    // Whoever said no a moment ago is not asked again.
    assert_eq!(code_of(&result), "ApprovalRequired");
    assert_eq!(client.close().0, 0);
}

#[test]
fn over_stdio_a_dialog_does_not_answer_for_the_machine_nor_for_secrets() {
    let restart = json!({"name": "system_ctl", "arguments": {"service": "nginx", "action": "restart"}});
    let secret = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": key_block()}});
    for (config, grave, ordinary) in [
        ("", false, true),
        ("approvals: {by_client: stdio}\n", false, true),
        ("approvals: {by_client: false}\n", false, false),
        (ALOUD, true, true),
    ] {
        check_asked(&["--role", "sre"], config, &restart, grave);
        check_asked(&[], config, &secret, grave);
        let ruled = format!("{RULES}{config}");
        check_asked(&[], &ruled, &write("a.txt"), ordinary);
        // The rule's question is no way round the other one.
        check_asked(&[], &ruled, &secret, grave);
    }
}
