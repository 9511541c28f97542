//! On whose behalf a caller says it calls. Believed only of callers that may say so.

use crate::{Identity, Offered, Refusal};
use vambrace_types::{Rank, is_invisible};

pub(crate) const MOST_GROUPS: usize = 1024;
const MOST_NAME_BYTES: usize = 320;

/// A name that goes into records and keys of other people's things: short, and without characters that
/// separate there.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && fault(text).is_none()
}

/// A header that was not believed, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IgnoredHeader {
    pub name: &'static str,
    pub why: WhyIgnored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyIgnored {
    /// The credential does not let its owner speak for others.
    NotEntitled,
    TooLong,
    TooMany,
    ControlCharacter,
}

impl WhyIgnored {
    pub fn as_str(self) -> &'static str {
        match self {
            WhyIgnored::NotEntitled => "the caller may not speak for others",
            WhyIgnored::TooLong => "it is too long",
            WhyIgnored::TooMany => "it names too many groups",
            WhyIgnored::ControlCharacter => "it has control characters or invisible ones",
        }
    }
}

const EMAIL: &str = "x-user-email";
const GROUPS: &str = "x-user-groups";
const SLACK_USER: &str = "x-slack-user-id";
const SLACK_CHANNEL: &str = "x-slack-channel-id";

/// THREAT: P13, only the internal token and keys marked so come here. The role stays the credential's own,
/// and nobody becomes an operator, or stays one while speaking for somebody else. What cannot be read is not
/// left out: without the person's name the call would have the credential's own rights.
pub(crate) fn apply(mut identity: Identity, offered: &Offered<'_>) -> Result<Identity, Refusal> {
    identity.email = name(EMAIL, offered.user_email)?;
    identity.groups = groups(offered.user_groups)?;
    identity.user = name(SLACK_USER, offered.slack_user)?;
    identity.channel = name(SLACK_CHANNEL, offered.slack_channel)?;
    if identity.email.is_some() || identity.user.is_some() || !identity.groups.is_empty() {
        identity.rank = Rank::Agent;
    }
    Ok(identity)
}

/// For everybody else: what they said is left out, and known to have been said.
pub(crate) fn ignore(mut identity: Identity, offered: &Offered<'_>) -> Identity {
    let said = [
        (EMAIL, offered.user_email),
        (GROUPS, offered.user_groups),
        (SLACK_USER, offered.slack_user),
        (SLACK_CHANNEL, offered.slack_channel),
    ];
    let ignored = said.into_iter().filter(|(_, value)| value.is_some());
    identity.ignored.extend(ignored.map(|(name, _)| IgnoredHeader { name, why: WhyIgnored::NotEntitled }));
    identity
}

fn unreadable(name: &'static str, why: WhyIgnored) -> Refusal {
    Refusal::UnreadableIdentity(IgnoredHeader { name, why })
}

fn name(header: &'static str, value: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(text) = value.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    match fault(text) {
        None => Ok(Some(text.to_owned())),
        Some(why) => Err(unreadable(header, why)),
    }
}

/// All or none: the group that would be left out may be the one that only reads.
fn groups(value: Option<&str>) -> Result<Vec<String>, Refusal> {
    let named = || value.unwrap_or_default().split(',').map(str::trim).filter(|group| !group.is_empty());
    let wrong =
        if named().count() > MOST_GROUPS { Some(WhyIgnored::TooMany) } else { named().find_map(fault) };
    match wrong {
        None => Ok(named().map(str::to_owned).collect()),
        Some(why) => Err(unreadable(GROUPS, why)),
    }
}

fn fault(text: &str) -> Option<WhyIgnored> {
    if text.len() > MOST_NAME_BYTES {
        Some(WhyIgnored::TooLong)
    } else if text.chars().any(|one| one.is_control() || is_invisible(one)) {
        Some(WhyIgnored::ControlCharacter)
    } else {
        None
    }
}
