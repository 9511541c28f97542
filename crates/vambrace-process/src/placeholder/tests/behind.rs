//! Where no other walk goes.

use super::*;
use crate::placeholder::behind::{Looked, look_behind};

/// Of what came since `before`, what is found and what cannot be looked into.
fn looked(walker: &Walker, before: &View, work: &Path) -> (Vec<String>, Vec<PathBuf>) {
    let Looked { view, out_of_reach, .. } = look_behind(walker, before).unwrap();
    let short = |path: &PathBuf| path.strip_prefix(work).unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<String> = new_protected(before, &view).iter().map(short).collect();
    names.sort();
    (names, out_of_reach)
}

#[test]
fn every_way_of_closing_a_folder_is_undone() {
    for closed in [0o000, 0o100, 0o200, 0o300, 0o400, 0o500, 0o600, 0o311, 0o111] {
        let place = place();
        as_nobody(&place, || {
            let walker = walker(&place.work);
            let before = walker.walk().unwrap();
            make(&place.work, &["file/.envrc", "folder/.idea/x", "deep/er/.zed/x", "secrets/x/.envrc"]);
            for folder in ["file", "folder", "deep", "secrets/x", "secrets"] {
                set_mode(&place.work.join(folder), closed);
            }
            let names = ["deep/er/.zed", "file/.envrc", "folder/.idea", "secrets/x/.envrc"];
            assert_eq!(looked(&walker, &before, &place.work).0, names, "{closed:o}");
        });
    }
}

#[test]
fn folders_closed_inside_closed_folders_are_opened_to_the_last() {
    let place = place();
    as_nobody(&place, || {
        let walker = walker(&place.work);
        let before = walker.walk().unwrap();
        let name = "n/".repeat(90) + ".envrc";
        make(&place.work, &[&name]);
        let mut folder = place.work.join(&name);
        while folder.pop() && folder != place.work {
            set_mode(&folder, 0o000);
        }
        assert_eq!(looked(&walker, &before, &place.work).0, [name]);
    });
}

#[test]
fn what_lies_too_deep_is_named_unless_it_was_there() {
    let place = place();
    let deep = |first: &str| format!("{first}/{}.envrc", "n/".repeat(100));
    make(&place.work, &[&deep("old")]);
    let walker = walker(&place.work);
    let before = walker.walk().unwrap();
    make(
        &place.work,
        &[&deep("new"), &deep("secrets"), &format!("{}/x", vec!["l".repeat(250); 15].join("/"))],
    );
    let last = place.work.join(vec!["l".repeat(250); 15].join("/"));
    std::fs::create_dir(last.join("m".repeat(250))).unwrap();
    let (names, out_of_reach) = looked(&walker, &before, &place.work);
    assert_eq!(names, [""; 0]);
    let first = |path: &PathBuf| path.strip_prefix(&place.work).unwrap().iter().next().unwrap().to_owned();
    let mut firsts: Vec<_> = out_of_reach.iter().map(first).collect();
    firsts.sort();
    assert_eq!(firsts, ["l".repeat(250).as_str(), "new", "secrets"]);
    let moved = quarantine(&out_of_reach, &place.work, &place.state);
    assert!(moved.iter().all(|moved| moved.to.is_ok()), "{moved:?}");
    assert_eq!(looked(&walker, &before, &place.work), (Vec::new(), Vec::new()));
}
