//! Which layer wins, and where files are looked for.

use vambrace_config::section::{AuthMode, ProfileName};
use vambrace_config::{Warning, user_folder};

use crate::bench::Bench;

#[test]
fn higher_layers_win() {
    let bench = Bench::new()
        .file(
            "user/vambrace.yaml",
            "profile: monorepo-team\nlimits: {time: 20}\ntools: {aliases: {a: read_file}}\n",
        )
        .file("work/vambrace.json5", "{limits: {time: 10}, /* tighter */ secrets: {redactPatterns: ['x+']}}");
    let loaded = bench.loaded();
    assert_eq!(loaded.config.profile, ProfileName::MonorepoTeam);
    assert_eq!(loaded.config.limits.time.duration().as_secs(), 10);
    assert_eq!(loaded.config.secrets.redact_patterns, ["x+"]);
    assert_eq!(loaded.config.tools.aliases["a"], "read_file");
    assert_eq!(loaded.files.len(), 2);

    // A flag wins over the operator's file, and an entry of a map of data joins its neighbors.
    let loaded = bench.profile("workspace-agent").loaded();
    assert_eq!(loaded.config.profile, ProfileName::WorkspaceAgent);
    assert_eq!(loaded.config.tools.aliases.len(), 2);
}

#[test]
fn flags_come_last() {
    let mut bench = Bench::new().config("c.yaml", "tool_safety: {git_enabled: true}");
    bench.sources.overrides.auth_mode = Some(AuthMode::Open);
    bench.sources.overrides.git_enabled = Some(false);
    bench.sources.overrides.service = Some("services/a".into());
    let loaded = bench.loaded();
    assert_eq!(loaded.config.scope.service_root.as_deref(), Some("services/a"));
    let weaker: Vec<_> = loaded.weaker.iter().map(|weaker| weaker.key.as_str()).collect();
    assert_eq!(weaker, ["tool_safety.git_enabled", "auth.mode"]);
}

#[test]
fn tokens_that_may_be_for_others_are_told() {
    #[track_caller]
    fn check(jwt: &str, expected: &[&str]) {
        let loaded = Bench::new().config("c.yaml", format!("auth: {{jwt: {{{jwt}}}}}")).loaded();
        let told: Vec<String> =
            loaded.weaker.iter().map(|weaker| format!("{} is {}", weaker.key, weaker.value)).collect();
        assert_eq!(told, expected, "{jwt}");
    }
    let audience = "auth.jwt.audience is not set: tokens for other applications of the issuer are accepted";
    let issuer =
        "auth.jwt.issuer is not set: tokens of every issuer whose key is in the key set are accepted";
    let keys = "jwks: 'https://id.example.com/keys'";
    check("", &[]);
    check("jwks: ''", &[]);
    check(keys, &[audience, issuer]);
    check(&format!("{keys}, issuer: i"), &[audience]);
    check(&format!("{keys}, audience: a"), &[issuer]);
    check(&format!("{keys}, issuer: '', audience: []"), &[audience, issuer]);
    check(&format!("{keys}, issuer: i, audience: [a, b]"), &[]);
}

#[test]
fn denials_of_operator_and_project_are_joined() {
    let loaded = Bench::new()
        .config("c.yaml", "scope: {block_patterns: [a]}\nrules: [{tool: x, decision: allow}]\n")
        .file("work/vambrace.yaml", "scope: {block_patterns: [b, a]}\nrules: [{tool: y, decision: deny}]\n")
        .loaded();
    assert_eq!(loaded.config.scope.block_patterns, ["a", "b"]);
    assert_eq!(loaded.config.rules.len(), 2);
}

#[test]
fn the_workspace_decides_where_the_project_file_lies() {
    let bench = Bench::new()
        .file("work/vambrace.yaml", "limits: {time: 3}")
        .file("user/vambrace.yaml", "limits: {time: 4}");
    assert_eq!(bench.loaded().config.limits.time.duration().as_secs(), 3);
    let elsewhere =
        Bench::new().config("c.yaml", "workspace: ../user").file("user/vambrace.yaml", "limits: {time: 4}");
    assert_eq!(elsewhere.loaded().config.limits.time.duration().as_secs(), 4);
}

#[test]
fn an_operators_file_in_the_workspace() {
    let named = Bench::new().config("work/vambrace.yaml", "tools: {url_policy: {allow_private: true}}");
    let loaded = named.loaded();
    assert!(loaded.config.tools.url_policy.allow_private);
    assert!(matches!(loaded.warnings.as_slice(), [Warning::OperatorFileInWorkspace(_)]));

    let mut found = Bench::new().file("user/vambrace.yaml", "tools: {url_policy: {allow_private: true}}");
    found.sources.workspace = found.path().to_owned();
    assert_eq!(
        found.messages(),
        "user/vambrace.yaml: it lies in the workspace, where agents may be able to write it; name it with --config, or \
         work in a smaller folder (--workspace)"
    );
}

#[test]
fn links_and_pipes_in_the_workspace_are_refused() {
    let bench = Bench::new().file("user/other.yaml", "version: 1");
    std::os::unix::fs::symlink(bench.path().join("user/other.yaml"), bench.path().join("work/vambrace.yaml"))
        .unwrap();
    assert_eq!(
        bench.messages(),
        "work/vambrace.yaml: is not a plain file; a link in the workspace is not followed"
    );
    let bench = Bench::new();
    std::fs::DirBuilder::new().create(bench.path().join("work/vambrace.yaml")).unwrap();
    assert_eq!(bench.messages(), "work/vambrace.yaml: is not a plain file");
    // A dangling link is still a file that somebody put there.
    let bench = Bench::new();
    std::os::unix::fs::symlink("nowhere", bench.path().join("work/vambrace.toml")).unwrap();
    assert_eq!(
        bench.messages(),
        "work/vambrace.toml: is not a plain file; a link in the workspace is not followed"
    );
    let bench = Bench::new();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        bench.path().join("work/vambrace.yaml"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    assert_eq!(bench.messages(), "work/vambrace.yaml: is not a plain file");
}

#[test]
fn the_users_folder() {
    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let environment =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(user_folder(&environment), expected.map(Into::into));
    }
    check(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], Some("/x/vambrace"));
    check(&[("HOME", "/h")], Some("/h/.config/vambrace"));
    check(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")], Some("/h/.config/vambrace"));
    check(&[], None);
}

#[test]
fn an_unknown_profile_meets_the_nearest() {
    let messages = Bench::new().profile("terminal_agent").messages();
    assert_eq!(messages, "`profile`: there is no profile `terminal_agent`; did you mean `terminal-agent`?");
}
