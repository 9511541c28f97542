//! Text becomes a plan: words, quotes, globs, pipes, chains and redirects to files. Whatever else a shell understands is
//! refused with its token named. One pass, no recursion, no look back.
//!
//! It knows how bash reads a line and nothing of programs, lists or scopes: what a word may say is judged elsewhere.
//!
//! INVARIANT: what is accepted here, bash accepts too, and it makes the same argument vectors of it. Where bash and we
//! could differ, the line is refused.

mod cursor;
mod glob;
mod program;
mod redirect;
#[cfg(test)]
mod tests;
mod word;

use cursor::Cursor;
use redirect::{Operator, read_operator};
use word::RawWord;

use super::{Chains, CommandPlan, CommandRefusal, Join, Redirect, RedirectMode, Simple, Step};

const MAX_BYTES: usize = 16 * 1024;
const MAX_WORDS: usize = 4096;
const MAX_STEPS: usize = 64;
const MAX_PIPELINE: usize = 64;
const MAX_REDIRECTS: usize = 16;

pub(crate) fn parse(line: &str, chains: Chains) -> Result<CommandPlan, CommandRefusal> {
    if line.len() > MAX_BYTES {
        return Err(CommandRefusal::TooLong { what: "bytes", limit: MAX_BYTES });
    }
    // At the end a line feed ends a command; anywhere else it would begin a second one.
    let line = line.trim_end_matches('\n');
    // THREAT: P06, a second command behind a line break, and text that shows something else than it says.
    if let Some(control) = line.chars().find(|character| hides(*character)) {
        let what = match control {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => "a line break",
            _ => "a control character",
        };
        return Err(syntax(control.escape_default().to_string(), what));
    }
    let mut reader = Reader::new(line, chains);
    while reader.advance()? {}
    reader.finish()
}

/// Control characters, and what turns the direction of the text around it when a person reads the line in a question or
/// in the record.
fn hides(character: char) -> bool {
    let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (character.is_control() && character != '\t')
}

fn syntax(token: impl Into<String>, what: &'static str) -> CommandRefusal {
    CommandRefusal::Syntax { token: token.into(), what }
}

/// How often anything was looked at, for the proof that the time is linear.
#[cfg(test)]
fn count_steps(n: usize) {
    tests::STEPS.set(tests::STEPS.get() + n);
}

#[cfg(not(test))]
fn count_steps(_n: usize) {}

/// The plan so far, and the part of it that is still being written.
struct Reader<'line> {
    cursor: Cursor<'line>,
    chains: Chains,
    steps: Vec<Step>,
    join: Join,
    pipeline: Vec<Simple>,
    simple: Simple,
    /// The operator that still waits for a command. A `;` does not wait.
    waiting: Option<&'static str>,
    /// The last redirect, as it was written.
    sign: String,
    n_words: usize,
}

impl<'line> Reader<'line> {
    fn new(line: &'line str, chains: Chains) -> Reader<'line> {
        Reader {
            cursor: Cursor::new(line),
            chains,
            steps: Vec::new(),
            join: Join::First,
            pipeline: Vec::new(),
            simple: Simple { file: (), words: Vec::new(), redirects: Vec::new() },
            waiting: None,
            sign: String::new(),
            n_words: 0,
        }
    }

    /// Reads one token; `false` at the end of the line.
    fn advance(&mut self) -> Result<bool, CommandRefusal> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            // Line breaks are refused before, so a comment lasts to the end.
            None | Some('#') => return Ok(false),
            Some('|' | '&' | ';') => self.operator()?,
            Some('<' | '>') => self.redirect("")?,
            Some(_) => self.word()?,
        }
        Ok(true)
    }

    fn operator(&mut self) -> Result<(), CommandRefusal> {
        // Longest first, as bash reads them.
        const REFUSED: [(&str, &str); 4] = [
            (";;&", "the end of a case"),
            (";;", "the end of a case"),
            (";&", "the end of a case"),
            ("|&", "a pipe of errors"),
        ];
        for (token, what) in REFUSED {
            if self.cursor.starts_with(token) {
                return Err(syntax(token, what));
            }
        }
        if self.cursor.take("&&") {
            self.chain("&&", Join::IfOk)
        } else if self.cursor.take("||") {
            self.chain("||", Join::IfFailed)
        } else if self.cursor.take(";") {
            self.chain(";", Join::Then)
        } else if self.cursor.starts_with("&>") {
            self.redirect("")
        } else if self.cursor.take("|") {
            self.end_simple("|")?;
            self.waiting = Some("|");
            Ok(())
        } else {
            Err(syntax("&", "a program in the background"))
        }
    }

    fn chain(&mut self, token: &'static str, join: Join) -> Result<(), CommandRefusal> {
        if self.chains == Chains::Refuse {
            // Specification 002 has these among its blocked patterns.
            return Err(CommandRefusal::Pattern { pattern: token.to_owned() });
        }
        self.end_step(token)?;
        self.join = join;
        self.waiting = (join != Join::Then).then_some(token);
        Ok(())
    }

    fn word(&mut self) -> Result<(), CommandRefusal> {
        let raw = RawWord::read(&mut self.cursor)?;
        if let Some(prefix) = raw.redirect_prefix(&self.cursor) {
            return self.redirect(&prefix);
        }
        self.count_word()?;
        if self.simple.words.is_empty() {
            program::check(&raw)?;
        }
        self.simple.words.push(raw.into_word()?);
        Ok(())
    }

    /// `prefix` is what stood before the sign without a blank: the number of a stream, mostly.
    fn redirect(&mut self, prefix: &str) -> Result<(), CommandRefusal> {
        if self.simple.redirects.len() >= MAX_REDIRECTS {
            return Err(CommandRefusal::TooLong { what: "redirects of one program", limit: MAX_REDIRECTS });
        }
        let (sign, stream, operator) = read_operator(&mut self.cursor, prefix)?;
        self.cursor.skip_blanks();
        if matches!(self.cursor.peek(), None | Some('#' | '|' | '&' | ';' | '<' | '>')) {
            return Err(syntax(sign, "a redirect without a target"));
        }
        self.count_word()?;
        let raw = RawWord::read(&mut self.cursor)?;
        let (mode, target) = match operator {
            Operator::Open(mode) => {
                // In bash a number before the next sign belongs to that sign, also here.
                if let Some(prefix) = raw.redirect_prefix(&self.cursor) {
                    return Err(syntax(format!("{sign}{prefix}"), "a redirect without a target"));
                }
                (mode, redirect::file(raw)?)
            }
            Operator::Duplicate => (RedirectMode::Truncate, redirect::stream(&sign, &raw)?),
        };
        self.simple.redirects.push(Redirect { stream, mode, target });
        self.sign = sign;
        Ok(())
    }

    fn count_word(&mut self) -> Result<(), CommandRefusal> {
        self.n_words += 1;
        if self.n_words > MAX_WORDS {
            return Err(CommandRefusal::TooLong { what: "words", limit: MAX_WORDS });
        }
        Ok(())
    }

    /// `token` is what ends the program.
    fn end_simple(&mut self, token: &str) -> Result<(), CommandRefusal> {
        if self.simple.words.is_empty() {
            if !self.simple.redirects.is_empty() {
                return Err(self.redirect_alone());
            }
            return Err(syntax(token, "nothing to run stands before it"));
        }
        if self.pipeline.len() >= MAX_PIPELINE {
            return Err(CommandRefusal::TooLong { what: "programs in one pipeline", limit: MAX_PIPELINE });
        }
        let empty = Simple { file: (), words: Vec::new(), redirects: Vec::new() };
        self.pipeline.push(std::mem::replace(&mut self.simple, empty));
        self.waiting = None;
        Ok(())
    }

    /// Bash would make an empty file.
    fn redirect_alone(&self) -> CommandRefusal {
        syntax(self.sign.clone(), "a redirect without a program")
    }

    fn end_step(&mut self, token: &str) -> Result<(), CommandRefusal> {
        self.end_simple(token)?;
        if self.steps.len() >= MAX_STEPS {
            return Err(CommandRefusal::TooLong { what: "commands in one chain", limit: MAX_STEPS });
        }
        self.steps.push(Step { join: self.join, pipeline: std::mem::take(&mut self.pipeline) });
        Ok(())
    }

    fn finish(mut self) -> Result<CommandPlan, CommandRefusal> {
        if !self.simple.words.is_empty() {
            self.end_step("")?;
        } else if !self.simple.redirects.is_empty() {
            return Err(self.redirect_alone());
        } else if let Some(token) = self.waiting {
            return Err(syntax(token, "nothing to run stands after it"));
        }
        if self.steps.is_empty() {
            return Err(CommandRefusal::Empty);
        }
        Ok(CommandPlan { steps: self.steps })
    }
}
