//! With a project file nothing is allowed that is denied with the operator's alone: random files for both, and what
//! policy says of a pool of calls. The pool of values is made from the schema, so a new key is tried as well.

use std::collections::BTreeMap;
use std::io::Write as _;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use vambrace_policy::url::WebUrl;
use vambrace_policy::{
    Access, Action, Content, Decision, DeleteFile, Facts, ListFiles, ReadFile, SearchFiles, Standing,
    WriteFile,
};
use vambrace_types::{ByteLimit, Caller, Door, Role};

use super::*;
use crate::schema;
use crate::shape::Shape;
use crate::strength::{Project, ROWS, row};
use crate::{Overrides, Sources, load};

/// Every key that ends a path of the schema: sections are entered, lists and maps of data are not.
fn keys(shape: &'static Shape, path: &str, found: &mut Vec<(String, &'static Shape)>) {
    for field in shape.fields() {
        let key = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        match &field.shape {
            inside @ Shape::Struct(_) => keys(inside, &key, found),
            end => found.push((key, end)),
        }
    }
}

fn all_keys() -> Vec<(String, &'static Shape)> {
    let mut found = Vec::new();
    keys(schema::shape(), "", &mut found);
    found
}

/// Names that the pool of calls below knows, for the lists of a key.
fn names(key: &str) -> Vec<Json> {
    let names: &[&str] = match key {
        "scope.shared_paths" => &["services/a/contracts", "shared/", "docs"],
        "scope.block_patterns" => &["*.md", "src", "contracts"],
        "tools.command_policy.allowlist" => &["ls", "cat", "git", "npm"],
        "tools.command_policy.denylist" => &["git", "main.rs"],
        "tools.whitelisted_binaries" => &["npm", "jq"],
        "tools.url_policy.allowed_domains" => &["a.example", "10.0.0.5", "localhost", "*.internal"],
        "tools.url_policy.blocked_domains" => &["a.example", "b.example"],
        "net.methods" => &["GET", "HEAD", "POST"],
        "git.protected_branches" => &["main", "release"],
        "allowed_commands" => &["jq", "make"],
        "rules" => {
            return vec![
                json!({"tool": "read_file", "path": "src/**", "decision": "deny"}),
                json!({"tool": "write_file", "path": "**", "decision": "ask"}),
                json!({"path": "services/a/contracts", "decision": "deny"}),
                json!({"tool": "read_file", "decision": "allow"}),
                json!({"tool": "exec_shell", "decision": "ask"}),
            ];
        }
        _ => &["a", "b"],
    };
    names.iter().map(|name| json!(name)).collect()
}

fn values(key: &str, shape: &Shape) -> Vec<Json> {
    match shape {
        Shape::Bool => vec![json!(true), json!(false)],
        Shape::Words(words) => words.iter().map(|word| json!(word)).collect(),
        Shape::Integer(_) | Shape::Number(_) | Shape::Period => {
            [1, 2, 20, 300, 4096, 1_000_000, 8_000_000].map(|number| json!(number)).to_vec()
        }
        Shape::List(_) => {
            let names = names(key);
            let subset = |bits: usize| {
                let kept = names.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
                kept.map(|(_, name)| name.clone()).collect::<Json>()
            };
            (0..1 << names.len()).map(subset).collect()
        }
        Shape::Choice(shapes) => shapes.iter().flat_map(|shape| values(key, shape)).collect(),
        Shape::Map { .. } => vec![json!({"a": "read_file"})],
        Shape::Any | Shape::Text(_) | Shape::Struct(_) => vec![json!("a")],
        Shape::Null => Vec::new(),
    }
}

/// The keys that a project file may say anything about, with what it may try to say.
fn pool() -> Vec<(String, Vec<Json>)> {
    let open =
        all_keys().into_iter().filter(|(key, _)| row(key).is_some_and(|row| row.project != Project::Refuse));
    open.map(|(key, shape)| (key.clone(), values(&key, shape))).collect()
}

fn document(at_most: usize) -> impl Strategy<Value = Json> {
    let key =
        prop::sample::select(pool()).prop_flat_map(|(key, values)| (Just(key), prop::sample::select(values)));
    prop::collection::vec(key, 1..=at_most).prop_map(|keys| {
        let mut root = json!({});
        for (key, value) in keys {
            *key.split('.').fold(&mut root, |place, step| &mut place[step]) = value;
        }
        root
    })
}

/// What is loaded with these two files, seen from this service.
fn loaded(operator: &Json, project: Option<&Json>, service: Option<&str>) -> Result<Loaded, String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &Json| {
        let mut file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.write_all(text.to_string().as_bytes()).unwrap();
    };
    for name in ["work/services/a", "user"] {
        std::fs::DirBuilder::new().recursive(true).create(folder.path().join(name)).unwrap();
    }
    write("operator.json", operator);
    if let Some(project) = project {
        write("work/vambrace.json", project);
    }
    let sources = Sources {
        explicit: Some(folder.path().join("operator.json")),
        user_dir: Some(folder.path().join("user")),
        workspace: folder.path().join("work"),
        profile: None,
        environment: BTreeMap::new(),
        overrides: Overrides { service: service.map(PathBuf::from), ..Overrides::default() },
    };
    load(&sources).map_err(|errors| errors.to_string())
}

/// More is stricter.
fn weight<A: Action>(policy: &Policy, tool: &str, action: A) -> u8 {
    let caller = Caller::local(Role::Dev, Door::McpStdio);
    let tool = ToolName::parse(tool).unwrap();
    match policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
        Decision::Allow(_) => 0,
        Decision::Ask(_) => 1,
        Decision::Deny(_) => 2,
    }
}

const PATHS: [&str; 8] = [
    "src/main.rs",
    "README.md",
    "services/a/x",
    "services/a/contracts/c.json",
    "services/b/x",
    "shared/s",
    "docs/d.md",
    ".env",
];

const LINES: [&str; 20] = [
    "ls",
    "ls -la services/a",
    "cat src/main.rs",
    "cat docs/d.md",
    "cat services/a/contracts/c.json",
    "git status",
    "git log a..b",
    "git commit -m x",
    "npm install",
    "npm ../x",
    "jq . a.json",
    "echo reboot",
    "reboot",
    "echo alarm",
    "ls; pwd",
    "ls | wc -l",
    "/usr/bin/ls",
    "./ls",
    "find . -delete",
    "echo x > services/a/contracts/new",
];

const URLS: [&str; 11] = [
    "https://a.example/",
    "https://b.example/",
    "https://x.internal/",
    "http://localhost/",
    "http://10.0.0.5/",
    "http://127.0.0.1/",
    "http://169.254.169.254/",
    "http://metadata.google.internal/",
    "http://single/",
    "http://a.example:22/",
    "ftp://a.example/",
];

const ADDRESSES: [&str; 15] = [
    "93.184.216.34",
    "10.0.0.5",
    "127.0.0.1",
    "0.0.0.0",
    "100.64.0.1",
    "169.254.1.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "fc00::1",
    "fe80::1",
    "2001:db8::1",
    "4000::1",
];

/// What is said of every call of the pool.
fn verdicts(loaded: &Loaded) -> Result<BTreeMap<String, u8>, String> {
    let place = Path::new("/w");
    let scope = scope(loaded, place, place).map_err(|error| error.to_string())?;
    let policy = policy(&loaded.config, scope, ToolMode::ALL, None).map_err(|error| error.to_string())?;
    let mut said = BTreeMap::new();
    let whole = Bearings::new(&["/w"], "", &[]);
    let hidden = policy.scope_of_programs();
    for text in PATHS {
        let path = || ScopedPath::parse(text, &whole).unwrap();
        let read = ReadFile { path: path(), max_bytes: ByteLimit::new(9), lines: None };
        said.insert(format!("read_file {text}"), weight(&policy, "read_file", read));
        let write = WriteFile { path: path(), content: Content("x".to_owned()) };
        said.insert(format!("write_file {text}"), weight(&policy, "write_file", write));
        said.insert(
            format!("delete_file {text}"),
            weight(&policy, "delete_file", DeleteFile { path: path() }),
        );
        let list = ListFiles { path: path(), recursive: true };
        said.insert(format!("list_files {text}"), weight(&policy, "list_files", list));
        let search = SearchFiles {
            path: path(),
            pattern: "x".to_owned(),
            recursive: true,
            include_ignored: false,
            limit: 9,
        };
        said.insert(format!("search_file {text}"), weight(&policy, "search_file", search));
        let path = path();
        said.insert(format!("masked {text}"), u8::from(hidden.is_masked(path.components())));
        let is_fixed = hidden.is_protected(path.components()) || hidden.judge(&path, Access::Write).is_err();
        said.insert(format!("fixed {text}"), u8::from(is_fixed));
    }
    let folder = policy.scope().bearings().service().to_vec();
    let folder = ScopedPath::from_components(folder).unwrap();
    for line in LINES {
        let command = policy.command();
        let judged =
            command.read(line).is_ok_and(|plan| command.judge(line, &plan, policy.scope(), &folder).is_ok());
        said.insert(format!("line {line}"), u8::from(!judged));
    }
    for text in URLS {
        let url = WebUrl::parse(text);
        let terms = url.as_ref().ok().and_then(|url| policy.url().admit(url).ok());
        said.insert(format!("url {text}"), u8::from(terms.is_none()));
        let (Ok(url), Some(terms)) = (&url, &terms) else {
            // Refused as a whole, so at every address.
            said.extend(ADDRESSES.map(|address| (format!("url {text} at {address}"), 1)));
            continue;
        };
        for address in ADDRESSES {
            let checked = policy.url().check(terms, url.host(), address.parse().unwrap());
            said.insert(format!("url {text} at {address}"), u8::from(checked.is_err()));
        }
    }
    Ok(said)
}

fn compare(operator: &Json, project: &Json, service: Option<&str>) -> Result<(), String> {
    let Some(alone) = said_with(operator, None, service) else { return Ok(()) };
    let Some(both) = said_with(operator, Some(project), service) else { return Ok(()) };
    only_tightens(&alone, &both)
}

/// Nothing where the start refuses: that allows nothing.
fn said_with(operator: &Json, project: Option<&Json>, service: Option<&str>) -> Option<BTreeMap<String, u8>> {
    verdicts(&loaded(operator, project, service).ok()?).ok()
}

fn only_tightens(alone: &BTreeMap<String, u8>, both: &BTreeMap<String, u8>) -> Result<(), String> {
    for (call, after) in both {
        if after < &alone[call] {
            return Err(format!("{call}: {} became {after}", alone[call]));
        }
    }
    Ok(())
}

#[test]
fn a_shared_path_that_a_project_leaves_out_stays_read_only() {
    let operator = json!({"scope": {"shared_paths": ["services/a/contracts"]}});
    let alone = verdicts(&loaded(&operator, None, Some("services/a")).unwrap()).unwrap();
    assert_eq!(alone["write_file services/a/contracts/c.json"], 2);
    for paths in [json!([]), json!(["shared/"])] {
        let project = json!({"scope": {"shared_paths": paths}});
        let refused = loaded(&operator, Some(&project), Some("services/a")).unwrap_err();
        assert!(refused.contains("scope.shared_paths"), "{refused}");
    }
    loaded(&operator, Some(&operator), Some("services/a")).unwrap();
}

/// A key without a declared order belongs to the operator, whatever a project says about it.
#[test]
fn every_key_has_an_order_or_is_the_operators() {
    let keys = all_keys();
    assert!(keys.len() > 150, "{}", keys.len());
    for row in ROWS {
        assert!(keys.iter().any(|(key, _)| key == row.key), "{} is no key", row.key);
    }
    for (key, shape) in &keys {
        let may_speak = row(key).is_some_and(|row| row.project != Project::Refuse);
        for value in values(key, shape).iter().take(2).filter(|_| !may_speak) {
            let refused = loaded(&json!({}), Some(&only(key, value)), None);
            assert!(refused.is_err(), "a project file may set {key} to {value}");
        }
    }
}

/// Else the test below would say nothing about the key.
#[test]
fn every_key_of_the_pool_can_be_set() {
    for (key, values) in pool() {
        let can_be_set = values.iter().any(|value| loaded(&only(&key, value), None, None).is_ok());
        assert!(can_be_set, "{key}: give it values in `names` or `values`");
    }
}

/// A file that says nothing but this.
fn only(key: &str, value: &Json) -> Json {
    let mut root = json!({});
    *key.split('.').fold(&mut root, |place, step| &mut place[step]) = value.clone();
    root
}

/// Each key by itself, with values that differ: two random files seldom speak about the same one.
#[test]
fn every_key_by_itself_only_tightens() {
    const MOST_VALUES: usize = 4;
    let service = Some("services/a");
    for (key, values) in pool() {
        let some =
            || values.iter().step_by(values.len().div_ceil(MOST_VALUES)).map(|value| only(&key, value));
        for operator in some() {
            let Some(alone) = said_with(&operator, None, service) else { continue };
            for project in some().filter(|project| *project != operator) {
                let Some(both) = said_with(&operator, Some(&project), service) else { continue };
                assert_eq!(only_tightens(&alone, &both), Ok(()), "{operator}, then {project}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_allowed_with_both_that_is_denied_with_one(
        operator in document(5),
        project in document(2),
        service in prop::sample::select(vec![None, Some("services/a")]),
    ) {
        prop_assert_eq!(compare(&operator, &project, service), Ok(()));
    }
}
