//! The rules of the house that no compiler checks, read from the tree as text.
//!
//! Each rule is a pure function from a workspace to findings; this file only runs them and prints.

mod bans;
mod budget;
mod licenses;
mod manifests;
mod sources;
mod strings;
mod tool_names;

use std::fmt;

use crate::failure::Failure;
use crate::workspace::Workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The run fails.
    Stop,
    /// Printed, for a person to weigh.
    Warn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) path: String,
    /// From 1; 0 when it is about the whole file.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn stop(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Stop, path: path.to_owned(), line, message: message.into() }
    }

    pub(crate) fn warn(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warn, path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Stop => "error",
            Severity::Warn => "warning",
        };
        match self.line {
            0 => write!(f, "{word}: {}: {}", self.path, self.message),
            line => write!(f, "{word}: {}:{line}: {}", self.path, self.message),
        }
    }
}

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let mut findings = text_findings(workspace);
    let packages = budget::packages(&workspace.root)?;
    findings.extend(budget::check(packages.len()));
    findings.extend(licenses::check(&packages));
    for finding in &findings {
        println!("{finding}");
    }
    let n_stops = findings.iter().filter(|finding| finding.severity == Severity::Stop).count();
    let n_files = workspace.files.len();
    println!(
        "tidy: {n_files} files, {} packages of {}, {n_stops} errors, {} warnings",
        packages.len(),
        budget::MOST_PACKAGES,
        findings.len() - n_stops
    );
    if n_stops > 0 {
        return Err(Failure::new(
            format!("tidy found {n_stops} errors"),
            "Each line above names the file and the rule; the rules are in xtask/src/tidy and ARCHITECTURE.md.",
        ));
    }
    Ok(())
}

fn text_findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = manifests::check(workspace);
    findings.extend(bans::check(workspace));
    findings.extend(tool_names::check(workspace));
    findings.extend(workspace.files.iter().filter(|file| file.is_rust()).flat_map(sources::check));
    findings.extend(workspace.files.iter().flat_map(strings::check));
    findings
}
