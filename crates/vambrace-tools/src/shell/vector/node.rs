//! JavaScript projects: the package manager that the lock file names, the script that `package.json` has, and what the
//! runner behind it calls a file or the name of a test.

use super::super::package::{Package, script_of};
use super::{Facts, NoRunner, TARGET, Target, Work};

/// What runs the tests in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    Jest,
    /// Jest that waits for changes, unless it is told not to.
    ReactScripts,
    Vitest,
    Mocha,
    /// `node --test`, with nothing behind its options.
    Node,
}

/// What is run where `package.json` has no script for it but names the tool: work, dependency, vector.
const DIRECT: &[(Work, &str, &[&str])] = &[
    (Work::Test, "vitest", &["npx", "--no", "vitest", "run", TARGET]),
    (Work::Test, "jest", &["npx", "--no", "jest", TARGET]),
    (Work::Test, "mocha", &["npx", "--no", "mocha", TARGET]),
    (Work::Lint, "eslint", &["npx", "--no", "eslint", TARGET]),
    (Work::Lint, "@biomejs/biome", &["npx", "--no", "biome", "lint", TARGET]),
];

/// The vector, and what it comes down to.
pub(super) fn vector(
    words: &[&str],
    work: Work,
    facts: &Facts<'_>,
) -> Result<(Vec<String>, Option<Runner>), NoRunner> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let manager = manager(facts);
    let managed = || owned(&with_manager(manager, words));
    let text = (facts.text)("package.json");
    let (Some(script), Some(text)) = (script_of(words), text) else { return Ok((managed(), None)) };
    let package = Package::read(&text);
    if let Some(command) = package.script(script) {
        return Ok((managed(), Runner::of_script(command)));
    }
    if manager == "pnpm" && (facts.has)("pnpm-workspace.yaml") {
        return Ok((owned(&["pnpm", "--recursive", "run", script]), None));
    }
    if package.has_workspaces() {
        return Ok((owned(&["npm", "run", script, "--workspaces", "--if-present"]), None));
    }
    let fits = |(kind, needs, _): &&(Work, &str, &[&str])| *kind == work && package.depends_on(needs);
    match DIRECT.iter().find(fits) {
        Some((_, needs, vector)) => Ok((owned(vector), Runner::named(needs))),
        None => Err(NoRunner::NoScript { script: script.to_owned() }),
    }
}

/// A manager that is not installed is no help: npm runs the same scripts.
fn manager(facts: &Facts<'_>) -> &'static str {
    let uses = |lock: &str, name: &str| (facts.has)(lock) && (facts.installed)(name);
    if uses("pnpm-lock.yaml", "pnpm") {
        "pnpm"
    } else if uses("yarn.lock", "yarn") {
        "yarn"
    } else {
        "npm"
    }
}

fn with_manager<'w>(manager: &'w str, words: &[&'w str]) -> Vec<&'w str> {
    let rest = words.iter().copied().skip(1);
    // The others pass on what follows the script without being told; pnpm keeps options behind a bare `test` for itself.
    let kept = rest.filter(|word| manager == "npm" || *word != "--");
    let run = (manager == "pnpm" && words.get(1) == Some(&"test")).then_some("run");
    std::iter::once(manager).chain(run).chain(kept).collect()
}

impl Runner {
    fn named(name: &str) -> Option<Runner> {
        match name {
            "jest" => Some(Runner::Jest),
            "react-scripts" => Some(Runner::ReactScripts),
            "vitest" => Some(Runner::Vitest),
            "mocha" => Some(Runner::Mocha),
            _ => None,
        }
    }

    /// The last command of a script gets what is added to it.
    fn of_script(script: &str) -> Option<Runner> {
        let last = script.rsplit(['&', ';', '|']).next()?;
        let words: Vec<&str> = last.split_whitespace().collect();
        let base = |word: &&str| {
            let name = word.rsplit('/').next().unwrap_or(word);
            Runner::named(name.trim_end_matches(".js").trim_end_matches(".mjs"))
        };
        if let Some(runner) = words.iter().find_map(base) {
            return Some(runner);
        }
        // Its options end at the first file, so a name can be added only where there is none.
        let behind = words.iter().skip_while(|word| **word != "node").skip(1);
        let is_bare = behind.clone().all(|word| word.starts_with('-'));
        (is_bare && behind.clone().any(|word| *word == "--test")).then_some(Runner::Node)
    }

    pub(super) fn words(self, target: &Target) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        if self == Runner::ReactScripts {
            words.push("--watchAll=false".to_owned());
        }
        match target {
            Target::Everything => {}
            Target::Folder { path } => words.push(path.clone()),
            Target::Name(name) => words.extend(self.named_test(name)),
            Target::File { path, behind } => {
                let name = behind.trim_start_matches(':');
                if !name.is_empty() {
                    words.extend(self.named_test(name));
                }
                // Jest reads a file's name as a regular expression, and `[id].test.js` is none that means it.
                let is_jest = matches!(self, Runner::Jest | Runner::ReactScripts);
                if is_jest && path.contains(['[', '(', '+', '$']) {
                    words.push("--runTestsByPath".to_owned());
                }
                words.push(path.clone());
            }
        }
        words
    }

    fn named_test(self, name: &str) -> Vec<String> {
        match self {
            Runner::Jest | Runner::ReactScripts | Runner::Vitest => vec!["-t".to_owned(), name.to_owned()],
            Runner::Mocha => vec!["-g".to_owned(), name.to_owned()],
            Runner::Node => vec![format!("--test-name-pattern={name}")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_behind_a_script() {
        for (script, expected) in [
            ("jest", Some(Runner::Jest)),
            ("NODE_ENV=test jest --ci", Some(Runner::Jest)),
            ("tsc -b && vitest run", Some(Runner::Vitest)),
            ("node --experimental-vm-modules node_modules/jest/bin/jest.js", Some(Runner::Jest)),
            ("react-scripts test", Some(Runner::ReactScripts)),
            ("nyc mocha test/**/*.js", Some(Runner::Mocha)),
            ("node --test", Some(Runner::Node)),
            ("cross-env A=1 node --import tsx --test", None), // `tsx` may be a file
            ("node --test test/", None),
            ("jest && echo done", None),
            ("node run.js", None),
            ("", None),
        ] {
            assert_eq!(Runner::of_script(script), expected, "{script}");
        }
    }

    #[track_caller]
    fn check(runner: Runner, target: &Target, expected: &str) {
        assert_eq!(runner.words(target).join(" "), expected);
    }

    #[test]
    fn a_target_in_the_words_of_the_runner() {
        let name = Target::Name("adds".to_owned());
        check(Runner::Jest, &name, "-t adds");
        check(Runner::Vitest, &name, "-t adds");
        check(Runner::Mocha, &name, "-g adds");
        check(Runner::Node, &name, "--test-name-pattern=adds");
        let file = |path: &str| Target::File { path: path.to_owned(), behind: String::new() };
        check(Runner::Jest, &file("./a.test.js"), "./a.test.js");
        check(Runner::Jest, &file("./[id].test.js"), "--runTestsByPath ./[id].test.js");
        check(Runner::Vitest, &file("./[id].test.js"), "./[id].test.js");
        let both = Target::File { path: "./a.test.js".to_owned(), behind: "::adds".to_owned() };
        check(Runner::ReactScripts, &Target::Everything, "--watchAll=false");
        check(Runner::ReactScripts, &both, "--watchAll=false -t adds ./a.test.js");
        check(Runner::Mocha, &both, "-g adds ./a.test.js");
        check(Runner::Node, &both, "--test-name-pattern=adds ./a.test.js");
    }
}
