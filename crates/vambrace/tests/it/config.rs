//! `config`, and what a wrong configuration does to a start.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::World;

/// An operator's file with this text stops the start, and the complaint holds these words.
#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let world = World::new();
    let file = world.beside("operator.yaml", text);
    for args in [&["config", "check"][..], &["call", "list_files"], &["mcp"], &["redact"], &["check", "text"]]
    {
        let ran = world.run(&[&["--config", &file], args].concat());
        assert_eq!((ran.code, ran.stdout.len()), (2, 0), "{args:?}: {ran:?}");
        for word in [&["operator.yaml"], words].concat() {
            assert!(ran.stderr.contains(word), "{word} in {ran:?}");
        }
    }
    assert!(!world.state().exists(), "nothing was started");
}

#[test]
fn an_unknown_key_stops_the_start_with_file_line_and_nearest_name() {
    refused("version: 1\nscop: {}\n", &[":2:", "`scop`", "`scope`"]);
    refused("version: 1\ntools:\n  comand_policy: {}\n", &[":3:", "`tools.command_policy`"]);
    refused("limits:\n  time: 5\n  tiem_max: 9\n", &[":3:", "tiem_max", "time_max"]);
}

#[test]
fn a_wrong_value_stops_the_start() {
    refused("scope:\n  symlinks: 3\n", &[":2:", "scope.symlinks"]);
    refused("profile: lax\n", &["lax"]);
    refused("a: [1\n", &["operator.yaml"]);
    refused("secrets: {env: {K: \"${NO_SUCH_VARIABLE}\"}}\n", &["NO_SUCH_VARIABLE"]);
}

#[test]
fn a_missing_file_stops_the_start() {
    let ran = World::new().run(&["--config", "absent.yaml", "call", "list_files"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("absent.yaml"), "{ran:?}");
}

#[test]
fn a_project_file_may_only_tighten() {
    let world = World::new();
    world.file("vambrace.yaml", "scope: {hardlinks: allow}\n").file("a", "x");
    let loose = world.run(&["call", "read_file", r#"{"path":"a"}"#]);
    assert_eq!(loose.code, 2, "{loose:?}");
    assert!(
        loose.stderr.contains("vambrace.yaml:1:") && loose.stderr.contains("scope.hardlinks"),
        "{loose:?}"
    );
    world.file("vambrace.yaml", "scope: {block_patterns: [\"a\"]}\n");
    let tight = world.run(&["call", "read_file", r#"{"path":"a"}"#]);
    assert_eq!((tight.code, tight.error_code().as_str()), (3, "BlockedPath"), "{tight:?}");
}

#[test]
fn an_agent_cannot_write_the_project_file() {
    let world = World::new();
    for name in ["vambrace.yaml", "vambrace.toml", "vambrace.json"] {
        let ran = world.call("write_file", &json!({"path": name, "content": "version: 1\n"}));
        assert_eq!(ran.code, 3, "{name}: {ran:?}");
    }
}

#[test]
fn the_state_folder_stays_out_of_the_workspace() {
    let world = World::new();
    world.link("way_in", ".");
    std::os::unix::fs::symlink(world.work(), world.dir().join("alias")).unwrap();
    for state in ["inside", ".", "deep/er", "../work/inside", "../alias/inside", "way_in/inside"] {
        let mut command = world.bare(crate::support::binary());
        let ran = crate::support::finish(command.args(["--state", state, "call", "list_files"]), b"");
        assert_eq!((ran.code, ran.stdout.len()), (2, 0), "{state}: {ran:?}");
        assert!(ran.stderr.contains("inside the workspace"), "{ran:?}");
    }
    assert!(!world.work().join("inside").exists());
    // A home that is the workspace puts the default place inside it.
    let mut command = world.bare(crate::support::binary());
    let ran = crate::support::finish(command.env("HOME", world.work()).args(["call", "list_files"]), b"");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn init_writes_a_file_that_is_valid_and_private_and_never_over_another() {
    for profile in ["strict", "declared-tools", "knowledge-service", "terminal-agent", "workspace-agent"] {
        let world = World::new();
        let file = world.dir().join("deep/vambrace.yaml");
        let name = file.to_str().unwrap();
        let ran = world.run(&["--profile", profile, "config", "init", name]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(profile) && text.contains('#'), "{text}");
        let checked = world.run(&["--config", name, "-q", "config", "check"]);
        assert_eq!((checked.code, &checked.json()["valid"]), (0, &json!(true)), "{checked:?}");
        let again = world.run(&["config", "init", name]);
        assert_eq!((again.code, fs::read_to_string(&file).unwrap()), (1, text), "{again:?}");
    }
    let world = World::new();
    assert_eq!(world.run(&["config", "init"]).code, 0);
    assert!(world.home().join(".config/vambrace/vambrace.yaml").is_file());
    assert_eq!(world.run(&["--profile", "lax", "config", "init", "x"]).code, 2);
}

#[test]
fn show_says_where_a_value_came_from() {
    let world = World::new();
    let file = world.beside("operator.toml", "[limits]\ntime = 7\n");
    let rows = world.run(&["--config", &file, "config", "show"]).json();
    let of = |key: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
        (row["value"].clone(), row["origin"].as_str().unwrap().to_owned())
    };
    let (time, origin) = of("limits.time");
    assert!(time.to_string().contains('7') && origin.contains("operator.toml"), "{time} {origin}");
    assert_eq!(of("scope.symlinks").1, "default");
    let weak = world.run(&["--profile", "terminal-agent", "config", "check"]);
    assert!(!weak.json()["weaker"].as_array().unwrap().is_empty(), "{weak:?}");
    assert!(weak.stderr.is_empty() || weak.stderr.contains("warning"), "{weak:?}");
}

#[test]
fn secrets_of_the_configuration_are_not_shown() {
    let world = World::new().with_env("TOKEN_FOR_TEST", "correct-horse-battery-9");
    let file = world.beside("operator.yaml", "auth: {internal_token: \"${TOKEN_FOR_TEST}\"}\n");
    for args in [&["config", "show"][..], &["config", "check"]] {
        let ran = world.run(&[&["--config", &file], args].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.text().contains("correct-horse"), "{ran:?}");
    }
}

#[test]
fn the_schema_knows_the_sections() {
    let schema = World::new().run(&["config", "schema"]).json();
    for key in ["scope", "tools", "limits", "audit", "secrets", "sandbox", "net", "auth", "rules", "defence"]
    {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
}

#[test]
fn settings_weaker_than_strict_are_told_and_recorded() {
    let world = World::new();
    let ran = world.run(&["--profile", "workspace-agent", "call", "list_files"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("strict:"), "{ran:?}");
    assert!(world.raw_records().contains("weaker than strict"));
    let quiet = world.run(&["-q", "--profile", "workspace-agent", "call", "list_files"]);
    assert_eq!(quiet.stderr, "");
}

/// What stops the start makes `config check` fail too, and names the key.
#[track_caller]
fn refused_by_check(text: &str, key: &str) {
    let world = World::new();
    let file = world.beside("operator.yaml", text);
    for args in [&["config", "check"][..], &["call", "list_files"], &["mcp"]] {
        let ran = world.run(&[&["--config", &file], args].concat());
        assert_eq!((ran.code, ran.stdout.len()), (2, 0), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(&format!("error: {key}: ")), "{args:?}: {ran:?}");
    }
    assert!(!world.audit().exists(), "nothing was started");
}

#[test]
fn a_pattern_that_does_not_compile_is_not_valid() {
    refused_by_check("scope: {block_patterns: [\"ok\", \"[\"]}\n", "scope.block_patterns");
    let rules = "rules: [{path: a, decision: deny}, {path: \"[\", decision: deny}]\n";
    refused_by_check(rules, "rules[1].path");
    refused_by_check("secrets: {redact_patterns: [\"(\"]}\n", "secrets.redact_patterns");
}

#[test]
fn a_protection_that_is_not_there_yet_is_not_promised() {
    refused_by_check("git: {require_checkpoint: true}\n", "git.require_checkpoint");
    refused_by_check("audit: {sinks: [{kind: syslog}]}\n", "audit.sinks");
    refused_by_check("state: {limits: 'redis://127.0.0.1:1'}\n", "state.limits");
}

#[test]
fn settings_without_effect_are_told() {
    let world = World::new();
    // Those of the log have one, in `serve`.
    let text = "log: {level: debug, format: json, output_path: stderr}\ntools: {aliases: {ls: list_files}}\n\
                audit: {view: seed004}\nslack: {enabled: true}\nllm: {model: some}\nkeycloak: {enabled: true}\n";
    let file = world.beside("operator.yaml", text);
    let keys = ["tools.aliases", "audit.view", "slack.enabled", "llm", "keycloak"];
    let ran = world.run(&["--config", &file, "call", "list_files"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for key in keys {
        assert!(ran.stderr.contains(&format!("warning: {key} is set, but has no effect yet")), "{ran:?}");
    }
    let checked = world.run(&["--config", &file, "config", "check"]).json();
    assert_eq!(checked["without_effect"], json!(keys));
    assert_eq!(world.run(&["-q", "--config", &file, "call", "list_files"]).stderr, "");
    assert_eq!(world.run(&["call", "list_files"]).stderr, "");
}

#[test]
fn verbose_names_the_files_read_and_the_calls_denied() {
    let world = World::new();
    let file = world.beside("operator.yaml", "limits: {time: 7}\n");
    let denied = ["call", "read_file", r#"{"path":"../x"}"#];
    let ran = world.run(&[&["-v", "--config", &file][..], &denied].concat());
    let id = ran.json()["metadata"]["call_id"].as_str().unwrap().to_owned();
    assert!(ran.stderr.contains(&format!("read {file}\n")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("denied: call {id}, rule ")), "{ran:?}");
    assert_eq!(world.run(&[&["--config", &file][..], &denied].concat()).stderr, "");
}

/// A rule that was meant to deny something must not deny nothing.
#[test]
fn a_rule_for_a_tool_that_does_not_exist_is_refused() {
    let world = World::new();
    let held =
        "rules:\n  - {tool: a2a_notify, decision: deny}\n  - {tool: write_file, path: x, decision: deny}\n";
    for (name, decision) in [("exec_shel", "deny"), ("'*'", "ask"), ("''", "deny")] {
        let rules = format!("{held}  - {{tool: {name}, path: '**', decision: {decision}}}\n");
        let config = world.beside("operator.yaml", &rules);
        for command in [&["config", "check"][..], &["call", "list_files", "{}"], &["mcp"]] {
            let ran = world.run(&[&["--config", &config][..], command].concat());
            assert_eq!(ran.code, 2, "{ran:?}");
            let expected = format!("rules: there is no tool `{}`", name.trim_matches('\''));
            assert!(ran.stderr.contains(&expected), "{ran:?}");
        }
    }
    let config = world.beside("operator.yaml", held);
    for mode in [&[][..], &["--tool", "read"]] {
        let ran = world.run(&[&["--config", &config][..], mode, &["call", "list_files", "{}"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    }
}

#[test]
fn a_rule_for_a_path_that_does_not_begin_at_the_workspace_is_told() {
    let world = World::new();
    let absolute = world.work().join("src/a").display().to_string();
    let rules =
        format!("rules:\n  - {{path: '{absolute}', decision: deny}}\n  - {{path: ~/notes, decision: ask}}\n");
    let holding = "  - {path: /src/**, decision: deny}\n  - {path: 'src/~', decision: deny}\n";
    let config = world.beside("operator.yaml", &(rules + holding));
    let ran = world.run(&["--config", &config, "call", "list_files", "{}"]);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("begin at the workspace")).collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    assert!(told[0].contains(&absolute) && told[1].contains("~/notes"), "{ran:?}");
}
