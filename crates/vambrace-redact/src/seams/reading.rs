//! How else can the bytes at a place be read than as themselves? As an escape that stands for a character, or as
//! something that only breaks the text: a line wrap, a quotation mark between two halves, a character without width.
//!
//! It is generous, because a reading counts only if all the rest of a known value is read around it.

/// No escape and no break is longer, but for the indentation after a line break.
pub(crate) const LONGEST_INDENT: usize = 64;
/// Spaces, an operator and a quotation mark may stand between the text and the end of its line.
pub(crate) const LONGEST_LINE_END: usize = 8;
const LONGEST_BACKSLASHES: usize = 8;
pub(crate) const LONGEST_NAME: usize = 16;
const MOST: usize = 16;

/// What some bytes stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    bytes: [u8; 4],
    n_bytes: u8,
    pub(crate) kind: Kind,
    length: u16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It stands for a character, or for a byte of one.
    Escape,
    /// It stands for nothing.
    #[default]
    Break,
    /// It is the end of a line, and may stand for a space.
    LineBreak,
}

impl Reading {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.n_bytes)).unwrap_or_default()
    }

    /// How many bytes of the text are read so.
    pub(crate) fn length(&self) -> usize {
        usize::from(self.length)
    }
}

/// All readings of one place.
#[derive(Default)]
pub(crate) struct Readings {
    all: [Reading; MOST],
    n_readings: usize,
    /// More text may add to them.
    pub(crate) cut: bool,
}

/// Of each byte, what it can be. A table, because it is asked for every line.
const CLASSES: [u8; 256] = classes();
const SPECIAL: u8 = 1;
const ENDS_LINE: u8 = 2;
const QUOTE: u8 = 4;
const OPERATOR: u8 = 8;
const MARK: u8 = 16;

const fn classes() -> [u8; 256] {
    let mut all = [0u8; 256];
    let mut rest: &mut [u8] = &mut all;
    let mut byte = 0u8;
    while let Some((class, others)) = rest.split_first_mut() {
        *class = match byte {
            b'"' | b'\'' | b'`' => QUOTE | ENDS_LINE | SPECIAL,
            // Joins two texts or two lines in some language: a backslash in shells, a plus or dot in programs, `=` in mail,
            // a hyphen in print.
            b'+' | b'-' => OPERATOR | ENDS_LINE | SPECIAL | MARK,
            b'\\' | b'=' | b'.' | b'&' | b'^' | b'~' => OPERATOR | ENDS_LINE | SPECIAL,
            b' ' | b'\t' | b'\r' => ENDS_LINE | SPECIAL,
            b'%' | b'$' | b'[' | 0..0x20 | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xef => SPECIAL,
            // With what lines of comments, quotations and differences begin, or their numbers.
            b'>' | b'|' | b'#' | b'*' | b'/' | b':' | b';' => MARK,
            _ => 0,
        };
        rest = others;
        byte = byte.wrapping_add(1);
    }
    all
}

fn is(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

/// May anything but the byte itself be read at a place that begins with it?
pub(crate) fn is_special(byte: u8) -> bool {
    is(byte, SPECIAL)
}

/// Does the text begin with a byte that is surely only itself, and no part of a line's number?
pub(crate) fn is_plain(text: &[u8]) -> bool {
    match text {
        [b'.' | b'=' | b'~' | b'^', next, ..] => !is(*next, ENDS_LINE) && *next != b'\n',
        [b'[', next, ..] => !next.is_ascii_digit() && !matches!(next, b';' | b'm' | b'K'),
        [byte, ..] => !is(*byte, SPECIAL) && !byte.is_ascii_digit(),
        [] => false,
    }
}

/// May it stand before the text of a line?
pub(crate) fn is_mark(byte: u8) -> bool {
    is(byte, MARK)
}

/// May an escape begin with the byte, so that the value itself may?
pub(crate) fn begins_escape(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'&')
}

/// May the byte stand between the text and the end of its line?
pub(crate) fn ends_line(byte: u8) -> bool {
    is(byte, ENDS_LINE)
}

pub(crate) fn is_quote(byte: u8) -> bool {
    is(byte, QUOTE)
}

fn is_operator(byte: u8) -> bool {
    is(byte, OPERATOR)
}

impl Readings {
    pub(crate) fn of(hay: &[u8], place: usize) -> Readings {
        let mut readings = Readings::default();
        match hay.get(place).copied() {
            None => readings.cut = true,
            Some(byte) if !is_special(byte) => {}
            Some(b'%') => readings.percent(hay, place),
            Some(b'$') => match hay.get(place + 1) {
                Some(byte) if is_quote(*byte) => readings.push(&[], 2, Kind::Break),
                Some(_) => {}
                None => readings.cut = true,
            },
            Some(b'[') => readings.terminal(hay, place, place + 1),
            Some(b'\n') => readings.after_newline(hay, place, place + 1),
            Some(byte) if ends_line(byte) => {
                match byte {
                    b'\\' => readings.backslash(hay, place),
                    b'&' => readings.entity(hay, place),
                    byte if is_quote(byte) => readings.quote(hay, place),
                    _ => {}
                }
                readings.line_end(hay, place);
            }
            Some(byte) if byte < 0x20 || byte == 0x7f => {
                readings.push(&[], 1, Kind::Break);
                if byte == 0x1b {
                    readings.terminal(hay, place, place + 2);
                }
            }
            Some(_) => readings.character(hay, place),
        }
        readings
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Reading> {
        self.all.get(..self.n_readings).unwrap_or_default().iter()
    }

    fn push(&mut self, bytes: &[u8], length: usize, kind: Kind) {
        if let Some(reading) = self.all.get_mut(self.n_readings) {
            let Ok(length) = u16::try_from(length) else { return };
            *reading = Reading { bytes: [0; 4], n_bytes: 0, kind, length };
            for (to, from) in reading.bytes.iter_mut().zip(bytes) {
                *to = *from;
                reading.n_bytes += 1;
            }
            self.n_readings += 1;
        }
    }

    fn byte(&mut self, byte: u8, hay: &[u8], place: usize, end: usize) {
        self.push(&[byte], end - place, Kind::Escape);
        match byte {
            b'\n' | b'\r' => self.after_newline(hay, place, end),
            0..0x20 | 0x7f => self.push(&[], end - place, Kind::Break),
            _ => {}
        }
    }

    fn code_point(&mut self, number: u32, hay: &[u8], place: usize, end: usize) {
        match (u8::try_from(number), char::from_u32(number)) {
            (Ok(byte), _) if byte < 0x80 => self.byte(byte, hay, place, end),
            (_, Some(c)) => {
                self.push(c.encode_utf8(&mut [0; 4]).as_bytes(), end - place, Kind::Escape);
                self.unseen(c, hay, place, end);
            }
            (_, None) => {}
        }
    }

    /// A character that shows nothing, or a space.
    fn unseen(&mut self, c: char, hay: &[u8], place: usize, end: usize) {
        match c {
            '\u{a0}' => self.push(b" ", end - place, Kind::Escape),
            '\u{2028}' | '\u{2029}' | '\u{85}' => self.after_newline(hay, place, end),
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' => self.push(&[], end - place, Kind::Break),
            _ => {}
        }
    }

    /// A character of several bytes.
    fn character(&mut self, hay: &[u8], place: usize) {
        let rest = hay.get(place..hay.len().min(place + 3)).unwrap_or_default();
        let n_bytes = if rest.first().is_some_and(|byte| *byte >= 0xe0) { 3 } else { 2 };
        let Some(bytes) = rest.get(..n_bytes) else {
            self.cut = true;
            return;
        };
        if let Some(c) = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next()) {
            self.unseen(c, hay, place, place + n_bytes);
        }
    }

    /// `%2B`, `%252B`, `%25252B`, `%u002B`
    fn percent(&mut self, hay: &[u8], place: usize) {
        let mut at = place + 1;
        if hay.get(at) == Some(&b'u') {
            if let Some(number) = self.number(hay, at + 1, 4) {
                self.code_point(number, hay, place, at + 5);
            }
            return;
        }
        for _ in 0..3 {
            let Some(byte) = self.number(hay, at, 2).and_then(|number| u8::try_from(number).ok()) else {
                return;
            };
            at += 2;
            self.byte(byte, hay, place, at);
            if byte != b'%' {
                return;
            }
        }
    }

    /// Exactly so many hexadecimal digits.
    fn number(&mut self, hay: &[u8], at: usize, n_digits: usize) -> Option<u32> {
        let digits = hay.get(at.min(hay.len())..hay.len().min(at + n_digits))?;
        let mut number = 0;
        for digit in digits {
            number = number << 4 | char::from(*digit).to_digit(16)?;
        }
        if digits.len() < n_digits {
            self.cut = true;
            return None;
        }
        Some(number)
    }

    /// What shells, C and its children write with backslashes. A text that was escaped twice has several.
    fn backslash(&mut self, hay: &[u8], place: usize) {
        let rest = hay.get(place..hay.len().min(place + LONGEST_BACKSLASHES)).unwrap_or_default();
        let n_slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        for length in [2, 4, 8].into_iter().filter(|length| *length <= n_slashes) {
            self.push(b"\\", length, Kind::Escape);
        }
        let at = place + n_slashes;
        let Some(letter) = hay.get(at).copied() else {
            self.cut = true;
            return;
        };
        let end = at + 1;
        match letter {
            b'\n' | b'\r' => {}
            0..0x80 => self.push(&[letter], end - place, Kind::Escape),
            _ => self.push(&[], at - place, Kind::Break),
        }
        // Longer readings come later.
        match letter {
            b'n' => self.byte(b'\n', hay, place, end),
            b'r' => self.byte(b'\r', hay, place, end),
            b't' => self.byte(b'\t', hay, place, end),
            b'a' | b'b' | b'e' | b'f' | b'v' => self.push(&[], end - place, Kind::Break),
            b'x' => {
                if let Some(number) = self.number(hay, end, 2) {
                    self.byte(u8::try_from(number).unwrap_or(0), hay, place, end + 2);
                    // In some languages it is a byte, in others a character.
                    if number >= 0x80 {
                        self.code_point(number, hay, place, end + 2);
                    }
                }
            }
            b'u' => self.unicode(hay, place, end),
            b'U' => {
                if let Some(number) = self.number(hay, end, 8) {
                    self.code_point(number, hay, place, end + 8);
                }
            }
            b'0'..=b'7' => self.octal(hay, place, at),
            _ => {}
        }
    }

    /// `\u002b`, `\u{2b}`, `\ud83d\ude00`
    fn unicode(&mut self, hay: &[u8], place: usize, at: usize) {
        if hay.get(at) == Some(&b'{') {
            let rest = hay.get(at + 1..hay.len().min(at + 9)).unwrap_or_default();
            let n_digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            match rest.get(n_digits) {
                Some(b'}') => {
                    if let Some(number) = self.number(hay, at + 1, n_digits) {
                        self.code_point(number, hay, place, at + 2 + n_digits);
                    }
                }
                Some(_) => {}
                None => self.cut |= rest.len() < 8,
            }
            return;
        }
        let Some(high) = self.number(hay, at, 4) else {
            self.cut |= at >= hay.len();
            return;
        };
        if !(0xd800..0xdc00).contains(&high) {
            self.code_point(high, hay, place, at + 4);
            return;
        }
        let rest = hay.get(at + 4..hay.len().min(at + 4 + LONGEST_BACKSLASHES)).unwrap_or_default();
        let n_slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        match rest.get(n_slashes) {
            Some(b'u') if n_slashes > 0 => {
                let end = at + 4 + n_slashes + 1;
                if let Some(low) = self.number(hay, end, 4).filter(|low| (0xdc00..0xe000).contains(low)) {
                    let number = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    self.code_point(number, hay, place, end + 4);
                }
            }
            Some(_) => {}
            None => self.cut = true,
        }
    }

    /// `\53`, `\053`
    fn octal(&mut self, hay: &[u8], place: usize, at: usize) {
        let rest = hay.get(at..hay.len().min(at + 3)).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'7'));
        let (mut number, mut n_digits) = (0u32, 0);
        for digit in digits {
            number = number << 3 | u32::from(digit & 7);
            n_digits += 1;
        }
        self.cut |= n_digits == rest.len() && n_digits < 3;
        if let Ok(byte) = u8::try_from(number) {
            self.byte(byte, hay, place, at + n_digits);
        }
    }

    /// `&amp;`, `&#43;`, `&#x2b;`, `&amp;lt;`
    fn entity(&mut self, hay: &[u8], place: usize) {
        let mut at = place + 1;
        for _ in 0..3 {
            let rest = hay.get(at..hay.len().min(at + LONGEST_NAME)).unwrap_or_default();
            let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'#';
            let n_letters = rest.iter().take_while(in_name).count();
            if rest.get(n_letters) != Some(&b';') {
                self.cut |= n_letters == rest.len() && n_letters < LONGEST_NAME;
                return;
            }
            let number = rest.get(..n_letters).and_then(entity_number);
            at += n_letters + 1;
            let Some(number) = number else { return };
            self.code_point(number, hay, place, at);
            if number != u32::from(b'&') {
                return;
            }
        }
    }

    /// A quotation mark that ends one part of a text and maybe another that begins the next: `'it'"'"'s'`, `"a" + "b"`.
    fn quote(&mut self, hay: &[u8], place: usize) {
        self.push(&[], 1, Kind::Break);
        let mut at = place + 1;
        let blank = |at: usize| matches!(hay.get(at), Some(b' ' | b'\t'));
        for _ in 0..2 {
            at += usize::from(blank(at));
        }
        let Some(operator) = hay.get(at) else {
            self.cut = true;
            return;
        };
        if at > place + 1 || is_operator(*operator) {
            at += usize::from(is_operator(*operator));
            for _ in 0..2 {
                at += usize::from(blank(at));
            }
            match hay.get(at) {
                Some(byte) if is_quote(*byte) => self.push(&[], at + 1 - place, Kind::Break),
                Some(_) => {}
                None => self.cut = true,
            }
        }
    }

    /// `ESC [ 01;31 m` and what is left of it without the ESC.
    fn terminal(&mut self, hay: &[u8], place: usize, at: usize) {
        let rest = hay.get(at.min(hay.len())..hay.len().min(at + LONGEST_NAME)).unwrap_or_default();
        let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        match rest.get(n_digits) {
            Some(b'm' | b'K') => self.push(&[], at + n_digits + 1 - place, Kind::Break),
            Some(_) => {}
            None => self.cut |= rest.len() < LONGEST_NAME,
        }
    }

    /// The rest of a line that holds nothing of the text.
    fn line_end(&mut self, hay: &[u8], place: usize) {
        let rest = hay.get(place..hay.len().min(place + LONGEST_LINE_END)).unwrap_or_default();
        let n_before = rest.iter().take_while(|byte| ends_line(**byte)).count();
        match rest.get(n_before) {
            Some(b'\n') => self.after_newline(hay, place, place + n_before + 1),
            Some(_) => {}
            None => self.cut |= rest.len() < LONGEST_LINE_END,
        }
    }

    /// After the end of a line: indentation, then the mark of a comment, a quotation or a difference, or the line's number.
    fn after_newline(&mut self, hay: &[u8], place: usize, at: usize) {
        let blanks = |at: usize| {
            let rest = hay.get(at..hay.len().min(at + LONGEST_INDENT)).unwrap_or_default();
            at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
        };
        self.push(&[], at - place, Kind::LineBreak);
        let text = blanks(at);
        if text > at {
            // The last blanks may belong to the text.
            for n_ours in [2, 1, 0].into_iter().filter(|n_ours| text - n_ours > at) {
                self.push(&[], text - n_ours - place, Kind::LineBreak);
            }
        }
        let rest = hay.get(text..hay.len().min(text + LONGEST_NAME)).unwrap_or_default();
        let n_marks = rest.iter().take(3).take_while(|byte| is_mark(**byte)).count();
        let n_digits = rest.iter().take(7).take_while(|byte| byte.is_ascii_digit()).count();
        let n_skipped = match rest.get(n_digits) {
            Some(b'\t' | b':' | b'-' | b'|') if n_digits > 0 => n_digits + 1,
            _ => n_marks,
        };
        if n_skipped > 0 {
            if n_skipped > 1 && n_skipped == n_marks {
                self.push(&[], text + 1 - place, Kind::LineBreak);
            }
            self.push(&[], text + n_skipped - place, Kind::LineBreak);
            let after = blanks(text + n_skipped);
            if after > text + n_skipped {
                self.push(&[], text + n_skipped + 1 - place, Kind::LineBreak);
                self.push(&[], after - place, Kind::LineBreak);
            }
            self.cut |= after == hay.len();
        }
        self.cut |= n_digits.max(n_marks) == rest.len() && rest.len() < LONGEST_NAME;
    }
}

/// The character that an entity's name or number stands for.
fn entity_number(name: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(name).ok()?;
    if let Some(digits) = text.strip_prefix('#') {
        let hexadecimal = digits.strip_prefix(['x', 'X']);
        return hexadecimal.map_or_else(|| digits.parse(), |digits| u32::from_str_radix(digits, 16)).ok();
    }
    let c = match text {
        "amp" | "AMP" => '&',
        "lt" | "LT" => '<',
        "gt" | "GT" => '>',
        "quot" | "QUOT" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "shy" => '\u{ad}',
        "sol" => '/',
        "bsol" => '\\',
        "plus" => '+',
        "equals" => '=',
        "num" => '#',
        "dollar" => '$',
        "percnt" => '%',
        "excl" => '!',
        "quest" => '?',
        "commat" => '@',
        "ast" => '*',
        "colon" => ':',
        "semi" => ';',
        "comma" => ',',
        "period" => '.',
        "lowbar" => '_',
        "grave" => '`',
        "Hat" => '^',
        "vert" => '|',
        "lpar" => '(',
        "rpar" => ')',
        "lbrack" | "lsqb" => '[',
        "rbrack" | "rsqb" => ']',
        "lbrace" | "lcub" => '{',
        "rbrace" | "rcub" => '}',
        "Tab" => '\t',
        "NewLine" => '\n',
        _ => return None,
    };
    Some(u32::from(c))
}
