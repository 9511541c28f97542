//! Which names must not come into being in a cage, and which must not be opened there. It knows names and patterns; who
//! makes the call does not matter here.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use borsh::{BorshDeserialize, BorshSerialize};
use vambrace_policy::Protection;

use crate::wire::path;
use crate::workspace::Names;

/// What a cage is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct Guarded {
    /// Patterns count from here.
    #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
    pub workspace: PathBuf,
    /// The one folder in which names are protected.
    #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
    pub service: PathBuf,
    /// `Protection` as text.
    pub patterns: Arc<str>,
    /// The same of what is masked: what has such a name is neither made nor opened nor given another, whoever made it.
    pub blocked: Arc<str>,
    /// A file of the host that all cages on the workspace lock when a name could be protected. Not shown to any of them.
    #[borsh(skip)]
    pub turns: Option<PathBuf>,
}

impl Guarded {
    /// Opened anew for each cage: a lock belongs to one opening.
    pub(crate) fn open_turns(&self) -> std::io::Result<Option<std::fs::File>> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        self.turns.as_ref().map(|turns| options.open(turns)).transpose()
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

/// Everything that is to be read of the patterns is read at once: whoever asks may have no file to open by then.
#[derive(Debug)]
pub(crate) struct Rules {
    guarded: Guarded,
    names: Names,
    blocked_names: Names,
    /// None if the patterns are not what we wrote: then everything they may mean is refused.
    read: Option<Read>,
}

#[derive(Debug)]
struct Read {
    protected: Protection,
    blocked: Protection,
}

impl Rules {
    pub(crate) fn new(guarded: Guarded) -> Rules {
        let names = Names::of(texts(&guarded.patterns));
        let blocked_names = Names::of(texts(&guarded.blocked));
        let read = Read::of(&guarded);
        Rules { names, blocked_names, guarded, read }
    }

    /// `false` only if nothing of this name is protected, wherever it lies.
    pub(crate) fn may_matter(&self, name: &[u8], made: Made) -> bool {
        name.eq_ignore_ascii_case(b".git")
            || self.names.may_matter(name)
            || self.blocked_names.may_matter(name)
            || (made != Made::New && (self.names.may_lead(name) || self.blocked_names.may_lead(name)))
    }

    /// Whether this name may not come into being in this folder, both as the cage spells them.
    ///
    /// THREAT: P02, in a blocked folder that a person made, or on the way to one, a link would show what is written there
    /// next.
    pub(crate) fn refuse(&self, folder: &Path, name: &[u8], made: Made) -> bool {
        if self.hides(folder) {
            return true;
        }
        if !self.may_matter(name, made) || !self.is_watched(folder) {
            return false;
        }
        if name.eq_ignore_ascii_case(b".git") {
            return true;
        }
        let inside = folder.strip_prefix(&self.guarded.workspace).unwrap_or(folder);
        let mut parts = parts(inside);
        parts.push(String::from_utf8_lossy(name).into_owned());
        let Some(read) = self.read.as_ref() else { return true };
        read.protected.covers(&parts)
            || read.blocked.covers(&parts)
            || (made != Made::New
                && (read.protected.is_led_to_by(&parts) || read.blocked.is_led_to_by(&parts)))
    }

    /// Whether what lies here is nobody's to open. The same folders are left out that no walk enters.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let Some(parts) = self.parts_to_ask(path, Names::may_matter) else { return false };
        self.read.as_ref().is_none_or(|read| read.blocked.covers(&parts))
    }

    /// Whether a folder here is the beginning of a blocked name of several parts, which it would no longer be elsewhere.
    pub(crate) fn leads_to_hidden(&self, path: &Path) -> bool {
        let Some(parts) = self.parts_to_ask(path, Names::may_lead) else { return false };
        self.read.as_ref().is_none_or(|read| read.blocked.is_led_to_by(&parts))
    }

    /// Nothing if no pattern can mean it.
    fn parts_to_ask(&self, path: &Path, may_matter: fn(&Names, &[u8]) -> bool) -> Option<Vec<String>> {
        let inside = path.strip_prefix(&self.guarded.workspace).ok()?;
        let walked = inside.components().position(|part| is_not_entered(part.as_os_str()));
        let walked: PathBuf = inside.components().take(walked.map_or(usize::MAX, |last| last + 1)).collect();
        let may_matter = |part: Component<'_>| may_matter(&self.blocked_names, part.as_os_str().as_bytes());
        walked.components().any(may_matter).then(|| parts(&walked))
    }

    /// Whether names in this folder are protected at all. The same folders are left out that no walk enters.
    pub(crate) fn is_watched(&self, folder: &Path) -> bool {
        let Ok(inside) = folder.strip_prefix(&self.guarded.service) else { return false };
        inside.components().all(|part| !is_not_entered(part.as_os_str()))
    }
}

impl Read {
    fn of(guarded: &Guarded) -> Option<Read> {
        let protected = Protection::from_text(&guarded.patterns).ok()?;
        let blocked = Protection::from_text(&guarded.blocked).ok()?;
        // What a pattern needs for its first question is made now.
        let anything = ["a".to_owned()];
        let _asked = (protected.covers(&anything), blocked.covers(&anything));
        Some(Read { protected, blocked })
    }
}

fn texts(patterns: &str) -> impl Iterator<Item = &str> {
    patterns.split('\0').filter_map(|word| word.get(1..))
}

fn is_not_entered(name: &OsStr) -> bool {
    name == "node_modules" || name.as_bytes().eq_ignore_ascii_case(b".git")
}

/// A name may hold bytes that are not text; the patterns are asked about the nearest text.
fn parts(inside: &Path) -> Vec<String> {
    inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
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
            block_patterns: vec!["/own/raw/deep".to_owned(), "*.pem".to_owned()],
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        };
        let scope = Scope::new(settings).unwrap();
        Rules::new(Guarded {
            workspace: PathBuf::from("/w"),
            service: PathBuf::from("/w/own"),
            patterns: scope.protection().to_text().into(),
            blocked: scope.masking().to_text().into(),
            turns: None,
        })
    }

    #[track_caller]
    fn check(path: &str, made: Made, expected: bool) {
        let rules = rules();
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
        check("/w/own/.claude/notes.txt", Made::New, false);
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
    fn blocked_names_are_not_made_either() {
        check("/w/own/.env", Made::New, true);
        check("/w/own/a/Secrets", Made::New, true);
        check("/w/own/a/.ENV.local", Made::Moved, true);
        check("/w/own/raw/deep", Made::New, true);
        check("/w/own/.environment", Made::New, false);
        check("/w/own/a/.env.Example", Made::New, false);
        check("/w/own/.env.example.local", Made::New, true);
        check("/w/own/Secrets/a", Made::New, true);
        check("/w/own/a/secrets/x/y", Made::Link, true);
        check("/w/own/raw/deep/x", Made::Moved, true);
        check("/w/own/raw/x", Made::New, false);
        check("/w/own/node_modules/x/.env", Made::New, false);
        check("/w/own/node_modules/secrets/x", Made::New, false);
        check("/w/own/node_modules", Made::New, false);
        check("/w/own/.docker", Made::New, false);
        check("/w/own/.docker", Made::Link, true);
        check("/w/own/a/.docker", Made::Moved, true);
        check("/w/own/raw", Made::Moved, true);
        check("/w/own/a/raw", Made::Moved, false);
    }

    #[test]
    fn what_is_blocked_is_hidden_in_the_whole_workspace_where_a_walk_goes() {
        let (rules, at) = (rules(), Path::new);
        for hidden in ["/w/own/.env", "/w/.env", "/w/a/SECRETS/x/y", "/w/own/k.pem", "/w/own/raw/deep/x"] {
            assert!(rules.hides(at(hidden)), "{hidden}");
        }
        for shown in [
            "/w",
            "/w/own/a",
            "/w/own/.envrc",
            "/w/own/.env.sample",
            "/w/own/.git/secrets/x",
            "/w/own/node_modules/x/.env",
            "/tmp/.env",
            "/w2/.env",
            "/w/x/raw/deep",
            "/w/own/.docker",
        ] {
            assert!(!rules.hides(at(shown)), "{shown}");
        }
        for leads in ["/w/own/.docker", "/w/own/raw", "/w/a/.Config"] {
            assert!(rules.leads_to_hidden(at(leads)), "{leads}");
        }
        assert!(!rules.leads_to_hidden(at("/w/own/src")) && !rules.leads_to_hidden(at("/w/a/raw")));
    }

    #[test]
    fn what_cannot_be_read_refuses() {
        let guarded = Guarded {
            workspace: PathBuf::from("/w"),
            service: PathBuf::from("/w"),
            patterns: "*..\0*name".into(),
            blocked: "*hidden".into(),
            turns: None,
        };
        let rules = Rules::new(guarded);
        assert!(rules.hides(Path::new("/w/hidden")) && !rules.hides(Path::new("/w/other")));
        assert!(rules.refuse(Path::new("/w"), b"name", Made::New));
        assert!(!rules.refuse(Path::new("/w"), b"other", Made::New));
    }
}
