//! What makes a value of one service more likely or certain. A checksum that is right excuses a value that looks
//! dull; a wrong one proves nothing, because keys in tests and documents are made up.

use crate::check::{entropy, mixed, plausible, varied};

/// Bits per byte that a value of letters and digits has when nothing else speaks for it.
const ORDINARY: f32 = 3.0;
/// A prefix speaks for a token, so only stand-ins are left out.
const PREFIXED: f32 = 1.9;

/// A value without a prefix: identifiers of the same length have hardly any digits.
pub(super) fn random(value: &[u8]) -> bool {
    mixed(value) && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

/// Thirty random characters, then their CRC-32 as six base-62 digits. npm writes its tokens the same way.
pub(super) fn github_checksum(value: &[u8]) -> bool {
    confirmed(value) || (varied(value) && entropy(value) >= PREFIXED && plausible(value))
}

/// The same with fifty characters.
pub(super) fn vercel_checksum(value: &[u8]) -> bool {
    confirmed(value) || (random(value) && entropy(value) >= ORDINARY)
}

fn confirmed(value: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some((body, tail)) = value.split_last_chunk::<6>() else { return false };
    let mut rest = crc32(body);
    tail.iter().rev().all(|byte| {
        let digit = DIGITS.get((rest % 62) as usize);
        rest /= 62;
        digit == Some(byte)
    })
}

/// The one of zip and PNG. Values are short, so a table is not worth its bytes.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_checksum_excuses_a_dull_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let dull = "abab".repeat(8);
        let body = dull.get(..30).unwrap();
        let mut rest = crc32(body.as_bytes());
        let mut tail = Vec::new();
        for _ in 0..6 {
            let digit = u8::try_from(rest % 62).unwrap();
            tail.push(match digit {
                0..=9 => b'0' + digit,
                10..=35 => b'A' + digit - 10,
                _ => b'a' + digit - 36,
            });
            rest /= 62;
        }
        tail.reverse();
        let value = [body.as_bytes(), &tail].concat();
        assert!(github_checksum(&value));
        assert!(!github_checksum(format!("{body}ababab").as_bytes()));
    }
}
