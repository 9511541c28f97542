//! A rule's expression, made ready. It is only ever asked about one place, so nothing is built that
//! would search for one.
//!
//! Four of five expressions leave no choice at any byte: a table of their states is small, quickly
//! made and gives the groups at once. The others go to the general engine.

use std::ops::Range;

use regex_automata::dfa::onepass;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// In bytes. What would be larger is not made a table.
const LARGEST: usize = 256 * 1024;

pub(crate) enum Matcher {
    Table(Box<onepass::DFA>),
    General(Regex),
}

/// Where an expression matched.
pub(crate) struct Match {
    pub(crate) whole: Range<usize>,
    /// The first group that took part, or else all of it.
    pub(crate) value: Range<usize>,
}

impl Matcher {
    pub(crate) fn new(expression: &str) -> Option<Matcher> {
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let nfa = thompson::Compiler::new()
            .syntax(syntax)
            .configure(thompson::Config::new().utf8(false))
            .build(expression)
            .ok()?;
        let config = onepass::Config::new().size_limit(Some(LARGEST));
        if let Ok(table) = onepass::Builder::new().configure(config).build_from_nfa(nfa) {
            return Some(Matcher::Table(Box::new(table)));
        }
        let config = Regex::config().utf8_empty(false).auto_prefilter(false).onepass(false);
        Regex::builder().configure(config).syntax(syntax).build(expression).ok().map(Matcher::General)
    }

    /// Where the match that begins at `range.start` ends.
    pub(crate) fn end(&self, hay: &[u8], range: Range<usize>) -> Option<usize> {
        let input = Input::new(hay).range(range).anchored(Anchored::Yes);
        match self {
            Matcher::Table(table) => {
                let mut slots = [None; 2];
                search(table, &input, &mut slots)?;
                slots.last().copied().flatten().map(NonMaxUsize::get)
            }
            Matcher::General(regex) => regex.find(input).map(|found| found.end()),
        }
    }

    pub(crate) fn find(&self, hay: &[u8], range: Range<usize>) -> Option<Match> {
        let input = Input::new(hay).range(range).anchored(Anchored::Yes);
        let mut groups = match self {
            Matcher::Table(table) => {
                let mut slots = vec![None; table.get_nfa().group_info().slot_len()];
                search(table, &input, &mut slots)?;
                let pairs = slots.chunks_exact(2).map(|pair| match pair {
                    [Some(start), Some(end)] => Some(start.get()..end.get()),
                    _ => None,
                });
                pairs.collect::<Vec<_>>()
            }
            Matcher::General(regex) => {
                let mut captures = regex.create_captures();
                regex.captures(input, &mut captures);
                captures.iter().map(|group| group.map(|group| group.start..group.end)).collect()
            }
        }
        .into_iter();
        let whole = groups.next()??;
        Some(Match { value: groups.flatten().next().unwrap_or_else(|| whole.clone()), whole })
    }
}

fn search(table: &onepass::DFA, input: &Input<'_>, slots: &mut [Option<NonMaxUsize>]) -> Option<()> {
    table.try_search_slots(&mut table.create_cache(), input, slots).ok()?.map(|_| ())
}
