//! What one cage shows and allows. Made by this process, carried out by the launcher or by another backend.

use std::path::PathBuf;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::guarded::Guarded;
use crate::wire::path;

/// Mounts in the order they are made; a later one may lie on an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, BorshSerialize, BorshDeserialize)]
pub struct CageSpec {
    pub mounts: Vec<Mount>,
    pub limits: CageLimits,
    /// Paths inside the cage that programs may change; everything else of it may be read and executed.
    #[borsh(serialize_with = "path::write_all", deserialize_with = "path::read_all")]
    pub writable: Vec<PathBuf>,
    /// Files of control groups on the host into which the cell's first process is written (`cgroup.procs`, `tasks`).
    #[borsh(serialize_with = "path::write_all", deserialize_with = "path::read_all")]
    pub groups: Vec<PathBuf>,
    /// Names that programs may not make. None: what they make is reported afterwards.
    pub guarded: Option<Guarded>,
    /// A listening socket on the cage's own loopback is made and handed out, for whoever serves it there.
    pub way_out: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Mount {
    /// A folder or file of the host with all that is mounted in it, read-only.
    ReadOnly {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        from: PathBuf,
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    Writable {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        from: PathBuf,
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    /// Something inside the cage bound onto itself: it can then be neither renamed nor removed.
    Pin {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    PinReadOnly {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    /// The same for a symbolic link itself. What it leads to is not touched.
    PinLink {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    /// An empty read-only folder or file in place of what is there.
    EmptyFolder {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    EmptyFile {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
    },
    /// A read-only file with this text.
    Text {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
        text: String,
    },
    /// Private memory, at most this many bytes, gone with the cage.
    Memory {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
        bytes: u64,
    },
    /// A symbolic link in the private root.
    Link {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        at: PathBuf,
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        to: PathBuf,
    },
    /// The processes of the cage, read-only.
    Processes,
    /// null, zero, full, random, urandom, memory at /dev/shm, and links to the standard streams.
    Devices,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, BorshSerialize, BorshDeserialize)]
pub struct CageLimits {
    pub processes: u64,
    pub memory_bytes: u64,
    pub file_bytes: u64,
}
