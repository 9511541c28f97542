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

    /// Tries them one by one, after all together were refused.
    pub(super) fn probe() -> Namespaces {
        let mut refused = Vec::new();
        let mut with = 0;
        for (layer, flag) in FLAGS {
            // Without a user namespace the others need powers, which root has.
            match try_flags(flag | with) {
                Ok(()) if layer == Layer::UserNamespace => with = flag,
                Ok(()) => {}
                Err(errno) => refused.push((layer, errno)),
            }
        }
        if let Err(errno) = try_flags(libc::CLONE_NEWCGROUP as u64 | with) {
            refused.push((Layer::CgroupNamespace, errno));
        }
        Namespaces { refused }
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

fn try_flags(flags: u64) -> Result<(), Errno> {
    match kernel_unsafe::clone_process(flags, None)? {
        Cloned::Child => kernel_unsafe::exit_now(0),
        Cloned::Parent { .. } => Ok(()),
    }
}
