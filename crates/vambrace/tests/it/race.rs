//! A rival in the workspace swaps links and folders for seconds while a client reads, searches and writes through the
//! tools: never a byte from outside, and never one changed there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp_client::Client;
use crate::support::World;

const MARK: &str = "a byte from outside";
const LONG_ENOUGH: Duration = Duration::from_secs(4);

/// Gives the name to the folder inside, then to a link that leads outside; the same for a file.
fn swap(work: &Path, outside: &Path, over: &AtomicBool) -> u64 {
    let mut n_swaps = 0;
    while !over.load(Ordering::Relaxed) {
        let _ = fs::rename(work.join("d"), work.join("parked"));
        let _ = symlink(outside, work.join("d"));
        let _ = fs::remove_file(work.join("f.txt"));
        let _ = symlink(outside.join("f.txt"), work.join("f.txt"));
        let _ = fs::remove_file(work.join("d"));
        let _ = fs::rename(work.join("parked"), work.join("d"));
        let _ = fs::remove_file(work.join("f.txt"));
        let _ = fs::write(work.join("f.txt"), "inside");
        n_swaps += 1;
    }
    n_swaps
}

#[test]
fn no_outside_byte_is_read_or_changed_while_everything_moves() {
    let world = World::new();
    world.file("d/f.txt", "inside").file("f.txt", "inside");
    let outside = world.dir().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f.txt"), MARK).unwrap();
    let over = AtomicBool::new(false);
    let mut client = Client::open(&world, &[]);
    let (n_swaps, n_calls, n_done) = std::thread::scope(|scope| {
        let rival = scope.spawn(|| swap(&world.work(), &outside, &over));
        let started = Instant::now();
        let (mut n_calls, mut n_done) = (0u64, 0u64);
        while started.elapsed() < LONG_ENOUGH {
            for (tool, arguments) in [
                ("read_file", json!({"path": "d/f.txt"})),
                ("read_file", json!({"path": "f.txt"})),
                ("search_file", json!({"regex": "byte|inside"})),
                ("list_files", json!({"path": "d"})),
                ("write_file", json!({"path": "d/f.txt", "content": "inside, written"})),
                ("edit_file", json!({"path": "f.txt", "old_text": "inside", "new_text": "inside"})),
                ("write_file", json!({"path": "d/new.txt", "content": "inside, new"})),
                ("delete_file", json!({"path": "d/new.txt"})),
            ] {
                let answer = client.call(tool, &arguments);
                assert!(!answer.to_string().contains(MARK), "{tool} {arguments}: {answer}");
                n_calls += 1;
                n_done += u64::from(answer["isError"] == json!(false));
            }
        }
        over.store(true, Ordering::Relaxed);
        (rival.join().unwrap(), n_calls, n_done)
    });
    // It must not hold because nothing raced, or because nothing worked.
    assert!(
        n_swaps > 50 && n_done > 50 && n_done < n_calls,
        "{n_swaps} swaps, {n_done} of {n_calls} calls done"
    );
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["f.txt"]);
    assert_eq!(fs::read_to_string(outside.join("f.txt")).unwrap(), MARK);
    assert!(!world.raw_records().contains(MARK));
    assert_eq!(client.close().0, 0);
}
