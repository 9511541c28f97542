//! Every fixed spelling of every known value, in order, so that the longest one that stands at a place is found by
//! halving.
//!
//! THREAT: P02, what a place costs must not depend on what the values are: with a comparison for each value, a few dozen
//! long ones that begin alike took seconds for a megabyte of their beginning.

use vambrace_types::Secret;

use crate::custom::Whole;
use crate::known::{Case, Spelling};

/// All of them, those whose letters may be of either case apart.
pub(crate) struct Lexicon {
    exact: Shelf,
    folded: Shelf,
}

#[derive(Default)]
struct Shelf {
    /// Sorted by text, each text once.
    rows: Vec<Row>,
    longest: usize,
}

struct Row {
    text: Secret<Vec<u8>>,
    rule: usize,
    /// The longest other row that this one begins with.
    shorter: Option<usize>,
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Longest {
    Match {
        length: usize,
        rule: usize,
    },
    /// What is here agrees with the beginning of something longer.
    Cut,
    No,
}

impl Lexicon {
    pub(crate) fn new<'s>(spellings: impl Iterator<Item = (&'s Spelling, usize)> + Clone) -> Lexicon {
        let shelf = |case: Case| Shelf::new(spellings.clone().filter(move |(one, _)| one.case == case));
        Lexicon { exact: shelf(Case::Exact), folded: shelf(Case::Either) }
    }

    /// The longest spelling that `text` begins with.
    pub(crate) fn at_start_of(&self, text: &[u8], whole: Whole) -> Longest {
        let exact = self.exact.at_start_of(text, whole);
        if self.folded.rows.is_empty() || exact == Longest::Cut {
            return exact;
        }
        let folded = text.get(..self.folded.longest).unwrap_or(text).to_ascii_lowercase();
        match (exact, self.folded.at_start_of(&folded, whole)) {
            (_, Longest::Cut) | (Longest::Cut, _) => Longest::Cut,
            (found, Longest::No) | (Longest::No, found) => found,
            (Longest::Match { length: one, rule }, Longest::Match { length: other, rule: second }) => {
                let rule = match one.cmp(&other) {
                    std::cmp::Ordering::Greater => rule,
                    std::cmp::Ordering::Equal => rule.min(second),
                    std::cmp::Ordering::Less => second,
                };
                Longest::Match { length: one.max(other), rule }
            }
        }
    }
}

impl Shelf {
    fn new<'s>(spellings: impl Iterator<Item = (&'s Spelling, usize)>) -> Shelf {
        // What is unsure of a spelling counts as far as it agrees, so each length is a row.
        let mut texts: Vec<(&[u8], usize)> = spellings
            .flat_map(|(spelling, rule)| {
                let lengths = spelling.n_sure..=spelling.text().len();
                lengths.filter_map(move |length| Some((spelling.text().get(..length)?, rule)))
            })
            .collect();
        texts.sort_unstable();
        texts.dedup_by_key(|(text, _)| *text);
        let mut rows: Vec<Row> = Vec::with_capacity(texts.len());
        let mut nested: Vec<usize> = Vec::new();
        for (number, (text, rule)) in texts.iter().enumerate() {
            let begins = |place: &usize| texts.get(*place).is_some_and(|(other, _)| text.starts_with(other));
            while nested.last().is_some_and(|last| !begins(last)) {
                nested.pop();
            }
            rows.push(Row { text: Secret::new(text.to_vec()), rule: *rule, shorter: nested.last().copied() });
            nested.push(number);
        }
        let longest = texts.iter().map(|(text, _)| text.len()).max().unwrap_or(0);
        Shelf { rows, longest }
    }

    fn at_start_of(&self, text: &[u8], whole: Whole) -> Longest {
        let all = text.len() < self.longest;
        let text = text.get(..self.longest).unwrap_or(text);
        let after = self.rows.partition_point(|row| row.text.expose().as_slice() <= text);
        let goes_on = |row: &Row| row.text.expose().starts_with(text);
        if whole == Whole::MoreMayCome && all && self.rows.get(after).is_some_and(goes_on) {
            return Longest::Cut;
        }
        // What is the beginning of the text comes before it, and begins with nothing that is no beginning of the row
        // just before.
        let mut candidate = after.checked_sub(1).and_then(|before| self.rows.get(before));
        let n_equal = candidate.map_or(0, |row| {
            row.text.expose().iter().zip(text).take_while(|(ours, theirs)| ours == theirs).count()
        });
        while let Some(row) = candidate {
            let length = row.text.expose().len();
            if length <= n_equal {
                return Longest::Match { length, rule: row.rule };
            }
            candidate = row.shorter.and_then(|place| self.rows.get(place));
        }
        Longest::No
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::known::spellings;

    /// The same by comparing with each.
    fn naive(all: &[(Arc<Spelling>, usize)], text: &[u8], whole: Whole) -> Longest {
        let compared = all.iter().map(|(spelling, rule)| {
            let agree = |(ours, theirs): &(&u8, &u8)| spelling.agree(**ours, **theirs);
            let n_equal = spelling.text().iter().zip(text).take_while(agree).count();
            (n_equal, spelling.text().len(), spelling.n_sure, *rule)
        });
        let is_cut = |(n_equal, length, ..): &(usize, usize, usize, usize)| {
            whole == Whole::MoreMayCome && *n_equal == text.len() && n_equal < length
        };
        if compared.clone().any(|row| is_cut(&row)) {
            return Longest::Cut;
        }
        let found = compared.filter(|(n_equal, _, n_sure, _)| n_equal >= n_sure);
        let longest = found.map(|(n_equal, .., rule)| (n_equal, std::cmp::Reverse(rule))).max();
        longest.map_or(Longest::No, |(length, rule)| Longest::Match { length, rule: rule.0 })
    }

    #[test]
    fn it_finds_what_comparing_with_each_finds() {
        let values =
            ["kn0wn value", "kn0wn value/ä\"9", "kn0wn va", "aaaaaaaaaaaa", "aaaaaaaaab", "zz-plain-known"];
        let all: Vec<(Arc<Spelling>, usize)> = (0..)
            .zip(values)
            .flat_map(|(rule, value)| spellings(value).into_iter().map(move |spelling| (spelling, rule)))
            .collect();
        let lexicon = Lexicon::new(all.iter().map(|(spelling, rule)| (&**spelling, *rule)));
        let mut texts: Vec<Vec<u8>> =
            values.iter().map(|value| format!("{value}aab..").into_bytes()).collect();
        texts.extend(all.iter().map(|(spelling, _)| [spelling.text(), b"7"].concat()));
        texts.extend(all.iter().map(|(spelling, _)| spelling.text().to_ascii_uppercase()));
        for text in texts {
            for end in 0..=text.len() {
                for whole in [Whole::Yes, Whole::MoreMayCome] {
                    let seen = &text[..end];
                    let found = lexicon.at_start_of(seen, whole);
                    assert_eq!(
                        found,
                        naive(&all, seen, whole),
                        "{:?} {whole:?}",
                        String::from_utf8_lossy(seen)
                    );
                }
            }
        }
    }
}
