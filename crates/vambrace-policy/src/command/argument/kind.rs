//! One value or operand against its kind.

use super::block::Kind;
use super::network::{Nameless, Signs};
use super::place::{Place, System};
use super::{network, script_awk, script_jq, script_sed, script_yq};
use crate::command::Word;
use crate::{Access, Denial};

/// Why a value is not taken.
pub(crate) enum Fault {
    Why(String),
    Denied(Denial),
}

impl From<Denial> for Fault {
    fn from(denial: Denial) -> Fault {
        Fault::Denied(denial)
    }
}

/// Whether the word stands behind `--`, where git takes paths only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    Dashes,
}

/// `Ok` says in a word what it was taken for.
pub(crate) fn judge(
    kind: &Kind,
    word: &Word,
    behind: Behind,
    place: &mut Place<'_>,
) -> Result<&'static str, Fault> {
    let spelled;
    let text = match word.as_literal() {
        Some(text) => text,
        None => {
            spelled = word.spelled();
            spelled.as_str()
        }
    };
    match kind {
        Kind::Text => Ok("text"),
        Kind::Pattern => Ok("pattern"),
        Kind::Format => Ok("format"),
        Kind::GitFormat => git_format(text),
        Kind::GitLines => git_lines(text, place),
        Kind::Number => number(text),
        Kind::Disk if text == "/" => Ok("disk"),
        Kind::Read | Kind::Folder | Kind::Disk if text == "-" => Ok("standard input"),
        Kind::Read | Kind::Folder | Kind::Disk => Ok(place.judge_word(word, Access::Read, System::Counts)?),
        Kind::Exists => Ok(place.judge_presence(word)?),
        Kind::Plain => plain(word, text, place),
        Kind::Write => Ok(place.judge_word(word, Access::Write, System::Counts)?),
        Kind::Sed => script(word, script_sed::scan),
        Kind::Awk => script(word, script_awk::scan),
        Kind::Jq => script(word, script_jq::scan),
        Kind::Yq => script(word, script_yq::scan),
        Kind::Revision => match behind {
            Behind::Nothing => revision(text, place),
            Behind::Dashes => pathspec(word, text, place),
        },
        Kind::Pathspec => pathspec(word, text, place),
        Kind::Url => network::url(text, Signs::Refused, place),
        Kind::ExactUrl => network::url(text, Signs::Taken, place),
        Kind::SavedUrl => network::saved_url(text, Nameless::Index, place),
        Kind::NamedUrl => network::saved_url(text, Nameless::Refused, place),
        Kind::Header => network::header(text),
        Kind::Line => network::line(text),
        Kind::Data => network::data(word, text, place),
        Kind::EncodedData => network::encoded_data(word, text, place),
        Kind::Upload => network::upload(word, text, place),
        Kind::CurlFormat => network::curl_format(text),
        Kind::Remote => network::remote(text, place),
        Kind::RemoteRef => network::remote_ref(text),
        Kind::OneOf(list) if list.iter().any(|known| known == text) => Ok("listed"),
        Kind::OneOf(list) => Err(Fault::Why(format!("it must be one of {}", list.join(", ")))),
        Kind::None => Err(Fault::Why("nothing may stand here".to_owned())),
    }
}

fn script(word: &Word, scan: fn(&str) -> Result<(), String>) -> Result<&'static str, Fault> {
    let text =
        word.as_literal().ok_or_else(|| Fault::Why("put the program text into single quotes".to_owned()))?;
    scan(text).map_err(Fault::Why)?;
    Ok("program text")
}

/// Digits with a sign, a decimal point or a suffix; or hexadecimal ones behind `0x`.
fn number(text: &str) -> Result<&'static str, Fault> {
    if let Some(hexadecimal) = text.strip_prefix("0x")
        && (1..=16).contains(&hexadecimal.len())
        && hexadecimal.chars().all(|character| character.is_ascii_hexdigit())
    {
        return Ok("number");
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix =
        digits.trim_start_matches(|character: char| character.is_ascii_digit() || ".,:".contains(character));
    let good = digits.starts_with(|character: char| character.is_ascii_digit() || character == '.')
        && digits.contains(|character: char| character.is_ascii_digit())
        && suffix.len() <= 3
        && suffix.chars().all(|character| character.is_ascii_alphabetic() || character == '%');
    if good { Ok("number") } else { Err(Fault::Why("it must be a number".to_owned())) }
}

fn git_format(text: &str) -> Result<&'static str, Fault> {
    let checks =
        text.split('%').skip(1).any(|rest| rest.trim_start_matches(['+', '-', ' ']).starts_with('G'));
    // Checking a signature starts the program that the repository's configuration names.
    if checks || text.to_ascii_lowercase().contains("signature") {
        return Err(Fault::Why("git would start a program to check signatures".to_owned()));
    }
    Ok("format")
}

/// `RANGE:FILE` of `git log -L`. A range may hold colons of its own; then the file is what stands behind the last one.
fn git_lines(text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    if let Some((_, file)) = text.rsplit_once(':') {
        place.judge(file, Access::Read, System::Refused)?;
    }
    Ok("lines of a file")
}

fn plain(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    if text.contains(':') || text.starts_with(['@', '-']) {
        return Err(Fault::Why("the program gives `:`, `@` or `-` here a meaning of its own".to_owned()));
    }
    // THREAT: P06, `diffstat '$(id).gz'`: the program writes the name into a line for a shell.
    if text.contains(['$', '`', '"', '\\']) {
        return Err(Fault::Why("the program may give the name to a shell".to_owned()));
    }
    Ok(place.judge_word(word, Access::Read, System::Counts)?)
}

/// A revision, a range, or `REV:PATH`. git takes a path where it finds no such revision, so all of it is a path too.
fn revision(text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    // `:/words` looks for a commit by its message, and is a path from the top where there is none.
    if text.strip_prefix(':').is_some_and(|rest| rest.starts_with(['/', '!', '^', '('])) {
        return magic(&Word::literal(text), text, place);
    }
    for side in sides(text) {
        place.judge(side, Access::Read, System::Refused)?;
    }
    let mut rest = text;
    while let Some((_, path)) = rest.split_once(':') {
        for side in sides(path) {
            if side.starts_with("./") || side.starts_with("../") {
                place.judge(side, Access::Read, System::Refused)?;
            } else {
                place.judge_from_top(side)?;
            }
        }
        rest = path;
    }
    Ok("revision")
}

/// The whole, and both sides of each `..` that is no step upwards.
fn sides(text: &str) -> Vec<&str> {
    let mut all = vec![text];
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find("..")) {
        let at = from + found;
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 2..).unwrap_or_default();
        let after = after.strip_prefix('.').unwrap_or(after);
        let step =
            (before.is_empty() || before.ends_with('/')) && (after.is_empty() || after.starts_with('/'));
        if !step {
            all.extend([before, after]);
        }
        from = at + 2;
    }
    all
}

/// A path as git takes it, with the signs in front that git gives a meaning.
fn pathspec(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    if text.starts_with(':') {
        return magic(word, text, place);
    }
    Ok(place.judge_word(word, Access::Read, System::Refused)?)
}

/// `:/path`, `:!path`, `:(top)path`, `:(exclude)path`. Outside a repository, and beside a path outside of one, `git diff`
/// takes the word as it is written, so it must be good as a plain path too.
fn magic(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    if text.split('/').any(|part| part == "..") {
        return Err(Fault::Why("a path with `:` in front may not go upwards".to_owned()));
    }
    let rest = text.strip_prefix(':').unwrap_or(text);
    let (is_top, excludes, path) = if let Some(path) = rest.strip_prefix("(top)") {
        (true, false, path)
    } else if let Some(path) = rest.strip_prefix("(exclude)") {
        (false, true, path)
    } else {
        let path = rest.trim_start_matches(['/', '!', '^']);
        let signs = rest.strip_suffix(path).unwrap_or_default();
        // A second colon ends the signs.
        (signs.contains('/'), signs.contains(['!', '^']), path.strip_prefix(':').unwrap_or(path))
    };
    if !is_top && !excludes {
        return Err(Fault::Why("write the path without `:` in front".to_owned()));
    }
    place.judge_word(word, Access::Read, System::Refused)?;
    if !excludes {
        place.judge_from_top(path)?;
    }
    Ok("pathspec")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_number(text: &str, expected: bool) {
        assert_eq!(number(text).is_ok(), expected, "{text:?}");
    }

    #[test]
    fn numbers_and_what_only_begins_like_one() {
        for good in ["5", "+5", "-20", "1.5", "10K", "2MB", "2MiB", ".5", "1,10", "50%", "0x40", "0xfF"] {
            check_number(good, true);
        }
        for bad in [
            "",
            "-",
            "x5",
            "5/../x",
            "10000x/y",
            "1 2",
            "+",
            "--5",
            "5abcd",
            ".",
            "0x/y",
            "0x40/y",
            "0x12345678123456789",
        ] {
            check_number(bad, false);
        }
    }

    #[track_caller]
    fn check_sides(text: &str, expected: &[&str]) {
        assert_eq!(sides(text), expected, "{text:?}");
    }

    #[test]
    fn a_range_has_two_sides_and_a_step_has_none() {
        check_sides("main", &["main"]);
        check_sides("a..b", &["a..b", "a", "b"]);
        check_sides("a...b", &["a...b", "a", "b"]);
        check_sides("../x", &["../x"]);
        check_sides("a/../x", &["a/../x"]);
        check_sides("..b", &["..b", "", "b"]);
    }
}
