//! Door three: programs in a cage. It takes a permit and its job, looks the programs up, builds or reuses a cage, runs
//! the plan inside without a shell, and brings back what it printed. It knows neither tools nor front ends.
//!
//! ```text
//! this process (threads)          the launcher (one thread)         a cell (pid 1 of its own namespaces)
//! programs ── builds a spec ────▶ clones a cell with it ─────────▶ mounts, limits, Landlock, seccomp
//!    │                                                              │
//!    └────────────── orders and pipes, over the cell's socket ────▶ forks, executes, reaps, reports
//! ```
//!
//! The launcher is our own binary, executed again before any thread exists: namespaces, Landlock and seccomp are per
//! thread, and between a fork and an exec of a threaded process nothing may allocate.

mod attack;
mod backend_arguments;
mod cache;
mod cage;
mod capture;
mod cgroup;
mod client;
mod core_dump;
mod environment;
mod feed;
mod fetched;
mod finished;
mod guarded;
mod kernel_files;
mod launcher;
mod lent;
mod lookup;
mod mark;
mod namespace;
mod network;
#[cfg(test)]
mod nobody;
mod order;
mod posture;
mod programs;
mod repository;
mod scratch;
mod settings;
mod spec;
mod surroundings;
mod terminal;
mod toolchain;
mod wire;
mod workspace;

/// The cage itself, for those who want it without our policy.
pub mod cell {
    pub use crate::capture::{Captured, Channel, Input, Output, Room, Sink, Stdio, Watch};
    pub use crate::client::{CageError, Cell, Launcher};
    pub use crate::finished::Exit;
    pub use crate::guarded::Guarded;
    pub use crate::order::{Order, ProgramFile};
    pub use crate::spec::{CageLimits, CageSpec, Mount};
    pub use crate::wire::message::Refused;
}

pub use attack::attack_as_told;
pub use cage::{Layer, Layers, Missing};
pub use core_dump::leaving_core_dumps;
pub use finished::{Exit, Finished, ProgramError};
pub use launcher::launch_if_asked;
pub use network::{Network, PROXY_PORT};
pub use posture::{Posture, PostureRow, RowState};
pub use programs::{
    Live, OutputStream, Outputs, Programs, RunContext, Session, SessionContext, SessionEnd, SessionError,
    Tail,
};
pub use settings::{
    AbsentNames, Backend, EnvironmentSettings, Inherit, ProgramLimits, ProgramsSettings, Reuse, WhenMissing,
};
#[doc(hidden)]
pub use wire::check_wire_message;
