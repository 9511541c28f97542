//! How `serve` starts: the token of the first start, what is printed where, and what it refuses.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use crate::http_world::{NO_LIMIT, Served};
use crate::support::{World, finish};

#[test]
fn the_first_start_makes_a_token_and_says_how_to_use_it() {
    let world = World::new();
    let mut served = Served::start(&world);
    let path = world.state().join("token");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(served.token.starts_with("ka_local_"), "{}", served.token);
    served.hear("claude mcp add vambrace -- ");
    let log = served.log();
    let claude = format!(
        "claude mcp add --transport http vambrace http://{}/mcp --header 'X-API-Key: {}'",
        served.address, served.token
    );
    assert!(log.contains(&claude), "{log}");
    assert_eq!(log.matches(&served.token).count(), 4, "{log}");
    assert_eq!(served.get("/api/tools").status, 200);
    let bearer = format!("Bearer {}", served.token);
    assert_eq!(served.send("GET", "/api/tools", &[("Authorization", &bearer)], b"").status, 200);
    assert_eq!(served.end(), 0);
    assert_eq!(served.out(), format!("listening on http://{}\n", served.address));

    // The second start has the same one, and nobody needs to be told again.
    let mut again = Served::start(&world);
    assert_eq!((&again.token, again.get("/api/tools").status), (&served.token, 200));
    assert_eq!(again.end(), 0);
    assert!(!again.log().contains(&served.token), "{}", again.log());
    assert!(!world.raw_records().contains(&served.token));
}

#[test]
fn the_token_of_the_first_start_is_a_known_secret() {
    let world = World::new();
    let mut served = Served::start(&world);
    let token = served.token.clone();
    let bare = token.trim_start_matches("ka_local_").to_owned();
    world.file("notes.txt", format!("use {token} here\n"));
    let read = served.post("/api/tools/read_file", &serde_json::json!({"path": "notes.txt"}));
    assert_eq!((read.status, read.text().contains(&bare)), (200, false), "{read:?}");
    let arguments = serde_json::json!({"path": "copy.txt", "content": token});
    let written = served.post("/api/tools/write_file", &arguments);
    assert_eq!(written.json()["error"]["code"], "SecretInWrite", "{written:?}");
    assert!(!world.work().join("copy.txt").exists());
    served.send("GET", &format!("/{token}"), &[], b"");
    // Where the path is cut, too.
    served.send("GET", &format!("/{}{token}", "x".repeat(180)), &[], b"");
    assert_eq!(served.end(), 0);
    let lines = served.log();
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains("Authentication required")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("ka_local_")), "{lines:?}");
    assert!(!world.raw_records().contains(&bare));
}

#[test]
fn a_token_that_others_could_know_is_not_served_with() {
    let world = World::new();
    drop(Served::start(&world));
    let path = world.state().join("token");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    refused(&world, &["serve", "--listen", ":0"], 1, "can be read by others");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(world.work().join("a.txt"), &path).unwrap();
    refused(&world, &["serve", "--listen", ":0"], 1, "is a link");
}

#[test]
fn quiet_is_quiet() {
    let world = World::new();
    let file = world.beside("operator.yaml", NO_LIMIT);
    let mut served = Served::with_args(&world, &["-q", "--config", &file]);
    assert_eq!((served.get("/").status, served.end()), (200, 0));
    assert_eq!(served.log(), "");
    assert_eq!(served.out(), format!("listening on http://{}\n", served.address));
}

#[test]
fn a_configured_credential_leaves_no_room_for_another() {
    let world = World::new();
    let first = Served::start(&world).token.clone();
    let key = format!("ka_{}", "ci_".repeat(8));
    let internal = format!("internal-{}", "0a1b".repeat(8));
    for config in [
        format!("{NO_LIMIT}api_keys: {{\"{key}\": {{caller_id: ci, role: read}}}}\n"),
        format!("{NO_LIMIT}auth: {{internal_token: {internal}}}\n"),
        format!("{NO_LIMIT}auth: {{jwt: {{jwks: {}}}}}\n", world.dir().join("keys.json").display()),
        format!("{NO_LIMIT}slack: {{signing_secret: {internal}}}\n"),
    ] {
        let served = Served::with_config(&world, &config);
        let answer = served.send("GET", "/api/tools", &[("X-API-Key", &first)], b"");
        assert_eq!(answer.status, 401, "{config}: {answer:?}");
    }
    let fresh = World::new();
    let config = format!("{NO_LIMIT}api_keys: {{\"{key}\": {{caller_id: ci, role: read}}}}\n");
    let served = Served::with_config(&fresh, &config);
    assert_eq!(served.send("GET", "/", &[("X-API-Key", &key)], b"").status, 200);
    assert!(!fresh.state().join("token").exists());
    assert!(!served.log().contains(&key));
    assert!(!served.log().contains("easily guessed"), "{}", served.log());
}

#[test]
fn a_secret_that_can_be_guessed_is_refused() {
    let world = World::new();
    let short = "q7".repeat(7);
    let dull = "abcd".repeat(8);
    for (config, words) in [
        (
            format!("auth: {{internal_token: {short}}}\n"),
            "auth.internal_token: the secret is shorter than 16",
        ),
        (format!("auth: {{internal_token: {dull}}}\n"), "fewer than 5 different characters"),
        ("auth: {internal_token: $INTERNAL_AUTH_TOKEN}\n".to_owned(), "write `${NAME}`"),
        (format!("api_keys: [{{caller_id: ci, secret: {short}}}]\n"), "api_keys (ci): the secret is shorter"),
        (format!("slack: {{signing_secret: {short}}}\n"), "slack.signing_secret: the secret is shorter"),
    ] {
        let file = world.beside("operator.yaml", &config);
        let args = ["--config", file.as_str(), "serve", "--listen", ":0"];
        refused(&world, &args, 2, words);
        let ran = world.run(&args);
        assert!(!ran.stderr.contains(&short) && !ran.stderr.contains(&dull), "{ran:?}");
        let checked = world.run(&["--config", &file, "config", "check"]);
        assert!(checked.code != 0 && checked.stderr.contains(words), "{checked:?}");
        // Over stdio nobody shows it.
        assert_eq!(world.run(&["--config", &file, "call", "list_files", "{}"]).code, 0, "{config}");
    }
}

/// THREAT: P13, whoever can write the key set makes tokens for everybody.
#[test]
fn a_key_set_that_agents_could_write_is_refused() {
    let world = World::new();
    world.file("keys.json", "{}").link("outside", world.dir());
    let through = world.dir().join("through");
    std::os::unix::fs::symlink(world.work(), &through).unwrap();
    for place in [
        "keys.json".to_owned(),
        "./none/keys.json".to_owned(),
        world.work().join("keys.json").display().to_string(),
        through.join("keys.json").display().to_string(),
        "outside/keys.json".to_owned(),
    ] {
        let file = world.beside("operator.yaml", &format!("auth: {{jwt: {{jwks: {place}}}}}\n"));
        let words = "lies in the workspace, where agents could write it and make tokens";
        refused(&world, &["--config", &file, "serve", "--listen", ":0"], 2, words);
    }
}

#[test]
fn the_bare_name_serves_this_folder() {
    let world = World::new();
    world.file("a.txt", "one\n");
    // Let go of at once; nobody else is given it meanwhile, unless somebody asks for just this one.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = world.beside("operator.yaml", &format!("server: {{agent_port: {port}}}\n"));
    let served = Served::started(&world, world.command(&["--config", &file]));
    assert_eq!(served.address.to_string(), format!("127.0.0.1:{port}"));
    let answer = served.post("/api/tools/read_file", &serde_json::json!({"path": "a.txt"}));
    assert_eq!(answer.json()["data"]["content"], "one\n", "{answer:?}");
}

#[track_caller]
fn refused(world: &World, args: &[&str], code: i32, words: &str) {
    let ran = world.run(args);
    assert_eq!((ran.code, ran.text().as_str()), (code, ""), "{args:?}: {ran:?}");
    assert!(ran.stderr.contains(words), "{args:?}: {ran:?}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let world = World::new();
    for address in ["example.com:80", "8081", "127.0.0.1", "127.0.0.1:99999", "", ":"] {
        refused(&world, &["serve", "--listen", address], 2, "is not an address with a port");
    }
    // An address for documentation, which no machine has.
    refused(&world, &["serve", "--listen", "192.0.2.1:0"], 2, "no address of this machine");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&world, &["serve", "--listen", &address], 1, "is taken");

    let file = world.beside("file", "");
    let mut nowhere = world.bare(crate::support::binary());
    nowhere.args(["--state", &format!("{file}/state"), "serve", "--listen", ":0"]);
    let ran = finish(&mut nowhere, b"");
    assert_eq!((ran.code, ran.text().as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("--state"), "{ran:?}");

    let mut inside = world.bare(crate::support::binary());
    inside.args(["--state", "state", "serve", "--listen", ":0"]);
    let ran = finish(&mut inside, b"");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!world.work().join("state/token").exists());
}

#[test]
fn the_doors_are_opened_by_two_decisions() {
    let world = World::new();
    let open = world.beside("open.yaml", &format!("{NO_LIMIT}auth: {{mode: open}}\n"));
    refused(&world, &["serve", "--listen", "0.0.0.0:0", "--no-auth"], 2, "--no-auth-beyond-this-machine");
    refused(
        &world,
        &["--config", &open, "serve", "--listen", "0.0.0.0:0"],
        2,
        "--no-auth-beyond-this-machine",
    );
    refused(&world, &["serve", "--no-auth-beyond-this-machine"], 2, "without --no-auth");

    let limits = world.beside("operator.yaml", NO_LIMIT);
    let served = Served::with_flags(&world, &["-q", "--config", &limits], &["--listen", ":0", "--no-auth"]);
    served.hear("NO AUTHENTICATION: everybody on this machine");
    assert_eq!(served.send("GET", "/api/tools", &[], b"").status, 200);
    // Who shows something wrong is refused even here.
    assert_eq!(served.send("GET", "/api/tools", &[("X-API-Key", "wrong")], b"").status, 401);
    // A web page is not everybody.
    assert_eq!(served.send("GET", "/api/tools", &[("Host", "evil.example")], b"").status, 421);
    assert!(!world.state().join("token").exists());
    let flags = ["--listen", "0.0.0.0:0", "--no-auth", "--no-auth-beyond-this-machine"];
    Served::with_flags(&world, &[], &flags).hear("NO AUTHENTICATION: EVERYBODY WHO REACHES IT");
}

#[test]
fn fixtures_of_the_kits_announce_themselves() {
    for kit in ["mcp", "a2a"] {
        let world = World::new().with_env("VAMBRACE_CONFORMANCE", kit);
        Served::with_args(&world, &["-q"]).hear(&format!("CONFORMANCE FIXTURES ({kit})"));
        refused(&world, &["serve", "--listen", "0.0.0.0:0"], 2, "this machine alone");
    }
    let world = World::new().with_env("VAMBRACE_CONFORMANCE", "everything");
    refused(&world, &["serve", "--listen", ":0"], 2, "either `mcp` or `a2a`");
}

#[test]
fn the_log_goes_where_the_operator_wants_it() {
    let world = World::new();
    let path = world.dir().join("server.log");
    let config = format!("{NO_LIMIT}log: {{level: debug, format: json, output_path: {}}}\n", path.display());
    let mut served = Served::with_config(&world, &config);
    served.send("GET", "/api/tools?x=1", &[], b"");
    assert_eq!(served.end(), 0);
    let lines = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |message: &str| lines.iter().find(|line| line["message"] == message).unwrap();
    assert_eq!(of("Authentication required but not provided")["path"], "/api/tools");
    assert_eq!((&of("request")["status"], &of("request")["method"]), (&401.into(), &"GET".into()));
    assert!(!served.log().contains("has no effect"), "{}", served.log());
    let mut error = Served::with_config(&world, &format!("{NO_LIMIT}log: {{level: error}}\n"));
    error.send("GET", "/api/tools", &[], b"");
    assert_eq!(error.end(), 0);
    assert!(!error.log().contains("Authentication"), "{}", error.log());
}

#[test]
fn the_options_before_the_command_hold_here_too() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let limits = world.beside("operator.yaml", NO_LIMIT);
    let arguments = serde_json::json!({"path": "a.txt", "content": "two\n"});
    // The token of the first start, which a dry run does not keep.
    assert_eq!(Served::start(&world).end(), 0);
    let mut dry = Served::with_args(&world, &["--config", &limits, "--dry-run"]);
    let answer = dry.post("/api/tools/write_file", &arguments).json();
    assert_eq!(
        (&answer["status"], &answer["metadata"]["dry_run"]),
        (&"success".into(), &true.into()),
        "{answer}"
    );
    assert_eq!(world.text("a.txt"), "one\n");
    assert_eq!(dry.end(), 0);
    let reader = Served::with_args(&world, &["--config", &limits, "--role", "product_owner"]);
    let answer = reader.post("/api/tools/write_file", &arguments).json();
    assert_eq!(answer["error"]["code"], "PermissionDenied", "{answer}");
    assert_eq!(world.text("a.txt"), "one\n");
}
