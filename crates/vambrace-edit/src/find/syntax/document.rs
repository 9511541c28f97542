//! A parsed text as the pattern library walks it, with a meter on every step.
//!
//! The library's matcher has no bound of its own: lists of lists cost it two to the power of their nesting, and a
//! long captured list is copied for every element of the next one. It reads the tree only through this type, so
//! here we count, and when the meter is empty every list of children ends.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use ast_grep_core::source::{Edit, SgNode};
use ast_grep_core::{Doc, Position};
use tree_sitter::{Node, Tree, TreeCursor};

use super::Grammar;
use crate::limits;

#[derive(Clone)]
pub(super) struct Document {
    text: String,
    tree: Tree,
    grammar: Grammar,
    meter: Meter,
}

/// The nodes that may still be looked at.
#[derive(Clone)]
pub(super) struct Meter(Cell<u64>);

impl Meter {
    pub(super) fn refill(&self) {
        self.0.set(limits::SYNTAX_STEPS);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.get() == 0
    }

    fn spend(&self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl Document {
    pub(super) fn new(text: String, tree: Tree, grammar: Grammar) -> Document {
        Document { text, tree, grammar, meter: Meter(Cell::new(limits::SYNTAX_STEPS)) }
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl Doc for Document {
    type Source = String;
    type Lang = Grammar;
    type Node<'r> = MeteredNode<'r>;

    fn get_lang(&self) -> &Grammar {
        &self.grammar
    }

    fn get_source(&self) -> &String {
        &self.text
    }

    /// Edits are ours to apply, all at once.
    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("a document is only read".to_owned())
    }

    fn root_node(&self) -> MeteredNode<'_> {
        MeteredNode { node: self.tree.root_node(), meter: &self.meter }
    }

    fn get_node_text<'a>(&'a self, node: &MeteredNode<'a>) -> Cow<'a, str> {
        Cow::Borrowed(self.text.get(node.range()).unwrap_or_default())
    }
}

pub(super) struct MeteredNode<'r> {
    node: Node<'r>,
    meter: &'r Meter,
}

impl Clone for MeteredNode<'_> {
    fn clone(&self) -> Self {
        self.meter.spend();
        MeteredNode { node: self.node, meter: self.meter }
    }
}

struct Children<'r> {
    cursor: TreeCursor<'r>,
    meter: &'r Meter,
    n_left: usize,
}

impl<'r> Iterator for Children<'r> {
    type Item = MeteredNode<'r>;

    fn next(&mut self) -> Option<MeteredNode<'r>> {
        self.meter.spend();
        if self.meter.is_empty() {
            return None;
        }
        self.n_left = self.n_left.checked_sub(1)?;
        let node = self.cursor.node();
        self.cursor.goto_next_sibling();
        Some(MeteredNode { node, meter: self.meter })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.n_left, Some(self.n_left))
    }
}

impl ExactSizeIterator for Children<'_> {}

impl<'r> MeteredNode<'r> {
    fn wrap(&self, node: Node<'r>) -> MeteredNode<'r> {
        MeteredNode { node, meter: self.meter }
    }
}

impl<'r> SgNode<'r> for MeteredNode<'r> {
    fn parent(&self) -> Option<Self> {
        self.node.parent().map(|node| self.wrap(node))
    }

    fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        let mut cursor = self.node.walk();
        let n_left = if cursor.goto_first_child() { self.node.child_count() as usize } else { 0 };
        Children { cursor, meter: self.meter, n_left }
    }

    /// Not metered: the walk over the file asks the budget at every node.
    fn dfs(&self) -> impl Iterator<Item = Self> {
        let mut cursor = Some(self.node.walk());
        let meter = self.meter;
        std::iter::from_fn(move || {
            let walk = cursor.as_mut()?;
            let node = walk.node();
            if !walk.goto_first_child() {
                while !walk.goto_next_sibling() {
                    if !walk.goto_parent() {
                        cursor = None;
                        break;
                    }
                }
            }
            Some(MeteredNode { node, meter })
        })
    }

    fn kind(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.node.kind())
    }

    fn kind_id(&self) -> u16 {
        self.node.kind_id()
    }

    fn node_id(&self) -> usize {
        self.node.id()
    }

    fn range(&self) -> Range<usize> {
        self.node.byte_range()
    }

    fn start_pos(&self) -> Position {
        let point = self.node.start_position();
        Position::new(point.row, point.column, self.node.start_byte())
    }

    fn end_pos(&self) -> Position {
        let point = self.node.end_position();
        Position::new(point.row, point.column, self.node.end_byte())
    }

    fn is_named(&self) -> bool {
        self.node.is_named()
    }

    fn is_named_leaf(&self) -> bool {
        self.node.named_child_count() == 0
    }

    fn is_leaf(&self) -> bool {
        self.node.child_count() == 0
    }

    fn is_missing(&self) -> bool {
        self.node.is_missing()
    }

    fn is_error(&self) -> bool {
        self.node.is_error()
    }

    fn is_extra(&self) -> bool {
        self.node.is_extra()
    }

    fn field(&self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| self.wrap(node))
    }

    fn field_children(&self, field_id: Option<u16>) -> impl Iterator<Item = Self> {
        field_id.and_then(|id| self.child_by_field_id(id)).into_iter()
    }

    fn child_by_field_id(&self, field_id: u16) -> Option<Self> {
        self.node.child_by_field_id(field_id).map(|node| self.wrap(node))
    }
}
