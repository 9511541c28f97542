//! Why somebody was not let in. What the caller is told, and the line that operators watch for.

use crate::IgnoredHeader;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    InvalidInternalToken,
    /// A bearer token that is no token of ours, with the reason for the log.
    InvalidToken(&'static str),
    /// The token was good until its time was over.
    ExpiredToken,
    /// The token names a key that the key set does not hold: it may have been rotated.
    UnknownKey,
    InvalidApiKey,
    InvalidSlackSignature,
    /// The caller may say for whom it calls, and said something that cannot be read.
    UnreadableIdentity(IgnoredHeader),
    /// Who it is, is known; the operator's contexts have no row for such a caller.
    NoContext,
    /// No credential at all.
    Missing,
}

impl Refusal {
    /// The line of specification 001 that operators search for.
    pub fn log_line(&self) -> &'static str {
        match self {
            Refusal::InvalidInternalToken => "Invalid internal token attempt",
            Refusal::InvalidToken(_) | Refusal::UnknownKey => "Invalid bearer token attempt",
            Refusal::ExpiredToken => "Expired bearer token",
            Refusal::InvalidApiKey => "Invalid API key attempt",
            Refusal::InvalidSlackSignature => "Invalid Slack signature attempt",
            Refusal::UnreadableIdentity(_) => "Request refused: its identity headers cannot be read",
            Refusal::NoContext => "No context fits the caller",
            Refusal::Missing => "Authentication required but not provided",
        }
    }

    /// What the caller is told.
    pub fn message(&self) -> &'static str {
        match self {
            Refusal::InvalidInternalToken => "Invalid internal token",
            Refusal::InvalidToken(_) | Refusal::ExpiredToken | Refusal::UnknownKey => "Invalid bearer token",
            Refusal::InvalidApiKey => "Invalid API key",
            Refusal::InvalidSlackSignature => "Invalid Slack signature",
            Refusal::UnreadableIdentity(_) => "The headers that say for whom the call is made cannot be read",
            Refusal::NoContext => "No context is for this caller",
            Refusal::Missing => "Authentication required but not provided",
        }
    }

    /// What the caller can do about it. Why a credential is wrong is for the log: it would help whoever guesses.
    pub fn next_step(&self) -> &'static str {
        match self {
            Refusal::Missing => "Send X-API-Key, Authorization: Bearer, or X-Internal-Token.",
            Refusal::ExpiredToken => "The token's time is over. Get a new one and send that.",
            Refusal::UnreadableIdentity(_) => "Send the headers as they are meant, or leave them out.",
            Refusal::NoContext => "Ask the operator for a row in `contexts` that is about you.",
            Refusal::InvalidInternalToken
            | Refusal::InvalidToken(_)
            | Refusal::UnknownKey
            | Refusal::InvalidApiKey
            | Refusal::InvalidSlackSignature => {
                "Compare the credential with the operator's; the service's log says what is wrong with it."
            }
        }
    }

    /// Whether what was shown is no credential, apart from who would have shown it.
    pub(crate) fn is_no_credential(&self) -> bool {
        match self {
            Refusal::InvalidInternalToken
            | Refusal::InvalidToken(_)
            | Refusal::ExpiredToken
            | Refusal::UnknownKey
            | Refusal::InvalidApiKey
            | Refusal::InvalidSlackSignature => true,
            Refusal::UnreadableIdentity(_) | Refusal::NoContext | Refusal::Missing => false,
        }
    }

    /// A wrong credential counts against its sender; a missing one does not, nor one that was good a while ago: clients
    /// learn by the refusal that they need a new one.
    pub fn is_guess(&self) -> bool {
        match self {
            Refusal::Missing
            | Refusal::UnreadableIdentity(_)
            | Refusal::NoContext
            | Refusal::ExpiredToken => false,
            Refusal::InvalidInternalToken
            | Refusal::InvalidToken(_)
            | Refusal::UnknownKey
            | Refusal::InvalidApiKey
            | Refusal::InvalidSlackSignature => true,
        }
    }
}
