//! What the tests need beside cargo: Debian packages, the reference MCP client from PyPI, the MCP Inspector from npm.
//!
//! Installs what is missing where it may, and otherwise names the exact command. The PyPI and npm packages are pinned
//! with hashes in `xtask/tools` and live under `target`, so nothing of the user's is touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::run;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Installing {
    Allowed,
    /// Use what is there; say what is not.
    Forbidden,
}

/// Where the tests find their tools; `None` only when installing was forbidden.
pub(crate) struct TestTools {
    pub(crate) python: Option<PathBuf>,
    pub(crate) inspector: Option<PathBuf>,
    /// What is missing, for the summary.
    pub(crate) missing: Vec<String>,
}

/// A Debian package, and a command that succeeds once what we need of it is there, whoever installed it.
const DEBIAN: [(&str, &[&str]); 15] = [
    ("git", &["git", "--version"]),
    // Debian splits `ensurepip` off, and a virtual environment needs it.
    ("python3-venv", &["python3", "-c", "import ensurepip, venv"]),
    ("nodejs", &["node", "--version"]),
    ("npm", &["npm", "--version"]),
    ("ripgrep", &["rg", "--version"]),
    // A cage in the tests shows the system's programs, so one that another Python in a home folder has does not count.
    ("python3-pytest", &["/usr/bin/pytest", "--version"]),
    // The other backends of the cage.
    ("bubblewrap", &["bwrap", "--version"]),
    ("firejail", &["firejail", "--version"]),
    // Programs of the default list that the tests run.
    ("jq", &["jq", "--version"]),
    ("util-linux", &["setpriv", "--version"]),
    // Raises the loopback of a network that a test makes.
    ("iproute2", &["ip", "-V"]),
    // What programs in a cage use to reach listed hosts, a server that speaks TLS, and a person's terminal.
    ("curl", &["curl", "--version"]),
    ("wget", &["wget", "--version"]),
    ("openssl", &["openssl", "version"]),
    ("bsdutils", &["script", "--version"]),
];

const COMPONENTS: [(&str, &[&str]); 2] =
    [("rustfmt", &["cargo", "fmt", "--version"]), ("clippy", &["cargo", "clippy", "--version"])];

pub(crate) fn prepare(root: &Path, installing: Installing) -> Result<TestTools, Failure> {
    let mut tools = TestTools { python: None, inspector: None, missing: Vec::new() };
    rust_components(installing)?;
    for package in debian_packages(installing)? {
        tools.missing.push(format!("the program of Debian package `{package}`"));
    }
    let folder = root.join("target/test-tools");
    match python(root, &folder.join("python"), installing)? {
        Some(python) => tools.python = Some(python),
        None => tools.missing.push("the reference MCP client (PyPI package `mcp`)".into()),
    }
    match inspector(root, &folder.join("node"), installing)? {
        Some(inspector) => tools.inspector = Some(inspector),
        None => {
            tools.missing.push("the MCP Inspector (npm package `@modelcontextprotocol/inspector`)".into())
        }
    }
    for missing in &tools.missing {
        println!("not installed: {missing}");
    }
    Ok(tools)
}

fn rust_components(installing: Installing) -> Result<(), Failure> {
    let missing: Vec<&str> =
        COMPONENTS.iter().filter(|(_, probe)| !run::succeeds(probe)).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let fix = format!("Run `rustup component add {}`.", missing.join(" "));
    if installing == Installing::Forbidden {
        return Err(Failure::new(format!("missing: {}", missing.join(", ")), fix));
    }
    twice(|| {
        let mut command = Command::new("rustup");
        command.args(["component", "add"]).args(&missing);
        run::run(&mut command, &fix)
    })
}

/// What is still missing afterwards, which is nothing when installing was allowed.
fn debian_packages(installing: Installing) -> Result<Vec<&'static str>, Failure> {
    let missing: Vec<&str> =
        DEBIAN.iter().filter(|(_, probe)| !run::succeeds(probe)).map(|(name, _)| *name).collect();
    if missing.is_empty() || installing == Installing::Forbidden {
        return Ok(missing);
    }
    let line = format!("apt-get install --yes -qq --no-install-recommends {}", missing.join(" "));
    let fix = format!("As root, run `apt-get update && {line}`.");
    let Some(privilege) = privilege().filter(|_| run::succeeds(&["apt-get", "--version"])) else {
        return Err(Failure::new(format!("missing, and not ours to install: {}", missing.join(", ")), fix));
    };
    println!("installing {} with apt-get", missing.join(", "));
    twice(|| {
        run::run(&mut privilege.command(&["apt-get", "update", "-qq"]), &fix)?;
        let words: Vec<&str> = line.split(' ').collect();
        run::run(privilege.command(&words).env("DEBIAN_FRONTEND", "noninteractive"), &fix)
    })?;
    Ok(Vec::new())
}

enum Privilege {
    Root,
    Sudo,
}

impl Privilege {
    fn command(&self, words: &[&str]) -> Command {
        let (program, arguments) = words.split_first().unwrap_or((&"true", &[]));
        let mut command = match self {
            Privilege::Root => Command::new(program),
            Privilege::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", program]);
                sudo
            }
        };
        command.args(arguments);
        command
    }
}

/// Without asking for a password: a test run that waits for one looks like a test run that hangs.
fn privilege() -> Option<Privilege> {
    if run::output_of(Command::new("id").arg("-u"), "").is_ok_and(|id| id.trim() == "0") {
        return Some(Privilege::Root);
    }
    run::succeeds(&["sudo", "-n", "true"]).then_some(Privilege::Sudo)
}

/// The interpreter of a virtual environment that holds the reference MCP client.
fn python(root: &Path, folder: &Path, installing: Installing) -> Result<Option<PathBuf>, Failure> {
    let list = root.join("xtask/tools/requirements.txt");
    let interpreter = folder.join("bin/python");
    let wanted = read(&list)?;
    if is_stamped(folder, &wanted) && interpreter.exists() {
        return Ok(Some(interpreter));
    }
    if installing == Installing::Forbidden {
        return Ok(None);
    }
    println!("installing the reference MCP client from PyPI");
    let fix = "Check the network and `pip`'s own settings, then run this again.";
    twice(|| {
        make_empty(folder)?;
        run::run(
            Command::new("python3").args(["-m", "venv"]).arg(folder),
            "Install Debian's `python3-venv`.",
        )?;
        let mut install = Command::new(&interpreter);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]);
        run::run(install.arg("--requirement").arg(&list), fix)
    })?;
    stamp(folder, &wanted)?;
    Ok(Some(interpreter))
}

/// A script that starts the MCP Inspector with a Node new enough for it, which Debian's may not be.
const INSPECTOR_SCRIPT: &str = r#"#!/bin/sh
# Written by `cargo xtask test`. The catalog stays here, so that nobody's home folder is touched.
here=$(dirname "$0")
node=node
for own in "$here"/node_modules/node-linux-*/bin/node; do
  if [ -x "$own" ]; then node=$own; fi
done
export MCP_CATALOG_PATH="$here/catalog.json"
exec "$node" "$here/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" "$@"
"#;

fn inspector(root: &Path, folder: &Path, installing: Installing) -> Result<Option<PathBuf>, Failure> {
    let script = folder.join("inspector");
    let (package, lock) = (root.join("xtask/tools/package.json"), root.join("xtask/tools/package-lock.json"));
    let wanted = format!("{}{}{INSPECTOR_SCRIPT}", read(&package)?, read(&lock)?);
    if is_stamped(folder, &wanted) && script.exists() {
        return Ok(Some(script));
    }
    if installing == Installing::Forbidden {
        return Ok(None);
    }
    println!("installing the MCP Inspector from npm");
    twice(|| {
        make_empty(folder)?;
        for source in [&package, &lock] {
            let name = source.file_name().unwrap_or_default();
            fs::copy(source, folder.join(name)).map_err(|problem| disk(folder, &problem))?;
        }
        let mut install = Command::new("npm");
        // The lock file gives versions and hashes. No package gets to run a script of its own, and the warning about
        // the engine is beside the point: the lock file brings a newer Node along.
        install.current_dir(folder).args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
        run::run(
            install.args(["--loglevel", "error"]),
            "Check the network and `npm`'s own settings, then run this again.",
        )
    })?;
    fs::write(&script, INSPECTOR_SCRIPT).map_err(|problem| disk(&script, &problem))?;
    make_executable(&script)?;
    stamp(folder, &wanted)?;
    Ok(Some(script))
}

/// Networks fail; once more is polite, and a third time would hide a real problem.
fn twice(mut attempt: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    attempt().or_else(|first| {
        println!("{first}\nonce more:");
        attempt()
    })
}

/// The stamp is written last, so a folder that was left half way has none.
fn is_stamped(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join("stamp")).is_ok_and(|found| found == wanted)
}

fn stamp(folder: &Path, wanted: &str) -> Result<(), Failure> {
    fs::write(folder.join("stamp"), wanted).map_err(|problem| disk(folder, &problem))
}

fn make_empty(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|problem| disk(folder, &problem))?;
    }
    fs::create_dir_all(folder).map_err(|problem| disk(folder, &problem))
}

fn make_executable(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(|problem| disk(path, &problem))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|problem| disk(path, &problem))
}

fn disk(path: &Path, problem: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {problem}", path.display()), "Check the folder's permissions and space.")
}
