//! The two tables of this benchmark: who took how long, and which goals that reaches. Pure.

use std::time::Duration;

use super::contest::{BARE, BUBBLEWRAP, PLAIN, Run};
use crate::table::{Quantity, Reach, Row, grid, times};

const WARM: &str = "warm cage";
const FRESH: &str = "fresh cage";
pub(super) const WARM_DOOR: &str = "warm cage, at the door";
pub(super) const FRESH_DOOR: &str = "fresh cage, at the door";

pub(super) fn find(runs: &[Run], name: &str) -> Option<Duration> {
    runs.iter().find(|run| run.name == name).and_then(|run| run.took.as_ref().ok().copied())
}

/// Whether our own cages have a time. A missing peer is a finding; a table without us is none.
pub(super) fn is_whole(main: &[Run]) -> bool {
    [WARM_DOOR, FRESH_DOOR].iter().all(|name| find(main, name).is_some())
}

/// Everybody, with the ratio to a plain start of the same contest.
pub(super) fn standings(main: &[Run], ordinary: &[Run]) -> String {
    let head = ["one `true`", "takes", "to plain", "to plain without pipes"].map(str::to_owned);
    let mut cells = vec![head];
    for (runs, who) in [(main, ""), (ordinary, ", ordinary user")] {
        let (plain, bare) = (find(runs, PLAIN), find(runs, BARE));
        cells.extend(runs.iter().map(|run| line(run, who, plain, bare)));
    }
    grid(&cells)
}

fn line(run: &Run, who: &str, plain: Option<Duration>, bare: Option<Duration>) -> [String; 4] {
    let name = format!("{}{who}", run.name);
    match &run.took {
        Ok(took) => {
            let ratio = |of: Option<Duration>| {
                let of = of.filter(|of| !of.is_zero());
                of.map_or_else(|| "–".to_owned(), |of| times(took.as_secs_f64() / of.as_secs_f64()))
            };
            [name, Quantity::Time(*took).shown(), ratio(plain), ratio(bare)]
        }
        Err(why) => [name, format!("not run: {why}"), "–".to_owned(), "–".to_owned()],
    }
}

/// The goals of one contest. Without our own time there is nothing to hold against them, and the standings say why.
pub(super) fn goals(who: &str, runs: &[Run]) -> Vec<Row> {
    let goals = [
        (WARM, WARM_DOOR, PLAIN, Reach::Times(1.5)),
        (WARM, WARM_DOOR, BUBBLEWRAP, Reach::Less(5.0)),
        (FRESH, FRESH_DOOR, PLAIN, Reach::Times(4.0)),
        (FRESH, FRESH_DOOR, BUBBLEWRAP, Reach::Less(2.0)),
    ];
    let row = |(what, ours, beside, reach): (&str, &str, &'static str, Reach)| {
        let ours = find(runs, ours)?;
        Some(Row::time(&format!("{what}{who}"), ours, beside, find(runs, beside), reach))
    };
    goals.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> Vec<Run> {
        let times = [(PLAIN, 400), (BARE, 300), (WARM_DOOR, 600), (FRESH_DOOR, 2000)];
        let run = |(name, micros): (&str, u64)| Run {
            name: name.to_owned(),
            took: Ok(Duration::from_micros(micros)),
        };
        times.into_iter().map(run).chain([Run::absent(BUBBLEWRAP, "no user namespaces")]).collect()
    }

    #[test]
    fn everybody_is_in_the_standings_also_who_did_not_run() {
        let table = standings(&runs(), &[Run::absent(WARM_DOOR, "not root")]);
        for expected in ["| 600 µs", "| 1.5 ×", "| 2 ×", "not run: no user namespaces", "not run: not root"]
        {
            assert!(table.contains(expected), "{expected}: {table}");
        }
        assert_eq!(table.lines().count(), 8);
    }

    #[test]
    fn goals_without_a_peer_say_so_and_goals_without_us_are_not_there() {
        let table = crate::table::markdown(&goals("", &runs()));
        let verdicts: Vec<_> =
            table.lines().skip(2).filter_map(|line| line.split('|').nth(7)).map(str::trim).collect();
        assert_eq!(verdicts, ["reached", "peer missing", "missed", "peer missing"]);
        assert!(goals("", &[]).is_empty());
        assert!(is_whole(&runs()) && !is_whole(&[]) && !is_whole(&[Run::absent(WARM_DOOR, "no")]));
    }
}
