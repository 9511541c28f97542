//! The folders of the walk and what is known of each. A folder under a watch is trusted until an event names it; any
//! other is asked for its stamp at every walk. Both give what a walk without memory would give.
//!
//! INVARIANT: a folder that needs anything is found from its zone by way of `needs_below`, and one that was forgotten
//! is in no list of children, because its number is given to the next folder.

mod heard;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::folder::{Entry, Find, Ground, Listing, Place, Stamp, is_searchable};
use super::view::View;
use super::watch::{Exhausted, WatchLimits, Watches};

/// Deeper folders are masked whole: no project has them, and each level costs a frame.
const DEEPEST: usize = 96;

pub(super) type Id = usize;

#[derive(Debug)]
pub(super) struct Tree {
    folders: Vec<Option<Folder>>,
    free: Vec<Id>,
    watches: Option<Watches>,
    is_exhausted: bool,
    /// Something that a view shows came, went or became another one.
    has_changed: bool,
    /// What every folder needs in this walk, whatever was heard of it.
    doubt: Need,
    /// How many folders were read since the last walk began.
    n_read: usize,
    buffer: Vec<MaybeUninit<u8>>,
}

#[derive(Debug)]
struct Folder {
    place: Place,
    parent: Option<Id>,
    watch: Option<i32>,
    stamp: Stamp,
    /// Read long enough after its last change that the stamp tells the next one.
    is_settled: bool,
    is_lost: bool,
    need: Need,
    needs_below: bool,
    finds: Vec<Find>,
    /// Here or below.
    has_finds: bool,
    /// Sorted by name.
    children: Vec<Id>,
}

/// What must be done about a folder before it can be trusted again; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Nothing,
    /// Whether it can still be reached.
    Look,
    /// Whether its stamp is still the same: what is asked of a folder without a watch, and of all after a doubt.
    Compare,
    Read,
    /// Whether we may still reach what is below.
    Access,
}

impl Folder {
    /// What it needs at the next walk, if nothing happens until then.
    fn usual_need(&self) -> Need {
        if self.watch.is_some() { Need::Nothing } else { Need::Compare }
    }
}

impl Tree {
    pub(super) fn new(watches: Option<Watches>) -> Tree {
        Tree {
            folders: Vec::new(),
            free: Vec::new(),
            watches,
            is_exhausted: false,
            has_changed: true,
            doubt: Need::Nothing,
            n_read: 0,
            buffer: vec![MaybeUninit::uninit(); 32 * 1024],
        }
    }

    pub(super) fn watched(limits: WatchLimits) -> Tree {
        Tree::new(Watches::start(limits))
    }

    /// There are more folders than watches, so all of them are to be walked without.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// A view was made of what there is now.
    pub(super) fn was_shown(&mut self) {
        self.has_changed = false;
    }

    #[cfg(test)]
    pub(super) fn n_folders(&self) -> usize {
        self.folders.len() - self.free.len()
    }

    #[cfg(test)]
    pub(super) fn n_watched(&self) -> usize {
        self.folders.iter().flatten().filter(|folder| folder.watch.is_some()).count()
    }

    #[cfg(test)]
    pub(super) fn n_read(&self) -> usize {
        self.n_read
    }

    /// The folder of a zone as it is now, or nothing if there is no such folder (a link is none).
    pub(super) fn zone(&mut self, ground: Ground<'_>, parts: &[String], known: Option<Id>) -> Option<Id> {
        let place = Place::zone(parts, ground.scope)?;
        // Nobody watches what is above a zone, so each time it is asked whether it is still the same.
        let now = ground.stamp_without_links(&place.path);
        let same = known.and_then(|id| self.folder(id)).is_some_and(|folder| {
            !folder.is_lost && now.as_ref().is_ok_and(|now| now.is_same_folder(&folder.stamp))
        });
        let zone = match known {
            Some(id) if same => self.renew(ground, id, self.doubt).inspect_err(|_| drop(self.forget(id))),
            known => {
                known.into_iter().for_each(|id| drop(self.forget(id)));
                now.and_then(|_| self.visit(ground, place, None))
            }
        };
        // Zones are shown even if there is nothing to find in them.
        self.has_changed |= zone.is_ok() != known.is_some();
        zone.ok()
    }

    /// Adds what was found here and below, parents before children.
    pub(super) fn collect(&self, id: Id, workspace: &Path, view: &mut View) {
        let Some(folder) = self.folder(id).filter(|folder| folder.has_finds) else { return };
        if !folder.finds.is_empty() {
            let here = folder.place.on_host(workspace);
            folder.finds.iter().for_each(|find| find.add_to(view, &here));
        }
        for child in &folder.children {
            self.collect(*child, workspace, view);
        }
    }

    pub(super) fn place(&self, id: Id) -> Option<&Place> {
        self.folder(id).map(|folder| &folder.place)
    }

    /// After an error the folder is to be forgotten; otherwise it may have another number.
    fn renew(&mut self, ground: Ground<'_>, id: Id, from_above: Need) -> Result<Id, Errno> {
        let Some(folder) = self.folder(id) else { return Err(Errno::NOENT) };
        let need = folder.need.max(from_above);
        let below = if need == Need::Access { from_above.max(Need::Look) } else { from_above };
        match need {
            Need::Nothing if !folder.needs_below => Ok(id),
            Need::Nothing => self.renew_children(ground, id, below),
            Need::Look if ground.stamp(&folder.place.path)?.is_same_folder(&folder.stamp) => {
                self.renew_children(ground, id, below)
            }
            Need::Compare if folder.is_settled && ground.stamp(&folder.place.path)? == folder.stamp => {
                self.identify(ground, id);
                self.renew_children(ground, id, below)
            }
            Need::Look | Need::Compare | Need::Read | Need::Access => self.reopen(ground, id, below),
        }
    }

    /// A mount over something that was found leaves the folder's stamp as it is.
    fn identify(&mut self, ground: Ground<'_>, id: Id) {
        let Some(folder) = self.folder_mut(id) else { return };
        let changed = ground.identify_again(&folder.place, &mut folder.finds);
        self.has_changed |= changed;
    }

    /// Nothing came or went here, but perhaps below.
    fn renew_children(&mut self, ground: Ground<'_>, id: Id, below: Need) -> Result<Id, Errno> {
        let Some(folder) = self.folder_mut(id) else { return Err(Errno::NOENT) };
        let mut children = std::mem::take(&mut folder.children);
        let n_children = children.len();
        children.retain_mut(|child| match self.renew(ground, *child, below) {
            Ok(now) => {
                *child = now;
                true
            }
            Err(_) => {
                self.forget(*child);
                false
            }
        });
        let complete = children.len() == n_children;
        self.settle(id, children);
        // One that cannot be read any more is among the finds, at the place that a new reading gives it.
        if complete { Ok(id) } else { self.reopen(ground, id, Need::Nothing) }
    }

    fn reopen(&mut self, ground: Ground<'_>, id: Id, below: Need) -> Result<Id, Errno> {
        let Some(folder) = self.folder(id) else { return Err(Errno::NOENT) };
        let handle = ground.open(&folder.place.path)?;
        let now = Stamp::of(&handle)?;
        if now.is_same_folder(&folder.stamp) {
            self.read(ground, id, &handle, now, below)?;
            return Ok(id);
        }
        match self.forget(id) {
            Some(gone) => self.visit(ground, gone.place, gone.parent),
            None => Err(Errno::NOENT),
        }
    }

    fn visit(&mut self, ground: Ground<'_>, place: Place, parent: Option<Id>) -> Result<Id, Errno> {
        let handle = ground.open(&place.path)?;
        let stamp = Stamp::of(&handle)?;
        let id = self.insert(Folder {
            place,
            parent,
            watch: None,
            stamp,
            is_settled: false,
            is_lost: false,
            need: Need::Read,
            needs_below: false,
            finds: Vec::new(),
            has_finds: false,
            children: Vec::new(),
        });
        match self.read(ground, id, &handle, stamp, Need::Nothing) {
            Ok(()) => Ok(id),
            Err(error) => {
                self.forget(id);
                Err(error)
            }
        }
    }

    /// The stamp was taken before: a change in between shows as a different one next time.
    fn read(
        &mut self,
        ground: Ground<'_>,
        id: Id,
        handle: &OwnedFd,
        stamp: Stamp,
        below: Need,
    ) -> Result<(), Errno> {
        self.n_read += 1;
        self.watch(id, handle, stamp);
        let Some(folder) = self.folders.get(id).and_then(Option::as_ref) else { return Err(Errno::NOENT) };
        let Listing { mut finds, entries } = ground.list(handle, &folder.place, &mut self.buffer)?;
        let (children, closed) = self.enter(ground, id, entries, below);
        let is_complete = closed.is_empty();
        if !is_complete && !is_searchable(handle) {
            // Then this one is closed, not each of those in it.
            children.into_iter().for_each(|child| drop(self.forget(child)));
            return Err(Errno::ACCESS);
        }
        finds.extend(closed);
        let Some(folder) = self.folder_mut(id) else { return Err(Errno::NOENT) };
        folder.stamp = stamp;
        // Who may enter a folder is told by its own stamp, which is not looked at if it was not entered.
        folder.is_settled = is_complete && stamp.is_settled();
        let changed = folder.finds != finds;
        folder.finds = finds;
        self.has_changed |= changed;
        self.settle(id, children);
        Ok(())
    }

    /// Asked for at every reading: the number is the same as long as the first watch lives.
    fn watch(&mut self, id: Id, handle: &OwnedFd, stamp: Stamp) {
        let Some(watches) = self.watches.as_mut().filter(|_| !self.is_exhausted) else { return };
        let added = watches.add(handle, stamp.device, id);
        self.is_exhausted |= added == Err(Exhausted);
        let watch = added.ok().flatten();
        let Some(folder) = self.folder_mut(id) else { return };
        let before = std::mem::replace(&mut folder.watch, watch).filter(|before| Some(*before) != watch);
        if let (Some(before), Some(watches)) = (before, self.watches.as_mut()) {
            watches.remove(before, id);
        }
    }

    /// The folders in one that was read; further finds are those that could not be entered.
    fn enter(
        &mut self,
        ground: Ground<'_>,
        id: Id,
        entries: Vec<Entry>,
        below: Need,
    ) -> (Vec<Id>, Vec<Find>) {
        let known = self.folder_mut(id).map(|folder| std::mem::take(&mut folder.children));
        let mut known = known.unwrap_or_default().into_iter().peekable();
        let (mut children, mut closed) = (Vec::new(), Vec::new());
        for entry in entries {
            let mut same_name = None;
            while let Some(child) = known.next_if(|child| self.order(*child, &entry.name).is_le()) {
                match self.order(child, &entry.name) {
                    Ordering::Equal => same_name = Some(child),
                    Ordering::Less | Ordering::Greater => drop(self.forget(child)),
                }
            }
            match self.enter_one(ground, id, &entry, same_name, below) {
                Ok(Some(child)) => children.push(child),
                Ok(None) => closed.push(Find::masked_folder(entry.name)),
                Err(error) => closed.extend(Find::unreadable(error, entry.name)),
            }
        }
        known.for_each(|child| drop(self.forget(child)));
        (children, closed)
    }

    /// Nothing if it lies too deep.
    fn enter_one(
        &mut self,
        ground: Ground<'_>,
        parent: Id,
        entry: &Entry,
        known: Option<Id>,
        below: Need,
    ) -> Result<Option<Id>, Errno> {
        if let Some(child) = known {
            if self.is_same(ground, child, entry.inode) {
                return self.renew(ground, child, below).map(Some).inspect_err(|_| drop(self.forget(child)));
            }
            self.forget(child);
        }
        let place = self.place(parent).filter(|place| place.depth() < DEEPEST);
        match place.and_then(|place| place.below(&entry.name, entry.is_protected)) {
            Some(place) => self.visit(ground, place, Some(parent)).map(Some),
            None => Ok(None),
        }
    }

    /// A mount point, and some folders of overlays, have another number in the listing than by themselves.
    fn is_same(&self, ground: Ground<'_>, id: Id, inode: u64) -> bool {
        let Some(folder) = self.folder(id) else { return false };
        folder.stamp.inode == inode
            || ground.stamp(&folder.place.path).is_ok_and(|now| now.is_same_folder(&folder.stamp))
    }

    /// Sums up what is below, after everything there was renewed.
    fn settle(&mut self, id: Id, children: Vec<Id>) {
        let all = || children.iter().filter_map(|child| self.folder(*child));
        let needs_below = all().any(|child| child.needs_below || child.need > Need::Nothing);
        let finds_below = all().any(|child| child.has_finds);
        let Some(folder) = self.folder_mut(id) else { return };
        folder.need = folder.usual_need();
        folder.needs_below = needs_below;
        folder.has_finds = finds_below || !folder.finds.is_empty();
        folder.children = children;
    }

    fn insert(&mut self, folder: Folder) -> Id {
        let id = self.free.pop().unwrap_or(self.folders.len());
        match self.folders.get_mut(id) {
            Some(slot) => *slot = Some(folder),
            None => self.folders.push(Some(folder)),
        }
        id
    }

    /// With everything below it.
    fn forget(&mut self, id: Id) -> Option<Folder> {
        let mut folder = self.folders.get_mut(id)?.take()?;
        self.free.push(id);
        self.has_changed |= !folder.finds.is_empty();
        if let (Some(watch), Some(watches)) = (folder.watch, self.watches.as_mut()) {
            watches.remove(watch, id);
        }
        for child in std::mem::take(&mut folder.children) {
            self.forget(child);
        }
        Some(folder)
    }

    fn folder(&self, id: Id) -> Option<&Folder> {
        self.folders.get(id)?.as_ref()
    }

    fn folder_mut(&mut self, id: Id) -> Option<&mut Folder> {
        self.folders.get_mut(id)?.as_mut()
    }

    fn order(&self, id: Id, name: &OsStr) -> Ordering {
        self.folder(id).map_or(Ordering::Less, |folder| folder.place.name().cmp(name))
    }
}
