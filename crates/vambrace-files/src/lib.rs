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
mod lock_book;
mod open;
mod outputs;
mod own;
mod read;
mod replace;
mod root;
mod stamp;
mod state;
mod sweep;
mod tree;
mod vouch;

pub use deadline::{Deadline, Stop, WorkLimit};
pub use error::FilesError;
pub use files::{Apply, Created, Edited, Files, FilesSettings, Written};
pub use hidden::{HiddenStamp, HiddenWalk};
pub use journal::Recovery;
pub use list::{Entry, EntryKind, Listing};
pub use lock::LockPolicy;
pub use outputs::{OutputPart, Outputs};
pub use read::{Around, Text};
pub use root::{AmbientAuthority, Root, ambient_authority, kernel_resolves_beneath};
pub use state::{StateOpen, make_private, make_state_folder, open_state_file};
pub use sweep::{Chunk, SweepReport};
pub use vouch::{Keeping, ProgramMark, Trust, Vouchers};
