//! `install_dependencies` (specification 004): what the lock file names, and nothing else.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{Denial, InstallDependencies, Permit, Reason};
use vambrace_types::{ErrorCode, RawOutput, ScopedPath, ToolError, Tree};

use super::outcome::{Outcome, preview};
use crate::{About, CallContext, Hands, Hints, Look, Tool, Toolchain};

/// LIMIT: two installs in one folder exclude each other within one process; across processes the managers' own locks do.
#[derive(Default)]
pub(crate) struct InstallDependenciesTool {
    busy: Mutex<BTreeSet<ScopedPath>>,
}

const USUAL_TIME: Duration = Duration::from_secs(300);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstallDependenciesArgs {
    /// The package manager: npm, pnpm, yarn, poetry, uv, cargo, go, bundler or maven.
    manager: String,
}

/// A manager, its install that follows the lock file, and the lock files of which one has to be there.
struct Manager {
    name: &'static str,
    vector: &'static [&'static str],
    locks: &'static [&'static str],
}

const MANAGERS: [Manager; 9] = [
    Manager { name: "npm", vector: &["npm", "ci"], locks: &["package-lock.json", "npm-shrinkwrap.json"] },
    Manager { name: "pnpm", vector: &["pnpm", "install", "--frozen-lockfile"], locks: &["pnpm-lock.yaml"] },
    Manager { name: "yarn", vector: &["yarn", "install", "--frozen-lockfile"], locks: &["yarn.lock"] },
    Manager { name: "poetry", vector: &["poetry", "install", "--no-interaction"], locks: &["poetry.lock"] },
    Manager { name: "uv", vector: &["uv", "sync", "--frozen"], locks: &["uv.lock"] },
    Manager { name: "cargo", vector: &["cargo", "fetch", "--locked"], locks: &["Cargo.lock"] },
    Manager { name: "go", vector: &["go", "mod", "download"], locks: &["go.sum"] },
    Manager { name: "bundler", vector: &["bundle", "install"], locks: &["Gemfile.lock"] },
    // Maven has no lock file; the versions stand in the project's own file.
    Manager { name: "maven", vector: &["mvn", "-B", "dependency:resolve"], locks: &["pom.xml"] },
];

/// The newer yarn knows another word for the same, and is known by this file.
const NEWER_YARN: (&str, &[&str]) = (".yarnrc.yml", &["yarn", "install", "--immutable"]);

const RULE: &str = "install_dependencies";

impl Tool for InstallDependenciesTool {
    type Args = InstallDependenciesArgs;
    type Action = InstallDependencies;

    fn about(&self) -> About {
        About::of(
            "install_dependencies",
            "Install dependencies",
            "Installs the dependencies that the lock file of the service names (npm ci, poetry install, uv \
                      sync, cargo fetch …), in a cage. New dependencies are added by editing the manifest and the lock \
                      file, never by this tool.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: true },
        )
    }

    fn plan(
        &self,
        args: InstallDependenciesArgs,
        context: &CallContext<'_>,
    ) -> Result<InstallDependencies, ToolError> {
        let manager = manager_of(&args.manager)?;
        let own = operators(&context.toolbox.toolchains, manager);
        let vector = own.map_or_else(|| owned(manager.vector), |toolchain| toolchain.install.clone());
        Ok(InstallDependencies {
            manager: manager.name.to_owned(),
            vector,
            folder: context.service()?,
            time: own.and_then(|toolchain| toolchain.time).unwrap_or(USUAL_TIME),
        })
    }

    fn settle(
        &self,
        action: &InstallDependencies,
        look: &Look<'_>,
    ) -> Result<Option<InstallDependencies>, ToolError> {
        let manager = manager_of(&action.manager)?;
        let has = |name: &str| action.folder.join(name).is_some_and(|path| look.exists(&path));
        demand_lock(manager, &has)?;
        let (file, vector) = NEWER_YARN;
        if manager.name == "yarn" && action.vector == owned(manager.vector) && has(file) {
            return Ok(Some(InstallDependencies { vector: owned(vector), ..action.clone() }));
        }
        Ok(None)
    }

    fn preview(
        &self,
        permit: &Permit<InstallDependencies>,
        _look: &Look<'_>,
    ) -> Result<RawOutput, ToolError> {
        Ok(preview(self.about().name.as_str(), permit))
    }

    async fn run(
        &self,
        permit: Permit<InstallDependencies>,
        hands: &Hands<'_>,
    ) -> Result<RawOutput, ToolError> {
        let InstallDependencies { manager, vector, folder, .. } = permit.action().clone();
        let _turn = self.turn(&folder).ok_or_else(|| {
            let message = format!("Another install is under way in `{}`.", hands.spelled(&folder));
            ToolError::new(ErrorCode::ResourceBusy, message)
                .suggestion("Wait until it is done, then call again.")
        })?;
        let finished = hands.run(permit, None).await?;
        let mut entries = Outcome::of(&finished, hands).entries();
        entries.push(("manager", Tree::Text(manager)));
        entries.push(("command", Tree::List(vector.into_iter().map(Tree::Text).collect())));
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

/// Held while an install runs in a folder.
struct Turn<'a> {
    busy: &'a Mutex<BTreeSet<ScopedPath>>,
    folder: ScopedPath,
}

impl InstallDependenciesTool {
    fn turn(&self, folder: &ScopedPath) -> Option<Turn<'_>> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(folder.clone()).then(|| Turn { busy: &self.busy, folder: folder.clone() })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.folder);
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The operator's own install, where a toolchain's vector starts this manager.
fn operators<'a>(toolchains: &'a [Toolchain], manager: &Manager) -> Option<&'a Toolchain> {
    let program = manager.vector.first()?;
    toolchains.iter().find(|toolchain| toolchain.install.first().is_some_and(|word| word == program))
}

fn refuse(what: String, next: &'static str) -> ToolError {
    Denial::new(Reason::Discipline { what, next }, RULE).to_tool_error()
}

fn manager_of(name: &str) -> Result<&'static Manager, ToolError> {
    let known = match name {
        "mvn" => "maven",
        "bundle" => "bundler",
        other => other,
    };
    if let Some(manager) = MANAGERS.iter().find(|manager| manager.name == known) {
        return Ok(manager);
    }
    match name {
        "pip" | "pip3" | "pipx" | "easy_install" => Err(refuse(
            format!("`{name} install` follows no lock file, so it is not used here."),
            "Use manager `poetry` (poetry install) or `uv` (uv sync --frozen), which do.",
        )),
        other => Err(refuse(
            format!("`{other}` is not a package manager that installs from a lock file here."),
            "Use one of npm, pnpm, yarn, poetry, uv, cargo, go, bundler, maven.",
        )),
    }
}

fn demand_lock(manager: &Manager, has: &dyn Fn(&str) -> bool) -> Result<(), ToolError> {
    if manager.locks.iter().any(|name| has(name)) {
        return Ok(());
    }
    let names: Vec<String> = manager.locks.iter().map(|name| format!("`{name}`")).collect();
    Err(refuse(
        format!(
            "The service folder has no {}, and `{}` installs only what it names.",
            names.join(" or "),
            manager.name
        ),
        "Ask a person to make the lock file and commit it, or use the manager whose lock file is there.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manager: &str, there: &[&str], expected: Result<&str, &str>) {
        let found = manager_of(manager).and_then(|manager| {
            demand_lock(manager, &|name| there.contains(&name))?;
            Ok(manager.vector.join(" "))
        });
        let found = found.map_err(|error| format!("{} {}", error.code.as_str(), error.message));
        match (found, expected) {
            (Ok(vector), Ok(expected)) => assert_eq!(vector, expected, "{manager}"),
            (Err(error), Err(part)) => {
                assert!(error.starts_with("PolicyViolation") && error.contains(part), "{manager}: {error}");
            }
            (found, expected) => panic!("{manager}: {found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn installs_follow_a_lock_file() {
        check("npm", &["package-lock.json"], Ok("npm ci"));
        check("npm", &["npm-shrinkwrap.json"], Ok("npm ci"));
        check("npm", &["package.json"], Err("`package-lock.json` or `npm-shrinkwrap.json`"));
        check("pnpm", &["pnpm-lock.yaml"], Ok("pnpm install --frozen-lockfile"));
        check("yarn", &["yarn.lock"], Ok("yarn install --frozen-lockfile"));
        check("poetry", &["poetry.lock"], Ok("poetry install --no-interaction"));
        check("poetry", &["pyproject.toml"], Err("`poetry.lock`"));
        check("uv", &["uv.lock"], Ok("uv sync --frozen"));
        check("cargo", &["Cargo.lock"], Ok("cargo fetch --locked"));
        check("go", &["go.sum"], Ok("go mod download"));
        check("bundle", &["Gemfile.lock"], Ok("bundle install"));
        check("mvn", &["pom.xml"], Ok("mvn -B dependency:resolve"));
        check("pip", &["requirements.txt"], Err("follows no lock file"));
        check("apt", &[], Err("`apt` is not a package manager"));
        check("", &[], Err("is not a package manager"));
    }

    #[test]
    fn the_operator_has_the_last_word() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        let toolchains = [Toolchain {
            name: "node".to_owned(),
            install: words("npm ci --ignore-scripts"),
            ..Toolchain::default()
        }];
        let found = |name| {
            operators(&toolchains, manager_of(name).unwrap()).map(|toolchain| toolchain.install.join(" "))
        };
        assert_eq!(found("npm").as_deref(), Some("npm ci --ignore-scripts"));
        assert_eq!(found("cargo"), None);
    }

    #[test]
    fn one_install_for_a_folder() {
        let tool = InstallDependenciesTool::default();
        let folder = |name: &str| ScopedPath::from_components(vec![name.to_owned()]).unwrap();
        let first = tool.turn(&folder("a"));
        assert!(first.is_some() && tool.turn(&folder("a")).is_none());
        assert!(tool.turn(&folder("b")).is_some());
        drop(first);
        assert!(tool.turn(&folder("a")).is_some());
    }
}
