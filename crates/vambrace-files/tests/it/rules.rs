//! What the operator's rules refuse by name is not reached through a link or from above either.

use std::os::unix::fs::symlink;

use vambrace_files::Stop;
use vambrace_policy::{
    Content, EditFiles, FileEdits, OperatorRule, SearchFiles, Subject, Verdict, WriteFile,
};

use crate::world::{Choices, World, code};

fn world(verdict: Verdict) -> World {
    let rule = OperatorRule::new(Subject::Everything, Some("deploy"), verdict, "no", "test").unwrap();
    let world = World::with(&Choices { rules: vec![rule], ..Choices::default() });
    world.put("deploy/prod.yaml", "withheld");
    world.put("src/a.txt", "open");
    symlink("deploy", world.inside("d")).unwrap();
    symlink("deploy/prod.yaml", world.inside("p")).unwrap();
    world
}

#[test]
fn a_link_does_not_lead_round_a_rule() {
    for verdict in [Verdict::Deny, Verdict::Ask] {
        let world = world(verdict);
        for path in ["d/prod.yaml", "p"] {
            assert_eq!(world.read(path), Err("RuleDenied"), "{path}");
        }
        assert_eq!(world.write("d/prod.yaml", "x").map(|_| ()), Err("RuleDenied"));
        assert_eq!(world.write("d/new/x", "x").map(|_| ()), Err("RuleDenied"));
        assert_eq!(world.delete("d/prod.yaml"), Err("RuleDenied"));
        assert_eq!(world.list("d", false).map(|_| ()), Err("RuleDenied"));
        assert_eq!(world.search("d", true).map(|_| ()), Err("RuleDenied"));
        assert_eq!(world.raw("deploy/prod.yaml"), "withheld");
    }
}

#[test]
fn an_approval_opens_what_was_named_and_nothing_else() {
    let world = world(Verdict::Ask);
    let path = |path: &str| world.path(path).unwrap();
    let write = |to: &str| {
        let permit = world.approved(WriteFile { path: path(to), content: Content("new".to_owned()) });
        world.files.write(permit, &Stop::default()).map(|_| ()).map_err(|error| code(&error))
    };
    assert_eq!(write("deploy/prod.yaml"), Ok(()));
    assert_eq!(write("deploy/a/b/new.yaml"), Ok(()), "with the folders above it");
    assert_eq!(world.raw("deploy/a/b/new.yaml"), "new");
    // A folder stands for all that is in it.
    let search = |from: &str| SearchFiles {
        path: path(from),
        pattern: "x".to_owned(),
        recursive: true,
        include_ignored: false,
        limit: 9,
    };
    let permit = world.approved(search("deploy"));
    assert!(!permit.withheld().covers(path("deploy/prod.yaml").components()));
    let permit = world.approved(search("deploy/a"));
    assert!(permit.withheld().covers(path("deploy/prod.yaml").components()));
    // Whoever says yes to one file has not said it to the one that a link beside it leads to.
    let edit = |path| FileEdits { path, edits: vec![Content("x".to_owned())] };
    let files = vec![edit(path("deploy/a/b/new.yaml")), edit(path("d/prod.yaml"))];
    let permit = world.approved(EditFiles { files });
    assert_eq!(world.files.probe(&permit).map_err(|error| code(&error)), Err("RuleDenied"));
}

#[test]
fn a_search_and_a_listing_from_above_pass_it_over() {
    let world = world(Verdict::Deny);
    let (report, seen) = world.search(".", true).unwrap();
    assert_eq!((seen.len(), report.n_blocked), (1, 1));
    let listing = world.list(".", true).unwrap();
    let deploy: Vec<_> = listing.entries.iter().filter(|entry| entry.path.starts_with("deploy")).collect();
    assert!(matches!(deploy.as_slice(), [entry] if entry.blocked), "{deploy:?}");
}

#[test]
fn a_probe_meets_what_the_call_would_meet() {
    let world = world(Verdict::Deny);
    for path in ["d/prod.yaml", "d/new/x"] {
        let action = WriteFile { path: world.path(path).unwrap(), content: Content(String::new()) };
        let permit = world.permit(action).unwrap();
        assert_eq!(world.files.probe(&permit).map_err(|error| code(&error)), Err("RuleDenied"), "{path}");
    }
}
