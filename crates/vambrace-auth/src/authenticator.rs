//! Specification 001's order of credentials: internal token, bearer token, API key, Slack signature, open
//! mode. A bearer token that is none gives way to an API key beside it; an internal token does not.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use vambrace_types::{AccessLevel, Caller, Door, Narrowed, Rank, Role, Timestamp, Voice};

use crate::asserted::{self, IgnoredHeader};
use crate::claims::{self, Checked};
use crate::contexts::{ContextRows, Place};
use crate::jwt::{self, JwtSettings, JwtTrust, Keys};
use crate::task::{self, Task, TaskKey};
use crate::verified::Verified;
use crate::{ApiKey, KeyDigest, KeySet, Refusal, SlackKey, api_key};

/// Whether callers must show a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Token,
    Open,
}

#[derive(Debug, Clone, Default)]
pub struct AuthSettings {
    pub mode: Mode,
    pub internal_token: Option<KeyDigest>,
    pub api_keys: Vec<ApiKey>,
    pub jwt: JwtSettings,
    /// For requests that come from Slack itself.
    pub slack: Option<SlackKey>,
    /// What tokens for tasks are made with.
    pub tasks: Option<Arc<TaskKey>>,
    pub contexts: ContextRows,
}

/// What a request shows of its sender. Absent headers are `None`; a header given twice is the front end's to
/// refuse.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offered<'r> {
    /// `X-Internal-Token`
    pub internal_token: Option<&'r str>,
    /// `Authorization`, whole.
    pub authorization: Option<&'r str>,
    /// `X-API-Key`
    pub api_key: Option<&'r str>,
    /// `X-Slack-Signature`
    pub slack_signature: Option<&'r str>,
    /// `X-Slack-Request-Timestamp`
    pub slack_timestamp: Option<&'r str>,
    /// The raw body, if `Authenticator::needs_body` says so.
    pub body: Option<&'r [u8]>,
    /// `X-User-Email`
    pub user_email: Option<&'r str>,
    /// `X-User-Groups`, with commas between.
    pub user_groups: Option<&'r str>,
    /// `X-Slack-User-Id`
    pub slack_user: Option<&'r str>,
    /// `X-Slack-Channel-Id`
    pub slack_channel: Option<&'r str>,
    /// Whether the peer itself is one of `server.trusted_proxies`.
    pub from_trusted_proxy: bool,
}

/// The credential that counts: the first kind that is present, in specification 001's order.
enum Shown<'r> {
    InternalToken(&'r str),
    Bearer(&'r str),
    ApiKey(&'r str),
    SlackSignature(&'r str),
    Nothing,
}

impl<'r> Offered<'r> {
    fn shown(&self) -> Shown<'r> {
        if let Some(token) = present(self.internal_token) {
            return Shown::InternalToken(token);
        }
        if let Some(bearer) = present(self.authorization.and_then(bearer)) {
            return Shown::Bearer(bearer);
        }
        match (present(self.api_key), present(self.slack_signature)) {
            (Some(key), _) => Shown::ApiKey(key),
            (None, Some(signature)) => Shown::SlackSignature(signature),
            (None, None) => Shown::Nothing,
        }
    }
}

/// A header without a value shows nothing: clients send one when they have no credential.
fn present(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.trim().is_empty())
}

/// What became of looking at a request's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub found: Result<Identity, Refusal>,
    /// The bearer token was none, and an API key beside it was looked at instead. THREAT: P13, it counts like any other
    /// wrong credential, or a known key would buy endless guesses at tokens.
    pub missed: Option<Refusal>,
}

impl Attempt {
    /// Whether a key set that is fetched anew could change it.
    pub fn names_unknown_key(&self) -> bool {
        let unknown = Refusal::UnknownKey;
        self.found.as_ref().err() == Some(&unknown) || self.missed.as_ref() == Some(&unknown)
    }
}

/// Which credential let a caller in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    InternalToken,
    Jwt,
    ApiKey,
    SlackSignature,
    Task,
    /// None: the operator opened the doors.
    Open,
}

/// Who it is. Made by the authenticator alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub(crate) caller_id: String,
    pub(crate) role: Role,
    pub(crate) email: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) rank: Rank,
    pub(crate) subject: Option<String>,
    pub(crate) voice: Voice,
    pub(crate) credential: Credential,
    pub(crate) ignored: Vec<IgnoredHeader>,
    /// Of the token's claims, those that contexts ask for.
    pub(crate) claims: Vec<(String, String)>,
    /// Set for whoever holds a token for a task.
    pub(crate) task: Option<Task>,
    pub(crate) place: Place,
}

impl Identity {
    pub(crate) fn named(caller_id: &str, role: Role, credential: Credential) -> Identity {
        Identity {
            caller_id: caller_id.to_owned(),
            role,
            email: None,
            groups: Vec::new(),
            user: None,
            channel: None,
            rank: Rank::Agent,
            subject: None,
            voice: Voice::Own,
            credential,
            ignored: Vec::new(),
            claims: Vec::new(),
            task: None,
            place: Place::default(),
        }
    }

    /// What the request said about its sender and was not believed.
    pub fn ignored(&self) -> &[IgnoredHeader] {
        &self.ignored
    }

    pub fn credential(&self) -> Credential {
        self.credential
    }

    pub fn caller_id(&self) -> &str {
        &self.caller_id
    }

    pub fn caller(&self, door: Door) -> Caller {
        Caller {
            id: self.caller_id.clone(),
            email: self.email.clone(),
            groups: self.groups.clone(),
            role: self.place.role.unwrap_or(self.role),
            door,
            user: self.user.clone(),
            channel: self.channel.clone(),
            rank: self.rank,
            subject: self.subject.clone(),
            voice: self.voice,
            context: self.place.context.clone(),
            task: self.task.as_ref().map(|task| Narrowed {
                id: task.id.clone(),
                role: task.role,
                mode: task.mode,
            }),
        }
    }
}

const BRIDGE: &str = "slack-bridge";
const SLACK: &str = "slack";
const NOBODY: &str = "unauthenticated";
/// The person at this machine.
const LOCAL: &str = "local";

/// Whether a credential of another kind gives this name; a key with it would be taken for that.
pub fn is_reserved_caller(caller_id: &str) -> bool {
    [BRIDGE, SLACK, NOBODY].contains(&caller_id.to_lowercase().as_str())
}

/// LIMIT: a longer value is no credential of ours, and is not hashed.
const MOST_SECRET_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub struct Authenticator {
    settings: AuthSettings,
    /// Names (in lower case) that other credentials give; no token may claim them.
    taken: HashSet<String>,
    /// Changed as a whole when keys are rotated; a request takes its own reference and never waits for long.
    keys: RwLock<Arc<Keys>>,
}

impl Authenticator {
    pub fn new(settings: AuthSettings) -> Authenticator {
        let of_keys = settings.api_keys.iter().map(|key| key.caller_id.as_str());
        let taken =
            [BRIDGE, SLACK, NOBODY, LOCAL].into_iter().chain(of_keys).map(str::to_lowercase).collect();
        Authenticator { settings, taken, keys: RwLock::default() }
    }

    /// Replaces the keys that bearer tokens are checked with.
    pub fn set_keys(&self, set: KeySet) {
        let keys = Keys { set, verified: Verified::default() };
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the body has to be there before anybody can say who sent it. THREAT: P12, only for what may be a
    /// signature: bodies of strangers are not kept.
    pub fn needs_body(&self, offered: &Offered<'_>, now: Timestamp) -> bool {
        match (offered.shown(), offered.slack_timestamp) {
            (Shown::SlackSignature(signature), Some(timestamp)) => {
                self.settings.slack.is_some() && SlackKey::may_sign(timestamp, signature, now)
            }
            _ => false,
        }
    }

    /// INVARIANT: the first kind of credential that is present decides, and a wrong one is refused in every mode. Only
    /// a bearer token that is none leaves the word to an API key beside it (specification 001's flow).
    pub fn authenticate(&self, offered: &Offered<'_>, now: Timestamp) -> Attempt {
        let Attempt { found, missed } = self.identify(offered, now);
        let placed = found.and_then(|identity| {
            let place = self.settings.contexts.place(&identity)?;
            Ok(Identity { place, ..identity })
        });
        Attempt { found: placed, missed }
    }

    fn identify(&self, offered: &Offered<'_>, now: Timestamp) -> Attempt {
        let found = match offered.shown() {
            Shown::InternalToken(token) => self.by_internal_token(token, offered),
            Shown::Bearer(token) => match (self.by_bearer(token, offered, now), present(offered.api_key)) {
                (Err(missed), Some(key)) if missed.is_no_credential() => {
                    // Where no token could be right, nobody guesses one: a gateway may send its own along.
                    let missed = Some(missed)
                        .filter(|_| !jwt::looks_like_one(token) || self.settings.jwt.takes_tokens());
                    return Attempt { found: self.by_api_key(key, offered), missed };
                }
                (found, _) => found,
            },
            Shown::ApiKey(key) if task::looks_like_one(key) => self.by_task(key, offered, now),
            Shown::ApiKey(key) => self.by_api_key(key, offered),
            Shown::SlackSignature(signature) => self.by_slack_signature(signature, offered, now),
            Shown::Nothing => match self.settings.mode {
                Mode::Token => Err(Refusal::Missing),
                Mode::Open => Ok(asserted::ignore(many(NOBODY, Credential::Open), offered)),
            },
        };
        Attempt { found, missed: None }
    }

    /// MCP clients send API keys so, too.
    fn by_bearer(&self, token: &str, offered: &Offered<'_>, now: Timestamp) -> Result<Identity, Refusal> {
        if jwt::looks_like_one(token) {
            self.by_jwt(token, offered, now)
        } else if task::looks_like_one(token) {
            self.by_task(token, offered, now)
        } else {
            self.by_api_key(token, offered)
        }
    }

    fn by_internal_token(&self, token: &str, offered: &Offered<'_>) -> Result<Identity, Refusal> {
        let ours = self.settings.internal_token.filter(|_| is_secret(token));
        if !ours.is_some_and(|ours| bool::from(ours.matches(&KeyDigest::of(token)))) {
            return Err(Refusal::InvalidInternalToken);
        }
        asserted::apply(many(BRIDGE, Credential::InternalToken), offered)
    }

    fn by_jwt(&self, token: &str, offered: &Offered<'_>, now: Timestamp) -> Result<Identity, Refusal> {
        let settings = &self.settings.jwt;
        let (claims, checked) = match settings.trust {
            JwtTrust::Upstream if offered.from_trusted_proxy => {
                (jwt::read_unverified(token, settings, now)?, Checked::Upstream)
            }
            JwtTrust::Upstream if !settings.has_keys() => {
                return Err(Refusal::InvalidToken("its sender is not one of server.trusted_proxies"));
            }
            JwtTrust::Upstream | JwtTrust::Verify => {
                (jwt::verify(token, settings, &self.keys(), now)?, Checked::ByUs)
            }
        };
        claims::identity(&claims, settings, &self.taken, checked)
            .map(|identity| asserted::ignore(identity, offered))
    }

    fn by_task(&self, token: &str, offered: &Offered<'_>, now: Timestamp) -> Result<Identity, Refusal> {
        let tasks = self.settings.tasks.as_ref().filter(|_| is_secret(token));
        let task = tasks.ok_or(Refusal::InvalidToken("no task tokens are taken"))?.read(token, now)?;
        Ok(asserted::ignore(task::identity(task), offered))
    }

    fn by_api_key(&self, secret: &str, offered: &Offered<'_>) -> Result<Identity, Refusal> {
        let key = Some(secret)
            .filter(|secret| is_secret(secret))
            .and_then(|secret| api_key::find(&self.settings.api_keys, secret))
            .ok_or(Refusal::InvalidApiKey)?;
        let rank = if key.operator { Rank::Operator } else { Rank::Agent };
        let voice = if key.may_assert_identity { Voice::OfOthers } else { Voice::Own };
        let identity =
            Identity { rank, voice, ..Identity::named(&key.caller_id, key.role, Credential::ApiKey) };
        if key.may_assert_identity {
            asserted::apply(identity, offered)
        } else {
            Ok(asserted::ignore(identity, offered))
        }
    }

    fn by_slack_signature(
        &self,
        signature: &str,
        offered: &Offered<'_>,
        now: Timestamp,
    ) -> Result<Identity, Refusal> {
        // THREAT: P13, a body that nobody read is not the empty one.
        let sent = offered.slack_timestamp.zip(offered.body);
        let is_signed = self
            .settings
            .slack
            .as_ref()
            .zip(sent)
            .is_some_and(|(key, (timestamp, body))| key.signed(timestamp, body, signature, now));
        if !is_signed {
            return Err(Refusal::InvalidSlackSignature);
        }
        Ok(asserted::ignore(many(SLACK, Credential::SlackSignature), offered))
    }
}

/// One name for whoever comes this way.
fn many(caller_id: &str, credential: Credential) -> Identity {
    Identity { voice: Voice::OfOthers, ..Identity::named(caller_id, AccessLevel::Write.role(), credential) }
}

/// The value of a bearer token. Other schemes are for others, perhaps for a proxy on the way.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, value) =
        authorization.trim().split_once(char::is_whitespace).unwrap_or((authorization.trim(), ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| value.trim())
}

/// The empty text is nobody's secret, whatever the configuration says.
fn is_secret(text: &str) -> bool {
    !text.is_empty() && text.len() <= MOST_SECRET_BYTES
}
