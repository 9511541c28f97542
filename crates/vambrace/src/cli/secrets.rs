//! `secrets baseline`: a person says which findings of a project are no secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};
use vambrace_config::resolve::{Sighting, Survey};
use vambrace_config::{Accepted, BaselineFile, ProfileName};
use vambrace_files::{Stop, SweepReport};
use vambrace_redact::{Baseline, FindingKind};
use vambrace_types::{Caller, Door};

use super::Exit;
use super::options::{Global, SecretsArgs, SecretsWhat};
use super::start::{configuration, environment, state_folder, usage, workspace};
use crate::terminal::progress::{Progress, speed};
use crate::terminal::{self, one_line};

/// LIMIT: nobody looks at more; the paths can be named one after the other.
const MOST: usize = 20_000;

pub(crate) fn run(global: &Global, args: SecretsArgs) -> Exit {
    let SecretsWhat::Baseline { paths, write, prune } = args.what;
    baseline(global, &paths, write && !global.dry_run, prune).unwrap_or_else(|exit| exit)
}

/// What the survey saw. Values are gone; their fingerprints stay.
#[derive(Default)]
struct Seen {
    /// With the reason that each is taken for a secret.
    findings: BTreeMap<Accepted, String>,
    /// Known values: where they stand.
    known: BTreeSet<(String, u64)>,
    /// There were more than are kept.
    cut: bool,
    report: SweepReport,
}

fn baseline(global: &Global, paths: &[String], write: bool, prune: bool) -> Result<Exit, Exit> {
    let loaded = configuration(global)?;
    let (root, spelled) = workspace(&loaded)?;
    let profile = loaded.config.profile;
    let wrong = |error: vambrace_config::resolve::ResolveError| usage(&error.to_string());
    let old = match BaselineFile::read(&root, profile).map_err(wrong)? {
        Some(file) => file,
        None => BaselineFile::new(salt()?),
    };
    let (keep, _) = workspace(&loaded)?;
    let state = state_folder(global)?;
    let survey = Survey::new(&loaded, &environment(), root, &spelled, &state).map_err(wrong)?;
    survey.warnings.iter().filter(|_| !global.quiet).for_each(|warning| terminal::warn(warning));
    let seen = look(global, &survey, paths, &old.salt)?;
    if seen.cut {
        terminal::fail(&format!(
            "there are more than {MOST} findings; name paths, and take one after the other"
        ));
        return Ok(Exit::Failed);
    }
    let mut new = old.clone();
    if prune {
        let found: BTreeSet<_> = seen.findings.keys().map(|entry| entry.fingerprint).collect();
        new.accepted.retain(|entry| found.contains(&entry.fingerprint));
    }
    // A value that was accepted stays listed once, where it was seen first: moving a line changes nothing.
    let listed: BTreeSet<_> = new.accepted.iter().map(|entry| entry.fingerprint).collect();
    let fresh: BTreeMap<&Accepted, &String> =
        seen.findings.iter().filter(|(entry, _)| !listed.contains(&entry.fingerprint)).collect();
    let mut taken = BTreeSet::new();
    let additions =
        fresh.keys().filter(|entry| taken.insert(entry.fingerprint)).map(|entry| (*entry).clone());
    new.accepted.extend(additions.collect::<Vec<_>>());
    let written = write && (new != old);
    if written {
        new.write(&keep, profile).map_err(|error| {
            terminal::fail(&format!("{}: {error}", BaselineFile::place(profile)));
            Exit::Failed
        })?;
    }
    let result = Shown { fresh, old: &old, new: &new, seen: &seen, write, written, profile };
    if global.json || !terminal::is_watched() {
        terminal::json(&result.json());
    } else {
        result.table();
    }
    if !seen.known.is_empty() && !global.quiet {
        let places: Vec<String> =
            seen.known.iter().take(5).map(|(path, line)| format!("{path}:{line}")).collect();
        let more = if seen.known.len() > 5 { ", …" } else { "" };
        terminal::warn(&format!(
            "values that are known to be secret stand in the project and stay redacted: {}{more}",
            places.join(", ")
        ));
    }
    if seen.report.n_unreadable > 0 && !global.quiet {
        terminal::warn(&format!("{} files could not be read", seen.report.n_unreadable));
    }
    Ok(Exit::Done)
}

fn salt() -> Result<[u8; 16], Exit> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| {
        terminal::fail(&format!("the system gives no random bytes: {error}"));
        Exit::Failed
    })?;
    Ok(salt)
}

fn look(global: &Global, survey: &Survey, paths: &[String], salt: &str) -> Result<Seen, Exit> {
    let caller = Caller::local(global.role, Door::CommandLine);
    let seen = Mutex::new(Seen::default());
    let progress = Mutex::new(Progress::new(!global.quiet));
    let (bytes, n_found) = (AtomicU64::new(0), AtomicUsize::new(0));
    let stop = Stop::default();
    let visit = |sighting: &Sighting<'_>| {
        let Sighting { path, line, finding, value } = sighting;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if finding.kind == FindingKind::Known {
            seen.known.insert((path.clone(), *line));
            return;
        }
        if seen.findings.len() >= MOST {
            seen.cut = true;
            stop.set();
            return;
        }
        let rule = finding.rule.to_string();
        let fingerprint = Baseline::fingerprint(salt, &rule, value);
        seen.findings.insert(Accepted { path: path.clone(), line: *line, rule, fingerprint }, finding.why());
        n_found.fetch_add(1, Ordering::Relaxed);
    };
    let passed = |n_bytes: usize| {
        let done = bytes.fetch_add(n_bytes as u64, Ordering::Relaxed) + n_bytes as u64;
        // Another thread may be drawing; then this one has nothing to add.
        if let Ok(mut progress) = progress.try_lock() {
            progress.tell(|time| {
                let (found, rate) = (n_found.load(Ordering::Relaxed), speed(done, time));
                format!("{:>8.1} MB looked through  {rate:>7.1} MB/s  {found} findings", done as f64 / 1e6)
            });
        }
    };
    let whole = [".".to_owned()];
    let mut report = SweepReport::default();
    for path in if paths.is_empty() { &whole[..] } else { paths } {
        let part = survey.run(&caller, path, &stop, &visit, &passed).map_err(|error| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.clear();
            terminal::fail(&error.message);
            Exit::Failed
        })?;
        report.n_files += part.n_files;
        report.n_unreadable += part.n_unreadable;
    }
    let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    seen.report = report;
    Ok(seen)
}

/// What is told at the end.
struct Shown<'a> {
    fresh: BTreeMap<&'a Accepted, &'a String>,
    old: &'a BaselineFile,
    new: &'a BaselineFile,
    seen: &'a Seen,
    write: bool,
    /// Whether the file is another one now.
    written: bool,
    profile: ProfileName,
}

impl Shown<'_> {
    fn n_gone(&self) -> usize {
        self.old.accepted.difference(&self.new.accepted).count()
    }

    fn json(&self) -> Value {
        let rows = self.fresh.iter().map(|(entry, why)| {
            json!({"path": entry.path, "line": entry.line, "rule": entry.rule, "why": why,
                   "fingerprint": entry.fingerprint.to_string()})
        });
        json!({
            "file": BaselineFile::place(self.profile),
            "written": self.written,
            "findings": rows.collect::<Vec<_>>(),
            "accepted_before": self.old.accepted.len(),
            "accepted": if self.write { self.new.accepted.len() } else { self.old.accepted.len() },
            "pruned": self.n_gone(),
            "known_values": self.seen.known.len(),
            "files": self.seen.report.n_files,
        })
    }

    fn table(&self) {
        for (entry, why) in &self.fresh {
            let place = format!("{}:{}", one_line(&entry.path), entry.line);
            terminal::say(&format!("{place:<40} {} {why}", format!("{:<28}", entry.rule).yellow()));
        }
        let file = BaselineFile::place(self.profile);
        let (n_fresh, n_old) = (self.fresh.len(), self.old.accepted.len());
        let told = match (self.write, n_fresh) {
            (true, _) => format!("{n_fresh} accepted, {n_old} before, {} forgotten: {file}", self.n_gone()),
            (false, 0) => format!("no findings beside the {n_old} that are accepted"),
            (false, _) => {
                format!("{n_fresh} findings; `--write` accepts them all in {file} ({n_old} there now)")
            }
        };
        terminal::say(&format!("{} files looked through; {told}", self.seen.report.n_files));
    }
}
