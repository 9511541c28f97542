//! Commands that a model writes: read by our own parser into a plan, judged word by word, and run without a shell. What
//! was judged is what runs, because there is no second parser to disagree with.
//!
//! ```text
//! line      text → plan            grammar; everything else of the shell is refused, naming the token
//! argument  program + arguments    rows of data: which options a program may get, and which words are paths
//! judge     plan → verdict         lists, dangerous patterns, argument rules, scope
//! ```

mod argument;
mod dangerous;
mod fetch;
mod judge;
mod line;
mod list;
mod plan;
mod program;
mod refusal;
mod settings;
mod settled;

pub use argument::{RuleError, check_rules};
pub use dangerous::dangerous_pattern;
pub(crate) use fetch::is_git;
pub use judge::{Judged, WordVerdict, explain};
pub use list::strict_programs;
pub use plan::{
    Command, CommandPlan, Join, Redirect, RedirectMode, Simple, Step, Stream, Target, Word, WordPart,
};
pub use program::{ProgramName, is_builtin};
pub use refusal::CommandRefusal;
pub use settings::{
    ArgumentRules, Chains, CommandMode, CommandPolicy, CommandSettings, DotDot, EmptyMeans, PatternList,
    ProgramList, ProgramMatch, ShellGrammar, built_in_programs, gains_by_name,
};
