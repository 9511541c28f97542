//! The scanners beside us: installed, started on a folder, and their findings read. Nobody asks a vendor's server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cost::{self, Cost};
use crate::failure::Failure;
use crate::peers::{Peer, Pip};
use crate::place::Place;

pub(super) const KINGFISHER: &str = "kingfisher";
pub(super) const DETECT_SECRETS: &str = "detect-secrets";

/// Something that a scanner found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) path: PathBuf,
    /// Counted from one.
    pub(super) line: usize,
    pub(super) rule: String,
}

pub(super) struct Scanners {
    kingfisher: Peer,
    detect_secrets: Peer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Ordinary,
    /// Without looking at encoded text, languages and surroundings: the fastest it has.
    Turbo,
}

impl Scanners {
    pub(super) fn find(place: &Place) -> Result<Scanners, Failure> {
        let packages = Pip { from: "bench/tools/scanners", into: "scanners" };
        let missing = |name, fix: &str| Peer::Missing { name, fix: fix.to_owned() }.announce();
        let found = match packages.install(place, &[KINGFISHER, DETECT_SECRETS])? {
            Ok(found) => found,
            Err(fix) => {
                return Ok(Scanners {
                    kingfisher: missing(KINGFISHER, &fix),
                    detect_secrets: missing(DETECT_SECRETS, &fix),
                });
            }
        };
        // The package's own program in Python only starts this one, and would cost more than that.
        let kingfisher = match binary(&found.folder) {
            Some(program) => Peer::Here { program, version: found.version("kingfisher-bin") },
            None => missing(KINGFISHER, "Its package has changed: look for the binary."),
        };
        let version = format!("{} on {}", found.version(DETECT_SECRETS), found.python);
        let detect_secrets = Peer::Here { program: found.folder.join("bin").join(DETECT_SECRETS), version };
        Ok(Scanners { kingfisher, detect_secrets })
    }

    pub(super) fn described(&self) -> Vec<String> {
        vec![self.kingfisher.described(), self.detect_secrets.described()]
    }

    /// What kingfisher finds in files and folders, and what that costs. Nothing if it is not here.
    pub(super) fn kingfisher(
        &self,
        place: &Place,
        paths: &[PathBuf],
        mode: Mode,
    ) -> Result<Option<(Vec<Hit>, Cost)>, Failure> {
        let Some(program) = self.kingfisher.program() else { return Ok(None) };
        let report = place.data.join("redact-kingfisher.json");
        let mut command = quiet(place, program, KINGFISHER)?;
        command.arg("scan").args(paths).args(["--no-validate", "--jobs", "1", "--no-dedup", "--no-ignore"]);
        command.args(["--no-update-check", "--quiet", "--max-file-size", "0", "--git-history", "none"]);
        command.args(["--format", "json", "--output"]).arg(&report);
        if mode == Mode::Turbo {
            command.arg("--turbo");
        }
        let _ = fs::remove_file(&report);
        // Its exit code tells how bad the findings are.
        let (_, cost) = cost::of_command(KINGFISHER, &mut command)?;
        let told = fs::read(&report).map_err(Failure::disk(&report))?;
        let told: Value = serde_json::from_slice(&told)
            .map_err(|problem| Failure::wrong(KINGFISHER, "wrote no JSON", &problem.to_string()))?;
        Ok(Some((kingfisher_hits(&told), cost)))
    }

    /// What detect-secrets finds in a folder.
    pub(super) fn detect_secrets(
        &self,
        place: &Place,
        folder: &Path,
    ) -> Result<Option<(Vec<Hit>, Cost)>, Failure> {
        let Some(program) = self.detect_secrets.program() else { return Ok(None) };
        let report = place.data.join("redact-detect-secrets.json");
        let file = fs::File::create(&report).map_err(Failure::disk(&report))?;
        let mut command = quiet(place, program, DETECT_SECRETS)?;
        command.current_dir(folder).args(["scan", "--all-files", "--no-verify", "."]).stdout(file);
        let (status, cost) = cost::of_command(DETECT_SECRETS, &mut command)?;
        let told = fs::read(&report).map_err(Failure::disk(&report))?;
        match serde_json::from_slice::<Value>(&told) {
            Ok(told) if status.success() => Ok(Some((detect_secrets_hits(&told, folder), cost))),
            _ => Err(Failure::wrong(DETECT_SECRETS, "ended with", &status.to_string())),
        }
    }
}

/// With nothing of the person's in its environment; complaints go to a file among the data.
pub(super) fn quiet(place: &Place, program: &Path, who: &str) -> Result<Command, Failure> {
    let mut command = Command::new(program);
    let complaints = place.data.join(format!("redact-{who}.stderr"));
    let complaints = fs::File::create(&complaints).map_err(Failure::disk(&complaints))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", &place.data).env("LANG", "C.UTF-8");
    command.current_dir(&place.data).stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
    Ok(command)
}

fn binary(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder.join("lib")).ok()?;
    let place = |entry: std::io::Result<fs::DirEntry>| {
        Some(entry.ok()?.path().join("site-packages/kingfisher/bin/kingfisher"))
    };
    versions.filter_map(place).find(|program| program.is_file())
}

fn kingfisher_hits(told: &Value) -> Vec<Hit> {
    let hit = |finding: &Value| {
        let place = finding.get("finding")?;
        Some(Hit {
            path: place.get("path")?.as_str()?.into(),
            line: usize::try_from(place.get("line")?.as_u64()?).ok()?,
            rule: finding.pointer("/rule/name")?.as_str()?.to_owned(),
        })
    };
    let findings = told.get("findings").and_then(Value::as_array);
    findings.into_iter().flatten().filter_map(hit).collect()
}

fn detect_secrets_hits(told: &Value, folder: &Path) -> Vec<Hit> {
    let hit = |finding: &Value| {
        Some(Hit {
            path: folder.join(finding.get("filename")?.as_str()?),
            line: usize::try_from(finding.get("line_number")?.as_u64()?).ok()?,
            rule: finding.get("type")?.as_str()?.to_owned(),
        })
    };
    let files = told.get("results").and_then(Value::as_object).into_iter().flatten();
    files.flat_map(|(_, found)| found.as_array().into_iter().flatten()).filter_map(hit).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_are_read_from_both_reports() {
        let told = json!({"findings": [
            {"rule": {"name": "r"}, "finding": {"path": "/a/b.rs", "line": 7}},
            {"rule": {}, "finding": {"path": "/a/c.rs", "line": 7}},
        ]});
        let hit = Hit { path: "/a/b.rs".into(), line: 7, rule: "r".to_owned() };
        assert_eq!(kingfisher_hits(&told), std::slice::from_ref(&hit));
        assert_eq!(kingfisher_hits(&json!({})), []);
        let told = json!({"results": {"b.rs": [{"filename": "b.rs", "line_number": 7, "type": "r"}]}});
        assert_eq!(detect_secrets_hits(&told, Path::new("/a")), [hit]);
        assert_eq!(detect_secrets_hits(&json!({}), Path::new("/a")), []);
    }
}
