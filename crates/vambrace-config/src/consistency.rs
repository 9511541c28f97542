//! What several keys must say together: the fields that a kind needs, names that refer to each other.
//!
//! It knows sections, not files: places come with the tree, and for the merged settings from their origins.

use std::collections::BTreeSet;

use vambrace_auth::SignatureAlgorithm;

use crate::layer::{Origin, Origins};
use crate::node::{Node, Value};
use crate::problem::{ConfigError, Problem};
use crate::section::Config;

/// Fields of a list's entries that depend on the entry's kind.
struct Kinds {
    list: &'static str,
    tag: &'static str,
    /// What an entry is when it does not say.
    default: &'static str,
    /// Kind, fields it needs, fields it may have.
    kinds: &'static [(&'static str, &'static [&'static str], &'static [&'static str])],
}

const TABLE: [Kinds; 3] = [
    Kinds {
        list: "tools.declared",
        tag: "kind",
        default: "",
        kinds: &[
            ("command", &["binary"], &["args", "env", "secrets"]),
            ("http", &["url"], &["method", "headers", "body_template"]),
            ("inline", &["language", "code"], &["env", "secrets", "memory"]),
            ("mcp", &["server", "tool"], &[]),
        ],
    },
    Kinds {
        list: "audit.sinks",
        tag: "kind",
        default: "",
        kinds: &[("file", &["path"], &[]), ("http", &["url"], &["token"]), ("syslog", &[], &[])],
    },
    Kinds {
        list: "mcp.servers",
        tag: "transport_type",
        default: "command",
        kinds: &[
            ("command", &["command"], &["auth"]),
            ("sse", &["endpoint"], &["auth"]),
            ("streamable", &["endpoint"], &["auth"]),
        ],
    },
];

/// Checks one file's tree, which already has the right shape.
pub(crate) fn check_tree(root: &Node, errors: &mut Vec<ConfigError>) {
    for table in &TABLE {
        let entries = items(root, table.list);
        let mut names = BTreeSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let path = format!("{}[{index}]", table.list);
            check_kind(entry, table, &path, errors);
            if let Some(name) = entry.get("name")
                && let Some(text) = name.as_text()
                && !names.insert(text.to_owned())
            {
                let problem = Problem::Conflict("an earlier entry has the same name".to_owned());
                errors.push(ConfigError::new(&format!("{path}.name"), problem).at(name.at));
            }
        }
    }
    for (index, context) in items(root, "contexts").iter().enumerate() {
        // THREAT: P13, whoever has begun to write who it is for did not mean everybody.
        if let Some(matches) = context.get("match")
            && matches!(matches.value, Value::Null)
        {
            let problem = Problem::Conflict("`match` is empty".to_owned());
            let error = ConfigError::new(&format!("contexts[{index}].match"), problem).at(matches.at);
            errors.push(error.hint("leave it out for everybody whom no earlier context is for"));
        }
    }
    for (index, rule) in items(root, "rules").iter().enumerate() {
        if ["tool", "kind", "path"].iter().all(|name| rule.get(name).is_none()) {
            let problem =
                Problem::Conflict("the rule names neither a `tool` nor a `kind` nor a `path`".to_owned());
            errors.push(ConfigError::new(&format!("rules[{index}]"), problem).at(rule.at));
        }
    }
}

fn items<'n>(root: &'n Node, path: &str) -> &'n [Node] {
    match root.at_path(path).map(|node| &node.value) {
        Some(Value::List(items)) => items,
        Some(_) | None => &[],
    }
}

fn check_kind(entry: &Node, table: &Kinds, path: &str, errors: &mut Vec<ConfigError>) {
    let kind = entry.get(table.tag).and_then(Node::as_text).unwrap_or(table.default);
    let Some((_, needed, optional)) = table.kinds.iter().find(|(name, _, _)| *name == kind) else { return };
    for field in needed.iter().filter(|field| entry.get(field).is_none()) {
        let error = ConfigError::new(&format!("{path}.{field}"), Problem::MissingKey).at(entry.at);
        errors.push(error.hint(format!("{} `{kind}` needs it", table.tag)));
    }
    let of_any_kind =
        |field: &str| table.kinds.iter().any(|(_, n, o)| n.contains(&field) || o.contains(&field));
    let of_this_kind = |field: &str| needed.contains(&field) || optional.contains(&field);
    for other in entry.entries() {
        if of_any_kind(&other.key) && !of_this_kind(&other.key) {
            let problem = Problem::Conflict(format!("the key does not belong to {} `{kind}`", table.tag));
            errors.push(ConfigError::new(&format!("{path}.{}", other.key), problem).at(other.at));
        }
    }
}

/// Checks what the layers say together.
pub(crate) fn check_settings(config: &Config, origins: &Origins) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    let mut conflict =
        |key: &str, reason: String| errors.push(ConfigError::new(key, Problem::Conflict(reason)));
    if config.limits.time > config.limits.time_max {
        // Whoever spoke last is told.
        match origins.of("limits.time_max") {
            Origin::Default => conflict("limits.time", "it is longer than `limits.time_max`".to_owned()),
            Origin::Profile(_) | Origin::File { .. } | Origin::Environment(_) | Origin::Flag => {
                conflict("limits.time_max", "it is shorter than `limits.time`".to_owned());
            }
        }
    }
    if config.server.agent_port == config.server.slack_bot_port {
        conflict("server.slack_bot_port", "the port is the same as `server.agent_port`".to_owned());
    }
    let urls = [("server.public_url", &config.server.public_url), ("a2a.agent_url", &config.a2a.agent_url)];
    for (key, url) in urls {
        let is_url = |url: &str| url.starts_with("http://") || url.starts_with("https://");
        if url.as_deref().is_some_and(|url| !is_url(url)) {
            conflict(key, "it is not an address that begins with http:// or https://".to_owned());
        }
    }
    for (index, host) in config.server.allowed_hosts.iter().enumerate() {
        if host.contains('/') {
            let reason = "it is a name or an address, with or without a port, and no URL".to_owned();
            conflict(&format!("server.allowed_hosts[{index}]"), reason);
        }
    }
    let known = SignatureAlgorithm::ALL.map(SignatureAlgorithm::as_str).join(", ");
    for (index, name) in config.auth.jwt.algorithms.iter().enumerate() {
        // THREAT: P13, with `none` or a shared secret (`HS256`) who knows our public keys could sign.
        if SignatureAlgorithm::parse(name).is_none() {
            let reason = format!("`{name}` is not one of the algorithms with a public key: {known}");
            conflict(&format!("auth.jwt.algorithms[{index}]"), reason);
        }
    }
    for (index, tool) in config.tools.declared.iter().enumerate() {
        // The name is not shown: people put the secret itself there.
        for (variable, _) in
            tool.secrets.iter().filter(|(_, secret)| !config.secrets.env.contains_key(*secret))
        {
            let reason = "there is no secret of this name in `secrets.env`".to_owned();
            conflict(&format!("tools.declared[{index}].secrets.{variable}"), reason);
        }
        if let Some(server) = &tool.server
            && !config.mcp.servers.iter().any(|known| known.name == *server)
        {
            let reason = format!("there is no server `{server}` in `mcp.servers`");
            conflict(&format!("tools.declared[{index}].server"), reason);
        }
    }
    errors
}
