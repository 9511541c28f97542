//! The list of tools, by their source. A tool that is not here does not exist.

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

/// Of ours.
pub fn built_in(visitor: &mut impl Visitor, toolbox: &Toolbox) {
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
}

/// Of the operator's configuration.
pub fn declared(visitor: &mut impl Visitor, toolbox: &Toolbox) {
    let programs = toolbox.declared.iter().filter_map(DeclaredTool::new);
    programs.for_each(|tool| visitor.visit(tool));
    let requests = toolbox.requests.iter().filter_map(|request| HttpTool::new(request, toolbox.web));
    requests.for_each(|tool| visitor.visit(tool));
}

/// One for each agent that the operator lists, and one that asks several.
pub fn sub_agents(visitor: &mut impl Visitor, toolbox: &Toolbox) {
    toolbox.sub_agents.iter().filter_map(AgentTool::new).for_each(|tool| visitor.visit(tool));
    if toolbox.sub_agents.len() > 1 {
        visitor.visit(AgentsTool::new(&toolbox.sub_agents));
    }
}
