//! What can go wrong with the record itself.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("cannot {doing} `{}`: {cause}", path.display())]
    Io { doing: &'static str, path: PathBuf, cause: io::Error },
    #[error("refusing to keep the record in `{}`: {why}", path.display())]
    UnsafePlace { path: PathBuf, why: &'static str },
    /// The registry or the key contradicts itself: writing on would bury the evidence.
    #[error("the record in `{}` is broken: {why}", path.display())]
    Broken { path: PathBuf, why: String },
    #[error("the record's file `{}` was deleted while it was in use", path.display())]
    Gone { path: PathBuf },
    #[error("{waiting} questions wait for a person already; `vambrace approvals` shows them")]
    TooManyQuestions { waiting: usize },
    #[error("the thread that writes the record panicked")]
    WriterPanicked,
    #[error("no random numbers from the system: {0}")]
    NoRandomness(getrandom::Error),
}

impl AuditError {
    /// Without the path, for whoever must not learn where the record is.
    pub fn brief(&self) -> String {
        match self {
            AuditError::Io { doing, cause, .. } => format!("cannot {doing} it: {cause}"),
            AuditError::UnsafePlace { why, .. } => format!("its place is not safe: {why}"),
            AuditError::Broken { .. } => "it is broken".to_owned(),
            AuditError::Gone { .. } => "it was deleted while it was in use".to_owned(),
            AuditError::TooManyQuestions { waiting } => {
                format!("{waiting} questions wait for a person already")
            }
            AuditError::WriterPanicked => "its writer panicked".to_owned(),
            AuditError::NoRandomness(_) => "the system gives no random numbers".to_owned(),
        }
    }

    /// The same, for another whom it concerns.
    pub(crate) fn again(&self) -> AuditError {
        match self {
            AuditError::Io { doing, path, cause } => {
                let made = || io::Error::new(cause.kind(), cause.to_string());
                let cause = cause.raw_os_error().map_or_else(made, io::Error::from_raw_os_error);
                AuditError::Io { doing, path: path.clone(), cause }
            }
            AuditError::UnsafePlace { path, why } => AuditError::UnsafePlace { path: path.clone(), why },
            AuditError::Broken { path, why } => AuditError::broken(path, why),
            AuditError::Gone { path } => AuditError::Gone { path: path.clone() },
            AuditError::TooManyQuestions { waiting } => AuditError::TooManyQuestions { waiting: *waiting },
            AuditError::WriterPanicked => AuditError::WriterPanicked,
            AuditError::NoRandomness(cause) => AuditError::NoRandomness(*cause),
        }
    }

    /// For `map_err`: the operation and the path, waiting for the cause. Costs nothing until there is one.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        move |cause| AuditError::Io { doing, path: path.to_owned(), cause }
    }

    pub(crate) fn broken(path: &Path, why: impl Into<String>) -> AuditError {
        AuditError::Broken { path: path.to_owned(), why: why.into() }
    }
}
