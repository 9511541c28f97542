//! Reads what git prints for programs: `status --porcelain=v2 -z`, `diff --name-status -z`, `push --porcelain`.

/// `git status --porcelain=v2 --branch -z`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// `None` while HEAD names a commit and no branch.
    pub(super) branch: Option<String>,
    pub(super) upstream: Option<String>,
    /// Commits before and behind the upstream, where git knows.
    pub(super) apart: Option<(u64, u64)>,
    pub(super) files: Vec<StatusFile>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusFile {
    /// From the repository's root.
    pub(super) path: String,
    pub(super) index: &'static str,
    pub(super) worktree: &'static str,
    pub(super) from: Option<String>,
}

/// What a letter of git means.
fn state(letter: char) -> &'static str {
    match letter {
        '.' => "unchanged",
        'M' => "modified",
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'C' => "copied",
        'T' => "type changed",
        'U' => "unmerged",
        '?' => "untracked",
        _ => "unknown",
    }
}

pub(super) fn status(output: &[u8]) -> Status {
    let text = String::from_utf8_lossy(output);
    let mut status = Status::default();
    let mut records = text.split('\0');
    while let Some(record) = records.next() {
        if let Some(header) = record.strip_prefix("# ") {
            status.learn(header);
        } else if let Some(path) = record.strip_prefix("? ") {
            let (index, worktree) = ("unchanged", "untracked");
            status.files.push(StatusFile { path: path.to_owned(), index, worktree, from: None });
        } else if let Some(file) = entry(record) {
            // A renamed file's old name is a record of its own.
            let from = if record.starts_with("2 ") { records.next().map(str::to_owned) } else { None };
            status.files.push(StatusFile { from, ..file });
        }
    }
    status
}

impl Status {
    fn learn(&mut self, header: &str) {
        match header.split_once(' ') {
            Some(("branch.head", name)) if name != "(detached)" => self.branch = Some(name.to_owned()),
            Some(("branch.upstream", name)) => self.upstream = Some(name.to_owned()),
            Some(("branch.ab", counts)) => {
                let mut counts =
                    counts.split(' ').map(|count| count.trim_start_matches(['+', '-']).parse().ok());
                self.apart = counts.next().flatten().zip(counts.next().flatten());
            }
            Some(_) | None => {}
        }
    }
}

/// `1 XY sub mH mI mW hH hI path`; a rename has a score before the path, a conflict two more fields.
fn entry(record: &str) -> Option<StatusFile> {
    let n_fields = match record.split_once(' ')?.0 {
        "1" => 9,
        "2" => 10,
        "u" => 11,
        _ => return None,
    };
    let fields: Vec<&str> = record.splitn(n_fields, ' ').collect();
    let mut letters = fields.get(1)?.chars();
    let (index, worktree) = (state(letters.next()?), state(letters.next()?));
    let path = (*fields.get(n_fields - 1)?).to_owned();
    Some(StatusFile { path, index, worktree, from: None })
}

/// `--name-status -z` without renames: letter, path, letter, path.
pub(super) fn name_status(output: &str) -> Vec<(&'static str, String)> {
    let mut records = output.split('\0');
    let mut files = Vec::new();
    while let (Some(letter), Some(path)) = (records.next(), records.next()) {
        if let Some(letter) = letter.trim_start().chars().next() {
            files.push((state(letter), path.to_owned()));
        }
    }
    files
}

/// One line of `push --porcelain`: flag, refs, summary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pushed {
    pub(super) what: &'static str,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) summary: String,
}

pub(super) fn pushed(output: &str) -> Vec<Pushed> {
    let lines = output.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (flag, refs, summary) = (fields.next()?, fields.next()?, fields.next()?);
        let what = match flag {
            " " => "update",
            "*" => "new branch",
            "=" => "up to date",
            "!" => "rejected",
            "+" => "forced",
            "-" => "deleted",
            _ => return None,
        };
        let (from, to) = refs.split_once(':')?;
        Some(Pushed { what, from: from.to_owned(), to: to.to_owned(), summary: summary.to_owned() })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &str = "N... 100644 100644 100644 aaaa bbbb";

    #[track_caller]
    fn check(output: &str, expected: &[(&str, &str, &str, Option<&str>)]) {
        let found = status(output.as_bytes()).files;
        let found: Vec<_> =
            found.iter().map(|f| (f.path.as_str(), f.index, f.worktree, f.from.as_deref())).collect();
        assert_eq!(found, expected, "{output:?}");
    }

    #[test]
    fn files_are_read_with_both_states() {
        check("", &[]);
        check(&format!("1 .M {IDS} a b.txt\0"), &[("a b.txt", "unchanged", "modified", None)]);
        check(
            &format!("1 A. {IDS} -x\0? new\n?\0"),
            &[("-x", "added", "unchanged", None), ("new\n?", "unchanged", "untracked", None)],
        );
        check(
            &format!("2 R. {IDS} R100 to\0? from\0? x\0"),
            &[
                ("to", "renamed", "unchanged", Some("? from")), // an old name that looks like a record is still a name
                ("x", "unchanged", "untracked", None),
            ],
        );
        check(
            "u UU N... 100644 100644 100644 100644 a b c both\0",
            &[("both", "unmerged", "unmerged", None)],
        );
        check("nonsense\x001 M\x00", &[]);
    }

    #[test]
    fn the_branch_and_its_distance_are_read() {
        let read =
            status(b"# branch.oid a\0# branch.head feat/x\0# branch.upstream o/x\0# branch.ab +2 -1\0");
        assert_eq!((read.branch.as_deref(), read.upstream.as_deref()), (Some("feat/x"), Some("o/x")));
        assert_eq!(read.apart, Some((2, 1)));
        assert_eq!(status(b"# branch.head (detached)\0").branch, None);
    }

    #[test]
    fn staged_names_come_in_pairs() {
        assert_eq!(
            name_status("M\0a\0D\0b c\0"),
            [("modified", "a".to_owned()), ("deleted", "b c".to_owned())]
        );
        assert_eq!(name_status(""), []);
    }

    #[test]
    fn a_push_tells_what_each_ref_becomes() {
        let lines = pushed(
            "To http://h/r\n \trefs/heads/a:refs/heads/a\tabc..def\n!\tx:y\t[rejected] (fetch first)\nDone\n",
        );
        let found: Vec<_> =
            lines.iter().map(|line| (line.what, line.to.as_str(), line.summary.as_str())).collect();
        assert_eq!(
            found,
            [("update", "refs/heads/a", "abc..def"), ("rejected", "y", "[rejected] (fetch first)")]
        );
    }
}
