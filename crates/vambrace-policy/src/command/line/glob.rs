//! Letters of a word become its parts: which `*`, `?` and `[…]` are signs and which are text.

use super::word::Letter;
use super::{count_steps, syntax};
use crate::command::{CommandRefusal, WordPart};

/// What bash knows between `[:` and `:]`.
const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// What stands between two brackets, and how many letters they take together.
struct Bracket {
    set: String,
    n_letters: usize,
}

pub(super) fn parts(letters: &[Letter]) -> Result<Vec<WordPart>, CommandRefusal> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = letters;
    // INVARIANT: a `[` that finds no `]` before the next slash is not searched again by the ones behind it, or the time
    // would grow with the square of the line.
    let mut is_open = true;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        count_steps(1);
        let sign = match first.character {
            _ if first.is_quoted => None,
            '*' => Some(WordPart::AnyText),
            '?' => Some(WordPart::AnyChar),
            '[' if is_open => match bracket(behind)? {
                Some(found) => {
                    rest = behind.get(found.n_letters..).unwrap_or_default();
                    Some(WordPart::OneOf(found.set))
                }
                None => {
                    is_open = false;
                    None
                }
            },
            _ => None,
        };
        if let Some(sign) = sign {
            if !literal.is_empty() {
                parts.push(WordPart::Literal(std::mem::take(&mut literal)));
            }
            parts.push(sign);
        } else {
            is_open |= first.character == '/';
            literal.push(first.character);
        }
    }
    if !literal.is_empty() {
        parts.push(WordPart::Literal(literal));
    }
    Ok(parts)
}

/// `letters` begin behind the opening bracket. A slash ends the search, because a glob never reaches over one.
fn bracket(letters: &[Letter]) -> Result<Option<Bracket>, CommandRefusal> {
    let mut set = String::new();
    let mut has_quoted_sign = false;
    let mut has_class = false;
    let mut is_first = true;
    let mut rest = letters;
    while let Some((letter, behind)) = rest.split_first() {
        rest = behind;
        count_steps(1);
        let is_negation = set.is_empty() && !letter.is_quoted && matches!(letter.character, '!' | '^');
        match letter.character {
            '/' => break,
            sign @ (']' | '-' | '!' | '^' | '[' | '\\' | ':' | '=' | '.') if letter.is_quoted => {
                has_quoted_sign = true;
                set.push(sign);
            }
            ']' if !is_first => {
                // A quoted sign stands for itself, which the set could not say.
                if has_quoted_sign {
                    return Err(syntax(format!("[{set}]"), "a bracket expression with quotes"));
                }
                return Ok(Some(Bracket { set, n_letters: letters.len() - rest.len() }));
            }
            '[' => {
                let follows = behind.first().filter(|next| !next.is_quoted).map(|next| next.character);
                match follows {
                    Some('=' | '.') => return Err(syntax("[", "a collating element")),
                    Some(':') => {
                        let name = class(behind)?;
                        rest = behind.get(name.len() + 3..).unwrap_or_default();
                        set.push_str("[:");
                        set.push_str(name);
                        set.push_str(":]");
                        has_class = true;
                    }
                    Some(_) | None => set.push('['),
                }
            }
            plain => set.push(plain),
        }
        is_first = is_first && is_negation;
    }
    // The class's own bracket could close one that opens later; bash would see it, and we do not look again.
    if has_class {
        return Err(syntax("[", "a bracket expression that does not end"));
    }
    Ok(None)
}

/// `letters` begin with `:`.
fn class(letters: &[Letter]) -> Result<&'static str, CommandRefusal> {
    // The longest name, a colon on each side and a bracket.
    let text: String = letters
        .iter()
        .take(9)
        .take_while(|letter| !letter.is_quoted)
        .map(|letter| letter.character)
        .collect();
    let known = CLASSES.into_iter().find(|name| {
        let name = text.strip_prefix(':').and_then(|text| text.strip_prefix(name));
        name.is_some_and(|text| text.starts_with(":]"))
    });
    known.ok_or_else(|| syntax("[:", "an unknown class of characters"))
}
