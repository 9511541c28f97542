//! The interpreters of inline tools: who they are and how they are handed a script.

use vambrace_process::{ProgramError, Programs};
use vambrace_types::{ErrorCode, ToolError};

use crate::Language;

/// LIMIT: the kernel takes no longer word on a command line, and the script is one.
const LONGEST_SCRIPT: usize = 120 * 1024;

pub(super) struct Interpreter {
    /// In the order in which they are looked for.
    names: &'static [&'static str],
    before: &'static [&'static str],
}

impl Interpreter {
    pub(super) fn of(language: Language) -> Interpreter {
        match language {
            // Isolated, or a file `json.py` of the agent's would be imported for Python's own and run with the operator's
            // secrets. THREAT: P07.
            Language::Python => Interpreter { names: &["python3", "python"], before: &["-I", "-c"] },
            Language::Node => Interpreter { names: &["node"], before: &["-e"] },
            Language::Bash => Interpreter { names: &["bash"], before: &["--noprofile", "--norc", "-c"] },
            Language::Ruby => Interpreter { names: &["ruby"], before: &["-e"] },
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    pub(super) fn arguments(&self, code: &str) -> Result<Vec<String>, ToolError> {
        if code.len() > LONGEST_SCRIPT || code.contains('\0') {
            let message =
                format!("The script of this tool is longer than {LONGEST_SCRIPT} bytes or holds a NUL byte.");
            return Err(ToolError::new(ErrorCode::CommandFailed, message).suggestion(
                "Ask the operator to declare it as a command that reads the script from a file.",
            ));
        }
        Ok(self.before.iter().copied().chain([code]).map(str::to_owned).collect())
    }

    /// The first that this machine has.
    pub(super) fn found(&self, programs: &Programs) -> Result<&'static str, ToolError> {
        self.choose(&|name| programs.find(name).map(drop))
    }

    fn choose(&self, find: &dyn Fn(&str) -> Result<(), ProgramError>) -> Result<&'static str, ToolError> {
        for name in self.names {
            match find(name) {
                Ok(()) => return Ok(name),
                Err(ProgramError::NotInstalled { .. }) => {}
                Err(other) => return Err(other.to_tool_error()),
            }
        }
        // The bytes of specification 000.
        let message = format!("interpreter not found: {}", self.name());
        Err(ToolError::new(ErrorCode::InterpreterNotFound, message)
            .suggestion("Ask the operator to install the interpreter, or do without this tool."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, installed: &[&str], expected: Result<&str, &str>) {
        let find = |name: &str| {
            let missing = || ProgramError::NotInstalled { program: name.to_owned() };
            installed.contains(&name).then_some(()).ok_or_else(missing)
        };
        let found = Interpreter::of(language).choose(&find).map_err(|error| {
            assert_eq!(error.code, ErrorCode::InterpreterNotFound);
            error.message
        });
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn the_first_that_is_there() {
        check(Language::Python, &["python", "python3"], Ok("python3"));
        check(Language::Python, &["python"], Ok("python"));
        check(Language::Python, &[], Err("interpreter not found: python3"));
        check(Language::Node, &["python"], Err("interpreter not found: node"));
        check(Language::Bash, &["bash"], Ok("bash"));
        check(Language::Ruby, &[], Err("interpreter not found: ruby"));
    }

    #[test]
    fn a_script_is_one_word() {
        let words =
            |language, code: &str| Interpreter::of(language).arguments(code).map(|words| words.join(" "));
        assert_eq!(words(Language::Python, "print(1)").unwrap(), "-I -c print(1)");
        assert_eq!(words(Language::Bash, "ls | wc").unwrap(), "--noprofile --norc -c ls | wc");
        assert!(words(Language::Node, &"x".repeat(LONGEST_SCRIPT + 1)).is_err());
        assert!(words(Language::Node, "a\0b").is_err());
    }
}
