//! Which names must not come into being in a cage. It knows names and patterns; who makes the call that makes a name does
//! not matter here.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use vambrace_policy::Protection;

use crate::workspace::Names;

/// What a cage is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Guarded {
    /// Patterns count from here.
    pub workspace: PathBuf,
    /// The one folder in which names are protected.
    pub service: PathBuf,
    /// `Protection` as text.
    pub patterns: Arc<str>,
    /// A file of the host that all cages on the workspace lock when a name could be protected. Not shown to any of them.
    pub turns: Option<PathBuf>,
}

impl Guarded {
    /// Opened anew for each cage: a lock belongs to one opening.
    pub(crate) fn open_turns(&self) -> std::io::Result<Option<std::fs::File>> {
        self.turns.as_ref().map(std::fs::File::open).transpose()
    }
}

/// What is to be called so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// A file, or a folder that is empty.
    New,
    /// It decides what names behind it mean.
    Link,
    /// A folder that has been something else before.
    Moved,
}

/// Reads patterns only when it is first asked about a name that one may cover: most programs make no such name.
#[derive(Debug)]
pub(crate) struct Rules {
    guarded: Guarded,
    names: Names,
    protection: Option<Protection>,
}

impl Rules {
    pub(crate) fn new(guarded: Guarded) -> Rules {
        let texts = || guarded.patterns.split('\0').filter_map(|word| word.get(1..));
        let names = Names::of(texts()).with_leading(texts());
        Rules { names, guarded, protection: None }
    }

    /// `false` only if nothing of this name is protected, wherever it lies.
    pub(crate) fn may_matter(&self, name: &[u8], made: Made) -> bool {
        name.eq_ignore_ascii_case(b".git")
            || self.names.may_matter(name)
            || (made != Made::New && self.names.may_lead(name))
    }

    /// Whether this name may not come into being in this folder, both as the cage spells them.
    pub(crate) fn refuse(&mut self, folder: &Path, name: &[u8], made: Made) -> bool {
        if !self.may_matter(name, made) || !self.is_watched(folder) {
            return false;
        }
        if name.eq_ignore_ascii_case(b".git") {
            return true;
        }
        let inside = folder.strip_prefix(&self.guarded.workspace).unwrap_or(folder);
        // A name may hold bytes that are not text; the patterns are asked about the nearest text.
        let mut parts: Vec<String> =
            inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        parts.push(String::from_utf8_lossy(name).into_owned());
        let Some(protection) = self.protection() else { return true };
        protection.covers(&parts) || (made != Made::New && protection.is_led_to_by(&parts))
    }

    /// Whether names in this folder are protected at all. The same folders are left out that no walk enters.
    pub(crate) fn is_watched(&self, folder: &Path) -> bool {
        let Ok(inside) = folder.strip_prefix(&self.guarded.service) else { return false };
        inside.components().all(|part| match part {
            Component::Normal(name) => {
                name != "node_modules" && !name.as_bytes().eq_ignore_ascii_case(b".git")
            }
            _ => true,
        })
    }

    /// None if the patterns are not what we wrote: then everything they may mean is refused.
    fn protection(&mut self) -> Option<&Protection> {
        if self.protection.is_none() {
            self.protection = Protection::from_text(&self.guarded.patterns).ok();
        }
        self.protection.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
    use vambrace_types::Bearings;

    use super::*;

    fn rules() -> Rules {
        let settings = ScopeSettings {
            bearings: Bearings::new(&["/w"], "own", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        };
        Rules::new(Guarded {
            workspace: PathBuf::from("/w"),
            service: PathBuf::from("/w/own"),
            patterns: Scope::new(settings).unwrap().protection().to_text().into(),
            turns: None,
        })
    }

    #[track_caller]
    fn check(path: &str, made: Made, expected: bool) {
        let mut rules = rules();
        let (folder, name) = path.rsplit_once('/').unwrap();
        assert_eq!(rules.refuse(Path::new(folder), name.as_bytes(), made), expected, "{path} {made:?}");
    }

    #[test]
    fn names_are_refused_in_the_service_and_nowhere_else() {
        check("/w/own/.envrc", Made::New, true);
        check("/w/own/a/b/.ENVRC", Made::New, true);
        check("/w/own/a/.git", Made::New, true);
        check("/w/own/a/.Git", Made::Link, true);
        check("/w/own/x.code-workspace", Made::New, true);
        check("/w/own/.claude/hooks.json", Made::New, false);
        check("/w/own/src/main.rs", Made::New, false);
        check("/w/.envrc", Made::New, false);
        check("/w/owner/.envrc", Made::New, false);
        check("/tmp/.envrc", Made::New, false);
        check("/w/own/node_modules/x/.vscode", Made::New, false);
        check("/w/own/.git/refs/heads/.envrc", Made::New, false);
        check("/w/own/.cage/.envrc", Made::New, true);
        check("/w/own/.cage/x/.vscode", Made::New, true);
        check("/w/own/.cage/x/.git", Made::New, true);
    }

    #[test]
    fn a_name_of_several_parts_is_refused_where_it_is_whole_or_led_to() {
        check("/w/own/.cargo/config.toml", Made::New, true);
        check("/w/own/cargo/config.toml", Made::New, false);
        check("/w/own/.cargo", Made::New, false);
        check("/w/own/.cargo", Made::Link, true);
        check("/w/own/.cargo", Made::Moved, true);
        check("/w/own/a/.config", Made::Moved, true);
        check("/w/own/src", Made::Moved, false);
    }

    #[test]
    fn what_cannot_be_read_refuses() {
        let guarded = Guarded {
            workspace: PathBuf::from("/w"),
            service: PathBuf::from("/w"),
            patterns: "*..\0*name".into(),
            turns: None,
        };
        let mut rules = Rules::new(guarded);
        assert!(rules.refuse(Path::new("/w"), b"name", Made::New));
        assert!(!rules.refuse(Path::new("/w"), b"other", Made::New));
    }
}
