//! Crates: their layers, their names, their lints.

use super::Finding;
use crate::layers;
use crate::manifest;
use crate::workspace::Workspace;

/// A room is named for what lives in it. These names say only that nobody knew.
const BANNED_NAMES: [&str; 5] = ["core", "common", "utils", "helpers", "misc"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &workspace.files {
        if let Some(name) = file.path.strip_suffix("/Cargo.toml").filter(|_| file.package().is_some()) {
            let name = name.rsplit('/').next().unwrap_or(name);
            findings.extend(check_manifest(name, &file.path, &file.text));
        }
        if file.is_rust() {
            findings.extend(check_module_name(&file.path));
        }
    }
    findings
}

fn check_manifest(name: &str, path: &str, manifest: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.starts_with("crates/") {
        if !layers::ROOMS.iter().any(|(room, _)| *room == name) {
            findings.push(Finding::stop(path, 0, "has no layer; add its row to xtask/src/layers.rs"));
        }
        if !manifest.lines().any(|line| line.replace(' ', "") == format!("name=\"{name}\"")) {
            findings.push(Finding::stop(path, 0, "the package is not named like its folder"));
        }
        if BANNED_NAMES.iter().any(|banned| name.split('-').any(|part| part == *banned)) {
            findings.push(Finding::stop(path, 0, format!("`{name}` is a name that says nothing")));
        }
    }
    if !manifest::inherits_lints(manifest) {
        findings.push(Finding::stop(path, 0, "lacks `[lints]` with `workspace = true`"));
    }
    for dependency in manifest::dependencies(manifest) {
        if let Some(problem) = layers::judge(name, &dependency) {
            findings.push(Finding::stop(path, dependency.line, problem));
        }
    }
    findings
}

fn check_module_name(path: &str) -> Option<Finding> {
    let banned = path.split('/').find(|part| {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        BANNED_NAMES.contains(&stem)
    })?;
    Some(Finding::stop(path, 0, format!("`{banned}` is a name that says nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "[package]\nname = \"vambrace-policy\"\n\n[dependencies]\n\n[lints]\nworkspace = true\n";

    #[track_caller]
    fn check(name: &str, manifest: &str, expected: &[&str]) {
        let findings = check_manifest(name, &format!("crates/{name}/Cargo.toml"), manifest);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.message.contains(part), "{finding}");
        }
    }

    #[test]
    fn a_manifest_is_judged_line_by_line() {
        check("vambrace-policy", GOOD, &[]);
        check("vambrace-policy", &GOOD.replace("[lints]", "[other]"), &["lacks `[lints]`"]);
        check("vambrace-redact", GOOD, &["not named like"]);
        check("vambrace-core", &GOOD.replace("policy", "core"), &["no layer", "says nothing"]);
        let upwards = GOOD.replace("[dependencies]\n", "[dependencies]\nvambrace-files.workspace = true\n");
        check("vambrace-policy", &upwards, &["downwards"]);
    }

    #[test]
    fn modules_have_names() {
        assert_eq!(check_module_name("crates/vambrace/src/cli/call.rs"), None);
        assert_eq!(check_module_name("crates/vambrace/src/cli/score.rs"), None);
        assert!(check_module_name("crates/vambrace/src/utils.rs").is_some());
        assert!(check_module_name("crates/vambrace/src/helpers/text.rs").is_some());
    }
}
