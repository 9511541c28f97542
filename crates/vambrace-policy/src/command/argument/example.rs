//! The examples in the rules, judged as a call would be, in a workspace of their own.

use vambrace_types::{Bearings, ScopedPath};

use super::RuleSet;
use super::block::Block;
use crate::command::judge::judge_with;
use crate::command::line::parse;
use crate::command::list::Listed;
use crate::command::{Chains, CommandPolicy, CommandSettings};
use crate::url::{AllowEntry, Host, HostPattern, ProgramGrant};
use crate::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};

/// Holds every block against its examples and returns how many there are. What fails is recorded.
pub(crate) fn check(rules: &mut RuleSet) -> usize {
    let settings = ScopeSettings {
        bearings: Bearings::new(&["/project"], "", &[]),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    };
    let (Ok(scope), Some(folder)) = (Scope::new(settings), ScopedPath::from_components(Vec::new())) else {
        rules.fail("", String::new(), "the examples' workspace cannot be made".to_owned());
        return 0;
    };
    // Every program is on the list here: an example is about its own rules.
    let listed = Listed::built_in(rules.blocks.values().map(Block::program));
    // One host is, for the programs that can be given one.
    let example = AllowEntry::plain(HostPattern::Exactly(Host::Name("example.com".to_owned())));
    let networked = vec![ProgramGrant { entry: example, programs: Vec::new() }];
    let policy = CommandPolicy::with(CommandSettings { networked, ..CommandSettings::default() }, listed);
    let mut failed = Vec::new();
    let mut n_examples = 0;
    for block in rules.blocks.values() {
        n_examples += block.examples.len();
        failed.extend(check_block(rules, block, &policy, &scope, &folder));
    }
    failed.sort();
    for (program, line, problem) in failed {
        rules.fail(&program, line, problem);
    }
    n_examples
}

fn check_block(
    rules: &RuleSet,
    block: &Block,
    policy: &CommandPolicy,
    scope: &Scope,
    folder: &ScopedPath,
) -> Vec<(String, String, String)> {
    let verdict = |line: &str| -> Result<(), String> {
        let plan = parse(line, Chains::Check).map_err(|refusal| refusal.words().0)?;
        let judged = judge_with(rules, policy, line, &plan, scope, folder);
        judged.map(|_| ()).map_err(|denial| denial.to_tool_error().message)
    };
    let mut failed = Vec::new();
    for example in &block.examples {
        let problem = match (example.allowed, verdict(&example.line)) {
            (true, Err(message)) => format!("it should be allowed and is refused: {message}"),
            (false, Ok(())) => "it should be refused and is allowed".to_owned(),
            (true, Ok(())) | (false, Err(_)) => continue,
        };
        failed.push((block.program().to_owned(), example.line.clone(), problem));
    }
    failed
}
