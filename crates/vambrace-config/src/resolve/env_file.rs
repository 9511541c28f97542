//! What a file full of secrets says: names and values. It knows how such files are written, and judges nothing.

use serde_json::Value as Json;
use vambrace_json::{Limits, What};

/// LIMIT: more pairs than any such file has.
const MOST: usize = 1024;
/// A file of one line is one value, if it is no longer than this.
const LONGEST_LINE: usize = 4096;

/// Names and values, in order. `file_name` decides between the forms that look alike.
pub(super) fn pairs(file_name: &str, text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = match file_name {
        ".netrc" | "_netrc" => of_netrc(text),
        ".pgpass" => of_pgpass(text),
        ".git-credentials" => of_addresses(text),
        _ => match vambrace_json::read(text.as_bytes(), Limits::document(text.len())) {
            Ok(tree @ (Json::Object(_) | Json::Array(_))) => {
                let mut found = Vec::new();
                of_json("", &tree, &mut found);
                found
            }
            // Two values under one name, or more than is read: nothing of it may be shown for that.
            Err(fault) if fault.what() != What::Syntax => of_quoted(text),
            Err(_) if is_like_json(file_name, text) => {
                of_quoted(text).into_iter().chain(of_lines(text, has_colons(file_name))).collect()
            }
            Ok(_) | Err(_) => of_lines(text, has_colons(file_name)),
        },
    };
    if found.is_empty() {
        found.extend(lone_value(file_name, text));
    }
    for place in 0..found.len().min(MOST) {
        let Some((name, value)) = found.get(place) else { break };
        let inner = password_of(value).map(|password| (format!("{name}_PASSWORD"), password));
        found.extend(inner);
    }
    found.truncate(MOST);
    found
}

fn has_colons(file_name: &str) -> bool {
    [".yaml", ".yml", "config"].iter().any(|ending| file_name.ends_with(ending))
}

/// A file that holds one secret and nothing else, as container platforms mount them.
fn lone_value(file_name: &str, text: &str) -> Option<(String, String)> {
    let value = text.trim();
    let one_line = !value.contains('\n') && (8..=LONGEST_LINE).contains(&value.len());
    // Public halves of keys, and words about the folder.
    let public = [".pub", ".md", ".crt", "known_hosts", "authorized_keys", ".gitignore", ".gitkeep"];
    let is_public =
        public.iter().any(|ending| file_name.ends_with(ending)) || file_name.starts_with("README");
    // The name is telling: such a file is a secret by its place, whatever its value looks like.
    (one_line && !is_public).then(|| (format!("{file_name}_secret"), value.to_owned()))
}

/// `NAME=value`, with `export`, quotes of both kinds over several lines, and comments; `name = value` of INI files; and
/// `name: value` where that is the form.
fn of_lines(text: &str, colons: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && found.len() < MOST {
        let here = rest;
        let (line, behind) = here.split_once('\n').unwrap_or((here, ""));
        rest = behind;
        let trimmed = line.trim_start();
        if trimmed.starts_with(['#', ';', '[']) {
            continue;
        }
        let trimmed =
            trimmed.strip_prefix("export ").or_else(|| trimmed.strip_prefix("- ")).unwrap_or(trimmed);
        let Some((name, value)) = split_name(trimmed, colons) else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let Some(quote) = quote else {
            let plain = value.split(" #").next().unwrap_or_default().trim_end();
            found.push((name, plain.to_owned()));
            continue;
        };
        // The closing quote may be lines away.
        let Some(quoted) = here.get(line.len() - value.len() + 1..) else { continue };
        match closing(quoted, quote) {
            Some(end) => {
                let raw = quoted.get(..end).unwrap_or_default();
                let plain = if quote == '"' { unescaped(raw) } else { raw.to_owned() };
                // Written out with its escapes, as in the file, it is as secret.
                if plain != raw {
                    found.push((name.clone(), raw.to_owned()));
                }
                found.push((name, plain));
                let after = quoted.get(end + 1..).unwrap_or_default();
                rest = after.split_once('\n').map_or("", |(_, behind)| behind);
            }
            // No closing quote: the line as it is.
            None => found.push((name, value.trim_end().to_owned())),
        }
    }
    found.retain(|(_, value)| !value.is_empty());
    found
}

/// The name before the first `=` (or `:`), and what follows.
fn split_name(line: &str, colons: bool) -> Option<(String, &str)> {
    let (name, value) = line.split_once(if colons { ':' } else { '=' })?;
    let name = name.trim().trim_matches(['"', '\'']);
    // `//registry.example/:_authToken`: the last part is what it is about.
    let name = if name.starts_with("//") { name.rsplit(':').next().unwrap_or(name) } else { name };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = !name.is_empty() && name.len() <= 128 && name.chars().all(plain);
    is_name.then(|| (name.to_owned(), value))
}

/// JSON that its reader does not take, for a comment, a comma too many or one value a line, is JSON to whoever wrote it.
fn is_like_json(file_name: &str, text: &str) -> bool {
    let endings = [".json", ".jsonc", ".json5", ".jsonl", ".ndjson"];
    let list =
        || text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', '"']));
    endings.iter().any(|ending| file_name.ends_with(ending)) || text.trim_start().starts_with('{') || list()
}

/// `"name": "value"` wherever it stands in a line, in quotes of both kinds, the name also without.
///
/// LIMIT: between the apostrophes of a comment in the same line, and behind a lone `"`, no value is found; one in single
/// quotes ends at the first, escaped or not.
fn of_quoted(text: &str) -> Vec<(String, String)> {
    let (mut found, mut name) = (Vec::new(), String::new());
    for line in text.lines() {
        let mut rest = line;
        while let Some((before, quote, quoted)) = at_quote(rest).filter(|_| found.len() < MOST) {
            let bare = before.trim_end().strip_suffix(':').unwrap_or_default();
            let bare = bare.rsplit(|c: char| !c.is_alphanumeric() && !"_-$".contains(c)).next();
            if let Some(bare) = bare.filter(|bare| !bare.is_empty()) {
                name = bare.to_owned();
            }
            let Some(end) = closing(quoted, quote) else {
                // An apostrophe is the last of its line; behind a lone `"` there may be many to no end.
                if quote == '"' {
                    break;
                }
                rest = quoted;
                continue;
            };
            let value = unescaped(quoted.get(..end).unwrap_or_default());
            rest = quoted.get(end + 1..).unwrap_or_default();
            if rest.trim_start().starts_with(':') {
                name = value;
            } else if !value.is_empty() {
                found.push((name.clone(), value));
            }
        }
    }
    found
}

fn at_quote(text: &str) -> Option<(&str, char, &str)> {
    let (at, quote) = text.char_indices().find(|(_, c)| matches!(c, '"' | '\''))?;
    Some((text.get(..at)?, quote, text.get(at + 1..)?))
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote {
            return Some(place);
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let escaped = if c == '\\' { characters.next() } else { None };
        match escaped {
            None => plain.push(c),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some(c @ ('"' | '\\' | '$' | '`' | '\'')) => plain.push(c),
            Some(c) => plain.extend(['\\', c]),
        }
    }
    plain
}

fn of_netrc(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_secret = |pair: &&[&str]| matches!(pair.first(), Some(&"password" | &"account"));
    let pairs = words.windows(2).filter(is_secret);
    pairs.filter_map(|pair| Some(("netrc_password".to_owned(), (*pair.get(1)?).to_owned()))).collect()
}

/// `host:port:database:user:password`, with `\:` for a colon.
fn of_pgpass(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = vec![String::new()];
        let mut characters = line.chars();
        while let Some(c) = characters.next() {
            let n_fields = fields.len();
            match (c, fields.last_mut()) {
                (':', _) if n_fields < 5 => fields.push(String::new()),
                ('\\', Some(field)) => field.extend(characters.next()),
                (c, Some(field)) => field.push(c),
                (_, None) => {}
            }
        }
        found.extend(fields.into_iter().nth(4).map(|password| ("pgpass_password".to_owned(), password)));
    }
    found
}

fn of_addresses(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(password_of)
        .map(|password| ("git_credentials_password".to_owned(), password))
        .collect()
}

/// The password of `scheme://user:password@host`.
fn password_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then(|| password.to_owned())
}

/// Text leaves, under the name they stand beside. The tree was read with a limit on its depth.
fn of_json(name: &str, tree: &Json, found: &mut Vec<(String, String)>) {
    match tree {
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
        Json::String(text) => found.push((name.to_owned(), text.clone())),
        Json::Array(items) => items.iter().for_each(|item| of_json(name, item, found)),
        Json::Object(entries) => entries.iter().for_each(|(name, value)| of_json(name, value, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file_name: &str, text: &str, expected: &[(&str, &str)]) {
        let found = pairs(file_name, text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected, "{file_name}: {text}");
    }

    #[test]
    fn environment_files() {
        check(".env", "", &[]);
        check(
            ".env",
            "# A=1\n\nA=one\nB = two # not this\n export C=x#y\r\n",
            &[("A", "one"), ("B", "two"), ("C", "x#y")],
        );
        check(".env", "A='one # 1'\nB=\"two\"\n", &[("A", "one # 1"), ("B", "two")]);
        check(".env", "A=\"one\ntwo\"\nB=three", &[("A", "one\ntwo"), ("B", "three")]);
        check(".env", "A=\"o\\nt\\\"\" # c\nB='\nx'\n", &[("A", "o\\nt\\\""), ("A", "o\nt\""), ("B", "\nx")]);
        check(".env", "A=\"one\nB=two\n", &[("A", "\"one"), ("B", "two")]); // no closing quote anywhere
        check(".env", "not a pair\nA=\n=b\n", &[]);
        check(".env", "U=db://me:pa-ss@host/x\n", &[("U", "db://me:pa-ss@host/x"), ("U_PASSWORD", "pa-ss")]);
        check(
            ".npmrc",
            "//r.example/:_authToken=abc\nregistry=x\n",
            &[("_authToken", "abc"), ("registry", "x")],
        );
        check("credentials", "[default]\nkey_id = a\nkey = b\n", &[("key_id", "a"), ("key", "b")]);
    }

    #[test]
    fn other_files_full_of_secrets() {
        check(
            ".netrc",
            "machine a login me password one\ndefault password two",
            &[("netrc_password", "one"), ("netrc_password", "two")],
        );
        check(".pgpass", "# c\nh:5432:d:me:a\\:b\nshort:1\n", &[("pgpass_password", "a:b")]);
        check(
            ".git-credentials",
            "https://me:one@host\nhttps://host\n",
            &[("git_credentials_password", "one")],
        );
        check("x.json", r#"{"a": {"key": "one"}, "b": ["two", 3]}"#, &[("key", "one"), ("b", "two")]);
        check("x.json", r#"{"a": "one", "b": 2, "a": "two"}"#, &[("a", "one"), ("a", "two")]);
        let reserved = r#"{"a": "one", "b": {"$serde_json::private::RawValue": "2"}}"#;
        check("x.json", reserved, &[("a", "one"), ("$serde_json::private::RawValue", "2")]);
        let near = "{ // it's mine\n \"a\": \"one\", b: 'two', // \"\n\"c\": 1e9999,\n\"d\": \"\\ud800\", \"e\": \"f\",}";
        let lone = "{ /* don't share */ \"a\": \"one\" }";
        check("x", lone, &[("a", "one")]);
        check("x", near, &[("a", "one"), ("b", "two"), ("d", "\\ud800"), ("e", "f")]);
        check("x.jsonl", "{\"a\": \"one\"}\n{\"a\": \"two\"}\n", &[("a", "one"), ("a", "two")]);
        check("x", "[\"one\", \"two\",]", &[("", "one"), ("", "two")]);
        check("x.yaml", "data:\n  key: one\n  - name: \"two\"\n", &[("key", "one"), ("name", "two")]);
        check("db_password", "one two three\n", &[("db_password_secret", "one two three")]);
        check("db_password", "1234567\n", &[]);
        check("id.pub", "one two three\n", &[]);
        check("notes", "one two three\nfour\n", &[]);
    }
}
