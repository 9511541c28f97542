//! A disk that fails, a disk that is slow, and one that panics.

use std::io;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::scope;

use tempfile::TempDir;

use super::*;
use crate::clock::SystemClock;
use crate::disk::Sink;
use crate::line::LONGEST_RECORD;
use crate::testing::{call, intent, outcome};
use crate::verify;
use crate::writer::{Chain, MOST_QUEUED};

/// Goes on with every look, so that what stands in a wrong place shows.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + self.0.fetch_add(1, Ordering::SeqCst))
    }
}

fn open_at(dir: &TempDir, durable: bool, clock: Arc<dyn Clock>) -> AuditLog {
    let settings = AuditSettings {
        dir: dir.path().to_owned(),
        mirror: None,
        durable,
        alerts: AlertSettings { rules: Vec::new(), action: DefenceAction::Alert },
    };
    AuditLog::open(settings, clock).unwrap()
}

fn open(dir: &TempDir, durable: bool) -> AuditLog {
    open_at(dir, durable, Arc::new(SystemClock))
}

/// The chain of a log whose thread is idle.
fn with_chain<T>(log: &AuditLog, work: impl FnOnce(&mut Chain) -> T) -> T {
    work(log.shared.lock().chain.as_mut().unwrap())
}

/// Puts a disk before the one that is there.
fn put_under<S: Sink + 'static>(log: &AuditLog, disk: impl FnOnce(Arc<dyn Sink>) -> S) -> Arc<S> {
    with_chain(log, |chain| {
        let disk = Arc::new(disk(Arc::clone(&chain.segment.sink)));
        chain.segment.sink = disk.clone();
        disk
    })
}

fn another(log: &AuditLog) -> Recording<IntentReceipt> {
    log.intent(&call(Tree::Null), &intent())
}

/// Every record in the files.
fn n_in_files(dir: &TempDir) -> usize {
    lines_in_files(dir).iter().map(Vec::len).sum()
}

fn lines_in_files(dir: &TempDir) -> Vec<Vec<String>> {
    let folder = crate::registry::segments_dir(dir.path());
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    records.map(|path| lines(std::fs::read_to_string(path).unwrap())).collect()
}

/// Takes so many more bytes, then says that the disk is full; a line that does not fit is written in part.
struct FullDisk {
    inner: Arc<dyn Sink>,
    room: AtomicUsize,
    truncates: bool,
}

impl FullDisk {
    fn under(log: &AuditLog, room: usize, truncates: bool) -> Arc<FullDisk> {
        put_under(log, |inner| FullDisk { inner, room: AtomicUsize::new(room), truncates })
    }
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
    for (durable, truncates) in [(false, true), (false, false), (true, true), (true, false)] {
        for room in [0, 1, 100, 700, 1000] {
            let dir = TempDir::new().unwrap();
            let log = open(&dir, durable);
            let _first = another(&log).wait().unwrap();
            let disk = FullDisk::under(&log, room, truncates);
            let refused = || log.outcome(&call(Tree::Null), &outcome()).wait().is_err();
            let refused = (0..5).filter(|_| refused()).count();
            assert!(refused >= 3, "room for {room}");
            disk.room.store(1_000_000, Ordering::SeqCst);
            let receipt = log.outcome(&call(Tree::Null), &outcome()).wait().unwrap();
            assert_eq!(receipt.seq(), 2 + 5 - refused as u64);
            drop(log);
            let report = verify(dir.path()).unwrap();
            assert_eq!((report.broken, report.notes), (None, vec![]), "room for {room}");
            assert_eq!((report.n_records, report.unsealed_tail), (receipt.seq(), 0));
        }
    }
}

#[test]
fn lines_that_are_lost_together_are_told_to_all_and_the_chain_goes_on() {
    for truncates in [true, false] {
        for room in [0, 1, 500, 1500] {
            let dir = TempDir::new().unwrap();
            let log = open(&dir, true);
            let full = FullDisk::under(&log, 1_000_000, truncates);
            let slow = SlowDisk::under(&log, no_fault);
            let first = another(&log);
            slow.wait_for_sync(1);
            full.room.store(room, Ordering::SeqCst);
            let lost: Vec<_> = (0..4).map(|_| another(&log)).collect();
            slow.release();
            assert_eq!(first.wait().unwrap().seq(), 1);
            for lost in lost {
                assert!(lost.wait().is_err(), "room for {room}");
            }
            full.room.store(1_000_000, Ordering::SeqCst);
            assert_eq!(another(&log).wait().unwrap().seq(), 2);
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
    let _first = another(&log).wait().unwrap();
    let _disk = FullDisk::under(&log, 0, true);
    assert!(another(&log).wait().is_err());
    assert!(log.seal().is_err(), "a record is missing");
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 1, 0));
}

/// Whatever others do at the same time: who has a receipt has a line in the file.
#[test]
fn no_receipt_comes_before_its_line() {
    for durable in [false, true] {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, durable);
        let done = Outcome { violation: None, ..outcome() };
        scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..50 {
                        let on_its_way = log.outcome(&call(Tree::Null), &done);
                        if round % 3 == 0 {
                            let _intent = another(&log).wait().unwrap();
                        }
                        if round % 7 == 0 {
                            log.seal().unwrap();
                        }
                        let receipt = on_its_way.wait().unwrap();
                        assert!(n_in_files(&dir) as u64 >= receipt.seq());
                    }
                });
            }
        });
        drop(log);
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 4 * (50 + 17), 0));
    }
}

#[test]
fn a_line_that_nobody_waits_for_is_written_all_the_same() {
    for durable in [false, true] {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, durable);
        for _ in 0..3 {
            drop(another(&log));
        }
        drop(log);
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 3, 0));
    }
}

/// Nothing has to be waited for where records need not be durable: no other thread has a part in
/// it.
#[test]
fn a_line_that_need_not_be_durable_is_written_at_once() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    for number in 1..=3 {
        let mut written = another(&log);
        assert_eq!(n_in_files(&dir), number);
        let Poll::Ready(Ok(receipt)) = poll(&mut written, Waker::noop()) else { panic!("it waits") };
        assert_eq!(receipt.seq(), number as u64);
        assert!(poll(&mut written, Waker::noop()).is_pending(), "it is given out once");
    }
}

fn poll<T>(recording: &mut Recording<T>, waker: &Waker) -> Poll<Result<T, AuditError>> {
    std::pin::Pin::new(recording).poll(&mut Context::from_waker(waker))
}

/// Holds each sync until it is released.
struct SlowDisk {
    inner: Arc<dyn Sink>,
    progress: Mutex<Progress>,
    moved: Condvar,
    /// What goes wrong in which write or sync.
    fault: fn(Step) -> io::Result<()>,
}

/// The how manieth of its kind.
enum Step {
    Write(usize),
    Sync(usize),
}

fn no_fault(_: Step) -> io::Result<()> {
    Ok(())
}

#[derive(Default)]
struct Progress {
    is_released: bool,
    n_writes: usize,
    n_lines: u64,
    n_syncs: usize,
    /// Lines that were there when the last finished sync began.
    n_safe: u64,
}

impl SlowDisk {
    fn under(log: &AuditLog, fault: fn(Step) -> io::Result<()>) -> Arc<SlowDisk> {
        let (progress, moved) = (Mutex::default(), Condvar::new());
        put_under(log, |inner| SlowDisk { inner, progress, moved, fault })
    }

    fn wait_for_sync(&self, number: usize) {
        let progress = self.progress.lock().unwrap();
        drop(self.moved.wait_while(progress, |progress| progress.n_syncs < number).unwrap());
    }

    fn release(&self) {
        self.progress.lock().unwrap().is_released = true;
        self.moved.notify_all();
    }
}

impl Sink for SlowDisk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let n_writes = {
            let mut progress = self.progress.lock().unwrap();
            progress.n_lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            progress.n_writes += 1;
            progress.n_writes
        };
        (self.fault)(Step::Write(n_writes))?;
        self.inner.append(bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }

    fn sync(&self) -> io::Result<()> {
        let mut progress = self.progress.lock().unwrap();
        progress.n_syncs += 1;
        let (number, n_safe) = (progress.n_syncs, progress.n_lines);
        self.moved.notify_all();
        drop(self.moved.wait_while(progress, |progress| !progress.is_released).unwrap());
        (self.fault)(Step::Sync(number))?;
        self.progress.lock().unwrap().n_safe = n_safe;
        Ok(())
    }

    fn is_linked(&self) -> io::Result<bool> {
        self.inner.is_linked()
    }
}

#[test]
fn one_sync_serves_all_who_wait() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::under(&log, no_fault);
    let mut waiting = vec![another(&log)];
    disk.wait_for_sync(1);
    waiting.extend((0..63).map(|_| another(&log)));
    for recording in &mut waiting {
        assert!(poll(recording, Waker::noop()).is_pending(), "told safe before it was");
    }
    disk.release();
    for (recording, number) in waiting.into_iter().zip(1..) {
        assert_eq!(recording.wait().unwrap().seq(), number);
        assert!(disk.progress.lock().unwrap().n_safe >= number, "told safe before it was");
    }
    // One for whoever came first, one for all who came while it ran, and perhaps one for a head.
    assert!(disk.progress.lock().unwrap().n_syncs <= 3);
}

/// Writes down who was woken; some panic.
struct Told {
    number: u64,
    all: Arc<Mutex<Vec<u64>>>,
}

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.all.lock().unwrap().push(self.number);
        assert!(!self.number.is_multiple_of(5), "a waker that panics");
    }
}

#[test]
fn acknowledgements_come_in_order_whatever_a_waker_does() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::under(&log, no_fault);
    let all = Arc::default();
    let wait = |number: u64| {
        let mut recording = another(&log);
        let waker = Waker::from(Arc::new(Told { number, all: Arc::clone(&all) }));
        assert!(poll(&mut recording, Waker::noop()).is_pending());
        assert!(poll(&mut recording, &waker).is_pending());
        recording
    };
    let mut waiting = vec![wait(1)];
    disk.wait_for_sync(1);
    waiting.extend((2..=20).map(wait));
    disk.release();
    for recording in waiting {
        let _receipt = recording.wait().unwrap();
    }
    // The last sync was over before this one began, and so was what came of it.
    log.seal().unwrap();
    assert_eq!(*all.lock().unwrap(), (1..=20).collect::<Vec<_>>());
}

/// Whoever finds the queue full waits; nothing is lost.
#[test]
fn only_so_much_is_queued() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::under(&log, no_fault);
    let long = call(Tree::map([("content", Tree::text("x".repeat(30_000)))]));
    let n_queued = || log.shared.lock().queue.n_bytes();
    scope(|scope| {
        let many = scope.spawn(|| (0..100).map(|_| log.intent(&long, &intent())).collect::<Vec<_>>());
        while n_queued() < MOST_QUEUED {
            std::thread::yield_now();
        }
        assert!(n_queued() < MOST_QUEUED + LONGEST_RECORD && !many.is_finished());
        disk.release();
        for (recording, number) in many.join().unwrap().into_iter().zip(1..) {
            assert_eq!(recording.wait().unwrap().seq(), number);
        }
    });
}

/// A caller alone has its receipt as soon as its line is on the disk, not when others might have
/// come.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it takes is what is asked")]
fn a_lone_caller_waits_for_nobody() {
    const RECORDS: u32 = 200;
    let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let log = open(&dir, true);
    let start = std::time::Instant::now();
    for _ in 0..RECORDS {
        let _receipt = another(&log).wait().unwrap();
    }
    assert!(start.elapsed() < crate::writer::GATHER * RECORDS / 2, "it waited for others to come");
}

fn first_sync_fails(step: Step) -> io::Result<()> {
    if matches!(step, Step::Sync(1)) { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
}

#[test]
fn a_failed_sync_is_told_to_those_who_wait_and_the_segment_is_given_up() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::under(&log, first_sync_fails);
    let lost = another(&log);
    disk.wait_for_sync(1);
    // These were not written when it failed.
    let waiting: Vec<_> = (0..7).map(|_| another(&log)).collect();
    disk.release();
    assert!(matches!(lost.wait(), Err(AuditError::Io { doing: "sync", .. })));
    for (recording, number) in waiting.into_iter().zip(2..) {
        assert_eq!(recording.wait().unwrap().seq(), number, "behind the event that names the lost segment");
    }
    assert!(log.seal().is_ok());
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_segments), (None, 2));
}

/// The first group is on the disk, the second is lost, and the record goes on in another segment.
#[track_caller]
fn second_group_is_lost(fault: fn(Step) -> io::Result<()>, is_expected: fn(&AuditError) -> bool) {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, true);
    let disk = SlowDisk::under(&log, fault);
    let first = another(&log);
    disk.wait_for_sync(1);
    let lost: Vec<_> = (0..8).map(|_| another(&log)).collect();
    disk.release();
    assert_eq!(first.wait().unwrap().seq(), 1);
    for lost in lost {
        let told = lost.wait().unwrap_err();
        assert!(is_expected(&told), "{told}");
    }
    assert!(log.seal().is_err(), "records are missing");
    assert_eq!(another(&log).wait().unwrap().seq(), 2, "behind the event that names the lost segment");
    assert!(log.seal().is_ok());
    drop(log);
    let report = verify(dir.path()).unwrap();
    assert_eq!((report.broken, report.n_segments), (None, 2));
}

/// The kernel tells of a failed write once; a second sync of the same file would say that all is
/// well.
#[test]
fn a_failed_sync_is_told_to_everybody_whom_it_was_to_serve() {
    let fault = |step| if let Step::Sync(2) = step { Err(io::ErrorKind::Other.into()) } else { Ok(()) };
    second_group_is_lost(fault, |told| matches!(told, AuditError::Io { doing: "sync", .. }));
}

#[test]
fn a_panic_of_the_thread_is_told_to_everybody_and_the_record_goes_on() {
    let in_sync = |step| if let Step::Sync(2) = step { panic!("a disk that panics") } else { Ok(()) };
    let in_write = |step| if let Step::Write(2) = step { panic!("a disk that panics") } else { Ok(()) };
    for fault in [in_sync, in_write] {
        second_group_is_lost(fault, |told| matches!(told, AuditError::WriterPanicked));
    }
}

#[test]
fn a_panic_while_a_head_is_signed_is_told_to_whoever_asked_for_it() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let disk = SlowDisk::under(&log, |_| panic!("a disk that panics"));
    assert!(matches!(another(&log).wait(), Err(AuditError::WriterPanicked)), "the write panics");
    assert_eq!(another(&log).wait().unwrap().seq(), 2, "behind the event that names the lost segment");
    let fault = |step| if let Step::Sync(_) = step { panic!("a disk that panics") } else { Ok(()) };
    disk.release();
    SlowDisk::under(&log, fault).release();
    let _written = another(&log).wait().unwrap();
    assert!(log.seal().is_err());
    assert_eq!(another(&log).wait().unwrap().seq(), 2, "the thread is still there");
    assert!(log.seal().is_ok());
}

#[test]
fn a_record_that_comes_while_a_segment_is_lost_goes_to_the_next() {
    let dir = TempDir::new().unwrap();
    let log = open(&dir, false);
    let disk = SlowDisk::under(&log, first_sync_fails);
    let _first = another(&log).wait().unwrap();
    scope(|scope| {
        let sealing = scope.spawn(|| log.seal());
        disk.wait_for_sync(1);
        assert_eq!(another(&log).wait().unwrap().seq(), 2, "whoever writes does not wait for a sync");
        disk.release();
        assert!(sealing.join().unwrap().is_err());
    });
    assert!(log.seal().is_err(), "what was in the segment may be lost, whatever a second sync says");
    assert_eq!(another(&log).wait().unwrap().seq(), 2, "behind the event that names the lost segment");
    assert!(log.seal().is_ok());
}

#[test]
fn a_full_segment_that_cannot_be_finished_is_given_up() {
    for durable in [false, true] {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, durable);
        let _first = another(&log).wait().unwrap();
        std::fs::remove_file(with_chain(&log, |chain| chain.segment.path.clone())).unwrap();
        with_chain(&log, |chain| chain.segment.full = 1);
        for expected in [2, 3, 4] {
            let receipt = log.outcome(&call(Tree::Null), &outcome()).wait().unwrap();
            assert_eq!(receipt.seq(), expected, "behind the event that names the lost segment");
        }
    }
}

#[test]
fn a_full_segment_is_sealed_and_another_is_made() {
    for durable in [false, true] {
        let dir = TempDir::new().unwrap();
        let log = open(&dir, durable);
        let _receipt = another(&log).wait().unwrap();
        with_chain(&log, |chain| chain.segment.full = 1000);
        let write = |_| log.outcome(&call(Tree::Null), &outcome()).wait().unwrap().seq();
        assert_eq!((0..4).map(write).collect::<Vec<_>>(), [2, 1, 2, 3]);
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.n_segments, report.n_records), (2, 5));
        assert!(report.n_sealed >= 2, "the full one is sealed at once");
        assert!(report.open_intents.is_empty(), "the outcome is found in the next segment");
        drop(log);
        assert_eq!(verify(dir.path()).unwrap().n_sealed, 5);
    }
}

/// Some write themselves, and some are written for.
#[test]
fn times_do_not_run_backwards_when_segments_are_exchanged() {
    for durable in [false, true] {
        let dir = TempDir::new().unwrap();
        let log = open_at(&dir, durable, Arc::new(Ticking(AtomicI64::new(0))));
        scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let receipts: Vec<_> = (0..200).map(|_| another(&log)).collect();
                    for receipt in receipts {
                        let _receipt = receipt.wait().unwrap();
                    }
                });
            }
            for _ in 0..20 {
                if let Some(chain) = &mut log.shared.lock().chain {
                    chain.segment.full = 1;
                }
                std::thread::yield_now();
            }
        });
        drop(log);
        let report = verify(dir.path()).unwrap();
        assert_eq!((report.broken, report.n_records, report.unsealed_tail), (None, 800, 0));
        for lines in lines_in_files(&dir) {
            let time = |line: &String| {
                line.split("\"timestamp\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
            };
            let times: Vec<_> = lines.iter().map(time).collect();
            assert!(times.is_sorted(), "{times:?}");
        }
    }
}
