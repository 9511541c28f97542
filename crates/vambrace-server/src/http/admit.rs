//! Stages 2 and 3: how often, and who. Nothing behind this runs for a request that was not admitted.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{StatusCode, header};
use vambrace_auth::{Draw, Offered, Refusal, is_trusted_proxy};
use vambrace_state::Bucket;
use vambrace_types::{Caller, Chain, Door, ErrorCode};

use super::around::Arrival;
use super::bell::{Limited, Strange};
use super::jwks::{self, Looked};
use super::sight::{offered, once};
use super::teller::Seen;
use super::{Front, Limit, Members, Problem, answer, chain, hosts, limits};

/// Who sent a request. The proof that a handler asks for; those behind the router find it in the extensions.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    caller: Caller,
    pub(crate) address: IpAddr,
    /// The agents through which it came.
    pub(crate) chain: Chain,
}

impl Admitted {
    /// The caller, at the door that it came to.
    pub(crate) fn caller(&self, door: Door) -> Caller {
        Caller { door, ..self.caller.clone() }
    }

    /// The same for whoever needs nothing else of it.
    pub(crate) fn into_caller(self, door: Door) -> (Caller, Chain) {
        (Caller { door, ..self.caller }, self.chain)
    }

    pub(crate) fn owner(&self) -> String {
        self.caller.owner()
    }
}

/// LIMIT: of a body that has to be kept before anybody knows who sent it.
const LARGEST_SIGNED: usize = 1024 * 1024;

/// The request with the proof of who sent it, or the answer that it gets instead.
pub(super) async fn admit(
    front: &Arc<Front>,
    arrival: Arrival,
    request: Request,
) -> Result<(Admitted, Draw, Request), Problem> {
    let (parts, mut body) = request.into_parts();
    may_knock(front, arrival, &parts).await?;
    let trusted = is_trusted_proxy(arrival.peer, &front.settings.trusted_proxies);
    let mut offered = offered(&parts.headers, trusted)?;
    let signed: Bytes;
    if front.authenticator.needs_body(&offered, front.corridor.clock().now()) {
        let most = front.settings.max_body.min(LARGEST_SIGNED);
        signed = axum::body::to_bytes(body, most).await.map_err(|_| answer::too_large(most))?;
        body = Body::from(signed.clone());
        offered.body = Some(&signed);
    }
    let (caller, draw) = enter(front, arrival, &parts, &offered).await?;
    // THREAT: P13, agents that call each other for ever, whichever door they take.
    let chain = chain::read(&parts.headers, arrival.address, &front.settings.a2a.chain)
        .map_err(|endless| chain::problem(&endless))?;
    let admitted = Admitted { caller, address: arrival.address, chain };
    Ok((admitted, draw, Request::from_parts(parts, body)))
}

/// Before any credential is looked at: does the request mean us, and may its address try at all?
async fn may_knock(front: &Front, arrival: Arrival, parts: &Parts) -> Result<(), Problem> {
    let strange = |strange: Strange, problem: Problem| {
        front.bell.strange(front, strange, Seen::of(arrival.address, parts));
        Err(problem)
    };
    means_us(front, arrival, parts)?;
    if let Some(origin) = once(&parts.headers, &header::ORIGIN)?
        && !hosts::may_send(origin, front)
    {
        let message = "Scripts of this page may not call.";
        return strange(
            Strange::Origin,
            Problem::new(StatusCode::FORBIDDEN, ErrorCode::RequestRefused, message)
                .suggestion("The operator can list the page's origin in server.allowed_origins."),
        );
    }
    let seen = Seen::of(arrival.address, parts);
    if let Some(wait) = limits::blocked(front, seen).await? {
        front.metrics.limited(Limit::Failures);
        front.bell.limited(front, Limited::Failures, seen);
        return Err(Problem::locked_out(wait));
    }
    Ok(())
}

/// For public answers that say where we are: they repeat the Host where the operator has not said it, and a
/// cache on the way would give a stranger's word to everybody. THREAT: P13.
pub(super) async fn meant_for_us(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let settings = &front.settings;
    let is_metadata = request.uri().path().starts_with("/.well-known/oauth-");
    let is_said = settings.public_url.is_some() || (!is_metadata && settings.a2a.agent_url.is_some());
    let Some(arrival) = request.extensions().get::<Arrival>().copied() else {
        return answer::fault().into_response();
    };
    let (parts, body) = request.into_parts();
    if !is_said && let Err(problem) = means_us(&front, arrival, &parts) {
        return problem.into_response();
    }
    next.run(Request::from_parts(parts, body)).await
}

fn means_us(front: &Front, arrival: Arrival, parts: &Parts) -> Result<(), Problem> {
    let host = once(&parts.headers, &header::HOST)?;
    let authority = parts.uri.authority().map(|authority| authority.as_str());
    // THREAT: P13, a web page that makes its own name lead to this machine.
    let Some(named) = host.or(authority).filter(|host| !host.is_empty()) else {
        return Err(Problem::headers("The request has no Host.").suggestion("Send the Host header."));
    };
    // A request may name us in its first line as well; both must mean us, since nobody knows which one others
    // read.
    if !hosts::is_ours(named, front) || authority.is_some_and(|named| !hosts::is_ours(named, front)) {
        front.bell.strange(front, Strange::Host, Seen::of(arrival.address, parts));
        let message = "The request's Host is not a name of this service.";
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, ErrorCode::RequestRefused, message)
            .suggestion("The operator can list the name in server.allowed_hosts."));
    }
    Ok(())
}

async fn enter(
    front: &Arc<Front>,
    arrival: Arrival,
    parts: &Parts,
    offered: &Offered<'_>,
) -> Result<(Caller, Draw), Problem> {
    let clock = front.corridor.clock();
    let mut attempt = front.authenticator.authenticate(offered, clock.now());
    // Keys are exchanged now and then; the new ones are fetched when somebody first shows one.
    let mut looked = Looked::No;
    if attempt.names_unknown_key() && front.keys.is_some() {
        looked = jwks::Keys::refresh(front).await;
        attempt = front.authenticator.authenticate(offered, clock.now());
    }
    let seen = Seen::of(arrival.address, parts);
    if let Some(refusal) = &attempt.missed {
        wrong(front, refusal, looked, seen).await?;
    }
    let identity = match attempt.found {
        Ok(identity) => identity,
        Err(refusal) => {
            wrong(front, &refusal, looked, seen).await?;
            return Err(match refusal {
                // Who it is, is known; no other credential would help.
                Refusal::UnreadableIdentity(_) | Refusal::NoContext => Problem::refused(&refusal),
                _ => Problem::refused(&refusal).challenged(&challenge(front, parts, &refusal)),
            });
        }
    };
    let caller = identity.caller(Door::Rest);
    if let Some(members) = &front.settings.members
        && !is_member(members, &caller)
    {
        front.bell.strange(front, Strange::Membership, seen);
        let message = "Only listed people and groups may use this service.";
        return Err(Problem::new(StatusCode::FORBIDDEN, ErrorCode::NotAMember, message)
            .suggestion("Ask the operator to list your email address or one of your groups."));
    }
    let draw = limits::token(front, Bucket::Caller(&caller.holder()), seen).await?;
    Ok((caller, draw))
}

/// A wrong credential. One that cannot be counted is not answered: whoever guesses would learn from
/// it for nothing.
async fn wrong(front: &Arc<Front>, refusal: &Refusal, looked: Looked, seen: Seen<'_>) -> Result<(), Problem> {
    // A key that we have not looked for just now may be a new one: its owner does not guess.
    let counts = refusal.is_guess() && (*refusal != Refusal::UnknownKey || looked == Looked::Now);
    let closed = if counts { limits::failed(front, seen.address).await } else { Ok(false) };
    if closed == Ok(true) {
        front.bell.door_closed(front, seen);
    }
    front.metrics.refused(refusal);
    front.bell.refused(front, refusal, seen);
    closed.map(drop).map_err(|error| front.away(&error, seen))
}

fn is_member(members: &Members, caller: &Caller) -> bool {
    let by_email = |email: &String| members.emails.iter().any(|listed| listed.eq_ignore_ascii_case(email));
    caller.email.as_ref().is_some_and(by_email)
        || caller.groups.iter().any(|group| members.groups.contains(group))
}

/// What `WWW-Authenticate` says; a client of MCP learns from it where to get a token (RFC 9728).
fn challenge(front: &Front, parts: &Parts, refusal: &Refusal) -> String {
    let mut challenge = "Bearer realm=\"vambrace\"".to_owned();
    if *refusal == Refusal::ExpiredToken {
        challenge.push_str(", error=\"invalid_token\", error_description=\"The token expired\"");
    } else if refusal.is_guess() {
        challenge.push_str(", error=\"invalid_token\"");
    }
    if matches!(parts.uri.path(), "/mcp" | "/mcp/") {
        // Our own name: the Host was checked.
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let here = front.settings.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
        challenge.push_str(&format!(", resource_metadata=\"{here}/.well-known/oauth-protected-resource\""));
    }
    challenge
}
