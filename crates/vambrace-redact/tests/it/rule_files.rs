//! What the build script says about files of rules that are not right.

#[path = "../../src/index/buckets.rs"]
mod buckets;
#[path = "../../src/class.rs"]
mod class;
#[path = "../../build/class_of.rs"]
mod class_of;
#[path = "../../src/index/gram.rs"]
mod gram;
#[path = "../../build/index.rs"]
mod index;
#[path = "../../build/names.rs"]
mod names;
#[path = "../../build/read.rs"]
mod read;
#[path = "../../build/write.rs"]
mod write;

const GOOD: &str = "\
# What belongs here.
rule a-key
about keys of A
kind named
keywords abcd_ \"b c d\"
pattern a_[0-9]{4}
left word - .
check mixed has-digit
hit a_␣+␣12\\s
miss a_␣+␣1

rule b-key
about keys of B
source RFC 1
kind token
keywords bcde_
value [0-9]{4}
hit b_␣+␣1234
miss b_␣+␣1
";

fn build(text: &str) -> Result<String, String> {
    let rules = read::rules("rules/x.rules", text)?;
    read::refuse_doubles(&rules)?;
    Ok(write::table(&rules)? + &index::table(&rules)?)
}

/// What is said when `from` is replaced.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert!(GOOD.contains(from));
    assert_eq!(build(&GOOD.replacen(from, to, 1)).unwrap_err(), expected);
}

#[test]
fn a_good_file_becomes_a_table() {
    let table = build(GOOD).unwrap();
    for part in [
        "static RULES: [Rule; 2]",
        "name: \"a-key\", about: \"keys of A\", keywords: &[\"abcd_\", \"b c d\"]",
        "left: |byte| class::word(byte) || matches!(byte, b'-' | b'.')",
        "check: |value| check::mixed(value) && form::has_digit(value)",
        "hit: \"a_␣+␣12 \"",
        "..Rule::NAMED }",
        "entry(1684234849,0,0,1,538976383)", // `abcd`, and `_` behind it
        "pattern: Pattern::Beside(\"[0-9]{4}\")",
    ] {
        assert!(table.contains(part), "{part}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    check("check mixed", "check mixd", &unknown_check());
    check("rule b-key", "rule a-key", "rules/x.rules:12: rule `a-key`: rules/x.rules:2 has one of this name");
    let missing = |line: usize, rule: &str, what: &str, n: usize| {
        format!("rules/x.rules:{line}: rule `{rule}`: it needs one line `{what}`, and has {n}")
    };
    check("hit b_␣+␣1234\n", "", &missing(12, "b-key", "hit", 0));
    check("miss a_␣+␣1\n", "", &missing(2, "a-key", "miss", 0));
    check("value [0-9]{4}\n", "", &missing(12, "b-key", "pattern` or `value` or `parse", 0));
    check("kind token", "value x\nkind token", "rules/x.rules:18: rule `b-key` has a second line `value`");
    check(
        "value [0-9]",
        "parse netrc\nvalue [0-9]",
        &missing(12, "b-key", "pattern` or `value` or `parse", 2),
    );
    check("rule a-key\n", "", "rules/x.rules:2: it stands before the first `rule`");
    check("source", "sauce", "rules/x.rules:14: `sauce RFC 1` is no line of a rule");
    check("hit b_␣+␣", "hit b_", &wrong(18, "b-key", "an example stands in parts, with `␣+␣` between them"));
    check("\\s", "\\d", &wrong(9, "a-key", "`\\d` is no escape"));
    check("\"b c d\"", "\"b c d", &wrong(5, "a-key", "a quotation mark is missing"));
    check("left word", "left wrd", &unknown_class());
    check("left word", "follow wrd", &unknown_class());
    check("keywords bcde_", "keywords b", &wrong(16, "b-key", "a keyword of one byte is everywhere"));
    check("left word - .", "reach far", &wrong(7, "a-key", "`far` is no number"));
}

fn wrong(line: usize, rule: &str, problem: &str) -> String {
    format!("rules/x.rules:{line}: rule `{rule}`: {problem}")
}

fn unknown_check() -> String {
    let known: Vec<&str> = names::CHECKS.iter().map(|(name, _)| *name).collect();
    wrong(8, "a-key", &format!("no check is called `mixd`; there are {}", known.join(", ")))
}

fn unknown_class() -> String {
    let known: Vec<&str> = names::CLASSES.iter().map(|(name, ..)| *name).collect();
    wrong(7, "a-key", &format!("no class of bytes is called `wrd`; there are {}", known.join(", ")))
}

#[test]
fn the_order_is_a_list_of_names() {
    assert_eq!(read::areas("# first\n\ncode\n ci \n"), ["code", "ci"]);
}
