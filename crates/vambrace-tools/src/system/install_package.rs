//! `install_package`: infrastructure by the machine's package managers. Project dependencies have their own tool.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Denial, ManageSystem, Permit, Reason, Variable, VariableValue};
use vambrace_types::{ErrorCode, RawOutput, Secret, ToolError, Tree};

use super::{as_administrator, bad_name, is_plain_name, words};
use crate::shell::Outcome;
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct InstallPackageTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstallPackageArgs {
    /// Package manager: apt, cargo or npm-g.
    manager: String,
    /// Name of the package.
    package: String,
    /// Exact version. Default: what the package manager chooses.
    version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Apt,
    Cargo,
    NpmGlobal,
}

impl Manager {
    fn parse(text: &str) -> Result<Manager, ToolError> {
        match text {
            "apt" => Ok(Manager::Apt),
            "cargo" => Ok(Manager::Cargo),
            "npm-g" => Ok(Manager::NpmGlobal),
            "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "pipx" | "poetry" | "uv" | "bundler"
            | "gem" | "composer" | "go" => {
                let what = format!("`{text}` installs project dependencies, which system tools do not.");
                let next = "Use install_dependencies, which follows the lock file (npm ci, poetry install).";
                Err(Denial::new(Reason::Discipline { what, next }, "system.project_dependencies")
                    .to_tool_error())
            }
            _ => Err(ToolError::new(
                ErrorCode::ValidationError,
                format!("There is no package manager `{text}`."),
            )
            .suggestion("Use apt, cargo or npm-g.")),
        }
    }

    fn is_package(self, name: &str) -> bool {
        match self {
            // apt-get takes a dash at the end for an order to remove, and capital letters name no package.
            Manager::Apt => {
                is_plain_name(name, "+.-")
                    && !name.ends_with('-')
                    && !name.contains(|c: char| c.is_ascii_uppercase())
            }
            Manager::Cargo => is_plain_name(name, "-_"),
            // npm takes other forms for addresses, folders and archives.
            Manager::NpmGlobal => {
                let is_part = |part: &str| is_plain_name(part, "-_.");
                let is_archive =
                    [".tgz", ".tar", ".gz"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
                let is_name = match name.strip_prefix('@') {
                    Some(scoped) => {
                        scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name))
                    }
                    None => is_part(name),
                };
                is_name && !is_archive
            }
        }
    }

    fn is_version(self, version: &str) -> bool {
        let more = match self {
            Manager::Apt => ".+:~-",
            Manager::Cargo | Manager::NpmGlobal => ".+-",
        };
        is_plain_name(version, more) && version.starts_with(|letter: char| letter.is_ascii_digit())
    }

    fn vector(self, package: &str, version: Option<&str>) -> Vec<String> {
        match self {
            Manager::Apt => {
                let wanted = version.map_or(package.to_owned(), |version| format!("{package}={version}"));
                words(&[
                    "apt-get",
                    "install",
                    "-y",
                    "-q",
                    "--no-install-recommends",
                    "--no-remove",
                    // A dot in a name that does not exist would else be a pattern for others.
                    "-oAPT::Cmd::Pattern-Only=true",
                    "-oDpkg::Use-Pty=0",
                    "-oDpkg::Options::=--force-confdef",
                    "-oDpkg::Options::=--force-confold",
                    "--",
                    &wanted,
                ])
            }
            Manager::Cargo => {
                // Programs are kept offline everywhere else.
                let mut vector = words(&["cargo", "--config", "net.offline=false", "install", "--locked"]);
                vector.extend(version.map(|version| format!("--version=={version}")));
                vector.extend(words(&["--", package]));
                vector
            }
            Manager::NpmGlobal => {
                let wanted = version.map_or(package.to_owned(), |version| format!("{package}@{version}"));
                words(&["npm", "install", "--global", "--yes", "--no-audit", "--no-fund", "--", &wanted])
            }
        }
    }
}

impl Tool for InstallPackageTool {
    type Args = InstallPackageArgs;
    type Action = ManageSystem;

    fn about(&self) -> About {
        About::of(
            "install_package",
            "Install a system package",
            "Installs infrastructure on this machine with apt, cargo or npm -g, without questions. A person \
                      approves each call. Project dependencies are refused: use install_dependencies.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: true },
        )
    }

    fn plan(&self, args: InstallPackageArgs, context: &CallContext<'_>) -> Result<ManageSystem, ToolError> {
        let manager = Manager::parse(&args.manager)?;
        let (package, version) = (args.package.as_str(), args.version.as_deref());
        if !manager.is_package(package) {
            return Err(bad_name("package", package, "the plain name of a package, such as curl"));
        }
        if let Some(version) = version.filter(|version| !manager.is_version(version)) {
            return Err(bad_name("version", version, "an exact version, such as 1.2.3"));
        }
        let vector = manager.vector(package, version);
        let vector = match manager {
            Manager::Apt | Manager::NpmGlobal => as_administrator(context.toolbox, vector),
            // Into the person's own folder.
            Manager::Cargo => vector,
        };
        let value = VariableValue::Plain(Secret::new("noninteractive".to_owned()));
        let at = version.map(|version| format!(" in version `{version}`")).unwrap_or_default();
        Ok(ManageSystem {
            what: format!("install `{package}`{at} on this machine with {}.", args.manager),
            steps: vec![vector],
            variables: vec![Variable { name: "DEBIAN_FRONTEND".to_owned(), value }],
            folder: context.service()?,
            time: context.toolbox.time_most,
        })
    }

    async fn run(&self, permit: Permit<ManageSystem>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let finished = hands.run(permit, None).await?;
        let installed = finished.exit.code() == 0 && !finished.timed_out && !finished.cut;
        let entries = std::iter::once(("installed", Tree::Bool(installed)));
        Ok(RawOutput::new(Tree::map(entries.chain(Outcome::of(&finished, hands).entries()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manager: Manager, package: &str, allowed: bool) {
        assert_eq!(manager.is_package(package), allowed, "{manager:?} {package}");
    }

    #[test]
    fn a_package_is_a_plain_name() {
        check(Manager::Apt, "curl", true);
        check(Manager::Apt, "g++", true);
        check(Manager::Apt, "python3.11", true);
        check(Manager::Apt, "sudo-", false); // would be removed
        check(Manager::Apt, "curl=1", false);
        check(Manager::Apt, "./x.deb", false);
        check(Manager::Apt, "Curl", false);
        check(Manager::Apt, "a*", false);
        check(Manager::Apt, "^task", false);
        check(Manager::Apt, "-o=x", false);
        check(Manager::Apt, "", false);
        check(Manager::Cargo, "ripgrep", true);
        check(Manager::Cargo, "--git=x", false);
        check(Manager::Cargo, "a@1", false);
        check(Manager::NpmGlobal, "typescript", true);
        check(Manager::NpmGlobal, "@scope/name", true);
        check(Manager::NpmGlobal, "user/repository", false);
        check(Manager::NpmGlobal, "git+https://x/y", false);
        check(Manager::NpmGlobal, "x.tgz", false);
        check(Manager::NpmGlobal, "../x", false);
        check(Manager::NpmGlobal, "@a/b/c", false);
    }

    #[track_caller]
    fn check_version(manager: Manager, version: &str, allowed: bool) {
        assert_eq!(manager.is_version(version), allowed, "{manager:?} {version}");
    }

    #[test]
    fn a_version_is_exact() {
        check_version(Manager::Apt, "1:2.3-4+deb12u1~x", true);
        check_version(Manager::Apt, "*", false);
        check_version(Manager::Cargo, "1.2.3-rc.1+b", true);
        check_version(Manager::Cargo, "^1", false);
        check_version(Manager::NpmGlobal, "5.4.2", true);
        check_version(Manager::NpmGlobal, "npm:other", false);
        check_version(Manager::NpmGlobal, "latest", false);
    }

    #[test]
    fn managers_of_projects_are_refused_with_the_right_tool() {
        for name in ["pip", "npm", "poetry"] {
            let error = Manager::parse(name).unwrap_err();
            assert_eq!(error.code, ErrorCode::PolicyViolation);
            assert!(error.suggestion.contains("install_dependencies"));
        }
        assert_eq!(Manager::parse("brew").unwrap_err().code, ErrorCode::ValidationError);
        assert_eq!(Manager::parse("npm-g"), Ok(Manager::NpmGlobal));
    }

    #[test]
    fn what_is_installed_is_the_last_word() {
        for (manager, last) in [(Manager::Apt, "x=1"), (Manager::Cargo, "x"), (Manager::NpmGlobal, "x@1")] {
            let vector = manager.vector("x", Some("1"));
            assert_eq!(vector[vector.len() - 2..], ["--".to_owned(), last.to_owned()]);
        }
    }
}
