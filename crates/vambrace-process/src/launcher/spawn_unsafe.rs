//! Starts a program the way posix_spawn does: the child borrows our memory until it has executed the program, so nothing
//! is copied and the kernel's answer is known when the call returns. It knows a vector, three descriptors and a folder.

#![expect(unsafe_code, reason = "a child that shares memory until it executes has no safe wrapper")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Rlimit};

/// Far more than the few frames of `child` take: so much is mapped without being touched.
const STACK: usize = 256 << 10;

/// Memory for the child's stack, used again for each child: only one borrows it at a time.
pub(super) struct Stack(Vec<u128>);

impl Stack {
    pub(super) fn new() -> Stack {
        Stack(vec![0; STACK / size_of::<u128>()])
    }
}

pub(super) enum Executable<'a> {
    /// An ELF file is executed by the descriptor that was checked.
    Descriptor(BorrowedFd<'a>),
    /// A script's interpreter opens it again by its name.
    Path(&'a CStr),
}

pub(super) struct Start<'a> {
    pub(super) executable: Executable<'a>,
    pub(super) vector: &'a [CString],
    pub(super) environment: &'a [CString],
    pub(super) folder: BorrowedFd<'a>,
    pub(super) streams: [BorrowedFd<'a>; 3],
    /// Outside a pid namespace of our own a program must not reach us by signalling its process group.
    pub(super) own_group: bool,
    /// How many files it may have open; ours is another.
    pub(super) files: Rlimit,
}

/// What the child reads, all pointers into the parent's live memory.
struct Prepared {
    descriptor: RawFd,
    path: *const c_char,
    vector: *const *const c_char,
    environment: *const *const c_char,
    folder: RawFd,
    streams: [RawFd; 3],
    own_group: bool,
    files: libc::rlimit,
    errno: AtomicI32,
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
}

/// Returns when the program runs or could not be executed.
///
/// INVARIANT: the caller has one thread and its own descriptors are all above 2.
pub(super) fn start(start: &Start<'_>, stack: &mut Stack) -> Result<Pid, Errno> {
    let vector = pointers(start.vector);
    let environment = pointers(start.environment);
    let (descriptor, path) = match start.executable {
        Executable::Descriptor(descriptor) => (descriptor.as_raw_fd(), c"".as_ptr()),
        Executable::Path(path) => (-1, path.as_ptr()),
    };
    let prepared = Prepared {
        descriptor,
        path,
        vector: vector.as_ptr(),
        environment: environment.as_ptr(),
        folder: start.folder.as_raw_fd(),
        streams: start.streams.map(|stream| stream.as_raw_fd()),
        own_group: start.own_group,
        files: libc::rlimit {
            rlim_cur: start.files.current.unwrap_or(libc::RLIM_INFINITY),
            rlim_max: start.files.maximum.unwrap_or(libc::RLIM_INFINITY),
        },
        errno: AtomicI32::new(0),
    };
    // SAFETY: the pointer stays within or one past the end of the vector; stacks grow down from their end.
    let top = unsafe { stack.0.as_mut_ptr().add(stack.0.len()) };
    // SAFETY: with CLONE_VM and CLONE_VFORK this thread, the only one, stands still until the child has executed or
    // ended, so `prepared`, the arrays it points to and the stack outlive their use and nothing else touches them. The
    // stack is ours alone (`&mut`), its end is aligned to 16 bytes as u128 is. `child` never returns into our frames.
    let pid = unsafe {
        libc::clone(
            child,
            top.cast::<c_void>(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw const prepared).cast_mut().cast::<c_void>(),
        )
    };
    if pid < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    match prepared.errno.load(Ordering::Relaxed) {
        0 => Pid::from_raw(pid).ok_or(Errno::SRCH),
        errno => {
            if let Some(pid) = Pid::from_raw(pid) {
                let _ended = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
            }
            Err(Errno::from_raw_os_error(errno))
        }
    }
}

extern "C" fn child(argument: *mut c_void) -> c_int {
    // SAFETY: `start` passes a `Prepared` that lives until this child has executed or ended. All calls below are system
    // calls on numbers and on pointers into it; signal dispositions, descriptors and the folder are this child's own
    // copies because neither CLONE_SIGHAND nor CLONE_FILES nor CLONE_FS was given.
    unsafe {
        let prepared = &*argument.cast::<Prepared>();
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let [input, output, errors] = prepared.streams;
        let ready = libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) == 0
            && (!prepared.own_group || libc::setpgid(0, 0) == 0)
            && libc::fchdir(prepared.folder) == 0
            && libc::dup2(input, 0) == 0
            && libc::dup2(output, 1) == 1
            && libc::dup2(errors, 2) == 2
            && libc::setrlimit(libc::RLIMIT_NOFILE, &raw const prepared.files) == 0;
        if ready {
            if prepared.descriptor >= 0 {
                libc::syscall(
                    libc::SYS_execveat,
                    prepared.descriptor,
                    prepared.path,
                    prepared.vector,
                    prepared.environment,
                    libc::AT_EMPTY_PATH,
                );
            } else {
                libc::execve(prepared.path, prepared.vector, prepared.environment);
            }
        }
        prepared.errno.store((*libc::__errno_location()).max(1), Ordering::Relaxed);
        libc::_exit(127)
    }
}
