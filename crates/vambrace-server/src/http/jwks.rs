//! The keys that bearer tokens are checked with: read from a file or fetched from an address, again and again,
//! and when a token names one that is not among them. While there are none, every token is refused.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use vambrace_auth::{KeySet, Moment};
use vambrace_runtime::{Level, LogLine};
use vambrace_types::Tree;

use super::Front;

/// A key set as it lies on the disk.
#[derive(Debug)]
pub struct KeyFile {
    pub text: String,
    pub changed: Option<SystemTime>,
}

/// Reads it, unless it has not changed since then. The binary opens files, we do not.
pub type ReadKeys = Arc<dyn Fn(Option<SystemTime>) -> std::io::Result<Option<KeyFile>> + Send + Sync>;

/// The time is how long a set is good.
#[derive(Clone)]
pub enum KeySource {
    File(ReadKeys, Duration),
    Url(String, Duration),
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a password.
        match self {
            KeySource::File(_, good) => f.debug_tuple("File").field(good).finish(),
            KeySource::Url(_, good) => f.debug_tuple("Url").field(good).finish(),
        }
    }
}

impl KeySource {
    fn good_for(&self) -> Duration {
        match self {
            KeySource::File(_, good) | KeySource::Url(_, good) => *good,
        }
    }
}

/// How often a server that does not answer is asked again.
const AT_MOST_EVERY: Duration = Duration::from_secs(60);
/// THREAT: P13, whoever invents key ids would make us ask that server all day. LIMIT: who invents them all the time keeps
/// a new key out for so long.
const BETWEEN_WISHES: Duration = Duration::from_secs(10);
/// Until the first set is there.
const IMPATIENT: Duration = Duration::from_secs(5);
/// How often a file is looked at: a key that was taken out of it is good for so long, and no longer.
const LOOK: Duration = Duration::from_secs(2);
/// After so many times of its own life, a set that nobody could confirm is good for nothing.
const PATIENCE: u32 = 10;

pub(super) struct Keys {
    source: KeySource,
    last: Mutex<Last>,
    loaded: AtomicBool,
}

#[derive(Debug, Default)]
struct Last {
    /// When somebody last made us look, beside the looks that are due anyway.
    wished: Option<Moment>,
    changed: Option<SystemTime>,
    /// The set that is used, as it came.
    text: Option<String>,
    /// What was wrong with the last look; told once.
    trouble: Option<String>,
    /// When the set that is used was last seen to be the right one. `None`: none is used.
    confirmed: Option<Moment>,
}

/// How a look for keys ended.
enum Look {
    New(KeySet),
    Unchanged,
    /// In words for operators.
    Failed(String),
}

/// Whether we know now which keys there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    Now,
    /// We asked a short while ago, or could not.
    No,
}

/// What follows from a look.
#[derive(Debug)]
enum Step {
    Use(KeySet),
    Keep,
    /// In words for operators; `None`: they know.
    Fail(Option<String>),
    /// The same, and the keys are too old to be used any longer.
    Drop(String),
}

impl Last {
    fn after(&mut self, look: Look, now: Moment, good_for: Duration) -> Step {
        let why = match look {
            Look::New(keys) => {
                (self.trouble, self.confirmed) = (None, Some(now));
                return Step::Use(keys);
            }
            // What could not be understood is not better for lying there.
            Look::Unchanged => match self.trouble.clone() {
                Some(trouble) => trouble,
                None => {
                    self.confirmed = Some(now);
                    return Step::Keep;
                }
            },
            Look::Failed(why) => why,
        };
        let is_new = self.trouble.as_ref() != Some(&why);
        self.trouble = Some(why.clone());
        let limit = good_for.saturating_mul(PATIENCE);
        if self.confirmed.is_some_and(|confirmed| now.saturating_sub(confirmed) > limit) {
            (self.confirmed, self.text) = (None, None);
            return Step::Drop(why);
        }
        Step::Fail(is_new.then_some(why))
    }
}

impl Keys {
    pub(super) fn new(source: KeySource) -> Keys {
        Keys { source, last: Mutex::default(), loaded: AtomicBool::new(false) }
    }

    pub(super) fn are_loaded(&self) -> bool {
        self.loaded.load(Ordering::Acquire)
    }

    /// Because a token names a key that is not there. One at a time: whoever waited finds what the first one
    /// fetched. In a task of its own: a client that goes away must not take the look with it, which would keep others from
    /// looking for a while. THREAT: P13.
    pub(super) async fn refresh(front: &Arc<Front>) -> Looked {
        let front = Arc::clone(front);
        let looking = async move {
            match &front.keys {
                Some(keys) => keys.refresh_now(&front).await,
                None => Looked::No,
            }
        };
        tokio::spawn(looking).await.unwrap_or(Looked::No)
    }

    async fn refresh_now(&self, front: &Front) -> Looked {
        let mut last = self.last.lock().await;
        let now = front.moment();
        let is_recent = last.wished.is_some_and(|wished| now.saturating_sub(wished) < BETWEEN_WISHES);
        if is_recent && matches!(self.source, KeySource::Url(..)) {
            return Looked::No;
        }
        let looked = self.load(front, &mut last).await;
        // From the end of the look: those who waited for it must not each wait for one of their own at a server that hangs.
        last.wished = Some(front.moment());
        looked
    }

    async fn load(&self, front: &Front, last: &mut Last) -> Looked {
        let look = self.look(front, last).await;
        match last.after(look, front.moment(), self.source.good_for()) {
            Step::Use(keys) => {
                let n_keys = keys.n_keys();
                front.authenticator.set_keys(keys);
                self.loaded.store(true, Ordering::Release);
                let words = format!("the keys for bearer tokens were loaded ({n_keys})");
                tell(front, if n_keys == 0 { Level::Warn } else { Level::Info }, &words);
                Looked::Now
            }
            Step::Keep => Looked::Now,
            // A set that was good stays for a while.
            Step::Fail(why) => {
                if let Some(why) = why {
                    tell(front, Level::Warn, &format!("no keys for bearer tokens: {why}"));
                }
                Looked::No
            }
            Step::Drop(why) => {
                front.authenticator.set_keys(KeySet::default());
                self.loaded.store(false, Ordering::Release);
                let words =
                    "no keys for bearer tokens: those we had are too old, and there are no newer ones";
                tell(front, Level::Warn, &format!("{words}: {why}"));
                Looked::No
            }
        }
    }

    async fn look(&self, front: &Front, last: &mut Last) -> Look {
        let text = match &self.source {
            KeySource::File(read, _) => {
                let (read, known) = (Arc::clone(read), last.changed);
                // A disk may keep us waiting.
                match tokio::task::spawn_blocking(move || read(known)).await {
                    Ok(Ok(Some(file))) => {
                        last.changed = file.changed;
                        file.text
                    }
                    Ok(Ok(None)) => return Look::Unchanged,
                    Ok(Err(error)) => {
                        // The next one is new, however old it says it is.
                        last.changed = None;
                        return Look::Failed(format!("the file cannot be read: {error}"));
                    }
                    Err(_) => return Look::Failed("the file cannot be read".to_owned()),
                }
            }
            KeySource::Url(url, _) => match front.corridor.fetch_for_operator(url).await {
                Ok(body) => match String::from_utf8(body) {
                    Ok(text) => text,
                    Err(_) => return Look::Failed("the key set is not text".to_owned()),
                },
                Err(error) => return Look::Failed(error.to_string()),
            },
        };
        // The same set again: what was found good with it stays so.
        if last.trouble.is_none() && last.text.as_ref() == Some(&text) {
            return Look::Unchanged;
        }
        match KeySet::parse(&text) {
            Ok(keys) => {
                last.text = Some(text);
                Look::New(keys)
            }
            Err(error) => Look::Failed(error.to_string()),
        }
    }
}

fn tell(front: &Front, level: Level, text: &str) {
    let redactor = front.corridor.redactor();
    let fields = vec![("setting", redactor.plain_tree(Tree::text("auth.jwt.jwks")).value)];
    front.corridor.log().line(&LogLine { level, message: redactor.text(text).value, fields });
}

/// From the start and for as long as we serve, in the background.
pub(super) fn keep_fresh(front: &Arc<Front>) -> Option<JoinHandle<()>> {
    front.keys.as_ref()?;
    let front = Arc::clone(front);
    Some(tokio::spawn(async move {
        let Some(keys) = &front.keys else { return };
        loop {
            let looked = keys.load(&front, &mut *keys.last.lock().await).await;
            let wait = match (&keys.source, looked) {
                (KeySource::File(_, good), _) => LOOK.min(*good).max(Duration::from_millis(100)),
                (KeySource::Url(_, good), Looked::Now) => (*good).max(IMPATIENT),
                (KeySource::Url(_, good), Looked::No) if keys.are_loaded() => {
                    AT_MOST_EVERY.min(*good).max(IMPATIENT)
                }
                (KeySource::Url(..), Looked::No) => IMPATIENT,
            };
            sleep(wait).await;
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(last: &mut Last, look: Look, now: u64, expected: &str) {
        let step = last.after(look, Duration::from_secs(now), Duration::from_secs(30));
        let word = match step {
            Step::Use(_) => "use",
            Step::Keep => "keep",
            Step::Fail(Some(_)) => "fail and tell",
            Step::Fail(None) => "fail",
            Step::Drop(_) => "drop",
        };
        assert_eq!(word, expected, "{now}");
    }

    #[test]
    fn keys_that_nobody_confirms_are_good_for_ten_times_their_life() {
        let failed = || Look::Failed("nobody answers".to_owned());
        let mut last = Last::default();
        check(&mut last, failed(), 0, "fail and tell");
        check(&mut last, failed(), 1000, "fail"); // there was nothing to drop
        check(&mut last, Look::New(KeySet::default()), 2000, "use");
        check(&mut last, failed(), 2100, "fail and tell");
        check(&mut last, Look::Failed("something else".to_owned()), 2200, "fail and tell");
        check(&mut last, failed(), 2300, "fail and tell");
        check(&mut last, failed(), 2301, "drop");
        check(&mut last, failed(), 3000, "fail");
        check(&mut last, Look::New(KeySet::default()), 4000, "use");
        check(&mut last, Look::Unchanged, 4900, "keep");
        check(&mut last, failed(), 5200, "fail and tell");
        check(&mut last, failed(), 5201, "drop");
    }

    #[test]
    fn a_file_that_stays_spoiled_confirms_nothing() {
        let mut last = Last::default();
        check(&mut last, Look::New(KeySet::default()), 0, "use");
        check(&mut last, Look::Failed("no key set".to_owned()), 10, "fail and tell");
        check(&mut last, Look::Unchanged, 300, "fail");
        check(&mut last, Look::Unchanged, 301, "drop");
    }
}
