//! `token`, and that what it makes opens the doors.

use serde_json::{Value, json};

use crate::http_world::{NO_LIMIT, Served};
use crate::support::{Ran, World};

fn text(ran: &Ran) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    String::from_utf8(ran.stdout.clone()).unwrap()
}

fn is_hex(text: &str, n_digits: usize) -> bool {
    text.len() == n_digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[test]
fn a_pipe_gets_the_secret_alone() {
    let world = World::new();
    let internal = text(&world.run(&["token", "internal"]));
    assert!(is_hex(internal.strip_suffix('\n').unwrap(), 64), "{internal}");
    assert_ne!(text(&world.run(&["token", "internal"])), internal);
    let key = text(&world.run(&["token", "api-key", "root-agent"]));
    let digits = key.strip_prefix("ka_root-agent_").and_then(|rest| rest.strip_suffix('\n'));
    assert!(digits.is_some_and(|digits| is_hex(digits, 32)), "{key}");
}

#[test]
fn a_name_that_is_none_is_explained() {
    let world = World::new();
    for name in ["Root", "root_agent", "a--b", "1st", "", &"a".repeat(65)] {
        let ran = world.run(&["token", "api-key", name]);
        assert_eq!((ran.code, ran.stdout.as_slice()), (2, &b""[..]), "{ran:?}");
        assert!(
            ran.stderr.contains("is not a caller's name") && ran.stderr.contains("`root-agent`"),
            "{ran:?}"
        );
    }
}

fn status(served: &Served, name: &str, value: &str) -> u16 {
    served.post_as(&[(name, value)], "/api/tools/list_directory", &json!({"path": "."})).status
}

#[test]
fn the_line_it_prints_lets_its_owner_in() {
    let world = World::new();
    let made: Value =
        serde_json::from_str(&text(&world.run(&["--json", "token", "api-key", "root-agent"]))).unwrap();
    let (secret, line) = (made["secret"].as_str().unwrap(), made["config"].as_str().unwrap());
    assert!(!line.contains(secret) && line.contains("secret_sha256"), "{line}");
    let served = Served::with_config(&world, &format!("{NO_LIMIT}{line}\n"));
    assert_eq!(status(&served, "X-API-Key", secret), 200);
    assert_eq!(status(&served, "Authorization", &format!("Bearer {secret}")), 200);
    assert_eq!(status(&served, "X-API-Key", &format!("{secret}0")), 401);
    assert_eq!(status(&served, "X-API-Key", made["entry"]["secret_sha256"].as_str().unwrap()), 401);
}

#[test]
fn keys_and_tokens_from_the_environment_open_too() {
    let secret = |name: &str| format!("ka_{name}_{}", "0a".repeat(8));
    let keys = json!({secret("new"): {"caller_id": "root-agent", "role": "write"}, secret("old"): "other"});
    let token = "5c7e9a1b".repeat(8);
    let world = World::new().with_env("API_KEYS", &keys.to_string()).with_env("INTERNAL_AUTH_TOKEN", &token);
    let made: Value = serde_json::from_str(&text(&world.run(&["--json", "token", "internal"]))).unwrap();
    let served = Served::with_config(&world, &format!("{NO_LIMIT}{}\n", made["config"].as_str().unwrap()));
    for name in ["new", "old"] {
        assert_eq!(status(&served, "X-API-Key", &secret(name)), 200, "{name}");
    }
    assert_eq!(status(&served, "X-Internal-Token", &token), 200);
    assert_eq!(status(&served, "X-Internal-Token", &secret("new")), 401);
    assert_eq!(status(&served, "X-API-Key", &token), 401);
}
