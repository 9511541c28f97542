//! The shapes in which a value may come back.

use vambrace_types::Secret;

/// LIMIT: bytes of a form in other letters than the value's. Shorter ones are found where no value is.
const SHORTEST: usize = 8;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Of a value and the header that it is sent in, the longest first.
///
/// LIMIT: what a server makes of it otherwise (base64 in lines, twice encoded, reversed, in halves) it gives
/// away; it is one that the operator trusts with it.
pub(super) fn forms(value: &str, header: &str) -> Vec<Secret<Vec<u8>>> {
    if value.is_empty() {
        return Vec::new();
    }
    let mut own: Vec<Vec<u8>> = Vec::new();
    let mut recoded: Vec<Vec<u8>> = Vec::new();
    for text in [value, header] {
        own.push(text.as_bytes().to_vec());
        for case in [Case::Upper, Case::Lower] {
            // Whole, and as many leave signs that mean something in a path, a query or an address as they are.
            for kept in ["", "/", "/:@", "!*'()", "/!*'()", "!$&'()*+,;=:@/"] {
                own.push(percent(text, kept, case));
            }
            // As it has to be, as some write slashes, as some write slashes and what HTML knows.
            for escaped in ["", "/", "/&<>'=+"] {
                own.push(json(text, escaped, case));
            }
            own.push(json(text, "&<>'=+", case));
            recoded.push(hex(text, case));
        }
        own.push(json_with_slashes(text));
        for digits in [STANDARD, FOR_URLS] {
            let bare = base64(text.as_bytes(), digits);
            let mut padded = bare.clone();
            padded.resize(bare.len().next_multiple_of(4), b'=');
            recoded.extend([padded, bare]);
        }
    }
    // `user:value` and the like: whatever stands before and after, these digits are the value's.
    for digits in [STANDARD, FOR_URLS] {
        recoded.extend((0..3).map(|n_before| inner(value.as_bytes(), n_before, digits)));
    }
    recoded.retain(|form| form.len() >= SHORTEST);
    own.extend(recoded);
    own.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    own.dedup();
    own.into_iter().map(Secret::new).collect()
}

#[derive(Debug, Clone, Copy)]
enum Case {
    Upper,
    Lower,
}

impl Case {
    fn hex(self, byte: u8) -> String {
        match self {
            Case::Upper => format!("{byte:02X}"),
            Case::Lower => format!("{byte:02x}"),
        }
    }
}

fn hex(text: &str, case: Case) -> Vec<u8> {
    text.bytes().flat_map(|byte| case.hex(byte).into_bytes()).collect()
}

fn percent(text: &str, kept: &str, case: Case) -> Vec<u8> {
    let mut encoded = Vec::new();
    for byte in text.bytes() {
        let is_free = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if is_free || kept.as_bytes().contains(&byte) {
            encoded.push(byte);
        } else {
            encoded.push(b'%');
            encoded.extend_from_slice(case.hex(byte).as_bytes());
        }
    }
    encoded
}

/// The inside of a JSON string, with these characters as `\u00XX`. A value fits into a header, so it has no
/// line ends.
fn json(text: &str, escaped: &str, case: Case) -> Vec<u8> {
    let mut encoded = Vec::new();
    for byte in text.bytes() {
        if escaped.as_bytes().contains(&byte) {
            encoded.extend_from_slice(b"\\u00");
            encoded.extend_from_slice(case.hex(byte).as_bytes());
            continue;
        }
        if matches!(byte, b'"' | b'\\') {
            encoded.push(b'\\');
        }
        encoded.push(byte);
    }
    encoded
}

fn json_with_slashes(text: &str) -> Vec<u8> {
    let mut encoded = Vec::new();
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\' | b'/') {
            encoded.push(b'\\');
        }
        encoded.push(byte);
    }
    encoded
}

/// As RFC 4648 has it, without padding.
fn base64(bytes: &[u8], digits: &[u8; 64]) -> Vec<u8> {
    let digit = |bits: u32| digits.get((bits & 63) as usize).copied().unwrap_or(b'=');
    let mut encoded = Vec::new();
    for chunk in bytes.chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let four = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        encoded.extend(four.iter().take(chunk.len() + 1));
    }
    encoded
}

/// The digits that hold bits of the value only, when so many bytes of another kind stand before it.
fn inner(value: &[u8], n_before: usize, digits: &[u8; 64]) -> Vec<u8> {
    let mut bytes = vec![0; n_before];
    bytes.extend_from_slice(value);
    let encoded = base64(&bytes, digits);
    let (first, end) = ((8 * n_before).div_ceil(6), 8 * bytes.len() / 6);
    encoded.get(first..end).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(value: &str, header: &str, text: &str, expected: bool) {
        let found = forms(value, header).iter().any(|form| form.expose() == text.as_bytes());
        assert_eq!(found, expected, "{text} of {value}");
    }

    #[test]
    fn a_value_has_these_forms() {
        for form in [
            "pa/ss+word",
            "Token pa/ss+word",
            "pa%2Fss%2Bword",
            "pa%2fss%2bword",
            "Token%20pa%2Fss%2Bword",
            "pa\\/ss+word",
            "pa\\u002fss+word",
            "pa\\u002Fss+word",
            "pa\\u002fss\\u002bword",
            "pa/ss\\u002bword",
            "cGEvc3Mrd29yZA==",
            "cGEvc3Mrd29yZA",
            "VG9rZW4gcGEvc3Mrd29yZA==",
            "70612f73732b776f7264",
            "70612F73732B776F7264",
        ] {
            check("pa/ss+word", "Token pa/ss+word", form, true);
        }
        check("~~?~~?~~?", "x", "fn4_fn4_fn4_", true);
        check("~~?~~?~~?", "x", "fn4/fn4/fn4/", true);
        check("a\"b\\c", "x", "a\\\"b\\\\c", true);
        // Short ones in other letters stand for too much else.
        check("abc", "abc", "abc", true);
        check("abc", "abc", "YWJj", false);
        check("abc", "abc", "616263", false);
        check("abcd", "abcd", "61626364", true);
        assert!(forms("", "Token ").is_empty());
    }

    #[test]
    fn the_longest_is_the_first() {
        let lengths: Vec<usize> =
            forms("pa/ss+word", "T pa/ss+word").iter().map(|form| form.expose().len()).collect();
        assert!(lengths.is_sorted_by(|one, other| one >= other), "{lengths:?}");
    }

    #[test]
    fn base64_is_rfc_4648s() {
        let rows =
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("~~?", "fn4/")];
        for (text, expected) in rows {
            assert_eq!(String::from_utf8(base64(text.as_bytes(), STANDARD)).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_around_it_a_value_in_base64_is_found(
            before in "[ -~]{0,9}",
            value in "[!-~]{8,20}",
            after in "[ -~]{0,9}",
        ) {
            for digits in [STANDARD, FOR_URLS] {
                let text = base64(format!("{before}{value}{after}").as_bytes(), digits);
                let forms = forms(&value, &format!("Bearer {value}"));
                let found = forms.iter().any(|form| memchr::memmem::find(&text, form.expose()).is_some());
                prop_assert!(found);
            }
        }
    }
}
