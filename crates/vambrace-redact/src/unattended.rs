//! The answer file of a setup of Windows: `<AdministratorPassword>`, then `<Value>` around the
//! password.

use crate::check::is_password;
use crate::redactor::Found;

/// `place` is at the element around `<Value>`; white space and line breaks may stand between the
/// two.
pub(crate) fn find(seen: &[u8], place: usize) -> Vec<Found> {
    find_one(seen, place).into_iter().collect()
}

fn find_one(seen: &[u8], place: usize) -> Option<Found> {
    const INNER: &[u8] = b"<value>";
    let element = memchr::memchr(b'>', seen.get(place..)?)? + 1;
    let gap = seen.get(place + element..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let inner = place + element + gap;
    let start = inner + INNER.len();
    seen.get(inner..start).filter(|found| found.eq_ignore_ascii_case(INNER))?;
    let rest = seen.get(start..)?;
    let end = start + memchr::memchr2(b'<', b'\n', rest)?;
    seen.get(start..end).filter(|value| is_password(value))?;
    Some(Found { value: start..end, extent: place..end })
}
