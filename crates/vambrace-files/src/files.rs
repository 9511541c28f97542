//! The door itself: each function uses up one permit.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use vambrace_policy::{
    Access, Action, CountMatches, CreateDirectory, DeleteFile, EditFiles, Epoch, ListFiles, MigrateConfig,
    Permit, ReadFile, Reason, Scope, SearchFiles, Withheld, WriteFile, Writes,
};
use vambrace_types::{ByteLimit, ScopedPath, VolumeId};

use crate::journal::{self, Journal};
use crate::list::{self, Listing};
use crate::lock::Lock;
use crate::lock_book::{self, LockBook, Noted};
use crate::open::{Opener, beneath};
use crate::read::{self, Text};
use crate::replace::{Prepared, Stamp, stamp};
use crate::sweep::Sweep;
use crate::{Chunk, Deadline, FilesError, LockPolicy, Recovery, Root, Stop, SweepReport};

#[derive(Debug, Clone)]
pub struct FilesSettings {
    /// Where several-file edits are journaled: in the state folder, outside every root.
    pub journal: PathBuf,
    pub lock: LockPolicy,
    /// The largest file that is written or edited.
    pub largest: ByteLimit,
}

/// Files beneath one root, for one policy.
#[derive(Debug)]
pub struct Files {
    root: Arc<Root>,
    scope: Arc<Scope>,
    epoch: Epoch,
    settings: Arc<FilesSettings>,
    own: Arc<Own>,
}

/// What all doors to one root have in common.
#[derive(Debug, Default)]
struct Own {
    n_journals: AtomicU64,
    locks: LockBook,
}

#[derive(Debug)]
pub struct Written {
    pub created: bool,
    /// What stood there before; `None` for a new file and for one that was not text.
    pub old: Option<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub struct Created {
    pub existed: bool,
}

#[derive(Debug)]
pub struct Edited {
    pub path: ScopedPath,
    pub old: String,
    pub new: String,
}

/// Makes the new text of a file from its old one.
pub type Apply<'a, E, F> = dyn FnMut(&ScopedPath, &str, &[E]) -> Result<String, F> + 'a;

/// One file of an edit, locked and read.
struct Held<'f> {
    folder: OwnedFd,
    name: String,
    path: ScopedPath,
    spelled: String,
    stat: Stat,
    lock: Lock,
    old: String,
    /// Behind the lock: fields are dropped in their order.
    _noted: Noted<'f>,
}

impl Files {
    pub fn new(root: Root, scope: Arc<Scope>, epoch: Epoch, settings: FilesSettings) -> Files {
        Files { root: Arc::new(root), scope, epoch, settings: Arc::new(settings), own: Arc::default() }
    }

    /// The same files for another policy, which writes files of at most this size.
    pub fn for_policy(&self, scope: Arc<Scope>, epoch: Epoch, largest: ByteLimit) -> Files {
        let Files { root, settings, own, .. } = self;
        let settings = Arc::new(FilesSettings { largest, ..settings.as_ref().clone() });
        Files { root: Arc::clone(root), own: Arc::clone(own), settings, scope, epoch }
    }

    /// Finishes or reverts what a crash left half done. Called once, before the first call is served.
    pub fn recover(&self) -> std::io::Result<Recovery> {
        let withheld = Withheld::default();
        let opener = self.opener(&withheld);
        let recovery = journal::recover(opener, self.settings.lock, &self.settings.journal)?;
        lock_book::sweep(opener, self.settings.lock, &self.lock_folder());
        Ok(recovery)
    }

    fn lock_folder(&self) -> PathBuf {
        self.settings.journal.with_file_name("locks")
    }

    fn note_lock(&self, path: &ScopedPath) -> Noted<'_> {
        self.own.locks.note(&self.lock_folder(), &self.root, path)
    }

    pub fn volume(&self) -> VolumeId {
        self.root.volume()
    }

    pub(crate) fn opener<'a>(&'a self, withheld: &'a Withheld) -> Opener<'a> {
        Opener { root: &self.root, scope: &self.scope, withheld }
    }

    /// Uses the permit up; what it withholds stays with the action.
    fn redeem<A: Action>(&self, permit: Permit<A>) -> Result<(A, Withheld), FilesError> {
        let withheld = permit.withheld().clone();
        let action =
            permit.redeem(self.epoch).map_err(|_| FilesError::denied(Reason::StalePermit, "policy.epoch"))?;
        Ok((action, withheld))
    }

    pub fn read(&self, permit: Permit<ReadFile>, deadline: &Deadline) -> Result<Text, FilesError> {
        let (action, withheld) = self.redeem(permit)?;
        read::read(self.opener(&withheld), &action, deadline)
    }

    pub fn list(&self, permit: Permit<ListFiles>, deadline: &Deadline) -> Result<Listing, FilesError> {
        let (action, withheld) = self.redeem(permit)?;
        list::list(self.opener(&withheld), &action, deadline)
    }

    pub fn search(
        &self,
        permit: Permit<SearchFiles>,
        deadline: &Deadline,
        visit: &(dyn Fn(&Chunk<'_>) + Sync),
    ) -> Result<SweepReport, FilesError> {
        let (SearchFiles { path, recursive, include_ignored, .. }, withheld) = self.redeem(permit)?;
        Sweep { opener: self.opener(&withheld), recursive, include_ignored, deadline }.run(&path, visit)
    }

    pub fn count(
        &self,
        permit: Permit<CountMatches>,
        deadline: &Deadline,
        visit: &(dyn Fn(&Chunk<'_>) + Sync),
    ) -> Result<SweepReport, FilesError> {
        let (CountMatches { path, recursive, include_ignored, .. }, withheld) = self.redeem(permit)?;
        Sweep { opener: self.opener(&withheld), recursive, include_ignored, deadline }.run(&path, visit)
    }

    pub fn create_directory(&self, permit: Permit<CreateDirectory>) -> Result<Created, FilesError> {
        let (CreateDirectory { path }, withheld) = self.redeem(permit)?;
        if path.is_root() {
            return Ok(Created { existed: true });
        }
        let created = self.opener(&withheld).make_folders(&path)?;
        Ok(Created { existed: !created })
    }

    pub fn delete(&self, permit: Permit<DeleteFile>, stop: &Stop) -> Result<u64, FilesError> {
        let (DeleteFile { path }, withheld) = self.redeem(permit)?;
        let opener = self.opener(&withheld);
        let (folder, name) = opener.parent(&path, Access::Delete)?;
        let spelled = opener.spelled(&path);
        let _noted = self.note_lock(&path);
        let _lock = Lock::acquire(folder.as_fd(), name, &spelled, self.settings.lock, stop)?;
        opener.remove_file(&folder, &path, name)
    }

    pub fn write(&self, permit: Permit<WriteFile>, stop: &Stop) -> Result<Written, FilesError> {
        let (WriteFile { path, content }, withheld) = self.redeem(permit)?;
        let opener = self.opener(&withheld);
        let spelled = opener.spelled(&path);
        self.demand_size(&spelled, content.0.len())?;
        if let Some(parent) = path.parent().filter(|parent| !parent.is_root())
            && let Err(FilesError::NotFound { .. }) = opener.folder(&parent, Access::Read)
        {
            opener.make_folders(&parent)?;
        }
        let (folder, name) = opener.parent(&path, Access::Write)?;
        let _noted = self.note_lock(&path);
        let lock = Lock::acquire(folder.as_fd(), name, &spelled, self.settings.lock, stop)?;
        let stat = opener.entry(&folder, &path, name)?;
        let old = match &stat {
            None => None,
            Some(stat) => {
                opener.demand_changeable(&path, stat)?;
                match self.read_held(&folder, name, &spelled, stat) {
                    Err(denied @ FilesError::Denied(_)) => return Err(denied),
                    // Only for the diff: a file that is not text is replaced without one.
                    old => old.ok(),
                }
            }
        };
        if stop.is_set() {
            return Err(FilesError::Stopped);
        }
        let placed = Prepared::new(&lock, folder, name, &spelled, stat, content.0.as_bytes())?.place()?;
        let warnings = lock.forced.iter().cloned().chain(placed.warning()).collect();
        Ok(Written { created: stat.is_none(), old, warnings })
    }

    /// Puts a configuration file's new text in its place and keeps the old one beside it. Gives the warnings.
    ///
    /// The scope protects the file from every other change, so only reading is judged here: the permit says that policy,
    /// and a person, saw exactly these two texts.
    pub fn migrate(&self, permit: Permit<MigrateConfig>, stop: &Stop) -> Result<Vec<String>, FilesError> {
        let (MigrateConfig { path, change, rehearsal, .. }, withheld) = self.redeem(permit)?;
        let opener = self.opener(&withheld);
        let spelled = opener.spelled(&path);
        let changed = || FilesError::Changed { path: spelled.clone() };
        let change = change.filter(|_| !rehearsal).ok_or_else(changed)?;
        self.demand_size(&spelled, change.new.len())?;
        let (folder, name) = opener.parent(&path, Access::Read)?;
        let _noted = self.note_lock(&path);
        let lock = Lock::acquire(folder.as_fd(), name, &spelled, self.settings.lock, stop)?;
        let stat = opener.entry(&folder, &path, name)?.ok_or_else(changed)?;
        opener.demand_changeable(&path, &stat)?;
        if self.read_held(&folder, name, &spelled, &stat)? != change.old {
            return Err(changed());
        }
        let kept = Kept::link(&folder, name, &change.backup, &spelled)?;
        // The second name is a change of the file too; what it holds must still be what was read.
        let linked = opener.entry(&folder, &path, name)?.ok_or_else(changed)?;
        if (linked.st_ino, linked.st_size, linked.st_mtime) != (stat.st_ino, stat.st_size, stat.st_mtime) {
            return Err(changed());
        }
        let own = folder.try_clone().map_err(|error| read::io(&spelled, &error))?;
        let placed =
            Prepared::new(&lock, own, name, &spelled, Some(linked), change.new.as_bytes())?.place()?;
        kept.stay();
        Ok(lock.forced.iter().cloned().chain(placed.warning()).collect())
    }

    /// Reads every file, lets `apply` make the new texts, and replaces all or none.
    pub fn edit<E: Writes + Send + Sync + 'static, F: From<FilesError>>(
        &self,
        permit: Permit<EditFiles<E>>,
        stop: &Stop,
        apply: &mut Apply<'_, E, F>,
    ) -> Result<(Vec<Edited>, Vec<String>), F> {
        let (EditFiles { mut files }, withheld) = self.redeem(permit)?;
        let opener = self.opener(&withheld);
        // One order for everybody, so that two calls cannot wait for each other.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut held = Vec::new();
        for file in &files {
            let next = self.hold(opener, &file.path, &held, stop)?;
            held.push(next);
        }
        let mut texts = Vec::new();
        for (file, held) in files.iter().zip(&held) {
            let new = apply(&file.path, &held.old, &file.edits)?;
            self.demand_size(&held.spelled, new.len())?;
            texts.push(new);
        }
        if stop.is_set() {
            return Err(FilesError::Stopped.into());
        }
        let mut warnings = self.replace_all(opener, &held, &texts)?;
        warnings.extend(held.iter().filter_map(|held| held.lock.forced.clone()));
        let edited = held.into_iter().zip(texts);
        Ok((edited.map(|(held, new)| Edited { path: held.path, old: held.old, new }).collect(), warnings))
    }

    fn hold(
        &self,
        opener: Opener<'_>,
        path: &ScopedPath,
        others: &[Held<'_>],
        stop: &Stop,
    ) -> Result<Held<'_>, FilesError> {
        let spelled = opener.spelled(path);
        let (folder, name) = opener.parent(path, Access::Write)?;
        let missing = || FilesError::NotFound { path: spelled.clone() };
        // Before the lock, so that editing nothing leaves no lock file behind in a folder one cannot write.
        let stat = opener.entry(&folder, path, name)?.ok_or_else(missing)?;
        opener.demand_changeable(path, &stat)?;
        // Reached twice, through a link to its folder: waiting for our own lock would end in a riddle.
        if others.iter().any(|held| (held.stat.st_dev, held.stat.st_ino) == (stat.st_dev, stat.st_ino)) {
            return Err(FilesError::Twice { path: spelled });
        }
        let noted = self.note_lock(path);
        let lock = Lock::acquire(folder.as_fd(), name, &spelled, self.settings.lock, stop)?;
        let stat = opener.entry(&folder, path, name)?.ok_or_else(missing)?;
        opener.demand_changeable(path, &stat)?;
        let old = self.read_held(&folder, name, &spelled, &stat)?;
        Ok(Held {
            folder,
            name: name.to_owned(),
            path: path.clone(),
            spelled,
            stat,
            lock,
            old,
            _noted: noted,
        })
    }

    /// Reads the entry of a folder that was just looked at, and makes sure that it is still that file.
    fn read_held(
        &self,
        folder: &OwnedFd,
        name: &str,
        spelled: &str,
        stat: &Stat,
    ) -> Result<String, FilesError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let os = |errno| FilesError::os(spelled, "open", errno);
        // The name alone may be a mount point: then neither the text nor the place is the workspace's. THREAT: P04.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let handle = beneath(folder.as_fd(), name, flags, resolve).map_err(|errno| match errno {
            Errno::XDEV => FilesError::denied(Reason::Mount { path: spelled.to_owned() }, "scope.mounts"),
            Errno::LOOP => FilesError::denied(Reason::Link { path: spelled.to_owned() }, "scope.symlinks"),
            other => os(other),
        })?;
        let opened = rustix::fs::fstat(&handle).map_err(os)?;
        if stamp(&opened) != stamp(stat) {
            return Err(FilesError::Changed { path: spelled.to_owned() });
        }
        let size = u64::try_from(opened.st_size).unwrap_or(0);
        read::whole(File::from(handle), size, self.settings.largest, spelled)
    }

    /// Gives the warnings.
    fn replace_all(
        &self,
        opener: Opener<'_>,
        held: &[Held<'_>],
        texts: &[String],
    ) -> Result<Vec<String>, FilesError> {
        let journal_error = |error: &std::io::Error| read::io("the journal", error);
        let mut journal = None;
        if held.len() > 1 {
            let files: Vec<_> = held.iter().map(|held| (held.path.clone(), stamp(&held.stat))).collect();
            journal = Some(self.begin_journal(&files).map_err(|error| journal_error(&error))?);
        }
        let result = prepare_and_place(opener, held, texts, journal.as_mut());
        // The files are all new or all old now; or some could not be put back, and then the journal is what tells of it.
        if !matches!(result, Err(FilesError::HalfDone { .. }))
            && let Some(journal) = journal
        {
            journal.end();
        }
        result
    }

    /// Under a name that nobody left behind: of this process, of another door of it, or of a dead one of that number.
    fn begin_journal(&self, files: &[(ScopedPath, Stamp)]) -> std::io::Result<Journal> {
        const TRIES: usize = 1000;
        let root = self.root.identity()?;
        let mut last = std::io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            let id =
                format!("{}-{}", std::process::id(), self.own.n_journals.fetch_add(1, Ordering::Relaxed));
            match Journal::begin(&self.settings.journal, &id, &root, files) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = error,
                other => return other,
            }
        }
        Err(last)
    }

    fn demand_size(&self, path: &str, length: usize) -> Result<(), FilesError> {
        let limit = self.settings.largest;
        if limit.allows(length) {
            return Ok(());
        }
        Err(FilesError::TooLarge { path: path.to_owned(), bytes: length as u64, limit: limit.bytes() })
    }

    /// What the real call would be refused for, without reading or changing anything. The permit is looked at, not
    /// used up.
    pub fn probe<A: Action>(&self, permit: &Permit<A>) -> Result<(), FilesError> {
        for (path, access) in permit.action().targets() {
            let opener = self.opener(permit.withheld());
            let met = match access {
                Access::Read => probe_read(opener, path),
                Access::Write | Access::Delete => probe_change(opener, path, access),
            };
            match met {
                Ok(()) | Err(FilesError::NotFound { .. } | FilesError::IsADirectory { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A second name of a file, taken back unless it is told to stay.
struct Kept<'f> {
    folder: &'f OwnedFd,
    name: &'f str,
    stays: bool,
}

impl<'f> Kept<'f> {
    /// By another name rather than a copy: owner and mode are the same, and it takes nobody's place.
    fn link(folder: &'f OwnedFd, from: &str, name: &'f str, path: &str) -> Result<Kept<'f>, FilesError> {
        match rustix::fs::linkat(folder, from, folder, name, AtFlags::empty()) {
            Ok(()) => Ok(Kept { folder, name, stays: false }),
            Err(Errno::EXIST) => Err(FilesError::AlreadyExists { path: name.to_owned() }),
            Err(errno) => Err(FilesError::os(path, "keep", errno)),
        }
    }

    fn stay(mut self) {
        self.stays = true;
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if !self.stays {
            let _ = rustix::fs::unlinkat(self.folder, self.name, AtFlags::empty());
        }
    }
}

fn probe_read(opener: Opener<'_>, path: &ScopedPath) -> Result<(), FilesError> {
    let opened = opener.glance(path, Access::Read)?;
    opener.demand_regular(path, &opened.stat)
}

fn probe_change(opener: Opener<'_>, path: &ScopedPath, access: Access) -> Result<(), FilesError> {
    // A missing folder is made on the way: then what counts is where the nearest one above really is.
    for folder in std::iter::successors(path.parent(), ScopedPath::parent) {
        match opener.folder(&folder, Access::Read) {
            Ok(opened) => {
                let rest = path.components().iter().skip(folder.components().len());
                let real = opened.resolved.components().iter().chain(rest).cloned().collect();
                if let Some(real) = ScopedPath::from_components(real) {
                    opener.judge(&real, access)?;
                }
                break;
            }
            Err(FilesError::NotFound { .. }) if !folder.is_root() => {}
            Err(error) => return Err(error),
        }
    }
    let (folder, name) = opener.parent(path, access)?;
    match opener.entry(&folder, path, name)? {
        Some(stat) => opener.demand_changeable(path, &stat),
        None => Ok(()),
    }
}

fn prepare_and_place(
    opener: Opener<'_>,
    held: &[Held<'_>],
    texts: &[String],
    journal: Option<&mut Journal>,
) -> Result<Vec<String>, FilesError> {
    fn prepare<'h>(held: &'h Held<'_>, text: &str, stat: Option<Stat>) -> Result<Prepared<'h>, FilesError> {
        let folder = held.folder.try_clone().map_err(|error| read::io(&held.spelled, &error))?;
        Prepared::new(&held.lock, folder, &held.name, &held.spelled, stat, text.as_bytes())
    }
    let prepared = held
        .iter()
        .zip(texts)
        .map(|(held, text)| prepare(held, text, Some(held.stat)))
        .collect::<Result<Vec<_>, _>>()?;
    journal::place_all(prepared, journal, &mut |place| {
        let Some(held) = held.get(place) else { return Ok(()) };
        let now = opener.entry(&held.folder, &held.path, &held.name).ok().flatten();
        let undone = prepare(held, &held.old, now).and_then(Prepared::place);
        undone.map(|_| ()).map_err(|_| held.spelled.clone())
    })
}
