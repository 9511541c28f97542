//! The spellings a value can travel in. Small and total, so that no encoding crate is needed for known values.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[derive(Clone, Copy)]
pub(crate) enum Alphabet {
    Standard,
    UrlSafe,
}

/// Base64 with padding.
pub(crate) fn base64(bytes: &[u8], alphabet: Alphabet) -> Vec<u8> {
    let table = match alphabet {
        Alphabet::Standard => STANDARD,
        Alphabet::UrlSafe => URL_SAFE,
    };
    let letter = |bits: u32| table.get((bits & 63) as usize).copied().unwrap_or(b'=');
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let all = [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)];
        for (place, letter) in all.into_iter().enumerate() {
            out.push(if place <= chunk.len() { letter } else { b'=' });
        }
    }
    out
}

/// For each of the three alignments: the letters that are the same wherever the bytes stand in a longer text, then
/// those that follow when they stand at its end, and how many these are.
pub(crate) fn base64_inside(bytes: &[u8], alphabet: Alphabet) -> [(Vec<u8>, usize); 3] {
    [0usize, 1, 2].map(|shift| {
        let padded = [vec![0u8; shift].as_slice(), bytes].concat();
        let whole = padded.len() * 8 / 6;
        let encoded = base64(&padded, alphabet);
        // A letter is ours alone if all six bits are: skip those that hold bits of the bytes before.
        let skip = (shift * 8).div_ceil(6);
        (encoded.get(skip..).unwrap_or_default().to_vec(), encoded.len() - whole)
    })
}

/// Either alphabet, padding optional; `None` if a byte is neither.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut n_bits) = (0u32, 0u32);
    for byte in text.iter().take_while(|byte| **byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push(u8::try_from(bits >> n_bits & 0xff).unwrap_or(0));
        }
    }
    Some(out)
}

/// In small letters.
pub(crate) fn hex(bytes: &[u8]) -> Vec<u8> {
    hex_with(bytes, b"")
}

/// With a separator between two bytes.
pub(crate) fn hex_with(bytes: &[u8], separator: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * (2 + separator.len()));
    let digit = |half: u8| b"0123456789abcdef".get(usize::from(half)).copied().unwrap_or(b'0');
    for byte in bytes {
        if !out.is_empty() {
            out.extend_from_slice(separator);
        }
        out.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_agree_with_the_known_vectors() {
        for (plain, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes(), Alphabet::Standard), encoded.as_bytes());
            assert_eq!(decode_base64(encoded.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(hex(b"\x0f\xa0"), b"0fa0");
        assert_eq!(hex_with(b"\x0f\xa0\x01", b", 0x"), b"0f, 0xa0, 0x01");
    }

    #[test]
    fn the_inside_of_base64_is_found_at_every_alignment() {
        let value = b"some secret value";
        for before in 0..7 {
            for after in 0..4 {
                let text = [&vec![0xa5u8; before][..], value, &vec![0x5au8; after][..]].concat();
                let encoded = base64(&text, Alphabet::Standard);
                let hit = base64_inside(value, Alphabet::Standard)
                    .iter()
                    .map(|(letters, n_unsure)| &letters[..letters.len() - n_unsure])
                    .any(|inside| encoded.windows(inside.len()).any(|window| window == inside));
                assert!(hit, "{before} before, {after} after");
            }
        }
    }
}
