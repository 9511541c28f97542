//! Which values of the environment count as secrets. The environment itself is passed in.

use vambrace_types::Secret;

use crate::known::{KnownValue, SHORTEST};
use crate::{check, likeness};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownEnv {
    /// Every value that is not plainly harmless.
    #[default]
    All,
    /// Only values whose name says so.
    Named,
}

const TELLING: [&str; 8] = ["KEY", "SECRET", "TOKEN", "PASS", "AUTH", "CREDENTIAL", "PWD", "DSN"];
const HARMLESS: [&str; 46] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "PWD",
    "OLDPWD",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LS_COLORS",
    "HOSTNAME",
    "HOST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "TZ",
    "MAIL",
    "SHLVL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "MANPATH",
    "INFOPATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "GOPATH",
    "JAVA_HOME",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VIRTUAL_ENV",
    "SSH_AUTH_SOCK",
    "SSH_CONNECTION",
    "SSH_CLIENT",
    "SSH_TTY",
    "DBUS_SESSION_BUS_ADDRESS",
    "PS1",
    "_",
];
const NAMES_OF_PATHS: [&str; 7] = ["_FILE", "_PATH", "_DIR", "_SOCK", "_HOME", "_STORE", "_SOCKET"];
const HARMLESS_BEGINNINGS: [&str; 5] = ["LC_", "XDG_", "CARGO_PKG_", "RUSTUP_", "GIT_AUTHOR_"];

/// A value of eight or more characters counts, unless its name or its form is plainly harmless. A telling name
/// outweighs a harmless form (a password may be a plain word, or begin with a slash as base64 does), except that an
/// address, and a path where the name asks for one or its parts are plain words, stays one.
pub fn known_from_environment(
    vars: impl Iterator<Item = (String, String)>,
    rule: KnownEnv,
) -> Vec<KnownValue> {
    vars.filter(|(name, value)| counts(name, value, rule))
        .flat_map(|(name, value)| {
            let parts: Vec<String> = parts(&value).into_iter().map(str::to_owned).collect();
            std::iter::once(value)
                .chain(parts)
                .map(move |value| KnownValue { name: name.clone(), value: Secret::new(value) })
        })
        .collect()
}

/// Does a value look like nothing but a secret? Asked where nobody can say who wrote it: to hide a random text too many does
/// no harm, and to hide a word or a path does.
pub fn looks_random(value: &str) -> bool {
    /// Shorter is a word too often; of longer ones, whoever wrote it decides what looking for them costs.
    const LENGTHS: std::ops::RangeInclusive<usize> = 16..=512;
    const LEAST_BITS: f32 = 3.0;
    let bytes = value.trim().as_bytes();
    /// A moment and a version have fewer.
    const FEWEST_LETTERS: usize = 4;
    LENGTHS.contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_graphic)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= FEWEST_LETTERS
        && !is_dull(value)
        && !value.split(['/', '@', '.']).all(is_words)
        && check::entropy(bytes) >= LEAST_BITS
        && likeness::oddness(bytes) > 0
}

/// `xxxxxxxx` hides lines of a document, and nothing that anybody could use.
pub fn is_dull(value: &str) -> bool {
    const FEWEST: usize = 3;
    let mut seen: Vec<char> = value.trim().chars().collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() < FEWEST
}

/// What may turn up without the rest of its value: the password of an address, what follows `Bearer`, the secret of
/// `user:secret`, the inside of quotes, and the parameters that are called by a secret's name.
fn parts(value: &str) -> Vec<&str> {
    let value = value.trim();
    let bare = value.trim_matches(['"', '\'']);
    let mut parts = vec![bare];
    let authority = bare.split_once("://").map(|(_, rest)| rest);
    let user =
        authority.and_then(|rest| rest.split(['/', '?', '#']).next()?.rsplit_once('@')).map(|(user, _)| user);
    parts.extend(user.and_then(|user| user.split_once(':')).map(|(_, password)| password));
    if let Some((scheme, secret)) = bare.split_once(' ')
        && scheme.len() <= 12
        && scheme.chars().all(|c| c.is_ascii_alphabetic())
    {
        parts.push(secret.trim());
    }
    if authority.is_none()
        && let Some((user, secret)) = bare.split_once(':')
        && is_words(user)
        && !bare.contains(char::is_whitespace)
    {
        parts.push(secret);
    }
    for parameter in bare.split([';', '&', '?', ',', ' ']) {
        if let Some((name, secret)) = parameter.split_once('=') {
            let name = name.to_ascii_uppercase();
            parts.extend(TELLING.iter().any(|word| name.contains(word)).then_some(secret));
        }
    }
    parts.retain(|part| {
        *part != value && part.chars().count() >= SHORTEST && !is_words(part) && !is_number_or_version(part)
    });
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn counts(name: &str, value: &str, rule: KnownEnv) -> bool {
    let name = name.to_ascii_uppercase();
    let value = value.trim();
    if value.chars().count() < SHORTEST || HARMLESS.contains(&name.as_str()) || is_address(value) {
        return false;
    }
    if TELLING.iter().any(|word| name.contains(word)) {
        let asks_for_a_path = NAMES_OF_PATHS.iter().any(|ending| name.ends_with(ending));
        let plain = |part: &str| part.is_empty() || part == "~" || part.starts_with('.') || is_words(part);
        return !(is_path(value) && (asks_for_a_path || value.split(['/', ':']).all(plain)));
    }
    if is_path(value) {
        return false;
    }
    match rule {
        KnownEnv::Named => false,
        KnownEnv::All => {
            let harmless_name = HARMLESS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
            // An address that was not harmless has a password or a random part.
            !harmless_name && !is_number_or_version(value) && (value.contains("://") || !is_words(value))
        }
    }
}

/// One path or several joined by colons, each with a separator that makes it one.
fn is_path(value: &str) -> bool {
    let path = |part: &str| {
        let rooted = ["/", "~/", "./", "../"].iter().any(|root| part.starts_with(root));
        // Base64 also begins with a slash at times; it does not have short parts.
        rooted && part.split('/').all(|name| name.len() <= 64)
    };
    value.split(':').all(|part| part.is_empty() || path(part))
}

/// A URL without user, query or long random part.
fn is_address(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let plain = |part: &str| part.len() <= 24 || is_words(part);
    scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
        && !rest.contains(['@', '?', '='])
        && rest.split('/').skip(1).all(plain)
        && rest.split('/').skip(1).filter(|part| !is_words(part)).count() <= 1
}

fn is_number_or_version(value: &str) -> bool {
    let (number, rest) = value.split_once(['-', '+', ' ']).unwrap_or((value, ""));
    let number = number.strip_prefix('v').unwrap_or(number);
    let digits = |text: &str| {
        text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '+' | '_' | ' '))
    };
    digits(value) || (number.contains('.') && digits(number) && is_words(rest))
}

/// Letters, in words: a locale, a setting, a name, a target triple. No word is longer than 24 letters or changes case oddly.
pub(crate) fn is_words(value: &str) -> bool {
    let word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let same_case = |text: &str| {
            text.chars().all(|c| c.is_ascii_lowercase()) || text.chars().all(|c| c.is_ascii_uppercase())
        };
        let tail = letters.get(letters.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        part.len() <= 24 && part.len() - letters.len() <= 4 && (same_case(letters) || same_case(tail))
    };
    value.split(['-', '_', '.', ' ', ',', ';', ':', '/', '=', '@']).all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, all: bool, named: bool) {
        assert_eq!(counts(name, value, KnownEnv::All), all, "{name}={value} with all");
        assert_eq!(counts(name, value, KnownEnv::Named), named, "{name}={value} with named");
    }

    #[test]
    fn a_secret_inside_a_value_is_known_alone() {
        let secret = ["x9Kd", "02mQ", "77pZ"].concat();
        for value in [
            format!("postgres://app:{secret}@db/prod"),
            format!("redis://:{secret}@cache"),
            format!("Bearer {secret}"),
            format!("admin:{secret}"),
            format!("\"{secret}\""),
            format!("Server=db;Password={secret};Encrypt=True"),
            format!("--token={secret}"),
        ] {
            let known =
                known_from_environment([("APP_AUTH".to_owned(), value.clone())].into_iter(), KnownEnv::All);
            assert!(known.iter().any(|known| *known.value.expose() == secret), "{value}");
        }
        let vars = [("APP_AUTH".to_owned(), "name:production-database".to_owned())];
        assert_eq!(known_from_environment(vars.into_iter(), KnownEnv::All).len(), 1);
    }

    #[test]
    fn words_paths_and_rows_of_one_letter_do_not_look_random() {
        for value in [
            "function",
            "src/payload.py",
            "src/module/very_long_name.py",
            "crates/vambrace2/src/lib.rs",
            "production-database-2",
            "2026-11-18T19:00:00.000Z",
            &"a1".repeat(500),
            &"a".repeat(1000),
        ] {
            assert!(!looks_random(value), "{value}");
        }
        for value in [["x9Kd02mQ", "77pZ41Lw"].concat(), ["0f3b9c1e77a2", "d4f8aa01"].concat()] {
            assert!(looks_random(&value), "{value}");
        }
        assert!(is_dull("xxxxxxxx") && is_dull("-=-=-=-=") && !is_dull("xyzxyzxyz"));
    }

    #[test]
    fn harmless_values_are_not_secrets() {
        let random = ["x9Kd", "02mQ", "77pZ"].concat();
        check("GITHUB_TOKEN", &random, true, true);
        check("ANYTHING", &random, true, false);
        check("DB_PASSWORD", "correcthorse", true, true);
        check("SHORT_TOKEN", "x9Kd02m", false, false);
        check("PATH", &random, false, false);
        check("SSH_AUTH_SOCK", "/tmp/ssh-a/agent.1", false, false);
        check("TOKEN_FILE", "/run/secrets/token", false, false);
        // Base64 begins with a slash now and then, and so may a password.
        check("SECRET_ACCESS_KEY", &format!("/jalr{random}{random}{random}"), true, true);
        check("DB_PASSWORD", &format!("~/{random}"), true, true);
        check("PASSWORD_STORE", "/home/me/store", false, false);
        check("SEARCH", "/usr/bin:/usr/local/bin", false, false);
        check("LC_ALL", "en_US.UTF-8", false, false);
        check("SOME_LOCALE", "de_DE.UTF-8", false, false);
        check("BUILD", "20261115093000", false, false);
        check("RELEASE", "v1.22.333-beta", false, false);
        check("GREETING", "hello world", false, false);
        check("API", "https://api.example.com/v1", false, false);
        check("HOOK", &format!("https://example.com/hooks/{random}/{random}/{random}"), true, false);
        check("DATABASE", "postgres://me:word@host/db", true, false);
    }
}
