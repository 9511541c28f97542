//! How much goes through: calls in a second with 16 under way, and bytes in a second of long pages.

use std::time::Duration;

use super::fetcher::{Fetcher, Wish};
use super::site::Page;
use super::{Bench, curl};
use crate::failure::Failure;
use crate::measure::{Turn, take_turns};
use crate::peers::FETCH_SERVER;
use crate::table::{Quantity, Reach, Row};

const AT_ONCE: usize = 16;
const CROWD: &str = "curl, 16 processes";
const PARALLEL: &str = "curl, one process, 16 at once";

/// Calls of the page of 10 KB, 16 at once.
pub(super) fn calls(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = calls_of(bench, "web_fetch 10 KB, 16 at once", Wish::Raw)?;
    rows.extend(calls_of(bench, "fetch_url 10 KB, 16 at once", Wish::Readable)?);
    Ok(rows)
}

fn calls_of(bench: &Bench<'_>, what: &str, wish: Wish) -> Result<Vec<Row>, Failure> {
    // A whole number for each of the 16; fewer where the reference server takes a tenth of a second for each.
    let n_calls = AT_ONCE
        * match wish {
            Wish::Raw => bench.counts.calls_at_once,
            Wish::Readable => bench.counts.calls_at_once.div_ceil(3),
        };
    let mut ours = Fetcher::ours(bench, Page::Small, wish)?;
    let mut theirs = Fetcher::theirs(bench, Page::Small, wish)?;
    let mut turns: Vec<Turn<'_>> = vec![
        timed(move || ours.together(n_calls, AT_ONCE)),
        timed(|| curl::crowd(bench, Page::Small, n_calls, AT_ONCE)),
        timed(|| curl::together(bench, Page::Small, n_calls, AT_ONCE)),
    ];
    if let Some(theirs) = &mut theirs {
        turns.push(timed(|| theirs.together(n_calls, AT_ONCE)));
    }
    let medians = take_turns(bench.counts.flow_rounds, &mut turns)?;
    let rate = |took: Duration| Quantity::Often(per_second(n_calls, took));
    let [ours, crowd, parallel, rest @ ..] = medians.as_slice() else { return Ok(Vec::new()) };
    let row = |beside, theirs: Option<Duration>, reach| Row {
        what: what.to_owned(),
        ours: rate(*ours),
        beside,
        theirs: theirs.map(rate),
        reach,
    };
    Ok(vec![
        row(CROWD, Some(*crowd), Reach::Nothing),
        row(PARALLEL, Some(*parallel), Reach::Nothing),
        row(FETCH_SERVER, rest.first().copied(), Reach::More(2.0)),
    ])
}

/// Bytes of long pages, one after the other.
pub(super) fn bytes(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = bytes_of(bench, "web_fetch 1 MB", Page::Middle)?;
    rows.extend(bytes_of(bench, "web_fetch 10 MB", Page::Large)?);
    Ok(rows)
}

fn bytes_of(bench: &Bench<'_>, what: &str, page: Page) -> Result<Vec<Row>, Failure> {
    let n_pages = bench.counts.long_pages;
    let mut ours = Fetcher::ours(bench, page, Wish::Raw)?;
    let mut theirs = match page {
        Page::Small | Page::Middle => Fetcher::theirs(bench, page, Wish::Raw)?,
        // More than it gives.
        Page::Large => None,
    };
    let mut turns: Vec<Turn<'_>> = vec![
        timed(move || (0..n_pages).map(|_| ours.one()).sum()),
        timed(|| (0..n_pages).map(|_| curl::one(bench, page)).sum()),
        timed(|| Ok(curl::in_a_row(bench, page, n_pages)?.into_iter().sum())),
    ];
    if let Some(theirs) = &mut theirs {
        turns.push(timed(|| (0..n_pages).map(|_| theirs.one()).sum()));
    }
    let medians = take_turns(bench.counts.flow_rounds, &mut turns)?;
    let rate = |took: Duration| Quantity::Flow(per_second(n_pages * page.n_bytes(), took));
    let [ours, each, connection, rest @ ..] = medians.as_slice() else { return Ok(Vec::new()) };
    let row = |beside, theirs: Duration, reach| Row {
        what: what.to_owned(),
        ours: rate(*ours),
        beside,
        theirs: Some(rate(theirs)),
        reach,
    };
    let mut rows =
        vec![row(curl::EACH, *each, Reach::Nothing), row(curl::CONNECTION, *connection, Reach::Nothing)];
    rows.extend(rest.first().map(|theirs| row(FETCH_SERVER, *theirs, Reach::More(2.0))));
    Ok(rows)
}

fn timed<'a>(mut work: impl FnMut() -> Result<Duration, Failure> + 'a) -> Turn<'a> {
    Box::new(move |samples| {
        samples.push(work()?);
        Ok(())
    })
}

/// None at all if nothing took any time, which no clock tells of work that was done.
fn per_second(n_done: usize, took: Duration) -> f64 {
    if took.is_zero() { 0.0 } else { n_done as f64 / took.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_work_by_time() {
        assert_eq!(per_second(32, Duration::from_millis(500)), 64.0);
        assert_eq!(per_second(32, Duration::ZERO), 0.0);
    }
}
