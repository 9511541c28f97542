//! A vector of words against the rules of its program: options, values and operands, taken as the program takes them.
//!
//! INVARIANT: an option that no line names is refused, so a new version of a program adds nothing to what is allowed.

use super::block::{Block, Choice, Kind, Operand, Style, Times};
use super::kind::{Behind, Fault, judge};
use super::place::Place;
use super::sheet::Sheet;
use super::{RuleSet, expression};
use crate::command::Word;

/// One reading of one vector.
pub(crate) struct Reading<'r, 'p, 's> {
    pub(crate) rules: &'r RuleSet,
    pub(crate) block: &'r Block,
    pub(crate) place: &'s mut Place<'p>,
    pub(crate) sheet: &'s mut Sheet,
    /// Names of the options that were given.
    pub(crate) given: Vec<&'r str>,
    /// Whether the first word is an option.
    option_leads: bool,
}

pub(crate) fn read(rules: &RuleSet, block: &Block, words: &[Word], place: &mut Place<'_>, sheet: &mut Sheet) {
    let first = words.first().map(Word::spelled).unwrap_or_default();
    let option_leads = first.starts_with('-') && first != "-" && first != "--";
    let mut reading = Reading { rules, block, place, sheet, given: Vec::new(), option_leads };
    if block.at_files {
        reading.at_files(words);
    }
    match block.style {
        Style::Find => expression::read(&mut reading, words),
        Style::Options | Style::Plus | Style::Named => reading.words(words),
    }
}

impl<'r> Reading<'r, '_, '_> {
    fn words(&mut self, words: &[Word]) {
        let mut operands: Vec<(&Word, Behind)> = Vec::new();
        let mut behind = Behind::Nothing;
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let spelled = word.spelled();
            let ended = behind == Behind::Dashes
                || self.block.no_options
                || (self.block.options_first && !operands.is_empty());
            if !ended && spelled == "--" && !word.is_glob() {
                behind = Behind::Dashes;
                self.sheet.allow("--", &self.block.rule, "end of options");
            } else if !ended && spelled.starts_with('-') && spelled != "-" {
                rest = self.option(word, &spelled, rest);
            } else if self.block.subcommands && operands.is_empty() {
                return self.subcommand(&spelled, rest);
            } else if !self.is_style_word(word, &spelled) {
                operands.push((word, behind));
            }
        }
        if self.block.subcommands && !self.block.bare && self.given.is_empty() {
            self.refuse(&self.block.name, "it needs a subcommand");
        }
        self.required();
        self.operands(&operands);
    }

    /// THREAT: P06, `nm -f @opts.txt`: the file is put in before anything is read, so being a value is no protection.
    fn at_files(&mut self, words: &[Word]) {
        for spelled in words.iter().map(Word::spelled) {
            let value = spelled.split_once('=').map_or(spelled.as_str(), |(_, value)| value);
            let letters = spelled.strip_prefix('-').unwrap_or_default();
            let attached = letters.chars().nth(1) == Some('@');
            if spelled.starts_with('@') || value.starts_with('@') || attached {
                self.refuse(&spelled, "the program would take its options from that file");
            }
        }
    }

    fn subcommand(&mut self, word: &str, rest: &[Word]) {
        let name = format!("{} {word}", self.block.name);
        match self.rules.block(&name) {
            Some(block) if block.networked && !self.place.reach.is_any() => {
                self.refuse(word, "no host is listed for it in sandbox.net");
            }
            Some(block) => {
                self.sheet.allow(word, &self.block.rule, "subcommand");
                read(self.rules, block, rest, self.place, self.sheet);
            }
            None => self.refuse(word, "this subcommand is not on the list"),
        }
    }

    /// Words that are neither options nor operands, in the styles that have such.
    fn is_style_word(&mut self, word: &Word, spelled: &str) -> bool {
        match self.block.style {
            Style::Plus if spelled.starts_with('+') => {
                self.sheet.allow(spelled, &self.block.rule, "format");
                true
            }
            Style::Named => {
                let Some((name, value)) = spelled.split_once('=') else { return false };
                self.named(word, &format!("{name}="), value);
                true
            }
            Style::Plus | Style::Options | Style::Find => false,
        }
    }

    fn named(&mut self, word: &Word, name: &str, value: &str) {
        let spelled = word.spelled();
        match self.block.options.get(name) {
            Some(Choice::Value(kinds)) => {
                let kind = kinds.first().unwrap_or(&Kind::None);
                self.value(kind, &spelled, value, word.is_glob());
            }
            Some(Choice::Refused(why)) => self.refuse(&spelled, why),
            Some(Choice::Flag | Choice::Separate(_) | Choice::Optional(_)) | None => {
                self.refuse(&spelled, "its rules do not know it");
            }
        }
    }

    /// Takes an option, and the words behind it that are its values. Returns what is left.
    fn option<'w>(&mut self, word: &Word, spelled: &str, rest: &'w [Word]) -> &'w [Word] {
        let block = self.block;
        if block.numbers && self.is_number(spelled) {
            self.sheet.allow(spelled, &block.rule, "number");
            return rest;
        }
        if let Some((name, choice)) = block.options.get_key_value(spelled) {
            return self.whole(name, choice, spelled, rest);
        }
        let long = spelled.starts_with("--");
        if let Some((name, value)) = spelled.split_once('=')
            && (long || name.chars().count() > 2)
            && let Some((name, choice)) = block.options.get_key_value(name)
        {
            self.attached(name, choice, word, spelled, value);
            return rest;
        }
        if long {
            self.refuse(spelled, "its rules do not know this option");
            return rest;
        }
        self.letters(word, spelled, rest)
    }

    /// `-20`, or `-20f`: a number and options that take nothing.
    fn is_number(&self, spelled: &str) -> bool {
        let number = spelled.strip_prefix('-').unwrap_or_default();
        let letters = number.trim_start_matches(|character: char| character.is_ascii_digit());
        let is_flag =
            |letter: char| self.block.options.get(format!("-{letter}").as_str()) == Some(&Choice::Flag);
        letters.len() < number.len() && letters.chars().all(is_flag)
    }

    /// An option that stands alone in its word.
    fn whole<'w>(
        &mut self,
        name: &'r str,
        choice: &'r Choice,
        spelled: &str,
        rest: &'w [Word],
    ) -> &'w [Word] {
        self.given.push(name);
        match choice {
            Choice::Flag | Choice::Optional(_) => {
                self.sheet.allow(spelled, &self.block.rule, "option");
                rest
            }
            Choice::Value(kinds) => {
                self.sheet.allow(spelled, &self.block.rule, "option");
                self.values(kinds, spelled, rest)
            }
            Choice::Separate(kind) => {
                self.sheet.allow(spelled, &self.block.rule, "option");
                self.values(std::slice::from_ref(kind), spelled, rest)
            }
            Choice::Refused(why) => {
                self.refuse(spelled, why);
                rest
            }
        }
    }

    /// `--name=value`.
    fn attached(&mut self, name: &'r str, choice: &'r Choice, word: &Word, spelled: &str, value: &str) {
        self.given.push(name);
        match choice {
            Choice::Value(kinds) => match kinds.as_slice() {
                [kind] => self.value(kind, spelled, value, word.is_glob()),
                [..] => self.refuse(spelled, "its values are words of their own"),
            },
            Choice::Optional(kind) => self.value(kind, spelled, value, word.is_glob()),
            Choice::Flag => self.refuse(spelled, "this option takes no value"),
            Choice::Separate(_) => self.refuse(spelled, "its value is a word of its own"),
            Choice::Refused(why) => self.refuse(spelled, why),
        }
    }

    /// One-letter options written together; the first that takes a value takes the rest of the word.
    fn letters<'w>(&mut self, word: &Word, spelled: &str, rest: &'w [Word]) -> &'w [Word] {
        let block = self.block;
        let mut letters = spelled.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let after = letters.as_str();
            let Some((name, choice)) = block.options.get_key_value(format!("-{letter}").as_str()) else {
                let why = format!("its rules do not know the option `-{letter}`");
                self.refuse(spelled, &why);
                return rest;
            };
            self.given.push(name);
            match choice {
                Choice::Flag => {}
                Choice::Refused(why) => {
                    self.refuse(spelled, why);
                    return rest;
                }
                Choice::Separate(_) if !after.is_empty() => {
                    self.refuse(spelled, "its value is a word of its own");
                    return rest;
                }
                Choice::Separate(kind) => {
                    self.sheet.allow(spelled, &block.rule, "option");
                    return self.values(std::slice::from_ref(kind), spelled, rest);
                }
                Choice::Value(kinds) if after.is_empty() => {
                    self.sheet.allow(spelled, &block.rule, "option");
                    return self.values(kinds, spelled, rest);
                }
                Choice::Value(kinds) => {
                    let kind = if kinds.len() == 1 { kinds.first() } else { None };
                    self.value(kind.unwrap_or(&Kind::None), spelled, after, word.is_glob());
                    return rest;
                }
                Choice::Optional(_) if after.is_empty() => {}
                Choice::Optional(kind) => {
                    self.value(kind, spelled, after, word.is_glob());
                    return rest;
                }
            }
        }
        self.sheet.allow(spelled, &block.rule, "option");
        rest
    }

    /// Values in words of their own.
    pub(crate) fn values<'w>(&mut self, kinds: &[Kind], option: &str, rest: &'w [Word]) -> &'w [Word] {
        let mut rest = rest;
        for kind in kinds {
            let Some((word, after)) = rest.split_first() else {
                self.refuse(option, "its value is missing");
                return rest;
            };
            rest = after;
            let spelled = word.spelled();
            let name = spelled.split('=').next().unwrap_or_default();
            // Programs differ in whether such a word is a value or the option, so it is neither.
            if name.starts_with("--")
                && let Some(Choice::Refused(why)) = self.block.options.get(name)
            {
                self.refuse(&spelled, why);
                continue;
            }
            self.word(kind, word, Behind::Nothing);
            if self.block.subcommands && option == "-C" && *kind == Kind::Folder {
                self.place.enter(&spelled);
            }
        }
        rest
    }

    /// A value that is part of its option's word. A pattern there is never expanded into a path.
    fn value(&mut self, kind: &Kind, spelled: &str, value: &str, is_glob: bool) {
        let text_only = match kind {
            Kind::Text | Kind::Pattern | Kind::Format | Kind::OneOf(_) => true,
            Kind::Number
            | Kind::Read
            | Kind::Folder
            | Kind::Exists
            | Kind::Disk
            | Kind::Write
            | Kind::Sed
            | Kind::Awk
            | Kind::Jq
            | Kind::Yq
            | Kind::GitFormat
            | Kind::GitLines
            | Kind::Plain
            | Kind::Revision
            | Kind::Pathspec
            | Kind::Url
            | Kind::ExactUrl
            | Kind::SavedUrl
            | Kind::NamedUrl
            | Kind::Header
            | Kind::Line
            | Kind::Data
            | Kind::EncodedData
            | Kind::Upload
            | Kind::CurlFormat
            | Kind::Remote
            | Kind::RemoteRef
            | Kind::None => false,
        };
        if is_glob && !text_only {
            return self.refuse(spelled, "quote the pattern, or give the value in a word of its own");
        }
        let mut verdict = judge(kind, &Word::literal(value), Behind::Nothing, self.place);
        // THREAT: P06, `rg -f=/etc/passwd` and `--file==/etc/passwd`: to some programs the sign is no part of the value,
        // so it must be good without it too.
        let bare = value.trim_start_matches('=');
        if verdict.is_ok() && !text_only && bare.len() < value.len() {
            verdict = judge(kind, &Word::literal(bare), Behind::Nothing, self.place);
        }
        self.note(spelled, verdict);
    }

    /// A whole word against a kind.
    pub(crate) fn word(&mut self, kind: &Kind, word: &Word, behind: Behind) {
        let verdict = judge(kind, word, behind, self.place);
        self.note(&word.spelled(), verdict);
    }

    fn note(&mut self, spelled: &str, verdict: Result<&'static str, Fault>) {
        match verdict {
            Ok(note) => self.sheet.allow(spelled, &self.block.rule, note),
            Err(Fault::Why(why)) => self.refuse(spelled, &why),
            Err(Fault::Denied(denial)) => self.sheet.deny(spelled, denial),
        }
    }

    pub(crate) fn refuse(&mut self, word: &str, why: &str) {
        self.sheet.refuse_argument(self.block.program(), word, why);
    }

    pub(crate) fn required(&mut self) {
        let block = self.block;
        if !block.require.is_empty()
            && !self.given.iter().any(|name| block.require.iter().any(|need| need == name))
        {
            let why = format!("one of {} must be given", block.require.join(", "));
            self.refuse(&block.name, &why);
        }
    }

    pub(crate) fn operands(&mut self, words: &[(&Word, Behind)]) {
        let block = self.block;
        let (fixed, words) = words.split_at(block.words.len().min(words.len()));
        for (place, expected) in block.words.iter().enumerate() {
            match fixed.get(place) {
                Some((word, _)) if word.as_literal() == Some(expected) => {
                    self.sheet.allow(expected, &block.rule, "listed");
                }
                Some((word, _)) => self.refuse(&word.spelled(), "this word is not on the list"),
                None => self.refuse(&block.name, "a word of the list must follow"),
            }
        }
        let with = block
            .operands_with
            .iter()
            .filter(|_| self.option_leads || !block.option_leads)
            .find(|(names, _)| names.iter().any(|name| self.given.iter().any(|given| given == name)));
        let kinds = with.map_or(&block.operands, |(_, kinds)| kinds);
        let n_needed = kinds.iter().filter(|operand| operand.times == Times::Once).count();
        // With a word missing, the program would take the others for something else than we do.
        let tells = words.is_empty() && self.given.iter().any(|name| matches!(*name, "--help" | "--version"));
        if words.len() < n_needed && !(block.subcommands || block.bare || tells) {
            self.refuse(&block.name, "an operand is missing");
        }
        for (place, (word, behind)) in words.iter().enumerate() {
            match Operand::at(kinds, place, words.len()) {
                Some(operand) => self.word(&operand.kind, word, *behind),
                None => self.refuse(&word.spelled(), "it takes no such operand"),
            }
        }
    }
}
