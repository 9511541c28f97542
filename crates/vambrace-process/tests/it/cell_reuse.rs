//! A cell that is used again: nothing of one run is seen by the next.

use vambrace_process::cell::Exit;

use crate::{Setting, text};

/// Runs a script and tells whether the cell may be used again.
#[track_caller]
fn check(script: &str, is_reusable: bool) {
    let mut place = Setting::new();
    let captured = place.shell(script);
    assert_eq!(captured.exit, Exit::Code(0), "{script}: {}", text(&captured.stderr));
    assert_eq!(place.cell.is_reusable(), is_reusable, "{script}");
}

#[test]
fn what_leaves_something_behind_is_not_used_again() {
    check("true", true);
    check("echo a > /tmp/a; rm /tmp/a", true);
    check("echo a > /work/a", true); // the workspace is meant to keep it
    check("echo a > /tmp/a", false);
    check("mkdir /tmp/.a", false);
    check("echo a > /dev/shm/a", false);
    check("chmod 700 /tmp", false);
    check("python3 -c 'import os; os.setxattr(\"/tmp\", \"user.note\", b\"x\")'", false);
    check("ipcmk -M 100", false);
    check("ipcmk -Q", false);
    check("ipcmk -S 1", false);
}

/// `chattr` has no words for memory, so the flag for backups is set by its number.
#[test]
fn a_flag_of_a_private_folder_is_a_note() {
    let set = "import fcntl, os, struct
try: fcntl.ioctl(os.open('/tmp', 0), 0x40086602, struct.pack('l', 0x40))
except OSError: open('/tmp/no-flags-here', 'w')
";
    check(&format!("python3 -c \"{set}\""), false);
}

/// Two sockets that were sent to each other hold each other, their names and all files that were sent along.
#[test]
fn sockets_that_outlive_their_programs_are_not_shown_to_the_next() {
    let ring = "import array, socket
named = socket.socket(socket.AF_UNIX)
named.bind(chr(0) + 'left-for-the-next')
named.listen()
one, other = socket.socketpair()
sent = array.array('i', [named.fileno(), one.fileno(), other.fileno()])
for end in (one, other): end.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)])
";
    let mut place = Setting::new();
    let captured = place.shell(&format!("python3 -c \"{ring}\""));
    assert_eq!(captured.exit, Exit::Code(0), "{}", text(&captured.stderr));
    // The kernel may have looked for rings in between; then nothing is left, and the cell may be used.
    if place.cell.is_reusable() {
        assert!(!text(&place.shell("cat /proc/net/unix").stdout).contains("left-for-the-next"));
    }
    check("python3 -c 'import socket; socket.socket(); socket.socketpair()'", true);
    let ended = "import socket
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].close(); client.close()
";
    check(&format!("python3 -c \"{ended}\""), false);
}

#[test]
fn no_process_is_left() {
    let mut place = Setting::new();
    place.shell("sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &) ; exit 0");
    assert!(place.cell.is_reusable());
    assert_eq!(text(&place.shell("echo /proc/[0-9]*").stdout).split(' ').count(), 2);
}

#[test]
fn settings_of_a_program_end_with_it() {
    let mut place = Setting::new();
    place.shell("cd /usr; umask 077; ulimit -n 10; export A=1");
    assert!(place.cell.is_reusable());
    assert_eq!(text(&place.shell("pwd; umask; ulimit -n; echo \"$A\"").stdout), "/work\n0022\n4096\n\n");
}

#[test]
fn many_runs_leave_no_descriptor() {
    let mut place = Setting::new();
    let open = |place: &Setting| {
        let pid = place.cell.pid().unwrap();
        std::fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).ok()
    };
    place.shell("true");
    let before = open(&place);
    for _ in 0..20 {
        assert_eq!(place.shell("echo a | cat > /dev/null").exit, Exit::Code(0));
    }
    assert_eq!(open(&place), before);
}
