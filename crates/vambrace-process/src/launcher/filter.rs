//! Which system calls a cell's programs may make: a list of refusals, compiled to a search tree, and calls that are handed
//! to the guard. It knows numbers only; putting the filter on is done by `confine`.
//!
//! The kernel walks a new filter once for every call it knows, to remember which are always allowed. With a chain that
//! is several times dearer than all the rest of a filter; with a tree it is a few thousand steps.

use seccompiler::{BpfProgram, sock_filter};

use super::pass_unsafe::Pass;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Calls that came after this list was made are unknown to the programs' libraries as well, which go on without them.
/// The calls of the x32 interface lie far above.
const LAST_KNOWN: u32 = 469;
const OPEN_TREE_ATTR: i64 = 467;
const FCHMODAT2: i64 = 452;

const ALLOW: u32 = 0x7fff_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const REFUSE: u32 = 0x0005_0000;
/// The call waits until the guard has answered.
const HAND_OVER: u32 = 0x7fc0_0000;

const EPERM: u32 = libc::EPERM.unsigned_abs();
const ENOSYS: u32 = libc::ENOSYS.unsigned_abs();
const ESOCKTNOSUPPORT: u32 = libc::ESOCKTNOSUPPORT.unsigned_abs();
const EAFNOSUPPORT: u32 = libc::EAFNOSUPPORT.unsigned_abs();

/// Every flag of clone that makes a namespace.
const NAMESPACES: u32 = 0x7E02_0000;

/// Set-uid and set-gid.
const SET_ID: u32 = 0o6000;

/// Only with one of these does an open make a file; without them its third argument means nothing. `O_TMPFILE` of the
/// library holds a second bit, which alone makes nothing.
const MAKES_A_FILE: u32 = MAKES_A_NAME | 0o20_000_000;
/// A file for the time being has no name until it is linked.
const MAKES_A_NAME: u32 = libc::O_CREAT as u32;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const XOR: u16 = 0xa4;
const STORE: u16 = 0x02;
const LOAD_STORED: u16 = 0x61;
const OR_WITH_STORED: u16 = 0x4c;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Refused with "not permitted": what reaches outside the cell, or at its first process.
const NOT_PERMITTED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Refused as unknown, so that libraries take another way: clone3 hides its flags from a filter and openat2 the mode of
/// the file it makes, io_uring makes other calls past it, and message queues of POSIX outlive the programs that made them.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    // Its contexts are counted for the whole machine.
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_mq_getsetattr,
    libc::SYS_mq_notify,
    libc::SYS_mq_open,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_unlink,
    libc::SYS_openat2,
];

/// Typing into the terminal; and making a subvolume of btrfs or bcachefs, or a copy of a file of ocfs2, which are names that
/// no other call made.
const REFUSED_REQUESTS: [u32; 8] = [
    libc::TIOCSTI as u32,
    libc::TIOCLINUX as u32,
    0x5000_9401,
    0x5000_940e,
    0x5000_9417,
    0x5000_9418,
    0x4020_bc10,
    0x4018_6f04,
];

/// Whoever opens a file that a program has leased waits for that program; on the host too. The second is newer than the
/// library.
const LEASES: [u32; 2] = [libc::F_SETLEASE as u32, 1024 + 16];

/// The pages of pipes are counted for each user, so nobody needs larger ones.
const LARGER_PIPE: u32 = libc::F_SETPIPE_SZ as u32;

/// As if it had been done.
const PRETEND: u32 = REFUSE;

/// Calls that make a name and whose mode, if they have one, cannot set the user; and the one that finds a socket by its name.
const NAMES: &[i64] = &[
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_symlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    libc::SYS_renameat,
];

/// Who decides about calls that make names.
#[derive(Clone, Copy)]
pub(super) enum Naming {
    /// The kernel, by what is mounted.
    Free,
    /// Whoever listens to the filter; calls with this word are made at once.
    Guarded(Pass),
}

pub(super) fn program(naming: Naming) -> BpfProgram {
    let mut rows: Vec<Row> = Vec::new();
    for (calls, errno) in [(NOT_PERMITTED, EPERM), (UNKNOWN, ENOSYS)] {
        for call in calls.iter().filter(|call| !is_told_apart(**call, naming)) {
            rows.push(Row { first: number(*call), last: number(*call), code: vec![answer(REFUSE | errno)] });
        }
    }
    rows.extend(conditional(naming).into_iter().map(|(call, code)| Row { first: call, last: call, code }));
    rows.sort_by_key(|row| row.first);
    // Neighbours with one answer become one range: a shorter program is put on sooner.
    rows.dedup_by(|row, before| {
        let joined = before.last + 1 == row.first && before.code == row.code;
        if joined {
            before.last = row.last;
        }
        joined
    });
    let mut program = vec![
        load(4),
        jump(JUMP_EQUAL, ARCHITECTURE, 1, 0),
        // THREAT: P06, a call of another architecture has other numbers than this list.
        answer(KILL_PROCESS),
        load(0),
        jump(JUMP_GREATER, LAST_KNOWN, 0, 1),
        answer(REFUSE | ENOSYS),
    ];
    program.extend(tree(&rows));
    program
}

/// What a program may put on itself and a guard, which makes names for it, would not be held by. Libraries go on without.
const LANDLOCK: &[i64] =
    &[libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];

/// The guard finds folders and sockets with calls that are refused to everyone else.
fn is_told_apart(call: i64, naming: Naming) -> bool {
    matches!(call, libc::SYS_openat2 | libc::SYS_pidfd_getfd) && matches!(naming, Naming::Guarded(_))
}

fn conditional(naming: Naming) -> Vec<(u32, Vec<sock_filter>)> {
    let mut rows = vec![
        (
            libc::SYS_clone,
            vec![load(low(0)), jump(JUMP_ANY_BIT, NAMESPACES, 0, 1), answer(REFUSE | EPERM), answer(ALLOW)],
        ),
        (libc::SYS_ioctl, [vec![load(low(1))], refuse_if_one_of(&REFUSED_REQUESTS, EPERM)].concat()),
        (libc::SYS_prlimit64, process_limit()),
        (
            libc::SYS_setrlimit,
            vec![load(low(0)), jump(JUMP_EQUAL, libc::RLIMIT_CORE, 0, 1), answer(PRETEND), answer(ALLOW)],
        ),
        (libc::SYS_setpriority, only(&[(0, 0), (1, 0)])),
        // IOPRIO_WHO_PROCESS, and of it only the caller.
        (libc::SYS_ioprio_set, only(&[(0, 1), (1, 0)])),
        (
            libc::SYS_personality,
            vec![
                load(low(0)),
                jump(JUMP_EQUAL, 0, 2, 0),
                jump(JUMP_EQUAL, u32::MAX, 1, 0),
                answer(REFUSE | EPERM),
                answer(ALLOW),
            ],
        ),
        (
            libc::SYS_seccomp,
            vec![
                load(low(1)),
                // A filter that asks another process what to do.
                jump(JUMP_ANY_BIT, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32, 0, 1),
                answer(REFUSE | EPERM),
                answer(ALLOW),
            ],
        ),
    ];
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        rows.push((call, only(&[(0, 0)])));
    }
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rows.push((call, socket(naming)));
    }
    let commands = [LEASES[0], LEASES[1], LARGER_PIPE];
    rows.push((libc::SYS_fcntl, [vec![load(low(1))], refuse_if_one_of(&commands, EPERM)].concat()));
    rows.extend(modes(naming));
    if let Naming::Guarded(pass) = naming {
        // It makes no name, but the names that are made for a program have its mask.
        rows.push((libc::SYS_umask, with_pass(pass, HAND_OVER)));
        rows.extend(NAMES.iter().map(|call| (*call, with_pass(pass, HAND_OVER))));
        rows.extend(LANDLOCK.iter().map(|call| (*call, vec![answer(REFUSE | ENOSYS)])));
        rows.push((libc::SYS_openat2, with_pass(pass, REFUSE | ENOSYS)));
        rows.push((libc::SYS_pidfd_getfd, with_pass(pass, REFUSE | EPERM)));
    }
    rows.into_iter().map(|(call, code)| (number(call), code)).collect()
}

/// Of others it may only be asked; of the caller all but one may be set.
///
/// THREAT: P06, with a pipe in `core_pattern` a program of the host runs as root on what a crash leaves. Only a limit of 1
/// keeps the kernel from starting it, not 0; so that limit stays. Programs that set it to 0 want no dumps, which is what they
/// have, and some end if they are refused: they are told that it was done. Who asks what it was before is refused instead,
/// because nothing would be written there.
fn process_limit() -> Vec<sock_filter> {
    let is_null = |argument: u32, otherwise: u8, then: u8| {
        [
            load(low(argument)),
            jump(JUMP_EQUAL, 0, 0, otherwise + 2),
            load(low(argument) + 4),
            jump(JUMP_EQUAL, 0, then, otherwise),
        ]
    };
    let head = vec![
        load(low(0)),
        jump(JUMP_EQUAL, 0, 0, 10),
        load(low(1)),
        jump(JUMP_EQUAL, libc::RLIMIT_CORE, 0, 12),
    ];
    let new_of_own = is_null(2, 0, 8);
    let old_of_own = is_null(3, 6, 5);
    let new_of_other = is_null(2, 2, 0);
    let answers = [answer(ALLOW), answer(PRETEND), answer(REFUSE | EPERM)];
    [head, new_of_own.to_vec(), old_of_own.to_vec(), new_of_other.to_vec(), answers.to_vec()].concat()
}

fn with_pass(pass: Pass, otherwise: u32) -> Vec<sock_filter> {
    let word = pass.word();
    let (least, most) = (word as u32, (word >> 32) as u32);
    // Both halves are always compared, so that the time it takes tells nothing of either.
    vec![
        load(low(WORD)),
        step(XOR, least),
        step(STORE, 0),
        load(low(WORD) + 4),
        step(XOR, most),
        step(LOAD_STORED, 0),
        step(OR_WITH_STORED, 0),
        jump(JUMP_EQUAL, 0, 0, 1),
        answer(ALLOW),
        answer(otherwise),
    ]
}

/// What is done about a call that makes a name.
fn named(naming: Naming) -> Vec<sock_filter> {
    match naming {
        Naming::Free => vec![answer(ALLOW)],
        Naming::Guarded(pass) => with_pass(pass, HAND_OVER),
    }
}

/// What is done about an open that makes nothing.
///
/// THREAT: P04, a person may make a file with a blocked name while programs run, and nothing is mounted over it. So the
/// guard opens everything that can be read; with a mere place nobody reads.
fn found(naming: Naming, flags: u32) -> Vec<sock_filter> {
    match naming {
        Naming::Free => vec![answer(ALLOW)],
        Naming::Guarded(pass) => [
            vec![load(low(flags)), jump(JUMP_ANY_BIT, libc::O_PATH as u32, 0, 1), answer(ALLOW)],
            with_pass(pass, HAND_OVER),
        ]
        .concat(),
    }
}

/// THREAT: P07, a file with set-uid that root makes in the workspace makes everyone on the host root. The cage's own
/// mounts ignore the bit; the host's do not.
///
/// LIMIT: a filter cannot tell a folder from a file, so set-gid cannot be set on folders either. A folder inherits it
/// from the one it is made in, and mkdir, which takes no such bits from anyone, needs no row.
fn modes(naming: Naming) -> Vec<(i64, Vec<sock_filter>)> {
    let changes = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (FCHMODAT2, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
    ];
    let makes = [
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];
    let opens = [
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ];
    let changes = changes.map(|(call, mode)| (call, [no_set_id(mode), vec![answer(ALLOW)]].concat()));
    let makes = makes.map(|(call, mode)| (call, [no_set_id(mode), named(naming)].concat()));
    let opens = opens.map(|(call, flags)| {
        // The mode follows the flags.
        let mode = no_set_id(flags + 1);
        let named = [
            vec![
                load(low(flags)),
                // Where only the place is wanted, the kernel makes nothing.
                jump(JUMP_ANY_BIT, libc::O_PATH as u32, 1, 0),
                jump(JUMP_ANY_BIT, MAKES_A_NAME, 1, 0),
                answer(ALLOW),
            ],
            named(naming),
        ]
        .concat();
        let beyond = u8::try_from(mode.len() + named.len()).unwrap_or(u8::MAX);
        let head = vec![load(low(flags)), jump(JUMP_ANY_BIT, MAKES_A_FILE, 0, beyond)];
        (call, [head, mode, named, found(naming, flags)].concat())
    });
    changes.into_iter().chain(makes).chain(opens).collect()
}

/// Refuses, or goes on with what follows.
fn no_set_id(mode: u32) -> Vec<sock_filter> {
    vec![load(low(mode)), jump(JUMP_ANY_BIT, SET_ID, 0, 1), answer(REFUSE | EPERM)]
}

/// The three families of everyday programs, and no kind of socket that sees other programs' packets.
///
/// THREAT: P07, a socket for datagrams can be told with each of them where it goes, in memory that no filter sees. So where
/// a guard finds sockets by their names, there are none of the unix family; pairs of them could send elsewhere too.
fn socket(naming: Naming) -> Vec<sock_filter> {
    let unix = match naming {
        Naming::Free => vec![],
        Naming::Guarded(_) => vec![
            load(low(0)),
            jump(JUMP_EQUAL, libc::AF_UNIX.unsigned_abs(), 0, 4),
            load(low(1)),
            step(AND, 0xf),
            jump(JUMP_EQUAL, libc::SOCK_DGRAM.unsigned_abs(), 0, 1),
            answer(REFUSE | ESOCKTNOSUPPORT),
        ],
    };
    let mut code = vec![
        load(low(0)),
        jump(JUMP_EQUAL, libc::AF_UNIX.unsigned_abs(), 3, 0),
        jump(JUMP_EQUAL, libc::AF_INET.unsigned_abs(), 2, 0),
        jump(JUMP_EQUAL, libc::AF_INET6.unsigned_abs(), 1, 0),
        answer(REFUSE | EAFNOSUPPORT),
        load(low(1)),
        step(AND, 0xf),
    ];
    code.extend(refuse_if_one_of(&[libc::SOCK_RAW.unsigned_abs(), 10], EPERM));
    [unix, code].concat()
}

fn refuse_if_one_of(values: &[u32], errno: u32) -> Vec<sock_filter> {
    let mut code = Vec::new();
    for value in values {
        code.push(jump(JUMP_EQUAL, *value, 0, 1));
        code.push(answer(REFUSE | errno));
    }
    code.push(answer(ALLOW));
    code
}

/// Allowed only with these low words of arguments; the kernel looks at no more of them.
fn only(arguments: &[(u32, u32)]) -> Vec<sock_filter> {
    let mut code = Vec::new();
    for (place, value) in arguments {
        code.push(load(low(*place)));
        code.push(jump(JUMP_EQUAL, *value, 1, 0));
        code.push(answer(REFUSE | EPERM));
    }
    code.push(answer(ALLOW));
    code
}

/// Calls from one number to another, and what is done about them.
struct Row {
    first: u32,
    last: u32,
    code: Vec<sock_filter>,
}

fn tree(rows: &[Row]) -> Vec<sock_filter> {
    match rows {
        [] => vec![answer(ALLOW)],
        [row] => {
            let beyond = u8::try_from(row.code.len()).unwrap_or(u8::MAX);
            let mut out = if row.first == row.last {
                vec![jump(JUMP_EQUAL, row.first, 0, beyond)]
            } else {
                vec![jump(JUMP_AT_LEAST, row.first, 0, beyond + 1), jump(JUMP_GREATER, row.last, beyond, 0)]
            };
            out.extend_from_slice(&row.code);
            out.push(answer(ALLOW));
            out
        }
        rows => {
            let (left, right) = rows.split_at(rows.len() / 2);
            let middle = right.first().map_or(u32::MAX, |row| row.first);
            let (left, right) = (tree(left), tree(right));
            let beyond = u32::try_from(left.len()).unwrap_or(u32::MAX);
            // A jump of its own reaches further than the branch's offset can.
            let mut out =
                vec![jump(JUMP_AT_LEAST, middle, 0, 1), sock_filter { code: JUMP, jt: 0, jf: 0, k: beyond }];
            out.extend(left);
            out.extend(right);
            out
        }
    }
}

fn number(call: i64) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

/// The argument that carries a pass.
const WORD: u32 = 5;

/// Where the low word of an argument lies; both architectures store it first.
fn low(argument: u32) -> u32 {
    16 + 8 * argument
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: offset }
}

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn answer(value: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: value }
}

#[cfg(test)]
mod tests;
