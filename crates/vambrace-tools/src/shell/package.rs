//! What `package.json` says of its scripts.

use serde_json::Value;

/// The script that a vector of npm, pnpm or yarn would run.
pub(super) fn script_of(vector: &[String]) -> Option<&str> {
    let words: Vec<&str> = vector.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["npm" | "pnpm" | "yarn", "test", ..] => Some("test"),
        ["npm" | "pnpm" | "yarn", "run", name, ..] => Some(name),
        [..] => None,
    }
}

pub(super) fn has_script(package: &str, name: &str) -> bool {
    let package: Value = serde_json::from_str(package).unwrap_or_default();
    package.get("scripts").and_then(|scripts| scripts.get(name)).is_some_and(Value::is_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let vector: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(script_of(&vector), expected, "{line}");
    }

    #[test]
    fn scripts_of_vectors() {
        check("npm test -- x", Some("test"));
        check("pnpm run lint", Some("lint"));
        check("npm ci", None);
        check("cargo test", None);
        check("npm", None);
    }

    #[test]
    fn scripts_of_packages() {
        assert!(has_script(r#"{"scripts": {"test": "node --test"}}"#, "test"));
        assert!(!has_script(r#"{"scripts": {"build": "x"}}"#, "test"));
        assert!(!has_script(r#"{"scripts": {"test": 5}}"#, "test"));
        assert!(!has_script("no JSON", "test"));
    }
}
