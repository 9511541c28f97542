//! Names that are blocked or protected, matched component by component, so that `.env` is not `.environment.md`.

use globset::{GlobBuilder, GlobMatcher};

/// One to many components that must stand next to each other in a path, at any depth; a leading slash ties them to
/// the workspace root. `*` and `?` match inside a component. Letter case does not matter, because some file systems
/// ignore it and a refusal too many is the safe side.
#[derive(Debug, Clone)]
pub struct PathPattern {
    text: String,
    anchored: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Name(String),
    Glob(Box<GlobMatcher>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    pub pattern: String,
    pub why: String,
}

impl PathPattern {
    pub fn parse(text: &str) -> Result<PathPattern, PatternError> {
        let wrong = |why: &str| PatternError { pattern: text.to_owned(), why: why.to_owned() };
        let trimmed = text.trim().trim_start_matches("./");
        let mut parts = Vec::new();
        for part in trimmed.split('/').filter(|part| !part.is_empty()) {
            if part == "." || part == ".." {
                return Err(wrong("`.` and `..` cannot be part of a blocked name"));
            }
            // A run of stars would match across components, which plain components already express.
            if part == "**" {
                continue;
            }
            parts.push(Part::parse(part).map_err(|why| wrong(&why))?);
        }
        if parts.is_empty() {
            return Err(wrong("the pattern names nothing"));
        }
        Ok(PathPattern { text: text.to_owned(), anchored: trimmed.starts_with('/'), parts })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the path is the named thing or lies inside it.
    pub fn covers(&self, components: &[String]) -> bool {
        let mut windows = components.windows(self.parts.len());
        let fits = |window: &[String]| self.parts.iter().zip(window).all(|(part, name)| part.is(name));
        if self.anchored { windows.next().is_some_and(fits) } else { windows.any(fits) }
    }
}

impl Part {
    fn parse(text: &str) -> Result<Part, String> {
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Part::Name(text.to_ascii_lowercase()));
        }
        let glob = GlobBuilder::new(text)
            .case_insensitive(true)
            .literal_separator(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Ok(Part::Glob(Box::new(glob.compile_matcher())))
    }

    fn is(&self, name: &str) -> bool {
        match self {
            Part::Name(own) => own.eq_ignore_ascii_case(name),
            Part::Glob(glob) => glob.is_match(name),
        }
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
        check("deploy/**", "deploy/x", true);
    }

    #[test]
    fn patterns_that_name_nothing_are_refused() {
        for wrong in ["", "/", "..", "a/../b", "**", "a[", " "] {
            assert!(PathPattern::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
