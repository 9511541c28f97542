//! Hostile arguments and hostile files, for every tool: the right code, in bounded time, and never a fault of ours.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{World, skip};

const READING: [&str; 4] = ["read_file", "list_files", "search_file", "count_matches"];
const CHANGING: [&str; 4] = ["write_file", "edit_file", "delete_file", "create_directory"];

/// The arguments of a tool that works on a path, complete but for the path.
fn call(tool: &str, path: &str) -> (String, Value) {
    let arguments = match tool {
        "search_file" | "count_matches" => json!({"path": path, "regex": "x"}),
        "write_file" => json!({"path": path, "content": "x"}),
        "edit_file" => json!({"path": path, "old_text": "absent", "new_text": "x"}),
        _ => json!({"path": path}),
    };
    (tool.to_owned(), arguments)
}

/// One process makes all calls; each must end with its code (`-` is success), and an answer stays in proportion.
#[track_caller]
fn check(world: &World, calls: &[((String, Value), &str)]) {
    let line = |tool: &str, arguments: &Value| format!("{}\n", json!({"tool": tool, "arguments": arguments}));
    let input: String = calls.iter().map(|((tool, arguments), _)| line(tool, arguments)).collect();
    let ran = world.feed(&["call", "--batch"], input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let answers = ran.lines();
    assert_eq!(answers.len(), calls.len());
    for (((tool, arguments), expected), answer) in calls.iter().zip(&answers) {
        let code = answer["error"]["code"].as_str().unwrap_or("-");
        let shown: String = arguments.to_string().chars().take(80).collect();
        assert_eq!(code, *expected, "{tool} {shown}: {}", answer["error"]["message"]);
        for half in ["message", "suggestion"].into_iter().filter(|_| code != "-") {
            let said = answer["error"][half].as_str().unwrap();
            assert!(!said.is_empty() && !said.contains(['\0', '\u{1b}']), "{tool} {shown}: {said:?}");
        }
    }
}

/// The same path for each of these tools.
fn each<'c>(tools: &[&str], path: &str, expected: &'c str) -> Vec<((String, Value), &'c str)> {
    tools.iter().map(|tool| (call(tool, path), expected)).collect()
}

#[test]
fn paths_that_name_nothing() {
    let world = World::new();
    let all = [&READING[..], &CHANGING[..]].concat();
    let mut calls = Vec::new();
    for path in ["a\0b", &"x".repeat(1 << 20), &"../".repeat(10_000), &"a".repeat(256), &"a/".repeat(3000)] {
        calls.extend(each(&all, path, "InvalidPath"));
    }
    for path in ["..", &"../".repeat(1000), "/", "//etc/passwd", "a/../../b", "/proc/self/cwd"] {
        calls.extend(each(&all, path, "PathOutsideProject"));
    }
    let harmless = [
        "a\u{1b}[31m\n\u{7}",
        "\u{202e}txt.exe",
        "~/x",
        "..\\..\\x",
        "file:///etc/passwd",
        "%2e%2e/x",
        "-rf",
    ];
    for path in harmless {
        calls.extend(each(&[&READING[..], &["edit_file", "delete_file"]].concat(), path, "FileNotFound"));
    }
    calls.extend(each(&["read_file", "edit_file", "write_file", "delete_file"], "", "IsADirectory"));
    calls.extend(each(&["list_files", "search_file", "count_matches", "create_directory"], ".", "-"));
    check(&world, &calls);
}

#[test]
fn files_that_are_not_plain_text() {
    let world = World::new();
    world.file("plain.txt", "one\n").file("latin.txt", b"caf\xe9\n").file("nul.txt", b"a\0b\n");
    world.link("loop", "pool").link("pool", "loop").link("self", "self").link("null", "/dev/null");
    fs::create_dir(world.work().join("folder")).unwrap();
    fs::write(world.work().join(OsStr::from_bytes(b"bad\xff.txt")), "x\n").unwrap();
    let _socket = UnixListener::bind(world.work().join("socket")).unwrap();
    let made = Command::new("mkfifo").arg(world.work().join("fifo")).status().unwrap();
    assert!(made.success());

    let mut calls = Vec::new();
    let opening = ["read_file", "search_file", "count_matches", "edit_file", "write_file", "delete_file"];
    for path in ["fifo", "socket"] {
        calls.extend(each(&opening, path, "SpecialFile"));
        calls.extend(each(&["list_files", "create_directory"], path, "NotADirectory"));
    }
    for path in ["loop", "self", "self/x", "pool/x"] {
        calls.extend(each(&[&READING[..], &CHANGING[..]].concat(), path, "LinkRefused"));
    }
    calls.extend(each(&READING, "null", "PathOutsideProject"));
    calls.extend(each(&["read_file", "edit_file"], "latin.txt", "BinaryFile"));
    calls.extend(each(&["read_file", "search_file", "count_matches", "edit_file"], "nul.txt", "BinaryFile"));
    calls.extend(each(&["read_file", "edit_file", "write_file", "delete_file"], "folder", "IsADirectory"));
    calls.extend(each(&["read_file", "search_file", "edit_file"], "plain.txt/x", "NotADirectory"));
    calls.extend(each(&["read_file", "delete_file"], "bad\u{fffd}.txt", "FileNotFound"));
    calls.extend(each(&["list_files", "search_file", "count_matches"], "", "-"));
    check(&world, &calls);
}

#[test]
fn a_device_is_not_opened() {
    let world = World::new();
    let made = Command::new("mknod").arg(world.work().join("zero")).args(["c", "1", "5"]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return skip("a device file: mknod is not allowed here (needs root)");
    }
    let opening = ["read_file", "search_file", "count_matches", "edit_file", "write_file", "delete_file"];
    check(&world, &each(&opening, "zero", "SpecialFile"));
}

#[test]
fn a_sparse_file_of_a_gigabyte() {
    let world = World::new();
    world.file("sparse", "").file("small", "x\n");
    fs::File::options().write(true).open(world.work().join("sparse")).unwrap().set_len(1 << 30).unwrap();
    let lines = |arguments: Value| ("read_file".to_owned(), arguments);
    let started = Instant::now();
    check(
        &world,
        &[
            (call("read_file", "sparse"), "FileTooLarge"),
            (lines(json!({"path": "sparse", "max_bytes": 10_000_000})), "FileTooLarge"),
            (lines(json!({"path": "sparse", "offset": 0, "limit": 5})), "BinaryFile"),
            (call("search_file", "sparse"), "BinaryFile"),
            (call("count_matches", ""), "-"),
            (call("edit_file", "sparse"), "FileTooLarge"),
            (call("write_file", "sparse"), "-"),
        ],
    );
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(world.text("sparse"), "x");
}

#[test]
fn a_folder_of_a_hundred_thousand_entries() {
    let world = World::new();
    // Names of two files: a file system allows some sixty thousand for one.
    world.file("folder/0", "x\n").file("folder/1", "x\n");
    let folder = world.work().join("folder");
    for number in 2..100_000u32 {
        let source = folder.join(if number % 2 == 0 { "0" } else { "1" });
        fs::hard_link(source, folder.join(number.to_string())).unwrap();
    }
    let ran = world.call("list_files", &json!({"path": "folder"}));
    let result = ran.json();
    assert_eq!((ran.code, &result["metadata"]["truncated"]), (0, &json!(true)));
    assert!(ran.stdout.len() < 70_000, "{}", ran.stdout.len());
    let marker = result["data"]["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&marker["_truncated"], &marker["original_count"]), (&json!(true), &json!(100_000)));
    let rest =
        world.call("read_output", &json!({"handle": marker["handle"], "offset": 1_000_000, "limit": 500}));
    assert_eq!((rest.code, &rest.json()["data"]["bytes"]), (0, &json!(500)), "{rest:?}");
}

fn pattern_calls(
    regex: &str,
    expected: &'static str,
    edit: &'static str,
) -> Vec<((String, Value), &'static str)> {
    let edits = json!([{"match_mode": "regex", "spec": regex, "content": "y", "count": 7}]);
    vec![
        (("search_file".to_owned(), json!({"path": "a.txt", "regex": regex})), expected),
        (("count_matches".to_owned(), json!({"path": "a.txt", "regex": regex})), expected),
        (("edit_file".to_owned(), json!({"path": "a.txt", "edits": edits})), edit),
    ]
}

#[test]
fn patterns_that_are_wrong_or_too_large() {
    let world = World::new();
    world.file("a.txt", "aaaa\n");
    let mut calls = Vec::new();
    let wrong = ["(", "[", "*", r"(a)\1", "(?=a)", "(?<!a)b", r"\p{Nonsense}", "(?P<n>a)(?P<n>b)"];
    let bombs = ["(a{1000}){1000}", "((a{100}){100}){100}", r"\w{500}{500}", r"\pL{1,1000}", "a{99999999}"];
    for regex in [&wrong[..], &bombs[..]].concat() {
        calls.extend(pattern_calls(regex, "InvalidPattern", "InvalidPattern"));
    }
    let nested = format!("{}{}", "(".repeat(2000), ")".repeat(2000));
    calls.extend(pattern_calls(&nested, "InvalidPattern", "InvalidPattern"));
    calls.extend(pattern_calls(&"x".repeat(1 << 20), "InvalidPattern", "ValidationError"));
    check(&world, &calls);
}

/// A backtracking engine would not come back from these.
#[test]
fn patterns_that_are_catastrophic_elsewhere() {
    let world = World::new();
    world.file("a.txt", format!("{}!\n", "a".repeat(20_000)));
    let mut calls = Vec::new();
    for regex in ["(a+)+$", "(a|a)*b", "(a|aa)+c", "(.*)*x", "(.*a){12}x", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        calls.extend(pattern_calls(regex, "-", "MatchCountDiffers"));
    }
    let started = Instant::now();
    check(&world, &calls);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn syntax_patterns_and_sources_that_are_no_code() {
    let world = World::new();
    world
        .file("a.txt", "x")
        .file("ok.rs", "fn a() {}\n")
        .file("broken.rs", "fn fn fn {{{{")
        .file("b.py", "(".repeat(20_000));
    let ast = |path: &str, spec: &str| {
        let edits = json!([{"match_mode": "ast", "spec": spec, "content": "y"}]);
        ("edit_file".to_owned(), json!({"path": path, "edits": edits}))
    };
    let many = "$A ".repeat(2000);
    let deep = "(".repeat(5000);
    let rows = [
        ("a.txt", "$A"),
        ("broken.rs", "struct $A;"),
        ("b.py", "$A = $B"),
        ("ok.rs", "{{{"),
        ("ok.rs", &many),
        ("ok.rs", &deep),
    ];
    let started = Instant::now();
    for (path, spec) in rows {
        let (tool, arguments) = ast(path, spec);
        let ran = world.call(&tool, &arguments);
        assert_eq!(ran.code, 1, "{path} {:.20}: {ran:?}", spec);
        assert_ne!(ran.error_code(), "InternalError", "{path} {:.20}", spec);
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(world.text("ok.rs"), "fn a() {}\n");
}

#[test]
fn numbers_and_lists_at_their_edges() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let row = |tool: &str, arguments: Value, expected: &'static str| ((tool.to_owned(), arguments), expected);
    let edit = |edits: Value| json!({"path": "a.txt", "edits": edits});
    let bad = "ValidationError";
    let mut calls = vec![
        row("read_file", json!({"path": "a.txt", "max_bytes": 0}), bad),
        row("read_file", json!({"path": "a.txt", "max_bytes": -1}), bad),
        row("read_file", json!({"path": "a.txt", "max_bytes": 1e30}), bad),
        row("read_file", json!({"path": "a.txt", "max_bytes": 1.5}), bad),
        row("read_file", json!({"path": "a.txt", "max_bytes": u64::MAX}), bad),
        row("read_file", json!({"path": "a.txt", "offset": u64::MAX, "limit": u64::MAX}), "-"),
        row("read_file", json!({"path": "a.txt", "limit": 0}), "-"),
        row("search_file", json!({"regex": "o", "limit": 0}), "-"),
        row("search_file", json!({"regex": "o", "limit": u64::MAX}), "-"),
        row("edit_file", edit(json!([])), bad),
        row("edit_file", edit(json!([{"spec": "", "content": "x"}])), bad),
        row("edit_file", edit(json!([{"spec": "one", "content": "x", "count": -1}])), bad),
        row("edit_file", edit(json!([{"spec": "one", "content": "x", "operation": "explode"}])), bad),
        row(
            "edit_file",
            edit(json!([{"spec": "one", "content": "1"}, {"spec": "ne", "content": "2"}])),
            "OverlappingEdits",
        ),
        row("edit_file", json!({"path": "a.txt"}), bad),
        row("edit_file", json!({"files": []}), bad),
        row("edit_file", json!({"files": vec![edit(json!([{"spec": "one", "content": "x"}])); 2]}), bad),
        row("read_output", json!({"handle": "../../audit/audit.key"}), "UnknownHandle"),
        row("read_output", json!({"handle": "\0"}), "UnknownHandle"),
        row("read_output", json!({"handle": ""}), "UnknownHandle"),
        row("no such tool\0", json!({}), "ToolNotFound"),
        row("", json!({}), "ToolNotFound"),
    ];
    let many: Vec<Value> =
        (0..101).map(|n| json!({"path": format!("f{n}"), "edits": [{"spec": "x"}]})).collect();
    calls.push(row("edit_file", json!({"files": many}), bad));
    check(&world, &calls);
    assert_eq!(world.text("a.txt"), "one\n");
}

#[test]
fn controls_are_dropped_from_answers_and_kept_in_files() {
    let world = World::new();
    let content = "a\u{1b}]0;title\u{7}b\u{9b}31mc\td\r\n";
    let written = world.call("write_file", &json!({"path": "c.txt", "content": content}));
    assert_eq!(written.code, 0, "{written:?}");
    assert_eq!(world.text("c.txt"), content);
    let read = world.call("read_file", &json!({"path": "c.txt"}));
    let shown = read.json()["data"]["content"].as_str().unwrap().to_owned();
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}']) && shown.contains("c\td"), "{shown:?}");
    assert!(read.json()["metadata"]["warnings"][0].as_str().unwrap().contains("control characters"));
}

/// What is quoted back is bounded, whatever was sent.
#[test]
fn error_texts_are_short() {
    let world = World::new();
    let long = "x".repeat(100_000);
    for (tool, arguments) in [
        ("read_output", format!(r#"{{"handle":"{long}"}}"#)),
        ("read_file", format!(r#"{{"{long}":1}}"#)),
        (long.as_str(), "{}".to_owned()),
    ] {
        let ran = world.run(&["call", tool, &arguments]);
        assert_eq!(ran.code, 1, "{}", ran.stdout.len());
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(text.len() < 20_000 && text.contains("bytes cut"), "{}", text.len());
    }
}
