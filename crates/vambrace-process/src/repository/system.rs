//! The system-wide configuration of git inside a cage. It is ours alone: the person's own one may name helpers, keys and
//! signing programs.

use std::path::{Path, PathBuf};

use super::config::quote_value;

/// Who commits, as the person's own configuration says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
}

/// For a job that starts git itself: only these working trees are opened.
pub(crate) fn direct_config(author: Option<&Author>, trees: &[PathBuf]) -> String {
    // git refuses all others even when the list is empty; this line only takes back what might stand before it.
    let mut text = format!("{COMMON}{}[safe]\n\tdirectory =\n", user(author));
    for tree in trees {
        text.push_str(&directory(tree));
    }
    text
}

/// For programs that start git themselves: also repositories that they make, a test suite's for instance.
pub(crate) fn inside_config(author: Option<&Author>) -> String {
    format!("{COMMON}{}[safe]\n\tdirectory = *\n", user(author))
}

/// LIMIT: a working tree whose path is no UTF-8 text is not opened.
fn directory(tree: &Path) -> String {
    tree.to_str().map(|text| format!("\tdirectory = {}\n", quote_value(text))).unwrap_or_default()
}

/// Without an author `git commit` fails and says so, which is better than a name that nobody chose.
fn user(author: Option<&Author>) -> String {
    match author {
        Some(Author { name, email }) => {
            format!("[user]\n\tname = {}\n\temail = {}\n", quote_value(name), quote_value(email))
        }
        None => String::new(),
    }
}

/// Keys that start a program, each pointed at nothing. A repository cannot take them back: its copy has none of them.
const COMMON: &str = "\
[core]
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	pager = cat
	editor = false
	askPass = false
	sshCommand = false
[credential]
	helper =
[protocol \"ext\"]
	allow = never
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[push]
	gpgSign = false
[log]
	showSignature = false
[gpg]
	program = false
[gpg \"ssh\"]
	program = false
[gc]
	auto = 0
[maintenance]
	auto = false
[submodule]
	recurse = false
[fetch]
	recurseSubmodules = false
[init]
	defaultBranch = main
[user]
	useConfigOnly = true
[safe]
	bareRepository = explicit
";
