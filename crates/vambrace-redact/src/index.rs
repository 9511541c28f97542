//! Where may any of many short byte strings begin? One pass over the text, whatever the number of strings.
//!
//! Every needle is entered by its first four bytes, letters folded to lower case. A bitmap, which
//! stays in the first-level cache, answers "none of them" for nearly every position; only a set bit leads to the
//! table behind it. Thousands of known values therefore cost no more per byte than a handful. This module knows
//! nothing of rules: a needle is a number, and the caller compares the rest of its bytes.

/// Sets the bit that tells ASCII upper from lower case. It also merges some punctuation, which only makes the first
/// answer coarser.
const FOLD: u32 = 0x2020_2020;
const N_BUCKETS: usize = 1 << 16;
/// Four times as many as buckets, so that few bits are set even with a thousand rules; they still fit the cache.
const N_BITS: usize = 1 << 18;
/// The length of what is looked up; shorter needles are entered once for every byte that may follow them.
pub(crate) const GRAM: usize = 4;

pub(crate) struct Index {
    bits: Box<[u64; N_BITS / 64]>,
    /// `entries` of bucket `b` are those from `starts[b]` to `starts[b + 1]`.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    gram: u32,
    needle: u32,
    rest: Rest,
}

/// The four bytes behind a needle's first four, as far as it has them: `auth` is everywhere, `authentik` is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rest {
    bytes: u32,
    mask: u32,
}

impl Rest {
    fn of(needle: &[u8]) -> Rest {
        let mut bytes = [0; GRAM];
        let mut mask = [0; GRAM];
        for ((byte, mask), rest) in bytes.iter_mut().zip(&mut mask).zip(needle.iter().skip(GRAM)) {
            (*byte, *mask) = (*rest, u8::MAX);
        }
        Rest { bytes: u32::from_le_bytes(bytes) | FOLD, mask: u32::from_le_bytes(mask) }
    }
}

impl Index {
    /// Each gram with the number of its needle and the needle itself.
    pub(crate) fn new<'n>(grams: impl Iterator<Item = (u32, u32, &'n [u8])>) -> Index {
        let entry = |(gram, needle, bytes)| Entry { gram, needle, rest: Rest::of(bytes) };
        let mut entries: Vec<Entry> = grams.map(entry).collect();
        entries.sort_unstable_by_key(|entry| (bucket(entry.gram), *entry));
        entries.dedup();
        let mut bits = Box::new([0u64; N_BITS / 64]);
        let mut starts = vec![0u32; N_BUCKETS + 1];
        for entry in &entries {
            let bucket = bucket(entry.gram);
            let bit = bit(entry.gram);
            if let Some(word) = bits.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
            if let Some(count) = starts.get_mut(bucket + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        Index { bits, starts, entries }
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
    pub(crate) fn at<'i>(&'i self, hay: &[u8], place: usize) -> impl Iterator<Item = u32> + use<'i> {
        let gram = hay.get(place..place + GRAM).map_or(0, fold);
        let bucket = bucket(gram);
        let start = self.starts.get(bucket).map_or(0, |start| *start as usize);
        let end = self.starts.get(bucket + 1).map_or(0, |end| *end as usize);
        let entries = self.entries.get(start..end).unwrap_or_default();
        // What has not arrived may still be anything.
        let rest = hay.get(place + GRAM..place + 2 * GRAM).map(fold);
        let goes_on =
            move |entry: &&Entry| rest.is_none_or(|rest| (rest ^ entry.rest.bytes) & entry.rest.mask == 0);
        entries.iter().filter(move |entry| entry.gram == gram).filter(goes_on).map(|entry| entry.needle)
    }
}

/// How a needle is entered. `follow` says which bytes may come after one that is shorter than four bytes.
pub(crate) fn grams(needle: &[u8], follow: fn(u8) -> bool) -> Vec<u32> {
    let mut heads: Vec<Vec<u8>> = vec![needle.iter().copied().take(GRAM).collect()];
    while heads.first().is_some_and(|head| head.len() < GRAM) {
        heads = heads
            .iter()
            .flat_map(|head| {
                (0..=u8::MAX).filter(|byte| follow(*byte)).map(|byte| [head.as_slice(), &[byte]].concat())
            })
            .collect();
    }
    let mut grams: Vec<u32> = heads.iter().map(|head| fold(head)).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn fold(window: &[u8]) -> u32 {
    window.first_chunk::<GRAM>().map_or(0, |bytes| u32::from_le_bytes(*bytes) | FOLD)
}

fn bit(gram: u32) -> usize {
    // Multiplicative hashing; the factor is 2^32 divided by the golden ratio.
    (gram.wrapping_mul(0x9e37_79b1) >> 14) as usize
}

fn bucket(gram: u32) -> usize {
    bit(gram) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_needle_and_only_candidates() {
        let needles: [&[u8]; 4] = [b"sk-", b"password", b"://", b"AKIA"];
        let any: fn(u8) -> bool = |_| true;
        let index = Index::new(
            (0u32..)
                .zip(needles)
                .flat_map(|(id, needle)| grams(needle, any).into_iter().map(move |gram| (gram, id, needle))),
        );
        let hay = b"xx PASSWORD http://h sk-1 akia end";
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(place) = index.next(hay, from) {
            found.extend(index.at(hay, place).map(|needle| (place, needle)));
            from = place + 1;
        }
        assert_eq!(found, [(3, 1), (16, 2), (21, 0), (26, 3)]);
    }
}
