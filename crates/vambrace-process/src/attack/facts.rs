//! What the battery must be told: where the traps stand, and what was really granted. It travels as arguments of the
//! form `key=value`, written by the host and read inside.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Begins the names of all that is made.
pub(crate) const PREFIX: &str = "vambrace-attack-";

/// Paths are those of the host; a cage shows the workspace under the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Marks what comes from this battery, so that the host takes nothing else for it.
    pub(crate) token: String,
    /// The same for names that are made in the service, each used once: programs of other cages can read them there, and
    /// must not know the next.
    pub(crate) inner_tokens: Vec<String>,
    /// The same for names that are made anywhere else. It stands in no name that those programs can see.
    pub(crate) outer_token: String,
    pub(crate) workspace: String,
    pub(crate) service: String,
    /// A file in the state folder, which nothing inside may read or write.
    pub(crate) canary: String,
    /// What that file is, whatever its name.
    pub(crate) canary_inode: String,
    /// The same in the host's /tmp.
    pub(crate) temporary_canary: String,
    pub(crate) sockets: Vec<String>,
    pub(crate) abstract_name: String,
    pub(crate) tcp: u16,
    /// There are machines without IPv6.
    pub(crate) tcp6: Option<u16>,
    pub(crate) udp: u16,
    /// A process of the host, as the host counts, and the namespace in which that number is meant.
    pub(crate) pid: u32,
    pub(crate) pid_namespace: String,
    pub(crate) home: Option<String>,
    /// On which device the host has these folders: what lies on another one was not written to the host.
    pub(crate) devices: Vec<(String, u64)>,
    /// Names of variables that programs are given.
    pub(crate) variables: Vec<String>,
    /// Files and folders of the workspace that the policy hides from programs.
    pub(crate) hidden: Vec<String>,
    /// Folders outside the service that the operator lets programs write.
    pub(crate) writable: Vec<String>,
    /// Protected names at the top of the service that were there before the cage was built.
    pub(crate) present: Vec<String>,
    /// Whether the host lets us write in the service at all.
    pub(crate) may_write: bool,
    /// Whether protected names are refused as they are made, and not only the few that are covered.
    pub(crate) guarded: bool,
    /// The machine lets nobody raise the limit on core dumps above 0.
    pub(crate) without_cores: bool,
    /// A port of the host that is asked for through the way out.
    pub(crate) proxy_trap: u16,
    /// Whether there is one.
    pub(crate) proxied: bool,
}

impl Facts {
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut tell = |key: &str, value: &str| arguments.push(format!("{key}={value}"));
        tell("token", &self.token);
        tell("outer_token", &self.outer_token);
        tell("workspace", &self.workspace);
        tell("service", &self.service);
        tell("canary", &self.canary);
        tell("canary_inode", &self.canary_inode);
        tell("temporary_canary", &self.temporary_canary);
        tell("abstract", &self.abstract_name);
        tell("tcp", &self.tcp.to_string());
        tell("udp", &self.udp.to_string());
        tell("pid", &self.pid.to_string());
        tell("pid_namespace", &self.pid_namespace);
        tell("proxy_trap", &self.proxy_trap.to_string());
        if self.proxied {
            tell("proxied", "yes");
        }
        if self.may_write {
            tell("may_write", "yes");
        }
        if self.guarded {
            tell("guarded", "yes");
        }
        if self.without_cores {
            tell("without_cores", "yes");
        }
        if let Some(port) = self.tcp6 {
            tell("tcp6", &port.to_string());
        }
        if let Some(home) = &self.home {
            tell("home", home);
        }
        for (folder, device) in &self.devices {
            tell("device", &format!("{device}:{folder}"));
        }
        let lists = [
            ("inner_token", &self.inner_tokens),
            ("socket", &self.sockets),
            ("variable", &self.variables),
            ("hidden", &self.hidden),
            ("writable", &self.writable),
            ("present", &self.present),
        ];
        for (key, values) in lists {
            values.iter().for_each(|value| tell(key, value));
        }
        arguments
    }

    /// Nothing if something is unknown or lacking: half a battery proves nothing.
    pub(crate) fn parse(arguments: &[String]) -> Option<Facts> {
        let mut facts = Facts::default();
        for argument in arguments {
            let (key, value) = argument.split_once('=')?;
            let text = value.to_owned();
            match key {
                "token" => facts.token = text,
                "inner_token" => facts.inner_tokens.push(text),
                "outer_token" => facts.outer_token = text,
                "workspace" => facts.workspace = text,
                "service" => facts.service = text,
                "canary" => facts.canary = text,
                "canary_inode" => facts.canary_inode = text,
                "temporary_canary" => facts.temporary_canary = text,
                "abstract" => facts.abstract_name = text,
                "tcp" => facts.tcp = value.parse().ok()?,
                "tcp6" => facts.tcp6 = Some(value.parse().ok()?),
                "udp" => facts.udp = value.parse().ok()?,
                "pid" => facts.pid = value.parse().ok()?,
                "pid_namespace" => facts.pid_namespace = text,
                "home" => facts.home = Some(text),
                "device" => {
                    let (device, folder) = value.split_once(':')?;
                    facts.devices.push((folder.to_owned(), device.parse().ok()?));
                }
                "socket" => facts.sockets.push(text),
                "variable" => facts.variables.push(text),
                "hidden" => facts.hidden.push(text),
                "writable" => facts.writable.push(text),
                "present" => facts.present.push(text),
                "proxy_trap" => facts.proxy_trap = value.parse().ok()?,
                "proxied" if value == "yes" => facts.proxied = true,
                "may_write" if value == "yes" => facts.may_write = true,
                "guarded" if value == "yes" => facts.guarded = true,
                "without_cores" if value == "yes" => facts.without_cores = true,
                _ => return None,
            }
        }
        facts.is_whole().then_some(facts)
    }

    fn is_whole(&self) -> bool {
        let texts = [
            &self.token,
            &self.outer_token,
            &self.workspace,
            &self.service,
            &self.canary,
            &self.canary_inode,
            &self.temporary_canary,
            &self.abstract_name,
            &self.pid_namespace,
        ];
        texts.iter().all(|text| !text.is_empty())
            && !self.inner_tokens.is_empty()
            && !self.sockets.is_empty()
            && self.tcp != 0
            && self.udp != 0
            && self.proxy_trap != 0
            && self.pid != 0
    }

    /// A name that nobody else uses, for what has to be made. In the service it is another one each time.
    pub(crate) fn scratch(&self, folder: &str) -> String {
        static N_USED: AtomicUsize = AtomicUsize::new(0);
        let is_inside = std::path::Path::new(folder).starts_with(&self.service);
        let token = match is_inside {
            true => {
                self.inner_tokens.get(N_USED.fetch_add(1, Ordering::Relaxed) % self.inner_tokens.len().max(1))
            }
            false => None,
        };
        format!("{folder}/{PREFIX}{}", token.unwrap_or(&self.outer_token))
    }

    /// Every name that may be made in the service.
    pub(crate) fn inner_names(&self) -> Vec<String> {
        self.inner_tokens.iter().map(|token| format!("{PREFIX}{token}")).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> Facts {
        let text = |text: &str| text.to_owned();
        Facts {
            token: text("t0"),
            inner_tokens: vec![text("t1"), text("t3"), text("t4")],
            outer_token: text("t2"),
            workspace: text("/w"),
            service: text("/w/s=1"),
            canary: text("/state/canary"),
            canary_inode: text("1:2"),
            temporary_canary: text("/tmp/canary"),
            sockets: vec![text("/state/a"), text("/tmp/b")],
            abstract_name: text("name"),
            tcp: 1,
            tcp6: Some(2),
            udp: 3,
            pid: 4,
            pid_namespace: text("pid:[1]"),
            home: Some(text("/home/a b")),
            devices: vec![(text("/:/odd"), 7)],
            variables: vec![text("PATH")],
            hidden: vec![text("/w/.env")],
            writable: vec![text("/cache")],
            present: vec![text(".idea")],
            may_write: true,
            guarded: true,
            without_cores: true,
            proxy_trap: 5,
            proxied: true,
        }
    }

    #[test]
    fn what_is_told_is_what_is_read() {
        let facts = example();
        assert_eq!(Facts::parse(&facts.arguments()), Some(facts.clone()));
        let small = Facts {
            tcp6: None,
            home: None,
            devices: Vec::new(),
            variables: Vec::new(),
            hidden: Vec::new(),
            writable: Vec::new(),
            ..facts
        };
        assert_eq!(Facts::parse(&small.arguments()), Some(small));
    }

    #[test]
    fn less_than_all_or_more_is_nothing() {
        let whole = example().arguments();
        for key in [
            "token",
            "inner_token",
            "workspace",
            "service",
            "canary",
            "temporary_canary",
            "abstract",
            "tcp",
            "udp",
            "proxy_trap",
            "pid",
            "pid_namespace",
            "socket",
        ] {
            let start = format!("{key}=");
            let less: Vec<_> =
                whole.iter().filter(|argument| !argument.starts_with(&start)).cloned().collect();
            assert_eq!(Facts::parse(&less), None, "{key}");
        }
        for more in ["color=red", "tcp=many", "device=7", "loose"] {
            let more: Vec<_> = whole.iter().cloned().chain([more.to_owned()]).collect();
            assert_eq!(Facts::parse(&more), None, "{more:?}");
        }
    }
}
