//! Sockets that have a name: the programs' own work as without a cage, and nobody on the host is reached by one.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Stdio;

use crate::programs_host::has;
use crate::support::{World, finish};

const DIAL: &str = r#"
import os, socket
os.symlink("node_modules/y.sock", "link")
os.mkdir("deep"); os.chdir("deep")
open("../ready", "w").close()
while not os.path.exists("../late.sock"): pass
for path in ["../.git/fsmonitor--daemon.ipc", "../node_modules/p/x.sock", "../link", "../late.sock",
             os.path.realpath("../late.sock"), "/proc/self/cwd/../late.sock", "../early.sock", "../absent.sock"]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as dialled:
            try: dialled.connect(path); dialled.sendall(b"x"); print("reached", path)
            except OSError as error: print(path.split("/")[-1], error.strerror)
for make in (socket.socket, socket.socketpair):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: make(socket.AF_UNIX, kind); print("made", kind)
        except OSError as error: print(error.strerror)
"#;

/// Whenever they were bound, and where no walk goes.
#[test]
fn no_socket_of_the_host_is_dialled_by_its_name() {
    if !has("python3", "sockets of the host in the workspace") {
        return;
    }
    let world = World::new();
    world.file(".git/HEAD", "ref: refs/heads/main\n").file(".git/objects/x", "").file(".git/refs/x", "");
    fs::create_dir_all(world.work().join("node_modules/p")).unwrap();
    let bound = |name: &str| UnixListener::bind(world.work().join(name)).unwrap();
    let mut listeners: Vec<_> =
        [".git/fsmonitor--daemon.ipc", "node_modules/p/x.sock", "node_modules/y.sock", "early.sock"]
            .map(bound)
            .into();
    let datagrams = UnixDatagram::bind(world.work().join("node_modules/d.sock")).unwrap();
    world.file("dial.py", DIAL);
    let mut command = world.command(&["run", "--timeout", "60", "--", "python3", "dial.py"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !world.work().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
    }
    listeners.push(bound("late.sock"));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let names =
        ["fsmonitor--daemon.ipc", "x.sock", "link", "late.sock", "late.sock", "late.sock", "early.sock"];
    let mut expected: String = names.map(|name| format!("{name} Connection refused\n").repeat(2)).concat();
    expected += &"absent.sock No such file or directory\n".repeat(2);
    expected += &"Socket type not supported\nOperation not permitted\n".repeat(2);
    assert_eq!((output.status.code(), said.as_str()), (Some(0), expected.as_str()), "{told}");
    for listener in &listeners {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{:?} was reached", listener.local_addr());
    }
    datagrams.set_nonblocking(true).unwrap();
    assert!(datagrams.recv(&mut [0; 8]).is_err());
}

const TALK: &str = r#"
import asyncio, errno, os, signal, socket, tempfile, threading
os.chdir(tempfile.mkdtemp())
def listening(kind, name, backlog=5):
    made = socket.socket(socket.AF_UNIX, kind); made.bind(name); made.listen(backlog); return made
def dial(family, kind, address, blocks=True):
    made = socket.socket(family, kind); made.setblocking(blocks)
    try: made.connect(address)
    except OSError as error: return made, error.strerror
    return made, "connected"
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    server = listening(kind, "s%d" % kind); os.symlink("s%d" % kind, "link%d" % kind)
    for address in ("s%d" % kind, "link%d" % kind, os.getcwd() + "/s%d" % kind, "/proc/self/cwd/s%d" % kind):
        client, said = dial(socket.AF_UNIX, kind, address); client.sendall(b"through"); taken = server.accept()[0]
        print(said, taken.recv(9), client.getpeername() == server.getsockname())
        print(dial.__name__ and client.connect_ex(address) == errno.EISCONN); client.close(); print(taken.recv(9)); taken.close()
open("file", "w").close(); socket.socket(socket.AF_UNIX).bind("silent")
for address in ("absent", "absent/s", "file", ".", "silent", "x" * 107, "", chr(0) + "nobody"):
    print(repr(address), dial(socket.AF_UNIX, socket.SOCK_STREAM, address)[1])
hidden = listening(socket.SOCK_STREAM, chr(0) + "somebody"); print(dial(socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + "somebody")[1])
tcp = socket.create_server(("127.0.0.1", 0)); there = tcp.getsockname()
print(dial(socket.AF_INET, socket.SOCK_STREAM, there)[1], dial(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 1))[1])
print(dial(socket.AF_INET, socket.SOCK_DGRAM, there)[1], dial(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 1))[1])
print(socket.socket().connect_ex(("127.0.0.1", 1)) == errno.ECONNREFUSED, dial(socket.AF_UNIX, socket.SOCK_STREAM, "s1")[1])
full = listening(socket.SOCK_STREAM, "full", 0)
kept = [dial(socket.AF_UNIX, socket.SOCK_STREAM, "full", False) for _ in range(3)]; print([said for _, said in kept])
class Rang(Exception): pass
def ring(*_): raise Rang
signal.signal(signal.SIGALRM, ring)
try: signal.setitimer(signal.ITIMER_REAL, 0.05); dial(socket.AF_UNIX, socket.SOCK_STREAM, "full"); print("connected")
except Rang: print("interrupted")
signal.signal(signal.SIGALRM, lambda *_: full.accept()); signal.setitimer(signal.ITIMER_REAL, 0.05)
print(dial(socket.AF_UNIX, socket.SOCK_STREAM, "full")[1])
def serve():
    for _ in range(400): tcp.accept()[0].close()
thread = threading.Thread(target=serve); thread.start(); clients = [dial(socket.AF_INET, socket.SOCK_STREAM, there) for _ in range(400)]
print({said for _, said in clients}); thread.join()
async def echo():
    async def answer(reader, writer): writer.write(await reader.read(9)); writer.close()
    server = await asyncio.start_unix_server(answer, "async")
    async def ask(number):
        reader, writer = await asyncio.open_unix_connection("async"); writer.write(b"%d" % number); writer.write_eof(); return int(await reader.read())
    print(sum(await asyncio.gather(*(ask(number) for number in range(60)))))
asyncio.run(echo())
"#;

#[test]
fn programs_talk_to_each_other_as_without_a_cage() {
    if !has("python3", "sockets inside") {
        return;
    }
    let (inside, outside) = (World::new(), World::new());
    for world in [&inside, &outside] {
        world.file("talk.py", TALK);
    }
    let plain = finish(outside.bare("python3").arg("talk.py").current_dir(outside.work()), b"");
    assert!(plain.code == 0 && plain.text().contains("interrupted\nconnected\n"), "{plain:?}");
    let ran = inside.run(&["run", "--timeout", "60", "--", "python3", "talk.py"]);
    assert_eq!((ran.code, ran.text()), (plain.code, plain.text()), "{ran:?}");
}

/// A socket of another network as the input of a program: it could be connected anew, and a datagram can go anywhere.
#[test]
fn no_socket_is_given_as_input() {
    let internet = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let (datagrams, _end) = UnixDatagram::pair().unwrap();
    let (mut person, input) = UnixStream::pair().unwrap();
    person.write_all(b"through\n").unwrap();
    drop(person);
    let world = World::new();
    for (input, script) in [
        (OwnedFd::from(internet), "test -p /dev/stdin && echo through"),
        (OwnedFd::from(datagrams), "test -p /dev/stdin && echo through"),
        (OwnedFd::from(input), "test -p /dev/stdin && cat"),
    ] {
        let output = world.command(&["run", "--", "sh", "-c", script]).stdin(input).output().unwrap();
        assert_eq!(output.stdout, b"through\n", "{output:?}");
    }
}
