//! The whole call as a client has it: `exec_shell` over MCP.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::contest::{Entrant, QUICK};
use super::{Ground, clean};
use crate::failure::Failure;
use crate::mcp::Server;
use crate::measure::Turn;
use crate::place::{self, Place};

const WARM: &str = "warm cage, the whole call";
const FRESH: &str = "fresh cage, the whole call";

pub(super) fn entrants(place: &Place, ground: &Ground) -> Result<Vec<Entrant<'static>>, Failure> {
    let config = place.data.join("spawn-fresh.yaml");
    place::write(&config, "sandbox:\n  reuse: false\n")?;
    Ok(vec![entrant(WARM, place, ground, None), entrant(FRESH, place, ground, Some(&config))])
}

fn entrant(name: &'static str, place: &Place, ground: &Ground, config: Option<&Path>) -> Entrant<'static> {
    // The first call waits until the cage is proved.
    let ready = start(name, place, ground, config).and_then(|mut server| call(&mut server).map(|_| server));
    let mut server = match ready {
        Ok(server) => server,
        Err(failure) => return Entrant { name, turn: Err(failure.what().to_owned()) },
    };
    let turn: Turn<'static> = Box::new(move |samples| {
        for _ in 0..QUICK {
            samples.push(call(&mut server)?);
        }
        Ok(())
    });
    Entrant { name, turn: Ok(turn) }
}

fn start(name: &str, place: &Place, ground: &Ground, config: Option<&Path>) -> Result<Server, Failure> {
    let file = name.replace([' ', ','], "-");
    let state = place.fresh(&format!("spawn-{file}"))?;
    let mut command = clean(&ground.vambrace);
    command.env("HOME", &place.data).current_dir(&ground.workspace);
    command.args(["mcp", "--quiet", "--workspace"]).arg(&ground.workspace).arg("--state").arg(state);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    Server::start("vambrace", &mut command, &place.data.join(format!("{file}.stderr")))
}

fn call(server: &mut Server) -> Result<Duration, Failure> {
    let (took, result) = server.call("exec_shell", &json!({"command": "true"}))?;
    let code = result.pointer("/structuredContent/data/exit_code").and_then(Value::as_i64);
    match code {
        Some(0) => Ok(took),
        Some(_) | None => Err(Failure::wrong("vambrace", "did not run `true`", &result.to_string())),
    }
}
