//! Names that are blocked or protected, matched component by component, so that `.env` is not `.environment.md`.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::names::EXAMPLES;

/// A name, or names that stand next to each other in a path, at any depth; a leading slash ties them to the workspace
/// root. `*` and `?` match inside a component, `**` across them. It covers the named thing and all that is in it. Letter
/// case does not matter, because some file systems ignore it and a refusal too many is the safe side.
///
/// LIMIT: `?` and `[…]` match one byte, so they miss letters beyond ASCII; `*` does not.
#[derive(Debug, Clone)]
pub struct PathPattern {
    text: String,
    depth: Depth,
    /// What its first name begins with, in lower case, if that is one byte for certain: most paths have no such name, and
    /// every call asks every pattern.
    first: Option<u8>,
    matcher: Matcher,
    /// Names that a pattern of one name does not mean, in lower case.
    except: &'static [&'static str],
}

#[derive(Debug, Clone)]
enum Matcher {
    /// Without wildcards, which is most of them: compared as they are, in lower case.
    Names { anchored: bool, names: Vec<String> },
    /// One name with one `*` in it.
    Open { before: String, after: String },
    Globs {
        whole: GlobSet,
        /// Its leading parts.
        beginnings: GlobSet,
    },
    /// `**` in an operator's rule.
    Everything,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

impl PathPattern {
    pub fn parse(text: &str) -> Result<PathPattern, PatternError> {
        PathPattern::parse_at(text, Depth::Any)
    }

    /// Tied to the workspace root with or without a leading slash, as the operator's rules are written.
    pub fn parse_from_root(text: &str) -> Result<PathPattern, PatternError> {
        PathPattern::parse_at(text, Depth::Root)
    }

    fn parse_at(text: &str, depth: Depth) -> Result<PathPattern, PatternError> {
        let matcher = Matcher::parse(text, depth)?;
        let first = match &matcher {
            Matcher::Everything => None,
            Matcher::Names { names, .. } => names.first().map(String::as_str),
            Matcher::Open { before, .. } => Some(before.as_str()),
            Matcher::Globs { .. } => text.trim().split('/').find(|name| !name.is_empty() && *name != "."),
        };
        let first = first.and_then(|name| name.bytes().next()).map(|byte| byte.to_ascii_lowercase());
        let first = first.filter(|byte| byte.is_ascii() && !WILD.contains(&char::from(*byte)));
        Ok(PathPattern { text: text.to_owned(), depth, first, matcher, except: &[] })
    }

    /// The same pattern, which must be of one name at any depth, without these names.
    pub(crate) fn except(self, except: &'static [&'static str]) -> PathPattern {
        PathPattern { except, ..self }
    }

    /// As one word that `from_word` understands.
    pub(crate) fn to_word(&self) -> String {
        let mark = match (self.depth, self.except.is_empty()) {
            (Depth::Any, true) => '*',
            (Depth::Any, false) => '-',
            (Depth::Root, _) => '/',
        };
        format!("{mark}{}", self.text)
    }

    pub(crate) fn from_word(word: &str) -> Result<PathPattern, PatternError> {
        if let Some(text) = word.strip_prefix('-') {
            return Ok(PathPattern::parse(text)?.except(EXAMPLES));
        }
        match word.strip_prefix('*') {
            Some(text) => PathPattern::parse(text),
            None => PathPattern::parse_from_root(word.strip_prefix('/').unwrap_or(word)),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names that it does not mean although it looks so.
    pub fn exceptions(&self) -> &[&str] {
        self.except
    }

    /// Whether it means names at one place of the workspace only.
    pub fn is_anchored(&self) -> bool {
        self.depth == Depth::Root || self.text.trim_start().starts_with('/')
    }

    /// Whether the path is the named thing or lies inside it.
    pub fn covers(&self, components: &[String]) -> bool {
        if self.first.is_some_and(|first| !components.iter().any(|name| may_begin_with(name, first))) {
            return false;
        }
        let is_excepted = |name: &&String| self.except.iter().any(|own| folds_to(name, own));
        if components.iter().any(|name| is_excepted(&name)) {
            let others: Vec<String> = components.iter().filter(|name| !is_excepted(name)).cloned().collect();
            return self.matches(&others);
        }
        self.matches(components)
    }

    fn matches(&self, components: &[String]) -> bool {
        match &self.matcher {
            Matcher::Everything => true,
            Matcher::Open { before, after } => {
                components.iter().any(|name| begins_and_ends(&name.to_lowercase(), before, after))
            }
            // The root has no name that a wildcard could stand for.
            Matcher::Globs { whole, .. } => !components.is_empty() && whole.is_match(components.join("/")),
            Matcher::Names { anchored, names } => {
                let fits =
                    |window: &[String]| names.iter().zip(window).all(|(own, name)| folds_to(name, own));
                let mut windows = components.windows(names.len());
                if *anchored { windows.next().is_some_and(fits) } else { windows.any(fits) }
            }
        }
    }

    /// Whether the path is the beginning of a name of several parts, so that a link in its place
    /// decides what the whole name means.
    ///
    /// LIMIT: not up to a part that is only `*` or `**`; almost every link would be the beginning
    /// of such a name.
    pub fn begins_with(&self, components: &[String]) -> bool {
        match &self.matcher {
            Matcher::Everything | Matcher::Open { .. } => false,
            Matcher::Globs { beginnings, .. } => beginnings.is_match(components.join("/")),
            Matcher::Names { anchored, names } => {
                let folded: Vec<String> = components.iter().map(|name| name.to_lowercase()).collect();
                (1..names.len()).filter_map(|n_parts| names.get(..n_parts)).any(|beginning| {
                    if *anchored { folded == beginning } else { folded.ends_with(beginning) }
                })
            }
        }
    }
}

const LONGEST: usize = 1024;
const MOST_BRACES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Any,
    Root,
}

const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Letters beyond ASCII may become one of ASCII in lower case.
fn may_begin_with(name: &str, first: u8) -> bool {
    name.bytes().next().is_some_and(|byte| !byte.is_ascii() || byte.to_ascii_lowercase() == first)
}

fn begins_and_ends(name: &str, before: &str, after: &str) -> bool {
    name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
}

/// Whether `name` in lower case is `own`, which is in lower case; without making one of them, for most names.
fn folds_to(name: &str, own: &str) -> bool {
    if name.is_ascii() { own.eq_ignore_ascii_case(name) } else { own == name.to_lowercase() }
}

impl Matcher {
    fn parse(text: &str, depth: Depth) -> Result<Matcher, PatternError> {
        let wrong = |why: &str| PatternError { pattern: text.to_owned(), why: why.to_owned() };
        let trimmed = text.trim();
        // The glob compiler descends into braces by recursion, and a project's file may hold such a pattern.
        if trimmed.len() > LONGEST || trimmed.matches('{').count() > MOST_BRACES {
            return Err(PatternError {
                pattern: text.chars().take(40).collect(),
                why: "the pattern is too long".to_owned(),
            });
        }
        if trimmed.starts_with('!') {
            return Err(wrong("exceptions with `!` are not supported"));
        }
        let anchored = trimmed.starts_with('/') || depth == Depth::Root;
        let mut names: Vec<&str> =
            trimmed.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        if names.contains(&"..") {
            return Err(wrong("`..` cannot be part of a pattern"));
        }
        // `folder/**` is the folder with all that is in it, which every pattern covers anyway.
        while names.len() > 1 && names.last() == Some(&"**") {
            names.pop();
        }
        if names.is_empty() || (names == ["**"] && depth == Depth::Any) {
            return Err(wrong("the pattern names nothing"));
        }
        if names == ["**"] {
            return Ok(Matcher::Everything);
        }
        if !names.iter().any(|name| name.contains(WILD)) {
            let names = names.iter().map(|name| name.to_lowercase()).collect();
            return Ok(Matcher::Names { anchored, names });
        }
        if let ([name], false) = (names.as_slice(), anchored)
            && name.is_ascii()
            && let Some((before, after)) = name.split_once('*')
            && !before.contains(WILD)
            && !after.contains(WILD)
        {
            return Ok(Matcher::Open { before: before.to_lowercase(), after: after.to_lowercase() });
        }
        let glob_of =
            |names: &[&str]| if anchored { names.join("/") } else { format!("**/{}", names.join("/")) };
        let glob_set = |globs: &[String]| {
            let mut set = GlobSetBuilder::new();
            for glob in globs {
                let mut builder = GlobBuilder::new(glob);
                let glob = builder.case_insensitive(true).literal_separator(true).build();
                set.add(glob.map_err(|error| wrong(&error.kind().to_string()))?);
            }
            set.build().map_err(|error| wrong(&error.kind().to_string()))
        };
        let base = glob_of(&names);
        let beginnings: Vec<String> = (1..names.len())
            .filter_map(|n_parts| names.get(..n_parts))
            .filter(|beginning| !matches!(beginning, [.., "*" | "**"]))
            .map(glob_of)
            // A brace may hold a slash; what stands before that slash is no glob.
            .filter(|glob| Glob::new(glob).is_ok())
            .collect();
        Ok(Matcher::Globs {
            whole: glob_set(&[base.clone(), format!("{base}/**")])?,
            beginnings: glob_set(&beginnings)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let components: Vec<String> = path.split('/').map(str::to_owned).collect();
        let covers = PathPattern::parse(pattern).unwrap().covers(&components);
        assert_eq!(covers, expected, "{pattern:?} on {path:?}");
    }

    #[track_caller]
    fn check_from_root(pattern: &str, path: &str, expected: bool) {
        let components: Vec<String> = path.split('/').map(str::to_owned).collect();
        let covers = PathPattern::parse_from_root(pattern).unwrap().covers(&components);
        assert_eq!(covers, expected, "{pattern:?} on {path:?}");
    }

    #[test]
    fn names_are_matched_by_component() {
        check(".env", ".env", true);
        check(".env", "a/.env", true);
        check(".env", ".env/x", true);
        check(".env", ".environment.md", false);
        check(".env", "my.env.ts", false);
        check(".env.*", ".env.local", true);
        check(".env.*", ".env", false);
        check("secrets/", "secrets/key", true);
        check("secrets/", "a/secrets", true);
        check("secrets/", "secretsharing/x", false);
        check(".git/hooks", ".git/hooks/pre-commit", true);
        check(".git/hooks", ".git/x/hooks", false);
        check("/top", "a/top", false);
        check("/top", "top/a", true);
        check("*.pem", "keys/server.PEM", true);
        check(".git", ".GIT/config", true);
        check("Ä", "ä/x", true);
        check("deploy/**", "deploy/x", true);
        check("deploy/**/prod", "deploy/a/prod/x", true);
        check("deploy/**/prod", "deploy/prod", true);
        check("deploy/**/prod", "deploy/a/test", false);
        check("key\\.txt", "key.txt", true);
        check("kube", "\u{212a}ube", true); // the sign for kelvin is a k in lower case
        check("[ab]c", "bc", true);
        check("{a,b}c", "x/bc/d", true);
        check("{a/b,c}/d", "a/b/d", true);
        check("A*", "x/abc", true);
        check("./a*", "x/abc", true);
        check(".env*", "a/.ENVRC", true);
        check("**/x", "a/b/x", true);
        check("i\u{307}", "\u{130}", true); // a capital letter whose small one begins with an i
        check_from_root("src/*.key", "SRC/a.key", true);
        check_from_root("src/*.key", "a/src/a.key", false);
    }

    #[track_caller]
    fn check_beginning(pattern: &str, path: &str, expected: bool) {
        let components: Vec<String> = path.split('/').map(str::to_owned).collect();
        let begins = PathPattern::parse(pattern).unwrap().begins_with(&components);
        assert_eq!(begins, expected, "{pattern:?} on {path:?}");
    }

    #[test]
    fn the_beginning_of_a_longer_name_is_known() {
        check_beginning(".cargo/config.toml", ".cargo", true);
        check_beginning(".cargo/config.toml", "a/b/.CARGO", true);
        check_beginning(".cargo/config.toml", ".cargo/config.toml", false);
        check_beginning(".cargo/config.toml", ".cargo/x", false);
        check_beginning(".cargo/config.toml", "cargo", false);
        check_beginning("a/b/c", "x/a/b", true);
        check_beginning("/a/b/c", "a/b", true);
        check_beginning("/a/b/c", "x/a/b", false);
        check_beginning(".envrc", ".envrc", false);
        check_beginning("a/*", "a", true);
        check_beginning("a/*", "a/b", false);
        check_beginning("conf-*/keys.txt", "x/CONF-1", true);
        check_beginning("conf-*/keys.txt", "conf-1/x", false);
        check_beginning("/conf-*/a/*.txt", "conf-1/a", true);
        check_beginning("/conf-*/a/*.txt", "x/conf-1/a", false);
        check_beginning("a/*/b", "a/x", false);
        check_beginning("**/x?", "y", false);
    }

    #[test]
    fn an_operators_path_covers_the_thing_and_what_is_in_it() {
        for pattern in
            ["deploy", "deploy/", "deploy/**", "./deploy", "/deploy", "deploy//**", " deploy/./** "]
        {
            check_from_root(pattern, "deploy", true);
            check_from_root(pattern, "deploy/a/b", true);
            check_from_root(pattern, "Deploy/a", true);
            check_from_root(pattern, "a/deploy", false);
            check_from_root(pattern, "deployment/x", false);
        }
        check_from_root("**", "a/b", true);
        check_from_root("**/*.sql", "db/x.sql", true);
        check_from_root("*.sql", "db/x.sql", false);
    }

    #[test]
    fn patterns_that_name_nothing_are_refused() {
        let deep = format!("{}x{}", "{a,".repeat(15_000), "}".repeat(15_000));
        for wrong in ["", "/", "..", "a/../b", "**", "a[", " ", "!x", "./", &deep] {
            assert!(PathPattern::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
