//! A way out: what connects to it inside comes to whoever serves it outside, and nothing else does.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use vambrace_process::cell::{CageSpec, Captured, Cell, Exit, Input, Output, Stdio};
use vambrace_process::{Layer, PROXY_PORT};

use crate::setting::{one, spec, watch};
use crate::{front, launcher, text};

/// Answers every request with one word and remembers its first line.
pub(crate) struct Proxy {
    asked: Arc<Mutex<Vec<String>>>,
    // Closed to end the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn serve(listener: OwnedFd, word: &'static str) -> Proxy {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (watched, stop) = rustix::pipe::pipe().unwrap();
        let heard = Arc::clone(&asked);
        let serve = move || {
            loop {
                let mut ready = [&listener, &watched].map(|end| PollFd::new(end, PollFlags::IN));
                rustix::event::poll(&mut ready, None).unwrap();
                let [called, stopped] = ready.map(|end| !end.revents().is_empty());
                if stopped {
                    return;
                }
                if called {
                    let caller = rustix::net::accept_with(&listener, SocketFlags::CLOEXEC).unwrap();
                    answer(File::from(caller), word, &heard);
                }
            }
        };
        Proxy { asked, stop: Some(stop), thread: Some(std::thread::spawn(serve)) }
    }

    /// What was asked, after the last job is over.
    fn asked(mut self) -> Vec<String> {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut caller: File, word: &str, heard: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut chunk = [0u8; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let n_read = caller.read(&mut chunk).unwrap_or(0);
        if n_read == 0 {
            return;
        }
        request.extend_from_slice(chunk.get(..n_read).unwrap());
    }
    let first = text(&request).lines().next().unwrap_or_default().to_owned();
    heard.lock().unwrap().push(first);
    let _gone = write!(
        caller,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{word}",
        word.len()
    );
}

struct Place {
    folder: tempfile::TempDir,
    cell: Cell,
}

fn with_way_out(folder: &std::path::Path) -> CageSpec {
    CageSpec { way_out: true, ..spec(folder) }
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let cell = launcher().cell(&with_way_out(folder.path())).unwrap();
        Place { folder, cell }
    }

    #[track_caller]
    fn shell(&mut self, script: &str) -> Captured {
        let stdio = Stdio { input: Input::Null, output: Output::Capture };
        self.cell.run(&one(&["sh", "-c", script]), stdio, &watch()).unwrap()
    }
}

const CURL: &str = "http_proxy=http://127.0.0.1:3128 curl -sS --max-time 20 http://listed.test/x";

#[test]
fn what_connects_inside_is_served_outside() {
    let mut place = Place::new();
    let proxy = Proxy::serve(place.cell.take_way_out().unwrap(), "hello");
    assert!(place.cell.take_way_out().is_none(), "once");
    let captured = place.shell(CURL);
    assert_eq!((text(&captured.stdout).as_str(), captured.exit), ("hello", Exit::Code(0)), "{captured:?}");
    // Nothing else is there, by name or by address, and the kernel says so at once.
    for (url, words) in [
        ("http://listed.test/", "Could not resolve host"),
        ("http://192.0.2.1/", "Failed to connect"),
        ("http://127.0.0.1:3129/", "Failed to connect"),
        ("http://[::1]:3128/", "Failed to connect"),
    ] {
        let captured = place.shell(&format!("curl -sS --noproxy '*' --max-time 20 {url}"));
        let said = text(&captured.stderr);
        assert!(captured.exit != Exit::Code(0) && said.contains(words), "{url}: {said}");
    }
    assert_eq!(proxy.asked(), ["GET http://listed.test/x HTTP/1.1"]);
    let _folder = place.folder;
}

#[test]
fn no_program_has_the_socket_or_can_take_its_place() {
    let mut place = Place::new();
    let proxy = Proxy::serve(place.cell.take_way_out().unwrap(), "ours");
    assert_eq!(text(&place.shell("ls /proc/self/fd").stdout), "0\n1\n2\n3\n"); // 3 is what ls itself opens
    for (address, option) in [
        ("127.0.0.1", "SO_REUSEADDR"),
        ("127.0.0.1", "SO_REUSEPORT"),
        ("0.0.0.0", "SO_REUSEADDR"),
        ("0.0.0.0", "SO_REUSEPORT"),
        ("::ffff:127.0.0.1", "SO_REUSEPORT"),
    ] {
        let family = if address.contains(':') { "socket.AF_INET6" } else { "socket.AF_INET" };
        let script = format!(
            "python3 -c 'import socket as s; import socket; x = s.socket({family}); \
             x.setsockopt(s.SOL_SOCKET, s.{option}, 1); x.bind((\"{address}\", {PROXY_PORT})); x.listen()'"
        );
        let captured = place.shell(&script);
        let said = text(&captured.stderr);
        assert!(said.contains("Address already in use"), "{address} {option}: {said}");
    }
    assert_eq!(text(&place.shell(CURL).stdout), "ours");
    assert_eq!(proxy.asked().len(), 1);
}

/// A socket of the host that connects to the port there.
fn connects_on_the_host() -> bool {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT)).is_ok()
}

#[test]
fn it_is_nobody_elses() {
    let was_there = connects_on_the_host();
    let (mut one, mut other) = (Place::new(), Place::new());
    let mut without = crate::Setting::new();
    let first = Proxy::serve(one.cell.take_way_out().unwrap(), "first");
    let second = Proxy::serve(other.cell.take_way_out().unwrap(), "second");
    assert_eq!(text(&one.shell(CURL).stdout), "first");
    assert_eq!(text(&other.shell(CURL).stdout), "second");
    let refused = without.shell(CURL);
    assert!(text(&refused.stderr).contains("Failed to connect"), "{refused:?}");
    assert!(without.cell.take_way_out().is_none());
    assert_eq!(connects_on_the_host(), was_there, "the host has it too");
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1));
    // Served by nobody any more: what connects is refused, and does not wait.
    let captured = one.shell(CURL);
    assert!(text(&captured.stderr).contains("Failed to connect"), "{captured:?}");
}

#[test]
fn without_a_network_of_its_own_there_is_none() {
    for confine in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = with_way_out(folder.path());
        spec.mounts.clear();
        spec.writable = vec![folder.path().to_owned()];
        let mut command = Command::new(front());
        command.arg("__cage-runner");
        let mut cell = Cell::inside(command, confine.then_some(&spec)).unwrap();
        assert!(!cell.layers().has(Layer::NetworkNamespace) && cell.take_way_out().is_none());
    }
}

/// In a cage that another program has built.
#[track_caller]
fn check_backend(program: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = with_way_out(folder.path());
    spec.mounts.clear();
    spec.writable = vec![folder.path().to_owned()];
    let mut command = Command::new(program);
    command.args(words).arg(front()).arg("__cage-runner");
    let mut cell = match Cell::inside(command, Some(&spec)) {
        Ok(cell) => cell,
        Err(error) => panic!("{program}: {error}"),
    };
    assert!(cell.layers().has(Layer::NetworkNamespace), "{program}: {:?}", cell.layers());
    let proxy = Proxy::serve(cell.take_way_out().unwrap(), program_word(program));
    let mut order = one(&["sh", "-c", CURL]);
    order.folder = folder.path().to_owned();
    let stdio = Stdio { input: Input::Null, output: Output::Capture };
    let captured = cell.run(&order, stdio, &watch()).unwrap();
    assert_eq!(text(&captured.stdout), program_word(program), "{program}: {}", text(&captured.stderr));
    assert_eq!(proxy.asked().len(), 1, "{program}");
}

fn program_word(program: &str) -> &'static str {
    if program == "bwrap" { "from bubblewrap" } else { "from another" }
}

#[test]
fn another_backend_has_one_too() {
    check_backend(
        "unshare",
        &["--user", "--map-root-user", "--net", "sh", "-c", "ip link set lo up; exec \"$@\"", "sh"],
    );
    check_backend("bwrap", &["--unshare-all", "--dev-bind", "/", "/", "--"]);
}

#[test]
fn an_ordinary_user_has_one_and_killing_the_front_ends_it() {
    let printed =
        crate::cell_user::as_user_with("proxied", &[], &format!("{CURL}; echo; ls /proc/self/fd | wc -l"));
    assert_eq!(text(&printed.stdout), "from the front\n4\n", "{}", text(&printed.stderr));
    let folder = tempfile::tempdir().unwrap();
    let held = crate::cell_death::hold("hold-proxied", folder.path(), "exec sleep 1000");
    let watched = [held.launcher.as_fd(), held.cell.as_fd(), held.program.as_fd()]
        .map(|process| process.try_clone_to_owned().unwrap());
    held.kill();
    for process in &watched {
        crate::cell_death::assert_ends(process);
    }
}
