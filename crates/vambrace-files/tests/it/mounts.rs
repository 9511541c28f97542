//! Other file systems in the workspace, and one that is full. Both run in a mount namespace of their own.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use rustix::mount::{MountFlags, mount, mount_bind};

use crate::child::{Part, play_among_own_mounts};
use crate::world::{Choices, World};

#[test]
fn mounts_are_not_crossed() {
    let home = tempfile::tempdir().unwrap();
    play_among_own_mounts(Part::Mounts, home.path());
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!table.contains(home.path().to_str().unwrap()), "a mount leaked");
}

#[test]
fn a_full_disk_leaves_the_old_text() {
    let home = tempfile::tempdir().unwrap();
    play_among_own_mounts(Part::FullDisk, home.path());
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!table.contains(home.path().to_str().unwrap()), "a mount leaked");
}

/// The child's part.
pub(crate) fn among_mounts(folder: &Path) {
    let world = World::at(folder, &Choices::default());
    fs::write(world.outside("x.txt"), "secret").unwrap();
    fs::create_dir(world.inside("bound")).unwrap();
    world.put("file.txt", "under the mount");
    fs::create_dir(world.inside("proc")).unwrap();
    mount_bind(world.outside(""), world.inside("bound")).unwrap();
    mount_bind(world.outside("x.txt"), world.inside("file.txt")).unwrap();
    mount("proc", world.inside("proc"), "proc", MountFlags::empty(), None).unwrap();

    for path in ["bound/x.txt", "file.txt", "proc/self/root/etc/passwd", "proc/self/cwd", "proc/1/environ"] {
        let refused = world.read(path).unwrap_err();
        assert!(["MountRefused", "PathOutsideProject"].contains(&refused), "{path}: {refused}");
    }
    assert_eq!(world.read("bound/x.txt").unwrap_err(), "MountRefused");
    assert_eq!(world.read("file.txt").unwrap_err(), "MountRefused");
    assert_eq!(world.list("bound", true).unwrap_err(), "MountRefused");
    assert_eq!(world.write("bound/x.txt", "no").unwrap_err(), "MountRefused");
    assert_eq!(world.write("bound/new.txt", "no").unwrap_err(), "MountRefused");
    assert_eq!(world.write("bound/new/new.txt", "no").unwrap_err(), "MountRefused");
    assert_eq!(world.delete("bound/x.txt").unwrap_err(), "MountRefused");
    assert_eq!(world.make_folder("bound/new").unwrap_err(), "MountRefused");
    assert_eq!(world.search("bound", true).unwrap_err(), "MountRefused");
    // A single file can be mounted over as well: neither its text nor its place is ours.
    let shown = &mut |_: &str, old: &str| -> Result<String, _> { panic!("an edit was shown {old:?}") };
    assert_eq!(world.edit_with(&["file.txt"], shown).unwrap_err(), "MountRefused");
    assert_eq!(world.write("file.txt", "no").unwrap_err(), "MountRefused");
    assert_eq!(world.delete("file.txt").unwrap_err(), "IoError", "the kernel removes no mount point");

    let (_, seen) = world.search(".", true).unwrap();
    assert_eq!(seen, [], "nothing in the workspace itself is left to see");
    let listed: Vec<String> =
        world.list(".", true).unwrap().entries.into_iter().map(|entry| entry.path).collect();
    assert_eq!(listed, ["bound", "file.txt", "proc"]);
    assert_eq!(fs::read_to_string(world.outside("x.txt")).unwrap(), "secret");
    assert_eq!(crate::world::names_beneath(&world.outside("")), ["x.txt"]);
    let ours: Vec<_> =
        fs::read_dir(world.inside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(ours.len(), 3, "{ours:?}");
}

/// The child's part.
pub(crate) fn on_a_full_disk(folder: &Path) {
    let workspace = folder.join("ws");
    fs::create_dir(&workspace).unwrap();
    let size = CString::new("size=256k").unwrap();
    mount("tiny", &workspace, "tmpfs", MountFlags::empty(), size.as_c_str()).unwrap();
    let world = World::at(folder, &Choices::default());
    for path in ["a.txt", "b.txt"] {
        world.put(path, "old");
    }
    let large = "x".repeat(1 << 20);
    assert_eq!(world.write("a.txt", &large).unwrap_err(), "ResourceExhausted");
    assert_eq!(world.write("new.txt", &large).unwrap_err(), "ResourceExhausted");
    assert_eq!(world.edit_all(&[("a.txt", &large)]).unwrap_err(), "ResourceExhausted");
    // Both fit alone, not together: the first copy is made, the second is not, and neither is placed.
    let half = "x".repeat(160 << 10);
    assert_eq!(world.edit_all(&[("a.txt", &half), ("b.txt", &half)]).unwrap_err(), "ResourceExhausted");
    assert_eq!(world.names(), ["a.txt", "b.txt"]);
    assert_eq!((world.raw("a.txt"), world.raw("b.txt")), ("old".to_owned(), "old".to_owned()));
    world.check_clean();
    // Not even room for a lock.
    let mut filler = 1 << 18;
    while filler > 0 {
        let _ = fs::write(world.inside(&format!("filler{filler}")), "x".repeat(filler));
        filler /= 2;
    }
    assert_eq!(world.write("a.txt", "new").unwrap_err(), "ResourceExhausted");
    assert_eq!(world.raw("a.txt"), "old");
    world.check_clean();
}
