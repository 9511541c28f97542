//! Whose memory it is. An owner comes from who is calling, never from an argument of a call.

use vambrace_types::{Caller, Voice};

/// Who shares what was remembered (`rag.knowledge_scope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    Everybody,
    Channel,
    Person,
}

impl Sharing {
    pub fn as_str(self) -> &'static str {
        match self {
            Sharing::Everybody => "shared",
            Sharing::Channel => "channel",
            Sharing::Person => "user",
        }
    }

    /// THREAT: P13, a caller without the id that is asked for gets nothing, not the common memory: a private
    /// note would be everybody's.
    pub fn owner(self, caller: &Caller) -> Result<Owner, NoOwner> {
        let known = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let mut parts = match self {
            Sharing::Everybody => vec![self.as_str().to_owned()],
            Sharing::Channel => {
                let channel = known(&caller.channel).ok_or(NoOwner::Channel)?;
                vec![self.as_str().to_owned(), channel]
            }
            // The issuer's own name for a person stays when they take another name, which may be another's.
            Sharing::Person if caller.subject.is_some() => {
                let parts = [self.as_str(), "subject"].map(str::to_owned);
                parts.into_iter().chain(caller.subject.clone()).collect()
            }
            Sharing::Person => {
                let mut parts = vec![self.as_str().to_owned(), caller.id.clone()];
                // One id for one person: a bridge that knows the address on some days only still speaks of
                // the same.
                if let Some(user) = known(&caller.user) {
                    parts.extend(["id".to_owned(), user]);
                } else if let Some(email) = known(&caller.email) {
                    let email = email.to_ascii_lowercase();
                    if !email.eq_ignore_ascii_case(&caller.id) {
                        parts.extend(["email".to_owned(), email]);
                    }
                } else {
                    match caller.voice {
                        Voice::Own => {}
                        Voice::OfOthers => return Err(NoOwner::Person),
                    }
                }
                parts
            }
        };
        // What is remembered in one context is not there in another.
        if let Some(context) = &caller.context {
            parts.splice(0..0, ["context".to_owned(), context.to_string()]);
        }
        // Nothing inside a part may look like the border between two.
        if parts.iter().any(|part| part.contains(BORDER)) {
            return Err(NoOwner::Unreadable);
        }
        Ok(Owner(parts.join(&BORDER.to_string())))
    }
}

const BORDER: char = '\u{1f}';

/// INVARIANT: made from a caller alone, by `Sharing::owner`; every statement of a store names one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner(String);

impl Owner {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoOwner {
    #[error("the call names no channel")]
    Channel,
    #[error("the call names no person")]
    Person,
    #[error("the caller's ids hold a control character")]
    Unreadable,
}

#[cfg(test)]
mod tests {
    use vambrace_types::{Door, Role};

    use super::*;

    const OF_OTHERS: [&str; 3] = ["slack-bridge", "unauthenticated", "web-bridge"];

    fn caller(id: &str, user: &str, email: &str, channel: &str) -> Caller {
        let known = |text: &str| (text != "-").then(|| text.to_owned());
        Caller {
            user: known(user),
            email: known(email),
            channel: known(channel),
            voice: if OF_OTHERS.contains(&id) { Voice::OfOthers } else { Voice::Own },
            ..Caller::named(id, Role::Dev, Door::Rest)
        }
    }

    #[track_caller]
    fn check(sharing: Sharing, caller: &Caller, expected: Result<&str, NoOwner>) {
        let owner = sharing.owner(caller).map(|owner| owner.as_str().replace(BORDER, "|"));
        assert_eq!(owner.as_deref(), expected.as_ref().copied(), "{caller:?}");
    }

    #[test]
    fn an_owner_is_whoever_calls() {
        use Sharing::{Channel, Everybody, Person};
        let nobody = caller("slack-bridge", "-", "-", "-");
        check(Everybody, &nobody, Ok("shared"));
        check(Channel, &nobody, Err(NoOwner::Channel));
        check(Channel, &caller("slack-bridge", "U1", "-", ""), Err(NoOwner::Channel));
        check(Channel, &caller("slack-bridge", "-", "-", "C1"), Ok("channel|C1"));
        check(Person, &nobody, Err(NoOwner::Person));
        check(Person, &caller("unauthenticated", "-", "", "C1"), Err(NoOwner::Person));
        check(Person, &caller("web-bridge", "", "-", "C1"), Err(NoOwner::Person));
        check(Person, &caller("web-bridge", "U1", "-", "-"), Ok("user|web-bridge|id|U1"));
        check(Person, &caller("slack-bridge", "U1", "-", "-"), Ok("user|slack-bridge|id|U1"));
        check(Person, &caller("slack-bridge", "U1", "a@example.com", "-"), Ok("user|slack-bridge|id|U1"));
        check(
            Person,
            &caller("slack-bridge", "-", "A@example.com", "-"),
            Ok("user|slack-bridge|email|a@example.com"),
        );
        // With a token or a key of their own they are who they say.
        check(Person, &caller("a@example.com", "-", "A@example.com", "-"), Ok("user|a@example.com"));
        check(Person, &caller("build-agent", "-", "-", "-"), Ok("user|build-agent"));
        check(Person, &caller("local", "-", "-", "-"), Ok("user|local"));
        // Also under another name.
        for name in ["ann", "ben"] {
            let subject = Some("https://id.example.com 1".to_owned());
            let ann = Caller { subject, ..caller(name, "-", "a@example.com", "-") };
            check(Person, &ann, Ok("user|subject|https://id.example.com 1"));
        }
    }

    #[test]
    fn nobody_forges_a_border() {
        check(Sharing::Channel, &caller("x", "-", "-", "C1\u{1f}C2"), Err(NoOwner::Unreadable));
        check(Sharing::Person, &caller("x\u{1f}id\u{1f}U1", "-", "-", "-"), Err(NoOwner::Unreadable));
    }
}
