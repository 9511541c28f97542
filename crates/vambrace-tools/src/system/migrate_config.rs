//! `migrate_config`: brings a configuration file to a version, one known step after the other, with the old text kept.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{ConfigChange, MigrateConfig, Permit};
use vambrace_redact::Redactor;
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::migration::{Migrated, MigrationProblem, migrate, newest};
use crate::file::veiled;
use crate::tool::files;
use crate::{About, CallContext, Hands, Hints, Look, Tool, Toolbox};

pub(crate) struct MigrateConfigTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MigrateConfigArgs {
    /// The version that the file shall have.
    target_version: u64,
    /// Which file, by the name that the error for a missing one lists. Default: the only one there is.
    file: Option<String>,
}

impl Tool for MigrateConfigTool {
    type Args = MigrateConfigArgs;
    type Action = MigrateConfig;

    fn about(&self) -> About {
        About::of(
            "migrate_config",
            "Bring a configuration file up to date",
            "Upgrades a configuration file of the workspace to a schema version, keeps the old file beside it \
                      and returns the diff. A person approves the call; a dry run shows the diff. \
                      Never downgrades.",
            Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
        )
    }

    fn plan(&self, args: MigrateConfigArgs, context: &CallContext<'_>) -> Result<MigrateConfig, ToolError> {
        let place = place_of(context.toolbox, args.file.as_deref())?;
        Ok(MigrateConfig {
            path: context.path(place)?,
            target: args.target_version,
            rehearsal: context.dry_run,
            change: None,
        })
    }

    fn settle(&self, action: &MigrateConfig, look: &Look<'_>) -> Result<Option<MigrateConfig>, ToolError> {
        let old = look.text(&action.path, look.limits.read_most)?.content;
        let name = action.path.file_name().unwrap_or_default();
        let Migrated { from, text, .. } =
            migrate(name, &old, action.target).map_err(|it| refusal(&it, name))?;
        let change = ConfigChange { old, new: text, backup: format!("{name}.bak-{from}") };
        if change.old == change.new {
            return Ok(None);
        }
        Ok(Some(MigrateConfig { change: Some(change), ..action.clone() }))
    }

    fn preview(&self, permit: &Permit<MigrateConfig>, look: &Look<'_>) -> Result<RawOutput, ToolError> {
        let action = permit.action();
        let spelled = look.spelled(&action.path);
        let diff = diff(action, &spelled, look.redactor);
        Ok(RawOutput::new(Tree::map(entries(action, &spelled, false, diff))))
    }

    async fn run(&self, permit: Permit<MigrateConfig>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let action = permit.action().clone();
        let spelled = hands.spelled(&action.path);
        let diff = diff(&action, &spelled, hands.redactor());
        hands.redacted(veiled::n_covered(&diff));
        let mut entries = entries(&action, &spelled, action.change.is_some(), diff);
        // Nothing to do is also an end.
        if let Some(ConfigChange { backup, .. }) = action.change {
            let door = hands.files_to_change()?;
            let warnings = hands.blocking(|| door.migrate(permit, hands.stop())).await.map_err(files)?;
            hands.warn(warnings);
            entries.push(("backup", Tree::Text(backup)));
        }
        Ok(RawOutput::new(Tree::map(entries)))
    }
}

fn diff(action: &MigrateConfig, spelled: &str, redactor: &Redactor) -> String {
    let change = action.change.as_ref();
    change.map_or_else(String::new, |change| veiled::diff(redactor, spelled, Some(&change.old), &change.new))
}

fn entries(action: &MigrateConfig, spelled: &str, changed: bool, diff: String) -> Vec<(&'static str, Tree)> {
    vec![
        ("path", Tree::text(spelled)),
        ("version", Tree::bytes(action.target)),
        ("changed", Tree::Bool(changed)),
        ("diff", Tree::Text(diff)),
    ]
}

fn place_of<'t>(toolbox: &'t Toolbox, name: Option<&str>) -> Result<&'t str, ToolError> {
    let files = &toolbox.migrations;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let error =
        |message: String, next: String| ToolError::new(ErrorCode::ValidationError, message).suggestion(next);
    let choose = || format!("Set `file` to one of: {}.", names.join(", "));
    match (name, files.len()) {
        (_, 0) => Err(error(
            "No configuration file of this workspace is in use.".to_owned(),
            "Ask the operator; only files in the workspace are migrated by this tool.".to_owned(),
        )),
        (Some(name), _) => files
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| error(format!("There is no configuration file `{name}`."), choose())),
        (None, 1) => Ok(files.values().next().map(String::as_str).unwrap_or_default()),
        (None, _) => Err(error("There are several configuration files.".to_owned(), choose())),
    }
}

fn refusal(problem: &MigrationProblem, name: &str) -> ToolError {
    let (code, message) = match problem {
        MigrationProblem::UnknownTarget { target, .. } => {
            (ErrorCode::ValidationError, format!("There is no version {target} of the configuration."))
        }
        MigrationProblem::Downgrade { from, target } => (
            ErrorCode::ValidationError,
            format!("`{name}` has version {from}; it is not taken back to version {target}."),
        ),
        MigrationProblem::UnknownVersion { said } => {
            (ErrorCode::CommandFailed, format!("`{name}` says version `{said}`, which is not known here."))
        }
        MigrationProblem::UnknownForm => {
            (ErrorCode::CommandFailed, format!("`{name}` is not a YAML, JSON or TOML file."))
        }
        MigrationProblem::NotUnderstood => {
            (ErrorCode::CommandFailed, format!("`{name}` does not look like a configuration file."))
        }
    };
    ToolError::new(code, message).suggestion(format!("The newest version is {}.", newest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], asked: Option<&str>, expected: Option<&str>) {
        let migrations = names.iter().map(|name| ((*name).to_owned(), format!("at/{name}"))).collect();
        let toolbox = Toolbox { migrations, ..Toolbox::default() };
        assert_eq!(place_of(&toolbox, asked).ok(), expected, "{names:?} {asked:?}");
    }

    #[test]
    fn the_file_is_one_that_is_in_use() {
        check(&["a"], None, Some("at/a"));
        check(&["a", "b"], Some("b"), Some("at/b"));
        check(&["a", "b"], None, None);
        check(&["a"], Some("/etc/passwd"), None);
        check(&[], None, None);
    }
}
