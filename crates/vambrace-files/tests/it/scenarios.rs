//! `testdata/paths`: a tree, what is asked, what is answered. The format is in `testdata/paths/README.md`.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode};
use vambrace_files::{FilesError, LockPolicy};
use vambrace_policy::{Content, HardLinks, Isolation, Lines, Symlinks, WriteFile};
use vambrace_types::DEFAULT_READ;

use crate::world::{Answer, Choices, World, code, put};

#[test]
fn every_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/paths");
    let mut scenarios: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    scenarios.sort();
    assert!(scenarios.len() >= 40, "only {} scenarios", scenarios.len());
    for scenario in scenarios {
        check(&scenario);
    }
}

fn check(scenario: &Path) {
    let text = |name: &str| fs::read_to_string(scenario.join(name)).unwrap();
    let tree = text("tree.txt");
    let world = World::with(&choices(&tree));
    tree.lines().for_each(|line| plant(&world, line));
    let (before, planted) = (outside_bytes(&world), world.litter());
    let asks = text("ask.txt");
    let answers: String = asks.lines().fold(String::new(), |mut answers, ask| {
        let answer = answer(&world, ask).unwrap_or_else(str::to_owned);
        writeln!(answers, "{answer}").unwrap();
        answers
    });
    assert_eq!(answers, text("expected.txt"), "{}", scenario.display());
    assert_eq!(outside_bytes(&world), before, "{}: something outside changed", scenario.display());
    let left: Vec<String> = world.litter().into_iter().filter(|name| !planted.contains(name)).collect();
    assert_eq!(left, Vec::<String>::new(), "{}", scenario.display());
}

fn choices(tree: &str) -> Choices {
    let mut choices = Choices::default();
    // Nothing in a scenario holds a lock, so whatever waits would wait for nobody.
    choices.lock = LockPolicy::new(std::time::Duration::ZERO, choices.lock.stale);
    for line in tree.lines() {
        match words(line).as_slice() {
            ["service", name] => choices.service = (*name).to_owned(),
            ["isolation", "shared"] => choices.isolation = Isolation::Shared,
            ["block", pattern] => choices.block_patterns.push((*pattern).to_owned()),
            ["symlinks", "deny"] => choices.symlinks = Symlinks::Deny,
            ["hardlinks", "allow"] => choices.hard_links = HardLinks::Allow,
            ["hardlinks", "deny"] => choices.hard_links = HardLinks::Deny,
            _ => {}
        }
    }
    choices
}

/// Makes one entry of the tree.
fn plant(world: &World, line: &str) {
    let inside = |name: &str| world.inside(&unescape_text(name));
    let in_folder = |name: &str| {
        let path = inside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let special = |name: &str, kind| {
        rustix::fs::mknodat(CWD, in_folder(name), kind, Mode::from_raw_mode(0o600), 0).unwrap();
    };
    match words(line).as_slice() {
        [] | ["service" | "isolation" | "block" | "symlinks" | "hardlinks" | "#", ..] => {}
        ["dir", name] => fs::create_dir_all(inside(name)).unwrap(),
        ["file", name] => put(&inside(name), ""),
        ["file", name, ..] => put(&inside(name), unescape(after(line, 2))),
        // `OUTSIDE` and `WORKSPACE` stand for absolute paths, which differ from run to run.
        ["link", name, "->", target] => {
            let outside = world.outside("").to_str().unwrap().trim_end_matches('/').to_owned();
            let workspace = world.inside("").to_str().unwrap().trim_end_matches('/').to_owned();
            let target = target.replace("OUTSIDE", &outside).replace("WORKSPACE", &workspace);
            symlink(target, in_folder(name)).unwrap();
        }
        ["hard", old, new] => fs::hard_link(inside(old), in_folder(new)).unwrap(),
        ["fifo", name] => special(name, FileType::Fifo),
        ["socket", name] => special(name, FileType::Socket),
        ["outside", "dir", name] => fs::create_dir_all(world.outside(name)).unwrap(),
        ["outside", "file", name, ..] => put(&world.outside(name), unescape(after(line, 3))),
        ["outside", "hard", old, new] => fs::hard_link(world.outside(old), in_folder(new)).unwrap(),
        _ => panic!("not a tree line: {line}"),
    }
}

/// Asks the door one thing; `show` looks without it.
fn answer(world: &World, ask: &str) -> Answer<String> {
    let given = words(ask);
    let path = unescape_text(given[1]).replace("WORKSPACE", world.inside("").to_str().unwrap());
    let path = path.as_str();
    let number = |place: usize| given[place].parse::<u64>().unwrap();
    Ok(match given[0] {
        "read" => format!("ok {}", escape(&world.read(path)?)),
        "lines" => {
            let lines = Lines { first: number(2), count: number(3) };
            let text = world.read_text(path, DEFAULT_READ, Some(lines))?;
            format!("ok {} next {:?}", escape(&text.content), text.next_line)
        }
        "write" => {
            let content = String::from_utf8(unescape(after(ask, 2))).unwrap();
            let written = world.write(path, &content)?;
            format!("ok {}", if written.created { "created" } else { "replaced" })
        }
        "probe" => {
            let action = WriteFile { path: world.path(path)?, content: Content(String::new()) };
            let permit = world.permit(action)?;
            world.files.probe(&permit).map_err(|error| code(&error))?;
            "ok".to_owned()
        }
        "edit" => {
            let (from, to) = (unescape_text(given[2]), unescape_text(given[3]));
            let replace = &mut |_: &str, old: &str| Ok::<_, FilesError>(old.replace(&from, &to));
            let (edited, _) = world.edit_with(&[path], replace)?;
            format!("ok {}", escape(&edited[0].new))
        }
        "delete" => format!("ok {}", world.delete(path)?),
        "mkdir" => format!("ok {}", if world.make_folder(path)? { "existed" } else { "created" }),
        "list" | "tree" => {
            let listing = world.list(path, given[0] == "tree")?;
            let entries = listing.entries.iter().map(|entry| {
                let blocked = if entry.blocked { " blocked" } else { "" };
                format!(" [{} {} {}{blocked}]", escape(&entry.path), entry.kind.as_str(), entry.bytes)
            });
            format!("ok{}", entries.collect::<String>())
        }
        "search" => {
            let (_, seen) = world.search(path, false)?;
            let shown = seen.iter().map(|(path, _, bytes)| format!(" [{path} {}]", bytes.escape_ascii()));
            format!("ok{}", shown.collect::<String>())
        }
        "show" => match fs::symlink_metadata(world.inside(path)) {
            Ok(found) if found.is_file() => {
                format!("is {}", fs::read(world.inside(path)).unwrap().escape_ascii())
            }
            Ok(found) if found.is_symlink() => "is a link".to_owned(),
            Ok(_) => "is there".to_owned(),
            Err(_) => "is nothing".to_owned(),
        },
        other => panic!("not a question: {other}"),
    })
}

fn outside_bytes(world: &World) -> Vec<(String, Vec<u8>)> {
    let names = crate::world::names_beneath(&world.outside(""));
    names.into_iter().map(|name| (name.clone(), fs::read(world.outside(&name)).unwrap_or_default())).collect()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What follows the first `n_words` words, up to the end of the line.
fn after(line: &str, n_words: usize) -> &str {
    line.splitn(n_words + 1, ' ').nth(n_words).unwrap_or("")
}

fn escape(text: &str) -> String {
    text.escape_default().to_string()
}

fn unescape_text(text: &str) -> String {
    String::from_utf8(unescape(text)).unwrap()
}

/// `\n`, `\r`, `\t`, `\s` (a space), `\\` and `\xHH`.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b's') => bytes.push(b' '),
            Some(b'\\') => bytes.push(b'\\'),
            Some(b'x') => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            other => panic!("not an escape: {other:?} in {text}"),
        }
    }
    bytes
}
