//! One call after the other for the page of 10 KB: the median, and what 99 of 100 stay within.

use std::time::Duration;

use super::fetcher::{Fetcher, Wish};
use super::site::Page;
use super::{Bench, curl};
use crate::failure::Failure;
use crate::measure::{Turn, median, ninety_ninth, take_samples};
use crate::peers::FETCH_SERVER;
use crate::table::{Reach, Row};

type Summary = (&'static str, fn(&[Duration]) -> Option<Duration>);
const SUMMARIES: [Summary; 2] = [("median", median), ("99 of 100", ninety_ninth)];

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = contest(bench, "web_fetch 10 KB", Wish::Raw, Reach::Times(1.0))?;
    rows.extend(contest(bench, "fetch_url 10 KB", Wish::Readable, Reach::Nothing)?);
    Ok(rows)
}

/// `beside_curl` is what a call should take beside a process of curl's.
fn contest(bench: &Bench<'_>, what: &str, wish: Wish, beside_curl: Reach) -> Result<Vec<Row>, Failure> {
    let counts = bench.counts;
    let mut ours = Fetcher::ours(bench, Page::Small, wish)?;
    let mut theirs = Fetcher::theirs(bench, Page::Small, wish)?;
    let mut turns: Vec<Turn<'_>> = vec![
        repeated(counts.calls, move || ours.one()),
        repeated(counts.calls, || curl::one(bench, Page::Small)),
        Box::new(|samples: &mut Vec<Duration>| {
            samples.extend(curl::in_a_row(bench, Page::Small, counts.calls)?);
            Ok(())
        }),
    ];
    if let Some(theirs) = &mut theirs {
        turns.push(repeated(counts.calls, || theirs.one()));
    }
    let samples = take_samples(counts.latency_rounds, &mut turns)?;
    let [ours, each, connection, rest @ ..] = samples.as_slice() else { return Ok(Vec::new()) };
    let rows = SUMMARIES.into_iter().flat_map(|(name, of)| {
        let what = format!("{what}, {name}");
        let ours = of(ours).unwrap_or_default();
        [
            Row::time(&what, ours, curl::EACH, of(each), beside_curl),
            Row::time(&what, ours, curl::CONNECTION, of(connection), Reach::Nothing),
            Row::time(&what, ours, FETCH_SERVER, rest.first().and_then(|own| of(own)), Reach::Less(2.0)),
        ]
    });
    Ok(rows.collect())
}

fn repeated<'a>(n_calls: usize, mut call: impl FnMut() -> Result<Duration, Failure> + 'a) -> Turn<'a> {
    Box::new(move |samples| {
        for _ in 0..n_calls {
            samples.push(call()?);
        }
        Ok(())
    })
}
