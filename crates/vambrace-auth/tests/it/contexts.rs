//! Which context a caller works in, and what tokens for tasks say.

use std::sync::Arc;
use std::time::Duration;

use vambrace_auth::{
    ApiKey, AuthSettings, Authenticator, ContextMatch, ContextRow, ContextRows, Credential, KeyDigest,
    Offered, Refusal, Task, TaskKey,
};
use vambrace_types::{Caller, Door, Narrowed, Role, Secret, Timestamp, ToolMode, Voice};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn row(name: &str, matches: Option<ContextMatch>, role: Option<Role>) -> ContextRow {
    ContextRow { name: Arc::from(name), matches, role }
}

fn secret(name: &str) -> String {
    format!("ka_{name}_{}", "0123456789abcdef".repeat(2))
}

fn key(name: &str) -> ApiKey {
    ApiKey {
        caller_id: name.to_owned(),
        role: Role::Dev,
        digest: KeyDigest::of(&secret(name)),
        may_assert_identity: name == "bridge",
        operator: false,
    }
}

fn tasks() -> Arc<TaskKey> {
    Arc::new(TaskKey::new(Secret::new(vec![7; 32])))
}

fn authenticator(rows: Vec<ContextRow>) -> Authenticator {
    Authenticator::new(AuthSettings {
        api_keys: ["agent-a", "agent-b", "bridge"].map(key).to_vec(),
        contexts: ContextRows(rows),
        tasks: Some(tasks()),
        ..AuthSettings::default()
    })
}

fn come(authenticator: &Authenticator, offered: &Offered<'_>, now: Timestamp) -> Result<Caller, Refusal> {
    authenticator.authenticate(offered, now).found.map(|identity| identity.caller(Door::Rest))
}

fn by_key(
    authenticator: &Authenticator,
    name: &str,
    email: Option<&str>,
    groups: &str,
) -> Option<(String, Role)> {
    let secret = secret(name);
    let offered = Offered {
        api_key: Some(&secret),
        user_email: email,
        user_groups: (!groups.is_empty()).then_some(groups),
        ..Offered::default()
    };
    match come(authenticator, &offered, NOW) {
        Ok(caller) => Some((caller.context?.to_string(), caller.role)),
        Err(refusal) => {
            assert_eq!(refusal, Refusal::NoContext);
            None
        }
    }
}

#[test]
fn the_first_row_that_fits_counts_and_a_stranger_to_all_is_refused() {
    let one = |entry: &[&str]| ContextMatch { caller_ids: texts(entry), ..ContextMatch::default() };
    let ann = ContextMatch {
        emails: texts(&["Ann@Example.com"]),
        groups: texts(&["sre", "ops"]),
        ..ContextMatch::default()
    };
    let of_key = ContextMatch { keys: texts(&["agent-b"]), ..ContextMatch::default() };
    let authenticator = authenticator(vec![
        row("a", Some(one(&["agent-x", "agent-a"])), Some(Role::Sre)),
        row("both", Some(ann), Some(Role::ReleaseManager)),
        row("b", Some(of_key), None),
        row("late", Some(one(&["agent-a"])), None),
    ]);
    let placed = |name: &str, email, groups| by_key(&authenticator, name, email, groups);
    assert_eq!(placed("agent-a", None, ""), Some(("a".to_owned(), Role::Sre)));
    assert_eq!(placed("agent-b", None, ""), Some(("b".to_owned(), Role::Dev)));
    // Everything that is named has to fit, and only what the caller may say of itself counts.
    let email = Some("ann@example.COM");
    assert_eq!(placed("bridge", email, "dev,ops"), Some(("both".to_owned(), Role::ReleaseManager)));
    assert_eq!(placed("bridge", email, "dev"), None);
    assert_eq!(placed("bridge", None, "ops"), None);
    assert_eq!(placed("agent-b", email, "ops"), Some(("b".to_owned(), Role::Dev)));
}

#[test]
fn without_rows_everybody_has_the_whole_and_a_last_row_takes_the_rest() {
    let offered = secret("agent-a");
    let offered = Offered { api_key: Some(&offered), ..Offered::default() };
    let caller = come(&authenticator(Vec::new()), &offered, NOW).unwrap();
    assert_eq!((caller.context.as_deref(), caller.owner().as_str()), (None, "agent-a"));
    let rest = authenticator(vec![row("rest", None, None)]);
    let caller = come(&rest, &offered, NOW).unwrap();
    assert_eq!(caller.context.as_deref(), Some("rest"));
    assert_ne!(caller.owner(), "agent-a", "what is kept in one context is not there in another");
}

fn task(context: Option<&str>, role: Option<Role>, mode: Option<ToolMode>) -> Task {
    Task {
        caller_id: "agent-a".to_owned(),
        email: Some("ann@example.com".to_owned()),
        user: None,
        subject: None,
        voice: Voice::OfOthers,
        id: "0011223344556677".to_owned(),
        context: context.map(str::to_owned),
        role,
        mode,
        expires_at: NOW.plus(Duration::from_secs(60)),
    }
}

fn by_token(authenticator: &Authenticator, token: &str, now: Timestamp) -> Result<Caller, Refusal> {
    let bearer = format!("Bearer {token}");
    let by_bearer = Offered { authorization: Some(&bearer), ..Offered::default() };
    let by_header = Offered { api_key: Some(token), ..Offered::default() };
    let found = come(authenticator, &by_bearer, now);
    assert_eq!(found, come(authenticator, &by_header, now));
    found
}

#[test]
fn a_task_is_what_its_token_says_for_as_long_as_it_says() {
    let authenticator = authenticator(vec![row("a", Some(ContextMatch::default()), Some(Role::Sre))]);
    let read = ToolMode::parse("read").ok();
    let token = tasks().make(&task(Some("a"), Some(Role::Dev), read)).unwrap();
    let caller = by_token(&authenticator, token.expose(), NOW).unwrap();
    assert_eq!(caller.context.as_deref(), Some("a"));
    // The context's role is the one that holds now; the token's stands beside it.
    assert_eq!(caller.role, Role::Sre);
    let id = "0011223344556677".to_owned();
    assert_eq!(caller.task, Some(Narrowed { id, role: Some(Role::Dev), mode: read }));
    // Whoever had it made, by all of its names; what it keeps is its own.
    assert_eq!((caller.voice, caller.email.as_deref()), (Voice::OfOthers, Some("ann@example.com")));
    assert!(caller.owner().starts_with(&caller.holder()) && caller.owner() != caller.holder());
    let at = |seconds| by_token(&authenticator, token.expose(), NOW.plus(Duration::from_secs(seconds)));
    assert!(at(59).is_ok());
    assert_eq!(at(60), Err(Refusal::ExpiredToken));
    let identity = authenticator
        .authenticate(&Offered { api_key: Some(token.expose()), ..Offered::default() }, NOW)
        .found
        .unwrap();
    assert_eq!(identity.credential(), Credential::Task);
}

#[test]
fn a_task_has_no_place_but_its_own() {
    let rows = authenticator(vec![row("a", None, None)]);
    let none = authenticator(Vec::new());
    let token = |context| tasks().make(&task(context, Some(Role::Dev), None)).unwrap();
    assert!(by_token(&rows, token(Some("a")).expose(), NOW).is_ok());
    assert_eq!(by_token(&rows, token(Some("gone")).expose(), NOW), Err(Refusal::NoContext));
    assert_eq!(by_token(&rows, token(None).expose(), NOW), Err(Refusal::NoContext));
    assert_eq!(by_token(&none, token(Some("a")).expose(), NOW), Err(Refusal::NoContext));
    assert!(by_token(&none, token(None).expose(), NOW).is_ok());
}

#[test]
fn a_token_that_was_touched_or_made_elsewhere_is_none() {
    let authenticator = authenticator(Vec::new());
    let token = tasks().make(&task(None, None, None)).unwrap().expose().clone();
    for at in 0..token.len() {
        let mut touched = token.clone().into_bytes();
        touched[at] = if touched[at] == b'0' { b'1' } else { b'0' };
        let touched = String::from_utf8(touched).unwrap();
        assert!(by_token(&authenticator, &touched, NOW).is_err(), "{at}");
        assert!(by_token(&authenticator, token.get(..at).unwrap(), NOW).is_err(), "{at}");
    }
    let other = TaskKey::new(Secret::new(vec![8; 32])).make(&task(None, None, None)).unwrap();
    assert!(by_token(&authenticator, other.expose(), NOW).is_err());
    let without = Authenticator::new(AuthSettings::default());
    assert!(by_token(&without, &token, NOW).is_err());
    // A part that could be taken for two makes no token.
    let forged = Task { caller_id: "a\u{1f}b".to_owned(), ..task(None, None, None) };
    assert!(tasks().make(&forged).is_none());
}
