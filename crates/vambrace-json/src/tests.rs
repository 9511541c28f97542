use serde_json::json;

use super::*;

const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 4, nodes: 12 };

/// All ways to read agree, about everything.
#[track_caller]
fn verdict(text: &[u8], limits: Limits) -> Option<What> {
    let read = build::<Value>(text, limits);
    let checked = build::<()>(text, limits);
    assert_eq!(
        read.as_ref().map(|(_, n_nodes)| *n_nodes).map_err(Clone::clone),
        checked.map(|((), n_nodes)| n_nodes),
        "{}",
        String::from_utf8_lossy(text)
    );
    let typed = read_as::<serde::de::IgnoredAny>(text, limits).map(|_| ()).map_err(|fault| fault.what());
    assert_eq!(typed, read.as_ref().map(|_| ()).map_err(Fault::what));
    read.err().map(|fault| fault.what())
}

/// What the table says, in its words.
fn word(fault: Option<What>) -> &'static str {
    match fault {
        None => "read",
        Some(What::Syntax) => "syntax",
        Some(What::TooLong) => "too_long",
        Some(What::TooDeep) => "too_deep",
        Some(What::TooMany) => "too_many",
        Some(What::NameTwice) => "name_twice",
        Some(What::ReservedName) => "reserved_name",
        Some(What::Shape) => "shape",
    }
}

/// At a depth of 4 and 12 nodes.
#[test]
fn the_table_of_readings() {
    let table = include_str!("../../../testdata/json_reader.tsv");
    let mut n_rows = 0;
    for row in table.lines().filter(|row| !row.starts_with('#') && !row.is_empty()) {
        let (expected, text) = row.split_once('\t').unwrap();
        assert_eq!(word(verdict(text.as_bytes(), LIMITS)), expected, "{text}");
        n_rows += 1;
    }
    assert!(n_rows > 50, "only {n_rows} rows");
}

#[test]
fn bytes_that_are_no_text_and_too_many_of_them() {
    assert_eq!(verdict(b"\"\xff\"", LIMITS), Some(What::Syntax));
    assert_eq!(verdict(b"{\"\xc3\":1}", LIMITS), Some(What::Syntax));
    assert_eq!(verdict(b"\xef\xbb\xbf1", LIMITS), Some(What::Syntax));
    let two = Limits { bytes: 2, ..LIMITS };
    assert_eq!(verdict(b"[]", two), None);
    assert_eq!(verdict(b"[] ", two), Some(What::TooLong));
}

#[test]
fn a_fault_says_where() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text.as_bytes(), LIMITS).unwrap_err().to_string(), expected);
    }
    check("{\n \"a\": }", "expected value at line 2 column 7");
    check("[[[[[1]]]]]", "it is nested deeper than 4 at line 1 column 5");
    check(r#"{"a":1,"a":2}"#, "a name stands twice at line 1 column 13");
    check(r#"{"$serde_json::private::Number":"1"}"#, "the name of a member is reserved at line 1 column 31");
    check("[0,0,0,0,0,0,0,0,0,0,0,0]", "it has more than 12 values and names at line 1 column 23");
}

/// The message that ended the process: each layer is text in the next, read again with a fresh limit on its depth.
fn bomb(n_layers: usize) -> String {
    let mut layer = "0".to_owned();
    for _ in 0..n_layers {
        let text = layer.replace('\\', "\\u005c").replace('"', "\\u0022");
        layer = format!("{}{{\"{RESERVED}RawValue\":\"{text}\"}}{}", "[".repeat(120), "]".repeat(120));
    }
    layer
}

#[test]
fn layers_of_text_are_text() {
    // The layers' quotes grow with the square of their number, so a whole one is made of few.
    let deep = Limits { bytes: usize::MAX, depth: 126, nodes: 1000 };
    assert_eq!(verdict(bomb(3).as_bytes(), deep), Some(What::ReservedName));
    assert_eq!(verdict(bomb(3).as_bytes(), Limits::message(1 << 20)), Some(What::TooDeep));
    assert_eq!(verdict(bomb(3).as_bytes(), Limits::document(1 << 20)), Some(What::TooDeep));
}

/// Counted, not measured: a tree costs at most 250 bytes a node besides its texts.
#[test]
fn memory_is_in_proportion() {
    // An object of one member has room for four, and a table to find them.
    let member = size_of::<Value>() + size_of::<String>() + size_of::<u64>();
    let (object, n_nodes) = (4 * member + 128 + size_of::<Value>(), 3);
    assert!(object / n_nodes < 250, "{object}");
    let limits = Limits::message(10 << 20);
    assert!(limits.nodes * 250 < 5 * limits.bytes / 2);
    for unit in ["{\"\":0},", "[0],", "[],", "{},", "0,", "\"\","] {
        let text = format!("{{\"path\":[{}0]}}", unit.repeat((10 << 20) / unit.len() - 20));
        assert_eq!(verdict(text.as_bytes(), limits), Some(What::TooMany), "{unit}");
    }
}

#[test]
fn what_is_read_is_what_the_library_reads() {
    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "the oracle")]
    fn check(text: &str) {
        let limits = Limits::message(1 << 20);
        let expected: Value = serde_json::from_str(text).unwrap();
        let found = read(text.as_bytes(), limits).unwrap();
        assert_eq!(found, expected, "{text}");
        assert_eq!(found.to_string(), expected.to_string(), "in the same order");
        assert_eq!(serde_json::from_value::<Value>(found.clone()).unwrap(), found, "no name is obeyed");
        assert_eq!(read_as::<Value>(text.as_bytes(), limits).unwrap(), expected);
    }
    check(r#"{"n":null,"t":true,"i":-3,"u":18446744073709551615,"f":0.25,"s":"é\n","l":[[],{}]}"#);
    check(r#"{"z":1,"a":{"\u0061":"\ud83d\ude00"},"":[]}"#);
    check("[1e3,-0.0,0,1.7976931348623157e308,123456789012345678901234567890]");
    check(" \t\r\n\"\\\\ \\/ \\b\\f\\n\\r\\t\" ");
    check(r#"{"$serde_json":1,"x":"$serde_json::private::RawValue"}"#);
}

#[test]
fn an_own_line_is_read_without_its_values() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Line<'l> {
        seq: u64,
        kind: &'l str,
    }
    // What the shape does not name is passed over without a tree, whatever its names.
    let line = r#"{"seq":1,"input":{"$serde_json::private::RawValue":"["},"kind":"k"}"#;
    assert_eq!(own_line(line.as_bytes()), Some(Line { seq: 1, kind: "k" }));
    assert_eq!(own_line::<Line<'_>>(b"{}"), None);
    assert_eq!(json!(read_as::<(u8, u8)>(b"[1,2]", LIMITS).unwrap()), json!([1, 2]));
    assert_eq!(read_as::<(u8, u8)>(b"[1]", LIMITS).unwrap_err().what(), What::Shape);
}
