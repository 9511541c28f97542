mod hidden;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use html5gum::{Readable, StringReader};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(readable(html), expected, "{html}");
}

/// Pages under `testdata/html`, each with the text that a person reads.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its rows from the source tree")]
fn pages() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/html"));
    let mut n_pages = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "html") {
            let page = std::fs::read_to_string(&path).unwrap();
            let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap();
            assert_eq!(format!("{}\n", readable(&page)), expected, "{}", path.display());
            n_pages += 1;
        }
    }
    assert!(n_pages >= 10, "{n_pages}");
}

#[test]
fn spaces_and_breaks() {
    check("", "");
    check(" \n ", "");
    check("a  b\n\tc", "a b c");
    check("a&nbsp;&nbsp;b", "a b");
    check("<p>a</p>\n\n\n<p>b</p>", "a\n\nb");
    check("a<br>b", "a\nb");
    check("a<br><br>b", "a\n\nb");
    check("a<br><br><br>b", "a\n\nb");
    check("<div>a</div><div>b</div>", "a\nb");
    check("a<b>b</b>c <i>d</i>", "abc d");
    check("a<wbr>b<hr>c", "ab\n\nc");
    check("&lt;p&gt; &amp;amp; &eacute; &#x41;", "<p> &amp; é A");
}

#[test]
fn headings_lists_tables() {
    check("<h1>a</h1><h6>b</h6>c", "# a\n\n###### b\n\nc");
    check("<h2> </h2>a", "a");
    check("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne");
    check("<ol><li><p>a</p><p>b</p></ol>", "- a\nb");
    check("<ul><li></li></ul>a", "a");
    check("<table><tr><th>a<th>b<tr><td>1<td>2</table>c", "a | b\n1 | 2\n\nc");
    check("<table><tr><td><p>a</p></td> <td> <p>b</p> </td></tr></table>", "a | b");
    check("<table><tr><td>a<td><td>c<td></table>", "a |  | c");
    check("<table><tr><td><tr><td>a</table>", "a");
    let deep = format!("{}<li>x", "<ul>".repeat(50));
    check(&deep, "      - x");
}

#[test]
fn preformatted_text() {
    check("<pre>\n  a\n    b\n\n</pre>c", "  a\n    b\n\nc");
    check("x<pre>a<b> b</b>\r\nc</pre>", "x\n\na b\nc");
    check("<pre>a<br>b</pre>", "a\nb");
    check("<pre></pre>a b", "a b");
    check("<pre>&lt;a&gt;\u{200b}\u{1b}[0m\tb</pre>", "<a>[0m\tb");
}

#[test]
fn links_and_images() {
    check("<a href=https://a.example/x>text</a>", "text (https://a.example/x)");
    check("<a href='/x?y=1'>text</a>, more", "text (/x?y=1), more");
    check("<a href=https://a.example/>https://a.example</a>", "https://a.example");
    check("<a href=https://a.example/x>a.example/x</a>", "a.example/x");
    for href in [
        "javascript:x()",
        "data:text/html,x",
        "mailto:a@b.example",
        "#top",
        "",
        " ",
        "java\nscript:x",
        "JaVaScript:x",
    ] {
        check(&format!("<a href='{href}'>text</a>"), "text");
    }
    check("<a href='HTTPS://a.example'>text</a>", "text (HTTPS://a.example)");
    check("<a href=x>text", "text (x)");
    check("<a href=x>one<a href=y>two</a>", "one (x)two (y)");
    check("<a href=x></a>a", "a");
    check("<a href=x href=y>a</a>", "a (x)");
    check("<a href=x><div>card</div></a><p>b", "card (x)\n\nb");
    check("<a href='a b\u{202e}c'>t</a>", "t (a%20bc)");
    check("<a href=x><img alt=Logo></a>", "Logo (x)");
    check("a <img alt='a  cat'> b <img src=x> c", "a a cat b c");
    check(&format!("<a href='{}'>t</a>", "x".repeat(2048)), &format!("t ({})", "x".repeat(2048)));
    check(&format!("<a href='{}'>t</a>", "x".repeat(2049)), "t");
}

#[test]
fn the_title_comes_first() {
    check("<p>a</p><title> b\nc </title>", "# b c\n\na");
    check("<title>a &amp; <b></title>", "# a & <b>");
    check("<title></title>a", "a");
    check("<title>a</title><title>b</title>c", "# a\n\nc");
    check("<svg><title>a</title></svg>b", "b");
}

#[test]
fn text_that_is_no_page() {
    assert_eq!(visible("a\tb\r\n<p hidden> c"), "a\tb\r\n<p hidden> c");
    let hidden = "\u{200b}\u{200d}\u{202e}\u{2066}\u{feff}\u{fe0f}\u{e0041}\u{e01ef}\u{ad}\u{1b}\0";
    assert_eq!(visible(&format!("a{hidden}b é 漢")), "ab é 漢");
}

#[test]
fn characters_without_a_shape() {
    for c in ['\u{200b}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}', '\u{ad}'] {
        check(&format!("a{c}b"), "ab");
    }
    for c in ['\u{e0000}', '\u{e0041}', '\u{e007f}', '\u{e01ef}', '\u{fe0f}', '\0', '\u{1b}', '\u{9b}'] {
        check(&format!("<p>a{c}b<pre>{c}</pre>"), "ab");
    }
    check("a&#x202e;b&ZeroWidthSpace;c&shy;d", "abcd");
    for c in ['\u{200a}', '\u{2028}', '\u{2029}', '\u{3000}'] {
        check(&format!("a{c}b"), "a b");
    }
    for c in ['\u{2010}', '\u{2030}', '\u{2065}', '\u{2070}', '\u{fdff}', '\u{fe10}', '\u{e1000}'] {
        let shown = if c == '\u{2065}' { "ab".to_owned() } else { format!("a{c}b") };
        check(&format!("a{c}b"), &shown);
    }
}

/// Counts what the tokenizer asks for.
struct Counting<'a> {
    inner: StringReader<'a>,
    work: Rc<Cell<u64>>,
}

impl Counting<'_> {
    fn count(&self, n: usize) {
        self.work.set(self.work.get() + n as u64);
    }
}

impl Reader for Counting<'_> {
    type Error = Infallible;

    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        self.count(1);
        self.inner.read_byte()
    }

    fn try_read_string(&mut self, s: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.count(s.len());
        self.inner.try_read_string(s, case_sensitive)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        char_buf: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let found = self.inner.read_until(needle, char_buf)?;
        let n = found.map_or(0, <[u8]>::len);
        self.work.set(self.work.get() + n as u64 + 1);
        Ok(found)
    }
}

/// Bytes asked for by the tokenizer, and events and bytes that were handed to the page.
fn work(html: &str) -> (u64, String) {
    let work = Rc::new(Cell::new(0));
    let reader = Counting { inner: html.to_reader(), work: Rc::clone(&work) };
    let mut page = Page::default();
    let Ok(()) = walk(reader, |event| {
        let n = match &event {
            CallbackEvent::OpenStartTag { name }
            | CallbackEvent::AttributeName { name }
            | CallbackEvent::EndTag { name } => name.len(),
            CallbackEvent::AttributeValue { value }
            | CallbackEvent::String { value }
            | CallbackEvent::Comment { value } => value.len(),
            CallbackEvent::CloseStartTag { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {
                0
            }
        };
        work.set(work.get() + 1 + n as u64);
        page.take(event);
    });
    (work.get(), page.finish())
}

/// Shapes that make tree builders and careless scanners slow.
fn hostile(shape: usize, n: usize) -> String {
    match shape {
        0 => "<div>".repeat(n),
        1 => "<p><b><i><a href=x>".repeat(n),
        2 => format!("{}x", "<!--".repeat(n)),
        3 => "<script>".repeat(n),
        4 => format!("<p {}>x", "a=b ".repeat(n)),
        5 => format!("<p a='{}'>x", "b".repeat(n)),
        6 => format!("<a href='{}'>x", "b ".repeat(n)),
        7 => "\0".repeat(n),
        8 => "<table><tr><td>".repeat(n),
        9 => "</p></div></a></x>".repeat(n),
        10 => "<p hidden>".repeat(n),
        11 => format!("<{}>", "x".repeat(n)),
        12 => "&".repeat(n),
        13 => "&CounterClockwiseContourIntegra".repeat(n),
        14 => "<a href=x>y</a><pre> \n</pre>".repeat(n),
        15 => "<ul><li>x".repeat(n),
        16 => "<td>".repeat(n) + "x",
        17 => "<h6>x".repeat(n),
        18 => "<style></style".repeat(n),
        19 => "<script><!--<script>".repeat(n),
        20 => "<".repeat(n),
        21 => "<svg>".repeat(n) + &"</svg>".repeat(n),
        22 => "<details><summary>x".repeat(n),
        23 => format!("<p style='{}'>x", "/*\\6e(url(scale(0".repeat(n)),
        _ => "<![CDATA[<!DOCTYPE ".repeat(n),
    }
}

const SHAPES: usize = 25;

/// Bytes of text for each byte of page.
const MOST_GROWTH: usize = 4;

#[test]
fn twice_the_page_is_twice_the_work() {
    for shape in 0..SHAPES {
        let (page, double) = (hostile(shape, 4000), hostile(shape, 8000));
        let ((once, text), (twice, longer)) = (work(&page), work(&double));
        assert!(twice <= 2 * once + 1000, "shape {shape}: {once}, then {twice}");
        assert!(once <= 10 * page.len() as u64 + 1000, "shape {shape}: {once} for {}", page.len());
        assert!(text.len() <= MOST_GROWTH * page.len() + 64, "shape {shape}");
        assert!(longer.len() <= 2 * text.len() + 64, "shape {shape}");
    }
}

/// As large as the largest body.
#[test]
fn ten_megabytes() {
    let page = "<div><p><b><a href=x>".repeat(500_000);
    assert!(page.len() > 10_000_000);
    assert_eq!(readable(&page), "");
}

proptest! {
    #[test]
    fn any_text(html in "\\PC{0,200}") {
        prop_assert!(readable(&html).len() <= MOST_GROWTH * html.len() + 64);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let html = String::from_utf8_lossy(&bytes);
        prop_assert!(readable(&html).len() <= MOST_GROWTH * html.len() + 64);
    }

    /// Pieces of HTML in any order: no panic, no growth, nothing invisible, no hidden text.
    #[test]
    fn any_tags(pieces in prop::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<div>", "</div>", "<li>", "<ul>", "</ul>", "<h6>", "</h6>", "<table>", "</table>",
        "<tr>", "<td>", "</td>", "<pre>", "</pre>", "<br>", "<a href=y>", "</a>", "<img alt=z>", "word",
        " ", "\n", "\u{200b}",
        "<title>", "</title>", "<svg>", "</svg>", "<!--", "-->", "<b", ">", "'", "&lt;", "\0", "é",
        "<i hidden>SECRET</i>", "<script>SECRET</script>", "<!--SECRET-->",
    ]), 0..60)) {
        let html = pieces.concat();
        let text = readable(&html);
        prop_assert!(text.len() <= MOST_GROWTH * html.len() + 64);
        prop_assert!(!text.contains(['\u{200b}', '\0']), "{text:?}");
        // Inside a title or after `<b` the pieces are not the tags that they seem to be.
        if !html.contains("<title>") && !html.contains("<b") && !html.contains('\'') {
            prop_assert!(!text.contains("SECRET"), "{html}");
        }
        if !html.contains("<pre>") {
            prop_assert!(!text.contains("\n\n\n") && !text.contains("   \n"), "{text:?}");
        }
    }
}
