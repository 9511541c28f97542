//! Values of files that the scope hides: in no answer, wherever else they stand.

use std::fs;

use serde_json::json;

use crate::mcp_client::Client;
use crate::support::World;

/// Nobody's values, put together at run time; only the file makes them known.
fn value(number: u32) -> String {
    format!("{}{number}{}", ["Zq8v", "T3xL"].concat(), ["m5nR", "w2kY"].concat())
}

/// A log that holds every value, and what a tool shows of it.
#[track_caller]
fn shown(world: &World, args: &[&str], n_values: u32) -> String {
    let lines: String = (1..=n_values).map(|n| format!("{n}: {}\n", value(n))).collect();
    world.file("log.txt", lines);
    let arguments = json!({"path": "log.txt"}).to_string();
    let ran = world.run(&[args, &["call", "read_file", &arguments]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    for (path, bytes) in World::everything_in(&world.state()) {
        for n in 1..=n_values {
            let clean = !String::from_utf8_lossy(&bytes).contains(&value(n));
            assert!(clean || ran.text().contains(&value(n)), "{}", path.display());
        }
    }
    ran.json()["data"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn every_way_to_write_them_down() {
    let world = World::new();
    world
        .file(".env", format!("# comment\nexport ONE_TOKEN='{}'\nTWO=\"{}\" # two\n", value(1), value(2)))
        .file("app/.env.production", format!("THREE = {}\r\n", value(3)))
        .file(".npmrc", format!("//registry.example/:_authToken={}\n", value(4)))
        .file(".netrc", format!("machine a login me password {}\n", value(5)))
        .file(".pgpass", format!("db:5432:*:me:{}\n", value(6)))
        .file(".git-credentials", format!("https://me:{}@forge.example\n", value(7)))
        .file("secrets/db_password", format!("{}\n", value(8)))
        .file("secrets/more/app.json", json!({"deep": {"api_key": value(9)}}).to_string())
        .file("a/b/c/.env", format!("URL=postgres://me:{}@db/x\n", value(10)));
    let expected = "1: [REDACTED:env-one-token]\n2: [REDACTED:env-two]\n3: [REDACTED:env-three]\n\
                    4: [REDACTED:env-authtoken]\n5: [REDACTED:env-netrc-password]\n\
                    6: [REDACTED:env-pgpass-password]\n7: [REDACTED:env-git-credentials-password]\n\
                    8: [REDACTED:env-db-password-secret]\n9: [REDACTED:env-api-key]\n\
                    10: [REDACTED:env-url]\n";
    assert_eq!(shown(&world, &[], 10), expected);
}

#[test]
fn they_are_known_to_every_command_and_refused_in_writes() {
    let world = World::new();
    world.file(".env", format!("API_TOKEN={}\n", value(1)));
    assert_eq!(world.feed(&["redact"], value(1)).text(), "[REDACTED:env-api-token]");
    assert_eq!(world.feed(&["check", "text"], value(1)).code, 3);
    let write = world.call("write_file", &json!({"path": "new.txt", "content": value(1)}));
    assert_eq!((write.code, write.error_code().as_str()), (3, "SecretInWrite"), "{write:?}");
    let sent = world.run(&["check", "url", &format!("https://example.com/{}", value(1))]);
    assert_eq!(sent.code, 3, "{sent:?}");
}

#[test]
fn examples_ordinary_words_and_deep_folders_are_left_alone() {
    let world = World::new();
    world
        .file(".env.example", format!("A_TOKEN={}\n", value(1)))
        .file("a/b/c/d/.env", format!("B_TOKEN={}\n", value(2)))
        .file("node_modules/x/.env", format!("C_TOKEN={}\n", value(3)))
        .file("plain.env.txt", format!("D_TOKEN={}\n", value(4)))
        .file(".env", "DB_PASSWORD=postgres\nNODE_ENV=production\nPORT=80808080\n");
    let text: String = (1..=4).map(|n| format!("{n}: {}\n", value(n))).collect();
    assert_eq!(shown(&world, &[], 4), text);
    assert_eq!(
        world.feed(&["redact"], "postgres production 80808080").text(),
        "postgres production 80808080"
    );
}

#[test]
fn the_operator_may_switch_it_off_and_a_project_may_not() {
    let world = World::new();
    world.file(".env", format!("API_TOKEN={}\n", value(1)));
    let off = world.beside("off.yaml", "redact: {known_files: off}\n");
    assert_eq!(shown(&world, &["--config", &off], 1), format!("1: {}\n", value(1)));
    world.file("vambrace.yaml", "redact: {known_files: off}\n");
    let ran = world.feed(&["redact"], value(1));
    assert!(!ran.text().contains(&value(1)), "{ran:?}");
}

#[test]
fn links_are_not_followed_and_what_is_too_large_is_said() {
    let world = World::new();
    let outside = world.beside("outside.env", &format!("API_TOKEN={}\n", value(1)));
    world.link(".env", &outside);
    assert_eq!(shown(&world, &[], 1), format!("1: {}\n", value(1)));
    world.file("sub/.env", format!("{}\nAPI_TOKEN={}\n", "# x".repeat(30_000), value(1)));
    let ran = world.feed(&["redact"], value(1));
    assert!(ran.code == 0 && ran.stderr.contains("sub/.env: its values are not known"), "{ran:?}");
    assert_eq!(world.feed(&["-q", "redact"], value(1)).stderr, "");
    fs::write(world.work().join("sub/.env"), [b"A_TOKEN=\xff\xfe", value(1).as_bytes(), b"\n\0"].concat())
        .unwrap();
    assert_eq!(world.feed(&["redact"], "plain").text(), "plain");
}

/// THREAT: P02, a person writes a new password down while an agent works.
#[test]
fn a_long_session_learns_what_is_written_down_meanwhile() {
    let world = World::new();
    world.file(".env", format!("API_TOKEN={}\n", value(1)));
    let mut client = Client::open(&world, &[]);
    let mut read = |n: u32| {
        world.file("log.txt", format!("{}\n{}\n", value(1), value(n)));
        client.call("read_file", &json!({"path": "log.txt"})).to_string()
    };
    assert!(!read(1).contains(&value(1)));
    world.file(".env", format!("API_TOKEN={}\n", value(2)));
    // Looked for at most once a second, so it takes a few calls and no time that we would have to wait for.
    let deadline = std::time::Instant::now() + crate::support::PATIENCE;
    loop {
        let shown = read(2);
        assert!(!shown.contains(&value(1)), "the old value is not forgotten");
        if !shown.contains(&value(2)) {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "the new value is never learned");
    }
    // A file that was not there at all.
    world.file("secrets/key", value(3));
    while read(3).contains(&value(3)) {
        assert!(std::time::Instant::now() < deadline, "the new file is never found");
    }
}

/// The operator looks a secret up by its value, which stands nowhere.
#[test]
fn calls_that_met_a_secret_are_found_by_it() {
    let world = World::new();
    world.file(".env", format!("API_TOKEN={}\nOTHER_TOKEN={}\n", value(1), value(2)));
    let nothing = world.feed(&["audit", "list", "--secret"], value(1));
    assert!(nothing.code == 1 && nothing.stderr.contains("numbered"), "{nothing:?}");
    let config = world.beside("numbered.yaml", "redact: {placeholders: numbered}\n");
    world
        .file("one.txt", value(1))
        .file("both.txt", format!("{} {}\n", value(2), value(1)))
        .file("none.txt", "x");
    let call = |path: &str| {
        let ran = world.run(&["--config", &config, "call", "read_file", &json!({"path": path}).to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["metadata"]["call_id"].as_str().unwrap().to_owned()
    };
    let (one, both, _) = (call("one.txt"), call("both.txt"), call("none.txt"));
    let found = |n: u32| {
        let ran = world.feed(&["audit", "list", "--secret", "--json"], format!("{}\n", value(n)));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.text().contains(&value(n)), "{ran:?}");
        ran.lines().iter().map(|line| line["call_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((found(1), found(2), found(3)), (vec![one.clone(), both.clone()], vec![both.clone()], vec![]));
    let shown = world.run(&["audit", "show", &both]).text();
    assert!(shown.contains("other-token#1") && shown.contains("fingerprint"), "{shown}");
    assert_eq!(world.run(&["audit", "list", "--secret"]).code, 2, "no value, no answer");
}

/// What no call and no program can have written comes first, whatever a program puts beside it.
/// THREAT: P02, P03.
///
/// With a guard no program makes a file that is learned from: it is refused `.ENV`. So there is
/// none here (`absent_names: sweep`). Protected names are reported after the run, and `.ENV`
/// is only blocked.
#[test]
fn a_program_does_not_choose_what_is_secret() {
    // Of a person's file they would be learned; nothing about them looks like a secret.
    let words = ["correct", "horse", "battery"].concat();
    let world = World::new();
    let sweep = world.beside("sweep.yaml", "sandbox: {absent_names: sweep}\n");
    world.file("src/.env", format!("API_TOKEN={}\n", value(1))).file("src/payload.py", "x = 1\n");
    assert!(!shown(&world, &[], 1).contains(&value(1)));
    // A person's program stands for an agent's: both run in the sandbox.
    let script = "printf 'A_SECRET=src/payload.py\\nB_SECRET=function\\nC_SECRET=return value\\n' > .ENV; \
                  echo \"D_PASSWORD=$1\" >> .ENV; \
                  i=0; while [ $i -lt 600 ]; do echo \"S_${i}_SECRET=Junk${i}Value${i}zq\"; i=$((i+1)); done >> .ENV; \
                  mkdir -p aaa && for n in 1 2 3 4 5 6 7 8 9; do mkdir -p aaa/$n && cp .ENV aaa/$n/.env; done";
    let ran = world.run(&["--config", &sweep, "run", "--", "sh", "-c", script, "sh", &words]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for path in [".ENV", "aaa/1/.env", "aaa/9/.env"] {
        assert!(world.text(path).contains(&format!("D_PASSWORD={words}\n")), "{path}: {ran:?}");
    }
    assert!(!shown(&world, &[], 1).contains(&value(1)), "the real one keeps its place");
    let content = format!("{words} function return value");
    let write = world.call("write_file", &json!({"path": "src/new.py", "content": content}));
    assert_eq!(write.code, 0, "{write:?}");
    let read = world.call("read_file", &json!({"path": "src/payload.py"}));
    assert_eq!(read.code, 0, "{read:?}");
    assert!(
        world.raw_records().contains(r#""input":{"path":"src/payload.py"}"#),
        "the record says which file"
    );
    let text = format!("{words} src/payload.py function return value");
    let ordinary = world.feed(&["redact"], &text);
    assert_eq!(ordinary.text(), text);
    // They were looked into, and by whom they were made is known.
    for path in [".ENV", "aaa/9/.env"] {
        let word = format!("{path}: it was made while a program ran");
        assert!(ordinary.stderr.contains(&word), "{word}: {ordinary:?}");
    }
}

/// A program that has ended has no hand in what a person makes afterwards.
#[test]
fn what_a_person_makes_between_two_programs_is_learned() {
    let words = ["correct", "horse", "battery"].concat();
    let world = World::new();
    world.file("notes.txt", format!("xx {words}\n"));
    let read = || world.run(&["run", "--", "cat", "notes.txt"]);
    assert!(read().text().contains(&words));
    world.file(".env", format!("DB_PASSWORD={words}\n"));
    for _ in 0..2 {
        let ran = read();
        assert!(!ran.text().contains(&words) && !ran.stderr.contains("while a program ran"), "{ran:?}");
    }
}

/// However many folders lie in one folder, those beside it are entered.
#[test]
fn a_folder_full_of_folders_hides_nothing_beside_it() {
    let world = World::new();
    for folder in 0..11 {
        for number in 0..2_000 {
            fs::create_dir_all(world.work().join(format!("a{folder}/{number}"))).unwrap();
        }
    }
    world.file("src/.env", format!("API_TOKEN={}\n", value(1)));
    assert_eq!(shown(&world, &[], 1), "1: [REDACTED:env-api-token]\n");
    let told = world.run(&["call", "list_files", r#"{"path":"src"}"#]).stderr;
    assert!(told.contains("more"), "nothing is left out without a word: {told}");
}

/// What a project asks to be hidden is hidden from the agent, and not from whoever reviews it.
#[test]
fn a_projects_patterns_do_not_blank_the_record() {
    let world = World::new();
    world.file("vambrace.yaml", "secrets: {redact_patterns: [\"[a-z]+\"]}\n").file("plans.txt", "words\n");
    let read = world.call("read_file", &json!({"path": "plans.txt"}));
    assert!(!read.text().contains("words"), "{read:?}");
    let denied = world.call("read_file", &json!({"path": "../plans.txt"}));
    assert_eq!(denied.code, 3, "{denied:?}");
    let records = world.raw_records();
    for path in ["plans.txt", "../plans.txt"] {
        assert!(records.contains(&format!(r#""input":{{"path":"{path}"}}"#)), "{path}: {records}");
    }
    assert!(records.contains(r#""rule":"scope.own""#), "{records}");
    let message = denied.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("REDACTED"), "the project's patterns count in answers: {message}");
    let outcomes = world.records();
    let last = outcomes.iter().rfind(|record| record["code"].is_string()).unwrap();
    assert!(!last["message"].as_str().unwrap().contains("REDACTED"), "{last}");
    // The operator's own patterns count there too.
    let operator = world.beside("operator.yaml", "secrets: {redact_patterns: [\"plans\"]}\n");
    world.run(&["--config", &operator, "call", "read_file", r#"{"path":"plans.txt"}"#]);
    let last = world.raw_records().lines().last().unwrap().to_owned();
    assert!(!last.contains("plans"), "{last}");
}

/// What the record hides of what was asked for is found by whoever knows it, without any setting.
#[test]
fn a_hidden_subject_is_found_by_its_value() {
    let world = World::new();
    world.file(".env", format!("API_TOKEN={}\n", value(1)));
    world.file(&format!("{}.txt", value(1)), "x");
    let read = world.call("read_file", &json!({"path": format!("{}.txt", value(1))}));
    let id = read.json()["metadata"]["call_id"].as_str().unwrap().to_owned();
    let found = world.feed(&["audit", "list", "--secret", "--json"], value(1));
    assert!(found.lines().iter().any(|line| line["call_id"] == id), "{found:?}");
    assert!(!found.text().contains(&value(1)));
}

#[test]
fn a_file_has_its_own_limit_and_says_so() {
    let world = World::new();
    let many: String = (1000..1400).map(|n| format!("K{n}={}\n", value(n))).collect();
    world.file(".env", many).file("z/.env", format!("API_TOKEN={}\n", value(1)));
    let ran = world.feed(&["redact"], format!("{} {}", value(1), value(1399)));
    assert!(!ran.text().contains(&value(1)), "{ran:?}");
    assert!(ran.stderr.contains(".env: it holds more than 256 values"), "{ran:?}");
}
