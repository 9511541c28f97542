//! What came out: one row per comparison, as a Markdown table that also reads well on a terminal.
//!
//! Pure. Knows nothing of where the numbers come from.

use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    Time(Duration),
    Bytes(u64),
    /// How often in a second.
    Often(f64),
    /// Bytes in a second.
    Flow(f64),
}

impl Quantity {
    fn number(self) -> f64 {
        match self {
            Quantity::Time(time) => time.as_secs_f64(),
            Quantity::Bytes(bytes) => bytes as f64,
            Quantity::Often(rate) | Quantity::Flow(rate) => rate,
        }
    }

    pub(crate) fn shown(self) -> String {
        match self {
            Quantity::Time(time) => {
                let micros = time.as_secs_f64() * 1e6;
                match micros {
                    m if m < 1e3 => format!("{} µs", digits(m)),
                    m if m < 1e6 => format!("{} ms", digits(m / 1e3)),
                    m => format!("{} s", digits(m / 1e6)),
                }
            }
            Quantity::Bytes(bytes) => format!("{} MB", digits(bytes as f64 / 1e6)),
            Quantity::Often(rate) => format!("{}/s", digits(rate)),
            Quantity::Flow(rate) => format!("{} MB/s", digits(rate / 1e6)),
        }
    }
}

/// What we set out to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    /// At most so many times what stands beside.
    Times(f64),
    /// So many times less than what stands beside.
    Less(f64),
    /// At least so many times what stands beside.
    More(f64),
    /// Not above, whatever others do.
    Most(Quantity),
    /// Shown for orientation.
    Nothing,
}

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: Quantity,
    pub(crate) beside: &'static str,
    /// Nothing when the peer is not on this machine.
    pub(crate) theirs: Option<Quantity>,
    pub(crate) reach: Reach,
}

impl Row {
    pub(crate) fn time(
        what: &str,
        ours: Duration,
        beside: &'static str,
        theirs: Option<Duration>,
        reach: Reach,
    ) -> Row {
        let theirs = theirs.map(Quantity::Time);
        Row { what: what.to_owned(), ours: Quantity::Time(ours), beside, theirs, reach }
    }

    fn cells(&self) -> [String; 7] {
        let ratio = self.theirs.filter(|theirs| theirs.number() > 0.0);
        let ratio = ratio.map(|theirs| self.ours.number() / theirs.number());
        let (reach, met) = match self.reach {
            Reach::Times(most) => (format!("≤ {}", digits(most)), ratio.map(|ratio| ratio <= most)),
            Reach::Less(least) => (format!("≤ 1/{}", digits(least)), ratio.map(|ratio| ratio * least <= 1.0)),
            Reach::More(least) => (format!("≥ {}", digits(least)), ratio.map(|ratio| ratio >= least)),
            Reach::Most(most) => (format!("≤ {}", most.shown()), Some(self.ours.number() <= most.number())),
            Reach::Nothing => ("–".to_owned(), None),
        };
        let verdict = match (self.reach, met) {
            (Reach::Nothing, _) => "",
            (_, Some(true)) => "reached",
            (_, Some(false)) => "missed",
            (_, None) => "peer missing",
        };
        [
            self.what.clone(),
            self.ours.shown(),
            self.beside.to_owned(),
            self.theirs.map_or_else(|| "–".to_owned(), Quantity::shown),
            ratio.map_or_else(|| "–".to_owned(), times),
            reach,
            verdict.to_owned(),
        ]
    }
}

pub(crate) fn markdown(rows: &[Row]) -> String {
    compared(rows, "takes")
}

/// Where more is better.
pub(crate) fn rates(rows: &[Row]) -> String {
    compared(rows, "does")
}

fn compared(rows: &[Row], verb: &str) -> String {
    let head = ["", "Vambrace", "beside", verb, "ratio", "reach", ""].map(str::to_owned);
    let cells: Vec<[String; 7]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    grid(&cells)
}

/// Lines of cells, the head first.
pub(crate) fn grid<const N: usize>(cells: &[[String; N]]) -> String {
    let widths: Vec<usize> = (0..N)
        .map(|column| {
            cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for (place, row) in cells.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(out, "| {cell:width$} ");
        }
        out.push_str("|\n");
        if place == 0 {
            for width in &widths {
                let _ = write!(out, "|{}", "-".repeat(width + 2));
            }
            out.push_str("|\n");
        }
    }
    out
}

/// A ratio as people say it: `2.5 ×`, and below one as a fraction.
pub(crate) fn times(ratio: f64) -> String {
    if ratio >= 0.5 || ratio <= 0.0 {
        format!("{} ×", digits(ratio))
    } else {
        format!("1/{}", digits(1.0 / ratio))
    }
}

/// Three figures, no more: the fourth is noise.
pub(crate) fn digits(number: f64) -> String {
    let text = match number.abs() {
        n if n >= 99.95 => format!("{number:.0}"),
        n if n >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: Quantity, theirs: Option<Quantity>, reach: Reach, expected: [&str; 5]) {
        let cells = Row { what: "w".into(), ours, beside: "b", theirs, reach }.cells();
        let [_, ours, _, theirs, ratio, reach, verdict] = &cells;
        assert_eq!([ours, theirs, ratio, reach, verdict], expected);
    }

    fn micros(number: u64) -> Quantity {
        Quantity::Time(Duration::from_micros(number))
    }

    #[test]
    fn a_row_says_whether_the_goal_is_reached() {
        let (a, b) = (micros(120), Some(micros(40)));
        check(a, b, Reach::Times(3.0), ["120 µs", "40 µs", "3 ×", "≤ 3", "reached"]);
        check(micros(121), b, Reach::Times(3.0), ["121 µs", "40 µs", "3.02 ×", "≤ 3", "missed"]);
        check(a, Some(micros(960)), Reach::Less(8.0), ["120 µs", "960 µs", "1/8", "≤ 1/8", "reached"]);
        check(a, Some(micros(950)), Reach::Less(8.0), ["120 µs", "950 µs", "1/7.92", "≤ 1/8", "missed"]);
        check(a, None, Reach::Times(3.0), ["120 µs", "–", "–", "≤ 3", "peer missing"]);
        check(a, b, Reach::Nothing, ["120 µs", "40 µs", "3 ×", "–", ""]);
        check(a, None, Reach::Nothing, ["120 µs", "–", "–", "–", ""]);
        let most = Reach::Most(micros(20_000));
        check(
            micros(12_340),
            Some(micros(617_000)),
            most,
            ["12.3 ms", "617 ms", "1/50", "≤ 20 ms", "reached"],
        );
        check(micros(20_001), None, most, ["20 ms", "–", "–", "≤ 20 ms", "missed"]);
        let (memory, limit) = (Quantity::Bytes(9_500_000), Reach::Most(Quantity::Bytes(15_000_000)));
        check(memory, Some(Quantity::Bytes(0)), limit, ["9.5 MB", "0 MB", "–", "≤ 15 MB", "reached"]);
    }

    #[test]
    fn of_a_rate_more_is_better() {
        let (a, b) = (Quantity::Often(1000.0), Some(Quantity::Often(500.0)));
        check(a, b, Reach::More(2.0), ["1000/s", "500/s", "2 ×", "≥ 2", "reached"]);
        let below = Quantity::Often(999.0);
        check(below, b, Reach::More(2.0), ["999/s", "500/s", "2 ×", "≥ 2", "missed"]);
        check(a, None, Reach::More(2.0), ["1000/s", "–", "–", "≥ 2", "peer missing"]);
        let (ours, theirs) = (Quantity::Flow(12.5e6), Some(Quantity::Flow(100e6)));
        check(ours, theirs, Reach::Nothing, ["12.5 MB/s", "100 MB/s", "1/8", "–", ""]);
    }

    #[test]
    fn three_figures() {
        let shown = [0.0, 0.1234, 1.0, 9.994, 9.996, 12.34, 99.94, 99.96, 1234.4].map(digits);
        assert_eq!(shown, ["0", "0.12", "1", "9.99", "10", "12.3", "99.9", "100", "1234"]);
    }

    #[test]
    fn a_table_has_a_head_and_even_columns() {
        let row = Row::time("read", Duration::from_micros(5), "échø", None, Reach::Nothing);
        let table = markdown(&[row]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "|      | Vambrace | beside | takes | ratio | reach |  |");
        assert_eq!(lines[1], "|------|----------|--------|-------|-------|-------|--|");
        assert_eq!(lines[2], "| read | 5 µs     | échø   | –     | –     | –     |  |");
    }
}
