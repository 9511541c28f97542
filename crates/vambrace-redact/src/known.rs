//! Values that are known to be secret, in every spelling they are likely to travel in.

use vambrace_types::{Secret, write_json_text};

use crate::encode::{self, Alphabet, Letters};
use crate::placeholder::RuleName;

/// A secret that we hold, and the name under which its redactions appear.
#[derive(Debug, Clone)]
pub struct KnownValue {
    pub name: String,
    pub value: Secret<String>,
}

impl KnownValue {
    pub(crate) fn rule(&self) -> RuleName {
        if self.name.is_empty() {
            RuleName::new("known-value")
        } else {
            RuleName::new(&format!("env-{}", self.name))
        }
    }
}

/// LIMIT: shorter values are ordinary words too often; they are not searched for.
pub(crate) const SHORTEST: usize = 8;
/// Longer values are searched for in pieces, so that the stream's window stays small whatever the secrets are.
const LONGEST_PIECE: usize = 1024;

/// Byte strings to look for: the value as it is, in JSON, in a URL, in hexadecimal, in base64 (alone and as part of
/// longer text) and backwards.
pub(crate) fn spellings(value: &str) -> Vec<Secret<Vec<u8>>> {
    let value = value.trim();
    if value.chars().count() < SHORTEST {
        return Vec::new();
    }
    let mut all: Vec<Vec<u8>> = pieces(value).into_iter().flat_map(spellings_of_piece).collect();
    all.retain(|spelling| spelling.len() >= SHORTEST);
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(Secret::new).collect()
}

fn spellings_of_piece(piece: &str) -> Vec<Vec<u8>> {
    let bytes = piece.as_bytes();
    let mut json = String::new();
    write_json_text(piece, &mut json);
    let mut all = vec![
        bytes.to_vec(),
        json.trim_matches('"').as_bytes().to_vec(),
        piece.chars().rev().collect::<String>().into_bytes(),
    ];
    for letters in [Letters::Lower, Letters::Upper] {
        all.push(encode::hex(bytes, letters));
        let percent = encode::percent(bytes, letters);
        // Forms write a space as a plus sign.
        all.push(String::from_utf8_lossy(&percent).replace("%20", "+").into_bytes());
        all.push(percent);
    }
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        all.push(encode::base64(bytes, alphabet));
        all.extend(encode::base64_inside(bytes, alphabet));
    }
    all
}

/// Nearly equal pieces, cut between characters.
fn pieces(value: &str) -> Vec<&str> {
    // A cut moves back by at most three bytes to the beginning of a character; without room for that, a crumb too
    // short to be searched for would be left at the end.
    const SLACK: usize = 3;
    let n_pieces = value.len().div_ceil(LONGEST_PIECE - SLACK);
    let size = value.len().div_ceil(n_pieces.max(1)) + SLACK;
    let mut rest = value;
    let mut pieces = Vec::with_capacity(n_pieces);
    while rest.len() > size {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(size));
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_left_alone_and_long_ones_cut() {
        assert!(spellings("1234567").is_empty());
        assert!(!spellings("12345678").is_empty());
        let long = "é9".repeat(2000);
        assert!(
            pieces(&long).iter().all(|piece| piece.len() <= LONGEST_PIECE && piece.len() > LONGEST_PIECE / 2)
        );
        assert_eq!(pieces(&long).concat(), long);
    }
}
