//! Reads an expression of `yq` far enough to know that it sees its input only. Two programs have that name: one
//! hands the text to jq, the other has a language of its own which loads files, reads the environment and
//! evaluates text. What is taken here means the same to both, so only names on a list may be called.
//!
//! INVARIANT: a sign that one of them could read otherwise is refused, not followed.

use std::iter::Peekable;
use std::str::Chars;

/// What may be called; neither program reaches beyond its input by these.
const CALLED: [&str; 46] = [
    "add",
    "all",
    "and",
    "any",
    "as",
    "contains",
    "downcase",
    "else",
    "empty",
    "end",
    "endswith",
    "false",
    "first",
    "flatten",
    "from_entries",
    "group_by",
    "has",
    "if",
    "join",
    "keys",
    "last",
    "length",
    "map",
    "map_values",
    "max",
    "min",
    "not",
    "null",
    "or",
    "path",
    "pick",
    "reverse",
    "select",
    "sort",
    "sort_by",
    "split",
    "startswith",
    "tag",
    "test",
    "then",
    "to_entries",
    "true",
    "type",
    "unique",
    "unique_by",
    "with_entries",
];

/// In `.my-env` one program reads a name and the other takes the environment off.
const NEVER: [&str; 6] = ["env", "import", "include", "input", "inputs", "modulemeta"];

/// What a character is preceded by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Other,
    /// One dot: a name here is a field.
    Dot,
    /// A field, and what is written on to it with `-`.
    Field,
}

pub(crate) fn scan(text: &str) -> Result<(), String> {
    // THREAT: P06, one of the programs takes an existing file of such a name for the program text.
    if text.ends_with(".yq") {
        return Err("a name that ends with `.yq` may be a file".to_owned());
    }
    let mut rest = text.chars().peekable();
    let mut before = Before::Other;
    while let Some(character) = rest.next() {
        before = match character {
            '"' => string(&mut rest, before)?,
            // Behind two or three dots a name is called.
            '.' if rest.next_if_eq(&'.').is_some() => {
                while rest.next_if_eq(&'.').is_some() {}
                Before::Other
            }
            '.' => Before::Dot,
            '-' if before == Before::Field => Before::Field,
            letter if letter.is_ascii_alphanumeric() || letter == '_' => name(letter, &mut rest, before)?,
            // A path, a comment, an escape, a variable: one of the programs gives each a meaning of its own.
            sign if "/#\\'`$~%;".contains(sign) || !sign.is_ascii() || sign.is_control() => {
                return Err(format!("`{sign}` is not taken in an expression of yq"));
            }
            _ => Before::Other,
        };
    }
    Ok(())
}

/// Without escapes a text ends at the next quote for both. It may be a field (`."a b"`).
fn string(rest: &mut Peekable<Chars<'_>>, before: Before) -> Result<Before, String> {
    for character in rest.by_ref() {
        match character {
            '"' => return Ok(if before == Before::Dot { Before::Field } else { Before::Other }),
            '\\' => return Err("a text in an expression of yq may hold no backslash".to_owned()),
            _ => {}
        }
    }
    Err("a text is not closed".to_owned())
}

fn name(first: char, rest: &mut Peekable<Chars<'_>>, before: Before) -> Result<Before, String> {
    let mut name = String::from(first);
    while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
        name.push(next);
    }
    let called = before == Before::Other && !name.chars().all(|character| character.is_ascii_digit());
    let known = CALLED.contains(&name.as_str());
    if (called && !known) || (before == Before::Field && NEVER.contains(&name.as_str())) {
        return Err(format!("`{name}` is not on the list of what an expression of yq may call"));
    }
    Ok(if before == Before::Other { Before::Other } else { Before::Field })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(scan(text).is_ok(), expected, "{text:?}: {:?}", scan(text));
    }

    #[test]
    fn texts_that_see_only_their_input() {
        for text in [
            ".",
            ".a.b[0].c",
            ".jobs | keys",
            ".services.my-app.image",
            ".services[\"my app\"].ports",
            ".\"a b\".c",
            ".[] | select(.kind == \"Deployment\") | .metadata.name",
            ".spec.replicas",
            ".env",
            ".services.app.env",
            ".load",
            ".. | select(has(\"image\"))",
            "to_entries[] | .key",
            ".items | length > 3",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn texts_that_see_more_or_mean_two_things() {
        for text in [
            "load(\"x.yml\")",
            "load_str(\"x\")",
            ".a | load(\"x\")",
            ".. load(\"x\")",
            "..load(\"x\")",
            "...load(\"x\")",
            "length-load(\"x\")",
            "keys-env",
            ".a-env",
            ".\"a\"-env",
            "env",
            "env(HOME)",
            "strenv(HOME)",
            "\"a\" | envsubst",
            "eval(\"load\")",
            "eval",
            "e",
            "eval-all",
            "shell-completion",
            "system(\"id\")",
            "$ENV",
            "$x",
            "input",
            "import \"a\" as a; .",
            "file.yml",
            "../../x",
            "a/b",
            "# load(\"x\")",
            ".a # x",
            "\"a\\\" load(\\\"x\\\") \\\"\"",
            "\"open",
            "'a'",
            ".a ∘ b",
            "(.a|load(\"x\"))",
            "{a: load(\"x\")}",
            "[.a,env]",
            ".a.[env]",
            ".a[load(\"x\")]",
            ".a load(\"x\")",
            ".a?env",
            ".a=load(\"x\")",
            "-load(\"x\")",
            "!env",
            "@load",
            "LOAD(\"x\")",
            ".a.yq",
        ] {
            check(text, false);
        }
    }
}
