//! What is known to be secret in one workspace: at the start, and what is learned while it is worked in.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use vambrace_redact::Redactor;
use vambrace_types::Timestamp;

/// Looks whether there are new secrets to know.
pub type Relearn = Box<dyn Fn() -> Relearned + Send + Sync>;

/// What became of looking.
#[derive(Debug, Default)]
pub struct Relearned {
    /// One that knows more than the last.
    pub redactor: Option<Redactor>,
    /// What a person should know about the files that were looked at, said once.
    pub warnings: Vec<String>,
}

/// Notes that a program runs, until what it gives is dropped: what turns up meanwhile may be the program's.
pub type MarkPrograms = Box<dyn Fn() -> Box<dyn std::any::Any + Send> + Send + Sync>;

/// In milliseconds. LIMIT: a secret that was written down a moment ago may still be unknown.
const LOOK_AGAIN: u64 = 1000;

/// Contexts of the same workspace share one.
pub struct Redaction {
    /// As it was at the start, for what is not part of a call.
    pub(crate) redactor: Redactor,
    /// Asked at the beginning of calls and before strangers are told of, at most once a second.
    relearn: Option<Relearn>,
    mark_programs: Option<MarkPrograms>,
    learned: OnceLock<RwLock<Redactor>>,
    /// Whoever asks keeps only those waiting who want to ask too.
    asking: Mutex<()>,
    /// When it was last asked, in milliseconds.
    asked: AtomicI64,
    /// Programs have run since anybody last looked at the workspace's hidden files.
    ran: AtomicBool,
}

const NEVER: i64 = i64::MIN;

impl Redaction {
    pub fn new(
        redactor: Redactor,
        relearn: Option<Relearn>,
        mark_programs: Option<MarkPrograms>,
    ) -> Redaction {
        Redaction {
            redactor,
            relearn,
            mark_programs,
            learned: OnceLock::new(),
            asking: Mutex::default(),
            asked: AtomicI64::new(NEVER),
            ran: AtomicBool::new(false),
        }
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// For one call: everything that is known by now, and numbers from one. `tell` hears what a
    /// person should know.
    pub(crate) fn for_call(&self, now: Timestamp, tell: impl FnOnce(&[String])) -> Redactor {
        if let Some(relearn) = &self.relearn
            && self.is_due(|| now)
        {
            let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_due(|| now) {
                // One who falls over here is told so, and the next goes on with what is known:
                // without a redactor, no call could even be written down.
                let fault = match catch_unwind(AssertUnwindSafe(relearn)) {
                    Ok(Relearned { redactor, warnings }) => {
                        redactor.into_iter().for_each(|redactor| self.learn(redactor));
                        tell(&warnings);
                        None
                    }
                    Err(fault) => Some(fault),
                };
                // Behind what was learned, so that nobody goes on without it.
                self.asked.store(now.millis(), Ordering::Release);
                if let Some(fault) = fault {
                    resume_unwind(fault);
                }
            }
        }
        self.so_far()
    }

    /// Whether asking for a redactor looks at files.
    pub(crate) fn is_due(&self, now: impl FnOnce() -> Timestamp) -> bool {
        if self.relearn.is_none() {
            return false;
        }
        let (now, asked) = (now(), self.asked.load(Ordering::Acquire));
        let then = Timestamp::from_millis(asked);
        // A clock that was set back must not keep us from looking.
        asked == NEVER || then > now || now.millis_since(then) >= LOOK_AGAIN
    }

    fn learn(&self, redactor: Redactor) {
        if let Err(redactor) = self.learned.set(RwLock::new(redactor))
            && let (Some(learned), Ok(redactor)) = (self.learned.get(), redactor.into_inner())
        {
            *learned.write().unwrap_or_else(PoisonError::into_inner) = redactor;
        }
    }

    /// What was known when it was last asked.
    pub(crate) fn so_far(&self) -> Redactor {
        match self.learned.get() {
            Some(learned) => learned.read().unwrap_or_else(PoisonError::into_inner).for_call(),
            None => self.redactor.for_call(),
        }
    }

    /// To be held while programs run. May wait for whoever looks at the workspace's hidden files.
    pub(crate) fn program_runs(&self) -> Option<Box<dyn std::any::Any + Send>> {
        let mark = self.mark_programs.as_ref()?;
        self.ran.store(true, Ordering::Release);
        Some(mark())
    }

    /// For whoever ends after programs have run: what hidden files they left is written down as
    /// theirs, so that what a person makes from now on is a person's.
    pub(crate) fn look_again(&self) {
        if let Some(relearn) = &self.relearn
            && self.ran.swap(false, Ordering::AcqRel)
        {
            // The next start tells what there is to tell, and looks again if this failed.
            let _ = catch_unwind(AssertUnwindSafe(relearn));
        }
    }
}
