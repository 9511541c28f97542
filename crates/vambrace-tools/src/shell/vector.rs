//! From the operator's vector to the one that is run: the runner that this project and this machine have, and the target
//! in the form that the runner understands. Pure: what is there is asked through closures.

/// What is in the folder and what can be started.
pub(super) struct Facts<'a> {
    pub(super) has: &'a dyn Fn(&str) -> bool,
    pub(super) installed: &'a dyn Fn(&str) -> bool,
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
}

const TARGET: &str = "{target}";

pub(super) fn build(vector: &[String], work: Work, target: &Target, facts: &Facts<'_>) -> Built {
    let vector = runner(vector, facts);
    let words = spoken(&vector, work, target);
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
        return Built { vector: built, is_target_unused: false };
    }
    let is_target_unused = *target != Target::Everything && (!has_place || words.is_empty());
    Built { vector: built, is_target_unused }
}

/// Another runner where the project's lock files or the machine say so.
fn runner(vector: &[String], facts: &Facts<'_>) -> Vec<String> {
    let words: Vec<&str> = vector.iter().map(String::as_str).collect();
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match words.as_slice() {
        ["poetry", "run", tool, rest @ ..] => {
            if (facts.has)("poetry.lock") && (facts.installed)("poetry") {
                return vector.to_vec();
            }
            if (facts.has)("uv.lock") && (facts.installed)("uv") {
                return owned(&[&["uv", "run", "--frozen", "--no-sync", tool], rest].concat());
            }
            owned(&[python_tool(tool, facts).as_slice(), rest].concat())
        }
        // Those pass on what follows the script without being told.
        ["npm", rest @ ..] if (facts.has)("pnpm-lock.yaml") => owned(&other_manager("pnpm", rest)),
        ["npm", rest @ ..] if (facts.has)("yarn.lock") => owned(&other_manager("yarn", rest)),
        [..] => vector.to_vec(),
    }
}

fn other_manager<'w>(name: &'w str, rest: &[&'w str]) -> Vec<&'w str> {
    std::iter::once(name).chain(rest.iter().copied().filter(|word| *word != "--")).collect()
}

/// The tool itself, the same as a module, or for a linter another one that is there.
fn python_tool<'w>(tool: &'w str, facts: &Facts<'_>) -> Vec<&'w str> {
    if (facts.installed)(tool) {
        return vec![tool];
    }
    match tool {
        "pylint" if (facts.installed)("ruff") => vec!["ruff", "check"],
        "pylint" if (facts.installed)("flake8") => vec!["flake8"],
        tool => vec!["python3", "-m", tool],
    }
}

/// The target in the words of the runner.
fn spoken(vector: &[String], work: Work, target: &Target) -> Vec<String> {
    let has = |name: &str| vector.iter().any(|word| word == name);
    let program = vector.first().map(String::as_str).unwrap_or_default();
    match program {
        "cargo" => cargo(target),
        "go" => go(work, target),
        _ if has("pylint") && *target == Target::Everything => {
            vec!["--recursive=y".to_owned(), ".".to_owned()]
        }
        _ if (has("ruff") || has("flake8")) && *target == Target::Everything => vec![".".to_owned()],
        _ => match target {
            Target::Everything => Vec::new(),
            Target::File { path, behind } => vec![format!("{path}{behind}")],
            Target::Folder { path } => vec![path.clone()],
            Target::Name(name) if has("pytest") && !name.contains("::") => {
                vec!["-k".to_owned(), name.clone()]
            }
            Target::Name(name) => vec![name.clone()],
        },
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
        (Target::File { path, .. }, _) => {
            vec![path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()]
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

    #[track_caller]
    fn check_with(vector: &str, work: Work, target: &Target, there: &[&str], expected: &str) {
        let vector: Vec<String> = vector.split_whitespace().map(str::to_owned).collect();
        let has = |name: &str| there.contains(&name);
        let built = build(&vector, work, target, &Facts { has: &has, installed: &has });
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
        check("cargo test {target}", &folder("."), "cargo test");
        check("go test {target}", all, "go test -v ./...");
        check("go test {target}", &name("TestAdd"), "go test -v -run TestAdd ./...");
        check("go test {target}", &folder("./price"), "go test -v ./price/...");
        check("go test {target}", &file("./price/round_test.go"), "go test -v ./price");
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
            &["pnpm-lock.yaml"],
            "pnpm test ./a.js",
        );
        check_with("npm run lint", Work::Lint, all, &["yarn.lock"], "yarn run lint");
        check_with("go vet {target}", Work::Lint, &name("x"), &[], "go vet ./...");
    }

    #[test]
    fn a_target_without_a_place_is_told() {
        let none = |_: &str| false;
        let facts = Facts { has: &none, installed: &none };
        let unused = |line: &str, target: &Target| {
            let vector: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            build(&vector, Work::Lint, target, &facts).is_target_unused
        };
        assert!(unused("cargo clippy", &file("./src/a.rs")));
        assert!(!unused("cargo clippy", &Target::Everything));
        assert!(!unused("ktlint {target}", &file("./a.kt")));
    }
}
