//! Reading is bounded in bytes and time, whatever the file is.

use std::fs::File;
use std::time::{Duration, Instant};

use vambrace_files::{Deadline, Stop};
use vambrace_policy::{Lines, ReadFile};
use vambrace_types::{ByteLimit, DEFAULT_READ};

use crate::world::{Choices, World, code};

const GIGABYTE: u64 = 1 << 30;

/// All holes: costs no disk, and reads as zeros.
fn sparse(world: &World, path: &str) {
    File::create(world.inside(path)).unwrap().set_len(GIGABYTE).unwrap();
}

#[test]
fn a_gigabyte_is_refused_at_once() {
    let world = World::new();
    sparse(&world, "big");
    let start = Instant::now();
    assert_eq!(world.read("big").unwrap_err(), "FileTooLarge");
    assert_eq!(world.edit_all(&[("big", "x")]).unwrap_err(), "FileTooLarge");
    for lines in
        [Lines { first: 1, count: 1 }, Lines { first: 2, count: 1 }, Lines { first: u64::MAX, count: 9 }]
    {
        assert_eq!(world.read_text("big", DEFAULT_READ, Some(lines)).unwrap_err(), "BinaryFile", "{lines:?}");
    }
    let (report, seen) = world.search(".", false).unwrap();
    assert_eq!((report.n_files, report.n_binary, seen.len()), (0, 1, 0));
    assert_eq!(world.search("big", false).unwrap_err(), "BinaryFile");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let listing = world.list(".", false).unwrap();
    assert_eq!(listing.entries[0].bytes, GIGABYTE);
    // It can still be replaced, and the old bytes are not read for it.
    assert_eq!(world.write("big", "small").unwrap().old, None);
    assert_eq!(world.raw("big"), "small");
}

#[test]
fn the_limit_is_exact_and_the_error_tells_the_size() {
    let world = World::new();
    world.put("a.txt", "12345");
    let read = |limit| world.read_text("a.txt", ByteLimit::new(limit), None);
    assert_eq!(read(5).unwrap().content, "12345");
    assert_eq!(read(4).unwrap_err(), "FileTooLarge");
    assert_eq!(read(0).unwrap_err(), "FileTooLarge");
    let action = ReadFile { path: world.path("a.txt").unwrap(), max_bytes: ByteLimit::new(4), lines: None };
    let error = world.files.read(world.permit(action).unwrap(), &world.deadline()).unwrap_err();
    assert!(error.to_tool_error().message.contains("5 bytes"), "{error:?}");
}

#[track_caller]
fn check_lines(content: &str, first: u64, count: u64, limit: u64, expected: (&str, bool, Option<u64>)) {
    let world = World::new();
    world.put("a.txt", content);
    let text = world.read_text("a.txt", ByteLimit::new(limit), Some(Lines { first, count })).unwrap();
    assert_eq!((text.content.as_str(), text.truncated, text.next_line), expected);
    assert_eq!(text.total_bytes, content.len() as u64);
}

#[test]
fn lines_are_whole_and_what_is_left_is_told() {
    check_lines("1\n2\n3\n", 1, 2, 100, ("1\n2\n", false, Some(3)));
    check_lines("1\n2\n3\n", 1, 3, 100, ("1\n2\n3\n", false, None));
    check_lines("1\n2\n3", 3, 1, 100, ("3", false, None));
    check_lines("1\n2\n3\n", 9, 1, 100, ("", false, None));
    check_lines("1\r\n2\r\n", 2, 1, 100, ("2\r\n", false, None));
    check_lines("11\n22\n33\n", 1, 3, 6, ("11\n22\n", true, Some(3))); // exactly two fit
    check_lines("11\n22\n33\n", 1, 3, 5, ("11\n", true, Some(2))); // one byte less
    check_lines("11\n22\n33\n", 1, 2, 6, ("11\n22\n", false, Some(3)));
    check_lines("1\n2\n", 1, 0, 100, ("", false, Some(1))); // none asked for, none passed
    check_lines("1\n2\n", 2, 0, 100, ("", false, Some(2)));
    check_lines("111\n2\n", 1, 1, 2, ("11", true, Some(2))); // the rest of a long line is passed
    check_lines("\u{feff}1\n", 1, 1, 100, ("\u{feff}1\n", false, None));
}

#[test]
fn a_line_longer_than_the_limit_is_cut_between_characters() {
    let world = World::new();
    world.put("a.txt", "\u{1f980}\u{1f980}\nx\n");
    for (limit, expected) in
        [(4, "\u{1f980}"), (5, "\u{1f980}"), (7, "\u{1f980}"), (3, ""), (8, "\u{1f980}\u{1f980}")]
    {
        let text =
            world.read_text("a.txt", ByteLimit::new(limit), Some(Lines { first: 1, count: 1 })).unwrap();
        assert_eq!((text.content.as_str(), text.truncated), (expected, true), "{limit}");
    }
}

#[test]
fn a_long_walk_to_a_line_stops_when_told() {
    let world = World::new();
    world.put("a.txt", "x\n".repeat(1000));
    world.put("long.txt", "x".repeat(1 << 20));
    let stop = Stop::default();
    stop.set();
    for path in ["a.txt", "long.txt"] {
        let lines = Some(Lines { first: 500, count: 1 });
        let action = ReadFile { path: world.path(path).unwrap(), max_bytes: DEFAULT_READ, lines };
        let deadline = Deadline::after(Duration::from_secs(60), stop.clone());
        let error = world.files.read(world.permit(action).unwrap(), &deadline).unwrap_err();
        assert_eq!(code(&error), "Cancelled");
    }
}

/// Somebody appends as fast as he can: the answer still ends, and never has more than the limit.
#[test]
fn a_file_that_grows_while_it_is_read_stays_bounded() {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::with(&Choices::default());
    world.put("a.txt", "x");
    let done = AtomicBool::new(false);
    let limit = ByteLimit::new(1 << 16);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::options().append(true).open(world.inside("a.txt")).unwrap();
            while !done.load(Ordering::Relaxed) {
                file.write_all(&[b'x'; 64]).unwrap();
                if file.metadata().unwrap().len() > 1 << 17 {
                    file.set_len(1).unwrap();
                }
            }
        });
        let answers: Vec<_> =
            (0..2000).map(|_| world.read_text("a.txt", limit, None).map(|text| text.content.len())).collect();
        done.store(true, Ordering::Relaxed);
        for answer in answers {
            match answer {
                Ok(length) => assert!(limit.allows(length)),
                Err(refused) => assert!(["FileTooLarge", "BinaryFile"].contains(&refused), "{refused}"),
            }
        }
    });
}

#[test]
fn what_stands_around_lines_reaches_over_the_longest_secret() {
    const REACH: usize = 72 << 10;
    let world = World::new();
    let line = "x".repeat(99) + "\n";
    world.put("a.txt", line.repeat(4000));
    let lines = Some(Lines { first: 2001, count: 1 });
    let text = world.read_text("a.txt", DEFAULT_READ, lines).unwrap();
    assert!(text.around.before.len() >= REACH && text.around.after.len() >= REACH);
}

/// What is shown and what stands around it are the file, without a hole: the redactor looks at all three together.
#[test]
fn nothing_is_lost_between_the_lines_and_what_is_around_them() {
    let world = World::new();
    let text = "k Vq81Kx0vTt\u{e9}LmB77zz\nnext\n";
    world.put("k.txt", text);
    for limit in 1..text.len() as u64 {
        let lines = Some(Lines { first: 1, count: 5 });
        let read = world.read_text("k.txt", ByteLimit::new(limit), lines).unwrap();
        let whole = [&read.around.before, read.content.as_bytes(), &read.around.after].concat();
        assert_eq!(whole, text.as_bytes(), "{limit}");
    }
}
