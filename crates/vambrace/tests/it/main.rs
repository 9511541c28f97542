//! The real binary, from outside: what a script, an MCP client or an attacker sees. Nothing here knows a crate of ours.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly"
)]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "only a process of its own shows what a user of the binary sees"
)]

mod a2a;
mod a2a_client;
mod a2a_kit;
mod a2a_news;
mod approvals;
mod commands;
mod config;
mod contexts;
mod denied;
mod doors;
mod dry_commands;
mod hostile;
mod http_admit;
mod http_clients;
mod http_dry_run;
mod http_identity;
mod http_jwks;
mod http_kits;
mod http_limits;
mod http_matrix;
mod http_openapi;
mod http_refused;
mod http_request;
mod http_rest;
mod http_shutdown;
mod http_start;
mod http_world;
mod inspector;
mod json_bombs;
mod kill;
mod known_files;
mod mcp;
mod mcp_client;
mod mcp_hostile;
mod mcp_http;
mod mcp_http_ask;
mod mcp_http_client;
mod memory;
mod net_body;
mod net_declared;
mod net_installs;
mod net_programs;
mod net_rebind;
mod net_redirect;
mod net_secrets;
mod net_ssrf;
mod net_tls;
mod net_world;
mod oversize;
mod programs_backends;
mod programs_bombs;
mod programs_declared;
mod programs_doctor;
mod programs_escape;
mod programs_git;
mod programs_host;
mod programs_kill;
mod programs_lines;
mod programs_names;
mod programs_plant;
mod programs_profiles;
mod programs_project;
mod programs_run;
mod programs_sockets;
mod programs_warm;
mod python;
mod race;
mod record;
mod redact_cmd;
mod secrets;
mod secrets_baseline;
mod secrets_spelled;
mod standing;
mod standing_http;
mod sub_agents;
mod support;
mod tamper;
mod token;
mod tokens;
