//! From text to automata, with every size bounded.

use regex_automata::MatchKind;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::ast;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::{Pattern, PatternError, Reach};
use crate::limits;

pub(super) fn compile(regex: &str) -> Result<Pattern, PatternError> {
    if regex.len() > limits::PATTERN_BYTES {
        return Err(PatternError::TooLong { len: regex.len() });
    }
    let hir = regex_syntax::ParserBuilder::new()
        .nest_limit(limits::PATTERN_NESTING)
        .multi_line(true)
        .crlf(true)
        .build()
        .parse(regex)
        .map_err(|error| explain(&error))?;
    let forward = automaton(&hir, Direction::Forward)?;
    let reverse = automaton(&hir, Direction::Reverse)?;
    let meta = meta::Builder::new()
        .configure(meta::Config::new().nfa_size_limit(Some(limits::COMPILED_BYTES)))
        .build_from_hir(&hir)
        .map_err(|_| PatternError::TooComplex)?;
    let n_states = forward.get_nfa().states().len();
    let reach = if matches_line_feed(&hir) { Reach::ManyLines } else { Reach::OneLine };
    let looks_around = !hir.properties().look_set().is_empty();
    Ok(Pattern { meta, forward, reverse, n_states, reach, looks_around })
}

#[derive(Clone, Copy)]
enum Direction {
    /// Finds where the leftmost match ends.
    Forward,
    /// From that end, finds where it starts.
    Reverse,
}

fn automaton(hir: &Hir, direction: Direction) -> Result<DFA, PatternError> {
    let (reverse, kind) = match direction {
        Direction::Forward => (false, MatchKind::LeftmostFirst),
        Direction::Reverse => (true, MatchKind::All),
    };
    let nfa = NFA::compiler()
        .configure(
            NFA::config()
                .reverse(reverse)
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(limits::COMPILED_BYTES)),
        )
        .build_from_hir(hir)
        .map_err(|_| PatternError::TooComplex)?;
    DFA::builder()
        .configure(DFA::config().match_kind(kind).unicode_word_boundary(true).skip_cache_capacity_check(true))
        .build_from_nfa(nfa)
        .map_err(|_| PatternError::TooComplex)
}

fn explain(error: &regex_syntax::Error) -> PatternError {
    match error {
        regex_syntax::Error::Parse(error) => {
            let column = error.span().start.column;
            match error.kind() {
                ast::ErrorKind::UnsupportedLookAround => PatternError::LookAround { column },
                ast::ErrorKind::UnsupportedBackreference => PatternError::BackReference { column },
                kind => PatternError::Syntax { what: kind.to_string(), column },
            }
        }
        regex_syntax::Error::Translate(error) => {
            PatternError::Syntax { what: error.kind().to_string(), column: error.span().start.column }
        }
        // The library's enum is open; an error of a kind we do not know is still a refusal.
        _ => PatternError::TooComplex,
    }
}

/// The parser's nesting limit bounds the recursion.
fn matches_line_feed(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => matches_line_feed(&repetition.sub),
        HirKind::Capture(capture) => matches_line_feed(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(matches_line_feed),
    }
}
