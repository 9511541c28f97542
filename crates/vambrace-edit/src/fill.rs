//! Content with places to be filled from a match.

/// How places are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `$1`, `${name}`, and `$$` for a dollar sign.
    Groups,
    /// `$NAME` and `$$$NAME`.
    MetaVariables,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'c> {
    Text(&'c str),
    /// The name of a capture.
    Place(&'c str),
}

/// A dollar sign that begins no place is text.
pub(crate) fn parse(content: &str, spelling: Spelling) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = content;
    while let Some((text, from_dollar)) = rest.find('$').and_then(|at| rest.split_at_checked(at)) {
        parts.push(Part::Text(text));
        let (part, after) = match spelling {
            Spelling::Groups => group(from_dollar),
            Spelling::MetaVariables => meta_variable(from_dollar),
        }
        .unwrap_or_else(|| dollars(from_dollar));
        parts.push(part);
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| *part != Part::Text(""));
    parts
}

fn group(from_dollar: &str) -> Option<(Part<'_>, &str)> {
    let after = from_dollar.strip_prefix('$')?;
    if let Some(rest) = after.strip_prefix('$') {
        return Some((Part::Text("$"), rest));
    }
    if let Some((name, rest)) = after.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        return plain.then_some((Part::Place(name), rest));
    }
    let (number, rest) = split_while(after, |c| c.is_ascii_digit());
    (!number.is_empty()).then_some((Part::Place(number), rest))
}

fn meta_variable(from_dollar: &str) -> Option<(Part<'_>, &str)> {
    let (dollars, after) = split_while(from_dollar, |c| c == '$');
    let (name, rest) = split_while(after, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let named = name.starts_with(|c: char| c.is_ascii_uppercase());
    // `$FOObar` is a name of the program, not ours.
    let ended = !rest.starts_with(|c: char| c.is_ascii_lowercase());
    (named && ended && matches!(dollars.len(), 1 | 3)).then_some((Part::Place(name), rest))
}

/// The dollar signs that begin nothing.
fn dollars(from_dollar: &str) -> (Part<'_>, &str) {
    let (dollars, rest) = split_while(from_dollar, |c| c == '$');
    (Part::Text(dollars), rest)
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c: char| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The parts joined. `None` as soon as the result is longer than `limit`.
pub(crate) fn join<'a>(parts: &[Part<'a>], limit: usize, value: impl Fn(&str) -> &'a str) -> Option<String> {
    let mut joined = String::new();
    for part in parts {
        joined.push_str(match part {
            Part::Text(text) => text,
            Part::Place(name) => value(name),
        });
        if joined.len() > limit {
            return None;
        }
    }
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, spelling: Spelling, expected: &str) {
        let shown: String = parse(content, spelling)
            .iter()
            .map(|part| match part {
                Part::Text(text) => (*text).to_owned(),
                Part::Place(name) => format!("<{name}>"),
            })
            .collect();
        assert_eq!(shown, expected, "{content}");
    }

    #[test]
    fn groups() {
        for (content, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("$1", "<1>"),
            ("$10x", "<10>x"),
            ("${1}0", "<1>0"),
            ("a${name}b", "a<name>b"),
            ("$$1", "$1"),
            ("$$$1", "$<1>"),
            ("$name", "$name"), // only braces make a name: `$name` is common in shell and PHP
            ("${}", "${}"),
            ("${a b}", "${a b}"),
            ("${open", "${open"),
            ("cost: 5$", "cost: 5$"),
            ("é$1é", "é<1>é"),
        ] {
            check(content, Spelling::Groups, expected);
        }
    }

    #[test]
    fn meta_variables() {
        for (content, expected) in [
            ("$A", "<A>"),
            ("f($$$ARGS)", "f(<ARGS>)"),
            ("$A_1.x", "<A_1>.x"),
            ("$$A", "$$A"),
            ("$$$$A", "$$$$A"),
            ("${x}", "${x}"),
            ("$foo", "$foo"),
            ("$Foo", "$Foo"),
            ("$_A", "$_A"), // never captured
            ("$1", "$1"),
            ("$", "$"),
        ] {
            check(content, Spelling::MetaVariables, expected);
        }
    }
}
