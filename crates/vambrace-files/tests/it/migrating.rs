//! A configuration file is brought to another version: the one change of a protected file, wholly or not at all.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use vambrace_policy::ConfigChange;

use crate::world::{Answer, World};

const FILE: &str = "vambrace.yaml";
const BACKUP: &str = "vambrace.yaml.bak-0";

fn change(old: &str) -> Option<ConfigChange> {
    Some(ConfigChange { old: old.to_owned(), new: "new".to_owned(), backup: BACKUP.to_owned() })
}

/// The file says `old` at first and `left` afterwards.
#[track_caller]
fn check(change: Option<ConfigChange>, rehearsal: bool, expected: Answer<()>, left: &str) {
    let world = World::new();
    world.put(FILE, "old");
    assert_eq!(world.migrate(FILE, change, rehearsal), expected);
    assert_eq!(world.raw(FILE), left);
    if expected.is_ok() {
        assert_eq!(world.raw(BACKUP), "old");
    }
}

#[test]
fn the_new_text_is_placed_and_the_old_one_kept() {
    check(change("old"), false, Ok(()), "new");
}

#[test]
fn nothing_is_done_that_nobody_saw() {
    check(change("older"), false, Err("FileChanged"), "old");
    check(None, false, Err("FileChanged"), "old");
    check(change("old"), true, Err("FileChanged"), "old");
}

#[test]
fn an_older_backup_stays() {
    let world = World::new();
    world.put(FILE, "old");
    world.put(BACKUP, "precious");
    assert_eq!(world.migrate(FILE, change("old"), false), Err("AlreadyExists"));
    assert_eq!((world.raw(FILE).as_str(), world.raw(BACKUP).as_str()), ("old", "precious"));
}

#[test]
fn a_link_is_not_followed() {
    let world = World::new();
    fs::write(world.outside("config"), "old").unwrap();
    symlink(world.outside("config"), world.inside(FILE)).unwrap();
    assert!(world.migrate(FILE, change("old"), false).is_err());
    assert_eq!(fs::read_to_string(world.outside("config")).unwrap(), "old");
    assert!(!world.inside(BACKUP).exists());
}

#[test]
fn both_files_keep_the_mode() {
    let world = World::new();
    world.put(FILE, "old");
    fs::set_permissions(world.inside(FILE), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.migrate(FILE, change("old"), false), Ok(()));
    for name in [FILE, BACKUP] {
        assert_eq!(fs::metadata(world.inside(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}
