//! What the kernel told, as marks on the folders that it concerns. Nothing is read here.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use super::super::watch::{Doubt, Happened};
use super::{Id, Need, Tree};

impl Tree {
    /// Hears what happened since the last walk. After an error the tree is of no use.
    pub(in crate::workspace) fn listen(&mut self) -> Result<(), Doubt> {
        self.n_read = 0;
        self.doubt = Need::Nothing;
        let Some(mut watches) = self.watches.take() else { return Ok(()) };
        let mut bereft = BTreeSet::new();
        let heard = watches.drain(&mut |id, happened| self.mark(id, happened, &mut bereft));
        self.watches = Some(watches);
        match heard {
            Ok(()) => {}
            Err(Doubt::Missed) => self.doubt = Need::Compare,
            Err(Doubt::Confused) => return Err(Doubt::Confused),
        }
        // All of them before anything is read: the number of an inode is used again at once, so a folder that is gone
        // and the one in its place can look the same.
        bereft.into_iter().for_each(|parent| self.forget_lost(parent));
        Ok(())
    }

    fn mark(&mut self, id: Id, happened: Happened<'_>, bereft: &mut BTreeSet<Id>) {
        match happened {
            Happened::Listing(name) => {
                self.need(id, Need::Read);
                // The name may stand for another folder now, whose inside was never read.
                if let Some(child) = self.child(id, name) {
                    self.lose(child, bereft);
                }
            }
            Happened::AccessOf(name) => match self.child(id, name) {
                Some(child) => self.need(child, Need::Access),
                // One that could not be entered before.
                None => self.need(id, Need::Read),
            },
            Happened::Access => self.need(id, Need::Access),
            Happened::Lost => self.lose(id, bereft),
        }
    }

    fn need(&mut self, id: Id, need: Need) {
        let Some(folder) = self.folder_mut(id) else { return };
        folder.need = folder.need.max(need);
        let mut above = folder.parent;
        while let Some(folder) = above.and_then(|id| self.folder_mut(id)).filter(|above| !above.needs_below) {
            folder.needs_below = true;
            above = folder.parent;
        }
    }

    fn lose(&mut self, id: Id, bereft: &mut BTreeSet<Id>) {
        let Some(folder) = self.folder_mut(id) else { return };
        folder.is_lost = true;
        if let Some(parent) = folder.parent {
            bereft.insert(parent);
            self.need(parent, Need::Read);
        }
    }

    fn forget_lost(&mut self, parent: Id) {
        let Some(folder) = self.folder_mut(parent) else { return };
        let children = std::mem::take(&mut folder.children);
        let is_lost = |id: &Id| self.folder(*id).is_none_or(|child| child.is_lost);
        let (lost, kept): (Vec<Id>, Vec<Id>) = children.into_iter().partition(is_lost);
        lost.into_iter().for_each(|child| drop(self.forget(child)));
        if let Some(folder) = self.folder_mut(parent) {
            folder.children = kept;
        }
    }

    fn child(&self, id: Id, name: &OsStr) -> Option<Id> {
        let children = &self.folder(id)?.children;
        let at = children.binary_search_by(|child| self.order(*child, name)).ok()?;
        children.get(at).copied()
    }
}
