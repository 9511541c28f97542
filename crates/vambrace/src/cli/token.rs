//! `token`: random credentials in specification 001's forms. They are printed once and kept nowhere.

use serde_json::json;
use vambrace_auth::{KeyDigest, api_key, internal_token, is_caller_name};

use super::Exit;
use super::options::{Global, TokenArgs, TokenWhat};
use super::start::usage;
use crate::terminal;

pub(crate) fn run(global: &Global, args: &TokenArgs) -> Exit {
    match &args.what {
        TokenWhat::Internal => internal(global),
        TokenWhat::ApiKey { name } => for_caller(global, name),
    }
    .unwrap_or_else(|exit| exit)
}

fn internal(global: &Global) -> Result<Exit, Exit> {
    let secret = internal_token(chance()?);
    let line = "auth: {internal_token: \"${INTERNAL_AUTH_TOKEN}\"}";
    if global.json {
        terminal::json(&json!({"secret": secret, "config": line, "environment": "INTERNAL_AUTH_TOKEN"}));
        return Ok(Exit::Done);
    }
    terminal::say(&secret);
    advise(
        global,
        &format!(
            "It is not shown again. Set it as INTERNAL_AUTH_TOKEN for this server and for the Slack bridge, \
             and write in the configuration:\n  {line}"
        ),
    );
    Ok(Exit::Done)
}

fn for_caller(global: &Global, name: &str) -> Result<Exit, Exit> {
    if !is_caller_name(name) {
        return Err(usage(&format!(
            "`{name}` is not a caller's name: use small letters, digits and single hyphens, beginning with a \
             letter, at most 64 characters, for instance `root-agent`"
        )));
    }
    let secret = api_key(name, chance()?);
    // The file holds the digest, so that who reads the file cannot call.
    let role = global.role.as_str();
    let entry = json!({"caller_id": name, "role": role, "secret_sha256": KeyDigest::of(&secret).to_hex()});
    if global.json {
        let line = format!("api_keys: [{entry}]");
        terminal::json(&json!({"secret": secret, "caller_id": name, "config": line, "entry": entry}));
        return Ok(Exit::Done);
    }
    terminal::say(&secret);
    advise(
        global,
        &format!(
            "It is not shown again. Give it to `{name}`, which sends it as X-API-Key or as a bearer token, \
             and add it to `api_keys` in the operator's configuration (--role read makes one that may only \
             look):\n  - {entry}"
        ),
    );
    Ok(Exit::Done)
}

/// For a person; a pipe gets the secret alone.
fn advise(global: &Global, text: &str) {
    if terminal::is_watched() && !global.quiet {
        terminal::complain(text);
    }
}

fn chance<const N: usize>() -> Result<[u8; N], Exit> {
    let mut chance = [0; N];
    getrandom::fill(&mut chance).map_err(|error| {
        terminal::fail(&format!("the system gives no random numbers: {error}"));
        Exit::Failed
    })?;
    Ok(chance)
}
