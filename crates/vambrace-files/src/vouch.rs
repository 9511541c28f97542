//! Which hidden files can a person be trusted to have written?
//!
//! The redactor learns values from them, so whoever writes one decides what nobody sees any more. A file is *sure* when it
//! cannot come from a program in a sandbox: it was there, unchanged, before the first one ran, or it was made or changed
//! while none ran. Everything else is *doubtful*. File tools are refused such names, so only programs are in question.
//!
//! A mark in the state folder says that programs have run since anybody looked. It is locked while one runs, so a process
//! that was killed leaves a mark and no lock, and whoever looks next still knows.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vambrace_types::ScopedPath;

use crate::Root;
use crate::hidden::{HiddenStamp, HiddenWalk};
use crate::state::{StateOpen, make_state_folder, open_state_file};

/// LIMIT: far more than a book of as many files as are looked at.
const LONGEST: u64 = 4 << 20;
/// LIMIT: how long a program waits for whoever looks around at this moment.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    Sure,
    /// A program may have made it.
    MadeMeanwhile,
    /// A person made it, and a program may have changed it.
    ChangedMeanwhile,
}

/// May what is found be written down?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    Book,
    /// For commands that only look.
    Nothing,
}

/// What is known of the hidden files of one workspace.
#[derive(Debug)]
pub struct Vouchers {
    folder: PathBuf,
    name: String,
    keeping: Keeping,
    /// A mark could not be made, so nothing new can be vouched for in this process.
    unmarked: AtomicBool,
}

/// Lives as long as a program does.
#[derive(Debug)]
pub struct ProgramMark {
    _file: Option<File>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Book {
    /// Each path with what it looked like.
    sure: BTreeMap<String, String>,
    made: BTreeMap<String, String>,
    changed: BTreeMap<String, String>,
}

impl Vouchers {
    pub fn of(state: &Path, root: &Root, keeping: Keeping) -> Vouchers {
        let place = root.location().unwrap_or_default();
        // FNV-1a: it tells workspaces apart, and guards nothing.
        let hash = place.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let name = format!("{hash:016x}");
        Vouchers { folder: state.join("hidden"), name, keeping, unmarked: AtomicBool::new(false) }
    }

    /// To be called before a program starts; what is found before the mark is dropped, or before the next look after it, is
    /// doubtful.
    pub fn program_begins(&self) -> ProgramMark {
        let locked = || -> io::Result<File> {
            make_state_folder(&self.folder)?;
            let file = open_state_file(&self.at("ran"), StateOpen::Append)?;
            lock_shared(&file)?;
            Ok(file)
        };
        let mark = |mut file: &File| match file.metadata()?.len() {
            0 => file.write_all(b"1"),
            _ => Ok(()),
        };
        // The lock is kept although there was no room for the mark: others see by it that a program runs.
        let file = locked().ok();
        if file.as_ref().is_none_or(|file| mark(file).is_err()) {
            self.unmarked.store(true, Ordering::Release);
        }
        ProgramMark { _file: file }
    }

    /// Looks around, and says of each file that was found whether a person wrote it. `walk` is given the files that were
    /// found before: they come first, however much was put beside them.
    pub fn look(&self, walk: impl FnOnce(&[ScopedPath]) -> HiddenWalk) -> (HiddenWalk, Vec<Trust>) {
        // Two that look at the same time would lose what the other wrote down.
        let alone = (self.keeping == Keeping::Book).then(|| self.lock_book().ok()).flatten();
        // The mark before the book: whoever clears it has written the book before.
        let (has_run, mark) = self.programs_have_run();
        let old = self.read_book();
        // THREAT: P02, what programs made comes last, so that it takes nobody's place.
        let known = old.sure.keys().chain(old.changed.keys());
        let first: Vec<ScopedPath> = known.filter_map(|path| path_of(path)).collect();
        let walked = walk(&first);
        let mut new = Book::default();
        let trusts = walked.stamps.iter().map(|stamp| new.enter(&old, stamp, has_run)).collect();
        if alone.is_some() {
            let kept = old == new || self.write_book(&new).is_ok();
            // What was not looked at may be a program's, and would be vouched for without the mark.
            if let Some(mark) = mark.filter(|_| kept && has_run && !walked.cut) {
                let _ = mark.set_len(0);
            }
        }
        (walked, trusts)
    }

    /// Whether programs have run since the last look, and the mark if none runs now and nobody else can start one.
    fn programs_have_run(&self) -> (bool, Option<File>) {
        let unmarked = self.unmarked.load(Ordering::Acquire);
        let how = if self.keeping == Keeping::Book { StateOpen::Append } else { StateOpen::Read };
        match open_state_file(&self.at("ran"), how) {
            Ok(file) => {
                let is_free = file.try_lock().is_ok();
                let is_marked = file.metadata().map_or(true, |about| about.len() > 0);
                (unmarked || is_marked || !is_free, is_free.then_some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (unmarked, None),
            // What cannot be seen is not trusted.
            Err(_) => (true, None),
        }
    }

    fn lock_book(&self) -> io::Result<File> {
        make_state_folder(&self.folder)?;
        let file = open_state_file(&self.at("lock"), StateOpen::Append)?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(file)
    }

    /// An unreadable book vouches for nothing that it held; what is found without one is judged by the mark alone.
    fn read_book(&self) -> Book {
        let read = || -> io::Result<Book> {
            let mut bytes = Vec::new();
            open_state_file(&self.at("book"), StateOpen::Read)?.take(LONGEST).read_to_end(&mut bytes)?;
            Book::parse(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
        };
        read().unwrap_or_default()
    }

    fn write_book(&self, book: &Book) -> io::Result<()> {
        let beside = self.at("new");
        // What a crash has left; the lock is ours.
        let _ = std::fs::remove_file(&beside);
        let mut file = open_state_file(&beside, StateOpen::New)?;
        file.write_all(book.to_text().as_bytes())?;
        file.sync_data()?;
        std::fs::rename(&beside, self.at("book"))
    }

    fn at(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }
}

impl Book {
    /// One entry behind the other: a letter for the trust, what the file looked like, its path, and a NUL, which no path
    /// holds.
    fn to_text(&self) -> String {
        let shelves = [('s', &self.sure), ('m', &self.made), ('c', &self.changed)];
        let entries =
            shelves.into_iter().flat_map(|(letter, shelf)| shelf.iter().map(move |entry| (letter, entry)));
        entries.map(|(letter, (path, look))| format!("{letter}{look}\t{path}\0")).collect()
    }

    /// The whole book, or nothing: half of one would vouch for files that the other half does not.
    fn parse(bytes: &[u8]) -> Option<Book> {
        let mut book = Book::default();
        let text = std::str::from_utf8(bytes).ok()?;
        for entry in text.split_terminator('\0') {
            let (look, path) = entry.split_once('\t')?;
            let mut look = look.chars();
            let shelf = match look.next()? {
                's' => &mut book.sure,
                'm' => &mut book.made,
                'c' => &mut book.changed,
                _ => return None,
            };
            shelf.insert(path.to_owned(), look.as_str().to_owned());
        }
        (text.is_empty() || text.ends_with('\0')).then_some(book)
    }

    fn enter(&mut self, old: &Book, stamp: &HiddenStamp, has_run: bool) -> Trust {
        let (path, look) = (stamp.path().components().join("/"), stamp.to_string());
        let same = |book: &BTreeMap<String, String>| book.get(&path) == Some(&look);
        // A person who changes what a program made has not made it.
        let is_made_one = old.made.get(&path).is_some_and(|was| stamp.is_same_file(was));
        let trust = if same(&old.sure) {
            Trust::Sure
        } else if same(&old.changed) {
            Trust::ChangedMeanwhile
        } else if is_made_one {
            Trust::MadeMeanwhile
        } else if !has_run {
            Trust::Sure
        } else if old.sure.contains_key(&path) || old.changed.contains_key(&path) {
            Trust::ChangedMeanwhile
        } else {
            Trust::MadeMeanwhile
        };
        let shelf = match trust {
            Trust::Sure => &mut self.sure,
            Trust::MadeMeanwhile => &mut self.made,
            Trust::ChangedMeanwhile => &mut self.changed,
        };
        shelf.insert(path, look);
        trust
    }
}

fn path_of(text: &str) -> Option<ScopedPath> {
    ScopedPath::from_components(text.split('/').map(str::to_owned).collect())
}

fn lock_shared(file: &File) -> io::Result<()> {
    let mut left = PATIENCE;
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if left.is_zero() => return Err(io::ErrorKind::TimedOut.into()),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ambient_authority;

    struct World {
        folder: tempfile::TempDir,
        root: Root,
    }

    impl World {
        fn new() -> World {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("work")).unwrap();
            let root = Root::open_ambient(ambient_authority(), &folder.path().join("work")).unwrap();
            World { folder, root }
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.folder.path().join("work").join(name), text).unwrap();
        }

        /// As another process would see it.
        fn vouchers(&self) -> Vouchers {
            Vouchers::of(&self.folder.path().join("state"), &self.root, Keeping::Book)
        }

        fn look(&self, vouchers: &Vouchers) -> Vec<(String, Trust)> {
            let wanted = |path: &ScopedPath| path.file_name().is_some_and(|name| name.starts_with(".env"));
            let (walked, trusts) = vouchers.look(|first| self.root.hidden_walk(first, None, &wanted));
            let paths = walked.stamps.iter().map(|stamp| stamp.path().components().join("/"));
            let mut found: Vec<_> = paths.zip(trusts).collect();
            found.sort_by(|(one, _), (other, _)| one.cmp(other));
            found
        }

        #[track_caller]
        fn check(&self, expected: &[(&str, Trust)]) {
            let expected: Vec<_> =
                expected.iter().map(|(path, trust)| ((*path).to_owned(), *trust)).collect();
            assert_eq!(self.look(&self.vouchers()), expected);
        }
    }

    #[test]
    fn a_book_is_read_whole_or_not_at_all() {
        let shelf = |path: &str| BTreeMap::from([(path.to_owned(), "1:2 3".to_owned())]);
        let book = Book { sure: shelf(".env"), made: shelf("a\nb/.env"), changed: shelf("secrets/a\tb") };
        let text = book.to_text();
        assert_eq!(Book::parse(text.as_bytes()), Some(book));
        assert_eq!(Book::parse(b""), Some(Book::default()));
        for cut in 1..text.len() {
            let is_whole = text.as_bytes()[cut - 1] == 0;
            assert_eq!(Book::parse(&text.as_bytes()[..cut]).is_some(), is_whole, "{cut}");
        }
        assert_eq!(Book::parse(b"x1\ta\0"), None);
    }

    #[test]
    fn what_is_made_while_a_program_runs_stays_doubtful() {
        use Trust::{ChangedMeanwhile, MadeMeanwhile, Sure};
        let world = World::new();
        world.write(".env", "a");
        world.check(&[(".env", Sure)]);
        world.write(".env.b", "a person's");
        world.check(&[(".env", Sure), (".env.b", Sure)]);
        let server = world.vouchers();
        let running = server.program_begins();
        world.write(".env.c", "a program's");
        world.write(".env", "changed by whom?");
        let doubtful = [(".env", ChangedMeanwhile), (".env.b", Sure), (".env.c", MadeMeanwhile)];
        world.check(&doubtful);
        drop(running);
        // Nobody has looked since it ended.
        world.write(".env.d", "x");
        world.check(&[&doubtful[..], &[(".env.d", MadeMeanwhile)]].concat());
        // A person sets one right, and adds to another.
        world.write(".env", "right");
        world.write(".env.c", "added to");
        let right = [(".env", Sure), (".env.b", Sure), (".env.c", MadeMeanwhile), (".env.d", MadeMeanwhile)];
        world.check(&right);
    }

    #[test]
    fn a_killed_process_leaves_its_mark() {
        let world = World::new();
        world.check(&[]);
        // The lock goes with the process, the mark stays.
        drop(world.vouchers().program_begins());
        world.write(".env", "x");
        let looks_only = Vouchers::of(&world.folder.path().join("state"), &world.root, Keeping::Nothing);
        assert_eq!(world.look(&looks_only), [(".env".to_owned(), Trust::MadeMeanwhile)]);
        world.check(&[(".env", Trust::MadeMeanwhile)]);
        world.write(".env.new", "x");
        world.check(&[(".env", Trust::MadeMeanwhile), (".env.new", Trust::Sure)]);
    }

    #[test]
    fn a_mark_that_cannot_be_made_vouches_for_nothing_new() {
        let world = World::new();
        world.write(".env", "x");
        world.check(&[(".env", Trust::Sure)]);
        let state = world.folder.path().join("state/hidden");
        std::fs::rename(&state, world.folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(world.folder.path().join("elsewhere"), &state).unwrap();
        let vouchers = world.vouchers();
        drop(vouchers.program_begins());
        assert_eq!(world.look(&vouchers), [(".env".to_owned(), Trust::MadeMeanwhile)]);
    }
}
