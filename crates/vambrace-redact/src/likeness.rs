//! How unlike a word or an identifier is a text? Two neighboring letters tell much: `th` is language, `qx` is chance.
//!
//! The table compares pairs in a million identifiers and strings of source code with pairs in random text, each as twice
//! the logarithm (base 2) of how much more often random text has the pair. Letter case is folded.

/// Row: first of the pair; column: second. 26 letters, then any digit. `m` is zero.
const ODD: [&[u8; 27]; 27] = [
    b"nkijpnktkvngihwjufhflnonltp",
    b"kpnpkpuxlnujsulsynnrkuxwmyp",
    b"ipmnilshkyjkopfpxkmhkruvqxp",
    b"koolgnqriutmppkpvmlonrrvpyp",
    b"inhhlkkqmspijfnkmefgplmilsp",
    b"lonplkrxhyylrpjsyknmmvtsqyo",
    b"msqshspnmysmqmnsyllonuvyuvw",
    b"ittsiswvlytrotksyopmpwvypyu",
    b"kliikljuqusiiehktkhgqkwnxlu",
    b"syxxoyyytyvyyyrtyysysyxyyyy",
    b"ptnritswnyxrsprsxrnsoutyvyx",
    b"hoolfopsgwriqrhnxqlkkptvmyw",
    b"hmppgrtvjytnmrkivrmplsvsrwv",
    b"iqihhlgqjumnpminupifllsuqsw",
    b"nljiqmmumsmjifljxgkkimkptvy",
    b"hsooirrnlyojrsjluimjlruynuu",
    b"yyyxyyyyyyyqwyyystvxkxyyyyy",
    b"gqkkenmsgymlklgovjiilmrukyu",
    b"lrjpforjhvnloojjopiejppumyu",
    b"hpknempifxrmnphmugjjkqprjst",
    b"nlmoknpylyyjkiqkyikiuuyqyxq",
    b"jtpuhtuylyyvtsqrytqtyxvuuxu",
    b"mursnvvpkytsunntympuxwtvxyy",
    b"oqnqmpwupyyupwsmyvrkwvwsryo",
    b"qqqspstuqywooorkyrmmvuruuux",
    b"qyywlyyyqyywxwryyywwyyyyvvy",
    b"ppppppyyyyyyyyywyywxyyyyyyn",
];

/// Above zero, chance is more likely than language. About three per byte for random text, minus four for names.
pub(crate) fn oddness(value: &[u8]) -> i32 {
    let odd = |pair: &[u8]| match pair {
        [a, b] => symbol(*a)
            .and_then(|row| ODD.get(row))
            .zip(symbol(*b))
            .and_then(|(row, column)| row.get(column))
            .map_or(0, |odd| i32::from(*odd) - i32::from(b'm')),
        _ => 0,
    };
    value.windows(2).map(odd).sum()
}

/// Other signs say nothing: they part words, and random text too.
fn symbol(byte: u8) -> Option<usize> {
    match byte.to_ascii_lowercase() {
        letter @ b'a'..=b'z' => Some(usize::from(letter - b'a')),
        b'0'..=b'9' => Some(26),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, odd: bool) {
        assert_eq!(oddness(value.as_bytes()) > 0, odd, "{value}: {}", oddness(value.as_bytes()));
    }

    #[test]
    fn language_and_chance_differ() {
        check("authentication_service_token", false);
        check("KxSharedSecretKxSharedSecret", false);
        check("Html5everTokenSink", false);
        check("D3DVSD_TOKENTYPE", false);
        check(&["kd8f7a", "h3kq9x"].concat(), true);
        check(&["XqzJkfW", "vBnTgh"].concat(), true);
        check(&["0f3b9c1e", "77a2d4f8"].concat(), true);
    }
}
