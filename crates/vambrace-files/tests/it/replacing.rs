//! Replacing a file keeps what belongs to the file and leaves nothing beside it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use crate::world::{Meddle, World, as_nobody, is_root, not_run};

fn mode(world: &World, path: &str) -> u32 {
    fs::metadata(world.inside(path)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_mode_stays() {
    let world = World::new();
    for wanted in [0o600, 0o644, 0o755, 0o666, 0o640, 0o444, 0o400] {
        world.put("a.txt", "old");
        fs::set_permissions(world.inside("a.txt"), Permissions::from_mode(wanted)).unwrap();
        world.write("a.txt", "new").unwrap();
        assert_eq!(mode(&world, "a.txt"), wanted, "write, {wanted:o}");
        world.edit_all(&[("a.txt", "newer")]).unwrap();
        assert_eq!(mode(&world, "a.txt"), wanted, "edit, {wanted:o}");
        fs::remove_file(world.inside("a.txt")).unwrap();
    }
    world.check_clean();
}

#[test]
fn the_owner_stays() {
    if !is_root() {
        not_run("a file that belongs to somebody else");
        return;
    }
    let world = World::new();
    world.put("a.txt", "old");
    chown(world.inside("a.txt"), Some(65_533), Some(65_532)).unwrap();
    fs::set_permissions(world.inside("a.txt"), Permissions::from_mode(0o640)).unwrap();
    world.write("a.txt", "new").unwrap();
    world.edit_all(&[("a.txt", "newer")]).unwrap();
    let stat = fs::metadata(world.inside("a.txt")).unwrap();
    assert_eq!((stat.uid(), stat.gid(), stat.mode() & 0o7777), (65_533, 65_532, 0o640));
    assert_eq!(world.raw("a.txt"), "newer");
}

/// The kernel takes the set-user-id bit from a file that is written; a copy must not bring it back with a new text. Whose
/// group a file belongs to stays as its folder's people set it.
#[test]
fn the_set_user_id_bit_does_not_survive_a_new_text_and_the_groups_does() {
    let world = World::new();
    world.put("tool", "old");
    fs::set_permissions(world.inside("tool"), Permissions::from_mode(0o6755)).unwrap();
    world.write("tool", "new").unwrap();
    assert_eq!(mode(&world, "tool"), 0o2755);
    fs::set_permissions(world.inside("tool"), Permissions::from_mode(0o2664)).unwrap();
    world.edit_all(&[("tool", "newer")]).unwrap();
    assert_eq!(mode(&world, "tool"), 0o2664);
}

#[test]
fn a_new_file_follows_the_umask() {
    let world = World::new();
    fs::write(world.inside("ordinary"), "").unwrap();
    world.write("ours", "").unwrap();
    assert_eq!(mode(&world, "ours"), mode(&world, "ordinary"));
}

#[test]
fn the_old_text_is_given_back_if_it_was_text() {
    let world = World::new();
    let first = world.write("a.txt", "one").unwrap();
    assert!(first.created && first.old.is_none() && first.warnings.is_empty());
    let second = world.write("a.txt", "two").unwrap();
    assert_eq!((second.created, second.old.as_deref()), (false, Some("one")));
    world.put("a.txt", b"\xff");
    let third = world.write("a.txt", "three").unwrap();
    assert_eq!((third.created, third.old), (false, None));
    world.check_clean();
}

#[test]
fn every_byte_is_written_as_given() {
    let world = World::new();
    let texts = [
        "",
        "no newline",
        "newline\n",
        "\n\n",
        "\u{feff}bom",
        "crlf\r\n",
        "nul\0inside",
        "\u{1f980}",
        "tab\t\u{b}",
    ];
    for text in texts {
        world.write("a.txt", text).unwrap();
        assert_eq!(fs::read(world.inside("a.txt")).unwrap(), text.as_bytes(), "{text:?}");
    }
    assert_eq!(world.names(), ["a.txt"]);
}

#[test]
fn a_copy_left_by_a_crash_is_replaced_and_nothing_else_is() {
    let world = World::new();
    fs::write(world.outside("x"), "secret").unwrap();
    world.put(".vambrace-a.txt.tmp", "half");
    world.write("a.txt", "new").unwrap();
    assert_eq!(world.raw("a.txt"), "new");
    world.check_clean();
    let rows: [Meddle<'_>; 3] = [
        &|world| fs::create_dir(world.inside(".vambrace-a.txt.tmp")).unwrap(),
        &|world| std::os::unix::fs::symlink("../outside/x", world.inside(".vambrace-a.txt.tmp")).unwrap(),
        &|world| fs::hard_link(world.outside("x"), world.inside(".vambrace-a.txt.tmp")).unwrap(),
    ];
    for plant in rows {
        plant(&world);
        assert_eq!(world.write("a.txt", "newer").unwrap_err(), "IoError");
        assert_eq!(world.raw("a.txt"), "new");
        assert_eq!(world.litter(), [".vambrace-a.txt.tmp"]);
        let copy = world.inside(".vambrace-a.txt.tmp");
        fs::remove_file(&copy).or_else(|_| fs::remove_dir(&copy)).unwrap();
    }
    assert_eq!(fs::read_to_string(world.outside("x")).unwrap(), "secret");
}

#[test]
fn a_folder_that_may_not_be_written_stays_as_it_is() {
    let world = World::new();
    world.put("d/a.txt", "old");
    for (path, mode) in [("d/a.txt", 0o666), ("d", 0o555), ("", 0o555)] {
        fs::set_permissions(world.inside(path), Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(world.base(), Permissions::from_mode(0o755)).unwrap();
    let world = &world;
    as_nobody(|| {
        assert_eq!(world.write("d/a.txt", "new").unwrap_err(), "IoError");
        assert_eq!(world.write("d/new.txt", "new").unwrap_err(), "IoError");
        assert_eq!(world.edit_all(&[("d/a.txt", "new")]).unwrap_err(), "IoError");
        assert_eq!(world.delete("d/a.txt").unwrap_err(), "IoError");
        assert_eq!(world.make_folder("e").unwrap_err(), "IoError");
        assert_eq!(world.read("d/a.txt").unwrap(), "old");
    });
    assert_eq!(world.raw("d/a.txt"), "old");
    world.check_clean();
    for path in ["", "d"] {
        fs::set_permissions(world.inside(path), Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_failed_write_leaves_no_litter() {
    let world = World::new();
    fs::create_dir(world.inside("d")).unwrap();
    world.put("h", "x");
    fs::hard_link(world.inside("h"), world.inside("h2")).unwrap();
    for (path, expected) in [("d", "IsADirectory"), ("h", "HardLinkRefused"), ("h/x", "NotADirectory")] {
        assert_eq!(world.write(path, "new").unwrap_err(), expected);
        world.check_clean();
    }
}
