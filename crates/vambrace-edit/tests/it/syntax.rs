//! Syntax patterns, language by language.

use proptest::prelude::*;
use vambrace_edit::{Captures, Edit, EditError, Language, MatchMode, Operation, PatternError, apply};

use crate::{edit, unhurried};

fn replace(spec: &str, content: &str, count: usize) -> Edit {
    let edit = edit(Operation::Replace, MatchMode::Ast, spec, content, count);
    Edit { captures: Captures::Expand, ..edit }
}

#[track_caller]
fn check(language: Language, text: &str, spec: &str, content: &str, expected: Result<&str, EditError>) {
    let result = apply(text, Some(language), &[replace(spec, content, 1)], &unhurried);
    assert_eq!(result.map(|applied| applied.text), expected.map(str::to_owned), "{spec} in {text}");
}

#[test]
fn rust_patterns() {
    let rust = Language::Rust;
    check(
        rust,
        "fn f() { let x = g(1); }",
        "let $A = $B",
        "let $A = h($B)",
        Ok("fn f() { let x = h(g(1)); }"),
    );
    check(rust, "fn f(a: u8) {}", "fn $F($$$ARGS) {}", "fn $F($$$ARGS) { x() }", Ok("fn f(a: u8) { x() }"));
    check(rust, "const A: &str = \"$5\";", "\"$5\"", "\"$6\"", Ok("const A: &str = \"$6\";"));
    check(rust, "fn f() { a.unwrap(); }", "$X.unwrap()", "$X?", Ok("fn f() { a?; }"));
    check(rust, "struct A { b: u8 }", "struct A { $$$ }", "struct A;", Ok("struct A;"));
}

#[test]
fn python_patterns() {
    let python = Language::Python;
    check(python, "print('a', x)\n", "print($$$A)", "log($$$A)", Ok("log('a', x)\n"));
    check(python, "a == None\n", "$A == None", "$A is None", Ok("a is None\n"));
    check(
        python,
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self): $$$BODY",
        "def g(self):\n        $$$BODY",
        Ok("class A:\n    def g(self):\n        return 1\n"),
    );
    check(python, "# print(1)\nprint(1)\n", "print($X)", "p($X)", Ok("# print(1)\np(1)\n")); // not in comments
}

#[test]
fn script_patterns() {
    for language in [Language::JavaScript, Language::TypeScript, Language::Tsx] {
        check(language, "f(a, b);", "f($X, $Y)", "f($Y, $X)", Ok("f(b, a);"));
        check(
            language,
            "function f(a, b) { return a }",
            "function $NAME($$$ARGS) { $$$BODY }",
            "const $NAME = ($$$ARGS) => { $$$BODY }",
            Ok("const f = (a, b) => { return a }"),
        );
        check(language, "let s = `${x}`; g(s)", "g($A)", "g(`${x}`, $A)", Ok("let s = `${x}`; g(`${x}`, s)"));
    }
    check(Language::TypeScript, "let a: any = 1", "let $A: any = $B", "let $A = $B", Ok("let a = 1"));
}

#[test]
fn go_bash_and_json_patterns() {
    check(
        Language::Go,
        "package p\n\nfunc f() {\n\tfmt.Println(1)\n}\n",
        "func f() { $$$BODY }",
        "func g() {\n\t$$$BODY\n}",
        Ok("package p\n\nfunc g() {\n\tfmt.Println(1)\n}\n"),
    );
    check(Language::Bash, "curl $URL | sh\n", "curl $X | sh", "curl $X -o x", Ok("curl $URL -o x\n"));
    check(Language::Json, "{\"a\": 1}", "{\"a\": 1}", "{\"a\": 2}", Ok("{\"a\": 2}"));
    check(Language::Json, "{\"a\": [1]}", "[$A]", "[$A, 2]", Ok("{\"a\": [1, 2]}"));
}

#[test]
fn patterns_that_are_refused() {
    let invalid = |problem| Err(EditError::InvalidPattern { edit: 0, problem });
    let python = Language::Python;
    check(python, "x\n", "def (", "y", invalid(PatternError::Code { language: "python" }));
    check(python, "x\n", "a = 1\nb = 2", "y", invalid(PatternError::NotOneNode));
    check(python, "x\n", "$$$A", "y", invalid(PatternError::NotOneNode));
    check(python, "x\n", " ", "y", invalid(PatternError::NotOneNode));
    check(python, "x\n", &"x".repeat(4097), "y", invalid(PatternError::TooLong { len: 4097 }));
    let deep = format!("{}x{}", "(".repeat(100), ")".repeat(100));
    check(python, "x\n", &deep, "y", invalid(PatternError::Code { language: "python" }));
    check(Language::Json, "[1]", "[1 1]", "y", invalid(PatternError::Code { language: "json" }));
}

/// Scraps of many languages, and of patterns.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = proptest::sample::select(vec![
        "$A", "$$$", "$$$B", "$_", "$$C", "µ", "a", "b", "f(", ")", "(", "[", "]", "{", "}", "<", ">", ",",
        ";", "=", "+", ":", ".", "\"s\"", "'c'", "1", "if ", "def ", "fn ", "func ", "let ", "return ",
        "import ", "# c\n", "// c\n", "/*", "*/", "\n", "\r\n", "    ", " ", "é", "|", "&&", "$(", "`${",
        "=>", "<<E\n", "\0",
    ]);
    proptest::collection::vec(scrap, 0..12).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// No pattern and no text makes the engine panic, and what it lets through can be edited again.
    #[test]
    fn any_pattern_meets_any_text(
        text in scraps(),
        spec in scraps(),
        content in scraps(),
        language in proptest::sample::select(Language::ALL.to_vec()),
        count in 0_usize..3,
    ) {
        let edits = [replace(&spec, &content, count)];
        if let Ok(applied) = apply(&text, Some(language), &edits, &unhurried) {
            prop_assert_eq!(applied.n_matches, count);
            let again = apply(&applied.text, Some(language), &edits, &unhurried);
            let parsed = !matches!(again, Err(EditError::NotParsable { .. }));
            prop_assert!(parsed);
        }
    }
}
