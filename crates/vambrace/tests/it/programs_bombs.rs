//! Programs that take all they can get: processes, memory, disk, output, time. The call ends with the right report, and
//! the host has nothing of them afterwards. Every bomb here ends by itself, should the cage not hold it.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::programs_host::{alive, is_root, marker, nothing_runs, until};
use crate::support::{Ran, World, skip};

const SMALL: &str =
    "limits: {processes: 32, memory_bytes: 67108864, file_bytes: 1048576, output_bytes: 100000}\n";

fn limited(world: &World, config: &str, args: &[&str]) -> Ran {
    let config = world.beside("limits.yaml", config);
    world.run(&[&["--config", &config], args].concat())
}

#[track_caller]
fn works(world: &World, sandbox: &str) {
    let ran = limited(world, sandbox, &["run", "--", "sh", "-c", "exit 6"]);
    assert_eq!(ran.code, 6, "the next program runs: {ran:?}");
}

#[test]
fn a_fork_bomb_stays_small_and_leaves_nothing() {
    a_bomb_of_processes("");
}

/// The shell that keeps the cage open is there before the bomb; a shell that cannot fork ends.
#[track_caller]
pub(crate) fn a_bomb_of_processes(sandbox: &str) {
    let (world, sleep) = (World::new(), marker());
    let bomb = format!(
        "sleep 3 & keeper=$!
         (i=0; while [ $i -lt 200 ]; do i=$((i+1)); sleep {sleep} & done; echo all > all); wait $keeper"
    );
    let config = world.beside("limits.yaml", &format!("{SMALL}{sandbox}"));
    let mut command = world.command(&["--config", &config, "run", "--", "sh", "-c", &bomb]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    until("it ends", || {
        most = most.max(alive(&sleep).len());
        child.try_wait().unwrap().is_some()
    });
    assert!((10..=32).contains(&most), "{most} at once, as the host counts");
    assert!(!world.work().join("all").exists(), "not every process could be started");
    nothing_runs(&sleep);
    works(&world, sandbox);
}

#[test]
fn what_is_left_running_ends_with_the_call() {
    let (world, sleep) = (World::new(), marker());
    let leave =
        format!("setsid sleep {sleep} & (sleep {sleep} &) ; nohup sleep {sleep} > /dev/null 2>&1 & exit 0");
    let ran = world.run(&["run", "--", "sh", "-c", &leave]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(alive(&sleep), [0; 0], "the answer comes after the end of the last process");
}

#[test]
fn a_memory_hog_ends_and_is_reported_as_what_it_is() {
    a_bomb_of_memory("");
}

#[track_caller]
pub(crate) fn a_bomb_of_memory(sandbox: &str) {
    let (world, config) = (World::new(), format!("{SMALL}{sandbox}"));
    let hog = r#"BEGIN { s = "x"; while (length(s) < 400000000) s = s s; print "had", length(s) }"#;
    let ran = limited(&world, &config, &["run", "--", "awk", hog]);
    assert!(ran.code != 0 && !ran.text().contains("had"), "{ran:?}");
    // Memory in the shape of files counts as well.
    let files = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); head -c 1000000 /dev/zero > /tmp/$i || exit 9; done; echo had";
    let ran = limited(&world, &config, &["run", "--", "sh", "-c", files]);
    assert!(ran.code != 0 && !ran.text().contains("had"), "{ran:?}");
    assert!(!ran.stderr.contains("The cage failed"), "the limit is to be named, not the cage: {ran:?}");
    works(&world, sandbox);
}

/// Each of them takes what one may, and it holds its share before the others begin, so that it is the largest and the
/// one that the kernel takes.
const TOGETHER: &str = "import subprocess, sys
x = bytearray(40 << 20)
eat = 'x = bytearray(15 << 20); input()'
held = [subprocess.Popen([sys.executable, '-c', eat], stdin=subprocess.PIPE) for _ in range(8)]
held[0].wait()";

#[test]
fn programs_that_take_too_much_together_are_ended() {
    a_bomb_of_memories("");
}

/// Only a control group counts what several processes have.
#[track_caller]
pub(crate) fn a_bomb_of_memories(sandbox: &str) {
    if !is_root() {
        return skip(
            "the memory of several programs together: the tests are not root, and have no control group",
        );
    }
    let (world, config) = (World::new(), format!("{SMALL}{sandbox}"));
    let ran = limited(&world, &config, &["run", "--", "python3", "-c", TOGETHER]);
    assert_eq!(ran.code, 137, "{ran:?}");
    assert!(ran.stderr.contains("used more memory than it may"), "{ran:?}");
    works(&world, sandbox);
}

#[test]
fn a_file_stays_below_its_limit() {
    let world = World::new();
    let ran = limited(&world, SMALL, &["run", "--", "sh", "-c", "exec head -c 5000000 /dev/zero > big"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(fs::metadata(world.work().join("big")).unwrap().len(), 1_048_576, "{ran:?}");
}

#[test]
fn a_flood_of_output_is_cut_and_the_program_ended() {
    let world = World::new();
    let flood = "head -c 5000000 /dev/zero | tr '\\0' y";
    let ran = limited(&world, SMALL, &["run", "--", "sh", "-c", flood]);
    assert_eq!((ran.code, ran.stdout.len()), (0, 5_000_000), "what is passed on is not kept: {}", ran.stderr);
    world.file("long.txt", "y".repeat(300_000));
    let ran = limited(&world, SMALL, &["call", "exec_shell", r#"{"command":"cat long.txt; cat long.txt"}"#]);
    let result = ran.json();
    assert_eq!(
        (&result["data"]["truncated"], &result["metadata"]["truncated"]),
        (&json!(true), &json!(true))
    );
    let warnings = result["metadata"]["warnings"].to_string();
    assert!(warnings.contains("wrote more than it may (`limits.output_bytes`)"), "{ran:?}");
}

/// More than a pipe holds, on both pipes at once.
#[test]
fn two_hundred_kilobytes_do_not_hang() {
    let world = World::new();
    let both = "head -c 200000 /dev/zero | tr '\\0' a; head -c 200000 /dev/zero | tr '\\0' b >&2; echo end";
    let ran = world.run(&["run", "--", "sh", "-c", both]);
    assert_eq!((ran.code, ran.stdout.len(), ran.stderr.len()), (0, 200_004, 200_000));
    world.file("long.txt", "line of text\n".repeat(16_000));
    let ran = world.call("exec_shell", &json!({"command": "cat long.txt; cat long.txt nothing; echo end"}));
    let result = ran.json();
    assert_eq!((ran.code, &result["data"]["exit_code"]), (0, &json!(0)), "{ran:?}");
    assert_eq!(result["metadata"]["truncated"], true, "the reply is shorter, and says so");
    let shown = result["data"]["stdout"].as_str().unwrap();
    assert!(shown.starts_with("line of text\n") && shown.ends_with("end\n"), "both ends are shown");
}

#[test]
fn a_program_that_takes_too_long_is_a_timeout_with_what_it_said_so_far() {
    let (world, sleep) = (World::new(), marker());
    world.file("a.txt", "said\n").file("pyproject.toml", "");
    world.file(
        "slow.sh",
        format!("echo said; echo wrong >&2; setsid sleep {sleep} & trap '' TERM; sleep {sleep}"),
    );
    let toolchain =
        "tools: {toolchain: {python: {detect: pyproject.toml, test: [sh, slow.sh], timeout: 1}}}\n";
    let rows: [(&str, &str, Value); 2] = [
        ("", "exec_shell", json!({"command": "cat a.txt; tail -f a.txt", "timeout": 1})),
        (toolchain, "run_test", json!({})),
    ];
    for (config, tool, arguments) in rows {
        let ran = limited(&world, config, &["call", tool, &arguments.to_string()]);
        let result = ran.json();
        assert_eq!(result["data"]["timed_out"], true, "{ran:?}");
        assert!(result["data"]["stdout"].as_str().unwrap().starts_with("said\n"), "{ran:?}");
    }
    assert_eq!(alive(&sleep), [0; 0], "grandchildren too");
    world.file("polite.sh", format!("echo said; echo wrong >&2; setsid sleep {sleep} & sleep {sleep}"));
    let ran = world.run(&["run", "--timeout", "1", "--", "sh", "polite.sh"]);
    assert_eq!((ran.code, ran.text().as_str()), (124, "said\n"), "{ran:?}");
    assert!(ran.stderr.starts_with("wrong\n"), "{ran:?}");
    assert_eq!(alive(&sleep), [0; 0], "grandchildren too");
}

/// Specification 002 fixes the text.
#[test]
fn bash_command_says_that_time_ran_out() {
    let world = World::new();
    world.file("a.txt", "said\n");
    let config = world.beside("time.yaml", "tool_safety: {command_timeout: 1}\n");
    let mut client = Client::open(&world, &["--config", &config]);
    let result = client.call("bash_command", &json!({"command": "tail -f a.txt", "reason": "wait"}));
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(
        result["content"][0]["text"], "Error: Command timeout after 1s\nStdout: said\n\nStderr: ",
        "{result}"
    );
    assert_eq!(client.close().0, 0);
}

/// Takes all it can get of what the kernel counts for a user, tells how much of each, and holds it until it is told to end.
const HOARD: &str = r#"
import array, ctypes, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def count(take):
    had = []
    try:
        while len(had) < 100000:
            had.append(take())
            if had[-1] in (-1, None): had.pop(); break
    except OSError: pass
    return had
def timer():
    made = ctypes.c_void_p()
    return 1 if libc.timer_create(0, None, ctypes.byref(made)) == 0 else None
timers = count(timer)
watchers = count(lambda: libc.inotify_init1(0))
ours, theirs = socket.socketpair()
ours.setblocking(False)
flying = 0
rights = lambda n: [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1] * n))]
pairs = [(ours, theirs)]
while True:
    try: pairs[-1][0].sendmsg([b"x"], rights(100)); flying += 100
    except BlockingIOError:
        pairs.append(socket.socketpair()); pairs[-1][0].setblocking(False)
    except OSError as error: break
queue = ctypes.c_ulong()
queues = libc.syscall(206 if os.uname().machine == "x86_64" else 0, 1, ctypes.byref(queue))
with open("part", "w") as file: print(len(timers), len(watchers), flying, queues, file=file)
os.rename("part", sys.argv[1])
sys.stdin.read()
"#;

/// A program beside one that hoards has its own share, and the next cage can be built.
#[test]
fn one_program_leaves_enough_for_the_next() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    if limit.is_some_and(|limit| limit < 8192) {
        return skip("descriptors on their way: this machine lets nobody open more files than a program may");
    }
    let world = World::new();
    world.file("hoard.py", HOARD);
    // By a file: what is printed may wait until it is known not to begin a secret.
    let start = |name: &str| {
        let mut command = world.command(&["run", "--", "python3", "hoard.py", name]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        until("it has all it can get", || world.work().join(name).exists());
        (child, world.text(name))
    };
    let (mut first, had) = start("first");
    let (mut second, had_too) = start("second");
    for had in [&had, &had_too] {
        let had: Vec<i64> = had.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [timers, watchers, _, queues] = had.as_slice() else { panic!("{had:?}") };
        assert!((1..=1024).contains(timers) && (1..=100).contains(watchers), "{had:?}");
        assert_eq!(*queues, -1, "{had:?}");
    }
    let flying = had.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap();
    assert!((1000..5000).contains(&flying), "{had}");
    works(&world, "");
    for child in [&mut first, &mut second] {
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}
