//! Who may depend on whom: the table that ARCHITECTURE.md draws. A new crate gets its row here first.

use crate::manifest::{Dependency, DependencyKind};

/// Crate and layer. A crate depends on lower layers only.
pub(crate) const ROOMS: [(&str, u8); 18] = [
    ("vambrace-types", 0),
    ("vambrace-json", 0),
    ("vambrace-policy", 1),
    ("vambrace-edit", 1),
    ("vambrace-redact", 1),
    ("vambrace-auth", 1),
    ("vambrace-audit", 2),
    ("vambrace-state", 2),
    ("vambrace-files", 3),
    ("vambrace-net", 3),
    ("vambrace-process", 3),
    ("vambrace-knowledge", 4),
    ("vambrace-tools", 4),
    ("vambrace-runtime", 5),
    ("vambrace-config", 5),
    ("vambrace-agent", 6),
    ("vambrace-server", 6),
    ("vambrace", 7),
];

/// The edges within a layer that are allowed, from and to.
const SIDEWAYS: [(&str, &str); 2] =
    [("vambrace-tools", "vambrace-knowledge"), ("vambrace-config", "vambrace-runtime")];

/// Layers 0 and 1 are pure: time and randomness are arguments, and nothing is opened.
const LAST_PURE_LAYER: u8 = 1;
const IMPURE: [&str; 20] = [
    "async-std",
    "chrono",
    "fastrand",
    "getrandom",
    "grep-searcher",
    "hyper",
    "ignore",
    "jiff",
    "libc",
    "memmap2",
    "mio",
    "nix",
    "rand",
    "reqwest",
    "rustix",
    "socket2",
    "tempfile",
    "tokio",
    "tokio-util",
    "walkdir",
];

/// Crates that must not know an outside format. The record's line format is a public contract, the tools' argument
/// schemas are theirs, the claims of a token are JSON by definition, and one crate reads JSON for all, so those four are not
/// in the list.
const FORMAT_FREE: [&str; 7] = [
    "vambrace-types",
    "vambrace-policy",
    "vambrace-edit",
    "vambrace-redact",
    "vambrace-files",
    "vambrace-net",
    "vambrace-process",
];
const FORMATS: [&str; 6] = ["json5", "schemars", "serde", "serde-saphyr", "serde_json", "toml"];

fn layer_of(name: &str) -> Option<u8> {
    ROOMS.iter().find(|(room, _)| *room == name).map(|(_, layer)| *layer)
}

/// What is wrong with one dependency of one crate, if anything.
pub(crate) fn judge(name: &str, dependency: &Dependency) -> Option<String> {
    let other = dependency.name.as_str();
    let Some(layer) = layer_of(name) else {
        // The task runner has to build when everything else is broken; the benches may use everything.
        return (name == "xtask")
            .then(|| format!("xtask depends on `{other}`, and it must depend on nothing"));
    };
    if let Some(below) = layer_of(other) {
        let sideways = SIDEWAYS.contains(&(name, other));
        let wrong = below >= layer && !sideways;
        return wrong.then(|| {
            format!(
                "{name} (layer {layer}) depends on {other} (layer {below}), and arrows point downwards only"
            )
        });
    }
    // What only the tests use does not ship.
    if dependency.kind == DependencyKind::Dev {
        return None;
    }
    if layer <= LAST_PURE_LAYER && IMPURE.contains(&other) {
        return Some(format!("{name} is pure, and `{other}` brings I/O, a clock or randomness"));
    }
    (FORMAT_FREE.contains(&name) && FORMATS.contains(&other))
        .then(|| format!("{name} must not know outside formats, and `{other}` brings one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, kind: DependencyKind, other: &str, expected: Option<&str>) {
        let dependency = Dependency { name: other.to_owned(), kind, line: 1 };
        let found = judge(name, &dependency);
        match expected {
            Some(part) => assert!(found.as_deref().is_some_and(|text| text.contains(part)), "{found:?}"),
            None => assert_eq!(found, None, "{name} on {other}"),
        }
    }

    #[test]
    fn arrows_point_downwards() {
        use DependencyKind::{Build, Dev, Normal};
        check("vambrace-files", Normal, "vambrace-policy", None);
        check("vambrace-policy", Normal, "vambrace-files", Some("downwards"));
        check("vambrace-policy", Dev, "vambrace-config", Some("downwards")); // for tests neither
        check("vambrace-policy", Build, "vambrace-config", Some("downwards"));
        check("vambrace-files", Normal, "vambrace-net", Some("downwards")); // the same layer
        check("vambrace-tools", Normal, "vambrace-knowledge", None);
        check("vambrace-knowledge", Normal, "vambrace-tools", Some("downwards")); // one way only
        check("vambrace-config", Normal, "vambrace-runtime", None);
        check("vambrace", Normal, "vambrace-server", None);
    }

    #[test]
    fn pure_crates_stay_pure_and_format_free() {
        use DependencyKind::{Dev, Normal};
        check("vambrace-types", Normal, "tokio", Some("pure"));
        check("vambrace-policy", Normal, "getrandom", Some("pure"));
        check("vambrace-redact", Normal, "rustix", Some("pure"));
        check("vambrace-redact", Dev, "tempfile", None);
        check("vambrace-audit", Normal, "rustix", None);
        check("vambrace-policy", Normal, "serde", Some("formats"));
        check("vambrace-audit", Normal, "serde_json", None);
        check("vambrace-policy", Normal, "globset", None);
        check("xtask", Normal, "regex", Some("nothing"));
        check("vambrace-bench", Normal, "tokio", None);
    }
}
