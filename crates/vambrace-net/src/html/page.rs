//! One page on its way from tags to text.

use html5gum::emitters::callback::CallbackEvent;

use super::element::{Element, element};
use super::hidden::{Hidden, Then};
use super::link;
use super::style::{is_no_size, style_hides};
use super::writer::{Gap, Mark, Writer};

#[derive(Default)]
pub(super) struct Page {
    writer: Writer,
    title: Title,
    hidden: Option<Hidden>,
    /// What is hidden again when the summary ends that is being read.
    /// INVARIANT: whatever may end the summary does, so that what stands behind it is not taken for it.
    behind_summary: Option<Hidden>,
    /// The start tag whose attributes are being read.
    tag: Option<Tag>,
    link: Option<Link>,
    lists: u64,
    preformatted: u64,
    /// HTML ignores a line break at the very start of `<pre>`.
    fresh_preformatted: bool,
    row_has_cell: bool,
}

#[derive(Default)]
enum Title {
    #[default]
    Unseen,
    Open(String),
    Closed(String),
}

struct Tag {
    name: Vec<u8>,
    element: Element,
    attribute: Attribute,
    hides: bool,
    is_open: bool,
    is_popover: bool,
    href: Option<Vec<u8>>,
    alt: Option<Vec<u8>>,
}

/// Whose value comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Href,
    Alt,
    Style,
    /// Width or height.
    Size,
    Other,
}

struct Link {
    href: String,
    /// Where its text begins.
    start: usize,
}

impl Page {
    pub(super) fn take(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag = Some(Tag::new(name)),
            CallbackEvent::AttributeName { name } => {
                if let Some(tag) = &mut self.tag {
                    tag.attribute_name(name);
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(tag) = &mut self.tag {
                    tag.attribute_value(value);
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(tag) = self.tag.take() {
                    self.start(tag, self_closing);
                }
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.end_link();
        let body = self.writer.finish();
        match self.title {
            Title::Unseen => body,
            Title::Open(title) | Title::Closed(title) => {
                let mut whole = Writer::default();
                whole.mark(Mark::Heading(1));
                whole.text(&title);
                let title = whole.finish();
                match (title.is_empty(), body.is_empty()) {
                    (true, _) => body,
                    (false, true) => title,
                    (false, false) => format!("{title}\n\n{body}"),
                }
            }
        }
    }

    fn start(&mut self, tag: Tag, self_closing: bool) {
        let hides = tag.is_hidden();
        let Tag { name, element, is_open, href, alt, .. } = tag;
        if let Some(behind) = &mut self.behind_summary {
            behind.start(&name, element);
        }
        if let Some(mut hidden) = self.hidden.take_if(|hidden| hidden.takes_summary(&name) && !hides) {
            hidden.start(&name, element);
            self.behind_summary = Some(hidden);
        }
        if let Some(hidden) = &mut self.hidden {
            match hidden.start(&name, element) {
                Then::Stay | Then::Over => return,
                Then::OverBefore => self.hidden = None,
            }
        }
        // `<svg/>` is whole; `<script/>` and `<div/>` are not, for HTML.
        let foreign = matches!(name.as_slice(), b"svg" | b"annotation" | b"annotation-xml");
        let whole = element.is_void() || (self_closing && foreign);
        // Pages hide themselves whole until their script runs; that hides nothing from a person.
        let hides = hides && !matches!(name.as_slice(), b"html" | b"head" | b"body");
        if hides || element == Element::Unread {
            if !whole {
                self.hidden = Some(Hidden::new(&name));
            }
            // The words around it are apart.
            if element.is_block() {
                self.writer.gap(Gap::Line);
            }
            return;
        }
        if name == b"details" && !is_open {
            self.writer.gap(self.paragraph_gap());
            // Inside a summary, that of another is not read: one place to come back to is enough.
            let hidden = if self.behind_summary.is_some() { Hidden::new(&name) } else { Hidden::details() };
            self.hidden = Some(hidden);
            return;
        }
        match element {
            Element::Title => {
                if matches!(self.title, Title::Unseen) {
                    self.title = Title::Open(String::new());
                } else {
                    self.hidden = Some(Hidden::new(&name));
                }
            }
            Element::Heading(level) => {
                self.writer.gap(Gap::Blank);
                self.writer.mark(Mark::Heading(level));
            }
            Element::Paragraph | Element::Rule => {
                if name == b"table" {
                    self.writer.end_table();
                }
                self.writer.gap(self.paragraph_gap());
            }
            Element::Line => self.writer.gap(Gap::Line),
            Element::List => {
                self.writer.gap(self.paragraph_gap());
                self.lists = self.lists.saturating_add(1);
            }
            Element::Item => {
                self.writer.gap(Gap::Line);
                self.writer.mark(Mark::Item(self.lists));
            }
            Element::Row => {
                self.row_has_cell = false;
                self.writer.row();
            }
            Element::Cell => {
                self.writer.cell(self.row_has_cell);
                self.row_has_cell = true;
            }
            Element::Preformatted => {
                self.writer.gap(Gap::Blank);
                self.preformatted = self.preformatted.saturating_add(1);
                self.fresh_preformatted = true;
            }
            Element::Break if self.preformatted > 0 => self.writer.verbatim("\n"),
            Element::Break => self.writer.line_break(),
            Element::Link => {
                self.end_link();
                let href = href.and_then(|href| link::shown(&href));
                self.link = href.map(|href| Link { href, start: self.writer.len() });
            }
            Element::Image => self.writer.text(&String::from_utf8_lossy(&alt.unwrap_or_default())),
            Element::Void | Element::Inline | Element::Unread => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        let element = element(name);
        if matches!(name, b"summary" | b"details")
            && let Some(behind) = self.behind_summary.take()
        {
            self.end_link();
            self.writer.gap(Gap::Line);
            self.hidden = Some(behind);
        }
        if let Some(hidden) = &mut self.hidden {
            match hidden.end(name, element) {
                Then::Stay => return,
                Then::Over => {
                    self.hidden = None;
                    return;
                }
                Then::OverBefore => self.hidden = None,
            }
        }
        match element {
            Element::Title => {
                if let Title::Open(title) = &mut self.title {
                    self.title = Title::Closed(std::mem::take(title));
                }
            }
            Element::Heading(_) => {
                self.writer.clear_mark();
                self.writer.gap(Gap::Blank);
            }
            Element::Paragraph => {
                if name == b"table" {
                    self.row_has_cell = false;
                    self.writer.end_table();
                }
                self.writer.gap(self.paragraph_gap());
            }
            Element::Line => self.writer.gap(Gap::Line),
            Element::List => {
                self.lists = self.lists.saturating_sub(1);
                self.writer.clear_mark();
                self.writer.gap(self.paragraph_gap());
            }
            Element::Item => {
                self.writer.clear_mark();
                self.writer.gap(Gap::Line);
            }
            Element::Row => self.writer.row(),
            Element::Cell => self.writer.end_cell(),
            Element::Preformatted => {
                if self.preformatted > 0 {
                    self.writer.trim_lines();
                }
                self.preformatted = self.preformatted.saturating_sub(1);
                self.writer.gap(Gap::Blank);
            }
            Element::Link => self.end_link(),
            // `</br>` is a line break, for browsers.
            Element::Break => self.writer.line_break(),
            Element::Rule | Element::Image | Element::Void | Element::Inline | Element::Unread => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if let Title::Open(title) = &mut self.title {
            title.push_str(text);
            return;
        }
        if self.preformatted == 0 {
            self.writer.text(text);
            return;
        }
        let fresh = std::mem::take(&mut self.fresh_preformatted);
        self.writer.verbatim(text.strip_prefix('\n').filter(|_| fresh).unwrap_or(text));
    }

    fn end_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        let text = self.writer.since(link.start);
        if !text.trim().is_empty() && !link::says(text, &link.href) {
            self.writer.append(&format!(" ({})", link.href));
        }
    }

    /// Inside a list, paragraphs do not tear it apart.
    fn paragraph_gap(&self) -> Gap {
        if self.lists > 0 { Gap::Line } else { Gap::Blank }
    }
}

impl Tag {
    fn new(name: &[u8]) -> Tag {
        Tag {
            name: name.to_vec(),
            element: element(name),
            attribute: Attribute::Other,
            hides: false,
            is_open: false,
            is_popover: false,
            href: None,
            alt: None,
        }
    }

    fn attribute_name(&mut self, name: &[u8]) {
        self.attribute = match name {
            b"href" => Attribute::Href,
            b"alt" => Attribute::Alt,
            b"style" => Attribute::Style,
            b"width" | b"height" => Attribute::Size,
            _ => Attribute::Other,
        };
        self.hides |= name == b"hidden";
        self.is_open |= name == b"open";
        self.is_popover |= name == b"popover";
    }

    fn is_hidden(&self) -> bool {
        let is_dialog = self.name == b"dialog";
        // An open dialog is shown even where it is a popover too.
        self.hides || if is_dialog { !self.is_open } else { self.is_popover }
    }

    /// The first of two equal names counts.
    fn attribute_value(&mut self, value: &[u8]) {
        match (self.attribute, self.element) {
            (Attribute::Href, Element::Link) if self.href.is_none() => self.href = Some(value.to_vec()),
            (Attribute::Alt, Element::Image) if self.alt.is_none() => self.alt = Some(value.to_vec()),
            (Attribute::Style, _) => self.hides |= style_hides(value),
            (Attribute::Size, Element::Image) => self.hides |= is_no_size(value),
            _ => {}
        }
    }
}
