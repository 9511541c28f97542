//! Jobs with a way out, in real cages, with a stand-in for who serves it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc;

use rustix::event::{PollFd, PollFlags};
use rustix::net::SocketFlags;
use vambrace_policy::{HardLinks, Isolation, Job, Level, Scope, ScopeSettings, Symlinks};
use vambrace_types::{Bearings, ByteLimit, ScopedPath};

use super::*;
use crate::settings::{EnvironmentSettings, Inherit, ProgramLimits};
use crate::{AbsentNames, Reuse, RowState, fetched};

const PEM: &str = "-----BEGIN CERTIFICATE-----\nour own\n-----END CERTIFICATE-----\n";

/// Answers with a status and remembers every request's first line.
pub(super) struct Stand {
    status: &'static str,
    heard: mpsc::Sender<String>,
    certificate: Option<String>,
    variables: Vec<(String, String)>,
}

struct Serving {
    stop: Option<OwnedFd>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Network for Stand {
    fn serve(&self, listener: OwnedFd) -> io::Result<Box<dyn Send>> {
        let (status, heard) = (self.status, self.heard.clone());
        let (watched, stop) = rustix::pipe::pipe()?;
        let serve = move || {
            loop {
                let mut ready = [&listener, &watched].map(|end| PollFd::new(end, PollFlags::IN));
                rustix::event::poll(&mut ready, None).unwrap();
                let [called, stopped] = ready.map(|end| !end.revents().is_empty());
                if called {
                    let caller = rustix::net::accept_with(&listener, SocketFlags::CLOEXEC).unwrap();
                    answer(File::from(caller), status, &heard);
                } else if stopped {
                    return;
                }
            }
        };
        Ok(Box::new(Serving { stop: Some(stop), thread: Some(std::thread::spawn(serve)) }))
    }

    fn certificate(&self) -> Option<String> {
        self.certificate.clone()
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone()
    }
}

fn answer(mut caller: File, status: &str, heard: &mpsc::Sender<String>) {
    let mut request = Vec::new();
    let mut chunk = [0u8; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match caller.read(&mut chunk).unwrap_or(0) {
            0 => return,
            n_read => request.extend_from_slice(&chunk[..n_read]),
        }
    }
    let first = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    heard.send(first).unwrap();
    let _gone = write!(caller, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 5\r\n\r\nserved");
}

pub(super) struct World {
    _root: tempfile::TempDir,
    pub(super) programs: Arc<Programs>,
}

pub(super) fn world(backend: Backend, absent_names: AbsentNames) -> World {
    world_with(backend, absent_names, |_| BTreeMap::new())
}

/// `host` is the environment, for a folder outside the workspace.
fn world_with(
    backend: Backend,
    absent_names: AbsentNames,
    host: impl Fn(&Path) -> BTreeMap<String, String>,
) -> World {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    let (workspace, state) = (base.join("work"), base.join("state"));
    std::fs::create_dir(&workspace).unwrap();
    std::fs::create_dir(&state).unwrap();
    let scope = Scope::new(ScopeSettings {
        bearings: Bearings::new(&[workspace.to_str().unwrap()], "", &[]),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    });
    let own = std::env::current_exe().unwrap();
    let front = own.parent().unwrap().parent().unwrap().join("examples/launcher");
    assert!(front.exists(), "`{}` is missing: cargo build --example launcher", front.display());
    let mebibytes = |n: u64| ByteLimit::new(n << 20);
    let settings = ProgramsSettings {
        launcher: front,
        workspace,
        spellings: Vec::new(),
        scope: Arc::new(scope.unwrap()),
        state,
        backend,
        when_missing: WhenMissing::Refuse,
        absent_names,
        reuse: Reuse::PerCaller,
        read: Vec::new(),
        write: Vec::new(),
        limits: ProgramLimits {
            output: mebibytes(1),
            memory: mebibytes(1024),
            processes: 100,
            file: mebibytes(64),
        },
        environment: EnvironmentSettings {
            inherit: Inherit::Names(Vec::new()),
            host_path: false,
            host: host(&base),
        },
        author: ("a".to_owned(), "a@example.test".to_owned()),
        secrets: BTreeMap::new(),
    };
    World { _root: root, programs: Arc::new(Programs::new(settings, Epoch(1))) }
}

pub(super) fn stand(status: &'static str) -> (Stand, mpsc::Receiver<String>) {
    let (heard, asked) = mpsc::channel();
    (Stand { status, heard, certificate: None, variables: Vec::new() }, asked)
}

impl World {
    #[track_caller]
    fn run(&self, network: Option<&dyn Network>, script: &str) -> String {
        self.run_program(network, "sh", &["-c", script])
    }

    /// What was printed.
    #[track_caller]
    fn run_program(&self, network: Option<&dyn Network>, program: &str, arguments: &[&str]) -> String {
        let folder = ScopedPath::from_components(Vec::new()).unwrap();
        let mut job = Job::program(program, arguments.iter().map(|&word| word.to_owned()).collect(), folder);
        job.level = Level::Warm;
        job.time = Some(Duration::from_secs(60));
        let context = RunContext {
            caller: "somebody",
            cancelled: &|| false,
            live: None,
            n_at_once: None,
            network,
            planted: &|_| {},
        };
        let finished = self.programs.run_caged(&job, &context).unwrap();
        String::from_utf8_lossy(&[finished.stdout, finished.stderr].concat()).into_owned()
    }
}

const CURL: &str = "curl -sS --max-time 20 http://listed.test/";

fn a_job_and_the_next(world: &World) {
    let (guarded, refusals) = stand("403 Forbidden");
    world.programs.prove(Some(&guarded), &|_| {}).unwrap();
    let posture = world.programs.posture().unwrap();
    let row = posture.rows.iter().find(|row| row.name == "dial a private address through the proxy").unwrap();
    assert_eq!((row.state, row.detail.as_str()), (RowState::Held, "the proxy says 403"), "{posture:?}");
    assert!(refusals.try_iter().count() > 10);

    let (one, asked_of_one) = stand("200 OK");
    let (other, asked_of_other) = stand("200 OK");
    assert_eq!(world.run(Some(&one), CURL), "serve");
    assert_eq!(asked_of_one.try_iter().collect::<Vec<_>>(), ["GET http://listed.test/ HTTP/1.1"]);
    // Neither the same job's cage nor its proxy is there for the next one.
    let without = world.run(None, &format!("curl -sS -x http://127.0.0.1:3128 http://x.test; {CURL}"));
    assert!(without.contains("Failed to connect") && without.contains("Could not resolve"), "{without}");
    assert_eq!(world.run(Some(&other), "env | grep -c -i proxy; echo left > /tmp/left"), "7\n");
    assert_eq!(world.run(Some(&other), &format!("ls /tmp; {CURL}")), "serve");
    assert_eq!((asked_of_one.try_iter().count(), asked_of_other.try_iter().count()), (0, 1));
}

#[test]
fn a_way_out_is_one_jobs_own() {
    for absent_names in [AbsentNames::Refuse, AbsentNames::Sweep] {
        a_job_and_the_next(&world(Backend::Native, absent_names));
    }
}

#[test]
fn a_cage_of_bubblewrap_has_one_too() {
    a_job_and_the_next(&world(Backend::Bubblewrap, AbsentNames::Refuse));
}

#[test]
fn without_a_way_out_the_battery_finds_none() {
    let world = world(Backend::Native, AbsentNames::Refuse);
    world.programs.prove(None, &|_| {}).unwrap();
    let posture = world.programs.posture().unwrap();
    let row = posture.rows.iter().find(|row| row.name == "dial a private address through the proxy").unwrap();
    assert_eq!((row.state, row.detail.as_str()), (RowState::Held, "no way out: connection refused"));
    assert_eq!(world.run(None, "echo $UV_OFFLINE $GOPROXY $CARGO_NET_OFFLINE $http_proxy"), "1 off true\n");
}

#[test]
fn a_proxy_that_lets_the_battery_out_is_broken() {
    let world = world(Backend::Native, AbsentNames::Refuse);
    let (open, _asked) = stand("200 OK");
    world.programs.prove(Some(&open), &|_| {}).unwrap();
    let broken = world.programs.posture().unwrap().names(RowState::Broken);
    assert_eq!(
        broken,
        "dial a private address through the proxy",
        "{:?}",
        world.programs.posture().unwrap().rows
    );
    assert!(matches!(world.programs.ready(), Err(ProgramError::PostureBroken { .. })));
}

#[test]
fn programs_trust_the_proxy_where_it_says_so() {
    let world = world(Backend::Native, AbsentNames::Refuse);
    world.programs.prove(None, &|_| {}).unwrap();
    let (mut stand, _asked) = stand("200 OK");
    stand.certificate = Some(PEM.to_owned());
    stand.variables = vec![("CARGO_REGISTRY_TOKEN".to_owned(), "placeholder".to_owned())];
    let script = "grep -c 'our own' $SSL_CERT_FILE $NODE_EXTRA_CA_CERTS | sed 's/.*://'; cat $NODE_EXTRA_CA_CERTS; \
                  echo $CARGO_REGISTRY_TOKEN; (echo > $SSL_CERT_FILE) 2>/dev/null || echo fixed";
    assert_eq!(world.run(Some(&stand), script), format!("1\n1\n{PEM}placeholder\nfixed\n"));
    // The system's own are there in any case, and whole.
    let count =
        "grep -c BEGIN /etc/ssl/certs/ca-certificates.crt ${SSL_CERT_FILE:-/dev/null} | sed 's/.*://'";
    let counts = world.run(Some(&stand), count);
    let [system, ours] = counts.lines().map(|n| n.parse::<usize>().unwrap()).collect::<Vec<_>>()[..] else {
        panic!("{counts}")
    };
    assert_eq!(ours, system + 1);
    // No variable may move a program.
    stand.variables = vec![("LD_PRELOAD".to_owned(), "/x.so".to_owned())];
    assert_eq!(world.run(Some(&stand), "echo ${LD_PRELOAD:-none}"), "none\n");
}

/// A prepared cage shows what a new one would.
#[test]
fn packages_appear_and_go_between_jobs_of_one_cage() {
    for backend in [Backend::Native, Backend::Bubblewrap] {
        let world = world(backend, AbsentNames::Refuse);
        world.programs.prove(None, &|_| {}).unwrap();
        let script = "echo \"[$CARGO_HOME]\"; touch \"$CARGO_HOME/x\" 2>/dev/null && echo written";
        assert_eq!(world.run(None, "echo \"[$CARGO_HOME]\""), "[]\n");
        let folder = ScopedPath::from_components(Vec::new()).unwrap();
        let fetch = Job::program("cargo", vec!["fetch".to_owned()], folder);
        let state = &world.programs.settings.state;
        let made =
            fetched::of(&fetch, fetched::Line::Up, fetched::Rustup::Absent, state, &world.programs.service());
        let place = made.shown[0].path.clone();
        assert_eq!(world.run(None, "echo \"[$CARGO_HOME]\""), "[]\n", "nothing is in it");
        std::fs::create_dir_all(place.join("registry/cache")).unwrap();
        let shown = format!("[{}]\n", place.display());
        assert_eq!(world.run(None, script), shown);
        let (stand, _asked) = stand("200 OK");
        assert_eq!(world.run(Some(&stand), script), shown, "with a way out, and another program");
        assert_eq!(world.run(None, script), shown);
        std::fs::remove_dir_all(&place).unwrap();
        assert_eq!(world.run(None, "echo \"[$CARGO_HOME]\""), "[]\n");
    }
}

/// With a `cargo` that says what it is told and unpacks a repository.
#[test]
fn a_download_obeys_no_toolchain_file_and_leaves_no_repository() {
    use std::os::unix::fs::PermissionsExt as _;
    const CARGO: &str = "#!/bin/sh\necho \"[$RUSTUP_TOOLCHAIN]\"\n\
                         mkdir -p \"$CARGO_HOME/registry/src/p/.git\" 2>/dev/null && echo unpacked\n";
    let host = |base: &Path, settings: &str| {
        let home = base.join("home");
        for (name, text) in
            [(".cargo/bin/cargo", CARGO), (".cargo/bin/rustup", ""), (".rustup/settings.toml", settings)]
        {
            std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            std::fs::write(home.join(name), text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(home.join(name), mode).unwrap();
        }
        BTreeMap::from([("HOME".to_owned(), home.to_str().unwrap().to_owned())])
    };
    let check = |settings: &str, fetched: &str| {
        let world = world_with(Backend::Native, AbsentNames::Refuse, |base| host(base, settings));
        world.programs.prove(None, &|_| {}).unwrap();
        let (stand, _asked) = stand("200 OK");
        assert_eq!(world.run_program(Some(&stand), "cargo", &["fetch"]), fetched);
        assert_eq!(world.run_program(Some(&stand), "cargo", &["build"]), "[]\n");
        let id = std::fs::read_dir(world.programs.settings.state.join("fetched"))
            .ok()
            .into_iter()
            .flatten()
            .next();
        let package = id.map(|id| id.unwrap().path().join("cargo/registry/src/p"));
        package.map(|package| (package.is_dir(), package.join(".git").exists()))
    };
    let found = check("default_toolchain = \"stable\"\n", "[stable]\nunpacked\n");
    assert_eq!(found, Some((true, false)));
    assert_eq!(check("", "[]\n"), None);
}
