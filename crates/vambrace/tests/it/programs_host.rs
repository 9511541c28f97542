//! What the host sees of programs that ran in the cage. It knows nothing of the cage: it looks at processes, files and
//! sockets as any other user of the machine would.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use crate::support::{PATIENCE, Ran, World, finish, skip};

/// A number of seconds that nobody else on this machine sleeps, so that a process can be found by it.
pub(crate) fn marker() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("86400.{}{:03}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// The processes of this machine that have the marker as an argument of its own.
pub(crate) fn alive(marker: &str) -> Vec<u32> {
    processes(|_, arguments| arguments.iter().any(|argument| argument == marker))
}

pub(crate) fn children(of: u32) -> Vec<u32> {
    processes(|pid, _| parent(pid) == Some(of))
}

fn processes(is_wanted: impl Fn(u32, &[String]) -> bool) -> Vec<u32> {
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        // A process may end while we look.
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments: Vec<String> =
            line.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        is_wanted(*pid, &arguments)
    })
    .collect()
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// Looks again and again: nothing tells a bystander that a process of others has come or gone.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never happened: {what}");
        thread::yield_now();
    }
}

#[track_caller]
pub(crate) fn nothing_runs(marker: &str) {
    until("every process has ended", || alive(marker).is_empty());
}

/// Every file beneath a folder that holds the text.
pub(crate) fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    World::everything_in(folder).into_iter().filter(|(_, bytes)| has(bytes)).map(|(path, _)| path).collect()
}

/// Whether this is root. Only the kernel's word counts, not a variable.
pub(crate) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// Says loudly what is not shown when a program of this machine is missing.
pub(crate) fn has(program: &str, what: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        skip(&format!("{what}: `{program}` is not installed"));
    }
    found
}

/// What a sandbox mounts of ours is kept there where the machine has such a place.
pub(crate) fn has_shared_memory(what: &str) -> bool {
    let found = tempfile::tempdir_in("/dev/shm").is_ok();
    if !found {
        skip(&format!("{what}: nothing can be made in /dev/shm"));
    }
    found
}

/// Sockets of the host that nothing in a cage may reach.
pub(crate) struct Listeners {
    tcp: TcpListener,
    udp: UdpSocket,
    path: UnixListener,
    abstract_name: UnixListener,
    /// What a script needs to know: ports, path and name.
    pub(crate) arguments: Vec<String>,
}

impl Listeners {
    /// The path lies in this folder.
    pub(crate) fn open(folder: &Path) -> Listeners {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let socket = folder.join("host.sock");
        let name = format!("vambrace-test-{}", marker());
        let path = UnixListener::bind(&socket).unwrap();
        let abstract_name = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        path.set_nonblocking(true).unwrap();
        abstract_name.set_nonblocking(true).unwrap();
        let ports = [tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port()];
        let arguments =
            vec![ports[0].to_string(), ports[1].to_string(), socket.to_str().unwrap().to_owned(), name];
        Listeners { tcp, udp, path, abstract_name, arguments }
    }

    /// Which of them somebody has reached since the last look.
    pub(crate) fn reached(&self) -> Vec<&'static str> {
        let arrived = [
            ("tcp", waits(self.tcp.accept())),
            ("udp", waits(self.udp.recv(&mut [0; 16]))),
            ("path", waits(self.path.accept())),
            ("abstract", waits(self.abstract_name.accept())),
        ];
        arrived.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
    }
}

fn waits<T>(arrived: std::io::Result<T>) -> bool {
    match arrived {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
            false
        }
    }
}

/// The same command without a cage: shows that an attack can succeed at all.
#[track_caller]
pub(crate) fn on_host(world: &World, command: &[&str]) -> Ran {
    let mut bare = world.bare(command[0]);
    finish(bare.args(&command[1..]), b"")
}

/// `vambrace …` in a world that belongs to an ordinary user, as that user.
pub(crate) fn as_nobody(world: &World, args: &[&str]) -> Command {
    give(world, NOBODY);
    let mut command = world.bare("setpriv");
    command.args(becoming(NOBODY)).arg(crate::support::binary()).arg("--state").arg(world.state()).args(args);
    command
}

/// A program in a world that belongs to an ordinary user who has a name and a shell, as that user. Only the program
/// sees the list of users that says so.
pub(crate) fn as_user(world: &World, program: &str) -> Command {
    give(world, SOMEBODY);
    let known = fs::read_to_string("/etc/passwd").unwrap();
    let users = world.beside("passwd", &format!("{known}somebody:x:{SOMEBODY}:{SOMEBODY}::/:/bin/sh\n"));
    let mut command = world.bare("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c"]);
    command.args([r#"mount --bind "$0" /etc/passwd && exec setpriv "$@""#, &users]);
    command.args(becoming(SOMEBODY)).arg(program);
    command
}

fn give(world: &World, user: u32) {
    for folder in [world.dir().to_owned(), world.work(), world.home()] {
        std::os::unix::fs::chown(folder, Some(user), Some(user)).unwrap();
    }
}

fn becoming(user: u32) -> [String; 5] {
    let id = user.to_string();
    ["--reuid".to_owned(), id.clone(), "--regid".to_owned(), id, "--clear-groups".to_owned()]
}

pub(crate) const NOBODY: u32 = 65534;
const SOMEBODY: u32 = 65533;
