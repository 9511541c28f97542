//! Enters the keywords of all rules into the index, and writes it as Rust.

use std::fmt::{Debug, Write as _};

use super::buckets::Buckets;
use super::class_of::Class;
use super::gram::{Entry, bit};
use super::read::{Written, words};

/// In bytes. Every way a shorter keyword may go on would be an entry of its own.
const SHORTEST: usize = 2;

pub(crate) fn table(rules: &[Written]) -> Result<String, String> {
    let mut entries = Vec::new();
    for (number, rule) in (0..).zip(rules) {
        let wrong = |problem: String| rule.wrong("keywords", &problem);
        let follow = Class::read(rule.field("follow").unwrap_or("any"))
            .map_err(|problem| rule.wrong("follow", &problem))?;
        let keywords = words(rule.field("keywords").unwrap_or_default()).map_err(wrong)?;
        if keywords.iter().any(|keyword| keyword.len() < SHORTEST) {
            return Err(wrong("a keyword of one byte is everywhere".to_owned()));
        }
        for (keyword, text) in (0..).zip(&keywords) {
            entries.extend(Entry::all(text.as_bytes(), |byte| follow.holds(byte), number, keyword));
        }
    }
    entries.sort_unstable();
    entries.dedup();
    let Buckets { bits, ranks, starts, rows } = Buckets::new(entries, |entry| bit(entry.gram));
    let mut out = String::from("pub(crate) static INDEX: Buckets<Entry> = Buckets {\n");
    for (field, numbers) in [("bits", list(&bits)), ("ranks", list(&ranks)), ("starts", list(&starts))] {
        let _ = writeln!(out, "{field}: Cow::Borrowed(&[{numbers}]),");
    }
    out.push_str("rows: Cow::Borrowed(&[");
    for Entry { gram, needle, keyword, n_rest, rest } in rows.iter() {
        let _ = write!(out, "entry({gram},{needle},{keyword},{n_rest},{rest}),");
    }
    out.push_str("]),\n};\n");
    Ok(out)
}

fn list<N: Debug>(numbers: &[N]) -> String {
    numbers.iter().map(|number| format!("{number:?},")).collect()
}
