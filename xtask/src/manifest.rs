//! What a Cargo.toml says about dependencies and lints, read as text.
//!
//! LIMIT: it reads the spellings that people write (`name = …`, `name.workspace = true`, `[dependencies.name]`), not
//! all of TOML. A spelling it cannot read yields no dependency, and cargo's own resolver still sees it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    Normal,
    Build,
    Dev,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
    pub(crate) line: usize,
}

pub(crate) fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut section = Section::Other;
    for (index, raw) in manifest.lines().enumerate() {
        let line = raw.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Section::parse(header);
            if let Section::One(kind, name) = &section {
                found.push(Dependency { name: name.clone(), kind: *kind, line: index + 1 });
            }
        } else if let (Section::List(kind), Some((key, value))) = (&section, line.split_once('=')) {
            let key = key.trim().split('.').next().unwrap_or_default().trim_matches('"');
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if !key.is_empty() && key.chars().all(plain) {
                // A renamed package is judged by its real name.
                let name = renamed(value).unwrap_or(key).to_owned();
                found.push(Dependency { name, kind: *kind, line: index + 1 });
            }
        }
    }
    found
}

/// `[lints]` with `workspace = true` below it.
pub(crate) fn inherits_lints(manifest: &str) -> bool {
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[lints]";
        } else if inside && line.replace(' ', "") == "workspace=true" {
            return true;
        }
    }
    false
}

enum Section {
    /// `[dependencies]`: each key is one.
    List(DependencyKind),
    /// `[dependencies.name]`: the header is one.
    One(DependencyKind, String),
    Other,
}

impl Section {
    fn parse(header: &str) -> Section {
        // `target.'cfg(unix)'.dependencies.name`: what stands before does not matter here.
        let tables = [
            ("dev-dependencies", DependencyKind::Dev),
            ("build-dependencies", DependencyKind::Build),
            ("dependencies", DependencyKind::Normal),
        ];
        for (table, kind) in tables {
            let Some(at) = header.find(table) else { continue };
            let starts = header.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('.'));
            let rest = header.get(at + table.len()..).unwrap_or_default();
            match (starts, rest.strip_prefix('.')) {
                (true, None) if rest.is_empty() => return Section::List(kind),
                (true, Some(name)) => return Section::One(kind, name.trim_matches('"').to_owned()),
                (true, None) | (false, _) => {}
            }
        }
        Section::Other
    }
}

fn renamed(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("package")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    after.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, expected: &[(&str, DependencyKind)]) {
        let found = dependencies(manifest);
        let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.kind)).collect();
        assert_eq!(found, expected, "{manifest}");
    }

    #[test]
    fn every_usual_spelling_is_read() {
        use DependencyKind::{Build, Dev, Normal};
        check("[dependencies]\ntokio = \"1\"\n\n[lints]\nworkspace = true\n", &[("tokio", Normal)]);
        check("[dependencies]\nrustix.workspace = true\n", &[("rustix", Normal)]);
        check("[dependencies]\nclock = { package = \"jiff\", version = \"1\" }\n", &[("jiff", Normal)]);
        check("[dependencies]\na = { version = \"1\", features = [\n  \"x\",\n] }\n", &[("a", Normal)]);
        check("[dependencies.serde]\nversion = \"1\"\n", &[("serde", Normal)]);
        check("[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n", &[("libc", Normal)]);
        check(
            "[dev-dependencies]\nproptest = \"1\"\n[build-dependencies]\ncc = \"1\"\n",
            &[("proptest", Dev), ("cc", Build)],
        );
        check("[package]\nname = \"x\"\n# [dependencies]\n", &[]);
        check("[workspace.dependencies]\nserde = \"1\"\n", &[("serde", Normal)]);
    }

    #[test]
    fn lints_come_from_the_workspace() {
        assert!(inherits_lints("[lints]\nworkspace = true\n"));
        assert!(!inherits_lints("[lints.rust]\nworkspace = true\n"));
        assert!(!inherits_lints("[dependencies]\nworkspace = true\n[lints]\n"));
    }
}
