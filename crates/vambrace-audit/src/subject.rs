//! The name under which a caller is counted and stopped. Never cut: two callers must not share one, nor one have two.

use std::borrow::Cow;

use vambrace_types::{Caller, Voice};

use crate::chain::Hash;

/// Longer names are counted by their hash.
const LONGEST_NAME: usize = 256;
/// Room for such a name in JSON, every byte escaped.
pub(crate) const JSON_LIMIT: usize = LONGEST_NAME * 6 + 2;

/// THREAT: P12, an address of mail is the same person in any case.
pub(crate) fn of(caller: &str) -> Cow<'_, str> {
    if caller.len() > LONGEST_NAME {
        return Cow::Owned(format!("sha256:{}", Hash::of(caller.as_bytes()).to_hex()));
    }
    if caller.contains('@') && caller.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(caller.to_ascii_lowercase());
    }
    Cow::Borrowed(caller)
}

/// Whom violations are counted for: the caller itself, or the person behind a caller that speaks for several, as that caller
/// names them. THREAT: P12, what is said through one bridge must not get people stopped who call by themselves.
pub fn of_caller(caller: &Caller) -> Cow<'_, str> {
    // A user name may be chosen to look like somebody else's name, address or subject; a subject is given once.
    let person = caller.email.as_deref().or(caller.user.as_deref()).or(caller.subject.as_deref());
    match (caller.voice, person) {
        (Voice::OfOthers, Some(person)) => Cow::Owned(behind(&caller.id, person)),
        (Voice::OfOthers, None) | (Voice::Own, _) => of(person.unwrap_or(&caller.id)),
    }
}

/// The person behind a caller that speaks for several.
pub(crate) fn behind(caller: &str, person: &str) -> String {
    of(&format!("{caller} for {}", of(person))).into_owned()
}

/// Every name by which a caller can be stopped.
pub(crate) fn all_of(caller: &Caller) -> Vec<String> {
    let owner = caller.owner();
    let counted = of_caller(caller);
    let task = caller.task.as_ref().map(|task| format!("task-{}", task.id));
    let names = [
        task.as_deref(),
        Some(caller.id.as_str()),
        caller.email.as_deref(),
        caller.user.as_deref(),
        caller.subject.as_deref(),
        Some(&owner),
        Some(&*counted),
    ];
    let mut names: Vec<String> = names.into_iter().flatten().map(|name| of(name).into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use vambrace_types::{Door, Role};

    use super::*;

    #[track_caller]
    fn check(id: &str, email: Option<&str>, user: Option<&str>, counted: &str, stopped_by: &[&str]) {
        let caller = Caller {
            email: email.map(str::to_owned),
            user: user.map(str::to_owned),
            voice: if id == "bridge" { Voice::OfOthers } else { Voice::Own },
            ..Caller::named(id, Role::Dev, Door::Rest)
        };
        assert_eq!(of_caller(&caller), counted);
        assert_eq!(all_of(&caller), stopped_by);
    }

    /// THREAT: P13, whoever may choose a user name chooses another's address, and gets them stopped.
    #[test]
    fn a_name_that_was_chosen_to_look_like_anothers_is_not_counted_as_theirs() {
        let caller = |id: &str, email: Option<&str>, subject: Option<&str>| Caller {
            email: email.map(str::to_owned),
            subject: subject.map(str::to_owned),
            ..Caller::named(id, Role::Dev, Door::Rest)
        };
        let ann = caller("ann", Some("ann@example.com"), Some("- 1"));
        let eve = caller("ann@example.com", None, Some("- 2"));
        assert_eq!((&*of_caller(&ann), &*of_caller(&eve)), ("ann@example.com", "- 2"));
        assert_eq!(of_caller(&caller("ann", None, Some("- 1"))), "- 1");
        assert_eq!(of_caller(&caller("slack-bridge for U1", None, Some("- 3"))), "- 3");
        // A key's own name, which the operator chose.
        assert_eq!(of_caller(&caller("ann@example.com", None, None)), "ann@example.com");
    }

    #[test]
    fn a_person_is_counted_and_the_caller_can_be_stopped_too() {
        check("agent", None, None, "agent", &["agent"]);
        check("Agent", None, None, "Agent", &["Agent"]);
        check("a@x", Some("a@x"), None, "a@x", &["a@x"]);
        check("A@x", Some("a@X"), None, "a@x", &["a@x", "a@x\u{1f}a@x"]);
        check(
            "bridge",
            Some("Ann@Example.com"),
            None,
            "bridge for ann@example.com",
            &["ann@example.com", "bridge", "bridge\u{1f}ann@example.com", "bridge for ann@example.com"],
        );
        check(
            "bridge",
            None,
            Some("U1"),
            "bridge for U1",
            &["U1", "bridge", "bridge\u{1f}U1", "bridge for U1"],
        );
        check(
            "bridge",
            Some("a@x"),
            Some("U1"),
            "bridge for a@x",
            &["U1", "a@x", "bridge", "bridge\u{1f}u1\u{1f}a@x", "bridge for a@x"],
        );
    }
}
