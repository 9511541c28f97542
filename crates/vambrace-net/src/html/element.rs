//! What an element's name means for its text.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Title,
    /// Its content is no text for people.
    Unread,
    Heading(u8),
    /// A blank line before and after.
    Paragraph,
    /// A line of its own.
    Line,
    List,
    Item,
    Row,
    Cell,
    Preformatted,
    Break,
    Rule,
    Link,
    Image,
    /// Never has content.
    Void,
    /// Flows with its line.
    Inline,
}

pub(super) fn element(name: &[u8]) -> Element {
    match name {
        b"title" => Element::Title,
        b"script" | b"style" | b"template" | b"noscript" | b"svg" | b"iframe" | b"noembed" | b"noframes"
        | b"object" | b"canvas" | b"video" | b"audio" | b"datalist" | b"rp" | b"progress" | b"meter"
        | b"annotation" | b"annotation-xml" => Element::Unread,
        b"h1" => Element::Heading(1),
        b"h2" => Element::Heading(2),
        b"h3" => Element::Heading(3),
        b"h4" => Element::Heading(4),
        b"h5" => Element::Heading(5),
        b"h6" => Element::Heading(6),
        b"p" | b"blockquote" | b"section" | b"article" | b"header" | b"footer" | b"main" | b"nav"
        | b"aside" | b"figure" | b"form" | b"fieldset" | b"dl" | b"table" | b"details" => Element::Paragraph,
        b"div" | b"dt" | b"dd" | b"address" | b"figcaption" | b"caption" | b"legend" | b"summary"
        | b"option" | b"optgroup" | b"select" | b"center" | b"body" | b"html" | b"head" | b"dialog"
        | b"hgroup" | b"search" | b"thead" | b"tbody" | b"tfoot" => Element::Line,
        b"ul" | b"ol" | b"menu" | b"dir" => Element::List,
        b"li" => Element::Item,
        b"tr" => Element::Row,
        b"td" | b"th" => Element::Cell,
        b"pre" | b"listing" | b"xmp" | b"plaintext" => Element::Preformatted,
        b"br" => Element::Break,
        b"hr" => Element::Rule,
        b"a" => Element::Link,
        b"img" => Element::Image,
        b"area" | b"base" | b"basefont" | b"bgsound" | b"col" | b"embed" | b"frame" | b"input"
        | b"keygen" | b"link" | b"meta" | b"param" | b"source" | b"track" | b"wbr" => Element::Void,
        _ => Element::Inline,
    }
}

impl Element {
    pub(super) fn is_void(self) -> bool {
        matches!(self, Element::Void | Element::Break | Element::Rule | Element::Image)
    }

    /// Starts a block, so that a paragraph before it is over.
    pub(super) fn is_block(self) -> bool {
        match self {
            Element::Heading(_)
            | Element::Paragraph
            | Element::Line
            | Element::List
            | Element::Item
            | Element::Row
            | Element::Cell
            | Element::Preformatted
            | Element::Rule => true,
            Element::Title
            | Element::Unread
            | Element::Break
            | Element::Link
            | Element::Image
            | Element::Void
            | Element::Inline => false,
        }
    }
}
