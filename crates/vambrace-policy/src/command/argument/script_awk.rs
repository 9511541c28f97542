//! Reads awk's program text far enough to know that it neither writes nor reads files of its own, nor runs anything.
//! What is not understood is refused; where awks disagree about `/`, so are we.

use std::iter::Peekable;
use std::str::Chars;

use super::script_sed::bracket;

/// Names that reach beyond the lines that are given.
const REFUSED: [&str; 14] = [
    "system",
    "getline",
    "close",
    "fflush",
    "ENVIRON",
    "PROCINFO",
    "ARGV",
    "ARGC",
    "ARGIND",
    "FUNCTAB",
    "SYMTAB",
    "include",
    "load",
    "extension",
];

/// What came before decides whether `/` divides or begins a regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value ended: `/` divides.
    Value,
    /// Something is still to come: `/` begins a regular expression, and a line's end means nothing.
    Open,
    /// A statement begins.
    Start,
    /// Either could be meant.
    Unclear,
}

struct Awk<'t> {
    rest: Peekable<Chars<'t>>,
    before: Before,
    /// Each open parenthesis, and whether it belongs to `if`, `while` or `for`.
    parens: Vec<bool>,
    keyword: bool,
    /// How many parentheses were open at the `print` we are in.
    print: Option<usize>,
}

pub(crate) fn scan(text: &str) -> Result<(), String> {
    let mut awk = Awk {
        rest: text.chars().peekable(),
        before: Before::Start,
        parens: Vec::new(),
        keyword: false,
        print: None,
    };
    while let Some(character) = awk.rest.next() {
        awk.token(character)?;
    }
    Ok(())
}

impl Awk<'_> {
    fn token(&mut self, character: char) -> Result<(), String> {
        match character {
            ' ' | '\t' => {}
            '\n' => self.line_end(),
            '\\' => {
                if self.rest.next() != Some('\n') {
                    return Err("a backslash stands outside of a text".to_owned());
                }
            }
            '#' => while self.rest.next_if(|next| *next != '\n').is_some() {},
            '"' => self.string()?,
            '/' => self.slash()?,
            ';' | '{' | '}' => {
                self.print = None;
                self.before = Before::Start;
            }
            '(' => {
                self.parens.push(self.keyword);
                self.keyword = false;
                self.before = Before::Open;
            }
            ')' => {
                let keyword = self.parens.pop().ok_or("a parenthesis is closed that was not opened")?;
                self.before = if keyword { Before::Start } else { Before::Value };
            }
            '|' => {
                if self.rest.next_if_eq(&'|').is_none() {
                    return Err("`|` would start a program".to_owned());
                }
                self.before = Before::Open;
            }
            '>' => self.greater()?,
            '+' | '-' => {
                let twice = self.rest.next_if_eq(&character).is_some();
                self.before = if twice { Before::Unclear } else { Before::Open };
            }
            ']' => self.before = Before::Value,
            '$' | ',' | '[' | '=' | '<' | '!' | '~' | '*' | '%' | '^' | '?' | ':' | '&' => {
                self.before = Before::Open
            }
            digit if digit.is_ascii_digit() || digit == '.' => self.number()?,
            letter if letter.is_ascii_alphabetic() || letter == '_' => self.name(letter)?,
            other => return Err(format!("`{other}` is not understood outside of a text")),
        }
        Ok(())
    }

    fn line_end(&mut self) {
        match self.before {
            Before::Value | Before::Start | Before::Unclear if self.parens.is_empty() => {
                self.print = None;
                self.before = Before::Start;
            }
            Before::Value | Before::Open | Before::Start | Before::Unclear => {}
        }
    }

    fn string(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                '"' => {
                    self.before = Before::Value;
                    return Ok(());
                }
                '\\' => {
                    self.rest.next();
                }
                '\n' => break,
                _ => {}
            }
        }
        Err("a text is not closed".to_owned())
    }

    fn slash(&mut self) -> Result<(), String> {
        match self.before {
            Before::Value => {
                self.before = Before::Open;
                return Ok(());
            }
            Before::Unclear => return Err("`/` could divide or begin an expression here".to_owned()),
            Before::Open | Before::Start => {}
        }
        while let Some(character) = self.rest.next() {
            match character {
                '/' => {
                    self.before = Before::Value;
                    return Ok(());
                }
                '\\' => {
                    self.rest.next();
                }
                '\n' => break,
                '[' => bracket(&mut self.rest)?,
                _ => {}
            }
        }
        Err("a regular expression is not closed".to_owned())
    }

    /// In `print` and outside of its parentheses `>` writes a file; elsewhere it compares.
    fn greater(&mut self) -> Result<(), String> {
        let twice = self.rest.next_if_eq(&'>').is_some();
        if twice || self.print.is_some_and(|depth| self.parens.len() <= depth) {
            return Err("`>` behind `print` would write a file".to_owned());
        }
        self.before = Before::Open;
        Ok(())
    }

    /// Letters right behind a number are a name of their own to some awks (`1system(…)`), so only an exponent may stand
    /// there.
    fn number(&mut self) -> Result<(), String> {
        while self.rest.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
        if self.rest.next_if(|next| matches!(next, 'e' | 'E')).is_some() {
            self.rest.next_if(|next| matches!(next, '+' | '-'));
            self.rest.next_if(char::is_ascii_digit).ok_or("this number is not understood")?;
            while self.rest.next_if(char::is_ascii_digit).is_some() {}
        }
        if self.rest.peek().is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '.')) {
            return Err("letters stand right behind a number".to_owned());
        }
        self.before = Before::Value;
        Ok(())
    }

    fn name(&mut self, first: char) -> Result<(), String> {
        let mut name = String::from(first);
        while let Some(next) = self.rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
            name.push(next);
        }
        if REFUSED.contains(&name.as_str()) {
            return Err(format!("awk's `{name}` reaches beyond the lines it is given"));
        }
        self.keyword = false;
        self.before = match name.as_str() {
            "print" | "printf" => {
                self.print = Some(self.parens.len());
                Before::Open
            }
            "if" | "while" | "for" => {
                self.keyword = true;
                Before::Open
            }
            "in" | "else" | "do" | "return" | "exit" | "delete" => Before::Open,
            "BEGIN" | "END" | "next" | "break" | "continue" => Before::Start,
            // `length` may stand without parentheses, and what follows is its argument or is not.
            // THREAT: P06, `case/system("id")/1`: one awk's word of grammar is a variable to the others, which divide by
            // what we took for an expression.
            "length" | "case" => Before::Unclear,
            // `switch (x)`, `BEGINFILE` and `nextfile` too: where they are grammar, no `/` can follow.
            _ => Before::Value,
        };
        Ok(())
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
    fn texts_that_only_print() {
        for text in [
            "{print $1}",
            "$1 > 3",
            "$3 > 5 {print $1, $2}",
            "/a|b/ {print}",
            "BEGIN{FS=\",\"} {s+=$2} END{print s/NR}",
            "NR==1 || /x/",
            "{print ($1 > 3)}",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
            "length($0) > 80",
            "{printf \"%s|%s\\n\", $1, $2}",
            "!seen[$0]++",
            "NR>=10 && NR<=20",
            "$1 > 1.5e-3 || $2 < .5",
            "{if ($1 > 2) print}",
            "{print $1\n}\n$2 > 1",
            "{ print \"system(1)\" }",
            "{gsub(/[0-9]+/, \"\"); print}",
            "{print $NF}",
            "{sum += $1; n++} END {print sum / n}",
            "# system\n{print}",
            "{print length}",
            "{x = $1 \" | \" $2; print x}",
            "{ if (length($0) > max) max = length($0) } END { print max }",
            "BEGINFILE { n = 0 } ENDFILE { print FILENAME, n } { n++ }",
            "{ switch ($1) { case \"a\": print 1; break; default: print 2 } }",
            "FNR > 5 { nextfile } 1",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn texts_that_write_read_or_run() {
        for text in [
            "BEGIN{system(\"id\")}",
            "{print | \"sh\"}",
            "{print > \"x\"}",
            "{print >> \"x\"}",
            "BEGIN{while((getline l < \"f\")>0)print l}",
            "BEGIN{\"id\" | getline}",
            "{print ENVIRON[\"HOME\"]}",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "BEGIN{ARGV[1]=\"/etc/passwd\"}",
            "{print $1,\n$2 > \"f\"}",
            "{printf(\"%s\", $1) > \"f\"}",
            "{print (1)(2) > \"f\"}",
            "{print a |& \"x\"}",
            "{x=a++ /1; system(1)/}",
            "{print /[/]/ > \"f\"}",
            "{print \"a",
            "{f=\"sys\" ; @f()}",
            "{print length /x/ }",
            "{print `id`}",
            "{print a \\\n > \"f\"}",
            "{print PROCINFO[\"pid\"]}",
            "{close(\"x\")}",
            "{print a >= \"f\"}",
            "1system(\"id\")",
            "$1getline < \"f\"",
            "1e5system(\"id\")",
            "0x1system(1)",
            "BEGIN{x=case/system(\"id\")/1}",
            "BEGIN{x=case /system(\"id\")/ 1}",
            "BEGIN{x = switch (1)/system(\"id\")/1}",
            "BEGIN{x=BEGINFILE/system(\"id\")/1}",
            "BEGIN{x=ENDFILE/system(\"id\")/1}",
            "BEGIN{x=nextfile/system(\"id\")/1}",
            ")",
        ] {
            check(text, false);
        }
    }
}
