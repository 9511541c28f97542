//! The folders of `testdata/edits`. Each holds `input.*`, `edit.json` in the wire form of specification 004, and
//! either `expected.*` or `expected.error` with the reason as one word. Bytes matter.

#![expect(clippy::disallowed_methods, reason = "the test reads its own data")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use vambrace_edit::{Captures, Edit, Language, MatchMode, Operation, apply};

use crate::unhurried;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/edits")
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn read_edit(value: &Value) -> Edit {
    let word = |key: &str| value.get(key).map(|word| word.as_str().unwrap());
    Edit {
        operation: Operation::parse(word("operation").unwrap()).unwrap(),
        mode: MatchMode::parse(word("match_mode").unwrap_or("exact")).unwrap(),
        spec: word("spec").unwrap().to_owned(),
        content: word("content").unwrap_or_default().to_owned(),
        count: value.get("count").map_or(1, |count| usize::try_from(count.as_u64().unwrap()).unwrap()),
        captures: Captures::parse(word("captures").unwrap_or("literal")).unwrap(),
    }
}

#[track_caller]
fn check(folder: &Path) {
    let names = names_in(folder);
    let of_stem = |stem: &str| {
        let mut found = names.iter().filter(|name| name.starts_with(stem));
        let name = found.next().unwrap_or_else(|| panic!("{}: no {stem}*", folder.display()));
        assert_eq!(found.next(), None, "{}: more than one {stem}*", folder.display());
        name.clone()
    };
    let text = |name: &str| String::from_utf8(std::fs::read(folder.join(name)).unwrap()).unwrap();
    let input = of_stem("input.");
    let expected = of_stem("expected.");
    let request: Value = serde_json::from_str(&text("edit.json")).unwrap();
    let edits: Vec<Edit> = request["edits"].as_array().unwrap().iter().map(read_edit).collect();
    let result = apply(&text(&input), Language::of_file_name(&input), &edits, &unhurried);
    if expected == "expected.error" {
        let reason = result.map_err(|error| error.reason()).expect_err(&folder.display().to_string());
        assert_eq!(reason, text(&expected).trim_end(), "{}", folder.display());
    } else {
        let applied = result.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        assert_eq!(applied.text, text(&expected), "{}", folder.display());
        assert_eq!(applied.n_matches, edits.iter().map(|edit| edit.count).sum::<usize>());
    }
}

#[test]
fn every_folder_gives_what_it_expects() {
    let folders: Vec<String> =
        names_in(&root()).into_iter().filter(|name| root().join(name).is_dir()).collect();
    for (place, name) in folders.iter().enumerate() {
        assert!(name.starts_with(&format!("{:03}_", place + 1)), "numbered without gaps: {name}");
        check(&root().join(name));
    }
    assert!(folders.len() >= 40, "{} scenarios", folders.len());
}
