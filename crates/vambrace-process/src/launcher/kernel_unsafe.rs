//! System calls that no safe crate offers, each behind a safe function. It knows nothing of cages.

#![expect(unsafe_code, reason = "these system calls have no safe wrapper")]

use std::ffi::{CStr, c_int, c_long, c_uint};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn check(returned: c_long) -> Result<c_long, Errno> {
    if returned < 0 { Err(last_error()) } else { Ok(returned) }
}

/// A new process like this one, in new namespaces.
pub(super) enum Cloned {
    Child,
    Parent { pid: u32, descriptor: OwnedFd },
}

/// What the kernel reads; the current layout of its version 2.
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
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

const CLONE_INTO_GROUP: u64 = 0x2_0000_0000;

/// Forks with namespace flags, into a control group if one is given.
///
/// INVARIANT: the caller has one thread. The launcher has never started another.
pub(super) fn clone_process(namespaces: u64, group: Option<BorrowedFd<'_>>) -> Result<Cloned, Errno> {
    let mut descriptor: c_int = -1;
    let mut arguments = CloneArguments {
        flags: namespaces | libc::CLONE_PIDFD as u64,
        pidfd: (&raw mut descriptor) as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArguments::default()
    };
    if let Some(group) = group {
        arguments.flags |= CLONE_INTO_GROUP;
        arguments.cgroup = group.as_raw_fd() as u64;
    }
    // SAFETY: the structure has the layout of the kernel's clone_args and the size of exactly that is passed; `pidfd`
    // points to a live integer of this frame. Without CLONE_VM the child gets a copy of all memory and goes on from
    // here on its own copy of this stack. The process has one thread, so no lock can be held by a thread that does
    // not exist in the child.
    let returned =
        unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size_of::<CloneArguments>()) };
    match check(returned) {
        // Container profiles answer so because they cannot look into the structure.
        Err(Errno::NOSYS) if group.is_none() => clone_classic(namespaces),
        Err(errno) => Err(errno),
        Ok(0) => Ok(Cloned::Child),
        Ok(pid) => Ok(Cloned::Parent {
            pid: u32::try_from(pid).unwrap_or(0),
            // SAFETY: the call succeeded in the parent, so the kernel has stored a new descriptor that nobody else owns.
            descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) },
        }),
    }
}

fn clone_classic(namespaces: u64) -> Result<Cloned, Errno> {
    let mut descriptor: c_int = -1;
    let flags = namespaces | libc::CLONE_PIDFD as u64 | libc::SIGCHLD as u64;
    // SAFETY: the first three arguments are flags, stack and the place of the descriptor on every architecture; a null
    // stack without CLONE_VM means a copy of this one; the place is a live integer of this frame. One thread, as above.
    let returned =
        unsafe { libc::syscall(libc::SYS_clone, flags, 0usize, &raw mut descriptor, 0usize, 0usize) };
    match check(returned)? {
        0 => Ok(Cloned::Child),
        pid => Ok(Cloned::Parent {
            pid: u32::try_from(pid).unwrap_or(0),
            // SAFETY: as in `clone_process`.
            descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) },
        }),
    }
}

/// Ends this process at once: no destructor, no buffer of the parent's copy is touched.
pub(super) fn exit_now(code: c_int) -> ! {
    // SAFETY: ends the process; nothing runs afterwards that could see a broken state.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor from `first` on.
///
/// INVARIANT: called only where this program has just begun and owns none of them.
pub(super) fn close_from(first: c_uint) -> Result<(), Errno> {
    // SAFETY: descriptors are closed that no value of this program owns: callers call it at their very beginning.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, 0) }).map(drop)
}

/// Closes every descriptor from 3 on but these.
///
/// INVARIANT: called in a new process that never returns to the frames of its parent, so that nothing there uses or closes
/// its descriptors again.
pub(super) fn close_all_but(kept: [BorrowedFd<'_>; 2]) -> Result<(), Errno> {
    let mut kept = kept.map(|descriptor| c_uint::try_from(descriptor.as_raw_fd()).unwrap_or(0));
    kept.sort_unstable();
    let mut first: c_uint = 3;
    for number in kept {
        if number > first {
            // SAFETY: the parent's values that name these descriptors are never touched again in this process.
            check(unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) })?;
        }
        first = first.max(number + 1);
    }
    close_from(first)
}

/// Takes the descriptor that was handed to this program under a fixed number.
///
/// INVARIANT: called once per number, before anything else uses it.
pub(super) fn inherited(number: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: F_DUPFD_CLOEXEC makes a new descriptor with a number of 3 or more, which nobody else owns yet.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(last_error());
    }
    // SAFETY: just made by the call above.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Puts `descriptor` at a fixed number, for whoever is executed.
pub(super) fn place(descriptor: BorrowedFd<'_>, number: c_int) -> Result<(), Errno> {
    // SAFETY: only the numbers 0, 1 and 2 are passed, which no OwnedFd of this program holds (see `inherited`).
    check(c_long::from(unsafe { libc::dup2(descriptor.as_raw_fd(), number) })).map(drop)
}

/// A child that ends needs nobody to wait for it.
pub(super) fn ignore_children() {
    // SAFETY: sets a disposition, no handler of ours runs.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Children are waited for again.
pub(super) fn heed_children() {
    // SAFETY: sets a disposition, no handler of ours runs.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Every signal as at the start of a program, none blocked; a write to a closed pipe is an error, not a death.
pub(super) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: sets a disposition to the default; numbers that cannot be changed are refused by the kernel.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// A descriptor that becomes readable when a child ends; the signal itself is blocked.
pub(super) fn child_signals() -> Result<OwnedFd, Errno> {
    // SAFETY: an all-zero sigset_t is a valid value, and sigemptyset sets it properly anyway; all pointers are to it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(c_long::from(libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut())))?;
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(c_long::from(descriptor))?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Signals everything that can be seen. In the first process of a pid namespace that is all of the namespace but itself.
///
/// INVARIANT: never called by a process that is not number 1, where it would be every process of the user.
pub(super) fn signal_all(signal: c_int) {
    if std::process::id() != 1 {
        return;
    }
    // SAFETY: sends a signal; no memory is involved.
    unsafe { libc::kill(-1, signal) };
}

pub(super) fn set_host_name(name: &CStr) -> Result<(), Errno> {
    // SAFETY: the pointer is valid for the length given.
    check(c_long::from(unsafe { libc::sethostname(name.as_ptr(), name.count_bytes()) })).map(drop)
}

/// Goes on in a new namespace of this kind.
pub(super) fn leave_namespace(flag: c_int) -> Result<(), Errno> {
    // SAFETY: gives this process another namespace; no memory is involved.
    check(c_long::from(unsafe { libc::unshare(flag) })).map(drop)
}

/// The layout that the ioctl reads: a name and the flags at its front.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    rest: [u8; 22],
}

/// Brings up the loopback interface of this network namespace.
pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut name = [0u8; libc::IFNAMSIZ];
    for (place, byte) in name.iter_mut().zip(b"lo") {
        *place = *byte;
    }
    let flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    let request = InterfaceRequest { name, flags, rest: [0; 22] };
    // SAFETY: the structure has the size of struct ifreq (40 bytes) and outlives the call, which only reads it.
    check(c_long::from(unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    }))
    .map(drop)
}

#[repr(C)]
#[derive(Default)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

const MOUNT_ATTR_RDONLY: u64 = 0x1;
const MOUNT_ATTR_NOSUID: u64 = 0x2;
const MOUNT_ATTR_NODEV: u64 = 0x4;
const RECURSIVE: c_int = 0x8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attributes {
    ReadOnly,
    Writable,
    /// Writing to a device is not writing to the file system it lies on; changing its mode is.
    Device,
}

/// Sets them on a mount and all that is mounted in it.
pub(super) fn set_attributes(mount: BorrowedFd<'_>, attributes: Attributes) -> Result<(), Errno> {
    let set = match attributes {
        Attributes::ReadOnly => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        Attributes::Writable => MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        Attributes::Device => MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID,
    };
    change_mount(mount, RECURSIVE, &MountAttributes { set, ..MountAttributes::default() })
}

/// Only this mount, not what is mounted in it.
pub(super) fn set_root_read_only(root: BorrowedFd<'_>) -> Result<(), Errno> {
    change_mount(root, 0, &MountAttributes { set: MOUNT_ATTR_RDONLY, ..MountAttributes::default() })
}

/// Nothing that is mounted here reaches another namespace, nor the reverse.
pub(super) fn make_private(root: BorrowedFd<'_>) -> Result<(), Errno> {
    change_mount(
        root,
        RECURSIVE,
        &MountAttributes { propagation: libc::MS_PRIVATE, ..MountAttributes::default() },
    )
}

fn change_mount(mount: BorrowedFd<'_>, depth: c_int, attributes: &MountAttributes) -> Result<(), Errno> {
    // SAFETY: the path is an empty C string, the structure has the kernel's layout and its size is passed.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | depth,
            &raw const *attributes,
            size_of::<MountAttributes>(),
        )
    };
    check(returned).map(drop)
}

/// How many shared memories, message queues and semaphores of System V exist in this ipc namespace.
pub(super) fn count_ipc_objects() -> Result<u64, Errno> {
    const SHM_INFO: c_int = 14;
    const MSG_INFO: c_int = 12;
    const SEM_INFO: c_int = 19;
    const SEMUSZ: usize = 7;
    let count = |number: i32| u64::try_from(number).unwrap_or(0);
    let mut memory = [0i32; 64];
    let mut queues = [0i32; 64];
    let mut semaphores = [0i32; 64];
    // SAFETY: each call fills a structure of less than 128 bytes (shm_info, msginfo, seminfo); each place has 256.
    unsafe {
        check(libc::syscall(libc::SYS_shmctl, 0, SHM_INFO, memory.as_mut_ptr()))?;
        check(libc::syscall(libc::SYS_msgctl, 0, MSG_INFO, queues.as_mut_ptr()))?;
        check(libc::syscall(libc::SYS_semctl, 0, 0, SEM_INFO, semaphores.as_mut_ptr()))?;
    }
    let sets = semaphores.get(SEMUSZ).copied().unwrap_or(i32::MAX);
    Ok(count(memory.first().copied().unwrap_or(i32::MAX))
        + count(queues.first().copied().unwrap_or(i32::MAX))
        + count(sets))
}

/// The rest of the capability sets of this process is emptied with `rustix`; the bounding set is counted in numbers that
/// a newer kernel may know and `rustix` may not.
pub(super) fn drop_bounding_set() -> Result<(), Errno> {
    for capability in 0..=63 as libc::c_ulong {
        // SAFETY: takes a right away from this process; no memory is involved.
        match check(c_long::from(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) })) {
            Ok(_) => {}
            // Beyond the last that this kernel knows.
            Err(Errno::INVAL) if capability > 0 => return Ok(()),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Root has no powers by its number, for this process and all that come from it.
pub(super) fn lock_secure_bits() -> Result<(), Errno> {
    let bits = libc::SECBIT_NOROOT
        | libc::SECBIT_NOROOT_LOCKED
        | libc::SECBIT_NO_SETUID_FIXUP
        | libc::SECBIT_NO_SETUID_FIXUP_LOCKED
        | libc::SECBIT_KEEP_CAPS_LOCKED
        | libc::SECBIT_NO_CAP_AMBIENT_RAISE
        | libc::SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    let bits = libc::c_ulong::try_from(bits).unwrap_or(0);
    // SAFETY: takes rights away from this process; no memory is involved.
    check(c_long::from(unsafe { libc::prctl(libc::PR_SET_SECUREBITS, bits, 0, 0, 0) })).map(drop)
}
