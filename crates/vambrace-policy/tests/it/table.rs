//! The tables of `testdata/`, held against the crate and, where it knows enough, against the reference.

use std::collections::BTreeSet;

use vambrace_policy::{ToolMode, role_has};
use vambrace_types::{ErrorCode, Role};

use crate::generate::ROLES;
use crate::question::{Answer, Call, World, ask_crate};
use crate::{reference, tool};

const RBAC: &str = include_str!("../../../../testdata/rbac.tsv");
const MODES: &str = include_str!("../../../../testdata/modes.tsv");
const PATHS: &str = include_str!("../../../../testdata/paths.tsv");

/// Rows of exactly `N` columns, each with its line number. Lines that begin with `#` are comments.
fn rows<const N: usize>(table: &str) -> Vec<(usize, [&str; N])> {
    let numbered = table.lines().enumerate().map(|(place, line)| (place + 1, line));
    numbered
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(number, line)| {
            let columns: Vec<&str> = line.split('\t').collect();
            (
                number,
                columns.try_into().unwrap_or_else(|_| panic!("line {number} has not {N} columns: {line:?}")),
            )
        })
        .collect()
}

fn is_allowed(decision: &str) -> bool {
    match decision {
        "allow" => true,
        "deny" => false,
        other => panic!("no decision {other:?}"),
    }
}

#[test]
fn every_role_has_exactly_its_row() {
    let mut seen = BTreeSet::new();
    for (number, [role, tool, decision, note]) in rows(RBAC) {
        let expected = is_allowed(decision);
        let has = role_has(Role::parse(role).unwrap(), tool::capability(tool));
        assert_eq!(has, expected, "line {number}: {role} and {tool}: {note}");
        assert_eq!(
            reference::role_may(role, tool),
            expected,
            "line {number}: the reference on {role} and {tool}"
        );
        assert!(seen.insert((role, tool)), "line {number} says it again");
    }
    for role in ROLES {
        for (tool, _) in tool::TOOLS {
            assert!(seen.contains(&(*role, tool)), "no row for {role} and {tool}");
        }
    }
    assert_eq!(seen.len(), Role::ALL.len() * tool::TOOLS.len());
}

#[test]
fn every_mode_lets_exactly_its_tools_act() {
    let mut seen = BTreeSet::new();
    for (number, [mode, tool, decision, note]) in rows(MODES) {
        let text = if mode == "\"\"" { "" } else { mode };
        if decision == "invalid" {
            assert!(ToolMode::parse(text).is_err(), "line {number}: {text:?} is no mode: {note}");
            continue;
        }
        let expected = is_allowed(decision);
        let includes = ToolMode::parse(text).unwrap().includes(tool::capability(tool).effect());
        assert_eq!(includes, expected, "line {number}: {text:?} and {tool}: {note}");
        assert_eq!(
            reference::mode_may(text, tool),
            expected,
            "line {number}: the reference on {text:?} and {tool}"
        );
        seen.insert((mode, tool));
    }
    for mode in ["none", "read", "write", "command", "all"] {
        for (tool, _) in tool::TOOLS {
            assert!(seen.contains(&(mode, tool)), "no row for {mode} and {tool}");
        }
    }
}

fn world(service: &str, shared: &str, isolation: &str, block: &str) -> World {
    let list = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    World {
        service: if service == "-" { String::new() } else { service.to_owned() },
        shared: if shared == "default" { list("shared_contracts/,shared/,contracts/") } else { list(shared) },
        shared_inside_own: shared != "default",
        isolation: match isolation {
            "STRICT" => "STRICT",
            "SHARED" => "SHARED",
            other => panic!("no isolation {other:?}"),
        },
        block_patterns: if block == "-" { Vec::new() } else { list(block) },
        ..World::plain()
    }
}

/// Takes the table's own spelling of odd characters apart.
fn spelled(column: &str) -> String {
    if column == "\"\"" {
        return String::new();
    }
    let mut text = column.to_owned();
    if let Some((before, rest)) = column.split_once('{')
        && let Some((repeat, after)) = rest.split_once('}')
        && let Some((what, times)) = repeat.rsplit_once('*')
    {
        text = format!("{before}{}{after}", what.repeat(times.parse().unwrap()));
    }
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('\\') => '\\',
                Some('0') => '\0',
                Some('n') => '\n',
                other => panic!("no escape {other:?} in {column:?}"),
            },
            plain => plain,
        });
    }
    out
}

#[test]
fn every_path_leads_where_the_table_says() {
    let mut n_rows = 0;
    let mut seen = BTreeSet::new();
    for (number, [service, shared, isolation, block, path, access, decision, code, note]) in rows(PATHS) {
        let world = world(service, shared, isolation, block);
        let tool = match access {
            "read" => "read_file",
            "write" => "write_file",
            "delete" => "delete_file",
            other => panic!("line {number}: no access {other:?}"),
        };
        let expected = if is_allowed(decision) { Answer::allow() } else { Answer::deny(code) };
        let known = code == "-" || ErrorCode::ALL.iter().any(|known| known.as_str() == code);
        assert!(known, "line {number}: no code {code:?}");
        let call = Call::of(tool, Some(&spelled(path)));
        assert_eq!(
            ask_crate(&world.policy(), &call),
            expected,
            "line {number}: {path:?} for {access}: {note}"
        );
        // The specifications name only some of the protected files, so the reference knows fewer of them.
        if code != "ProtectedPath" {
            assert_eq!(
                reference::answer(&world, &call),
                expected,
                "line {number}: the reference on {path:?}: {note}"
            );
        }
        let new = seen.insert((service, shared, isolation, block, path, access));
        assert!(new, "line {number} says it again");
        n_rows += 1;
    }
    println!("{n_rows} paths");
    assert!(n_rows >= 80);
}
