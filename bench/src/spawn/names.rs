//! Many new names: an archive is unpacked in a cage whose guard makes every name, in one without, and plainly.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;

use vambrace_process::cell::{CageError, Guarded, Launcher};

use super::cell::{FOLDER, order_of, run, spec};
use super::contest::{Entrant, hold, work};
use super::report::find;
use super::{Ground, clean};
use crate::failure::Failure;
use crate::place;
use crate::table::{Reach, Row};

const TAR: &str = "/usr/bin/tar";
const GUARDED: &str = "1,000 files unpacked, names guarded";
const SWEPT: &str = "1,000 files unpacked, names swept";
const PLAIN: &str = "plain";
/// Each takes a good part of a second.
const ROUNDS: usize = 2;

pub(super) fn run_all(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let source = ground.workspace.join("source");
    for number in 0..1000 {
        place::write(&source.join(format!("part{:02}/file{number:03}.txt", number / 50)), "text\n")?;
    }
    let packed = ground.workspace.join("names.tar");
    let status = Command::new(TAR).arg("-cf").arg(&packed).arg("-C").arg(&source).arg(".").status();
    status.map_err(Failure::start(TAR))?;
    let entrants = vec![caged(ground, GUARDED, true), caged(ground, SWEPT, false), plain(ground)];
    let runs = hold(ROUNDS, entrants)?;
    let row = |what| Some(Row::time(what, find(&runs, what)?, PLAIN, find(&runs, PLAIN), Reach::Nothing));
    Ok([GUARDED, SWEPT].into_iter().filter_map(row).collect())
}

fn caged<'a>(ground: &'a Ground, name: &'static str, is_guarded: bool) -> Entrant<'a> {
    let prepared = || -> Result<_, CageError> {
        let launcher = Launcher::start(&ground.vambrace)?;
        let mut spec = spec(&ground.workspace);
        spec.guarded = is_guarded.then(|| Guarded {
            workspace: PathBuf::from(FOLDER),
            service: PathBuf::from(FOLDER),
            patterns: "*.envrc".into(),
            turns: None,
        });
        let cell = launcher.cell(&spec)?;
        Ok((launcher, RefCell::new(cell)))
    };
    let (launcher, cell) = match prepared() {
        Ok(prepared) => prepared,
        Err(error) => return Entrant { name, turn: Err(error.to_string()) },
    };
    let order =
        order_of(TAR, &["tar", "-xf", &format!("{FOLDER}/names.tar"), "-C", &format!("{FOLDER}/out")]);
    work(
        name,
        || empty(ground),
        move |_| {
            // The launcher has to live as long as its cells.
            let _alive = &launcher;
            run(&mut cell.borrow_mut(), &order)
        },
    )
}

fn plain(ground: &Ground) -> Entrant<'_> {
    work(
        PLAIN,
        || empty(ground),
        |out| {
            let mut tar = clean(Path::new(TAR));
            tar.arg("-xf").arg(ground.workspace.join("names.tar")).arg("-C").arg(out);
            let status = tar.status().map_err(Failure::start(TAR))?;
            status.success().then_some(()).ok_or_else(|| Failure::wrong(TAR, "failed", &status.to_string()))
        },
    )
}

fn empty(ground: &Ground) -> Result<PathBuf, Failure> {
    let out = ground.workspace.join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out).map_err(Failure::disk(&out))?;
    }
    std::fs::create_dir(&out).map_err(Failure::disk(&out))?;
    Ok(out)
}
