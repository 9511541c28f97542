//! The list of tools. A tool that is not here does not exist.

use crate::Tool;
use crate::file::{
    CountMatchesTool, CreateDirectoryTool, DeleteFileTool, EditFileTool, ListFilesTool, ReadFileTool,
    SearchFileTool, WriteFileTool,
};
use crate::output::ReadOutputTool;

/// Takes tools of different types one after the other.
pub trait Visitor {
    fn visit<T: Tool>(&mut self, tool: T);
}

/// Other names under which specifications know a tool: alias, then tool.
pub const ALIASES: &[(&str, &str)] = &[("list_directory", "list_files")];

pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(ReadFileTool);
    visitor.visit(WriteFileTool);
    visitor.visit(EditFileTool);
    visitor.visit(SearchFileTool);
    visitor.visit(CountMatchesTool);
    visitor.visit(ListFilesTool);
    visitor.visit(DeleteFileTool);
    visitor.visit(CreateDirectoryTool);
    visitor.visit(ReadOutputTool);
}
