//! A place in the line. It only moves forward.

use std::str::Chars;

use super::count_steps;

pub(super) struct Cursor<'line> {
    rest: Chars<'line>,
    place: usize,
}

impl<'line> Cursor<'line> {
    pub(super) fn new(line: &'line str) -> Cursor<'line> {
        Cursor { rest: line.chars(), place: 0 }
    }

    /// In bytes from the beginning.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        count_steps(1);
        let character = self.rest.next()?;
        self.place += character.len_utf8();
        Some(character)
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.as_str().starts_with(text)
    }

    /// Steps over `text` if it stands here.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_here = self.starts_with(text);
        if is_here {
            for _ in text.chars() {
                self.next();
            }
        }
        is_here
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
        }
    }

    /// What stands here as long as `belongs`, without stepping over it. It is for messages, so it is short.
    pub(super) fn sample(&self, belongs: impl Fn(char) -> bool) -> String {
        self.rest.clone().take_while(|character| belongs(*character)).take(40).collect()
    }
}
