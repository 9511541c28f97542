//! The cage alone: what its walls cost, without looking at a workspace or for a program.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use vambrace_policy::command::{Command, CommandPlan, Join, Simple, Step};
use vambrace_process::cell::{
    CageError, CageLimits, CageSpec, Cell, Exit, Input, Launcher, Mount, Order, Output, ProgramFile, Stdio,
    Watch,
};

use super::contest::{Entrant, work};
use super::{Ground, TRUE};
use crate::failure::Failure;

const WARM: &str = "warm cell, the cage alone";
const FRESH: &str = "fresh cell, the cage alone";
/// Where the cell shows the workspace.
pub(super) const FOLDER: &str = "/work";
const MEBIBYTE: u64 = 1 << 20;

pub(super) fn entrants(ground: &Ground) -> Vec<Entrant<'static>> {
    let prepared = || -> Result<(Rc<Launcher>, CageSpec, Order, Cell), CageError> {
        let launcher = Launcher::start(&ground.vambrace)?;
        let spec = spec(&ground.workspace);
        let cell = launcher.cell(&spec)?;
        Ok((Rc::new(launcher), spec, order(), cell))
    };
    let (launcher, spec, order, warm) = match prepared() {
        Ok(prepared) => prepared,
        Err(error) => {
            return [WARM, FRESH].map(|name| Entrant { name, turn: Err(error.to_string()) }).into();
        }
    };
    let (warm, warm_order) = (RefCell::new(warm), order.clone());
    let keeper = Rc::clone(&launcher);
    vec![
        work(
            WARM,
            || Ok(()),
            move |()| {
                // The launcher has to live as long as its cells.
                let _alive = &keeper;
                run(&mut warm.borrow_mut(), &warm_order)
            },
        ),
        work(
            FRESH,
            || Ok(()),
            move |()| {
                let mut cell = launcher.cell(&spec).map_err(broken)?;
                run(&mut cell, &order)
            },
        ),
    ]
}

pub(super) fn run(cell: &mut Cell, order: &Order) -> Result<(), Failure> {
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let watch = Watch {
        time_limit: Duration::from_secs(30),
        grace: Duration::from_secs(5),
        output_bytes: 10 * MEBIBYTE,
        cancelled: &|| false,
    };
    match cell.run(order, stdio, &watch).map_err(broken)?.exit {
        Exit::Code(0) => Ok(()),
        exit => Err(Failure::wrong("the cell", "failed", &format!("{exit:?}"))),
    }
}

pub(super) fn broken(error: CageError) -> Failure {
    Failure::wrong("the cell", "failed", &error.to_string())
}

pub(super) fn spec(workspace: &Path) -> CageSpec {
    let usr = PathBuf::from("/usr");
    let mut mounts = vec![Mount::ReadOnly { from: usr.clone(), at: usr }];
    for name in ["bin", "sbin", "lib", "lib64"] {
        mounts.push(Mount::Link { at: Path::new("/").join(name), to: Path::new("usr").join(name) });
    }
    mounts.extend([
        Mount::Processes,
        Mount::Devices,
        Mount::Memory { at: PathBuf::from("/tmp"), bytes: 64 * MEBIBYTE },
        Mount::Writable { from: workspace.to_owned(), at: PathBuf::from(FOLDER) },
    ]);
    CageSpec {
        mounts,
        limits: CageLimits { processes: 256, memory_bytes: 4096 * MEBIBYTE, file_bytes: 1024 * MEBIBYTE },
        writable: vec![PathBuf::from(FOLDER)],
        groups: Vec::new(),
        guarded: None,
        way_out: false,
    }
}

fn order() -> Order {
    order_of(TRUE, &["true"])
}

pub(super) fn order_of(program: &str, words: &[&str]) -> Order {
    let path = PathBuf::from(program);
    let (device, inode) = path.metadata().map_or((0, 0), |found| (found.dev(), found.ino()));
    let program = Simple {
        file: ProgramFile { path, device, inode },
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        redirects: Vec::new(),
    };
    Order {
        plan: CommandPlan { steps: vec![Step { join: Join::First, pipeline: vec![Command::Run(program)] }] },
        folder: PathBuf::from(FOLDER),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
    }
}
