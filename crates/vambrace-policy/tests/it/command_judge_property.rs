//! What holds for every plan, whatever stands in it.

use proptest::prelude::*;
use vambrace_policy::command::{
    ArgumentRules, CommandMode, CommandPlan, CommandPolicy, CommandSettings, Join, Redirect, RedirectMode,
    Simple, Step, Stream, Target, Word, WordPart, explain,
};

use crate::command_judge::{folder_of, grant, scope_of};

const GRANTS: &[&str] =
    &["example.com", "example.com@curl", "example.org@git", "*.com@wget", "example.org:80"];

const PROGRAMS: &[&str] = &[
    "ls", "cat", "grep", "find", "sort", "git", "sed", "awk", "jq", "cd", "env", "date", "test", "head",
    "tar", "nc", "rm", "/bin/ls", "./ls", "mytool", "", "curl", "wget",
];
const WORDS: &[&str] = &[
    "-n",
    "-e",
    "-o",
    "--",
    "-",
    "-rf",
    "--output=x",
    "-exec",
    "-name",
    "log",
    "diff",
    "HEAD:.env",
    "a..b",
    "x",
    "src/x",
    "../x",
    "..",
    ".env",
    "/etc/passwd",
    "/p/mono/x",
    "/tmp/x",
    "{print $1}",
    "w x",
    ".a",
    "5",
    "-5",
    "+%F",
    "",
    "é/日",
    "(",
    "-C",
    "src",
    "secrets",
    "--format=%H",
    "reboot",
    "https://example.com/x",
    "https://example.org",
    "fetch",
    "origin",
    "-d",
    "-O",
];

/// What addresses are made of, and what makes readers differ about them.
const PIECES: &[&str] = &[
    "https://",
    "http:",
    "//",
    "example.com",
    "example.org",
    "@",
    "\\",
    "/",
    ":80",
    "#",
    "?",
    "{",
    "}",
    ",",
    "%61",
    ".",
    "[",
    "]",
    " ",
    "127.1",
];

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        8 => proptest::sample::select(WORDS).prop_map(Word::literal),
        2 => "\\PC{0,12}".prop_map(Word::literal),
        1 => (proptest::sample::select(WORDS), proptest::sample::select(WORDS)).prop_map(|(before, behind)| {
            let part = |text: &str| WordPart::Literal(text.to_owned());
            Word { parts: vec![part(before), WordPart::AnyText, part(behind)], place: 0..0 }
        }),
    ]
}

fn redirect() -> impl Strategy<Value = Redirect> {
    let mode =
        proptest::sample::select(&[RedirectMode::Read, RedirectMode::Truncate, RedirectMode::Append][..]);
    (mode, word()).prop_map(|(mode, word)| Redirect { stream: Stream::Out, mode, target: Target::File(word) })
}

fn plan() -> impl Strategy<Value = CommandPlan> {
    let simple = (
        proptest::sample::select(PROGRAMS),
        proptest::collection::vec(word(), 0..5),
        proptest::collection::vec(redirect(), 0..2),
    )
        .prop_map(|(program, words, redirects)| {
            let words = std::iter::once(Word::literal(program)).chain(words).collect();
            Simple { file: (), words, redirects }
        });
    let join = proptest::sample::select(&[Join::First, Join::Then, Join::IfOk, Join::IfFailed][..]);
    let step =
        (join, proptest::collection::vec(simple, 1..3)).prop_map(|(join, pipeline)| Step { join, pipeline });
    proptest::collection::vec(step, 1..4).prop_map(|steps| CommandPlan { steps })
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(proptest::sample::select(PROGRAMS).prop_map(str::to_owned), 0..4)
}

fn settings() -> impl Strategy<Value = CommandSettings> {
    let mode = proptest::sample::select(&[CommandMode::Allowlist, CommandMode::Denylist][..]);
    let networked = proptest::collection::vec(proptest::sample::select(GRANTS).prop_map(grant), 0..3);
    (mode, names(), names(), names(), networked).prop_map(
        |(mode, allowlist, whitelisted, denylist, networked)| CommandSettings {
            mode,
            allowlist,
            whitelisted,
            denylist,
            networked,
            ..CommandSettings::default()
        },
    )
}

fn allowed(settings: &CommandSettings, plan: &CommandPlan) -> bool {
    let policy = CommandPolicy::new(settings.clone());
    policy.judge(&plan.spelled(), plan, &scope_of("", &[]), &folder_of("src")).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_verdict_is_the_strictest_of_the_words(settings in settings(), plan in plan()) {
        let policy = CommandPolicy::new(settings);
        let (scope, folder, text) = (scope_of("", &[]), folder_of("src"), plan.spelled());
        let judged = policy.judge(&text, &plan, &scope, &folder);
        let words = explain(&policy, &text, &plan, &scope, &folder);
        prop_assert_eq!(judged.is_ok(), words.iter().all(|verdict| verdict.allowed));
        if let Ok(judged) = judged {
            prop_assert_eq!(judged.words, words);
            for (path, access) in &judged.touched {
                prop_assert!(scope.judge(path, *access).is_ok(), "{:?}", path);
            }
        }
    }

    #[test]
    fn the_order_of_lists_does_not_matter(settings in settings(), plan in plan()) {
        let mut turned = settings.clone();
        turned.allowlist.reverse();
        turned.whitelisted.reverse();
        turned.denylist.reverse();
        turned.networked.reverse();
        prop_assert_eq!(allowed(&settings, &plan), allowed(&turned, &plan));
    }

    #[test]
    fn denying_and_narrowing_never_widen(settings in settings(), more in names(), plan in plan()) {
        let mut tighter = settings.clone();
        tighter.denylist.extend(more.iter().filter(|name| !name.is_empty()).cloned());
        prop_assert!(allowed(&settings, &plan) || !allowed(&tighter, &plan));
        let narrowed = CommandSettings { narrowed_to: Some(more), ..settings.clone() };
        prop_assert!(allowed(&settings, &plan) || !allowed(&narrowed, &plan));
    }

    #[test]
    fn hosts_that_are_not_listed_never_widen(settings in settings(), plan in plan()) {
        let mut fewer = settings.clone();
        fewer.networked.pop();
        prop_assert!(allowed(&settings, &plan) || !allowed(&fewer, &plan));
    }

    #[test]
    fn an_address_leads_to_a_listed_host_however_it_is_read(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..7),
        program in proptest::sample::select(&["curl", "wget", "git ls-remote"][..]),
        front in proptest::sample::select(&["https://example.com", "https://", ""][..]),
    ) {
        let text = format!("{front}{}", pieces.concat());
        let settings = CommandSettings { networked: vec![grant("example.com")], ..CommandSettings::default() };
        let mut words = program.split(' ').map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let plan = CommandPlan::vector(&name, &words.chain([text.clone()]).collect::<Vec<_>>());
        if allowed(&settings, &plan) && text.contains(':') {
            // A second, careless reader: the host is what stands behind the last `@` and before any sign that could end it.
            let rest = text.split_once("://").unwrap().1;
            let authority = rest.split(['/', '?', '#', '\\']).next().unwrap();
            let host = authority.rsplit('@').next().unwrap().split(':').next().unwrap();
            prop_assert!(matches!(host, "example.com" | "example.com."), "{}", text);
            prop_assert!(!authority.contains('@'), "{}", text);
        }
    }

    #[test]
    fn argument_rules_never_widen(settings in settings(), plan in plan()) {
        let off = CommandSettings { argument_rules: ArgumentRules::Off, ..settings.clone() };
        prop_assert!(allowed(&off, &plan) || !allowed(&settings, &plan));
    }

    #[test]
    fn any_text_is_read_and_judged_without_a_panic(line in "\\PC{0,60}") {
        let policy = CommandPolicy::default();
        if let Ok(plan) = policy.read(&line) {
            let _ = policy.judge(&line, &plan, &scope_of("", &[]), &folder_of("-"));
        }
    }

    #[test]
    fn any_program_text_is_scanned_without_a_panic(program in proptest::sample::select(&["sed", "awk", "jq"][..]), text in "[-{}()/\"\\\\ \\n;a-z$|>#\\[\\]:.,0-9é]{0,40}") {
        let plan = CommandPlan::vector(program, &[text]);
        let _ = CommandPolicy::default().judge("", &plan, &scope_of("", &[]), &folder_of("-"));
    }
}
