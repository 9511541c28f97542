//! JSON and JSON5, read by a small parser of our own, because the usual ones forget where a value stood.
//!
//! Strict JSON is the same grammar with JSON5's freedoms refused.

use crate::node::{Entry, Node, Place, Value};
use crate::problem::{ConfigError, Problem};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Json,
    Json5,
}

pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Node, ConfigError> {
    let mut reader = Reader { rest: text.chars(), at: Place::START, dialect, depth: 0 };
    reader.skip_blank()?;
    let root = reader.value()?;
    reader.skip_blank()?;
    match reader.peek() {
        None => Ok(root),
        Some(_) => Err(reader.wrong("nothing more is expected here")),
    }
}

struct Reader<'t> {
    rest: std::str::Chars<'t>,
    at: Place,
    dialect: Dialect,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.at = match next {
            '\n' => Place { line: self.at.line.saturating_add(1), column: 1 },
            _ => Place { line: self.at.line, column: self.at.column.saturating_add(1) },
        };
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn wrong(&self, what: &str) -> ConfigError {
        let name = match self.dialect {
            Dialect::Json => "JSON",
            Dialect::Json5 => "JSON5",
        };
        let end = if self.peek().is_none() { " (the text ends)" } else { "" };
        ConfigError::new("", Problem::Syntax(format!("this is not valid {name} here: {what}{end}")))
            .at(self.at)
    }

    fn only_json5(&self, what: &str) -> Result<(), ConfigError> {
        match self.dialect {
            Dialect::Json5 => Ok(()),
            Dialect::Json => Err(self.wrong(what).hint("JSON5 allows it: name the file .json5")),
        }
    }

    fn skip_blank(&mut self) -> Result<(), ConfigError> {
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | '\r' => {
                    self.next();
                }
                '/' => {
                    self.only_json5("there are no comments")?;
                    self.comment()?;
                }
                _ if self.dialect == Dialect::Json5 && (next.is_whitespace() || next == '\u{feff}') => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), ConfigError> {
        self.next();
        match self.next() {
            Some('/') => {
                while self.peek().is_some_and(|next| !matches!(next, '\n' | '\r' | '\u{2028}' | '\u{2029}')) {
                    self.next();
                }
                Ok(())
            }
            Some('*') => {
                while let Some(next) = self.next() {
                    if next == '*' && self.eat('/') {
                        return Ok(());
                    }
                }
                Err(self.wrong("the comment has no end"))
            }
            Some(_) | None => Err(self.wrong("a comment begins with // or /*")),
        }
    }

    fn value(&mut self) -> Result<Node, ConfigError> {
        let at = self.at;
        let value = match self.peek() {
            Some('{') => self.nested(Reader::map)?,
            Some('[') => self.nested(Reader::list)?,
            Some('"' | '\'') => Value::Text(self.text()?),
            Some(first) if first.is_ascii_digit() || matches!(first, '-' | '+' | '.') => self.number()?,
            Some(first) if first.is_ascii_alphabetic() => self.word()?,
            Some(_) | None => return Err(self.wrong("a value is expected")),
        };
        Ok(Node::new(value, at))
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Value, ConfigError>) -> Result<Value, ConfigError> {
        // THREAT: P09, the parser's own stack.
        if self.depth >= super::DEPTH_LIMIT {
            return Err(ConfigError::new("", Problem::TooDeep { limit: super::DEPTH_LIMIT }).at(self.at));
        }
        self.depth += 1;
        self.next();
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn map(&mut self) -> Result<Value, ConfigError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        loop {
            self.skip_blank()?;
            let at = self.at;
            if self.peek() == Some('}') {
                if !entries.is_empty() {
                    self.only_json5("there is a comma before the closing brace")?;
                }
                self.next();
                return Ok(Value::Map(entries));
            }
            let key = self.key()?;
            if !seen.insert(key.clone()) {
                return Err(ConfigError::new("", Problem::DuplicateKey).at(at));
            }
            self.skip_blank()?;
            if !self.eat(':') {
                return Err(self.wrong("a colon is expected after the key"));
            }
            self.skip_blank()?;
            let node = self.value()?;
            entries.push(Entry { key, at, node });
            self.skip_blank()?;
            if self.eat('}') {
                return Ok(Value::Map(entries));
            }
            if !self.eat(',') {
                return Err(self.wrong("a comma or a closing brace is expected before this"));
            }
        }
    }

    fn list(&mut self) -> Result<Value, ConfigError> {
        let mut items = Vec::new();
        loop {
            self.skip_blank()?;
            if self.peek() == Some(']') {
                if !items.is_empty() {
                    self.only_json5("there is a comma before the closing bracket")?;
                }
                self.next();
                return Ok(Value::List(items));
            }
            items.push(self.value()?);
            self.skip_blank()?;
            if self.eat(']') {
                return Ok(Value::List(items));
            }
            if !self.eat(',') {
                return Err(self.wrong("a comma or a closing bracket is expected before this"));
            }
        }
    }

    fn key(&mut self) -> Result<String, ConfigError> {
        match self.peek() {
            Some('"' | '\'') => self.text(),
            Some(first) if first.is_alphabetic() || matches!(first, '_' | '$') => {
                self.only_json5("a key stands in double quotes")?;
                let mut key = String::new();
                while let Some(next) = self.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
                    key.push(next);
                    self.next();
                }
                Ok(key)
            }
            Some(_) | None => Err(self.wrong("a key is expected")),
        }
    }

    fn text(&mut self) -> Result<String, ConfigError> {
        let Some(quote) = self.next() else { return Err(self.wrong("a text is expected")) };
        if quote == '\'' {
            self.only_json5("a text stands in double quotes")?;
        }
        let mut text = String::new();
        loop {
            match self.peek() {
                None | Some('\n' | '\r') => return Err(self.wrong("the text has no closing quote")),
                Some('\\') => {
                    self.next();
                    self.escape(&mut text)?;
                }
                Some(control) if control < ' ' && self.dialect == Dialect::Json => {
                    return Err(self.wrong("a control character stands in a text"));
                }
                Some(next) => {
                    self.next();
                    if next == quote {
                        return Ok(text);
                    }
                    text.push(next);
                }
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), ConfigError> {
        let Some(escaped) = self.next() else { return Err(self.wrong("the text has no closing quote")) };
        match escaped {
            '"' | '\\' | '/' => text.push(escaped),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => text.push(self.unicode()?),
            _ => {
                self.only_json5("there is no such escape")?;
                match escaped {
                    'v' => text.push('\u{b}'),
                    '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => text.push('\0'),
                    'x' => {
                        let code = self.hexadecimal(2)?;
                        text.push(
                            char::from_u32(code).ok_or_else(|| self.wrong("there is no such character"))?,
                        );
                    }
                    '\r' => {
                        self.eat('\n');
                    }
                    '\n' | '\u{2028}' | '\u{2029}' => {}
                    '0'..='9' => return Err(self.wrong("there is no such escape")),
                    other => text.push(other),
                }
            }
        }
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, ConfigError> {
        let first = self.hexadecimal(4)?;
        let code = match first {
            0xd800..=0xdbff if self.eat('\\') && self.eat('u') => match self.hexadecimal(4)? {
                second @ 0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                _ => first,
            },
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| self.wrong("half of a surrogate pair is missing"))
    }

    fn hexadecimal(&mut self, n_digits: usize) -> Result<u32, ConfigError> {
        (0..n_digits).try_fold(0, |code, _| match self.next().and_then(|digit| digit.to_digit(16)) {
            Some(digit) => Ok(code * 16 + digit),
            None => Err(self.wrong("a hexadecimal digit is missing")),
        })
    }

    fn number(&mut self) -> Result<Value, ConfigError> {
        let mut written = String::new();
        while let Some(next) =
            self.peek().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        {
            written.push(next);
            self.next();
        }
        if self.dialect == Dialect::Json && !is_json_number(&written) {
            return Err(self.wrong("this is not a number"));
        }
        number(&written).ok_or_else(|| self.wrong("this is not a number"))
    }

    fn word(&mut self) -> Result<Value, ConfigError> {
        let mut written = String::new();
        while let Some(next) = self.peek().filter(char::is_ascii_alphanumeric) {
            written.push(next);
            self.next();
        }
        match written.as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            "Infinity" | "NaN" => {
                self.only_json5("this is not a number")?;
                number(&written).ok_or_else(|| self.wrong("this is not a number"))
            }
            _ => Err(self.wrong("text stands in quotes")),
        }
    }
}

/// The value of a JSON5 number.
fn number(written: &str) -> Option<Value> {
    let (sign, digits) = match written.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, written.strip_prefix('+').unwrap_or(written)),
    };
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let plain = !hexadecimal.starts_with(['+', '-']);
        return plain
            .then(|| i128::from_str_radix(hexadecimal, 16).ok())
            .flatten()
            .map(|whole| Value::Int(sign * whole));
    }
    match digits {
        "Infinity" => return Some(Value::Float(f64::INFINITY * sign as f64)),
        "NaN" => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let well_formed = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && !(digits.len() > 1
            && digits.starts_with('0')
            && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit));
    if !well_formed {
        return None;
    }
    match digits.parse::<i128>() {
        Ok(whole) => Some(Value::Int(sign * whole)),
        Err(_) => digits.parse::<f64>().ok().map(|number| Value::Float(number * sign as f64)),
    }
}

fn is_json_number(written: &str) -> bool {
    let digits = written.strip_prefix('-').unwrap_or(written);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    all_digits(whole)
        && !(whole.len() > 1 && whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
