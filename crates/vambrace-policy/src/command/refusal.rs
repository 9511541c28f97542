//! Why a command line is not run. Each is another "no", because callers and operators do different things about them.

mod grammar;
mod instead;

use vambrace_types::ErrorCode;

use instead::instead;

/// For programs that nobody wrote advice for.
const LISTED: &str = "Use a listed program: ls, cat, head, tail, sed, grep, rg, find, wc, sort, cut, awk, \
                      jq, diff, git and the like; for the rest there are edit_file, run_test, run_lint and \
                      git_commit.";
const ANOTHER_WAY: &str = "Do it another way, with the file tools for instance, or ask a person to do it.";
const KNOWN: &str =
    "Leave the argument out, or say it with another option: only what is known to be harmless is taken.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRefusal {
    /// The plan cannot express this token of the shell's grammar; `what` says what it is (`command substitution`).
    Syntax { token: String, what: &'static str },
    /// Larger or deeper than a line may be.
    TooLong { what: &'static str, limit: usize },
    /// Nothing is left to run.
    Empty,
    /// The operator configured that an empty list blocks everything (specification 000).
    NoAllowlist,
    /// The program is on no list.
    NotAllowed { program: String },
    /// One of the patterns that are refused in any mode, or of specification 002's words, or of the operator's denylist.
    Pattern { pattern: String },
    /// An argument that would make an allowed program harmful, or that its rules do not know.
    Argument { program: String, word: String, why: String },
    /// A host that the line names and that is not listed for the program.
    Host { host: String, port: u16 },
    /// A path given as a program, which is not a trusted file.
    PathAsProgram { word: String },
}

impl CommandRefusal {
    pub fn code(&self) -> ErrorCode {
        match self {
            CommandRefusal::Syntax { .. } | CommandRefusal::TooLong { .. } | CommandRefusal::Empty => {
                ErrorCode::CommandSyntax
            }
            CommandRefusal::NoAllowlist => ErrorCode::NoAllowlist,
            CommandRefusal::NotAllowed { .. } | CommandRefusal::PathAsProgram { .. } => ErrorCode::NotAllowed,
            CommandRefusal::Pattern { .. } => ErrorCode::DangerousCommand,
            CommandRefusal::Argument { .. } => ErrorCode::ArgumentNotAllowed,
            CommandRefusal::Host { .. } => ErrorCode::HostNotAllowed,
        }
    }

    /// The name of the rule, as decisions and the record show it.
    pub fn rule(&self) -> String {
        match self {
            CommandRefusal::Syntax { .. } | CommandRefusal::TooLong { .. } | CommandRefusal::Empty => {
                "command_policy.grammar".to_owned()
            }
            CommandRefusal::NoAllowlist => "command_policy.empty_means".to_owned(),
            CommandRefusal::NotAllowed { .. } => "command_policy.allowlist".to_owned(),
            CommandRefusal::PathAsProgram { .. } => "command_policy.match".to_owned(),
            CommandRefusal::Pattern { pattern } => format!("command_policy.patterns:{pattern}"),
            CommandRefusal::Argument { program, .. } => format!("command_policy.argument_rules:{program}"),
            CommandRefusal::Host { .. } => "sandbox.net".to_owned(),
        }
    }

    /// What happened, and the next useful step.
    pub fn words(&self) -> (String, String) {
        match self {
            CommandRefusal::Syntax { token, what } => (
                format!("`{token}` ({what}) is not part of what a command line may contain."),
                grammar::instead(token, what).to_owned(),
            ),
            CommandRefusal::TooLong { what, limit } => (
                format!("The command line has more than {limit} {what}."),
                "Split it into several calls, or put the text into a file with write_file.".to_owned(),
            ),
            CommandRefusal::Empty => {
                ("The command line holds no command.".to_owned(), "Name a program to run.".to_owned())
            }
            // The bytes of specification 000.
            CommandRefusal::NoAllowlist => (
                "command tool execution blocked: no allowlist configured. Configure allowed_commands in agent or server config."
                    .to_owned(),
                "Ask the operator to list the programs that may run.".to_owned(),
            ),
            CommandRefusal::NotAllowed { program } => (
                format!("binary \"{program}\" not in allowlist"),
                instead(program, "").unwrap_or(LISTED).to_owned(),
            ),
            CommandRefusal::Pattern { pattern } if ["&&", "||", ";"].contains(&pattern.as_str()) => {
                (format!("blocked pattern: {pattern}"), "Make one call for each command.".to_owned())
            }
            // The bytes of specification 002.
            CommandRefusal::Pattern { pattern } => (
                format!("blocked pattern: {pattern}"),
                instead(pattern, "").unwrap_or(ANOTHER_WAY).to_owned(),
            ),
            // What is missing is refused in the name of the program, or of its subcommand.
            CommandRefusal::Argument { program, word, why } if is_named(word, program) => (
                format!("`{word}` may not be run like this: {why}."),
                instead(program, word).unwrap_or(KNOWN).to_owned(),
            ),
            CommandRefusal::Argument { program, word, why } => (
                format!("`{program}` may not be given `{word}`: {why}."),
                instead(program, word).unwrap_or(KNOWN).to_owned(),
            ),
            CommandRefusal::Host { host, port } => (
                format!("network access denied for {host}:{port}: not listed in sandbox.net"),
                instead::NETWORK.to_owned(),
            ),
            CommandRefusal::PathAsProgram { word } => (
                format!("`{word}` names a program by a path that is not trusted."),
                "Name the program alone; it is looked up in the system's folders.".to_owned(),
            ),
        }
    }
}

fn is_named(word: &str, program: &str) -> bool {
    word.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
