//! What a cell is told to run: a job whose programs have been looked up. Every text is final.

use std::path::PathBuf;

use vambrace_policy::command::{Join, RedirectMode, Stream};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub steps: Vec<OrderStep>,
    /// Inside the cage, absolute.
    pub folder: PathBuf,
    pub environment: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStep {
    pub join: Join,
    pub pipeline: Vec<OrderCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderCommand {
    Enter(String),
    Run(OrderProgram),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderProgram {
    pub file: ProgramFile,
    /// The whole vector, the program's own name first.
    pub vector: Vec<String>,
    pub redirects: Vec<OrderRedirect>,
}

/// The file that was looked up; the cell starts it only if it finds the very same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRedirect {
    pub stream: Stream,
    pub target: OrderTarget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderTarget {
    Null,
    Stream(Stream),
    /// Counts from the folder the step runs in.
    File {
        path: String,
        mode: RedirectMode,
    },
}
