//! Every package of the product is usable under a license on the list.

use super::Finding;

/// Permissive ones. Copyleft and share-alike terms would bind whoever embeds one of our crates.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn check(packages: &[(String, String)]) -> Vec<Finding> {
    let refused = packages.iter().filter(|(_, license)| !is_allowed(license));
    refused
        .map(|(name, license)| {
            let message =
                format!("{name} is under `{license}`, which xtask/src/tidy/licenses.rs does not allow");
            Finding::stop("Cargo.lock", 0, message)
        })
        .collect()
}

/// Reads the expression of a manifest: `MIT OR Apache-2.0`, `(MIT OR ISC) AND BSD-3-Clause`, and the old `MIT/ISC`.
/// What cannot be read is not allowed.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0 };
    words.either() == Some(true) && words.peek().is_none()
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl Words<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).copied()
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Option<bool> {
        let mut allowed = self.both()?;
        while self.skip("OR") {
            allowed |= self.both()?;
        }
        Some(allowed)
    }

    fn both(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.skip("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let allowed = self.either()?;
            return self.skip(")").then_some(allowed);
        }
        let mut name = self.peek()?.to_owned();
        self.at += 1;
        if self.skip("WITH") {
            name = format!("{name} WITH {}", self.peek()?);
            self.at += 1;
        }
        Some(ALLOWED.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, allowed: bool) {
        assert_eq!(is_allowed(expression), allowed, "{expression}");
    }

    #[test]
    fn an_expression_is_allowed_if_one_choice_is() {
        check("MIT", true);
        check("MIT OR Apache-2.0", true);
        check("MIT/Apache-2.0", true);
        check("GPL-3.0-only", false);
        check("GPL-3.0-only OR MIT", true);
        check("MIT AND GPL-3.0-only", false);
        check("(MIT OR GPL-2.0-only) AND Unicode-3.0", true);
        check("MIT OR GPL-2.0-only AND LGPL-2.1-only", true); // AND binds closer
        check("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", true);
        check("Apache-2.0 WITH Other-exception", false);
        check("", false);
        check("MIT OR", false);
        check("(MIT", false);
        check("MIT MIT", false);
    }
}
