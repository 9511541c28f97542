//! Who is calling, and through which door. Identity is a value carried through the walk, never ambient.

use std::sync::Arc;

use crate::{Role, ToolMode};

/// The front end a call came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    CommandLine,
    /// A person typed the program itself, after `run --`.
    Terminal,
    McpStdio,
    McpHttp,
    Rest,
    A2a,
    /// Our own effects: they need permits like everybody else's.
    System,
}

impl Door {
    pub fn as_str(self) -> &'static str {
        match self {
            Door::CommandLine => "cli",
            Door::Terminal => "run",
            Door::McpStdio => "mcp-stdio",
            Door::McpHttp => "mcp-http",
            Door::Rest => "rest",
            Door::A2a => "a2a",
            Door::System => "system",
        }
    }
}

/// Whether a caller may look at what others did and answer questions that a person has to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rank {
    /// An agent, or whoever speaks for one: sees its own.
    Agent,
    /// A person who watches over agents, or their console.
    Operator,
}

/// For whom a caller speaks that names no person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Voice {
    /// For itself: it is one person or one agent.
    Own,
    /// For whoever stands behind it. What several people say through it is nobody's own.
    OfOthers,
}

/// A task, and what its token leaves of what its context gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowed {
    pub id: String,
    pub role: Option<Role>,
    pub mode: Option<ToolMode>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub id: String,
    pub email: Option<String>,
    pub groups: Vec<String>,
    pub role: Role,
    pub door: Door,
    /// The person behind a caller that speaks for several, as the caller knows them: Slack's user id, for instance.
    pub user: Option<String>,
    /// Where the person said it: Slack's channel id, for instance.
    pub channel: Option<String>,
    pub rank: Rank,
    /// Who a token is about, in words of its issuer that the person cannot change: the issuer and its `sub`.
    pub subject: Option<String>,
    pub voice: Voice,
    /// What it works in, by name; none: the configuration as it is. INVARIANT: set by whoever let
    /// it in, from the operator's rows.
    pub context: Option<Arc<str>>,
    /// Set for whoever holds a token for one task.
    pub task: Option<Narrowed>,
}

impl Caller {
    pub fn named(id: impl Into<String>, role: Role, door: Door) -> Caller {
        Caller {
            id: id.into(),
            email: None,
            groups: Vec::new(),
            role,
            door,
            user: None,
            channel: None,
            rank: Rank::Agent,
            subject: None,
            voice: Voice::Own,
            context: None,
            task: None,
        }
    }

    /// The person or agent at this machine, with no outside identity.
    pub fn local(role: Role, door: Door) -> Caller {
        Caller::named("local", role, door)
    }

    /// Whoever holds the credential, in its context. THREAT: P13, two people behind one Slack
    /// bridge share its id and nothing else; two people of one issuer may take the same name. What
    /// is kept in one context is not there in another.
    pub fn holder(&self) -> String {
        let (user, email, subject) = (self.user.as_deref(), self.email.as_deref(), self.subject.as_deref());
        owner_of(&self.id, user, email, subject, self.context.as_deref(), None)
    }

    /// To whom things belong that nobody else may see: the holder, and each of its tasks for itself.
    pub fn owner(&self) -> String {
        let (user, email, subject) = (self.user.as_deref(), self.email.as_deref(), self.subject.as_deref());
        let task = self.task.as_ref().map(|task| task.id.as_str());
        owner_of(&self.id, user, email, subject, self.context.as_deref(), task)
    }
}

/// As `Caller::owner`, from what a record holds of a caller.
pub fn owner_of(
    id: &str,
    user: Option<&str>,
    email: Option<&str>,
    subject: Option<&str>,
    context: Option<&str>,
    task: Option<&str>,
) -> String {
    let mut owner = id.to_owned();
    for part in [user, email, subject].into_iter().flatten().filter(|part| *part != id) {
        owner.push('\u{1f}');
        owner.push_str(part);
    }
    // No name holds what stands before these two.
    for (mark, part) in [('\u{1e}', context), ('\u{1d}', task)] {
        if let Some(part) = part {
            owner.extend(['\u{1f}', mark]);
            owner.push_str(part);
        }
    }
    owner
}

/// By whose credential this owner came: all for whom one caller speaks have the same.
pub fn credential_of(owner: &str) -> &str {
    owner.split('\u{1f}').next().unwrap_or(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_behind_one_caller_own_different_things() {
        let bridge = Caller::named("slack-bridge", Role::Dev, Door::Rest);
        let ann = Caller { email: Some("ann@example.com".to_owned()), ..bridge.clone() };
        let ben = Caller { email: Some("ben@example.com".to_owned()), ..bridge.clone() };
        assert_ne!(ann.owner(), ben.owner());
        assert_ne!(ann.owner(), bridge.owner());
        assert!([&ann, &ben, &bridge].iter().all(|caller| credential_of(&caller.owner()) == "slack-bridge"));
        // A person who calls with a token of their own is one person.
        let own = Caller {
            email: Some("ann@example.com".to_owned()),
            ..Caller::named("ann@example.com", Role::Dev, Door::Rest)
        };
        assert_eq!(own.owner(), "ann@example.com");
        let subject =
            |sub: &str| Caller { subject: Some(format!("https://id.example.com {sub}")), ..own.clone() };
        assert_eq!(subject("1").owner(), "ann@example.com\u{1f}https://id.example.com 1");
        assert_ne!(subject("1").owner(), subject("2").owner());
    }
}
