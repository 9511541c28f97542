//! A search that can be stopped.
//!
//! The library's search runs to the end of the text however long that takes: linear in the text, but times the size
//! of the pattern, which is minutes for a hostile pattern on a large file. So the text is searched in spans:
//!
//! - When no match can hold a line ending, a span ends where some line ends; otherwise it is all the text.
//! - If the work for a span is small, the library searches it in one call. This is the usual case.
//! - If not, we step the library's lazy automata ourselves and ask the budget on the way. What these cannot do is a
//!   Unicode `\b` beside non-ASCII text; then the library searches the span after all, up to a larger bound, beyond
//!   which the answer is [`OutOfTime`].

use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input};

use super::{Pattern, Reach};
use crate::budget::{self, Budget, OutOfTime};

/// Bytes between two questions to the budget. A byte may cost a visit to every state of the pattern, at most some
/// ten thousand, so a block stays within a few milliseconds.
const BLOCK: usize = 256;
/// States times bytes for which one call of the library is a small step, some milliseconds at worst …
const STEP_WORK: usize = 1 << 20;
/// … and for which it is the last resort.
const MOST_WORK: usize = 1 << 28;

/// Why an automaton stopped without an answer.
enum Stop {
    OutOfTime,
    /// A non-ASCII byte beside a Unicode word boundary.
    Unable,
}

impl From<OutOfTime> for Stop {
    fn from(_: OutOfTime) -> Stop {
        Stop::OutOfTime
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Searching,
    /// The text is used up, or the time.
    Finished,
}

/// Whether the automata met something they cannot do; they would meet it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Automata {
    Usable,
    Unable,
}

/// The matches of a pattern in a text; see [`Pattern::find_iter`].
pub struct Matches<'a> {
    pattern: &'a Pattern,
    haystack: &'a [u8],
    budget: &'a dyn Budget,
    /// Made when the automata are first stepped, which few searches need.
    caches: Option<(Cache, Cache)>,
    /// [`STEP_WORK`], except in tests.
    pub(super) step_work: usize,
    progress: Progress,
    automata: Automata,
    at: usize,
    last_end: Option<usize>,
    /// No line ends here: where the last look for a line end began, and what it found.
    unbroken: Range<usize>,
}

impl std::fmt::Debug for Matches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matches").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Iterator for Matches<'_> {
    type Item = Result<Range<usize>, OutOfTime>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.progress == Progress::Finished || self.at > self.haystack.len() {
                return None;
            }
            let found = match self.search() {
                Ok(Some(found)) => found,
                Ok(None) => {
                    self.progress = Progress::Finished;
                    return None;
                }
                Err(OutOfTime) => {
                    self.progress = Progress::Finished;
                    return Some(Err(OutOfTime));
                }
            };
            // An empty match right after a match, or inside a character, is none.
            if found.is_empty() && (self.last_end == Some(found.end) || self.is_inside_character(found.end)) {
                self.at = found.end + 1;
                continue;
            }
            self.at = found.end;
            self.last_end = Some(found.end);
            return Some(Ok(found));
        }
    }
}

impl<'a> Matches<'a> {
    pub(super) fn new(pattern: &'a Pattern, haystack: &'a [u8], budget: &'a dyn Budget) -> Matches<'a> {
        Matches {
            pattern,
            haystack,
            budget,
            caches: None,
            step_work: STEP_WORK,
            progress: Progress::Searching,
            automata: Automata::Usable,
            at: 0,
            last_end: None,
            unbroken: 0..0,
        }
    }

    fn is_inside_character(&self, at: usize) -> bool {
        self.haystack.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
    }

    fn search(&mut self) -> Result<Option<Range<usize>>, OutOfTime> {
        let step = (self.step_work / self.pattern.n_states.max(1)).max(1);
        let mut from = self.at;
        loop {
            budget::check(self.budget)?;
            // INVARIANT: a match that begins in the span ends in it, so no later text changes the answer.
            let to = match self.pattern.reach {
                Reach::OneLine => self.line_end(from.saturating_add(step)),
                Reach::ManyLines => self.haystack.len(),
            };
            let found = self.search_span(from..to)?;
            if found.is_some() || to >= self.haystack.len() {
                return Ok(found);
            }
            from = to;
        }
    }

    fn search_span(&mut self, span: Range<usize>) -> Result<Option<Range<usize>>, OutOfTime> {
        // Twice, because a span goes on to the end of its last line.
        if self.pattern.work(&span) <= 2 * self.step_work {
            return Ok(self.search_by_library(span));
        }
        if self.automata == Automata::Usable {
            match self.search_by_automata(span.clone()) {
                Ok(found) => return Ok(found),
                Err(Stop::OutOfTime) => return Err(OutOfTime),
                Err(Stop::Unable) => self.automata = Automata::Unable,
            }
        }
        self.pattern.check_work(&span)?;
        Ok(self.search_by_library(span))
    }

    /// The first line feed at or after `from`, or the end of the text. Remembered, because a line may be as long as
    /// the text and hold many matches.
    fn line_end(&mut self, from: usize) -> usize {
        if !self.unbroken.contains(&from) {
            let rest = self.haystack.get(from..).unwrap_or_default();
            let end = rest
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(self.haystack.len(), |offset| from + offset);
            self.unbroken = from..end;
        }
        self.unbroken.end
    }

    fn search_by_library(&self, span: Range<usize>) -> Option<Range<usize>> {
        let input = Input::new(self.haystack).span(span);
        self.pattern.meta.search(&input).map(|found| found.range())
    }

    fn search_by_automata(&mut self, span: Range<usize>) -> Result<Option<Range<usize>>, Stop> {
        let (pattern, haystack, budget) = (self.pattern, self.haystack, self.budget);
        let make = || (pattern.forward.create_cache(), pattern.reverse.create_cache());
        let (forward, reverse) = self.caches.get_or_insert_with(make);
        let Some(end) = leftmost_end(&pattern.forward, forward, haystack, span.clone(), budget)? else {
            return Ok(None);
        };
        let start = earliest_start(&pattern.reverse, reverse, haystack, span.start..end, budget)?;
        // INVARIANT: what matches forwards matches backwards, so there is a start.
        Ok(Some(start.unwrap_or(end)..end))
    }
}

impl Pattern {
    fn work(&self, span: &Range<usize>) -> usize {
        self.n_states.saturating_mul(span.len())
    }

    // THREAT: P09, a pattern made to be slow.
    fn check_work(&self, span: &Range<usize>) -> Result<(), OutOfTime> {
        if self.work(span) > MOST_WORK { Err(OutOfTime) } else { Ok(()) }
    }

    /// The groups of a match that [`Matches`] gave. The whole match is group 0.
    pub(crate) fn groups(&self, haystack: &[u8], span: Range<usize>) -> Result<Groups, OutOfTime> {
        self.check_work(&span)?;
        let mut captures = self.meta.create_captures();
        // The first choice of the pattern at this start ends at this end, also when it may not look further.
        let input = Input::new(haystack).span(span).anchored(Anchored::Yes);
        self.meta.search_captures(&input, &mut captures);
        Ok(Groups(captures))
    }

    pub(crate) fn has_group(&self, name: &str) -> bool {
        match name.parse::<usize>() {
            Ok(number) => number < self.meta.captures_len(),
            Err(_) => self.meta.group_info().to_index(regex_automata::PatternID::ZERO, name).is_some(),
        }
    }
}

pub(crate) struct Groups(regex_automata::util::captures::Captures);

impl Groups {
    /// By number or name; nothing for a group that took no part in the match.
    pub(crate) fn get(&self, name: &str) -> Option<Range<usize>> {
        match name.parse::<usize>() {
            Ok(number) => self.0.get_group(number),
            Err(_) => self.0.get_group_by_name(name),
        }
        .map(|span| span.range())
    }
}

/// Where the leftmost match in the span ends. A match shows one byte late: the state after a byte says whether a
/// match ended *before* that byte.
fn leftmost_end(
    dfa: &DFA,
    cache: &mut Cache,
    haystack: &[u8],
    span: Range<usize>,
    budget: &dyn Budget,
) -> Result<Option<usize>, Stop> {
    let input = Input::new(haystack).span(span.clone());
    let mut state = dfa.start_state_forward(cache, &input).map_err(|_| Stop::Unable)?;
    let mut end = None;
    let bytes = haystack.get(span.clone()).unwrap_or_default();
    for (n_block, block) in bytes.chunks(BLOCK).enumerate() {
        budget::check(budget)?;
        for (offset, byte) in block.iter().enumerate() {
            state = step(dfa, cache, state, *byte)?;
            if state.is_match() {
                end = Some(span.start + n_block * BLOCK + offset);
            } else if state.is_dead() {
                return Ok(end);
            }
        }
    }
    // What stands after the span decides whether a line or a word ends there.
    state = match haystack.get(span.end) {
        Some(byte) => step(dfa, cache, state, *byte)?,
        None => dfa.next_eoi_state(cache, state).map_err(|_| Stop::Unable)?,
    };
    Ok(if state.is_match() { Some(span.end) } else { end })
}

/// The earliest place in the span from which a match reaches the end of the span.
fn earliest_start(
    dfa: &DFA,
    cache: &mut Cache,
    haystack: &[u8],
    span: Range<usize>,
    budget: &dyn Budget,
) -> Result<Option<usize>, Stop> {
    let input = Input::new(haystack).span(span.clone()).anchored(Anchored::Yes);
    let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| Stop::Unable)?;
    let mut start = None;
    let mut at = span.end;
    let bytes = haystack.get(span.clone()).unwrap_or_default();
    for block in bytes.rchunks(BLOCK) {
        budget::check(budget)?;
        for byte in block.iter().rev() {
            state = step(dfa, cache, state, *byte)?;
            if state.is_match() {
                start = Some(at);
            } else if state.is_dead() {
                return Ok(start);
            }
            at -= 1;
        }
    }
    // What stands before the span decides whether a line or a word begins there.
    state = match span.start.checked_sub(1).and_then(|before| haystack.get(before)) {
        Some(byte) => step(dfa, cache, state, *byte)?,
        None => dfa.next_eoi_state(cache, state).map_err(|_| Stop::Unable)?,
    };
    Ok(if state.is_match() { Some(span.start) } else { start })
}

fn step(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stop> {
    let next = dfa.next_state(cache, state, byte).map_err(|_| Stop::Unable)?;
    if next.is_quit() { Err(Stop::Unable) } else { Ok(next) }
}
