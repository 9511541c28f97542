//! Which program a word names. Knows spelling only; whether the file is there and trusted is the process door's to say.

use super::{CommandRefusal, ProgramMatch};

/// A program's name alone: not empty, no separators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramName(String);

/// Folders whose programs may be named by their whole path. The process door looks into the same ones.
const TRUSTED: [&str; 6] = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];

impl ProgramName {
    pub fn parse(text: &str) -> Option<ProgramName> {
        let plain = !text.is_empty() && !text.contains(['/', '\0']) && text != "." && text != "..";
        plain.then(|| ProgramName(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first word of a command.
    pub(crate) fn of_word(word: &str, match_by: ProgramMatch) -> Result<ProgramName, CommandRefusal> {
        let untrusted = || CommandRefusal::PathAsProgram { word: word.to_owned() };
        let Some((folder, name)) = word.rsplit_once('/') else {
            return ProgramName::parse(word)
                .ok_or_else(|| CommandRefusal::NotAllowed { program: word.to_owned() });
        };
        let trusted = match match_by {
            ProgramMatch::Trusted => TRUSTED.contains(&folder),
            ProgramMatch::Basename => true,
        };
        // THREAT: P07, a file `ls` planted in the workspace and started as `./ls`.
        ProgramName::parse(name).filter(|_| trusted).ok_or_else(untrusted)
    }
}

/// Whether the runner does it itself. Everything else is a program that is started.
pub fn is_builtin(name: &str) -> bool {
    name == "cd"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, match_by: ProgramMatch, expected: Option<&str>) {
        let name = ProgramName::of_word(word, match_by).ok();
        assert_eq!(name.as_ref().map(ProgramName::as_str), expected, "{word:?}");
    }

    #[test]
    fn a_path_is_a_program_only_in_trusted_folders() {
        use ProgramMatch::{Basename, Trusted};
        check("ls", Trusted, Some("ls"));
        check("/bin/ls", Trusted, Some("ls"));
        check("/usr/local/sbin/x", Trusted, Some("x"));
        check("./ls", Trusted, None);
        check("/tmp/ls", Trusted, None);
        check("/usr/bin/../../tmp/ls", Trusted, None);
        check("/usr/bin/", Trusted, None);
        check("/bin/..", Trusted, None);
        check("//bin/ls", Trusted, None); // another spelling of a trusted folder is still another spelling
        check("", Trusted, None);
        check(".", Trusted, None);
        check("./ls", Basename, Some("ls"));
        check("/opt/x/ls", Basename, Some("ls"));
        check("/opt/x/", Basename, None);
    }

    #[test]
    fn only_cd_is_built_in() {
        assert!(is_builtin("cd"));
        assert!(!is_builtin("echo"));
    }
}
