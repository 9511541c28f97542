//! The calls that are handed over, whichever way a program spells them. It knows numbers and arguments.

/// Addresses are in the memory of the caller; `at` is a descriptor of the caller, or stands for its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Open {
        at: i32,
        path: u64,
        flags: u32,
        mode: u32,
    },
    Folder {
        at: i32,
        path: u64,
        mode: u32,
    },
    Node {
        at: i32,
        path: u64,
        mode: u32,
        device: u32,
    },
    /// A symbolic link.
    Link {
        target: u64,
        at: i32,
        path: u64,
    },
    /// One more name for a file.
    Name {
        old_at: i32,
        old: u64,
        at: i32,
        path: u64,
        flags: u32,
    },
    Rename {
        old_at: i32,
        old: u64,
        at: i32,
        path: u64,
        flags: u32,
    },
    /// Of a socket, which has a name in the file system if it is of the unix family.
    Bind {
        socket: i32,
        address: u64,
        length: u32,
    },
    /// To another socket, which may have a name too.
    Connect {
        socket: i32,
        address: u64,
        length: u32,
    },
}

/// A relative path counts from the folder that the caller is in.
pub(super) const HERE: i32 = libc::AT_FDCWD;

impl Call {
    #[rustfmt::skip]
    pub(super) fn decode(number: i64, arguments: [u64; 6]) -> Option<Call> {
        let [a, b, c, d, e, _] = arguments;
        Some(match number {
            libc::SYS_openat => Call::Open { at: place(a), path: b, flags: word(c), mode: word(d) },
            libc::SYS_mkdirat => Call::Folder { at: place(a), path: b, mode: word(c) },
            libc::SYS_mknodat => Call::Node { at: place(a), path: b, mode: word(c), device: word(d) },
            libc::SYS_symlinkat => Call::Link { target: a, at: place(b), path: c },
            libc::SYS_linkat => Call::Name { old_at: place(a), old: b, at: place(c), path: d, flags: word(e) },
            libc::SYS_renameat => Call::Rename { old_at: place(a), old: b, at: place(c), path: d, flags: 0 },
            libc::SYS_renameat2 => Call::Rename { old_at: place(a), old: b, at: place(c), path: d, flags: word(e) },
            libc::SYS_bind => Call::Bind { socket: place(a), address: b, length: word(c) },
            libc::SYS_connect => Call::Connect { socket: place(a), address: b, length: word(c) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Call::Open { at: HERE, path: a, flags: word(b), mode: word(c) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => Call::Open { at: HERE, path: a, flags: CREAT, mode: word(b) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Call::Folder { at: HERE, path: a, mode: word(b) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => Call::Node { at: HERE, path: a, mode: word(b), device: word(c) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => Call::Link { target: a, at: HERE, path: b },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Call::Name { old_at: HERE, old: a, at: HERE, path: b, flags: 0 },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Call::Rename { old_at: HERE, old: a, at: HERE, path: b, flags: 0 },
            _ => return None,
        })
    }
}

/// What `creat` stands for.
#[cfg(target_arch = "x86_64")]
const CREAT: u32 = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u32;

/// The kernel looks at the low word of these arguments.
fn word(argument: u64) -> u32 {
    argument as u32
}

fn place(argument: u64) -> i32 {
    argument as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_in_their_places() {
        let here = HERE as u32;
        let arguments = [u64::from(here), 0x1000, 0x41, 0o644, 7, u64::MAX];
        let open = Call::Open { at: HERE, path: 0x1000, flags: 0x41, mode: 0o644 };
        assert_eq!(Call::decode(libc::SYS_openat, arguments), Some(open));
        let arguments = [3, 0x1000, 4, 0x2000, 0xffff_0000_0002, 0];
        let rename = Call::Rename { old_at: 3, old: 0x1000, at: 4, path: 0x2000, flags: 2 };
        assert_eq!(Call::decode(libc::SYS_renameat2, arguments), Some(rename));
        let rename = Call::Rename { old_at: 3, old: 0x1000, at: 4, path: 0x2000, flags: 0 };
        assert_eq!(Call::decode(libc::SYS_renameat, arguments), Some(rename));
        let link = Call::Link { target: 3, at: 0x1000, path: 4 };
        assert_eq!(Call::decode(libc::SYS_symlinkat, arguments), Some(link));
        assert_eq!(Call::decode(libc::SYS_read, arguments), None);
    }
}
