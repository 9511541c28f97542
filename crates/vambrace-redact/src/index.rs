//! Where may any of many short byte strings begin? One pass over the text, whatever the number of
//! strings.
//!
//! Every needle is entered by its first four bytes, letters folded to lower case. A bitmap, which
//! stays in the first-level cache, answers "none of them" for nearly every position; only a set bit
//! leads to the table behind it. Thousands of known values therefore cost no more per byte than a
//! handful. The keywords of the rules are entered by the build script, so that neither a start nor
//! a process at rest pays for them.

pub(crate) mod buckets;
pub(crate) mod gram;

use buckets::{Buckets, N_WORDS};
pub(crate) use gram::GRAM;
use gram::{Entry, bit, fold};

use crate::class::any;
use crate::pem;

/// What may stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needle {
    KeyEnd,
    /// Some known value; the lexicon tells which.
    Known,
    /// By the numbers of the rule and of its keyword.
    Rule {
        number: usize,
        keyword: usize,
    },
}

const KEY_END: u16 = 0;
const KNOWN: u16 = 1;

pub(crate) struct Index {
    /// Those of both tables.
    bits: Box<[u64; N_WORDS]>,
    rules: &'static Buckets<Entry>,
    others: Buckets<Entry>,
}

impl Index {
    pub(crate) fn new<'k>(rules: &'static Buckets<Entry>, known: impl Iterator<Item = &'k [u8]>) -> Index {
        let mut others: Vec<Entry> = Entry::all(pem::END.as_bytes(), any, KEY_END, 0).collect();
        // THREAT: P02, what a place costs must not depend on what the values are, so each beginning
        // counts once.
        others.extend(known.flat_map(|sure| Entry::all(sure, any, KNOWN, 0)));
        others.sort_unstable();
        others.dedup();
        let others = Buckets::new(others, |entry| bit(entry.gram));
        let mut bits = Box::new([0u64; N_WORDS]);
        for (word, (ours, theirs)) in bits.iter_mut().zip(rules.bits.iter().zip(others.bits.iter())) {
            *word = ours | theirs;
        }
        Index { bits, rules, others }
    }

    /// The first place at or after `from` where a needle may begin.
    pub(crate) fn next(&self, hay: &[u8], from: usize) -> Option<usize> {
        let rest = hay.get(from..)?;
        let place = rest.windows(GRAM).position(|window| {
            let bit = bit(fold(window));
            self.bits.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
        })?;
        Some(from + place)
    }

    /// The needles that begin with the four bytes at `place`, up to letter case.
    pub(crate) fn at<'i>(&'i self, hay: &[u8], place: usize) -> impl Iterator<Item = Needle> + use<'i> {
        let gram = hay.get(place..place + GRAM).map_or(0, fold);
        let bit = bit(gram);
        // What has not arrived may still be anything.
        let rest = hay.get(place + GRAM..place + 2 * GRAM).map(fold);
        let may_be = move |entry: &&Entry| entry.gram == gram && rest.is_none_or(|rest| entry.goes_on(rest));
        let others = self.others.at(bit).iter().filter(may_be);
        let others = others.map(|entry| if entry.needle == KEY_END { Needle::KeyEnd } else { Needle::Known });
        let rules = self.rules.at(bit).iter().filter(may_be);
        others.chain(rules.map(|entry| Needle::Rule {
            number: usize::from(entry.needle),
            keyword: usize::from(entry.keyword),
        }))
    }
}

impl<R: Clone> Buckets<R> {
    #[inline]
    pub(crate) fn has(&self, bit: usize) -> bool {
        self.bits.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    #[inline]
    pub(crate) fn at(&self, bit: usize) -> &[R] {
        if self.has(bit) { self.rows_of(bit).unwrap_or_default() } else { &[] }
    }

    fn rows_of(&self, bit: usize) -> Option<&[R]> {
        let before = self.bits.get(bit / 64)? & !(u64::MAX << (bit % 64));
        let number = (self.ranks.get(bit / 64)? + before.count_ones()) as usize;
        let [start, end] = self.starts.get(number..number + 2)? else { return None };
        self.rows.get(*start as usize..*end as usize)
    }
}

impl Entry {
    /// May the needle go on with these four bytes?
    pub(crate) fn goes_on(&self, rest: u32) -> bool {
        let mask = u32::MAX.checked_shr(32 - 8 * u32::from(self.n_rest)).unwrap_or(0);
        (rest ^ self.rest) & mask == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{INDEX, rules};

    #[test]
    fn every_keyword_leads_to_its_rule() {
        let index = Index::new(&INDEX, std::iter::empty());
        for (number, rule) in rules().enumerate() {
            let text = rule.hit.replace(crate::Rule::SEPARATOR, "");
            let leads = |place: usize, keyword: usize| {
                index.next(text.as_bytes(), place) == Some(place)
                    && index.at(text.as_bytes(), place).any(|n| n == Needle::Rule { number, keyword })
            };
            for (keyword, word) in rule.keywords.iter().enumerate() {
                for place in (0..text.len()).filter(|place| rule.keyword_at(word, text.as_bytes(), *place)) {
                    assert!(leads(place, keyword), "{} {word}", rule.name);
                }
            }
        }
    }

    #[test]
    fn finds_every_needle_and_only_candidates() {
        let known: [&[u8]; 3] = [b"zk-4", b"pAssword-of-mine", b"qq://"];
        let index = Index::new(&INDEX, known.into_iter());
        let hay = b"xx PASSWORD-OF http://h zk-4 qq:// -----END ghp_ end";
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(place) = index.next(hay, from) {
            found.extend(index.at(hay, place).map(|needle| (place, needle)));
            from = place + 1;
        }
        let places = |wanted: fn(&Needle) -> bool| {
            let of = found.iter().filter(|(_, needle)| wanted(needle));
            of.map(|(place, _)| *place).collect::<Vec<_>>()
        };
        assert_eq!(places(|needle| *needle == Needle::Known), [3, 24, 29]);
        assert_eq!(places(|needle| *needle == Needle::KeyEnd), [35]);
        let github = rules().position(|rule| rule.name == "github-token").unwrap();
        assert!(found.contains(&(44, Needle::Rule { number: github, keyword: 0 })));
    }
}
