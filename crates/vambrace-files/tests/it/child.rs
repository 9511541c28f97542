//! This test binary, started again as somebody who may be killed or who has mounts of his own.

#![expect(clippy::disallowed_types, reason = "crashes and mount namespaces need a process of their own")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::world::not_run;

const PART: &str = "VAMBRACE_FILES_TEST_PART";
const FOLDER: &str = "VAMBRACE_FILES_TEST_FOLDER";

/// What a child is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// Edits three files over and over, until killed.
    Edit,
    /// Takes a lock and holds it until killed.
    Hold,
    Mounts,
    FullDisk,
}

impl Part {
    const ALL: [Part; 4] = [Part::Edit, Part::Hold, Part::Mounts, Part::FullDisk];

    fn as_str(self) -> &'static str {
        match self {
            Part::Edit => "edit",
            Part::Hold => "hold",
            Part::Mounts => "mounts",
            Part::FullDisk => "full-disk",
        }
    }

    fn play(self, folder: &Path) {
        match self {
            Part::Edit => crate::crash::edit_until_killed(folder),
            Part::Hold => crate::locks::hold_until_killed(folder),
            Part::Mounts => crate::mounts::among_mounts(folder),
            Part::FullDisk => crate::mounts::on_a_full_disk(folder),
        }
    }
}

/// Where a child begins. As an ordinary test it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "a child is told its part by its parent")]
fn entry() {
    let Ok(name) = std::env::var(PART) else { return };
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    let part = Part::ALL.into_iter().find(|part| part.as_str() == name).unwrap();
    part.play(&folder);
}

/// Ends with the value, whatever the test does.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(part: Part, folder: &Path) -> Running {
        let mut child = told(Command::new(std::env::current_exe().unwrap()), part, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Running { child, lines }
    }

    /// Waits for a line that the child prints; the test runner's own lines are passed over.
    pub(crate) fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the child ended before it said {word}");
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays a part in a mount namespace of its own, which ends with it: nothing is mounted for anybody else.
pub(crate) fn play_among_own_mounts(part: Part, folder: &Path) {
    let may = Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        not_run(&format!("{part:?} in a mount namespace"));
        return;
    }
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private"]).arg(std::env::current_exe().unwrap());
    let output = told(unshare, part, folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{part:?}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

fn told(mut command: Command, part: Part, folder: &Path) -> Command {
    command.args(["--exact", "child::entry", "--nocapture", "--test-threads=1"]);
    command.env(PART, part.as_str()).env(FOLDER, folder);
    command
}
