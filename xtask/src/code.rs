//! A look at Rust source that is good enough for text rules: which bytes are code, and which lines are tests.
//!
//! It is not a parser. It only has to agree with the compiler about where comments, strings and braces are.

/// The source with comments, strings and character literals turned into spaces. Lines stay where they are, and so do
/// bytes, so that an offset means the same in both texts.
pub(crate) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = String::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let n_hidden = hidden_length(rest, code.as_bytes().last().copied());
        if n_hidden == 0 {
            code.push(if byte.is_ascii() { char::from(byte) } else { ' ' });
            at += 1;
            continue;
        }
        let hidden = rest.get(..n_hidden).unwrap_or(rest);
        code.extend(hidden.iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
        at += hidden.len();
    }
    code
}

/// How many bytes from here are comment or literal; 0 when this byte is code.
fn hidden_length(rest: &[u8], before: Option<u8>) -> usize {
    match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment_length(rest),
        [b'"', ..] => quoted_length(rest, b'"'),
        [b'r', ..] if !before.is_some_and(|byte| is_word(byte) && !matches!(byte, b'b' | b'c')) => {
            raw_string_length(rest)
        }
        // A lifetime has no closing quote right after its first character.
        [b'\'', b'\\', ..] | [b'\'', _, b'\'', ..] => quoted_length(rest, b'\''),
        [b'\'', first, ..] if !first.is_ascii() => quoted_length(rest, b'\''),
        _ => 0,
    }
}

fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        match tail {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth.saturating_sub(1), at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#` and so on; 0 for a word that merely begins with r.
fn raw_string_length(rest: &[u8]) -> usize {
    let n_marks = rest.iter().skip(1).take_while(|byte| **byte == b'#').count();
    if rest.get(1 + n_marks) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.resize(1 + n_marks, b'#');
    let start = 2 + n_marks;
    let body = rest.get(start..).unwrap_or_default();
    body.windows(end.len()).position(|window| window == end).map_or(rest.len(), |n| start + n + end.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Offsets at which `needle` stands as whole words: `unsafe` is not found in `unsafe_code`.
pub(crate) fn find_words<'a>(code: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let edge = |byte: Option<&u8>, ours: Option<u8>| {
        !(byte.copied().is_some_and(is_word) && ours.is_some_and(is_word))
    };
    code.match_indices(needle).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| code.as_bytes().get(before));
        let after = code.as_bytes().get(at + needle.len());
        edge(before, needle.bytes().next()) && edge(after, needle.bytes().last())
    })
}

/// Lines count from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// The byte ranges of items under `#[cfg(test)]`, given the code without comments and strings.
pub(crate) fn test_ranges(code: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (start, mark) in code.match_indices("#[cfg(test)]") {
        if ranges.iter().any(|range| range.contains(&start)) {
            continue;
        }
        let mut depth = 0_usize;
        let mut end = code.len();
        for (at, byte) in code.bytes().enumerate().skip(start + mark.len()) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            // The item ends with its last brace, or with a semicolon if it has none.
            if depth == 0 && matches!(byte, b'}' | b';') {
                end = at + 1;
                break;
            }
        }
        ranges.push(start..end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(code_only(source), expected, "{source:?}");
        assert_eq!(code_only(source).len(), source.len());
    }

    #[test]
    fn comments_and_literals_become_spaces() {
        check("a // unsafe\nb", "a          \nb");
        check("a /* x /* y */ z */ b", "a                   b");
        check(r#"f("un\"safe", x)"#, "f(          , x)");
        check(r##"f(r#"a"b"#, x)"##, "f(        , x)");
        check("br\"x\\\" y", "b      y"); // a raw string has no escapes
        check("for r in rows", "for r in rows");
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("['{', '\\'', b'}']", "[   ,     , b   ]");
        check("'é' x", "     x");
        check("\"two\nlines\" x", "    \n       x");
        check("\"no end", "       ");
    }

    #[test]
    fn words_are_whole() {
        let found = |code: &str, needle: &str| find_words(code, needle).collect::<Vec<_>>();
        assert_eq!(found("unsafe fn f", "unsafe"), [0]);
        assert_eq!(found("unsafe_code, not_unsafe", "unsafe"), []);
        assert_eq!(found("Policy::new(x); MyPolicy::new(x)", "Policy::new("), [0]);
        assert_eq!(line_of("a\nb\nc", 4), 3);
    }

    #[test]
    fn a_test_module_ends_with_its_brace() {
        let code =
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { } }\nfn c() {}\n#[cfg(test)]\nmod t;\nfn d() {}";
        let texts: Vec<&str> = test_ranges(code).into_iter().filter_map(|range| code.get(range)).collect();
        assert_eq!(texts, ["#[cfg(test)]\nmod tests { fn b() { } }", "#[cfg(test)]\nmod t;"]);
    }
}
