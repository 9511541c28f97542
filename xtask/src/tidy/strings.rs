//! Texts that must not be in the tree: credentials, and paths of the machine where something was written.

use super::Finding;
use crate::code::{code_only, line_of, test_ranges};
use crate::workspace::TextFile;

struct CredentialShape {
    name: &'static str,
    prefix: &'static str,
    /// At least this many characters of the alphabet follow.
    n_body: usize,
    alphabet: fn(char) -> bool,
}

/// Real keys have these shapes. Tests assemble theirs at run time, so that no scanner ever cries wolf over us.
const CREDENTIALS: [CredentialShape; 7] = [
    CredentialShape { name: "AWS key id", prefix: "AKIA", n_body: 16, alphabet: is_upper_or_digit },
    CredentialShape { name: "GitHub token", prefix: "ghp_", n_body: 36, alphabet: is_alphanumeric },
    CredentialShape { name: "GitHub token", prefix: "github_pat_", n_body: 40, alphabet: is_word },
    CredentialShape { name: "Slack bot token", prefix: "xoxb-", n_body: 10, alphabet: is_digit },
    CredentialShape { name: "Slack user token", prefix: "xoxp-", n_body: 10, alphabet: is_digit },
    CredentialShape { name: "Google key", prefix: "AIza", n_body: 35, alphabet: is_word },
    CredentialShape { name: "Anthropic key", prefix: "sk-ant-", n_body: 24, alphabet: is_word },
];

fn is_upper_or_digit(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}
fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}
fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// In two halves, because this file is checked like every other.
const MACHINE_FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Files whose subject is such a path, with the reason.
const MAY_NAME_FOLDERS: [(&str, &str); 2] = [
    ("crates/vambrace-process/src/environment.rs", "the private home folder inside a cage"),
    ("crates/vambrace-process/src/toolchain.rs", "where a package manager installs itself on every machine"),
];

const SOURCE_ENDINGS: [&str; 8] = [".rs", ".toml", ".yaml", ".yml", ".json", ".sh", ".py", ".ci/run"];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for shape in &CREDENTIALS {
        for at in find_credential(&file.text, shape) {
            findings.push(Finding::stop(
                &file.path,
                line_of(&file.text, at),
                format!("looks like a real credential ({}); assemble it at run time", shape.name),
            ));
        }
    }
    for at in find_private_keys(&file.text) {
        findings.push(Finding::stop(&file.path, line_of(&file.text, at), "looks like a real private key"));
    }
    findings.extend(check_machine_paths(file));
    findings
}

fn find_credential<'a>(text: &'a str, shape: &'a CredentialShape) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(shape.prefix).map(|(at, _)| at).filter(|at| {
        let glued =
            text.get(..*at).and_then(|before| before.chars().next_back()).is_some_and(is_alphanumeric);
        let body = text.get(at + shape.prefix.len()..).unwrap_or_default();
        !glued && body.chars().take_while(|c| (shape.alphabet)(*c)).count() >= shape.n_body
    })
}

/// A header with key material after it; a header alone is what a redaction rule looks for.
fn find_private_keys(text: &str) -> impl Iterator<Item = usize> {
    const N_MATERIAL: usize = 40;
    text.match_indices("-----BEGIN ").map(|(at, _)| at).filter(|at| {
        let header = text.get(*at..).unwrap_or_default();
        let first_line = header.lines().next().unwrap_or_default();
        let Some((_, body)) =
            header.split_once("PRIVATE KEY-----").filter(|_| first_line.contains("PRIVATE KEY-----"))
        else {
            return false;
        };
        let body = body.trim_start_matches(|c: char| c.is_whitespace() || c == '\\' || c == 'n' || c == 'r');
        let material = |c: &char| is_alphanumeric(*c) || matches!(c, '+' | '/' | '=');
        body.chars().take_while(material).count() >= N_MATERIAL
    })
}

fn check_machine_paths(file: &TextFile) -> Vec<Finding> {
    let source = SOURCE_ENDINGS.iter().any(|ending| file.path.ends_with(ending));
    let excused = MAY_NAME_FOLDERS.iter().any(|(path, _)| *path == file.path);
    if !source || excused || file.is_test() {
        return Vec::new();
    }
    let tests = if file.is_rust() { test_ranges(&code_only(&file.text)) } else { Vec::new() };
    let mut findings = Vec::new();
    for folder in MACHINE_FOLDERS {
        for (at, _) in file.text.match_indices(folder) {
            let before = file.text.get(..at).and_then(|before| before.chars().next_back());
            let inside_a_path =
                before.is_some_and(|c| is_word(c) || matches!(c, '.' | '/' | '~' | '}' | '*' | '@'));
            if !inside_a_path && !tests.iter().any(|range| range.contains(&at)) {
                let message = format!("names a folder of some machine (`{folder}`)");
                findings.push(Finding::stop(&file.path, line_of(&file.text, at), message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let findings = super::check(&TextFile { path: path.to_owned(), text: text.to_owned() });
        assert_eq!(findings.len(), expected.len(), "{text}: {findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.message.contains(part), "{finding}");
        }
    }

    #[test]
    fn credentials_are_found_by_shape() {
        let aws = |n| format!("id {}{}", "AKIA", "Q7".repeat(n));
        check("README.md", &aws(8), &["AWS"]);
        check("README.md", &aws(7), &[]); // two short
        check("README.md", &format!("x{}", aws(8).replace("id ", "")), &[]); // inside a longer word
        check("testdata/a.tsv", &format!("{}_{}", "ghp", "a1B2".repeat(9)), &["GitHub"]);
        check("a.rs", &format!("{}-{}", "xoxb", "1234567890-abc"), &["Slack"]);
        check("a.rs", "xoxb-…", &[]);
    }

    #[test]
    fn a_key_is_a_header_with_material() {
        let header = "-----BEGIN RSA PRIVATE KEY-----";
        check("a.md", header, &[]);
        check("a.md", &format!("{header}\n{}", "Ab1+".repeat(10)), &["private key"]);
        check("a.md", &format!("\"{header}\\n{}\"", "Ab1+".repeat(10)), &["private key"]);
        check("a.md", &format!("-----BEGIN CERTIFICATE-----\n{}", "Ab1+".repeat(10)), &[]);
    }

    #[test]
    fn machine_paths_stay_on_their_machine() {
        let text = format!("let a = \"{}x\";", MACHINE_FOLDERS[0]);
        check("crates/vambrace/src/a.rs", &text, &["folder of some machine"]);
        check("crates/vambrace/tests/it/a.rs", &text, &[]);
        check("crates/vambrace/src/a.rs", &format!("#[cfg(test)]\nmod tests {{ {text} }}"), &[]);
        check("docs/a.md", &text, &[]);
        check("crates/vambrace/src/a.rs", "let a = \"net/work/x\";", &[]);
    }
}
