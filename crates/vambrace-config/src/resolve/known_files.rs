//! Known values from files that the scope hides: an agent must not meet in a log what it may not read in `.env`.

use std::collections::BTreeSet;

use vambrace_files::{HiddenStamp, Root, Trust, Vouchers};
use vambrace_policy::Scope;
use vambrace_redact::{KnownEnv, KnownValue, is_dull, known_from_environment, looks_random};
use vambrace_types::ScopedPath;

use super::env_file;

/// LIMIT: every value is sought in some twenty spellings, so their number has an end: in a file, and in all. Files take
/// turns, so that no file costs another one its place.
const MOST_IN_FILE: usize = 256;
/// LIMIT: each is an event of the audit log.
const MOST_WARNINGS: usize = 16;
const MOST_VALUES: usize = 1024;
/// LIMIT: of files that are read.
const MOST_FILES: usize = 64;
/// The same for what nobody vouches for. It comes beside the others and never in their place.
const MOST_DOUBTFUL_IN_FILE: usize = 16;
const MOST_DOUBTFUL: usize = 64;
const MOST_DOUBTFUL_FILES: usize = 16;

/// What was learned, and what could not be.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) known: Vec<KnownValue>,
    /// From files that a program may have made or changed.
    pub(super) doubtful: Vec<KnownValue>,
    pub(super) warnings: Vec<String>,
    /// As the files were when they were read.
    pub(super) stamps: Vec<HiddenStamp>,
}

/// What the redactor learns from.
pub(super) struct Source<'a> {
    pub(super) root: &'a Root,
    pub(super) scope: &'a Scope,
    pub(super) vouchers: &'a Vouchers,
    pub(super) rule: KnownEnv,
}

impl Source<'_> {
    /// `None` when nothing is different from `last`.
    pub(super) fn learn(&self, last: Option<&[HiddenStamp]>) -> Option<Learned> {
        let Source { root, scope, vouchers, .. } = self;
        let wanted = |path: &ScopedPath| is_wanted(scope, path);
        let (found, trusts) = vouchers.look(|first| root.hidden_walk(first, service(scope), &wanted));
        if last == Some(&*found.stamps) {
            return None;
        }
        let mut learned = Learned::default();
        let (mut sure, mut doubtful) = (Vec::new(), Vec::new());
        for (stamp, trust) in found.stamps.iter().zip(trusts) {
            let name = stamp.path().spelled(scope.bearings());
            let (files, most) = match trust {
                Trust::Sure => (&mut sure, MOST_FILES),
                Trust::MadeMeanwhile | Trust::ChangedMeanwhile => (&mut doubtful, MOST_DOUBTFUL_FILES),
            };
            learned.warnings.extend(doubts(trust).map(|why| format!("{name}: {why}")));
            if files.len() >= most {
                learned.warnings.push(format!(
                    "{name}: its values are not known to the redactor, because {most} such files are read"
                ));
                continue;
            }
            match self.values(stamp.path()) {
                Ok(values) => files.push((name, values)),
                Err(why) => learned
                    .warnings
                    .push(format!("{name}: its values are not known to the redactor, because {why}")),
            }
        }
        for (_, values) in &mut doubtful {
            values.retain(|value| looks_random(value.value.expose()));
        }
        let mut seen = BTreeSet::new();
        let sure = take_turns(sure, MOST_IN_FILE, MOST_VALUES, &mut seen);
        let doubtful = take_turns(doubtful, MOST_DOUBTFUL_IN_FILE, MOST_DOUBTFUL, &mut seen);
        learned.warnings.extend(sure.warnings.into_iter().chain(doubtful.warnings));
        (learned.known, learned.doubtful) = (sure.values, doubtful.values);
        for (path, why) in found.skipped {
            let path = path.spelled(scope.bearings());
            learned.warnings.push(format!("{path}: its values are not known to the redactor, because {why}"));
        }
        if found.cut {
            learned.warnings.push(
                "the workspace has more hidden files or folders than are looked through for known values; those that \
                 were known before still are"
                    .to_owned(),
            );
        }
        learned.stamps = found.stamps;
        let n_more = learned.warnings.len().saturating_sub(MOST_WARNINGS);
        if n_more > 0 {
            learned.warnings.truncate(MOST_WARNINGS);
            learned.warnings.push(format!("{n_more} more such words about hidden files are left out"));
        }
        Some(learned)
    }

    fn values(&self, path: &ScopedPath) -> Result<Vec<KnownValue>, String> {
        let Some(content) = self.root.hidden_content(path)? else { return Ok(Vec::new()) };
        let text = String::from_utf8_lossy(content.expose());
        let pairs = env_file::pairs(path.file_name().unwrap_or_default(), &text);
        let pairs = pairs.into_iter().filter(|(_, value)| !is_stock(value));
        let is_secret = |value: &KnownValue| {
            let value = value.value.expose();
            // Only what is spelled like a path is looked for: by a file's name nobody takes a password off the list.
            let is_path = value.contains(['/', '.']) && self.root.has_name(value.trim());
            !is_dull(value) && !is_stock(value) && !is_path
        };
        Ok(known_from_environment(pairs, self.rule).into_iter().filter(is_secret).collect())
    }
}

/// What a person should know about a file that is not trusted, and can do about it.
fn doubts(trust: Trust) -> Option<&'static str> {
    match trust {
        Trust::Sure => None,
        Trust::MadeMeanwhile => Some(
            "it was made while a program ran, or the search for such files was cut short, so only what looks like a secret in it is hidden; if it is yours, replace it \
             by a copy while no program runs",
        ),
        Trust::ChangedMeanwhile => Some(
            "it changed while a program ran, so only what looks like a secret in it is hidden; if the change is yours, \
             save it again while no program runs",
        ),
    }
}

#[derive(Default)]
struct Taken {
    values: Vec<KnownValue>,
    warnings: Vec<String>,
}

/// The first value of each file, then the second of each, and so on.
fn take_turns(
    files: Vec<(String, Vec<KnownValue>)>,
    in_file: usize,
    in_all: usize,
    seen: &mut BTreeSet<String>,
) -> Taken {
    let mut taken = Taken::default();
    let mut waiting: Vec<_> = files
        .into_iter()
        .map(|(name, values)| {
            let fresh: Vec<KnownValue> =
                values.into_iter().filter(|value| seen.insert(value.value.expose().clone())).collect();
            if fresh.len() > in_file {
                taken.warnings.push(format!(
                    "{name}: it holds more than {in_file} values; the others are found by their form only"
                ));
            }
            fresh.into_iter().take(in_file)
        })
        .collect();
    for _turn in 0..in_file {
        for value in waiting.iter_mut().filter_map(Iterator::next) {
            if taken.values.len() < in_all {
                taken.values.push(value);
            } else {
                taken.warnings.push(format!(
                    "hidden files hold more than {in_all} values; the others are found by their form only"
                ));
                return taken;
            }
        }
    }
    taken
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
    let is_word = || WORDS.contains(&value.to_ascii_lowercase().as_str());
    // `${OTHER}` names a value that stands elsewhere.
    STOCK.contains(&value.to_ascii_lowercase().as_str())
        || is_word()
        || value.contains("${")
        || value.contains("{{")
}

/// Words that programs are full of. As a secret, each would make every file unreadable and unwritable.
const WORDS: [&str; 64] = [
    "abstract",
    "argument",
    "arguments",
    "assertion",
    "attribute",
    "boolean",
    "callback",
    "character",
    "children",
    "collection",
    "component",
    "configuration",
    "constant",
    "constructor",
    "container",
    "continue",
    "controller",
    "database",
    "debugger",
    "decimal",
    "default",
    "delegate",
    "dependencies",
    "description",
    "directory",
    "document",
    "duration",
    "exception",
    "extends",
    "external",
    "filename",
    "finally",
    "fragment",
    "function",
    "identifier",
    "implements",
    "import",
    "instance",
    "instanceof",
    "interface",
    "internal",
    "iterator",
    "language",
    "location",
    "namespace",
    "operator",
    "optional",
    "override",
    "parameter",
    "position",
    "private",
    "property",
    "protected",
    "readonly",
    "reference",
    "register",
    "repository",
    "resource",
    "response",
    "sequence",
    "settings",
    "template",
    "username",
    "variable",
];
