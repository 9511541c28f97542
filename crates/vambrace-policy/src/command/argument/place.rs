//! Paths as a program would read them: from its own folder, or from the root. Judged by spelling; what links do is
//! settled by the cage, which mounts only what the scope grants.
//!
//! LIMIT: behind a linked folder the kernel takes `..` from the link's target and we take it from the spelling.

use std::borrow::Cow;

use vambrace_types::{PathProblem, ScopedPath};

use super::network::Reach;
use crate::command::{Word, WordPart};
use crate::{Access, Denial, Isolation, Reason, Scope, Zone};

/// What everybody may read in the cage, where these are the system's own files and nobody's data.
const READABLE_TREES: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const READABLE_FILES: [&str; 16] = [
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/alpine-release",
    "/etc/redhat-release",
    "/etc/lsb-release",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

/// Blocked names of which a line may ask whether they are there: where git keeps a repository, and where package
/// managers put what they install. The cage shows both to programs.
const PRESENT: [&str; 2] = [".git", "node_modules"];

/// Private to the call and empty when it begins, so it is free to use.
/// LIMIT: where the operator runs programs without a cage, it is the machine's own.
const SCRATCH: &str = "/tmp";

/// Where a command may find itself, and what it may touch from there.
pub(crate) struct Place<'a> {
    pub(crate) scope: &'a Scope,
    /// Every folder that is possible at this point; a path must be good from each.
    pub(crate) folders: Cow<'a, [ScopedPath]>,
    pub(crate) touched: &'a mut Vec<(ScopedPath, Access)>,
    /// Which hosts its program may name.
    pub(crate) reach: Reach<'a>,
}

/// Whether the cage's own files count too. They do not for redirects, which are opened outside the cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Counts,
    Refused,
}

impl Place<'_> {
    pub(crate) fn judge(
        &mut self,
        text: &str,
        access: Access,
        system: System,
    ) -> Result<&'static str, Denial> {
        let bearings = self.scope.bearings();
        let outside = || Denial::new(Reason::OutsideProject { path: text.to_owned() }, "scope.beneath");
        // INVARIANT: nothing is allowed from nowhere.
        if self.folders.is_empty() {
            return Err(outside());
        }
        let mut rule = "scope.own";
        for folder in self.folders.iter() {
            match ScopedPath::beneath(folder, text, bearings) {
                Ok(path) => {
                    rule = self.scope.judge(&path, access)?;
                    self.touched.push((path, access));
                }
                Err(PathProblem::Outside) if system == System::Counts && is_open(text, access) => {
                    return Ok("cage.system");
                }
                Err(PathProblem::Outside | PathProblem::Nul | PathProblem::TooLong) => {
                    return Err(outside());
                }
            }
        }
        Ok(rule)
    }

    /// From the top of the workspace, as git counts the path of `REV:PATH`.
    pub(crate) fn judge_from_top(&mut self, text: &str) -> Result<&'static str, Denial> {
        let folders = ScopedPath::from_components(Vec::new()).into_iter().collect();
        let mut from_top = Place { scope: self.scope, folders, touched: self.touched, reach: self.reach };
        from_top.judge(text, Access::Read, System::Refused)
    }

    /// Paths count from this folder from now on, as after `git -C`. The word was judged already.
    pub(crate) fn enter(&mut self, text: &str) {
        let bearings = self.scope.bearings();
        let inside =
            self.folders.iter().filter_map(|folder| ScopedPath::beneath(folder, text, bearings).ok());
        self.folders = inside.collect();
    }

    /// Whether the path is refused only because of such a name, and the cage shows it all the same.
    fn is_shown(&self, path: &ScopedPath, denial: &Denial) -> bool {
        let by_name =
            matches!(&denial.reason, Reason::Blocked { pattern, .. } if PRESENT.contains(&pattern.as_str()));
        let visible = match (self.scope.zone(path), self.scope.isolation()) {
            (Zone::Own | Zone::Shared, Isolation::Strict | Isolation::Shared)
            | (Zone::Rest, Isolation::Shared) => true,
            (Zone::Rest, Isolation::Strict) => false,
        };
        by_name && visible && !self.scope.is_masked(path.components())
    }

    /// Whether there is such a file, and no more. `[ -d .git ]` is how everybody asks for a repository; what is
    /// in it stays blocked, and so do the names that the cage hides.
    pub(crate) fn judge_presence(&mut self, word: &Word) -> Result<&'static str, Denial> {
        let denial = match self.judge_word(word, Access::Read, System::Counts) {
            Ok(rule) => return Ok(rule),
            Err(denial) => denial,
        };
        let bearings = self.scope.bearings();
        let shown = |folder: &ScopedPath, text: &str| {
            let path = ScopedPath::beneath(folder, text, bearings);
            path.is_ok_and(|path| self.is_shown(&path, &denial))
        };
        let text = word.as_literal();
        if text.is_some_and(|text| self.folders.iter().all(|folder| shown(folder, text))) {
            return Ok("cage.present");
        }
        Err(denial)
    }

    /// A word that may still be a pattern. Its expansion is judged again, word by word, before anything runs; until
    /// then it is enough that its folder is in scope.
    pub(crate) fn judge_word(
        &mut self,
        word: &Word,
        access: Access,
        system: System,
    ) -> Result<&'static str, Denial> {
        if let Some(text) = word.as_literal() {
            return self.judge(text, access, system);
        }
        let (folder, climbs) = literal_folder(word);
        if climbs {
            let reason = Reason::OutsideProject { path: word.spelled() };
            return Err(Denial::new(reason, "scope.beneath"));
        }
        self.judge(&folder, access, system)
    }
}

/// The folder before the first sign of a pattern, and whether `..` follows behind it.
fn literal_folder(word: &Word) -> (String, bool) {
    let before = match word.parts.first() {
        Some(WordPart::Literal(text)) => text.as_str(),
        Some(WordPart::AnyText | WordPart::AnyChar | WordPart::OneOf(_)) | None => "",
    };
    let folder = match before.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => "",
    };
    let spelled = word.spelled();
    let behind = spelled.strip_prefix(folder).unwrap_or(&spelled);
    (folder.to_owned(), behind.split('/').any(|part| part == ".."))
}

/// A path outside the workspace that is nobody's. `..` could be another thing to the kernel than to us.
fn is_open(text: &str, access: Access) -> bool {
    if !text.starts_with('/') || text.split('/').any(|part| part == "..") {
        return false;
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let plain = format!("/{}", parts.join("/"));
    let within =
        |tree: &str| plain.strip_prefix(tree).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if within(SCRATCH) {
        return true;
    }
    match access {
        Access::Read => {
            READABLE_TREES.iter().any(|tree| within(tree)) || READABLE_FILES.contains(&plain.as_str())
        }
        Access::Write => plain == "/dev/null",
        Access::Delete => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, access: Access, expected: bool) {
        assert_eq!(is_open(text, access), expected, "{text:?} for {access:?}");
    }

    #[test]
    fn what_is_nobodys_outside_the_workspace() {
        check("/usr/include/stdio.h", Access::Read, true);
        check("/usr", Access::Read, true);
        check("//usr/./lib", Access::Read, true);
        check("/usr2", Access::Read, false);
        check("/usr/../etc/passwd", Access::Read, false);
        check("/usr/x", Access::Write, false);
        check("/etc/os-release", Access::Read, true);
        check("/etc/os-release/x", Access::Read, false);
        check("/etc/passwd", Access::Read, false);
        check("/proc/self/environ", Access::Read, false);
        check("/proc/1/root/etc/passwd", Access::Read, false);
        check("/root", Access::Read, false);
        check("/home", Access::Read, false);
        check("/", Access::Read, false);
        check("/tmp/x", Access::Write, true);
        check("/tmp/../etc", Access::Read, false);
        check("/dev/null", Access::Write, true);
        check("/dev/sda", Access::Read, false);
        check("usr/x", Access::Read, false);
    }
}
