//! Calls through the whole corridor, against real folders.
//!
//! `world` builds a corridor from its parts, because the crate that reads configurations stands above this one.
//! Nothing here sleeps or reaches the network: waits end by a condition, and the clock stands still until told.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail loudly"
)]

mod approvals;
mod callers;
mod carried;
mod child;
mod clock;
mod codes;
mod crowd;
mod disk;
mod dry_run;
mod endings;
mod faults;
mod full_disk;
mod marking;
mod memory;
mod property;
mod redaction;
mod scenarios;
mod settings;
mod sources;
mod stopping;
mod text;
mod truncation;
mod world;
