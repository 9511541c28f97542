//! Reads jq's program text far enough to know that it sees neither the environment nor other files.

use std::iter::Peekable;
use std::str::Chars;

/// `ENV` too where no dollar stands right before it: there may be blanks or a comment between the two.
const REFUSED: [&str; 7] =
    ["env", "import", "include", "modulemeta", "get_search_list", "ENV", "__prog_args"];

pub(crate) fn scan(text: &str) -> Result<(), String> {
    let rest = text.chars().peekable();
    let mut jq = Jq { rest, last: ' ', before_last: ' ', solid: ' ', strings: Vec::new(), open: Vec::new() };
    while let Some(character) = jq.rest.next() {
        jq.token(character)?;
    }
    Ok(())
}

struct Jq<'t> {
    rest: Peekable<Chars<'t>>,
    last: char,
    before_last: char,
    /// The last one that is no space.
    solid: char,
    /// For each text we are inside of by `\(`: how many brackets were open there.
    strings: Vec<usize>,
    /// The brackets that are open, the innermost last.
    open: Vec<char>,
}

impl Jq<'_> {
    fn token(&mut self, character: char) -> Result<(), String> {
        match character {
            '"' => return self.string(),
            '#' => self.comment()?,
            '(' | '[' | '{' => self.open.push(character),
            ')' | ']' | '}' => {
                self.close(character)?;
                if character == ')' && self.strings.last() == Some(&self.open.len()) {
                    self.strings.pop();
                    return self.string();
                }
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => return self.name(letter),
            _ => {}
        }
        self.shift(character);
        Ok(())
    }

    fn close(&mut self, character: char) -> Result<(), String> {
        let opened = match character {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        if self.open.pop() == Some(opened) {
            return Ok(());
        }
        Err(format!("a `{character}` closes what was not opened"))
    }

    fn shift(&mut self, character: char) {
        self.before_last = self.last;
        self.last = character;
        if !character.is_whitespace() {
            self.solid = character;
        }
    }

    /// Up to the closing quote or to code inside of the text.
    fn string(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                '"' => {
                    self.shift('"');
                    return Ok(());
                }
                '\\' if self.rest.next_if_eq(&'(').is_some() => {
                    self.strings.push(self.open.len());
                    self.open.push('(');
                    self.shift('(');
                    return Ok(());
                }
                '\\' => {
                    self.rest.next();
                }
                _ => {}
            }
        }
        Err("a text is not closed".to_owned())
    }

    /// Versions disagree on a backslash at the end of a comment.
    fn comment(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next_if(|next| *next != '\n') {
            if matches!(character, '\\' | '\r') {
                return Err("a backslash stands in a comment, where versions disagree about it".to_owned());
            }
        }
        Ok(())
    }

    fn name(&mut self, first: char) -> Result<(), String> {
        let mut name = String::from(first);
        while let Some(next) = self.rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
            name.push(next);
        }
        let field = self.last == '.' && self.before_last != '.';
        let variable = self.last == '$';
        if variable && (name == "ENV" || name == "__prog_args") {
            return Err("`$ENV` shows the environment".to_owned());
        }
        if !field && !variable && REFUSED.contains(&name.as_str()) && !self.is_key() {
            return Err(format!("jq's `{name}` reaches beyond the text it is given"));
        }
        self.shift('a');
        Ok(())
    }

    /// `{env: …}`; in `[1, env:]` it would be where a slice begins.
    fn is_key(&mut self) -> bool {
        if self.open.last() != Some(&'{') || !matches!(self.solid, '{' | ',') {
            return false;
        }
        while self.rest.next_if(|next| *next == ' ').is_some() {}
        self.rest.peek() == Some(&':')
    }
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
            ".name",
            ".[] | select(.a > 1) | {env: .x}",
            ".env",
            ".services.app.env",
            "\"env\"",
            "\"a \\(.b) env\"",
            "$env",
            "to_entries[] | \"\\(.key)=\\(.value)\"",
            "[.[] | @sh]",
            "# env\n.",
            ". as $x | inputs",
            "length",
            "input",
            "reduce .[] as $i (0; . + $i)",
            "getpath([\"a\",\"b\"])",
            "{include: 1}",
            "{a: [1, 2], env: .x}",
            "[{env: 1}, {b: 2, env: 3}]",
            "\"\\({env: 1})\"",
            ". as {env: $x} | $x",
            "debug",
            ".a?.import",
            "environment",
            ".ENV",
            "{ENV: .a}",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn texts_that_see_more() {
        for text in [
            "env",
            "env.HOME",
            "$ENV",
            "$ENV.PATH",
            "\"\\(env.HOME)\"",
            "import \"a\" as a; .",
            "include \"a\"; .",
            ".. env",
            "..env",
            ". | env",
            "{a: env}",
            "\"x\\(\"y\\($ENV)\")\"",
            "modulemeta",
            "\"open",
            "# a \\\n\"\nenv",
            ")",
            "{env}| env",
            "def env: 1; env",
            ".[env:]",
            "[path(.[1,env:])]",
            "{a: .[1,env:]}",
            "{a: (1, env)}",
            "\"{\\(1, env)\"",
            "{a: \"\\(.[1,env:])\"}",
            "{)env: 1",
            "[}",
            "$ ENV.PATH",
            "$\nENV",
            "$#x\nENV",
        ] {
            check(text, false);
        }
    }
}
