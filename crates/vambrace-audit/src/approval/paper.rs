//! One question as a file: read with suspicion, because other processes and other people write files too.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Deserialize;
use vambrace_types::Timestamp;

use super::{Binding, LONGEST_NAME, LONGEST_TEXT, NewQuestion, Question, QuestionState, shortened};
use crate::chain::{hex, unhex};
use crate::line::Object;
use crate::{AuditError, disk, moment, subject};

pub(super) const LOCK: &str = "lock";
const PREFIX: &str = "ap_";
/// Fifty bits: short enough to type, too many to try.
const ID_LETTERS: usize = 10;
/// No letter that is easily taken for another.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz123456789";
/// Every text escaped in the longest way, with room to spare.
const LONGEST_FILE: u64 = 64 << 10;

/// Where a question's file stands, which is part of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shelf {
    Open,
    Used,
    Expired,
}

impl Shelf {
    fn suffix(self) -> &'static str {
        match self {
            Shelf::Open => ".json",
            Shelf::Used => ".used.json",
            Shelf::Expired => ".expired.json",
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) approved: bool,
    pub(super) by: String,
    pub(super) at: Timestamp,
}

#[derive(Debug, Clone)]
pub(super) struct Paper {
    pub(super) id: String,
    binding: Binding,
    caller: String,
    owner: String,
    tool: String,
    rule: String,
    question: String,
    call_id: String,
    asked_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) answered: Option<Answered>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    id: String,
    binding: String,
    caller: String,
    owner: String,
    tool: String,
    rule: String,
    question: String,
    call_id: String,
    asked_at: String,
    expires_at: String,
    answer: Option<String>,
    by: Option<String>,
    answered_at: Option<String>,
}

pub(super) fn name(id: &str, shelf: Shelf) -> String {
    format!("{id}{}", shelf.suffix())
}

pub(super) fn parse_name(name: &str) -> Option<(&str, Shelf)> {
    let id = name.get(..PREFIX.len() + ID_LETTERS)?;
    let letters = id.strip_prefix(PREFIX)?;
    let suffix = name.get(id.len()..)?;
    let shelf =
        [Shelf::Open, Shelf::Used, Shelf::Expired].into_iter().find(|shelf| shelf.suffix() == suffix)?;
    letters.bytes().all(|letter| ALPHABET.contains(&letter)).then_some((id, shelf))
}

/// Drawn anew should it be taken, which nobody will live to see.
pub(super) fn new_id(dir: &Path) -> Result<String, AuditError> {
    loop {
        let mut chance = [0u8; ID_LETTERS];
        getrandom::fill(&mut chance).map_err(AuditError::NoRandomness)?;
        let letter = |byte: &u8| ALPHABET.get(usize::from(byte % 32)).copied().map_or('a', char::from);
        let id: String = PREFIX.chars().chain(chance.iter().map(letter)).collect();
        let taken = |shelf| dir.join(name(&id, shelf)).symlink_metadata().is_ok();
        if ![Shelf::Open, Shelf::Used, Shelf::Expired].into_iter().any(taken) {
            return Ok(id);
        }
    }
}

/// Compared with others, so it is never cut: two must not share one.
fn owner(owner: &str) -> String {
    const LONGEST: usize = 2048;
    if owner.len() <= LONGEST { owner.to_owned() } else { subject::of(owner).into_owned() }
}

/// Why a file with this owner, mode and number of names was not written by us.
pub(super) fn not_ours(me: u32, owner: u32, mode: u32, n_names: u64) -> Option<&'static str> {
    if owner != me {
        return Some("it belongs to another user");
    }
    if mode & 0o077 != 0 {
        return Some("others may read or write it");
    }
    (n_names != 1).then_some("it has a second name")
}

impl Paper {
    pub(super) fn new(new: &NewQuestion, id: String, asked_at: Timestamp, expires_at: Timestamp) -> Paper {
        Paper {
            id,
            binding: new.binding,
            caller: shortened(&new.caller, LONGEST_NAME),
            owner: owner(&new.owner),
            tool: shortened(&new.tool, LONGEST_NAME),
            rule: new.rule.clone().shortened(LONGEST_NAME).into_string(),
            question: new.question.clone().shortened(LONGEST_TEXT).into_string(),
            call_id: shortened(&new.call_id, LONGEST_NAME),
            asked_at,
            expires_at,
            answered: None,
        }
    }

    /// The question, or why the file is none.
    pub(super) fn read(path: &Path, id: &str) -> Result<Paper, String> {
        let file = disk::open_to_read(path).map_err(|cause| format!("it cannot be opened: {cause}"))?;
        let found = file.metadata().map_err(|cause| format!("it cannot be looked at: {cause}"))?;
        let me = rustix::process::geteuid().as_raw();
        if let Some(why) = not_ours(me, found.uid(), found.mode(), found.nlink()) {
            return Err(why.to_owned());
        }
        let mut bytes = Vec::new();
        file.take(LONGEST_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|cause| format!("it cannot be read: {cause}"))?;
        if bytes.len() as u64 > LONGEST_FILE {
            return Err("it is larger than any question".to_owned());
        }
        let written: Written =
            vambrace_json::own_line(&bytes).ok_or_else(|| "it is not a whole question".to_owned())?;
        Paper::of(written, id).ok_or_else(|| "what it says cannot be".to_owned())
    }

    fn of(written: Written, id: &str) -> Option<Paper> {
        let Written { answer, by, answered_at, .. } = written;
        let answered = match (answer.as_deref(), by, answered_at) {
            (None, None, None) => None,
            (Some(word), Some(by), Some(at)) => {
                let approved = match QuestionState::parse(word)? {
                    QuestionState::Approved => true,
                    QuestionState::Rejected => false,
                    QuestionState::Waiting | QuestionState::Used | QuestionState::Expired => return None,
                };
                Some(Answered { approved, by, at: moment::parse(&at)? })
            }
            _ => return None,
        };
        let paper = Paper {
            id: written.id,
            binding: Binding(unhex(&written.binding)?),
            caller: written.caller,
            owner: written.owner,
            tool: written.tool,
            rule: written.rule,
            question: written.question,
            call_id: written.call_id,
            asked_at: moment::parse(&written.asked_at)?,
            expires_at: moment::parse(&written.expires_at)?,
            answered,
        };
        (written.version == 1 && paper.id == id).then_some(paper)
    }

    /// When somebody last wrote on it.
    pub(super) fn touched_at(&self) -> Timestamp {
        self.answered.as_ref().map_or(self.asked_at, |answered| answered.at)
    }

    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        let mut object = Object::begin(&mut out);
        object.number("version", 1);
        let binding = hex(&self.binding.0);
        for (key, text) in [
            ("id", &self.id),
            ("binding", &binding),
            ("caller", &self.caller),
            ("owner", &self.owner),
            ("tool", &self.tool),
            ("rule", &self.rule),
            ("question", &self.question),
            ("call_id", &self.call_id),
        ] {
            object.text(key, text, usize::MAX);
        }
        object.time("asked_at", self.asked_at);
        object.time("expires_at", self.expires_at);
        if let Some(Answered { approved, by, at }) = &self.answered {
            let state = if *approved { QuestionState::Approved } else { QuestionState::Rejected };
            object.text("answer", state.as_str(), usize::MAX);
            object.text("by", by, usize::MAX);
            object.time("answered_at", *at);
        }
        object.end_line();
        out
    }

    pub(super) fn question(&self, state: QuestionState) -> Question {
        Question {
            id: self.id.clone(),
            binding: self.binding,
            caller: self.caller.clone(),
            owner: self.owner.clone(),
            tool: self.tool.clone(),
            rule: self.rule.clone(),
            question: self.question.clone(),
            call_id: self.call_id.clone(),
            asked_at: self.asked_at,
            expires_at: self.expires_at,
            state,
            by: self.answered.as_ref().map(|answered| answered.by.clone()),
        }
    }
}
