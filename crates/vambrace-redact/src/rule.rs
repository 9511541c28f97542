//! What a rule is: a row of data. The rows are made of `rules/*.rules`; how they are applied is the
//! engine's business.

use crate::class::{ByteClass, hex, none, word};
use crate::redactor::Found;
use crate::{assignment, beside};

/// Whose name a redaction bears when several rules found overlapping text; the first wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Known,
    /// The text itself shows what it is: a prefix, a checksum, a fixed form.
    Specific,
    /// Only the surroundings make it a secret.
    Generic,
    /// Nothing but its randomness, in a place where secrets stand.
    Entropy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Exact,
    Any,
}

/// Where a match begins, seen from the keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lead {
    At,
    /// This many bytes before the keyword.
    Exactly(usize),
    /// Before the keyword stands a run of such bytes, at most `Rule::LONGEST_RUN`, and the match begins with it.
    Run(ByteClass),
}

/// What a parser looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Line,
    Lines,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Pattern {
    /// Anchored at the beginning that `Lead` gives. Repeats are left open at the top where `Rule::reach` bounds them:
    /// a large counted repeat makes an expression slow. The first group that took part is the secret, or else all of it.
    Regex(&'static str),
    /// A value of this form beside the keyword, which is the name of a service or of a field: `heroku_key = "…"`.
    Beside(&'static str),
    /// Too many cases for one expression: `password = "…"` and its relatives.
    Assignment,
    /// A small parser, called at the keyword with the text up to `Rule::reach`. It takes any number of values, all of them
    /// behind the keyword.
    Parsed(Sight, fn(&[u8], usize) -> Vec<Found>),
    /// Opens a block that runs to its END line: a state of the engine, not one match.
    PrivateKey,
}

/// One kind of secret.
#[derive(Debug)]
pub struct Rule {
    /// Kebab case; shown in the placeholder.
    pub name: &'static str,
    /// What it finds, for the reference.
    pub about: &'static str,
    pub(crate) rank: Rank,
    /// The rule is tried only where one of these occurs, so each has to be rare in ordinary text.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) case: Case,
    pub(crate) lead: Lead,
    pub(crate) pattern: Pattern,
    /// A byte of this class directly before the match means that it is the middle of something else.
    pub(crate) left: ByteClass,
    pub(crate) right: ByteClass,
    /// The match ends at most this many bytes after the keyword's first byte, and on the same line.
    pub(crate) reach: usize,
    /// Looks at the secret alone: its checksum, its structure, or whether it is a stand-in.
    pub(crate) check: fn(&[u8]) -> bool,
    /// A look at the keyword's own line, `GLANCE` bytes of it, before a rule of several lines waits for those.
    pub(crate) glance: fn(&[u8], usize) -> bool,
    /// Bits per byte (Shannon) that the secret has at least.
    pub(crate) entropy: f32,
    /// A text that the rule finds, in parts, so that nothing that looks like a credential stands in a
    /// file or in the program.
    pub(crate) hit: &'static str,
    /// The same but for one length or one class of characters, and therefore not found.
    pub(crate) miss: &'static str,
}

impl Rule {
    pub(crate) const LONGEST_RUN: usize = 64;
    pub(crate) const GLANCE: usize = 64;
    /// What stands between the parts of an example.
    pub(crate) const SEPARATOR: &str = "␣+␣";

    /// A token that begins with its keyword: what most rows are, up to the fields they name.
    pub(crate) const TOKEN: Rule = Rule {
        name: "",
        about: "",
        rank: Rank::Specific,
        keywords: &[],
        case: Case::Exact,
        lead: Lead::At,
        pattern: Pattern::Regex(""),
        left: word,
        right: none,
        reach: 512,
        check: crate::check::varied,
        glance: |_, _| true,
        entropy: 0.0,
        hit: "",
        miss: "",
    };

    /// A value that is a secret because of the name before it.
    pub(crate) const NAMED: Rule = Rule {
        rank: Rank::Generic,
        case: Case::Any,
        left: none,
        check: crate::check::not_dummy,
        ..Rule::TOKEN
    };

    pub(crate) fn keyword_at(&self, keyword: &str, hay: &[u8], place: usize) -> bool {
        hay.get(place..place + keyword.len()).is_some_and(|found| match self.case {
            Case::Exact => found == keyword.as_bytes(),
            Case::Any => found.eq_ignore_ascii_case(keyword.as_bytes()) && !straddles(hay, place, found),
        })
    }

    /// INVARIANT: looks at `GLANCE` bytes and at no other line, which is what the engine waits for.
    pub(crate) fn glances(&self, hay: &[u8], place: usize) -> bool {
        let line = hay.get(place..hay.len().min(place + Rule::GLANCE)).unwrap_or_default();
        let end = memchr::memchr(b'\n', line).map_or(line.len(), |newline| newline + 1);
        (self.glance)(hay.get(..place + end).unwrap_or_default(), place)
    }

    /// How far beyond the keyword's first byte the engine must see before it may decide.
    pub(crate) fn sight(&self) -> usize {
        match self.pattern {
            Pattern::Regex(_) | Pattern::Parsed(..) => self.reach,
            Pattern::Beside(_) => beside::REACH,
            Pattern::Assignment => assignment::REACH,
            Pattern::PrivateKey => crate::pem::OPENING,
        }
    }
}

/// `CameraKit` holds the letters of a brand, and `sumOf` those of another: the letters of two words, told apart by their
/// case, of which the second goes on.
fn straddles(hay: &[u8], place: usize, found: &[u8]) -> bool {
    let next = hay.get(place + found.len());
    found.last().is_some_and(u8::is_ascii_alphabetic)
        && next.is_some_and(u8::is_ascii_lowercase)
        && found
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

/// Is the text before `place` something other than the rest of a longer word? The letter of an escape (`\n`), the
/// digits of `%3D` or `\u0022`, and the `m` that a color code leaves behind are not part of the word they touch.
pub(crate) fn begins_here(hay: &[u8], place: usize, inside: ByteClass) -> bool {
    let before = hay.get(place.saturating_sub(12)..place).unwrap_or_default();
    match before {
        [] => true,
        [.., last] if !inside(*last) => true,
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'0'] => true,
        [.., b'%', a, b] if hex(*a) && hex(*b) => true,
        [.., b'\\', b'x', a, b] if hex(*a) && hex(*b) => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].into_iter().all(|digit| hex(*digit)) => true,
        [head @ .., b'm'] => {
            let code = head.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            head.len() > code && head.get(head.len() - code - 1) == Some(&b'[')
        }
        _ => false,
    }
}
