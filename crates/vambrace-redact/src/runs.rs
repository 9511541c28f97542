//! Text that nothing gives away but its randomness, in places where secrets stand.
//!
//! A run is as many token bytes as stand together. Most runs are names, and most text has no run of the
//! length that counts, so the search leaps: it looks at the end of the shortest possible run first.

mod odds;
mod place;
mod tail;

use crate::custom::Whole;
use crate::redactor::Found;

/// Where random text counts as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Entropy {
    Off,
    /// Beside an assignment, a header or a word for credentials, or alone.
    #[default]
    Context,
    /// Everywhere.
    Aggressive,
}

/// No shorter run is told from a name by its characters.
const SHORTEST: usize = 18;
/// A shorter one only if what it is assigned to is named like a credential.
const SHORTEST_ELSEWHERE: usize = 20;
/// LIMIT: a longer run is data (an image, a certificate, minified code) and never taken for one secret. So a
/// stream need not hold it back.
const LONGEST: usize = 256;
/// Names rarely have as many turns, and random text of the shortest length rarely fewer. This spares most
/// runs a closer look.
const FEWEST_TURNS: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Plain,
    Secret(Found),
    /// Not everything has arrived that the decision needs.
    Unknown,
}

/// What a run is by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    Random,
    /// A token by its form, wherever it stands.
    Token,
    /// Too little to tell: only a name for credentials makes it one.
    Named,
}

/// Finds what can be decided from `from` on and returns the place up to which everything is decided: nothing
/// found later begins before it. `from` is 0 or what an earlier call returned.
///
/// INVARIANT: a run is judged by itself, by at most `place::BEHIND` bytes before it and `place::AHEAD` behind
/// it, and only when these have arrived.
pub(crate) fn search(
    entropy: Entropy,
    hay: &[u8],
    from: usize,
    whole: Whole,
    found: &mut dyn FnMut(Found),
) -> usize {
    if entropy == Entropy::Off {
        return hay.len();
    }
    // An earlier call stopped before a run, or in the middle of one that is too long.
    let mut start = from - count_back(hay, from);
    while let Some(run) = next_run(hay, start) {
        let Measure { length, ends, n_turns } = measure(hay, run);
        let end = run + length;
        if length <= LONGEST {
            let verdict = if !ends && whole == Whole::MoreMayCome {
                Verdict::Unknown
            } else if n_turns < FEWEST_TURNS {
                Verdict::Plain
            } else {
                judge(entropy, hay, run, end, whole)
            };
            match verdict {
                Verdict::Plain => {}
                Verdict::Secret(secret) => found(secret),
                Verdict::Unknown => return run,
            }
        } else if !ends {
            return hay.len();
        }
        start = end;
    }
    // What is left is too short so far.
    match whole {
        Whole::Yes => hay.len(),
        Whole::MoreMayCome => hay.len() - count_back(hay, hay.len()),
    }
}

fn judge(entropy: Entropy, hay: &[u8], start: usize, end: usize, whole: Whole) -> Verdict {
    let run = hay.get(start..end).unwrap_or_default();
    // The dot at the end of a sentence.
    let n_dots = run.iter().rev().take_while(|byte| **byte == b'.').count();
    let end = end - n_dots;
    let run = hay.get(start..end).unwrap_or_default();
    // Digests and UUIDs are most of what gets here in logs and lock files, and never count.
    if run.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return Verdict::Plain;
    }
    let tail = tail::Tail::of(run);
    let tail_bits = tail.as_ref().map_or(0, tail::Tail::bits);
    let bits = odds::bits(run).max(tail_bits);
    let numbered = odds::is_numbered_hex(run);
    if (bits < odds::LEAST || odds::is_ordinary(run)) && !numbered {
        return Verdict::Plain;
    }
    let short = run.len() < SHORTEST_ELSEWHERE;
    if entropy == Entropy::Aggressive && !numbered && !short {
        return Verdict::Secret(Found { value: start..end, extent: start..end });
    }
    let looks = if numbered || short {
        Looks::Named
    } else if tail.is_some_and(|tail| tail.is_token(tail_bits)) {
        Looks::Token
    } else {
        Looks::Random
    };
    place::judge(hay, start..end, bits, looks, whole)
}

/// The beginning of the next run of at least `SHORTEST` bytes. No run begins before `start` and reaches
/// beyond it, unless it begins at `start`.
fn next_run(hay: &[u8], mut start: usize) -> Option<usize> {
    loop {
        let window = hay.get(start..)?.first_chunk::<SHORTEST>()?;
        // First a quick test of the last bytes of the window, all at once: is there a space, a quote, a
        // parenthesis?
        let [_, _, tail @ ..] = *window;
        let stops = stops(u128::from_le_bytes(tail));
        if stops != 0 {
            start += SHORTEST - (stops.leading_zeros() / 8) as usize;
            continue;
        }
        match window.iter().rposition(|byte| !in_run(*byte)) {
            Some(last) => start += last + 1,
            None => return Some(start),
        }
    }
}

/// The highest bit of every byte that is below `+`, between `:` and `@`, or not ASCII.
fn stops(bytes: u128) -> u128 {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    let low = bytes & (ONES * 0x7f);
    // The highest bit of every byte that is at least `limit`. No byte carries into the next one.
    let at_least = |limit: u8| low + ONES * u128::from(0x80 - limit);
    (!at_least(b'+') | (at_least(b':') & !at_least(b'A')) | bytes) & (ONES * 0x80)
}

struct Measure {
    length: usize,
    /// Is the end of the run here?
    ends: bool,
    /// How often a digit follows a letter, a letter a digit or a capital a small letter: often in random
    /// text.
    n_turns: u32,
}

fn measure(hay: &[u8], start: usize) -> Measure {
    let rest = hay.get(start..).unwrap_or_default();
    let (mut n_turns, mut last) = (0, Kind::MARK);
    for (length, byte) in rest.iter().enumerate() {
        let kind = Kind::of(*byte);
        if kind == Kind::OUTSIDE {
            return Measure { length, ends: true, n_turns };
        }
        n_turns += Kind::TURNS >> (last * 4 + kind) & 1;
        last = kind;
    }
    Measure { length: rest.len(), ends: false, n_turns }
}

/// How many bytes of a run stand before `place`, at most one more than count.
fn count_back(hay: &[u8], place: usize) -> usize {
    let before = hay.get(..place).unwrap_or_default();
    before.iter().rev().take(LONGEST + 1).take_while(|byte| in_run(**byte)).count()
}

/// What a byte is in a run.
struct Kind;

impl Kind {
    const LOWER: u8 = 0;
    const UPPER: u8 = 1;
    const DIGIT: u8 = 2;
    const MARK: u8 = 3;
    const OUTSIDE: u8 = 4;

    /// A bit for every pair of kinds.
    const TURNS: u32 = 1 << (Kind::LOWER * 4 + Kind::DIGIT)
        | 1 << (Kind::UPPER * 4 + Kind::DIGIT)
        | 1 << (Kind::DIGIT * 4 + Kind::LOWER)
        | 1 << (Kind::DIGIT * 4 + Kind::UPPER)
        | 1 << (Kind::LOWER * 4 + Kind::UPPER);

    #[expect(clippy::indexing_slicing, reason = "done by the compiler")]
    fn of(byte: u8) -> u8 {
        const TABLE: [u8; 256] = {
            let mut table = [Kind::OUTSIDE; 256];
            let mut byte = 0u8;
            while byte < 0x80 {
                table[byte as usize] = match byte {
                    b'a'..=b'z' => Kind::LOWER,
                    b'A'..=b'Z' => Kind::UPPER,
                    b'0'..=b'9' => Kind::DIGIT,
                    b'+' | b'/' | b'_' | b'-' | b'.' | b'~' => Kind::MARK,
                    _ => Kind::OUTSIDE,
                };
                byte += 1;
            }
            table
        };
        TABLE.get(usize::from(byte)).copied().unwrap_or(Kind::OUTSIDE)
    }
}

fn in_run(byte: u8) -> bool {
    Kind::of(byte) != Kind::OUTSIDE
}

#[cfg(test)]
pub(crate) mod tests;
