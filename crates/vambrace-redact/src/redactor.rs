//! The redactor: rules, known values and the operator's patterns, made ready once and shared by every call.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use vambrace_types::{RawOutput, Secret, Tree, clean_controls};

use crate::cleaned::{Cleaned, joined};
use crate::custom::{RedactorError, Whole};
use crate::engine::{Engine, Span, View};
use crate::index::{Index, grams};
use crate::known::{self, KnownValue};
use crate::placeholder::{PLACEHOLDER_PREFIX, Placeholders, RuleName};
use crate::rule::{Lead, Pattern, Rank, Rule, any, begins_here};
use crate::rules::rules;
use crate::stream::Stream;
use crate::text::{RedactedText, RedactedTree, Redaction};
use crate::{assignment, custom, pem};

#[derive(Debug, Clone, Default)]
pub struct RedactorSettings {
    pub known: Vec<KnownValue>,
    /// The operator's own regular expressions.
    pub patterns: Vec<String>,
}

/// What the index leads to.
pub(crate) enum Needle {
    Known { spelling: Secret<Vec<u8>>, rule: usize },
    Rule { rule: &'static Rule, number: usize, keyword: &'static str },
    KeyEnd,
}

/// A match of a rule: what is taken away, and everything that made it a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) value: Range<usize>,
    pub(crate) extent: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// A value that we were told is secret.
    Known,
    /// Something that has the form of a secret.
    Pattern,
}

/// A secret in a text, at byte offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: RuleName,
    pub kind: FindingKind,
    pub start: usize,
    pub end: usize,
    /// Counted from one.
    pub line: usize,
}

/// Finds secrets and replaces them. Immutable, and cheap to share.
pub struct Redactor {
    pub(crate) index: Index,
    pub(crate) needles: Vec<Needle>,
    pub(crate) custom: Vec<(Regex, usize)>,
    pub(crate) placeholders: Placeholders,
    /// The built-in rules first, in the order of `rules()`; then the names of known values and operator's patterns.
    names: Vec<RuleName>,
    /// Compiled when first needed: most calls need none, and starting must be quick.
    regexes: Vec<OnceLock<Option<Regex>>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("n_needles", &self.needles.len()).finish_non_exhaustive()
    }
}

impl Redactor {
    pub fn new(settings: RedactorSettings) -> Result<Redactor, RedactorError> {
        let mut names: Vec<RuleName> = rules().map(|rule| RuleName::new(rule.name)).collect();
        let regexes = names.iter().map(|_| OnceLock::new()).collect();
        let mut needles = vec![Needle::KeyEnd];
        for (number, rule) in rules().enumerate() {
            needles.extend(rule.keywords.iter().map(|keyword| Needle::Rule { rule, number, keyword }));
        }
        for value in &settings.known {
            let rule = names.len();
            names.push(value.rule());
            let spellings = known::spellings(value.value.expose());
            needles.extend(spellings.into_iter().map(|spelling| Needle::Known { spelling, rule }));
        }
        let mut custom = Vec::new();
        for pattern in &settings.patterns {
            custom.push((custom::compile(pattern)?, names.len()));
            names.push(RuleName::new(&format!("custom-pattern-{}", custom.len())));
        }
        let grams = (0u32..).zip(&needles).flat_map(|(number, needle)| {
            let grams = match needle {
                Needle::Known { spelling, .. } => grams(spelling.expose(), any),
                Needle::Rule { rule, keyword, .. } => grams(keyword.as_bytes(), rule.follow),
                Needle::KeyEnd => grams(pem::END.as_bytes(), any),
            };
            grams.into_iter().map(move |gram| (gram, number))
        });
        let index = Index::new(grams);
        let placeholders = Placeholders::new(names.iter());
        Ok(Redactor { index, needles, custom, placeholders, names, regexes })
    }

    /// Control characters are dropped first, then secrets are replaced: the other way round, a NUL in the middle
    /// of a token would hide it from the rules and then vanish, which puts the token together again.
    pub fn text(&self, raw: &str) -> Redaction<RedactedText> {
        let (cleaned, n_controls_dropped) = clean_controls(raw);
        let (redacted, n_redactions) = self.redact(&cleaned);
        let value = RedactedText::clean(redacted.unwrap_or_else(|| cleaned.into_owned()));
        Redaction { value, n_redactions, n_controls_dropped }
    }

    /// As `text`, but clean text is handed through without a copy.
    pub fn text_owned(&self, raw: String) -> Redaction<RedactedText> {
        let (cleaned, n_controls_dropped) = match clean_controls(&raw) {
            (Cow::Borrowed(_), n_dropped) => (raw, n_dropped),
            (Cow::Owned(cleaned), n_dropped) => (cleaned, n_dropped),
        };
        let (redacted, n_redactions) = self.redact(&cleaned);
        let value = RedactedText::clean(redacted.unwrap_or(cleaned));
        Redaction { value, n_redactions, n_controls_dropped }
    }

    pub fn tree(&self, raw: RawOutput) -> Redaction<RedactedTree> {
        self.plain_tree(raw.into_unredacted_tree())
    }

    /// For trees that no door made, such as arguments on their way to the record.
    ///
    /// Leaf by leaf, keys too. A leaf is also judged by its key, because `{"password": "…"}` is as telling as the
    /// same words in a line. LIMIT: a secret that is spread over several leaves is not seen.
    pub fn plain_tree(&self, mut raw: Tree) -> Redaction<RedactedTree> {
        let mut counts = Redaction { value: (), n_redactions: 0, n_controls_dropped: 0 };
        self.clean_tree(&mut raw, &mut counts);
        let Redaction { value: (), n_redactions, n_controls_dropped } = counts;
        Redaction { value: RedactedTree::clean(raw), n_redactions, n_controls_dropped }
    }

    fn clean_tree(&self, tree: &mut Tree, counts: &mut Redaction<()>) {
        match tree {
            Tree::Null | Tree::Bool(_) => {}
            // A secret may be a number, and then it may be sent as one.
            Tree::Int(_) | Tree::Float(_) => {
                let done = self.text_owned(tree.to_json());
                if done.n_redactions > 0 {
                    counts.n_redactions += done.n_redactions;
                    *tree = Tree::Text(done.value.into_string());
                }
            }
            Tree::Text(text) => self.clean_leaf(text, counts),
            Tree::List(items) => items.iter_mut().for_each(|item| self.clean_tree(item, counts)),
            Tree::Map(entries) => {
                for (key, value) in entries {
                    // Keys that are part of the program need no look.
                    if let Cow::Owned(key) = key {
                        self.clean_leaf(key, counts);
                    }
                    self.clean_tree(value, counts);
                    if let Tree::Text(leaf) = value
                        && assignment::is_secret_leaf(key, leaf)
                    {
                        *leaf = format!("{PLACEHOLDER_PREFIX}{}]", self.assignment_name());
                        counts.n_redactions += 1;
                    }
                }
            }
        }
    }

    fn clean_leaf(&self, leaf: &mut String, counts: &mut Redaction<()>) {
        let done = self.text_owned(std::mem::take(leaf));
        *leaf = done.value.into_string();
        counts.n_redactions += done.n_redactions;
        counts.n_controls_dropped += done.n_controls_dropped;
    }

    fn assignment_name(&self) -> &'static str {
        crate::rules::assignment().map_or("secret-assignment", |rule| rule.name)
    }

    /// What would be redacted, in order and without overlaps, at the input's own offsets. A secret that shows only when
    /// control characters are dropped, as they are from everything that is shown, is found too.
    pub fn scan(&self, bytes: &[u8]) -> Vec<Finding> {
        let mut spans = Vec::new();
        self.each_span(bytes, &mut |span| spans.push(span));
        if let Some(cleaned) = Cleaned::of(bytes) {
            self.each_span(&cleaned.bytes, &mut |span| spans.extend(cleaned.placed(span)));
            spans = joined(spans);
        }
        let (mut line, mut counted) = (1, 0);
        let mut findings = Vec::new();
        for Span { start, end, rule, rank } in spans {
            let passed = bytes.get(counted..start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', passed).count();
            counted = start;
            let kind = match rank {
                Rank::Known => FindingKind::Known,
                Rank::Specific | Rank::Generic => FindingKind::Pattern,
            };
            findings.extend(self.name(rule).map(|rule| Finding {
                rule: rule.clone(),
                kind,
                start,
                end,
                line,
            }));
        }
        findings
    }

    /// A filter for bytes that arrive in pieces. Control characters and invalid UTF-8 pass through.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// `None` when there was nothing to replace.
    fn redact(&self, text: &str) -> (Option<String>, usize) {
        let bytes = text.as_bytes();
        let mut out: Vec<u8> = Vec::new();
        let (mut written, mut n_redactions) = (0, 0);
        self.each_span(bytes, &mut |span| {
            out.extend_from_slice(bytes.get(written..span.start).unwrap_or_default());
            self.write_placeholder(span.rule, &mut out);
            written = span.end;
            n_redactions += 1;
        });
        if n_redactions == 0 {
            return (None, 0);
        }
        out.extend_from_slice(bytes.get(written..).unwrap_or_default());
        // Spans hold whole characters, so the text is valid; should that ever fail, lossy text shows no more.
        let text = String::from_utf8(out)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        (Some(text), n_redactions)
    }

    fn each_span(&self, hay: &[u8], report: &mut dyn FnMut(Span)) {
        Engine::new(self).advance(View { hay, base: 0, whole: Whole::Yes }, report);
    }

    pub(crate) fn name(&self, rule: usize) -> Option<&RuleName> {
        self.names.get(rule)
    }

    pub(crate) fn write_placeholder(&self, rule: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(PLACEHOLDER_PREFIX.as_bytes());
        out.extend_from_slice(self.name(rule).map_or("secret", RuleName::as_str).as_bytes());
        out.push(b']');
    }

    /// Does the rule match at its keyword, which stands at `place`?
    pub(crate) fn find(
        &self,
        rule: &Rule,
        number: usize,
        hay: &[u8],
        place: usize,
        keyword: &str,
    ) -> Option<Found> {
        match rule.pattern {
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
        }
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
        let length = memchr::memchr(b'\n', window).unwrap_or(window.len());
        let regex = self.regexes.get(number)?.get_or_init(|| compile(rule)).as_ref()?;
        let mut captures = regex.create_captures();
        regex.captures(Input::new(hay).range(start..start + length).anchored(Anchored::Yes), &mut captures);
        let whole = captures.get_match()?;
        let value =
            captures.iter().skip(1).flatten().next().map_or(whole.range(), |group| group.start..group.end);
        let right = hay.get(whole.end()).is_none_or(|byte| !(rule.right)(*byte));
        let ok = right && (rule.check)(hay.get(value.clone())?);
        // A token with a prefix goes with its prefix; a named value goes alone.
        let taken = if rule.rank == Rank::Specific { whole.range() } else { value };
        ok.then(|| Found { value: taken, extent: whole.range() })
    }
}

/// `None` for rules without an expression. A test compiles all others, so that none can be broken unnoticed.
pub(crate) fn compile(rule: &Rule) -> Option<Regex> {
    let Pattern::Regex(pattern) = rule.pattern else { return None };
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    Regex::builder().configure(Regex::config().utf8_empty(false)).syntax(syntax).build(pattern).ok()
}
