//! What `package.json` says of its scripts and of what they run.

use serde_json::Value;
use vambrace_json::Limits;

/// A `package.json`, as far as it matters here. One that cannot be read has nothing.
pub(super) struct Package(Value);

/// Longer ones have other things in them.
const LARGEST: usize = 1 << 20;

/// What `npm init` writes where there is no test yet.
const PLACEHOLDER: &str = "no test specified";

impl Package {
    pub(super) fn read(text: &str) -> Package {
        // npm, too, passes over the mark that some editors put first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Package(vambrace_json::read(text.as_bytes(), Limits::document(LARGEST)).unwrap_or_default())
    }

    /// The text of a script; npm's own placeholder is none.
    pub(super) fn script(&self, name: &str) -> Option<&str> {
        let text = self.0.get("scripts")?.get(name)?.as_str()?;
        Some(text).filter(|text| !text.contains(PLACEHOLDER))
    }

    pub(super) fn has_workspaces(&self) -> bool {
        self.0.get("workspaces").is_some_and(|workspaces| !workspaces.is_null())
    }

    pub(super) fn depends_on(&self, name: &str) -> bool {
        let lists = ["devDependencies", "dependencies"].into_iter();
        lists.filter_map(|list| self.0.get(list)).any(|list| list.get(name).is_some())
    }
}

/// The script that a vector of npm, pnpm or yarn would run.
pub(super) fn script_of<'w>(words: &[&'w str]) -> Option<&'w str> {
    match words {
        ["npm" | "pnpm" | "yarn", "test", ..] => Some("test"),
        ["npm" | "pnpm" | "yarn", "run", name, ..] => Some(name),
        [..] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(script_of(&words), expected, "{line}");
    }

    #[test]
    fn scripts_of_vectors() {
        check("npm test -- x", Some("test"));
        check("pnpm run lint", Some("lint"));
        check("npm ci", None);
        check("cargo test", None);
        check("npm", None);
    }

    #[track_caller]
    fn check_script(package: &str, name: &str, expected: Option<&str>) {
        assert_eq!(Package::read(package).script(name), expected, "{package}");
    }

    #[test]
    fn scripts_of_packages() {
        check_script(r#"{"scripts": {"test": "node --test"}}"#, "test", Some("node --test"));
        check_script(r#"{"scripts": {"build": "x"}}"#, "test", None);
        check_script(r#"{"scripts": {"test": 5}}"#, "test", None);
        check_script("no JSON", "test", None);
        let initial = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        check_script(initial, "test", None);
    }

    #[test]
    fn what_a_package_needs() {
        let package = Package::read(r#"{"devDependencies": {"jest": "1"}, "workspaces": ["a"]}"#);
        assert!(package.depends_on("jest") && package.has_workspaces());
        let package = Package::read(r#"{"dependencies": {"mocha": "1"}, "workspaces": null}"#);
        assert!(package.depends_on("mocha") && !package.depends_on("jest") && !package.has_workspaces());
    }
}
