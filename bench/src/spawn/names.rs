//! Many new names: an archive is unpacked in a cage whose guard makes every name, in one without, and plainly.

use std::path::{Path, PathBuf};
use std::process::Command;

use vambrace_process::cell::{Guarded, Launcher};

use super::cell::{FOLDER, broken, order_of, run, spec};
use super::contest::{Entrant, hold, work};
use super::report::find;
use super::{Ground, clean};
use crate::failure::Failure;
use crate::place;
use crate::table::{Reach, Row};

const TAR: &str = "/usr/bin/tar";
const GUARDED: &str = "1,000 files unpacked, names guarded";
const UNGUARDED: &str = "1,000 files unpacked, no guard";
const PLAIN: &str = "plain";
const ROUNDS: usize = 10;

pub(super) fn run_all(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let source = ground.workspace.join("source");
    for number in 0..1000 {
        place::write(&source.join(format!("part{:02}/file{number:03}.txt", number / 50)), "text\n")?;
    }
    let packed = ground.workspace.join("names.tar");
    let status = Command::new(TAR).arg("-cf").arg(&packed).arg("-C").arg(&source).arg(".").status();
    status.map_err(Failure::start(TAR))?;
    let entrants = vec![caged(ground, GUARDED, true), caged(ground, UNGUARDED, false), plain(ground)];
    let runs = hold(ROUNDS, entrants)?;
    let out = empty()?;
    std::fs::remove_dir(&out).map_err(Failure::disk(&out))?;
    let row = |what| Some(Row::time(what, find(&runs, what)?, PLAIN, find(&runs, PLAIN), Reach::Nothing));
    Ok([GUARDED, UNGUARDED].into_iter().filter_map(row).collect())
}

/// In a cell of its own each time, which is not measured: its private memory is empty then.
fn caged<'a>(ground: &'a Ground, name: &'static str, is_guarded: bool) -> Entrant<'a> {
    let launcher = match Launcher::start(&ground.vambrace) {
        Ok(launcher) => launcher,
        Err(error) => return Entrant { name, turn: Err(error.to_string()) },
    };
    let mut spec = spec(&ground.workspace);
    spec.writable.push(PathBuf::from("/tmp"));
    spec.guarded = is_guarded.then(|| Guarded {
        workspace: PathBuf::from(FOLDER),
        service: PathBuf::from(FOLDER),
        patterns: "*.envrc".into(),
        blocked: "".into(),
        turns: None,
    });
    let order = order_of(TAR, &["tar", "-xf", &format!("{FOLDER}/names.tar"), "-C", "/tmp"]);
    work(name, move || launcher.cell(&spec).map_err(broken), move |mut cell| run(&mut cell, &order))
}

fn plain(ground: &Ground) -> Entrant<'_> {
    work(PLAIN, empty, |out| {
        let mut tar = clean(Path::new(TAR));
        tar.arg("-xf").arg(ground.workspace.join("names.tar")).arg("-C").arg(out);
        let status = tar.status().map_err(Failure::start(TAR))?;
        status.success().then_some(()).ok_or_else(|| Failure::wrong(TAR, "failed", &status.to_string()))
    })
}

/// Memory too.
fn empty() -> Result<PathBuf, Failure> {
    let out = Path::new("/dev/shm").join(format!("vambrace-bench-{}", std::process::id()));
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(Failure::disk(&out))?;
    }
    std::fs::create_dir(&out).map_err(Failure::disk(&out))?;
    Ok(out)
}
