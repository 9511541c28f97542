//! The table of texts that rules must and must not find.

use std::collections::BTreeMap;

use vambrace_redact::{Redactor, RedactorSettings, rules};

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
    let mut seen: BTreeMap<&str, (bool, bool)> = rules().map(|rule| (rule.name, (false, false))).collect();
    for row in rows() {
        let (hit, miss) = seen.get_mut(row.rule).unwrap_or_else(|| panic!("no rule is named {}", row.rule));
        *(if row.hit { hit } else { miss }) = true;
    }
    let bare: Vec<_> = seen.iter().filter(|(_, both)| **both != (true, true)).collect();
    assert!(bare.is_empty(), "{bare:?}");
}
