//! Which of two values of a key is the weaker one, and what a project file may do with the key.
//!
//! INVARIANT: a key without a row is refused in project files, so a new key is born closed.

use serde_json::Value as Json;
use vambrace_policy::command::{ProgramList, built_in_programs, gains_by_name};

use crate::value::Period;

/// How two values of a key are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// One side of the switch is the tight one.
    Switch { tight: bool },
    /// Ranks of words, weakest first; `true` and `false` count as words. Words of one rank cannot be compared.
    Ranks(&'static [&'static [&'static str]]),
    /// Less is tighter.
    Ceiling,
    /// A list that grants: fewer entries are tighter.
    Grants,
    /// The programs a model may start: the list together with what an empty one means.
    Programs,
    /// A list that denies: more entries are tighter.
    Denials,
    /// Variable names, or `all`.
    Inherited,
    /// Operator rules: more of `ask` and `deny` are tighter.
    Rules,
    /// Neither is weaker; only equal values are alike.
    Unordered,
}

/// What a project file may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Project {
    /// Say something tighter.
    Tighten,
    /// Repeat what holds.
    Repeat,
    /// Nothing.
    Refuse,
}

pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) order: Order,
    pub(crate) project: Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Same,
    Tighter,
    /// Weaker, or not comparable, which nobody may take for tighter.
    Weaker,
}

pub(crate) fn row(key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.key == key)
}

/// Compares what a key says in two whole configurations.
pub(crate) fn compare(row: &Row, holds: &Json, offered: &Json) -> Comparison {
    let (old, new) = (at_path(holds, row.key), at_path(offered, row.key));
    if let Order::Programs = row.order {
        // Reading the lists loads every program's rules, which nobody should wait for who changed nothing.
        let policy = |config| at_path(config, "tools.command_policy");
        if policy(holds) == policy(offered) {
            return Comparison::Same;
        }
        return subset_is_tighter(&programs(offered), &programs(holds));
    }
    if old == new {
        return Comparison::Same;
    }
    match row.order {
        Order::Switch { tight } => tighter_if(new.as_bool() == Some(tight)),
        Order::Ranks(ranks) => {
            let rank = |value: &Json| {
                let word =
                    value.as_bool().map_or(value.as_str(), |on| Some(if on { "true" } else { "false" }));
                ranks.iter().position(|rank| word.is_some_and(|word| rank.contains(&word)))
            };
            // An unknown word has no rank, and no rank is not tighter than any.
            tighter_if(rank(new).is_some() && rank(old).is_some() && rank(new) > rank(old))
        }
        Order::Ceiling => match (amount(old), amount(new)) {
            (Some(old), Some(new)) if new == old => Comparison::Same,
            (Some(old), Some(new)) => tighter_if(new < old),
            (Some(_) | None, Some(_) | None) => Comparison::Weaker,
        },
        Order::Grants => subset_is_tighter(&entries(new), &entries(old)),
        Order::Denials | Order::Rules => subset_is_tighter(&entries(old), &entries(new)),
        Order::Inherited => match (old.as_str(), new.as_str()) {
            (Some(_), None) => Comparison::Tighter,
            (None, Some(_)) | (Some(_), Some(_)) => Comparison::Weaker,
            (None, None) => subset_is_tighter(&entries(new), &entries(old)),
        },
        Order::Programs | Order::Unordered => Comparison::Weaker,
    }
}

pub(crate) fn at_path<'j>(json: &'j Json, path: &str) -> &'j Json {
    path.split('.').try_fold(json, |json, key| json.get(key)).unwrap_or(&Json::Null)
}

fn tighter_if(truth: bool) -> Comparison {
    if truth { Comparison::Tighter } else { Comparison::Weaker }
}

fn subset_is_tighter(small: &[Json], large: &[Json]) -> Comparison {
    let inside = small.iter().all(|entry| large.contains(entry));
    let whole = large.iter().all(|entry| small.contains(entry));
    match (inside, whole) {
        (true, true) => Comparison::Same,
        (true, false) => Comparison::Tighter,
        (false, true | false) => Comparison::Weaker,
    }
}

fn entries(list: &Json) -> Vec<Json> {
    list.as_array().cloned().unwrap_or_default()
}

/// A number, or a period of time in seconds.
fn amount(json: &Json) -> Option<f64> {
    match json {
        Json::String(text) => Period::parse(text).map(|period| period.duration().as_secs_f64()),
        other => other.as_f64(),
    }
}

/// `whitelisted_binaries` do not count: they run under a rule of their own, which a place on this list would lift.
fn programs(config: &Json) -> Vec<Json> {
    let policy = at_path(config, "tools.command_policy");
    let word = |key: &str| at_path(policy, key).as_str().unwrap_or_default();
    let mut listed = entries(at_path(policy, "allowlist"));
    if listed.is_empty() && word("empty_means") != "block" {
        let list = match word("list") {
            "seed002" => ProgramList::Seed002,
            "seed003" => ProgramList::Seed003,
            _ => ProgramList::Strict,
        };
        // THREAT: P06, a project that lists `npm` alone would free it from the rules of the built-in list.
        let entry = |name: &'static str| match gains_by_name(list, name) {
            true => serde_json::json!({"built_in": name}),
            false => Json::from(name),
        };
        listed = built_in_programs(list).into_iter().map(entry).collect();
    }
    listed
}

const fn tighten(key: &'static str, order: Order) -> Row {
    Row { key, order, project: Project::Tighten }
}

const fn repeat(key: &'static str, order: Order) -> Row {
    Row { key, order, project: Project::Repeat }
}

const fn refuse(key: &'static str, order: Order) -> Row {
    Row { key, order, project: Project::Refuse }
}

const TIGHT_ON: Order = Order::Switch { tight: true };
const TIGHT_OFF: Order = Order::Switch { tight: false };

#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    repeat("version", Order::Unordered),
    repeat("profile", Order::Unordered),
    repeat("workspace", Order::Unordered),
    tighten("scope.service_isolation", Order::Ranks(&[&["SHARED"], &["STRICT"]])),
    // A shared path may be read and may not be written: with fewer of them less can be read and more be written.
    repeat("scope.shared_paths", Order::Unordered),
    tighten("scope.block_patterns", Order::Denials),
    tighten("scope.symlinks", Order::Ranks(&[&["inside"], &["deny"]])),
    tighten("scope.hardlinks", Order::Ranks(&[&["allow"], &["deny_writes"], &["deny"]])),
    // With another mode the other list stops counting, which may free what it held.
    Row { key: "tools.command_policy.mode", order: Order::Ranks(&[&["denylist"], &["allowlist"]]), project: Project::Repeat },
    tighten("tools.command_policy.allowlist", Order::Programs),
    tighten("tools.command_policy.denylist", Order::Denials),
    tighten("tools.command_policy.empty_means", Order::Ranks(&[&["defaults"], &["block"]])),
    repeat("tools.command_policy.list", Order::Unordered),
    tighten("tools.command_policy.argument_rules", Order::Ranks(&[&["off"], &["on"]])),
    tighten("tools.command_policy.shell", Order::Ranks(&[&["raw"], &["posix"], &["plan"]])),
    tighten("tools.command_policy.chains", Order::Ranks(&[&["check"], &["refuse"]])),
    tighten("tools.command_policy.match", Order::Ranks(&[&["basename"], &["trusted"]])),
    // Each list refuses something that another allows.
    repeat("tools.command_policy.patterns", Order::Ranks(&[&["seed002", "seed003", "all"]])),
    tighten("tools.command_policy.dotdot", Order::Ranks(&[&["resolve"], &["text"]])),
    tighten("tools.url_policy.enabled", TIGHT_ON),
    tighten("tools.url_policy.allow_private", TIGHT_OFF),
    tighten("tools.url_policy.allowed_domains", Order::Grants),
    tighten("tools.url_policy.blocked_domains", Order::Denials),
    tighten("tools.url_policy.on_dns_failure", Order::Ranks(&[&["defer"], &["deny"]])),
    tighten("tools.url_policy.ranges", Order::Ranks(&[&["seed000"], &["seed003"], &["seed001"], &["full"]])),
    tighten("tools.url_policy.host_rules", Order::Ranks(&[&["seed001", "seed003"], &["full"]])),
    tighten("tools.url_policy.allowed_domains_bypass_all", TIGHT_OFF),
    tighten("tools.allow_legacy_run_command", TIGHT_OFF),
    tighten("tools.whitelisted_binaries", Order::Grants),
    tighten("tools.web_fetch.timeout", Order::Ceiling),
    tighten("tools.web_fetch.default_max_length", Order::Ceiling),
    tighten("allowed_commands", Order::Grants),
    tighten("tool_safety.git_enabled", TIGHT_ON),
    tighten("tool_safety.command_timeout", Order::Ceiling),
    repeat("tool_safety.firejail_enabled", Order::Unordered),
    tighten("rules", Order::Rules),
    tighten("secrets.redact_patterns", Order::Denials),
    tighten("redact.entropy", Order::Ranks(&[&["off"], &["context"], &["aggressive"]])),
    tighten("redact.on_write", Order::Ranks(&[&["off"], &["warn"], &["refuse"]])),
    tighten("redact.known_env", Order::Ranks(&[&["named"], &["all"]])),
    tighten("redact.known_files", Order::Ranks(&[&["off"], &["on"]])),
    // Numbers tell which secrets are equal.
    tighten("redact.placeholders", Order::Ranks(&[&["numbered"], &["plain"]])),
    refuse("sandbox.backend", Order::Ranks(&[&["none"], &["firejail"], &["bubblewrap"], &["native"]])),
    refuse("sandbox.when_missing", Order::Ranks(&[&["warn"], &["refuse"]])),
    tighten("sandbox.absent_names", Order::Ranks(&[&["sweep"], &["refuse"]])),
    refuse("sandbox.read", Order::Grants),
    refuse("sandbox.write", Order::Grants),
    refuse("sandbox.net", Order::Grants),
    refuse("sandbox.local_ca", TIGHT_OFF),
    refuse("secrets.bindings", Order::Grants),
    tighten("sandbox.reuse", TIGHT_OFF),
    tighten("env.inherit", Order::Inherited),
    tighten("env.path", Order::Ranks(&[&["host"], &["system"]])),
    tighten("net.timeout", Order::Ceiling),
    tighten("net.max_body_bytes", Order::Ceiling),
    tighten("net.redirects", Order::Ranks(&[&["checked"], &["same_host"], &["none"]])),
    tighten("net.methods", Order::Grants),
    tighten("net.headers", Order::Ranks(&[&["any"], &["safe"]])),
    repeat("net.brace_sanitise", Order::Unordered),
    tighten("limits.time", Order::Ceiling),
    tighten("limits.time_max", Order::Ceiling),
    tighten("limits.output_bytes", Order::Ceiling),
    tighten("limits.reply_bytes", Order::Ceiling),
    tighten("limits.read_bytes", Order::Ceiling),
    tighten("limits.memory_bytes", Order::Ceiling),
    tighten("limits.processes", Order::Ceiling),
    tighten("limits.file_bytes", Order::Ceiling),
    tighten("audit.on_failure", Order::Ranks(&[&["warn"], &["deny_writes"], &["deny_all"]])),
    tighten("audit.mirror", TIGHT_ON),
    repeat("audit.view", Order::Unordered),
    tighten("audit.durable", TIGHT_ON),
    tighten("defence.action", Order::Ranks(&[&["alert"], &["suspend"], &["terminate"]])),
    tighten("defence.violations_per_minute", Order::Ceiling),
    tighten("config.unknown", Order::Ranks(&[&["warn"], &["error"]])),
    repeat("rbac.match", Order::Unordered),
    refuse("session.id_format", Order::Ranks(&[&["derived", "timestamp"], &["random"]])),
    tighten("memory.reads", Order::Ranks(&[&["open"], &["checked"]])),
    repeat("git.checkpoint", Order::Ranks(&[&["commit_on_branch"], &["hidden_ref"]])),
    tighten("git.require_checkpoint", TIGHT_ON),
    repeat("git.branches", Order::Unordered),
    tighten("git.protected_branches", Order::Denials),
    refuse("auth.mode", Order::Ranks(&[&["open"], &["token"]])),
    refuse("auth.jwt.trust", Order::Ranks(&[&["upstream"], &["verify"]])),
    tighten("auth.jwt.require_email_verified", TIGHT_ON),
    refuse("auth.operators", Order::Grants),
    refuse("approvals.expires", Order::Ceiling),
    tighten("approvals.by_client", Order::Ranks(&[&["true"], &["stdio"], &["false"]])),
    refuse("server.allowed_hosts", Order::Grants),
    refuse("server.allowed_origins", Order::Grants),
    refuse("server.xff", Order::Ranks(&[&["leftmost"], &["rightmost"]])),
    refuse("server.rate_limit.per_second", Order::Ceiling),
    refuse("server.rate_limit.burst", Order::Ceiling),
    refuse("server.trusted_proxies", Order::Grants),
    refuse("a2a.max_call_depth", Order::Ceiling),
    tighten("mcp.expose", Order::Ranks(&[&["all"], &["listed"]])),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use crate::shape::Shape;

    fn shape_of(key: &str) -> &'static Shape {
        key.split('.')
            .fold(schema::shape(), |shape, step| &shape.field(step).unwrap_or_else(|| panic!("{key}")).shape)
    }

    /// What a value may say, where it says one word or `true` or `false`.
    fn words_of(shape: &Shape) -> Vec<&str> {
        match shape {
            Shape::Bool => vec!["true", "false"],
            Shape::Words(words) => words.iter().map(String::as_str).collect(),
            Shape::Choice(shapes) => shapes.iter().flat_map(words_of).collect(),
            shape => panic!("{shape:?}"),
        }
    }

    #[test]
    fn every_row_names_a_key_and_ranks_all_its_words() {
        for row in ROWS {
            match (row.order, shape_of(row.key)) {
                (Order::Ranks(ranks), Shape::Words(_) | Shape::Choice(_)) => {
                    let mut ranked: Vec<_> = ranks.concat();
                    let mut known = words_of(shape_of(row.key));
                    ranked.sort_unstable();
                    known.sort_unstable();
                    assert_eq!(ranked, known, "{}", row.key);
                }
                (Order::Switch { .. }, Shape::Bool)
                | (Order::Ceiling, Shape::Integer(_) | Shape::Period)
                | (Order::Grants | Order::Programs | Order::Denials | Order::Rules, Shape::List(_))
                | (Order::Inherited, Shape::Choice(_))
                | (Order::Unordered, _) => {}
                (order, shape) => panic!("{}: {order:?} does not fit {shape:?}", row.key),
            }
            assert_eq!(ROWS.iter().filter(|other| other.key == row.key).count(), 1, "{}", row.key);
        }
    }

    #[test]
    fn programs_are_compared_by_what_they_come_to() {
        #[track_caller]
        fn check(holds: &str, offered: &str, expected: Comparison) {
            let config = |policy: &str| serde_json::json!({"tools": vambrace_json::own_line::<Json>(policy.as_bytes()).unwrap()});
            let row = row("tools.command_policy.allowlist").unwrap();
            assert_eq!(compare(row, &config(holds), &config(offered)), expected, "{holds} {offered}");
        }
        let empty = r#"{"command_policy": {"allowlist": []}}"#;
        let two = r#"{"command_policy": {"allowlist": ["ls", "cat"]}}"#;
        let bash = r#"{"command_policy": {"allowlist": ["bash"]}}"#;
        check(empty, two, Comparison::Tighter);
        check(two, empty, Comparison::Weaker);
        check(empty, bash, Comparison::Weaker);
        check(empty, r#"{"command_policy": {"allowlist": ["npm"]}}"#, Comparison::Weaker);
        check(
            r#"{"command_policy": {"allowlist": [], "list": "seed002"}}"#,
            r#"{"command_policy": {"allowlist": ["git"], "list": "seed002"}}"#,
            Comparison::Weaker,
        );
        check(r#"{"command_policy": {"allowlist": [], "empty_means": "block"}}"#, two, Comparison::Weaker);
        check(r#"{"command_policy": {"allowlist": [], "list": "seed002"}}"#, two, Comparison::Tighter);
        check(
            r#"{"whitelisted_binaries": ["bash"], "command_policy": {"allowlist": []}}"#,
            bash,
            Comparison::Weaker,
        );
    }
}
