//! What `--dry-run` means to each command: the one place where that is decided.

use super::options::{ApprovalsArgs, ApprovalsWhat, AuditWhat, Command, ConfigArgs, ConfigWhat};

/// How a command treats `--dry-run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DryRun {
    /// It decides and shows, and acts on nothing. That a call was shown is on record, as every decision is.
    Honoured,
    /// It only ever looks.
    Looks,
    /// There is nothing to show, so it is refused, with what to do instead.
    Refused(&'static str),
}

/// INVARIANT: no wildcard, so that a new command has to say.
pub(super) fn of(command: Option<&Command>) -> DryRun {
    match command {
        Some(Command::Call(_) | Command::Check(_) | Command::Run(_) | Command::Secrets(_)) => {
            DryRun::Honoured
        }
        Some(Command::Serve(_) | Command::Mcp) | None => DryRun::Honoured,
        Some(Command::Redact(_) | Command::Completions { .. } | Command::Man) => DryRun::Looks,
        Some(Command::Audit(args)) => match args.what {
            AuditWhat::List { .. }
            | AuditWhat::Show { .. }
            | AuditWhat::Verify
            | AuditWhat::Alerts
            | AuditWhat::Export { .. } => DryRun::Looks,
        },
        Some(Command::Stop { list: true, .. }) => DryRun::Looks,
        Some(Command::Stop { list: false, .. } | Command::Resume { .. }) => {
            DryRun::Refused("`vambrace stop --list` shows who is stopped")
        }
        Some(Command::Approvals(ApprovalsArgs { what: None })) => DryRun::Looks,
        Some(Command::Approvals(ApprovalsArgs {
            what: Some(ApprovalsWhat::Approve { .. } | ApprovalsWhat::Reject { .. }),
        })) => DryRun::Refused("`vambrace approvals` shows what waits"),
        Some(Command::Config(ConfigArgs { what: ConfigWhat::Init { .. } })) => DryRun::Refused(
            "`vambrace config init FILE` writes to a place of your choice and replaces no file",
        ),
        Some(Command::Config(ConfigArgs {
            what: ConfigWhat::Check | ConfigWhat::Schema | ConfigWhat::Show,
        })) => DryRun::Looks,
        Some(Command::Token(_)) => {
            DryRun::Refused("a credential is made or not; nothing keeps one that you do not configure")
        }
        Some(Command::Doctor) => {
            DryRun::Refused("`vambrace doctor` attacks its own sandbox and removes what it made for that")
        }
        Some(Command::Reference { .. }) => DryRun::Refused("name an empty folder"),
    }
}

/// Why the command is not started, if it cannot be tried without acting.
pub(super) fn refusal(command: Option<&Command>) -> Option<String> {
    match of(command) {
        DryRun::Honoured | DryRun::Looks => None,
        DryRun::Refused(instead) => Some(format!(
            "this command has no dry run, and nothing was done; leave --dry-run out ({instead})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::cli::options::Options;

    /// The test of the binary finds commands where a person does, in the help; it cannot see this one.
    #[test]
    fn one_command_is_hidden() {
        let command = Options::command();
        let hidden = command.get_subcommands().filter(|command| command.is_hide_set());
        assert_eq!(hidden.map(|command| command.get_name()).collect::<Vec<_>>(), ["reference"]);
    }
}
