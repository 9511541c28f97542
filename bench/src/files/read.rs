//! `read_file` of 1 KB and 100 KB: sequential calls over two pipes.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Bench;
use crate::failure::Failure;
use crate::mcp::Server;
use crate::measure::{Turn, take_turns};
use crate::peers::REFERENCE;
use crate::pipes::Pipes;
use crate::place;
use crate::sample;
use crate::table::{Reach, Row};

/// The name, the size, how many rounds, and how much less time than the reference server it should take.
const SIZES: [(&str, usize, usize, f64); 2] =
    [("read_file 1 KB", 1024, 60, 8.0), ("read_file 100 KB", 102_400, 25, 4.0)];
/// Calls in one turn: enough to run as a busy client runs it, few enough that all see the same machine.
const CALLS: usize = 20;

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let (workspace, state) = (bench.place.fresh("read")?, bench.place.fresh("read-state")?);
    let mut rows = Vec::new();
    for (what, n_bytes, n_rounds, less) in SIZES {
        let name = format!("file{n_bytes}.txt");
        place::write(&workspace.join(&name), sample::text(1, n_bytes))?;
        let mut ours = bench.start_ours(&workspace, &state)?;
        let arguments = json!({"path": name});
        let (_, answer) = ours.call("read_file", &arguments)?;
        demand_whole("vambrace", &answer, n_bytes)?;
        let n_answer = ours.last_length();
        let mut long = Pipes::start("echo", &mut bench.echo.command(n_answer), &bench.complaints("echo"))?;
        let mut short = Pipes::start("echo", &mut bench.echo.command(n_bytes), &bench.complaints("echo"))?;
        let mut theirs = bench.start_theirs(&workspace)?;
        let request = format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "read_file", "arguments": arguments}})
        );
        let mut turns = vec![
            calls(&mut ours, "read_file", arguments),
            echoes(&mut long, request.as_bytes()),
            echoes(&mut short, request.as_bytes()),
        ];
        if let Some(theirs) = &mut theirs {
            turns.push(reads(theirs, &workspace, &name, n_bytes)?);
        }
        let medians = take_turns(n_rounds, &mut turns)?;
        let [ours, long, short, rest @ ..] = medians.as_slice() else { continue };
        rows.extend([
            Row::time(what, *ours, "pipe echo, as long as the answer", Some(*long), Reach::Times(3.0)),
            Row::time(what, *ours, "pipe echo, as long as the file", Some(*short), Reach::Nothing),
            Row::time(what, *ours, REFERENCE, rest.first().copied(), Reach::Less(less)),
        ]);
    }
    Ok(rows)
}

fn calls<'a>(server: &'a mut Server, tool: &'static str, arguments: Value) -> Turn<'a> {
    Box::new(move |samples: &mut Vec<Duration>| {
        for _ in 0..CALLS {
            samples.push(server.call(tool, &arguments)?.0);
        }
        Ok(())
    })
}

fn reads<'a>(
    server: &'a mut Server,
    workspace: &Path,
    name: &str,
    n_bytes: usize,
) -> Result<Turn<'a>, Failure> {
    // It wants whole paths, and its own name for reading text.
    let arguments = json!({"path": workspace.join(name)});
    let (_, answer) = server.call("read_text_file", &arguments)?;
    demand_whole(REFERENCE, &answer, n_bytes)?;
    Ok(calls(server, "read_text_file", arguments))
}

fn echoes<'a>(pipes: &'a mut Pipes, request: &'a [u8]) -> Turn<'a> {
    Box::new(move |samples: &mut Vec<Duration>| {
        for _ in 0..CALLS {
            samples.push(pipes.exchange(request)?.0);
        }
        Ok(())
    })
}

/// Whoever sends less than the file has less to do.
fn demand_whole(who: &str, answer: &Value, n_bytes: usize) -> Result<(), Failure> {
    let text = answer.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    if text.len() == n_bytes {
        return Ok(());
    }
    Err(Failure::wrong(who, &format!("read {} bytes of {n_bytes}", text.len()), &answer.to_string()))
}
