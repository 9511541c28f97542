//! What was said about each word, and the first "no".

use crate::command::{CommandRefusal, WordVerdict};
use crate::{Denial, Reason};

#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) words: Vec<WordVerdict>,
    pub(crate) denial: Option<Denial>,
}

impl Sheet {
    pub(crate) fn allow(&mut self, word: &str, rule: &str, note: &str) {
        self.words.push(WordVerdict {
            word: word.to_owned(),
            rule: rule.to_owned(),
            allowed: true,
            note: note.to_owned(),
        });
    }

    pub(crate) fn deny(&mut self, word: &str, denial: Denial) {
        self.words.push(WordVerdict {
            word: word.to_owned(),
            rule: denial.rule.clone(),
            allowed: false,
            note: denial.to_tool_error().message,
        });
        // INVARIANT: the first refusal is the verdict, and a verdict without a refused word does not exist.
        self.denial.get_or_insert(denial);
    }

    pub(crate) fn refuse(&mut self, word: &str, refusal: CommandRefusal) {
        let rule = refusal.rule();
        self.deny(word, Denial::new(Reason::Command(refusal), rule));
    }

    pub(crate) fn refuse_argument(&mut self, program: &str, word: &str, why: impl Into<String>) {
        let (program, why) = (program.to_owned(), why.into());
        self.refuse(word, CommandRefusal::Argument { program, word: word.to_owned(), why });
    }
}
