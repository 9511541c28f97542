//! The project's list of accepted findings: `.vambrace/secrets-baseline.json`, written by a person's command and read at
//! the start.
//!
//! It holds salted hashes of values, and everybody may read it. That is fine, because only what a person said is no
//! secret is listed, and values that are known to be secret are redacted whatever it says. A hostile project may bring a
//! list of its own; it can only name values that its author knew already. Agents and caged programs cannot change it: the
//! folder is a protected name.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use vambrace_files::Root;
use vambrace_json::Limits;
use vambrace_redact::{Baseline, Fingerprint};

use crate::resolve::{ResolveError, project_folder};
use crate::section::ProfileName;

const NAME: &str = "secrets-baseline.json";
const IGNORE: &str = ".gitignore";
const VERSION: u64 = 1;
/// LIMIT: some fifty thousand findings. A project with more has another problem.
const LARGEST: u64 = 8 << 20;

/// The list as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineFile {
    pub salt: String,
    pub accepted: BTreeSet<Accepted>,
}

/// One accepted finding. Where it stood is for people; what it was decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    pub path: String,
    pub line: u64,
    pub rule: String,
    pub fingerprint: Fingerprint,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u64,
    salt: String,
    accepted: Vec<KeptFinding>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptFinding {
    rule: String,
    fingerprint: String,
    path: String,
    line: u64,
}

impl BaselineFile {
    /// An empty list, salted with what the caller drew.
    pub fn new(salt: [u8; 16]) -> BaselineFile {
        let salt = salt.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        BaselineFile { salt, accepted: BTreeSet::new() }
    }

    /// Where it is, beneath the workspace.
    pub fn place(profile: ProfileName) -> String {
        format!("{}/{NAME}", project_folder(profile))
    }

    /// `None` when there is none. One that cannot be understood stops the start: going on without it would show and ask
    /// about what a person has settled, and nobody would know why.
    pub fn read(root: &Root, profile: ProfileName) -> Result<Option<BaselineFile>, ResolveError> {
        let wrong = |why: String| ResolveError::Baseline { file: BaselineFile::place(profile), why };
        let bytes = root
            .read_own(project_folder(profile), NAME, LARGEST)
            .map_err(|error| wrong(error.to_string()))?;
        bytes.map(|bytes| BaselineFile::parse(&bytes).map_err(wrong)).transpose()
    }

    /// Where the folder's own `.gitignore` hides everything, it lets the list through from now on: a team commits it.
    pub fn write(&self, root: &Root, profile: ProfileName) -> std::io::Result<()> {
        const HIDES_ALL: &[u8] = b"*\n";
        let folder = project_folder(profile);
        let ignore = root.read_own(folder, IGNORE, HIDES_ALL.len() as u64);
        if let Ok(Some(text)) = ignore
            && text == HIDES_ALL
        {
            root.write_own(folder, IGNORE, format!("*\n!{NAME}\n").as_bytes())?;
        }
        root.write_own(project_folder(profile), NAME, self.to_text().as_bytes())
    }

    pub fn baseline(&self) -> Baseline {
        Baseline::new(&self.salt, self.accepted.iter().map(|entry| entry.fingerprint))
    }

    fn parse(bytes: &[u8]) -> Result<BaselineFile, String> {
        // It says the line and the column.
        // No tree is made of it, so its length is limit enough for how much is in it.
        let limits = Limits { nodes: usize::MAX, ..Limits::document(LARGEST as usize) };
        let kept: Kept = vambrace_json::read_as(bytes, limits).map_err(|error| error.to_string())?;
        if kept.version != VERSION {
            return Err(format!("version {} is not known here (this is version {VERSION})", kept.version));
        }
        if !(16..=64).contains(&kept.salt.len()) || !kept.salt.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("`salt` must be 16 to 64 hexadecimal digits".to_owned());
        }
        let accepted = kept.accepted.into_iter().enumerate().map(|(place, entry)| {
            let fingerprint = entry
                .fingerprint
                .parse()
                .map_err(|error| format!("accepted[{place}].fingerprint: {error}"))?;
            Ok(Accepted { path: entry.path, line: entry.line, rule: entry.rule, fingerprint })
        });
        Ok(BaselineFile { salt: kept.salt, accepted: accepted.collect::<Result<_, String>>()? })
    }

    /// Sorted, one finding a line, so that a review shows what was accepted and two branches merge.
    fn to_text(&self) -> String {
        let rows: Vec<String> = self
            .accepted
            .iter()
            .map(|entry| {
                let row = KeptFinding {
                    rule: entry.rule.clone(),
                    fingerprint: entry.fingerprint.to_string(),
                    path: entry.path.clone(),
                    line: entry.line,
                };
                format!("    {}", serde_json::to_string(&row).unwrap_or_default())
            })
            .collect();
        let rows = if rows.is_empty() { String::new() } else { format!("\n{}\n  ", rows.join(",\n")) };
        format!(
            "{{\n  \"version\": {VERSION},\n  \"salt\": \"{}\",\n  \"accepted\": [{rows}]\n}}\n",
            self.salt
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> BaselineFile {
        let mut file = BaselineFile::new([0xab; 16]);
        for (path, line) in [("b.txt", 2), ("a\"\u{202e}.txt", 9), ("b.txt", 1)] {
            let rule = "secret-assignment".to_owned();
            let fingerprint = Baseline::fingerprint(&file.salt, &rule, path.as_bytes());
            file.accepted.insert(Accepted { path: path.to_owned(), line, rule, fingerprint });
        }
        file
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        for file in [BaselineFile::new([1; 16]), sample()] {
            let text = file.to_text();
            assert_eq!(BaselineFile::parse(text.as_bytes()), Ok(file), "{text}");
        }
        assert_eq!(sample().to_text().lines().count(), 6 + sample().accepted.len(), "one finding a line");
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let why = BaselineFile::parse(text.as_bytes()).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        refused("", "line 1");
        refused("{\n\"version\": 1,\n]", "line 3");
        refused(r#"{"version": 2, "salt": "0123456789abcdef", "accepted": []}"#, "version 2");
        refused(r#"{"version": 1, "salt": "xyz", "accepted": []}"#, "`salt`");
        refused(
            r#"{"version": 1, "salt": "0123456789abcdef", "accepted": [], "all": true}"#,
            "unknown field",
        );
        let short = r#"{"rule": "r", "fingerprint": "12", "path": "p", "line": 1}"#;
        refused(
            &format!(r#"{{"version": 1, "salt": "0123456789abcdef", "accepted": [{short}]}}"#),
            "accepted[0].fingerprint",
        );
    }
}
