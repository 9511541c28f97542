//! The redactor: rules, known values and the operator's patterns, made ready once and shared by every call.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex_automata::meta::Regex;

use crate::custom::{RedactorError, Whole};
use crate::engine::{Engine, Report, Span, View};
use crate::fingerprint::{Baseline, FingerprintKey};
use crate::index::Index;
use crate::known::{self, Form, KnownValue, Spelling};
use crate::lexicon::Lexicon;
use crate::marks::{Mark, Marker, Marking, Marks};
use crate::matcher::{Match, Matcher};
use crate::placeholder::{Placeholders, RuleName};
use crate::rule::{Lead, Pattern, Rank, Rule, Sight, begins_here};
use crate::rules::{INDEX, built_in, rules};
use crate::runs::Entropy;
use crate::seams::Seams;
use crate::{assignment, beside, check, custom, pem};

#[derive(Debug, Clone, Default)]
pub struct RedactorSettings {
    pub known: Vec<KnownValue>,
    /// Values of which nobody can say that a person chose them. They are hidden in what is shown, and count for nothing
    /// else: not for the record, and not as a reason to refuse a write.
    pub doubtful: Vec<KnownValue>,
    /// The operator's own regular expressions.
    pub patterns: Vec<String>,
    /// Those of a project's file: as `patterns`, but not for the subjects of the record.
    pub project_patterns: Vec<String>,
    pub entropy: Entropy,
    /// Findings that are none; known values always are.
    pub baseline: Baseline,
    pub marking: Marking,
    /// For looking numbers up. Without it, secrets are numbered and nothing tells afterwards which they were.
    pub key: Option<FingerprintKey>,
}

/// A match of a rule: what is taken away, and everything that made it a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) value: Range<usize>,
    pub(crate) extent: Range<usize>,
}

/// Finds secrets and replaces them. Cheap to share, and to begin afresh for a call.
pub struct Redactor {
    finder: Arc<Finder>,
    /// What finds in the subjects of the record, if that is another.
    record: Option<Arc<Finder>>,
    /// When numbers are given: those given so far.
    marks: Option<Arc<Marks>>,
    /// The same for the subjects of the record, where they are noted even if nobody wants to see them: what a record
    /// hides of what was asked for can be looked up.
    noted: Option<Arc<Marks>>,
}

/// What finds: rules, known values and patterns, made ready.
pub(crate) struct Finder {
    pub(crate) index: Index,
    pub(crate) lexicon: Lexicon,
    pub(crate) custom: Vec<(Regex, usize)>,
    pub(crate) seams: Seams,
    pub(crate) entropy: Entropy,
    /// The name of what only its randomness gives away.
    pub(crate) entropy_rule: usize,
    pub(crate) placeholders: Placeholders,
    baseline: Baseline,
    /// Must whoever reports a finding know its bytes?
    pub(crate) wants_values: bool,
    /// The built-in rules first, in the order of `rules()`; then the names of known values, the name of random text and
    /// those of the operator's patterns.
    names: Vec<RuleName>,
    known: Vec<KnownValue>,
    /// So many of them are; the others are doubtful.
    n_sure: usize,
    /// Compiled when first needed: most calls need none, and starting must be quick.
    matchers: Vec<OnceLock<Option<Matcher>>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("n_names", &self.finder.names.len()).finish_non_exhaustive()
    }
}

impl Redactor {
    pub fn new(settings: RedactorSettings) -> Result<Redactor, RedactorError> {
        let marks = match settings.marking {
            Marking::Plain => None,
            Marking::Numbered => Some(Arc::new(Marks::new(settings.key.clone(), Marking::Numbered))),
        };
        let unseen = || settings.key.clone().map(|key| Arc::new(Marks::new(Some(key), Marking::Plain)));
        let noted = marks.clone().or_else(unseen);
        let is_same = settings.doubtful.is_empty() && settings.project_patterns.is_empty();
        let patterns = settings.patterns.clone();
        let of_record = (!is_same).then(|| RedactorSettings {
            doubtful: Vec::new(),
            project_patterns: Vec::new(),
            patterns,
            known: settings.known.clone(),
            entropy: settings.entropy,
            baseline: settings.baseline.clone(),
            marking: settings.marking,
            key: settings.key.clone(),
        });
        let finder = Arc::new(Finder::new(settings)?);
        let record = of_record.map(Finder::new).transpose()?.map(Arc::new);
        Ok(Redactor { finder, record, marks, noted })
    }

    /// The same for what somebody asked for: it leaves out what an agent may have a hand in, and notes what it hides.
    pub fn for_record(&self) -> Redactor {
        let marks = self.noted.clone();
        let finder = Arc::clone(self.record.as_ref().unwrap_or(&self.finder));
        Redactor { finder, record: None, noted: marks.clone(), marks }
    }

    /// The same rules, and numbers from one again.
    pub fn for_call(&self) -> Redactor {
        let marks = self.marks.as_ref().map(|marks| Arc::new(marks.afresh()));
        let unseen = || self.noted.as_ref().map(|noted| Arc::new(noted.afresh()));
        let noted = marks.clone().or_else(unseen);
        Redactor { finder: Arc::clone(&self.finder), record: self.record.clone(), marks, noted }
    }

    /// What has been shown under a number so far, or noted, in order. Empty without a key.
    pub fn marked(&self) -> Vec<Mark> {
        self.noted.as_ref().map(|marks| marks.seen()).unwrap_or_default()
    }

    pub(crate) fn finder(&self) -> &Finder {
        &self.finder
    }

    /// Drops a rule's expression, if nobody else uses these rules; it is compiled anew when it is needed.
    pub(crate) fn forget(&mut self, number: usize) {
        let finder = Arc::get_mut(&mut self.finder);
        if let Some(slot) = finder.and_then(|finder| finder.matchers.get_mut(number)) {
            slot.take();
        }
    }

    /// What is to stand in the place of a finding. `value` is `None` where its bytes are too many to be kept.
    pub(crate) fn marker(&self, span: Span, value: Option<&[u8]>) -> Marker {
        let Some(marks) = &self.marks else { return Marker::PLAIN };
        // The value itself, in whichever spelling it was found.
        let known = self.finder.known_value(span.rule);
        match known.or(value) {
            Some(value) => Marker::numbered(marks, value),
            None => Marker::PLAIN,
        }
    }

    pub(crate) fn write_placeholder(&self, span: Span, value: Option<&[u8]>, out: &mut Vec<u8>) {
        if let Some(name) = self.finder.name(span.rule) {
            out.extend_from_slice(self.marker(span, value).text(name).as_bytes());
        }
    }
}

impl Finder {
    fn new(settings: RedactorSettings) -> Result<Finder, RedactorError> {
        let mut names: Vec<RuleName> = rules().map(RuleName::of).collect();
        let matchers = names.iter().map(|_| OnceLock::new()).collect();
        let n_sure = settings.known.len();
        let mut fixed: Vec<(Arc<Spelling>, usize)> = Vec::new();
        let known: Vec<KnownValue> = settings.known.into_iter().chain(settings.doubtful).collect();
        for value in &known {
            let rule = names.len();
            names.push(value.rule());
            let spellings = known::spellings(value.value.expose());
            fixed.extend(spellings.into_iter().map(|spelling| (spelling, rule)));
        }
        let entropy_rule = names.len();
        names.push(RuleName::new("high-entropy"));
        let mut custom = Vec::new();
        for pattern in settings.patterns.iter().chain(&settings.project_patterns) {
            custom.push((custom::compile(pattern)?, names.len()));
            names.push(RuleName::new(&format!("custom-pattern-{}", custom.len())));
        }
        let index = Index::new(&INDEX, fixed.iter().map(|(spelling, _)| spelling.sure()));
        let lexicon = Lexicon::new(fixed.iter().map(|(spelling, rule)| (&**spelling, *rule)));
        let elastic = fixed.into_iter().filter(|(spelling, _)| spelling.form == Form::Elastic).collect();
        let placeholders = Placeholders::new(names.iter());
        Ok(Finder {
            index,
            lexicon,
            custom,
            seams: Seams::new(elastic),
            entropy: settings.entropy,
            entropy_rule,
            placeholders,
            wants_values: settings.key.is_some()
                || settings.marking == Marking::Numbered
                || !settings.baseline.is_empty(),
            baseline: settings.baseline,
            names,
            known,
            n_sure,
            matchers,
        })
    }

    pub(crate) fn each_span(&self, hay: &[u8], entropy: Entropy, report: Report<'_>) {
        Engine::judging(self, entropy).advance(View { hay, base: 0, whole: Whole::Yes }, report);
    }

    pub(crate) fn name(&self, rule: usize) -> Option<&RuleName> {
        self.names.get(rule)
    }

    /// Has somebody accepted this finding? Known values are never asked about.
    pub(crate) fn accepts(&self, rule: usize, value: &[u8]) -> bool {
        !self.baseline.is_empty()
            && self.name(rule).is_some_and(|name| self.baseline.accepts(name.as_str(), value))
    }

    /// The known value that a rule stands for.
    fn known_value(&self, rule: usize) -> Option<&[u8]> {
        let known = self.known.get(rule.checked_sub(self.matchers.len())?)?;
        Some(known.value.expose().trim().as_bytes())
    }

    /// Does the rule stand for a value that nobody vouches for?
    pub(crate) fn is_doubtful(&self, rule: usize) -> bool {
        rule < self.entropy_rule
            && rule.checked_sub(self.matchers.len()).is_some_and(|place| place >= self.n_sure)
    }

    /// Why what a rule finds is taken for a secret.
    pub(crate) fn why(&self, rule: usize) -> String {
        if let Some(built_in) = built_in(rule) {
            return built_in.about.to_owned();
        }
        if let Some(known) = rule.checked_sub(self.matchers.len()).and_then(|place| self.known.get(place)) {
            return format!("the value of the environment variable or configured secret {}", known.name);
        }
        match rule.checked_sub(self.entropy_rule) {
            None | Some(0) => "random text in a place where secrets stand".to_owned(),
            Some(number) => format!("pattern {number} of secrets.redact_patterns"),
        }
    }

    /// What the rule finds by its keyword, which stands at `place`.
    pub(crate) fn find(
        &self,
        rule: &Rule,
        number: usize,
        hay: &[u8],
        place: usize,
        keyword: &str,
    ) -> Vec<Found> {
        if let Pattern::Parsed(sight, parse) = rule.pattern {
            if sight == Sight::Lines && !rule.glances(hay, place) {
                return Vec::new();
            }
            let end = hay.len().min(place + rule.reach);
            let line = hay.get(place..end).and_then(|rest| memchr::memchr(b'\n', rest));
            let end = match sight {
                Sight::Line => line.map_or(end, |length| place + length),
                // What stands behind a placeholder came nearer by that redaction, which did not take it for a part of this.
                Sight::Lines => {
                    let mut placeholders = self.placeholders.near(hay, place..end);
                    placeholders
                        .find(|placeholder| placeholder.start > place)
                        .map_or(end, |first| first.start.min(end))
                }
            };
            return hay.get(..end).map(|seen| parse(seen, place)).unwrap_or_default();
        }
        self.find_one(rule, number, hay, place, keyword).into_iter().collect()
    }

    fn find_one(&self, rule: &Rule, number: usize, hay: &[u8], place: usize, keyword: &str) -> Option<Found> {
        match rule.pattern {
            Pattern::Parsed(..) => None,
            Pattern::Assignment => assignment::find(hay, place, keyword),
            Pattern::PrivateKey => {
                let range = place..place + pem::opens(hay, place)?;
                Some(Found { value: range.clone(), extent: range })
            }
            Pattern::Regex(_) => {
                let start = match rule.lead {
                    Lead::At => place,
                    Lead::Exactly(before) => place.checked_sub(before)?,
                    Lead::Run(class) => {
                        let before = hay.get(..place)?.iter().rev().take(Rule::LONGEST_RUN + 1);
                        place - before.take_while(|byte| class(**byte)).count()
                    }
                };
                self.match_at(rule, number, hay, start, place + rule.reach)
            }
            Pattern::Beside(_) => {
                if !begins_here(hay, place, rule.left) {
                    return None;
                }
                let matcher = self.matcher(rule, number)?;
                beside::candidates(hay, place, keyword).find_map(|start| {
                    let end = matcher.end(hay, start..hay.len().min(place + beside::REACH))?;
                    let right = hay.get(end).is_none_or(|byte| !(rule.right)(*byte));
                    let value = hay.get(start..end)?;
                    if beside::is_checksum(hay.get(place..start)?, value) {
                        return None;
                    }
                    let ok = right && check::entropy(value) >= rule.entropy && (rule.check)(value);
                    ok.then_some(Found { value: start..end, extent: place..end })
                })
            }
        }
    }

    pub(crate) fn matcher(&self, rule: &Rule, number: usize) -> Option<&Matcher> {
        self.matchers.get(number)?.get_or_init(|| compile(rule)).as_ref()
    }

    pub(crate) fn match_at(
        &self,
        rule: &Rule,
        number: usize,
        hay: &[u8],
        start: usize,
        end: usize,
    ) -> Option<Found> {
        if !begins_here(hay, start, rule.left) {
            return None;
        }
        let window = hay.get(start..hay.len().min(end))?;
        let matcher = self.matcher(rule, number)?;
        // Nearly always no match, and known after a few bytes; finding the end of a long line takes longer.
        let end = matcher.end(hay, start..start + window.len())?;
        // THREAT: P02, finding the groups takes time for every byte that they may be in, so only the match is given.
        let matched = window.get(..end - start)?;
        let length = match memchr::memchr(b'\n', matched) {
            None => matched.len(),
            Some(length) => length,
        };
        let Match { whole, value } = matcher.find(hay, start..start + length)?;
        let right = hay.get(whole.end).is_none_or(|byte| !(rule.right)(*byte));
        let secret = hay.get(value.clone())?;
        let ok = right && check::entropy(secret) >= rule.entropy && (rule.check)(secret);
        // A token with a prefix goes with its prefix; a named value goes alone.
        let taken = if rule.rank == Rank::Specific { whole.clone() } else { value };
        ok.then_some(Found { value: taken, extent: whole })
    }
}

/// `None` for rules without an expression. A test compiles all others, so that none can be broken unnoticed.
pub(crate) fn compile(rule: &Rule) -> Option<Matcher> {
    let (Pattern::Regex(pattern) | Pattern::Beside(pattern)) = rule.pattern else { return None };
    Matcher::new(pattern)
}
