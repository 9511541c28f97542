//! Who a token's claims speak of.

use std::collections::HashSet;

use serde_json::{Map, Value};
use vambrace_types::{AccessLevel, Rank};

use crate::asserted::{MOST_GROUPS, is_name};
use crate::jwt::{Claims, JwtSettings};
use crate::{Credential, Identity, Refusal};

/// Whether we have checked the signature ourselves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    ByUs,
    Upstream,
}

/// `taken` are the names (in lower case) that other credentials give.
pub(crate) fn identity(
    claims: &Claims,
    settings: &JwtSettings,
    taken: &HashSet<String>,
    checked: Checked,
) -> Result<Identity, Refusal> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let email = text("email").filter(|_| is_email_verified(claims, settings));
    let groups = groups(claims, &settings.groups_claim_path)?;
    // THREAT: P13, people choose their user name in many directories: one called `slack-bridge` is not the
    // bridge.
    let caller_id = [text("preferred_username"), email, text("sub")]
        .into_iter()
        .flatten()
        .find(|name| !taken.contains(&name.to_lowercase()))
        .ok_or(Refusal::InvalidToken("the token names nobody"))?;
    // THREAT: P13, ` slack-bridge` looks like the bridge in every list.
    let is_trimmed = |text: &str| text.trim() == text;
    if !is_trimmed(caller_id) || !email.is_none_or(is_trimmed) {
        return Err(Refusal::InvalidToken("a name in the token begins or ends with white space"));
    }
    if !is_name(caller_id) || !email.is_none_or(is_name) || !groups.iter().all(|group| is_name(group)) {
        return Err(Refusal::InvalidToken(
            "a name in the token is too long or has characters that cannot be seen",
        ));
    }
    let subject = text("sub").map(|sub| subject(text("iss"), sub)).transpose()?;
    // THREAT: P13, a user name that looks like Ann's address. Where nothing else tells the two apart, it would own what is
    // hers.
    if email.is_none() && subject.is_none() && caller_id.contains('@') {
        return Err(Refusal::InvalidToken(
            "the token has an address for a name, and neither email nor subject",
        ));
    }
    let is_listed = settings.operators.hold(email, &groups);
    // THREAT: P13, what a gateway passes on is believed for rights, not for watching over others.
    let rank = match checked {
        Checked::ByUs if is_listed => Rank::Operator,
        Checked::ByUs | Checked::Upstream => Rank::Agent,
    };
    Ok(Identity {
        claims: wanted(claims, &settings.context_claims),
        email: email.map(str::to_owned),
        groups,
        rank,
        subject,
        ..Identity::named(caller_id, AccessLevel::Write.role(), Credential::Jwt)
    })
}

/// One text for one person, for good: an issuer gives a `sub` once, while people change their name and address.
/// INVARIANT: the first space ends the issuer, so no two pairs are one text.
fn subject(issuer: Option<&str>, sub: &str) -> Result<String, Refusal> {
    let issuer = issuer.unwrap_or("-");
    if !is_name(issuer) || !is_name(sub) || issuer.contains(' ') {
        return Err(Refusal::InvalidToken(
            "the token's issuer or subject is too long or has strange characters",
        ));
    }
    Ok(format!("{issuer} {sub}"))
}

/// Many issuers leave the claim out, which says nothing unless the operator requires it; one that is there must say yes.
fn is_email_verified(claims: &Claims, settings: &JwtSettings) -> bool {
    match claims.get("email_verified") {
        None => !settings.require_email_verified,
        Some(Value::Bool(true)) => true,
        Some(Value::String(text)) => text == "true",
        Some(Value::Null | Value::Bool(false) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            false
        }
    }
}

/// What the token says where contexts ask: a text, or each text of a list.
fn wanted(claims: &Claims, paths: &[String]) -> Vec<(String, String)> {
    let texts = |path: &String| match find(claims, path) {
        Some(Value::String(text)) => vec![(path.clone(), text.clone())],
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(Value::as_str).take(MOST_GROUPS);
            texts.map(|text| (path.clone(), text.to_owned())).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    };
    paths.iter().flat_map(texts).collect()
}

fn groups(claims: &Claims, path: &str) -> Result<Vec<String>, Refusal> {
    let groups: Vec<String> = match find(claims, path) {
        Some(Value::String(group)) => vec![group.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    };
    // Not cut: the group that would be lost may be the one that only reads.
    if groups.len() > MOST_GROUPS {
        return Err(Refusal::InvalidToken("the token names too many groups"));
    }
    Ok(groups.into_iter().filter(|group| !group.is_empty()).collect())
}

/// The whole path as one name first (`https://example.com/groups` has dots of its own), then every way to
/// split it. Each value of the token is reached in one way only, so the work is bounded by its size.
fn find<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(at, _)| {
        let (name, rest) = path.split_at_checked(at)?;
        find(claims.get(name)?.as_object()?, rest.strip_prefix('.')?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_name_first_and_then_every_split() {
        #[track_caller]
        fn check(claims: &str, path: &str, expected: &[&str]) {
            let claims: Claims =
                vambrace_json::read_as(claims.as_bytes(), vambrace_json::Limits::message(4096)).unwrap();
            assert_eq!(groups(&claims, path).unwrap(), expected, "{claims:?} {path}");
        }
        check(r#"{"groups":["a","b"]}"#, "groups", &["a", "b"]);
        check(r#"{"groups":"a"}"#, "groups", &["a"]);
        check(r#"{"groups":"a,b"}"#, "groups", &["a,b"]); // one group with a comma in its name
        check(r#"{"groups":[]}"#, "groups", &[]);
        check(r#"{"groups":["",1,null,"a"]}"#, "groups", &["a"]);
        check(r#"{"groups":{"a":1}}"#, "groups", &[]);
        check(r#"{"Groups":["a"]}"#, "groups", &[]);
        check(r#"{"realm_access":{"roles":["x"]}}"#, "realm_access.roles", &["x"]);
        check(r#"{"https://myapp/groups":["x"]}"#, "https://myapp/groups", &["x"]);
        check(r#"{"https://my.app/groups":["x"]}"#, "https://my.app/groups", &["x"]);
        check(r#"{"https://my.app/claims":{"groups":["x"]}}"#, "https://my.app/claims.groups", &["x"]);
        check(r#"{"a":{"b.c":{"d":["x"]}}}"#, "a.b.c.d", &["x"]);
        check(r#"{"a":1,"a.b":{"c":["x"]}}"#, "a.b.c", &["x"]); // the first split leads nowhere
        check(r#"{"a.b":["whole"],"a":{"b":["nested"]}}"#, "a.b", &["whole"]);
        check(r#"{"a":{"":["x"]}}"#, "a.", &["x"]);
        check(r#"{}"#, "", &[]);
        check(r#"{}"#, "...", &[]);
    }

    #[test]
    fn groups_are_bounded_and_not_cut() {
        let with = |n_groups: usize| {
            let groups: Vec<Value> = (0..n_groups).map(|n| Value::from(format!("g{n}"))).collect();
            groups_of(Value::from(groups))
        };
        fn groups_of(value: Value) -> Result<usize, Refusal> {
            let claims: Claims = [("groups".to_owned(), value)].into_iter().collect();
            groups(&claims, "groups").map(|groups| groups.len())
        }
        assert_eq!(with(MOST_GROUPS), Ok(MOST_GROUPS));
        assert_eq!(with(MOST_GROUPS + 1), Err(Refusal::InvalidToken("the token names too many groups")));
    }
}
