//! Every secret that the configuration holds, for the redactor. It knows sections and nothing about how secrets are
//! sought. A new field of type `SecretText` or `ConnectionUrl` belongs here; a test holds the two together.

use std::collections::BTreeMap;

use vambrace_redact::{KnownEnv, KnownValue, known_from_environment};
use vambrace_types::Secret;

use crate::section::{Config, McpAuth};
use crate::{ConnectionUrl, SecretText};

pub(super) fn secrets(config: &Config) -> Vec<KnownValue> {
    let mut known = Known::default();
    known.of_callers(config);
    known.of_services(config);
    known.of_tools(config);
    known.0
}

#[derive(Default)]
struct Known(Vec<KnownValue>);

impl Known {
    fn of_callers(&mut self, config: &Config) {
        self.text("internal_token", config.auth.internal_token.as_ref());
        for key in &config.api_keys.0 {
            self.text(&format!("api-key-{}", key.caller_id), key.secret.as_ref());
        }
        if let Some(place) = config.auth.jwt.jwks.as_deref().filter(|place| place.contains("://")) {
            self.address_text("auth-jwt-jwks", place);
        }
        let slack = &config.slack;
        self.text("slack-bot-token", slack.bot_token.as_ref());
        self.text("slack-signing-secret", slack.signing_secret.as_ref());
        self.text("slack-app-token", slack.app_token.as_ref());
        self.text("slack-bridge-api-key", slack.bridge_api_key.as_ref());
    }

    fn of_services(&mut self, config: &Config) {
        self.text("llm-api-key", config.llm.api_key.as_ref());
        self.text("anthropic-api-key", config.anthropic.api_key.as_ref());
        for (name, value) in &config.anthropic.extra_headers {
            self.header(name, value);
        }
        self.text("redis-password", config.redis.password.as_ref());
        self.text("langfuse-public-key", config.langfuse.public_key.as_ref());
        self.text("langfuse-secret-key", config.langfuse.secret_key.as_ref());
        self.text("keycloak-client-secret", config.keycloak.client_secret.as_ref());
        self.address("postgres-url", config.postgres.url.as_ref());
        self.address("knowledge-store-url", config.knowledge.store.url.as_ref());
        self.address("state-memory", Some(&config.state.memory));
        self.address("state-limits", Some(&config.state.limits));
        for sink in &config.audit.sinks {
            self.text("audit-sink-token", sink.token.as_ref());
        }
    }

    fn of_tools(&mut self, config: &Config) {
        for (name, value) in &config.secrets.env {
            self.text(name, Some(value));
        }
        for tool in &config.tools.declared {
            self.environment(&tool.env);
            for (name, value) in &tool.headers {
                self.header(name, value);
            }
        }
        for server in &config.mcp.servers {
            if let Some(command) = &server.command {
                self.environment(&command.env);
            }
            if let Some(McpAuth { token, password, .. }) = &server.auth {
                self.text(&format!("mcp-{}-token", server.name), token.as_ref());
                self.text(&format!("mcp-{}-password", server.name), password.as_ref());
            }
        }
    }

    fn text(&mut self, name: &str, value: Option<&SecretText>) {
        if let Some(value) = value {
            self.0.push(KnownValue { name: name.to_owned(), value: value.secret().clone() });
        }
    }

    /// Variables of programs are judged as our own are: `production` is no secret.
    fn environment(&mut self, vars: &BTreeMap<String, SecretText>) {
        let vars = vars.iter().map(|(name, value)| (name.clone(), value.secret().expose().clone()));
        self.0.extend(known_from_environment(vars, KnownEnv::All));
    }

    /// A header may say first how its secret is meant (`Bearer …`), and the secret may turn up without that word. What
    /// is written in every program, such as a media type, is no secret: cutting it out would only spoil answers.
    fn header(&mut self, name: &str, value: &SecretText) {
        const HARMLESS: [&str; 6] =
            ["accept", "accept-encoding", "accept-language", "content-type", "user-agent", "cache-control"];
        if HARMLESS.contains(&name.to_ascii_lowercase().as_str()) {
            return;
        }
        // What a call fills in (`{{name}}`) is no part of a secret; what stands around it may be one.
        for piece in value.secret().expose().split("{{") {
            let piece = piece.split_once("}}").map_or(piece, |(_, behind)| behind).trim();
            self.part(name, piece);
            if let Some((_, secret)) = piece.split_once(' ') {
                self.part(name, secret);
            }
        }
    }

    /// An address is secret for what it carries: user and password before `@`, and a query.
    fn address(&mut self, name: &str, value: Option<&ConnectionUrl>) {
        if let Some(value) = value {
            self.address_text(name, value.secret().expose());
        }
    }

    fn address_text(&mut self, name: &str, text: &str) {
        let (plain, query) = text.split_once('?').unwrap_or((text, ""));
        let authority = plain.split_once("://").map_or(plain, |(_, rest)| rest);
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        if user.is_empty() && query.is_empty() {
            return;
        }
        self.part(name, text);
        self.part(name, query);
        if let Some((_, password)) = user.split_once(':') {
            self.part(name, password);
        }
    }

    fn part(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.0.push(KnownValue { name: name.to_owned(), value: Secret::new(text.to_owned()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Where the sections stand. Every field of theirs that holds a secret counts.
    const SECTIONS: [&str; 11] = [
        include_str!("../section/agent.rs"),
        include_str!("../section/audit.rs"),
        include_str!("../section/auth.rs"),
        include_str!("../section/declared.rs"),
        include_str!("../section/io.rs"),
        include_str!("../section/knowledge.rs"),
        include_str!("../section/scope.rs"),
        include_str!("../section/server.rs"),
        include_str!("../section/services.rs"),
        include_str!("../section/tools.rs"),
        include_str!("../section/upstream.rs"),
    ];

    const FIELDS: [&str; 24] = [
        "/auth/internal_token",
        "/api_keys/0/secret",
        "/slack/bot_token",
        "/slack/signing_secret",
        "/slack/app_token",
        "/slack/bridge_api_key",
        "/llm/api_key",
        "/anthropic/api_key",
        "/anthropic/extra_headers/X-Auth",
        "/redis/password",
        "/langfuse/public_key",
        "/langfuse/secret_key",
        "/keycloak/client_secret",
        "/postgres/url",
        "/knowledge/store/url",
        "/state/memory",
        "/state/limits",
        "/audit/sinks/0/token",
        "/secrets/env/deploy",
        "/tools/declared/0/env/DEPLOY_KEY",
        "/tools/declared/0/headers/Authorization",
        "/mcp/servers/0/command/env/DEPLOY_KEY",
        "/mcp/servers/0/auth/token",
        "/mcp/servers/0/auth/password",
    ];

    fn filled(text: impl Fn(usize) -> String) -> Config {
        let mut tree = json!({
            "auth": {"internal_token": ""}, "api_keys": [{"caller_id": "ops", "secret": ""}],
            "slack": {"bot_token": "", "signing_secret": "", "app_token": "", "bridge_api_key": ""},
            "llm": {"api_key": ""}, "anthropic": {"api_key": "", "extra_headers": {"X-Auth": ""}},
            "redis": {"password": ""}, "langfuse": {"public_key": "", "secret_key": ""},
            "keycloak": {"client_secret": ""}, "postgres": {"url": ""}, "knowledge": {"store": {"url": ""}},
            "state": {"memory": "", "limits": ""}, "audit": {"sinks": [{"kind": "http", "token": ""}]},
            "secrets": {"env": {"deploy": ""}},
            "tools": {"declared": [{"name": "d", "kind": "http", "env": {"DEPLOY_KEY": ""}, "headers": {"Authorization": ""}}]},
            "mcp": {"servers": [{"name": "wiki", "command": {"path": "w", "env": {"DEPLOY_KEY": ""}},
                                 "auth": {"token": "", "password": ""}}]},
        });
        for (number, field) in FIELDS.iter().enumerate() {
            *tree.pointer_mut(field).unwrap() = json!(text(number));
        }
        serde_json::from_value(tree).unwrap()
    }

    fn found(config: &Config) -> Vec<String> {
        secrets(config).iter().map(|known| known.value.expose().clone()).collect()
    }

    #[test]
    fn every_secret_of_the_configuration_is_known() {
        let holds_secret = |line: &&str| {
            line.trim_start().starts_with("pub ")
                && (line.contains("SecretText") || line.contains("ConnectionUrl"))
        };
        let n_fields = SECTIONS.iter().flat_map(|text| text.lines()).filter(holds_secret).count();
        assert_eq!(n_fields, FIELDS.len(), "a field that holds a secret came or went");
        let is_address =
            |number: usize| FIELDS[number].contains("/state/") || FIELDS[number].ends_with("/url");
        let word = |number: usize| format!("qz{number}-Horse-{number}-battery");
        let all = found(&filled(|number| match is_address(number) {
            true => format!("postgres://user:{}@db/x", word(number)),
            false => word(number),
        }));
        for (number, field) in FIELDS.iter().enumerate() {
            assert!(all.contains(&word(number)), "{field}");
        }
    }

    #[test]
    fn what_is_no_secret_is_not_taken_for_one() {
        assert_eq!(found(&Config::default()), Vec::<String>::new());
        let harmless: Config = serde_json::from_value(json!({
            "postgres": {"url": "postgres://db.example/name"},
            "tools": {"declared": [{"name": "d", "kind": "http", "env": {"NODE_ENV": "production"},
                                    "headers": {"Content-Type": "application/json", "X-City": "{{the_city}}"}}]},
        }))
        .unwrap();
        assert_eq!(found(&harmless), Vec::<String>::new());
    }

    #[test]
    fn the_secret_part_of_a_longer_text_is_known_too() {
        let config: Config = serde_json::from_value(json!({
            "postgres": {"url": "postgres://user:pass-word-1@db/name?sslkey=hidden-key"},
            "auth": {"jwt": {"jwks": "http://user:pass-word-2@keys.example/set"}},
            "anthropic": {"extra_headers": {"Authorization": "Bearer qz-horse-battery"}},
            "tools": {"declared": [{"name": "d", "kind": "http", "headers": {"X-Key": "qz-camel-{{city}} saddle-bag"}}]},
        }))
        .unwrap();
        let all = found(&config);
        for part in
            ["pass-word-1", "pass-word-2", "sslkey=hidden-key", "qz-horse-battery", "qz-camel-", "saddle-bag"]
        {
            assert!(all.iter().any(|known| known == part), "{part}");
        }
    }
}
