//! Which toolchain a folder belongs to. Pure: what is on the disk is asked through a closure.

use vambrace_types::{ErrorCode, ScopedPath, ToolError};

use crate::Toolchain;

/// Where several apply, the first of these; others follow by name.
const ORDER: [&str; 5] = ["rust", "go", "python", "node", "kotlin"];

#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) toolchain: &'a Toolchain,
    pub(super) folder: ScopedPath,
    /// The names of those that apply there too.
    pub(super) others: Vec<String>,
}

/// The nearest folder from `start` up to `top` that holds a file by which a toolchain is known. A toolchain's first file says
/// more than its others: a `requirements.txt` lies in many a project that is none of Python's.
pub(super) fn find<'a>(
    toolchains: &'a [Toolchain],
    language: Option<&str>,
    start: &ScopedPath,
    top: &ScopedPath,
    exists: &dyn Fn(&ScopedPath) -> bool,
) -> Result<Found<'a>, ToolError> {
    let mut wanted: Vec<&Toolchain> =
        toolchains.iter().filter(|toolchain| language.is_none_or(|name| name == toolchain.name)).collect();
    if let Some(name) = language.filter(|_| wanted.is_empty()) {
        let known: Vec<_> = toolchains.iter().map(|toolchain| format!("`{}`", toolchain.name)).collect();
        let message = format!("No toolchain is called `{name}`.");
        return Err(ToolError::new(ErrorCode::ValidationError, message)
            .suggestion(format!("Use one of {}, or leave `language` out.", known.join(", "))));
    }
    let rank = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    wanted.sort_by_key(|toolchain| (rank(&toolchain.name), &toolchain.name));
    let upwards = std::iter::successors(Some(start.clone()), ScopedPath::parent)
        .take_while(|folder| folder.components().starts_with(top.components()));
    for folder in upwards {
        let holds = |name: &String| folder.join(name).is_some_and(|path| exists(&path));
        let place = |toolchain: &Toolchain| toolchain.detect.iter().position(holds);
        let seen = wanted.iter().filter_map(|toolchain| Some((place(toolchain)? > 0, *toolchain)));
        let mut applying: Vec<(bool, &Toolchain)> = seen.collect();
        applying.sort_by_key(|(is_weak, _)| *is_weak);
        let mut applying = applying.into_iter().map(|(_, toolchain)| toolchain);
        if let Some(toolchain) = applying.next() {
            let others = applying.map(|toolchain| toolchain.name.clone()).collect();
            return Ok(Found { toolchain, folder, others });
        }
    }
    Err(unknown(&wanted))
}

fn unknown(wanted: &[&Toolchain]) -> ToolError {
    // The first tells most; the others only where one toolchain is asked for.
    let n_named = if wanted.len() == 1 { usize::MAX } else { 1 };
    let files = wanted.iter().flat_map(|toolchain| toolchain.detect.iter().take(n_named));
    let files: Vec<_> = files.map(|name| format!("`{name}`")).collect();
    ToolError::new(ErrorCode::NoToolchain, "Nothing in the service folder tells which toolchain to use.").suggestion(
        format!(
            "Give a `target` beneath a folder that has one of {}, or ask the operator to set `tools.toolchain`.",
            files.join(", ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ScopedPath {
        let parts = text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        ScopedPath::from_components(parts).unwrap()
    }

    fn toolchains() -> Vec<Toolchain> {
        let row = |name: &str, detect: &str| Toolchain {
            name: name.to_owned(),
            detect: detect.split_whitespace().map(str::to_owned).collect(),
            ..Toolchain::default()
        };
        vec![
            row("node", "package.json"),
            row("python", "pyproject.toml setup.py requirements.txt"),
            row("rust", "Cargo.toml"),
            row("zig", "build.zig"),
        ]
    }

    /// `expected`: toolchain, folder, others; or the code.
    #[track_caller]
    fn check(
        present: &[&str],
        language: Option<&str>,
        start: &str,
        expected: Result<(&str, &str, &str), &str>,
    ) {
        let present: Vec<ScopedPath> = present.iter().map(|text| path(text)).collect();
        let toolchains = toolchains();
        let found = find(&toolchains, language, &path(start), &path("svc"), &|path| present.contains(path));
        let found = found.map(|found| {
            (found.toolchain.name.clone(), found.folder.components().join("/"), found.others.join(","))
        });
        let found = found.map_err(|error| error.code.as_str());
        assert_eq!(found, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())), "{start}");
    }

    #[test]
    fn the_nearest_folder_tells() {
        check(&["svc/Cargo.toml"], None, "svc", Ok(("rust", "svc", "")));
        check(&["svc/Cargo.toml"], None, "svc/src/deep", Ok(("rust", "svc", "")));
        check(&["svc/Cargo.toml", "svc/web/package.json"], None, "svc/web/src", Ok(("node", "svc/web", "")));
        check(&["svc/Cargo.toml", "svc/package.json"], None, "svc", Ok(("rust", "svc", "node")));
        check(&["svc/Cargo.toml", "svc/package.json"], Some("node"), "svc", Ok(("node", "svc", "")));
        check(
            &["svc/package.json", "svc/pyproject.toml", "svc/build.zig"],
            None,
            "svc",
            Ok(("python", "svc", "node,zig")),
        );
        check(&["svc/Cargo.toml", "svc/web/package.json"], Some("rust"), "svc/web", Ok(("rust", "svc", "")));
        check(&["svc/requirements.txt"], None, "svc", Ok(("python", "svc", "")));
        check(&["svc/requirements.txt", "svc/package.json"], None, "svc", Ok(("node", "svc", "python")));
        check(&["svc/pyproject.toml", "svc/package.json"], None, "svc", Ok(("python", "svc", "node")));
        check(&["Cargo.toml"], None, "svc", Err("NoToolchain"));
        check(&["svc/Cargo.toml"], Some("python"), "svc", Err("NoToolchain"));
        check(&["svc/Cargo.toml"], Some("cobol"), "svc", Err("ValidationError"));
    }
}
