//! Pieces of syntax. The file has to parse, and to be of a depth that recursion can stand.

mod document;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use ast_grep_core::matcher::{MatcherExt as _, PatternBuilder, PatternNode, kind_utils};
use ast_grep_core::{AstGrep, Matcher as _, NodeMatch, Pattern, PatternError as GrepError};
use tree_sitter::{ParseOptions, ParseState, Parser};

use super::{Filling, Finds, Ground, check_names};
use crate::budget::{self, Budget};
use crate::fill::{self, Part, Spelling};
use crate::{Edit, EditError, Language, PatternError, limits};
use document::Document;

/// A parsed text.
pub(crate) struct Tree(AstGrep<Document>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseProblem {
    OutOfTime,
    /// The text has a syntax error, or the parser contradicts itself.
    Error,
    TooDeep,
}

/// Nodes between two questions to the budget.
const STEP: usize = 256;

/// Parses the text whole and without error, or not at all.
pub(crate) fn parse(text: &str, language: Language, budget: &dyn Budget) -> Result<Tree, ParseProblem> {
    let tree = parse_raw(text, language, budget)?;
    if tree.root_node().has_error() {
        return Err(ParseProblem::Error);
    }
    check_shape(text, &tree, limits::SYNTAX_DEPTH, budget)?;
    Ok(Tree(AstGrep::doc(Document::new(text.to_owned(), tree, Grammar(language)))))
}

/// LIMIT: while it recovers from errors, the parser may go on for a while without asking the budget. That time grows
/// with the text, which is why syntax mode has a size limit of its own.
fn parse_raw(text: &str, language: Language, budget: &dyn Budget) -> Result<tree_sitter::Tree, ParseProblem> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).map_err(|_| ParseProblem::Error)?;
    let mut progress =
        |_: &ParseState| if budget.exhausted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    parser
        .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
        .ok_or(ParseProblem::OutOfTime)
}

/// INVARIANT: behind this check every node is a piece of the text and no deeper than `depth`.
///
/// The parser builds a tree of any depth without recursion, and so does this walk; the matcher does not.
/// THREAT: P09, a file of a hundred thousand brackets that overflows the stack.
fn check_shape(
    text: &str,
    tree: &tree_sitter::Tree,
    depth: usize,
    budget: &dyn Budget,
) -> Result<(), ParseProblem> {
    let mut cursor = tree.walk();
    let (mut level, mut n_nodes) = (0_usize, 0_usize);
    loop {
        if n_nodes.is_multiple_of(STEP) {
            budget::check(budget).map_err(|_| ParseProblem::OutOfTime)?;
        }
        n_nodes += 1;
        if text.get(cursor.node().byte_range()).is_none() {
            return Err(ParseProblem::Error);
        }
        if cursor.goto_first_child() {
            level += 1;
            if level > depth {
                return Err(ParseProblem::TooDeep);
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
            level -= 1;
        }
    }
}

pub(super) fn find(
    ground: &Ground<'_>,
    place: usize,
    edit: &Edit,
    finds: &mut Finds<'_>,
) -> Result<(), EditError> {
    let (Some(Tree(root)), Some(language)) = (&ground.tree, ground.language) else {
        return Err(EditError::UnsupportedLanguage);
    };
    let pattern = compile(&edit.spec, language)
        .map_err(|problem| EditError::InvalidPattern { edit: place, problem })?;
    let template = edit.is_template().then(|| fill::parse(&edit.content, Spelling::MetaVariables));
    let names = pattern.defined_vars();
    check_names(template.as_deref(), place, |name| names.contains(name))?;
    let kinds = pattern.potential_kinds();
    let meter = root.root().get_doc().meter();
    let mut past = 0;
    for (n_nodes, node) in root.root().dfs().enumerate() {
        if n_nodes.is_multiple_of(STEP) {
            budget::check(ground.budget)?;
        }
        let range = node.range();
        // Inside the last match, or nothing at all, or of another kind.
        if range.start < past
            || range.is_empty()
            || kinds.as_ref().is_some_and(|kinds| !kinds.contains(node.kind_id().into()))
        {
            continue;
        }
        budget::check(ground.budget)?;
        meter.refill();
        let matched = pattern.match_node(node.clone());
        let len = matched.as_ref().and_then(|_| pattern.get_match_len(node)).filter(|len| *len > 0);
        if meter.is_empty() {
            return Err(EditError::OutOfTime);
        }
        let Some(matched) = matched else { continue };
        // Trailing punctuation that the pattern does not mention stays, as `;` after `let $A = $B`.
        let span = range.start..len.map_or(range.end, |len| range.start + len);
        past = range.end;
        finds.push(ground.text.body_span(span), |room| {
            // What was hidden must not be copied to where nothing gives it away any more.
            for part in template.as_deref().unwrap_or_default() {
                if let Part::Place(name) = part
                    && let Some(range) = captured_range(&matched, name)
                    && ground.hides(&ground.text.body_span(range))
                {
                    return Err(EditError::HiddenCapture { edit: place, name: (*name).to_owned() });
                }
            }
            Filling::of(template.as_deref(), room, |name| captured(ground, &matched, name))
        })?;
    }
    Ok(())
}

/// The source of what a meta variable stands for. A list is taken from its first to its last node, without the line
/// end that Go counts to its statements.
fn captured<'t>(ground: &'t Ground<'_>, matched: &NodeMatch<'_, Document>, name: &str) -> &'t str {
    let source = |range| ground.text.view().get(range).unwrap_or_default();
    match (matched.get_env().get_match(name), captured_range(matched, name)) {
        (Some(_), Some(range)) => source(range),
        (None, Some(range)) => source(range).trim_end(),
        (_, None) => "",
    }
}

fn captured_range(matched: &NodeMatch<'_, Document>, name: &str) -> Option<Range<usize>> {
    let env = matched.get_env();
    if let Some(node) = env.get_match(name) {
        return Some(node.range());
    }
    let nodes = env.get_multiple_matches(name);
    Some(nodes.first()?.range().start..nodes.last()?.range().end)
}

fn compile(spec: &str, language: Language) -> Result<Pattern, PatternError> {
    if spec.len() > limits::PATTERN_BYTES {
        return Err(PatternError::TooLong { len: spec.len() });
    }
    let spec = crate::text::to_lf(spec);
    let refused = PatternError::Code { language: language.as_str() };
    match Pattern::try_new(&spec, Grammar(language)) {
        Ok(pattern) if has_error(&pattern.node) => Err(refused),
        Ok(pattern) => Ok(pattern),
        Err(GrepError::Parse(_)) => Err(refused),
        Err(
            GrepError::NoContent(_)
            | GrepError::MultipleNode(_)
            | GrepError::RootMultiMetaVar(_)
            | GrepError::InvalidKind(_)
            | GrepError::NoSelectorInContext { .. },
        ) => Err(PatternError::NotOneNode),
    }
}

/// Our languages as the pattern library knows them.
#[derive(Clone)]
struct Grammar(Language);

impl ast_grep_core::Language for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        match self.0.placeholder() {
            '$' => Cow::Borrowed(query),
            placeholder => Cow::Owned(with_placeholder(query, placeholder)),
        }
    }

    fn expando_char(&self) -> char {
        self.0.placeholder()
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.grammar().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.grammar().field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, GrepError> {
        builder.build(|text| {
            // A pattern is at most a few kilobytes, so it is parsed without a clock.
            let unhurried = || false;
            let tree = parse_raw(text, self.0, &unhurried).map_err(|_| String::new())?;
            check_shape(text, &tree, limits::SYNTAX_PATTERN_DEPTH, &unhurried).map_err(|_| String::new())?;
            Ok(Document::new(text.to_owned(), tree, self.clone()))
        })
    }
}

/// Whether a piece of the pattern fits nowhere in the language; how it would match is anybody's guess. Missing
/// tokens are fine (`let $A = $B` without its `;`), and so is an error *around* the pattern, such as for an expression
/// where the language expects declarations.
fn has_error(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => false,
        PatternNode::Terminal { kind_id, .. } => kind_utils::is_error_kind(*kind_id),
        PatternNode::Internal { kind_id, children } => {
            kind_utils::is_error_kind(*kind_id) || children.iter().any(has_error)
        }
    }
}

/// Where a name may not begin with `$`, the dollars of a meta variable become letters for the parser's sake. Other
/// dollars stay.
fn with_placeholder(query: &str, placeholder: char) -> String {
    let mut out = String::with_capacity(query.len() + 8);
    let mut rest = query;
    while let Some((before, from_dollar)) = rest.find('$').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let after = from_dollar.trim_start_matches('$');
        let n_dollars = from_dollar.len() - after.len();
        let named = after.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        let sign = if named || n_dollars == 3 { placeholder } else { '$' };
        out.extend(std::iter::repeat_n(sign, n_dollars));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_letters_only_in_meta_variables() {
        for (query, expected) in [
            ("f($A)", "f(µA)"),
            ("f($$$ARGS)", "f(µµµARGS)"),
            ("f($$$)", "f(µµµ)"),
            ("f($_)", "f(µ_)"),
            ("\"$5\"", "\"$5\""),
            ("$", "$"),
            ("$$", "$$"),
            ("$$$", "µµµ"),
            ("a$b$C", "a$bµC"),
        ] {
            assert_eq!(with_placeholder(query, 'µ'), expected, "{query}");
        }
    }
}
