//! A small internet on loopback: names that a test scripts, two sites, and a port that nothing may reach.

pub(crate) mod bomb;
pub(crate) mod dns;
pub(crate) mod http;
pub(crate) mod registry;
pub(crate) mod trap;

use std::process::Command;

use serde_json::{Value, json};

use self::dns::{Dns, addresses};
use self::http::{Reply, Request, Site};
use self::trap::Trap;
use crate::support::{Ran, World, finish};

/// An address that is anybody's, for rows that are decided and never dialled.
pub(crate) const PUBLIC: &str = "93.184.216.34";
pub(crate) const PUBLIC_V6: &str = "2606:2800:220:1::1";

pub(crate) struct NetWorld {
    pub(crate) world: World,
    pub(crate) dns: Dns,
    /// `site.test`, which the operator lists with its address.
    pub(crate) site: Site,
    /// `other.test`, listed too.
    pub(crate) other: Site,
    /// Behind `trap.test` and every loopback address; not listed.
    pub(crate) trap: Trap,
    settings: Value,
}

impl NetWorld {
    /// Both sites answer as the script says.
    pub(crate) fn new(script: impl Fn(&Request) -> Reply + Clone + Send + Sync + 'static) -> NetWorld {
        NetWorld::with(World::new(), script)
    }

    pub(crate) fn with(
        world: World,
        script: impl Fn(&Request) -> Reply + Clone + Send + Sync + 'static,
    ) -> NetWorld {
        let dns = Dns::start();
        dns.name("site.test", addresses(&["127.0.0.1"])).name("other.test", addresses(&["127.0.0.1"]));
        dns.name("trap.test", addresses(&["127.0.0.1"])).name("trap6.test", addresses(&["::1"]));
        let listed = |host: &str| json!({"host": host, "cidr": "127.0.0.1/32"});
        let settings = json!({
            "net": {"dns_server": dns.address().to_string()},
            "tools": {"url_policy": {"allowed_domains": [listed("site.test"), listed("other.test")]}},
        });
        let (site, other) = (Site::start(script.clone()), Site::start(script));
        NetWorld { world, dns, site, other, trap: Trap::set(), settings }
    }

    /// With further settings; what is set twice is the later one.
    pub(crate) fn set(mut self, settings: Value) -> NetWorld {
        merge(&mut self.settings, settings);
        self
    }

    /// With these settings alone; only the name server stays.
    pub(crate) fn only(self, settings: Value) -> NetWorld {
        let net = json!({"net": self.settings["net"]});
        NetWorld { settings: net, ..self }.set(settings)
    }

    /// A URL of the listed site.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.site.port())
    }

    pub(crate) fn other_url(&self, path: &str) -> String {
        format!("http://other.test:{}{path}", self.other.port())
    }

    /// The configuration file beside the workspace. JSON is YAML.
    pub(crate) fn config(&self) -> String {
        self.world.beside("net.yaml", &self.settings.to_string())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let config = self.config();
        self.world.command(&[&["--config", config.as_str()], args].concat())
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(&mut self.command(args), b"")
    }

    #[track_caller]
    pub(crate) fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        finish(&mut self.command(args), input.as_ref())
    }

    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.feed(&["call", tool, "-"], arguments.to_string())
    }

    /// One process for all of them; the results in their order.
    #[track_caller]
    pub(crate) fn batch(&self, calls: &[(&str, Value)]) -> Vec<Value> {
        let line = |(tool, arguments): &(&str, Value)| json!({"tool": tool, "arguments": arguments});
        let input: String = calls.iter().map(|call| format!("{}\n", line(call))).collect();
        let ran = self.feed(&["call", "--batch"], input);
        let results = ran.lines();
        assert_eq!((ran.code, results.len()), (0, calls.len()), "{ran:?}");
        results
    }

    #[track_caller]
    pub(crate) fn fetch(&self, url: &str) -> Ran {
        self.call("web_fetch", &json!({"url": url}))
    }

    /// The decisions about these URLs, in their order.
    #[track_caller]
    pub(crate) fn decisions<S: AsRef<str>>(&self, urls: &[S]) -> Vec<Value> {
        let input: String = urls.iter().map(|url| format!("{}\n", json!({"input": url.as_ref()}))).collect();
        let ran = self.feed(&["check", "url", "--batch"], input);
        let answers = ran.lines();
        assert_eq!((ran.code, answers.len()), (0, urls.len()), "{ran:?}");
        answers
    }
}

/// Objects are merged key by key; everything else is replaced.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
