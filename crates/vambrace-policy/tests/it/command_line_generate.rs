//! Command lines by chance: mixtures of pieces that a shell may take for grammar, and whole lines with known programs.

use std::fmt::Write as _;

/// A row of numbers that is the same whenever it begins the same, so that a failure can be seen again.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        println!("seed {seed}");
        Dice(seed)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % n
    }

    pub(crate) fn one_of<'list>(&mut self, list: &[&'list str]) -> &'list str {
        list[self.below(list.len())]
    }
}

/// Text and quotes.
const PLAIN: &[&str] = &[
    "a",
    "b",
    "x1",
    "-n",
    "--k=v",
    "2",
    "1",
    "0",
    "12",
    ".",
    "..",
    ",",
    "=",
    ":",
    "a=b",
    "+=",
    "%",
    "%1",
    "^",
    "@",
    "+",
    "-",
    "!",
    "é",
    "漢",
    "\u{a0}",
    "\u{2028}",
    "]",
    "[",
    "[[",
    "]]",
    "[a]",
    "[!a]",
    "[]",
    "*",
    "?",
    "'",
    "\"",
    "''",
    "\"\"",
    "'a b'",
    "\"a b\"",
    "'\"'",
    "\"'\"",
    "\\",
    "\\\\",
    "\\'",
    "\\\"",
    "\\ ",
    "\\$",
    "\\;",
    "\\|",
    "\\*",
    "\"\\",
    "\\a",
    "#",
    "\\#",
    "{",
    "}",
    "{}",
    "{a}",
    "@{u}",
    "{a,b}",
    "{1..3}",
    "\\{",
    "'{'",
    "~",
    "a~",
    "=~",
    "\\~",
    "if",
    "in",
    "do",
    "time",
    "then",
    "esac",
    "function",
    "coproc",
    "select",
    "{fd}",
    "[:alpha:]",
    "[[:digit:]]",
    "''if",
];

/// Signs, and what refuses a line.
const SIGNS: &[&str] = &[
    "|",
    "||",
    "&&",
    ";",
    "|",
    ";",
    ">",
    ">>",
    "2>",
    "1>",
    "&>",
    "&>>",
    "2>&1",
    ">&2",
    "1>&2",
    ">& 1",
    "0<",
    "</dev/null",
    ">/dev/null",
    "<in",
    ">o ",
    "2>o2",
    ";;",
    "|&",
    "&",
    "(",
    ")",
    "()",
    "<<",
    "<>",
    ">|",
    "$",
    "$x",
    "$(",
    "${",
    "`",
    "$'",
    "\"$\"",
    "a$",
    "3>",
    "#c",
    "\t",
];

/// Pieces beside each other, mostly without sense.
pub(crate) fn soup(dice: &mut Dice) -> String {
    let mut line = dice.one_of(&["p ", "q ", "f ", "p", "", "[ "]).to_owned();
    for _ in 0..1 + dice.below(9) {
        let list = if dice.below(4) == 0 { SIGNS } else { PLAIN };
        line.push_str(dice.one_of(list));
        if dice.below(3) == 0 {
            line.push(' ');
        }
    }
    line
}

fn word(dice: &mut Dice) -> String {
    let mut word = String::new();
    for _ in 0..1 + dice.below(3) {
        word.push_str(match dice.below(4) {
            0 => dice.one_of(&["'a b'", "'$x'", "'\"`'", "''", "'*'", "'|;&<>()'", "'\\'", "'#'", "'{a,b}'"]),
            1 => dice.one_of(&[
                "\"a b\"",
                "\"\\$x\"",
                "\"'\"",
                "\"\"",
                "\"\\\"\"",
                "\"\\q\\\\\"",
                "\"~ # !\"",
                "\"$\"",
            ]),
            2 => dice.one_of(&[
                "\\ ", "\\$", "\\'", "\\\"", "\\\\", "\\;", "\\|", "\\(", "\\n", "\\é", "\\#", "\\*", "\\[",
            ]),
            _ => dice.one_of(&[
                "a", "-x", "--y=z", "2", "é", "a.b", "@{0}", "!", "^c", "%d", "a,b", "]", "a:b", "*.c", "x?",
            ]),
        });
    }
    word
}

/// A file that exists, and one whose name nobody else has.
fn redirect(dice: &mut Dice, n_files: &mut usize) -> String {
    let sign = dice.one_of(&[
        ">",
        ">>",
        "1>",
        "1>>",
        "2>",
        "2>>",
        "&>",
        "&>>",
        "<",
        "0<",
        "2>&1",
        ">&2",
        "1>&2",
        ">& 2",
        "2>& 1",
        ">/dev/null",
        "2>/dev/null",
        "&>/dev/null",
        "</dev/null",
    ]);
    if sign.ends_with(['1', '2', 'l']) {
        return sign.to_owned();
    }
    let blank = dice.one_of(&["", " ", "\t"]);
    if sign.ends_with('<') {
        return format!("{sign}{blank}in");
    }
    *n_files += 1;
    let (open, close) = [("", ""), ("'", "'"), ("\"", "\"")][dice.below(3)];
    format!("{sign}{blank}{open}out{n_files}{close}")
}

/// A line that can be run: programs beginning with `f` fail. Every file that is written has its own number.
pub(crate) fn sensible(dice: &mut Dice, n_files: &mut usize) -> String {
    let mut line = String::new();
    for place in 0..1 + dice.below(4) {
        if place > 0 {
            line.push_str(dice.one_of(&["|", " | ", "&&", " && ", "||", " || ", ";", " ; ", "; "]));
        }
        if dice.below(8) == 0 {
            write!(line, "{} ", redirect(dice, n_files)).unwrap();
        }
        line.push_str(dice.one_of(&["p", "q", "f", "'p'q", "\\f", "[", "\"p q\"", "p2", "!p", "a{}"]));
        for _ in 0..dice.below(5) {
            let blank = dice.one_of(&[" ", "  ", "\t"]);
            let next = if dice.below(3) == 0 { redirect(dice, n_files) } else { word(dice) };
            write!(line, "{blank}{next}").unwrap();
        }
    }
    line.push_str(dice.one_of(&["", "", "", ";", " # c | d", " ", "\n", ";#"]));
    line
}

/// A word of signs that globs are made of.
pub(crate) fn glob(dice: &mut Dice) -> String {
    let mut word = String::new();
    for _ in 0..1 + dice.below(4) {
        word.push_str(dice.one_of(&[
            "[",
            "[",
            "]",
            "]",
            "!",
            "^",
            "-",
            "a",
            "b",
            "c",
            "*",
            "?",
            "d/",
            "/",
            "[[:alpha:]",
            "'['",
            "\\]",
            "'a'",
            "[a",
            "b]",
            "[!",
            "[]",
        ]));
    }
    word.trim_matches('/').to_owned() + "a".repeat(usize::from(word.trim_matches('/').is_empty())).as_str()
}
