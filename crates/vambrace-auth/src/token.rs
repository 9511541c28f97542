//! How credentials look. Randomness is an argument.

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
