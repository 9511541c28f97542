//! Branch names, commit messages and pushes (specification 004). Names are judged by git's own rules and more: a name that
//! begins with a dash is an option to whoever runs it next.

use crate::{Denial, Judgement, PathPattern, Reason};

#[derive(Debug, Clone, Default)]
pub struct GitRules {
    /// Branches an agent may switch to or make, as patterns; empty: any well-formed name.
    pub branches: Vec<PathPattern>,
    /// Branches that are never pushed to, whatever their letter case.
    pub protected: Vec<String>,
}

const LONGEST_NAME: usize = 200;
const LONGEST_MESSAGE: usize = 8 << 10;

fn refuse(what: String, next: &'static str, rule: &str) -> Denial {
    Denial::new(Reason::Git { what, next }, rule)
}

/// What `git check-ref-format --branch` accepts, without the names that mean something to a command line.
fn is_well_formed(name: &str) -> bool {
    let forbidden = |letter: char| {
        letter.is_control() || letter.is_whitespace() || "~^:?*[\\\"'`$&|;<>(){}!#%".contains(letter)
    };
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with(['-', '/', '.', '@', '+'])
        && !name.ends_with(['/', '.'])
        && !name.contains("..")
        && !name.contains("//")
        && !name.contains("@{")
        && !name.contains(forbidden)
        && name != "HEAD"
        && !name.starts_with("refs/")
        && name
            .split('/')
            .all(|part| !part.starts_with('.') && !part.ends_with(".lock") && !part.ends_with('.'))
}

pub(crate) fn judge_branch(rules: &GitRules, branch: &str) -> Result<Judgement, Denial> {
    const NEXT: &str = "Use a name such as feat/short-description: letters, digits, `-`, `_`, `.` and `/`.";
    if !is_well_formed(branch) {
        return Err(refuse(format!("`{branch}` is not a branch name."), NEXT, "git.branch_name"));
    }
    let parts: Vec<String> = branch.split('/').map(str::to_owned).collect();
    if !rules.branches.is_empty() && !rules.branches.iter().any(|pattern| pattern.covers(&parts)) {
        let allowed: Vec<_> = rules.branches.iter().map(PathPattern::text).collect();
        let what = format!(
            "The branch `{branch}` is not one of those that agents work on ({}).",
            allowed.join(", ")
        );
        return Err(refuse(what, "Choose a branch that fits one of these patterns.", "git.branches"));
    }
    Ok(Judgement::by("git.branch_name"))
}

pub(crate) fn judge_message(_rules: &GitRules, message: &str) -> Result<Judgement, Denial> {
    const NEXT: &str = "Write what the change does in its first line, as text.";
    let trimmed = message.trim();
    let control = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    let problem = if trimmed.is_empty() {
        Some("The commit message is empty.".to_owned())
    } else if message.len() > LONGEST_MESSAGE {
        Some(format!("The commit message is longer than {LONGEST_MESSAGE} bytes."))
    } else if message.contains(control) {
        Some("The commit message holds control characters.".to_owned())
    } else if trimmed.starts_with('#') {
        // git would take the line for a comment in an editor, and people for an empty message.
        Some("The commit message begins with a comment.".to_owned())
    } else {
        None
    };
    match problem {
        Some(what) => Err(refuse(what, NEXT, "git.message")),
        None => Ok(Judgement::by("git.message")),
    }
}

/// A remote is a configured name, never an address: an address can name a program (`ext::`) or any host.
pub(crate) fn judge_push(rules: &GitRules, remote: &str, branch: &str) -> Result<Judgement, Denial> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if remote.is_empty() || remote.starts_with(['-', '.']) || !remote.chars().all(plain) {
        let what = format!("`{remote}` is not the name of a remote.");
        return Err(refuse(what, "Name a remote of this repository, such as origin.", "git.remote"));
    }
    judge_branch(&GitRules::default(), branch)?;
    if rules.protected.iter().any(|name| name.eq_ignore_ascii_case(branch)) {
        let what = format!("Nobody pushes to `{branch}` from here.");
        return Err(refuse(
            what,
            "Push a branch of your own and open a merge request.",
            "git.protected_branches",
        ));
    }
    Ok(Judgement::by("git.push"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, allowed: bool) {
        assert_eq!(judge_branch(&GitRules::default(), name).is_ok(), allowed, "{name}");
    }

    #[test]
    fn names_that_are_options_or_more_are_no_branches() {
        check("feat/x-1", true);
        check("release/1.2", true);
        check("main", true);
        check("--upload-pack=touch x", false);
        check("-b", false);
        check("a b", false);
        check("a..b", false);
        check("a~1", false);
        check("a:b", false);
        check("HEAD", false);
        check("refs/heads/main", false);
        check("x.lock", false);
        check("a/.b", false);
        check("a//b", false);
        check("@{u}", false);
        check("+main", false);
        check("", false);
        check("$(x)", false);
    }

    #[test]
    fn a_pattern_list_narrows_what_may_be_checked_out() {
        let rules = GitRules {
            branches: vec![PathPattern::parse_from_root("feat/*").unwrap()],
            protected: vec!["master".to_owned()],
        };
        assert!(judge_branch(&rules, "feat/task-1").is_ok());
        assert!(judge_branch(&rules, "main").is_err());
        assert!(judge_push(&rules, "origin", "Master").is_err());
        assert!(judge_push(&rules, "origin", "feat/task-1").is_ok());
        assert!(judge_push(&rules, "ext::sh -c x", "feat/task-1").is_err());
        assert!(judge_push(&rules, "../other", "feat/task-1").is_err());
    }

    #[test]
    fn messages_say_something() {
        let said = |text: &str| judge_message(&GitRules::default(), text).is_ok();
        assert!(said("net: refuse a redirect\n\nBecause."));
        assert!(!said("  \n "));
        assert!(!said("#"));
        assert!(!said("a\u{1b}[2J"));
        assert!(!said(&"a".repeat(LONGEST_MESSAGE + 1)));
    }
}
