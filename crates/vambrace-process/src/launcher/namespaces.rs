//! Which namespaces this system lets us have. It knows the kernel's flags and our names for them.

use rustix::io::Errno;

use super::confine::said;
use super::kernel_unsafe::{self, Cloned};
use crate::cage::{Layer, Missing};

const FLAGS: [(Layer, u64); 6] = [
    (Layer::UserNamespace, libc::CLONE_NEWUSER as u64),
    (Layer::MountNamespace, libc::CLONE_NEWNS as u64),
    (Layer::PidNamespace, libc::CLONE_NEWPID as u64),
    (Layer::NetworkNamespace, libc::CLONE_NEWNET as u64),
    (Layer::IpcNamespace, libc::CLONE_NEWIPC as u64),
    (Layer::UtsNamespace, libc::CLONE_NEWUTS as u64),
];

/// Those that can be had, and what was said of the others.
#[derive(Debug, Clone)]
pub(super) struct Namespaces {
    refused: Vec<(Layer, Errno)>,
}

impl Namespaces {
    pub(super) fn all() -> Namespaces {
        Namespaces { refused: Vec::new() }
    }

    /// Tries them one by one, after all together were refused with `all`.
    ///
    /// THREAT: P07, a program that forks to its limit for a moment must not get every later one a cage without walls: an
    /// answer that says nothing about what this system can is an error.
    pub(super) fn probe(all: Errno) -> Result<Namespaces, Errno> {
        lacks(all)?;
        let mut refused = Vec::new();
        let mut with = 0;
        for (layer, flag) in FLAGS {
            // Without a user namespace the others need powers, which root has.
            match try_flags(flag | with) {
                Ok(()) if layer == Layer::UserNamespace => with = flag,
                Ok(()) => {}
                Err(errno) => refused.push((layer, lacks(errno)?)),
            }
        }
        if let Err(errno) = try_flags(libc::CLONE_NEWCGROUP as u64 | with) {
            refused.push((Layer::CgroupNamespace, lacks(errno)?));
        }
        Ok(Namespaces { refused })
    }

    pub(super) fn has(&self, layer: Layer) -> bool {
        !self.refused.iter().any(|(refused, _)| *refused == layer)
    }

    /// Those a process is born in. The mount and cgroup namespaces are entered when the cell is built.
    pub(super) fn flags(&self) -> u64 {
        let at_birth = |layer: Layer| layer != Layer::MountNamespace && self.has(layer);
        FLAGS.iter().filter(|(layer, _)| at_birth(*layer)).fold(0, |flags, (_, flag)| flags | flag)
    }

    pub(super) fn missing(&self) -> Vec<Missing> {
        self.refused.iter().map(|(layer, errno)| Missing { layer: *layer, why: said(*errno) }).collect()
    }
}

/// What the kernel says where namespaces are unknown, forbidden or limited to none.
fn lacks(errno: Errno) -> Result<Errno, Errno> {
    match errno {
        Errno::PERM | Errno::NOSYS | Errno::INVAL | Errno::NOSPC | Errno::USERS => Ok(errno),
        other => Err(other),
    }
}

fn try_flags(flags: u64) -> Result<(), Errno> {
    match kernel_unsafe::clone_process(flags, None)? {
        Cloned::Child => kernel_unsafe::exit_now(0),
        Cloned::Parent { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_without_processes_is_no_system_without_namespaces() {
        for errno in [Errno::AGAIN, Errno::NOMEM, Errno::INTR, Errno::BUSY] {
            assert_eq!(Namespaces::probe(errno).err(), Some(errno));
        }
        assert_eq!(lacks(Errno::PERM), Ok(Errno::PERM));
    }
}
