//! In which folders a step may find itself. `cd` can fail, so what comes behind it may run in more than one place.

use vambrace_types::ScopedPath;

use crate::command::Join;

/// More than this many places at once are nobody's everyday line.
pub(crate) const MOST: usize = 8;

/// Where we are if the last step went well, and where if it did not.
#[derive(Debug)]
pub(crate) struct Folders {
    after_success: Vec<ScopedPath>,
    after_failure: Vec<ScopedPath>,
}

impl Folders {
    pub(crate) fn new(folder: &ScopedPath) -> Folders {
        Folders { after_success: vec![folder.clone()], after_failure: vec![folder.clone()] }
    }

    /// The folders that a step with this join may begin in.
    pub(crate) fn entry(&self, join: Join) -> Vec<ScopedPath> {
        match join {
            Join::First | Join::Then => union(&self.after_success, &self.after_failure),
            Join::IfOk => self.after_success.clone(),
            Join::IfFailed => self.after_failure.clone(),
        }
    }

    /// A step was judged. `moved` are its folders if it changes them and goes well.
    pub(crate) fn step(&mut self, join: Join, entry: &[ScopedPath], moved: Option<Vec<ScopedPath>>) {
        let success = moved.unwrap_or_else(|| entry.to_vec());
        match join {
            Join::First | Join::Then => {
                self.after_success = success;
                self.after_failure = entry.to_vec();
            }
            // Left out if the step before failed.
            Join::IfOk => {
                self.after_success = success;
                self.after_failure = union(&self.after_failure, entry);
            }
            Join::IfFailed => {
                self.after_success = union(&self.after_success, &success);
                self.after_failure = entry.to_vec();
            }
        }
    }

    /// The line is refused already: go on with one folder, so that the rest can be explained.
    pub(crate) fn forget(&mut self, entry: &[ScopedPath]) {
        let one = entry.get(..1).unwrap_or_default();
        *self = Folders { after_success: one.to_vec(), after_failure: one.to_vec() };
    }

    pub(crate) fn too_many(&self) -> bool {
        self.after_success.len().max(self.after_failure.len()) > MOST
    }
}

fn union(one: &[ScopedPath], other: &[ScopedPath]) -> Vec<ScopedPath> {
    let mut all = one.to_vec();
    all.extend(other.iter().filter(|path| !one.contains(path)).cloned());
    all
}
