//! A command line or vector that a model wrote: planned, and its globs expanded before it is decided a second time.

use std::time::Duration;

use vambrace_policy::command::{CommandPlan, Join, Simple, Step, Word, is_builtin};
use vambrace_policy::{Denial, Reason, RunLine};
use vambrace_types::{ErrorCode, ScopedPath, ToolError};

use crate::{CallContext, Look};

/// LIMIT: what the globs of one line may mean together.
const MOST_WORDS: usize = 8192;
/// LIMIT: each pattern is looked up in folders of any size.
const MOST_GLOBS: usize = 64;
/// LIMIT: how many names are looked at for all patterns of a line.
const MOST_ENTRIES: usize = 200_000;

pub(super) fn plan_line(
    context: &CallContext<'_>,
    command: String,
    time: Duration,
    purpose: String,
) -> Result<RunLine, ToolError> {
    let plan = context.command.read(&command).map_err(|refusal| {
        let rule = refusal.rule();
        Denial::new(Reason::Command(refusal), rule).to_tool_error()
    })?;
    Ok(RunLine { text: command, plan, folder: context.service()?, time, purpose })
}

/// The seconds that a call asks for, within what the operator allows.
pub(super) fn time_of(asked: Option<u64>, usual: Duration, most: Duration) -> Result<Duration, ToolError> {
    let Some(seconds) = asked else { return Ok(usual.min(most)) };
    let time = Duration::from_secs(seconds);
    if seconds > 0 && time <= most {
        return Ok(time);
    }
    let most = most.as_secs();
    let message = format!("`timeout` is {seconds}, and has to be between 1 and {most} seconds.");
    Err(ToolError::new(ErrorCode::ValidationError, message)
        .suggestion(format!("Ask for at most {most} seconds, or split the work into several calls.")))
}

/// The same line with every glob replaced by the names it means now; `None` if it has none.
pub(super) fn settle_line(action: &RunLine, look: &Look<'_>) -> Result<Option<RunLine>, ToolError> {
    if !action.plan.has_globs() {
        return Ok(None);
    }
    let enter = |folder: &ScopedPath, name: &str| look.beneath(folder, name);
    let mut entries_left = MOST_ENTRIES;
    let mut expand = |folder: &ScopedPath, word: &Word| look.expand(folder, word, &mut entries_left);
    let plan = expanded(&action.plan, &action.folder, &enter, &mut expand)?;
    Ok(Some(RunLine { plan, ..action.clone() }))
}

type Enter<'a> = dyn Fn(&ScopedPath, &str) -> Option<ScopedPath> + 'a;
type Expand<'a> = dyn FnMut(&ScopedPath, &Word) -> Result<Vec<String>, ToolError> + 'a;

fn expanded(
    plan: &CommandPlan,
    folder: &ScopedPath,
    enter: &Enter<'_>,
    expand: &mut Expand<'_>,
) -> Result<CommandPlan, ToolError> {
    let globs = plan.simples().flat_map(|simple| &simple.words).filter(|word| word.is_glob());
    if globs.count() > MOST_GLOBS {
        return Err(too_many(MOST_GLOBS, "patterns"));
    }
    let mut place = Whereabouts { folder: Some(folder.clone()), moved: false };
    let mut n_words = 0;
    let mut steps = Vec::new();
    for step in &plan.steps {
        place.reach(step.join);
        let mut pipeline = Vec::new();
        for simple in &step.pipeline {
            let words = expand_words(simple, place.folder.as_ref(), expand)?;
            n_words += words.len();
            if n_words > MOST_WORDS {
                return Err(too_many(MOST_WORDS, "words once its patterns are names"));
            }
            pipeline.push(Simple { file: (), words, redirects: simple.redirects.clone() });
        }
        place.leave(step, enter);
        steps.push(Step { join: step.join, pipeline });
    }
    Ok(CommandPlan { steps })
}

fn expand_words(
    simple: &Simple,
    folder: Option<&ScopedPath>,
    expand: &mut Expand<'_>,
) -> Result<Vec<Word>, ToolError> {
    let mut words = Vec::new();
    for (number, word) in simple.words.iter().enumerate() {
        // The program is looked up by its name, which no file of the project may choose.
        if number == 0 || !word.is_glob() {
            words.push(word.clone());
            continue;
        }
        let folder = folder.ok_or_else(|| unsettled(word))?;
        let found = expand(folder, word)?.into_iter();
        words.extend(found.map(|name| Word { place: word.place.clone(), ..Word::literal(name) }));
    }
    Ok(words)
}

/// Where a step starts, as far as that can be known before anything has run.
struct Whereabouts {
    folder: Option<ScopedPath>,
    moved: bool,
}

impl Whereabouts {
    /// Only behind `&&` is it certain that every `cd` before has worked.
    fn reach(&mut self, join: Join) {
        match join {
            Join::First | Join::IfOk => {}
            Join::Then | Join::IfFailed if self.moved => self.folder = None,
            Join::Then | Join::IfFailed => {}
        }
    }

    fn leave(&mut self, step: &Step, enter: &Enter<'_>) {
        // In a pipeline each program has a folder of its own, so a `cd` there moves nobody else.
        let [simple] = step.pipeline.as_slice() else { return };
        if !is_builtin(&simple.program()) {
            return;
        }
        self.moved = true;
        let target = simple.words.get(1).and_then(Word::as_literal);
        self.folder = match (step.join, target) {
            // It is skipped when what stands before it works, and the line goes on all the same.
            (Join::IfFailed, _) | (_, None) => None,
            (Join::First | Join::Then | Join::IfOk, Some(name)) => {
                self.folder.as_ref().and_then(|folder| enter(folder, name))
            }
        };
    }
}

fn unsettled(word: &Word) -> ToolError {
    let message =
        format!("In which folder `{}` would be looked up depends on whether a `cd` works.", word.spelled());
    ToolError::new(ErrorCode::CommandSyntax, message)
        .suggestion("Join `cd` to what follows with `&&`, or write the folder into the pattern.")
        .rule("command_policy.grammar")
}

fn too_many(limit: usize, what: &str) -> ToolError {
    let message = format!("The line has more than {limit} {what}.");
    ToolError::new(ErrorCode::OutputLimitExceeded, message)
        .suggestion("Write narrower patterns, or name the folder and let the program look through it.")
}

#[cfg(test)]
mod tests {
    use vambrace_policy::command::CommandPolicy;

    use super::*;

    /// Every glob means one name: the folder it was looked up in.
    #[track_caller]
    fn check(line: &str, expected: Result<&str, &str>) {
        let plan = CommandPolicy::default().read(line).unwrap();
        let root = ScopedPath::from_components(Vec::new()).unwrap();
        let found = expanded(&plan, &root, &|folder, name| folder.join(name), &mut |folder, _| {
            Ok(vec![format!("<{}>", folder.components().join("/"))])
        });
        let found = found.map(|plan| plan.spelled()).map_err(|error| error.code.as_str());
        assert_eq!(found.as_deref().map_err(|code| *code), expected, "{line}");
    }

    #[test]
    fn a_glob_counts_from_where_its_step_starts() {
        check("ls *", Ok("ls <>"));
        check("ls * | wc -l ?", Ok("ls <> | wc -l <>"));
        check("cd a && ls *", Ok("cd a && ls <a>"));
        check("cd a && cd b && ls *", Ok("cd a && cd b && ls <a/b>"));
        check("ls *; ls *", Ok("ls <>; ls <>"));
        check("cd a; ls x", Ok("cd a; ls x"));
        check("cd a; ls *", Err("CommandSyntax"));
        check("cd a || ls *", Err("CommandSyntax"));
        check("true || cd a && ls *", Err("CommandSyntax"));
        check("cd a && ls x; ls *", Err("CommandSyntax"));
    }

    #[test]
    fn more_names_than_a_line_takes() {
        let plan = CommandPolicy::default().read("ls * *").unwrap();
        let root = ScopedPath::from_components(Vec::new()).unwrap();
        let mut many = |_: &ScopedPath, _: &Word| Ok(vec!["x".to_owned(); 4096]);
        let error = expanded(&plan, &root, &|_, _| None, &mut many).unwrap_err();
        assert_eq!(error.code, ErrorCode::OutputLimitExceeded);
    }

    #[test]
    fn more_patterns_than_a_line_takes() {
        let root = ScopedPath::from_components(Vec::new()).unwrap();
        for (n_globs, expected) in [(64, true), (65, false)] {
            let line = format!("ls{}", " *".repeat(n_globs));
            let plan = CommandPolicy::default().read(&line).unwrap();
            let found = expanded(&plan, &root, &|_, _| None, &mut |_, word| Ok(vec![word.spelled()]));
            assert_eq!(found.is_ok(), expected, "{n_globs}");
        }
    }

    #[track_caller]
    fn check_time(asked: Option<u64>, expected: Option<u64>) {
        let found = time_of(asked, Duration::from_secs(30), Duration::from_secs(300));
        assert_eq!(found.ok().map(|time| time.as_secs()), expected, "{asked:?}");
    }

    #[test]
    fn time_stays_within_what_the_operator_allows() {
        check_time(None, Some(30));
        check_time(Some(1), Some(1));
        check_time(Some(300), Some(300));
        check_time(Some(301), None);
        check_time(Some(0), None);
        check_time(Some(u64::MAX), None);
    }
}
