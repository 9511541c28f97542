//! Known values in spellings that are not one fixed text: wrapped over lines, or with some of their characters escaped.
//!
//! A *seam* is a place where the text is not the value's own bytes. Before the first seam of an occurrence stand only bytes
//! of the value. If these are four or more, the last four of them lead to the value by a table; if they are fewer, they and
//! what is read from the seam on make up the value's first four bytes, which the same table knows. Then the rest is followed
//! byte by byte, through every reading of the text. Ordinary text pays for its line ends and its few escapes only.
//!
//! THREAT: P02, an escaped or wrapped value. LIMIT: these are the usual spellings; whoever may run programs can always
//! invent another one.

mod follow;
mod reading;
mod table;

use std::ops::Range;
use std::sync::Arc;

use crate::custom::Whole;
use crate::known::Spelling;
use crate::placeholder;
use follow::{MOST_BREAKS, Outcome, follow};
use reading::{Kind, LONGEST_INDENT, LONGEST_LINE_END, Readings, begins_escape, is_quote};
use table::Table;

const HEAD: usize = 4;
const ESCAPE: u8 = 0x1b;
const BLOCK: usize = 1024;
/// LIMIT: an occurrence that is stretched over more text from its first seam on is not found.
const REACH: usize = 4096;
/// How many ways to read a value's first bytes are tried at one seam.
const MOST_HEADS: usize = 128;
/// LIMIT: so many values that begin with the same bytes are followed at one seam, those that were given first.
const MOST_FOLLOWED: usize = 64;

pub(crate) struct Seams {
    strands: Vec<(Arc<Spelling>, usize)>,
    table: Table,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Searched {
    /// The next search begins here.
    pub(crate) cursor: usize,
    /// Nothing found later begins before.
    pub(crate) safe: usize,
}

impl Seams {
    /// Each spelling with the number of its rule.
    pub(crate) fn new(strands: Vec<(Arc<Spelling>, usize)>) -> Seams {
        let table = Table::new(strands.iter().map(|(spelling, _)| &**spelling));
        Seams { strands, table }
    }

    /// Finds what can be decided from `from` on.
    pub(crate) fn search(
        &self,
        hay: &[u8],
        from: usize,
        whole: Whole,
        found: &mut dyn FnMut(Range<usize>, usize),
    ) -> Searched {
        let searched = Searched { cursor: hay.len(), safe: hay.len() };
        if self.strands.is_empty() {
            return searched;
        }
        let mut search = Search { seams: self, hay, whole, trigger: 0, found: Vec::new(), searched };
        search.all(from);
        let Search { found: all, mut searched, .. } = search;
        for Hit { trigger, range, rule } in all {
            // What lies behind an undecided seam will be found again.
            if trigger < searched.cursor || whole == Whole::Yes {
                found(range, rule);
            } else {
                searched.safe = searched.safe.min(range.start);
            }
        }
        searched
    }
}

struct Hit {
    trigger: usize,
    range: Range<usize>,
    rule: usize,
}

struct Search<'s, 't> {
    seams: &'s Seams,
    hay: &'t [u8],
    whole: Whole,
    /// The byte that led to the seam at hand.
    trigger: usize,
    found: Vec<Hit>,
    searched: Searched,
}

impl Search<'_, '_> {
    /// Goes to every byte that may make a seam. A seam that is still undecided ends a round, because the next search begins
    /// there.
    fn all(&mut self, from: usize) {
        let hay = self.hay;
        let rest = hay.get(from..).unwrap_or_default();
        for place in memchr::memchr_iter(b'\n', rest) {
            if !self.round(from + place, Self::line_end) {
                break;
            }
        }
        for place in memchr::memchr3_iter(b'\\', b'%', b'&', rest) {
            if !self.round(from + place, Self::escape) {
                break;
            }
        }
        for place in memchr::memchr3_iter(b'"', b'\'', b'[', rest) {
            if !self.round(from + place, Self::mark) {
                break;
            }
        }
        // To see that there is nothing but ASCII is quicker.
        let blocks = (from..).step_by(BLOCK).zip(rest.chunks(BLOCK)).filter(|(_, block)| !block.is_ascii());
        let leads = blocks.flat_map(|(start, block)| {
            memchr::memchr3_iter(0xc2, 0xe2, 0xef, block).map(move |place| start + place)
        });
        for place in leads {
            if !self.round(place, Self::seam) {
                break;
            }
        }
        if self.whole == Whole::MoreMayCome {
            self.last_line();
        }
    }

    fn round(&mut self, place: usize, seam: fn(&mut Self, usize)) -> bool {
        self.trigger = place;
        seam(self, place);
        self.searched.cursor > place
    }

    fn line_end(&mut self, newline: usize) {
        let mut start = newline;
        loop {
            if self.may_end(start) && self.may_go_on(start, newline) {
                self.seam(start);
            }
            // What stands between the text and the end of its line.
            match start.checked_sub(1).and_then(|before| self.hay.get(before)) {
                Some(byte) if reading::ends_line(*byte) && newline - start < LONGEST_LINE_END - 1 => {
                    start -= 1
                }
                Some(_) | None => return,
            }
        }
    }

    /// Can the bytes before a seam belong to a value? There is a line for every few bytes of text, so this must be quick.
    fn may_end(&self, seam: usize) -> bool {
        let table = &self.seams.table;
        match self.hay.get(seam.saturating_sub(HEAD)..seam) {
            Some(&[first, second, third, fourth]) => {
                table.holds(fourth)
                    && (table.begins(&[fourth])
                        || table.begins(&[third, fourth])
                        || table.begins(&[second, third, fourth])
                        || table.has(&[first, second, third, fourth]))
            }
            Some(_) | None => true,
        }
    }

    /// The same for them and what the next line begins with, if that is plain.
    fn may_go_on(&self, seam: usize, newline: usize) -> bool {
        let table = &self.seams.table;
        let rest =
            self.hay.get(newline + 1..self.hay.len().min(newline + LONGEST_INDENT)).unwrap_or_default();
        let skipped = |byte: &u8, more: fn(u8) -> bool| byte.is_ascii_whitespace() || more(*byte);
        let after = |text: &'_ [u8], more: fn(u8) -> bool| text.iter().position(|byte| !skipped(byte, more));
        // Marks and quotation marks before the text may belong to it or not.
        let (Some(&[first, second, third, fourth]), Some(start), Some(end)) = (
            self.hay.get(seam.saturating_sub(HEAD)..seam),
            after(rest, |_| false),
            after(rest, |byte| reading::is_mark(byte) || is_quote(byte)),
        ) else {
            return true;
        };
        let plain = rest.get(end..).is_some_and(reading::is_plain);
        let head = |next: u8| {
            table.begins(&[fourth, next])
                || table.begins(&[third, fourth, next])
                || table.has(&[second, third, fourth, next])
        };
        // The break may stand for a space, or for a line's end in the value.
        !plain
            || table.has(&[first, second, third, fourth])
            || head(b' ')
            || head(b'\n')
            || rest.get(start..=end).unwrap_or_default().iter().any(|next| head(*next))
    }

    /// The end of the last line may be about to come. Its seam would begin before it.
    fn last_line(&mut self) {
        self.trigger = self.hay.len();
        let end = self.hay.len();
        let before = self.hay.get(end.saturating_sub(LONGEST_LINE_END - 1)..end).unwrap_or_default();
        let n_before = before.iter().rev().take_while(|byte| reading::ends_line(**byte)).count();
        for start in end - n_before..end {
            self.seam(start);
        }
        if before.last() == Some(&ESCAPE) {
            self.seam(end - 1);
        }
    }

    /// An `&` is frequent in programs and seldom begins the name of a character.
    fn escape(&mut self, place: usize) {
        let rest = self.hay.get(place..self.hay.len().min(place + reading::LONGEST_NAME)).unwrap_or_default();
        let is_name = |rest: &[u8]| {
            rest.iter()
                .skip(1)
                .find(|byte| !byte.is_ascii_alphanumeric() && **byte != b'#')
                .is_none_or(|end| *end == b';')
        };
        if rest.first() != Some(&b'&') || is_name(rest) {
            self.seam(place);
        }
    }

    /// Quotation marks and brackets are frequent, and nearly all are just that.
    fn mark(&mut self, place: usize) {
        let next = |n: usize| self.hay.get(place + n).copied();
        let may_join = |byte: u8| is_quote(byte) || matches!(byte, b'\\' | b'$' | b'+' | b'.');
        let counts = match (self.hay.get(place), next(1)) {
            (_, None) => true,
            (Some(b'['), Some(byte)) => byte.is_ascii_digit() || matches!(byte, b';' | b'm' | b'K'),
            (_, Some(b' ')) => next(2).is_none_or(may_join),
            (_, Some(byte)) => may_join(byte),
        };
        if counts {
            let escaped = place.checked_sub(1).filter(|before| self.hay.get(*before) == Some(&ESCAPE));
            let start = match (escaped, self.hay.get(place)) {
                (Some(before), Some(b'[')) => before,
                _ => place,
            };
            if self.may_end(start) {
                self.seam(start);
            }
        }
    }

    fn seam(&mut self, seam: usize) {
        let window = self.hay.get(..self.hay.len().min(seam + REACH)).unwrap_or_default();
        let may_grow = self.whole == Whole::MoreMayCome && window.len() < seam + REACH;
        let seams = self.seams;
        let before = seam.checked_sub(HEAD).and_then(|start| window.get(start..seam));
        let before = before.filter(|before| seams.table.has(before));
        let plain = |n_plain: usize| window.get(seam.checked_sub(n_plain)?..seam);
        let begins = |n_plain: usize| plain(n_plain).is_some_and(|plain| seams.table.begins(plain));
        // Nearly always it ends here, before anything is read.
        if before.is_none()
            && !window.get(seam).is_some_and(|byte| begins_escape(*byte))
            && !(1..HEAD).any(begins)
        {
            return;
        }
        let readings = Readings::of(window, seam);
        if readings.iter().next().is_none() && !(readings.cut && may_grow) {
            return;
        }
        if let Some(before) = before {
            let mut n_followed = 0;
            for entry in seams.table.at(before) {
                let Some((strand, rule)) = seams.strands.get(entry.strand as usize) else { continue };
                let Some(start) = seam.checked_sub(entry.end as usize) else { continue };
                if n_followed < MOST_FOLLOWED
                    && window.get(start..seam).is_some_and(|plain| strand.starts_with(plain))
                {
                    n_followed += 1;
                    let outcome = follow(strand, window, entry.end as usize, seam, may_grow);
                    self.judge(start, outcome, *rule);
                }
            }
        }
        for n_plain in 0..HEAD {
            if let Some(plain) = plain(n_plain).filter(|plain| plain.is_empty() || seams.table.begins(plain))
            {
                self.heads(plain, seam, window, may_grow, &readings);
            }
        }
    }

    /// Reads a value's first four bytes: those before the seam and, in every way, those from it on.
    fn heads(&mut self, plain: &[u8], seam: usize, window: &[u8], may_grow: bool, at_seam: &Readings) {
        let seams = self.seams;
        let begin = seam - plain.len();
        let mut branches = Vec::new();
        let mut head = Head { bytes: [0; 2 * HEAD], n_bytes: 0, place: seam, n_breaks: 0 };
        head.add(plain);
        if at_seam.cut && may_grow {
            self.undecided(begin);
            return;
        }
        // What breaks the text before its first byte is no part of it.
        head.read(at_seam, !plain.is_empty(), &seams.table, &mut branches);
        // Several ways to read a break lead to the same place.
        let mut taken: Vec<Head> = Vec::new();
        while let Some(mut head) = branches.pop() {
            if taken.len() == MOST_HEADS {
                return;
            }
            if taken.iter().any(|other| other.covers(&head)) {
                continue;
            }
            taken.push(head);
            if head.bytes().len() >= HEAD {
                for entry in seams.table.at(head.bytes()).filter(|entry| entry.end as usize == HEAD) {
                    let Some((strand, rule)) = seams.strands.get(entry.strand as usize) else { continue };
                    if strand.starts_with(head.bytes()) {
                        let outcome = follow(strand, window, head.bytes().len(), head.place, may_grow);
                        self.judge(begin, outcome, *rule);
                    }
                }
                continue;
            }
            let Some(byte) = window.get(head.place) else {
                if may_grow {
                    self.undecided(begin);
                    return;
                }
                continue;
            };
            if reading::is_special(*byte) {
                let readings = Readings::of(window, head.place);
                if readings.cut && may_grow {
                    self.undecided(begin);
                    return;
                }
                head.read(&readings, true, &seams.table, &mut branches);
            }
            head.add(&[*byte]);
            head.place += 1;
            head.n_breaks = 0;
            head.keep(&seams.table, &mut branches);
        }
    }

    fn judge(&mut self, begin: usize, outcome: Outcome, rule: usize) {
        match outcome {
            Outcome::No => {}
            Outcome::Cut => self.undecided(begin),
            Outcome::Match(end) => {
                // A placeholder around it must be in sight.
                let rest = self.hay.get(end..).unwrap_or_default();
                let in_sight = self.whole == Whole::Yes
                    || rest.len() > placeholder::LONGEST + HEAD
                    || memchr::memrchr(b'\n', rest).is_some();
                if in_sight {
                    self.found.push(Hit { trigger: self.trigger, range: begin..end, rule });
                } else {
                    self.undecided(begin);
                }
            }
        }
    }

    fn undecided(&mut self, begin: usize) {
        let Searched { cursor, safe } = &mut self.searched;
        *cursor = (*cursor).min(self.trigger);
        *safe = (*safe).min(begin);
    }
}

/// A value's first bytes, as read so far.
#[derive(Clone, Copy)]
struct Head {
    bytes: [u8; 2 * HEAD],
    n_bytes: usize,
    place: usize,
    n_breaks: usize,
}

impl Head {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.n_bytes).unwrap_or_default()
    }

    /// Is whatever comes after `other` tried after this one too?
    fn covers(&self, other: &Head) -> bool {
        self.place == other.place && self.bytes() == other.bytes() && self.n_breaks <= other.n_breaks
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(to) = self.bytes.get_mut(self.n_bytes) {
                *to = *byte;
                self.n_bytes += 1;
            }
        }
    }

    fn read(self, readings: &Readings, with_breaks: bool, table: &Table, branches: &mut Vec<Head>) {
        for reading in readings.iter() {
            let mut next = self;
            next.place += reading.length();
            match reading.kind {
                Kind::Escape => {
                    next.add(reading.bytes());
                    next.n_breaks = 0;
                    next.keep(table, branches);
                }
                Kind::Break | Kind::LineBreak if with_breaks && self.n_breaks < MOST_BREAKS => {
                    next.n_breaks += 1;
                    branches.push(next);
                    for byte in [b' ', b'\n'] {
                        if reading.kind == Kind::LineBreak {
                            let mut next = next;
                            next.add(&[byte]);
                            next.keep(table, branches);
                        }
                    }
                }
                Kind::Break | Kind::LineBreak => {}
            }
        }
    }

    /// Goes on only with what some value begins with.
    fn keep(self, table: &Table, branches: &mut Vec<Head>) {
        if self.bytes().len() >= HEAD || table.begins(self.bytes()) {
            branches.push(self);
        }
    }
}
