//! Calls in a second at 16 connections, through every door, beside the echo.

use std::time::Duration;

use serde_json::json;

use super::request::{Request, Target};
use super::{Bench, Server, load};
use crate::failure::Failure;
use crate::measure::{Turn, take_turns};
use crate::table::{Quantity, Reach, Row};

const CONNECTIONS: usize = 16;
const ECHO: &str = "axum echo";

/// What is called through which door, the goal first.
fn calls(target: &Target) -> Vec<(&'static str, Request, Reach)> {
    let file = json!({"path": "a.txt"});
    let count = json!({"path": "a.txt", "regex": "a"});
    vec![
        ("MCP, read_file 1 KB", target.mcp("read_file", &file, "\"content\":"), Reach::More(0.5)),
        ("MCP, count_matches", target.mcp("count_matches", &count, "\"count\":"), Reach::Nothing),
        ("REST, read_file 1 KB", target.rest("read_file", &file, "\"content\":"), Reach::More(0.5)),
        ("A2A, read_file 1 KB", target.a2a("read_file", &file, "\"content\":"), Reach::Nothing),
    ]
}

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let (ours, echo) = (Server::ours(bench, "calls")?, Server::echo(bench)?);
    let calls = calls(&ours.target);
    let file = json!({"path": "a.txt"});
    let plain = echo.target.echo("read_file", &file, "\"name\":\"read_file\"");
    let mut turns: Vec<Turn<'_>> = vec![turn(bench, ECHO, &echo, &plain)];
    turns.extend(calls.iter().map(|(what, request, _)| turn(bench, what, &ours, request)));
    let medians = take_turns(bench.counts.rounds, &mut turns)?;
    let [echo, ours @ ..] = medians.as_slice() else { return Ok(Vec::new()) };
    let rate = |took: &Duration| Quantity::Often(per_second(CONNECTIONS * bench.counts.calls, *took));
    let rows = calls.iter().zip(ours).map(|((what, _, reach), took)| Row {
        what: format!("{what}, {CONNECTIONS} connections"),
        ours: rate(took),
        beside: ECHO,
        theirs: Some(rate(echo)),
        reach: *reach,
    });
    Ok(rows.collect())
}

fn turn<'a>(bench: &'a Bench<'_>, who: &'a str, server: &'a Server, request: &'a Request) -> Turn<'a> {
    Box::new(move |samples| {
        let done = load::together(server.target.address, request, CONNECTIONS, bench.counts.calls);
        let took = bench.runtime.block_on(done);
        samples.push(took.map_err(|problem| Failure::wrong(who, "was not answered", &problem.to_string()))?);
        Ok(())
    })
}

fn per_second(n: usize, took: Duration) -> f64 {
    if took.is_zero() { 0.0 } else { n as f64 / took.as_secs_f64() }
}
