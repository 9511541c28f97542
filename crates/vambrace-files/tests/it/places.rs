//! Where a path may lead: permissions, devices, very long names and very deep folders.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{CWD, FileType, Mode};

use crate::world::{World, as_nobody, not_run};

#[test]
fn an_unreadable_file_is_an_error_and_no_content() {
    let world = World::new();
    world.put("closed.txt", "private");
    world.put("folder/a.txt", "private");
    world.put("open.txt", "public");
    fs::set_permissions(world.base(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.inside("closed.txt"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(world.inside("folder"), Permissions::from_mode(0o000)).unwrap();
    as_nobody(|| {
        assert_eq!(world.read("closed.txt").unwrap_err(), "IoError");
        assert_eq!(world.read("folder/a.txt").unwrap_err(), "IoError");
        assert_eq!(world.list("folder", false).unwrap_err(), "IoError");
        let (report, seen) = world.search(".", false).unwrap();
        assert_eq!(seen, [("open.txt".to_owned(), 0, b"public".to_vec())]);
        assert_eq!((report.n_files, report.n_unreadable), (1, 2));
        let listed: Vec<String> =
            world.list(".", true).unwrap().entries.into_iter().map(|entry| entry.path).collect();
        assert_eq!(listed, ["closed.txt", "folder", "open.txt"]);
    });
    fs::set_permissions(world.inside("folder"), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_device_is_never_read_or_changed() {
    let world = World::new();
    let zero = rustix::fs::makedev(1, 5); // endless zeros, if it were read
    let node = world.inside("zero");
    if rustix::fs::mknodat(CWD, &node, FileType::CharacterDevice, Mode::from_raw_mode(0o666), zero).is_err() {
        not_run("a device node");
        return;
    }
    assert_eq!(world.read("zero").unwrap_err(), "SpecialFile");
    assert_eq!(world.write("zero", "x").unwrap_err(), "SpecialFile");
    assert_eq!(world.edit_all(&[("zero", "x")]).unwrap_err(), "SpecialFile");
    assert_eq!(world.delete("zero").unwrap_err(), "SpecialFile");
    assert_eq!(world.search("zero", false).unwrap_err(), "SpecialFile");
    let (report, seen) = world.search(".", false).unwrap();
    assert_eq!((report.n_files, seen.len()), (0, 0));
    assert_eq!(world.list(".", false).unwrap().entries[0].kind.as_str(), "other");
}

#[test]
fn names_as_long_as_the_disk_allows() {
    let world = World::new();
    let name = "n".repeat(255);
    let wide = "\u{e9}".repeat(127); // 254 bytes: a cut for our own names falls inside a character
    for name in [name.as_str(), wide.as_str()] {
        assert!(world.write(name, "one").unwrap().created);
        assert_eq!(world.read(name).unwrap(), "one");
        world.edit_all(&[(name, "two")]).unwrap();
        assert_eq!(world.raw(name), "two");
        let nested = format!("{name}.d/{name}");
        assert_eq!(world.write(&nested, "x").unwrap_err(), "InvalidPath", "one byte or more too long");
        assert_eq!(world.delete(name).unwrap(), 3);
        world.check_clean();
    }
    assert_eq!(world.read(&"n".repeat(256)).unwrap_err(), "InvalidPath");
}

#[test]
fn very_deep_folders() {
    let world = World::new();
    let deep = vec!["d"; 300].join("/");
    // A small stack: the cost of a part must not be a frame.
    let make = || world.make_folder(&deep);
    let small = std::thread::Builder::new().stack_size(1 << 17);
    let existed = std::thread::scope(|scope| small.spawn_scoped(scope, make).unwrap().join().unwrap());
    assert!(!existed.unwrap());
    assert!(world.make_folder(&deep).unwrap());
    let file = format!("{deep}/f");
    world.write(&file, "deep").unwrap();
    assert_eq!(world.read(&file).unwrap(), "deep");
    let (report, seen) = world.search(".", false).unwrap();
    assert_eq!((report.n_files, seen.len()), (1, 1));
    let listing = world.list(".", true).unwrap();
    assert!(listing.truncated, "what was not entered is announced");
    assert!(listing.entries.len() >= 256);
    assert_eq!(world.delete(&file).unwrap(), 4);
    let beyond = vec!["e"; 2040].join("/");
    assert_eq!(world.make_folder(&beyond).unwrap_err(), "InvalidPath");
}

#[test]
fn the_workspace_may_be_moved_while_it_is_open() {
    let world = World::new();
    world.put("a.txt", "here");
    fs::rename(world.inside(""), world.base().join("moved")).unwrap();
    assert_eq!(world.read("a.txt").unwrap(), "here");
    fs::create_dir(world.inside("")).unwrap();
    world.put("a.txt", "an impostor at the old place");
    assert_eq!(world.read("a.txt").unwrap(), "here");
    world.write("a.txt", "there").unwrap();
    assert_eq!(fs::read_to_string(world.base().join("moved/a.txt")).unwrap(), "there");
}

/// The kernel adds ` (deleted)` to the name of what is gone; a file may also just be called so.
#[test]
fn a_file_named_like_a_deleted_one() {
    let world = World::new();
    world.put("report (deleted)", "still here");
    world.put("d (deleted)/a.txt", "still here");
    assert_eq!(world.read("report (deleted)").unwrap(), "still here");
    assert_eq!(world.read("d (deleted)/a.txt").unwrap(), "still here");
    assert_eq!(world.list("d (deleted)", false).unwrap().entries.len(), 1);
    world.write("report (deleted)", "new").unwrap();
    assert_eq!(world.delete("report (deleted)").unwrap(), 3);
}
