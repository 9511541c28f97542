//! What a search passes over because the project's `.gitignore` files say so.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use vambrace_policy::Access;
use vambrace_types::ScopedPath;

use crate::open::Opener;

const NAME: &str = ".gitignore";
/// LIMIT: a longer list of patterns is not read to its end, and a longer pattern ignores nothing.
const LONGEST: u64 = 64 << 10;
const LONGEST_LINE: usize = 1 << 10;

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
        handle: BorrowedFd<'_>,
        parent: Option<&Arc<Ignored>>,
    ) -> Option<Arc<Ignored>> {
        // Like git, which follows no link to a list.
        let list = folder.join(NAME).filter(|path| opener.judge(path, Access::Read).is_ok());
        let list = list.and_then(|path| opener.file_in(handle, NAME, &path).ok());
        let Some((list, _)) = list else { return parent.cloned() };
        let mut text = String::new();
        if File::from(list).take(LONGEST).read_to_string(&mut text).is_err() {
            return parent.cloned();
        }
        let mut builder = GitignoreBuilder::new(format!("/{}", folder.components().join("/")));
        for line in text.lines().filter(|line| line.len() <= LONGEST_LINE) {
            // A line that git would not understand either ignores nothing.
            let _ = builder.add_line(None, &without_alternation(line));
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
            if let Ok(opened) = opener.folder(&folder, Access::Read) {
                chain = Ignored::enter(opener, &folder, opened.handle.as_fd(), chain.as_ref());
            }
        }
        chain
    }

    /// The nearest list that speaks of the path decides.
    pub(crate) fn covers(&self, path: &ScopedPath, is_folder: bool) -> bool {
        let path = format!("/{}", path.components().join("/"));
        let mut list = Some(self);
        while let Some(nearest) = list {
            match nearest.own.matched(&path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => list = nearest.parent.as_deref(),
            }
        }
        false
    }
}

/// Braces are ordinary characters to git, and alternatives to the matcher, which takes a stack frame for each one inside
/// another. THREAT: P09, a line of many thousands of them.
fn without_alternation(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            // What follows is escaped already.
            '\\' => escaped.extend(std::iter::once(c).chain(characters.next())),
            '{' | '}' => escaped.extend(['\\', c]),
            other => escaped.push(other),
        }
    }
    escaped
}
