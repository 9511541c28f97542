//! The tools that run programs in the cage: lines and vectors that a model wrote, a person's own command, tests, linters
//! and installs.

mod bash_command;
mod exec_shell;
mod hint;
mod install_dependencies;
mod line;
mod outcome;
mod package;
mod run;
mod run_test;
mod spawn;
mod strategy;
mod summary;
#[cfg(test)]
mod tests;
mod toolchain;
mod vector;

pub(crate) use bash_command::BashCommandTool;
pub(crate) use exec_shell::{ExecShellTool, RunCommandTool};
pub(crate) use install_dependencies::InstallDependenciesTool;
pub(crate) use outcome::Outcome;
pub(crate) use run::RunTool;
pub(crate) use run_test::{RunLintTool, RunTestTool};
pub(crate) use spawn::SpawnTool;
