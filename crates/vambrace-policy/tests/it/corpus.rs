//! Public path traversal strings. They are read where they lie and never become part of this repository.

use std::path::PathBuf;

use vambrace_policy::{Access, Scope};
use vambrace_types::{ErrorCode, PathProblem, ScopedPath};

use crate::question::World;

/// How many rows the corpus has, to say how many were not run when it is missing.
const N_ROWS: usize = 997;

#[expect(
    clippy::disallowed_methods,
    reason = "the corpus lies outside the repository, so a test has to look for it and read it"
)]
fn corpus() -> Option<String> {
    let folder = match std::env::var_os("VAMBRACE_CORPORA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")),
    };
    std::fs::read_to_string(folder.join("filesystem/traversal_strings.jsonl")).ok()
}

/// The same workspace twice: as one project, and seen from one of its services.
struct Views {
    whole: Scope,
    service: Scope,
}

impl Views {
    fn new() -> Views {
        let service = World { service: "services/a".to_owned(), ..World::plain() };
        Views { whole: World::plain().scope(), service: service.scope() }
    }
}

const EVERY_ACCESS: [Access; 3] = [Access::Read, Access::Write, Access::Delete];

/// `deny` leaves the root, so its spelling must not be understood as a path beneath it.
#[track_caller]
fn check_leaves(views: &Views, input: &str) {
    let parsed = ScopedPath::parse(input, views.whole.bearings());
    assert!(matches!(parsed, Err(PathProblem::Outside | PathProblem::Nul)), "{input:?}: {parsed:?}");
    // From a service, a few steps up are still in the workspace; they are refused as somebody else's.
    let Ok(path) = ScopedPath::parse(input, views.service.bearings()) else { return };
    for access in EVERY_ACCESS {
        let code = views.service.judge(&path, access).map_err(|denial| denial.code());
        let refused = [ErrorCode::OutsideScope, ErrorCode::BlockedPath, ErrorCode::ProtectedPath];
        assert!(code.is_err_and(|code| refused.contains(&code)), "{input:?} for {access:?}: {code:?}");
    }
}

/// `literal-inside` is an odd but plain name: nothing decodes it, so it stays inside or is a blocked name.
#[track_caller]
fn check_stays(views: &Views, input: &str) {
    for scope in [&views.whole, &views.service] {
        let parsed = ScopedPath::parse(input, scope.bearings());
        let path = parsed.unwrap_or_else(|problem| panic!("{input:?}: {problem:?}"));
        for access in EVERY_ACCESS {
            let code = scope.judge(&path, access).map_err(|denial| denial.code());
            let inside = [Ok("scope.own"), Err(ErrorCode::BlockedPath), Err(ErrorCode::ProtectedPath)];
            assert!(inside.contains(&code), "{input:?} for {access:?}: {code:?}");
        }
    }
}

#[test]
fn traversal_strings_are_refused_or_plain_names() {
    let Some(text) = corpus() else {
        println!("the traversal corpus is not here: {N_ROWS} cases not run");
        return;
    };
    let views = Views::new();
    let (mut n_denied, mut n_inside) = (0, 0);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = row["input"].as_str().unwrap();
        match row["expect"].as_str().unwrap() {
            "deny" => {
                check_leaves(&views, input);
                n_denied += 1;
            }
            "literal-inside" => {
                check_stays(&views, input);
                n_inside += 1;
            }
            other => panic!("unknown verdict {other:?}"),
        }
    }
    println!(
        "traversal corpus: {n_denied} refused, {n_inside} plain names, {} cases run",
        n_denied + n_inside
    );
    assert_eq!(n_denied + n_inside, N_ROWS, "a corpus of another size: update the count");
}
