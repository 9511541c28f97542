use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(body: &[u8], content_type: &str, expected: &str) {
    assert_eq!(decode(body.to_vec(), content_type), expected, "{content_type}");
}

#[test]
fn a_byte_order_mark_comes_first() {
    check(b"\xef\xbb\xbf\xc3\xa9", "text/plain; charset=latin1", "é");
    check(b"\xff\xfe\xe9\0", "text/html; charset=utf-8", "é");
    check(b"\xfe\xff\0\xe9", "", "é");
    check(b"\xef\xbb", "", "\u{fffd}"); // not whole
}

#[test]
fn then_the_header() {
    for header in [
        "text/plain; charset=iso-8859-1",
        "text/plain;charset=ISO-8859-1",
        "text/plain; CharSet=\"iso-8859-1\"",
        "text/plain; charset='iso-8859-1'",
        "text/plain; charset=\"iso-8859-1",
        "text/plain; charset = iso-8859-1 ",
        "text/plain; x=\"a;charset=utf-8\"; charset=latin1",
        "text/plain; x=\"a\\\";charset=utf-8\"; charset=latin1",
        "text/plain; boundary=x; charset=windows-1252; charset=utf-8",
        "; charset=latin1",
    ] {
        check(b"\xe9", header, "é");
    }
    check(b"\xe9", "text/plain; charset=nonsense", "\u{fffd}");
    check(b"\xe9", "text/plain; charset=", "\u{fffd}");
    check(b"\xe9", "text/plain; notcharset=latin1", "\u{fffd}");
    check(b"\xe9", "charset=latin1", "\u{fffd}"); // the first part is the type
    check(b"\x83\x65", "text/plain; charset=Shift_JIS", "テ");
}

#[test]
fn then_the_page_itself() {
    for head in [
        "<meta charset=latin1>",
        "<META CHARSET = 'latin1' />",
        "<!doctype html><html><head><meta name=x content='y'><meta charset=\"iso-8859-1\">",
        "<meta http-equiv=Content-Type content='text/html; charset=latin1'>",
        "<meta content=\"text/html; charset = 'latin1'\" http-equiv=\"content-type\">",
        "<!-- <meta charset=utf-8> --><meta charset=latin1>",
        "<!--><meta charset=latin1>",
        "<p title='<meta charset=utf-8>'><meta charset=latin1>",
        "<?xml version='1.0' encoding='latin1'?>",
    ] {
        let page = [head.as_bytes(), b"\xe9"].concat();
        check(&page, "text/html", &format!("{head}é"));
        check(&page, "application/xhtml+xml", &format!("{head}é"));
        check(&page, "text/plain", &format!("{head}\u{fffd}"));
        check(&page, "text/html; charset=utf-8", &format!("{head}\u{fffd}"));
    }
    for head in [
        "<metacharset=latin1>",
        "<meta content='text/html; charset=latin1'>", // nothing asks for it
        "<!-- <meta charset=latin1>",
        "<meta charset=utf-16>",
        "<meta charset='latin1",
        "< meta charset=latin1>",
    ] {
        let page = [head.as_bytes(), b"\xe9"].concat();
        check(&page, "text/html", &format!("{head}\u{fffd}"));
    }
    // One byte too late.
    let meta = "<meta charset=latin1>";
    for (padding, letter) in [(1024 - meta.len(), "é"), (1025 - meta.len(), "\u{fffd}")] {
        let start = format!("{}{meta}", " ".repeat(padding));
        check(&[start.as_bytes(), b"\xe9"].concat(), "text/html", &format!("{start}{letter}"));
    }
}

#[test]
fn nothing_is_dropped() {
    check(b"a\0b\x1b[0m\r\n", "text/plain", "a\0b\x1b[0m\r\n");
}

#[track_caller]
fn check_safe(body: &str, content_type: &str, braces: Braces, expected: &str) {
    assert_eq!(safe_body_string(body.as_bytes(), content_type, braces), expected, "{content_type}");
}

#[test]
fn json_html_and_the_rest() {
    let body = r#"{"a":{"b":"<i>'{{x}}'&</i>"}}"#;
    for json in [
        "application/json",
        "APPLICATION/JSON; charset=utf-8",
        "text/json",
        "application/problem+json",
        "application/vnd.api+json;x=y",
    ] {
        check_safe(body, json, Braces::Text, body);
        check_safe(body, json, Braces::All, r#"{"a":{"b":"<i>'{ {x} }'&</i>"} }"#);
    }
    let split = r#"{"a":{"b":"<i>'{ {x} }'&</i>"} }"#;
    for other in [
        "",
        "text/plain",
        "application/jsonp",
        "application/x-ndjson",
        "+json",
        "text/htmlx",
        "text/plain; a=application/json",
    ] {
        check_safe(body, other, Braces::Text, split);
        check_safe(body, other, Braces::All, split);
    }
    let escaped = "{&#34;a&#34;:{&#34;b&#34;:&#34;&lt;i&gt;&#39;{ {x} }&#39;&amp;&lt;/i&gt;&#34;} }";
    for html in ["text/html", " Text/HTML ;charset=utf-8", "application/xhtml+xml"] {
        check_safe(body, html, Braces::Text, escaped);
        check_safe(body, html, Braces::All, escaped);
    }
}

#[test]
fn braces_in_a_row() {
    let rows = [
        ("{", "{"),
        ("{{", "{ {"),
        ("{{{", "{ { {"),
        ("{{{{", "{ { { {"),
        ("}}}", "} } }"),
        ("{}{}", "{}{}"),
        ("{{}}", "{ {} }"),
        ("{ {", "{ {"),
        ("{{{{a}}}}", "{ { { {a} } } }"),
    ];
    for (body, expected) in rows {
        check_safe(body, "text/plain", Braces::Text, expected);
    }
    // In another charset they are still braces.
    let wide = b"\xff\xfe{\0{\0";
    assert_eq!(safe_body_string(wide, "text/plain", Braces::Text), "{ {");
}

/// A naive second way: replace until nothing changes.
fn split_slowly(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("{{") || text.contains("}}") {
        text = text.replace("{{", "{ {").replace("}}", "} }");
    }
    text
}

proptest! {
    #[test]
    fn no_double_brace_is_left(text in "[{}a ]{0,40}", kind in 0..4usize) {
        let content_type = ["text/plain", "text/html", "application/json", ""][kind];
        let safe = safe_body_string(text.as_bytes(), content_type, Braces::All);
        prop_assert!(!safe.contains("{{") && !safe.contains("}}"));
        prop_assert_eq!(&safe, &split_slowly(&text));
        prop_assert_eq!(safe_body_string(safe.as_bytes(), content_type, Braces::All), safe);
    }

    #[test]
    fn any_bytes(
        body in prop::collection::vec(any::<u8>(), 0..400),
        header in "(text/html|application/json|text/plain)?;? ?(charset=)?\\PC{0,30}",
        meta in "(<meta|<!--|<\\?xml|<p)?[ a-z=\"'<>/-]{0,60}",
    ) {
        let page = [meta.as_bytes(), &body].concat();
        prop_assert!(decode(page.clone(), &header).len() <= 3 * page.len() + 3);
        prop_assert!(decode(page.clone(), "text/html").len() <= 3 * page.len() + 3);
        for content_type in [header.as_str(), "text/html"] {
            let safe = safe_body_string(&page, content_type, Braces::All);
            prop_assert!(!safe.contains("{{") && !safe.contains("}}"));
        }
        let html = safe_body_string(&page, "text/html", Braces::Text);
        prop_assert!(!html.contains(['<', '>', '"', '\'']));
    }
}
