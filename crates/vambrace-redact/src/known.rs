//! Values that are known to be secret, in every spelling they are likely to travel in.
//!
//! A spelling is one fixed text. What is not fixed, such as line wraps and escapes, `seams` reads through.

use std::sync::Arc;

use vambrace_types::Secret;

use crate::encode::{self, Alphabet};
use crate::environment::is_words;
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
pub(crate) const LONGEST_PIECE: usize = 256;
/// A line of a value of several lines that is searched for on its own.
const SHORTEST_LINE: usize = 16;

/// Hexadecimal is written in letters of either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Case {
    Exact,
    Either,
}

/// May it be wrapped or partly escaped?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Elastic,
    Fixed,
}

/// One text to look for.
pub(crate) struct Spelling {
    text: Secret<Vec<u8>>,
    /// So many bytes are the value alone. What follows depends on what stands behind the value, and goes as far as it
    /// agrees.
    pub(crate) n_sure: usize,
    pub(crate) case: Case,
    pub(crate) form: Form,
}

impl Spelling {
    pub(crate) fn text(&self) -> &[u8] {
        self.text.expose()
    }

    /// Is the spelling's beginning, or all of it, `text`?
    pub(crate) fn starts_with(&self, text: &[u8]) -> bool {
        self.continues(0, text)
    }

    /// Does the spelling go on with `text` after its first `offset` bytes?
    pub(crate) fn continues(&self, offset: usize, text: &[u8]) -> bool {
        let ours = self.text().get(offset..offset + text.len());
        ours.is_some_and(|ours| ours.iter().zip(text).all(|(ours, theirs)| self.agree(*ours, *theirs)))
    }

    /// As much of it as stands there whatever follows.
    pub(crate) fn sure(&self) -> &[u8] {
        self.text().get(..self.n_sure).unwrap_or(self.text())
    }

    pub(crate) fn agree(&self, ours: u8, theirs: u8) -> bool {
        ours == theirs || (self.case == Case::Either && ours == theirs.to_ascii_lowercase())
    }
}

/// The value as it is, with spaces as forms write them, backwards, in hexadecimal, in base64 (alone and as part of longer
/// text) and in UTF-16; and the telling lines of a value of several.
pub(crate) fn spellings(value: &str) -> Vec<Arc<Spelling>> {
    let value = value.trim();
    if value.chars().count() < SHORTEST {
        return Vec::new();
    }
    let mut all = Vec::new();
    spell(value, &mut all);
    for line in lines(value) {
        spell(line, &mut all);
    }
    all.retain(|draft| draft.n_sure >= SHORTEST);
    all.sort_unstable();
    all.dedup();
    all.into_iter()
        .map(|Draft { text, n_sure, case, form }| {
            Arc::new(Spelling { text: Secret::new(text), n_sure, case, form })
        })
        .collect()
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Draft {
    text: Vec<u8>,
    n_sure: usize,
    case: Case,
    form: Form,
}

fn spell(value: &str, all: &mut Vec<Draft>) {
    let bytes = value.as_bytes();
    let mut add = |text: Vec<u8>, n_unsure: usize, case: Case, form: Form| {
        let mut left = pieces(&text).into_iter().peekable();
        while let Some(piece) = left.next() {
            let n_unsure = if left.peek().is_none() { n_unsure } else { 0 };
            let n_sure = piece.len().saturating_sub(n_unsure);
            all.push(Draft { text: piece.to_vec(), n_sure, case, form });
        }
    };
    add(bytes.to_vec(), 0, Case::Exact, Form::Elastic);
    if value.contains(' ') {
        add(value.replace(' ', "+").into_bytes(), 0, Case::Exact, Form::Elastic);
    }
    add(value.chars().rev().collect::<String>().into_bytes(), 0, Case::Exact, Form::Elastic);
    add(encode::hex(bytes), 0, Case::Either, Form::Elastic);
    for (separator, form) in [
        (":", Form::Elastic),
        (" ", Form::Elastic),
        ("-", Form::Fixed),
        (", 0x", Form::Elastic),
        (",0x", Form::Fixed),
        (" 0x", Form::Fixed),
    ] {
        // A piece begins and ends with a byte, because a separator tells nothing.
        let n_parts = bytes.len().div_ceil(LONGEST_PIECE / (2 + separator.len()));
        for part in bytes.chunks(bytes.len().div_ceil(n_parts.max(1)).max(1)) {
            add(encode::hex_with(part, separator.as_bytes()), 0, Case::Either, form);
        }
    }
    for alphabet in [Alphabet::Standard, Alphabet::UrlSafe] {
        for (letters, n_unsure) in encode::base64_inside(bytes, alphabet) {
            add(letters, n_unsure, Case::Exact, Form::Elastic);
        }
    }
    // As Windows writes text. Its last zero is left out, and then the other order of bytes has the same spelling.
    let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (letters, n_unsure) in encode::base64_inside(&wide, Alphabet::Standard) {
        add(letters, n_unsure, Case::Exact, Form::Fixed);
    }
    add(wide.strip_suffix(&[0]).unwrap_or(&wide).to_vec(), 0, Case::Exact, Form::Fixed);
}

/// The words of a value of several lines that are secret on their own: a line of a key is, `"type": "service_account",`
/// is not. A line may also end in the two characters `\n`, as keys in variables often do.
fn lines(value: &str) -> impl Iterator<Item = &str> {
    let several = value.contains('\n') || value.contains("\\n");
    let lines = several.then(|| value.split('\n').flat_map(|line| line.split("\\n")));
    let between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '{' | '}');
    let telling = |word: &&str| {
        let has = |class: fn(&u8) -> bool| usize::from(word.bytes().any(|byte| class(&byte)));
        let n_classes = has(u8::is_ascii_lowercase) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_digit);
        // Addresses and paths have words between their separators.
        word.chars().count() >= SHORTEST_LINE
            && n_classes >= 2
            && !word.contains("://")
            && !word.split(['/', '@', '.']).all(is_words)
    };
    lines.into_iter().flatten().flat_map(move |line| line.split(between)).filter(telling)
}

/// Nearly equal pieces, cut between characters.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    // A cut moves back by at most three bytes to the beginning of a character; without room for that, a crumb too
    // short to be searched for would be left at the end.
    const SLACK: usize = 3;
    let n_pieces = text.len().div_ceil(LONGEST_PIECE - SLACK);
    let size = text.len().div_ceil(n_pieces.max(1)) + SLACK;
    let mut rest = text;
    let mut pieces = Vec::with_capacity(n_pieces);
    while rest.len() > size {
        let inside = |cut: &usize| rest.get(*cut).is_some_and(|byte| byte & 0xc0 == 0x80);
        let cut = (size - SLACK..=size).rev().find(|cut| !inside(cut)).unwrap_or(size);
        let (piece, tail) = rest.split_at(cut);
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
        let pieces = pieces(long.as_bytes());
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST_PIECE && piece.len() > LONGEST_PIECE / 2));
        assert!(pieces.iter().all(|piece| std::str::from_utf8(piece).is_ok()));
        assert_eq!(pieces.concat(), long.as_bytes());
    }

    #[test]
    fn telling_lines_count_and_ordinary_ones_do_not() {
        let random = ["x9Kd02mQ", "77pZ41Lw", "Yt"].concat();
        let account = format!(
            "{{\n  \"type\": \"service_account\",\n  \"project_id\": \"my-project-number-one\",\n  \
             \"token_uri\": \"https://oauth2.example.com/token\",\n  \
             \"client_email\": \"robot@my-project.iam.example.com\",\n  \
             \"key\": \"{random}\\n{random}2\\n\",\n  \"universe_domain\": \"example.com\"\n}}"
        );
        assert_eq!(lines(&account).collect::<Vec<_>>(), [random.clone(), format!("{random}2")]);
        assert_eq!(lines("-----BEGIN PRIVATE\nSOME ORDINARY WORDS-----").count(), 0);
        assert_eq!(lines(&random).count(), 0, "one line is the value itself");
    }
}
