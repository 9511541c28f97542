//! `token`: random credentials in specification 001's forms. They are printed once and kept nowhere.

use std::time::Duration;

use serde_json::json;
use vambrace_audit::rfc3339;
use vambrace_auth::{KeyDigest, LONGEST_TASK, Task, api_key, internal_token, is_caller_name};
use vambrace_config::resolve::context_rows;
use vambrace_policy::ToolMode;
use vambrace_types::{Role, Voice};

use super::Exit;
use super::options::{Global, TokenArgs, TokenWhat};
use super::start::{clock, configuration, no_context, task_key, usage};
use crate::terminal;

pub(crate) fn run(global: &Global, args: &TokenArgs) -> Exit {
    match &args.what {
        TokenWhat::Internal => internal(global),
        TokenWhat::ApiKey { name } => for_caller(global, name),
        TokenWhat::Task { ttl, name } => task(global, *ttl, name.as_deref()),
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

/// Good at every server of this state folder, and nowhere else.
fn task(global: &Global, ttl: Duration, name: Option<&str>) -> Result<Exit, Exit> {
    let loaded = configuration(global)?;
    let rows = context_rows(&loaded.config);
    let context = global.context.as_deref();
    match context {
        Some(name) if rows.find(name).is_none() => return Err(no_context(&rows, name)),
        None if !rows.0.is_empty() => {
            return Err(usage(
                "--context says in which context the task works; `config show contexts` lists them",
            ));
        }
        Some(_) | None => {}
    }
    if !(1..=LONGEST_TASK).contains(&ttl.as_secs()) {
        return Err(usage("--ttl is at least one second and at most 24h"));
    }
    let caller = name.or(context).unwrap_or("task");
    if !is_caller_name(caller) {
        return Err(usage(&format!(
            "`{caller}` is not a caller's name; use small letters, digits and hyphens"
        )));
    }
    let task = Task {
        caller_id: caller.to_owned(),
        email: None,
        user: None,
        subject: None,
        voice: Voice::Own,
        id: chance::<8>()?.iter().map(|byte| format!("{byte:02x}")).collect(),
        context: context.map(str::to_owned),
        // The usual role narrows nothing that a context gives.
        role: (global.role != Role::Dev).then_some(global.role),
        mode: (global.tool != ToolMode::ALL).then_some(global.tool),
        expires_at: clock().now().plus(ttl),
    };
    let key =
        task_key(global)?.ok_or_else(|| usage("the state folder cannot keep the key of task tokens"))?;
    let token = key.make(&task).ok_or_else(|| usage("the token cannot be made"))?;
    let expires = rfc3339(task.expires_at);
    if global.json {
        terminal::json(&json!({
            "secret": token.expose(), "task": task.id, "caller_id": task.caller_id, "context": task.context,
            "tool": task.mode.map(ToolMode::describe), "expires_at": expires,
        }));
        return Ok(Exit::Done);
    }
    terminal::say(token.expose());
    advise(
        global,
        &format!(
            "It is not shown again and is good until {expires}, at servers with this state folder. Give it to the \
             task, which sends it as a bearer token. `vambrace stop task-{}` ends it before.",
            task.id
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
