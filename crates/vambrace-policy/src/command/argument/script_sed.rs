//! Reads sed's program text far enough to know that it only prints: no `w`, `r`, `e`, nor the flags of `s` that write
//! or run. What is not understood is refused.

use std::iter::Peekable;
use std::str::Chars;

/// Commands without anything behind them.
const PLAIN: &str = "pP=dDnNgGhHxz";

pub(crate) fn scan(text: &str) -> Result<(), String> {
    let mut sed = Sed { rest: text.chars().peekable() };
    while sed.rest.peek().is_some() {
        sed.command()?;
    }
    Ok(())
}

struct Sed<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Sed<'_> {
    fn skip(&mut self, of: impl Fn(char) -> bool) {
        while self.rest.next_if(|character| of(*character)).is_some() {}
    }

    fn command(&mut self) -> Result<(), String> {
        self.skip(|character| character.is_ascii_whitespace() || character == ';');
        if self.address()? {
            self.skip(|character| character == ' ' || character == '\t');
            if self.rest.next_if_eq(&',').is_some() {
                self.skip(|character| character == ' ');
                self.rest.next_if(|character| matches!(character, '+' | '~'));
                if !self.address()? {
                    return Err("an address is missing behind `,`".to_owned());
                }
            }
        }
        self.skip(|character| matches!(character, ' ' | '\t' | '!'));
        let Some(command) = self.rest.next() else { return Ok(()) };
        match command {
            '{' => Ok(()),
            '}' => self.end(),
            '#' => {
                self.skip(|character| character != '\n');
                Ok(())
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.delimiter()?;
                self.part(delimiter, Part::Text)?;
                self.part(delimiter, Part::Text)?;
                self.end()
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(())
            }
            'b' | 't' | 'T' | ':' => {
                self.skip(|character| character == ' ');
                self.skip(|character| character.is_ascii_alphanumeric() || character == '_');
                // Some seds take it for a part of the label and read on behind the next `;`.
                if self.rest.peek() == Some(&'#') {
                    return Err("a comment stands right behind a label".to_owned());
                }
                self.end()
            }
            'q' | 'Q' | 'l' => {
                self.skip(|character| character == ' ');
                self.skip(|character| character.is_ascii_digit());
                self.end()
            }
            other if PLAIN.contains(other) => self.end(),
            other => Err(format!("the sed command `{other}` is not among those that only print")),
        }
    }

    /// A command ends here, or something is written that we would not understand.
    fn end(&mut self) -> Result<(), String> {
        self.skip(|character| character == ' ' || character == '\t');
        match self.rest.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(other) => Err(format!("`{other}` stands where a sed command should end")),
        }
    }

    fn address(&mut self) -> Result<bool, String> {
        match self.rest.peek() {
            Some('$') => {
                self.rest.next();
            }
            Some(digit) if digit.is_ascii_digit() => {
                self.skip(|character| character.is_ascii_digit() || character == '~');
            }
            Some('/') => {
                let delimiter = self.delimiter()?;
                self.part(delimiter, Part::Regex)?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            Some('\\') => {
                self.rest.next();
                let delimiter = self.delimiter()?;
                self.part(delimiter, Part::Regex)?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            Some(_) | None => return Ok(false),
        }
        Ok(true)
    }

    fn delimiter(&mut self) -> Result<char, String> {
        let good = |character: &char| character.is_ascii_graphic() && *character != '\\' && *character != '[';
        self.rest.next_if(good).ok_or_else(|| "this delimiter is not understood".to_owned())
    }

    fn substitute(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        self.part(delimiter, Part::Regex)?;
        self.part(delimiter, Part::Text)?;
        self.skip(|character| character.is_ascii_digit() || "gpiImM".contains(character));
        match self.rest.peek() {
            Some('w') => Err("the flag `w` of `s` writes a file".to_owned()),
            Some('e') => Err("the flag `e` of `s` runs a program".to_owned()),
            Some(_) | None => self.end(),
        }
    }

    /// Up to the delimiter. Between brackets it is a character; a program that saw it otherwise would find the brackets
    /// open and stop.
    fn part(&mut self, delimiter: char, part: Part) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => {
                    self.rest.next();
                }
                '\n' => return Err("a line ends within an expression".to_owned()),
                _ if character == delimiter => return Ok(()),
                '[' if part == Part::Regex => bracket(&mut self.rest)?,
                _ => {}
            }
        }
        Err(format!("`{delimiter}` is missing at the end"))
    }

    /// The text of `a`, `i` and `c`, up to a line's end that no backslash hides.
    fn text(&mut self) {
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => {
                    self.rest.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Regex,
    Text,
}

/// The inside of `[…]`, up to its end. The opening bracket was taken.
pub(super) fn bracket(rest: &mut Peekable<Chars<'_>>) -> Result<(), String> {
    rest.next_if_eq(&'^');
    let mut first = true;
    while let Some(character) = rest.next() {
        match character {
            ']' if !first => return Ok(()),
            '\n' => return Err("a line ends within brackets".to_owned()),
            // `\]` ends the brackets for one program and not for another.
            '\\' if rest.peek() == Some(&']') => {
                return Err(
                    "a backslash stands before the end of brackets, where programs disagree".to_owned()
                );
            }
            '[' => {
                if let Some(sign) = rest.next_if(|sign| matches!(sign, ':' | '.' | '=')) {
                    class(rest, sign)?;
                }
            }
            _ => {}
        }
        first = false;
    }
    Err("`]` is missing".to_owned())
}

/// `[:alpha:]` and its relatives, inside brackets.
fn class(rest: &mut Peekable<Chars<'_>>, sign: char) -> Result<(), String> {
    while let Some(character) = rest.next() {
        if character == sign && rest.next_if_eq(&']').is_some() {
            return Ok(());
        }
        if !(character.is_ascii_alphanumeric() || ".=-".contains(character)) {
            break;
        }
    }
    Err("this class of characters is not understood".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(scan(text).is_ok(), expected, "{text:?}: {:?}", scan(text));
    }

    #[test]
    fn texts_that_only_print() {
        for text in [
            "1,10p",
            "p",
            "$p",
            "/fn main/,/^}/p",
            "s/a/b/g",
            "s|/usr|/opt|",
            "s/[^/]*//",
            "10q",
            "$!N;P;D",
            "/x/d",
            "/a/{s/b/c/;p}",
            "1~2p",
            "/a/,+3p",
            "y/abc/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            "1i\\header",
            "$a text; w not",
            "\\,x,p",
            "s/[[:space:]]*$//",
            "# only\np",
            "",
            "/foo/I,/bar/Ip",
            "s/a/\\//2p",
            "1!G;h;$!d",
            "5,$ p",
            ":a # join\nN;ba",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn texts_that_write_read_or_run() {
        for text in [
            "w /tmp/x",
            "1w x",
            "r /etc/passwd",
            "R x",
            "W x",
            "e",
            "1e id",
            "s/a/b/w x",
            "s/a/b/gw x",
            "s/a/b/e",
            "s/x/y/ge",
            "F",
            "p;w x",
            "p w",
            "/a/{w x\n}",
            "s/[/]/x/w y",
            "a\\\ntext\nw x",
            "b a w",
            "s/a/b",
            "1,w",
            "L",
            "v",
            "s/a\nb/c/",
            "M",
            "y/a/b/w x",
            "s[a[b[",
            "{e",
            "$!{r x",
            "#\nw x",
            ":a w x",
            ":a#;w x",
            "ba#x;w x",
            "s/[\\]/]/e; s/x/y/",
            "&",
        ] {
            check(text, false);
        }
    }
}
