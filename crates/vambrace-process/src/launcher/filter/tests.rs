//! The filter is run by a small machine of our own, so that a wrong jump is seen without a kernel.

use super::*;

fn run(architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    run_with(Naming::Free, architecture, number, arguments)
}

fn run_with(naming: Naming, architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend_from_slice(&number.to_le_bytes());
    data.extend_from_slice(&architecture.to_le_bytes());
    data.extend_from_slice(&0u64.to_le_bytes());
    for argument in arguments {
        data.extend_from_slice(&argument.to_le_bytes());
    }
    let program = program(naming);
    let (mut at, mut accumulator, mut stored, mut index) = (0usize, 0u32, 0u32, 0u32);
    loop {
        let step = &program[at];
        at += 1;
        let branch = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
        match step.code {
            LOAD => {
                let from = step.k as usize;
                accumulator = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
            }
            AND => accumulator &= step.k,
            XOR => accumulator ^= step.k,
            STORE => stored = accumulator,
            LOAD_STORED => index = stored,
            OR_WITH_STORED => accumulator |= index,
            JUMP => at += step.k as usize,
            JUMP_EQUAL => at += branch(accumulator == step.k),
            JUMP_GREATER => at += branch(accumulator > step.k),
            JUMP_AT_LEAST => at += branch(accumulator >= step.k),
            JUMP_ANY_BIT => at += branch(accumulator & step.k != 0),
            RETURN => return step.k,
            other => panic!("unknown instruction {other:#x}"),
        }
    }
}

#[track_caller]
fn check(call: i64, arguments: &[u64], expected: u32) {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    assert_eq!(run(ARCHITECTURE, number(call), all), expected, "call {call} with {arguments:?}");
}

#[test]
fn every_listed_call_is_refused_and_its_neighbours_are_not() {
    for call in NOT_PERMITTED {
        check(*call, &[], REFUSE | EPERM);
    }
    for call in UNKNOWN {
        check(*call, &[], REFUSE | ENOSYS);
    }
    let listed: Vec<u32> = NOT_PERMITTED
        .iter()
        .chain(UNKNOWN)
        .map(|call| number(*call))
        .chain(conditional(Naming::Free).iter().map(|row| row.0))
        .collect();
    for other in (0..=LAST_KNOWN).filter(|other| !listed.contains(other)) {
        check(i64::from(other), &[u64::MAX; 6], ALLOW);
    }
}

#[test]
fn arguments_decide() {
    check(libc::SYS_clone, &[libc::SIGCHLD as u64], ALLOW);
    check(libc::SYS_clone, &[libc::CLONE_VM as u64 | libc::CLONE_THREAD as u64], ALLOW);
    for flag in [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ] {
        check(libc::SYS_clone, &[flag as u64], REFUSE | EPERM);
    }
    check(libc::SYS_socket, &[libc::AF_UNIX as u64, 1], ALLOW);
    check(libc::SYS_socket, &[libc::AF_INET as u64, 1 | libc::SOCK_CLOEXEC as u64], ALLOW);
    check(libc::SYS_socket, &[libc::AF_INET6 as u64, 2], ALLOW);
    check(libc::SYS_socket, &[libc::AF_INET as u64, 3 | libc::SOCK_CLOEXEC as u64], REFUSE | EPERM);
    check(libc::SYS_socket, &[libc::AF_INET as u64, 10], REFUSE | EPERM);
    for family in [libc::AF_NETLINK, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, libc::AF_BLUETOOTH] {
        check(libc::SYS_socket, &[family as u64, 2], REFUSE | EAFNOSUPPORT);
    }
    check(libc::SYS_ioctl, &[0, libc::TIOCSTI], REFUSE | EPERM);
    // The kernel looks at the low word only.
    check(libc::SYS_ioctl, &[0, libc::TIOCSTI | 1 << 32], REFUSE | EPERM);
    check(libc::SYS_ioctl, &[0, libc::TIOCLINUX], REFUSE | EPERM);
    check(libc::SYS_ioctl, &[0, libc::TCGETS], ALLOW);
    // A subvolume of btrfs.
    check(libc::SYS_ioctl, &[0, 0x5000_940e], REFUSE | EPERM);
    check(libc::SYS_prlimit64, &[0, 7, 0x1000], ALLOW);
    check(libc::SYS_prlimit64, &[1, 7, 0], ALLOW); // only asks
    check(libc::SYS_prlimit64, &[1, 7, 0x1000], REFUSE | EPERM);
    check(libc::SYS_prlimit64, &[1, 7, 1 << 32], REFUSE | EPERM);
    let core = u64::from(libc::RLIMIT_CORE);
    check(libc::SYS_prlimit64, &[0, core, 0, 0x1000], ALLOW); // only asks
    for new in [0x1000, 1 << 32] {
        check(libc::SYS_prlimit64, &[0, core, new], REFUSE);
        check(libc::SYS_prlimit64, &[0, core, new, 0x1000], REFUSE | EPERM);
        check(libc::SYS_prlimit64, &[0, core, new, 1 << 32], REFUSE | EPERM);
        check(libc::SYS_prlimit64, &[1, core, new], REFUSE | EPERM);
        check(libc::SYS_prlimit64, &[0, core | 1 << 32, new], REFUSE);
    }
    check(libc::SYS_setrlimit, &[core, 0x1000], REFUSE);
    check(libc::SYS_setrlimit, &[core | 1 << 32, 0x1000], REFUSE);
    check(libc::SYS_setrlimit, &[7, 0x1000], ALLOW);
    check(libc::SYS_fcntl, &[0, libc::F_SETPIPE_SZ as u64, 1 << 20], REFUSE | EPERM);
    check(libc::SYS_fcntl, &[0, libc::F_GETPIPE_SZ as u64], ALLOW);
    check(libc::SYS_sched_setaffinity, &[0], ALLOW);
    check(libc::SYS_sched_setaffinity, &[1], REFUSE | EPERM);
    check(libc::SYS_setpriority, &[0, 0], ALLOW);
    check(libc::SYS_setpriority, &[0, 1], REFUSE | EPERM);
    check(libc::SYS_setpriority, &[2, 0], REFUSE | EPERM);
    check(libc::SYS_ioprio_set, &[1, 0], ALLOW);
    check(libc::SYS_ioprio_set, &[3, 0], REFUSE | EPERM);
    check(libc::SYS_personality, &[0xffff_ffff], ALLOW);
    check(libc::SYS_personality, &[0x4_0000], REFUSE | EPERM);
    check(libc::SYS_seccomp, &[1, 0], ALLOW);
    check(libc::SYS_seccomp, &[1, 8], REFUSE | EPERM);
}

/// The call with this mode in its place, beside arguments in which every bit is set.
#[track_caller]
fn check_mode(call: i64, place: usize, mode: u64, expected: u32) {
    let mut arguments = [u64::MAX; 6];
    arguments[place] = mode;
    check(call, &arguments, expected);
}

#[test]
fn no_call_makes_a_set_id_file() {
    let calls = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (FCHMODAT2, 2),
        (libc::SYS_mknodat, 2),
        (libc::SYS_openat, 3),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 2),
    ];
    for (call, place) in calls {
        for mode in [0o4755, 0o2755, 0o6755, 0o4000, 0o10_2644, 1 << 32 | 0o4755] {
            check_mode(call, place, mode, REFUSE | EPERM);
        }
        for mode in [0, 0o644, 0o755, 0o1777, 0o10_0644, 0o6000 << 32] {
            check_mode(call, place, mode, ALLOW);
        }
    }
    let (read, tmpfile) = (libc::O_RDONLY as u64, libc::O_TMPFILE as u64 | libc::O_RDWR as u64);
    // Without a file to make, the mode is what the register happened to hold.
    check(libc::SYS_openat, &[0, 0, read | libc::O_DIRECTORY as u64, 0o6755], ALLOW);
    check(libc::SYS_openat, &[0, 0, libc::O_CREAT as u64 | libc::O_WRONLY as u64, 0o4755], REFUSE | EPERM);
    check(libc::SYS_openat, &[0, 0, tmpfile, 0o4755], REFUSE | EPERM);
    check(libc::SYS_openat, &[0, 0, tmpfile, 0o600], ALLOW);
}

#[test]
fn other_interfaces_are_closed() {
    assert_eq!(run(ARCHITECTURE, LAST_KNOWN + 1, [0; 6]), REFUSE | ENOSYS);
    assert_eq!(run(ARCHITECTURE, 0x4000_0000, [0; 6]), REFUSE | ENOSYS); // read, by way of x32
    assert_eq!(run(0x4000_0003, 11, [0; 6]), KILL_PROCESS); // execve of 32-bit programs
}

#[test]
fn calls_that_make_names_or_open_are_handed_over_unless_they_carry_the_word() {
    let pass = Pass::draw().unwrap();
    let word = pass.word();
    let run = |call: i64, arguments: [u64; 6]| {
        run_with(Naming::Guarded(pass), ARCHITECTURE, number(call), arguments)
    };
    let create = (libc::O_CREAT | libc::O_WRONLY) as u64;
    let mut calls: Vec<(i64, [u64; 6])> = NAMES.iter().map(|call| (*call, [0; 6])).collect();
    calls.push((libc::SYS_umask, [0; 6]));
    calls.push((libc::SYS_mknodat, [0, 0, 0o644, 0, 0, 0]));
    calls.push((libc::SYS_openat, [0, 0, create, 0o644, 0, 0]));
    for reads in [libc::O_RDONLY, libc::O_RDWR, libc::O_WRONLY | libc::O_TRUNC, libc::O_DIRECTORY] {
        calls.push((libc::SYS_openat, [0, 0, reads as u64, 0o6755, 0, 0]));
    }
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        (libc::SYS_open, [0, create, 0o644, 0, 0, 0]),
        (libc::SYS_open, [0, 0, 0, 0, 0, 0]),
        (libc::SYS_creat, [0, 0o644, 0, 0, 0, 0]),
        (libc::SYS_mknod, [0, 0o644, 0, 0, 0, 0]),
    ]);
    for (call, arguments) in calls {
        for wrong in [0, 1, word ^ 1, word ^ 1 << 32, word ^ 1 << 63, word & 0xffff_ffff, word >> 32] {
            let [a, b, c, d, e, _] = arguments;
            let expected = if wrong == word { ALLOW } else { HAND_OVER };
            assert_eq!(run(call, [a, b, c, d, e, wrong]), expected, "call {call}");
            assert_eq!(run(call, [a, b, c, d, e, word]), ALLOW, "call {call} with the word");
        }
    }
    // A mere place stays as it was, and what is refused is refused with the word too.
    assert_eq!(run(libc::SYS_openat, [0, 0, libc::O_PATH as u64, 0, 0, 0]), ALLOW);
    assert_eq!(run(libc::SYS_openat, [0, 0, (libc::O_TMPFILE | libc::O_RDWR) as u64, 0o600, 0, 0]), ALLOW);
    assert_eq!(run(libc::SYS_openat, [0, 0, create, 0o4755, 0, word]), REFUSE | EPERM);
    assert_eq!(run(libc::SYS_openat, [0, 0, create | libc::O_PATH as u64, 0o644, 0, 0]), ALLOW);
    assert_eq!(run(libc::SYS_landlock_restrict_self, [0; 6]), REFUSE | ENOSYS);
    assert_eq!(run(libc::SYS_openat2, [0; 6]), REFUSE | ENOSYS);
    assert_eq!(run(libc::SYS_openat2, [0, 0, 0, 0, 0, word]), ALLOW);
    assert_eq!(run(libc::SYS_pidfd_getfd, [0; 6]), REFUSE | EPERM);
    assert_eq!(run(libc::SYS_pidfd_getfd, [0, 0, 0, 0, 0, word]), ALLOW);
    assert_eq!(run(libc::SYS_mount, [0, 0, 0, 0, 0, word]), REFUSE | EPERM);
    assert_eq!(run(libc::SYS_clone3, [0, 0, 0, 0, 0, word]), REFUSE | ENOSYS);
}
