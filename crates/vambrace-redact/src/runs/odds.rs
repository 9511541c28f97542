//! How much likelier is a run as a random token than as a name, a path or a few words written together?
//!
//! Two models of how characters follow each other: one of names, counted in some hundred megabytes of source
//! text, one of random choice from the usual alphabets. The result is the logarithm of the ratio of the two
//! likelihoods.

use super::Kind;

/// Eighths of a bit, in which everything here is counted.
pub(super) const BIT: i32 = 8;
/// Below this, nothing counts anywhere.
pub(super) const LEAST: i32 = 20 * BIT;
/// For places where random text often has other reasons.
pub(super) const CLEAR: i32 = 30 * BIT;

/// How likely is a letter after another in names? A digit for every pair: 5 is as likely as by chance, each
/// step below or above is one bit.
const LETTERS: [[u8; 26]; 26] = [
    *b"15651350502756050667432340", // a
    *b"73526220751722630554700050", // b
    *b"72427306505532830646510030", // c
    *b"63358333704433640553423230", // d
    *b"53663440201657243776152530", // e
    *b"61336620700724720655513140", // f
    *b"51338244702536530664520020", // g
    *b"71438110601242620536732042", // h
    *b"54665450102557740467040304", // i
    *b"70109010503000730061400000", // j
    *b"53449340700255330263412100", // k
    *b"73257620720711730345520040", // l
    *b"74348230600552671154501000", // m
    *b"61676562503424630267541020", // n
    *b"34651440404568460745645111", // o
    *b"71447314503632650756621020", // p
    *b"30322220000631430330911000", // q
    *b"61448340603354720566541050", // r
    *b"52537215603332552368522042", // s
    *b"61428306700431640655502160", // t
    *b"46446440500667260677000300", // u
    *b"81328132700240530133000100", // v
    *b"64246215802456650663004000", // w
    *b"62626342600256271148110140", // x
    *b"44435310400567480376113001", // y
    *b"61329210600222610221133133", // z
];

/// What a kind of character costs in names, by the kinds of the two before it.
const KINDS: [[[u8; 4]; 4]; 4] = [
    [[3, 36, 61, 21], [1, 38, 60, 88], [23, 44, 9, 11], [1, 36, 37, 55]],
    [[1, 35, 76, 78], [66, 2, 61, 21], [71, 15, 8, 17], [51, 0, 47, 91]],
    [[15, 62, 9, 15], [17, 5, 36, 30], [27, 44, 6, 14], [15, 19, 8, 36]],
    [[0, 68, 49, 57], [28, 1, 52, 48], [28, 52, 6, 13], [12, 10, 44, 19]],
];
/// Which of the marks it is, in names.
const WHICH_MARK: i32 = 13;

/// What a kind of character costs in random text over three alphabets: letters of both cases, small letters,
/// capitals; each with digits and two marks.
const ALPHABETS: [[i32; 4]; 3] = [[10, 10, 21, 48], [4, 87, 15, 58], [87, 4, 15, 58]];

/// Hex digits that stand together and are this many are a digest or an address; they speak neither for nor
/// against.
const SHORTEST_HEX: usize = 6;

pub(super) fn bits(run: &[u8]) -> i32 {
    let mut name = 0;
    let mut counts = [0; 4];
    let (mut before, mut last, mut last_byte) = (Kind::MARK, Kind::MARK, b'.');
    for part in parts(run) {
        if part.len() >= SHORTEST_HEX && is_hex(part) {
            (before, last, last_byte) = (Kind::MARK, Kind::MARK, b'.');
            continue;
        }
        for byte in part {
            let kind = Kind::of(*byte);
            name += step(before, last, kind);
            if kind == Kind::MARK {
                name += WHICH_MARK;
            } else if kind <= Kind::UPPER
                && last <= Kind::UPPER
                && !(last == Kind::LOWER && kind == Kind::UPPER)
            {
                name -= letters(last_byte, *byte);
            }
            if let Some(count) = counts.get_mut(usize::from(kind)) {
                *count += 1;
            }
            (before, last, last_byte) = (last, kind, *byte);
        }
    }
    let cost = |alphabet: &[i32; 4]| alphabet.iter().zip(&counts).map(|(cost, count)| cost * count).sum();
    let random: i32 = ALPHABETS.iter().map(cost).min().unwrap_or(0);
    name - random
}

/// Letters and digits that stand together, and what stands between them.
fn parts(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    run.chunk_by(|a, b| a.is_ascii_alphanumeric() == b.is_ascii_alphanumeric())
}

fn step(before: u8, last: u8, kind: u8) -> i32 {
    let row = KINDS.get(usize::from(before)).and_then(|rows| rows.get(usize::from(last)));
    row.and_then(|row| row.get(usize::from(kind))).map_or(0, |cost| i32::from(*cost))
}

fn letters(a: u8, b: u8) -> i32 {
    let place = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let digit = LETTERS.get(place(a)).and_then(|row| row.get(place(b))).copied().unwrap_or(b'5');
    (i32::from(digit) - i32::from(b'5')) * BIT
}

fn is_hex(part: &[u8]) -> bool {
    let digits = part.strip_prefix(b"0x").unwrap_or(part);
    digits.iter().all(u8::is_ascii_hexdigit) && digits.iter().any(u8::is_ascii_digit)
}

/// Forms that are random, or look so, and are no secret wherever they stand.
pub(super) fn is_ordinary(run: &[u8]) -> bool {
    let marks = |wanted: &[u8]| run.iter().any(|byte| wanted.contains(byte));
    let hex = parts(run).all(|part| {
        part.strip_prefix(b"0x").unwrap_or(part).iter().all(u8::is_ascii_hexdigit)
            || part.first().is_some_and(|byte| Kind::of(*byte) == Kind::MARK)
    });
    hex || is_monotonous(run)
        || is_symbol(run)
        || STAND_INS.iter().any(|word| crate::check::contains_folded(run, word))
        || is_path(run)
        || KNOWN_FORMS.iter().any(|form| run.starts_with(form))
        || (marks(b".") && is_dotted(run))
        || (marks(b"+/") && marks(b"_-~"))
}

/// `1000.` and one or two digests, as some services number the accounts of their tokens.
pub(super) fn is_numbered_hex(run: &[u8]) -> bool {
    let mut parts = run.split(|byte| *byte == b'.');
    let number = parts.next().unwrap_or_default();
    let is_digest = |part: &[u8]| part.len() >= 32 && is_hex(part) && crate::check::entropy(part) >= 3.0;
    (2..=6).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && (1..=2).contains(&parts.clone().count())
        && parts.all(is_digest)
}

/// Few different characters, or characters in the order of a table.
fn is_monotonous(run: &[u8]) -> bool {
    let neighbors = run.windows(2).filter(|pair| matches!(pair, [a, b] if a.abs_diff(*b) <= 1)).count();
    neighbors * 3 > run.len() || crate::check::entropy(run) < 3.4
}

/// Names that compilers make, and names of hosts in other scripts.
fn is_symbol(run: &[u8]) -> bool {
    [b"_ZN".as_slice(), b"_Z", b"__Z", b"_R", b"?"].iter().any(|prefix| run.starts_with(prefix))
        || crate::check::contains(run, b"xn--")
}

/// Public keys, certificates, digests, pictures and fonts by the first bytes of their base64.
const KNOWN_FORMS: [&[u8]; 21] = [
    b"AAAAB3NzaC1",
    b"AAAAC3NzaC1",
    b"AAAAE2VjZHNh",
    b"MIIB",
    b"MIIC",
    b"MIID",
    b"MIIE",
    b"MIIF",
    b"MIIG",
    b"MIGf",
    b"MFkw",
    b"MCow",
    b"iVBORw0KG",
    b"R0lGOD",
    b"/9j/",
    b"UklGR",
    b"PHN2Zy",
    b"d09GM",
    b"AAABAA",
    b"sha",
    b"h1-",
];

/// Examples in documentation bear one of these in their middle.
const STAND_INS: [&[u8]; 3] = [b"example", b"xxxx", b"abcdef"];

fn is_path(run: &[u8]) -> bool {
    let slashes = memchr::memchr_iter(b'/', run).count();
    match run {
        [b'/', b'/', ..] => true,
        [b'.', b'/', ..] | [b'.', b'.', b'/', ..] | [b'~', b'/', ..] => true,
        [b'/', ..] if slashes >= 2 => true,
        _ => slashes >= 1 && run.contains(&b'.') || slashes * 6 > run.len(),
    }
}

/// `main.4f3aXb1c.js`, `d1a2b3c4.cloudfront.net`, `1.2.3`: the last part is a word, or none of them is long.
fn is_dotted(run: &[u8]) -> bool {
    let mut parts = run.split(|byte| *byte == b'.');
    let ending = parts.next_back().unwrap_or_default();
    let word = ending.len() <= 6 && ending.iter().all(u8::is_ascii_lowercase);
    word || !run.split(|byte| *byte == b'.').any(|part| part.len() >= super::SHORTEST_ELSEWHERE)
}
