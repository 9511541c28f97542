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
