//! A project file never makes anything weaker, judged by a second, naive comparison that shares no code with the first.

use std::collections::BTreeSet;
use std::fmt::Debug;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use vambrace_config::Config;
use vambrace_config::section::{
    AllowedDomain, ArgumentRules, AuditFailure, ByClient, Chains, CommandList, DefenceAction, DotDot,
    EmptyMeans, EnvInherit, EnvPath, HardLinks, HeaderRule, HostRules, Isolation, McpExpose, MemoryReads,
    OnDnsFailure, ProgramMatch, Ranges, RedactEntropy, RedactOnWrite, Redirects, ShellGrammar, SymbolicLinks,
    UnknownKeys,
};

use crate::bench::Bench;

/// Keys with values to choose from. The last ones belong to the operator alone.
fn pool() -> Vec<(&'static str, Vec<Json>)> {
    let words = |words: &[&str]| words.iter().map(|word| json!(word)).collect::<Vec<_>>();
    let lists = |names: &[&str]| {
        (0..1 << names.len())
            .map(|bits: usize| {
                json!(
                    names
                        .iter()
                        .enumerate()
                        .filter(|(i, _)| bits >> i & 1 == 1)
                        .map(|(_, n)| n)
                        .collect::<Vec<_>>()
                )
            })
            .collect::<Vec<_>>()
    };
    let switch = || vec![json!(true), json!(false)];
    let times = || vec![json!(1), json!(20), json!("500ms"), json!("4m"), json!(30.5), json!("30s")];
    vec![
        ("scope.service_isolation", words(&["STRICT", "SHARED"])),
        ("scope.shared_paths", lists(&["shared/", "docs/", "contracts/"])),
        ("scope.block_patterns", lists(&["a", "b"])),
        ("scope.symlinks", words(&["inside", "deny"])),
        ("scope.hardlinks", words(&["allow", "deny_writes", "deny"])),
        ("tools.command_policy.mode", words(&["allowlist", "denylist"])),
        ("tools.command_policy.allowlist", lists(&["ls", "git", "bash"])),
        ("tools.command_policy.denylist", lists(&["x", "y"])),
        ("tools.command_policy.empty_means", words(&["defaults", "block"])),
        ("tools.command_policy.list", words(&["strict", "seed002", "seed003"])),
        ("tools.command_policy.argument_rules", words(&["on", "off"])),
        ("tools.command_policy.shell", words(&["plan", "posix", "raw"])),
        ("tools.command_policy.chains", words(&["check", "refuse"])),
        ("tools.command_policy.match", words(&["trusted", "basename"])),
        ("tools.command_policy.patterns", words(&["all", "seed002", "seed003"])),
        ("tools.command_policy.dotdot", words(&["resolve", "text"])),
        ("tools.url_policy.enabled", switch()),
        ("tools.url_policy.allow_private", switch()),
        ("tools.url_policy.allowed_domains", lists(&["a.example", "b.example"])),
        ("tools.url_policy.blocked_domains", lists(&["c.example", "d.example"])),
        ("tools.url_policy.on_dns_failure", words(&["deny", "defer"])),
        ("tools.url_policy.ranges", words(&["full", "seed000", "seed001", "seed003"])),
        ("tools.url_policy.host_rules", words(&["full", "seed001", "seed003"])),
        ("tools.url_policy.allowed_domains_bypass_all", switch()),
        ("tools.allow_legacy_run_command", switch()),
        ("tools.whitelisted_binaries", lists(&["bash", "npm"])),
        ("allowed_commands", lists(&["git", "jq"])),
        ("tool_safety.git_enabled", switch()),
        ("tool_safety.command_timeout", times()),
        ("secrets.redact_patterns", lists(&["p", "q"])),
        ("redact.entropy", words(&["off", "context", "aggressive"])),
        ("redact.on_write", words(&["off", "warn", "refuse"])),
        ("redact.known_env", words(&["all", "named"])),
        ("redact.known_files", words(&["on", "off"])),
        ("redact.placeholders", words(&["plain", "numbered"])),
        ("env.inherit", vec![json!("all"), json!([]), json!(["A"]), json!(["A", "B"])]),
        ("env.path", words(&["system", "host"])),
        ("net.timeout", times()),
        ("net.max_body_bytes", vec![json!(1), json!(99999999)]),
        ("net.redirects", words(&["checked", "same_host", "none"])),
        ("net.methods", lists(&["GET", "POST"])),
        ("net.headers", words(&["safe", "any"])),
        ("limits.time", times()),
        ("limits.processes", vec![json!(1), json!(300)]),
        ("audit.on_failure", words(&["warn", "deny_writes", "deny_all"])),
        ("audit.mirror", switch()),
        ("audit.durable", switch()),
        ("defence.action", words(&["alert", "suspend", "terminate"])),
        ("config.unknown", words(&["warn", "error"])),
        ("memory.reads", words(&["checked", "open"])),
        ("git.require_checkpoint", switch()),
        ("mcp.expose", words(&["listed", "all"])),
        (
            "rules",
            vec![
                json!([{"tool": "a", "decision": "deny"}]),
                json!([{"tool": "b", "decision": "allow"}]),
                json!([]),
            ],
        ),
        ("sandbox.when_missing", words(&["refuse", "warn"])),
        ("sandbox.absent_names", words(&["refuse", "sweep"])),
        ("sandbox.write", lists(&["/srv"])),
        ("approvals.by_client", vec![json!("stdio"), json!(true), json!(false)]),
        ("auth.mode", words(&["token", "open"])),
        ("rbac.match", words(&["sets", "exact"])),
        ("git.checkpoint", words(&["hidden_ref", "commit_on_branch"])),
        ("server.rate_limit.burst", vec![json!(1), json!(100)]),
        ("llm.base_url", words(&["http://evil.example"])),
        ("tools.aliases", vec![json!({"a": "b"})]),
        ("agent_name", words(&["Somebody"])),
    ]
}

fn document(at_most: usize) -> impl Strategy<Value = Json> {
    let key =
        prop::sample::select(pool()).prop_flat_map(|(key, values)| (Just(key), prop::sample::select(values)));
    prop::collection::vec(key, 1..=at_most).prop_map(|keys| {
        let mut root = json!({});
        for (key, value) in keys {
            let place = key.split('.').fold(&mut root, |place, step| &mut place[step]);
            *place = value;
        }
        root
    })
}

/// What the naive judge finds weaker. Ranks are numbers: more is tighter.
struct Judge {
    found: Vec<&'static str>,
}

impl Judge {
    fn at_least<T: PartialOrd>(&mut self, key: &'static str, before: T, after: T) {
        if after < before || after.partial_cmp(&before).is_none() {
            self.found.push(key);
        }
    }

    fn within<T: Ord>(
        &mut self,
        key: &'static str,
        small: impl IntoIterator<Item = T>,
        large: impl IntoIterator<Item = T>,
    ) {
        let large: BTreeSet<T> = large.into_iter().collect();
        if !small.into_iter().all(|entry| large.contains(&entry)) {
            self.found.push(key);
        }
    }

    fn equal<T: Debug + ?Sized>(&mut self, key: &'static str, before: &T, after: &T) {
        if format!("{before:?}") != format!("{after:?}") {
            self.found.push(key);
        }
    }

    fn same_or_tightest<T: PartialEq>(&mut self, key: &'static str, before: T, after: T, tightest: T) {
        if after != before && after != tightest {
            self.found.push(key);
        }
    }
}

fn weaker(a: &Config, b: &Config) -> Vec<&'static str> {
    let mut judge = Judge { found: Vec::new() };
    files_and_commands(&mut judge, a, b);
    addresses(&mut judge, a, b);
    the_rest(&mut judge, a, b);
    untouched(&mut judge, a, b);
    judge.found
}

fn files_and_commands(judge: &mut Judge, a: &Config, b: &Config) {
    judge.same_or_tightest(
        "isolation",
        a.scope.service_isolation,
        b.scope.service_isolation,
        Isolation::Strict,
    );
    judge.equal("shared_paths", &a.scope.shared_paths, &b.scope.shared_paths);
    judge.within("block_patterns", &a.scope.block_patterns, &b.scope.block_patterns);
    judge.same_or_tightest("symlinks", a.scope.symlinks, b.scope.symlinks, SymbolicLinks::Deny);
    let links = |links| match links {
        HardLinks::Allow => 0,
        HardLinks::DenyWrites => 1,
        HardLinks::Deny => 2,
    };
    judge.at_least("hardlinks", links(a.scope.hardlinks), links(b.scope.hardlinks));
    let (p, q) = (&a.tools.command_policy, &b.tools.command_policy);
    judge.equal("mode", &p.mode, &q.mode);
    judge.equal("list", &p.list, &q.list);
    judge.within("programs", programs(b), programs(a));
    judge.within("denylist", &p.denylist, &q.denylist);
    judge.same_or_tightest("argument_rules", p.argument_rules, q.argument_rules, ArgumentRules::On);
    let shell = |shell| match shell {
        ShellGrammar::Raw => 0,
        ShellGrammar::Posix => 1,
        ShellGrammar::Plan => 2,
    };
    judge.at_least("shell", shell(p.shell), shell(q.shell));
    judge.same_or_tightest("chains", p.chains, q.chains, Chains::Refuse);
    judge.same_or_tightest("match", p.match_by, q.match_by, ProgramMatch::Trusted);
    judge.equal("patterns", &p.patterns, &q.patterns);
    judge.same_or_tightest("dotdot", p.dotdot, q.dotdot, DotDot::Text);
    judge.within("allowed_commands", &b.allowed_commands, &a.allowed_commands);
    judge.within("whitelisted", &b.tools.whitelisted_binaries, &a.tools.whitelisted_binaries);
    judge.at_least("legacy", !a.tools.allow_legacy_run_command, !b.tools.allow_legacy_run_command);
}

fn programs(config: &Config) -> Vec<String> {
    let policy = &config.tools.command_policy;
    let built_in = match policy.list {
        // With five of its subcommands, which it has no longer once it is listed by name.
        CommandList::Seed002 => "ls cat grep find head tail wc echo pwd date git(5) go",
        CommandList::Seed003 => {
            "echo cat ls pwd head tail wc grep find sort uniq diff date env true false test"
        }
        CommandList::Strict => {
            "echo cat ls pwd head tail wc grep find sort uniq diff date env true false test git go"
        }
    };
    let mut programs = policy.allowlist.clone();
    if programs.is_empty() && policy.empty_means == EmptyMeans::Defaults {
        programs.extend(built_in.split(' ').map(str::to_owned));
    }
    programs
}

fn addresses(judge: &mut Judge, a: &Config, b: &Config) {
    let (p, q) = (&a.tools.url_policy, &b.tools.url_policy);
    judge.at_least("enabled", p.enabled, q.enabled);
    judge.at_least("allow_private", !p.allow_private, !q.allow_private);
    judge.at_least("bypass", !p.allowed_domains_bypass_all, !q.allowed_domains_bypass_all);
    let hosts =
        |domains: &[AllowedDomain]| domains.iter().map(|domain| format!("{domain:?}")).collect::<Vec<_>>();
    judge.within("allowed_domains", hosts(&q.allowed_domains), hosts(&p.allowed_domains));
    judge.within("blocked_domains", &p.blocked_domains, &q.blocked_domains);
    judge.same_or_tightest("on_dns_failure", p.on_dns_failure, q.on_dns_failure, OnDnsFailure::Deny);
    let n_ranges = |ranges| match ranges {
        Ranges::Seed000 => 8,
        Ranges::Seed003 => 9,
        Ranges::Seed001 => 17,
        Ranges::Full => 99,
    };
    judge.at_least("ranges", n_ranges(p.ranges), n_ranges(q.ranges));
    judge.same_or_tightest("host_rules", p.host_rules, q.host_rules, HostRules::Full);
    judge.at_least("timeout", b.net.timeout, a.net.timeout);
    judge.at_least("body", b.net.max_body_bytes, a.net.max_body_bytes);
    let hops = |redirects| match redirects {
        Redirects::Checked => 0,
        Redirects::SameHost => 1,
        Redirects::None => 2,
    };
    judge.at_least("redirects", hops(a.net.redirects), hops(b.net.redirects));
    let methods =
        |config: &Config| config.net.methods.iter().map(|method| method.as_str()).collect::<Vec<_>>();
    judge.within("methods", methods(b), methods(a));
    judge.same_or_tightest("headers", a.net.headers, b.net.headers, HeaderRule::Safe);
}

fn the_rest(judge: &mut Judge, a: &Config, b: &Config) {
    judge.at_least("git_enabled", a.tool_safety.git_enabled, b.tool_safety.git_enabled);
    judge.at_least("command_timeout", b.tool_safety.command_timeout, a.tool_safety.command_timeout);
    judge.within("redact_patterns", &a.secrets.redact_patterns, &b.secrets.redact_patterns);
    let entropy = |entropy| match entropy {
        RedactEntropy::Off => 0,
        RedactEntropy::Context => 1,
        RedactEntropy::Aggressive => 2,
    };
    judge.at_least("entropy", entropy(a.redact.entropy), entropy(b.redact.entropy));
    let on_write = |on_write| match on_write {
        RedactOnWrite::Off => 0,
        RedactOnWrite::Warn => 1,
        RedactOnWrite::Refuse => 2,
    };
    judge.at_least("on_write", on_write(a.redact.on_write), on_write(b.redact.on_write));
    judge.same_or_tightest("known_files", a.redact.known_files.as_str(), b.redact.known_files.as_str(), "on");
    judge.same_or_tightest("known_env", a.redact.known_env.as_str(), b.redact.known_env.as_str(), "all");
    let placeholders = |config: &Config| config.redact.placeholders.as_str();
    judge.same_or_tightest("placeholders", placeholders(a), placeholders(b), "plain");
    match (&a.env.inherit, &b.env.inherit) {
        (EnvInherit::Names(a), EnvInherit::Names(b)) => judge.within("inherit", b, a),
        (EnvInherit::Names(_), EnvInherit::All(_)) => judge.found.push("inherit"),
        (EnvInherit::All(_), EnvInherit::Names(_) | EnvInherit::All(_)) => {}
    }
    judge.same_or_tightest("path", a.env.path, b.env.path, EnvPath::System);
    judge.at_least("time", b.limits.time, a.limits.time);
    judge.at_least("processes", b.limits.processes, a.limits.processes);
    let failure = |failure| match failure {
        AuditFailure::Warn => 0,
        AuditFailure::DenyWrites => 1,
        AuditFailure::DenyAll => 2,
    };
    judge.at_least("on_failure", failure(a.audit.on_failure), failure(b.audit.on_failure));
    judge.at_least("durable", a.audit.durable, b.audit.durable);
    judge.at_least("mirror", a.audit.mirror, b.audit.mirror);
    let action = |action| match action {
        DefenceAction::Alert => 0,
        DefenceAction::Suspend => 1,
        DefenceAction::Terminate => 2,
    };
    judge.at_least("action", action(a.defence.action), action(b.defence.action));
    judge.same_or_tightest("unknown", a.config.unknown, b.config.unknown, UnknownKeys::Error);
    judge.same_or_tightest("reads", a.memory.reads, b.memory.reads, MemoryReads::Checked);
    let dialogs = |config: &Config| match config.approvals.by_client {
        ByClient::Always(true) => 0,
        ByClient::Over(_) => 1,
        ByClient::Always(false) => 2,
    };
    judge.at_least("by_client", dialogs(a), dialogs(b));
    judge.same_or_tightest("expose", a.mcp.expose, b.mcp.expose, McpExpose::Listed);
    judge.at_least("require_checkpoint", a.git.require_checkpoint, b.git.require_checkpoint);
    let added = b.rules.iter().filter(|rule| !a.rules.contains(rule));
    if added.clone().any(|rule| rule.decision.as_str() == "allow")
        || a.rules.iter().any(|rule| !b.rules.contains(rule))
    {
        judge.found.push("rules");
    }
}

fn untouched(judge: &mut Judge, a: &Config, b: &Config) {
    judge.equal("sandbox", &a.sandbox, &b.sandbox);
    judge.equal("auth", &a.auth, &b.auth);
    judge.equal("rbac", &a.rbac, &b.rbac);
    judge.equal("checkpoint", &a.git.checkpoint, &b.git.checkpoint);
    judge.equal("server", &a.server, &b.server);
    judge.equal("llm", &a.llm, &b.llm);
    judge.equal("aliases", &a.tools.aliases, &b.tools.aliases);
    judge.equal("agent_name", &a.agent_name, &b.agent_name);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_project_file_never_weakens(operator in document(8), project in document(3)) {
        let alone = Bench::new().config("c.json", operator.to_string());
        let both = Bench::new().config("c.json", operator.to_string()).file("work/vambrace.json", project.to_string());
        if let (Ok(before), Ok(after)) = (alone.load(), both.load()) {
            let found = weaker(&before.config, &after.config);
            prop_assert!(found.is_empty(), "{:?}", found);
        }
    }

    /// The other direction, so that refusing everything does not pass: what the naive judge finds harmless is accepted.
    #[test]
    fn a_project_file_may_repeat_and_tighten(operator in document(8), project in document(1)) {
        let operator_only = ["sandbox", "auth", "server", "llm", "aliases", "agent_name"];
        let before = Bench::new().config("c.json", operator.to_string()).load();
        // The same keys as an operator's second file: what they would come to without the rule.
        let mut joined = operator.clone();
        overlay(&mut joined, &project);
        let wanted = Bench::new().config("c.json", joined.to_string()).load();
        let both = Bench::new().config("c.json", operator.to_string()).file("work/vambrace.json", project.to_string()).load();
        if let (Ok(before), Ok(wanted)) = (before, wanted)
            && weaker(&before.config, &wanted.config).is_empty()
            && !operator_only.iter().any(|key| project.to_string().contains(key))
        {
            prop_assert!(both.is_ok(), "{}", both.unwrap_err());
        }
    }

    #[test]
    fn loading_is_deterministic(operator in document(8)) {
        let load = || {
            let loaded = Bench::new().config("c.json", operator.to_string()).load();
            loaded.map(|loaded| format!("{:?} {:?}", loaded.config, loaded.weaker.len())).map_err(|errors| errors.0.len())
        };
        prop_assert_eq!(load(), load());
    }
}

fn overlay(base: &mut Json, over: &Json) {
    match (base, over) {
        (Json::Object(base), Json::Object(over)) => {
            for (key, value) in over {
                overlay(base.entry(key.as_str()).or_insert(Json::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}
