//! What stands around a program, looked at from inside.

use vambrace_process::{Layer, Missing};

use crate::{Setting, printed};

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(printed(script), expected, "{script}");
}

/// Fails, and says this.
#[track_caller]
fn refused(script: &str, words: &str) {
    let captured = Setting::new().shell(script);
    let said = crate::text(&captured.stderr);
    assert!(captured.exit != vambrace_process::Exit::Code(0) && said.contains(words), "{script}: {said}");
}

#[test]
fn every_layer_is_held() {
    let place = Setting::new();
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let missing: Vec<_> = place.cell.layers().missing.iter().map(|Missing { layer, .. }| *layer).collect();
    // Root's processes are counted by a control group only, and this spec names none.
    let expected = if root { vec![Layer::ProcessLimit] } else { Vec::new() };
    assert_eq!(missing, expected, "{}", place.cell.layers().describe_missing());
}

#[test]
fn no_powers() {
    check(
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t'",
        "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n\
         CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n",
    );
}

#[test]
fn only_the_cell_is_in_sight() {
    check("cat /proc/sys/kernel/hostname", "vambrace\n");
    check("echo /*", "/bin /dev /lib /lib64 /proc /sbin /tmp /usr /work\n");
    check(
        "echo /dev/*",
        "/dev/fd /dev/full /dev/null /dev/random /dev/shm /dev/stderr /dev/stdin /dev/stdout /dev/urandom /dev/zero\n",
    );
    check("echo /proc/[0-9]*", "/proc/1 /proc/2\n");
    check("echo /tmp/* /work/* /tmp/.[!.]*", "/tmp/* /work/* /tmp/.[!.]*\n");
    refused("cat /proc/1/environ", "Permission denied");
    refused("cat /proc/1/fd/3", "Permission denied");
    refused("ls /proc/1/root/", "Permission denied");
    check("ls /proc/self/fd", "0\n1\n2\n3\n"); // 3 is what ls itself opens
    check("cut -d' ' -f7 /proc/self/stat", "0\n"); // no terminal
    check("ulimit -c; ulimit -n; ulimit -v", "0\n4096\nunlimited\n");
}

#[test]
fn nothing_outside_can_be_changed() {
    refused("echo > /usr/x", "Read-only file system");
    refused("echo > /x", "Read-only file system");
    refused("mkdir /dev/x", "Read-only file system");
    refused("rm /bin", "Read-only file system");
    refused("echo 1 > /proc/sys/vm/overcommit_memory", "Read-only file system");
    refused("echo x > /proc/self/comm", "Read-only file system");
    refused("mount -t tmpfs x /tmp", "ermission denied");
    refused("unshare -U true", "Operation not permitted");
    refused("/usr/sbin/chroot /work /bin/true", "Operation not permitted");
    refused("mknod /tmp/disk b 8 0", "Operation not permitted");
    refused("renice -n 1 1", "Operation not permitted");
    check("echo a > /dev/null; echo b > /tmp/b; echo c > /work/c; cat /tmp/b /work/c", "b\nc\n");
}

#[test]
fn calls_that_reach_out_are_refused() {
    let python = |code: &str| format!("python3 -c '{code}'");
    let socket = |arguments: &str| python(&format!("import socket; socket.socket({arguments})"));
    refused(&socket("socket.AF_NETLINK, socket.SOCK_RAW, 0"), "Address family not supported");
    refused(&socket("socket.AF_PACKET, socket.SOCK_RAW, 0"), "Address family not supported");
    refused(&socket("40, socket.SOCK_STREAM"), "Address family not supported");
    refused(&socket("socket.AF_INET, socket.SOCK_RAW, 1"), "Operation not permitted");
    let call = |number: i64, arguments: &str, errno: i32| {
        let code = format!(
            "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall({number}, {arguments}), ctypes.get_errno())"
        );
        assert_eq!(printed(&python(&code)), format!("-1 {errno}\n"), "call {number}");
    };
    call(libc::SYS_io_uring_setup, "1, 0", libc::ENOSYS);
    call(libc::SYS_clone3, "0, 0", libc::ENOSYS);
    call(libc::SYS_ptrace, "16, 1, 0, 0", libc::EPERM);
    call(libc::SYS_keyctl, "0, 0, 0", libc::EPERM);
    call(libc::SYS_bpf, "0, 0, 0", libc::EPERM);
    call(libc::SYS_userfaultfd, "0", libc::EPERM);
    call(libc::SYS_open_by_handle_at, "0, 0, 0", libc::EPERM);
    call(libc::SYS_process_vm_readv, "1, 0, 0, 0, 0, 0", libc::EPERM);
    call(libc::SYS_clone, "0x10000000, 0, 0, 0, 0", libc::EPERM);
    call(libc::SYS_ioctl, "0, 0x5412, 0", libc::EPERM);
}

#[test]
fn no_network_but_its_own_loopback() {
    let script = |address: &str| {
        format!(
            "python3 -c 'import socket; s = socket.socket(); s.bind((\"{address}\", 0)); s.listen(); \
             socket.create_connection(s.getsockname()); print(\"talked\")'"
        )
    };
    check(&script("127.0.0.1"), "talked\n");
    refused(
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 5)'",
        "Network is unreachable",
    );
    // A listener of the host on its own loopback is not there.
    let host =
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
    rustix::net::bind(&host, &any).unwrap();
    rustix::net::listen(&host, 1).unwrap();
    let address = std::net::SocketAddrV4::try_from(rustix::net::getsockname(&host).unwrap()).unwrap();
    let connect = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {}), 5)'",
        address.port()
    );
    refused(&connect, "Connection refused");
}
