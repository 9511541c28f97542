//! Reads the files of rules, which `rules/README.md` describes. Knows nothing of what the names in
//! them stand for.

use std::collections::BTreeMap;

/// What parts an example, so that it looks like no credential.
const SEPARATOR: &str = "␣+␣";

/// What a rule may say, each once.
const FIELDS: [&str; 20] = [
    "rule", "about", "source", "kind", "rank", "keywords", "case", "follow", "lead", "pattern", "value",
    "parse", "left", "right", "reach", "check", "glance", "entropy", "hit", "miss",
];

/// What a rule must say, where none of a line stands for all of it.
const NEEDED: [&[&str]; 6] =
    [&["about"], &["kind"], &["keywords"], &["pattern", "value", "parse"], &["hit"], &["miss"]];

/// A rule as it is written: its lines by their first words.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) name: String,
    file: String,
    line: usize,
    fields: BTreeMap<String, (usize, String)>,
}

impl Written {
    pub(crate) fn field(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(|(_, text)| text.as_str())
    }

    /// What is wrong with a line, and where it stands.
    pub(crate) fn wrong(&self, key: &str, problem: &str) -> String {
        let line = self.fields.get(key).map_or(self.line, |(line, _)| *line);
        format!("{}:{line}: rule `{}`: {problem}", self.file, self.name)
    }

    fn must_be_whole(self) -> Result<Written, String> {
        for keys in NEEDED {
            let n_given = keys.iter().filter(|key| self.fields.contains_key(**key)).count();
            if n_given != 1 {
                let all = keys.join("` or `");
                return Err(self.wrong("rule", &format!("it needs one line `{all}`, and has {n_given}")));
            }
        }
        Ok(self)
    }
}

/// The areas in `rules/order`, the most telling first.
pub(crate) fn areas(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// The rules of one file, in its order.
pub(crate) fn rules(file: &str, text: &str) -> Result<Vec<Written>, String> {
    let mut rules: Vec<Written> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let place = format!("{file}:{number}");
        if !FIELDS.contains(&key) || rest.is_empty() || rest.trim() != rest {
            return Err(format!("{place}: `{line}` is no line of a rule"));
        }
        if key == "rule" {
            if let Some(whole) = rules.pop() {
                rules.push(whole.must_be_whole()?);
            }
            let (name, file) = (rest.to_owned(), file.to_owned());
            rules.push(Written { name, file, line: number, fields: BTreeMap::new() });
            continue;
        }
        let Some(rule) = rules.last_mut() else {
            return Err(format!("{place}: it stands before the first `rule`"));
        };
        if rule.fields.insert(key.to_owned(), (number, rest.to_owned())).is_some() {
            return Err(format!("{place}: rule `{}` has a second line `{key}`", rule.name));
        }
    }
    if let Some(last) = rules.pop() {
        rules.push(last.must_be_whole()?);
    }
    Ok(rules)
}

/// Two rules of one name could not be told apart in what they hide.
pub(crate) fn refuse_doubles(rules: &[Written]) -> Result<(), String> {
    let mut first: BTreeMap<&str, &Written> = BTreeMap::new();
    for rule in rules {
        if let Some(other) = first.insert(&rule.name, rule) {
            return Err(rule.wrong("rule", &format!("{}:{} has one of this name", other.file, other.line)));
        }
    }
    Ok(())
}

/// Words between spaces; one in quotation marks may hold spaces and escapes.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (word, behind) = until_quote(quoted)?;
            words.push(unescaped(word)?);
            rest = behind;
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            words.push(word.to_owned());
            rest = behind;
        }
        if !rest.is_empty() && !rest.starts_with(' ') {
            return Err(format!("no space before `{rest}`"));
        }
        rest = rest.trim_start();
    }
    Ok(words)
}

fn until_quote(text: &str) -> Result<(&str, &str), String> {
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        match c {
            '"' if !escaped => {
                let (word, behind) = text.split_at(place);
                return Ok((word, behind.strip_prefix('"').unwrap_or(behind)));
            }
            _ => escaped = c == '\\' && !escaped,
        }
    }
    Err("a quotation mark is missing".to_owned())
}

/// An example, still in parts.
pub(crate) fn example(text: &str) -> Result<String, String> {
    if !text.contains(SEPARATOR) {
        return Err(format!("an example stands in parts, with `{SEPARATOR}` between them"));
    }
    unescaped(text)
}

/// `\n`, `\r`, `\t`, `\s` for a space at either end, `\"` and `\\`.
fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut left = text.chars();
    while let Some(c) = left.next() {
        plain.push(match c {
            '\\' => match left.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('s') => ' ',
                Some(same @ ('"' | '\\')) => same,
                other => return Err(format!("`\\{}` is no escape", other.unwrap_or(' '))),
            },
            c => c,
        });
    }
    Ok(plain)
}
