//! A disk that fails, and a disk that is slow.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use tempfile::TempDir;

use super::*;
use crate::clock::SystemClock;
use crate::disk::Sink;
use crate::testing::{call, intent, outcome};
use crate::verify;

fn open(dir: &TempDir, durable: bool) -> AuditLog {
    let settings = AuditSettings {
        dir: dir.path().to_owned(),
        mirror: None,
        durable,
        alerts: AlertSettings { rules: Vec::new(), action: DefenceAction::Alert },
    };
    AuditLog::open(settings, Arc::new(SystemClock)).unwrap()
}

/// Takes so many more bytes, then says that the disk is full; a line that does not fit is written in part.
struct FullDisk {
    inner: Arc<dyn Sink>,
    room: AtomicUsize,
    truncates: bool,
}

impl Sink for FullDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let room = self.room.load(Ordering::SeqCst);
        let (fits, rest) = bytes.split_at(room.min(bytes.len()));
        self.room.store(room - fits.len(), Ordering::SeqCst);
        self.inner.append(fits)?;
        if rest.is_empty() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let works = self.truncates || self.room.load(Ordering::SeqCst) > 0;
        if works { self.inner.truncate(length) } else { Err(io::ErrorKind::ReadOnlyFilesystem.into()) }
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }

    fn is_linked(&self) -> io::Result<bool> {
        self.inner.is_linked()
    }
}

#[test]
fn a_full_disk_breaks_neither_the_chain_nor_the_log() {
    for truncates in [true, false] {
        for room in [0, 1, 100, 700, 1000] {
            let dir = TempDir::new().unwrap();
            let log = open(&dir, false);
            let _first = log.intent(&call(Tree::Null), &intent()).unwrap();
            let inner = Arc::clone(&log.shared.lock().segment.sink);
            let disk = Arc::new(FullDisk { inner, room: AtomicUsize::new(room), truncates });
            log.shared.lock().segment.sink = disk.clone();
            let refused = (0..5).filter(|_| log.outcome(&call(Tree::Null), &outcome()).is_err()).count();
            assert!(refused >= 3, "room for {room}");
            disk.room.store(1_000_000, Ordering::SeqCst);
            let receipt = log.outcome(&call(Tree::Null), &outcome()).unwrap();
            assert_eq!(receipt.seq(), 2 + 5 - refused as u64);
            drop(log);
            let report = verify(dir.path()).unwrap();
            assert_eq!((report.broken, report.notes), (None, vec![]), "room for {room}");
            assert_eq!((report.n_records, report.unsealed_tail), (receipt.seq(), 0));
        }
    }
}

/// Every record in the files.
fn n_in_files(dir: &TempDir) -> usize {
    let folder = crate::registry::segments_dir(dir.path());
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    records.map(|path| std::fs::read_to_string(path).unwrap().lines().count()).sum()
}

/// Of a call that nobody has to be told of.
fn done() -> Outcome {
    Outcome { violation: None, ..outcome() }
}

#[test]
fn an_outcome_that_waits_is_written_before_its_receipt_or_with_the_next_line() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let first = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    let second = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    assert_eq!(n_in_files(&dir), 0);
    assert_eq!(log.receipt(first).unwrap().seq(), 1);
    assert_eq!(n_in_files(&dir), 2, "whoever comes first writes for all");
    assert_eq!(log.receipt(second).unwrap().seq(), 2);
    let third = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    assert_eq!(log.intent(&call(Tree::Null), &intent()).unwrap().seq(), 4);
    assert_eq!(n_in_files(&dir), 4);
    assert_eq!(log.receipt(third).unwrap().seq(), 3);
    // Nobody waits for this one.
    drop(log.note_outcome(&call(Tree::Null), &done()).unwrap());
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 5, 0));
}

#[test]
fn an_intent_that_waits_is_written_before_its_receipt() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let first = log.note_intent(&call(Tree::Null), &intent()).unwrap();
    let second = log.note_intent(&call(Tree::Null), &intent()).unwrap();
    assert_eq!(n_in_files(&dir), 0);
    assert_eq!(log.intent_receipt(second).unwrap().seq(), 2);
    assert_eq!(n_in_files(&dir), 2, "whoever comes first writes for all");
    let third = log.note_intent(&call(Tree::Null), &intent()).unwrap();
    std::fs::remove_file(log.shared.lock().segment.path.clone()).unwrap();
    assert!(log.intent_receipt(third).is_err(), "no hands for what is lost");
    assert!(log.intent_receipt(first).is_err(), "it was in the same file");
}

#[test]
fn what_has_consequences_or_must_be_durable_does_not_wait() {
    for (durable, outcome) in [(true, done()), (false, outcome())] {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, durable);
        let noted = log.note_outcome(&call(Tree::Null), &outcome).unwrap();
        assert_eq!(n_in_files(&dir), 1, "durable: {durable}");
        assert_eq!(log.receipt(noted).unwrap().seq(), 1);
    }
}

#[test]
fn only_so_much_waits() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let long = call(Tree::map([("content", Tree::text("x".repeat(30_000)))]));
    let noted: Vec<_> = (0..10).map(|_| log.note_outcome(&long, &done()).unwrap()).collect();
    assert!((1..10).contains(&n_in_files(&dir)));
    assert!(log.shared.lock().segment.n_gathered() <= MOST_GATHERED);
    for (number, noted) in (1..).zip(noted) {
        assert_eq!(log.receipt(noted).unwrap().seq(), number);
    }
}

#[test]
fn lines_that_are_lost_together_are_told_to_all_and_the_chain_goes_on() {
    for truncates in [true, false] {
        for room in [0, 1, 500, 1500] {
            let dir = TempDir::new().unwrap();
            let log = open(&dir, false);
            let _first = log.intent(&call(Tree::Null), &intent()).unwrap();
            let inner = Arc::clone(&log.shared.lock().segment.sink);
            let disk = Arc::new(FullDisk { inner, room: AtomicUsize::new(room), truncates });
            log.shared.lock().segment.sink = disk.clone();
            let noted: Vec<_> =
                (0..3).map(|_| log.note_outcome(&call(Tree::Null), &done()).unwrap()).collect();
            assert!(log.intent(&call(Tree::Null), &intent()).is_err(), "room for {room}");
            disk.room.store(1_000_000, Ordering::SeqCst);
            for noted in noted {
                assert!(log.receipt(noted).is_err(), "room for {room}");
            }
            let last = log.note_outcome(&call(Tree::Null), &done()).unwrap();
            assert_eq!(log.receipt(last).unwrap().seq(), 2);
            drop(log);
            let report = verify(dir.path()).unwrap();
            assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 2, 0));
        }
    }
}

#[test]
fn what_was_written_before_a_lost_line_is_sealed_at_the_end() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let _first = log.intent(&call(Tree::Null), &intent()).unwrap();
    let inner = Arc::clone(&log.shared.lock().segment.sink);
    log.shared.lock().segment.sink = Arc::new(FullDisk { inner, room: AtomicUsize::new(0), truncates: true });
    let noted = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    assert!(log.seal().is_err(), "a record is missing");
    assert!(log.receipt(noted).is_err());
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 1, 0));
}

#[test]
fn an_outcome_that_waits_for_a_deleted_file_is_lost_and_told() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let _first = log.intent(&call(Tree::Null), &intent()).unwrap();
    let noted = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    std::fs::remove_file(log.shared.lock().segment.path.clone()).unwrap();
    assert!(log.receipt(noted).is_err());
    let next = log.note_outcome(&call(Tree::Null), &done()).unwrap();
    assert_eq!(log.receipt(next).unwrap().seq(), 2, "behind the event that names the lost segment");
}

/// Whatever others do at the same time: who has a receipt has a line in the file.
#[test]
fn no_receipt_comes_before_its_line() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..50 {
                    let noted = log.note_outcome(&call(Tree::Null), &done()).unwrap();
                    if round % 3 == 0 {
                        let _intent = log.intent(&call(Tree::Null), &intent()).unwrap();
                    }
                    if round % 7 == 0 {
                        log.seal().unwrap();
                    }
                    let receipt = log.receipt(noted).unwrap();
                    assert!(n_in_files(&dir) as u64 >= receipt.seq());
                }
            });
        }
    });
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 4 * (50 + 17), 0));
}

/// Counts syncs, and holds each until a given number of lines has been written.
struct SlowDisk {
    inner: Arc<dyn Sink>,
    wanted: u64,
    written: Mutex<u64>,
    grown: Condvar,
    n_syncs: AtomicUsize,
    /// Lines that were there when the last finished sync began.
    safe: AtomicU64,
    /// How many syncs fail before one succeeds.
    n_failing: usize,
}

impl SlowDisk {
    fn put_under(log: &AuditLog, wanted: u64, n_failing: usize) -> Arc<SlowDisk> {
        let mut state = log.shared.lock();
        let disk = Arc::new(SlowDisk {
            inner: Arc::clone(&state.segment.sink),
            wanted,
            written: Mutex::default(),
            grown: Condvar::new(),
            n_syncs: AtomicUsize::new(0),
            safe: AtomicU64::new(0),
            n_failing,
        });
        state.segment.sink = disk.clone();
        disk
    }
}

impl Sink for SlowDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.inner.append(bytes)?;
        *self.written.lock().unwrap() += 1;
        self.grown.notify_all();
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        let written = self.written.lock().unwrap();
        let before = *written;
        drop(self.grown.wait_while(written, |written| *written < self.wanted).unwrap());
        if self.n_syncs.fetch_add(1, Ordering::SeqCst) < self.n_failing {
            return Err(io::ErrorKind::Other.into());
        }
        self.safe.fetch_max(before, Ordering::SeqCst);
        Ok(())
    }

    fn is_linked(&self) -> io::Result<bool> {
        self.inner.is_linked()
    }
}

#[test]
fn one_sync_serves_all_who_wait() {
    const CALLERS: u64 = 64;
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::put_under(&log, CALLERS, 0);
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let receipt = log.intent(&call(Tree::Null), &intent()).unwrap();
                assert!(disk.safe.load(Ordering::SeqCst) >= receipt.seq(), "told safe before it was");
            });
        }
    });
    // One for whoever came first, one for all who came while it ran, and perhaps one of the background thread.
    assert!(disk.n_syncs.load(Ordering::SeqCst) <= 3);
}

#[test]
fn a_failed_sync_is_told_to_those_who_wait_and_the_segment_is_given_up() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::put_under(&log, 8, usize::MAX);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(log.intent(&call(Tree::Null), &intent()).is_err()));
        }
    });
    assert!(disk.n_syncs.load(Ordering::SeqCst) >= 1);
    let receipt = log.intent(&call(Tree::Null), &intent()).unwrap();
    assert_eq!(receipt.seq(), 2, "behind the event that names the lost segment");
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_segments), (None, 2));
}

/// The kernel tells of a failed write once; a second sync of the same file says that all is well.
#[test]
fn a_failed_sync_is_told_also_to_those_who_wrote_while_it_ran() {
    for _ in 0..20 {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, true);
        let _disk = SlowDisk::put_under(&log, 8, 1);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(log.intent(&call(Tree::Null), &intent()).is_err()));
            }
        });
        assert!(log.intent(&call(Tree::Null), &intent()).is_ok());
        assert!(log.seal().is_ok());
    }
}

/// Is full at the third write, and holds each sync until then, which fails as well.
struct FailingDisk {
    inner: Arc<dyn Sink>,
    n_writes: Mutex<usize>,
    grown: Condvar,
}

impl FailingDisk {
    fn wait_for(&self, n_writes: usize) {
        let so_far = self.n_writes.lock().unwrap();
        drop(self.grown.wait_while(so_far, |so_far| *so_far < n_writes).unwrap());
    }
}

impl Sink for FailingDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut so_far = self.n_writes.lock().unwrap();
        *so_far += 1;
        self.grown.notify_all();
        if *so_far == 3 { Err(io::ErrorKind::StorageFull.into()) } else { self.inner.append(bytes) }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.wait_for(3);
        Err(io::ErrorKind::Other.into())
    }

    fn is_linked(&self) -> io::Result<bool> {
        self.inner.is_linked()
    }
}

#[test]
fn a_lost_line_hides_nobody_from_a_failed_sync() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let inner = Arc::clone(&log.shared.lock().segment.sink);
    let disk = Arc::new(FailingDisk { inner, n_writes: Mutex::default(), grown: Condvar::new() });
    log.shared.lock().segment.sink = disk.clone();
    std::thread::scope(|scope| {
        for n_before in 0..2 {
            disk.wait_for(n_before);
            scope.spawn(|| assert!(log.intent(&call(Tree::Null), &intent()).is_err()));
        }
        disk.wait_for(2);
        assert!(log.intent(&call(Tree::Null), &intent()).is_err());
    });
    assert_eq!(log.intent(&call(Tree::Null), &intent()).unwrap().seq(), 2, "in a new segment");
}

#[test]
fn a_full_segment_that_cannot_be_finished_is_given_up() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let _first = log.intent(&call(Tree::Null), &intent()).unwrap();
    let path = log.shared.lock().segment.path.clone();
    log.shared.lock().segment.full = 1;
    std::fs::remove_file(path).unwrap();
    for expected in [2, 3, 4] {
        let receipt = log.outcome(&call(Tree::Null), &outcome()).unwrap();
        assert_eq!(receipt.seq(), expected, "behind the event that names the lost segment");
    }
}

#[test]
fn a_full_segment_is_sealed_and_another_is_made() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let _receipt = log.intent(&call(Tree::Null), &intent()).unwrap();
    log.shared.lock().segment.full = 1000;
    let seqs: Vec<u64> = (0..4).map(|_| log.outcome(&call(Tree::Null), &outcome()).unwrap().seq()).collect();
    assert_eq!(seqs, [2, 1, 2, 3]);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.n_segments, report.n_records), (2, 5));
    assert!(report.n_sealed >= 2, "the full one is sealed at once");
    assert!(report.open_intents.is_empty(), "the outcome is found in the next segment");
    drop(log);
    assert_eq!(verify(dir.path()).unwrap().n_sealed, 5);
}
