//! The raw calls of `call`. Each is safe to make and, where it is allowed, does nothing that lasts.

#![expect(unsafe_code, reason = "these system calls are refused to programs and have no safe wrapper")]

use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

fn check(returned: c_long) -> Result<c_long, Errno> {
    if returned >= 0 {
        return Ok(returned);
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

fn descriptor(returned: c_long) -> Result<OwnedFd, Errno> {
    let number = c_int::try_from(check(returned)?).map_err(|_| Errno::RANGE)?;
    // SAFETY: every caller passes the result of a call that makes a new descriptor, which nobody else owns yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Makes a folder whose name, with a zero byte in it, somebody else may change meanwhile.
pub(super) fn make_folder(folder: &OwnedFd, name: &AtomicU64) -> Result<(), Errno> {
    // SAFETY: the kernel reads up to a zero byte, of which every value that is stored in the word has one.
    check(unsafe { libc::syscall(libc::SYS_mkdirat, folder.as_raw_fd(), name.as_ptr(), 0o700) }).map(drop)
}

/// Asks for a word of a process that is not traced: never succeeds.
pub(super) fn peek(pid: i32) -> Result<(), Errno> {
    let mut word: c_long = 0;
    // SAFETY: the word would be returned through `word`, which outlives the call; the address is in the other process
    // and only a number here.
    check(unsafe {
        libc::syscall(libc::SYS_ptrace, libc::PTRACE_PEEKDATA, pid, 8usize, (&raw mut word).cast::<c_void>())
    })
    .map(drop)
}

/// Reads from the first page of a process, where nothing is mapped.
pub(super) fn read_nothing_from(pid: u32) -> Result<(), Errno> {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast::<c_void>(), iov_len: 1 };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(8), iov_len: 1 };
    // SAFETY: one local part of one byte, which outlives the call; the remote address is only a number here.
    check(unsafe {
        libc::syscall(
            libc::SYS_process_vm_readv,
            pid,
            &raw const local,
            1usize,
            &raw const remote,
            1usize,
            0usize,
        )
    })
    .map(drop)
}

/// Pushes a character into a terminal's input, had `file` one. `high` is added to the request.
pub(super) fn type_into(file: BorrowedFd<'_>, high: u64) -> Result<(), Errno> {
    let character = b' ';
    let request = u64::from(libc::TIOCSTI as u32) | high;
    // SAFETY: the request reads one byte, which outlives the call.
    check(unsafe { libc::syscall(libc::SYS_ioctl, file.as_raw_fd(), request, &raw const character) })
        .map(drop)
}

/// A queue for one asynchronous read or write, which goes at once.
pub(super) fn make_queue() -> Result<(), Errno> {
    let mut queue: c_ulong = 0;
    // SAFETY: the kernel writes one number, which outlives the call.
    check(unsafe { libc::syscall(libc::SYS_io_setup, 1, &raw mut queue) })?;
    // SAFETY: no memory is involved; the number is that of the queue made above.
    check(unsafe { libc::syscall(libc::SYS_io_destroy, queue) }).map(drop)
}

/// Enters the namespace in which this process already is.
pub(super) fn enter(namespace: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::syscall(libc::SYS_setns, namespace.as_raw_fd(), 0) }).map(drop)
}

/// What a child of this process tries; it changes only the child.
#[derive(Debug, Clone, Copy)]
pub(super) enum Child {
    LeaveUserNamespace,
    LeaveMountNamespace,
}

/// The outer result says whether it could be tried, the inner one what the kernel answered.
pub(super) fn in_child(what: Child) -> Result<Result<(), Errno>, Errno> {
    let flags = match what {
        Child::LeaveUserNamespace => libc::CLONE_NEWUSER,
        Child::LeaveMountNamespace => libc::CLONE_NEWNS,
    };
    // SAFETY: between fork and _exit the child makes system calls only: it takes no lock and allocates nothing, so it
    // does not matter what other threads of the parent were doing.
    let pid = unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let code = if libc::unshare(flags) == 0 { 0 } else { *libc::__errno_location() };
            libc::_exit(code);
        }
        pid
    };
    let pid = check(c_long::from(pid))?;
    match wait_for(pid)? {
        0 => Ok(Ok(())),
        code => Ok(Err(Errno::from_raw_os_error(code))),
    }
}

fn wait_for(pid: c_long) -> Result<i32, Errno> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let ended = rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
    ended.and_then(|(_, status)| status.exit_status()).ok_or(Errno::CHILD)
}

/// The child ends at once.
pub(super) fn clone_into_user_namespace() -> Result<(), Errno> {
    let flags = c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    // SAFETY: flags and a null stack; wherever an architecture puts the others, they are zero. Without CLONE_VM the child
    // runs on a copy of this stack and ends before it returns.
    let pid = unsafe {
        let pid = libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize);
        if pid == 0 {
            libc::_exit(0);
        }
        pid
    };
    wait_for(check(pid)?).map(drop)
}

/// The front of the kernel's clone_args, its first version.
#[repr(C, align(8))]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

pub(super) fn clone3_into_user_namespace() -> Result<(), Errno> {
    let arguments = CloneArguments {
        flags: u64::from(libc::CLONE_NEWUSER.unsigned_abs()),
        exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
        ..CloneArguments::default()
    };
    // SAFETY: the structure has the kernel's layout and its size is passed; without CLONE_VM the child runs on a copy of
    // this stack and ends before it returns.
    let pid = unsafe {
        let pid = libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArguments>());
        if pid == 0 {
            libc::_exit(0);
        }
        pid
    };
    wait_for(check(pid)?).map(drop)
}

/// A mount of no kind: refused as invalid after the right to mount was asked for.
pub(super) fn mount_nothing() -> Result<(), Errno> {
    let none = std::ptr::null::<c_void>();
    // SAFETY: the target is a C string; null is what the kernel takes for an absent source, kind and data.
    check(unsafe { libc::syscall(libc::SYS_mount, none, c"/".as_ptr(), none, 0 as c_ulong, none) }).map(drop)
}

/// A folder that is no mount point.
pub(super) fn unmount_nothing() -> Result<(), Errno> {
    // SAFETY: the path is a C string.
    check(unsafe {
        libc::syscall(libc::SYS_umount2, c"/usr/bin".as_ptr(), libc::UMOUNT_NOFOLLOW | libc::MNT_EXPIRE)
    })
    .map(drop)
}

pub(super) fn open_no_file_system() -> Result<(), Errno> {
    // SAFETY: a null name is refused as a bad address; the kernel never trusts it.
    descriptor(unsafe { libc::syscall(libc::SYS_fsopen, std::ptr::null::<c_void>(), 0 as c_uint) }).map(drop)
}

/// A copy of the root's mount that is attached nowhere and goes with its descriptor.
pub(super) fn copy_root_mount() -> Result<(), Errno> {
    const OPEN_TREE_CLONE: c_uint = 1;
    // SAFETY: the path is a C string.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), OPEN_TREE_CLONE) })
        .map(drop)
}

pub(super) fn change_root_to_root() -> Result<(), Errno> {
    // SAFETY: the path is a C string.
    check(unsafe { libc::syscall(libc::SYS_chroot, c"/".as_ptr()) }).map(drop)
}

/// Refused as busy after the right was asked for: the root cannot take its own place.
pub(super) fn pivot_root_to_root() -> Result<(), Errno> {
    // SAFETY: both paths are C strings.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, c"/".as_ptr(), c"/".as_ptr()) }).map(drop)
}

pub(super) fn make_ring() -> Result<(), Errno> {
    let mut parameters = [0u64; 32];
    // SAFETY: the kernel reads and fills struct io_uring_params of 120 bytes; there are 256, all zero.
    descriptor(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1 as c_uint, parameters.as_mut_ptr()) })
        .map(drop)
}

/// The smallest array there is.
pub(super) fn make_bpf_map() -> Result<(), Errno> {
    const MAP_CREATE: c_int = 0;
    const ARRAY: u32 = 2;
    // Kind, size of a key, size of a value, number of entries, flags.
    let attributes: [u32; 32] = std::array::from_fn(|place| match place {
        0 => ARRAY,
        1 | 2 => 4,
        3 => 1,
        _ => 0,
    });
    // SAFETY: the attributes are plain numbers of the size that is passed.
    descriptor(unsafe {
        libc::syscall(libc::SYS_bpf, MAP_CREATE, attributes.as_ptr(), size_of_val(&attributes) as c_uint)
    })
    .map(drop)
}

pub(super) fn session_keyring() -> Result<(), Errno> {
    const GET_KEYRING_ID: c_int = 0;
    const SESSION_KEYRING: c_int = -3;
    // SAFETY: no memory is involved.
    check(unsafe { libc::syscall(libc::SYS_keyctl, GET_KEYRING_ID, SESSION_KEYRING, 0) }).map(drop)
}

pub(super) fn request_no_key() -> Result<(), Errno> {
    let none = std::ptr::null::<c_void>();
    // SAFETY: a null kind is refused as a bad address.
    check(unsafe { libc::syscall(libc::SYS_request_key, none, none, none, 0) }).map(drop)
}

/// A software clock of this process only.
pub(super) fn count_clock() -> Result<(), Errno> {
    const SOFTWARE: u32 = 1;
    const SIZE: u32 = 112;
    const CLOSE_ON_EXEC: c_ulong = 8;
    const EXCLUDE_KERNEL_AND_HYPERVISOR: u64 = 0b110_0001;
    let mut attributes = [0u64; 16];
    let front = [u64::from(SIZE) << 32 | u64::from(SOFTWARE), 0, 0, 0, 0, EXCLUDE_KERNEL_AND_HYPERVISOR];
    for (place, value) in attributes.iter_mut().zip(front) {
        *place = value;
    }
    // SAFETY: struct perf_event_attr begins with its own size, 112, and 128 bytes are there.
    descriptor(unsafe {
        libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, CLOSE_ON_EXEC)
    })
    .map(drop)
}

pub(super) fn make_fault_handler() -> Result<(), Errno> {
    const USER_MODE_ONLY: c_int = 1;
    // SAFETY: no memory is involved until something is registered with the descriptor, which is closed.
    descriptor(unsafe { libc::syscall(libc::SYS_userfaultfd, USER_MODE_ONLY | libc::O_CLOEXEC) }).map(drop)
}

/// A handle that no file has.
pub(super) fn open_stale_handle() -> Result<(), Errno> {
    const N_BYTES: u32 = 8;
    const KIND: u32 = 1;
    let handle: [u32; 8] = [N_BYTES, KIND, u32::MAX, u32::MAX, 0, 0, 0, 0];
    // SAFETY: struct file_handle says that 8 bytes follow its head of 8; 24 are there. It is only read.
    descriptor(unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            libc::AT_FDCWD,
            handle.as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    })
    .map(drop)
}

pub(super) fn load_no_module() -> Result<(), Errno> {
    // SAFETY: the options are a C string; the descriptor is none, which the kernel says after it has asked for the right.
    check(unsafe { libc::syscall(libc::SYS_finit_module, -1, c"".as_ptr(), 0) }).map(drop)
}
