//! The first four bytes of what is looked for, letters folded to lower case. The build script has
//! this too, because the index of the rules is made there.

/// Sets the bit that tells ASCII upper from lower case. It also merges some punctuation, which only
/// makes the first answer coarser.
const FOLD: u32 = 0x2020_2020;
/// Few bits are set even with a thousand rules, and all of them fit the first-level cache.
pub(crate) const N_BITS: usize = 1 << 18;
/// The length of what is looked up; shorter needles are entered once for every byte that may follow
/// them.
pub(crate) const GRAM: usize = 4;

/// What is known of a needle by its first eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) gram: u32,
    /// The number of a rule, or what else the needle is.
    pub(crate) needle: u16,
    /// Which of the rule's keywords.
    pub(crate) keyword: u8,
    /// So many of the next four bytes belong to the needle: `auth` is everywhere, `authentik` is
    /// not.
    pub(crate) n_rest: u8,
    pub(crate) rest: u32,
}

impl Entry {
    /// All entries of one needle. `follow` says which bytes may come after one that is shorter than
    /// four bytes.
    pub(crate) fn all(
        bytes: &[u8],
        follow: impl Fn(u8) -> bool,
        needle: u16,
        keyword: u8,
    ) -> impl Iterator<Item = Entry> {
        let mut rest = [0; GRAM];
        let mut n_rest = 0;
        for (to, byte) in rest.iter_mut().zip(bytes.iter().skip(GRAM)) {
            *to = *byte;
            n_rest += 1;
        }
        let rest = u32::from_le_bytes(rest) | FOLD;
        grams(bytes, follow).into_iter().map(move |gram| Entry { gram, needle, keyword, n_rest, rest })
    }
}

/// Each way the needle's first four bytes may look.
fn grams(needle: &[u8], follow: impl Fn(u8) -> bool) -> Vec<u32> {
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

/// Zero where there are fewer than four bytes.
pub(crate) fn fold(window: &[u8]) -> u32 {
    window.first_chunk::<GRAM>().map_or(0, |bytes| u32::from_le_bytes(*bytes) | FOLD)
}

pub(crate) fn bit(gram: u32) -> usize {
    // Multiplicative hashing; the factor is 2^32 divided by the golden ratio.
    (gram.wrapping_mul(0x9e37_79b1) >> 14) as usize
}
