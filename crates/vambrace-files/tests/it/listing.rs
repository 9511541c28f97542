//! Listings name what is there, follow nothing, and end.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use vambrace_files::{Deadline, EntryKind, Stop};
use vambrace_policy::ListFiles;

use crate::world::{Choices, World, as_nobody, code};

fn names(world: &World, path: &str, recursive: bool) -> Vec<String> {
    world.list(path, recursive).unwrap().entries.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn entries_are_sorted_and_a_folder_stands_before_what_is_in_it() {
    let world = World::new();
    for path in ["b/x", "b/a/z", "a", "b!", "b0", "bb", "B"] {
        world.put(path, "");
    }
    assert_eq!(names(&world, ".", false), ["B", "a", "b", "b!", "b0", "bb"]);
    assert_eq!(names(&world, "b", true), ["b/a", "b/a/z", "b/x"]);
    let all = names(&world, ".", true);
    let place = |name: &str| all.iter().position(|found| found == name).unwrap();
    assert!(place("b") < place("b/a") && place("b/a") < place("b/a/z"), "{all:?}");
}

#[test]
fn names_that_are_not_utf8_are_shown_and_never_opened() {
    let world = World::new();
    for name in [b"caf\xe9".as_slice(), b"caf\xe8", b"\xff\xfe"] {
        fs::write(world.inside("").join(OsStr::from_bytes(name)), "x").unwrap();
    }
    fs::create_dir(world.inside("").join(OsStr::from_bytes(b"d\xff"))).unwrap();
    fs::write(world.inside("").join(OsStr::from_bytes(b"d\xff")).join("in.txt"), "x").unwrap();
    let listing = world.list(".", true).unwrap();
    assert_eq!(listing.entries.len(), 4, "two names that look the same are still two: {:?}", listing.entries);
    assert!(listing.entries.iter().all(|entry| entry.path.contains('\u{fffd}')));
    assert!(!listing.truncated);
    let (report, seen) = world.search(".", true).unwrap();
    assert_eq!((report.n_files, report.n_unreadable, seen.len()), (0, 4, 0));
}

#[test]
fn kinds_and_sizes() {
    let world = World::new();
    world.put("file", "12345");
    world.put(".env", "12345");
    fs::create_dir(world.inside("folder")).unwrap();
    std::os::unix::fs::symlink("file", world.inside("link")).unwrap();
    let listing = world.list(".", false).unwrap();
    let shown: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| (entry.path.as_str(), entry.kind, entry.bytes, entry.blocked))
        .collect();
    let expected = [
        (".env", EntryKind::File, 0, true), // named, but not even its size is told
        ("file", EntryKind::File, 5, false),
        ("folder", EntryKind::Folder, 0, false),
        ("link", EntryKind::Link, 0, false),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_folder_of_a_hundred_thousand_and_one_is_cut_and_said() {
    // In memory where there is such a disk: making the files is most of the work.
    let home = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let world = World::at(home.path(), &Choices::default());
    fs::create_dir(world.inside("many")).unwrap();
    for place in 0..100_000 {
        fs::File::create(world.inside(&format!("many/{place}"))).unwrap();
    }
    let full = world.list("many", false).unwrap();
    assert_eq!((full.entries.len(), full.truncated), (100_000, false));
    fs::write(world.inside("many/more"), "").unwrap();
    let cut = world.list("many", false).unwrap();
    assert_eq!((cut.entries.len(), cut.truncated), (100_000, true));
    let above = world.list(".", true).unwrap();
    assert_eq!((above.entries.len(), above.truncated), (100_000, true));
}

#[test]
fn a_stop_ends_a_listing() {
    let world = World::new();
    world.put("a", "");
    let stop = Stop::default();
    stop.set();
    let permit = world.permit(ListFiles { path: world.path(".").unwrap(), recursive: true }).unwrap();
    let error = world.files.list(permit, &Deadline::after(Duration::from_secs(60), stop)).unwrap_err();
    assert_eq!(code(&error), "Cancelled");
    let permit = world.permit(ListFiles { path: world.path(".").unwrap(), recursive: true }).unwrap();
    let error = world.files.list(permit, &Deadline::after(Duration::ZERO, Stop::default())).unwrap_err();
    assert_eq!(code(&error), "Cancelled");
}

#[test]
fn a_service_lists_itself_by_its_own_spelling() {
    let world = World::with(&Choices { service: "services/a".to_owned(), ..Choices::default() });
    world.put("services/a/src/x.rs", "");
    world.put("services/b/y.rs", "");
    world.put("shared/api.md", "");
    assert_eq!(names(&world, ".", true), ["src", "src/x.rs"]);
    assert_eq!(names(&world, "shared", true), ["shared/api.md"]);
    assert_eq!(world.list("..", false).unwrap_err(), "OutsideScope");
}

#[test]
fn a_folder_that_cannot_be_read_is_said() {
    let world = World::new();
    world.put("open/a.txt", "");
    world.put("shut/b.txt", "");
    fs::set_permissions(world.base(), fs::Permissions::from_mode(0o755)).unwrap();
    let list = || {
        let listing = as_nobody(|| world.list(".", true).unwrap());
        (listing.entries.len(), listing.truncated)
    };
    assert_eq!(list(), (4, false));
    fs::set_permissions(world.inside("shut"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(list(), (3, true));
    fs::set_permissions(world.inside("shut"), fs::Permissions::from_mode(0o755)).unwrap();
}
