//! Rules per program: which options it may get, and which of its words are paths. Rows of data in `rules/`, read once.
//!
//! INVARIANT: a program whose rules do not hold together, or whose own examples come out otherwise, is refused whole.

mod block;
mod example;
mod expression;
mod generic;
mod kind;
mod network;
mod place;
mod read;
mod script_awk;
mod script_jq;
mod script_sed;
mod script_yq;
mod sheet;

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use block::Block;

pub(crate) use generic::read as read_generic;
pub(crate) use network::Reach;
pub(crate) use place::{Place, System};
pub(crate) use read::read;
pub(crate) use sheet::Sheet;

/// Rules in this file cover what programs tell about themselves. They run code by nature, so an operator who lists one
/// of them means the program and not its version.
const TOOLCHAIN: &str = "toolchain.rules";

const FILES: [(&str, &str); 8] = [
    ("coreutils.rules", include_str!("../../rules/coreutils.rules")),
    ("search.rules", include_str!("../../rules/search.rules")),
    ("git.rules", include_str!("../../rules/git.rules")),
    (TOOLCHAIN, include_str!("../../rules/toolchain.rules")),
    ("system.rules", include_str!("../../rules/system.rules")),
    ("text.rules", include_str!("../../rules/text.rules")),
    ("curl.rules", include_str!("../../rules/curl.rules")),
    ("wget.rules", include_str!("../../rules/wget.rules")),
];

static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::load(&FILES));

/// Why a program's rules are not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    pub program: String,
    /// Where it stands, or the example that came out otherwise.
    pub place: String,
    pub problem: String,
}

/// Every block of the built-in rules, by its name (`git log`).
#[derive(Debug, Default)]
pub(crate) struct RuleSet {
    blocks: HashMap<String, Block>,
    broken: BTreeSet<String>,
    toolchain: BTreeSet<String>,
    errors: Vec<RuleError>,
    n_examples: usize,
}

pub(crate) fn rules() -> &'static RuleSet {
    &RULES
}

/// How many examples the built-in rules were held against, or what is wrong with them.
pub fn check_rules() -> Result<usize, Vec<RuleError>> {
    if RULES.errors.is_empty() { Ok(RULES.n_examples) } else { Err(RULES.errors.clone()) }
}

impl RuleSet {
    /// Reads the texts and checks every example.
    pub(crate) fn load(files: &[(&str, &str)]) -> RuleSet {
        let mut rules = RuleSet::default();
        for (file, text) in files {
            rules.read_file(file, text);
        }
        rules.add_parents();
        rules.check_blocks();
        rules.n_examples = example::check(&mut rules);
        rules
    }

    pub(crate) fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.get(name)
    }

    pub(crate) fn is_broken(&self, program: &str) -> bool {
        self.broken.contains(program)
    }

    /// Whether its rules are about versions and the like, not about what the program is for.
    pub(crate) fn is_toolchain(&self, program: &str) -> bool {
        self.toolchain.contains(program)
    }

    /// Names of the programs that have rules which hold together.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        let programs = self.blocks.values().map(Block::program);
        programs.filter(|program| !self.broken.contains(*program))
    }

    fn fail(&mut self, program: &str, place: String, problem: String) {
        self.broken.insert(program.to_owned());
        self.errors.push(RuleError { program: program.to_owned(), place, problem });
    }

    fn read_file(&mut self, file: &str, text: &str) {
        let mut current: Option<Block> = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = || format!("{file}:{}", number + 1);
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.trim();
            if key == "program" {
                self.add(current.take(), file);
                current = Some(Block::new(&rest.split_whitespace().collect::<Vec<_>>().join(" ")));
                continue;
            }
            let Some(block) = &mut current else {
                self.fail("", place(), "it stands before the first `program`".to_owned());
                continue;
            };
            if let Err(problem) = block.line(key, rest, |name| self.blocks.get(name)) {
                let program = block.program().to_owned();
                self.fail(&program, place(), problem);
            }
        }
        self.add(current, file);
    }

    fn add(&mut self, block: Option<Block>, file: &str) {
        let Some(block) = block else { return };
        let program = block.program().to_owned();
        let name = block.name.clone();
        if file == TOOLCHAIN {
            self.toolchain.insert(program.clone());
        }
        if self.blocks.insert(name.clone(), block).is_some() {
            self.fail(&program, file.to_owned(), format!("`{name}` has two blocks"));
        }
    }

    /// `git stash list` needs a way through `git stash`.
    fn add_parents(&mut self) {
        let names: Vec<String> = self.blocks.keys().cloned().collect();
        for name in names {
            let mut name = name.as_str();
            while let Some((parent, _)) = name.rsplit_once(' ') {
                let block = self.blocks.entry(parent.to_owned()).or_insert_with(|| Block::new(parent));
                // INVARIANT: the rules of a subcommand are never passed by, whatever the parent says.
                block.subcommands = true;
                name = parent;
            }
        }
    }

    /// Each block says why it is harmless and proves it both ways.
    fn check_blocks(&mut self) {
        let mut found = Vec::new();
        for block in self.blocks.values().filter(|block| !block.examples.is_empty() || !block.subcommands) {
            let has = |allowed: bool| block.examples.iter().any(|example| example.allowed == allowed);
            if !has(true) || !has(false) {
                let problem = "it needs an example that is allowed and one that is refused".to_owned();
                found.push((block.program().to_owned(), block.name.clone(), problem));
            }
        }
        for (program, place, problem) in found {
            self.fail(&program, place, problem);
        }
    }
}

#[cfg(test)]
mod tests;
