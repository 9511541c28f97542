//! The one engine behind texts, trees, scans and streams.
//!
//! INVARIANT: what is redacted depends on the bytes alone, never on how they were cut into chunks. Every decision is
//! about one place and looks at a bounded neighborhood; if that neighborhood has not arrived yet, the engine stops
//! before the place and goes on when it has. Overlapping findings become one redaction over all of them, so that
//! no end of the one shows behind the other.

use std::ops::Range;

use crate::custom::{self, Whole};
use crate::index::{GRAM, Needle};
use crate::lexicon::Longest;
use crate::redactor::Finder;
use crate::rule::{Pattern, Rank, Rule, Sight};
use crate::rules::built_in;
use crate::runs::Entropy;
use crate::{pem, placeholder, published, runs};

/// How far back from a place its neighborhood reaches: the longest run before a keyword, and a placeholder before
/// that. A stream keeps this much of what it has already passed on.
pub(crate) const LOOK_BEHIND: usize = 512;

/// LIMIT: a longer finding is shown without a number and cannot be accepted. A key with all that may overlap it is
/// shorter; a stream keeps this much of a finding that is not over yet.
pub(crate) const LONGEST_VALUE: usize = pem::FARTHEST;

/// Takes each finished redaction, with its bytes where the redactor wants them and they are not too many.
pub(crate) type Report<'a> = &'a mut dyn FnMut(Span, Option<&[u8]>);

/// A finding, at absolute offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Index into the redactor's names.
    pub(crate) rule: usize,
    pub(crate) rank: Rank,
    /// In the baseline: neither this nor what lies inside it is a finding, known values excepted.
    pub(crate) accepted: bool,
    /// Put together from several findings.
    pub(crate) joined: bool,
}

impl Span {
    pub(crate) fn new(range: Range<usize>, rule: usize, rank: Rank) -> Span {
        Span { start: range.start, end: range.end, rule, rank, accepted: false, joined: false }
    }

    fn len(&self) -> usize {
        self.end - self.start
    }
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
    redactor: &'r Finder,
    entropy: Entropy,
    /// Everything before has been examined.
    scanned: usize,
    /// The same for each of the operator's patterns.
    custom: Vec<usize>,
    /// The same for known values in unusual spellings, and for random text.
    seams: usize,
    runs: usize,
    block: Option<Block>,
    /// Findings that later ones may still join or precede.
    pending: Vec<Span>,
    open: Option<Span>,
    /// Everything before has been joined and reported.
    settled: usize,
    /// The last end of an accepted finding.
    accepted: usize,
}

enum Verdict {
    Decided,
    NeedsMore,
}

impl<'r> Engine<'r> {
    pub(crate) fn new(redactor: &'r Finder) -> Engine<'r> {
        Engine::judging(redactor, redactor.entropy)
    }

    /// Judges random text in another way than the redactor was told to.
    pub(crate) fn judging(redactor: &'r Finder, entropy: Entropy) -> Engine<'r> {
        let custom = vec![0; redactor.custom.len()];
        Engine {
            redactor,
            entropy,
            scanned: 0,
            custom,
            seams: 0,
            runs: 0,
            block: None,
            pending: Vec::new(),
            open: None,
            settled: 0,
            accepted: 0,
        }
    }

    /// Examines what has arrived, reports finished redactions in order, and returns the offset up to which text
    /// outside them is safe to pass on.
    pub(crate) fn advance(&mut self, view: View<'_>, report: Report<'_>) -> usize {
        self.examine(view);
        let end = view.base + view.hay.len();
        let mut safe = match view.whole {
            Whole::Yes => end,
            Whole::MoreMayCome => self.before_run(view),
        };
        for number in 0..self.custom.len() {
            safe = safe.min(self.search_custom(number, view));
        }
        safe = safe.min(self.search_seams(view)).min(self.search_runs(view));
        if let Some(block) = &self.block {
            match view.whole {
                Whole::Yes => self.close_block(view, end),
                Whole::MoreMayCome => safe = safe.min(block.start),
            }
        }
        self.settle(safe, view, report);
        self.settled = safe;
        self.open.map_or(safe, |open| safe.min(open.start))
    }

    pub(crate) fn is_inside_key(&self) -> bool {
        self.block.is_some()
    }

    /// Bytes before this offset will not be looked at again.
    pub(crate) fn needed_from(&self) -> usize {
        let first = self.scanned.min(self.seams).min(self.runs);
        let first = self.custom.iter().copied().fold(first, usize::min).saturating_sub(LOOK_BEHIND);
        if !self.redactor.wants_values {
            return first;
        }
        // What waits to be joined begins at or after `settled`, an unfinished block too.
        let open = self.open.filter(|open| open.len() <= LONGEST_VALUE).map_or(first, |open| open.start);
        first.min(self.settled).min(open)
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
            self.close_block_before(view, view.base + next);
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
        self.close_block_before(view, self.scanned);
    }

    fn try_needle(&mut self, needle: Needle, view: View<'_>, place: usize) -> Verdict {
        let redactor = self.redactor;
        match needle {
            Needle::Known => {
                let rest = view.hay.get(place..).unwrap_or_default();
                let (length, rule) = match redactor.lexicon.at_start_of(rest, view.whole) {
                    Longest::Match { length, rule } => (length, rule),
                    Longest::Cut => return Verdict::NeedsMore,
                    Longest::No => return Verdict::Decided,
                };
                if !sees(view, place + length, 0) {
                    return Verdict::NeedsMore;
                }
                self.push_known(view, place..place + length, rule);
                Verdict::Decided
            }
            Needle::Rule { number, keyword } => {
                let Some(rule) = built_in(number) else { return Verdict::Decided };
                let Some(keyword) = rule.keywords.get(keyword) else { return Verdict::Decided };
                self.try_rule(rule, number, keyword, view, place)
            }
            Needle::KeyEnd => self.try_key_end(view, place),
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
        let block = matches!(rule.pattern, Pattern::PrivateKey);
        let several_lines = block || matches!(rule.pattern, Pattern::Parsed(Sight::Lines, _));
        // Inside a block everything goes anyway. But another header counts, or a false one would use the length of the
        // block up and show the true key behind it. THREAT: P02.
        if self.block.is_some() && !block {
            return Verdict::Decided;
        }
        if !rule.keyword_at(keyword, view.hay, place) {
            let cut_off = view.whole == Whole::MoreMayCome && place + keyword.len() > view.hay.len();
            return if cut_off { Verdict::NeedsMore } else { Verdict::Decided };
        }
        // A stream must not stall at every line of a log that has a common word in it.
        if several_lines && !block {
            if !sees(view, place, Rule::GLANCE) {
                return Verdict::NeedsMore;
            }
            if !rule.glances(view.hay, place) {
                return Verdict::Decided;
            }
        }
        let enough = if several_lines {
            sees_bytes(view, place, rule.sight())
        } else {
            sees(view, place, rule.sight())
        };
        if !enough {
            return Verdict::NeedsMore;
        }
        let hay = if block { self.before_placeholder(view.hay, place) } else { view.hay };
        for found in self.redactor.find(rule, number, hay, place, keyword) {
            // A match beside or across a placeholder exists only because of the placeholder: the text was clean before.
            // A key's header does not depend on what stands before it.
            // LIMIT: a token that somebody glues to a placeholder's bracket is taken for such a match and stays.
            if !block && self.redactor.placeholders.near(view.hay, found.extent).next().is_some() {
                continue;
            }
            if block {
                self.close_block(view, view.base + found.value.start);
                self.block = Some(Block { start: view.base + found.value.start, rule: number });
            }
            self.push(view, found.value, number, rule.rank);
        }
        Verdict::Decided
    }

    /// What stands behind a placeholder came nearer to a key's header by that redaction, which did not take it for a key, and
    /// what touches it has become shorter.
    fn before_placeholder<'t>(&self, hay: &'t [u8], header: usize) -> &'t [u8] {
        let mut near = self.redactor.placeholders.near(hay, header..header + pem::OPENING);
        let Some(placeholder) = near.find(|placeholder| placeholder.start > header) else { return hay };
        let before = hay.get(..placeholder.start).unwrap_or_default();
        let n_touching = before.iter().rev().take_while(|byte| crate::class::base64(**byte)).count();
        before.get(..before.len() - n_touching).unwrap_or_default()
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
        self.close_block(view, view.base + pem::closes(view.hay, place));
        Verdict::Decided
    }

    fn close_block_before(&mut self, view: View<'_>, place: usize) {
        if let Some(block) = &self.block
            && place >= block.start + pem::LONGEST_BLOCK
        {
            self.close_block(view, block.start + pem::LONGEST_BLOCK);
        }
    }

    fn close_block(&mut self, view: View<'_>, end: usize) {
        if let Some(block) = self.block.take() {
            self.push_span(view, Span::new(block.start..end, block.rule, Rank::Specific));
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

    fn search_seams(&mut self, view: View<'_>) -> usize {
        let redactor = self.redactor;
        let mut found = Vec::new();
        let searched =
            redactor.seams.search(view.hay, self.seams - view.base, view.whole, &mut |range, rule| {
                found.push((range, rule));
            });
        for (range, rule) in found {
            self.push_known(view, range, rule);
        }
        self.seams = view.base + searched.cursor;
        view.base + searched.safe
    }

    /// What overlaps a placeholder and does not hold all of it is no known value, but the placeholder's own words or what a
    /// redaction put together.
    fn push_known(&mut self, view: View<'_>, range: Range<usize>, rule: usize) {
        let of_placeholder = |placeholder: Range<usize>| {
            let overlap = placeholder.start < range.end && range.start < placeholder.end;
            overlap && !(range.start <= placeholder.start && placeholder.end <= range.end)
        };
        if !self.redactor.placeholders.near(view.hay, range.clone()).any(of_placeholder) {
            self.push(view, range, rule, Rank::Known);
        }
    }

    fn search_runs(&mut self, view: View<'_>) -> usize {
        let redactor = self.redactor;
        let mut found = Vec::new();
        let decided =
            runs::search(self.entropy, view.hay, self.runs - view.base, view.whole, &mut |secret| {
                found.push(secret);
            });
        for secret in found {
            // Beside a placeholder the place was another one before.
            if redactor.placeholders.near(view.hay, secret.extent).next().is_none() {
                self.push(view, secret.value, redactor.entropy_rule, Rank::Entropy);
            }
        }
        self.runs = view.base + decided;
        self.runs
    }

    fn push(&mut self, view: View<'_>, range: Range<usize>, rule: usize, rank: Rank) {
        let known = rank == Rank::Known;
        if !known && view.hay.get(range.clone()).is_some_and(published::is_published) {
            return;
        }
        let range = whole_characters(view.hay, range);
        self.push_span(view, Span::new(view.base + range.start..view.base + range.end, rule, rank));
    }

    fn push_span(&mut self, view: View<'_>, span: Span) {
        // A value that repeats itself is found at every place of a text that does: one finding, not a million.
        if let Some(last) = self.pending.last_mut()
            && (last.rank, last.rule) == (Rank::Known, span.rule)
            && span.rank == Rank::Known
            && (last.start..=last.end).contains(&span.start)
        {
            last.end = last.end.max(span.end);
            return;
        }
        let accepted = span.rank != Rank::Known
            && self.value(view, span).is_some_and(|value| self.redactor.accepts(span.rule, value));
        self.pending.push(Span { accepted, ..span });
    }

    fn value<'t>(&self, view: View<'t>, span: Span) -> Option<&'t [u8]> {
        if !self.redactor.wants_values || span.len() > LONGEST_VALUE {
            return None;
        }
        view.hay.get(span.start.checked_sub(view.base)?..span.end - view.base)
    }

    /// A later keyword may have a match that begins in the run of token bytes before it, but no earlier.
    fn before_run(&self, view: View<'_>) -> usize {
        let before = view.hay.get(..self.scanned - view.base).unwrap_or_default();
        let in_run =
            |byte: &&u8| crate::class::token(**byte) || matches!(**byte, b'.' | b'~' | b'+' | b'/' | 0x80..);
        let run = before.iter().rev().take(Rule::LONGEST_RUN + LONGEST_CHARACTER).take_while(in_run).count();
        self.scanned - run
    }

    /// Joins the findings that begin before `safe`; none that comes later can.
    fn settle(&mut self, safe: usize, view: View<'_>, report: Report<'_>) {
        let whole = view.whole == Whole::Yes;
        if !self.pending.is_empty() {
            let mut pending = std::mem::take(&mut self.pending);
            // What is accepted comes before what lies inside it.
            pending.sort_by_key(|span| {
                (span.start, std::cmp::Reverse(span.end), !span.accepted, span.rank, span.rule)
            });
            let n_ready = pending.partition_point(|span| span.start < safe || whole);
            for span in pending.drain(..n_ready) {
                if span.accepted {
                    self.accepted = self.accepted.max(span.end);
                } else if span.end > self.accepted || span.rank == Rank::Known {
                    self.join(view, span, report);
                }
            }
            self.pending = pending;
        }
        if self.open.is_some_and(|open| open.end < safe || whole) {
            self.finish(view, report);
        }
    }

    fn join(&mut self, view: View<'_>, span: Span, report: Report<'_>) {
        match &mut self.open {
            Some(open) if joins(open, &span) => {
                open.joined |= span.start != open.start || span.end != open.end;
                open.end = open.end.max(span.end);
                if span.rank < open.rank {
                    (open.rank, open.rule) = (span.rank, span.rule);
                }
            }
            Some(_) => {
                self.finish(view, report);
                self.open = Some(span);
            }
            None => self.open = Some(span),
        }
    }

    fn finish(&mut self, view: View<'_>, report: Report<'_>) {
        let Some(open) = self.open.take() else { return };
        let value = self.value(view, open);
        // Whoever accepted it saw the whole.
        let accepted = open.joined
            && open.rank != Rank::Known
            && value.is_some_and(|value| self.redactor.accepts(open.rule, value));
        if !accepted {
            report(open, value);
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
