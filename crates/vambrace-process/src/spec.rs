//! What one cage shows and allows. Made by this process, carried out by the launcher or by another backend.

use std::path::PathBuf;

use crate::guarded::Guarded;

/// Mounts in the order they are made; a later one may lie on an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CageSpec {
    pub mounts: Vec<Mount>,
    pub limits: CageLimits,
    /// Paths inside the cage that programs may change; everything else of it may be read and executed.
    pub writable: Vec<PathBuf>,
    /// Files of control groups on the host into which the cell's first process is written (`cgroup.procs`, `tasks`).
    pub groups: Vec<PathBuf>,
    /// Names that programs may not make. None: what they make is reported afterwards.
    pub guarded: Option<Guarded>,
    /// A listening socket on the cage's own loopback is made and handed out, for whoever serves it there.
    pub way_out: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mount {
    /// A folder or file of the host with all that is mounted in it, read-only.
    ReadOnly {
        from: PathBuf,
        at: PathBuf,
    },
    Writable {
        from: PathBuf,
        at: PathBuf,
    },
    /// Something inside the cage bound onto itself: it can then be neither renamed nor removed.
    Pin {
        at: PathBuf,
    },
    PinReadOnly {
        at: PathBuf,
    },
    /// The same for a symbolic link itself. What it leads to is not touched.
    PinLink {
        at: PathBuf,
    },
    /// An empty read-only folder or file in place of what is there.
    EmptyFolder {
        at: PathBuf,
    },
    EmptyFile {
        at: PathBuf,
    },
    /// A read-only file with this text.
    Text {
        at: PathBuf,
        text: String,
    },
    /// Private memory, at most this many bytes, gone with the cage.
    Memory {
        at: PathBuf,
        bytes: u64,
    },
    /// A symbolic link in the private root.
    Link {
        at: PathBuf,
        to: PathBuf,
    },
    /// The processes of the cage, read-only.
    Processes,
    /// null, zero, full, random, urandom, memory at /dev/shm, and links to the standard streams.
    Devices,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CageLimits {
    pub processes: u64,
    pub memory_bytes: u64,
    pub file_bytes: u64,
}
