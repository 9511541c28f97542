//! From nothing to the first `tools/list`, and the memory that is then resident.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Bench;
use crate::failure::Failure;
use crate::mcp::Server;
use crate::measure::{Turn, median, take_turns};
use crate::peers::REFERENCE;
use crate::pipes::Pipes;
use crate::place;
use crate::resident::resident;
use crate::table::{Quantity, Reach, Row};

const ROUNDS: usize = 13;
const START: &str = "start to first tools/list";
const MOST_TIME: Reach = Reach::Most(Quantity::Time(Duration::from_millis(20)));
const MOST_MEMORY: Reach = Reach::Most(Quantity::Bytes(15_000_000));

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let (workspace, state) = (bench.place.fresh("start")?, bench.place.fresh("start-state")?);
    let new_state = bench.place.data.join("start-new-state");
    let (mut our_memory, mut their_memory, mut echo_memory) = (Vec::new(), Vec::new(), Vec::new());
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|samples: &mut Vec<Duration>| {
            let begin = Instant::now();
            let server = bench.start_ours(&workspace, &state)?;
            finish(server, begin, samples, &mut our_memory)
        }),
        Box::new(|samples: &mut Vec<Duration>| {
            place::make_empty(&new_state)?;
            let begin = Instant::now();
            let server = bench.start_ours(&workspace, &new_state)?;
            finish(server, begin, samples, &mut Vec::new())
        }),
        Box::new(|samples: &mut Vec<Duration>| {
            let begin = Instant::now();
            let mut echo = Pipes::start("echo", &mut bench.echo.command(64), &bench.complaints("echo"))?;
            echo.exchange(b"hello\n")?;
            echo.exchange(b"list\n")?;
            samples.push(begin.elapsed());
            echo_memory.push(resident(echo.process())?);
            Ok(())
        }),
    ];
    if bench.reference.program().is_some() {
        turns.push(Box::new(|samples: &mut Vec<Duration>| {
            let begin = Instant::now();
            match bench.start_theirs(&workspace)? {
                Some(server) => finish(server, begin, samples, &mut their_memory),
                None => Ok(()),
            }
        }));
    }
    let medians = take_turns(ROUNDS, &mut turns)?;
    drop(turns);
    let [ours, new, echo, rest @ ..] = medians.as_slice() else { return Ok(Vec::new()) };
    let memory = |ours: &[u64], beside, theirs: &[u64], reach| Row {
        what: "resident after it".to_owned(),
        ours: Quantity::Bytes(middle(ours).unwrap_or(0)),
        beside,
        theirs: middle(theirs).map(Quantity::Bytes),
        reach,
    };
    Ok(vec![
        Row::time(START, *ours, "pipe echo", Some(*echo), MOST_TIME),
        Row::time(START, *ours, REFERENCE, rest.first().copied(), Reach::Nothing),
        Row::time("the very first start", *new, "pipe echo", Some(*echo), Reach::Nothing),
        memory(&our_memory, "pipe echo", &echo_memory, MOST_MEMORY),
        memory(&our_memory, REFERENCE, &their_memory, Reach::Nothing),
    ])
}

fn finish(
    mut server: Server,
    begin: Instant,
    samples: &mut Vec<Duration>,
    memory: &mut Vec<u64>,
) -> Result<(), Failure> {
    server.ask("tools/list", &json!({}))?;
    samples.push(begin.elapsed());
    memory.push(resident(server.process())?);
    Ok(())
}

fn middle(numbers: &[u64]) -> Option<u64> {
    let as_times: Vec<Duration> = numbers.iter().copied().map(Duration::from_nanos).collect();
    median(&as_times).and_then(|time| u64::try_from(time.as_nanos()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_number() {
        assert_eq!(middle(&[3, 1, 2]), Some(2));
        assert_eq!(middle(&[]), None);
    }
}
