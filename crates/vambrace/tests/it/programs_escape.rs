//! Ways out of the cage, tried by scripts; what counts is what the host sees afterwards.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

use serde_json::json;

use crate::programs_host::{Listeners, alive, has, has_shared_memory, holding, marker, on_host, until};
use crate::support::{World, binary, finish};

/// A value that only the caller's environment has. Plain words, so that nothing redacts it on the way out.
const CANARY: &str = "feather";

fn world() -> World {
    let world = World::new().with_env("BIRD", CANARY);
    world.file("plain", "inside").file(".env", "KEY=HIDDEN").file("secrets/key", "HIDDEN");
    fs::write(world.dir().join("outside"), "OUTSIDE").unwrap();
    fs::write(world.home().join("notes"), "OUTSIDE").unwrap();
    fs::create_dir(world.home().join(".ssh")).unwrap();
    fs::write(world.home().join(".ssh/id"), "OUTSIDE").unwrap();
    world.link("link", "../outside").link("absolute", world.dir().join("outside"));
    world
}

/// The arguments are folders that a script cannot guess.
#[track_caller]
fn caged(world: &World, script: &str) {
    let (outside, home) = (world.dir().join("outside"), world.home());
    let names = ["sh", outside.to_str().unwrap(), home.to_str().unwrap()];
    let ran = world.run(&[&["run", "--", "sh", "-c", script], &names[..]].concat());
    assert_eq!(ran.code, 0, "the script itself works: {ran:?}");
}

#[test]
fn the_callers_environment_is_nowhere_inside() {
    let script = "env > seen; for file in /proc/[0-9]*/environ /proc/self/environ; do cat $file >> seen; done 2>/dev/null
                  tr '\\0' '\\n' < seen > lines; echo end >> seen";
    let world = world();
    on_host(&world, &["sh", "-c", script]);
    assert_eq!(holding(&world.work(), CANARY).len(), 2, "without a cage it is seen");
    caged(&world, script);
    assert!(world.text("seen").contains("PATH=") && world.text("seen").ends_with("end\n"));
    assert_eq!(holding(&world.work(), CANARY), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn nothing_outside_can_be_read() {
    let script = r#"cat ../outside link absolute "$1" "$2/notes" "$2/.ssh/id" > got 2>/dev/null
        grep -rs OUTSIDE .. /home /tmp /var /root "$2" >> got
        for root in /proc/1/root /proc/self/root; do cat "$root/$1" >> got; done 2>/dev/null
        cat .env secrets/key /etc/shadow >> got 2>/dev/null
        ls -a "$2" ../.. >> got 2>/dev/null; echo end >> got"#;
    let world = world();
    caged(&world, script);
    let got = world.text("got");
    assert!(got.ends_with("end\n"), "{got}");
    for secret in ["OUTSIDE", "HIDDEN", "notes", "root:"] {
        assert!(!got.contains(secret), "{secret} in {got}");
    }
    let lines =
        ["cat link", "head absolute", "grep -r OUTSIDE .", "grep -r KEY .", "cat plain link", "wc -c .env"];
    let input: String = lines
        .iter()
        .map(|line| format!("{}\n", json!({"tool": "exec_shell", "arguments": {"command": line}})))
        .collect();
    let answers = world.feed(&["call", "--batch"], input);
    for answer in answers.lines() {
        let shown = answer["data"]["stdout"].to_string();
        assert!(!shown.contains("=HIDDEN") && !shown.contains(r#""OUTSIDE"#), "{answer}");
    }
}

#[test]
fn a_program_of_a_service_sees_no_sibling() {
    let world = world();
    world.file("services/a/own", "inside").file("services/ab/other", "OUTSIDE").file("shared/plan", "inside");
    world.link("services/a/sibling", "../ab/other");
    let script = "ls .. > seen; cat ../ab/other sibling ../../plain >> seen 2>/dev/null; echo x > ../../shared/plan
                  mkdir ../new; echo x > ../new/file; echo x > ../ab/other; cat own ../../shared/plan >> seen; true";
    let ran = world.run(&["--service", "services/a", "run", "--", "sh", "-c", script]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.text("services/a/seen"), "a\ninsideinside", "{ran:?}");
    assert_eq!(
        (world.text("services/ab/other"), world.text("shared/plan")),
        ("OUTSIDE".into(), "inside".into())
    );
    assert!(!world.work().join("services/new").exists());
}

#[test]
fn nothing_outside_can_be_written() {
    let script = r#"echo x > link; echo x > absolute; echo x > "$1"; echo x > ../outside; echo x > ../new; ln "$1" second
        ln -s ../new third; echo x > third; mv plain ../moved; mkdir "$2/made"; echo x > "$2/notes"; rm -f "$1"
        ln -sfn .. up; echo x > up/new; chmod 777 .. ; echo x > /tmp/vambrace-was-here; true"#;
    let world = world();
    let before = fs::metadata(world.dir()).unwrap().mode();
    caged(&world, script);
    assert_eq!(fs::read_to_string(world.dir().join("outside")).unwrap(), "OUTSIDE");
    assert_eq!(fs::read_to_string(world.home().join("notes")).unwrap(), "OUTSIDE");
    assert_eq!(fs::metadata(world.dir()).unwrap().mode(), before);
    for absent in ["new", "moved", "home/made", "work/second"] {
        assert!(!world.dir().join(absent).exists(), "{absent}");
    }
    assert!(!std::path::Path::new("/tmp/vambrace-was-here").exists());
    let line = json!({"command": "echo x > link; echo x > absolute"});
    let ran = world.call("exec_shell", &line);
    assert_ne!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
    assert_eq!(fs::read_to_string(world.dir().join("outside")).unwrap(), "OUTSIDE");
}

#[test]
fn what_the_caller_had_open_is_closed() {
    let world = world();
    let command = r#"exec 7<../outside 8<..; exec "$@""#;
    let inside = "{ cat <&7; cat /proc/self/fd/8/outside; } > got 2>/dev/null; echo end >> got";
    let state = world.state();
    let args =
        ["-c", command, "sh", binary(), "--state", state.to_str().unwrap(), "run", "--", "sh", "-c", inside];
    let ran = finish(world.bare("sh").args(args), b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.text("got"), "end\n", "{ran:?}");
}

const DIAL: &str = r#"
import socket, sys
tcp, udp, path, name = sys.argv[1:]
def attempt(kind, connect):
    try:
        connect()
        print("reached", kind)
    except OSError as error:
        print("failed", kind, error)
def unix(address):
    socket.socket(socket.AF_UNIX).connect(address)
for host in ("127.0.0.1", "localhost", "::ffff:127.0.0.1"):
    attempt("tcp", lambda: socket.create_connection((host, int(tcp)), 2))
attempt("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", int(tcp))))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(udp))))
attempt("path", lambda: unix(path))
attempt("abstract", lambda: unix("\0" + name))
print("end")
"#;

#[test]
fn no_socket_of_the_host_is_reached() {
    if !has("python3", "sockets of the host") {
        return;
    }
    let world = world();
    let listeners = Listeners::open(&world.work());
    let arguments: Vec<&str> = listeners.arguments.iter().map(String::as_str).collect();
    let dial = [&["python3", "-c", DIAL], &arguments[..]].concat();
    let ran = on_host(&world, &dial);
    assert_eq!(listeners.reached(), ["tcp", "udp", "path", "abstract"], "without a cage they are: {ran:?}");
    while !listeners.reached().is_empty() {}
    let ran = world.run(&[&["run", "--"], &dial[..]].concat());
    assert!(ran.code == 0 && ran.text().ends_with("end\n"), "{ran:?}");
    assert_eq!(listeners.reached(), [""; 0], "{ran:?}");
    assert!(!ran.text().contains("reached path") && !ran.text().contains("reached tcp"), "{ran:?}");
}

const KERNEL: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(name, "worked" if result >= 0 else os.strerror(ctypes.get_errno()))
parameters = ctypes.create_string_buffer(120)
call("io_uring_setup", 425, 4, parameters)
call("io_uring_enter", 426, 0, 0, 0, 0, 0, 0)
call("io_uring_register", 427, 0, 0, 0, 0)
for pid in sys.argv[1:]:
    try:
        os.kill(int(pid), 9)
        print("kill worked", pid)
    except OSError as error:
        print("kill", error)
try:
    os.kill(-1, 15)
except OSError as error:
    print("kill all", error)
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
print("processes", len(pids), max(pids))
"#;

/// Ended with us, whatever happens to the test.
struct Bystander(std::process::Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn host_processes_can_be_neither_seen_nor_signaled_and_there_is_no_io_uring() {
    if !has("python3", "system calls from inside") {
        return;
    }
    let (world, sleep) = (world(), marker());
    let mut command = world.bare("sleep");
    let bystander = Bystander(command.arg(&sleep).stdin(Stdio::null()).spawn().unwrap());
    until("it sleeps", || alive(&sleep).len() == 1);
    let (pid, own) = (bystander.0.id().to_string(), std::process::id().to_string());
    let ran = world.run(&["run", "--", "python3", "-c", KERNEL, &pid, &own]);
    assert_eq!(alive(&sleep), [bystander.0.id()], "the bystander is still there: {ran:?}");
    assert!(!ran.text().contains("worked"), "{ran:?}");
    assert!(ran.text().contains("io_uring_setup Function not implemented"), "{ran:?}");
    let seen = world.run(&["run", "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; ps ax"]);
    assert!(!seen.text().contains(&sleep) && seen.text().contains("ps"), "{seen:?}");
}

/// What lies too deep for a walk is guarded like everything else, and hidden from the next program.
#[test]
fn a_folder_that_is_too_deep_shelters_nothing() {
    let world = World::new();
    let deep = vec!["d"; 120].join("/");
    let script = format!("mkdir -p {deep}; echo x > {deep}/a; echo x > {deep}/.mcp.json");
    let ran = world.run(&["run", "--", "sh", "-c", &script]);
    assert!(ran.stderr.contains(".mcp.json` is protected; a program tried to make it"), "{ran:?}");
    assert!(!ran.stderr.contains("since the run"), "{ran:?}");
    let inside = world.work().join(&deep);
    assert!(inside.join("a").exists() && !inside.join(".mcp.json").exists(), "{ran:?}");
    let ran = world.run(&["run", "--", "sh", "-c", &format!("echo x > {deep}/b || exit 8")]);
    assert_eq!(ran.code, 8, "{ran:?}");
}

/// By every way to ask for it; what is told back is not what was done.
#[test]
fn the_limit_on_core_dumps_stays() {
    if !has("python3", "the limit on core dumps") {
        return;
    }
    let world = World::new();
    let lower = r#"
import ctypes, resource
CORE = resource.RLIMIT_CORE
libc = ctypes.CDLL(None, use_errno=True)
zero = (ctypes.c_ulong * 2)(0, 0)
resource.setrlimit(CORE, (0, 0))
try: resource.prlimit(0, CORE, (0, 0))
except OSError as error: print(error.strerror)
print(libc.syscall(160 if __import__("os").uname().machine == "x86_64" else 164, CORE, zero))
print(libc.syscall(302 if __import__("os").uname().machine == "x86_64" else 261, 0, CORE, zero, None))
print(*resource.getrlimit(CORE))
"#;
    let ran = world.run(&["run", "--", "python3", "-c", lower]);
    assert_eq!((ran.code, ran.text().as_str()), (0, "Operation not permitted\n0\n0\n1 1\n"), "{ran:?}");
    let ran = world.run(&["run", "--", "sh", "-c", "ulimit -c 0 && grep core /proc/self/limits"]);
    assert_eq!(ran.text().split_whitespace().nth(4), Some("1"), "{ran:?}");
}

#[test]
fn the_kernel_and_the_first_process_tell_little() {
    let world = World::new();
    let script = "cd /proc; for name in *; do case $name in [0-9]*|self|thread-self|net|mounts|sys|tty|sysvipc|pressure) continue;; esac
        { test -d $name && ls $name || head -c 16 $name | wc -c; } 2>&1 | sed \"s|^|$name |\"; done; tr '\\0' ' ' < /proc/1/cmdline";
    let ran = world.run(&["run", "--", "sh", "-c", script]);
    let said = ran.text();
    let shown = |name: &str| {
        let mut lines = said.lines().filter_map(|line| line.split_once(' ')).filter(|(of, _)| *of == name);
        // After the words of a command that failed there is a zero.
        lines.any(|(_, bytes)| bytes.parse().is_ok_and(|bytes: u64| bytes > 0))
    };
    for name in ["cpuinfo", "meminfo", "stat", "uptime", "version", "loadavg", "filesystems"] {
        assert!(shown(name), "{name}: {said}");
    }
    for name in
        ["kpageflags", "kpagecount", "slabinfo", "vmallocinfo", "timer_list", "keys", "cmdline", "kallsyms"]
    {
        assert!(!shown(name), "{name}: {said}");
    }
    assert!(!said.contains(world.dir().to_str().unwrap()), "the first process names a folder: {said}");
}

#[test]
fn a_program_does_not_learn_where_our_state_is() {
    if !has_shared_memory("what programs learn of our state") {
        return;
    }
    let world = World::new();
    let script = "cat /proc/self/mountinfo; tr '\\0' '\\n' < /proc/1/cmdline; env";
    for backend in ["native", "bubblewrap"] {
        if backend == "bubblewrap" && !has("bwrap", "what bubblewrap tells programs") {
            continue;
        }
        let config = world.beside("tools.yaml", &format!("sandbox: {{backend: {backend}}}\n"));
        let said = world.run(&["--config", &config, "run", "--", "sh", "-c", script]).text();
        assert!(said.contains(world.work().to_str().unwrap()), "{backend}: {said}");
        assert!(!said.contains(world.state().to_str().unwrap()), "{backend}: {said}");
    }
}
