//! Rows by a bit that is computed of what is looked for. Nearly every bit is unset, and costs
//! nothing but itself: the rows of a set one are found by counting the set bits before it. The
//! build script has this too.

use std::borrow::Cow;

use super::gram::N_BITS;

pub(crate) const N_WORDS: usize = N_BITS / 64;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Buckets<R: Clone + 'static> {
    pub(crate) bits: Cow<'static, [u64]>,
    /// How many bits are set before each word.
    pub(crate) ranks: Cow<'static, [u32]>,
    /// The rows of the `n`th set bit are those from `starts[n]` to `starts[n + 1]`.
    pub(crate) starts: Cow<'static, [u32]>,
    pub(crate) rows: Cow<'static, [R]>,
}

impl<R: Clone> Buckets<R> {
    /// Rows of one bit stay in their order.
    pub(crate) fn new(mut rows: Vec<R>, bit: impl Fn(&R) -> usize) -> Buckets<R> {
        rows.sort_by_key(&bit);
        let mut bits = vec![0u64; N_WORDS];
        let mut starts = Vec::new();
        for (number, of_bit) in rows.chunk_by(|a, b| bit(a) == bit(b)).scan(0, |n_rows, chunk| {
            let number = *n_rows;
            *n_rows += chunk.len();
            Some((number, chunk.first().map(&bit)))
        }) {
            starts.push(u32::try_from(number).unwrap_or(u32::MAX));
            if let Some(bit) = of_bit
                && let Some(word) = bits.get_mut(bit / 64)
            {
                *word |= 1 << (bit % 64);
            }
        }
        starts.push(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let ranks: Vec<u32> = bits
            .iter()
            .scan(0, |n_before, word| {
                let rank = *n_before;
                *n_before += word.count_ones();
                Some(rank)
            })
            .collect();
        Buckets { bits: bits.into(), ranks: ranks.into(), starts: starts.into(), rows: rows.into() }
    }
}
