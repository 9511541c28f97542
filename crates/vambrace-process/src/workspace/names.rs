//! Passes over names that no pattern can end in. Almost every file of a tree is such a name, and asking the scope about
//! each would cost more than reading the folders.

use std::collections::HashSet;

/// What the last part of any pattern can look like, in lower case.
#[derive(Debug, Default)]
pub(crate) struct Names {
    exact: HashSet<Vec<u8>>,
    /// What stands before the first and after the last wildcard.
    open: Vec<(Vec<u8>, Vec<u8>)>,
    /// The parts before the last one of patterns without wildcards: what a link can stand for.
    leading: HashSet<Vec<u8>>,
    /// A pattern that this filter does not understand: everything is asked.
    everything: bool,
}

impl Names {
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Names {
        let mut names = Names::default();
        for text in texts {
            names.add(&text.trim().to_lowercase());
        }
        names
    }

    pub(crate) fn with_leading<'t>(mut self, texts: impl Iterator<Item = &'t str>) -> Names {
        for text in texts {
            let text = text.trim().to_lowercase();
            let mut parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
            parts.next_back();
            self.leading.extend(parts.map(|part| part.as_bytes().to_vec()));
        }
        self
    }

    fn add(&mut self, text: &str) {
        let last = text.split('/').rfind(|part| !part.is_empty() && *part != "." && *part != "**");
        let Some(last) = last.filter(|_| text.is_ascii() && !text.contains(['{', '[', '\\'])) else {
            self.everything = true;
            return;
        };
        match (last.split_once(['*', '?']), last.rsplit_once(['*', '?'])) {
            (Some((before, _)), Some((_, after))) => self.open.push((before.into(), after.into())),
            _ => {
                self.exact.insert(last.into());
            }
        }
    }

    /// `false` only if no pattern can end in this name.
    pub(crate) fn may_matter(&self, name: &[u8]) -> bool {
        // Letters beyond ASCII have lower-case forms of their own; the scope knows them.
        if self.everything || !name.is_ascii() {
            return true;
        }
        let lower = name.to_ascii_lowercase();
        self.exact.contains(&lower)
            || self.open.iter().any(|(before, after)| lower.starts_with(before) && lower.ends_with(after))
    }

    /// `false` only if no pattern of several parts can begin with a link of this name.
    pub(crate) fn may_lead(&self, name: &[u8]) -> bool {
        !name.is_ascii() || self.leading.contains(&name.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], name: &str, expected: bool) {
        assert_eq!(Names::of(patterns.iter().copied()).may_matter(name.as_bytes()), expected, "{name}");
    }

    #[test]
    fn the_last_part_decides() {
        check(&[".env"], ".env", true);
        check(&[".env"], ".ENV", true);
        check(&[".env"], ".environment", false);
        check(&[".env.*"], ".env.local", true);
        check(&[".env.*"], ".env", false);
        check(&["*.pem"], "a.pem", true);
        check(&["*.pem"], "pem", false);
        check(&[".cargo/config.toml"], "config.toml", true);
        check(&["/data/raw/**"], "raw", true);
        check(&["/data/raw/**"], "data", false);
        check(&["{a,b}"], "anything", true);
        check(&["x[12]"], "anything", true);
        check(&[".env"], "größe", true);
    }

    #[test]
    fn a_link_can_stand_for_every_other_part() {
        let names = Names::default().with_leading(["/a/B/c", ".envrc"].into_iter());
        let may_lead = ["a", "b", "A", "c", ".envrc", "größe"].map(|name| names.may_lead(name.as_bytes()));
        assert_eq!(may_lead, [true, true, true, false, false, true]);
    }
}
