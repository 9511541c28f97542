//! `serve`, and the bare name: the front doors over HTTP.

mod address;
mod first_token;
mod settings;
mod snippets;

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::SignalKind;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use vambrace_audit::{Event, EventKind, Severity};
use vambrace_auth::{ApiKey, Authenticator, KeyDigest};
use vambrace_config::Loaded;
use vambrace_config::resolve::{auth, lies_inside, refuse_state_inside, weak_secrets};
use vambrace_config::section::{AuditFailure, AuthMode, Config, JwtTrust};
use vambrace_files::{Root, ambient_authority};
use vambrace_process::RowState;
use vambrace_redact::{KnownValue, RedactedText, prove_rules};
use vambrace_runtime::{Corridor, Level, Log, LogLine};
use vambrace_server::http::{Conformance, Front, serve};
use vambrace_server::mcp::DryRun;
use vambrace_state::ServerState;
use vambrace_types::{AccessLevel, Door, Secret, Tree};

use super::Exit;
use super::log::LineLog;
use super::options::{Global, ServeArgs};
use super::start::{
    Session, audit_dir, configuration_opened, environment, session_of, state_folder, task_key, told,
    told_to_end, told_to_end_as_service, usage, workspace,
};
use crate::terminal;
use first_token::FirstToken;

pub(crate) fn run(global: &Global, args: ServeArgs) -> Exit {
    attempt(global, args).unwrap_or_else(|exit| exit)
}

fn attempt(global: &Global, args: ServeArgs) -> Result<Exit, Exit> {
    let loaded = configuration_opened(global, args.no_auth.then_some(AuthMode::Open))?;
    let config = &loaded.config;
    let listen = args.listen.clone().unwrap_or_else(|| format!("127.0.0.1:{}", config.server.agent_port));
    let wanted = address::parse(&listen).map_err(|why| usage(&why))?;
    let conformance = conformance(wanted)?;
    if global.context.is_some() {
        return Err(usage(
            "--context is for one caller; those of a server are placed by `contexts` in the configuration",
        ));
    }
    refuse_open_to_others(&loaded, wanted, &args)?;
    refuse_keys_inside(&loaded)?;
    refuse_weak_secrets(config)?;
    warn_of_log_inside(&loaded)?;
    let log = Arc::new(LineLog::open(&loaded)?);
    // Made before the redactor, which must know it; after the state folder was looked at: a token in the
    // workspace would be the agent's.
    let first = first_token(global, &loaded)?;
    let known = first.as_ref().map(|first| KnownValue {
        name: "first-start-token".to_owned(),
        value: Secret::new(first.token.clone()),
    });
    let writing = Some(Arc::clone(&log) as Arc<dyn Log>);
    let session = session_of(global, &loaded, Door::System, writing, known.into_iter().collect())?;
    if let Err(error) = session.corridor.audit()
        && config.audit.on_failure != AuditFailure::Warn
    {
        let why = format!("the record cannot be written, so nothing is served: {error}");
        return Err(failed(&format!("{why}; choose another folder with --state")));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(&format!("threads cannot be started: {error}")))?;
    // Taken before the proof, which takes a while: whoever has the port already is told at once.
    let listener = runtime.block_on(bind(wanted))?;
    prove(&runtime, &session.corridor)?;
    announce(&loaded, wanted, conformance);
    if first.is_none() && global.role != AccessLevel::Write.role() {
        terminal::warn("--role has no effect here: callers have the roles of their credentials");
    }
    let key = first.as_ref().map(|first| ApiKey {
        caller_id: "local".to_owned(),
        role: global.role,
        digest: KeyDigest::of(&first.token),
        may_assert_identity: false,
        operator: false,
    });
    let tasks = task_key(global)?.map(Arc::new);
    let authenticator = Authenticator::new(auth(config, key, tasks.clone()));
    let dry_run = if global.dry_run { DryRun::Always } else { DryRun::OnRequest };
    let mut settings = settings::settings(config, audit_dir(global)?, conformance, dry_run);
    settings.tasks = tasks;
    let limit = settings.call_timeout;
    settings.max_connections = settings.max_connections.min(descriptors(settings.max_connections));
    let state = ServerState::local(settings.rate);
    let front = Arc::new(Front::new(Arc::clone(&session.corridor), authenticator, settings, state));
    let exit = runtime.block_on(until_ended(global, &loaded, &session, front, (listener, limit), first));
    // A call that hangs in the system does not keep us.
    runtime.shutdown_background();
    session.corridor.look_again();
    log.flush();
    exit
}

async fn until_ended(
    global: &Global,
    loaded: &Loaded,
    session: &Session,
    front: Arc<Front>,
    (listener, limit): (TcpListener, Duration),
    first: Option<FirstToken>,
) -> Result<Exit, Exit> {
    let bound = listener.local_addr().map_err(|error| failed(&error.to_string()))?;
    let corridor = &session.corridor;
    record(corridor, EventKind::Started, "serving over HTTP", Some(bound));
    let ending = CancellationToken::new();
    // A terminal that closes takes us along. To a service, the signal means that something is to be read anew.
    let is_attended = std::io::stdin().is_terminal() || std::io::stderr().is_terminal();
    let told = told_by_anybody(is_attended, corridor);
    tokio::pin!(told);
    // Its handlers stand before anybody is told that we serve.
    tokio::select! {
        biased;
        () = &mut told => return Ok(Exit::Done),
        () = std::future::ready(()) => {}
    }
    let serving = tokio::spawn(serve(front, listener, ending.clone()));
    terminal::say(&format!("listening on http://{bound}"));
    let is_told = std::io::stderr().is_terminal() || first.as_ref().is_some_and(|first| first.is_new);
    if is_told && !global.quiet {
        let is_open = loaded.config.auth.mode == AuthMode::Open;
        let key = first.as_ref().map_or("YOUR-KEY", |first| first.token.as_str());
        let workspace = std::path::absolute(&loaded.workspace).unwrap_or_else(|_| loaded.workspace.clone());
        snippets::tell(bound, (!is_open).then_some(key), &workspace);
    }
    told.await;
    ending.cancel();
    if is_attended && !global.quiet {
        terminal::complain("finishing the calls under way; Ctrl-C again ends at once");
    }
    let (exit, words) = tokio::select! {
        finished = timeout(limit, serving) => match finished {
            Ok(_) => (Exit::Done, "every call was finished"),
            Err(_) => (Exit::Failed, "calls were cut off at the time limit"),
        },
        () = told_by_anybody(is_attended, corridor) => (Exit::Failed, "calls were cut off by a second signal"),
    };
    if exit != Exit::Done {
        terminal::warn(words);
    }
    record(corridor, EventKind::Ended, words, Some(bound));
    Ok(exit)
}

/// Told to end. The configuration and its keys are read at the start alone, and the log finds a new file by itself.
async fn told_by_anybody(is_attended: bool, corridor: &Corridor) {
    if is_attended {
        return told_to_end().await;
    }
    let hangups = async {
        loop {
            told(SignalKind::hangup()).await;
            corridor.log().line(&LogLine {
                level: Level::Warn,
                message: RedactedText::fixed(
                    "SIGHUP has no effect: the configuration is read at the start; restart to change it",
                ),
                fields: Vec::new(),
            });
        }
    };
    tokio::select! {
        () = told_to_end_as_service() => {}
        () = hangups => {}
    }
}

/// What calls and the record need, beside connections.
const OTHER_DESCRIPTORS: usize = 256;

/// How many connections fit among our descriptors, of which as many are taken as the system gives us: who
/// holds the last one would keep the record from being written. Programs have a limit of their own.
fn descriptors(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let needed = u64::try_from(wanted.saturating_add(OTHER_DESCRIPTORS)).unwrap_or(u64::MAX);
    let needed = limit.maximum.map_or(needed, |most| needed.min(most));
    if limit.current.is_some_and(|current| current < needed) {
        let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
    }
    let given = getrlimit(Resource::Nofile).current.and_then(|given| usize::try_from(given).ok());
    given.map_or(wanted, |given| given.saturating_sub(OTHER_DESCRIPTORS).max(1))
}

async fn bind(wanted: SocketAddr) -> Result<TcpListener, Exit> {
    TcpListener::bind(wanted).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => failed(&format!(
            "{wanted} is taken: another program, or another vambrace, listens there; choose another port \
             with --listen :PORT"
        )),
        std::io::ErrorKind::PermissionDenied => {
            failed(&format!("{wanted} may not be used by this user; choose a port above 1023 with --listen"))
        }
        std::io::ErrorKind::AddrNotAvailable => {
            usage(&format!("--listen: {} is no address of this machine", wanted.ip()))
        }
        _ => failed(&format!("cannot listen on {wanted}: {error}")),
    })
}

/// `VAMBRACE_CONFORMANCE`: the fixtures of the public kits, on this machine alone.
fn conformance(wanted: SocketAddr) -> Result<Conformance, Exit> {
    let conformance = match environment().get("VAMBRACE_CONFORMANCE").map(String::as_str) {
        None | Some("") => return Ok(Conformance::Off),
        Some("mcp") => Conformance::Mcp,
        Some("a2a") => Conformance::A2a,
        Some(_) => return Err(usage("VAMBRACE_CONFORMANCE: either `mcp` or `a2a`")),
    };
    if !is_here(wanted) {
        return Err(usage("VAMBRACE_CONFORMANCE is for this machine alone; listen on 127.0.0.1"));
    }
    Ok(conformance)
}

fn is_here(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Decision C18: two decisions open a door to others, not one.
fn refuse_open_to_others(loaded: &Loaded, wanted: SocketAddr, args: &ServeArgs) -> Result<(), Exit> {
    let is_open = loaded.config.auth.mode == AuthMode::Open;
    if !is_open && args.no_auth_beyond_this_machine {
        return Err(usage("--no-auth-beyond-this-machine does nothing without --no-auth"));
    }
    if is_open && !is_here(wanted) && !args.no_auth_beyond_this_machine {
        return Err(usage(&format!(
            "without authentication, {wanted} would let everybody in who reaches it; listen on 127.0.0.1, or say \
             that you want this with --no-auth-beyond-this-machine"
        )));
    }
    Ok(())
}

/// Whether the agents of any context could reach it.
fn lies_in_a_workspace(loaded: &Loaded, path: &Path) -> Result<bool, Exit> {
    let own = workspace(loaded)?;
    let folders = loaded.config.contexts.iter().filter_map(|row| row.workspace.as_deref());
    let others = folders.map(|folder| {
        let spelled = own.1.join(folder);
        // One that cannot be opened stops the start, with words.
        let root = Root::open_ambient(ambient_authority(), &spelled).ok()?;
        Some((root, spelled))
    });
    let others: Vec<_> = others.flatten().collect();
    for (root, spelled) in std::iter::once(&own).chain(&others) {
        if lies_inside(path, root, spelled).map_err(|error| usage(&error.to_string()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// THREAT: P13, whoever can write the key set makes tokens for everybody.
fn refuse_keys_inside(loaded: &Loaded) -> Result<(), Exit> {
    let place = loaded.config.auth.jwt.jwks.as_deref().filter(|place| !place.is_empty());
    let Some(place) = place.filter(|place| !settings::is_url(place)) else { return Ok(()) };
    let path = std::path::absolute(place).unwrap_or_else(|_| place.into());
    if lies_in_a_workspace(loaded, &path)? {
        return Err(usage(&format!(
            "auth.jwt.jwks: `{}` lies in the workspace, where agents could write it and make tokens; keep it beside \
             the operator's configuration and write its whole path",
            path.display()
        )));
    }
    Ok(())
}

/// The record is elsewhere; the log is for reading along, and may lie where agents can change it.
fn warn_of_log_inside(loaded: &Loaded) -> Result<(), Exit> {
    let place = loaded.config.log.output_path.as_str();
    if matches!(place, "stdout" | "stderr") {
        return Ok(());
    }
    let path = std::path::absolute(place).unwrap_or_else(|_| place.into());
    if lies_in_a_workspace(loaded, &path)? {
        terminal::warn(&format!(
            "log.output_path: `{}` lies in the workspace, where agents can change it; `vambrace audit` shows what they \
             cannot",
            path.display()
        ));
    }
    Ok(())
}

/// Shown with `-q` too: nobody opens a door without knowing.
fn announce(loaded: &Loaded, wanted: SocketAddr, conformance: Conformance) {
    if loaded.config.auth.mode == AuthMode::Open {
        let who = if is_here(wanted) { "everybody on this machine" } else { "EVERYBODY WHO REACHES IT" };
        terminal::warn(&format!("NO AUTHENTICATION: {who} may call every tool of role write"));
    }
    match conformance {
        Conformance::Off => {}
        Conformance::Mcp => {
            terminal::warn("CONFORMANCE FIXTURES (mcp) are served; this is a test, not a service")
        }
        Conformance::A2a => {
            terminal::warn("CONFORMANCE FIXTURES (a2a) are served; this is a test, not a service")
        }
    }
    if !is_here(wanted) {
        let server = &loaded.config.server;
        if server.trusted_proxies.is_empty() {
            terminal::warn(&format!(
                "{wanted} is plain HTTP: whoever listens on the way reads keys and answers; put a proxy with TLS before \
                 it and list it in server.trusted_proxies"
            ));
        }
        if server.allowed_hosts.is_empty() && server.public_url.is_none() {
            terminal::warn(
                "requests that name this machine by another name than localhost are refused (421) until the name is in \
                 server.allowed_hosts",
            );
        }
    }
    let jwt = &loaded.config.auth.jwt;
    if jwt.jwks.as_deref().is_none_or(str::is_empty) {
        let names_nobody = loaded.config.server.trusted_proxies.is_empty();
        match jwt.trust {
            JwtTrust::Verify if jwt.issuer.is_some() || jwt.audience.is_some() => terminal::warn(
                "auth.jwt has no `jwks`: without keys no token can be verified, and all are refused",
            ),
            JwtTrust::Upstream if names_nobody => terminal::warn(
                "auth.jwt.trust is `upstream`, but server.trusted_proxies lists no gateway: all tokens are refused",
            ),
            JwtTrust::Verify | JwtTrust::Upstream => {}
        }
    }
    if let Some(place) = loaded.config.auth.jwt.jwks.as_deref().filter(|place| place.starts_with("http://")) {
        terminal::warn(&format!(
            "auth.jwt.jwks: `{}` is fetched without TLS; whoever stands between can make tokens",
            without_user(place)
        ));
    }
}

/// A secret that can be tried out lets everybody in. Over stdio nobody shows one, so only servers ask.
pub(super) fn refuse_weak_secrets(config: &Config) -> Result<(), Exit> {
    let weak: Vec<String> =
        weak_secrets(config).into_iter().map(|(key, advice)| format!("{key}: {advice}")).collect();
    if weak.is_empty() { Ok(()) } else { Err(usage(&weak.join("\n"))) }
}

/// An address as it may be shown: what stands before the `@` is a secret.
fn without_user(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // A query may hold a key as well.
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

fn first_token(global: &Global, loaded: &Loaded) -> Result<Option<FirstToken>, Exit> {
    if !first_token::is_needed(&loaded.config) {
        return Ok(None);
    }
    let state = state_folder(global)?;
    let (root, spelled) = workspace(loaded)?;
    refuse_state_inside(&state, &root, &spelled).map_err(|error| usage(&error.to_string()))?;
    let token = if global.dry_run { first_token::shown(&state) } else { first_token::kept(&state) };
    token.map(Some).map_err(|error| {
        failed(&format!(
            "the token of the first start cannot be kept in `{}`: {error}; choose another folder with \
             --state, or configure api_keys",
            state.display()
        ))
    })
}

/// The rules that find secrets, and the attacks on the cage. A hole is no service.
fn prove(runtime: &Runtime, corridor: &Arc<Corridor>) -> Result<(), Exit> {
    let rules = runtime.spawn_blocking(prove_rules);
    let proving = Arc::clone(corridor);
    let cage = runtime.spawn_blocking(move || proving.prove());
    let (rules, proved) = runtime.block_on(async { (rules.await, cage.await) });
    let fell_over = |_| failed("the self-test fell over, so nothing is served");
    if let Err(problem) = rules.map_err(fell_over)? {
        return Err(failed(&format!("{problem}; secrets would be shown, so nothing is served")));
    }
    let proved = proved.map_err(fell_over)?;
    if let Err(error) = corridor.unbroken() {
        return Err(failed(&format!("{} {}", error.message, error.suggestion)));
    }
    match proved {
        Ok(posture) if posture.holds() => {}
        // The operator accepted a cage with holes.
        Ok(posture) if posture.has(RowState::Broken) => {
            terminal::warn(&format!("attacks on the cage succeeded: {}", posture.names(RowState::Broken)));
        }
        Ok(posture) => {
            let rows = posture.names(RowState::Untried);
            terminal::warn(&format!("no program is started until these attacks can be made: {rows}"));
        }
        Err(error) => terminal::warn(&format!("no program will be started: {}", error.message)),
    }
    Ok(())
}

fn record(corridor: &Corridor, kind: EventKind, words: &'static str, bound: Option<SocketAddr>) {
    let Ok(audit) = corridor.audit() else { return };
    let address = bound.map(|bound| ("address", Tree::text(bound.to_string())));
    let event = Event {
        kind,
        severity: Severity::Info,
        caller: None,
        by: None,
        call_id: None,
        message: RedactedText::fixed(words),
        details: corridor.redactor().plain_tree(Tree::map(address)).value,
    };
    if let Err(error) = audit.event(&event).wait().and_then(|_| audit.seal()) {
        terminal::warn(&format!("the record cannot be written: {error}"));
    }
}

fn failed(text: &str) -> Exit {
    terminal::fail(text);
    Exit::Failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        #[track_caller]
        fn check(place: &str, expected: &str) {
            assert_eq!(without_user(place), expected);
        }
        check("http://a.example/keys", "http://a.example/keys");
        check("http://user:pass@a.example/keys", "http://a.example/keys");
        check("http://user:p@ss@a.example:80/k?key=1#x", "http://a.example:80/k");
        check("http://user:pass@a.example?key=1", "http://a.example");
        check("http://a.example/a@b", "http://a.example/a@b");
        check("keys.json", "keys.json");
    }
}
