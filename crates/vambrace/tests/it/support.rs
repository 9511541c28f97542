//! A workspace, a state folder outside it, and the binary between them.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// LIMIT: nothing that is asked of the binary here may take longer; a hang is killed and named.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    dir: TempDir,
    /// Of the processes started here, beside the few that every process gets.
    environment: Vec<(String, String)>,
}

impl World {
    pub(crate) fn new() -> World {
        let dir = TempDir::new().unwrap();
        let world = World { dir, environment: Vec::new() };
        for folder in [world.work(), world.home()] {
            fs::create_dir(folder).unwrap();
        }
        world
    }

    pub(crate) fn with_env(mut self, name: &str, value: &str) -> World {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir().join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir().join("state")
    }

    pub(crate) fn audit(&self) -> PathBuf {
        self.state().join("audit")
    }

    /// The segment files of the record, oldest first.
    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(self.audit().join("segments"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension() == Some(OsStr::new("jsonl")))
            .collect();
        found.sort();
        found
    }

    /// Writes a file of the workspace, with the folders above it.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &World {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> &World {
        symlink(target, self.work().join(path)).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).unwrap()
    }

    /// Writes a file beside the workspace and returns its path, for `--config`.
    pub(crate) fn beside(&self, name: &str, content: &str) -> String {
        let path = self.dir().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The binary in the workspace, with an environment that holds nothing of the machine's own.
    pub(crate) fn bare(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.work());
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bare(binary());
        command.arg("--state").arg(self.state()).args(args);
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(&mut self.command(args), b"")
    }

    #[track_caller]
    pub(crate) fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        finish(&mut self.command(args), input.as_ref())
    }

    /// `vambrace call TOOL -`, with the arguments on standard input: they may be longer than a command line.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.feed(&["call", tool, "-"], arguments.to_string())
    }

    /// The records of the audit log as `audit list --json` shows them.
    #[track_caller]
    pub(crate) fn records(&self) -> Vec<Value> {
        let listed = self.run(&["audit", "list", "--json", "--last", "100000"]);
        assert_eq!(listed.code, 0, "{listed:?}");
        listed.lines()
    }

    /// The same without the self-attack's own lines, which come when they come.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.records().into_iter().filter(|line| line["event"] != "posture").collect()
    }

    /// Every line ever written to the record, intents too.
    pub(crate) fn raw_records(&self) -> String {
        self.segments().iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    /// Every byte of every file beneath a folder, with the path in front, for searching.
    pub(crate) fn everything_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    let bytes = fs::read(&path).unwrap();
                    found.push((path, bytes));
                }
            }
        }
        found
    }
}

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_vambrace")
}

/// What a process left behind when it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.text().lines().map(parse).collect()
    }

    /// The error code of a ToolResult, or `-` when it succeeded.
    #[track_caller]
    pub(crate) fn error_code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("-").to_owned()
    }
}

/// Runs to the end with this input. No process of ours may hang, die of a signal or meet a fault of its own.
#[track_caller]
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Ran {
    let ran = collect(command, input);
    assert!(!ran.stderr.contains("internal fault"), "{ran:?}");
    assert!(ran.code >= 0, "ended by a signal: {ran:?}");
    ran
}

#[track_caller]
fn collect(command: &mut Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let output = drain(&mut child);
    let (code, stdout, stderr) = thread::scope(|scope| {
        // A reader that ends early has seen enough.
        scope.spawn(move || stdin.write_all(input));
        let stderr = scope.spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let stdout = output.recv_timeout(PATIENCE).inspect_err(|_| child.kill().unwrap());
        let code = child.wait().unwrap().code().unwrap_or(-1);
        (code, stdout.expect("the process hung"), stderr.join().unwrap())
    });
    Ran { code, stdout, stderr }
}

fn drain(child: &mut Child) -> mpsc::Receiver<Vec<u8>> {
    let mut stdout = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Says loudly that something could not be shown here, and writes it down for the summary of `cargo xtask test`.
pub(crate) fn skip(what: &str) {
    eprintln!("NOT RUN: {what}");
    if let Some(path) = std::env::var_os("VAMBRACE_TEST_SKIPPED") {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{what}").unwrap();
    }
}

/// A text with the shape of a credential. Put together here, so that no file holds one.
pub(crate) fn credential() -> String {
    format!("ghp{}{}", "_", "a1B2c3D4e".repeat(4))
}
