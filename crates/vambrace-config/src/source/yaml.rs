//! YAML, read by `serde-saphyr` under a budget. The only module that knows that library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, Spanned, budget, options};

use super::{DEPTH_LIMIT, FILE_LIMIT};
use crate::node::{Entry, Node, Place, Value};
use crate::problem::{ConfigError, Problem};

pub(super) fn parse(text: &str) -> Result<Node, ConfigError> {
    // THREAT: P09, alias bombs. The budget counts what aliases grow to, not only what is written.
    let options = options! {
        budget: budget! {
            max_depth: DEPTH_LIMIT + 2,
            max_nodes: 100_000,
            max_events: 300_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
            // The second is reported as such, not as a breach.
            max_documents: 2,
            max_total_scalar_bytes: 2 * FILE_LIMIT as usize,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        // `on`, `off`, `yes` and `no` are words here: several settings use them.
        strict_booleans: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Option<Spanned<Raw>>>(text, options) {
        Ok(root) => Ok(root.map_or_else(|| Node::empty_map(Place::START), locate)),
        Err(error) => Err(explain(text, &error)),
    }
}

fn locate(spanned: Spanned<Raw>) -> Node {
    let at = Place::new(spanned.referenced.line(), spanned.referenced.column());
    Node::new(spanned.value.0, at)
}

/// A value whose own place is kept by the `Spanned` around it.
struct Raw(Value);

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Raw, E> {
        Ok(Raw(Value::Bool(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw(Value::Int(number.into())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw(Value::Int(number.into())))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
        Ok(Raw(Value::Int(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw(Value::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw(Value::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element::<Spanned<Raw>>()? {
            items.push(locate(item));
        }
        Ok(Raw(Value::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<Raw>>()? {
            let at = Place::new(key.referenced.line(), key.referenced.column());
            entries.push(Entry { key: key.value, at, node: locate(value) });
        }
        Ok(Raw(Value::Map(entries)))
    }
}

fn explain(text: &str, error: &serde_saphyr::Error) -> ConfigError {
    use serde_saphyr::Error as E;
    let place = error.location().map(|location| Place::new(location.line(), location.column()));
    let mut inner = error;
    while let E::AliasError { error, .. } | E::WithSnippet { error, .. } = inner {
        inner = error;
    }
    let problem = match inner {
        // The duplicate's text may be a secret (`api_keys`), so the place has to do.
        E::DuplicateMappingKey { .. } => Problem::DuplicateKey,
        E::Budget { .. } | E::AliasReplayLimitExceeded { .. } | E::AliasExpansionLimitExceeded { .. } => {
            Problem::Syntax(
                "the document is too deep, too long, or grows too much through its aliases".to_owned(),
            )
        }
        E::MergeKeyNotAllowed { .. } => Problem::Syntax("merge keys (`<<`) are not supported".to_owned()),
        E::MultipleDocuments { .. } => Problem::Syntax("only one document is expected".to_owned()),
        _ => Problem::Syntax(format!("this is not valid YAML here: {}", reason(&inner.to_string()))),
    };
    let mut explained = ConfigError::new("", problem);
    explained.place = place;
    match place.and_then(|place| tab_before(text, place)) {
        Some(line) => explained.hint(format!("line {line} is indented with a tab, and YAML wants spaces")),
        None => explained,
    }
}

/// The library appends the place to its sentence; we write it in front.
fn reason(sentence: &str) -> String {
    let first = sentence.lines().next().unwrap_or(sentence);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    match first.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => first.to_owned(),
    }
}

/// The commonest slip: a tab among the spaces at a line's beginning, on the line of the error or the one before.
fn tab_before(text: &str, place: Place) -> Option<u32> {
    let tabbed = |line: u32| {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let content = text.lines().nth(index)?;
        let blank = content.len() - content.trim_start().len();
        content.get(..blank)?.contains('\t').then_some(line)
    };
    tabbed(place.line).or_else(|| tabbed(place.line.saturating_sub(1)))
}
