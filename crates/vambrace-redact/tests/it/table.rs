//! The table of texts that rules must and must not find.

use vambrace_redact::{Redactor, RedactorSettings, prove_rules, rules};

const TABLE: &str = include_str!("../../../../testdata/secrets.tsv");
const SEPARATOR: &str = "␣+␣";

struct Row {
    rule: &'static str,
    text: String,
    hit: bool,
    note: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [rule, parts, kind, note] = columns[..] else { panic!("{line:?} has not four columns") };
        assert!(matches!(kind, "hit" | "miss"), "{line:?}");
        Row { rule, text: parts.replace(SEPARATOR, ""), hit: kind == "hit", note }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

#[test]
fn every_row_holds() {
    let redactor = Redactor::new(RedactorSettings::default()).unwrap();
    let mut wrong = Vec::new();
    for Row { rule, text, hit, note } in rows() {
        for (before, after) in [("", ""), ("x = ", ";"), ("\n(", ")\n"), ("\"", "\",")] {
            let whole = format!("{before}{text}{after}");
            let found: Vec<String> =
                redactor.scan(whole.as_bytes()).iter().map(|finding| finding.rule.to_string()).collect();
            if found.iter().any(|found| found == rule) != hit {
                wrong.push(format!("{rule} ({note}): {whole:?} gives {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_hit_and_a_miss() {
    let named = rows().iter().all(|row| rules().any(|rule| rule.name == row.rule));
    assert!(named, "a row names no rule");
    assert_eq!(prove_rules(), Ok(rules().count()));
}
