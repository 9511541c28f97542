//! The specifications' own examples, as they stand there, load.

use vambrace_config::section::{AccessName, Isolation, RoleName};

use crate::bench::Bench;

#[track_caller]
fn check(name: &str, text: &str) -> vambrace_config::Loaded {
    let bench = Bench::new()
        .config(name, text)
        .environment("INTERNAL_AUTH_TOKEN", "f8e9d7c6b5a49382")
        .environment("SLACK_SIGNING_SECRET", "signing")
        .environment("A2A_SECRET_ROOT", "ka_root")
        .environment("A2A_SECRET_MONITORING", "ka_monitoring");
    let loaded = bench.loaded();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    loaded
}

#[test]
fn specification_001() {
    let loaded = check("c.yaml", "# config.yaml\nauth:\n  internal_token: ${INTERNAL_AUTH_TOKEN}\n");
    assert_eq!(loaded.config.auth.internal_token.unwrap().secret().expose(), "f8e9d7c6b5a49382");

    let loaded = check(
        "c.yaml",
        "api_keys:\n  ka_secret_abc123:\n    caller_id: root-agent\n    role: write\n  ka_secret_def456:\n    \
         caller_id: external-service\n    role: read  # Read-only (cannot save_to_memory)\n",
    );
    let roles: Vec<_> =
        loaded.config.api_keys.0.iter().map(|key| (key.caller_id.as_str(), key.role)).collect();
    assert_eq!(roles, [("root-agent", RoleName::Write), ("external-service", RoleName::Read)]);

    let loaded = check(
        "c.yaml",
        "auth:\n  internal_token: ${INTERNAL_AUTH_TOKEN}  # Required\n\napi_keys:\n  root-agent: ${A2A_SECRET_ROOT}\n  \
         monitoring: ${A2A_SECRET_MONITORING}\n  # Add other external services as needed\n",
    );
    let keys: Vec<_> = loaded.config.api_keys.0.iter().map(|key| key.caller_id.as_str()).collect();
    assert_eq!(keys, ["root-agent", "monitoring"]);

    let loaded = check(
        "c.yaml",
        "auth:\n  internal_token: \"\"  # Empty or omitted\n\napi_keys: {}  # Empty or omitted\n",
    );
    assert!(loaded.config.auth.internal_token.is_none());
    assert!(loaded.config.api_keys.0.is_empty());

    check("c.yaml", "slack:\n  signing_secret: ${SLACK_SIGNING_SECRET}\n");
    let loaded = check(
        "c.yaml",
        "server:\n  agent_port: 8081\n  slack_bot_port: 8080\n\n  trusted_proxies:\n    - \"10.0.0.0/8\"\n    - \
         \"172.16.0.0/12\"\n    - \"192.168.0.0/16\"\n    - \"203.0.113.50\"     # Specific proxy IP\n",
    );
    assert_eq!(loaded.config.server.trusted_proxies.len(), 4);
    let loaded = check(
        "c.yaml",
        "permissions:\n  groups_claim_path: \"groups\"\n  allowed_emails:\n    - value: \"admin@company.com\"\n      \
         role: \"write\"\n    - value: \"viewer@company.com\"\n      role: \"read\"\n  allowed_groups:\n    - value: \
         \"/google-workspace/devops@company.com\"\n      role: \"write\"\n    - value: \"knowledge-readers\"\n",
    );
    assert_eq!(loaded.config.permissions.allowed_emails[1].role, AccessName::Read);
    assert_eq!(loaded.config.permissions.allowed_groups[1].role, AccessName::Write);
}

#[test]
fn specification_002() {
    let loaded = check(
        "c.json",
        r#"{
  "model": "claude-sonnet-4-5-20250929",
  "system_prompt": "...",
  "tool_safety": {
    "git_enabled": true,
    "command_timeout": 30,
    "firejail_enabled": false
  }
}"#,
    );
    assert_eq!(loaded.config.tool_safety.command_timeout.duration().as_secs(), 30);
    assert_eq!(loaded.config.llm.model.as_deref(), Some("claude-sonnet-4-5-20250929"));
}

#[test]
fn specification_003() {
    let text = r#"{
  "tools": {
    "commandPolicy": {
      "mode": "allowlist",
      "allowlist": ["echo", "cat", "ls", "pwd", "head", "tail",
                     "wc", "grep", "find", "sort", "uniq", "diff",
                     "date", "env", "true", "false", "test",
                     "cargo", "rustc"]
    },
    "urlPolicy": {
      "enabled": true,
      "allowPrivate": false,
      "allowedDomains": ["api.internal.corp"],
      "blockedDomains": ["malicious-site.com"]
    }
  }
}"#;
    let camel = check("c.json", text);
    assert_eq!(camel.config.tools.command_policy.allowlist.len(), 19);
    assert_eq!(camel.config.tools.url_policy.blocked_domains, ["malicious-site.com"]);
    let snake = text
        .replace("commandPolicy", "command_policy")
        .replace("urlPolicy", "url_policy")
        .replace("allowPrivate", "allow_private")
        .replace("allowedDomains", "allowed_domains")
        .replace("blockedDomains", "blocked_domains");
    let snake = check("c.json", &snake);
    assert_eq!(format!("{:?}", snake.config), format!("{:?}", camel.config));
}

#[test]
fn specification_004() {
    let loaded = check(
        "config.json",
        r#"{
  "scope": {
     "service_isolation": "STRICT",
     "shared_paths": ["shared_contracts/", "docs/policies/"],
     "block_patterns": [".env", "secrets/"]
  },
  "tools": {
     "allow_legacy_run_command": false,
     "whitelisted_binaries": ["pytest", "npm", "cargo"]
  },
  "secrets": {
     "redact_patterns": ["sk-...", "ghp-..."]
  }
}"#,
    );
    assert_eq!(loaded.config.scope.service_isolation, Isolation::Strict);
    assert_eq!(loaded.config.tools.whitelisted_binaries, ["pytest", "npm", "cargo"]);
}

/// The whole block of the interface description, with its dots filled in.
#[test]
fn every_section_at_once() {
    let loaded = check("c.yaml", include_str!("every_section.yaml"));
    assert_eq!(loaded.config.tools.declared.len(), 4);
    assert_eq!(loaded.config.mcp.servers.len(), 2);
    assert_eq!(loaded.config.net.dns_server.unwrap().0, "127.0.0.1:5353");
}
