//! What can be wrong with a configuration, said so that a person can mend it.
//!
//! THREAT: P02. A message never contains a value that may be a secret: only keys that are names, words that were
//! written out in the file for a field that is not secret, and the names of environment variables.

use std::fmt;
use std::path::PathBuf;

use crate::node::Place;

/// One mistake, with the place where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file; `None` for the command line, the environment and the settings taken together.
    pub file: Option<PathBuf>,
    pub place: Option<Place>,
    /// The dotted path of the key, in the canonical spelling; empty for the file as a whole.
    pub key: String,
    pub problem: Problem,
    /// The next useful step.
    pub hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The file cannot be opened or read.
    Unreadable(String),
    /// The file is not a plain file.
    NotAFile,
    /// The file is larger than is read.
    TooLarge {
        limit: u64,
    },
    /// The file is not UTF-8.
    NotText,
    /// The name ends in no format we read.
    UnknownFormat,
    /// The format's own grammar is broken.
    Syntax(String),
    /// Maps and lists lie too deep in each other.
    TooDeep {
        limit: usize,
    },
    /// The file holds something other than a map.
    NotAMap {
        found: &'static str,
    },
    /// It has a meaning for a library.
    ReservedKey,
    /// The same key stands twice in one map.
    DuplicateKey,
    /// One key stands in two spellings in one map.
    BothSpellings {
        other: String,
    },
    UnknownKey,
    WrongType {
        expected: Box<str>,
        found: &'static str,
    },
    /// The word is not in the closed set. `None` when it came from the environment.
    UnknownWord {
        word: Option<Box<str>>,
        allowed: Box<[String]>,
    },
    OutOfRange {
        allowed: String,
    },
    /// The text has not the form that the key needs.
    BadForm {
        expected: &'static str,
    },
    MissingKey,
    /// An environment variable has no value and the reference no default.
    UnsetVariable(String),
    /// A reference to the environment is broken.
    BadReference,
    /// A reference in a place that an agent can write.
    ReferenceInProject,
    /// Filled-in text grew beyond what is accepted.
    FilledTooLarge {
        limit: usize,
    },
    /// A project file says something weaker than what holds already.
    Loosens {
        holds: String,
    },
    /// A key that only the operator's file may set.
    OperatorOnly,
    /// Two files where one is expected.
    TwoFiles {
        other: PathBuf,
    },
    UnknownProfile(String),
    /// Two keys that contradict each other, or a value that another key forbids.
    Conflict(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            Problem::NotAFile => f.write_str("is not a plain file"),
            Problem::TooLarge { limit } => write!(f, "is larger than {limit} bytes"),
            Problem::NotText => f.write_str("is not UTF-8 text"),
            Problem::UnknownFormat => f.write_str("has no known format"),
            Problem::Syntax(reason) => f.write_str(reason),
            Problem::TooDeep { limit } => write!(f, "more than {limit} maps and lists lie in each other"),
            Problem::NotAMap { found } => write!(f, "a map of settings is expected here, found {found}"),
            Problem::ReservedKey => {
                write!(f, "keys that begin with `{}` are reserved", vambrace_json::RESERVED)
            }
            Problem::DuplicateKey => f.write_str("the key stands twice in this map"),
            Problem::BothSpellings { other } => {
                write!(f, "the key stands twice in this map, here and as `{other}`")
            }
            Problem::UnknownKey => f.write_str("unknown key"),
            Problem::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::UnknownWord { word: Some(word), allowed } => {
                write!(f, "`{word}` is none of {}", listed(allowed))
            }
            Problem::UnknownWord { word: None, allowed } => {
                write!(f, "the value from the environment is none of {}", listed(allowed))
            }
            Problem::OutOfRange { allowed } => write!(f, "the number must be {allowed}"),
            Problem::BadForm { expected } => write!(f, "expected {expected}"),
            Problem::MissingKey => f.write_str("the key is missing"),
            Problem::UnsetVariable(name) => write!(f, "the environment variable `{name}` is not set"),
            Problem::BadReference => f.write_str("the reference to the environment is broken"),
            Problem::ReferenceInProject => {
                f.write_str("a project file may not read the environment, because agents can write it")
            }
            Problem::FilledTooLarge { limit } => {
                write!(f, "the text is longer than {limit} bytes once the environment is filled in")
            }
            Problem::Loosens { holds } => {
                write!(f, "a project file may only tighten, and this is weaker than what holds ({holds})")
            }
            Problem::OperatorOnly => {
                f.write_str("a project file may not set this key, because agents can write it")
            }
            Problem::TwoFiles { other } => write!(f, "there is also `{}`", other.display()),
            Problem::UnknownProfile(name) => write!(f, "there is no profile `{name}`"),
            Problem::Conflict(reason) => f.write_str(reason),
        }
    }
}

impl ConfigError {
    pub(crate) fn new(key: &str, problem: Problem) -> ConfigError {
        ConfigError { file: None, place: None, key: key.to_owned(), problem, hint: None }
    }

    pub(crate) fn at(mut self, place: Place) -> ConfigError {
        self.place = Some(place);
        self
    }

    pub(crate) fn in_file(mut self, file: &std::path::Path) -> ConfigError {
        self.file = Some(file.to_owned());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> ConfigError {
        self.hint = Some(hint.into());
        self
    }
}

impl ConfigError {
    /// LIMIT: longer messages come from hostile keys and are cut with a mark.
    const LONGEST: usize = 1_000;

    fn sentence(&self) -> String {
        let place = match (&self.file, self.place) {
            (Some(file), Some(place)) => format!("{}:{}:{}: ", file.display(), place.line, place.column),
            (Some(file), None) => format!("{}: ", file.display()),
            (None, Some(_) | None) => String::new(),
        };
        let said = match (&self.problem, self.key.as_str()) {
            (problem, "") => problem.to_string(),
            (Problem::UnknownKey, key) => format!("unknown key `{key}`"),
            (problem, key) => format!("`{key}`: {problem}"),
        };
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{place}{said}{hint}")
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // THREAT: a project file's keys must not drive the terminal that shows this.
        let sentence = self.sentence();
        for character in sentence.chars().take(Self::LONGEST) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        if sentence.chars().nth(Self::LONGEST).is_some() { f.write_str("…") } else { Ok(()) }
    }
}

impl std::error::Error for ConfigError {}

/// Every mistake that was found, in the order of files and lines. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl ConfigErrors {
    /// More lines than this help nobody; how many were left out is said.
    const SHOWN: usize = 50;
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().take(Self::SHOWN).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        match self.0.len().checked_sub(Self::SHOWN) {
            Some(rest) if rest > 0 => write!(f, "\nand {rest} more"),
            Some(_) | None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigErrors {}

impl From<ConfigError> for ConfigErrors {
    fn from(error: ConfigError) -> ConfigErrors {
        ConfigErrors(vec![error])
    }
}

fn listed(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// The candidate that the writer most likely meant, if one is near enough.
pub(crate) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // LIMIT: a longer name is nobody's typing mistake, and the distance costs time in the square of the length.
    if written.len() > 64 {
        return None;
    }
    let folded = written.to_lowercase();
    candidates
        .map(|candidate| (strsim::osa_distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 5)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
