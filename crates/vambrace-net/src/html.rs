//! HTML as a person would read it.
//!
//! A tokenizer and a few counters, no tree: a tree of a hostile page can be far larger than the page.
//! Knows nothing of the page's address; links stay as they are written.

mod element;
mod hidden;
mod link;
mod page;
mod style;
#[cfg(test)]
mod tests;
mod writer;

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Reader, Span, Tokenizer};

use page::Page;

/// The readable text of a page. Linear in its length, whatever is in it (THREAT: P09).
///
/// THREAT: instructions that a person would not see: hidden elements, comments and characters without a shape
/// are left out.
/// LIMIT: what a stylesheet hides is not seen to be hidden.
pub fn readable(html: &str) -> String {
    let mut page = Page::default();
    // Reading from memory does not fail.
    let _: Result<(), Infallible> = walk(html.as_bytes(), |event| page.take(event));
    page.finish()
}

/// Text without the characters that a person does not see, for what is no HTML. Lines and tabs stay.
///
/// THREAT: instructions in characters without a shape, or in another order than they are seen in.
/// LIMIT: emoji lose what joins them and what chooses their look.
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\r' | '\t') || !writer::is_invisible(*c)).collect()
}

fn walk<'a, S: html5gum::Readable<'a>>(
    input: S,
    mut take: impl FnMut(CallbackEvent<'_>),
) -> Result<(), <S::Reader as Reader>::Error> {
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        take(event);
        None
    });
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(input, emitter).finish()
}
