//! The one engine behind texts, trees, scans and streams.
//!
//! INVARIANT: what is redacted depends on the bytes alone, never on how they were cut into chunks. Every decision is
//! about one place and looks at a bounded neighborhood; if that neighborhood has not arrived yet, the engine stops
//! before the place and goes on when it has. Overlapping findings become one redaction over all of them, so that
//! no end of the one shows behind the other.

use std::ops::Range;

use crate::custom::{self, Whole};
use crate::index::GRAM;
use crate::redactor::{Needle, Redactor};
use crate::rule::{Pattern, Rank, Rule};
use crate::{pem, placeholder};

/// How far back from a place its neighborhood reaches: the longest run before a keyword, and a placeholder before
/// that. A stream keeps this much of what it has already passed on.
pub(crate) const LOOK_BEHIND: usize = 512;

/// A finding, at absolute offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Index into the redactor's names.
    pub(crate) rule: usize,
    pub(crate) rank: Rank,
}

/// The part of the text that is here. `base` is the absolute offset of its first byte.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) hay: &'t [u8],
    pub(crate) base: usize,
    pub(crate) whole: Whole,
}

struct Block {
    start: usize,
    rule: usize,
}

pub(crate) struct Engine<'r> {
    redactor: &'r Redactor,
    /// Everything before has been examined.
    scanned: usize,
    /// The same for each of the operator's patterns.
    custom: Vec<usize>,
    block: Option<Block>,
    /// Findings that later ones may still join or precede.
    pending: Vec<Span>,
    open: Option<Span>,
}

enum Verdict {
    Decided,
    NeedsMore,
}

impl<'r> Engine<'r> {
    pub(crate) fn new(redactor: &'r Redactor) -> Engine<'r> {
        let custom = vec![0; redactor.custom.len()];
        Engine { redactor, scanned: 0, custom, block: None, pending: Vec::new(), open: None }
    }

    /// Examines what has arrived, reports finished redactions in order, and returns the offset up to which text
    /// outside them is safe to pass on.
    pub(crate) fn advance(&mut self, view: View<'_>, report: &mut dyn FnMut(Span)) -> usize {
        self.examine(view);
        let end = view.base + view.hay.len();
        let mut safe = match view.whole {
            Whole::Yes => end,
            Whole::MoreMayCome => self.before_run(view),
        };
        for number in 0..self.custom.len() {
            safe = safe.min(self.search_custom(number, view));
        }
        if let Some(block) = &self.block {
            match view.whole {
                Whole::Yes => self.close_block(end),
                Whole::MoreMayCome => safe = safe.min(block.start),
            }
        }
        self.settle(safe, view.whole, report);
        self.open.map_or(safe, |open| safe.min(open.start))
    }

    /// Bytes before this offset will not be looked at again.
    pub(crate) fn needed_from(&self) -> usize {
        self.custom.iter().copied().fold(self.scanned, usize::min).saturating_sub(LOOK_BEHIND)
    }

    fn examine(&mut self, view: View<'_>) {
        let redactor = self.redactor;
        let mut place = self.scanned - view.base;
        let stop = loop {
            let Some(next) = redactor.index.next(view.hay, place) else {
                // The last three bytes may begin a needle.
                break match view.whole {
                    Whole::Yes => view.hay.len(),
                    Whole::MoreMayCome => place.max((view.hay.len() + 1).saturating_sub(GRAM)),
                };
            };
            self.close_block_before(view.base + next);
            let undecided = redactor
                .index
                .at(view.hay, next)
                .any(|needle| matches!(self.try_needle(needle, view, next), Verdict::NeedsMore));
            if undecided {
                break next;
            }
            place = next + 1;
        };
        self.scanned = view.base + stop;
        self.close_block_before(self.scanned);
    }

    fn try_needle(&mut self, needle: u32, view: View<'_>, place: usize) -> Verdict {
        let redactor = self.redactor;
        match redactor.needles.get(needle as usize) {
            Some(Needle::Known { spelling, rule }) => {
                let spelling = spelling.expose();
                let rest = view.hay.get(place..).unwrap_or_default();
                let arrived = rest.len().min(spelling.len());
                if rest.get(..arrived) != spelling.get(..arrived) {
                    return Verdict::Decided;
                }
                if arrived < spelling.len() || !sees(view, place + arrived, 0) {
                    return if view.whole == Whole::Yes { Verdict::Decided } else { Verdict::NeedsMore };
                }
                let range = place..place + spelling.len();
                let inside = |placeholder: Range<usize>| {
                    placeholder.start <= range.start && range.end <= placeholder.end
                };
                if !redactor.placeholders.near(view.hay, range.clone()).any(inside) {
                    self.push(view, range, *rule, Rank::Known);
                }
                Verdict::Decided
            }
            Some(Needle::Rule { rule, number, keyword }) => {
                self.try_rule(rule, *number, keyword, view, place)
            }
            Some(Needle::KeyEnd) => self.try_key_end(view, place),
            None => Verdict::Decided,
        }
    }

    fn try_rule(
        &mut self,
        rule: &Rule,
        number: usize,
        keyword: &str,
        view: View<'_>,
        place: usize,
    ) -> Verdict {
        let several_lines = matches!(rule.pattern, Pattern::PrivateKey);
        // Inside a block everything goes anyway. But another header counts, or a false one would use the length of the
        // block up and show the true key behind it. THREAT: P02.
        if self.block.is_some() && !several_lines {
            return Verdict::Decided;
        }
        if !rule.keyword_at(keyword, view.hay, place) {
            let cut_off = view.whole == Whole::MoreMayCome && place + keyword.len() > view.hay.len();
            return if cut_off { Verdict::NeedsMore } else { Verdict::Decided };
        }
        let enough = if several_lines {
            sees_bytes(view, place, rule.sight())
        } else {
            sees(view, place, rule.sight())
        };
        if !enough {
            return Verdict::NeedsMore;
        }
        let Some(found) = self.redactor.find(rule, number, view.hay, place, keyword) else {
            return Verdict::Decided;
        };
        // A match beside or across a placeholder exists only because of the placeholder: the text was clean before.
        // A key's header does not depend on what stands before it.
        // LIMIT: a token that somebody glues to a placeholder's bracket is taken for such a match and stays.
        if !several_lines && self.redactor.placeholders.near(view.hay, found.extent).next().is_some() {
            return Verdict::Decided;
        }
        if several_lines {
            self.close_block(view.base + found.value.start);
            self.block = Some(Block { start: view.base + found.value.start, rule: number });
        }
        self.push(view, found.value, number, rule.rank);
        Verdict::Decided
    }

    fn try_key_end(&mut self, view: View<'_>, place: usize) -> Verdict {
        if self.block.is_none()
            || !view.hay.get(place..).is_some_and(|rest| rest.starts_with(pem::END.as_bytes()))
        {
            let rest = view.hay.len() - place;
            let cut_off = view.whole == Whole::MoreMayCome && self.block.is_some() && rest < pem::END.len();
            return if cut_off { Verdict::NeedsMore } else { Verdict::Decided };
        }
        if !sees(view, place, pem::CLOSING) {
            return Verdict::NeedsMore;
        }
        self.close_block(view.base + pem::closes(view.hay, place));
        Verdict::Decided
    }

    fn close_block_before(&mut self, place: usize) {
        if let Some(block) = &self.block
            && place >= block.start + pem::LONGEST_BLOCK
        {
            self.close_block(block.start + pem::LONGEST_BLOCK);
        }
    }

    fn close_block(&mut self, end: usize) {
        if let Some(block) = self.block.take() {
            self.pending.push(Span { start: block.start, end, rule: block.rule, rank: Rank::Specific });
        }
    }

    fn search_custom(&mut self, number: usize, view: View<'_>) -> usize {
        let redactor = self.redactor;
        let (Some(cursor), Some((regex, rule))) =
            (self.custom.get(number).copied(), redactor.custom.get(number))
        else {
            return usize::MAX;
        };
        let mut found = Vec::new();
        let decided =
            custom::search(regex, view.hay, cursor - view.base, view.whole, &mut |range| found.push(range));
        for range in found {
            if redactor.placeholders.near(view.hay, range.clone()).next().is_none() {
                self.push(view, range, *rule, Rank::Specific);
            }
        }
        let decided = view.base + decided;
        if let Some(cursor) = self.custom.get_mut(number) {
            *cursor = decided;
        }
        match view.whole {
            Whole::Yes => decided,
            // A later match may be widened to the beginning of its first character.
            Whole::MoreMayCome => decided.saturating_sub(LONGEST_CHARACTER),
        }
    }

    fn push(&mut self, view: View<'_>, range: Range<usize>, rule: usize, rank: Rank) {
        let range = whole_characters(view.hay, range);
        self.pending.push(Span { start: view.base + range.start, end: view.base + range.end, rule, rank });
    }

    /// A later keyword may have a match that begins in the run of token bytes before it, but no earlier.
    fn before_run(&self, view: View<'_>) -> usize {
        let before = view.hay.get(..self.scanned - view.base).unwrap_or_default();
        let in_run =
            |byte: &&u8| crate::rule::token(**byte) || **byte == b'.' || **byte == b'~' || **byte >= 0x80;
        let run = before.iter().rev().take(Rule::LONGEST_RUN + LONGEST_CHARACTER).take_while(in_run).count();
        self.scanned - run
    }

    /// Joins the findings that begin before `safe`; none that comes later can.
    fn settle(&mut self, safe: usize, whole: Whole, report: &mut dyn FnMut(Span)) {
        if !self.pending.is_empty() {
            self.pending.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end), span.rank, span.rule));
            let n_ready = self.pending.partition_point(|span| span.start < safe || whole == Whole::Yes);
            for span in self.pending.drain(..n_ready) {
                match &mut self.open {
                    Some(open) if joins(open, &span) => {
                        open.end = open.end.max(span.end);
                        if span.rank < open.rank {
                            (open.rank, open.rule) = (span.rank, span.rule);
                        }
                    }
                    open => {
                        if let Some(finished) = open.replace(span) {
                            report(finished);
                        }
                    }
                }
            }
        }
        if self.open.is_some_and(|open| open.end < safe || whole == Whole::Yes)
            && let Some(finished) = self.open.take()
        {
            report(finished);
        }
    }
}

const LONGEST_CHARACTER: usize = 4;

/// Overlapping, or two pieces of one long known value.
fn joins(open: &Span, span: &Span) -> bool {
    span.start < open.end || (span.start == open.end && span.rank == Rank::Known && span.rule == open.rule)
}

/// A redaction never cuts a character in two, so that text stays text.
fn whole_characters(hay: &[u8], range: Range<usize>) -> Range<usize> {
    let continues = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xc0 == 0x80);
    let (mut start, mut end) = (range.start, range.end);
    while start > 0 && range.start - start < LONGEST_CHARACTER - 1 && continues(hay.get(start)) {
        start -= 1;
    }
    while end - range.end < LONGEST_CHARACTER - 1 && continues(hay.get(end)) {
        end += 1;
    }
    start..end
}

/// Has everything arrived that a decision about a single line may look at?
fn sees(view: View<'_>, place: usize, sight: usize) -> bool {
    if sees_bytes(view, place, sight) {
        return true;
    }
    let from = view.hay.get(place..).unwrap_or_default();
    memchr::memrchr(b'\n', from).is_some()
}

fn sees_bytes(view: View<'_>, place: usize, sight: usize) -> bool {
    view.whole == Whole::Yes || place + sight + placeholder::LONGEST + LONGEST_CHARACTER < view.hay.len()
}
