//! The system tools: infrastructure of the machine itself, for the role `sre` only. They run on the host, so each word
//! they start is fixed here and every name is held against a pattern; a person is asked each time. Nothing of a project
//! is installed by them.

mod install_package;
mod migrate_config;
mod migration;
mod system_ctl;
mod verify_binary;

use vambrace_types::{ErrorCode, ToolError};

use crate::Toolbox;

pub(crate) use install_package::InstallPackageTool;
pub(crate) use migrate_config::MigrateConfigTool;
pub(crate) use system_ctl::SystemCtlTool;
pub(crate) use verify_binary::VerifyBinaryTool;

const LONGEST_NAME: usize = 100;

/// A name that begins with a letter or digit and goes on with those and `more`: never an option, a path, a pattern or
/// an address.
fn is_plain_name(name: &str, more: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || more.contains(letter))
}

fn bad_name(argument: &str, value: &str, form: &str) -> ToolError {
    ToolError::new(ErrorCode::ValidationError, format!("`{value}` cannot be a `{argument}`."))
        .suggestion(format!("Use {form}."))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// As the administrator: without a password or not at all (specification 004).
fn as_administrator(toolbox: &Toolbox, vector: Vec<String>) -> Vec<String> {
    let before: &[&str] = if toolbox.sudo { &["sudo", "-n", "--"] } else { &[] };
    words(before).into_iter().chain(vector).collect()
}
