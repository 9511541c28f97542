//! The rule for programs that the operator listed and that have no rules of their own: no word may name a path
//! outside of the scope. What the program does with its words is held by the cage alone.

use super::place::{Place, System};
use super::sheet::Sheet;
use crate::command::Word;
use crate::{Access, Denial, Reason};

const RULE: &str = "command_policy.argument_rules:paths";

/// Signs behind which a path may begin within a word.
const BORDERS: [char; 5] = ['=', ':', ',', '@', ';'];

const SCHEMES: [&str; 6] = ["http", "https", "ws", "wss", "git", "ssh"];

pub(crate) fn read(words: &[Word], place: &mut Place<'_>, sheet: &mut Sheet) {
    for word in words {
        let spelled = word.spelled();
        match judge(word, &spelled, place) {
            Ok(note) => sheet.allow(&spelled, RULE, note),
            Err(denial) => sheet.deny(&spelled, denial),
        }
    }
}

fn judge(word: &Word, spelled: &str, place: &mut Place<'_>) -> Result<&'static str, Denial> {
    // An address is no path; `file:` is one in disguise and is taken apart below.
    if let Some((scheme, _)) = spelled.split_once("://")
        && SCHEMES.contains(&scheme)
    {
        return Ok("address");
    }
    if word.is_glob() && !spelled.starts_with('-') {
        return place.judge_word(word, Access::Read, System::Counts);
    }
    let mut note = "text";
    // `-I/usr/include`: a one-letter option with its value.
    let attached =
        spelled.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|rest| !rest.starts_with('-'));
    for piece in spelled.split(BORDERS).chain([spelled]).chain(attached) {
        if is_path(piece) {
            note = place.judge(piece, Access::Read, System::Counts)?;
        } else if !piece.starts_with('-') {
            blocked_name(piece, place)?;
        }
    }
    Ok(note)
}

fn is_path(text: &str) -> bool {
    (text.contains('/') || text == "..") && !text.starts_with('-')
}

/// Any word may be the name of a file; only what is blocked by name is refused.
fn blocked_name(text: &str, place: &mut Place<'_>) -> Result<(), Denial> {
    let mut unused = Vec::new();
    let mut from_here = Place {
        scope: place.scope,
        folders: place.folders.clone(),
        touched: &mut unused,
        reach: place.reach,
    };
    match from_here.judge(text, Access::Read, System::Counts) {
        Err(denial) if matches!(denial.reason, Reason::Blocked { .. }) => Err(denial),
        Ok(_) | Err(_) => Ok(()),
    }
}
