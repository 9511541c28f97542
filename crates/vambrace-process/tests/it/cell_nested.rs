//! A workspace beneath private memory: nothing can be put beside it, and the cell can be used again.

use std::path::{Path, PathBuf};

use vambrace_process::cell::{CageSpec, Captured, Cell, Exit, Input, Mount, Output, Stdio};

use crate::setting::{MEBIBYTE, one, spec, watch};
use crate::{launcher, text};

/// Folders of the host shown at several depths of /tmp and of another memory.
struct Nested {
    folder: tempfile::TempDir,
    cell: Cell,
}

fn nested_spec(folder: &Path) -> CageSpec {
    let mut spec = spec(folder);
    let from = |name: &str| {
        let from = folder.join(name);
        std::fs::create_dir_all(&from).unwrap();
        std::fs::write(from.join("file"), name).unwrap();
        from
    };
    let at = |path: &str| PathBuf::from(path);
    spec.mounts.extend([
        Mount::Memory { at: at("/home/agent"), bytes: MEBIBYTE },
        Mount::Writable { from: from("service"), at: at("/tmp/a/b/service") },
        Mount::ReadOnly { from: from("shared"), at: at("/tmp/a/shared") },
        Mount::Writable { from: from("direct"), at: at("/tmp/direct") },
        Mount::Writable { from: from("project"), at: at("/home/agent/code/project") },
        Mount::ReadOnly { from: folder.join("shared/file"), at: at("/home/agent/code/file") },
        Mount::EmptyFile { at: at("/tmp/a/b/service/file") },
        Mount::Pin { at: at("/home/agent/code") },
        Mount::Link { at: at("/tmp/link"), to: at("/tmp/a/b/service") },
    ]);
    spec.writable.extend([at("/tmp/a/b/service"), at("/tmp/direct"), at("/home/agent/code/project")]);
    spec
}

impl Nested {
    fn new() -> Nested {
        let folder = tempfile::tempdir().unwrap();
        let cell = launcher().cell(&nested_spec(folder.path())).unwrap();
        Nested { folder, cell }
    }

    #[track_caller]
    fn shell(&mut self, script: &str) -> Captured {
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        self.cell.run(&one(&["sh", "-c", script]), stdio, &watch()).unwrap()
    }
}

#[track_caller]
fn check(script: &str, expected: &str, is_reusable: bool) {
    let mut place = Nested::new();
    let captured = place.shell(script);
    let said = format!("{}{}", text(&captured.stdout), text(&captured.stderr));
    assert_eq!((said.as_str(), captured.exit), (expected, Exit::Code(0)), "{script}");
    assert_eq!(place.cell.is_reusable(), is_reusable, "{script}");
}

/// Fails, says this, and the cell is as good as new.
#[track_caller]
fn refused(script: &str, words: &[&str]) {
    let mut place = Nested::new();
    let captured = place.shell(script);
    let said = text(&captured.stderr);
    let expected = words.iter().any(|words| said.contains(words));
    assert!(captured.exit != Exit::Code(0) && expected, "{script}: {said}");
    assert!(place.cell.is_reusable(), "{script}");
}

#[test]
fn only_what_the_spec_names_is_there() {
    check("cd /tmp; find . -mindepth 1 | sort", FOUND, true);
    check(
        "cd /home/agent; find . -mindepth 1 | sort",
        "./code\n./code/file\n./code/project\n./code/project/file\n",
        true,
    );
    check("cat /tmp/a/b/service/file /tmp/a/shared/file /tmp/link/file", "shared", true);
}

const FOUND: &str = "./a\n./a/b\n./a/b/service\n./a/b/service/file\n./a/shared\n./a/shared/file\n./direct\n\
                     ./direct/file\n./link\n";

#[test]
fn nothing_can_be_put_beside_a_workspace() {
    const CLOSED: &[&str] = &["Read-only file system"];
    for folder in ["/tmp/a", "/tmp/a/b", "/tmp/a/shared", "/home/agent/code"] {
        refused(&format!("echo x > {folder}/x"), CLOSED);
        refused(&format!("mkdir {folder}/x"), CLOSED);
        refused(&format!("ln -s / {folder}/x"), CLOSED);
        refused(&format!("chmod 700 {folder}"), CLOSED);
        refused(&format!("touch {folder}"), CLOSED);
    }
    const FIXED: &[&str] = &["busy", "Read-only file system"];
    for folder in ["/tmp/a", "/tmp/a/b", "/tmp/a/b/service", "/tmp/direct", "/home/agent/code"] {
        refused(&format!("mv {folder} {folder}-away"), FIXED);
        refused(
            &format!("mkdir /tmp/x; mv -T /tmp/x {folder}; code=$?; rmdir /tmp/x; exit $code"),
            &["busy", "Read-only file system", "Directory not empty", "cannot overwrite", "cross-device"],
        );
        refused(&format!("rmdir {folder}"), &["busy", "Read-only file system", "not empty"]);
    }
    refused("rm /home/agent/code/file", FIXED);
    refused("echo x > /home/agent/code/file", CLOSED);
    refused("echo x > /tmp/a/b/service/file", CLOSED);
}

#[test]
fn the_workspace_itself_can_be_changed() {
    let mut place = Nested::new();
    let captured =
        place.shell("for to in /tmp/link /tmp/direct /home/agent/code/project; do echo $to > $to/new; done");
    assert_eq!((captured.exit, text(&captured.stderr).as_str()), (Exit::Code(0), ""));
    assert!(place.cell.is_reusable());
    for (name, content) in
        [("service", "/tmp/link\n"), ("direct", "/tmp/direct\n"), ("project", "/home/agent/code/project\n")]
    {
        let made = place.folder.path().join(name).join("new");
        assert_eq!(std::fs::read_to_string(made).unwrap(), content);
    }
}

#[test]
fn a_cell_with_such_a_workspace_is_used_again_and_keeps_nothing() {
    check("true", "", true);
    check("echo x > /tmp/x; rm /tmp/x", "", true);
    check("echo x > /tmp/x", "", false);
    check("mkdir /home/agent/.cache", "", false);
    check("rm /tmp/link", "", false);
    check("ln -sfn /tmp/direct /tmp/link", "", false);
    check("rm /tmp/link; ln -s /tmp/a/b/service /tmp/link", "", false);
    check("touch -h -d @5 /tmp/link", "", false);
    // A link's own name on something else.
    check("rm /tmp/link; echo note > /tmp/link", "", false);
}

#[test]
fn no_time_is_handed_on() {
    let mut place = Nested::new();
    for folder in ["/tmp", "/home/agent", "/dev/shm"] {
        let look = format!("stat -c '%X %Y' {folder}");
        let before = text(&place.shell(&look).stdout);
        let touched = place.shell(&format!("touch -d @1234 {folder}; {look}"));
        assert_eq!(text(&touched.stdout), "1234 1234\n", "{folder}");
        assert!(place.cell.is_reusable(), "{folder}");
        assert_eq!(text(&place.shell(&look).stdout), before, "{folder}");
    }
}
