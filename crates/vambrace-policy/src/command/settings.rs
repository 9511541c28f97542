//! What the operator chose, compiled.

use std::sync::OnceLock;

use vambrace_types::ScopedPath;

use super::argument::{Reach, rules};
use super::judge::{Judged, judge};
use super::line::parse;
use super::list::Listed;
use super::{CommandPlan, CommandRefusal, dangerous_pattern};
use crate::url::ProgramGrant;
use crate::{Denial, Scope};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandMode {
    Allowlist,
    Denylist,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyMeans {
    Defaults,
    Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramList {
    Strict,
    Seed002,
    Seed003,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentRules {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellGrammar {
    Plan,
    Posix,
    Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chains {
    Check,
    Refuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramMatch {
    Trusted,
    Basename,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternList {
    All,
    Seed002,
    Seed003,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotDot {
    Resolve,
    Text,
}

/// `tools.command_policy` and what adds to it.
#[derive(Debug, Clone)]
pub struct CommandSettings {
    pub mode: CommandMode,
    pub allowlist: Vec<String>,
    pub denylist: Vec<String>,
    pub empty_means: EmptyMeans,
    pub list: ProgramList,
    pub argument_rules: ArgumentRules,
    pub shell: ShellGrammar,
    pub chains: Chains,
    pub match_by: ProgramMatch,
    pub patterns: PatternList,
    pub dotdot: DotDot,
    /// `tools.whitelisted_binaries`: added to the list, with no arguments that name a path outside the scope.
    pub whitelisted: Vec<String>,
    /// A task's own list (specification 004), which can only narrow.
    pub narrowed_to: Option<Vec<String>>,
    /// `sandbox.net`: hosts that programs may reach. What a line names is held against it; the cage's proxy holds the rest.
    pub networked: Vec<ProgramGrant>,
}

impl CommandSettings {
    /// Whether some host is listed for this program.
    pub(crate) fn has_network(&self, program: &str) -> bool {
        Reach { program, grants: &self.networked }.is_any()
    }
}

impl Default for CommandSettings {
    fn default() -> CommandSettings {
        CommandSettings {
            mode: CommandMode::Allowlist,
            allowlist: Vec::new(),
            denylist: Vec::new(),
            empty_means: EmptyMeans::Defaults,
            list: ProgramList::Strict,
            argument_rules: ArgumentRules::On,
            shell: ShellGrammar::Plan,
            chains: Chains::Check,
            match_by: ProgramMatch::Trusted,
            patterns: PatternList::All,
            dotdot: DotDot::Resolve,
            whitelisted: Vec::new(),
            narrowed_to: None,
            networked: Vec::new(),
        }
    }
}

/// Whether a program of a built-in list may do more once it is listed by name: an operator's own entry is taken for a
/// word about the program, and not for the one about its arguments that the built-in list has.
pub fn gains_by_name(list: ProgramList, program: &str) -> bool {
    let is_cut_short = list == ProgramList::Seed002 && program == "git";
    is_cut_short || rules().is_toolchain(program) || rules().block(program).is_none()
}

/// The programs of a built-in list.
pub fn built_in_programs(list: ProgramList) -> Vec<&'static str> {
    super::list::defaults(list)
}

impl Default for CommandPolicy {
    fn default() -> CommandPolicy {
        CommandPolicy::new(CommandSettings::default())
    }
}

#[derive(Debug, Clone)]
pub struct CommandPolicy {
    pub(crate) settings: CommandSettings,
    /// Read with the rules when the first command is judged: a session that runs none does not wait for them.
    listed: OnceLock<Listed>,
}

impl CommandPolicy {
    pub fn new(settings: CommandSettings) -> CommandPolicy {
        CommandPolicy { settings, listed: OnceLock::new() }
    }

    /// With a list that is given.
    pub(crate) fn with(settings: CommandSettings, listed: Listed) -> CommandPolicy {
        CommandPolicy { settings, listed: OnceLock::from(listed) }
    }

    pub(crate) fn listed(&self) -> &Listed {
        self.listed.get_or_init(|| Listed::of(&self.settings))
    }

    pub fn settings(&self) -> &CommandSettings {
        &self.settings
    }

    /// Grammar alone: text becomes a plan, or the token that is in the way is named.
    pub fn grammar(&self, line: &str) -> Result<CommandPlan, CommandRefusal> {
        parse(line, self.settings.chains)
    }

    /// The patterns that are refused in any mode come before the grammar, because some of them are no plan.
    pub fn read(&self, line: &str) -> Result<CommandPlan, CommandRefusal> {
        if let Some(refusal) = dangerous_pattern(&self.settings, line) {
            return Err(refusal);
        }
        self.grammar(line)
    }

    /// `text` is the line as it was written, or the joined vector where there was none.
    pub fn judge(
        &self,
        text: &str,
        plan: &CommandPlan,
        scope: &Scope,
        folder: &ScopedPath,
    ) -> Result<Judged, Denial> {
        judge(self, text, plan, scope, folder)
    }
}
