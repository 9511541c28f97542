//! A secret of the environment in every usual spelling, in every tool that shows something: in no answer, no log and no record.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::net_world::NetWorld;
use crate::net_world::dns::addresses;
use crate::net_world::http::{Reply, Request, page};
use crate::programs_host::on_host;
use crate::support::World;

/// With every character that some encoder spells otherwise. Put together here, and the shape is nobody's.
fn secret() -> String {
    ["Zq8/vT3x", "+Lm5&Rw2 k", "'Yp7\"j$", "D4=h%B9~Xc"].concat()
}

/// How it is written, and the least that must not be seen of it.
struct Spelling {
    name: &'static str,
    text: String,
}

fn base64(bytes: &[u8], alphabet: &str) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(alphabet.chars()).collect();
    let mut bits = String::new();
    bytes.iter().for_each(|byte| write!(bits, "{byte:08b}").unwrap());
    while !bits.len().is_multiple_of(6) {
        bits.push('0');
    }
    let digits = bits.as_bytes().chunks(6).map(|six| {
        let six = std::str::from_utf8(six).unwrap();
        alphabet[usize::from_str_radix(six, 2).unwrap()]
    });
    digits.collect()
}

fn each(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

/// Lines of this many characters, with this between them.
fn wrapped(text: &str, width: usize, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(width).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join(between)
}

/// Written from the definitions of the encodings, not with the product's code.
fn spellings() -> Vec<Spelling> {
    let secret = secret();
    let hex = each(&secret, |c| format!("{:02x}", u32::from(c)));
    let percent = each(&secret, |c| {
        if c.is_ascii_alphanumeric() || "-_.~".contains(c) {
            c.to_string()
        } else {
            format!("%{:02X}", u32::from(c))
        }
    });
    let padded = |front: &str, alphabet: &str| base64(format!("{front}{secret}behind").as_bytes(), alphabet);
    let rows = [
        ("plain", secret.clone()),
        ("base64", base64(secret.as_bytes(), "+/")),
        ("base64-1", padded("x", "+/")),
        ("base64-2", padded("xy", "+/")),
        ("base64-0", padded("xyz", "+/")),
        ("base64url-1", padded("x", "-_")),
        ("base64url-2", padded("xy", "-_")),
        ("base64url-0", padded("xyz", "-_")),
        ("base64-wrapped", wrapped(&padded("xy", "+/"), 11, "\n")),
        ("hex", hex.clone()),
        ("hex-upper", hex.to_uppercase()),
        ("hex-wrapped", wrapped(&hex, 16, "\n")),
        ("percent", percent.clone()),
        ("percent-lower", each(&percent, |c| c.to_string()).replace("%2F", "%2f").replace("%2B", "%2b")),
        ("percent-all", each(&secret, |c| format!("%{:02X}", u32::from(c)))),
        ("percent-some", secret.replace('+', "%2B").replace(' ', "%20")),
        ("percent-twice", percent.replace('%', "%25")),
        ("form", percent.replace("%20", "+")),
        ("json", secret.replace('"', "\\\"")),
        ("json-slash", secret.replace('"', "\\\"").replace('/', "\\/")),
        ("json-u", secret.replace('"', "\\u0022").replace('&', "\\u0026").replace('\'', "\\u0027")),
        ("json-u-all", each(&secret, |c| format!("\\u{:04x}", u32::from(c)))),
        ("shell-single", secret.replace('\'', "'\\''")),
        ("shell-double", secret.replace('"', "\\\"").replace('$', "\\$")),
        (
            "shell-words",
            each(&secret, |c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\{c}") }),
        ),
        ("html", secret.replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#39;")),
        ("reversed", secret.chars().rev().collect()),
        ("wrapped", wrapped(&secret, 10, "\n")),
        ("wrapped-crlf", wrapped(&secret, 7, "\r\n")),
        ("wrapped-indented", wrapped(&secret, 12, "\n    ")),
        ("wrapped-continued", wrapped(&secret, 9, "\\\n")),
        ("wrapped-narrow", wrapped(&secret, 2, "\n")),
    ];
    rows.map(|(name, text)| Spelling { name, text }).into()
}

const WINDOW: usize = 12;

/// Every piece of a spelling that is long enough to tell something. At its ends a letter may belong to what is beside it.
fn pieces(spelling: &Spelling) -> Vec<String> {
    let letters: Vec<char> = spelling.text.chars().collect();
    let inner = match spelling.name.starts_with("base64") {
        true => &letters[6..letters.len() - 12],
        false => &letters[..],
    };
    inner.windows(WINDOW).map(|window| window.iter().collect()).collect()
}

/// What a reader of JSON sees: every text in it, in full.
fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            // A text may itself be JSON, as the half of an answer that is shown to people.
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                texts(&inner, out);
            }
            out.push_str(text);
            out.push('\u{1}');
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(entries) => entries.iter().for_each(|(key, item)| {
            out.push_str(key);
            out.push('\u{1}');
            texts(item, out);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    let mut seen = String::from_utf8_lossy(bytes).into_owned();
    let parsed: Vec<Value> = seen.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    parsed.iter().for_each(|value| texts(value, &mut seen));
    for spelling in spellings() {
        let shown = pieces(&spelling).into_iter().find(|piece| seen.contains(piece.as_str()));
        assert_eq!(shown, None, "{what} shows a piece of the secret as {}", spelling.name);
    }
}

#[track_caller]
fn clean_records(world: &World) {
    for folder in [world.state(), world.work().join(".vambrace")] {
        for (path, bytes) in World::everything_in(&folder) {
            clean(&path.display().to_string(), &bytes);
        }
    }
}

fn served(request: &Request) -> Reply {
    let wanted = request.path().trim_start_matches('/').to_owned();
    let spelling = spellings().into_iter().find(|spelling| spelling.name == wanted);
    page("text/plain", format!("before {} after\n", spelling.map_or(String::new(), |found| found.text)))
}

/// A repository whose last commit has nothing and whose files have every spelling, and a site that serves them.
fn world() -> NetWorld {
    let world = World::new().with_env("DEPLOY_TOKEN", &secret());
    for spelling in spellings() {
        world.file(&format!("{}.txt", spelling.name), "before nothing after\n");
    }
    let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
        assert_eq!(on_host(&world, &[&["git"], &who[..], args].concat()).code, 0);
    }
    for spelling in spellings() {
        world.file(&format!("{}.txt", spelling.name), format!("before {} after\n", spelling.text));
    }
    let world = NetWorld::with(world, served);
    world.dns.otherwise(addresses(&["127.0.0.1"]));
    world.set(json!({
        "allowed_commands": ["cat"],
        "tools": {"declared": [{"name": "shown", "kind": "inline", "language": "sh", "code": "cat *.txt; cat *.txt >&2"}]},
    }))
}

/// Every tool that shows what stands somewhere, with the spelling in a file, in an answer, and in the arguments.
fn calls(world: &NetWorld) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("search_file", json!({"regex": "before", "limit": 1000})),
        ("search_file", json!({"regex": ".{0,9}after"})),
        ("count_matches", json!({"regex": "before"})),
        ("list_files", json!({"recursive": true})),
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("shown", json!({})),
        ("posture_report", json!({})),
    ];
    for spelling in spellings() {
        let (name, text) = (spelling.name, &spelling.text);
        let path = format!("{name}.txt");
        calls.push(("read_file", json!({"path": path})));
        calls.push(("read_file", json!({"path": path, "offset": 1, "limit": 1})));
        calls.push(("exec_shell", json!({"command": format!("cat {path}")})));
        calls.push(("fetch_url", json!({"url": world.url(&format!("/{name}"))})));
        calls.push(("web_fetch", json!({"url": world.url(&format!("/{name}"))})));
        calls.push(("edit_file", json!({"path": path, "old_text": text, "new_text": "x"})));
        calls.push(("read_file", json!({"path": text})));
        calls.push(("search_file", json!({"regex": format!("({text}")})));
        calls.push(("exec_shell", json!({"command": format!("cat {text}")})));
        calls.push(("write_file", json!({"path": "new.txt", "content": text})));
        calls.push(("write_file", json!({"path": path, "content": "clean\n"})));
    }
    calls
}

#[test]
fn no_tool_shows_it_in_any_spelling_on_the_command_line() {
    let world = world();
    let calls = calls(&world);
    let lines: String = calls
        .iter()
        .map(|(tool, arguments)| format!("{}\n", json!({"tool": tool, "arguments": arguments})))
        .collect();
    let config = world.config();
    let ran = world.world.feed(&["--config", &config, "call", "--batch"], lines);
    let answers = ran.lines();
    assert_eq!(answers.len(), calls.len(), "{}", ran.stderr);
    let mut n_shown = 0;
    for (answer, (tool, arguments)) in answers.iter().zip(&calls) {
        clean(&format!("{tool} {arguments}"), answer.to_string().as_bytes());
        n_shown += usize::from(answer["metadata"]["redactions"].as_u64() > Some(0));
    }
    // That nothing leaked because nothing was shown would prove nothing.
    assert!(n_shown >= 5 * spellings().len(), "{n_shown} of {} answers had a secret in them", calls.len());
    clean("standard error", ran.stderr.as_bytes());
    for args in [&["audit", "list"][..], &["audit", "export"], &["audit", "export", "--view", "002"]] {
        clean("the record", &world.world.run(args).stdout);
    }
    clean_records(&world.world);
}

#[test]
fn no_tool_shows_it_in_any_spelling_over_mcp() {
    let world = world();
    let config = world.config();
    let mut client = Client::open(&world.world, &["--config", &config]);
    for (tool, arguments) in calls(&world) {
        let answer = client.call(tool, &arguments);
        clean(&format!("{tool} {arguments}"), answer.to_string().as_bytes());
    }
    let (code, complaint) = client.close();
    assert_eq!(code, 0, "{complaint}");
    clean("standard error", complaint.as_bytes());
    clean_records(&world.world);
}

#[test]
fn no_command_shows_it_in_any_spelling() {
    let world = world();
    for spelling in spellings() {
        let text = format!("before {} after\n", spelling.text);
        let ran = world.world.feed(&["redact", "--stats"], &text);
        clean(spelling.name, &ran.stdout);
        assert!(ran.text().contains("[REDACTED:env-deploy-token]"), "{}: {}", spelling.name, ran.text());
        assert!(ran.text().starts_with("before ") && ran.text().ends_with(" after\n"), "{}", ran.text());
        clean(spelling.name, &world.world.feed(&["check", "text"], &text).stdout);
        let ran = world.world.run(&["run", "--", "cat", &format!("{}.txt", spelling.name)]);
        clean(spelling.name, &ran.stdout);
        clean(spelling.name, ran.stderr.as_bytes());
    }
    clean_records(&world.world);
}
