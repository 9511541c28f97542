//! Tools that the operator declares (specification 000), with its texts byte for byte.

use serde_json::{Value, json};

use crate::programs_host::{has, holding};
use crate::support::{Ran, World};

const TOOLS: &str = r#"
tools:
  declared:
    - {name: echoed, kind: command, binary: cat, input_schema: {type: object, properties: {word: {type: string}}}}
    - {name: failing, kind: command, binary: "false"}
    - {name: removes, kind: command, binary: rm}
    - {name: absent, kind: command, binary: custom-tool}
    - {name: shown, kind: inline, language: sh, code: "echo \"$GREETING\"; env > seen; exit 3", env: {GREETING: hello}}
    - {name: python, kind: inline, language: python, secrets: {KEY: service},
       code: "import os, sys, json; print(json.load(sys.stdin)['word'], len(os.environ['KEY'])); print(os.environ['KEY'])",
       input_schema: {type: object, properties: {word: {type: string}}}}
    - {name: unresolved, kind: inline, language: sh, code: "echo x > ran", secrets: {KEY: nothing}}
    - {name: unresolved_command, kind: command, binary: touch, args: [ran], secrets: {KEY: nothing}}
    - {name: gem, kind: inline, language: ruby, code: "puts 1"}
    - {name: slow, kind: inline, language: sh, code: "echo said; sleep 60", timeout: 1}
    - {name: hungry, kind: inline, language: sh, memory: 64, code: "head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"}
secrets: {env: {service: "${SERVICE}", nothing: "${NOTHING:-}"}}
"#;

/// Fourteen letters that no pattern knows; only the name makes it a secret.
const VALUE: &str = "fourteenletter";

fn world() -> World {
    World::new().with_env("SERVICE", VALUE).with_env("BIRD", "feather")
}

#[track_caller]
fn call(world: &World, config: &str, tool: &str, arguments: &Value) -> Ran {
    let config = world.beside("declared.yaml", config);
    world.run(&["--config", &config, "call", tool, &arguments.to_string()])
}

fn listed() -> String {
    format!("{TOOLS}allowed_commands: [cat, \"false\", custom-tool, touch]\n")
}

#[track_caller]
fn fails(ran: &Ran, code: i32, error: &str, message: &str) {
    let result = ran.json();
    let found = (ran.code, result["error"]["code"].as_str(), result["error"]["message"].as_str());
    assert_eq!(found, (code, Some(error), Some(message)), "{ran:?}");
}

/// The program ran and failed; what it did and said is in the details.
#[track_caller]
fn failed(ran: &Ran, code: &str, expected: &Value) {
    assert_eq!((ran.code, ran.error_code().as_str()), (1, code), "{ran:?}");
    let details = ran.json()["error"]["details"].clone();
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(details[key], *value, "{key}: {ran:?}");
    }
}

#[test]
fn a_program_needs_a_list_that_names_it() {
    let world = world();
    let nothing = "command tool execution blocked: no allowlist configured. Configure allowed_commands in agent or \
                   server config.";
    fails(&call(&world, TOOLS, "echoed", &json!({})), 3, "NoAllowlist", nothing);
    let empty = format!("{TOOLS}allowed_commands: []\n");
    fails(&call(&world, &empty, "echoed", &json!({})), 3, "NoAllowlist", nothing);
    fails(&call(&world, &listed(), "removes", &json!({})), 3, "NotAllowed", "binary \"rm\" not in allowlist");
    let absent = "binary \"custom-tool\" not found on system";
    fails(&call(&world, &listed(), "absent", &json!({})), 1, "NotInstalled", absent);
    let ran = call(&world, &listed(), "echoed", &json!({"word": "hi"}));
    assert_eq!((ran.code, &ran.json()["data"]["json"]), (0, &json!({"word": "hi"})), "{ran:?}");
    let ran = call(&world, &listed(), "failing", &json!({}));
    failed(&ran, "CommandFailed", &json!({"exit_code": 1}));
}

#[test]
fn a_script_sees_what_was_given_and_nothing_else() {
    let world = world();
    let ran = call(&world, TOOLS, "shown", &json!({}));
    failed(
        &ran,
        "CommandFailed",
        &json!({"exit_code": 3, "stdout": "hello
", "timed_out": false}),
    );
    assert!(world.text("seen").contains("PATH="));
    for value in [VALUE, "feather"] {
        assert_eq!(holding(&world.work(), value).len(), 0, "{value} is nobody's business");
    }
}

#[test]
fn a_secret_is_given_redacted_and_never_guessed() {
    let world = world();
    if has("python3", "inline Python") {
        let ran = call(&world, TOOLS, "python", &json!({"word": "hi"}));
        let output = ran.json()["data"]["output"].as_str().unwrap().to_owned();
        assert!(output.starts_with("hi 14\n") && output.contains("REDACTED"), "{ran:?}");
        assert!(!ran.text().contains(VALUE), "{ran:?}");
    }
    let empty = "The secret `nothing` has no value.";
    fails(&call(&world, TOOLS, "unresolved", &json!({})), 1, "SecretUnresolved", empty);
    fails(&call(&world, &listed(), "unresolved_command", &json!({})), 1, "SecretUnresolved", empty);
    assert!(!world.work().join("ran").exists(), "the tool was not started");
    assert!(!world.raw_records().contains(VALUE), "nor is it on record");
}

#[test]
fn limits_and_missing_interpreters() {
    let world = world();
    let ran = call(&world, TOOLS, "slow", &json!({}));
    failed(
        &ran,
        "Timeout",
        &json!({"stdout": "said
", "timed_out": true}),
    );
    let ran = call(&world, TOOLS, "hungry", &json!({}));
    assert!(!ran.text().contains("300000000"), "{ran:?}");
    let is_there =
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|folder| folder.join("ruby").exists());
    if is_there {
        return crate::support::skip("the text about a missing interpreter: `ruby` is installed");
    }
    fails(&call(&world, TOOLS, "gem", &json!({})), 1, "InterpreterNotFound", "interpreter not found: ruby");
}
