//! Reads a patch as `git diff` prints it, file by file, so that what may not be shown can be left out.

/// The part of a patch that belongs to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'p> {
    /// `None` where the header could not be understood; nobody may see such a section.
    pub(super) path: Option<String>,
    pub(super) added: u64,
    pub(super) deleted: u64,
    pub(super) binary: bool,
    pub(super) text: &'p str,
}

/// Contents stand behind a space, a plus or a minus, and names with line ends are quoted: no file can put a header of
/// its own into a patch. THREAT: P02, a section passed off as another file's.
fn begins_section(line: &str) -> bool {
    line.starts_with("diff --git ") || line.starts_with("diff --cc ") || line.starts_with("* Unmerged path ")
}

pub(super) fn sections(patch: &str) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut current) = (patch, 0);
    while let Some(line) = rest.get(current..).and_then(|text| text.split_inclusive('\n').next()) {
        if begins_section(line) && current > 0 {
            let (section, behind) = rest.split_at_checked(current).unwrap_or((rest, ""));
            found.push(read(section));
            (rest, current) = (behind, 0);
        }
        current += line.len();
    }
    if !rest.is_empty() {
        found.push(read(rest));
    }
    found
}

fn read(text: &str) -> Section<'_> {
    let header = text.lines().next().unwrap_or_default();
    let (mut added, mut deleted, mut binary, mut in_hunk) = (0, 0, false, false);
    for line in text.lines().skip(1) {
        if line.starts_with("@@") {
            in_hunk = true;
        } else if in_hunk {
            added += u64::from(line.starts_with('+'));
            deleted += u64::from(line.starts_with('-'));
        } else {
            binary |= line.starts_with("Binary files ") || line.starts_with("GIT binary patch");
        }
    }
    Section { path: path_of(header), added, deleted, binary, text }
}

/// Without renames both names in a header are the same one.
fn path_of(header: &str) -> Option<String> {
    if let Some(name) = header.strip_prefix("diff --cc ").or_else(|| header.strip_prefix("* Unmerged path "))
    {
        return if name.starts_with('"') { unquoted(name) } else { Some(name.to_owned()) };
    }
    let names = header.strip_prefix("diff --git ")?;
    let (first, second) = names.split_at_checked(names.len() / 2)?;
    let second = second.strip_prefix(' ')?;
    let plain = |text: &str| if text.starts_with('"') { unquoted(text) } else { Some(text.to_owned()) };
    let (first, second) = (plain(first)?, plain(second)?);
    let (old, new) = (first.strip_prefix("a/")?, second.strip_prefix("b/")?);
    (old == new).then(|| new.to_owned())
}

/// A name as git quotes it: in double quotes, with escapes and bytes in octal.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut letters = inner.bytes();
    while let Some(letter) = letters.next() {
        if letter != b'\\' {
            bytes.push(letter);
            continue;
        }
        bytes.push(match letters.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            other @ (b'"' | b'\\') => other,
            high @ b'0'..=b'3' => {
                let mut digit = || letters.next().filter(|digit| (b'0'..=b'7').contains(digit));
                (high - b'0') * 64 + (digit()? - b'0') * 8 + (digit()? - b'0')
            }
            _ => return None,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: Option<&str>) {
        assert_eq!(path_of(header).as_deref(), expected, "{header}");
    }

    #[test]
    fn a_header_names_one_file() {
        check("diff --git a/x b/x", Some("x"));
        check("diff --git a/a b/c d b/a b/c d", Some("a b/c d"));
        check(r#"diff --git "a/\303\244\n" "b/\303\244\n""#, Some("ä\n"));
        check(r#"diff --git "a/\"\\" "b/\"\\""#, Some("\"\\"));
        check("diff --git a/x b/y", None); // two names are no name
        check("diff --git x", None);
        check(r#"diff --git "a/\q" "b/\q""#, None);
        check("diff --cc both", Some("both"));
        check("* Unmerged path some where", Some("some where"));
        check("index 1..2", None);
    }

    #[test]
    fn lines_are_counted_per_file() {
        let patch = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n diff --git a/y b/y\n\
                     +++ more\ndiff --git a/b b/b\nindex 1..2\nBinary files a/b and b/b differ\n";
        let found = sections(patch);
        let read: Vec<_> = found.iter().map(|s| (s.path.as_deref(), s.added, s.deleted, s.binary)).collect();
        assert_eq!(read, [(Some("x"), 2, 1, false), (Some("b"), 0, 0, true)]);
        assert_eq!(found.iter().map(|s| s.text).collect::<String>(), patch);
        assert_eq!(sections(""), []);
        assert_eq!(sections("stray\n")[0].path, None);
    }
}
