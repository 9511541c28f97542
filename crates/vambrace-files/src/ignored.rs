//! What a search passes over because the project's `.gitignore` files say so.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use vambrace_types::ScopedPath;

use crate::open::Opener;

/// LIMIT: a longer list of patterns is not read to its end.
const LONGEST: u64 = 64 << 10;

/// The patterns of one folder, on top of its parents'.
pub(crate) struct Ignored {
    parent: Option<Arc<Ignored>>,
    own: Gitignore,
}

impl Ignored {
    /// Loads the folder's own list, if there is one.
    pub(crate) fn enter(
        opener: Opener<'_>,
        folder: &ScopedPath,
        parent: Option<&Arc<Ignored>>,
    ) -> Option<Arc<Ignored>> {
        let list = folder.join(".gitignore").and_then(|path| opener.file(&path).ok());
        let Some(list) = list else { return parent.cloned() };
        let mut text = String::new();
        if File::from(list.handle).take(LONGEST).read_to_string(&mut text).is_err() {
            return parent.cloned();
        }
        let mut builder = GitignoreBuilder::new(format!("/{}", folder.components().join("/")));
        for line in text.lines() {
            // A line that git would not understand either ignores nothing.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(own) => Some(Arc::new(Ignored { parent: parent.cloned(), own })),
            Err(_) => parent.cloned(),
        }
    }

    /// The lists of the folders above, from the workspace down to the start of a search.
    pub(crate) fn above(opener: Opener<'_>, start: &ScopedPath) -> Option<Arc<Ignored>> {
        let mut chain = None;
        let mut folders: Vec<ScopedPath> =
            std::iter::successors(start.parent(), ScopedPath::parent).collect();
        folders.reverse();
        for folder in folders {
            chain = Ignored::enter(opener, &folder, chain.as_ref());
        }
        chain
    }

    /// The nearest list that speaks of the path decides.
    pub(crate) fn covers(&self, path: &ScopedPath, is_folder: bool) -> bool {
        match self.own.matched(format!("/{}", path.components().join("/")), is_folder) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self.parent.as_ref().is_some_and(|parent| parent.covers(path, is_folder)),
        }
    }
}
