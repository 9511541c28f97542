//! `run_test` and `run_lint` (specification 004): what to run is the operator's word, found by the files of the folder;
//! the call only says for which part.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Permit, RunToolchain};
use vambrace_process::Finished;
use vambrace_redact::cover;
use vambrace_types::{ByteLimit, ErrorCode, RawOutput, ScopedPath, ToolError, Tree};

use super::hint::hint;
use super::outcome::{Outcome, preview};
use super::strategy::Strategy;
use super::summary::{Summary, without_escapes};
use super::toolchain::find;
use super::vector::{Built, Facts, NoRunner, Target, Work, build};
use crate::{About, CallContext, Hands, Hints, Look, Tool, Toolchain};

pub(crate) struct RunTestTool;
pub(crate) struct RunLintTool;

/// Unless the toolchain has a time of its own (decision C13).
const USUAL_TIME: Duration = Duration::from_secs(300);
/// A larger `package.json` or `pyproject.toml` is no project's.
const SETTINGS_BYTES: ByteLimit = ByteLimit::new(1 << 20);
/// A build writes; what it replaces it has made itself, but it may do anything in the service folder.
const BUILDS: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: false };

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolchainArgs {
    /// A file or folder relative to the service folder, or the name of a test. Default: everything.
    target: Option<String>,
    /// Which lines to show of a long output: `HEAD:n`, `TAIL:n`, `HEADTAIL:n[,m]` or `ERRORS:n`.
    truncation_strategy: Option<String>,
    /// The toolchain, such as `rust` or `python`, where the folder belongs to several.
    language: Option<String>,
}

/// What the call asked for, and what was found for it.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    target: Option<String>,
    /// The target read as a path.
    candidate: Option<ScopedPath>,
    language: Option<String>,
    strategy: Option<Strategy>,
    found: Option<Chosen>,
}

#[derive(Debug, Clone)]
struct Chosen {
    toolchain: String,
    others: Vec<String>,
    parser: Option<String>,
    is_target_unused: bool,
    note: Option<String>,
}

type Action = RunToolchain<Wish>;

impl Tool for RunTestTool {
    type Args = ToolchainArgs;
    type Action = Action;

    fn about(&self) -> About {
        About::of(
            "run_test",
            "Run tests",
            "Runs the tests of the service, or of one file, folder or test name, in a cage that reaches listed hosts only, \
                      and returns the output with the number of passed, failed and skipped tests and the names of the \
                      failed ones where the runner is known. The toolchain is found by the files of the folder.",
            BUILDS,
        )
    }

    fn plan(&self, args: ToolchainArgs, context: &CallContext<'_>) -> Result<Action, ToolError> {
        plan(args, context)
    }

    fn settle(&self, action: &Action, look: &Look<'_>) -> Result<Option<Action>, ToolError> {
        settle(action, look, Work::Test).map(Some)
    }

    fn preview(&self, permit: &Permit<Action>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<Action>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        run(permit, hands, Work::Test).await
    }
}

impl Tool for RunLintTool {
    type Args = ToolchainArgs;
    type Action = Action;

    fn about(&self) -> About {
        About::of(
            "run_lint",
            "Run the linter",
            "Runs the linter of the service, or on one file or folder where the linter takes one, in a cage \
                      that reaches listed hosts only, and returns its output. The toolchain is found by the files of the folder.",
            BUILDS,
        )
    }

    fn plan(&self, args: ToolchainArgs, context: &CallContext<'_>) -> Result<Action, ToolError> {
        plan(args, context)
    }

    fn settle(&self, action: &Action, look: &Look<'_>) -> Result<Option<Action>, ToolError> {
        settle(action, look, Work::Lint).map(Some)
    }

    fn preview(&self, permit: &Permit<Action>, _look: &Look<'_>) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(&self, permit: Permit<Action>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        run(permit, hands, Work::Lint).await
    }
}

/// The vector is still empty: only the disk tells which it is.
fn plan(args: ToolchainArgs, context: &CallContext<'_>) -> Result<Action, ToolError> {
    let strategy = args.truncation_strategy.as_deref().map(Strategy::parse).transpose()?;
    let target = args.target.filter(|text| !text.trim().is_empty());
    if let Some(text) = &target {
        demand_no_option(text)?;
    }
    let is_written_as_path = |text: &str| text.contains('/') || text.starts_with('.');
    let (candidate, judged) = match target.as_deref().map(path_part) {
        None => (None, None),
        // Judged as a path, whether or not something is there.
        Some(text) if is_written_as_path(text) => {
            let path = context.path(text)?;
            (Some(path.clone()), Some(path))
        }
        Some(text) => (context.path(text).ok(), None),
    };
    Ok(RunToolchain {
        vector: Vec::new(),
        folder: context.service()?,
        target: judged,
        time: USUAL_TIME,
        wish: Wish { target, candidate, language: args.language, strategy, found: None },
    })
}

/// What stands before a test's own name: `tests/a.py` of `tests/a.py::test_b`.
fn path_part(target: &str) -> &str {
    target.split_once("::").map_or(target, |(path, _)| path)
}

fn demand_no_option(target: &str) -> Result<(), ToolError> {
    if !target.starts_with('-') && !target.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("`{target}` cannot be a target: it begins with `-` or holds a control character.");
    Err(ToolError::new(ErrorCode::ValidationError, message)
        .suggestion("Name a file, a folder or a test; options of the runner belong into the operator's `tools.toolchain`."))
}

fn settle(action: &Action, look: &Look<'_>, work: Work) -> Result<Action, ToolError> {
    let wish = &action.wish;
    let service = &action.folder;
    let there = wish.candidate.clone().filter(|path| look.exists(path));
    let is_folder = there.as_ref().is_some_and(|path| look.is_folder(path));
    let start = match &there {
        Some(path) if is_folder => path.clone(),
        Some(path) => path.parent().unwrap_or_else(|| service.clone()),
        None => service.clone(),
    };
    let found =
        find(&look.toolbox.toolchains, wish.language.as_deref(), &start, service, &|path| look.exists(path))?;
    let target = aim(wish.target.as_deref(), there.as_ref(), is_folder, &found.folder);
    let has = |name: &str| found.folder.join(name).is_some_and(|path| look.exists(&path));
    let text = |name: &str| {
        let path = found.folder.join(name).filter(|path| look.exists(path))?;
        look.text(&path, SETTINGS_BYTES).ok().map(|text| text.content)
    };
    let environment = environment(&found.folder, &|path| look.exists(path));
    let spelled = environment.as_ref().map(|path| seen_from(&found.folder, path));
    let in_environment = |name: &str| {
        let program = environment.as_ref().and_then(|path| path.join("bin")?.join(name));
        program.is_some_and(|path| look.exists(&path))
    };
    let facts = Facts {
        has: &has,
        text: &text,
        installed: &|program| look.is_installed(program),
        environment: spelled.as_deref(),
        in_environment: &in_environment,
    };
    let built = build(vector_of(found.toolchain, work)?, work, &target, &facts);
    let Built { vector, is_target_unused, note } =
        built.map_err(|why| no_runner(why, &found.folder, look))?;
    let chosen = Chosen {
        toolchain: found.toolchain.name.clone(),
        others: found.others,
        parser: found.toolchain.parser.clone(),
        is_target_unused,
        note,
    };
    Ok(RunToolchain {
        vector,
        folder: found.folder,
        target: there.or_else(|| action.target.clone()),
        time: found.toolchain.time.unwrap_or(USUAL_TIME),
        wish: Wish { found: Some(chosen), ..wish.clone() },
    })
}

fn vector_of(toolchain: &Toolchain, work: Work) -> Result<&[String], ToolError> {
    let (vector, what) = match work {
        Work::Test => (&toolchain.test, "test"),
        Work::Lint => (&toolchain.lint, "lint"),
    };
    if !vector.is_empty() {
        return Ok(vector);
    }
    let message = format!("The toolchain `{}` has no `{what}` command.", toolchain.name);
    Err(ToolError::new(ErrorCode::NoToolchain, message)
        .suggestion(format!("Ask the operator to set `tools.toolchain.{}.{what}`.", toolchain.name)))
}

/// The target as it is seen from the toolchain's folder.
fn aim(text: Option<&str>, there: Option<&ScopedPath>, is_folder: bool, folder: &ScopedPath) -> Target {
    let Some(text) = text else { return Target::Everything };
    let inside = there.and_then(|path| path.components().strip_prefix(folder.components()));
    match inside {
        None => Target::Name(text.to_owned()),
        // What the runner takes for everything may be another thing than this folder (`testpaths`).
        Some([]) => Target::Everything,
        Some(rest) if is_folder => Target::Folder { path: format!("./{}", rest.join("/")) },
        Some(rest) => {
            let behind = text.split_once("::").map(|(_, name)| format!("::{name}")).unwrap_or_default();
            Target::File { path: format!("./{}", rest.join("/")), behind }
        }
    }
}

/// What people call an environment that lies in the project.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// The nearest Python environment, from the toolchain's folder upwards; above the service one is seen only where it is shared.
fn environment(folder: &ScopedPath, exists: &dyn Fn(&ScopedPath) -> bool) -> Option<ScopedPath> {
    let is_one = |path: &ScopedPath| path.join("pyvenv.cfg").is_some_and(|mark| exists(&mark));
    std::iter::successors(Some(folder.clone()), ScopedPath::parent)
        .flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name)))
        .flatten()
        .find(is_one)
}

/// A path in or above `folder`, as a program writes it that works there.
fn seen_from(folder: &ScopedPath, path: &ScopedPath) -> String {
    let shared = folder.components().iter().zip(path.components()).take_while(|(a, b)| a == b).count();
    let ups = folder.components().len() - shared;
    let down = path.components().get(shared..).unwrap_or_default().join("/");
    let up = if ups == 0 { "./".to_owned() } else { "../".repeat(ups) };
    format!("{up}{down}")
}

fn no_runner(why: NoRunner, folder: &ScopedPath, look: &Look<'_>) -> ToolError {
    match why {
        NoRunner::NoScript { script } => {
            let path = folder.join("package.json").map(|path| look.spelled(&path)).unwrap_or_default();
            let message = format!("`{path}` has no script `{script}`, or is no valid JSON.");
            ToolError::new(ErrorCode::NoToolchain, message).suggestion(
                "Add the script to package.json, give a `target` in the folder of another package, or ask the operator \
                 to set `tools.toolchain`.",
            )
        }
        NoRunner::NoLinter => {
            let message = "No linter for Python is installed: `pylint`, `ruff` and `flake8` were looked for.";
            ToolError::new(ErrorCode::NoToolchain, message).suggestion(
                "Ask the person you work for to install one, in the project's `.venv` for instance, or to set \
                 `tools.toolchain.python.lint`.",
            )
        }
    }
}

async fn run(permit: Permit<Action>, hands: &Hands<'_>, work: Work) -> Result<RawOutput, ToolError> {
    let Action { vector, folder, wish, .. } = permit.action().clone();
    let finished = hands.run(permit, None).await?;
    let parser = wish.found.as_ref().and_then(|chosen| chosen.parser.clone());
    let mut told = told(&finished, wish.strategy, parser.as_deref(), hands);
    let entries = &mut told.entries;
    if let Some((summary, failures)) = told.results.filter(|_| work == Work::Test) {
        if !finished.timed_out {
            hands.warn(doubts(summary, told.exit_code, wish.target.as_deref()).into_iter().collect());
        }
        entries.push(("summary", summary.into_tree()));
        let (names, n_more) = failures;
        if !names.is_empty() {
            entries.push(("failures", Tree::List(names.into_iter().map(Tree::Text).collect())));
        }
        if n_more > 0 {
            entries.push(("more_failures", Tree::count(n_more)));
        }
    }
    if let Some(chosen) = wish.found {
        entries.push(("toolchain", Tree::Text(chosen.toolchain)));
        if !chosen.others.is_empty() {
            let others = chosen.others.into_iter().map(Tree::Text).collect();
            entries.push(("other_toolchains", Tree::List(others)));
        }
        if chosen.is_target_unused {
            hands.warn(vec!["This runner takes no such target, so it looked at everything.".to_owned()]);
        }
        hands.warn(chosen.note.into_iter().collect());
    }
    entries.push(("folder", Tree::Text(hands.spelled(&folder))));
    entries.push(("command", Tree::List(vector.into_iter().map(Tree::Text).collect())));
    Ok(RawOutput::new(Tree::map(told.entries)))
}

/// Where counts alone would be read as more than they say.
fn doubts(summary: Summary, exit_code: i32, target: Option<&str>) -> Option<String> {
    let has_run = summary.passed > 0 || summary.failed > 0;
    match target {
        Some(target) if !has_run => Some(format!("No test was run: nothing may fit `{target}`.")),
        _ if summary.failed == 0 && exit_code != 0 => {
            let code = exit_code;
            Some(format!(
                "No test is counted as failed, but the runner ended with {code}: its output says why."
            ))
        }
        _ => None,
    }
}

/// What a run says of itself.
struct Told {
    entries: Vec<(&'static str, Tree)>,
    exit_code: i32,
    /// Counts, the names of failed tests, and how many more failed.
    results: Option<(Summary, (Vec<String>, usize))>,
}

fn told(finished: &Finished, strategy: Option<Strategy>, parser: Option<&str>, hands: &Hands<'_>) -> Told {
    let mut outcome = Outcome::of(finished, hands);
    outcome.stdout = without_escapes(&outcome.stdout);
    outcome.stderr = without_escapes(&outcome.stderr);
    let exit_code = outcome.exit_code;
    let whole = format!("{}\n{}", outcome.stdout, outcome.stderr);
    hands.warn(hint(exit_code, &whole).map(str::to_owned).into_iter().collect());
    let results = Summary::read(parser, &whole).map(|(summary, form)| {
        // Secrets go before lines do: a key without its first line is no key for any rule. THREAT: P02.
        let (covered, _) = cover(&whole, 0, &hands.redactor().scan(whole.as_bytes()));
        (summary, form.failures(&covered))
    });
    let mut n_omitted = 0;
    if let Some(strategy) = strategy {
        for text in [&mut outcome.stdout, &mut outcome.stderr] {
            // Again secrets first.
            let findings = hands.redactor().scan(text.as_bytes());
            let (covered, n_covered) = cover(text, 0, &findings);
            hands.redacted(n_covered);
            let (shown, n_left_out) = strategy.apply(&covered);
            *text = shown;
            n_omitted += n_left_out;
        }
        outcome.truncated |= n_omitted > 0;
    }
    let mut entries = outcome.entries();
    if n_omitted > 0 {
        entries.push(("omitted_lines", Tree::count(n_omitted)));
    }
    Told { entries, exit_code, results }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ScopedPath {
        let parts = text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        ScopedPath::from_components(parts).unwrap()
    }

    #[track_caller]
    fn check(text: Option<&str>, there: Option<&str>, is_folder: bool, expected: &Target) {
        let there = there.map(path);
        assert_eq!(&aim(text, there.as_ref(), is_folder, &path("svc")), expected, "{text:?}");
    }

    #[test]
    fn a_target_is_seen_from_the_folder() {
        let file =
            |path: &str, behind: &str| Target::File { path: path.to_owned(), behind: behind.to_owned() };
        let folder = |path: &str| Target::Folder { path: path.to_owned() };
        check(None, None, false, &Target::Everything);
        check(Some("adds"), None, false, &Target::Name("adds".to_owned()));
        check(Some("cart::adds"), None, false, &Target::Name("cart::adds".to_owned()));
        check(Some("tests/a.py"), Some("svc/tests/a.py"), false, &file("./tests/a.py", ""));
        check(Some("tests/a.py::b::c"), Some("svc/tests/a.py"), false, &file("./tests/a.py", "::b::c"));
        check(Some("-x.py"), Some("svc/-x.py"), false, &file("./-x.py", ""));
        check(Some("tests"), Some("svc/tests"), true, &folder("./tests"));
        check(Some("."), Some("svc"), true, &Target::Everything);
        check(Some("shared/x"), Some("shared/x"), false, &Target::Name("shared/x".to_owned()));
    }

    #[test]
    fn counts_are_doubted_where_they_mislead() {
        let counts = |passed, failed| Summary { passed, failed, skipped: 1 };
        assert_eq!(doubts(counts(1, 0), 0, Some("adds")), None);
        assert_eq!(doubts(counts(1, 2), 1, None), None);
        assert_eq!(doubts(counts(0, 0), 0, None), None);
        assert!(doubts(counts(0, 0), 0, Some("adds")).is_some_and(|doubt| doubt.contains("`adds`")));
        assert!(doubts(counts(3, 0), 1, None).is_some_and(|doubt| doubt.contains("ended with 1")));
    }

    #[track_caller]
    fn check_environment(folder: &str, there: &[&str], expected: Option<&str>) {
        let there: Vec<_> = there.iter().map(|text| path(text)).collect();
        let found = environment(&path(folder), &|path| there.contains(path));
        assert_eq!(found.map(|found| seen_from(&path(folder), &found)).as_deref(), expected, "{folder}");
    }

    #[test]
    fn an_environment_lies_in_the_folder_or_above() {
        check_environment("svc", &["svc/.venv/pyvenv.cfg"], Some("./.venv"));
        check_environment("svc", &["svc/venv/pyvenv.cfg"], Some("./venv"));
        check_environment("svc", &["svc/.venv/bin/pytest"], None);
        check_environment("svc/api/v1", &["svc/.venv/pyvenv.cfg"], Some("../../.venv"));
        check_environment("svc/api", &["svc/.venv/pyvenv.cfg", "svc/api/.venv/pyvenv.cfg"], Some("./.venv"));
        check_environment("svc/api", &[".venv/pyvenv.cfg"], Some("../../.venv"));
    }

    #[track_caller]
    fn check_refused(target: &str, refused: bool) {
        assert_eq!(demand_no_option(target).is_err(), refused, "{target:?}");
    }

    #[test]
    fn an_option_is_no_target() {
        check_refused("tests", false);
        check_refused("a-b", false);
        check_refused("--config=x", true);
        check_refused("-p", true);
        check_refused("a\nb", true);
    }
}
