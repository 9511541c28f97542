//! Cells, through a real launcher and a real kernel.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail loudly")]

mod cell_death;
mod cell_files;
mod cell_limits;
mod cell_modes;
mod cell_nested;
mod cell_order;
mod cell_reuse;
mod cell_user;
mod cell_walls;
mod cell_way_out;
#[expect(unreachable_pub, reason = "shared with the example, where it is reached")]
mod setting;

use std::path::PathBuf;
use std::sync::OnceLock;

use vambrace_process::cell::{Captured, Cell, Exit, Input, Launcher, Order, Output, Stdio};

/// The example of this crate, which is a launcher and a small front; `cargo test` builds it beside this binary.
fn front() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let front = own.parent().unwrap().parent().unwrap().join("examples/launcher");
    assert!(front.exists(), "`{}` is missing: cargo build --example launcher", front.display());
    front
}

fn launcher() -> &'static Launcher {
    static LAUNCHER: OnceLock<Launcher> = OnceLock::new();
    LAUNCHER.get_or_init(|| Launcher::start(&front()).unwrap())
}

/// A fresh cell with a folder of its own.
struct Setting {
    folder: tempfile::TempDir,
    cell: Cell,
}

impl Setting {
    fn new() -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let cell = launcher().cell(&setting::spec(folder.path())).unwrap();
        Setting { folder, cell }
    }

    #[track_caller]
    fn run(&mut self, order: &Order) -> Captured {
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        self.cell.run(order, stdio, &setting::watch()).unwrap()
    }

    #[track_caller]
    fn shell(&mut self, script: &str) -> Captured {
        self.run(&setting::one(&["sh", "-c", script]))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything a script printed, in a fresh cell.
#[track_caller]
fn printed(script: &str) -> String {
    let captured = Setting::new().shell(script);
    format!("{}{}", text(&captured.stdout), text(&captured.stderr))
}

#[track_caller]
fn exit_of(script: &str) -> Exit {
    Setting::new().shell(script).exit
}
