//! What a spec mounts: masks, pins, texts.

use std::path::{Path, PathBuf};

use vambrace_process::cell::{CageError, Captured, Input, Mount, Output, Stdio};

use crate::setting::{one, spec, watch};
use crate::{launcher, text};

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [(".env", "KEY=1"), ("secrets/key", "2"), (".git/hooks/run", "3"), ("notes", "4")]
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    std::os::unix::fs::symlink("/usr", folder.path().join("link")).unwrap();
    folder
}

fn run(folder: &Path, more: Vec<Mount>, script: &str) -> Result<Captured, CageError> {
    let mut spec = spec(folder);
    spec.mounts.extend(more);
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    launcher().cell(&spec)?.run(&one(&["sh", "-c", script]), stdio, &watch())
}

fn masks() -> Vec<Mount> {
    let at = |path: &str| PathBuf::from(path);
    vec![
        Mount::EmptyFile { at: at("/work/.env") },
        Mount::EmptyFolder { at: at("/work/secrets") },
        Mount::Pin { at: at("/work/.git") },
        Mount::PinReadOnly { at: at("/work/.git/hooks") },
        Mount::Text { at: at("/etc/hosts"), text: "127.0.0.1 localhost\n".to_owned() },
        Mount::Text { at: at("/work/notes"), text: "ours\n".to_owned() },
    ]
}

#[track_caller]
fn check(script: &str, stdout: &str, stderr: &str) {
    let folder = workspace();
    let captured = run(folder.path(), masks(), script).unwrap();
    let (out, err) = (text(&captured.stdout), text(&captured.stderr));
    assert!(
        out == stdout && err.contains(stderr) && (stderr.is_empty() == err.is_empty()),
        "{script}: {out}{err}"
    );
    // Whatever was tried, the host still has what it had.
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        [".env", "secrets/key", ".git/hooks/run", "notes"].map(read),
        ["KEY=1", "2", "3", "4"],
        "{script}"
    );
}

#[test]
fn masked_names_are_empty_and_stay_where_they_are() {
    check(
        "cat /work/.env; ls -A /work/secrets; cat /etc/hosts /work/notes",
        "127.0.0.1 localhost\nours\n",
        "",
    );
    check("grep -rh KEY /work", "", "");
    check("echo x > /work/.env", "", "Read-only");
    check("rm /work/.env", "", "busy");
    check("mv /work/.env /work/x", "", "busy");
    check("touch /work/secrets/x", "", "Read-only");
    check("mv /work/secrets /work/x", "", "busy");
    check("mv /work/.git /work/g2", "", "busy");
    check("echo x > /work/.git/hooks/run", "", "Read-only");
    check("mv /work/.git/hooks /work/.git/h2", "", "busy");
    check("echo x > /work/.git/new && cat /work/.git/new", "x\n", "");
    check("echo x > /work/notes", "", "Read-only");
    check("ln /work/.env /work/hard", "", "link");
    check("umount /work/.env", "", "u"); // whatever umount calls it
    check("ls -A / | tr '\\n' ' '", "bin dev etc lib lib64 proc sbin tmp usr work ", "");
}

#[test]
fn nothing_is_made_on_the_host() {
    let folder = workspace();
    let mask = Mount::EmptyFile { at: PathBuf::from("/work/absent") };
    let link = Mount::Link { at: PathBuf::from("/work/absent"), to: PathBuf::from("x") };
    let beyond = Mount::Memory { at: PathBuf::from("/work/link/absent"), bytes: 4096 };
    for (mount, path) in [(mask, "/work/absent"), (link, "/work/absent"), (beyond, "/work/link/absent")] {
        match run(folder.path(), vec![mount], "true") {
            Err(CageError::Refused(why)) => {
                assert_eq!(why, format!("`{path}` does not exist and would have to be made on the host"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(!folder.path().join("absent").exists() && !Path::new("/usr/absent").exists());
}

#[test]
fn a_spec_that_cannot_be_met_is_refused() {
    let folder = workspace();
    let gone = Mount::ReadOnly { from: PathBuf::from("/no/such"), at: PathBuf::from("/x") };
    match run(folder.path(), vec![gone], "true") {
        Err(CageError::Refused(why)) => assert_eq!(why, "`/no/such`: no such file or directory"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_of_the_workspace_lead_nowhere_else() {
    // The link is followed inside the cage: nothing of the host's /usr is hidden or shown by it.
    let folder = workspace();
    let mask = Mount::EmptyFolder { at: PathBuf::from("/work/link/share") };
    let captured = run(folder.path(), vec![mask], "ls -A /usr/share; readlink /work/link").unwrap();
    assert_eq!(text(&captured.stdout), "/usr\n");
    assert!(std::fs::read_dir("/usr/share").unwrap().next().is_some());
}

/// Between the walk and the mount a program in another cage may put a link in the place of a folder.
#[test]
fn no_link_is_followed_to_what_is_shown() {
    let (folder, outside) = (workspace(), workspace());
    let service = folder.path().join("service");
    std::os::unix::fs::symlink(outside.path(), &service).unwrap();
    for from in [service.clone(), service.join("secrets")] {
        for mount in [
            Mount::Writable { from: from.clone(), at: PathBuf::from("/shown") },
            Mount::ReadOnly { from: from.clone(), at: PathBuf::from("/shown") },
        ] {
            match run(folder.path(), vec![mount], "ls -A /shown") {
                Err(CageError::Refused(why)) => assert!(why.contains("symbolic links"), "{why}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
