//! What a word may not be where a program is named, because bash reads it as something else there.

use super::syntax;
use super::word::RawWord;
use crate::command::CommandRefusal;

const RESERVED: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "in", "function", "time", "coproc", "[[", "]]", "!",
];

pub(super) fn check(word: &RawWord) -> Result<(), CommandRefusal> {
    let text = word.text();
    if text.is_empty() {
        return Err(syntax("''", "an empty program name"));
    }
    if word.unquoted().is_some_and(|text| RESERVED.contains(&text.as_str())) {
        return Err(syntax(text, "a word of the shell's own grammar"));
    }
    // Quoted or not: no program is named like this, and bash has its own ideas of when a quote matters here.
    if text.contains('=') {
        return Err(syntax(text, "an assignment"));
    }
    if text.starts_with('%') {
        return Err(syntax(text, "a job"));
    }
    // `[` alone is a program. In `name[` bash reads on to the `]` over blanks, as an element of an array.
    let is_glob =
        word.letters.iter().any(|letter| !letter.is_quoted && matches!(letter.character, '*' | '?' | '['));
    if is_glob && text != "[" {
        return Err(syntax(text, "a glob as a program"));
    }
    Ok(())
}
