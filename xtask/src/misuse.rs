//! The misuse suite: programs that must not compile, each for one stated reason.
//!
//! Each `xtask/misuse/NN_name.rs` begins with `//! expect: CODE`. Only the code of the error is compared, so the
//! compiler may change its wording. The codes must be exactly the expected one: a case with a typing mistake or a
//! renamed type fails. The control cases say `//! expect: nothing` and must compile, so that the suite cannot pass
//! because nothing compiles at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::run;

const FIX: &str = "A case that compiles means that a type lost a guard: restore it. If an API was renamed, rename it \
                   in xtask/misuse too.";

/// What the cases may use.
const DEPENDENCIES: [&str; 8] = [
    "vambrace-types",
    "vambrace-policy",
    "vambrace-redact",
    "vambrace-audit",
    "vambrace-runtime",
    "vambrace-tools",
    "vambrace-files",
    "vambrace-net",
];

/// Tells the targets of the cases from those of the crates they use.
const PREFIX: &str = "case_";

#[derive(Debug, PartialEq, Eq)]
struct Case {
    name: String,
    expected: Expected,
}

#[derive(Debug, PartialEq, Eq)]
enum Expected {
    /// A control: it compiles.
    Nothing,
    /// Exactly this code, such as `E0451` or `clippy::print_stdout`.
    Code(String),
}

/// What cargo said, by target.
#[derive(Debug, Default)]
struct Reported {
    errors: BTreeMap<String, BTreeSet<String>>,
    compiled: BTreeSet<String>,
}

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let cases = read_cases(root)?;
    let folder = root.join("target/misuse");
    write_package(root, &folder, &cases)?;
    let reported = compile(root, &folder)?;
    let problems: Vec<String> = cases.iter().filter_map(|case| judge(case, &reported)).collect();
    if !problems.is_empty() {
        return Err(Failure::new(format!("misuse:\n  {}", problems.join("\n  ")), FIX));
    }
    let n_controls = cases.iter().filter(|case| case.expected == Expected::Nothing).count();
    if n_controls == 0 || n_controls == cases.len() {
        return Err(Failure::new(
            "misuse: there must be cases and at least one control",
            "Look in xtask/misuse.",
        ));
    }
    println!("misuse: {} wrong programs refused, {n_controls} control compiled", cases.len() - n_controls);
    Ok(())
}

fn read_cases(root: &Path) -> Result<Vec<Case>, Failure> {
    let folder = root.join("xtask/misuse");
    let unreadable =
        |problem: std::io::Error| Failure::new(format!("xtask/misuse: {problem}"), "Restore the folder.");
    let mut cases = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".rs")) else {
            continue;
        };
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        let expected = parse_expectation(&text).ok_or_else(|| {
            Failure::new(
                format!("xtask/misuse/{name}.rs does not begin with `//! expect: CODE`"),
                "Add the line.",
            )
        })?;
        cases.push(Case { name: name.to_owned(), expected });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

fn parse_expectation(text: &str) -> Option<Expected> {
    let code = text.lines().next()?.strip_prefix("//! expect: ")?.trim();
    match code {
        "" => None,
        "nothing" => Some(Expected::Nothing),
        code => Some(Expected::Code(code.to_owned())),
    }
}

/// A package of its own with one binary per case. It takes the root's profiles and lock file, so that what the
/// workspace has built is used again.
fn write_package(root: &Path, folder: &Path, cases: &[Case]) -> Result<(), Failure> {
    let failed =
        |problem: std::io::Error| Failure::new(format!("target/misuse: {problem}"), "Check the disk.");
    let root_manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(failed)?;
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(folder.join("Cargo.toml"), manifest(root, &root_manifest, cases)).map_err(failed)?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    Ok(())
}

fn manifest(root: &Path, root_manifest: &str, cases: &[Case]) -> String {
    let mut text = String::from(
        "[workspace]\n\n[package]\nname = \"misuse\"\nversion = \"0.0.0\"\nedition = \"2024\"\nautobins = false\n\n\
         [lints.clippy]\nprint_stdout = \"deny\"\ndisallowed_methods = \"deny\"\ndisallowed_types = \"deny\"\n\n\
         [dependencies]\n",
    );
    let root = root.display().to_string();
    // A `String` takes every write, so there is no error to pass on.
    for name in DEPENDENCIES {
        let _ = writeln!(text, "{name} = {{ path = {:?} }}", format!("{root}/crates/{name}"));
    }
    for case in cases {
        let path = format!("{root}/xtask/misuse/{}.rs", case.name);
        let _ = writeln!(text, "\n[[bin]]\nname = \"{PREFIX}{}\"\npath = {path:?}\ntest = false", case.name);
    }
    text.push('\n');
    text.push_str(&profiles(root_manifest));
    text
}

/// The `[profile.…]` tables, as they stand.
fn profiles(manifest: &str) -> String {
    let mut inside = false;
    let mut text = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.starts_with("[profile.");
        }
        if inside {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// One clippy run over all cases: clippy is the compiler with more to say, and some guards are bans of clippy.toml.
fn compile(root: &Path, folder: &Path) -> Result<Reported, Failure> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| root.join("target").into());
    let mut command = run::cargo(folder);
    command
        .args(["clippy", "--bins", "--keep-going", "--message-format=json", "--quiet"])
        .env("CARGO_TARGET_DIR", target)
        .env("CLIPPY_CONF_DIR", root);
    // Not the exit status: it has to fail.
    let output = command.output().map_err(|problem| {
        Failure::new(
            format!("cargo clippy could not be started: {problem}"),
            "Run `rustup component add clippy`.",
        )
    })?;
    let mut reported = Reported::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match parse_message(line) {
            Some(Message::Errors { target, codes }) => {
                reported.errors.entry(target.to_owned()).or_default().extend(codes);
            }
            Some(Message::Compiled { target }) => {
                reported.compiled.insert(target.to_owned());
            }
            None => {}
        }
    }
    let broken: Vec<&str> =
        reported.errors.keys().filter(|target| !target.starts_with(PREFIX)).map(String::as_str).collect();
    if !broken.is_empty() || reported.errors.is_empty() {
        let told = String::from_utf8_lossy(&output.stderr);
        let names = broken.join(", ");
        return Err(Failure::new(
            format!("misuse: cargo did not come to the cases; these do not compile: {names}\n{told}"),
            "Make the workspace compile first.",
        ));
    }
    Ok(reported)
}

#[derive(Debug, PartialEq, Eq)]
enum Message<'a> {
    Errors { target: &'a str, codes: Vec<String> },
    Compiled { target: &'a str },
}

/// One JSON line from cargo; nothing for warnings and the like.
///
/// Inside a JSON string every quote is escaped, so these exact texts can only be structure.
fn parse_message(line: &str) -> Option<Message<'_>> {
    let (_, target) = line.split_once("\"target\":{")?;
    let (_, name) = target.split_once("\"name\":\"")?;
    let (target, _) = name.split_once('"')?;
    if line.starts_with("{\"reason\":\"compiler-artifact\"") {
        return Some(Message::Compiled { target });
    }
    if !line.starts_with("{\"reason\":\"compiler-message\"") || !line.contains("\"level\":\"error\"") {
        return None;
    }
    let mut codes: Vec<String> = line
        .split("\"code\":{\"code\":\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"').map(|(code, _)| code.to_owned()))
        .collect();
    if codes.is_empty() {
        // The summary after the errors says nothing new; a syntax error has no code either, and must match nothing.
        if line.contains("\"message\":\"aborting due to") {
            return None;
        }
        codes.push("an error without a code".to_owned());
    }
    Some(Message::Errors { target, codes })
}

fn judge(case: &Case, reported: &Reported) -> Option<String> {
    let target = format!("{PREFIX}{}", case.name);
    let errors = reported.errors.get(&target).into_iter().flatten();
    let errors: Vec<&str> = errors.map(String::as_str).collect();
    let compiled = reported.compiled.contains(&target);
    let problem = match (&case.expected, errors.as_slice()) {
        (Expected::Nothing, []) if compiled => return None,
        (Expected::Code(code), [only]) if only == code => return None,
        (_, []) if !compiled => "cargo did not come to it".to_owned(),
        (Expected::Nothing, codes) => format!("the control does not compile ({})", codes.join(", ")),
        (Expected::Code(code), []) => format!("compiles, and must fail with {code}"),
        (Expected::Code(code), codes) => {
            format!("fails with {}, and must fail with {code} alone", codes.join(", "))
        }
    };
    Some(format!("{}: {problem}", case.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: &str, code: &str, text: &str) -> String {
        format!(
            "{{\"reason\":\"compiler-message\",\"package_id\":\"p\",\"target\":{{\"kind\":[\"bin\"],\"name\":\"case_01_a\"}},\
             \"message\":{{\"rendered\":\"{text}\",\"level\":\"{level}\",\"message\":\"{text}\",\"code\":{code}}}}}"
        )
    }

    #[test]
    fn codes_are_read_from_the_structure_only() {
        let target = "case_01_a";
        let errors = |code: &str| Some(Message::Errors { target, codes: vec![code.to_owned()] });
        let code = "{\"code\":\"E0451\",\"explanation\":null}";
        assert_eq!(
            parse_message(&message("error", code, "\\\"code\\\":{\\\"code\\\":\\\"E1\\\"")),
            errors("E0451")
        );
        assert_eq!(
            parse_message(&message("error", "null", "expected `;`")),
            errors("an error without a code")
        );
        assert_eq!(parse_message(&message("error", "null", "aborting due to 1 previous error")), None);
        assert_eq!(parse_message(&message("warning", "{\"code\":\"dead_code\"}", "x")), None);
        let artifact = "{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[],\"name\":\"case_01_a\"}}";
        assert_eq!(parse_message(artifact), Some(Message::Compiled { target }));
        assert_eq!(parse_message("{\"reason\":\"build-finished\",\"success\":false}"), None);
    }

    #[track_caller]
    fn check(expected: &str, found: &[&str], compiled: bool, problem: Option<&str>) {
        let case = Case { name: "01_a".into(), expected: parse_expectation(expected).unwrap() };
        let mut reported = Reported::default();
        reported.errors.insert("case_01_a".into(), found.iter().map(|code| (*code).to_owned()).collect());
        reported.compiled.extend(compiled.then(|| "case_01_a".to_owned()));
        let told = judge(&case, &reported);
        match problem {
            None => assert_eq!(told, None),
            Some(part) => assert!(told.as_deref().is_some_and(|told| told.contains(part)), "{told:?}"),
        }
    }

    #[test]
    fn a_case_fails_for_its_own_reason_only() {
        check("//! expect: E0451", &["E0451"], false, None);
        check("//! expect: E0451", &[], true, Some("compiles, and must"));
        check("//! expect: E0451", &[], false, Some("did not come"));
        check("//! expect: E0451", &["E0432"], false, Some("alone"));
        check("//! expect: E0451", &["E0432", "E0451"], false, Some("alone"));
        check("//! expect: nothing", &[], true, None);
        check("//! expect: nothing", &[], false, Some("did not come"));
        check("//! expect: nothing", &["E0432"], false, Some("control"));
        assert_eq!(parse_expectation("fn main() {}"), None);
        assert_eq!(parse_expectation("//! expect: "), None);
    }

    #[test]
    fn profiles_are_taken_over() {
        assert_eq!(profiles("[a]\nx = 1\n[profile.dev]\ny = 2\n\n[b]\n"), "[profile.dev]\ny = 2\n\n");
    }
}
