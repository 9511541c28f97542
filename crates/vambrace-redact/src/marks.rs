//! Numbers for what was taken away, so that a reader can tell two secrets apart and see one again: the same value gets
//! the same number throughout a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fingerprint::{Fingerprint, FingerprintKey, keyed};
use crate::placeholder::{PLACEHOLDER_PREFIX, RuleName};

/// What a placeholder says beside the name of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marking {
    /// `[REDACTED:github-token]`
    #[default]
    Plain,
    /// `[REDACTED:github-token#1]`, counted from one for each name.
    Numbered,
}

/// One secret of a call: how it was shown, and how it is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub rule: RuleName,
    pub number: u32,
    pub fingerprint: Fingerprint,
}

/// LIMIT: what comes after so many different secrets in one call is shown without a number.
const MOST: usize = 4096;

/// The numbers of one call.
#[derive(Debug)]
pub(crate) struct Marks {
    key: Option<FingerprintKey>,
    /// Whether the numbers are shown, or only noted to be looked up.
    shown: Marking,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    numbers: HashMap<(RuleName, Fingerprint), u32>,
    last: HashMap<RuleName, u32>,
    order: Vec<Mark>,
}

impl Marks {
    pub(crate) fn new(key: Option<FingerprintKey>, shown: Marking) -> Marks {
        Marks { key, shown, seen: Mutex::default() }
    }

    /// The same rules, nothing seen yet.
    pub(crate) fn afresh(&self) -> Marks {
        Marks::new(self.key.clone(), self.shown)
    }

    pub(crate) fn fingerprint(&self, value: &[u8]) -> Fingerprint {
        match &self.key {
            Some(key) => key.fingerprint(value),
            // It tells values of this call apart and is never shown.
            None => keyed(&[], value),
        }
    }

    /// In the order of first appearance. Without a key there is nothing that may be shown.
    pub(crate) fn seen(&self) -> Vec<Mark> {
        if self.key.is_some() { self.lock().order.clone() } else { Vec::new() }
    }

    fn number(&self, rule: &RuleName, fingerprint: Fingerprint) -> Option<u32> {
        let mut seen = self.lock();
        let place = (rule.clone(), fingerprint);
        if let Some(number) = seen.numbers.get(&place) {
            return Some(*number);
        }
        if seen.order.len() >= MOST {
            return None;
        }
        let last = seen.last.entry(rule.clone()).or_default();
        *last += 1;
        let number = *last;
        seen.numbers.insert(place, number);
        seen.order.push(Mark { rule: rule.clone(), number, fingerprint });
        Some(number)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What will stand where a secret stood. The number is given when it is first shown: what is only looked for counts
/// nowhere.
#[derive(Debug, Clone)]
pub(crate) struct Marker {
    numbered: Option<(Arc<Marks>, Fingerprint)>,
}

impl Marker {
    pub(crate) const PLAIN: Marker = Marker { numbered: None };

    pub(crate) fn numbered(marks: &Arc<Marks>, value: &[u8]) -> Marker {
        Marker { numbered: Some((Arc::clone(marks), marks.fingerprint(value))) }
    }

    pub(crate) fn text(&self, rule: &RuleName) -> String {
        let number = self.numbered.as_ref().and_then(|(marks, value)| {
            let number = marks.number(rule, *value);
            number.filter(|_| marks.shown == Marking::Numbered)
        });
        match number {
            Some(number) => format!("{PLACEHOLDER_PREFIX}{rule}#{number}]"),
            None => format!("{PLACEHOLDER_PREFIX}{rule}]"),
        }
    }
}

impl PartialEq for Marker {
    fn eq(&self, other: &Marker) -> bool {
        let value = |marker: &Marker| marker.numbered.as_ref().map(|(_, value)| *value);
        value(self) == value(other)
    }
}

impl Eq for Marker {}

#[cfg(test)]
mod tests {
    use super::*;
    use vambrace_types::Secret;

    #[test]
    fn numbers_are_per_name_and_run_out() {
        let marks =
            Arc::new(Marks::new(Some(FingerprintKey::new(Secret::new(vec![1; 32]))), Marking::Numbered));
        let (one, two) = (RuleName::new("one"), RuleName::new("two"));
        let text = |rule: &RuleName, value: &str| Marker::numbered(&marks, value.as_bytes()).text(rule);
        assert_eq!(text(&one, "a"), "[REDACTED:one#1]");
        assert_eq!(text(&two, "a"), "[REDACTED:two#1]");
        assert_eq!(text(&one, "b"), "[REDACTED:one#2]");
        assert_eq!(text(&one, "a"), "[REDACTED:one#1]");
        for n in 4..MOST {
            text(&two, &n.to_string());
        }
        assert_eq!(text(&one, "last"), "[REDACTED:one#3]");
        assert_eq!(text(&one, "beyond"), "[REDACTED:one]");
        assert_eq!(text(&one, "b"), "[REDACTED:one#2]");
        assert_eq!(marks.seen().len(), MOST);
        assert_eq!(marks.afresh().seen(), []);
        let keyless = Arc::new(Marks::new(None, Marking::Numbered));
        assert_eq!(Marker::numbered(&keyless, b"a").text(&one), "[REDACTED:one#1]");
        assert_eq!(keyless.seen(), []);
    }
}
