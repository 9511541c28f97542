//! A crate's own clippy.toml replaces the root's, so it must repeat every ban that it does not mean to lift, and a
//! comment must say which it lifts and why.

use super::Finding;
use crate::workspace::Workspace;

/// Crates that open files, sockets, programs or the terminal, and those that never ship.
const MAY_LIFT: [&str; 10] = [
    "vambrace-audit",
    "vambrace-files",
    "vambrace-net",
    "vambrace-process",
    // Owns one database file outside every tool's reach.
    "vambrace-knowledge",
    "vambrace-config",
    "vambrace-server",
    "vambrace",
    "xtask",
    "bench",
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let Some(root) = workspace.text("clippy.toml") else {
        return vec![Finding::stop("clippy.toml", 0, "is missing, and with it every ban")];
    };
    let own = workspace.files.iter().filter(|file| file.path.ends_with("/clippy.toml"));
    own.flat_map(|file| check_one(root, &file.path, file.package().unwrap_or_default(), &file.text)).collect()
}

fn check_one(root: &str, path: &str, package: &str, own: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let comments: String = own.lines().filter(|line| line.trim_start().starts_with('#')).collect();
    let bans = banned_paths(own);
    let lifted: Vec<&str> = banned_paths(root).into_iter().filter(|ban| !bans.contains(ban)).collect();
    let untold: Vec<&str> = lifted.iter().copied().filter(|ban| !is_told(&comments, ban)).collect();
    if !untold.is_empty() {
        let message =
            format!("lifts these without a comment that names them and says why: {}", untold.join(", "));
        findings.push(Finding::stop(path, 0, message));
    }
    if !lifted.is_empty() && !MAY_LIFT.contains(&package) {
        findings.push(Finding::stop(path, 0, format!("{package} is no door and may not lift a ban")));
    }
    for setting in settings(root).filter(|setting| !settings(own).any(|ours| ours == *setting)) {
        findings.push(Finding::stop(path, 0, format!("does not repeat `{setting}`")));
    }
    findings
}

/// A comment tells of `std::time::Instant::now` by that name, by `Instant::now`, or by a module around it.
fn is_told(comments: &str, ban: &str) -> bool {
    let around =
        ban.match_indices("::").filter_map(|(at, _)| ban.get(..at)).filter(|module| module.contains("::"));
    let short = ban.match_indices("::").filter_map(|(at, mark)| ban.get(at + mark.len()..));
    let mut names = around.chain(short.filter(|name| name.contains("::"))).chain([ban]);
    names.any(|name| comments.contains(name))
}

/// The `path = "…"` of every entry.
fn banned_paths(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    code.filter_map(|line| {
        let (_, after) = line.split_once("path")?;
        after.split('"').nth(1)
    })
    .collect()
}

/// The `allow-…` lines.
fn settings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.starts_with("allow-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "\
allow-unwrap-in-tests = true
disallowed-methods = [
  { path = \"std::fs::read\", reason = \"x\" },
  { path = \"std::time::Instant::now\", reason = \"x\" },
]";

    #[track_caller]
    fn check(package: &str, own: &str, expected: &[&str]) {
        let findings = check_one(ROOT, "clippy.toml", package, own);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.message.contains(part), "{finding}");
        }
    }

    #[test]
    fn a_ban_is_repeated_or_lifted_with_a_reason() {
        check("vambrace-files", ROOT, &[]);
        let without = ROOT.replace("  { path = \"std::fs::read\", reason = \"x\" },\n", "");
        check("vambrace-files", &without, &["std::fs::read"]);
        check("vambrace-files", &format!("# Lifts std::fs: this is the door.\n{without}"), &[]);
        check("vambrace-files", &format!("# Lifts std::time: the clock.\n{without}"), &["std::fs::read"]);
        check("vambrace-policy", &format!("# Lifts std::fs: because.\n{without}"), &["no door"]);
        check("vambrace-files", &ROOT.replace("tests = true", "tests = false"), &["does not repeat"]);
        let commented = ROOT.replace("  { path = \"std::time", "#  { path = \"std::time");
        check("vambrace-files", &commented, &[]); // the comment names it; a reviewer sees the lifted line
    }
}
