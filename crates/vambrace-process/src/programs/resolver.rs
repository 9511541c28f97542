//! From the names of a job to the files that are started. It looks programs up and starts none.

use std::path::{Path, PathBuf};

use vambrace_policy::{Job, Naming, Place};

use super::Programs;
use crate::ProgramError;
use crate::environment::Reach;
use crate::fetched::Fetched;
use crate::lookup::LookupError;
use crate::order::{Order, ProgramFile};

impl Programs {
    /// Where a program is, for those who choose between programs.
    pub fn find(&self, program: &str) -> Result<PathBuf, ProgramError> {
        self.trusted.find(program).map(|found| found.path).map_err(not_found)
    }

    pub(super) fn order(&self, job: &Job, place: Place) -> Result<Order, ProgramError> {
        // THREAT: P07, files of the workspace that tell a program of the host what to run
        // (`rust-toolchain.toml`). What runs on the host starts where no agent writes.
        let mut folder = PathBuf::from("/");
        if place == Place::Cage {
            folder.clone_from(&self.settings.workspace);
            folder.extend(job.folder.components());
        }
        let plan = job.plan.looked_up(|program| self.look_up(program, job.naming, &folder))?;
        // What a way out and packages add is known when there is a cage.
        let caged = (place == Place::Cage).then_some(&Reach::Nothing);
        let environment = self.environment_of(job, caged, &Fetched::default())?;
        Ok(Order { plan, folder, environment })
    }

    fn look_up(&self, program: &str, naming: Naming, folder: &Path) -> Result<ProgramFile, ProgramError> {
        match naming {
            Naming::AnyPath if program.contains('/') => file_at(&folder.join(program), program),
            Naming::Workspace if program.contains('/') && !program.starts_with('/') => {
                let file = file_at(&folder.join(program), program)?;
                // THREAT: P04, a planted link would tell by the kind of failure what there is on
                // this machine.
                Some(file)
                    .filter(|file| file.path.starts_with(&self.settings.workspace))
                    .ok_or_else(|| ProgramError::NotInstalled { program: program.to_owned() })
            }
            Naming::AnyPath | Naming::Workspace | Naming::Trusted => {
                self.trusted.find(program).map(|found| found.file).map_err(not_found)
            }
        }
    }
}

/// A file that a person named; whether it may be executed is the kernel's to say.
fn file_at(path: &Path, spelled: &str) -> Result<ProgramFile, ProgramError> {
    let missing = |_| ProgramError::NotInstalled { program: spelled.to_owned() };
    let path = std::fs::canonicalize(path).map_err(missing)?;
    let stat =
        rustix::fs::stat(&path).map_err(|_| ProgramError::NotInstalled { program: spelled.to_owned() })?;
    Ok(ProgramFile { path, device: stat.st_dev, inode: stat.st_ino })
}

fn not_found(error: LookupError) -> ProgramError {
    match error {
        LookupError::NotInstalled { program } => ProgramError::NotInstalled { program },
        LookupError::Untrusted { program, why } => ProgramError::Untrusted { program, why },
    }
}
