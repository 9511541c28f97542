//! What the file of a process says: whether a program is running, since when, where, and which protected names were there
//! before. It knows text only.
//!
//! ```text
//! busy 00000000001790000000 000000123       always as long, so that it is overwritten in place
//! at /project /project/service 12345        the number says which rules it was looked at with
//! D /project/.git 2049 77 1780000000 5      kind, path, device, inode, birth
//! M /project/secrets                        a folder that programs do not see into
//! end
//! dead 1790000004 9                         from the launcher, when nothing of ours runs any more
//! ```

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::workspace::{Identity, Kind, Masked, Seen, View};

/// Seconds and nanoseconds, as the kernel stamps files.
pub(super) type Moment = (i64, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Idle,
    Busy,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RunRecord {
    pub(super) activity: Activity,
    pub(super) since: Moment,
    pub(super) workspace: PathBuf,
    pub(super) service: PathBuf,
    pub(super) rules: u64,
    pub(super) listed: Listed,
    pub(super) dead: Option<Moment>,
}

/// What was there when nothing ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Listed {
    pub(super) names: Vec<Seen>,
    pub(super) masked: Vec<PathBuf>,
}

impl Listed {
    pub(super) fn of(view: &View) -> Listed {
        Listed { names: names(view).cloned().collect(), masked: masked(view).cloned().collect() }
    }

    pub(super) fn is_of(&self, view: &View) -> bool {
        self.names.iter().eq(names(view)) && self.masked.iter().eq(masked(view))
    }

    /// As far as it says how things were.
    pub(super) fn into_view(self) -> View {
        let masked = self.masked.into_iter().map(|path| Masked { path, is_folder: true });
        View { protected: self.names, masked: masked.collect(), ..View::default() }
    }
}

fn names(view: &View) -> impl Iterator<Item = &Seen> {
    view.protected.iter().chain(&view.repositories).chain(&view.git_files)
}

fn masked(view: &View) -> impl Iterator<Item = &PathBuf> {
    view.masked.iter().filter(|masked| masked.is_folder).map(|masked| &masked.path)
}

pub(super) fn head(activity: Activity, (seconds, nanoseconds): Moment) -> String {
    let word = match activity {
        Activity::Idle => "idle",
        Activity::Busy => "busy",
    };
    format!("{word} {seconds:020} {nanoseconds:09}\n")
}

pub(super) fn body(workspace: &Path, service: &Path, rules: u64, listed: &Listed) -> String {
    let mut text = format!("at {} {} {rules}\n", encode(workspace), encode(service));
    for Seen { path, kind, identity: Identity { device, inode, born: (seconds, nanoseconds) } } in
        &listed.names
    {
        let kind = match kind {
            Kind::Folder => 'D',
            Kind::File => 'F',
            Kind::Link => 'L',
        };
        text.push_str(&format!("{kind} {} {device} {inode} {seconds} {nanoseconds}\n", encode(path)));
    }
    for path in &listed.masked {
        text.push_str(&format!("M {}\n", encode(path)));
    }
    text.push_str("end\n");
    text
}

pub(super) fn death((seconds, nanoseconds): Moment) -> String {
    format!("dead {seconds} {nanoseconds}\n")
}

/// Nothing if a line is torn or unknown.
pub(super) fn parse(text: &str) -> Option<RunRecord> {
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ');
    let activity = match words.next()? {
        "idle" => Activity::Idle,
        "busy" => Activity::Busy,
        _ => return None,
    };
    let since = moment(&mut words)?;
    let mut words = lines.next()?.strip_prefix("at ")?.split(' ');
    let (workspace, service) = (decode(words.next()?)?, decode(words.next()?)?);
    let rules = words.next()?.parse().ok()?;
    let mut listed = Listed::default();
    loop {
        let line = lines.next()?;
        match line.strip_prefix("M ") {
            Some(path) => listed.masked.push(decode(path)?),
            None if line == "end" => break,
            None => listed.names.push(name(line)?),
        }
    }
    // A line without its end was not written to its end.
    let whole = text.ends_with('\n');
    let last = lines.next_back().and_then(|line| line.strip_prefix("dead "));
    let dead = last.filter(|_| whole).and_then(|line| moment(&mut line.split(' ')));
    Some(RunRecord { activity, since, workspace, service, rules, listed, dead })
}

fn name(line: &str) -> Option<Seen> {
    let mut words = line.split(' ');
    let kind = match words.next()? {
        "D" => Kind::Folder,
        "F" => Kind::File,
        "L" => Kind::Link,
        _ => return None,
    };
    let path = decode(words.next()?)?;
    let device = words.next()?.parse().ok()?;
    let inode = words.next()?.parse().ok()?;
    let born = moment(&mut words)?;
    Some(Seen { path, kind, identity: Identity { device, inode, born } })
}

fn moment<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Moment> {
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// A path may hold a space or a line break.
fn encode(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | 0..=0x20 | 0x7f.. => text.push_str(&format!("%{byte:02x}")),
            plain => text.push(char::from(*plain)),
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &[u8], kind: Kind) -> Seen {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        Seen { path, kind, identity: Identity { device: 1, inode: 2, born: (3, 4) } }
    }

    #[track_caller]
    fn check(path: &[u8], kind: Kind, dead: Option<Moment>) {
        let (workspace, service) = (PathBuf::from("/a b"), PathBuf::from("/a b/c"));
        let listed = Listed { names: vec![seen(path, kind)], masked: vec![PathBuf::from("/a b/secrets")] };
        let text = head(Activity::Busy, (5, 6))
            + &body(&workspace, &service, u64::MAX, &listed)
            + &dead.map(death).unwrap_or_default();
        let activity = Activity::Busy;
        let record = RunRecord { activity, since: (5, 6), workspace, service, rules: u64::MAX, listed, dead };
        assert_eq!(parse(&text), Some(record), "{text}");
    }

    #[test]
    fn what_is_written_is_read() {
        check(b"/a/b", Kind::Folder, None);
        check(b"/with space/and\nline\tand%percent", Kind::File, Some((7, 8)));
        check(b"/not\xfftext", Kind::Link, Some((7, 999_999_999)));
    }

    #[test]
    fn a_torn_text_is_none() {
        let listed =
            Listed { names: vec![seen(b"/a/x", Kind::File)], masked: vec![PathBuf::from("/a/secrets")] };
        let whole = head(Activity::Idle, (1, 2)) + &body(Path::new("/a"), Path::new("/a"), 7, &listed);
        assert!(parse(&whole).is_some());
        for n_bytes in 0..whole.len() - 1 {
            assert_eq!(parse(whole.get(..n_bytes).unwrap()), None, "{n_bytes}");
        }
        // The moment of death decides what is taken away, so half a number is no moment.
        assert_eq!(parse(&(whole.clone() + "dead 12 3")).unwrap().dead, None);
        assert_eq!(parse(&(whole + "dead 1 1\ndead 12 3\n")).unwrap().dead, Some((12, 3)));
    }

    #[test]
    fn every_head_is_as_long() {
        let lengths = [(0, 0), (1_790_000_000, 1), (i64::MAX, 999_999_999)]
            .map(|moment| head(Activity::Busy, moment).len());
        assert!(lengths.iter().all(|length| *length == head(Activity::Idle, (1, 1)).len()), "{lengths:?}");
    }
}
