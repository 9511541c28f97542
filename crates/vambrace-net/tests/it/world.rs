//! A real policy and a door, wired to each other, and the way that a tool takes through them.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use vambrace_net::{Credentials, NetError, Redirects, Response, Web, WebSettings};
use vambrace_policy::command::CommandPolicy;
use vambrace_policy::url::{AllowEntry, Host, UrlPolicy, UrlRefusal, UrlSettings, Voice, WebUrl};
use vambrace_policy::{
    Answers, Author, Decision, Epoch, Facts, FetchUrl, GitRules, HardLinks, Header, Isolation, OnWrite,
    PermissionList, Permit, Policy, PolicySettings, Reason, RequestRules, Scope, ScopeSettings, Standing,
    Symlinks, ToolMode,
};
use vambrace_types::{Bearings, Caller, Door, Role, Secret, ToolName};

const EPOCH: Epoch = Epoch(7);

/// What a scenario may choose.
pub(crate) struct Choices {
    pub(crate) dns: Option<SocketAddr>,
    pub(crate) timeout: Duration,
    pub(crate) max_body_bytes: u64,
    pub(crate) credentials: Credentials,
    /// Names and the range that they may be in.
    pub(crate) allowed: Vec<(&'static str, &'static str)>,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices {
            dns: None,
            timeout: Duration::from_secs(20),
            max_body_bytes: 1 << 20,
            credentials: Credentials::default(),
            allowed: vec![("site.test", "127.0.0.0/29"), ("127.0.0.1", "127.0.0.0/29")],
        }
    }
}

pub(crate) struct World {
    policy: Policy,
    pub(crate) web: Web,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Denied(UrlRefusal),
    Net(NetError),
}

/// A request as a model makes it, or as the operator does where it has more than that.
pub(crate) fn get(url: &str) -> FetchUrl {
    FetchUrl {
        url: WebUrl::parse(url).unwrap(),
        method: "GET".to_owned(),
        headers: Vec::new(),
        body: None,
        author: Author::Operator,
        voice: Voice::Seed001,
        answers: Answers::Unasked,
        time: None,
        spelled: Vec::new(),
        length: None,
        named: None,
    }
}

pub(crate) fn header(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: Secret::new(value.to_owned()) }
}

impl World {
    pub(crate) fn new(choices: Choices) -> World {
        let allowed = choices.allowed.iter();
        let allowed = allowed.map(|(host, range)| AllowEntry::parse(host).unwrap().with_cidr(range).unwrap());
        let url = UrlPolicy::new(UrlSettings { allowed: allowed.collect(), ..UrlSettings::default() });
        let scope = Scope::new(ScopeSettings {
            bearings: Bearings::new(&["/nowhere"], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: Vec::new(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        })
        .unwrap();
        let policy = Policy::new(
            PolicySettings {
                scope,
                mode: ToolMode::ALL,
                rules: Vec::new(),
                on_write: OnWrite::REFUSE,
                command: CommandPolicy::default(),
                git: GitRules::default(),
                url: url.clone(),
                requests: RequestRules::default(),
                grants: Vec::new(),
                allowed_commands: Vec::new(),
                permissions: PermissionList::default(),
            },
            EPOCH,
        );
        let settings = WebSettings {
            policy: url,
            dns_server: choices.dns,
            timeout: choices.timeout,
            max_body_bytes: choices.max_body_bytes,
            redirects: Redirects::Checked,
            credentials: choices.credentials,
            authority: None,
        };
        World { policy, web: Web::new(settings, EPOCH) }
    }

    pub(crate) fn asking(dns: SocketAddr) -> World {
        World::new(Choices { dns: Some(dns), ..Choices::default() })
    }

    pub(crate) fn permit(&self, action: FetchUrl) -> Result<Permit<FetchUrl>, UrlRefusal> {
        let caller = Caller::local(Role::Dev, Door::CommandLine);
        let tool = ToolName::of("fetch_url");
        match self.policy.decide(&caller, &Standing::Free, &tool, action, &Facts::default()) {
            Decision::Allow(permit) => Ok(permit),
            Decision::Deny(denial) => match denial.reason {
                Reason::Url { refusal, .. } => Err(refusal),
                other => panic!("{other:?}"),
            },
            Decision::Ask(pending) => panic!("{:?}", pending.question()),
        }
    }

    pub(crate) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, NetError> {
        self.web.resolve(&Host::Name(name.to_owned())).await
    }

    /// Looks up, decides, sends: what a tool does.
    pub(crate) async fn fetch(&self, mut action: FetchUrl) -> Result<Response, Failure> {
        action.answers = match self.web.resolve(action.url.host()).await {
            Ok(addresses) => Answers::Found(addresses),
            Err(_) => Answers::Missing,
        };
        self.send(action).await
    }

    /// Without a look-up before.
    pub(crate) async fn send(&self, action: FetchUrl) -> Result<Response, Failure> {
        let permit = self.permit(action).map_err(Failure::Denied)?;
        self.web.send(permit).await.map_err(Failure::Net)
    }
}
