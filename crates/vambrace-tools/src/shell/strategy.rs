//! Which lines of a long output are worth showing (specification 004's `truncation_strategy`).

use vambrace_types::{ErrorCode, ToolError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Head(usize),
    Tail(usize),
    HeadTail(usize, usize),
    /// Lines that look like errors, with what stands around them.
    Errors(usize),
}

/// Lines around one that looks like an error.
const BEFORE: usize = 2;
const AFTER: usize = 5;
const MOST_LINES: usize = 100_000;

const SIGNS_OF_ERROR: [&str; 12] = [
    "error",
    "fail",
    "panicked",
    "assert",
    "exception",
    "traceback",
    "fatal",
    "not ok",
    "undefined",
    "segfault",
    "✗",
    "✕",
];

impl Strategy {
    pub(super) fn parse(text: &str) -> Result<Strategy, ToolError> {
        read(text).ok_or_else(|| {
            let message = format!("`{text}` is not a `truncation_strategy`.");
            ToolError::new(ErrorCode::ValidationError, message).suggestion(format!(
                "Use `HEAD:n`, `TAIL:n`, `HEADTAIL:n` or `HEADTAIL:n,m`, or `ERRORS:n`, with 1 to {MOST_LINES} lines."
            ))
        })
    }

    /// The lines that stay, and how many do not.
    pub(super) fn apply(self, text: &str) -> (String, usize) {
        let lines: Vec<&str> = text.lines().collect();
        let keep = self.kept(&lines);
        let n_omitted = keep.iter().filter(|kept| !**kept).count();
        if n_omitted == 0 {
            return (text.to_owned(), 0);
        }
        let mut shown = String::new();
        let mut n_gap = 0;
        for (line, kept) in lines.iter().zip(&keep) {
            if *kept {
                mark(&mut shown, n_gap);
                n_gap = 0;
                shown.push_str(line);
                shown.push('\n');
            } else {
                n_gap += 1;
            }
        }
        mark(&mut shown, n_gap);
        (shown, n_omitted)
    }

    fn kept(self, lines: &[&str]) -> Vec<bool> {
        let n_lines = lines.len();
        let span = |head: usize, tail: usize| {
            (0..n_lines).map(|place| place < head || place >= n_lines.saturating_sub(tail)).collect()
        };
        match self {
            Strategy::Head(head) => span(head, 0),
            Strategy::Tail(tail) => span(0, tail),
            Strategy::HeadTail(head, tail) => span(head, tail),
            Strategy::Errors(most) => errors(lines, most),
        }
    }
}

fn mark(shown: &mut String, n_gap: usize) {
    if n_gap > 0 {
        shown.push_str(&format!("[… {n_gap} lines left out …]\n"));
    }
}

fn read(text: &str) -> Option<Strategy> {
    let (name, numbers) = text.trim().split_once(':')?;
    let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=MOST_LINES).contains(n));
    match name.trim().to_ascii_uppercase().as_str() {
        "HEAD" => number(numbers).map(Strategy::Head),
        "TAIL" => number(numbers).map(Strategy::Tail),
        "ERRORS" => number(numbers).map(Strategy::Errors),
        "HEADTAIL" => match numbers.split_once(',') {
            Some((head, tail)) => Some(Strategy::HeadTail(number(head)?, number(tail)?)),
            None => number(numbers).map(|both| Strategy::HeadTail(both, both)),
        },
        _ => None,
    }
}

/// The first lines that look like errors come first; what is around them fills what is left of `most`.
fn errors(lines: &[&str], most: usize) -> Vec<bool> {
    let mut keep = vec![false; lines.len()];
    let mut n_kept = 0;
    let found: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| {
            let line = line.to_lowercase();
            SIGNS_OF_ERROR.iter().any(|sign| line.contains(sign))
        })
        .map(|(place, _)| place)
        .collect();
    let around = |place: &usize| place.saturating_sub(BEFORE)..place.saturating_add(AFTER + 1);
    for place in found.iter().copied().chain(found.iter().flat_map(around)) {
        if n_kept >= most {
            break;
        }
        if let Some(kept) = keep.get_mut(place).filter(|kept| !**kept) {
            *kept = true;
            n_kept += 1;
        }
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_read(text: &str, expected: Option<Strategy>) {
        assert_eq!(Strategy::parse(text).ok(), expected, "{text:?}");
    }

    #[test]
    fn strategies_are_read() {
        check_read("HEAD:5", Some(Strategy::Head(5)));
        check_read("tail: 7", Some(Strategy::Tail(7)));
        check_read("HEADTAIL:3", Some(Strategy::HeadTail(3, 3)));
        check_read("HEADTAIL:3,4", Some(Strategy::HeadTail(3, 4)));
        check_read("ERRORS:20", Some(Strategy::Errors(20)));
        check_read("HEAD", None);
        check_read("HEAD:0", None);
        check_read("HEAD:-1", None);
        check_read("HEAD:1,2", None);
        check_read("HEADTAIL:1,2,3", None);
        check_read("MIDDLE:5", None);
        check_read("HEAD:99999999999999999999", None);
    }

    #[track_caller]
    fn check(strategy: Strategy, text: &str, expected: &str, n_omitted: usize) {
        assert_eq!(strategy.apply(text), (expected.to_owned(), n_omitted), "{strategy:?} {text:?}");
    }

    #[test]
    fn lines_are_chosen() {
        let text = "1\n2\n3\n4\n5\n";
        check(Strategy::Head(2), text, "1\n2\n[… 3 lines left out …]\n", 3);
        check(Strategy::Tail(2), text, "[… 3 lines left out …]\n4\n5\n", 3);
        check(Strategy::HeadTail(1, 2), text, "1\n[… 2 lines left out …]\n4\n5\n", 2);
        check(Strategy::HeadTail(3, 3), text, text, 0);
        check(Strategy::Head(5), text, text, 0);
        check(Strategy::Head(5), "", "", 0);
        check(Strategy::Tail(1), "a\nb", "[… 1 lines left out …]\nb\n", 1);
    }

    #[test]
    fn errors_come_before_what_is_around_them() {
        let text = "a\nb\nc\nerror: x\nd\ne\nf\ng\nh\ni\ntest y ... FAILED\nj\n";
        check(
            Strategy::Errors(2),
            text,
            "[… 3 lines left out …]\nerror: x\n[… 6 lines left out …]\ntest y ... FAILED\n[… 1 lines left out …]\n",
            10,
        );
        check(
            Strategy::Errors(100),
            text,
            "[… 1 lines left out …]\nb\nc\nerror: x\nd\ne\nf\ng\nh\ni\ntest y ... FAILED\nj\n",
            1,
        );
        check(Strategy::Errors(5), "all is well\n", "[… 1 lines left out …]\n", 1);
    }
}
