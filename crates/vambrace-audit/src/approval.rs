//! Questions that wait for a person, and their answers.
//!
//! An `ask` decision leaves a question here. A person answers it from anywhere (command line, REST, the client's own
//! dialog); the same call, made again, takes the answer and uses it up. A question is bound to everything that was
//! asked about, so an answer is good for exactly that, once, and for a while.
//!
//! ```text
//! <dir>/approvals/lock             held for every change, so that numbers are counted and answers given by one at a time
//! <dir>/approvals/ID.json          a question that waits, or was answered
//! <dir>/approvals/ID.used.json     its approval was taken; the rename is what takes it
//! <dir>/approvals/ID.expired.json  somebody saw that it is too old; a clock that is set back does not undo that
//! ```

mod paper;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use vambrace_redact::RedactedText;
use vambrace_types::{Timestamp, Tree};

use crate::event::EventKind;
use crate::line::EventLine;
use crate::words::Severity;
use crate::{AuditError, AuditLog, Clock, disk, switch};
use paper::{Answered, Paper, Shelf};

/// LIMIT: questions that wait, of everybody together. More help no person.
pub const MOST_WAITING: usize = 1000;
/// LIMIT: and of one caller, or of one person behind it.
pub const MOST_WAITING_OF_ONE: usize = 50;
/// LIMIT: and of all people behind one caller: a bridge cannot fill the book for the others.
const MOST_WAITING_OF_CALLER: usize = 200;
/// LIMIT: what is over is kept for looking at, the newest of it. The record keeps it for ever.
const MOST_OVER: usize = 1000;
/// LIMIT: how far a clock may be set back before what was asked later than now counts as too old.
const SET_BACK: u64 = 1000;
const LONGEST_TEXT: usize = 4096;
const LONGEST_NAME: usize = 512;

/// The hash of what was asked about: caller, tool, arguments, policy, the state of what would be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding(pub [u8; 32]);

/// A question to be put.
#[derive(Debug, Clone)]
pub struct NewQuestion {
    pub binding: Binding,
    pub caller: String,
    pub owner: String,
    pub tool: String,
    pub rule: RedactedText,
    pub question: RedactedText,
    pub call_id: String,
}

crate::words::words! {
    pub enum QuestionState {
        Waiting = "waiting",
        Approved = "approved",
        /// Holds for the same question until it expires, so that nobody is asked until they say yes.
        Rejected = "rejected",
        Used = "used",
        Expired = "expired",
    }
}

/// A question as it stands.
#[derive(Debug, Clone)]
pub struct Question {
    pub id: String,
    pub binding: Binding,
    pub caller: String,
    pub owner: String,
    pub tool: String,
    pub rule: String,
    pub question: String,
    pub call_id: String,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: QuestionState,
    /// Who answered.
    pub by: Option<String>,
}

impl Question {
    /// Whether anything can still come of it.
    fn is_open(&self) -> bool {
        match self.state {
            QuestionState::Waiting | QuestionState::Approved => true,
            QuestionState::Rejected | QuestionState::Used | QuestionState::Expired => false,
        }
    }
}

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("there is no question `{0}`")]
    NotFound(String),
    #[error("the question is answered already")]
    Answered,
    #[error("the question has expired")]
    Expired,
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// A file among the questions that is none of ours, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub name: String,
    pub why: String,
}

/// All questions of one state folder; several processes may hold it open.
pub struct Approvals {
    /// Of the record.
    audit: PathBuf,
    dir: PathBuf,
    clock: Arc<dyn Clock>,
    life: Duration,
}

/// What lies in the folder.
#[derive(Default)]
struct Found {
    papers: Vec<(Paper, Question)>,
    /// What a crash left while writing.
    unfinished: Vec<PathBuf>,
    ignored: Vec<Ignored>,
}

impl Approvals {
    pub fn new(dir: &Path, clock: Arc<dyn Clock>, life: Duration) -> Approvals {
        Approvals { audit: dir.to_owned(), dir: dir.join("approvals"), clock, life }
    }

    /// Puts the question, or finds it where it waits already, or was rejected a short while ago.
    pub fn ask(&self, question: &NewQuestion) -> Result<Question, AuditError> {
        disk::private_dir(&self.dir)?;
        let _lock = self.lock()?;
        let found = self.look()?;
        let known = |(paper, known): &&(Paper, Question)| {
            known.binding == question.binding
                && match known.state {
                    QuestionState::Waiting => true,
                    QuestionState::Rejected => !self.is_over(paper),
                    QuestionState::Approved | QuestionState::Used | QuestionState::Expired => false,
                }
        };
        if let Some((_, known)) = found.papers.iter().find(known) {
            return Ok(known.clone());
        }
        self.sweep(&found);
        let open = || found.papers.iter().map(|(_, known)| known).filter(|known| known.is_open());
        let (all, own) = (open().count(), open().filter(|known| known.owner == question.owner).count());
        let of_caller = open().filter(|known| known.caller == question.caller).count();
        for (waiting, most) in
            [(all, MOST_WAITING), (of_caller, MOST_WAITING_OF_CALLER), (own, MOST_WAITING_OF_ONE)]
        {
            if waiting >= most {
                return Err(AuditError::TooManyQuestions { waiting });
            }
        }
        let asked_at = self.clock.now();
        let paper = Paper::new(question, paper::new_id(&self.dir)?, asked_at, after(asked_at, self.life));
        self.write(&paper)?;
        Ok(paper.question(QuestionState::Waiting))
    }

    /// Takes an approval for exactly this and uses it up: who gave it.
    pub fn take(&self, binding: Binding) -> Result<Option<String>, AuditError> {
        Ok(self.take_question(binding)?.and_then(|question| question.by))
    }

    /// The same, with the question that was answered.
    pub fn take_question(&self, binding: Binding) -> Result<Option<Question>, AuditError> {
        // Nobody has ever asked anything here.
        if !self.exists()? {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let found = self.look()?;
        for (paper, question) in &found.papers {
            if question.binding != binding || question.state != QuestionState::Approved {
                continue;
            }
            // INVARIANT: whoever renames it has it; a process that dies after this line leaves it used.
            match self.shelve(paper, Shelf::Used) {
                Ok(()) => return Ok(Some(paper.question(QuestionState::Used))),
                Err(AuditError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// From a process that has no record open.
    pub fn answer(&self, id: &str, approved: bool, by: &str) -> Result<Question, AnswerError> {
        self.answer_on(None, id, approved, by)
    }

    /// On record first: an answer that nobody can find later is none. THREAT: P03. A process that has the record open gives
    /// it, because opening it anew makes a segment for every answer.
    pub fn answer_on(
        &self,
        log: Option<&AuditLog>,
        id: &str,
        approved: bool,
        by: &str,
    ) -> Result<Question, AnswerError> {
        let not_found = || AnswerError::NotFound(id.to_owned());
        if !self.exists()? {
            return Err(not_found());
        }
        let _lock = self.lock()?;
        let found = self.look()?;
        let mut papers = found.papers.into_iter();
        let (mut paper, question) = papers.find(|(_, question)| question.id == id).ok_or_else(not_found)?;
        match question.state {
            QuestionState::Waiting => {}
            QuestionState::Approved | QuestionState::Rejected | QuestionState::Used => {
                return Err(AnswerError::Answered);
            }
            QuestionState::Expired => return Err(AnswerError::Expired),
        }
        let by = shortened(by, LONGEST_NAME);
        self.record(log, &question, approved, &by)?;
        let now = self.clock.now();
        // The answer is good as long as the question was; whoever asked has to come and take it.
        let life = question.expires_at.millis_since(question.asked_at);
        paper.answered = Some(Answered { approved, by, at: now });
        paper.expires_at = after(now, Duration::from_millis(life));
        self.write(&paper)?;
        let state = if approved { QuestionState::Approved } else { QuestionState::Rejected };
        Ok(paper.question(state))
    }

    /// The newest first; what is used or too old only on request.
    pub fn list(&self, with_old: bool) -> Result<Vec<Question>, AuditError> {
        let found = self.survey()?;
        let shown = found.papers.into_iter().map(|(_, question)| question);
        let mut shown: Vec<Question> = shown.filter(|question| with_old || question.is_open()).collect();
        shown.sort_by(|a, b| (b.asked_at.millis(), &b.id).cmp(&(a.asked_at.millis(), &a.id)));
        Ok(shown)
    }

    /// Files among the questions that are none of ours: nobody acts on them, and a person should know.
    pub fn ignored(&self) -> Result<Vec<Ignored>, AuditError> {
        Ok(self.survey()?.ignored)
    }

    fn survey(&self) -> Result<Found, AuditError> {
        if !self.exists()? {
            return Ok(Found::default());
        }
        let _lock = self.lock()?;
        self.look()
    }

    fn exists(&self) -> Result<bool, AuditError> {
        match fs::symlink_metadata(&self.dir) {
            Ok(_) => disk::private_dir(&self.dir).map(|()| true),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(AuditError::io("look at", &self.dir)(cause)),
        }
    }

    /// Until the file is closed; a process that dies lets go.
    fn lock(&self) -> Result<File, AuditError> {
        let path = self.dir.join(paper::LOCK);
        let lock = || {
            let file = disk::open_to_append(&path)?;
            disk::lock(&file)?;
            Ok(file)
        };
        lock().map_err(AuditError::io("lock", &path))
    }

    /// Reads every question, with the lock held. What is seen to be too old is so from now on.
    fn look(&self) -> Result<Found, AuditError> {
        let mut found = Found::default();
        let io = |cause| AuditError::io("read", &self.dir)(cause);
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(&self.dir).map_err(io)? {
            names.insert(entry.map_err(io)?.file_name());
        }
        for name in names {
            let path = self.dir.join(&name);
            let name = name.to_string_lossy();
            if name == paper::LOCK {
                continue;
            }
            if name.ends_with(".new") {
                found.unfinished.push(path);
                continue;
            }
            let (id, shelf) = match paper::parse_name(&name) {
                Some(parsed) => parsed,
                None => {
                    found.ignored.push(Ignored {
                        name: name.into_owned(),
                        why: "its name is no question's".to_owned(),
                    });
                    continue;
                }
            };
            match Paper::read(&path, id) {
                Ok(paper) => {
                    let question = self.state_of(&paper, shelf)?;
                    found.papers.push((paper, question));
                }
                Err(why) => found.ignored.push(Ignored { name: name.into_owned(), why }),
            }
        }
        Ok(found)
    }

    fn state_of(&self, paper: &Paper, shelf: Shelf) -> Result<Question, AuditError> {
        let state = match (shelf, &paper.answered) {
            (Shelf::Used, _) => QuestionState::Used,
            (Shelf::Expired, _) => QuestionState::Expired,
            (Shelf::Open, None) => QuestionState::Waiting,
            (Shelf::Open, Some(answer)) if answer.approved => QuestionState::Approved,
            (Shelf::Open, Some(_)) => QuestionState::Rejected,
        };
        let question = paper.question(state);
        if question.is_open() && self.is_over(paper) {
            self.shelve(paper, Shelf::Expired)?;
            return Ok(Question { state: QuestionState::Expired, ..question });
        }
        Ok(question)
    }

    /// The time is asked for after the question was read, so that none is seen from before it was asked.
    // LIMIT: a clock that is set back while nobody looks gives a question the time back that it lost meanwhile, once.
    fn is_over(&self, paper: &Paper) -> bool {
        let now = self.clock.now();
        now >= paper.expires_at || paper.touched_at().millis_since(now) > SET_BACK
    }

    fn shelve(&self, paper: &Paper, shelf: Shelf) -> Result<(), AuditError> {
        let from = self.dir.join(paper::name(&paper.id, Shelf::Open));
        let to = self.dir.join(paper::name(&paper.id, shelf));
        fs::rename(&from, &to).map_err(AuditError::io("rename", &from))?;
        // THREAT: P01, a power cut must not give back what was taken.
        disk::sync_dir(&self.dir).map_err(AuditError::io("sync", &self.dir))
    }

    fn write(&self, paper: &Paper) -> Result<(), AuditError> {
        let path = self.dir.join(paper::name(&paper.id, Shelf::Open));
        disk::replace(&path, paper.to_json().as_bytes()).map_err(AuditError::io("write", &path))?;
        disk::sync_dir(&self.dir).map_err(AuditError::io("sync", &self.dir))
    }

    /// What is over makes room, the oldest first. Best effort: what stays is met again.
    fn sweep(&self, found: &Found) {
        found.unfinished.iter().for_each(|path| drop(fs::remove_file(path)));
        let mut over: Vec<&Question> = found
            .papers
            .iter()
            .map(|(_, question)| question)
            .filter(|question| !question.is_open())
            .collect();
        over.sort_by_key(|question| question.asked_at.millis());
        let surplus = over.len().saturating_sub(MOST_OVER);
        for question in over.into_iter().take(surplus) {
            for shelf in [Shelf::Open, Shelf::Used, Shelf::Expired] {
                let _ = fs::remove_file(self.dir.join(paper::name(&question.id, shelf)));
            }
        }
    }

    fn record(
        &self,
        log: Option<&AuditLog>,
        question: &Question,
        approved: bool,
        by: &str,
    ) -> Result<(), AuditError> {
        let said = if approved { "approved" } else { "rejected" };
        let message = format!("{said} {}: {}", question.id, question.question);
        let event = EventLine {
            event: EventKind::Approval.as_str(),
            severity: Severity::Warning,
            caller: Some(&question.caller),
            by: Some(by),
            call_id: Some(&question.call_id),
            message: &message,
            details: &Tree::map([("approval_id", Tree::text(&question.id))]),
        };
        match log {
            Some(log) => log.write_event(&event).wait().map(drop).and_then(|()| log.seal()),
            None => switch::write_down(&self.audit, &event, Arc::clone(&self.clock)),
        }
    }
}

fn after(time: Timestamp, life: Duration) -> Timestamp {
    let life = i64::try_from(life.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(time.millis().saturating_add(life))
}

fn shortened(text: &str, limit: usize) -> String {
    let end = (0..=limit.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0);
    text.split_at_checked(end).map_or("", |(kept, _)| kept).to_owned()
}
