//! From the operator's vector to the one that is run: the runner that this project and this machine have, and the target
//! in the form that the runner understands. Pure: what is there is asked through closures.

mod node;
mod python;

use node::Runner;

/// What is in the folder and what can be started.
pub(super) struct Facts<'a> {
    pub(super) has: &'a dyn Fn(&str) -> bool,
    /// What a file of the folder says.
    pub(super) text: &'a dyn Fn(&str) -> Option<String>,
    pub(super) installed: &'a dyn Fn(&str) -> bool,
    /// The project's own Python environment, seen from the folder (`./.venv`).
    pub(super) environment: Option<&'a str>,
    pub(super) in_environment: &'a dyn Fn(&str) -> bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Test,
    Lint,
}

/// What a call wants to be tested, seen from the toolchain's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Everything,
    /// `./tests/a.py`, and what the call wrote behind it (`::test_b`).
    File {
        path: String,
        behind: String,
    },
    Folder {
        path: String,
    },
    /// The name of a test or a filter.
    Name(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Built {
    pub(super) vector: Vec<String>,
    /// The target has no place in this vector, so everything is looked at.
    pub(super) is_target_unused: bool,
    /// A sentence for the caller.
    pub(super) note: Option<String>,
}

/// Why there is nothing to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRunner {
    /// Neither the script nor a tool that we could start without one.
    NoScript {
        script: String,
    },
    NoLinter,
}

const TARGET: &str = "{target}";

pub(super) fn build(
    vector: &[String],
    work: Work,
    target: &Target,
    facts: &Facts<'_>,
) -> Result<Built, NoRunner> {
    let Chosen { vector, runner, note } = choose(vector, work, facts)?;
    let words = match runner {
        Some(runner) => runner.words(target),
        None => spoken(&vector, work, target, facts),
    };
    let has_place = vector.iter().any(|word| word.contains(TARGET));
    let mut built = Vec::new();
    for word in &vector {
        match (word.as_str(), words.as_slice()) {
            (TARGET, words) => built.extend(words.iter().cloned()),
            (word, [only]) if word.contains(TARGET) => built.push(word.replace(TARGET, only)),
            // Part of a word, and nothing or several words to put there.
            (word, _) if word.contains(TARGET) => {}
            (word, _) => built.push(word.to_owned()),
        }
    }
    if built.last().is_some_and(|word| word == "--") {
        built.pop();
    }
    let program = vector.first().map(String::as_str);
    let is_go_test = program == Some("go") && vector.get(1).is_some_and(|word| word == "test");
    if is_go_test && !built.iter().any(|word| word == "-v") {
        // Without it the output does not say which tests there were.
        built.insert(2, "-v".to_owned());
    }
    if let (Some("mvn"), Work::Test, Target::Name(name), false) = (program, work, target, has_place) {
        built.push(format!("-Dtest={name}"));
        return Ok(Built { vector: built, is_target_unused: false, note });
    }
    let is_target_unused = *target != Target::Everything && (!has_place || words.is_empty());
    Ok(Built { vector: built, is_target_unused, note })
}

struct Chosen {
    vector: Vec<String>,
    runner: Option<Runner>,
    note: Option<String>,
}

/// Another runner where the project's files or the machine say so.
fn choose(vector: &[String], work: Work, facts: &Facts<'_>) -> Result<Chosen, NoRunner> {
    let words: Vec<&str> = vector.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["poetry", "run", tool, rest @ ..] => {
            let python::Start { vector, note } = python::start(tool, rest, facts)?;
            Ok(Chosen { vector, runner: None, note })
        }
        ["npm", ..] => {
            let (vector, runner) = node::vector(&words, work, facts)?;
            Ok(Chosen { vector, runner, note: None })
        }
        [..] => Ok(Chosen { vector: vector.to_vec(), runner: None, note: None }),
    }
}

/// The target in the words of the runner.
fn spoken(vector: &[String], work: Work, target: &Target, facts: &Facts<'_>) -> Vec<String> {
    // A program of the project's environment is named by its path.
    let bases = || vector.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = vector.first().map(String::as_str).unwrap_or_default();
    let everything = || bases().find_map(|name| python::everything(name, facts));
    match (program, target) {
        ("cargo", target) => cargo(target),
        ("go", target) => go(work, target),
        (_, Target::Everything) if bases().any(|name| matches!(name, "eslint" | "biome")) => {
            vec![".".to_owned()]
        }
        (_, Target::Everything) => everything().unwrap_or_default(),
        (_, Target::File { path, behind }) => vec![format!("{path}{behind}")],
        (_, Target::Folder { path }) => vec![path.clone()],
        (_, Target::Name(name)) if bases().any(|base| base == "pytest") && !name.contains("::") => {
            vec!["-k".to_owned(), name.clone()]
        }
        (_, Target::Name(name)) => vec![name.clone()],
    }
}

/// Cargo knows test binaries and names of tests, not files.
fn cargo(target: &Target) -> Vec<String> {
    match target {
        Target::Everything | Target::Folder { .. } => Vec::new(),
        Target::Name(name) => vec![name.clone()],
        Target::File { path, .. } => {
            let Some(stem) = path.strip_suffix(".rs") else { return Vec::new() };
            if let Some(name) = stem.strip_prefix("./tests/") {
                let binary = name.split('/').next().unwrap_or(name);
                return vec!["--test".to_owned(), binary.to_owned()];
            }
            for (folder, option) in
                [("./src/bin/", "--bin"), ("./examples/", "--example"), ("./benches/", "--bench")]
            {
                if let Some(name) = stem.strip_prefix(folder) {
                    let binary = name.split('/').next().unwrap_or(name);
                    return vec![option.to_owned(), binary.to_owned()];
                }
            }
            let Some(module) = stem.strip_prefix("./src/") else { return Vec::new() };
            let module = module.strip_suffix("/mod").unwrap_or(module);
            match module {
                "lib" | "main" => Vec::new(),
                module => vec![format!("{}::", module.replace('/', "::"))],
            }
        }
    }
}

/// Go knows packages, which are folders, and names of tests.
fn go(work: Work, target: &Target) -> Vec<String> {
    let all = || "./...".to_owned();
    match (target, work) {
        (Target::Everything, _) | (Target::Name(_), Work::Lint) => vec![all()],
        (Target::Name(name), Work::Test) => vec!["-run".to_owned(), name.clone(), all()],
        (Target::Folder { path }, _) => vec![format!("{}/...", path.trim_end_matches('/'))],
        (Target::File { path, behind }, _) => {
            let name =
                Some(behind.trim_start_matches(':')).filter(|name| !name.is_empty() && work == Work::Test);
            let package = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            name.into_iter().flat_map(|name| ["-run", name]).chain([package]).map(str::to_owned).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Target {
        Target::File { path: path.to_owned(), behind: String::new() }
    }

    fn folder(path: &str) -> Target {
        Target::Folder { path: path.to_owned() }
    }

    fn name(name: &str) -> Target {
        Target::Name(name.to_owned())
    }

    /// Nothing but the named files and programs, which are of this text.
    #[track_caller]
    fn built(
        vector: &str,
        work: Work,
        target: &Target,
        there: &[(&str, &str)],
        environment: &[&str],
    ) -> Result<Built, NoRunner> {
        let vector: Vec<String> = vector.split_whitespace().map(str::to_owned).collect();
        let text = |name: &str| there.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let facts = Facts {
            has: &|name| text(name).is_some(),
            text: &|name| text(name).map(str::to_owned),
            installed: &|name| text(name).is_some(),
            environment: (!environment.is_empty()).then_some("./.venv"),
            in_environment: &|name| environment.contains(&name),
        };
        build(&vector, work, target, &facts)
    }

    #[track_caller]
    fn check_with(vector: &str, work: Work, target: &Target, there: &[&str], expected: &str) {
        let there: Vec<_> = there.iter().map(|name| (*name, "")).collect();
        let built = built(vector, work, target, &there, &[]).unwrap();
        assert_eq!(built.vector.join(" "), expected, "{vector:?} {target:?}");
    }

    #[track_caller]
    fn check(vector: &str, target: &Target, expected: &str) {
        check_with(vector, Work::Test, target, &[], expected);
    }

    #[test]
    fn a_target_takes_its_place() {
        let all = &Target::Everything;
        check("cargo test {target}", all, "cargo test");
        check("cargo test {target}", &name("cart::adds"), "cargo test cart::adds");
        check("cargo test {target}", &file("./tests/it.rs"), "cargo test --test it");
        check("cargo test {target}", &file("./tests/it/cart.rs"), "cargo test --test it");
        check("cargo test {target}", &file("./src/cart/price.rs"), "cargo test cart::price::");
        check("cargo test {target}", &file("./src/cart/mod.rs"), "cargo test cart::");
        check("cargo test {target}", &file("./src/lib.rs"), "cargo test");
        check("cargo test {target}", &file("./src/bin/tool.rs"), "cargo test --bin tool");
        check("cargo test {target}", &file("./examples/tour/main.rs"), "cargo test --example tour");
        check("go test {target}", all, "go test -v ./...");
        check("go test {target}", &name("TestAdd"), "go test -v -run TestAdd ./...");
        check("go test {target}", &folder("./price"), "go test -v ./price/...");
        check("go test {target}", &file("./price/round_test.go"), "go test -v ./price");
        let with_name =
            Target::File { path: "./price/round_test.go".to_owned(), behind: "::TestUp".to_owned() };
        check("go test {target}", &with_name, "go test -v -run TestUp ./price");
        check("go test -v {target}", all, "go test -v ./...");
        check("npm test -- {target}", all, "npm test");
        check("npm test -- {target}", &file("./a.test.js"), "npm test -- ./a.test.js");
        check("mvn test", all, "mvn test");
        check("mvn test", &name("CartTest"), "mvn test -Dtest=CartTest");
        check("run-it --only={target}", &name("x"), "run-it --only=x");
        check("run-it --only={target}", all, "run-it");
    }

    #[test]
    fn the_runner_is_one_that_is_there() {
        let (test, lint, all) =
            ("poetry run pytest {target}", "poetry run pylint {target}", &Target::Everything);
        check_with(test, Work::Test, all, &["poetry", "poetry.lock"], "poetry run pytest");
        check_with(test, Work::Test, all, &["poetry", "pytest"], "pytest");
        check_with(test, Work::Test, all, &["uv", "uv.lock"], "uv run --frozen --no-sync pytest");
        check_with(test, Work::Test, &name("adds"), &[], "python3 -m pytest -k adds");
        check_with(test, Work::Test, &file("./tests/a.py"), &["pytest"], "pytest ./tests/a.py");
        check_with(lint, Work::Lint, all, &["ruff"], "ruff check .");
        check_with(lint, Work::Lint, all, &["pylint", "ruff"], "pylint --recursive=y .");
        check_with(lint, Work::Lint, &file("./a.py"), &["flake8"], "flake8 ./a.py");
        check_with(
            "npm test -- {target}",
            Work::Test,
            &file("./a.js"),
            &["pnpm-lock.yaml", "pnpm"],
            "pnpm run test ./a.js",
        );
        check_with("npm run lint", Work::Lint, all, &["yarn.lock", "yarn"], "yarn run lint");
        check_with("npm run lint", Work::Lint, all, &["yarn.lock"], "npm run lint");
        check_with("go vet {target}", Work::Lint, &name("x"), &[], "go vet ./...");
    }

    #[track_caller]
    fn check_package(package: &str, work: Work, target: &Target, expected: Result<&str, &str>) {
        let vector = if work == Work::Test { "npm test -- {target}" } else { "npm run lint" };
        let found = built(vector, work, target, &[("package.json", package)], &[]);
        let found = found.map(|built| built.vector.join(" ")).map_err(|why| match why {
            NoRunner::NoScript { script } => script,
            NoRunner::NoLinter => "no linter".to_owned(),
        });
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{package}");
    }

    #[test]
    fn a_package_says_what_its_tests_are() {
        let (all, adds) = (&Target::Everything, &name("adds"));
        let jest = r#"{"scripts": {"test": "jest"}}"#;
        check_package(jest, Work::Test, all, Ok("npm test"));
        check_package(&format!("\u{feff}{jest}"), Work::Test, all, Ok("npm test"));
        check_package(jest, Work::Test, adds, Ok("npm test -- -t adds"));
        check_package(jest, Work::Lint, all, Err("lint"));
        let own = r#"{"scripts": {"test": "./run.sh", "lint": "x"}}"#;
        check_package(own, Work::Test, adds, Ok("npm test -- adds"));
        check_package(own, Work::Lint, all, Ok("npm run lint"));
        let bare = r#"{"devDependencies": {"vitest": "4", "eslint": "9"}}"#;
        check_package(bare, Work::Test, adds, Ok("npx --no vitest run -t adds"));
        check_package(bare, Work::Lint, all, Ok("npx --no eslint ."));
        check_package(bare, Work::Lint, &file("./a.js"), Ok("npx --no eslint ./a.js"));
        let many = r#"{"workspaces": ["packages/*"], "devDependencies": {"vitest": "4"}}"#;
        check_package(many, Work::Test, all, Ok("npm run test --workspaces --if-present"));
        check_package("{}", Work::Test, all, Err("test"));
    }

    #[track_caller]
    fn check_python(work: Work, there: &[(&str, &str)], environment: &[&str], expected: Option<&str>) {
        let vector = match work {
            Work::Test => "poetry run pytest {target}",
            Work::Lint => "poetry run pylint {target}",
        };
        let found = built(vector, work, &Target::Everything, there, environment).ok();
        assert_eq!(
            found.map(|built| built.vector.join(" ")).as_deref(),
            expected,
            "{there:?} {environment:?}"
        );
    }

    #[test]
    fn the_environment_of_the_project_comes_first() {
        let (test, lint) = (Work::Test, Work::Lint);
        check_python(test, &[("pytest", "")], &["pytest"], Some("./.venv/bin/pytest"));
        check_python(test, &[("uv", ""), ("uv.lock", "")], &["pytest"], Some("./.venv/bin/pytest"));
        check_python(test, &[("pytest", "")], &["pip"], Some("pytest"));
        check_python(test, &[], &["pip"], Some("python3 -m pytest"));
        check_python(lint, &[], &["ruff"], Some("./.venv/bin/ruff check ."));
        let both = &["pylint", "ruff"];
        check_python(lint, &[], both, Some("./.venv/bin/pylint --recursive=y --ignore=CVS,.venv ."));
        let own = [("pyproject.toml", "[tool.pylint.main]\nignore = [\"gen\"]\n")];
        check_python(lint, &own, both, Some("./.venv/bin/pylint --recursive=y ."));
        check_python(lint, &[("ruff.toml", "")], both, Some("./.venv/bin/ruff check ."));
        let section = [("pyproject.toml", "[tool.ruff.lint]\n")];
        check_python(lint, &section, both, Some("./.venv/bin/ruff check ."));
        check_python(lint, &[("flake8", "")], &["pip"], Some("flake8 --extend-exclude=.venv ."));
        check_python(
            lint,
            &[("poetry.lock", ""), ("poetry", "")],
            &[],
            Some("poetry run pylint --recursive=y ."),
        );
        check_python(lint, &[], &["pip"], None);
        let note = |there: &[(&str, &str)]| {
            built("poetry run pytest", test, &Target::Everything, there, &["pip"]).unwrap().note
        };
        assert!(note(&[("pytest", "")]).is_some_and(|note| note.contains("`./.venv` has no `pytest`")));
        assert_eq!(note(&[]), None);
    }

    #[test]
    fn a_target_without_a_place_is_told() {
        let unused =
            |line: &str, target: &Target| built(line, Work::Lint, target, &[], &[]).unwrap().is_target_unused;
        assert!(unused("cargo clippy", &file("./src/a.rs")));
        assert!(!unused("cargo clippy", &Target::Everything));
        assert!(!unused("ktlint {target}", &file("./a.kt")));
    }
}
