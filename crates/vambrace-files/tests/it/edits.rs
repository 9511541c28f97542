//! Several files are changed together or not at all.

use std::fs;
use std::os::unix::fs::symlink;

use vambrace_files::FilesError;
use vambrace_types::ByteLimit;

use crate::world::{Choices, Meddle, World};

const FILES: [&str; 3] = ["a.txt", "d/b.txt", "d/c.txt"];

fn world() -> World {
    let world = World::new();
    for path in FILES {
        world.put(path, format!("old {path}"));
    }
    world
}

#[track_caller]
fn check_untouched(world: &World) {
    for path in FILES {
        assert_eq!(world.raw(path), format!("old {path}"));
    }
    world.check_clean();
}

#[test]
fn all_are_changed_and_both_texts_given_back() {
    let world = world();
    let (edited, warnings) =
        world.edit_with(&FILES, &mut |path, old| Ok(format!("{path} was {old}"))).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    for (file, path) in edited.iter().zip(FILES) {
        assert_eq!(file.path.components().join("/"), path);
        assert_eq!(file.old, format!("old {path}"));
        assert_eq!(file.new, world.raw(path));
    }
    world.check_clean();
}

#[test]
fn when_the_second_apply_fails_nothing_is_changed() {
    let world = world();
    let mut n_calls = 0;
    let failing = &mut |path: &str, _: &str| {
        n_calls += 1;
        if n_calls == 2 { Err(FilesError::Binary { path: path.to_owned() }) } else { Ok("new".to_owned()) }
    };
    assert_eq!(world.edit_with(&FILES, failing).unwrap_err(), "BinaryFile");
    check_untouched(&world);
}

#[test]
fn when_apply_panics_nothing_is_changed_and_nothing_held() {
    let world = world();
    let panicking = std::panic::AssertUnwindSafe(|| {
        let _ = world.edit_with(&FILES, &mut |_, _| panic!("on purpose"));
    });
    assert!(std::panic::catch_unwind(panicking).is_err());
    check_untouched(&world);
}

#[test]
fn one_that_cannot_be_edited_spares_the_others() {
    let rows: [(&str, Meddle<'_>); 5] = [
        ("FileNotFound", &|world| fs::remove_file(world.inside("d/c.txt")).unwrap()),
        ("BinaryFile", &|world| world.put("d/c.txt", b"\xff")),
        ("HardLinkRefused", &|world| fs::hard_link(world.inside("d/c.txt"), world.inside("again")).unwrap()),
        ("LinkRefused", &|world| {
            fs::rename(world.inside("d/c.txt"), world.inside("moved")).unwrap();
            std::os::unix::fs::symlink("../moved", world.inside("d/c.txt")).unwrap();
        }),
        ("IsADirectory", &|world| {
            fs::remove_file(world.inside("d/c.txt")).unwrap();
            fs::create_dir(world.inside("d/c.txt")).unwrap();
        }),
    ];
    for (expected, spoil) in rows {
        let world = world();
        spoil(&world);
        let result = world.edit_with(&FILES, &mut |_, _| Ok("new".to_owned()));
        assert_eq!(result.unwrap_err(), expected);
        for path in ["a.txt", "d/b.txt"] {
            assert_eq!(world.raw(path), format!("old {path}"), "{expected}");
        }
        world.check_clean();
    }
}

#[test]
fn a_file_changed_while_it_was_edited_stays_theirs_and_spares_the_others() {
    for changed in FILES {
        let world = world();
        let meddle = &mut |path: &str, _: &str| {
            // After all three were read: `apply` runs when every lock is held.
            if path == FILES[2] {
                world.put(changed, "theirs, and longer than before");
            }
            Ok("new".to_owned())
        };
        assert_eq!(world.edit_with(&FILES, meddle).unwrap_err(), "FileChanged", "{changed}");
        for path in FILES.into_iter().filter(|path| *path != changed) {
            assert_eq!(world.raw(path), format!("old {path}"), "{changed}");
        }
        assert_eq!(world.raw(changed), "theirs, and longer than before");
        world.check_clean();
    }
}

#[test]
fn a_file_deleted_or_exchanged_while_it_was_edited_is_a_change() {
    let rows: [Meddle<'_>; 3] = [
        &|world| fs::remove_file(world.inside("a.txt")).unwrap(),
        &|world| {
            world.put("other", "old a.txt");
            fs::rename(world.inside("other"), world.inside("a.txt")).unwrap();
        },
        &|world| {
            fs::write(world.outside("secret"), "old a.txt").unwrap();
            fs::remove_file(world.inside("a.txt")).unwrap();
            std::os::unix::fs::symlink("../outside/secret", world.inside("a.txt")).unwrap();
        },
    ];
    for meddle in rows {
        let world = world();
        let apply = &mut |path: &str, _: &str| {
            if path == FILES[2] {
                meddle(&world);
            }
            Ok("new".to_owned())
        };
        assert_eq!(world.edit_with(&FILES, apply).unwrap_err(), "FileChanged");
        assert_eq!(world.raw("d/b.txt"), "old d/b.txt");
        assert_eq!(world.raw("d/c.txt"), "old d/c.txt");
        world.check_clean();
    }
}

/// The folder is moved away and a link outside takes its name: the edit follows the folder it holds, never the name.
#[test]
fn a_folder_exchanged_for_a_link_does_not_lead_the_edit_outside() {
    let world = world();
    fs::write(world.outside("b.txt"), "secret").unwrap();
    fs::write(world.outside("c.txt"), "secret").unwrap();
    let apply = &mut |path: &str, _: &str| {
        if path == FILES[2] {
            fs::rename(world.inside("d"), world.inside("elsewhere")).unwrap();
            std::os::unix::fs::symlink("../outside", world.inside("d")).unwrap();
        }
        Ok("new".to_owned())
    };
    world.edit_with(&FILES, apply).unwrap();
    assert_eq!(world.raw("elsewhere/b.txt"), "new");
    for path in ["b.txt", "c.txt"] {
        assert_eq!(fs::read_to_string(world.outside(path)).unwrap(), "secret");
    }
    world.check_clean();
}

#[test]
fn a_stop_during_apply_changes_nothing() {
    let world = world();
    let apply = &mut |_: &str, _: &str| {
        world.stop.set();
        Ok("new".to_owned())
    };
    assert_eq!(world.edit_with(&FILES, apply).unwrap_err(), "Cancelled");
    check_untouched(&world);
}

#[test]
fn a_text_over_the_limit_is_refused_whole() {
    let world = World::with(&Choices { largest: ByteLimit::new(10), ..Choices::default() });
    world.put("a", "old");
    world.put("b", "old");
    assert_eq!(world.edit_all(&[("a", "new"), ("b", "elevenbytes")]).unwrap_err(), "FileTooLarge");
    assert_eq!(world.write("a", "elevenbytes").unwrap_err(), "FileTooLarge");
    assert_eq!((world.raw("a"), world.raw("b")), ("old".to_owned(), "old".to_owned()));
    world.write("a", "ten bytes!").unwrap();
    world.put("a", "elevenbytes");
    assert_eq!(world.edit_all(&[("a", "new")]).unwrap_err(), "FileTooLarge");
    world.check_clean();
}

#[test]
fn a_permit_of_another_policy_opens_nothing() {
    use vambrace_policy::{DeleteFile, Epoch};
    let world = world();
    let permit = world.permit(DeleteFile { path: world.path("a.txt").unwrap() }).unwrap();
    assert!(permit.redeem(Epoch(8)).is_err());
    check_untouched(&world);
}

/// Names so long that ours beside them must be shortened: two that share their end must not share a copy.
#[test]
fn long_names_with_the_same_end_do_not_mix() {
    let world = World::new();
    let (one, two) =
        (format!("{}{}", "1".repeat(7), "x".repeat(248)), format!("{}{}", "2".repeat(7), "x".repeat(248)));
    world.put(&one, "old one");
    world.put(&two, "old two");
    let edited = world.edit_with(&[&one, &two], &mut |_, old| Ok(old.replace("old", "new")));
    assert_eq!(edited.map(|(files, _)| files.len()), Ok(2));
    assert_eq!((world.raw(&one), world.raw(&two)), ("new one".to_owned(), "new two".to_owned()));
    world.check_clean();
}

#[test]
fn one_file_reached_twice_is_told_apart_from_a_busy_one() {
    let world = World::new();
    world.put("real/a.txt", "old");
    symlink("real", world.inside("link")).unwrap();
    let outcome = world.edit_all(&[("real/a.txt", "new"), ("link/a.txt", "new")]);
    assert_eq!(outcome.map(|_| ()), Err("ValidationError"));
    assert_eq!(world.raw("real/a.txt"), "old");
}
