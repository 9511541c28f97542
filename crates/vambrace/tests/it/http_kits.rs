//! The public kits that judge servers: the MCP conformance kit (npm), and schemathesis (PyPI) on our own description.

use std::collections::BTreeSet;

use crate::http_world::{NO_LIMIT, Served};
use crate::support::{World, finish, skip};

/// The kit shows no credential, so the doors are open; its fixtures are there for it alone.
const OPEN: &str = "auth: {mode: open}\n";

/// Runs what one revision requires and gives the names of the scenarios that count, all of them passed.
#[track_caller]
fn conforms(revision: &str, expected: usize) {
    let Some(kit) = std::env::var_os("VAMBRACE_TEST_CONFORMANCE") else {
        return skip(&format!(
            "MCP conformance {revision}: VAMBRACE_TEST_CONFORMANCE is not set (cargo xtask test sets it)"
        ));
    };
    let world = World::new().with_env("VAMBRACE_CONFORMANCE", "mcp");
    let served = Served::with_config(&world, &format!("{OPEN}{NO_LIMIT}"));
    let url = format!("http://{}/mcp", served.address);
    let mut command = world.bare(&kit);
    let ran = finish(
        command.current_dir(world.dir()).args(["server", "--url", &url, "--requirements", revision]),
        b"",
    );
    let told = ran.text();
    let (_, summary) = told.split_once("=== SUMMARY ===").unwrap_or_else(|| panic!("{ran:?}"));
    let (scored, others) = summary.split_once("\nNot scored").unwrap_or((summary, ""));
    let names = |lines: &str, mark: &str| -> BTreeSet<String> {
        let marked = lines.lines().filter_map(|line| line.trim().strip_prefix(mark));
        marked.filter_map(|line| line.trim().split([':', ' ']).next()).map(str::to_owned).collect()
    };
    let not_scored = &names(others, "✗") | &names(others, "✓");
    let failed = &names(scored, "✗") - &not_scored;
    let passed = &names(scored, "✓") - &not_scored;
    assert!(failed.is_empty(), "{revision}: {failed:?}\n{told}\n{}", served.log());
    assert_eq!((passed.len(), ran.code), (expected, 0), "{revision}: {passed:?}\n{told}");
}

#[test]
fn mcp_2025_11_25_conforms() {
    conforms("2025-11-25", 30);
}

#[test]
fn mcp_2026_07_28_conforms() {
    conforms("2026-07-28", 37);
}

/// No address is listed and no name is looked up, so that whatever is made up stays on this machine.
const CONFINED: &str = "\
tools: {url_policy: {allowed_domains: [nothing.invalid]}}
net: {dns_server: \"127.0.0.1:9\"}
";

#[test]
fn the_description_of_the_interface_is_true() {
    let Some(schemathesis) = std::env::var_os("VAMBRACE_TEST_SCHEMATHESIS") else {
        return skip("schemathesis: VAMBRACE_TEST_SCHEMATHESIS is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = Served::with_config(&world, &format!("{NO_LIMIT}{CONFINED}"));
    let settings = world.beside("schemathesis.toml", include_str!("../../../../testdata/schemathesis.toml"));
    let mut command = world.bare(&schemathesis);
    command
        .current_dir(world.dir())
        .args(["--config-file", &settings, "run"])
        .arg(format!("http://{}/openapi.json", served.address));
    command.args(["--header", &format!("X-API-Key:{}", served.token)]);
    // The same cases in every run, and few: the run has a minute.
    command.args(["--seed", "20261116", "--generation-database", "none"]);
    command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--workers", "1"]);
    // Made-up credentials would be guesses, and whoever guesses is made to wait: everything behind would go unasked.
    command.args(["--checks", CHECKS, "--generation-with-security-parameters", "false"]);
    command.args(["--request-timeout", "20", "--no-color"]);
    let ran = finish(&mut command, b"");
    let told = ran.text();
    assert_eq!(ran.code, 0, "{told}\n{}\n{}", ran.stderr, served.log());
    assert!(!told.contains("Rate limited") && told.contains(" passed"), "{told}");
    assert_eq!(served.get("/health").status, 200);
}

/// Answers are as described, whatever is sent.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,unsupported_method";
