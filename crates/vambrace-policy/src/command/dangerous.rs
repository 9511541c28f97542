//! The last net: what is refused whatever the lists say. It must never be the only thing that refuses.
//!
//! With `patterns: all` a program is judged by its words: `reboot` is refused where it would be started, also by another
//! program that starts its arguments, and not where it is a word of a sentence. With the lists of specifications 002
//! and 003 the eleven are texts that are refused wherever they stand (`echo "no reboot needed"`), as 003 requires.

use super::list::is_networked;
use super::program::ProgramName;
use super::{CommandMode, CommandPolicy, CommandRefusal, CommandSettings, PatternList};

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
pub fn dangerous_pattern(settings: &CommandSettings, line: &str) -> Option<CommandRefusal> {
    let line = normalized(line);
    if are_texts(settings) {
        return always(&line);
    }
    // The one that is no program; everything else waits until there are words.
    line.contains(FORK_BOMB).then(|| named(FORK_BOMB))
}

/// Whether the eleven are looked for in texts rather than in words. A denylist lets every program through, also such as
/// read a script in a language of their own, so there the texts stay.
pub(crate) fn are_texts(settings: &CommandSettings) -> bool {
    match (settings.patterns, settings.mode) {
        (PatternList::All, CommandMode::Allowlist) => false,
        (PatternList::All, CommandMode::Denylist)
        | (PatternList::Seed002 | PatternList::Seed003, CommandMode::Allowlist | CommandMode::Denylist) => {
            true
        }
    }
}

/// The eleven, in any mode. `text` is normalized.
pub(crate) fn always(text: &str) -> Option<CommandRefusal> {
    ALWAYS.iter().find(|pattern| text.contains(**pattern)).map(|pattern| named(pattern))
}

const FORK_BOMB: &str = ":(){ :|:& };:";

/// Programs that start what their arguments name, or read it as a script. Behind them any word may be a program.
const STARTERS: [&str; 56] = [
    "ash",
    "awk",
    "bash",
    "busybox",
    "bwrap",
    "chroot",
    "chrt",
    "command",
    "csh",
    "dash",
    "doas",
    "env",
    "eval",
    "exec",
    "fakeroot",
    "firejail",
    "fish",
    "flock",
    "gawk",
    "ionice",
    "ksh",
    "ltrace",
    "lua",
    "mawk",
    "nice",
    "node",
    "nohup",
    "nsenter",
    "parallel",
    "perl",
    "php",
    "pkexec",
    "proot",
    "python",
    "rlwrap",
    "ruby",
    "runuser",
    "script",
    "setpriv",
    "setsid",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "tcsh",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
    "xonsh",
    "zsh",
];

/// The eleven by words: what one program and its arguments mean. `words` begin with the program, `redirects` are the
/// files that it would write.
pub(crate) fn by_words(words: &[String], redirects: &[String]) -> Option<CommandRefusal> {
    let words: Vec<String> = words.iter().map(|word| normalized(word)).collect();
    let found = started(&words).or_else(|| {
        // `python3.12` is the `python` of the list.
        let bare = |first: &String| {
            base(first).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()
        };
        let starts = words.first().is_some_and(|first| STARTERS.contains(&bare(first).as_str()))
            || words.iter().any(|word| word.starts_with("-exec") || word.starts_with("-ok"));
        // A word may be a whole script (`sh -c`), so it is cut where a shell would begin another command.
        let inner = |word: &String| -> Vec<String> {
            word.split([';', '&', '|', '(', ')', '`', '{', '}', '"', '\'', '\n'])
                .map(|part| part.trim().to_owned())
                .collect()
        };
        let behind = |place: usize| words.get(place..).unwrap_or_default();
        (1..words.len()).filter(|_| starts).find_map(|place| {
            let script = || {
                let commands = words.get(place).map(inner).unwrap_or_default();
                commands
                    .iter()
                    .find_map(|command| started(&command.split(' ').map(str::to_owned).collect::<Vec<_>>()))
            };
            started(behind(place)).or_else(script)
        })
    });
    let disk = || redirects.iter().any(|to| normalized(to).starts_with("/dev/sd"));
    found.or_else(|| disk().then_some("> /dev/sd")).map(named)
}

/// What is refused when exactly these words are started.
fn started(words: &[String]) -> Option<&'static str> {
    let (program, arguments) = words.split_first()?;
    let name = base(program);
    let text = arguments.join(" ");
    let is_hit = |pattern: &&&str| match **pattern {
        "rm -rf /" => name == "rm" && text.starts_with("-rf /"),
        "sudo " => name == "sudo",
        "mkfs" => name == "mkfs" || name.starts_with("mkfs."),
        "dd if=" => name == "dd" && arguments.iter().any(|word| word.starts_with("if=")),
        "chmod 777 /" => name == "chmod" && text.starts_with("777 /"),
        "format c:" => name == "format" && text.starts_with("c:"),
        word @ ("shutdown" | "reboot" | "poweroff") => name == word,
        _ => false,
    };
    ALWAYS.iter().find(is_hit).copied()
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
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

    #[track_caller]
    fn check_words(line: &str, expected: Option<&str>) {
        let words: Vec<String> = line.split('_').map(str::to_owned).collect();
        assert_eq!(by_words(&words, &[]), expected.map(named), "{line:?}");
    }

    /// One `_` between words, because a word may hold spaces.
    #[test]
    fn the_eleven_by_words_and_their_edges() {
        check_words("reboot", Some("reboot"));
        check_words("/sbin/Reboot_-f", Some("reboot"));
        check_words("shutdown_-h_now", Some("shutdown"));
        check_words("poweroff", Some("poweroff"));
        check_words("rm_-rf_/", Some("rm -rf /"));
        check_words("rm_-rf_/usr", Some("rm -rf /"));
        check_words("rm_-rf_./x", None);
        check_words("mkfs.ext4_x", Some("mkfs"));
        check_words("mkfs_x", Some("mkfs"));
        check_words("mkfsx", None);
        check_words("dd_bs=1_if=/dev/zero", Some("dd if="));
        check_words("dd_of=x", None);
        check_words("chmod_777_/", Some("chmod 777 /"));
        check_words("chmod_777_x", None);
        check_words("format_C:", Some("format c:"));
        check_words("sudo_ls", Some("sudo "));
        check_words("xargs_reboot", Some("reboot"));
        check_words("env_A=1_nice_-n_5_/sbin/reboot", Some("reboot"));
        check_words("timeout_5_rm_-rf_/", Some("rm -rf /"));
        check_words("sh_-c_cd x && reboot", Some("reboot"));
        check_words("bash_-c_$(mkfs.ext4 /dev/sda)", Some("mkfs"));
        check_words("find_._-exec_reboot_;", Some("reboot"));
        check_words("python3_-c_import os; os.system('reboot')", Some("reboot"));
        check_words("find_._-name_reboot", None);
        check_words("git_-c_alias.x=!reboot_x", None); // git's own rules refuse it
        check_words("echo_no reboot needed", None);
        check_words("echo_reboot", None);
        check_words("grep_-n_shutdown_src/main.rs", None);
        check_words("cat_docs/reboot.md", None);
        check_words("ls_mkfs", None);
        assert_eq!(by_words(&["echo".to_owned()], &["/dev/sda".to_owned()]), Some(named("> /dev/sd")));
        assert_eq!(by_words(&["echo".to_owned()], &["/dev/null".to_owned()]), None);
        let strict = CommandSettings::default();
        assert_eq!(dangerous_pattern(&strict, "a; :(){ :|:& };:"), Some(named(FORK_BOMB)));
        assert_eq!(dangerous_pattern(&strict, "echo reboot"), None);
        let letter = CommandSettings { patterns: PatternList::Seed003, ..strict.clone() };
        assert_eq!(dangerous_pattern(&letter, "echo reboot"), Some(named("reboot")));
        let denylist = CommandSettings { mode: CommandMode::Denylist, ..strict };
        assert_eq!(dangerous_pattern(&denylist, "echo reboot"), Some(named("reboot")));
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
