//! The element whose content is left out, and where it ends.
//!
//! Two counters, no stack. Where a page forgets an end tag that HTML demands, more is left out than a browser
//! would.
//! LIMIT: an end tag that a browser ignores, because something between does not let it through
//! (`<div hidden><table><tr><td></div>`), ends it here. A stylesheet hides text more simply, and is not read.

use super::element::Element;

pub(super) struct Hidden {
    name: Vec<u8>,
    /// Of the same name, inside each other.
    depth: u64,
    /// Blocks opened inside that have an end of their own.
    blocks: u64,
    /// `<details>` whose `<summary>`, which is shown, can come now: nothing else has begun in it.
    awaits_summary: bool,
}

/// Is it over, and does the tag still count?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Stay,
    /// The tag is its end.
    Over,
    /// It was over before this tag, which is not hidden.
    OverBefore,
}

impl Hidden {
    pub(super) fn new(name: &[u8]) -> Hidden {
        Hidden { name: name.to_vec(), depth: 1, blocks: 0, awaits_summary: false }
    }

    pub(super) fn details() -> Hidden {
        Hidden { awaits_summary: true, ..Hidden::new(b"details") }
    }

    /// Whether the very first tag inside is a summary. Anywhere else it could stand in something hidden.
    pub(super) fn takes_summary(&mut self, name: &[u8]) -> bool {
        std::mem::take(&mut self.awaits_summary) && name == b"summary"
    }

    pub(super) fn start(&mut self, name: &[u8], element: Element) -> Then {
        if self.blocks == 0 && self.is_ended_by_start(name, element) {
            return Then::OverBefore;
        }
        if name == self.name.as_slice() {
            self.depth = self.depth.saturating_add(1);
        } else if may_lack_end(&self.name) && element.is_block() && !may_lack_end(name) && !element.is_void()
        {
            self.blocks = self.blocks.saturating_add(1);
        }
        Then::Stay
    }

    pub(super) fn end(&mut self, name: &[u8], element: Element) -> Then {
        if name == self.name.as_slice() {
            self.depth = self.depth.saturating_sub(1);
            return if self.depth == 0 { Then::Over } else { Then::Stay };
        }
        if self.name == b"rp" && self.blocks == 0 && matches!(name, b"ruby" | b"rt") {
            return Then::OverBefore;
        }
        if may_lack_end(&self.name) && element.is_block() && !may_lack_end(name) {
            // The end of something around it.
            if self.blocks == 0 {
                return Then::OverBefore;
            }
            self.blocks = self.blocks.saturating_sub(1);
        }
        Then::Stay
    }

    /// HTML lets these end where the next one begins.
    fn is_ended_by_start(&self, name: &[u8], element: Element) -> bool {
        match self.name.as_slice() {
            b"p" => element.is_block(),
            b"li" | b"option" | b"optgroup" => name == self.name.as_slice(),
            b"dt" | b"dd" => matches!(name, b"dt" | b"dd"),
            b"td" | b"th" => matches!(name, b"td" | b"th" | b"tr" | b"tbody" | b"thead" | b"tfoot"),
            b"tr" => matches!(name, b"tr" | b"tbody" | b"thead" | b"tfoot"),
            b"rp" => matches!(name, b"rp" | b"rt"),
            b"tbody" | b"thead" | b"tfoot" => matches!(name, b"tbody" | b"thead" | b"tfoot"),
            _ => false,
        }
    }
}

fn may_lack_end(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"li"
            | b"dt"
            | b"dd"
            | b"td"
            | b"th"
            | b"tr"
            | b"tbody"
            | b"thead"
            | b"tfoot"
            | b"option"
            | b"optgroup"
            | b"rp"
    )
}
