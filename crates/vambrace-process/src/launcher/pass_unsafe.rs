//! The calls that make names, as this process itself makes them. Around programs the same calls are handed to `guard`, by
//! a filter that stands around this process as well and tells the two apart by a word that only this process knows.
//!
//! The word travels in the sixth argument, which none of these calls has: the kernel does not look at it, the filter does.

#![expect(unsafe_code, reason = "no wrapper passes a sixth argument")]

use std::ffi::{CStr, c_long, c_uint};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const NO_MAGIC_LINKS: u64 = 0x02;
const NO_LINKS: u64 = 0x04;

/// INVARIANT: never shown to a program. A new one is drawn for each cell; guessing takes longer than there is time.
#[derive(Clone, Copy)]
pub(super) struct Pass(u64);

/// The word of the filter that stands around this process. Zero before there is one: then nobody looks at it.
static OWN: AtomicU64 = AtomicU64::new(0);

/// What this process opens on its own account. Without the word it would wait for itself for ever.
pub(super) fn open_for_ourselves(
    folder: BorrowedFd<'_>,
    path: &CStr,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    Pass(OWN.load(Ordering::Relaxed)).open(folder, path, flags, Mode::empty())
}

/// A name in a folder.
type Named<'a> = (BorrowedFd<'a>, &'a CStr);

/// What the kernel reads.
#[repr(C)]
struct HowToOpen {
    flags: u64,
    mode: u64,
    resolve: u64,
}

impl Pass {
    pub(super) fn draw() -> Result<Pass, Errno> {
        let mut word = [0u8; 8];
        // SAFETY: the buffer is valid for its length.
        let drawn = unsafe { libc::getrandom(word.as_mut_ptr().cast(), word.len(), 0) };
        if usize::try_from(drawn) != Ok(word.len()) {
            return Err(Errno::IO);
        }
        Ok(Pass(u64::from_ne_bytes(word)))
    }

    /// From now on this process opens its own files with it.
    pub(super) fn adopt(self) {
        OWN.store(self.0, Ordering::Relaxed);
    }

    pub(super) fn word(self) -> u64 {
        self.0
    }

    pub(super) fn open(
        self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, Errno> {
        let flags = u64::from((flags | OFlags::CLOEXEC).bits());
        let made =
            self.call(libc::SYS_openat, [number(folder), address(name), flags, u64::from(mode.bits()), 0])?;
        owned(made)
    }

    /// A folder, as a place to make names in: through links, but not through those of /proc that lead past the names.
    pub(super) fn open_folder(self, from: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
        self.open_how(from, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, NO_MAGIC_LINKS)
    }

    /// The same through no link at all.
    pub(super) fn open_straight(self, from: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
        self.open_how(from, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, NO_LINKS)
    }

    /// The same for whatever is there.
    pub(super) fn open_path(
        self,
        from: BorrowedFd<'_>,
        path: &CStr,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        self.open_how(from, path, flags, NO_MAGIC_LINKS)
    }

    fn open_how(
        self,
        from: BorrowedFd<'_>,
        path: &CStr,
        flags: OFlags,
        resolve: u64,
    ) -> Result<OwnedFd, Errno> {
        let how = HowToOpen { flags: u64::from(flags.bits()), mode: 0, resolve };
        let made = self.call(
            libc::SYS_openat2,
            [number(from), address(path), (&raw const how) as u64, size_of::<HowToOpen>() as u64, 0],
        )?;
        owned(made)
    }

    pub(super) fn make_folder(self, folder: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<(), Errno> {
        self.call(libc::SYS_mkdirat, [number(folder), address(name), u64::from(mode), 0, 0]).map(drop)
    }

    pub(super) fn make_node(
        self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        mode: u32,
        device: u32,
    ) -> Result<(), Errno> {
        let arguments = [number(folder), address(name), u64::from(mode), u64::from(device), 0];
        self.call(libc::SYS_mknodat, arguments).map(drop)
    }

    pub(super) fn make_link(self, target: &CStr, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        self.call(libc::SYS_symlinkat, [address(target), number(folder), address(name), 0, 0]).map(drop)
    }

    pub(super) fn give_name(self, old: Named<'_>, new: Named<'_>, flags: u32) -> Result<(), Errno> {
        self.call(libc::SYS_linkat, from_to(old, new, flags)).map(drop)
    }

    pub(super) fn rename(self, old: Named<'_>, new: Named<'_>, flags: u32) -> Result<(), Errno> {
        self.call(libc::SYS_renameat2, from_to(old, new, flags)).map(drop)
    }

    /// A copy of what another process has open.
    pub(super) fn take_descriptor(
        self,
        process: BorrowedFd<'_>,
        descriptor: RawFd,
    ) -> Result<OwnedFd, Errno> {
        let descriptor = u64::from(descriptor.cast_unsigned());
        owned(self.call(libc::SYS_pidfd_getfd, [number(process), descriptor, 0, 0, 0])?)
    }

    /// Gives a socket an address, as the kernel reads one.
    pub(super) fn bind(self, socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), Errno> {
        let arguments = [number(socket), address.as_ptr() as u64, address.len() as u64, 0, 0];
        self.call(libc::SYS_bind, arguments).map(drop)
    }

    pub(super) fn connect(self, socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), Errno> {
        let arguments = [number(socket), address.as_ptr() as u64, address.len() as u64, 0, 0];
        self.call(libc::SYS_connect, arguments).map(drop)
    }

    /// The rights that new files do not get; those of before.
    pub(super) fn set_mask(self, mask: u32) -> u32 {
        // It never fails.
        self.call(libc::SYS_umask, [u64::from(mask), 0, 0, 0, 0]).map_or(0o077, |before| before as u32)
    }

    fn call(self, call: c_long, [a, b, c, d, e]: [u64; 5]) -> Result<c_long, Errno> {
        // SAFETY: every pointer among the arguments is made by `address` from a C string, or points to bytes whose number is
        // passed; all of them outlive the call. None of these calls writes to memory.
        let returned = unsafe { libc::syscall(call, a, b, c, d, e, self.0) };
        if returned < 0 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        Ok(returned)
    }
}

fn from_to((from, old): Named<'_>, (to, new): Named<'_>, flags: u32) -> [u64; 5] {
    [number(from), address(old), number(to), address(new), u64::from(flags)]
}

fn owned(made: c_long) -> Result<OwnedFd, Errno> {
    let made = RawFd::try_from(made).map_err(|_| Errno::BADF)?;
    // SAFETY: the call that returned it has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn number(descriptor: BorrowedFd<'_>) -> u64 {
    u64::from(c_uint::try_from(descriptor.as_raw_fd()).unwrap_or(c_uint::MAX))
}

fn address(text: &CStr) -> u64 {
    text.as_ptr() as u64
}
