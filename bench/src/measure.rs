//! Fair taking of times: contenders take turns within one run, and the median speaks for each.
//!
//! Knows nothing of what is measured.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The middle one, or the mean of the two middle ones; nothing for no samples.
pub(crate) fn median(samples: &[Duration]) -> Option<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    sorted.get((sorted.len() / 2).checked_sub(1)?).map(|lower| (*lower + upper) / 2)
}

/// The least sample that 99 of 100 do not exceed; nothing for no samples.
pub(crate) fn ninety_ninth(samples: &[Duration]) -> Option<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * 99).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// Takes one or more samples and adds them.
pub(crate) type Turn<'a> = Box<dyn FnMut(&mut Vec<Duration>) -> Result<(), Failure> + 'a>;

/// A contender that repeats one thing.
pub(crate) fn once<'a>(mut work: impl FnMut() -> Result<(), Failure> + 'a) -> Turn<'a> {
    Box::new(move |samples| {
        let start = Instant::now();
        work()?;
        samples.push(start.elapsed());
        Ok(())
    })
}

/// Lets everybody take a turn in each round, and gives the medians in the order of the contenders. The first round is
/// for warming up and does not count. Who begins moves on with each round, so that nobody always follows the same one.
pub(crate) fn take_turns(n_rounds: usize, turns: &mut [Turn<'_>]) -> Result<Vec<Duration>, Failure> {
    let samples = take_samples(n_rounds, turns)?;
    Ok(samples.iter().map(|own| median(own).unwrap_or_default()).collect())
}

/// The same, with every sample of everybody.
pub(crate) fn take_samples(n_rounds: usize, turns: &mut [Turn<'_>]) -> Result<Vec<Vec<Duration>>, Failure> {
    let mut samples = vec![Vec::new(); turns.len()];
    for round in 0..=n_rounds {
        for place in order(round, turns.len()) {
            if let (Some(turn), Some(own)) = (turns.get_mut(place), samples.get_mut(place)) {
                turn(own)?;
            }
        }
        if round == 0 {
            samples.iter_mut().for_each(Vec::clear);
        }
    }
    Ok(samples)
}

fn order(round: usize, n_turns: usize) -> impl Iterator<Item = usize> {
    (0..n_turns).map(move |place| (place + round) % n_turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(micros: &[u64], expected: Option<u64>) {
        let samples: Vec<Duration> = micros.iter().copied().map(Duration::from_micros).collect();
        assert_eq!(median(&samples), expected.map(Duration::from_micros), "{micros:?}");
    }

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        check(&[], None);
        check(&[7], Some(7));
        check(&[9, 1], Some(5));
        check(&[3, 1000, 1], Some(3));
        check(&[4, 2, 1000, 0], Some(3));
    }

    #[track_caller]
    fn check_ninety_ninth(n_samples: u64, expected: Option<u64>) {
        let samples: Vec<Duration> = (1..=n_samples).rev().map(Duration::from_micros).collect();
        assert_eq!(ninety_ninth(&samples), expected.map(Duration::from_micros), "{n_samples}");
    }

    #[test]
    fn one_of_a_hundred_may_be_slower() {
        check_ninety_ninth(0, None);
        check_ninety_ninth(1, Some(1));
        check_ninety_ninth(99, Some(99));
        check_ninety_ninth(100, Some(99));
        check_ninety_ninth(101, Some(100));
        check_ninety_ninth(1000, Some(990));
    }

    #[test]
    fn everybody_takes_a_turn_in_each_round_and_begins_in_turn() {
        let rows: Vec<Vec<usize>> = (0..4).map(|round| order(round, 3).collect()).collect();
        assert_eq!(rows, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
        assert_eq!(order(5, 0).count(), 0);
    }

    #[test]
    fn the_first_round_does_not_count() {
        let mut n = 0;
        let turn: Turn<'_> = Box::new(|samples: &mut Vec<Duration>| {
            n += 1;
            samples.push(Duration::from_secs(if n == 1 { 100 } else { 2 }));
            Ok(())
        });
        assert_eq!(take_turns(1, &mut [turn]).unwrap(), [Duration::from_secs(2)]);
        assert_eq!(n, 2);
    }
}
