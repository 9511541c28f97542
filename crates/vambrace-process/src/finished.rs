//! What came of a job.

use std::time::Duration;

use borsh::{BorshDeserialize, BorshSerialize};
use vambrace_policy::Stale;
use vambrace_types::{Enforcement, ErrorCode, ToolError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    /// As a shell tells it.
    pub fn code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        }
    }
}

#[derive(Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The hard limit on output was reached and the job was killed.
    pub cut: bool,
    pub timed_out: bool,
    /// The limit that was in force, if there was one.
    pub time_limit: Option<Duration>,
    pub duration: Duration,
    pub enforcement: Enforcement,
    /// Sentences for the result and the record: missing layers, limits that were reached.
    pub warnings: Vec<String>,
}

/// Why a job did not run to an end of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    // The bytes of specification 000.
    #[error("binary \"{program}\" not found on system")]
    NotInstalled { program: String },
    #[error("`{program}` is not started: {why}")]
    Untrusted { program: String, why: String },
    #[error("the secret `{name}` has no value")]
    SecretUnresolved { name: String },
    #[error("the cage cannot be built: {missing}")]
    TooWeak { missing: String },
    #[error("nothing is served, because an attack on the cage succeeded: {rows}")]
    PostureBroken { rows: String },
    #[error("the cage was not proved: {why}")]
    Unproved { why: String },
    #[error("the workspace cannot be shown in a cage at this moment: {why}")]
    Unsettled { why: String },
    #[error("{program}: {why}")]
    NotStarted { program: String, why: String },
    #[error("the workspace cannot be shown in a cage: {why}")]
    View { why: String },
    #[error("the standard input is a folder, which cannot be read")]
    InputIsFolder,
    #[error("{n_most} programs are running already")]
    TooMany { n_most: usize },
    #[error("the job was cancelled")]
    Cancelled,
    #[error("the permit belongs to another policy")]
    Stale,
    #[error("the program was ended, but {why}")]
    LeftBehind { why: String },
    #[error("the programs used more memory than they may ({limit} bytes) and were ended")]
    OutOfMemory { limit: u64 },
    #[error("programs of this user have sent more descriptors than may be on their way at once")]
    InFlight,
    #[error("the cage failed: {why}")]
    Broken { why: String },
}

impl From<Stale> for ProgramError {
    fn from(_: Stale) -> ProgramError {
        ProgramError::Stale
    }
}

impl ProgramError {
    pub fn to_tool_error(&self) -> ToolError {
        let (code, message, suggestion) = match self {
            ProgramError::NotInstalled { .. } => (
                ErrorCode::NotInstalled,
                self.to_string(),
                "Use another program, or ask the operator to install it.",
            ),
            ProgramError::Untrusted { .. } => (
                ErrorCode::UntrustedProgram,
                sentence(&self.to_string()),
                "Use a program of the system; files that an agent can change are not started by name.",
            ),
            ProgramError::SecretUnresolved { .. } => (
                ErrorCode::SecretUnresolved,
                sentence(&self.to_string()),
                "Ask the operator to set the secret under `secrets.env`; the tool was not started.",
            ),
            ProgramError::TooWeak { .. } => (
                ErrorCode::IsolationTooWeak,
                sentence(&self.to_string()),
                "Ask the operator to run `vambrace doctor`, which says how to get what is missing.",
            ),
            ProgramError::PostureBroken { .. } => (
                ErrorCode::PostureBroken,
                sentence(&self.to_string()),
                "Tell the person you work for; `vambrace doctor` shows the table.",
            ),
            ProgramError::Unproved { .. } => (
                ErrorCode::IsolationTooWeak,
                sentence(&self.to_string()),
                "Call again: the cage is then attacked anew. If it stays, ask the operator to run `vambrace doctor`.",
            ),
            ProgramError::Unsettled { .. } => (
                ErrorCode::IsolationTooWeak,
                sentence(&self.to_string()),
                "Call again: names of the workspace were changed while the cage was built over them.",
            ),
            ProgramError::NotStarted { .. } => (
                ErrorCode::CommandFailed,
                sentence(&self.to_string()),
                "Look at the program's name and its folder.",
            ),
            ProgramError::View { .. } => (
                ErrorCode::IsolationTooWeak,
                sentence(&self.to_string()),
                "Ask the operator to choose another folder as the workspace.",
            ),
            ProgramError::InputIsFolder => (
                ErrorCode::CommandFailed,
                sentence(&self.to_string()),
                "Give the program a file or a pipe to read from, or name the folder as an argument.",
            ),
            ProgramError::TooMany { .. } => (
                ErrorCode::TooManyPrograms,
                sentence(&self.to_string()),
                "Wait until one of them has ended, then call again.",
            ),
            ProgramError::Cancelled => (ErrorCode::Cancelled, sentence(&self.to_string()), ""),
            ProgramError::Stale => (
                ErrorCode::StalePermit,
                "The policy changed while this call was under way, so it was not done.".to_owned(),
                "Make the call again.",
            ),
            ProgramError::LeftBehind { .. } => (
                ErrorCode::SecurityError,
                sentence(&self.to_string()),
                "Stop and tell the person you work for: it may run on their machine, and they have to remove it.",
            ),
            ProgramError::OutOfMemory { .. } => (
                ErrorCode::ResourceExhausted,
                sentence(&self.to_string()),
                "Ask for less at once, or ask the operator to raise `limits.memory_bytes`.",
            ),
            ProgramError::InFlight => (
                ErrorCode::ResourceExhausted,
                sentence(&self.to_string()),
                "End the program that does not receive them, or ask the operator to raise the limit of open files (`ulimit -n`).",
            ),
            ProgramError::Broken { .. } => (
                ErrorCode::CommandFailed,
                sentence(&self.to_string()),
                "Call again; if it stays, tell the person you work for.",
            ),
        };
        ToolError::new(code, message).suggestion(suggestion)
    }
}

/// Texts that are joined by colons become one that stands alone.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
