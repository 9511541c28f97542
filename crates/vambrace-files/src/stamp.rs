//! What stands at a path right now, in a form that is equal only while nothing has happened to it.

use std::os::fd::AsFd as _;

use rustix::fs::{FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use vambrace_policy::{Access, Withheld};
use vambrace_types::{ErrorCode, ScopedPath};

use crate::Files;
use crate::list::EntryKind;
use crate::open::{Opener, beneath, kernel_path};

impl Files {
    /// Without a look inside: its kind, inode, size and times, and the same of where a link leads. Of a folder only which one
    /// it is, because our own mirror changes the times of folders. Not judged by the scope: it is for hashing and never shown.
    // LIMIT: what happens inside a folder does not show.
    pub fn stamp(&self, path: &ScopedPath) -> String {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let withheld = Withheld::default();
        let opener = self.opener(&withheld);
        let itself =
            beneath(opener.root.as_fd(), &kernel_path(path), OFlags::PATH | OFlags::NOFOLLOW, resolve)
                .and_then(|handle| rustix::fs::fstat(&handle));
        let itself = match itself {
            Ok(stat) => described(&stat),
            Err(Errno::NOENT | Errno::NOTDIR) => return absent(&opener, path),
            Err(errno) => format!("errno {}", errno.raw_os_error()),
        };
        match opener.glance(path, Access::Read) {
            Ok(opened) => {
                format!("{itself} > {} {:?}", described(&opened.stat), opened.resolved.components())
            }
            Err(error) => format!("{itself} > {}", error.to_tool_error().code.as_str()),
        }
    }
}

/// Where it would come to be, whichever folders on the way are there already. THREAT: P01, a yes to
/// a new file, and then a link in the place of a folder around it.
fn absent(opener: &Opener<'_>, path: &ScopedPath) -> String {
    let (mut above, mut names) = (path.components().to_vec(), Vec::new());
    while let Some(name) = above.pop() {
        names.push(name);
        let Some(folder) = ScopedPath::from_components(above.clone()) else { break };
        match opener.glance(&folder, Access::Read) {
            Ok(opened) => {
                let place: Vec<&String> =
                    opened.resolved.components().iter().chain(names.iter().rev()).collect();
                return format!("absent {place:?}");
            }
            Err(error) => match error.to_tool_error().code {
                ErrorCode::FileNotFound => {}
                code => return format!("absent: {}", code.as_str()),
            },
        }
    }
    "absent".to_owned()
}

pub(crate) fn described(stat: &Stat) -> String {
    let kind = EntryKind::of(FileType::from_raw_mode(stat.st_mode));
    let place = format!("{} {}:{}", kind.as_str(), stat.st_dev, stat.st_ino);
    match kind {
        EntryKind::Folder => place,
        EntryKind::File | EntryKind::Link | EntryKind::Other => format!(
            "{place} {} {}.{} {}.{}",
            stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec
        ),
    }
}
