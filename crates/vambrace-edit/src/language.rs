//! The languages whose syntax the engine reads.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    Rust,
    Python,
    TypeScript,
    Tsx,
    JavaScript,
    Go,
    Bash,
    Json,
}

impl Language {
    pub const ALL: [Language; 8] = [
        Language::Rust,
        Language::Python,
        Language::TypeScript,
        Language::Tsx,
        Language::JavaScript,
        Language::Go,
        Language::Bash,
        Language::Json,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::TypeScript => "typescript",
            Language::Tsx => "tsx",
            Language::JavaScript => "javascript",
            Language::Go => "go",
            Language::Bash => "bash",
            Language::Json => "json",
        }
    }

    pub fn parse(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.as_str() == name)
    }

    /// By the extension alone; letter case does not matter.
    pub fn of_file_name(name: &str) -> Option<Language> {
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() || stem.ends_with('/') {
            return None; // a hidden file, not an extension
        }
        let extension = extension.to_ascii_lowercase();
        Language::ALL.into_iter().find(|language| language.extensions().contains(&extension.as_str()))
    }

    fn extensions(self) -> &'static [&'static str] {
        match self {
            Language::Rust => &["rs"],
            Language::Python => &["py", "pyi", "pyw"],
            Language::TypeScript => &["ts", "mts", "cts"],
            Language::Tsx => &["tsx"],
            Language::JavaScript => &["js", "mjs", "cjs", "jsx"],
            Language::Go => &["go"],
            Language::Bash => &["sh", "bash"],
            Language::Json => &["json"],
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::Bash => tree_sitter_bash::LANGUAGE.into(),
            Language::Json => tree_sitter_json::LANGUAGE.into(),
        }
    }

    /// The character that stands for `$` while a pattern is parsed: `$` itself where a name may begin with it,
    /// otherwise a letter that code rarely uses.
    pub(crate) fn placeholder(self) -> char {
        match self {
            Language::Rust | Language::Python | Language::Go => 'µ',
            Language::TypeScript | Language::Tsx | Language::JavaScript | Language::Bash | Language::Json => {
                '$'
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<Language>) {
        assert_eq!(Language::of_file_name(name), expected, "{name}");
    }

    #[test]
    fn the_extension_names_the_language() {
        check("main.rs", Some(Language::Rust));
        check("src/deep/mod.PY", Some(Language::Python));
        check("a.d.ts", Some(Language::TypeScript));
        check("a.tsx", Some(Language::Tsx));
        check("a.jsx", Some(Language::JavaScript));
        check("run.sh", Some(Language::Bash));
        check("package.json", Some(Language::Json));
        check("main.go", Some(Language::Go));
        check(".rs", None); // hidden, no extension
        check("src/.go", None);
        check("rs", None);
        check("a.rst", None);
        check("a.rs.bak", None);
        check("a.", None);
        check("", None);
    }

    #[test]
    fn names_read_back_and_grammars_load() {
        for language in Language::ALL {
            assert_eq!(Language::parse(language.as_str()), Some(language));
            assert!(tree_sitter::Parser::new().set_language(&language.grammar()).is_ok(), "{language:?}");
        }
        assert_eq!(Language::parse("Rust"), None);
    }
}
