//! Random worlds and random calls, made of the pieces on which the rules turn and of their near misses. Everything
//! here is text; nothing knows what the right answer is.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::question::{Call, Rule, World};
use crate::tool;

pub(crate) const ROLES: &[&str] = &["dev", "sre", "release_manager", "product_owner"];

const MODES: &[&str] =
    &["none", "read", "write", "command", "all", "read,write", "write,command", "command, read", "all,read"];

const SERVICES: &[&str] =
    &["", ".", "service-a", "services/service-a", "services//service-a/", "./services/service-a", "apps/x/y"];

const SHARED: &[&str] = &[
    "shared_contracts/",
    "shared/",
    "contracts",
    "docs/policies/",
    "services/service-a/shared",
    "services/lib",
    "./shared//deep/",
    "",
];

const BLOCK_PATTERNS: &[&str] = &[
    ".env",
    "secrets/",
    "Private",
    "*.pem",
    "/deploy",
    "infra/prod",
    "infra/*/keys",
    "./src/gen/",
    "dist/**",
    "a*b*c",
];

const RULE_PATHS: &[&str] = &[
    "**",
    "src/**",
    "services/service-a/**",
    "./services/*/src",
    "/shared/**",
    "docs/policies/*.md",
    "**/*.md",
    "deploy",
    "*",
];

/// Components, between blanks. Each name that a rule knows stands beside names that it must not be taken for.
const NAMES: &str = "
    .env .ENV .env.local .Env.Production .env. .environment .environment.md my.env.ts .env-old
    secrets SECRETS secretsharing secrets.md .git .GIT .github .gitignore hooks config node_modules node_modules_old
    service-a service-ab service-b Service-A services servicesx apps x y xy lib deep docs policies
    shared Shared shared_contracts sharedness contracts src gen main.rs a.md README.md
    .vambrace .VAMBRACE .vambrace-notes vambrace.yaml Vambrace.Toml vambrace.md .flow config.json .mcp.json
    .claude .claudette .vscode tasks.json tasks.json.md .bashrc .BashRC .bashrc.md .profile .zshenv
    private Private privateer server.pem server.PEM pem deploy Deploy infra prod keys dist abc axbyc acb
    .. .. .. . ... ..a a.. ..\\ \\ \\..\\x %2e%2e %2e %2f %00 ~ $HOME -rf * ? [a] {a,b} C: mono mono2 p
    é ÄÖ 漢字 e\u{301} \u{202e}txt \u{ff0e}\u{ff0e}
";

/// Components that hold blanks, or nothing.
const BLANK_NAMES: &[&str] = &["", "", ". ", " ..", ".env ", "a\nb", "\t"];

/// What a spelling can begin with: the service, the workspace in two spellings, and things that only look like it.
const BEGINNINGS: &[&str] = &[
    "",
    "",
    "",
    "",
    "./",
    "../",
    "../../",
    "/",
    "//",
    "/p/mono/",
    "/p/mono",
    "/p/mono2/",
    "/p/mono/../mono/",
    "/data/mono/",
    "/../p/mono/",
    "/p/./mono//",
    "/etc/",
    "services/service-a/",
    "services/service-ab/",
    "shared/",
    "docs/policies/",
];

/// The tools that have an action, more often than those of which only role and mode are asked.
fn tools() -> impl Strategy<Value = &'static str> {
    const WITH_ACTION: &[&str] = &[
        "read_file",
        "write_file",
        "edit_file",
        "search_file",
        "count_matches",
        "list_files",
        "delete_file",
        "create_directory",
        "read_output",
    ];
    let all: Vec<&'static str> = tool::TOOLS.iter().map(|(name, _)| *name).collect();
    prop_oneof![8 => select(WITH_ACTION), 1 => select(all)]
}

fn words() -> impl Strategy<Value = &'static str> {
    select(&["allow", "ask", "deny"][..])
}

fn texts(from: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(from, 0..=most).prop_map(|picked| picked.into_iter().map(str::to_owned).collect())
}

fn path() -> impl Strategy<Value = String> {
    let spelled = (select(BEGINNINGS), vec(name(), 0..6), select(&["", "", "/", "//", "/."][..]))
        .prop_map(|(beginning, names, end)| format!("{beginning}{}{end}", names.join("/")));
    let odd = prop_oneof![
        (name(), 200usize..300).prop_map(|(name, length)| format!("{name}/{}", "n".repeat(length))),
        (name(), 1000usize..2100).prop_map(|(name, times)| format!("{}{name}", "d/".repeat(times))),
        (name(), 1000usize..1400).prop_map(|(name, times)| format!("{}{name}", "/..".repeat(times))),
        name().prop_map(|name| format!("{name}\0/x")),
        any::<String>(),
    ];
    prop_oneof![24 => spelled, 1 => odd]
}

fn name() -> impl Strategy<Value = &'static str> {
    let mut names: Vec<&'static str> = NAMES.split_whitespace().collect();
    names.extend(BLANK_NAMES);
    select(names)
}

pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    let kind = select(vec!["reads", "writes", "runs", "sends"]);
    let tool = option::of(prop_oneof![3 => tools(), 1 => Just("write_file"), 1 => kind]);
    (tool, option::of(select(RULE_PATHS)), words()).prop_map(|(tool, path, verdict)| Rule {
        tool,
        path,
        verdict,
    })
}

pub(crate) fn block_pattern() -> impl Strategy<Value = String> {
    select(BLOCK_PATTERNS).prop_map(str::to_owned)
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let scope = (
        select(SERVICES),
        texts(SHARED, 4),
        any::<bool>(),
        select(&["STRICT", "SHARED"][..]),
        texts(BLOCK_PATTERNS, 3),
    );
    // Mostly a mode and few rules that let the call reach the later questions.
    let mode = prop_oneof![3 => Just("all"), 2 => select(MODES)];
    (scope, mode, vec(rule(), 0..4), words(), words()).prop_map(
        |(
            (service, shared, shared_inside_own, isolation, block_patterns),
            mode,
            rules,
            on_known,
            on_pattern,
        )| World {
            workspace: vec!["/p/mono".to_owned(), "/data/mono/".to_owned()],
            service: service.to_owned(),
            shared,
            shared_inside_own,
            isolation,
            block_patterns,
            mode: mode.to_owned(),
            rules,
            on_known,
            on_pattern,
        },
    )
}

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let role = prop_oneof![3 => Just("dev"), 2 => select(ROLES)];
    let found = || proptest::bool::weighted(0.15);
    let suspended = proptest::bool::weighted(0.04);
    (role, tools(), vec(path(), 1..4), suspended, found(), found(), found()).prop_map(
        |(role, tool, mut paths, suspended, known_secret, secret_pattern, placeholder)| {
            // Only `edit_file` takes several paths, and only texts that are written are scanned.
            paths.truncate(match tool {
                "edit_file" => 3,
                "read_file" | "write_file" | "search_file" | "count_matches" | "list_files"
                | "list_directory" => 1,
                "delete_file" | "create_directory" => 1,
                _ => 0,
            });
            let writes = matches!(tool, "write_file" | "edit_file");
            Call {
                role,
                tool,
                paths,
                suspended,
                known_secret: writes && known_secret,
                secret_pattern: writes && secret_pattern,
                placeholder: writes && placeholder,
            }
        },
    )
}
