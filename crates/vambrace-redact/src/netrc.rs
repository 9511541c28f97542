//! `.netrc`: `machine … login … password …`, with any white space between the words, line breaks too.

use crate::check;
use crate::redactor::Found;

/// How far back the words before `password` are looked for.
const BEHIND: usize = 256;

/// `place` is at the word `password`.
pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    value(seen, place).into_iter().collect()
}

fn value(seen: &[u8], place: usize) -> Option<Found> {
    let after = seen.get(place + "password".len()..)?;
    let gap = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let word = after.get(gap..)?.split(u8::is_ascii_whitespace).next()?;
    let before = seen.get(place.saturating_sub(BEHIND)..place)?;
    let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let _user = words.next()?;
    let named = words.next()?;
    let belongs = ["login", "machine", "account", "user"]
        .iter()
        .any(|name| named.eq_ignore_ascii_case(name.as_bytes()));
    // Nothing but a password stands there, so a row of digits and letters is one too.
    let stand_in = !check::plausible(word) || check::is_password_word(word);
    if !belongs || gap == 0 || word.len() < 4 || stand_in {
        return None;
    }
    let start = place + "password".len() + gap;
    Some(Found { value: start..start + word.len(), extent: place..start + word.len() })
}
