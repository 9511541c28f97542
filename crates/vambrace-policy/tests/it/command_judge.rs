//! `testdata/commands.tsv` and the fixed messages, held against the judge of commands.

use vambrace_policy::command::{
    ArgumentRules, CommandMode, CommandPolicy, CommandRefusal, CommandSettings, DotDot, EmptyMeans, Judged,
    PatternList, ProgramList, ProgramMatch, WordVerdict, check_rules, dangerous_pattern, explain,
    strict_programs,
};
use vambrace_policy::url::{AllowEntry, Host, HostPattern, ProgramGrant};
use vambrace_policy::{Access, Denial, HardLinks, Isolation, Reason, Scope, ScopeSettings, Symlinks};
use vambrace_types::{Bearings, ErrorCode, ScopedPath};

const COMMANDS: &str = include_str!("../../../../testdata/commands.tsv");
const MESSAGES: &str = include_str!("../../../../testdata/messages.tsv");

const HARMLESS: &str = include_str!("../../../../testdata/harmless.txt");
const ABUSE: &str = include_str!("../../../../testdata/abuse.tsv");

pub(crate) fn scope_of(service: &str, shared: &[&str]) -> Scope {
    Scope::new(ScopeSettings {
        bearings: Bearings::new(&["/p/mono"], service, shared),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    })
    .unwrap()
}

pub(crate) fn folder_of(text: &str) -> ScopedPath {
    let parts = text.split('/').filter(|part| !part.is_empty() && *part != "-").map(str::to_owned);
    ScopedPath::from_components(parts.collect()).unwrap()
}

/// `HOST`, `HOST:PORT`, and `@PROGRAM` behind it.
pub(crate) fn grant(text: &str) -> ProgramGrant {
    let (host, program) = text.split_once('@').map_or((text, None), |(host, name)| (host, Some(name)));
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, port.parse().ok()));
    let pattern = match host.strip_prefix("*.") {
        Some(name) => HostPattern::Beneath(name.to_owned()),
        None => HostPattern::Exactly(Host::Name(host.to_owned())),
    };
    let entry = AllowEntry { port, ..AllowEntry::plain(pattern) };
    ProgramGrant { entry, programs: program.into_iter().map(str::to_owned).collect() }
}

fn settings(text: &str) -> CommandSettings {
    let mut settings = CommandSettings::default();
    for word in text.split(' ').filter(|word| *word != "-") {
        let (key, value) = word.split_once('=').unwrap();
        let names = || value.split(',').map(str::to_owned).collect::<Vec<_>>();
        match (key, value) {
            ("allow", _) => settings.allowlist = names(),
            ("white", _) => settings.whitelisted = names(),
            ("deny", _) => settings.denylist = names(),
            ("net", _) => settings.networked = value.split(',').map(grant).collect(),
            ("narrow", _) => settings.narrowed_to = Some(names()),
            ("mode", "denylist") => settings.mode = CommandMode::Denylist,
            ("empty", "block") => settings.empty_means = EmptyMeans::Block,
            ("list", "seed002") => settings.list = ProgramList::Seed002,
            ("list", "seed003") => settings.list = ProgramList::Seed003,
            ("patterns", "seed002") => settings.patterns = PatternList::Seed002,
            ("patterns", "seed003") => settings.patterns = PatternList::Seed003,
            ("match", "basename") => settings.match_by = ProgramMatch::Basename,
            ("dotdot", "text") => settings.dotdot = DotDot::Text,
            ("rules", "off") => settings.argument_rules = ArgumentRules::Off,
            other => panic!("no setting {other:?}"),
        }
    }
    settings
}

/// What the line becomes, from its text to its verdict.
pub(crate) fn ask(policy: &CommandPolicy, scope: &Scope, folder: &str, line: &str) -> Result<Judged, Denial> {
    let plan = policy.read(line).map_err(|refusal| {
        let rule = refusal.rule();
        Denial::new(Reason::Command(refusal), rule)
    })?;
    policy.judge(line, &plan, scope, &folder_of(folder))
}

#[test]
fn every_line_becomes_what_the_table_says() {
    let scope = scope_of("", &[]);
    let mut n_rows = 0;
    let mut wrong = Vec::new();
    for (number, line) in COMMANDS.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [options, folder, text, decision, code, note] = columns.as_slice() else {
            panic!("line {}: not six columns", number + 1);
        };
        let known = *code == "-" || ErrorCode::ALL.iter().any(|known| known.as_str() == *code);
        assert!(known && (*decision == "allow") == (*code == "-"), "line {}: {line}", number + 1);
        let answer = ask(&CommandPolicy::new(settings(options)), &scope, folder, text);
        let found = answer.as_ref().err().map_or("-", |denial| denial.code().as_str());
        if found != *code {
            let why = answer.err().map(|denial| denial.to_tool_error().message);
            wrong.push(format!("line {}: {text:?} is {found}, not {code}: {why:?} ({note})", number + 1));
        }
        n_rows += 1;
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_rows >= 200, "{n_rows} rows");
}

/// The lines of `table` whose verdict is not `expected`. Lines that begin with `#` are notes.
fn otherwise(table: &str, expected: bool) -> (usize, Vec<String>) {
    let (policy, scope) = (CommandPolicy::default(), scope_of("", &[]));
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let lines: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
    let wrong = lines.iter().filter(|line| ask(&policy, &scope, "-", line).is_ok() != expected);
    (lines.len(), wrong.map(|line| (*line).to_owned()).collect())
}

#[test]
fn harmless_lines_run_and_abuse_does_not() {
    let (n_harmless, refused) = otherwise(HARMLESS, true);
    assert_eq!(refused, Vec::<String>::new());
    let (n_abuse, allowed) = otherwise(ABUSE, false);
    assert_eq!(allowed, Vec::<String>::new());
    assert!(n_harmless > 500 && n_abuse > 500, "{n_harmless} and {n_abuse}");
}

#[test]
fn fixed_messages_keep_their_bytes() {
    let scope = scope_of("", &[]);
    let mut n_rows = 0;
    for line in MESSAGES.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, case, text] = columns.as_slice() else { panic!("not three columns: {line}") };
        let (kind, given) = case.split_once(':').unwrap_or((case, ""));
        let (options, command) = match kind {
            "no_allowlist" => ("empty=block", "ls".to_owned()),
            "not_allowed" => ("allow=cat patterns=seed003", given.to_owned()),
            "pattern" => ("list=seed002 patterns=seed002", format!("{given} ls")),
            "outside" => ("-", format!("cat {given}")),
            other => panic!("no case {other:?}"),
        };
        let denial = ask(&CommandPolicy::new(settings(options)), &scope, "-", &command).unwrap_err();
        assert_eq!(denial.to_tool_error().message, *text, "{case}");
        n_rows += 1;
    }
    assert_eq!(n_rows, 4);
}

#[test]
fn the_eleven_can_be_looked_for_before_the_grammar() {
    let fork_bomb = ":(){ :|:& };:";
    assert_eq!(
        dangerous_pattern(&CommandSettings::default(), fork_bomb).unwrap().code(),
        ErrorCode::DangerousCommand
    );
    assert_eq!(dangerous_pattern(&CommandSettings::default(), "ls"), None);
}

#[test]
fn the_built_in_rules_hold_together() {
    let n_examples = check_rules().unwrap();
    assert!(n_examples > 500, "{n_examples}");
}

#[test]
fn the_strict_list_is_sorted_and_holds_both_old_ones() {
    let programs = strict_programs();
    assert!(programs.is_sorted_by(|a, b| a < b));
    for name in ["env", "find", "test", "git", "go", "rg", "jq", "awk", "sed"] {
        assert!(programs.contains(&name), "{name}");
    }
    for name in ["rm", "sudo", "curl", "bash", "sh", "cd", "xargs", "nc"] {
        assert!(!programs.contains(&name), "{name}");
    }
}

#[track_caller]
fn check_touched(line: &str, expected: &[(&str, Access)]) {
    let judged = ask(&CommandPolicy::default(), &scope_of("", &[]), "-", line).unwrap();
    let touched: Vec<(String, Access)> =
        judged.touched.iter().map(|(path, access)| (path.components().join("/"), *access)).collect();
    let expected: Vec<(String, Access)> =
        expected.iter().map(|(path, access)| ((*path).to_owned(), *access)).collect();
    assert_eq!(touched, expected, "{line}");
}

#[test]
fn what_a_line_touches_is_known() {
    check_touched("cat a b/c > d", &[("a", Access::Read), ("b/c", Access::Read), ("d", Access::Write)]);
    check_touched("cd s && cat x", &[("s", Access::Read), ("s/x", Access::Read)]);
    check_touched("cd s; cat x", &[("s", Access::Read), ("s/x", Access::Read), ("x", Access::Read)]);
    check_touched("cd s || cat x", &[("s", Access::Read), ("x", Access::Read)]);
    check_touched(
        "cd s && cd t; ls x",
        &[
            ("s", Access::Read),
            ("s/t", Access::Read),
            ("s/t/x", Access::Read),
            ("x", Access::Read),
            ("s/x", Access::Read),
        ],
    );
    check_touched("grep pattern/with.slash file", &[("file", Access::Read)]);
    check_touched("cat /etc/os-release", &[]);
}

#[test]
fn a_service_sees_itself_and_what_is_shared() {
    let scope = scope_of("services/a", &["shared"]);
    let policy = CommandPolicy::default();
    let check = |line: &str, expected: Option<ErrorCode>| {
        let found = ask(&policy, &scope, "services/a", line).err().map(|denial| denial.code());
        assert_eq!(found, expected, "{line}");
    };
    check("cat src/x", None);
    check("cat ../../shared/api.md", None);
    check("cat /p/mono/shared/api.md", None);
    check("echo x > ../../shared/api.md", Some(ErrorCode::ReadOnlyPath));
    check("cat ../ab/x", Some(ErrorCode::OutsideScope));
    check("cat /p/mono/services/b/x", Some(ErrorCode::OutsideScope));
    check("cd ../b", Some(ErrorCode::OutsideScope));
    check("git show HEAD:services/a/x", None);
    check("git show HEAD:services/b/x", Some(ErrorCode::OutsideScope));
    check("git show HEAD:./x", None);
}

#[track_caller]
fn check_explained(line: &str, expected: &[(&str, bool)]) {
    let policy = CommandPolicy::default();
    let plan = policy.grammar(line).unwrap();
    let words = explain(&policy, line, &plan, &scope_of("", &[]), &folder_of("-"));
    let said: Vec<(&str, bool)> =
        words.iter().map(|verdict| (verdict.word.as_str(), verdict.allowed)).collect();
    assert_eq!(said, expected, "{line}");
    assert!(
        words.iter().all(|WordVerdict { rule, note, .. }| !rule.is_empty() && !note.is_empty()),
        "{words:?}"
    );
}

#[test]
fn an_explanation_goes_on_behind_the_first_refusal() {
    check_explained("cat .env ../x y", &[("cat", true), (".env", false), ("../x", false), ("y", true)]);
    check_explained(
        "nc -l | cat x > y",
        &[("nc", false), ("-l", false), ("cat", true), ("x", true), ("> y", true)],
    );
    check_explained("reboot", &[("reboot", false), ("reboot", false)]);
    check_explained("echo reboot", &[("echo", true), ("reboot", true)]);
    check_explained("find . -exec id", &[("find", true), ("-exec", false), ("id", false), (".", true)]);
    check_explained("ls 2>&1 > /dev/null", &[("ls", true), ("2>&1", true), ("> /dev/null", true)]);
}

#[test]
fn which_refusal_comes_first() {
    let check = |options: &str, line: &str, expected: CommandRefusal| {
        let denial = ask(&CommandPolicy::new(settings(options)), &scope_of("", &[]), "-", line).unwrap_err();
        assert_eq!(denial.reason, Reason::Command(expected), "{line}");
    };
    let pattern = |text: &str| CommandRefusal::Pattern { pattern: text.to_owned() };
    check("-", "nc x && reboot", pattern("reboot"));
    check("patterns=seed003", "nc reboot", pattern("reboot"));
    check("-", "cat /etc/passwd && sudo ls", pattern("sudo"));
    check("empty=block", "rm x", pattern("rm"));
    check("dotdot=text", "nc ..", pattern(".."));
    check("mode=denylist deny=x", "sudo x", pattern("sudo"));
    check("-", "nc -l", CommandRefusal::NotAllowed { program: "nc".to_owned() });
}
