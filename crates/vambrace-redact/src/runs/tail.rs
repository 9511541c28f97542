//! Tokens that bear the name of their service before their random part: `acme_live_…`, `acme-…`.
//!
//! The words would outweigh the randomness of what follows, so they are left out of the odds; that they
//! stand there speaks for a token by itself.

use super::place::WordList;
use super::{Kind, odds};

/// What is left behind the words has to be told from a name by its characters alone.
const SHORTEST: usize = 16;
/// What a prefix adds to the odds.
const BONUS: i32 = 3 * odds::BIT;
const LONGEST_WORD: usize = 12;
const LONGEST_PREFIX: usize = 24;
const MOST_WORDS: usize = 3;
/// Where nothing else speaks for a token.
const SHORTEST_MIXED: usize = 24;
const SHORTEST_SMALL: usize = 32;
/// The same with dashes in it.
const SHORTEST_BROKEN: usize = 36;

/// Prefixes of what may be shown to everybody: ids of conversations, of payments, of objects of any kind.
static OBJECTS: WordList = WordList::new(
    "\
    id call toolu tooluse msg message asst thread run step file chatcmpl cmpl req request resp rs fc org \
    proj project user usr batch ftjob container conv item vs cus pi ch seti price prod product sub evt acct \
    pm txn src card po re tr py cs in ii si event task job build node chunk vendor index main pk app page \
    inv order cust team ws workspace account dpl db object",
);

pub(super) struct Tail<'t> {
    words: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Tail<'t> {
    /// What stands behind the leading words of a run; there are some.
    pub(super) fn of(run: &'t [u8]) -> Option<Tail<'t>> {
        let mut length = 0;
        while let Some(word) = run.get(length..)?.split(is_joint).next()
            && is_word(word)
            && length + word.len() < run.len()
        {
            length += word.len() + 1;
        }
        let (words, rest) = run.split_at_checked(length)?;
        (!words.is_empty() && rest.len() >= SHORTEST).then_some(Tail { words, rest })
    }

    pub(super) fn bits(&self) -> i32 {
        odds::bits(self.rest) + BONUS
    }

    /// A token wherever it stands.
    pub(super) fn is_token(&self, bits: i32) -> bool {
        bits >= odds::LEAST + 2 * BONUS && self.has_prefix() && self.is_mixed()
    }

    fn has_prefix(&self) -> bool {
        let mut words = self.words.split(is_joint).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let n_words = 1 + words.clone().count();
        first.len() >= 2
            && n_words <= MOST_WORDS
            && self.words.len() <= LONGEST_PREFIX
            && !(n_words == 1 && super::place::is_in(first, &OBJECTS))
            && !words.any(|word| word == b"id")
    }

    fn is_mixed(&self) -> bool {
        let mut counts = [0; 4];
        for byte in self.rest {
            if let Some(count) = counts.get_mut(usize::from(Kind::of(*byte))) {
                *count += 1;
            }
        }
        let [lower, upper, digits, marks] = counts;
        let length = self.rest.len();
        let mixed = lower.min(upper) * 8 >= length && digits * 32 >= length;
        let small = lower.min(upper) == 0 && digits * 12 >= length && lower.max(upper) * 4 >= length;
        match marks {
            0 => (mixed && length >= SHORTEST_MIXED) || (small && length >= SHORTEST_SMALL),
            _ => {
                mixed && length >= SHORTEST_BROKEN && marks * 8 <= length && self.rest.iter().all(is_url_safe)
            }
        }
    }
}

fn is_joint(byte: &u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.')
}

fn is_url_safe(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `acme`, `live`, `v1`, `ACME`: letters of one case, and a digit or two.
fn is_word(word: &[u8]) -> bool {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(letters) = word.get(..word.len() - digits) else { return false };
    !letters.is_empty()
        && digits <= 2
        && word.len() <= LONGEST_WORD
        && (letters.iter().all(u8::is_ascii_lowercase) || letters.iter().all(u8::is_ascii_uppercase))
}
