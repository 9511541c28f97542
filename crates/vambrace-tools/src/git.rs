//! The git tools. What they start is fixed here, word by word: nothing that a repository's configuration or attributes
//! say makes git run another program. They know git's output; they know neither the cage nor the rules for names.

mod git_add;
mod git_checkout;
mod git_commit;
mod git_diff;
mod git_push;
mod git_status;
mod patch;
mod report;

use std::collections::BTreeSet;

use vambrace_policy::{Access, Denial, PathPattern, Policy, Reason, Scope, Withheld};
use vambrace_process::Finished;
use vambrace_types::{ErrorCode, ScopedPath, ToolError};

use crate::CallContext;

pub(crate) use git_add::GitAddTool;
pub(crate) use git_checkout::GitCheckoutTool;
pub(crate) use git_commit::GitCommitTool;
pub(crate) use git_diff::GitDiffTool;
pub(crate) use git_push::GitPushTool;
pub(crate) use git_status::GitStatusTool;

/// What a repository's own configuration could set to make git start something, answer differently or reach out. The
/// cage shows git a cleaned copy of that configuration; this is the second lock on the same door. THREAT: P07.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=true",
    "credential.helper=",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
    "gpg.program=false",
    "safe.bareRepository=explicit",
    // git asks a submodule about itself by starting git there, under that repository's configuration.
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "branch.autoSetupMerge=false",
    "advice.detachedHead=false",
    "color.ui=false",
];

/// For whatever compares contents.
const PLAIN_DIFF: &[&str] = &["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"];

/// A whole vector: git, what makes it harmless, then the words of the call.
fn git<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    ["git", "--no-pager", "--no-optional-locks"]
        .into_iter()
        .chain(settings)
        .chain(words)
        .map(str::to_owned)
        .collect()
}

/// Prints a word of ours, so that the output tells which steps were reached.
fn mark(word: &str) -> Vec<String> {
    git(["rev-parse", "--sq-quote", word])
}

/// What `mark` prints.
fn marked(word: &str) -> String {
    format!(" '{word}'\n")
}

/// A path as git takes it from the service's folder: no letter of it is a pattern, an option or magic.
fn pathspec(path: &ScopedPath, context: &CallContext<'_>) -> Result<String, ToolError> {
    let inside = path.components().strip_prefix(context.bearings.service()).ok_or_else(|| {
        let path = path.spelled(context.bearings);
        let reason = Reason::OutsideScope { path, access: Access::Write };
        Denial::new(reason, "scope.service_isolation").to_tool_error()
    })?;
    let text = if inside.is_empty() { ".".to_owned() } else { inside.join("/") };
    Ok(format!(":(literal){text}"))
}

/// Everything of the repository that is not in the service's folder. There is nothing when the service is the whole.
const OUTSIDE: [&str; 2] = [":(top)", ":(exclude)."];

/// What agents may not change, as git's patterns beneath the service's folder. In the cage these names are masked or
/// read-only, so git must neither take their contents for the person's nor try to replace them.
///
/// The patterns are the scope's, made wider where git has no word for them: too much left out is the safe side.
fn untouchable(policy: &Policy) -> Vec<String> {
    let scope = policy.scope_of_programs();
    patterns(scope.untouchable(), scope.bearings().service())
}

/// The same without what the operator adds.
fn never_staged(policy: &Policy) -> Vec<String> {
    let scope = policy.scope();
    patterns(scope.built_in_untouchable(), scope.bearings().service())
}

fn patterns<'p>(of: impl Iterator<Item = &'p PathPattern>, service: &[String]) -> Vec<String> {
    let own = of.flat_map(|pattern| beneath_service(pattern, service));
    let with_contents = |text: String| [format!("{text}/**"), text];
    own.chain(["**/node_modules".to_owned()]).flat_map(with_contents).collect()
}

/// LIMIT: a pattern with more alternatives means everything.
const MOST_ALTERNATIVES: usize = 64;

/// Nothing if it means no name in the service's folder.
fn beneath_service(pattern: &PathPattern, service: &[String]) -> Vec<String> {
    let text = pattern.text().trim().trim_matches('/');
    if let (Some(before), false) = (text.strip_suffix('*'), pattern.exceptions().is_empty()) {
        return all_but(before, pattern.exceptions()).iter().map(|name| format!("**/{name}")).collect();
    }
    let text = &without_escapes(text);
    let texts = alternatives(text);
    if texts.len() > MOST_ALTERNATIVES {
        return vec!["**".to_owned()];
    }
    let all = texts.iter().flat_map(|text| {
        let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".").map(as_git_reads);
        let start = (!pattern.is_anchored()).then(|| "**".to_owned());
        behind(&start.into_iter().chain(parts).collect::<Vec<_>>(), service)
    });
    all.collect()
}

/// git knows no braces.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let (mut depth, mut begin, mut inner) = (0, 0, Vec::new());
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                inner.extend(rest.get(begin..at));
                begin = at + 1;
                if c == '}' {
                    let after = rest.get(begin..).unwrap_or_default();
                    let whole = inner.iter().take(MOST_ALTERNATIVES + 1);
                    let all = whole.flat_map(|one| alternatives(&format!("{before}{one}{after}")));
                    return all.take(MOST_ALTERNATIVES + 1).collect();
                }
            }
            _ => {}
        }
    }
    // Never closed; no pattern is.
    vec![text.replace('{', "?")]
}

/// git ignores the case of ASCII letters alone.
fn as_git_reads(part: &str) -> String {
    let mut read = String::with_capacity(part.len());
    for c in part.chars() {
        match c {
            c if c.is_ascii() => read.push(c),
            _ if read.ends_with('*') => {}
            _ => read.push('*'),
        }
    }
    read
}

/// With `?` for each letter that a `\` says is no wildcard.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        plain.extend(if c == '\\' { characters.next().map(|_| '?') } else { Some(c) });
    }
    plain
}

/// What is left of a path once the folders down to the service are taken from it, in each way in
/// which that is possible: `**` stands for any number of them.
fn behind(parts: &[String], service: &[String]) -> Vec<String> {
    // How many parts may be used up, with so many folders.
    let mut reached = BTreeSet::from([0]);
    let mut left = BTreeSet::new();
    for n_folders in 0..=service.len() {
        for at in 0..parts.len() {
            if reached.contains(&at) && parts.get(at).is_some_and(|part| part == "**") {
                reached.insert(at + 1);
            }
        }
        // The pattern means a folder around the service, or the service.
        if reached.contains(&parts.len()) {
            return vec!["**".to_owned()];
        }
        let Some(folder) = service.get(n_folders) else {
            left.append(&mut reached);
            break;
        };
        let next = reached.iter().filter_map(|at| {
            let part = parts.get(*at)?;
            match part.as_str() {
                "**" => Some(*at),
                part => may_mean(part, folder).then_some(at + 1),
            }
        });
        reached = next.collect();
    }
    left.iter().filter_map(|at| parts.get(*at..)).map(|rest| rest.join("/")).collect()
}

/// What a part of a pattern that cannot be read by itself means, nobody knows.
fn may_mean(part: &str, folder: &String) -> bool {
    PathPattern::parse_from_root(part).map_or(true, |own| own.covers(std::slice::from_ref(folder)))
}

/// Patterns for all names that begin so, except these. git cannot include again what it excludes,
/// so the exceptions are spelled letter by letter: every other name differs at a letter, is shorter
/// or longer.
fn all_but(before: &str, names: &[&str]) -> Vec<String> {
    let words: BTreeSet<&str> = names.iter().filter_map(|name| name.strip_prefix(before)).collect();
    let beginnings: BTreeSet<&str> =
        words.iter().flat_map(|word| word.char_indices().filter_map(|(at, _)| word.get(..at))).collect();
    let mut patterns = Vec::new();
    for beginning in &beginnings {
        let next: BTreeSet<char> =
            words.iter().filter_map(|word| word.strip_prefix(beginning)?.chars().next()).collect();
        patterns.push(format!("{before}{beginning}[!{}]*", next.iter().collect::<String>()));
        if !words.contains(beginning) {
            patterns.push(format!("{before}{beginning}"));
        }
    }
    let whole = words.iter().filter(|word| !beginnings.contains(*word));
    patterns.extend(whole.map(|word| format!("{before}{word}?*")));
    patterns
}

/// Whether what git tells of a path may be shown. git knows older contents of files that the cage masks.
fn may_show(path: &ScopedPath, scope: &Scope, withheld: &Withheld) -> bool {
    scope.judge(path, Access::Read).is_ok() && !withheld.covers(path.components())
}

/// The first step of whatever prints names: they count from the repository's root, and this tells where we are in it.
fn show_prefix() -> Vec<String> {
    git(["rev-parse", "--show-prefix"])
}

/// Where names begin that lie in our folder, and what the steps after `show_prefix` printed.
fn split_prefix(output: &[u8]) -> (String, &[u8]) {
    let end = memchr::memchr(b'\n', output).unwrap_or(output.len());
    let (prefix, rest) = output.split_at_checked(end).unwrap_or((output, &[]));
    (String::from_utf8_lossy(prefix).into_owned(), rest.strip_prefix(b"\n").unwrap_or(rest))
}

/// A path that git printed, counted from a folder.
fn beneath(folder: &[String], printed: &str) -> Option<ScopedPath> {
    let parts = printed.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
    ScopedPath::from_components(folder.iter().cloned().chain(parts).collect())
}

/// The output of steps that all went well.
fn demand_success(finished: &Finished) -> Result<&[u8], ToolError> {
    demand_whole(finished)?;
    if finished.exit.code() == 0 { Ok(&finished.stdout) } else { Err(failure(finished)) }
}

/// Half an answer would pass for the whole.
fn demand_whole(finished: &Finished) -> Result<(), ToolError> {
    if finished.timed_out {
        return Err(ToolError::new(ErrorCode::Timeout, "git did not finish in time.")
            .suggestion("Call again; if it stays so, tell the person you work for."));
    }
    if finished.cut {
        return Err(ToolError::new(ErrorCode::OutputLimitExceeded, "git printed more than may be kept.")
            .suggestion("Name a smaller part, for instance with `path`."));
    }
    Ok(())
}

/// What git complained of, in one line, with what to do about it.
fn failure(finished: &Finished) -> ToolError {
    let errors = String::from_utf8_lossy(&finished.stderr);
    let said = complaint(&errors);
    let message = match said {
        "" => format!("git ended with exit code {}.", finished.exit.code()),
        said => format!("git says: `{said}`."),
    };
    ToolError::new(ErrorCode::CommandFailed, message).suggestion(next_step(&errors))
}

/// The first line that says what is wrong, before hints and warnings.
fn complaint(errors: &str) -> &str {
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_aside = |line: &&str| !line.starts_with("hint:") && !line.starts_with("warning:");
    lines()
        .find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")))
        .or_else(|| lines().find(is_aside))
        .or_else(|| lines().next())
        .unwrap_or_default()
        .trim_end_matches('.')
}

/// Rows: what git's words contain, and what helps.
const NEXT_STEPS: &[(&str, &str)] = &[
    ("not a git repository", "This folder has no repository; ask the person you work for to make one."),
    ("dubious ownership", "This folder has no repository that may be opened; tell the person you work for."),
    ("index.lock", "Another git is at work here; call again when it is done."),
    ("would be overwritten", "Commit these changes with git_add and git_commit first."),
    ("did not match any file", "Use git_status to see the files that have changed."),
    ("is ignored by", "The file is named in .gitignore; leave it out."),
    ("ignored by one of your", "The file is named in .gitignore; leave it out."),
    ("unmerged", "Resolve the conflicts with edit_file, then stage the files with git_add."),
    ("needs merge", "Resolve the conflicts with edit_file, then stage the files with git_add."),
    ("resolve host", NO_NETWORK),
    ("Network is unreachable", NO_NETWORK),
    ("Failed to connect", NO_NETWORK),
    ("Could not connect", NO_NETWORK),
    ("read from remote repository", NO_NETWORK),
    ("does not appear to be a git repository", "Name a remote of this repository, such as origin."),
    ("No such remote", "Name a remote of this repository, such as origin."),
    ("transport", "Only remotes with https, http or ssh addresses are pushed to."),
    ("non-fast-forward", "The remote branch has commits that yours lacks; ask the person you work for."),
    ("fetch first", "The remote branch has commits that yours lacks; ask the person you work for."),
];

const NO_NETWORK: &str = "Programs reach only hosts that sandbox.net lists, through the proxy; ask the operator to list \
                          the remote's host for git, or ask the person you work for to push.";

fn next_step(errors: &str) -> &'static str {
    NEXT_STEPS
        .iter()
        .find(|(said, _)| errors.contains(said))
        .map_or("Use git_status to see how the repository stands.", |(_, next)| next)
}

#[cfg(test)]
pub(crate) fn ended(code: i32, stdout: &str, stderr: &str) -> Finished {
    Finished {
        exit: vambrace_process::Exit::Code(code),
        stdout: stdout.as_bytes().to_vec(),
        stderr: stderr.as_bytes().to_vec(),
        cut: false,
        timed_out: false,
        duration: std::time::Duration::ZERO,
        time_limit: None,
        enforcement: vambrace_types::Enforcement::Full,
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(errors: &str, line: &str, step: &str) {
        assert_eq!(complaint(errors), line);
        assert!(next_step(errors).contains(step), "{errors}: {}", next_step(errors));
    }

    #[test]
    fn the_complaint_is_found_among_hints() {
        check(
            "fatal: not a git repository (or any of the parent directories): .git\n",
            "not a git repository (or any of the parent directories): .git",
            "has no repository",
        );
        check(
            "hint: a\nerror: pathspec 'x' did not match any file(s) known to git\n",
            "pathspec 'x' did not match any file(s) known to git",
            "git_status",
        );
        check(
            "fatal: unable to access 'http://x/': Could not resolve host: x\n",
            "unable to access 'http://x/': Could not resolve host: x",
            "sandbox.net",
        );
        check("fatal: transport 'file' not allowed\n", "transport 'file' not allowed", "https");
        check(
            "The following paths are ignored by one of your .gitignore files:\nx\nhint: y\n",
            "The following paths are ignored by one of your .gitignore files:",
            ".gitignore",
        );
        check("", "", "git_status");
    }

    #[test]
    fn every_vector_is_hardened_before_its_own_words() {
        let vector = git(["status"]);
        assert_eq!(vector.first().unwrap(), "git");
        assert_eq!(vector.last().unwrap(), "status");
        for setting in ["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never"] {
            let place = vector.iter().position(|word| word == setting).unwrap();
            assert_eq!(vector[place - 1], "-c");
        }
    }

    #[test]
    fn names_with_exceptions_are_all_but_these() {
        let patterns = all_but(".env.", &[".env.example", ".env.ex", ".env.dist"]);
        let is_meant = |name: &str| {
            let fits = |text: &String| PathPattern::parse(text).unwrap().covers(&[name.to_owned()]);
            patterns.iter().any(fits)
        };
        for name in [".env.example", ".env.ex", ".env.dist", ".env", ".environment", "x.env.local"] {
            assert!(!is_meant(name), "{name}");
        }
        for name in [
            ".env.",
            ".env.e",
            ".env.exa",
            ".env.exb",
            ".env.example2",
            ".env.example.local",
            ".env.d",
            ".env.distant",
        ] {
            assert!(is_meant(name), "{name}");
        }
    }

    #[track_caller]
    fn check_pattern(pattern: &str, service: &str, expected: &[&str]) {
        check_parsed(&PathPattern::parse_from_root(pattern).unwrap(), service, expected);
    }

    #[track_caller]
    fn check_anywhere(pattern: &str, service: &str, expected: &[&str]) {
        check_parsed(&PathPattern::parse(pattern).unwrap(), service, expected);
    }

    #[track_caller]
    fn check_parsed(pattern: &PathPattern, service: &str, expected: &[&str]) {
        let service: Vec<String> =
            service.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        assert_eq!(beneath_service(pattern, &service), expected, "{pattern:?}");
    }

    #[test]
    fn a_pattern_of_the_workspace_becomes_one_of_the_service() {
        check_pattern("rd/**", "", &["rd/**"]);
        check_pattern("own/rd", "own", &["rd"]);
        check_pattern("OWN/rd", "own", &["rd"]);
        check_pattern("other/rd", "own", &[]);
        check_pattern("own", "own", &["**"]);
        check_pattern("own", "own/deep", &["**"]);
        check_pattern("*/rd/*.txt", "own", &["rd/*.txt"]);
        check_pattern("oth*/src", "own", &[]);
        check_pattern("o?n/src", "own", &["src"]);
        check_pattern("**/rd", "a/own", &["**/rd", "rd"]);
        check_pattern("a/**/own/rd", "a/own", &["**/own/rd", "own/rd", "rd"]);
        check_pattern("{own,other}/rd", "own", &["rd"]);
        check_pattern("{a/b,c}/rd", "", &["a/b/rd", "c/rd"]);
        check_pattern("*.{pem,key}", "", &["*.pem", "*.key"]);
        check_pattern("x{a,{b,c}d}", "", &["xa", "xbd", "xcd"]);
        check_pattern(&"{a,b}".repeat(7), "", &["**"]);
        check_pattern(r"b\{1\}.txt", "", &["b?1?.txt"]);
        check_pattern("ärger/x", "", &["*rger/x"]);
        check_anywhere("own/rd", "p/own", &["**/own/rd", "own/rd", "rd"]);
        check_anywhere("rd", "own", &["**/rd", "rd"]);
        check_anywhere("own", "own", &["**"]);
    }
}
