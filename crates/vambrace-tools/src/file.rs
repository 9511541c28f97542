//! The file tools of specification 004.

mod create_directory;
mod delete_file;
mod edit_file;
mod list_files;
mod read_file;
mod search_file;
pub(crate) mod veiled;
mod write_file;

pub(crate) use create_directory::CreateDirectoryTool;
pub(crate) use delete_file::DeleteFileTool;
pub use edit_file::Change;
pub(crate) use edit_file::EditFileTool;
pub(crate) use list_files::ListFilesTool;
pub(crate) use read_file::ReadFileTool;
pub(crate) use search_file::{CountMatchesTool, SearchFileTool};
pub(crate) use write_file::WriteFileTool;
