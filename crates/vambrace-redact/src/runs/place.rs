//! Is this a place where secrets stand? Looks at the line of a run and, when the run is alone on it, at its
//! neighbors.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use super::{Looks, Verdict, in_run, odds};
use crate::custom::Whole;
use crate::encode::decode_base64;
use crate::placeholder;
use crate::redactor::Found;

/// How far before a run we look. With a placeholder before that, this is less than what a stream keeps.
const BEHIND: usize = 400;
/// How far behind a run we look.
pub(super) const AHEAD: usize = 400;
/// How far before a run on its line a word counts.
const NEAR: usize = 48;
/// How far before a run on its line the name of what it is assigned to begins.
const FARTHEST: usize = 112;
/// How much of the next line is looked at. A placeholder that begins there has arrived whole.
const NEXT: usize = AHEAD - placeholder::LONGEST - 1;
const LONGEST_NAME: usize = 64;
/// Only beside a word for credentials is a longer run one secret; elsewhere it is data.
const LONGEST_ELSEWHERE: usize = 128;

/// Words that announce a credential.
static CREDENTIAL: WordList = WordList::new(
    "\
    key keys apikey token tokens secret secrets password passwd pwd pass passphrase passcode auth \
    authorization authtoken authkey bearer credential credentials cred creds cookie session sessionid \
    license access accesskey secretkey privatekey jwt oauth apitoken accesstoken pat webhook",
);

/// Words for random text that everybody may see, anywhere before the run.
static HARMLESS: WordList = WordList::new(
    "\
    sha md hash hashes hashed checksum checksums chksum digest digests integrity etag fingerprint \
    thumbprint commit rev revision nonce public pub pubkey publickey cert certificate certificates csrf \
    xsrf publishable crc blake ripemd hmac modulus signature sigs sri ssh gpg pgp websocket mac \
    challenge authenticity gclid fbclid msclkid cursor ulid nexttoken pagetoken",
);

/// Words in the name of a value that is no secret.
static PLAIN_NAME: WordList = WordList::new(
    "\
    id ids uuid guid url uri href src path file filename dir class classname style color image img icon \
    data content body text title version name names type sig expected actual encoded decoded base input \
    output example sample vector plaintext ciphertext msg message d alphabet chars charset pattern regex \
    link cid shape agent list ref refs marker cipher h",
);

pub(super) fn judge(hay: &[u8], run: Range<usize>, bits: i32, looks: Looks, whole: Whole) -> Verdict {
    let Some(after) = rest_of_line(hay, run.end, whole) else { return Verdict::Unknown };
    let before = start_of_line(hay, run.start);
    let padding = after.iter().take(2).take_while(|byte| **byte == b'=').count();
    let end = run.end + padding;
    let rest = after.get(padding..).unwrap_or_default();
    let near = before.get(before.len().saturating_sub(FARTHEST)..).unwrap_or_default();
    let value = Value { before: near, run: hay.get(run.clone()).unwrap_or_default(), rest };
    // INVARIANT: the extent is all that was looked at. If a redaction changes any of it, the second time
    // there is a placeholder in it, and the run stays as it was.
    if value.is_named_secret(bits, looks) {
        let extent = run.start - near.len()..run.end + after.len().min(NEAR);
        return Verdict::Secret(Found { value: run.start..end, extent });
    }
    let can_be_alone = looks != Looks::Named
        && bits >= odds::CLEAR
        && run.len() <= LONGEST_ELSEWHERE
        && is_blank(before)
        && is_blank(rest);
    if !can_be_alone || is_encoded_text(value.run) {
        return Verdict::Plain;
    }
    let Some(next) = next_line(hay, run.end + after.len(), whole) else { return Verdict::Unknown };
    let previous = previous_line(hay, run.start - before.len(), run.start.saturating_sub(BEHIND));
    let Some(previous) = previous else { return Verdict::Plain };
    let neighbors = [previous, next];
    // A line of code may hold nothing but a text in quotes.
    let is_quoted = before.iter().any(|byte| !byte.is_ascii_whitespace());
    if neighbors.into_iter().any(|line| resembles(line) || (is_quoted && !line.trim_ascii().is_empty())) {
        return Verdict::Plain;
    }
    let first = (run.start - before.len() - previous.len()).saturating_sub(1);
    let extent = first..run.end + after.len() + 1 + next.len();
    Verdict::Secret(Found { value: run.start..end, extent })
}

/// At most `AHEAD` bytes; `None` when they have not arrived.
fn rest_of_line(hay: &[u8], from: usize, whole: Whole) -> Option<&[u8]> {
    let rest = hay.get(from..hay.len().min(from + AHEAD)).unwrap_or_default();
    match memchr::memchr(b'\n', rest) {
        Some(length) => rest.get(..length),
        None => (rest.len() == AHEAD || whole == Whole::Yes).then_some(rest),
    }
}

fn start_of_line(hay: &[u8], to: usize) -> &[u8] {
    let before = hay.get(to.saturating_sub(BEHIND)..to).unwrap_or_default();
    before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// The line behind the line break at `end`.
fn next_line(hay: &[u8], end: usize, whole: Whole) -> Option<&[u8]> {
    let line = rest_of_line(hay, end + 1, whole)?;
    line.get(..line.len().min(NEXT))
}

/// The line before the line that begins at `start`. `None` when it does not begin within our sight.
fn previous_line(hay: &[u8], start: usize, sight: usize) -> Option<&[u8]> {
    let Some(end) = start.checked_sub(1) else { return Some(&[]) };
    let before = hay.get(sight..end)?;
    match memchr::memrchr(b'\n', before) {
        Some(last) => before.get(last + 1..),
        None => (sight == 0).then_some(before),
    }
}

/// A line of one word, as the lines of a wrapped block, of a list of digests and of a word list are; or the
/// edge of a block.
fn resembles(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let in_word = |byte: &u8| in_run(*byte) || b"=\"',:".contains(byte);
    (line.len() >= 8 && line.iter().all(in_word)) || line.starts_with(b"-----") || line.ends_with(b"=")
}

struct Value<'t> {
    /// The line up to the run.
    before: &'t [u8],
    run: &'t [u8],
    /// The line behind it.
    rest: &'t [u8],
}

impl Value<'_> {
    fn is_named_secret(&self, bits: i32, looks: Looks) -> bool {
        let near = self.before.get(self.before.len().saturating_sub(NEAR)..).unwrap_or_default();
        if !self.ends_here() || words(near).any(|word| is_in(word, &HARMLESS)) {
            return false;
        }
        let name = self.name();
        if name.is_some_and(|name| words(name).any(|word| is_in(word, &PLAIN_NAME))) {
            return false;
        }
        let announced = |text: &[u8]| words(text).any(|word| is_in(word, &CREDENTIAL));
        if name.is_some_and(announced) {
            return true;
        }
        if looks != Looks::Random {
            return looks == Looks::Token && !words(self.run).any(|word| is_in(word, &HARMLESS));
        }
        let named = name.is_some_and(|name| name.len() >= 3);
        (announced(near) || (named && bits >= odds::CLEAR && self.run.len() <= LONGEST_ELSEWHERE))
            && !is_encoded_text(self.run)
    }

    /// Nothing is glued to the run that would make it a part of something else.
    fn ends_here(&self) -> bool {
        let opening = self.before.last().copied().unwrap_or(b' ');
        let opens = opening.is_ascii_whitespace() || b"\"'`=:>(,[{|&?@<".contains(&opening);
        // A sentence may end here.
        let rest = trim_start(self.rest, b".");
        let closing = rest.first().copied().unwrap_or(b' ');
        let closes = closing.is_ascii_whitespace() || b"\"'`\\,;)]}|&<>@#".contains(&closing);
        let is_quote = matches!(closing, b'"' | b'\'' | b'`');
        opens && closes && (!is_quote || self.before.contains(&closing))
    }

    /// What the run is assigned to: `name = run`, `"name": "run"`, `name: &str = "run"`, `Name: run`.
    fn name(&self) -> Option<&[u8]> {
        let quoted = matches!(self.before.last(), Some(b'"' | b'\'' | b'`'));
        let before = trim_end(self.before, b"\"'`\\");
        let before = match before {
            [head @ .., b'b' | b'r' | b'u' | b'f' | b'@'] if quoted && !head.last().is_some_and(is_name) => {
                head
            }
            _ => before,
        };
        let before = trim_end(before, b" \t*&");
        let (before, joint) = before.split_last().map(|(joint, before)| (before, *joint))?;
        let joins = matches!(joint, b'=' | b':') || (joint == b'>' && before.last() == Some(&b'='));
        // An element holds nothing but the run; otherwise this is the first line of a block.
        let encloses = joint == b'>' && self.rest.starts_with(b"</");
        let pairs = joint == b',' && quoted;
        if !joins && !pairs && !encloses {
            return None;
        }
        let before = trim_end(before, b" \t=:!?+");
        let before = untyped(before).unwrap_or(before);
        let before = trim_end(before, b" \t\"'`\\])[");
        let length = before.iter().rev().take(LONGEST_NAME).take_while(|byte| is_name(byte)).count();
        let name = before.get(before.len() - length..)?;
        name.iter().any(u8::is_ascii_alphabetic).then_some(name)
    }
}

/// Nothing but spaces and quotes.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))
}

/// Base64 of something that one can read.
fn is_encoded_text(run: &[u8]) -> bool {
    let readable = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    decode_base64(run).is_some_and(|text| text.iter().all(readable))
}

/// `let key: [u8; 32]` without its type.
fn untyped(text: &[u8]) -> Option<&[u8]> {
    let type_like = |byte: &u8| is_name(byte) || b"&'<>[]; *?".contains(byte);
    let length = text.iter().rev().take(LONGEST_NAME).take_while(|byte| type_like(byte)).count();
    text.get(..text.len() - length)?.strip_suffix(b":").filter(|head| !head.ends_with(b":"))
}

fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn trim_end<'t>(text: &'t [u8], any: &[u8]) -> &'t [u8] {
    let n_trimmed = text.iter().rev().take_while(|byte| any.contains(byte)).count();
    text.get(..text.len() - n_trimmed).unwrap_or_default()
}

fn trim_start<'t>(text: &'t [u8], any: &[u8]) -> &'t [u8] {
    let n_trimmed = text.iter().take_while(|byte| any.contains(byte)).count();
    text.get(n_trimmed..).unwrap_or_default()
}

pub(super) fn is_in(word: &[u8], list: &WordList) -> bool {
    const LONGEST: usize = 24;
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    list.set
        .get_or_init(|| list.words.split_ascii_whitespace().map(str::as_bytes).collect())
        .contains(&*lower)
}

/// Words in lower case, parted by spaces. They are asked for at every random text.
pub(super) struct WordList {
    words: &'static str,
    set: OnceLock<HashSet<&'static [u8]>>,
}

impl WordList {
    pub(super) const fn new(words: &'static str) -> WordList {
        WordList { words, set: OnceLock::new() }
    }
}

/// The words of names and sentences: `secretKey`, `APIKey` and `api_key` have two each.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.chunk_by(|a, b| {
        a.is_ascii_alphabetic()
            && b.is_ascii_alphabetic()
            && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
    })
    .flat_map(|word| {
        let capitals = word.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let cut = if capitals < word.len() { capitals.saturating_sub(1) } else { 0 };
        let (acronym, word) = word.split_at_checked(cut).unwrap_or((&[], word));
        [acronym, word]
    })
    .filter(|word| word.first().is_some_and(u8::is_ascii_alphabetic))
}
