//! The host's side of the battery: canaries that must stay as they are and sockets at which nobody may call. It knows
//! nothing of cages; whoever builds one hands the battery its arguments and brings back what it printed.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, getsockname,
    listen, recv, socket_with,
};
use rustix::process::{Pid, Resource, getrlimit};

use super::{PostureRow, RowState};
use crate::attack::facts::{Facts, PREFIX};
use crate::attack::file::{HOST_DEVICES, SYSTEM_FOLDERS, inode_of};
use crate::attack::row::{Row, one_line};

/// How many callers may wait at one trap. The battery comes a few times; more is somebody else.
const MOST_CALLERS: i32 = 64;

/// Stand while they live; whatever they made goes with them.
pub(crate) struct Traps {
    facts: Facts,
    text: String,
    /// Each of them is called upon by the attack of its row.
    listeners: Vec<(Row, OwnedFd)>,
    datagrams: OwnedFd,
    made: Made,
}

/// Removed when dropped, also when only a part of the traps could be set.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            let _gone = std::fs::remove_file(file);
        }
        if let Some(folder) = &self.folder {
            let _gone = std::fs::remove_dir(folder);
        }
    }
}

impl Traps {
    /// `state` is a private folder outside the workspace.
    pub(crate) fn set(state: &Path, workspace: &Path, service: &Path) -> io::Result<Traps> {
        // The number says whose they are, for when we are killed and another start has to remove them.
        let token = own_token()?;
        remove_stale(state, &STATE_PREFIXES);
        for folder in [service, Path::new("/tmp")] {
            remove_stale(folder, &OUTSIDE_PREFIXES);
        }
        let text = format!("nobody inside may read this: {}\n", random_text()?);
        let mut made = Made::default();
        // A folder of its own: a listing of it shows something, whatever else the state holds.
        let folder = state.join(format!("traps-{token}"));
        DirBuilder::new().mode(0o700).create(&folder)?;
        made.folder = Some(folder.clone());
        let canary = make_canary(&mut made, folder.join("canary"), &text)?;
        let temporary = Path::new("/tmp");
        let temporary_canary =
            make_canary(&mut made, temporary.join(format!("vambrace-canary-{token}")), &text)?;

        let mut listeners = Vec::new();
        let mut sockets = Vec::new();
        for path in [folder.join("socket"), temporary.join(format!("vambrace-socket-{token}"))] {
            match SocketAddrUnix::new(&path).map_err(io::Error::from) {
                Ok(address) => {
                    made.files.push(path.clone());
                    listeners.push((Row::UnixPath, listener(AddressFamily::UNIX, &address)?));
                    sockets.push(text_of(&path)?);
                }
                // The name of the state folder can be longer than a socket's may be; the other one is in /tmp.
                Err(_) if sockets.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        let abstract_name = format!("vambrace-{token}");
        let address = SocketAddrUnix::new_abstract_name(abstract_name.as_bytes())?;
        listeners.push((Row::UnixAbstract, listener(AddressFamily::UNIX, &address)?));

        let tcp = listener(AddressFamily::INET, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let tcp_port = port_of(&tcp)?;
        listeners.push((Row::Tcp, tcp));
        let proxy_trap = listener(AddressFamily::INET, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let proxy_trap_port = port_of(&proxy_trap)?;
        listeners.push((Row::Proxy, proxy_trap));
        // There are machines without IPv6.
        let tcp6 = listener(AddressFamily::INET6, &SocketAddrV6::new(Ipv6Addr::LOCALHOST, 0, 0, 0)).ok();
        let tcp6_port = tcp6.as_ref().map(port_of).transpose()?;
        listeners.extend(tcp6.map(|socket| (Row::Tcp, socket)));
        let datagrams = open(AddressFamily::INET, SocketType::DGRAM)?;
        bind(&datagrams, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;

        let facts = Facts {
            token,
            inner_tokens: (0..INNER_NAMES).map(|_| own_token()).collect::<io::Result<_>>()?,
            outer_token: own_token()?,
            workspace: text_of(workspace)?,
            service: text_of(service)?,
            canary_inode: inode_of(&rustix::fs::stat(&canary)?),
            canary,
            temporary_canary,
            sockets,
            abstract_name,
            tcp: tcp_port,
            tcp6: tcp6_port,
            udp: port_of(&datagrams)?,
            pid: std::process::id(),
            pid_namespace: text_of(&std::fs::read_link("/proc/self/ns/pid")?)?,
            home: home(
                &std::fs::read_to_string("/etc/passwd").unwrap_or_default(),
                rustix::process::getuid().as_raw(),
            ),
            devices: devices(workspace),
            variables: Vec::new(),
            hidden: Vec::new(),
            writable: Vec::new(),
            present: Vec::new(),
            may_write: false,
            guarded: false,
            without_cores: getrlimit(Resource::Core).maximum == Some(0),
            proxy_trap: proxy_trap_port,
            proxied: false,
        };
        Ok(Traps { facts, text, listeners, datagrams, made })
    }

    /// The names of all variables that a program is given.
    pub(crate) fn with_variables<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Traps {
        self.facts.variables = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Files and folders of the workspace that programs must not read.
    ///
    /// LIMIT: arguments are text, so a path that is not is hidden as well and cannot be tried.
    pub(crate) fn with_hidden<'p>(mut self, paths: impl IntoIterator<Item = &'p Path>) -> Traps {
        self.facts.hidden = paths.into_iter().filter_map(|path| path.to_str()).map(str::to_owned).collect();
        self
    }

    /// Folders outside the service that the operator lets programs write.
    pub(crate) fn with_writable<'p>(mut self, paths: impl IntoIterator<Item = &'p Path>) -> Traps {
        self.facts.writable = paths.into_iter().filter_map(|path| path.to_str()).map(str::to_owned).collect();
        self
    }

    /// Protected names at the top of the service that are covered, because they were there before the walk.
    pub(crate) fn with_present(mut self, names: Vec<String>) -> Traps {
        self.facts.present = names;
        self
    }

    /// Whether programs are to be able to write in the service, as far as the host lets anybody.
    pub(crate) fn with_service(mut self, is_writable: bool) -> Traps {
        let allowed = rustix::fs::access(self.facts.service.as_str(), rustix::fs::Access::WRITE_OK);
        self.facts.may_write = is_writable && allowed.is_ok();
        self
    }

    /// Whether no protected name may be made, wherever it lies.
    pub(crate) fn with_guard(mut self, is_there: bool) -> Traps {
        self.facts.guarded = is_there;
        self
    }

    /// Whether programs have a way out.
    pub(crate) fn with_proxy(mut self, is_there: bool) -> Traps {
        self.facts.proxied = is_there;
        self
    }

    /// The names of whatever is made in the service.
    pub(crate) fn inner_names(&self) -> Vec<String> {
        self.facts.inner_names()
    }

    /// What `attack` must be told, each thing with a zero byte behind it.
    pub(crate) fn told(&self) -> String {
        self.facts.arguments().iter().map(|fact| format!("{fact}\0")).collect()
    }

    /// Joins what the battery said with what was seen here; a row is held only if both say so.
    pub(crate) fn judge(&self, stdout: &[u8]) -> Vec<PostureRow> {
        let said = String::from_utf8_lossy(stdout);
        let seen = self.seen();
        Row::ALL
            .into_iter()
            .map(|row| {
                let inside = inside(&said, row);
                match seen.iter().find(|(broken, _)| *broken == row) {
                    Some((_, detail)) => found(row, RowState::Broken, detail),
                    None => inside,
                }
            })
            .collect()
    }

    fn seen(&self) -> Vec<(Row, String)> {
        let mut seen = Vec::new();
        for (row, listener) in &self.listeners {
            if self.was_called(listener) {
                seen.push((*row, "the host was called".to_owned()));
            }
        }
        if self.has_datagram() {
            seen.push((Row::Udp, "the host received it".to_owned()));
        }
        for canary in [&self.facts.canary, &self.facts.temporary_canary] {
            if std::fs::read_to_string(canary).ok().as_ref() != Some(&self.text) {
                seen.push((Row::WriteThroughLink, "a file of the host has changed".to_owned()));
            } else if std::fs::metadata(canary).map_or(true, |found| found.nlink() != 1) {
                seen.push((Row::HardLink, "a file of the host has a second name".to_owned()));
            }
        }
        seen.extend(self.left_behind());
        seen
    }

    /// Other programs of this machine may call at any port; the battery shows its token, first or in what a proxy passes on.
    fn was_called(&self, listener: &OwnedFd) -> bool {
        let mut called = false;
        for _ in 0..MOST_CALLERS {
            match accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(caller) => called |= self.is_token(&caller),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => break,
            }
        }
        called
    }

    fn has_datagram(&self) -> bool {
        (0..MOST_CALLERS).any(|_| self.is_token(&self.datagrams))
    }

    fn is_token(&self, socket: &OwnedFd) -> bool {
        let mut buffer = [0u8; 256];
        let received = recv(socket, &mut buffer, RecvFlags::DONTWAIT).map_or(0, |(n_read, _)| n_read);
        let token = self.facts.token.as_bytes();
        let received = buffer.get(..received).unwrap_or_default();
        received.windows(token.len()).any(|window| window == token)
    }

    /// The battery removes what it makes. What is still there was made on the host, and could not be removed.
    fn left_behind(&self) -> Vec<(Row, String)> {
        let mut places = vec![(Row::UseTemporary, "/tmp")];
        // In the service itself programs of other cages may make what they like.
        if self.facts.workspace != self.facts.service {
            places.push((Row::WriteOutside, self.facts.workspace.as_str()));
        }
        places.extend(SYSTEM_FOLDERS.iter().map(|folder| (Row::WriteSystem, *folder)));
        places
            .into_iter()
            .filter(|(_, folder)| std::fs::symlink_metadata(self.facts.scratch(folder)).is_ok())
            .map(|(row, folder)| (row, format!("something was left in {folder}")))
            .collect()
    }
}

impl std::fmt::Debug for Traps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traps").field("made", &self.made.files).finish_non_exhaustive()
    }
}

/// What the battery says about a row: held only if it says so once and in the right form.
fn inside(said: &str, row: Row) -> PostureRow {
    let lines: Vec<Vec<_>> = said
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|parts| parts.first() == Some(&row.as_str()))
        .collect();
    match lines.as_slice() {
        [line] => match line.as_slice() {
            [_, "held", detail] => found(row, RowState::Held, detail),
            [_, "broken", detail] => found(row, RowState::Broken, detail),
            [_, "untried", detail] => found(row, RowState::Untried, detail),
            _ => found(row, RowState::Untried, "the report cannot be read"),
        },
        [] => found(row, RowState::Untried, "the battery did not report it"),
        _ => found(row, RowState::Untried, "the battery reported it more than once"),
    }
}

fn found(row: Row, state: RowState, detail: &str) -> PostureRow {
    PostureRow { name: row.as_str().to_owned(), state, detail: one_line(detail) }
}

/// More than the battery makes in the service.
const INNER_NAMES: usize = 32;
const STATE_PREFIXES: [&str; 1] = ["traps-"];
const OUTSIDE_PREFIXES: [&str; 3] = [PREFIX, "vambrace-canary-", "vambrace-socket-"];

/// What processes that were killed during their self-test left behind. A name that has not exactly our form is somebody
/// else's, and so is what lies in a folder.
fn remove_stale(folder: &Path, prefixes: &[&str]) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| owner(name, prefixes)) else { continue };
        if rustix::process::test_kill_process(owner) != Err(Errno::SRCH) {
            continue;
        }
        // Links are removed, not followed.
        let path = entry.path();
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                for ours in ["inner", "canary", "socket"] {
                    let _gone = std::fs::remove_file(path.join(ours));
                }
                std::fs::remove_dir(&path)
            }
            _ => std::fs::remove_file(&path),
        };
    }
}

/// Whose process it was: a number and twelve random bytes follow the prefix.
fn owner(name: &str, prefixes: &[&str]) -> Option<Pid> {
    let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let (owner, random) = rest.split_once('-')?;
    let is_ours = random.len() == 2 * RANDOM_BYTES
        && random.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    owner.parse().ok().filter(|_| is_ours).and_then(Pid::from_raw)
}

const RANDOM_BYTES: usize = 12;

fn make_canary(made: &mut Made, path: PathBuf, text: &str) -> io::Result<String> {
    let name = text_of(&path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    made.files.push(path);
    file.write_all(text.as_bytes())?;
    Ok(name)
}

fn open(family: AddressFamily, kind: SocketType) -> io::Result<OwnedFd> {
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

fn listener(family: AddressFamily, address: &impl SocketAddrArg) -> io::Result<OwnedFd> {
    let socket = open(family, SocketType::STREAM)?;
    bind(&socket, address)?;
    listen(&socket, MOST_CALLERS)?;
    Ok(socket)
}

fn port_of(socket: &OwnedFd) -> io::Result<u16> {
    let address = SocketAddr::try_from(getsockname(socket)?)?;
    Ok(address.port())
}

/// Arguments are text.
fn text_of(path: &Path) -> io::Result<String> {
    let text = path.to_str().filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a path is not text"))
}

fn own_token() -> io::Result<String> {
    Ok(format!("{}-{}", std::process::id(), random_text()?))
}

fn random_text() -> io::Result<String> {
    let mut bytes = [0u8; RANDOM_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn home(passwords: &str, user: u32) -> Option<String> {
    passwords.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let [_, _, number, _, _, home, ..] = fields.as_slice() else { return None };
        (number.parse() == Ok(user) && home.starts_with('/')).then(|| (*home).to_owned())
    })
}

fn devices(workspace: &Path) -> Vec<(String, u64)> {
    let folders = SYSTEM_FOLDERS.iter().chain([&HOST_DEVICES]).map(Path::new).chain(workspace.parent());
    folders
        .filter_map(|folder| Some((folder.to_str()?.to_owned(), std::fs::metadata(folder).ok()?.dev())))
        .collect()
}

#[cfg(test)]
mod tests;
