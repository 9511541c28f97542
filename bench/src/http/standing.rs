//! What a server holds: at rest, with a thousand connections that say nothing, and after many calls.

use std::io;

use serde_json::json;

use super::load::{self, Connection};
use super::request::{Request, Target};
use super::{Bench, Server};
use crate::failure::Failure;
use crate::resident::resident;
use crate::table::{Quantity, Reach, Row};

const ECHO: &str = "axum echo";
const CONNECTIONS: usize = 16;
/// More than this between the few calls and the many is a leak: an allocator that settles takes less.
const MOST_GROWTH: f64 = 1.1;

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let (ours, echo) = (Server::ours(bench, "standing")?, Server::echo(bench)?);
    let arguments = json!({"path": "a.txt"});
    let (call, plain) = (
        ours.target.mcp("read_file", &arguments, "\"content\":"),
        echo.target.echo("read_file", &arguments, ""),
    );
    let our_rest = settled(bench, &ours, &call)?;
    let their_rest = settled(bench, &echo, &plain)?;
    let our_idle = idle(bench, &ours, &call)?;
    let their_idle = idle(bench, &echo, &plain)?;
    let after_few = after(bench, &ours, &call, bench.counts.few)?;
    let after_many = after(bench, &ours, &call, bench.counts.many - bench.counts.few)?;
    let row = |what: String, ours: u64, beside, theirs: u64, reach| Row {
        what,
        ours: Quantity::Bytes(ours),
        beside,
        theirs: Some(Quantity::Bytes(theirs)),
        reach,
    };
    let (few, many, n_idle) = (bench.counts.few, bench.counts.many, bench.counts.idle);
    println!("Memory after {few} calls: {after_few} bytes; after {many}: {after_many} bytes.");
    Ok(vec![
        row("memory at rest".to_owned(), our_rest, ECHO, their_rest, Reach::Nothing),
        row(format!("memory with {n_idle} idle connections"), our_idle, ECHO, their_idle, Reach::Nothing),
        row(
            format!("memory after {many} calls"),
            after_many,
            "after 50000 calls",
            after_few,
            Reach::Times(MOST_GROWTH),
        ),
    ])
}

/// What is resident once every thread has answered something.
fn settled(bench: &Bench<'_>, server: &Server, call: &Request) -> Result<u64, Failure> {
    after(bench, server, call, 64 * CONNECTIONS)
}

fn after(bench: &Bench<'_>, server: &Server, call: &Request, n_calls: usize) -> Result<u64, Failure> {
    let mut n_left = n_calls / CONNECTIONS;
    while n_left > 0 {
        let n_now = n_left.min(500);
        let done = load::together(server.target.address, call, CONNECTIONS, n_now);
        bench.runtime.block_on(done).map_err(unanswered)?;
        n_left -= n_now;
    }
    resident(server.process())
}

/// All connections are open and have been used once; the first and the last are still answered.
fn idle(bench: &Bench<'_>, server: &Server, call: &Request) -> Result<u64, Failure> {
    let open = async {
        let mut connections = open_all(&server.target, bench.counts.idle).await?;
        let memory = resident(server.process());
        if let Some(first) = connections.first_mut() {
            first.ask(call).await?;
        }
        if let Some(last) = connections.last_mut() {
            last.ask(call).await?;
        }
        io::Result::Ok(memory)
    };
    bench.runtime.block_on(open).map_err(unanswered)?
}

async fn open_all(target: &Target, n_connections: usize) -> io::Result<Vec<Connection>> {
    let health = target.health();
    let mut connections = Vec::with_capacity(n_connections);
    for _ in 0..n_connections {
        let mut connection = Connection::open(target.address).await?;
        connection.ask(&health).await?;
        connections.push(connection);
    }
    Ok(connections)
}

fn unanswered(problem: io::Error) -> Failure {
    Failure::wrong("a connection", "was not answered", &problem.to_string())
}
