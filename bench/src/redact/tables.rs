//! The tables of this benchmark. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clean::{Counts, Halves, Hits};
use super::corpus::{Score, Scores};
use super::kinds::KINDS;
use super::scanners::{DETECT_SECRETS, KINGFISHER};
use super::sources::Sort;
use super::speed::{OURS, Outcome, Share, Standing};
use crate::table::{Quantity, digits, grid, times};

const LEAST_RATE: f64 = 200.0;
const LEAST_RATIO: f64 = 3.0;
const LEAST_RECALL: f64 = 0.99;
const MOST_FALSE: f64 = 1.0;
const MOST_MEMORY: u64 = 64_000_000;

/// Everything that was measured.
pub(super) struct Results {
    pub(super) speed: Outcome,
    pub(super) corpus: Option<Scores>,
    pub(super) clean: Counts,
    pub(super) peak: u64,
}

pub(super) fn all(results: &Results) -> String {
    let tables = [
        speed(&results.speed),
        quality(results),
        by_sort(&results.clean),
        by_rule(results),
        kinds(&results.speed),
    ];
    tables.join("\n")
}

/// Everybody on the mixed text.
fn speed(outcome: &Outcome) -> String {
    let head =
        ["mixed text", "MB", "CPU", "MB per CPU second", "MB per second", "Vambrace does", "planted found"];
    let ours = rate_of(outcome, OURS);
    let line = |standing: &Standing| {
        let rate = standing.cost.per_cpu(standing.n_bytes);
        let ratio = ours.filter(|_| rate > 0.0).map_or_else(dash, |ours| times(ours / rate));
        [
            standing.who.to_owned(),
            digits(standing.n_bytes as f64 / 1e6),
            shown(standing.cost.cpu),
            digits(rate),
            digits(standing.cost.per_wall(standing.n_bytes)),
            ratio,
            standing.planted.map_or_else(dash, of_all),
        ]
    };
    let cells: Vec<_> =
        std::iter::once(head.map(str::to_owned)).chain(outcome.standings.iter().map(line)).collect();
    grid(&cells)
}

/// What was set out to reach.
fn quality(results: &Results) -> String {
    let mut cells = vec![["", "Vambrace", KINGFISHER, DETECT_SECRETS, "reach", ""].map(str::to_owned)];
    let mut row = |what: &str, values: [Option<f64>; 3], show: &dyn Fn(f64) -> String, goal: Goal| {
        let [ours, ..] = values;
        let [ours_shown, kingfisher, other] = values.map(|value| value.map_or_else(dash, show));
        let (reach, is_met) = match goal {
            Goal::Least(least) => (format!("≥ {}", show(least)), ours.map(|ours| ours >= least)),
            Goal::Most(most) => (format!("≤ {}", show(most)), ours.map(|ours| ours <= most)),
            Goal::Nothing => (dash(), None),
        };
        let verdict = match (goal, is_met) {
            (Goal::Nothing, _) => "",
            (_, Some(true)) => "reached",
            (_, Some(false)) => "missed",
            (_, None) => "not measured",
        };
        cells.push([what.to_owned(), ours_shown, kingfisher, other, reach, verdict.to_owned()]);
    };
    let rates = [OURS, KINGFISHER, DETECT_SECRETS].map(|who| rate_of(&results.speed, who));
    let [ours, theirs, _] = rates;
    row("MB per CPU second", rates, &digits, Goal::Least(LEAST_RATE));
    let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
    row("… as often as kingfisher", [ratio, None, None], &times, Goal::Least(LEAST_RATIO));
    let planted = [OURS, KINGFISHER, DETECT_SECRETS].map(|who| {
        let standing = results.speed.standings.iter().find(|standing| standing.who == who);
        standing.and_then(|standing| standing.planted).and_then(part)
    });
    row("planted secrets found", planted, &percent, Goal::Nothing);
    let corpus = |pick: fn(&Score) -> Share| {
        let scores = results.corpus.as_ref();
        [
            scores.map(|scores| scores.ours),
            scores.and_then(|scores| scores.kingfisher),
            scores.and_then(|scores| scores.detect_secrets),
        ]
        .map(|score| score.and_then(|score| part(pick(&score))))
    };
    let n_rows = |pick: fn(&Score) -> Share| {
        results
            .corpus
            .as_ref()
            .map_or_else(|| "absent".to_owned(), |scores| pick(&scores.ours).n_all.to_string())
    };
    let what = format!("given positives found ({})", n_rows(|score| score.positives));
    row(&what, corpus(|score| score.positives), &percent, Goal::Least(LEAST_RECALL));
    let what = format!("… without those labelled against sense ({})", n_rows(|score| score.sensible));
    row(&what, corpus(|score| score.sensible), &percent, Goal::Least(LEAST_RECALL));
    let what = format!("given negatives hit ({})", n_rows(|score| score.negatives));
    row(&what, corpus(|score| score.negatives), &percent, Goal::Nothing);
    let clean = &results.clean;
    let halves = [
        (
            "half for tuning",
            clean.ours.tuning,
            clean.kingfisher.map(|halves| halves.tuning),
            clean.n_bytes.tuning,
        ),
        (
            "half never looked at",
            clean.ours.held_out,
            clean.kingfisher.map(|halves| halves.held_out),
            clean.n_bytes.held_out,
        ),
    ];
    for (half, ours, theirs, n_bytes) in halves {
        let per_mb = |count: fn(Hits) -> usize| {
            [Some(ours), theirs, None]
                .map(|hits| hits.map(|hits| count(hits) as f64 / (n_bytes.max(1) as f64 / 1e6)))
        };
        let what = format!("false hits per MB, {half}");
        row(&what, per_mb(|hits| hits.n_false), &small, Goal::Most(MOST_FALSE));
        row("… in tests and key blocks, per MB", per_mb(|hits| hits.n_fixtures), &small, Goal::Nothing);
    }
    let bytes = |bytes: f64| Quantity::Bytes(bytes as u64).shown();
    row(
        "memory for a stream of 2 GB",
        [Some(results.peak as f64), None, None],
        &bytes,
        Goal::Most(MOST_MEMORY as f64),
    );
    grid(&cells)
}

#[derive(Debug, Clone, Copy)]
enum Goal {
    Least(f64),
    Most(f64),
    Nothing,
}

fn by_sort(clean: &Counts) -> String {
    let head = ["clean text", "MB, tuning", "false hits", "MB, held out", "false hits"].map(str::to_owned);
    let line = |(sort, (n_bytes, hits)): (&Sort, &(Halves<usize>, Halves<Hits>))| {
        let name = match sort {
            Sort::Source => "sources of dependencies",
            Sort::Lock => "lock files",
            Sort::Log => "build logs",
        };
        [
            name.to_owned(),
            digits(n_bytes.tuning as f64 / 1e6),
            hits.tuning.n_false.to_string(),
            digits(n_bytes.held_out as f64 / 1e6),
            hits.held_out.n_false.to_string(),
        ]
    };
    let cells: Vec<_> = std::iter::once(head).chain(clean.by_sort.iter().map(line)).collect();
    grid(&cells)
}

/// Every rule that found anything.
fn by_rule(results: &Results) -> String {
    let head =
        ["rule", "given found", "planted found", "false, tuning", "false, held out", "in tests and keys"];
    let mut rules: BTreeMap<&str, (usize, usize, Halves<Hits>)> = BTreeMap::new();
    for (rule, n_found) in results.corpus.iter().flat_map(|scores| &scores.by_rule) {
        rules.entry(rule).or_default().0 = *n_found;
    }
    for (rule, n_found) in &results.speed.by_rule {
        rules.entry(rule).or_default().1 = *n_found;
    }
    for (rule, hits) in &results.clean.by_rule {
        rules.entry(rule).or_default().2 = *hits;
    }
    let line = |(rule, (given, planted, hits)): (&&str, &(usize, usize, Halves<Hits>))| {
        [
            format!("`{rule}`"),
            given.to_string(),
            planted.to_string(),
            hits.tuning.n_false.to_string(),
            hits.held_out.n_false.to_string(),
            (hits.tuning.n_fixtures + hits.held_out.n_fixtures).to_string(),
        ]
    };
    let cells: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rules.iter().map(line)).collect();
    grid(&cells)
}

/// Every kind that was planted, those found least first.
fn kinds(outcome: &Outcome) -> String {
    let head = ["planted kind", "planted", "Vambrace found", "kingfisher found"].map(str::to_owned);
    let mut kinds: Vec<_> = outcome.by_kind.iter().collect();
    kinds.sort_by_key(|(kind, (ours, _))| (ours.n_found, **kind));
    let line = |(kind, (ours, theirs)): (&usize, &(Share, Option<Share>))| {
        [
            KINDS.get(*kind).map_or("?", |kind| kind.name).to_owned(),
            ours.n_all.to_string(),
            ours.n_found.to_string(),
            theirs.map_or_else(dash, |theirs| theirs.n_found.to_string()),
        ]
    };
    let cells: Vec<_> = std::iter::once(head).chain(kinds.into_iter().map(line)).collect();
    grid(&cells)
}

fn rate_of(outcome: &Outcome, who: &str) -> Option<f64> {
    let standing = outcome.standings.iter().find(|standing| standing.who == who)?;
    Some(standing.cost.per_cpu(standing.n_bytes)).filter(|rate| *rate > 0.0)
}

fn part(share: Share) -> Option<f64> {
    (share.n_all > 0).then(|| share.n_found as f64 / share.n_all as f64)
}

fn of_all(share: Share) -> String {
    format!("{} of {}", share.n_found, share.n_all)
}

/// Rounded down, so that nothing looks whole that is not.
fn percent(part: f64) -> String {
    format!("{} %", (part * 1000.0 + 1e-6).floor() / 10.0)
}

fn small(number: f64) -> String {
    format!("{number:.2}")
}

fn shown(time: Duration) -> String {
    Quantity::Time(time).shown()
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::cost::Cost;
    use super::super::speed::LIBRARY;
    use super::*;

    fn standing(who: &'static str, millis: u64, n_found: usize) -> Standing {
        let time = Duration::from_millis(millis);
        let planted = Some(Share { n_found, n_all: 100 });
        Standing { who, n_bytes: 200_000_000, cost: Cost { cpu: time, wall: time }, planted }
    }

    fn results(standings: Vec<Standing>, peak: u64) -> Results {
        let speed = Outcome { standings, by_kind: BTreeMap::new(), by_rule: BTreeMap::new() };
        let clean = Counts {
            n_bytes: Halves { tuning: 10_000_000, held_out: 10_000_000 },
            ours: Halves { tuning: Hits::default(), held_out: Hits { n_false: 11, n_fixtures: 3 } },
            ..Counts::default()
        };
        Results { speed, corpus: None, clean, peak }
    }

    #[track_caller]
    fn check(table: &str, row: &str, expected: &str) {
        let line = table.lines().find(|line| line.starts_with(&format!("| {row}"))).unwrap();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn goals_say_whether_they_are_reached() {
        let table = quality(&results(vec![standing(OURS, 500, 99), standing(KINGFISHER, 1000, 30)], 9 << 20));
        check(&table, "MB per CPU second", "| 400 | 200 | – | ≥ 200 | reached |");
        check(&table, "… as often", "| 2 × | – | – | ≥ 3 × | missed |");
        check(&table, "planted", "| 99 % | 30 % | – | – | |");
        check(&table, "given positives found (absent)", "| – | – | – | ≥ 99 % | not measured |");
        check(&table, "… without those", "| – | – | – | ≥ 99 % | not measured |");
        check(&table, "false hits per MB, half for", "| 0.00 | – | – | ≤ 1.00 | reached |");
        check(&table, "false hits per MB, half never", "| 1.10 | – | – | ≤ 1.00 | missed |");
        check(&table, "memory", "| 9.44 MB | – | – | ≤ 64 MB | reached |");
        assert_eq!([0.98999, 0.99, 1.0].map(percent), ["98.9 %", "99 %", "100 %"]);
    }

    #[test]
    fn everybody_stands_beside_us() {
        let table = speed(&results(vec![standing(OURS, 500, 99), standing(LIBRARY, 250, 99)], 0).speed);
        check(&table, LIBRARY, "| 200 | 250 ms | 800 | 800 | 0.5 × | 99 of 100 |");
    }
}
