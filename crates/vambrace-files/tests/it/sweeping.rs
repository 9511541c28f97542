//! A search sees every text file it should, no other, and ends.

use std::fs::{self, File};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use vambrace_files::{Chunk, Deadline, Stop};
use vambrace_policy::{CountMatches, OperatorRule, SearchFiles, Subject, Verdict};

use crate::world::{Choices, World};

fn seen(world: &World, path: &str, include_ignored: bool) -> Vec<String> {
    let (_, seen) = world.search(path, include_ignored).unwrap();
    seen.into_iter().map(|(path, _, _)| path).collect()
}

fn action(world: &World, path: &str) -> SearchFiles {
    SearchFiles {
        path: world.path(path).unwrap(),
        pattern: String::new(),
        recursive: true,
        include_ignored: false,
        limit: usize::MAX,
    }
}

#[test]
fn nested_lists_and_negations() {
    let world = World::new();
    world.put(".gitignore", "*.log\n/top\nbuild/\n");
    world.put("a.log", "");
    world.put("top", "");
    world.put("build/x", "");
    world.put("sub/.gitignore", "!keep.log\n*.tmp\n");
    world.put("sub/keep.log", "");
    world.put("sub/drop.log", "");
    world.put("sub/a.tmp", "");
    world.put("sub/top", "");
    world.put("sub/deep/.gitignore", "keep.log\n!a.tmp\n");
    world.put("sub/deep/keep.log", "");
    world.put("sub/deep/a.tmp", "");
    let lists = [".gitignore", "sub/.gitignore", "sub/deep/.gitignore"];
    let expected =
        [&lists[..1], &[lists[1], "sub/deep/.gitignore", "sub/deep/a.tmp", "sub/keep.log", "sub/top"]];
    assert_eq!(seen(&world, ".", false), expected.concat());
    // The lists above count also when the search starts below them.
    assert_eq!(seen(&world, "sub/deep", false), ["sub/deep/.gitignore", "sub/deep/a.tmp"]);
    assert_eq!(seen(&world, ".", true).len(), 12);
}

#[test]
fn blocked_folders_are_never_entered() {
    let world = World::new();
    for path in [".git/config", "node_modules/m/i.js", "secrets/k", ".env", "a/.env.local", "a/b.txt"] {
        world.put(path, "text");
    }
    for include_ignored in [false, true] {
        let (report, seen) = world.search(".", include_ignored).unwrap();
        assert_eq!(seen, [("a/b.txt".to_owned(), 0, b"text".to_vec())]);
        assert_eq!((report.n_files, report.n_blocked), (1, 5));
    }
}

#[test]
fn what_a_rule_refuses_by_name_is_not_come_across() {
    let rule =
        OperatorRule::new(Subject::Everything, Some("deploy"), Verdict::Deny, "not yours", "a test").unwrap();
    let world = World::with(&Choices { rules: vec![rule], ..Choices::default() });
    world.put("deploy/prod.yaml", "withheld");
    world.put("a.txt", "text");
    assert_eq!(seen(&world, ".", true), ["a.txt"]);
    let listed = world.list(".", true).unwrap().entries;
    let shown: Vec<_> = listed.iter().map(|entry| (entry.path.as_str(), entry.blocked)).collect();
    assert_eq!(shown, [("a.txt", false), ("deploy", true)]);
    assert_eq!(world.search("deploy", true).unwrap_err(), "RuleDenied");
}

#[test]
fn not_recursive_means_this_folder() {
    let world = World::new();
    world.put("a", "x");
    world.put("d/b", "x");
    let count = |recursive| {
        let action = CountMatches {
            path: world.path(".").unwrap(),
            pattern: String::new(),
            recursive,
            include_ignored: true,
        };
        let permit = world.permit(action).unwrap();
        world.files.count(permit, &world.deadline(), &|_| {}).unwrap().n_files
    };
    assert_eq!((count(false), count(true)), (1, 2));
}

/// Lines numbered by their text, 24 MiB of them, with one line longer than any chunk in the middle.
#[test]
fn a_large_file_is_seen_in_whole_lines_with_the_right_numbers() {
    let world = World::new();
    let mut file = std::io::BufWriter::new(File::create(world.inside("large.txt")).unwrap());
    let n_lines = 400_000_u64;
    for line in 0..n_lines {
        if line == 200_000 {
            writeln!(file, "{line} {}", "y".repeat(9 << 20)).unwrap();
        } else {
            writeln!(file, "{line} {}", "x".repeat(30)).unwrap();
        }
    }
    write!(file, "last").unwrap();
    file.into_inner().unwrap();
    let whole = fs::read(world.inside("large.txt")).unwrap();
    assert!(whole.len() > 16 << 20);
    for path in [".", "large.txt"] {
        let (report, mut chunks) = world.search(path, false).unwrap();
        assert_eq!(report.n_files, 1);
        assert!(chunks.len() > 3);
        // One large file is seen by one thread, in order; sorting by lines keeps that but for the cut line's pieces.
        chunks.sort_by_key(|(_, lines_before, _)| *lines_before);
        let total: usize = chunks.iter().map(|(_, _, bytes)| bytes.len()).sum();
        assert_eq!(total, whole.len());
        for (_, lines_before, bytes) in &chunks {
            assert!(bytes.len() <= 4 << 20, "{}", bytes.len());
            let text = std::str::from_utf8(bytes).unwrap();
            let mut lines = text.lines().enumerate();
            let continued = text.starts_with('y');
            let numbered = lines.by_ref().skip(usize::from(continued));
            for (place, line) in numbered {
                let number = lines_before + place as u64;
                let expected = if number == n_lines { "last".to_owned() } else { number.to_string() };
                assert_eq!(line.split(' ').next(), Some(expected.as_str()));
            }
        }
    }
}

#[test]
fn the_edge_between_whole_and_parts() {
    let world = World::new();
    let edge = 16 << 20;
    world.put("whole", "x".repeat(edge));
    world.put("parts", "x".repeat(edge + 1));
    let (report, chunks) = world.search(".", false).unwrap();
    assert_eq!(report.n_files, 2);
    let of = |name: &str| {
        chunks.iter().filter(|(path, _, _)| path == name).map(|chunk| chunk.2.len()).collect::<Vec<_>>()
    };
    assert_eq!(of("whole"), [edge]);
    assert_eq!(of("parts").iter().sum::<usize>(), edge + 1);
    assert!(of("parts").len() > 1);
}

#[test]
fn a_visitor_that_panics_hangs_nobody() {
    let world = World::new();
    for place in 0..200 {
        world.put(&format!("d{}/e{}/f{place}", place % 20, place % 7), "text");
    }
    for nth in [0, 1, 50, 199] {
        let n_seen = AtomicU64::new(0);
        let permit = world.permit(action(&world, ".")).unwrap();
        let visit = |_: &Chunk<'_>| {
            assert!(n_seen.fetch_add(1, Ordering::Relaxed) != nth, "on purpose");
        };
        let result = catch_unwind(AssertUnwindSafe(|| world.files.search(permit, &world.deadline(), &visit)));
        assert!(result.is_err(), "{nth}");
    }
    assert_eq!(world.search(".", false).unwrap().0.n_files, 200, "the door still works");
}

#[test]
fn a_deadline_or_the_visitor_stops_a_search() {
    let world = World::new();
    for place in 0..300 {
        world.put(&format!("d{place}/f"), "text");
    }
    let over = Deadline::after(Duration::ZERO, Stop::default());
    let report = world.files.search(world.permit(action(&world, ".")).unwrap(), &over, &|_| {}).unwrap();
    assert_eq!((report.n_files, report.stopped), (0, true));
    let stop = Stop::default();
    let deadline = Deadline::after(Duration::from_secs(60), stop.clone());
    let visit = |_: &Chunk<'_>| stop.set();
    let report = world.files.search(world.permit(action(&world, ".")).unwrap(), &deadline, &visit).unwrap();
    assert!(report.stopped && (1..=8).contains(&report.n_files), "{report:?}");
}

#[test]
fn a_deadline_stops_inside_a_large_file() {
    let world = World::new();
    world.put("large", "line\n".repeat(5 << 20));
    let stop = Stop::default();
    let deadline = Deadline::after(Duration::from_secs(60), stop.clone());
    let n_chunks = AtomicU64::new(0);
    let visit = |_: &Chunk<'_>| {
        n_chunks.fetch_add(1, Ordering::Relaxed);
        stop.set();
    };
    let report =
        world.files.search(world.permit(action(&world, "large")).unwrap(), &deadline, &visit).unwrap();
    assert_eq!((report.stopped, n_chunks.into_inner()), (true, 1));
}

/// A list of patterns is hostile input like any other file.
#[test]
fn a_hostile_gitignore_costs_little() {
    let world = World::new();
    world.put("a.txt", "text");
    for list in ["[\n{\n\\\n!\n**\0\n/\n", "*a*a*a*a*a*a*a*a*a*b\n", "{a,{b,{c,{d,e}}}}\n", "\u{feff}*.log\n"]
    {
        world.put(".gitignore", list);
        assert!(seen(&world, ".", false).contains(&"a.txt".to_owned()), "{list:?}");
    }
    world.put(".gitignore", b"\xff\xfe*\n");
    assert_eq!(seen(&world, ".", true), [".gitignore", "a.txt"]);
}

/// Each brace inside another costs the matcher a stack frame; to git they are characters like any other.
#[test]
fn braces_in_a_gitignore_are_only_braces() {
    let world = World::new();
    for path in ["a.txt", "{a,b}.txt", "x.{c", "q"] {
        world.put(path, "text");
    }
    for n_nested in [300, 15_000] {
        world.put(".gitignore", format!("{}\nq\n", "{a,".repeat(n_nested)));
        assert_eq!(seen(&world, ".", false), [".gitignore", "a.txt", "x.{c", "{a,b}.txt"], "{n_nested}");
    }
    world.put(".gitignore", "{a,b}.txt\nx.\\{c\n");
    assert_eq!(seen(&world, ".", false), [".gitignore", "a.txt", "q"]);
    for (length, is_seen) in [(1022, false), (1023, true)] {
        world.put(".gitignore", format!("[{}]\n", "q".repeat(length)));
        assert_eq!(seen(&world, ".", false).contains(&"q".to_owned()), is_seen, "{length}");
    }
}

/// What stands before and after a piece is shown with it, as far as a secret may reach.
#[test]
fn a_piece_comes_with_what_stands_around_it() {
    const REACH: usize = 72 << 10;
    let world = World::new();
    let whole: Vec<u8> = (0..3_000_000_u32).flat_map(|line| format!("{line:06}\n").into_bytes()).collect();
    world.put("large", &whole);
    world.put("small", "text");
    let permit = world.permit(action(&world, ".")).unwrap();
    let start = AtomicU64::new(0);
    let visit = |chunk: &Chunk<'_>| {
        let end = chunk.at + chunk.bytes.len();
        assert_eq!(&chunk.around[chunk.at..end], chunk.bytes);
        if !chunk.partial {
            assert_eq!((chunk.at, chunk.around), (0, chunk.bytes));
            return;
        }
        let length = chunk.bytes.len();
        let at = usize::try_from(start.fetch_add(length as u64, Ordering::Relaxed)).unwrap();
        let (before, after) = (at.saturating_sub(REACH), (at + length + REACH).min(whole.len()));
        assert_eq!(chunk.at, at - before);
        assert!(chunk.around.len() >= after - before);
        assert_eq!(&chunk.around[..after - before], &whole[before..after]);
    };
    world.files.search(permit, &world.deadline(), &visit).unwrap();
    assert_eq!(start.into_inner(), whole.len() as u64);
}

/// A search that starts behind a link judges what it comes across where it really is.
#[test]
fn a_link_to_a_folder_lifts_no_block() {
    let rule =
        OperatorRule::new(Subject::Everything, Some("real/hidden*"), Verdict::Deny, "not yours", "a test")
            .unwrap();
    let world = World::with(&Choices { rules: vec![rule], ..Choices::default() });
    world.put("real/hidden.txt", "withheld");
    world.put("real/a.txt", "text");
    std::os::unix::fs::symlink("real", world.inside("link")).unwrap();
    assert_eq!(seen(&world, "link", true), ["link/a.txt"]);
}
