//! What a cell is told to run: a job whose programs have been looked up. Every text is final.

use std::path::PathBuf;

use borsh::{BorshDeserialize, BorshSerialize};
use vambrace_policy::command::{Command, CommandPlan};

use crate::wire::path;

#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Order {
    pub plan: CommandPlan<Command<ProgramFile>>,
    /// Inside the cage, absolute.
    #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
    pub folder: PathBuf,
    pub environment: Vec<(String, String)>,
}

/// The file that was looked up; the cell starts it only if it finds the very same one.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct ProgramFile {
    #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
    pub path: PathBuf,
    pub device: u64,
    pub inode: u64,
}
