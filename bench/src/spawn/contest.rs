//! Who takes part, and what came of it: a time, or the reason why there is none.
//!
//! Nobody is left out silently: who cannot run here stays in the list with what it said.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::measure::{Turn, take_turns};

pub(super) const PLAIN: &str = "plain start";
pub(super) const BARE: &str = "plain start without pipes";
pub(super) const BUBBLEWRAP: &str = "bubblewrap";

/// Samples in one turn, for who takes a thousandth of a second, and for who takes half a second.
pub(super) const QUICK: usize = 10;
pub(super) const SLOW: usize = 1;

pub(super) struct Entrant<'a> {
    pub(super) name: &'static str,
    pub(super) turn: Result<Turn<'a>, String>,
}

/// What came of one entrant.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) took: Result<Duration, String>,
}

impl Run {
    pub(super) fn absent(name: &str, why: impl Into<String>) -> Run {
        Run { name: name.to_owned(), took: Err(why.into()) }
    }
}

/// Lets those who can run take turns.
pub(super) fn hold(n_rounds: usize, entrants: Vec<Entrant<'_>>) -> Result<Vec<Run>, Failure> {
    let (mut turns, mut runs) = (Vec::new(), Vec::new());
    for entrant in entrants {
        let took = match entrant.turn {
            Ok(turn) => {
                turns.push(turn);
                Ok(Duration::ZERO)
            }
            Err(why) => {
                println!("Not run: {}: {why}", entrant.name);
                Err(complaint(&why).unwrap_or(why))
            }
        };
        runs.push(Run { name: entrant.name.to_owned(), took });
    }
    let mut medians = take_turns(n_rounds, &mut turns)?.into_iter();
    for took in runs.iter_mut().filter_map(|run| run.took.as_mut().ok()) {
        *took = medians.next().unwrap_or_default();
    }
    Ok(runs)
}

/// An entrant of ours: `prepare` is not measured, `work` is.
pub(super) fn work<'a, P>(
    name: &'static str,
    mut prepare: impl FnMut() -> Result<P, Failure> + 'a,
    mut work: impl FnMut(P) -> Result<(), Failure> + 'a,
) -> Entrant<'a> {
    let turn: Turn<'a> = Box::new(move |samples| {
        for _ in 0..QUICK {
            let prepared = prepare()?;
            let start = Instant::now();
            work(prepared)?;
            samples.push(start.elapsed());
        }
        Ok(())
    });
    Entrant { name, turn: Ok(turn) }
}

/// A program that must succeed, with its outputs caught as our tools catch them.
pub(super) fn command<'a>(
    name: &'static str,
    n_samples: usize,
    make: impl Fn() -> Command + 'a,
) -> Entrant<'a> {
    if let Err(why) = complete(&mut make()) {
        return Entrant { name, turn: Err(why) };
    }
    let turn: Turn<'a> = Box::new(move |samples| {
        for _ in 0..n_samples {
            let mut command = make();
            let start = Instant::now();
            let done = complete(&mut command);
            samples.push(start.elapsed());
            done.map_err(|why| Failure::wrong(name, "failed", &why))?;
        }
        Ok(())
    });
    Entrant { name, turn: Ok(turn) }
}

/// The same without any pipe.
pub(super) fn bare<'a>(name: &'static str, make: impl Fn() -> Command + 'a) -> Entrant<'a> {
    let prepare = move || Ok(make());
    work(name, prepare, move |mut command| {
        let status = command.status().map_err(Failure::start(name))?;
        status.success().then_some(()).ok_or_else(|| Failure::wrong(name, "failed", &status.to_string()))
    })
}

fn complete(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|problem| problem.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(complaint(&String::from_utf8_lossy(&output.stderr)).unwrap_or_else(|| output.status.to_string()))
}

/// The first thing that a program complains about, fit for a cell of a table. Warnings are not what stopped it.
fn complaint(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_warning = |line: &&str| line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("warning"));
    let line = lines().find(|line| !is_warning(line)).or_else(|| lines().next())?;
    Some(line.chars().map(|letter| if letter == '|' { '/' } else { letter }).take(120).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_one_short_line_that_breaks_no_table() {
        assert_eq!(complaint("\n  a | b \nmore\n").as_deref(), Some("a / b"));
        assert_eq!(complaint(&"é".repeat(500)).map(|line| line.chars().count()), Some(120));
        assert_eq!(complaint("WARNING: slow\nno: such file\n").as_deref(), Some("no: such file"));
        assert_eq!(complaint("Warning: only this\n").as_deref(), Some("Warning: only this"));
        assert_eq!(complaint(" \n"), None);
    }

    #[test]
    fn who_cannot_run_stays_in_the_list_and_moves_nobody_elses_time() {
        let steady = |millis| -> Turn<'static> {
            Box::new(move |samples: &mut Vec<Duration>| {
                samples.push(Duration::from_millis(millis));
                Ok(())
            })
        };
        let entrants = vec![
            Entrant { name: "a", turn: Ok(steady(3)) },
            Entrant { name: "b", turn: Err("no".to_owned()) },
            Entrant { name: "c", turn: Ok(steady(7)) },
        ];
        let runs = hold(2, entrants).unwrap();
        let seen: Vec<_> = runs.iter().map(|run| (run.name.as_str(), run.took.clone())).collect();
        let [three, seven] = [3, 7].map(Duration::from_millis);
        assert_eq!(seen, [("a", Ok(three)), ("b", Err("no".to_owned())), ("c", Ok(seven))]);
    }

    #[test]
    fn a_program_that_fails_says_why_and_one_that_is_not_there_too() {
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo broken >&2; exit 3"]);
        assert_eq!(complete(&mut fails), Err("broken".to_owned()));
        assert!(command("x", 1, || Command::new("/nonexistent/program")).turn.is_err());
        assert!(command("x", 1, || Command::new("true")).turn.is_ok());
    }
}
