//! The tools of the table of fixed interfaces, and the capability that each one needs. The tables and the crate
//! meet here: the rows speak of tools, the crate of capabilities.

use vambrace_policy::Capability;

/// Every tool that `tools/list` can show, and the one that sends notifications. `declared` stands for all tools that the
/// operator declares.
pub(crate) const TOOLS: [(&str, Capability); 43] = [
    ("read_file", Capability::ReadFiles),
    ("search_file", Capability::ReadFiles),
    ("count_matches", Capability::ReadFiles),
    ("list_files", Capability::ReadFiles),
    ("list_directory", Capability::ReadFiles),
    ("read_output", Capability::ReadOutput),
    ("write_file", Capability::WriteFiles),
    ("edit_file", Capability::WriteFiles),
    ("delete_file", Capability::WriteFiles),
    ("create_directory", Capability::WriteFiles),
    ("bash_command", Capability::RunPrograms),
    ("exec_shell", Capability::RunPrograms),
    ("spawn", Capability::RunPrograms),
    ("run_test", Capability::RunTests),
    ("run_lint", Capability::RunTests),
    ("git_status", Capability::ReadGit),
    ("git_diff", Capability::ReadGit),
    ("git_add", Capability::CommitGit),
    ("git_commit", Capability::CommitGit),
    ("git_checkout", Capability::CommitGit),
    ("git_push", Capability::PushGit),
    ("install_dependencies", Capability::InstallDependencies),
    ("fetch_url", Capability::FetchWeb),
    ("web_fetch", Capability::FetchWeb),
    ("a2a_notify", Capability::SendNotifications),
    ("search_knowledge", Capability::ReadKnowledge),
    ("find_usage", Capability::ReadKnowledge),
    ("get_related_tests", Capability::ReadKnowledge),
    ("get_system_map", Capability::ReadKnowledge),
    ("get_task_context", Capability::ReadKnowledge),
    ("knowledge_status", Capability::ReadKnowledge),
    ("search_memory", Capability::ReadMemory),
    ("memory_read", Capability::ReadMemory),
    ("save_to_memory", Capability::WriteMemory),
    ("update_memory", Capability::WriteMemory),
    ("delete_memory", Capability::WriteMemory),
    ("memory_write", Capability::WriteMemory),
    ("install_package", Capability::ManageSystem),
    ("verify_binary", Capability::ManageSystem),
    ("system_ctl", Capability::ManageSystem),
    ("migrate_config", Capability::ManageSystem),
    ("posture_report", Capability::ReadPosture),
    ("declared", Capability::UseDeclaredTools),
];

pub(crate) fn capability(tool: &str) -> Capability {
    TOOLS.iter().find(|(name, _)| *name == tool).unwrap_or_else(|| panic!("no tool {tool}")).1
}
