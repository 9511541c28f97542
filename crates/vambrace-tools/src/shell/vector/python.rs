//! Python projects: the environment that belongs to the project, the manager that knows another one, and a linter that is
//! there.

use super::{Facts, NoRunner};

/// A linter, how it is started, the files that are its settings, and its section in `pyproject.toml`.
struct Linter {
    name: &'static str,
    arguments: &'static [&'static str],
    files: &'static [&'static str],
    section: &'static str,
}

/// Where nothing else decides, the first.
const PYLINT: Linter =
    Linter { name: "pylint", arguments: &[], files: &[".pylintrc", "pylintrc"], section: "[tool.pylint" };
const RUFF: Linter = Linter {
    name: "ruff",
    arguments: &["check"],
    files: &["ruff.toml", ".ruff.toml"],
    section: "[tool.ruff",
};
const FLAKE8: Linter =
    Linter { name: "flake8", arguments: &[], files: &[".flake8"], section: "[tool.flake8" };
const LINTERS: [Linter; 3] = [PYLINT, RUFF, FLAKE8];

/// What is started, and what the caller should know about it.
pub(super) struct Start {
    pub(super) vector: Vec<String>,
    pub(super) note: Option<String>,
}

/// For a tool that the operator would start by `poetry run`.
pub(super) fn start(tool: &str, rest: &[&str], facts: &Facts<'_>) -> Result<Start, NoRunner> {
    let manager = manager(facts);
    let (name, arguments) = if LINTERS.iter().any(|linter| linter.name == tool) {
        let linter = linter(manager.is_some(), facts).ok_or(NoRunner::NoLinter)?;
        (linter.name, linter.arguments)
    } else {
        (tool, [].as_slice())
    };
    let mut note = None;
    let mut vector: Vec<String> = match (facts.environment, manager) {
        (Some(environment), _) if (facts.in_environment)(name) => vec![format!("{environment}/bin/{name}")],
        (_, Some(manager)) => manager.iter().copied().chain([name]).map(str::to_owned).collect(),
        (environment, None) if (facts.installed)(name) => {
            note = environment.map(|place| {
                format!("The environment `{place}` has no `{name}`, so the one of the system was used.")
            });
            vec![name.to_owned()]
        }
        // The interpreter of an environment is a link to one outside the workspace, so it is no program of the project.
        (_, None) => ["python3", "-m", name].map(str::to_owned).to_vec(),
    };
    vector.extend(arguments.iter().chain(rest).map(|word| (*word).to_owned()));
    Ok(Start { vector, note })
}

/// What starts a tool in an environment that only the manager knows.
fn manager(facts: &Facts<'_>) -> Option<&'static [&'static str]> {
    let uses = |lock: &str, name: &str| (facts.has)(lock) && (facts.installed)(name);
    if uses("poetry.lock", "poetry") {
        return Some(&["poetry", "run"]);
    }
    uses("uv.lock", "uv").then_some(&["uv", "run", "--frozen", "--no-sync"])
}

/// What the project has beats what the machine has, and what it has settings for beats the rest.
fn linter(has_manager: bool, facts: &Facts<'_>) -> Option<&'static Linter> {
    let project = (facts.text)("pyproject.toml").unwrap_or_default();
    let is_set_up = |linter: &Linter| {
        let has_section = project.lines().any(|line| line.trim_start().starts_with(linter.section));
        has_section || linter.files.iter().any(|file| (facts.has)(file))
    };
    let is_own = |linter: &Linter| (facts.in_environment)(linter.name);
    let is_installed = |linter: &Linter| (facts.installed)(linter.name);
    let first = |fits: &dyn Fn(&Linter) -> bool| LINTERS.iter().find(|linter| fits(linter));
    let managed = || {
        let wanted = || first(&is_set_up).or(LINTERS.first());
        has_manager.then(wanted).flatten()
    };
    first(&|linter| is_own(linter) && is_set_up(linter))
        .or_else(|| first(&is_own))
        .or_else(|| first(&|linter| is_installed(linter) && is_set_up(linter)))
        .or_else(managed)
        .or_else(|| first(&is_installed))
}

/// What a linter is told when it shall look at everything.
pub(super) fn everything(linter: &str, facts: &Facts<'_>) -> Option<Vec<String>> {
    // Only one that lies in the folder itself would be looked at.
    let environment = facts.environment.and_then(|place| place.strip_prefix("./"));
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    match (linter, environment) {
        // It would look at every package of the environment. An own setting of the project is not overruled.
        ("pylint", Some(place)) if !has_own_ignore(facts) => {
            words(&["--recursive=y", &format!("--ignore=CVS,{place}"), "."])
        }
        ("pylint", _) => words(&["--recursive=y", "."]),
        ("flake8", Some(place)) => words(&[&format!("--extend-exclude={place}"), "."]),
        ("ruff" | "flake8", _) => words(&["."]),
        _ => None,
    }
}

fn has_own_ignore(facts: &Facts<'_>) -> bool {
    let files = ["pyproject.toml", ".pylintrc", "pylintrc", "setup.cfg", "tox.ini"];
    let says = |text: String| {
        text.lines().any(|line| {
            let name = line.split('=').next().unwrap_or_default().trim();
            line.contains('=') && ["ignore", "ignore-paths", "ignore-patterns"].contains(&name)
        })
    };
    files.into_iter().filter_map(facts.text).any(says)
}
