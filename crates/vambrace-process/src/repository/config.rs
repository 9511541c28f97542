//! git's configuration format, read as git reads it, written back with the harmless keys only. It knows no files.
//!
//! INVARIANT: a key that is not listed here is dropped, so a key that git learns next year is harmless too.

/// The part of `text` that cannot make git start anything. What follows a mistake is dropped, as git would stop there.
pub(super) fn harmless(text: &str) -> String {
    let mut written = Written::default();
    read(text, |section, key, value| written.take(section, key, value));
    written.text
}

/// What a value of a configuration leads git to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lead {
    /// Another configuration, counted from the folder of this one.
    Include(String),
    /// A folder whose files git runs, counted from the working tree.
    Folder(String),
    /// A program, or a line for a shell.
    Command(String),
}

/// The values that are not harmless, whether or not we know their keys.
pub(super) fn leads(text: &str) -> Vec<Lead> {
    let mut leads = Vec::new();
    read(text, |section, key, value| {
        let Some(value) = value.filter(|_| judge(section, key, value).is_none()) else { return };
        let value = value.to_owned();
        leads.extend(match (section.name.as_str(), key) {
            ("include" | "includeif", "path") => Some(Lead::Include(value)),
            ("core", "hookspath") | ("init", "templatedir") => Some(Lead::Folder(value)),
            // Texts that git only reads, and people edit.
            ("blame", "ignorerevsfile")
            | ("commit", "template")
            | ("core", "excludesfile")
            | ("mailmap", "file") => None,
            _ => Some(Lead::Command(value)),
        });
    });
    leads
}

/// Where the hooks are, if the configuration says it.
pub(super) fn hooks_path(text: &str) -> Option<String> {
    let mut found = None;
    read(text, |section, key, value| {
        if (section.name.as_str(), key) == ("core", "hookspath") {
            found = value.map(str::to_owned);
        }
    });
    found
}

fn read(text: &str, mut take: impl FnMut(&Section, &str, Option<&str>)) {
    let mut parser = Parser { rest: text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable() };
    let mut section: Option<Section> = None;
    while let Some(item) = parser.next_item() {
        match (item, &section) {
            (Item::Section(next), _) => section = Some(next),
            (Item::Value { key, value }, Some(section)) => take(section, &key, value.as_deref()),
            (Item::Value { .. }, None) => break,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    /// In lower case.
    name: String,
    sub: Option<String>,
}

enum Item {
    Section(Section),
    /// A key alone means true.
    Value {
        key: String,
        value: Option<String>,
    },
}

struct Parser<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
}

impl Parser<'_> {
    fn next_char(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        // `\r\n` ends a line like `\n`.
        if next == '\r' && self.rest.peek() == Some(&'\n') { self.rest.next() } else { Some(next) }
    }

    /// `None` at the end and at the first mistake.
    fn next_item(&mut self) -> Option<Item> {
        loop {
            match self.next_char()? {
                '#' | ';' => while self.next_char()? != '\n' {},
                '[' => return self.section().map(Item::Section),
                blank if blank.is_ascii_whitespace() => {}
                letter if letter.is_ascii_alphabetic() => return self.value(letter),
                _ => return None,
            }
        }
    }

    fn section(&mut self) -> Option<Section> {
        let mut name = String::new();
        loop {
            match self.next_char()? {
                ']' => {
                    // The old form `[branch.main]`; its second part is in lower case.
                    let (name, sub) = match name.split_once('.') {
                        Some((name, sub)) => (name.to_owned(), Some(sub.to_owned())),
                        None => (name, None),
                    };
                    return Some(Section { name, sub });
                }
                blank if blank == ' ' || blank == '\t' => return self.quoted_sub(name),
                letter if letter.is_ascii_alphanumeric() || letter == '-' || letter == '.' => {
                    name.push(letter.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
    }

    fn quoted_sub(&mut self, name: String) -> Option<Section> {
        while matches!(self.rest.peek(), Some(' ' | '\t')) {
            self.next_char();
        }
        if self.next_char()? != '"' {
            return None;
        }
        let mut sub = String::new();
        loop {
            match self.next_char()? {
                '"' => break,
                '\n' => return None,
                '\\' => match self.next_char()? {
                    '\n' => return None,
                    escaped => sub.push(escaped),
                },
                letter => sub.push(letter),
            }
        }
        (self.next_char()? == ']').then_some(Section { name, sub: Some(sub) })
    }

    fn value(&mut self, first: char) -> Option<Item> {
        let mut key = first.to_ascii_lowercase().to_string();
        while let Some(letter) = self.rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '-') {
            key.push(letter.to_ascii_lowercase());
        }
        loop {
            match self.next_char() {
                Some(' ' | '\t') => {}
                Some('\n') | None => return Some(Item::Value { key, value: None }),
                Some('=') => break,
                Some(_) => return None,
            }
        }
        let value = self.value_text()?;
        Some(Item::Value { key, value: Some(value) })
    }

    fn value_text(&mut self) -> Option<String> {
        let (mut value, mut blanks) = (String::new(), String::new());
        let (mut quoted, mut comment) = (false, false);
        loop {
            let next = match self.next_char() {
                Some('\n') | None => return (!quoted).then_some(value),
                Some(next) => next,
            };
            if comment {
                continue;
            }
            if !quoted && next.is_ascii_whitespace() {
                // Blanks count only between other characters.
                if !value.is_empty() {
                    blanks.push(next);
                }
                continue;
            }
            if !quoted && (next == '#' || next == ';') {
                comment = true;
                continue;
            }
            value.push_str(&std::mem::take(&mut blanks));
            match next {
                '"' => quoted = !quoted,
                '\\' => match self.next_char()? {
                    '\n' => {}
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    'n' => value.push('\n'),
                    '\\' => value.push('\\'),
                    '"' => value.push('"'),
                    _ => return None,
                },
                letter => value.push(letter),
            }
        }
    }
}

#[derive(Default)]
struct Written {
    text: String,
    last: Option<Section>,
}

impl Written {
    fn take(&mut self, section: &Section, key: &str, value: Option<&str>) {
        let Some(value) = judge(section, key, value) else { return };
        if self.last.as_ref() != Some(section) {
            let head = match &section.sub {
                Some(sub) => format!("[{} {}]\n", section.name, quote(sub)),
                None => format!("[{}]\n", section.name),
            };
            self.text.push_str(&head);
            self.last = Some(section.clone());
        }
        match value {
            Some(value) => self.text.push_str(&format!("\t{key} = {}\n", quote_value(&value))),
            None => self.text.push_str(&format!("\t{key}\n")),
        }
    }
}

/// The value to write, if the key is harmless.
fn judge(section: &Section, key: &str, value: Option<&str>) -> Option<Option<String>> {
    let rows = if section.sub.is_some() { HARMLESS_NAMED } else { HARMLESS };
    let listed = rows.iter().any(|(name, keys)| *name == section.name && keys.contains(&key));
    // A line break in a name would end the line that we write.
    let writable = section.sub.as_ref().is_none_or(|sub| !sub.contains(['\n', '\0']));
    let is_address = matches!(key, "url" | "pushurl");
    match (listed && writable, value, is_address) {
        (false, _, _) => None,
        (true, Some(value), true) => address(value).map(Some),
        (true, value, _) => Some(value.map(str::to_owned)),
    }
}

/// Without its credentials; an address that names a helper program is dropped.
fn address(text: &str) -> Option<String> {
    if text.contains("::") || text.starts_with('-') {
        return None;
    }
    let Some((scheme, rest)) = text.split_once("://") else { return Some(text.to_owned()) };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let Some((person, host)) = authority.rsplit_once('@') else { return Some(text.to_owned()) };
    // ssh needs the name to log in with; over http it is often the token itself.
    let name = person.split(':').next().unwrap_or_default();
    let person = if scheme.eq_ignore_ascii_case("ssh") { format!("{name}@") } else { String::new() };
    Some(format!("{scheme}://{person}{host}{path}"))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn quote_value(text: &str) -> String {
    quote(text).replace('\n', "\\n").replace('\t', "\\t").replace('\u{8}', "\\b")
}

/// Sections without a name of their own.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "compression",
            "eol",
            "filemode",
            "hidedotfiles",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    (
        "extensions",
        &[
            "compatobjectformat",
            "noop",
            "objectformat",
            "partialclone",
            "preciousobjects",
            "refstorage",
            "relativeworktrees",
            "worktreeconfig",
        ],
    ),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "context",
            "ignoresubmodules",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "relative",
            "renamelimit",
            "renames",
            "submodule",
            "wserrorhighlight",
        ],
    ),
    ("feature", &["manyfiles"]),
    ("fetch", &["prune", "prunetags"]),
    ("i18n", &["commitencoding", "logoutputencoding"]),
    ("index", &["sparse", "threads", "version"]),
    ("init", &["defaultbranch"]),
    ("log", &["abbrevcommit", "date", "decorate", "follow"]),
    ("merge", &["conflictstyle", "ff", "renamelimit", "renames"]),
    ("pull", &["ff", "rebase"]),
    ("push", &["autosetupremote", "default"]),
    ("rebase", &["autosquash", "autostash"]),
    ("rerere", &["enabled"]),
    ("status", &["branch", "relativepaths", "renames", "short", "showstash", "showuntrackedfiles"]),
    ("submodule", &["active"]),
    ("user", &["email", "name"]),
];

/// Sections with a name, such as `[remote "origin"]`.
const HARMLESS_NAMED: &[(&str, &[&str])] = &[
    ("branch", &["description", "merge", "pushremote", "rebase", "remote"]),
    ("remote", &["fetch", "partialclonefilter", "promisor", "prune", "pushurl", "tagopt", "url"]),
    ("submodule", &["active", "branch", "path", "url"]),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every folder of `testdata/git_config` holds what a repository says and what a cage shows of it.
    #[test]
    fn rows_of_testdata() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/git_config");
        let mut rows: Vec<_> = std::fs::read_dir(folder).unwrap().map(|row| row.unwrap().path()).collect();
        rows.sort();
        assert!(rows.len() >= 10, "{} rows", rows.len());
        for row in rows {
            let input = std::fs::read_to_string(row.join("input")).unwrap();
            let expected = std::fs::read_to_string(row.join("expected")).unwrap();
            assert_eq!(harmless(&input), expected, "{}", row.display());
            assert_eq!(harmless(&expected), expected, "{}, read again", row.display());
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(address(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn addresses_lose_their_credentials() {
        check("https://example.org/a.git", Some("https://example.org/a.git"));
        check("https://me:word@example.org/a.git", Some("https://example.org/a.git"));
        check("https://word@example.org", Some("https://example.org"));
        check("https://a@b@example.org/x@y", Some("https://example.org/x@y"));
        check("ssh://git:word@example.org/a", Some("ssh://git@example.org/a"));
        check("git@example.org:a/b.git", Some("git@example.org:a/b.git"));
        check("../other", Some("../other"));
        check("ext::sh -c id", None);
        check("--upload-pack=id", None);
    }
}
