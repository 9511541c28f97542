//! A cage for tests: the system's folders, private memory, and one writable folder.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use vambrace_policy::command::{self, CommandPlan, Join, Simple, Step};
use vambrace_process::cell::{CageLimits, CageSpec, Mount, Order, ProgramFile, Watch};

pub type Command = command::Command<ProgramFile>;
pub type Program = Simple<String, ProgramFile>;

pub const FOLDER: &str = "/work";
pub const MEBIBYTE: u64 = 1 << 20;

pub fn spec(workspace: &Path) -> CageSpec {
    let mut mounts = vec![Mount::ReadOnly { from: PathBuf::from("/usr"), at: PathBuf::from("/usr") }];
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
        limits: CageLimits { processes: 100, memory_bytes: 1024 * MEBIBYTE, file_bytes: 256 * MEBIBYTE },
        writable: vec![PathBuf::from(FOLDER)],
        groups: Vec::new(),
        guarded: None,
        way_out: false,
    }
}

pub fn program(words: &[&str]) -> Program {
    let name = words.first().copied().unwrap_or_default();
    let path = if name.starts_with('/') { PathBuf::from(name) } else { Path::new("/usr/bin").join(name) };
    let path = path.canonicalize().unwrap_or(path);
    let (device, inode) = path.metadata().map_or((0, 0), |found| (found.dev(), found.ino()));
    Program {
        file: ProgramFile { path, device, inode },
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        redirects: Vec::new(),
    }
}

pub fn order(programs: Vec<(Join, Vec<Command>)>) -> Order {
    Order {
        plan: CommandPlan {
            steps: programs.into_iter().map(|(join, pipeline)| Step { join, pipeline }).collect(),
        },
        folder: PathBuf::from(FOLDER),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
    }
}

pub fn one(words: &[&str]) -> Order {
    order(vec![(Join::First, vec![Command::Run(program(words))])])
}

pub fn watch() -> Watch<'static> {
    Watch {
        time_limit: Duration::from_secs(30),
        grace: Duration::from_secs(5),
        output_bytes: 10 * MEBIBYTE,
        cancelled: &|| false,
    }
}
