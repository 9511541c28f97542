//! `git fetch` is the one command of a line that changes the repository's own folder.

use super::{CommandPlan, Simple, Word, is_builtin};

/// What may stand in a line with it. THREAT: P06, `git fetch; python3 x.py`: whatever else runs there could write to the
/// repository too, so it is git and what only shows text.
const BESIDE: [&str; 10] = ["git", "cat", "echo", "grep", "head", "sort", "tail", "true", "uniq", "wc"];

/// Whether redirects of a line may name files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Judged,
    Refused,
}

impl CommandPlan {
    /// THREAT: P06, `git fetch; echo ../x > gd/commondir`: a redirect is judged by its spelling, and where the repository is
    /// writable a link that a program left (`gd -> .git`) leads into it.
    pub(super) fn redirects_to_files(&self) -> Files {
        if self.fetches() { Files::Refused } else { Files::Judged }
    }

    pub(crate) fn fetches(&self) -> bool {
        self.simples().any(is_fetch)
    }

    /// The first program that may not stand in a line with a fetch, if there is a fetch.
    pub(crate) fn beside_fetch(&self) -> Option<String> {
        let names = self.simples().map(Simple::program).filter(|_| self.fetches());
        let mut others = names.filter(|name| !is_builtin(name) && !BESIDE.contains(&base(name)));
        others.next()
    }
}

pub(crate) fn is_git(program: &str) -> bool {
    base(program) == "git"
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn is_fetch(simple: &Simple) -> bool {
    let words: Vec<String> = simple.words.iter().map(Word::spelled).collect();
    let Some((program, mut rest)) = words.split_first() else { return false };
    // Of git's own options only this one has a value in a word of its own.
    while let [option, after @ ..] = rest
        && option.starts_with('-')
    {
        rest = if option == "-C" { after.get(1..).unwrap_or_default() } else { after };
    }
    is_git(program) && rest.first().is_some_and(|word| word == "fetch")
}

#[cfg(test)]
mod tests {
    use crate::command::CommandPolicy;

    #[track_caller]
    fn check(line: &str, fetches: bool, beside: Option<&str>) {
        let plan = CommandPolicy::default().read(line).unwrap();
        assert_eq!((plan.fetches(), plan.beside_fetch().as_deref()), (fetches, beside), "{line}");
    }

    #[test]
    fn a_fetch_is_found_and_what_stands_beside_it() {
        check("git fetch", true, None);
        check("/usr/bin/git --no-pager -C fetch fetch origin", true, None);
        check("cd x && git fetch && git log | head -3", true, None);
        check("ls; git fetch", true, Some("ls"));
        check("git fetch | ./cat", true, None); // such a path is refused as a program
        check("git fetch && python3 x.py", true, Some("python3"));
        check("git log fetch", false, None);
        check("git -C fetch log", false, None);
        check("git -C fetch", false, None);
        check("git -C", false, None);
        check("git", false, None);
        check("echo git fetch", false, None);
        check("python3 fetch", false, None);
    }
}
