//! Which programs may run at all, before anyone looks at their arguments.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::argument::rules;
use super::dangerous::normalized;
use super::{CommandMode, CommandRefusal, CommandSettings, EmptyMeans, ProgramList, is_builtin};

/// Specification 003's default.
const SEED003: [&str; 17] = [
    "echo", "cat", "ls", "pwd", "head", "tail", "wc", "grep", "find", "sort", "uniq", "diff", "date", "env",
    "true", "false", "test",
];

/// Specification 002's list.
const SEED002: [&str; 12] =
    ["ls", "cat", "grep", "find", "head", "tail", "wc", "echo", "pwd", "date", "git", "go"];

/// What specification 002 lets git do.
const SEED002_GIT: [&str; 5] = ["log", "diff", "show", "status", "blame"];

/// Programs that do nothing without a network: on a built-in list where a host is listed for them, and not otherwise.
const NETWORKED: [&str; 2] = ["curl", "wget"];

pub(crate) fn is_networked(program: &str) -> bool {
    NETWORKED.contains(&program)
}

/// What may be started in the strict profile while the operator lists nothing: sorted, each name once.
pub fn strict_programs() -> Vec<&'static str> {
    let own = SEED003.into_iter().chain(["git", "go"]);
    let all: BTreeSet<&'static str> =
        own.chain(rules().programs()).filter(|name| !is_networked(name)).collect();
    all.into_iter().collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of the built-in lists: it needs argument rules.
    BuiltIn,
    /// Named by the operator: without argument rules its paths are looked at.
    Operator,
}

/// The settings' lists, resolved.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    programs: HashMap<String, Origin>,
    narrowed: Option<HashSet<String>>,
    denied: Vec<String>,
    /// Nothing is listed, and the operator said that this blocks.
    blocked: bool,
    open: bool,
    builtins: bool,
    git_of_seed002: bool,
    name: &'static str,
}

impl Listed {
    pub(crate) fn of(settings: &CommandSettings) -> Listed {
        let mut programs = HashMap::new();
        let mut blocked = false;
        let built_in = settings.allowlist.is_empty();
        if built_in {
            match settings.empty_means {
                EmptyMeans::Block => blocked = settings.whitelisted.is_empty(),
                EmptyMeans::Defaults => {
                    programs.extend(
                        defaults(settings.list).into_iter().map(|name| (name.to_owned(), Origin::BuiltIn)),
                    );
                    let networked = NETWORKED.into_iter().filter(|name| settings.has_network(name));
                    programs.extend(networked.map(|name| (name.to_owned(), Origin::BuiltIn)));
                }
            }
        }
        let own = settings.allowlist.iter().chain(&settings.whitelisted);
        programs.extend(own.map(|name| (name.clone(), Origin::Operator)));
        let open = match settings.mode {
            CommandMode::Allowlist => false,
            CommandMode::Denylist => true,
        };
        let strict = match settings.list {
            ProgramList::Strict => true,
            ProgramList::Seed002 | ProgramList::Seed003 => false,
        };
        Listed {
            git_of_seed002: built_in && settings.list == ProgramList::Seed002 && !open,
            narrowed: settings.narrowed_to.as_ref().map(|names| names.iter().cloned().collect()),
            denied: settings.denylist.iter().map(|pattern| normalized(pattern)).collect(),
            blocked: blocked && !open,
            builtins: strict || open,
            name: list_name(settings, built_in, open),
            programs,
            open,
        }
    }

    /// A list of the built-in kind with these names, for the rules' own examples.
    pub(crate) fn built_in<'n>(names: impl Iterator<Item = &'n str>) -> Listed {
        let settings = CommandSettings { empty_means: EmptyMeans::Block, ..CommandSettings::default() };
        let programs = names.map(|name| (name.to_owned(), Origin::BuiltIn)).collect();
        Listed { programs, blocked: false, ..Listed::of(&settings) }
    }

    /// For the record: which list let a program through.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// May this program be started, and who says so?
    pub(crate) fn allows(&self, name: &str) -> Result<Origin, CommandRefusal> {
        let refused = || CommandRefusal::NotAllowed { program: name.to_owned() };
        if self.blocked {
            return Err(CommandRefusal::NoAllowlist);
        }
        // Changing the folder starts nothing, so no list of programs has to name it; the two old lists are exact.
        if is_builtin(name) && self.builtins {
            return Ok(Origin::BuiltIn);
        }
        if self.narrowed.as_ref().is_some_and(|names| !names.contains(name)) {
            return Err(refused());
        }
        if self.open {
            return Ok(Origin::Operator);
        }
        self.programs.get(name).copied().ok_or_else(refused)
    }

    /// Specification 002 lists git with five subcommands; a bare `git` is not looked at there.
    pub(crate) fn allows_subcommand(&self, name: &str, first: Option<&str>) -> bool {
        !(self.git_of_seed002 && name == "git") || first.is_none_or(|word| SEED002_GIT.contains(&word))
    }

    pub(crate) fn by_operator(&self, name: &str) -> bool {
        self.programs.get(name) == Some(&Origin::Operator)
    }

    /// The operator's denied text that occurs in `text`, both normalized.
    pub(crate) fn denied_text(&self, text: &str) -> Option<String> {
        self.denied.iter().find(|pattern| !pattern.is_empty() && text.contains(pattern.as_str())).cloned()
    }
}

pub(super) fn defaults(list: ProgramList) -> Vec<&'static str> {
    match list {
        ProgramList::Strict => strict_programs(),
        ProgramList::Seed002 => SEED002.to_vec(),
        ProgramList::Seed003 => SEED003.to_vec(),
    }
}

fn list_name(settings: &CommandSettings, built_in: bool, open: bool) -> &'static str {
    match (open, built_in, settings.list) {
        (true, _, _) => "command_policy.denylist",
        (false, false, _) => "command_policy.allowlist",
        (false, true, ProgramList::Strict) => "command_policy.list:strict",
        (false, true, ProgramList::Seed002) => "command_policy.list:seed002",
        (false, true, ProgramList::Seed003) => "command_policy.list:seed003",
    }
}
