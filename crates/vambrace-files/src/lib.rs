//! Door one: files beneath a root.
//!
//! Every open is made by descriptor, beneath the workspace root, and judged again on what the kernel really opened.
//! This crate knows paths, permits and the scope; it knows no tool, no pattern and no wire format.

#[cfg(not(target_os = "linux"))]
compile_error!("the files door relies on openat2 and /proc, so it runs on Linux only");

mod deadline;
mod directory;
mod error;
mod files;
mod glob;
mod hidden;
mod ignored;
mod journal;
mod list;
mod lock;
mod open;
mod outputs;
mod own;
mod read;
mod replace;
mod root;
mod stamp;
mod sweep;
mod tree;

pub use deadline::{Deadline, Stop, WorkLimit};
pub use error::FilesError;
pub use files::{Apply, Created, Edited, Files, FilesSettings, Written};
pub use hidden::{HiddenFile, HiddenFiles, HiddenStamp};
pub use journal::Recovery;
pub use list::{Entry, EntryKind, Listing};
pub use lock::LockPolicy;
pub use outputs::{OutputPart, Outputs};
pub use read::{Around, Text};
pub use root::{AmbientAuthority, Root, ambient_authority, kernel_resolves_beneath};
pub use sweep::{Chunk, SweepReport};
