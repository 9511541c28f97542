//! How credentials look. Randomness is an argument.

use std::collections::BTreeSet;

/// 64 hexadecimal digits (specification 001).
pub fn internal_token(chance: [u8; 32]) -> String {
    hex(&chance)
}

/// `ka_NAME_` and 32 hexadecimal digits.
pub fn api_key(name: &str, chance: [u8; 16]) -> String {
    format!("ka_{name}_{}", hex(&chance))
}

/// LIMIT: names stand in headers, records and file names.
const MOST_NAME_BYTES: usize = 64;

/// Specification 001's convention for callers: small letters, digits and single hyphens between them, a
/// letter first.
pub fn is_caller_name(name: &str) -> bool {
    name.len() <= MOST_NAME_BYTES
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

/// Why a secret of the configuration lets strangers in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// A reference to the environment that nobody has filled in.
    Unexpanded,
    Short,
    /// Made of few characters over and over.
    Monotonous,
}

/// What is shorter can be tried out.
const SHORTEST: usize = 16;
/// Sixteen random digits, hexadecimal or not, nearly always have more different ones.
const LEAST_VARIETY: usize = 5;

/// The empty text is none, which is another matter.
pub fn weakness(secret: &str) -> Option<Weakness> {
    if secret.is_empty() {
        None
    } else if is_unexpanded(secret) {
        Some(Weakness::Unexpanded)
    } else if secret.chars().count() < SHORTEST {
        Some(Weakness::Short)
    } else if secret.chars().collect::<BTreeSet<_>>().len() < LEAST_VARIETY {
        Some(Weakness::Monotonous)
    } else {
        None
    }
}

/// `$NAME`, `${NAME}`, `$(NAME)`, `%NAME%`, `{{ NAME }}` or the like, whole: the forms of shells,
/// deployments and templates.
fn is_unexpanded(secret: &str) -> bool {
    let forms = [
        ("${", "}"),
        ("$(", ")"),
        ("$env:", ""),
        ("{{", "}}"),
        ("{", "}"),
        ("<", ">"),
        ("@", "@"),
        ("%", "%"),
        ("__", "__"),
        ("$", ""),
    ];
    let inner = |(open, close)| secret.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    forms.into_iter().filter_map(inner).any(|name| is_variable(name.trim()))
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_have_the_forms_of_the_specification() {
        assert_eq!(internal_token([0xab; 32]), "ab".repeat(32));
        assert_eq!(api_key("root-agent", [0x0f; 16]), format!("ka_root-agent_{}", "0f".repeat(16)));
    }

    #[test]
    fn weak_secrets_are_known() {
        #[track_caller]
        fn check(secret: &str, expected: Option<Weakness>) {
            assert_eq!(weakness(secret), expected, "{secret}");
        }
        use Weakness::{Monotonous, Short, Unexpanded};
        check("", None);
        check("short", Some(Short));
        check("0123456789abcde", Some(Short));
        check("0123456789abcdef", None);
        check("ä23456789abcdef", Some(Short)); // characters, not bytes
        check(&"x".repeat(40), Some(Monotonous));
        check(&"abcd".repeat(10), Some(Monotonous));
        check(&"abcde".repeat(10), None);
        check(&internal_token([0xab; 32]), Some(Monotonous));
        check(&internal_token(std::array::from_fn(|n| n as u8 * 7)), None);
        let name = "INTERNAL_AUTH_TOKEN";
        for unexpanded in [
            format!("${name}"),
            format!("${{{name}}}"),
            format!("$({name})"),
            format!("%{name}%"),
            format!("$env:{name}"),
            format!("<{name}>"),
            format!("{{{name}}}"),
            format!("@{name}@"),
            format!("__{name}__"),
            format!("{{{{ .Values.{name} }}}}").replace(".V", "V"),
        ] {
            check(&unexpanded, Some(Unexpanded));
        }
        check("$A", Some(Unexpanded));
        check("$argon2id$v=19$m=65536", None); // a dollar sign alone is none
        check("$1234567890abcdef", None);
    }

    #[test]
    fn callers_have_kebab_case_names() {
        #[track_caller]
        fn check(name: &str, is_one: bool) {
            assert_eq!(is_caller_name(name), is_one, "{name}");
        }
        check("root-agent", true);
        check("monitoring", true);
        check("a", true);
        check("a1-2b", true);
        check(&"a".repeat(64), true);
        check(&"a".repeat(65), false);
        check("", false);
        check("1a", false);
        check("-a", false);
        check("a-", false);
        check("a--b", false);
        check("Root", false);
        check("root_agent", false);
        check("root agent", false);
        check("é", false);
        check("a\n", false);
    }
}
