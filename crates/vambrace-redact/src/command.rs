//! Passwords among the arguments of programs that take them there.

use std::ops::Range;

use crate::check;
use crate::redactor::Found;

/// How far before its argument the program's name may stand.
const BEHIND: usize = 400;
/// A command with more arguments is not read to its end.
const MOST_WORDS: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// `-p value`
    Apart,
    /// `-pvalue`
    Glued,
}

/// Program, flag, and how the value follows.
const FLAGS: [(&str, &str, Manner); 21] = [
    ("sshpass", "-p", Manner::Apart),
    ("sshpass", "-p", Manner::Glued),
    ("mysql", "-p", Manner::Glued),
    ("docker login", "-p", Manner::Apart),
    ("podman login", "-p", Manner::Apart),
    ("helm registry login", "-p", Manner::Apart),
    ("oc login", "-p", Manner::Apart),
    ("az ", "-p", Manner::Apart),
    ("redis-cli", "-a", Manner::Apart),
    ("mongo", "-p", Manner::Apart),
    ("mongosh", "-p", Manner::Apart),
    ("ldapsearch", "-w", Manner::Apart),
    ("smbclient", "-U", Manner::Apart),
    ("7z a", "-p", Manner::Glued),
    ("zip", "-P", Manner::Apart),
    ("openssl", "-passin", Manner::Apart),
    ("openssl", "-passout", Manner::Apart),
    ("openssl", "-pass", Manner::Apart),
    ("openssl", "-k", Manner::Apart),
    ("xfreerdp", "/p:", Manner::Glued),
    ("cmdkey", "/pass:", Manner::Glued),
];

/// `place` is at the name of the program.
pub(crate) fn password(seen: &[u8], place: usize) -> Vec<Found> {
    let Some(rest) = seen.get(place..) else { return Vec::new() };
    let flags: Vec<_> = FLAGS.iter().filter(|(program, ..)| rest.starts_with(program.as_bytes())).collect();
    let mut found = Vec::new();
    let mut wanted = false;
    for word in words(rest).take(MOST_WORDS) {
        let text = rest.get(word.clone()).unwrap_or_default();
        if matches!(text, b"|" | b"&&" | b"||" | b";") {
            break;
        }
        let glued = flags.iter().filter(|(.., manner)| *manner == Manner::Glued).find_map(|(_, flag, _)| {
            text.strip_prefix(flag.as_bytes()).filter(|value| !value.is_empty()).map(|_| flag.len())
        });
        let value = match (wanted, glued) {
            (true, _) => Some(word.clone()),
            (false, Some(length)) => Some(word.start + length..word.end),
            (false, None) => None,
        };
        wanted = flags.iter().any(|(_, flag, manner)| *manner == Manner::Apart && text == flag.as_bytes());
        // One password is enough for one command.
        found.extend(value.and_then(|range| judged(rest, place, range)));
        if !found.is_empty() {
            break;
        }
    }
    found
}

/// `pass:word`, `user%word` and `'word'` hold the password in their end.
fn judged(rest: &[u8], place: usize, range: Range<usize>) -> Option<Found> {
    let text = rest.get(range.clone())?;
    let quotes = text.iter().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    let skip = if text.starts_with(b"pass:") {
        5
    } else if range.start > 3 && rest.starts_with(b"smbclient") {
        memchr::memchr(b'%', text)? + 1
    } else {
        quotes
    };
    let value = text.get(skip..)?;
    let closing = value.iter().rev().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    let value = value.get(..value.len() - closing)?;
    let elsewhere = text.starts_with(b"env:") || text.starts_with(b"file:") || text.starts_with(b"-");
    if elsewhere || value.len() < 4 || !check::is_password(value) {
        return None;
    }
    let start = place + range.start + skip;
    Some(Found { extent: place..start + value.len(), value: start..start + value.len() })
}

/// Words between spaces; quotes keep spaces together.
fn words(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let start = at;
        let mut quote = None;
        let length = line.get(at..)?.iter().position(|byte| match quote {
            Some(open) => {
                if *byte == open {
                    quote = None;
                }
                false
            }
            None => {
                if matches!(byte, b'"' | b'\'') {
                    quote = Some(*byte);
                }
                matches!(byte, b' ' | b'\t')
            }
        });
        at = length.map_or(line.len(), |length| start + length);
        (at > start).then_some(start..at)
    })
}

/// `place` is at the flag: `-u name:password`.
pub(crate) fn curl_user(seen: &[u8], place: usize) -> Vec<Found> {
    user(seen, place).into_iter().collect()
}

fn user(seen: &[u8], place: usize) -> Option<Found> {
    let rest = seen.get(place..)?;
    let flag = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let oauth = rest.starts_with(b"--oauth2");
    let gap = rest.get(flag..)?.iter().take(4).take_while(|byte| matches!(byte, b' ' | b'=')).count();
    let start = flag + gap;
    // Another flag follows, and no value.
    if rest.get(start) == Some(&b'-') {
        return None;
    }
    let word = words(rest.get(start..)?).next()?;
    let text = rest.get(start + word.start..start + word.end)?;
    let first = place + start + word.start;
    let quotes = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\');
    let open = text.iter().take_while(|byte| quotes(byte)).count();
    let inner = text.get(open..)?;
    let inner = inner.get(..inner.len() - inner.iter().rev().take_while(|byte| quotes(byte)).count())?;
    let range = if oauth {
        0..inner.len()
    } else {
        let colon = memchr::memchr(b':', inner)?;
        let (name, password) = (inner.get(..colon)?, inner.get(colon + 1..)?);
        match password.len() {
            // Some services want the key as the user, and no password.
            0 if name.len() >= 6 && check::not_dummy(name) => 0..colon,
            0..3 => return None,
            _ => {
                let skip = password.iter().take_while(|byte| quotes(byte)).count();
                colon + 1 + skip..inner.len()
            }
        }
    };
    let value = inner.get(range.clone())?;
    let stand_in = matches!(inner, [b'<' | b'[' | b'-', ..]);
    if stand_in || !check::is_password(value) || !is_request(seen, place) {
        return None;
    }
    let range = first + open + range.start..first + open + range.end;
    Some(Found { extent: place..range.end, value: range })
}

/// Is the line, or what it continues, a call of a program that takes a user this way?
fn is_request(seen: &[u8], place: usize) -> bool {
    let before = seen.get(place.saturating_sub(BEHIND)..place).unwrap_or_default();
    let from = memchr::memrchr_iter(b'\n', before)
        .find(|end| before.get(..*end).is_none_or(|line| !line.trim_ascii_end().ends_with(b"\\")))
        .map_or(0, |end| end + 1);
    let command = before.get(from..).unwrap_or_default();
    [b"curl".as_slice(), b"http ", b"https ", b"wget"].iter().any(|name| check::contains(command, name))
}
