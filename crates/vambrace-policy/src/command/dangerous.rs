//! The last net: texts that are refused wherever they stand. It refuses harmless lines now and then (`echo "no reboot
//! needed"`), which specification 003 requires; it must never be the only thing that refuses.

use super::list::is_networked;
use super::program::ProgramName;
use super::{CommandMode, CommandPolicy, CommandRefusal, PatternList};

/// Specification 003's list, in its order.
const ALWAYS: [&str; 11] = [
    "rm -rf /",
    "sudo ",
    "mkfs",
    "dd if=",
    ":(){ :|:& };:",
    "chmod 777 /",
    "> /dev/sd",
    "shutdown",
    "reboot",
    "poweroff",
    "format c:",
];

/// Specification 002's words, with what each is as a substring there.
const SEED002: [(&str, &str); 9] = [
    ("sudo", "sudo"),
    ("su", "su "),
    ("rm", "rm "),
    ("mv", "mv "),
    ("cp", "cp "),
    ("chmod", "chmod"),
    ("chown", "chown"),
    ("curl", "curl"),
    ("wget", "wget"),
];

/// Which part of a command a text is.
#[derive(Debug)]
pub(crate) enum Said {
    /// All of it, as it was written.
    Line,
    /// The words of one program, as it would get them.
    Words { program: Option<ProgramName> },
}

/// Case does not count, and all white space is one space.
pub(crate) fn normalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_space = false;
    for character in text.chars() {
        let space = character.is_whitespace();
        if space && !in_space {
            out.push(' ');
        } else if !space {
            out.extend(character.to_lowercase());
        }
        in_space = space;
    }
    out
}

/// The eleven on a line as it was written. To be asked before the line is read, or the grammar speaks first.
pub fn dangerous_pattern(line: &str) -> Option<CommandRefusal> {
    always(&normalized(line))
}

/// The eleven, in any mode. `text` is normalized.
pub(crate) fn always(text: &str) -> Option<CommandRefusal> {
    ALWAYS.iter().find(|pattern| text.contains(**pattern)).map(|pattern| named(pattern))
}

/// What the operator's choices add to the eleven, on the whole line. `text` is normalized.
pub(crate) fn chosen(policy: &CommandPolicy, text: &str, said: &Said) -> Option<CommandRefusal> {
    let settings = &policy.settings;
    let denied = match settings.mode {
        // An empty denylist means the eleven, which were looked at already.
        CommandMode::Denylist => policy.listed().denied_text(text),
        CommandMode::Allowlist => None,
    };
    let seed = || match settings.patterns {
        PatternList::Seed002 => SEED002
            .iter()
            .find(|(word, within)| text.contains(within) && !is_excused(policy, word, said))
            .map(|(word, _)| named(word)),
        PatternList::All | PatternList::Seed003 => None,
    };
    denied.map(|pattern| named(&pattern)).or_else(seed)
}

/// The operator's own entry for a word counts for more, and so do the hosts that are listed for it: "allow with domain
/// whitelist" (specification 002, phase 3). Of a line with such a program, only the words of the others are looked at.
fn is_excused(policy: &CommandPolicy, word: &str, said: &Said) -> bool {
    let by_host = || is_networked(word) && policy.settings.has_network(word);
    policy.listed().by_operator(word)
        || match said {
            Said::Line => by_host(),
            Said::Words { program } => {
                program.as_ref().is_some_and(|name| name.as_str() == word) && by_host()
            }
        }
}

/// Specification 002's words where they are programs. The operator's own entry for one of them counts for more.
pub(crate) fn program(policy: &CommandPolicy, name: &str) -> Option<CommandRefusal> {
    let applies = match policy.settings.patterns {
        PatternList::All | PatternList::Seed002 => true,
        PatternList::Seed003 => false,
    };
    let is_word = SEED002.iter().any(|(word, _)| *word == name);
    let is_hit = applies && is_word && !is_excused(policy, name, &Said::Line);
    is_hit.then(|| named(name))
}

/// Specification 002 shows the pattern without the space that ends it.
fn named(pattern: &str) -> CommandRefusal {
    CommandRefusal::Pattern { pattern: pattern.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = always(&normalized(text));
        assert_eq!(found, expected.map(named), "{text:?}");
    }

    #[test]
    fn the_eleven_and_their_edges() {
        check("rm -rf /", Some("rm -rf /"));
        check("RM \t -RF  /usr", Some("rm -rf /"));
        check("rm -rf ./x", None);
        check("sudo\tls", Some("sudo "));
        check("pseudo", None);
        check("sudo", None); // alone it is caught as a program
        check("mkfs.ext4 x", Some("mkfs"));
        check("dd if=/dev/zero", Some("dd if="));
        check(":(){ :|:& };:", Some(":(){ :|:& };:"));
        check("chmod 777 /", Some("chmod 777 /"));
        check("echo > /dev/sda", Some("> /dev/sd"));
        check("echo >  /dev/null", None);
        check("Shutdown now", Some("shutdown"));
        check("echo \"no reboot needed\"", Some("reboot"));
        check("poweroff", Some("poweroff"));
        check("format C:", Some("format c:"));
        check("cargo fmt", None);
    }
}
