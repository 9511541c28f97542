//! Tokens for one task: who holds one is in one context, for a while, with nothing more than the
//! token says. They are made with a key that only this installation has, so nothing about them has
//! to be kept.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use vambrace_types::{Role, Secret, Timestamp, ToolMode, Voice};

use crate::token::hex;
use crate::{Credential, Identity, Refusal};

const PREFIX: &str = "vbt_";
/// What the parts of the text have between them; none of them may hold it.
const BETWEEN: char = '\u{1f}';
/// LIMIT: of a task, in seconds. Who works longer asks for another token.
pub const LONGEST_TASK: u64 = 24 * 3600;

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Who works, as the audit log has it: whoever had the token made.
    pub caller_id: String,
    pub email: Option<String>,
    pub user: Option<String>,
    pub subject: Option<String>,
    pub voice: Voice,
    /// Tells tasks of one caller apart.
    pub id: String,
    /// None: the whole configuration's.
    pub context: Option<String>,
    /// No more than this.
    pub role: Option<Role>,
    pub mode: Option<ToolMode>,
    pub expires_at: Timestamp,
}

/// Makes and reads tokens.
pub struct TaskKey(Secret<Vec<u8>>);

impl std::fmt::Debug for TaskKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TaskKey")
    }
}

/// Whether a text is meant as such a token.
pub(crate) fn looks_like_one(token: &str) -> bool {
    token.starts_with(PREFIX)
}

impl TaskKey {
    pub fn new(key: Secret<Vec<u8>>) -> TaskKey {
        TaskKey(key)
    }

    /// None where a part could be taken for two.
    pub fn make(&self, task: &Task) -> Option<Secret<String>> {
        let expires = task.expires_at.millis().to_string();
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let (email, user, subject) = (text(&task.email), text(&task.user), text(&task.subject));
        let parts = [
            task.caller_id.as_str(),
            &email,
            &user,
            &subject,
            match task.voice {
                Voice::Own => "own",
                Voice::OfOthers => "others",
            },
            &task.id,
            task.context.as_deref().unwrap_or_default(),
            task.role.map_or("", Role::as_str),
            task.mode.map_or("", ToolMode::describe),
            &expires,
        ];
        if parts.iter().any(|part| part.contains(BETWEEN)) {
            return None;
        }
        let text = parts.join(&BETWEEN.to_string());
        let tag = self.tag(text.as_bytes())?.finalize().into_bytes();
        Some(Secret::new(format!("{PREFIX}{}{}", hex(text.as_bytes()), hex(&tag))))
    }

    /// INVARIANT: nothing of the text is looked at before its tag was found good, in constant time.
    pub fn read(&self, token: &str, now: Timestamp) -> Result<Task, Refusal> {
        const TAG_DIGITS: usize = 64;
        let digits = token.strip_prefix(PREFIX).ok_or(Refusal::InvalidToken("it is no task token"))?;
        let cut = digits.len().checked_sub(TAG_DIGITS).and_then(|at| digits.split_at_checked(at));
        let parts = cut.and_then(|(text, tag)| Some((unhex(text)?, unhex(tag)?)));
        let (text, tag) = parts.ok_or(Refusal::InvalidToken("it is no task token"))?;
        let mac = self.tag(&text).ok_or(Refusal::InvalidToken("there is no key for task tokens"))?;
        mac.verify_slice(&tag).map_err(|_| Refusal::InvalidToken("the task token was not made here"))?;
        let task = String::from_utf8(text).ok().and_then(|text| parse(&text));
        let task = task.ok_or(Refusal::InvalidToken("the task token was made by another version"))?;
        if task.expires_at <= now {
            return Err(Refusal::ExpiredToken);
        }
        Ok(task)
    }

    fn tag(&self, text: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose()).ok()?;
        mac.update(b"vambrace task 2\n");
        mac.update(text);
        Some(mac)
    }
}

fn parse(text: &str) -> Option<Task> {
    let parts: Vec<&str> = text.split(BETWEEN).collect();
    let [caller_id, email, user, subject, voice, id, context, role, mode, expires] = parts.as_slice() else {
        return None;
    };
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let role = if role.is_empty() { None } else { Some(Role::parse(role).ok()?) };
    let mode = if mode.is_empty() { None } else { Some(ToolMode::parse(mode).ok()?) };
    Some(Task {
        caller_id: (*caller_id).to_owned(),
        email: known(email),
        user: known(user),
        subject: known(subject),
        voice: if *voice == "own" { Voice::Own } else { Voice::OfOthers },
        id: (*id).to_owned(),
        context: known(context),
        role,
        mode,
        expires_at: Timestamp::from_millis(expires.parse().ok()?),
    })
}

/// Who holds the token: whoever had it made, with less. So whoever stops that one, by any of its
/// names, stops its tasks, and what a task does wrong counts for its maker; one task alone can be
/// stopped by its own name.
pub(crate) fn identity(task: Task) -> Identity {
    let role = task.role.unwrap_or(Role::Dev);
    Identity {
        email: task.email.clone(),
        user: task.user.clone(),
        subject: task.subject.clone(),
        voice: task.voice,
        task: Some(task.clone()),
        ..Identity::named(&task.caller_id, role, Credential::Task)
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}
