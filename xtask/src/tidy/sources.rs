//! Places of power and things that do not belong in Rust sources.

use super::Finding;
use crate::code::{code_only, find_words, line_of, test_ranges};
use crate::workspace::TextFile;

/// A file longer than this usually holds two things.
const LONG_FILE: usize = 600;

/// Where `unsafe` may stand: file name ends in `_unsafe.rs`, in one of these.
const UNSAFE_PACKAGES: [&str; 2] = ["vambrace-files", "vambrace-process"];

/// Who may build a policy or a redactor. Anyone could build a permissive one and mint from it.
const BUILDERS: [(&str, [&str; 3]); 3] = [
    ("Policy::new(", ["vambrace-policy", "vambrace-config", "bench"]),
    ("Redactor::new(", ["vambrace-redact", "vambrace-config", "bench"]),
    // A person's yes becomes a permit in one place.
    (".approve()", ["vambrace-policy", "vambrace-runtime", "vambrace-runtime"]),
];

/// Who may turn an ambient path into power over a folder, and why.
const AMBIENT_CALLERS: [(&str, &str); 2] = [
    ("crates/vambrace-files/src/", "defines it"),
    ("crates/vambrace/src/", "opens the workspace once, at the start"),
];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let code = code_only(&file.text);
    let tests = test_ranges(&code);
    let in_tests = |at: usize| file.is_test() || tests.iter().any(|range| range.contains(&at));
    let package = file.package().unwrap_or_default();
    let mut findings = Vec::new();
    let mut stop = |at: usize, message: String| {
        findings.push(Finding::stop(&file.path, line_of(&code, at), message));
    };

    let unsafe_here = file.path.ends_with("_unsafe.rs") && UNSAFE_PACKAGES.contains(&package);
    for at in find_words(&code, "unsafe").filter(|_| !unsafe_here) {
        stop(
            at,
            format!("`unsafe` stands only in files ending `_unsafe.rs` of {}", UNSAFE_PACKAGES.join(" and ")),
        );
    }
    for (call, builders) in BUILDERS {
        for at in find_words(&code, call).filter(|at| !in_tests(*at) && !builders.contains(&package)) {
            stop(at, format!("`{call}…)` belongs to {} and tests", builders.join(", ")));
        }
    }
    let ambient_here = AMBIENT_CALLERS.iter().any(|(prefix, _)| file.path.starts_with(prefix));
    for at in find_words(&code, "open_ambient").filter(|at| !in_tests(*at) && !ambient_here) {
        stop(
            at,
            "`open_ambient` turns a path into power; its callers are listed in xtask/src/tidy/sources.rs"
                .into(),
        );
    }
    for at in find_words(&code, "#[ignore") {
        stop(at, "a test that cannot run says so and is counted; it is not ignored".into());
    }
    for at in find_words(&code, "thread::sleep").filter(|at| in_tests(*at)) {
        stop(at, "tests do not sleep: time is an argument, and a wait has a condition".into());
    }
    for unfinished in ["todo!", "unimplemented!"] {
        for at in find_words(&code, unfinished) {
            stop(at, format!("`{unfinished}` is not finished"));
        }
    }
    let n_lines = file.text.lines().count();
    if n_lines > LONG_FILE {
        findings.push(Finding::warn(
            &file.path,
            0,
            format!("{n_lines} lines; past {LONG_FILE}, look for the second thing in it"),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[(usize, &str)]) {
        let findings = super::check(&TextFile { path: path.to_owned(), text: text.to_owned() });
        assert_eq!(findings.len(), expected.len(), "{path}: {findings:?}");
        for (finding, (line, part)) in findings.iter().zip(expected) {
            assert_eq!(finding.line, *line, "{finding}");
            assert!(finding.message.contains(part), "{finding}");
        }
    }

    #[test]
    fn unsafe_has_its_own_files() {
        let text = "// unsafe in words is fine\nlet x = unsafe { y };\n";
        check("crates/vambrace-files/src/open_unsafe.rs", text, &[]);
        check("crates/vambrace-files/src/open.rs", text, &[(2, "unsafe")]);
        check("crates/vambrace-tools/src/open_unsafe.rs", text, &[(2, "unsafe")]);
        check("crates/vambrace-tools/src/lib.rs", "#![forbid(unsafe_code)]\n", &[]);
    }

    #[test]
    fn power_is_built_in_one_place() {
        let text = "fn f() {\n    let p = Policy::new(x);\n}\n";
        check("crates/vambrace-config/src/resolve.rs", text, &[]);
        check("crates/vambrace-policy/src/decide.rs", text, &[]);
        check("crates/vambrace-runtime/src/walk.rs", text, &[(2, "Policy::new(")]);
        check("crates/vambrace-runtime/tests/it/main.rs", text, &[]);
        check("crates/vambrace-runtime/src/walk.rs", &format!("#[cfg(test)]\nmod tests {{ {text} }}"), &[]);
        check("crates/vambrace-server/src/x.rs", "let r = Redactor::new(y);", &[(1, "Redactor::new(")]);
        check("crates/vambrace-tools/src/x.rs", "let r = Root::open_ambient(y);", &[(1, "open_ambient")]);
        check("crates/vambrace/src/start.rs", "let r = Root::open_ambient(y);", &[]);
    }

    #[test]
    fn tests_run_and_do_not_sleep() {
        check(
            "crates/vambrace/tests/it/a.rs",
            "#[test]\n#[ignore = \"slow\"]\nfn f() {}",
            &[(2, "not ignored")],
        );
        check("crates/vambrace/tests/it/a.rs", "fn f() { std::thread::sleep(x) }", &[(1, "sleep")]);
        check("crates/vambrace/src/a.rs", "fn f() { std::thread::sleep(x) }", &[]); // clippy's ban covers it
        check("crates/vambrace/src/a.rs", "fn f() { todo!() }", &[(1, "finished")]);
    }

    #[test]
    fn a_long_file_is_only_a_warning() {
        let findings =
            super::check(&TextFile { path: "crates/vambrace/src/a.rs".into(), text: "\n".repeat(601) });
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, super::super::Severity::Warn);
        check("crates/vambrace/src/a.rs", &"\n".repeat(600), &[]);
    }
}
