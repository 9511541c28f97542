//! Which strands have these four bytes, and where? A bitmap answers "none" for nearly every place of ordinary text.

use std::collections::HashMap;

use crate::index::buckets::Buckets;
use crate::index::gram::{self, GRAM, bit};
use crate::known::{Case, Spelling};

const N_BUCKETS: usize = 1 << 16;
/// LIMIT: of values that are alike or repeat themselves so often, not every wrap is found.
const MOST: usize = 256;
/// The same within one value. THREAT: P02, whoever writes such a value must not decide what a line end costs.
const MOST_ALIKE: u32 = 32;

pub(super) struct Table {
    /// For every byte.
    letters: [bool; 256],
    /// For the first one, two and three bytes of each strand.
    beginnings: Vec<u64>,
    entries: Buckets<Entry>,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    gram: u32,
    pub(super) strand: u32,
    /// Where in the strand the four bytes end.
    pub(super) end: u32,
}

impl Table {
    pub(super) fn new<'s>(strands: impl Iterator<Item = &'s Spelling> + Clone) -> Table {
        let entered: Vec<Entry> = (0u32..)
            .zip(strands.clone())
            .flat_map(|(strand, spelling)| {
                let windows = (4u32..).zip(spelling.text().windows(GRAM));
                // Between two bytes in hexadecimal stands what stands between all; it would lead to every value.
                let tells = |window: &[u8]| {
                    let digits = |pair: &[u8]| pair.iter().all(u8::is_ascii_hexdigit);
                    spelling.case == Case::Exact || window.windows(2).any(digits)
                };
                let mut alike: HashMap<u32, u32> = HashMap::new();
                let mut is_new = move |gram: u32| {
                    let n_alike = alike.entry(gram).or_default();
                    *n_alike += 1;
                    *n_alike <= MOST_ALIKE
                };
                windows
                    .filter(move |(_, window)| tells(window))
                    .map(move |(end, window)| Entry { gram: fold(window), strand, end })
                    .filter(move |entry| is_new(entry.gram))
            })
            .collect();
        let entries = Buckets::new(entered, |entry| bit(entry.gram));
        let mut letters = [false; 256];
        for byte in strands.clone().flat_map(Spelling::text) {
            for either in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
                if let Some(letter) = letters.get_mut(usize::from(either)) {
                    *letter = true;
                }
            }
        }
        let mut beginnings = vec![0u64; N_BUCKETS / 64];
        for spelling in strands {
            for n_bytes in 1..GRAM {
                set(&mut beginnings, bucket(fold(spelling.text().get(..n_bytes).unwrap_or_default())));
            }
        }
        Table { letters, beginnings, entries }
    }

    /// Is the byte in any strand, up to letter case?
    #[inline]
    pub(super) fn holds(&self, byte: u8) -> bool {
        self.letters.get(usize::from(byte)).is_some_and(|letter| *letter)
    }

    /// May the four bytes stand in a strand?
    #[inline]
    pub(super) fn has(&self, bytes: &[u8]) -> bool {
        self.entries.has(bit(fold(bytes)))
    }

    /// Where the four bytes stand in strands, up to letter case.
    #[inline]
    pub(super) fn at(&self, bytes: &[u8]) -> impl Iterator<Item = &Entry> {
        let gram = fold(bytes);
        self.entries.at(bit(gram)).iter().filter(move |entry| entry.gram == gram).take(MOST)
    }

    /// May a strand begin with these one to three bytes?
    #[inline]
    pub(super) fn begins(&self, bytes: &[u8]) -> bool {
        get(&self.beginnings, bucket(fold(bytes)))
    }
}

/// Fewer than four bytes are told apart from four by the missing bits.
fn fold(bytes: &[u8]) -> u32 {
    match bytes.len() {
        0..GRAM => bytes.iter().fold(1, |gram, byte| gram << 8 | u32::from(byte | 0x20)),
        GRAM.. => gram::fold(bytes),
    }
}

fn bucket(gram: u32) -> usize {
    bit(gram) >> 2
}

fn set(bits: &mut [u64], bit: usize) {
    if let Some(word) = bits.get_mut(bit / 64) {
        *word |= 1 << (bit % 64);
    }
}

fn get(bits: &[u64], bit: usize) -> bool {
    bits.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
}
