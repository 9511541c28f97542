//! One word: quotes are taken off, and each character remembers whether it was quoted.

use std::ops::Range;

use super::cursor::Cursor;
use super::{count_steps, glob, syntax};
use crate::command::{CommandRefusal, Word};

/// Bash looks at every pair of braces in a word; nobody writes this many.
const MAX_BRACES: usize = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub(super) character: char,
    pub(super) is_quoted: bool,
}

pub(super) struct RawWord {
    pub(super) letters: Vec<Letter>,
    place: Range<usize>,
    /// Also of nothing: `''` is a word.
    has_quotes: bool,
}

/// Where a word may be cut into several by an unquoted comma or two dots.
#[derive(Default)]
struct Braces {
    open: Vec<Brace>,
}

struct Brace {
    depth: usize,
    has_separator: bool,
}

impl RawWord {
    /// The cursor stands on the first character of a word.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<RawWord, CommandRefusal> {
        let begin = cursor.place();
        let mut word = RawWord { letters: Vec::new(), place: begin..begin, has_quotes: false };
        let mut braces = Braces::default();
        while let Some(character) = cursor.peek() {
            match character {
                ' ' | '\t' | '|' | '&' | ';' | '<' | '>' => break,
                '(' | ')' => return Err(word.parenthesis(cursor)),
                '`' => return Err(syntax("`", "command substitution")),
                '\'' => word.single_quotes(cursor)?,
                '"' => word.double_quotes(cursor)?,
                '\\' => word.backslash(cursor)?,
                '$' => word.dollar(cursor)?,
                '~' => word.tilde(cursor)?,
                '{' | '}' | ',' | '.' => {
                    cursor.next();
                    count_steps(braces.open.len());
                    braces.see(character, cursor.peek())?;
                    word.push(character, false);
                }
                plain => {
                    cursor.next();
                    word.push(plain, false);
                }
            }
        }
        word.place.end = cursor.place();
        if let Some(brace @ ("{" | "}")) = word.unquoted().as_deref() {
            return Err(syntax(brace, "a group of commands"));
        }
        Ok(word)
    }

    /// The word as it was written, unless any of it is quoted.
    pub(super) fn unquoted(&self) -> Option<String> {
        (!self.has_quotes).then(|| self.text())
    }

    pub(super) fn text(&self) -> String {
        self.letters.iter().map(|letter| letter.character).collect()
    }

    /// Whether the redirect sign that follows at once takes this word for itself: `2>`, `{name}>`.
    pub(super) fn redirect_prefix(&self, cursor: &Cursor<'_>) -> Option<String> {
        if !matches!(cursor.peek(), Some('<' | '>')) {
            return None;
        }
        let text = self.unquoted()?;
        let is_number = text.chars().all(|character| character.is_ascii_digit());
        let is_name = text.starts_with('{') && text.ends_with('}');
        (is_number || is_name).then_some(text)
    }

    pub(super) fn into_word(self) -> Result<Word, CommandRefusal> {
        Ok(Word { parts: glob::parts(&self.letters)?, place: self.place })
    }

    fn push(&mut self, character: char, is_quoted: bool) {
        self.letters.push(Letter { character, is_quoted });
    }

    fn single_quotes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), CommandRefusal> {
        cursor.next();
        self.has_quotes = true;
        while let Some(character) = cursor.next() {
            if character == '\'' {
                return Ok(());
            }
            self.push(character, true);
        }
        Err(syntax("'", "a quote that does not end"))
    }

    fn double_quotes(&mut self, cursor: &mut Cursor<'_>) -> Result<(), CommandRefusal> {
        cursor.next();
        self.has_quotes = true;
        while let Some(character) = cursor.next() {
            match character {
                '"' => return Ok(()),
                '`' => return Err(syntax("`", "command substitution")),
                '$' => {
                    // Nothing begins with these after a dollar, so `"end$"` is text.
                    if !matches!(cursor.peek(), Some('"' | ' ' | '|' | ')' | '/' | '.' | ',')) {
                        return Err(expansion(cursor));
                    }
                    self.push('$', true);
                }
                '\\' => match cursor.peek() {
                    Some(special @ ('$' | '`' | '"' | '\\')) => {
                        cursor.next();
                        self.push(special, true);
                    }
                    Some(_) | None => self.push('\\', true),
                },
                plain => self.push(plain, true),
            }
        }
        Err(syntax("\"", "a quote that does not end"))
    }

    fn backslash(&mut self, cursor: &mut Cursor<'_>) -> Result<(), CommandRefusal> {
        cursor.next();
        self.has_quotes = true;
        let character = cursor.next().ok_or_else(|| syntax("\\", "a backslash before nothing"))?;
        self.push(character, true);
        Ok(())
    }

    fn dollar(&mut self, cursor: &mut Cursor<'_>) -> Result<(), CommandRefusal> {
        cursor.next();
        // At the end of a word it is text, as in `grep end$ FILE`.
        if !matches!(cursor.peek(), None | Some(' ' | '\t')) {
            return Err(expansion(cursor));
        }
        self.push('$', false);
        Ok(())
    }

    /// Bash puts a home folder for `~` where a word begins, and after `=` and `:` of what looks like an assignment.
    fn tilde(&mut self, cursor: &mut Cursor<'_>) -> Result<(), CommandRefusal> {
        cursor.next();
        let is_begin = self.letters.is_empty() && !self.has_quotes;
        let is_in_value = self.letters.last().is_some_and(|last| matches!(last.character, '=' | ':'));
        if is_begin || is_in_value {
            return Err(syntax("~", "a home folder"));
        }
        self.push('~', false);
        Ok(())
    }

    fn parenthesis(&self, cursor: &Cursor<'_>) -> CommandRefusal {
        let last = self.letters.last().map(|last| last.character);
        match (last, cursor) {
            (_, here) if here.starts_with("((") => syntax("((", "arithmetic"),
            (Some(_), here) if here.starts_with("()") => syntax("()", "a function"),
            (Some(sign @ ('@' | '?' | '*' | '+' | '!')), here) if here.starts_with("(") => {
                syntax(format!("{sign}("), "an extended glob")
            }
            (Some('='), here) if here.starts_with("(") => syntax("=(", "an array"),
            (_, here) if here.starts_with("(") => syntax("(", "a subshell"),
            (_, _) => syntax(")", "a subshell"),
        }
    }
}

/// The cursor stands behind the dollar.
fn expansion(cursor: &Cursor<'_>) -> CommandRefusal {
    let name = cursor.sample(|character| character.is_ascii_alphanumeric() || character == '_');
    match cursor.peek() {
        Some('(') if cursor.starts_with("((") => syntax("$((", "arithmetic"),
        Some('(') => syntax("$(", "command substitution"),
        Some('{') => syntax("${", "a variable"),
        Some('[') => syntax("$[", "arithmetic"),
        Some('\'') => syntax("$'", "a string with escapes"),
        Some('"') => syntax("$\"", "a translated string"),
        Some(digit) if digit.is_ascii_digit() => syntax(format!("${digit}"), "a variable"),
        Some(sign @ ('?' | '!' | '#' | '@' | '*' | '-' | '$')) => syntax(format!("${sign}"), "a variable"),
        Some(_) if !name.is_empty() => syntax(format!("${name}"), "a variable"),
        Some(_) | None => syntax("$", "a dollar sign that is not quoted"),
    }
}

impl Braces {
    /// Bash takes a closing brace only if a separator stood at the same depth; every opening brace counts for itself.
    fn see(&mut self, character: char, following: Option<char>) -> Result<(), CommandRefusal> {
        for brace in &mut self.open {
            match character {
                '{' => brace.depth += 1,
                '}' if brace.depth > 0 => brace.depth -= 1,
                '}' if brace.has_separator => return Err(syntax("{", "brace expansion")),
                ',' if brace.depth == 0 => brace.has_separator = true,
                '.' if brace.depth == 0 && following == Some('.') => brace.has_separator = true,
                _ => {}
            }
        }
        if character == '{' {
            if self.open.len() >= MAX_BRACES {
                return Err(CommandRefusal::TooLong { what: "braces in one word", limit: MAX_BRACES });
            }
            self.open.push(Brace { depth: 0, has_separator: false });
        }
        Ok(())
    }
}
