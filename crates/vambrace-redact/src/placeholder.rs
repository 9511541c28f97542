//! What stands where a secret stood: `[REDACTED:rule]`, or `[REDACTED:rule#1]`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::rule::Rule;

pub const PLACEHOLDER_PREFIX: &str = "[REDACTED:";
const LONGEST_NAME: usize = 64;
/// `#` and at most four digits: there are no more numbers in a call.
const LONGEST_NUMBER: usize = "#4096".len();
/// No placeholder is longer, so this is how far one can reach into text from outside.
pub(crate) const LONGEST: usize = PLACEHOLDER_PREFIX.len() + LONGEST_NAME + LONGEST_NUMBER + "]".len();

/// The name of a rule: kebab case, at most 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleName(Cow<'static, str>);

impl RuleName {
    /// Anything but small letters and digits becomes a dash.
    pub(crate) fn new(text: &str) -> RuleName {
        let mut name = String::new();
        for c in text.chars() {
            match c.to_ascii_lowercase() {
                c if c.is_ascii_alphanumeric() => name.push(c),
                _ if name.ends_with('-') || name.is_empty() => {}
                _ => name.push('-'),
            }
            if name.len() >= LONGEST_NAME {
                break;
            }
        }
        name.truncate(name.trim_end_matches('-').len());
        RuleName(name.into())
    }

    /// The name of a built-in rule, which is as it should be.
    pub(crate) fn of(rule: &'static Rule) -> RuleName {
        RuleName(rule.name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Is there a redaction in this text? Whoever writes it back would destroy the real value.
pub fn holds_placeholder(text: &str) -> bool {
    text.split(PLACEHOLDER_PREFIX).skip(1).any(|rest| {
        let Some((inside, _)) = rest.split_once(']') else { return false };
        let (name, number) = inside.split_once('#').unwrap_or((inside, "1"));
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !name.is_empty()
            && name.len() <= LONGEST_NAME
            && name.bytes().all(plain)
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The placeholders of one redactor. Only its own names count: any other text in brackets could be a secret that
/// somebody dressed up as a redaction.
pub(crate) struct Placeholders {
    names: HashSet<Cow<'static, [u8]>>,
}

impl Placeholders {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a RuleName>) -> Placeholders {
        let bytes = |name: &RuleName| match &name.0 {
            Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
            Cow::Owned(name) => Cow::Owned(name.clone().into_bytes()),
        };
        Placeholders { names: names.map(bytes).collect() }
    }

    /// Placeholders that overlap or touch `range`. Needs `LONGEST` bytes of text on both sides to see them whole.
    pub(crate) fn near<'t>(
        &'t self,
        hay: &'t [u8],
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let from = range.start.saturating_sub(LONGEST);
        let to = hay.len().min(range.end + LONGEST);
        let region = hay.get(from..to).unwrap_or_default();
        memchr::memmem::find_iter(region, PLACEHOLDER_PREFIX.as_bytes()).filter_map(move |place| {
            let inside = region.get(place + PLACEHOLDER_PREFIX.len()..)?;
            let inside = inside.get(..inside.len().min(LONGEST_NAME + LONGEST_NUMBER + 1))?;
            let length = memchr::memchr(b']', inside)?;
            let start = from + place;
            let end = start + PLACEHOLDER_PREFIX.len() + length + 1;
            let ours = self.names.contains(unnumbered(inside.get(..length)?));
            (ours && start <= range.end && end >= range.start).then_some(start..end)
        })
    }
}

/// The name in `name#1`. What is no number stays with the name, which then is nobody's.
fn unnumbered(inside: &[u8]) -> &[u8] {
    let Some(place) = memchr::memrchr(b'#', inside) else { return inside };
    let (name, number) = inside.split_at(place);
    let digits = number.get(1..).unwrap_or_default();
    let is_number = (1..LONGEST_NUMBER).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if is_number { name } else { inside }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(holds_placeholder(text), expected, "{text:?}");
    }

    #[test]
    fn only_well_formed_placeholders_count() {
        check("key = [REDACTED:github-token]", true);
        check("[REDACTED:jwt#12]", true);
        check("[REDACTED: [REDACTED:jwt]", true);
        check("[REDACTED:]", false);
        check("[REDACTED:jwt#]", false);
        check("[REDACTED:Not A Rule]", false);
        check("[REDACTED:unfinished", false);
        check("the prefix is \"[REDACTED:\" and ends with a bracket]", false);
    }

    #[test]
    fn names_are_kebab_case() {
        for (text, expected) in [("GITHUB_TOKEN", "github-token"), ("__a__B9", "a-b9"), ("é", "")] {
            assert_eq!(RuleName::new(text).as_str(), expected);
        }
        assert!(RuleName::new(&"a_".repeat(100)).as_str().len() <= LONGEST_NAME);
    }
}
