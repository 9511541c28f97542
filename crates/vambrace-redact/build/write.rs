//! Writes the table of rules as Rust. Every name must be one of `names`.

use std::fmt::Write as _;

use super::class_of::Class;
use super::names;
use super::read::{Written, example, words};

/// The table of all rules, for `src/rules.rs` to include; and the keywords that the code of
/// assignments looks for too.
pub(crate) fn table(rules: &[Written]) -> Result<String, String> {
    let mut out = format!("static RULES: [Rule; {}] = [\n", rules.len());
    for rule in rules {
        out.push_str(&row(rule)?);
    }
    out.push_str("];\n");
    for rule in rules.iter().filter(|rule| rule.field("parse") == Some("assignment")) {
        let keywords = words(rule.field("keywords").unwrap_or_default())?;
        let n = keywords.len();
        let _ = writeln!(out, "pub(crate) const ASSIGNMENT_KEYWORDS: [&str; {n}] = {keywords:?};");
    }
    Ok(out)
}

fn row(rule: &Written) -> Result<String, String> {
    let mut out = format!("Rule {{ name: {:?},", rule.name);
    for (key, write) in FIELDS {
        let Some(text) = rule.field(key) else { continue };
        let code = write(text).map_err(|problem| rule.wrong(key, &problem))?;
        let _ = write!(out, " {code},");
    }
    let kind = rule.field("kind").unwrap_or_default();
    let base = named("kind", names::KINDS, kind).map_err(|problem| rule.wrong("kind", &problem))?;
    let _ = writeln!(out, " ..{base} }},");
    Ok(out)
}

type Field = fn(&str) -> Result<String, String>;

const FIELDS: [(&str, Field); 16] = [
    ("about", |text| Ok(format!("about: {text:?}"))),
    ("rank", |text| {
        one_of(text, &[("specific", "rank: Rank::Specific"), ("generic", "rank: Rank::Generic")])
    }),
    ("keywords", |text| Ok(format!("keywords: &{:?}", words(text)?))),
    ("case", |text| one_of(text, &[("exact", "case: Case::Exact"), ("any", "case: Case::Any")])),
    ("lead", lead),
    ("pattern", |text| Ok(format!("pattern: Pattern::Regex({text:?})"))),
    ("value", |text| Ok(format!("pattern: Pattern::Beside({text:?})"))),
    ("parse", |text| Ok(format!("pattern: {}", named("parser", names::PARSERS, text)?))),
    ("left", |text| Ok(format!("left: {}", class(text)?))),
    ("right", |text| Ok(format!("right: {}", class(text)?))),
    ("reach", |text| Ok(format!("reach: {}", number::<usize>(text)?))),
    ("check", check),
    ("glance", |text| Ok(format!("glance: {}", named("glance", names::GLANCES, text)?))),
    ("entropy", |text| Ok(format!("entropy: {:?}", number::<f32>(text)?))),
    ("hit", |text| Ok(format!("hit: {:?}", example(text)?))),
    ("miss", |text| Ok(format!("miss: {:?}", example(text)?))),
];

fn named(what: &str, names: &[(&str, &str)], name: &str) -> Result<String, String> {
    match names.iter().find(|(known, _)| *known == name) {
        Some((_, code)) => Ok((*code).to_owned()),
        None => {
            let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
            Err(format!("no {what} is called `{name}`; there are {}", known.join(", ")))
        }
    }
}

fn one_of(text: &str, choices: &[(&str, &str)]) -> Result<String, String> {
    named("choice", choices, text)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

/// A number of bytes before the keyword, or `run` and a class.
fn lead(text: &str) -> Result<String, String> {
    Ok(match text.strip_prefix("run ") {
        Some(bytes) => format!("lead: Lead::Run({})", class(bytes)?),
        None => format!("lead: Lead::Exactly({})", number::<usize>(text)?),
    })
}

fn class(text: &str) -> Result<String, String> {
    Ok(Class::read(text)?.code())
}

fn check(text: &str) -> Result<String, String> {
    let all: Vec<String> =
        text.split(' ').map(|name| named("check", names::CHECKS, name)).collect::<Result<_, _>>()?;
    Ok(match all.as_slice() {
        [one] => format!("check: {one}"),
        several => format!("check: |value| {}(value)", several.join("(value) && ")),
    })
}
