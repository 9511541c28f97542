//! Who runs beside us: built, installed or found; and said plainly when missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::place::{self, Place};

/// How the reference server is named in tables and messages.
pub(crate) const REFERENCE: &str = "reference filesystem server";
/// How the reference fetch server is named, on PyPI and in tables.
pub(crate) const FETCH_SERVER: &str = "mcp-server-fetch";
const PACKAGE: &str = "@modelcontextprotocol/server-filesystem";

/// A peer: where it is and which version, or what to do to get it.
pub(crate) enum Peer {
    Here { program: PathBuf, version: String },
    Missing { name: &'static str, fix: String },
}

impl Peer {
    pub(crate) fn program(&self) -> Option<&Path> {
        match self {
            Peer::Here { program, .. } => Some(program),
            Peer::Missing { .. } => None,
        }
    }

    pub(crate) fn described(&self) -> String {
        match self {
            Peer::Here { version, .. } => version.clone(),
            Peer::Missing { name, .. } => format!("{name} (missing)"),
        }
    }

    pub(crate) fn announce(self) -> Peer {
        if let Peer::Missing { name, fix } = &self {
            println!("Missing: {name}. Going on without. {fix}");
        }
        self
    }
}

/// The cargo that started us. It set this variable for us, and a build script below asks for it: passed on, it would
/// have everything above that built anew each time.
pub(crate) fn cargo(place: &Place) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&place.root).env_remove("CARGO_MANIFEST_DIR");
    command
}

/// Builds the product in the profile that people run.
pub(crate) fn vambrace(place: &Place) -> Result<(), Failure> {
    let status = cargo(place)
        .args(["build", "--quiet", "--release", "--package", "vambrace"])
        .status()
        .map_err(Failure::start("cargo"))?;
    if status.success() && place.vambrace.is_file() {
        return Ok(());
    }
    Err(Failure::new("the release binary was not built", "Run `cargo build --release` and fix what it says."))
}

/// The reference filesystem server of MCP, pinned with hashes in `bench/tools`.
pub(crate) fn reference(place: &Place) -> Result<Peer, Failure> {
    let missing = |fix: String| Peer::Missing { name: REFERENCE, fix }.announce();
    let packages = Npm { from: "bench/tools", into: "node" };
    match packages.install(place, PACKAGE, "dist/index.js")? {
        Ok((program, version)) => Ok(Peer::Here { program, version }),
        Err(fix) => Ok(missing(fix)),
    }
}

/// Packages from npm, pinned with hashes in a folder of our sources.
pub(crate) struct Npm {
    pub(crate) from: &'static str,
    /// A folder among the tools.
    pub(crate) into: &'static str,
}

impl Npm {
    /// Where a package's script is and which version it has; or what to do to get it.
    pub(crate) fn install(
        &self,
        place: &Place,
        package: &str,
        script: &str,
    ) -> Result<Result<(PathBuf, String), String>, Failure> {
        let folder = place.tools.join(self.into);
        let home = folder.join("node_modules").join(package);
        let program = home.join(script);
        let sources = ["package.json", "package-lock.json"].map(|name| place.root.join(self.from).join(name));
        let mut wanted = String::new();
        for source in &sources {
            wanted += &fs::read_to_string(source).map_err(Failure::disk(source))?;
        }
        let is_stamped = fs::read_to_string(folder.join("stamp")).is_ok_and(|found| found == wanted);
        let Some(node) = answer(Command::new("node").arg("--version")) else {
            return Ok(Err("It runs on Node: as root, run `apt-get install nodejs npm`.".to_owned()));
        };
        if !is_stamped || !program.is_file() {
            println!("Installing {package} from npm into target/bench-tools.");
            place::make_empty(&folder)?;
            for source in &sources {
                let copy = folder.join(source.file_name().unwrap_or_default());
                fs::copy(source, &copy).map_err(Failure::disk(&copy))?;
            }
            let mut install = Command::new("npm");
            install.current_dir(&folder).args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
            install.args(["--loglevel", "error"]);
            if !install.status().is_ok_and(|status| status.success()) || !program.is_file() {
                let fix = "Install Debian's `npm`, check the network and run this again.";
                return Ok(Err(fix.to_owned()));
            }
            place::write(&folder.join("stamp"), &wanted)?;
        }
        let manifest = home.join("package.json");
        let manifest = fs::read(&manifest).map_err(Failure::disk(&manifest))?;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap_or_default();
        let version =
            manifest.get("version").and_then(serde_json::Value::as_str).unwrap_or("of unknown version");
        Ok(Ok((program, format!("{package} {version} on Node {node}"))))
    }
}

/// The reference fetch server of MCP, pinned with hashes in `bench/tools/fetch`, in a virtual environment of its own.
pub(crate) fn fetch_server(place: &Place) -> Result<Peer, Failure> {
    let packages = Pip { from: "bench/tools/fetch", into: "fetch" };
    let missing = |fix: String| Peer::Missing { name: FETCH_SERVER, fix }.announce();
    match packages.install(place, &[FETCH_SERVER])? {
        Ok(found) => {
            let program = found.folder.join("bin").join(FETCH_SERVER);
            Ok(Peer::Here {
                program,
                version: format!("{} on {}", found.version(FETCH_SERVER), found.python),
            })
        }
        Err(fix) => Ok(missing(fix)),
    }
}

/// Packages from PyPI, pinned with hashes in a folder of our sources.
pub(crate) struct Pip {
    pub(crate) from: &'static str,
    /// A folder among the tools; the packages have it for themselves.
    pub(crate) into: &'static str,
}

/// A virtual environment that has what was asked for.
pub(crate) struct Installed {
    pub(crate) folder: PathBuf,
    pub(crate) python: String,
    requirements: String,
}

impl Installed {
    /// A package's name with its version.
    pub(crate) fn version(&self, package: &str) -> String {
        format!("{package} {}", pinned(&self.requirements, package).unwrap_or("of unknown version"))
    }
}

impl Pip {
    /// The environment with these programs in it; or what to do to get it.
    pub(crate) fn install(
        &self,
        place: &Place,
        programs: &[&str],
    ) -> Result<Result<Installed, String>, Failure> {
        let list = place.root.join(self.from).join("requirements.txt");
        let requirements = fs::read_to_string(&list).map_err(Failure::disk(&list))?;
        let folder = place.tools.join(self.into);
        let python = folder.join("bin/python");
        let is_whole = || programs.iter().all(|program| folder.join("bin").join(program).is_file());
        let is_stamped = fs::read_to_string(folder.join("stamp")).is_ok_and(|found| found == requirements);
        if !is_stamped || !is_whole() {
            println!("Installing {} from PyPI into target/bench-tools.", programs.join(" and "));
            place::make_empty(&folder)?;
            let mut make = Command::new("python3");
            make.args(["-m", "venv"]).arg(&folder);
            if !make.status().is_ok_and(|status| status.success()) {
                return Ok(Err("It runs on Python: as root, run `apt-get install python3-venv`.".to_owned()));
            }
            let mut install = Command::new(&python);
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            install.arg("--require-hashes").arg("--requirement").arg(&list);
            if !install.status().is_ok_and(|status| status.success()) || !is_whole() {
                return Ok(
                    Err("Check the network and `pip`'s own settings, then run this again.".to_owned()),
                );
            }
            place::write(&folder.join("stamp"), &requirements)?;
        }
        let python = answer(Command::new(&python).arg("--version")).unwrap_or_default();
        Ok(Ok(Installed { folder, python, requirements }))
    }
}

/// The version of a package in a list of requirements.
fn pinned<'t>(requirements: &'t str, package: &str) -> Option<&'t str> {
    let versions = requirements.lines().filter_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
    versions.filter_map(|rest| rest.split_whitespace().next()).next()
}

/// Debian's ripgrep; installed when that is ours to do.
pub(crate) fn ripgrep() -> Peer {
    debian("ripgrep", "rg", "--version")
}

/// A program of Debian's package `name`, which is installed when that is ours to do. `ask` makes it tell its version.
pub(crate) fn debian(name: &'static str, program: &str, ask: &str) -> Peer {
    let find = || answer(Command::new(program).arg(ask));
    let version = find().or_else(|| {
        if is_root() {
            println!("Installing {name} with apt-get.");
            // Whether it worked is seen by looking for the program again.
            let _ = Command::new("apt-get").args(["update", "-qq"]).status();
            let mut install = Command::new("apt-get");
            install.args(["install", "--yes", "-qq", "--no-install-recommends", name]);
            let _ = install.env("DEBIAN_FRONTEND", "noninteractive").status();
        }
        find()
    });
    let missing =
        || Peer::Missing { name, fix: format!("As root, run `apt-get update && apt-get install {name}`.") };
    version.map_or_else(missing, |version| Peer::Here { program: program.into(), version }).announce()
}

pub(crate) fn is_root() -> bool {
    answer(Command::new("id").arg("-u")).is_some_and(|id| id == "0")
}

pub(crate) fn grep() -> Peer {
    let missing = || Peer::Missing { name: "grep", fix: "As root, run `apt-get install grep`.".to_owned() };
    let version = answer(Command::new("grep").arg("--version"));
    version.map_or_else(missing, |version| Peer::Here { program: "grep".into(), version }).announce()
}

/// The least a server could do: read a line, write a line. In C, or if there is no compiler our own binary does it.
pub(crate) enum Echo {
    C { program: PathBuf, version: String },
    Own { program: PathBuf },
}

const ECHO_SOURCE: &str = include_str!("echo.c");

pub(crate) fn echo(place: &Place) -> Result<Echo, Failure> {
    let (source, program) = (place.tools.join("echo.c"), place.tools.join("echo"));
    place::write(&source, ECHO_SOURCE)?;
    let built = Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&source).status();
    if built.is_ok_and(|status| status.success()) {
        let version = answer(Command::new("cc").arg("--version")).unwrap_or_default();
        return Ok(Echo::C { program, version });
    }
    println!(
        "Missing: a C compiler (`cc`). The pipe echo is our own, in Rust. As root, run `apt-get install gcc`."
    );
    let program = std::env::current_exe().map_err(Failure::disk(Path::new("our own binary")))?;
    Ok(Echo::Own { program })
}

impl Echo {
    /// Answers every line with one of `n_bytes`, the line end included.
    pub(crate) fn command(&self, n_bytes: usize) -> Command {
        let mut command = match self {
            Echo::C { program, .. } => Command::new(program),
            Echo::Own { program } => {
                let mut command = Command::new(program);
                command.arg("--echo");
                command
            }
        };
        command.arg(n_bytes.to_string());
        command
    }

    pub(crate) fn described(&self) -> String {
        match self {
            Echo::C { version, .. } => format!("pipe echo in C ({version})"),
            Echo::Own { .. } => "pipe echo in Rust (no C compiler here)".to_owned(),
        }
    }
}

/// The first line of what a program prints, if it can be started and succeeds.
fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_version_is_found_under_the_whole_name() {
        let list = "mcp-server==1 \\\n    --hash=x\nmcp-server-fetch==2026.1.2 \\\n    --hash=y\nother==3\n";
        assert_eq!(pinned(list, FETCH_SERVER), Some("2026.1.2"));
        assert_eq!(pinned(list, "other"), Some("3"));
        assert_eq!(pinned(list, "server-fetch"), None);
        assert_eq!(pinned("", FETCH_SERVER), None);
    }

    #[track_caller]
    fn check_list(list: &str, packages: &[&str]) {
        assert!(packages.iter().all(|package| pinned(list, package).is_some()));
        let lines: Vec<&str> = list.lines().collect();
        for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("==")) {
            let next = lines.get(place + 1).copied().unwrap_or_default();
            assert!(next.trim_start().starts_with("--hash=sha256:"), "{line}");
        }
    }

    #[test]
    fn our_own_lists_pin_what_is_run_and_every_hash() {
        check_list(include_str!("../tools/fetch/requirements.txt"), &[FETCH_SERVER]);
        check_list(include_str!("../tools/scanners/requirements.txt"), &["kingfisher-bin", "detect-secrets"]);
    }
}
