//! What stands between the brackets of a glob: letters, ranges, classes, all of it turned round by `!` or `^`.

pub(super) fn holds(set: &str, letter: char) -> bool {
    match set.strip_prefix(['!', '^']) {
        Some(rest) => !is_named(rest, letter),
        None => is_named(set, letter),
    }
}

fn is_named(set: &str, letter: char) -> bool {
    let mut rest = set;
    while let Some(first) = rest.chars().next() {
        if let Some((class, behind)) = rest.strip_prefix("[:").and_then(|text| text.split_once(":]")) {
            if is_of_class(class, letter) {
                return true;
            }
            rest = behind;
            continue;
        }
        let behind = rest.strip_prefix(first).unwrap_or_default();
        // A minus at the end stands for itself.
        let last = behind.strip_prefix('-').and_then(|text| text.chars().next().map(|last| (last, text)));
        match last {
            Some((last, text)) => {
                // A range whose end lies before its beginning holds nothing.
                if (first..=last).contains(&letter) {
                    return true;
                }
                rest = text.strip_prefix(last).unwrap_or_default();
            }
            None if first == letter => return true,
            None => rest = behind,
        }
    }
    false
}

fn is_of_class(class: &str, letter: char) -> bool {
    match class {
        "alnum" => letter.is_alphanumeric(),
        "alpha" => letter.is_alphabetic(),
        "ascii" => letter.is_ascii(),
        "blank" => matches!(letter, ' ' | '\t'),
        "cntrl" => letter.is_control(),
        "digit" => letter.is_ascii_digit(),
        "graph" => !letter.is_whitespace() && !letter.is_control(),
        "lower" => letter.is_lowercase(),
        "print" => !letter.is_control(),
        "punct" => letter.is_ascii_punctuation(),
        "space" => letter.is_whitespace(),
        "upper" => letter.is_uppercase(),
        "word" => letter.is_alphanumeric() || letter == '_',
        "xdigit" => letter.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(set: &str, inside: &str, outside: &str) {
        for letter in inside.chars() {
            assert!(holds(set, letter), "[{set}] {letter}");
        }
        for letter in outside.chars() {
            assert!(!holds(set, letter), "[{set}] {letter}");
        }
    }

    #[test]
    fn sets() {
        check("abc", "abc", "d-");
        check("a-c", "abc", "d-");
        check("a-", "a-", "b");
        check("-a", "a-", "b");
        check("]a", "]a", "b");
        check("!a-c", "dA", "abc");
        check("^]", "a", "]");
        check("a-c-e", "abc-e", "d");
        check("c-a", "", "abc-");
        check("[:digit:]x", "019x", "a:[");
        check("![:upper:]", "a1", "AZ");
        check("[:alpha:]", "aé", "1");
        check("a[", "a[", "b");
    }
}
