//! When violations become an alert, and what follows. The rules are data; deciding is pure.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use vambrace_types::Timestamp;

use crate::line::Object;
use crate::violation::ViolationKind;
use crate::words::words;
use crate::{AuditError, disk, moment, subject};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const SHORT: usize = 512;
/// How far back an earlier alert of the same rule is looked for: some four thousand alerts.
const TAIL: u64 = 1 << 20;

words! {
    /// What an alert does to the caller, besides being raised.
    pub enum DefenceAction { Alert = "alert", Suspend = "suspend", Terminate = "terminate", }
}

/// More than so many violations of these kinds by one caller within a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRule {
    pub name: String,
    pub kinds: Vec<ViolationKind>,
    pub more_than: usize,
    pub window_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertSettings {
    pub rules: Vec<AlertRule>,
    pub action: DefenceAction,
}

impl Default for AlertSettings {
    fn default() -> AlertSettings {
        use ViolationKind::{Auth, SsrfKubernetes, SsrfMetadata, SsrfPrivate};
        let rule = |name: &str, kinds: Vec<ViolationKind>, more_than, window_ms| AlertRule {
            name: name.to_owned(),
            kinds,
            more_than,
            window_ms,
        };
        // Wrong credentials have a rule of their own: before a caller is known, many share one name.
        let all_but_auth = ViolationKind::ALL.iter().copied().filter(|kind| *kind != Auth).collect();
        let rules = vec![
            rule("violations", all_but_auth, 5, MINUTE), // specification 004, section 7.2
            rule("ssrf", vec![SsrfPrivate, SsrfMetadata, SsrfKubernetes], 10, HOUR), // specification 001
            rule("metadata", vec![SsrfMetadata], 0, MINUTE), // specification 001: every try
            rule("kubernetes", vec![SsrfKubernetes], 0, MINUTE), // specification 001: every try
            rule("auth", vec![Auth], 9, MINUTE),
        ];
        AlertSettings { rules, action: DefenceAction::Alert }
    }
}

impl AlertSettings {
    pub(crate) fn longest_window_ms(&self) -> u64 {
        self.rules.iter().map(|rule| rule.window_ms).max().unwrap_or(0)
    }
}

/// One violation of the caller in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) time: Timestamp,
    pub(crate) kind: ViolationKind,
}

/// The rules that a new violation of this kind sets off. `seen` holds it already.
pub(crate) fn triggered<'r>(
    rules: &'r [AlertRule],
    seen: &[Sighting],
    newest: ViolationKind,
    now: Timestamp,
) -> Vec<&'r AlertRule> {
    let counts = |rule: &AlertRule, sighting: &Sighting| {
        rule.kinds.contains(&sighting.kind) && now.millis_since(sighting.time) < rule.window_ms
    };
    let over = |rule: &&AlertRule| {
        rule.kinds.contains(&newest)
            && seen.iter().filter(|sighting| counts(rule, sighting)).count() > rule.more_than
    };
    rules.iter().filter(over).collect()
}

/// An alert about to be raised.
pub(crate) struct Alert<'a> {
    pub(crate) rule: &'a AlertRule,
    /// As `subject` names it.
    pub(crate) caller: &'a str,
    pub(crate) action: DefenceAction,
    pub(crate) call_id: &'a str,
    pub(crate) now: Timestamp,
}

/// The part of an alert's line that tells whether another would be the same again.
#[derive(Deserialize)]
struct Earlier {
    timestamp: String,
    rule: String,
    caller: String,
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("alerts.jsonl")
}

impl Alert<'_> {
    pub(crate) fn message(&self) -> String {
        let AlertRule { name, more_than, window_ms, .. } = self.rule;
        format!(
            "alert `{name}`: more than {more_than} violations in {} s; human review needed",
            window_ms / 1000
        )
    }

    /// Writes it down, unless the same was raised within the window and nobody has released the caller since.
    /// Looking and writing happen under one lock, so that two processes do not raise it twice.
    pub(crate) fn raise(&self, dir: &Path, released: Option<Timestamp>) -> Result<bool, AuditError> {
        let path = path(dir);
        self.raise_in(&path, released).map_err(AuditError::io("write", &path))
    }

    fn raise_in(&self, path: &Path, released: Option<Timestamp>) -> io::Result<bool> {
        let file = disk::open_to_append(path)?;
        disk::lock(&file)?;
        if tail(&file)?.iter().any(|earlier| self.repeats(earlier, released)) {
            return Ok(false);
        }
        disk::append_locked(&file, &self.line())?;
        file.sync_data()?;
        Ok(true)
    }

    fn repeats(&self, earlier: &Earlier, released: Option<Timestamp>) -> bool {
        let Some(time) = moment::parse(&earlier.timestamp) else { return false };
        let recent = self.now.millis_since(time) < self.rule.window_ms;
        let reviewed = released.is_some_and(|released| time <= released);
        earlier.rule == self.rule.name && earlier.caller == self.caller && recent && !reviewed
    }

    fn line(&self) -> String {
        let mut out = String::new();
        let mut line = Object::begin(&mut out);
        line.time("timestamp", self.now);
        line.text("severity", "CRITICAL", SHORT);
        line.text("rule", &self.rule.name, SHORT);
        line.text("caller", self.caller, subject::JSON_LIMIT);
        line.number("more_than", self.rule.more_than as u64);
        line.number("window_ms", self.rule.window_ms);
        line.text("action", self.action.as_str(), SHORT);
        line.text("call_id", self.call_id, SHORT);
        line.end_line();
        out
    }
}

fn tail(file: &File) -> io::Result<Vec<Earlier>> {
    let length = file.metadata()?.len();
    let bytes = disk::read_span(file, length.saturating_sub(TAIL), length)?;
    // The first line of a tail may be half of one; it does not parse and is passed over.
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(vambrace_json::own_line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ViolationKind::{Auth, Blocked, Scope, SsrfKubernetes, SsrfMetadata, SsrfPrivate};

    /// `seen` is how long ago, in seconds, and what; the last one is the newest.
    #[track_caller]
    fn check(seen: &[(i64, ViolationKind)], expected: &[&str]) {
        let now = Timestamp::from_millis(10_000_000);
        let sightings: Vec<Sighting> = seen
            .iter()
            .map(|(ago, kind)| Sighting {
                time: Timestamp::from_millis(10_000_000 - ago * 1000),
                kind: *kind,
            })
            .collect();
        let settings = AlertSettings::default();
        let rules = triggered(&settings.rules, &sightings, seen.last().unwrap().1, now);
        assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), expected, "{seen:?}");
    }

    #[test]
    fn five_a_minute_are_borne_and_six_are_not() {
        check(&[(0, Scope); 5], &[]);
        check(&[(0, Scope); 6], &["violations"]);
        check(&[(59, Scope), (0, Blocked), (0, Scope), (0, Scope), (0, Scope), (0, Scope)], &["violations"]);
        check(&[(60, Scope), (0, Blocked), (0, Scope), (0, Scope), (0, Scope), (0, Scope)], &[]);
        // A clock that was set back does not hide violations.
        check(&[(-90, Scope), (0, Blocked), (0, Scope), (0, Scope), (0, Scope), (0, Scope)], &["violations"]);
    }

    #[test]
    fn ten_private_addresses_an_hour_are_borne_and_eleven_are_not() {
        let spread = |n: i64| (0..n).rev().map(|i| (i * 300, SsrfPrivate)).collect::<Vec<_>>();
        check(&spread(10), &[]);
        check(&spread(11), &["ssrf"]);
        check(&spread(12), &["ssrf"]); // the twelfth is 3300 s old
        check(&[vec![(3600, SsrfPrivate)], spread(10)].concat(), &[]);
    }

    #[test]
    fn metadata_and_kubernetes_need_only_one() {
        check(&[(0, SsrfMetadata)], &["metadata"]);
        check(&[(0, SsrfKubernetes)], &["kubernetes"]);
        // An old one does not make a new violation of another kind an alert.
        check(&[(0, SsrfMetadata), (0, Scope)], &[]);
    }

    #[test]
    fn wrong_credentials_count_for_themselves() {
        check(&[(0, Auth); 9], &[]);
        check(&[(0, Auth); 10], &["auth"]);
        check(&[(0, Auth), (0, Auth), (0, Scope), (0, Scope), (0, Scope), (0, Scope)], &[]);
    }
}
