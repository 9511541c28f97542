//! What can go wrong at this door: policy says no, or the world does.

use rustix::io::Errno;
use vambrace_policy::{Denial, Reason};
use vambrace_types::{ErrorCode, ToolError, Tree};

#[derive(Debug)]
pub enum FilesError {
    Denied(Denial),
    NotFound {
        path: String,
    },
    AlreadyExists {
        path: String,
    },
    NotADirectory {
        path: String,
    },
    IsADirectory {
        path: String,
    },
    TooLarge {
        path: String,
        bytes: u64,
        limit: u64,
    },
    Binary {
        path: String,
    },
    NameTooLong {
        path: String,
    },
    Busy {
        path: String,
        holder: String,
    },
    Changed {
        path: String,
    },
    /// Two paths of one call lead to the same file.
    Twice {
        path: String,
    },
    /// One of several files could not be replaced, and these, replaced before it, could not be put back.
    HalfDone {
        paths: Vec<String>,
        cause: Box<FilesError>,
    },
    Stopped,
    /// Another open of the same path kept moving it about.
    Unsteady {
        path: String,
    },
    Full {
        path: String,
    },
    /// A pattern that means more than a command can hold.
    TooWide {
        pattern: String,
        limit: usize,
        what: &'static str,
    },
    /// `doing` is what we tried, in a word.
    Os {
        path: String,
        doing: &'static str,
        errno: Errno,
    },
}

impl FilesError {
    pub(crate) fn os(path: &str, doing: &'static str, errno: Errno) -> FilesError {
        let path = path.to_owned();
        match errno {
            Errno::NOENT => FilesError::NotFound { path },
            Errno::EXIST => FilesError::AlreadyExists { path },
            Errno::NOTDIR => FilesError::NotADirectory { path },
            Errno::ISDIR => FilesError::IsADirectory { path },
            Errno::NAMETOOLONG => FilesError::NameTooLong { path },
            Errno::AGAIN => FilesError::Unsteady { path },
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
                FilesError::Full { path }
            }
            _ => FilesError::Os { path, doing, errno },
        }
    }

    pub(crate) fn denied(reason: Reason, rule: &str) -> FilesError {
        FilesError::Denied(Denial::new(reason, rule))
    }

    pub fn to_tool_error(&self) -> ToolError {
        match self {
            FilesError::Denied(denial) => denial.to_tool_error(),
            // The form of specification 004's own example.
            FilesError::NotFound { path } => {
                ToolError::new(ErrorCode::FileNotFound, format!("File {path} does not exist."))
                    .suggestion("Check the path or use list_files to see available files.")
            }
            FilesError::AlreadyExists { path } => {
                ToolError::new(ErrorCode::AlreadyExists, format!("Something already exists at `{path}`."))
                    .suggestion("Use list_files to see what is there.")
            }
            FilesError::NotADirectory { path } => ToolError::new(
                ErrorCode::NotADirectory,
                format!("A part of `{path}` is a file, not a folder."),
            )
            .suggestion("Use list_files on the parent to see what is there."),
            FilesError::IsADirectory { path } => ToolError::new(
                ErrorCode::IsADirectory,
                format!("`{path}` is a folder, and this tool needs a file."),
            )
            .suggestion("Use list_files to see the files in it."),
            FilesError::TooLarge { path, bytes, limit } => ToolError::new(
                ErrorCode::FileTooLarge,
                format!("`{path}` has {bytes} bytes, more than the limit of {limit}."),
            )
            .suggestion(
                "Read a part with `offset` and `limit` in lines, use search_file, or raise `max_bytes`.",
            )
            .details(Tree::map([("bytes", Tree::bytes(*bytes)), ("limit", Tree::bytes(*limit))])),
            FilesError::Binary { path } => {
                ToolError::new(ErrorCode::BinaryFile, format!("`{path}` is not UTF-8 text."))
                    .suggestion("This tool works on text files only; list_files shows sizes.")
            }
            FilesError::NameTooLong { path } => ToolError::new(
                ErrorCode::InvalidPath,
                format!("`{}` is too long for this file system.", shorten(path)),
            )
            .suggestion("Use shorter names."),
            FilesError::Busy { path, holder } => ToolError::new(
                ErrorCode::ResourceBusy,
                format!("`{path}` is locked by another call ({holder})."),
            )
            .suggestion("Wait a few seconds and try again."),
            FilesError::Changed { path } => ToolError::new(
                ErrorCode::FileChanged,
                format!("`{path}` changed while it was being edited, so nothing was written."),
            )
            .suggestion("Read the file again and repeat the edit."),
            FilesError::Twice { path } => ToolError::new(
                ErrorCode::ValidationError,
                format!("`{path}` is the same file as another one of this call."),
            )
            .suggestion("Put all edits of one file into one list; they are matched against the same text."),
            FilesError::HalfDone { paths, cause } => {
                let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
                let message = format!(
                    "{} The other files are as they were, except {}: new text, and it could not be put back.",
                    cause.to_tool_error().message,
                    named.join(", ")
                );
                ToolError::new(ErrorCode::IoError, message)
                    .suggestion("Read the named files, and put them right before you go on.")
            }
            FilesError::Stopped => {
                ToolError::new(ErrorCode::Cancelled, "The call was stopped before it was done.")
                    .suggestion("Ask for less at once, for instance a smaller folder.")
            }
            FilesError::Unsteady { path } => ToolError::new(
                ErrorCode::ResourceBusy,
                format!(
                    "The folders on the way to `{path}` are being moved, so it could not be opened safely."
                ),
            )
            .suggestion("Try again when nothing else moves them."),
            FilesError::Full { path } => ToolError::new(
                ErrorCode::ResourceExhausted,
                format!("The system has no room left for `{path}`; nothing was changed."),
            )
            .suggestion("Tell the person you work for that the disk or a system limit is full."),
            FilesError::TooWide { pattern, limit, what } => ToolError::new(
                ErrorCode::OutputLimitExceeded,
                format!("The pattern `{}` means more than {limit} {what}.", shorten(pattern)),
            )
            .suggestion("Write a narrower pattern, or name the folder and let the program look through it."),
            FilesError::Os { path, doing, errno } => ToolError::new(
                ErrorCode::IoError,
                format!("The system could not {doing} `{path}`: {}.", describe(*errno)),
            )
            .suggestion("Check the permissions of the file and its folder."),
        }
    }
}

fn describe(errno: Errno) -> String {
    let text = std::io::Error::from_raw_os_error(errno.raw_os_error()).to_string();
    text.split(" (os error").next().unwrap_or("unknown error").to_lowercase()
}

fn shorten(path: &str) -> String {
    if path.chars().count() <= 80 {
        return path.to_owned();
    }
    path.chars().take(80).chain(['…']).collect()
}
