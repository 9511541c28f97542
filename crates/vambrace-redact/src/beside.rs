//! A value that the name before it gives away: the name of a service, or of a field of its configuration.
//!
//! Which form the value has is the rule's business. Here is only what may stand between the two: the rest of the name
//! (`heroku_api_key`), a few words (`the heroku key is`), then signs that join (`=`, `: `, `", "`, `>`).

/// A value begins and ends at most this many bytes after the beginning of its name, on the same line.
pub(crate) const REACH: usize = 320;
/// As many bytes as a name and a few words take.
const FARTHEST: usize = 80;
/// Between the last word and the value.
const LONGEST_JOINT: usize = 12;
/// No secret without a form of its own is shorter.
const SHORTEST: usize = 10;

/// The same for one that only a dash parts from its name.
const SHORTEST_GLUED: usize = 20;

/// Where a value may begin that belongs to the keyword at `place`: every word of some length, up to the first text that
/// no name leads to.
pub(crate) fn candidates<'t>(hay: &'t [u8], place: usize, keyword: &str) -> impl Iterator<Item = usize> + 't {
    let end = hay.len().min(place + REACH);
    let mut at = place + keyword.len();
    let first = at;
    let mut done = false;
    std::iter::from_fn(move || {
        while !done {
            let joint = hay.get(at..end)?.iter().take_while(|byte| joins(**byte)).count();
            // The rest of the name needs no joint.
            let glued = at == first;
            at += joint;
            let length = hay.get(at..end)?.iter().take_while(|byte| in_word(**byte)).count();
            let start = at;
            let before = hay.get(place..start - joint).unwrap_or_default();
            let public = names_public(before, hay.get(start - joint..start).unwrap_or_default());
            at += length;
            done = length == 0 || joint > LONGEST_JOINT || start > place + FARTHEST || public;
            if done {
                return None;
            }
            if glued && joint == 0 {
                let role =
                    hay.get(start..at).and_then(behind_role).filter(|skip| length - skip >= SHORTEST_GLUED);
                if let Some(skip) = role {
                    return Some(start + skip);
                }
                continue;
            }
            // A value may hold `=`, where a word ends.
            let padded =
                || hay.get(start..end).unwrap_or_default().iter().take_while(|byte| in_value(**byte));
            if length >= SHORTEST || (hay.get(at) == Some(&b'=') && padded().count() >= SHORTEST_GLUED) {
                return Some(start);
            }
        }
        None
    })
}

/// `owner/action@0a1b…`, `archive.tgz#0a1b…`, `sha: 0a1b…`, `request_id=0a1b…`: what follows says
/// which one it is, and is no secret.
fn names_public(before: &[u8], joint: &[u8]) -> bool {
    const NAMES: [&str; 27] = [
        "sha",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "md5",
        "digest",
        "checksum",
        "hash",
        "commit",
        "rev",
        "revision",
        "integrity",
        "h1",
        "request_id",
        "request-id",
        "trace_id",
        "tenant_id",
        "account_id",
        "project_id",
        "site_id",
        "zone_id",
        "app_id",
        "org_id",
        "team_id",
        "user_id",
        "uuid",
    ];
    let ends_with = |name: &str| {
        let at = before.len().checked_sub(name.len())?;
        let (head, tail) = before.split_at_checked(at)?;
        let whole = !head.last().is_some_and(u8::is_ascii_alphanumeric);
        Some(whole && tail.eq_ignore_ascii_case(name.as_bytes()))
    };
    matches!(joint, b"@" | b"#") || NAMES.iter().any(|name| ends_with(name) == Some(true))
}

/// `_KEY-0a1b…`: how long the part is that says what the rest is.
fn behind_role(word: &[u8]) -> Option<usize> {
    const ROLES: [&str; 5] = ["key", "token", "secret", "private", "access"];
    let dash = word.iter().position(|byte| *byte == b'-')?;
    let head = word.get(..dash)?;
    let ends_with = |role: &&str| {
        head.len()
            .checked_sub(role.len())
            .and_then(|from| head.get(from..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(role.as_bytes()))
    };
    ROLES.iter().any(ends_with).then_some(dash + 1)
}

fn in_value(byte: u8) -> bool {
    in_word(byte) || byte == b'='
}

/// `Heroku: 0a1b…`, `{:hex, :heroku, "1.0", "0a1b…"`: a digest beside a name is a lock file's, unless it is assigned or the name
/// says what it is for.
pub(crate) fn is_checksum(before: &[u8], value: &[u8]) -> bool {
    const ROLES: [&str; 12] = [
        "key", "token", "secret", "api", "auth", "pass", "pat", "cred", "access", "private", "licen", "hook",
    ];
    let small = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digest = matches!(value.len(), 32 | 40 | 64 | 128) && value.iter().all(small);
    let sign = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\'));
    digest
        && !matches!(sign, Some(b'=' | b'>'))
        && !ROLES.iter().any(|role| crate::check::contains_folded(before, role.as_bytes()))
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'~' | b'%')
}

fn joins(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'='
            | b':'
            | b'>'
            | b'<'
            | b'"'
            | b'\''
            | b'`'
            | b','
            | b'['
            | b']'
            | b'('
            | b'|'
            | b'\\'
            | b'?'
            | b'{'
            | b'@'
            | b'$'
            | b'#'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let value = "0a1b2c3d4e5f";
        let line = line.replace("VALUE", value);
        let found: Vec<&str> = candidates(line.as_bytes(), 0, "heroku")
            .filter_map(|start| line.get(start..)?.split(|c: char| !c.is_ascii_alphanumeric()).next())
            .collect();
        let expected: Vec<String> = expected.iter().map(|word| word.replace("VALUE", value)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn a_name_leads_to_its_value() {
        check("heroku_api_key = \"VALUE\"", &["VALUE"]);
        check("heroku: VALUE", &["VALUE"]);
        check("heroku\": {\"key\": \"VALUE\"}", &["VALUE"]);
        check("heroku auth key is VALUE", &["VALUE"]);
        check("herokuVALUE", &[]);
        check("heroku_KEY-VALUEVALUE", &["VALUEVALUE"]);
        check("heroku_run-VALUEVALUE", &[]);
        check("heroku = ab=VALUEVALUE", &["ab", "VALUEVALUE"]);
        check("heroku/action@VALUE", &[]);
        check("heroku/-/heroku-1.2.3.tgz#VALUE", &[]);
        check("heroku commit VALUE", &[]);
        check("heroku_sha256: VALUE", &[]);
        check("herokuapp.local request_id=VALUE", &["request"]);
        check("heroku; VALUE", &[]);
        check("heroku\nVALUE", &[]);
        check(&format!("heroku {}VALUE", "a ".repeat(60)), &[]);
    }
}
