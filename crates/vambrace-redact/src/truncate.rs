//! Cuts an answer to size: after redaction, never before, and never silently.
//!
//! A cut through the middle of a key would leave half a key, which no rule recognizes; so only redacted trees come
//! in here (THREAT: P02). What is cut away is handed to `keep`, and the handle that comes back stands in the marker.

mod leaf;

use std::borrow::Cow;

use vambrace_types::{ByteLimit, Tree, json_text_len};

use crate::text::{RedactedText, RedactedTree};

/// What was done to make an answer fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub n_cuts: usize,
    /// Cuts of which the rest could not be kept.
    pub n_lost: usize,
    pub bytes_before: usize,
    pub bytes_after: usize,
}

/// Keeps a whole leaf and names the handle under which it can be read.
pub type Keep<'k> = &'k mut dyn FnMut(RedactedText) -> Option<String>;

/// Below this a limit cannot hold the markers.
const SMALLEST_LIMIT: usize = 1024;
/// While lists are cut, texts count as if they were no longer than this; no text is cut to less.
const SHORTEST_TEXT: usize = 512;
/// Room for a list's marker.
const LIST_MARKER: usize = 192;
/// LIMIT: a longer handle is treated as none, because it would not fit the marker.
pub(crate) const LONGEST_HANDLE: usize = 64;

/// Fits a tree into `limit` bytes of its JSON form (at least 1024). Nothing is cut when it fits. Long texts go first,
/// longest first, and keep their head and tail; if that is not enough, long lists and maps keep their leading entries.
pub fn fit(tree: RedactedTree, limit: ByteLimit, keep: Keep<'_>) -> (RedactedTree, Option<Cut>) {
    let bytes_before = tree.as_tree().json_len();
    let limit = limit.as_usize().max(SMALLEST_LIMIT);
    if bytes_before <= limit {
        return (tree, None);
    }
    let mut tree = tree.into_tree();
    let mut cutter = Cutter { keep, n_cuts: 0, n_lost: 0 };
    // Every round drops entries from one collection; the bound is for a tree of nothing but single-entry nests.
    for _ in 0..MOST_ROUNDS {
        let shortened = capped_len(&tree, SHORTEST_TEXT);
        if shortened <= limit || !cutter.cut_collection(&mut tree, shortened - limit) {
            break;
        }
    }
    if let Some(longest) = longest_text(&tree, limit) {
        cutter.cut_texts(&mut tree, longest);
    }
    if tree.json_len() > limit {
        tree = cutter.replace_all(&tree);
    }
    let cut =
        Cut { n_cuts: cutter.n_cuts, n_lost: cutter.n_lost, bytes_before, bytes_after: tree.json_len() };
    (RedactedTree::clean(tree), Some(cut))
}

const MOST_ROUNDS: usize = 64;

/// The JSON length if every text longer than `longest` were cut to it.
fn capped_len(tree: &Tree, longest: usize) -> usize {
    match tree {
        Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) => tree.json_len(),
        Tree::Text(text) => json_text_len(text).min(longest),
        Tree::List(items) => {
            2 + items.len().saturating_sub(1)
                + items.iter().map(|item| capped_len(item, longest)).sum::<usize>()
        }
        Tree::Map(entries) => {
            let inside =
                |(key, value): &(Cow<'_, str>, Tree)| json_text_len(key) + 1 + capped_len(value, longest);
            2 + entries.len().saturating_sub(1) + entries.iter().map(inside).sum::<usize>()
        }
    }
}

/// The greatest length to which texts can be cut so that all fits; only the longer ones are touched.
fn longest_text(tree: &Tree, limit: usize) -> Option<usize> {
    let (mut low, mut high) = (SHORTEST_TEXT, limit);
    if capped_len(tree, low) > limit {
        return None;
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if capped_len(tree, middle) <= limit { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

struct Cutter<'k> {
    keep: Keep<'k>,
    n_cuts: usize,
    n_lost: usize,
}

impl Cutter<'_> {
    fn keep(&mut self, text: String) -> Option<String> {
        let handle =
            (self.keep)(RedactedText::clean(text)).filter(|handle| json_text_len(handle) <= LONGEST_HANDLE);
        self.n_cuts += 1;
        self.n_lost += usize::from(handle.is_none());
        handle
    }

    fn cut_texts(&mut self, tree: &mut Tree, longest: usize) {
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) => {}
            Tree::Text(text) if json_text_len(text) > longest => {
                let handle = self.keep(text.clone());
                *text = leaf::head_and_tail(text, longest, handle.as_deref());
            }
            Tree::Text(_) => {}
            Tree::List(items) => items.iter_mut().for_each(|item| self.cut_texts(item, longest)),
            Tree::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.cut_texts(value, longest)),
        }
    }

    /// Walks down to where the bulk divides into many entries and drops the last of them. False: nothing to drop.
    fn cut_collection(&mut self, tree: &mut Tree, excess: usize) -> bool {
        let size = capped_len(tree, SHORTEST_TEXT);
        let heaviest = |sizes: &[usize]| {
            let place = (0..sizes.len()).max_by_key(|place| sizes.get(*place))?;
            // One entry that holds most of it is worth going into, not worth dropping.
            (sizes.get(place)? * 2 > size).then_some(place)
        };
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::Text(_) => false,
            Tree::List(items) => {
                let sizes: Vec<usize> = items.iter().map(|item| capped_len(item, SHORTEST_TEXT)).collect();
                if let Some(item) = heaviest(&sizes).and_then(|place| items.get_mut(place))
                    && self.cut_collection(item, excess)
                {
                    return true;
                }
                let n_shown = fitting(&sizes, size, excess);
                if n_shown >= items.len() {
                    return false;
                }
                let handle = self.keep(items.iter().map(|item| item.to_json() + "\n").collect());
                let marker = marker(original_count(items), n_shown, handle);
                items.truncate(n_shown);
                items.push(marker);
                true
            }
            Tree::Map(entries) => {
                let sizes: Vec<usize> = entries
                    .iter()
                    .map(|(key, value)| json_text_len(key) + 1 + capped_len(value, SHORTEST_TEXT))
                    .collect();
                if let Some((_, value)) = heaviest(&sizes).and_then(|place| entries.get_mut(place))
                    && self.cut_collection(value, excess)
                {
                    return true;
                }
                let n_shown = fitting(&sizes, size, excess);
                if n_shown >= entries.len() {
                    return false;
                }
                let line =
                    |entry: &(Cow<'static, str>, Tree)| Tree::Map(vec![entry.clone()]).to_json() + "\n";
                let handle = self.keep(entries.iter().map(line).collect());
                let marker = marker(entries.len(), n_shown, handle);
                entries.truncate(n_shown);
                entries.push((Cow::Borrowed("_truncated"), marker));
                true
            }
        }
    }

    /// The last resort: a tree that is large without long texts, lists or maps.
    fn replace_all(&mut self, tree: &Tree) -> Tree {
        let handle = self.keep(tree.to_json());
        marker(1, 0, handle)
    }
}

/// A list that was cut in an earlier round ends with a marker that knows the first count.
fn original_count(items: &[Tree]) -> usize {
    let before = items.last().and_then(|last| last.get("original_count")).and_then(Tree::as_int);
    let marked = items.last().is_some_and(|last| last.get("_truncated") == Some(&Tree::Bool(true)));
    before.filter(|_| marked).and_then(|count| usize::try_from(count).ok()).unwrap_or(items.len())
}

/// How many leading entries fit after `excess` bytes, and the marker, have found their place.
fn fitting(sizes: &[usize], size: usize, excess: usize) -> usize {
    let mut room = size.saturating_sub(excess + LIST_MARKER + 2);
    sizes
        .iter()
        .take_while(|size| match room.checked_sub(**size + 1) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        })
        .count()
}

fn marker(original_count: usize, n_shown: usize, handle: Option<String>) -> Tree {
    let handle = handle.map_or(Tree::text("not kept"), Tree::Text);
    Tree::map([
        ("_truncated", Tree::Bool(true)),
        ("original_count", Tree::count(original_count)),
        ("shown", Tree::count(n_shown)),
        ("handle", handle),
    ])
}
