//! What the tests need beside cargo: Debian packages, and what others use and measure with, from PyPI and npm.
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

/// Where the tests find their tools.
pub(crate) struct TestTools {
    /// The variable that a test asks for, and the program; one that is missing is absent.
    pub(crate) programs: Vec<(&'static str, PathBuf)>,
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
    let mut tools = TestTools { programs: Vec::new(), missing: Vec::new() };
    rust_components(installing)?;
    for package in debian_packages(installing)? {
        tools.missing.push(format!("the program of Debian package `{package}`"));
    }
    let folder = root.join("target/test-tools");
    match python(root, &folder.join("python"), installing)? {
        Installed::There(programs) => tools.programs.extend(programs),
        Installed::Missing => {
            tools.missing.extend(PYTHON.iter().map(|(package, ..)| format!("PyPI package `{package}`")));
        }
    }
    match node(root, &folder.join("node"), installing)? {
        Installed::There(programs) => tools.programs.extend(programs),
        Installed::Missing => {
            tools.missing.extend(NODE.iter().map(|(package, ..)| format!("npm package `{package}`")));
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

enum Installed {
    There(Vec<(&'static str, PathBuf)>),
    /// And installing was forbidden.
    Missing,
}

/// What the virtual environment is for: the package, its program and the variable that tells the tests where it is.
const PYTHON: [(&str, &str, &str); 3] = [
    ("mcp", "bin/python", "VAMBRACE_TEST_PYTHON"),
    ("a2a-sdk", "bin/python", "VAMBRACE_TEST_PYTHON"),
    ("schemathesis", "bin/schemathesis", "VAMBRACE_TEST_SCHEMATHESIS"),
];

/// A virtual environment with the reference clients and what asks an interface whether its description is true.
fn python(root: &Path, folder: &Path, installing: Installing) -> Result<Installed, Failure> {
    let list = root.join("xtask/tools/requirements.txt");
    let interpreter = folder.join("bin/python");
    // With its place: the programs in it name the folder, so a checkout that was moved needs a new one.
    let wanted = format!("{}\n{}", folder.display(), read(&list)?);
    let programs = || PYTHON.iter().map(|(_, program, variable)| (*variable, folder.join(program))).collect();
    if is_stamped(folder, &wanted) && interpreter.exists() {
        return Ok(Installed::There(programs()));
    }
    if installing == Installing::Forbidden {
        return Ok(Installed::Missing);
    }
    println!("installing the reference clients and schemathesis from PyPI");
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
    Ok(Installed::There(programs()))
}

/// What is taken from npm: the package, what Node is to run of it, and the variable with the script that has it run.
const NODE: [(&str, &str, &str); 3] = [
    (
        "@modelcontextprotocol/inspector",
        "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
        "VAMBRACE_TEST_INSPECTOR",
    ),
    (
        "@modelcontextprotocol/conformance",
        "node_modules/@modelcontextprotocol/conformance/dist/index.js",
        "VAMBRACE_TEST_CONFORMANCE",
    ),
    ("node", "", "VAMBRACE_TEST_NODE22"),
];

/// A script that starts one of them with a Node new enough for it, which Debian's may not be.
const NODE_SCRIPT: &str = r#"#!/bin/sh
# Written by `cargo xtask test`. The catalog stays here, so that nobody's home folder is touched.
here=$(dirname "$0")
node=node
for own in "$here"/node_modules/node-linux-*/bin/node; do
  if [ -x "$own" ]; then node=$own; fi
done
export MCP_CATALOG_PATH="$here/catalog.json"
exec "$node" ENTRY"$@"
"#;

fn node(root: &Path, folder: &Path, installing: Installing) -> Result<Installed, Failure> {
    let (package, lock) = (root.join("xtask/tools/package.json"), root.join("xtask/tools/package-lock.json"));
    let wanted = format!("{}{}{NODE_SCRIPT}", read(&package)?, read(&lock)?);
    let script = |variable: &str| folder.join(variable.trim_start_matches("VAMBRACE_TEST_").to_lowercase());
    let programs = || NODE.iter().map(|(_, _, variable)| (*variable, script(variable))).collect();
    if is_stamped(folder, &wanted) && NODE.iter().all(|(_, _, variable)| script(variable).exists()) {
        return Ok(Installed::There(programs()));
    }
    if installing == Installing::Forbidden {
        return Ok(Installed::Missing);
    }
    println!("installing the MCP Inspector and the MCP conformance kit from npm");
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
    for (_, entry, variable) in NODE {
        let entry = if entry.is_empty() { String::new() } else { format!("\"$here/{entry}\" ") };
        let path = script(variable);
        fs::write(&path, NODE_SCRIPT.replace("ENTRY", &entry)).map_err(|problem| disk(&path, &problem))?;
        make_executable(&path)?;
    }
    stamp(folder, &wanted)?;
    Ok(Installed::There(programs()))
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
