//! A pipeline of programs, from the parser to the sandbox: one type, whose parameters say what is known of it by then. It
//! holds nothing that a shell would still have to interpret.
//!
//! ```text
//! CommandPlan                          the parser: words with globs, `cd` a word like any other
//! CommandPlan<Command>                 settled: every text is final
//! CommandPlan<Command<ProgramFile>>    looked up: each program with the file that is started
//! ```

use std::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};

/// Steps in their order; never empty.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct CommandPlan<C = Simple> {
    pub steps: Vec<Step<C>>,
}

/// How a step depends on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Join {
    First,
    /// `;`
    Then,
    /// `&&`
    IfOk,
    /// `||`
    IfFailed,
}

/// Commands connected by pipes; never empty.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Step<C = Simple> {
    pub join: Join,
    pub pipeline: Vec<C>,
}

/// One program with its arguments. The first word is the program; there is always one.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Simple<W = Word, F = ()> {
    /// The program's file, once it was looked up.
    pub file: F,
    pub words: Vec<W>,
    /// In the order they were written, which is the order they take effect in.
    pub redirects: Vec<Redirect<W>>,
}

/// A command whose texts are final.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Command<F = ()> {
    /// `cd`: the folder is written as the agent wrote it and counts from where the job is.
    Enter(String),
    /// The program is a name, looked up in the trusted folders; or a path that policy accepted.
    Run(Simple<String, F>),
}

/// A word after quotes were taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub parts: Vec<WordPart>,
    /// Where it stands in the line, in bytes.
    pub place: Range<usize>,
}

/// What a word is made of. Neighbouring literals are one part, so a word without globs has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    Literal(String),
    /// `*`, unquoted.
    AnyText,
    /// `?`, unquoted.
    AnyChar,
    /// `[…]`, unquoted: the text between the brackets as it was written, with `!` or `^` first if it is negated.
    OneOf(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Stream {
    In,
    Out,
    Err,
    /// `&>`: output and errors.
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum RedirectMode {
    Read,
    Truncate,
    Append,
}

#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Target<W = Word> {
    /// `/dev/null`
    Null,
    /// `2>&1` and `>&2`
    Stream(Stream),
    /// Counts from the folder that the step runs in.
    File(W),
}

#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Redirect<W = Word> {
    pub stream: Stream,
    pub mode: RedirectMode,
    pub target: Target<W>,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Word {
        let text = text.into();
        let parts = if text.is_empty() { Vec::new() } else { vec![WordPart::Literal(text)] };
        Word { parts, place: 0..0 }
    }

    /// The word's text, unless it still has to be matched against files.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [WordPart::Literal(text)] => Some(text),
            [..] => None,
        }
    }

    pub fn is_glob(&self) -> bool {
        self.as_literal().is_none()
    }

    /// As a person reads it; a glob keeps its signs.
    pub fn spelled(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                WordPart::Literal(literal) => text.push_str(literal),
                WordPart::AnyText => text.push('*'),
                WordPart::AnyChar => text.push('?'),
                WordPart::OneOf(set) => {
                    text.push('[');
                    text.push_str(set);
                    text.push(']');
                }
            }
        }
        text
    }
}

impl Simple {
    /// The first word as it was written.
    pub fn program(&self) -> String {
        self.words.first().map(Word::spelled).unwrap_or_default()
    }
}

impl CommandPlan {
    /// A plan of one program, for callers who send a vector and not a line.
    pub fn vector(program: &str, arguments: &[String]) -> CommandPlan {
        let words = std::iter::once(Word::literal(program)).chain(arguments.iter().map(Word::literal));
        let simple = Simple { file: (), words: words.collect(), redirects: Vec::new() };
        CommandPlan { steps: vec![Step { join: Join::First, pipeline: vec![simple] }] }
    }

    pub fn simples(&self) -> impl Iterator<Item = &Simple> {
        self.steps.iter().flat_map(|step| step.pipeline.iter())
    }

    pub fn has_globs(&self) -> bool {
        self.simples().any(|simple| simple.words.iter().any(Word::is_glob))
    }

    /// Argument vectors, joined the way a log shows them.
    pub fn spelled(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            text.push_str(match step.join {
                Join::First => "",
                Join::Then => "; ",
                Join::IfOk => " && ",
                Join::IfFailed => " || ",
            });
            for (place, simple) in step.pipeline.iter().enumerate() {
                if place > 0 {
                    text.push_str(" | ");
                }
                let words: Vec<_> = simple.words.iter().map(Word::spelled).collect();
                text.push_str(&words.join(" "));
            }
        }
        text
    }
}
