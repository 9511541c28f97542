//! `system_ctl`: asks about or restarts one local service. Specification 004 names these two actions and no other.

use schemars::JsonSchema;
use serde::Deserialize;
use vambrace_policy::{ManageSystem, Permit};
use vambrace_types::{ErrorCode, RawOutput, ToolError, Tree};

use super::{as_administrator, bad_name, is_plain_name, words};
use crate::shell::Outcome;
use crate::{About, CallContext, Hands, Hints, Tool};

pub(crate) struct SystemCtlTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SystemCtlArgs {
    /// Name of the service, such as docker.
    service: String,
    /// status or restart.
    action: String,
}

impl Tool for SystemCtlTool {
    type Args = SystemCtlArgs;
    type Action = ManageSystem;

    fn about(&self) -> About {
        About::of(
            "system_ctl",
            "Manage a local service",
            "Shows the status of a service of this machine, or restarts it. A person approves each call.",
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
        )
    }

    fn plan(&self, args: SystemCtlArgs, context: &CallContext<'_>) -> Result<ManageSystem, ToolError> {
        let name = args.service.strip_suffix(".service").unwrap_or(&args.service);
        if !is_plain_name(name, "@._-") {
            return Err(bad_name("service", &args.service, "the plain name of a service, such as docker"));
        }
        let unit = format!("{name}.service");
        let quiet = ["systemctl", "--no-pager", "--no-ask-password"];
        let (what, vector) = match args.action.as_str() {
            "status" => {
                let rest = ["--lines=20", "status", "--", &unit];
                (
                    format!("look at the service `{name}` of this machine."),
                    words(&[&quiet[..], &rest].concat()),
                )
            }
            "restart" => {
                let rest = ["restart", "--", &unit];
                let vector = words(&[&quiet[..], &rest].concat());
                let vector = as_administrator(context.toolbox, vector);
                (format!("restart the service `{name}` of this machine."), vector)
            }
            other => {
                return Err(ToolError::new(
                    ErrorCode::ValidationError,
                    format!("`{other}` is not an action of this tool."),
                )
                .suggestion("Use status or restart; starting and stopping services is left to people."));
            }
        };
        let (folder, time) = (context.service()?, context.toolbox.time_most);
        Ok(ManageSystem { what, steps: vec![vector], variables: Vec::new(), folder, time })
    }

    async fn run(&self, permit: Permit<ManageSystem>, hands: &Hands<'_>) -> Result<RawOutput, ToolError> {
        let finished = hands.run(permit, None).await?;
        let ok = finished.exit.code() == 0 && !finished.timed_out;
        let entries = std::iter::once(("ok", Tree::Bool(ok)));
        Ok(RawOutput::new(Tree::map(entries.chain(Outcome::of(&finished, hands).entries()))))
    }
}
