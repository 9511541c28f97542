//! A server without a listener, for tests of what it does when its stores do not.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use serde_json::Value;
use tempfile::TempDir;
use vambrace_audit::SystemClock;
use vambrace_auth::{ApiKey, Authenticator, Draw, ForwardedFor, KeyDigest, Rate};
use vambrace_config::resolve::{Start, assemble, audit_folder, auth};
use vambrace_config::{Sources, load};
use vambrace_files::{Keeping, Root, ambient_authority};
use vambrace_policy::ToolMode;
use vambrace_runtime::NoLog;
use vambrace_state::ServerState;
use vambrace_types::{AccessLevel, ChainRules};

use super::around::Arrival;
use super::{Admitted, Conformance, Front, HttpSettings, Problem, admit};
use crate::A2aSettings;
use crate::mcp::{Dialogs, DryRun};

pub(crate) const RATE: Rate = Rate { per_second: 100, burst: 200 };
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

pub(crate) struct World {
    pub(crate) front: Arc<Front>,
    pub(crate) workspace: TempDir,
    _state: TempDir,
}

/// Put together when the tests run, so that no text of ours looks like a key.
pub(crate) fn key() -> String {
    "k3y".repeat(16)
}

impl World {
    pub(crate) fn new(state: ServerState) -> World {
        let folder = || tempfile::tempdir().unwrap();
        let (workspace, kept) = (folder(), folder());
        let sources = Sources { workspace: workspace.path().to_owned(), ..Sources::default() };
        let loaded = load(&sources).unwrap();
        let start = Start {
            state: kept.path().join("state"),
            mode: ToolMode::ALL,
            environment: BTreeMap::new(),
            keeping: Keeping::Nothing,
            known: Vec::new(),
            clock: Arc::new(SystemClock),
            log: Arc::new(NoLog),
            root: Root::open_ambient(ambient_authority(), workspace.path()).unwrap(),
            spelled_workspace: workspace.path().to_owned(),
            open_workspace: Box::new(|_| Err(std::io::ErrorKind::Unsupported.into())),
            confirmation_key: Box::new(|| None),
            redaction_key: Box::new(|| None),
        };
        let corridor = Arc::new(assemble(&loaded, start).unwrap().corridor);
        let authenticator = Authenticator::new(auth(&loaded.config, Some(own_key()), None));
        let settings = settings(audit_folder(&kept.path().join("state")));
        let front = Arc::new(Front::new(corridor, authenticator, settings, state));
        front.listening.set(([127, 0, 0, 1], 1).into()).unwrap();
        World { front, workspace, _state: kept }
    }

    /// What the admission makes of a request with this credential.
    pub(crate) async fn admit(&self, request: Request) -> Result<(Admitted, Draw, Request), Problem> {
        admit::admit(&self.front, Arrival { peer: ADDRESS, address: ADDRESS }, request).await
    }

    pub(crate) async fn admitted(&self) -> Admitted {
        self.admit(request("/mcp", &key(), &Value::Null)).await.unwrap().0
    }
}

pub(crate) fn request(path: &str, key: &str, body: &Value) -> Request {
    let request = http::Request::post(path)
        .header("host", "127.0.0.1:1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("x-api-key", key);
    request.body(Body::from(body.to_string())).unwrap()
}

/// Its status, when it says to come again, and the code of its error.
pub(crate) async fn told(response: Response) -> (u16, Option<String>, String) {
    let again = response.headers().get("retry-after").map(|again| again.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let body = json(response).await;
    let code = body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
    (status, again, code.to_owned())
}

pub(crate) async fn json(response: Response) -> Value {
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    vambrace_json::read(&body, vambrace_json::Limits::message(1 << 20)).unwrap_or_default()
}

fn own_key() -> ApiKey {
    ApiKey {
        caller_id: "local".to_owned(),
        role: AccessLevel::Write.role(),
        digest: KeyDigest::of(&key()),
        may_assert_identity: false,
        operator: false,
    }
}

fn settings(audit_dir: PathBuf) -> HttpSettings {
    let long = Duration::from_secs(3600);
    HttpSettings {
        rate: RATE,
        trusted_proxies: Vec::new(),
        forwarded_for: ForwardedFor::Rightmost,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        public_url: None,
        authorization_servers: Vec::new(),
        max_body: 1 << 20,
        max_connections: 16,
        header_timeout: long,
        idle_timeout: long,
        read_timeout: long,
        write_timeout: long,
        request_timeout: long,
        call_timeout: long,
        dialogs: Dialogs::None,
        dry_run: DryRun::OnRequest,
        members: None,
        keys: None,
        a2a: A2aSettings {
            enabled: true,
            chain: ChainRules::default(),
            agent_name: "vambrace".to_owned(),
            agent_url: None,
        },
        tasks: None,
        conformance: Conformance::Off,
        audit_dir,
    }
}
