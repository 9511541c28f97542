//! Passes over names that no pattern can end in. Almost every file of a tree is such a name, and asking the scope about
//! each would cost more than reading the folders.

use std::collections::HashSet;

/// What names can look like, in lower case.
#[derive(Debug, Default)]
struct Shapes {
    exact: HashSet<Vec<u8>>,
    /// What stands before the first and after the last wildcard.
    open: Vec<(Vec<u8>, Vec<u8>)>,
    /// A pattern that this filter does not understand: everything is asked.
    everything: bool,
}

impl Shapes {
    fn add(&mut self, part: &str) {
        match (part.split_once(['*', '?']), part.rsplit_once(['*', '?'])) {
            (Some((before, _)), Some((_, after))) => self.open.push((before.into(), after.into())),
            _ => {
                self.exact.insert(part.into());
            }
        }
    }

    fn fit(&self, name: &[u8]) -> bool {
        // Letters beyond ASCII have lower-case forms of their own; the scope knows them.
        if self.everything || !name.is_ascii() {
            return true;
        }
        let lower = name.to_ascii_lowercase();
        self.exact.contains(&lower)
            || self.open.iter().any(|(before, after)| lower.starts_with(before) && lower.ends_with(after))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The last parts of patterns.
    last: Shapes,
    /// The parts before them: what a link can stand for.
    leading: Shapes,
}

impl Names {
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Names {
        let mut names = Names::default();
        for text in texts {
            let text = text.trim().to_lowercase();
            // A brace or a class may hold a slash.
            if !text.is_ascii() || text.contains(['{', '[', '\\']) {
                names.last.everything = true;
                names.leading.everything = true;
                continue;
            }
            let mut parts = text.split('/').filter(|part| !part.is_empty() && !matches!(*part, "." | "**"));
            match parts.next_back() {
                Some(last) => names.last.add(last),
                None => names.last.everything = true,
            }
            // `PathPattern::begins_with` leaves these out too.
            parts.filter(|part| *part != "*").for_each(|part| names.leading.add(part));
        }
        names
    }

    /// `false` only if no pattern can end in this name.
    pub(crate) fn may_matter(&self, name: &[u8]) -> bool {
        self.last.fit(name)
    }

    /// `false` only if no pattern of several parts can begin with a link of this name.
    pub(crate) fn may_lead(&self, name: &[u8]) -> bool {
        self.leading.fit(name)
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
        check(&["x[a/b]y"], "xay", true);
        check(&[".env"], "größe", true);
    }

    #[test]
    fn a_link_can_stand_for_every_other_part() {
        let names = Names::of(["/a/B/c", ".envrc", "conf-*/*/key"].into_iter());
        let rows = [
            ("a", true),
            ("b", true),
            ("A", true),
            ("c", false),
            (".envrc", false),
            ("größe", true),
            ("Conf-1", true),
            ("key", false),
        ];
        for (name, expected) in rows {
            assert_eq!(names.may_lead(name.as_bytes()), expected, "{name}");
        }
    }
}
