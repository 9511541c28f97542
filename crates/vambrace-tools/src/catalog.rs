//! The list of tools. A tool that is not here does not exist.

use crate::declared::DeclaredTool;
use crate::file::{
    CountMatchesTool, CreateDirectoryTool, DeleteFileTool, EditFileTool, ListFilesTool, ReadFileTool,
    SearchFileTool, WriteFileTool,
};
use crate::git::{GitAddTool, GitCheckoutTool, GitCommitTool, GitDiffTool, GitPushTool, GitStatusTool};
use crate::memory::{
    DeleteMemoryTool, MemoryReadTool, MemoryWriteTool, SaveToMemoryTool, SearchMemoryTool, UpdateMemoryTool,
};
use crate::output::ReadOutputTool;
use crate::posture::PostureReportTool;
use crate::shell::{
    BashCommandTool, ExecShellTool, InstallDependenciesTool, RunCommandTool, RunLintTool, RunTestTool,
    RunTool, SpawnTool,
};
use crate::system::{InstallPackageTool, MigrateConfigTool, SystemCtlTool, VerifyBinaryTool};
use crate::web::{AgentTool, AgentsTool, FetchUrlTool, HttpTool, NotifyTool, WebFetchTool};
use crate::{LegacyRunCommand, Tool, Toolbox};

/// Takes tools of different types one after the other.
pub trait Visitor {
    fn visit<T: Tool>(&mut self, tool: T);
}

/// Other names under which specifications know a tool: alias, then tool.
pub const ALIASES: &[(&str, &str)] = &[("list_directory", "list_files")];

pub fn visit_all(visitor: &mut impl Visitor, toolbox: &Toolbox) {
    visitor.visit(ReadFileTool);
    visitor.visit(WriteFileTool);
    visitor.visit(EditFileTool);
    visitor.visit(SearchFileTool);
    visitor.visit(CountMatchesTool);
    visitor.visit(ListFilesTool);
    visitor.visit(DeleteFileTool);
    visitor.visit(CreateDirectoryTool);
    visitor.visit(ReadOutputTool);
    visitor.visit(BashCommandTool);
    visitor.visit(ExecShellTool);
    visitor.visit(SpawnTool);
    visitor.visit(RunTool);
    visitor.visit(RunTestTool);
    visitor.visit(RunLintTool);
    visitor.visit(InstallDependenciesTool::default());
    visitor.visit(GitStatusTool);
    visitor.visit(GitDiffTool);
    visitor.visit(GitAddTool);
    visitor.visit(GitCommitTool);
    visitor.visit(GitCheckoutTool);
    visitor.visit(GitPushTool);
    visitor.visit(InstallPackageTool);
    visitor.visit(VerifyBinaryTool);
    visitor.visit(SystemCtlTool);
    visitor.visit(MigrateConfigTool);
    visitor.visit(FetchUrlTool { limits: toolbox.web });
    visitor.visit(WebFetchTool { limits: toolbox.web });
    visitor.visit(SaveToMemoryTool);
    visitor.visit(SearchMemoryTool);
    visitor.visit(UpdateMemoryTool);
    visitor.visit(DeleteMemoryTool);
    visitor.visit(MemoryReadTool);
    visitor.visit(MemoryWriteTool);
    visitor.visit(NotifyTool);
    visitor.visit(PostureReportTool);
    match toolbox.legacy_run_command {
        LegacyRunCommand::Offered => visitor.visit(RunCommandTool),
        LegacyRunCommand::Removed => {}
    }
    for declared in &toolbox.declared {
        visitor.visit(DeclaredTool::new(declared));
    }
    for declared in &toolbox.requests {
        visitor.visit(HttpTool::new(declared, toolbox.web));
    }
    for agent in &toolbox.sub_agents {
        visitor.visit(AgentTool::new(agent));
    }
    if toolbox.sub_agents.len() > 1 {
        visitor.visit(AgentsTool::new(&toolbox.sub_agents));
    }
}
