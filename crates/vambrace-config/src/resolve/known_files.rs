//! Known values from files that the scope hides: an agent must not meet in a log what it may not read in `.env`.

use std::collections::BTreeSet;

use vambrace_files::{HiddenStamp, Root};
use vambrace_policy::Scope;
use vambrace_redact::{KnownEnv, KnownValue, known_from_environment};
use vambrace_types::ScopedPath;

use super::env_file;

/// LIMIT: every value is sought in some twenty spellings, so their number has an end.
const MOST_VALUES: usize = 512;

/// What was learned, and what could not be.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) known: Vec<KnownValue>,
    pub(super) warnings: Vec<String>,
    /// As the files were when they were read.
    pub(super) stamps: Vec<HiddenStamp>,
}

pub(super) fn learn(root: &Root, scope: &Scope, rule: KnownEnv) -> Learned {
    let found = root.hidden_files(service(scope), &|path| is_wanted(scope, path));
    let mut learned = Learned { stamps: found.stamps, ..Learned::default() };
    let mut seen = BTreeSet::new();
    for file in &found.files {
        let text = String::from_utf8_lossy(file.content.expose());
        let pairs = env_file::pairs(file.path.file_name().unwrap_or_default(), &text);
        let pairs = pairs.into_iter().filter(|(_, value)| !is_stock(value));
        for value in known_from_environment(pairs, rule) {
            if seen.insert(value.value.expose().clone()) {
                learned.known.push(value);
            }
        }
    }
    if learned.known.len() > MOST_VALUES {
        learned.known.truncate(MOST_VALUES);
        learned.warnings.push(format!(
            "hidden files hold more than {MOST_VALUES} values; the others are found by their form only"
        ));
    }
    for (path, why) in found.skipped {
        let path = path.spelled(scope.bearings());
        learned.warnings.push(format!("{path}: its values are not known to the redactor, because {why}"));
    }
    if found.cut {
        learned.warnings.push(
            "the workspace has more hidden files or folders than are looked through for known values"
                .to_owned(),
        );
    }
    learned
}

/// Changes when one of the files does.
pub(super) fn stamps(root: &Root, scope: &Scope) -> Vec<HiddenStamp> {
    root.hidden_stamps(service(scope), &|path| is_wanted(scope, path))
}

fn service(scope: &Scope) -> Option<ScopedPath> {
    ScopedPath::from_components(scope.bearings().service().to_vec())
}

/// What a cage masks, and two protected names that hold tokens. A file that shows what to write is no secret.
fn is_wanted(scope: &Scope, path: &ScopedPath) -> bool {
    const EXAMPLES: [&str; 6] = [".example", ".sample", ".template", ".dist", ".defaults", ".schema"];
    const TOKENS: [&str; 2] = [".npmrc", ".yarnrc.yml"];
    let name = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let is_example = EXAMPLES.iter().any(|ending| name.ends_with(ending));
    !is_example && (scope.is_masked(path.components()) || TOKENS.contains(&name.as_str()))
}

/// Passwords that every tutorial has. Taken for secrets, they would take ordinary words out of every answer.
fn is_stock(value: &str) -> bool {
    const STOCK: [&str; 16] = [
        "postgres",
        "postgresql",
        "password",
        "passw0rd",
        "password1",
        "password123",
        "changeme",
        "changeit",
        "change-me",
        "change_me",
        "development",
        "production",
        "localhost",
        "rabbitmq",
        "minioadmin",
        "undefined",
    ];
    let value = value.trim();
    // `${OTHER}` names a value that stands elsewhere.
    STOCK.contains(&value.to_ascii_lowercase().as_str()) || value.contains("${") || value.contains("{{")
}
