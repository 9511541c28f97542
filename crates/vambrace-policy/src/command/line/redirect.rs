//! Where input comes from and where output goes: files, nothing, and each other.

use super::cursor::Cursor;
use super::syntax;
use super::word::RawWord;
use crate::command::{CommandRefusal, RedirectMode, Stream, Target};

pub(super) enum Operator {
    Open(RedirectMode),
    /// `>&`
    Duplicate,
}

/// Longest first, as bash reads them.
const REFUSED: [(&str, &str); 9] = [
    ("<<<", "a here-string"),
    ("<<-", "a here-document"),
    ("<<", "a here-document"),
    ("<>", "a file opened for reading and writing"),
    ("<&", "a copied input"),
    ("<(", "process substitution"),
    (">(", "process substitution"),
    (">|", "a redirect that overrides noclobber"),
    (">>(", "process substitution"),
];

/// The sign as it was written, and what it means. `prefix` stood before it without a blank.
pub(super) fn read_operator(
    cursor: &mut Cursor<'_>,
    prefix: &str,
) -> Result<(String, Stream, Operator), CommandRefusal> {
    for (token, what) in REFUSED {
        if cursor.starts_with(token) {
            return Err(syntax(format!("{prefix}{token}"), what));
        }
    }
    let (sign, operator) = if cursor.take("&>>") {
        return Ok(("&>>".to_owned(), Stream::Both, Operator::Open(RedirectMode::Append)));
    } else if cursor.take("&>") {
        return Ok(("&>".to_owned(), Stream::Both, Operator::Open(RedirectMode::Truncate)));
    } else if cursor.take(">>") {
        (">>", Operator::Open(RedirectMode::Append))
    } else if cursor.take(">&") {
        (">&", Operator::Duplicate)
    } else if cursor.take(">") {
        (">", Operator::Open(RedirectMode::Truncate))
    } else {
        cursor.next();
        ("<", Operator::Open(RedirectMode::Read))
    };
    let written = format!("{prefix}{sign}");
    let stream = match (prefix, sign) {
        ("" | "0", "<") => Stream::In,
        ("" | "1", ">" | ">>" | ">&") => Stream::Out,
        ("2", ">" | ">>" | ">&") => Stream::Err,
        (_, _) => return Err(syntax(written, "a redirect of another stream")),
    };
    Ok((written, stream, operator))
}

pub(super) fn file(raw: RawWord) -> Result<Target, CommandRefusal> {
    let word = raw.into_word()?;
    let Some(text) = word.as_literal() else {
        return Err(syntax(word.spelled(), "a glob as the target of a redirect"));
    };
    match text {
        "" => Err(syntax("''", "a redirect without a target")),
        "/dev/null" => Ok(Target::Null),
        // THREAT: P06, names that bash opens as sockets or as what is already open.
        device if device.starts_with("/dev/") => Err(syntax(device, "a device as the target of a redirect")),
        _ => Ok(Target::File(word)),
    }
}

/// What stands behind `>&`. Bash would also open a file here.
pub(super) fn stream(sign: &str, raw: &RawWord) -> Result<Target, CommandRefusal> {
    match raw.unquoted().as_deref() {
        Some("1") => Ok(Target::Stream(Stream::Out)),
        Some("2") => Ok(Target::Stream(Stream::Err)),
        Some(_) | None => Err(syntax(format!("{sign}{}", raw.text()), "a copy of another stream")),
    }
}
