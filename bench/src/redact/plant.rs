//! Makes credentials of every kind and sets them into lines of code, logs and JSON. Pure; the same seed plants the same.

use super::kinds::{Alphabet, Form, Kind, Part, Setting};
use crate::sample::Numbers;

/// What surrounds a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Code,
    Log,
    Json,
}

/// A line, or a few, with a credential in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planting {
    pub(super) text: String,
    /// Where in the text the credential is.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Names that say nothing about what they hold.
const PLAIN_NAMES: [&str; 6] = ["value", "entry", "field", "setting", "argument", "item"];

const CODE: [(&str, &str); 6] = [
    ("    let {name} = \"", "\";\n"),
    ("const {NAME}: &str = \"", "\";\n"),
    ("        {name}: \"", "\".to_owned(),\n"),
    ("    // {name} = ", "\n"),
    ("export {NAME}=", "\n"),
    ("os.environ[\"{NAME}\"] = \"", "\"\n"),
];
const LOG: [(&str, &str); 4] = [
    ("2026-03-04T05:06:07.891Z  INFO worker{id=12}: {name}=", " attempt=1\n"),
    ("2026-03-04 05:06:07,891 DEBUG [pool-3] config - {name}: ", "\n"),
    ("{\"ts\":1772600767,\"level\":\"info\",\"{name}\":\"", "\"}\n"),
    ("+ {NAME}=", "\n"),
];
const JSON: [(&str, &str); 3] = [
    ("  \"{name}\": \"", "\",\n"),
    ("{\"id\": 4711, \"{name}\": \"", "\", \"active\": true}\n"),
    ("{\"env\": [{\"name\": \"REGION\", \"value\": \"eu\"}], \"{name}\":\"", "\"}\n"),
];

pub(super) fn plant(kind: &Kind, style: Style, numbers: &mut Numbers) -> Planting {
    let secret = secret(kind.form, numbers);
    let (name, inner, outer) = match kind.setting {
        Setting::Line(before, after) => return set(before, &secret, &format!("{after}\n")),
        // A block has lines of its own, whatever is around it.
        Setting::Anywhere if matches!(kind.form, Form::Pem(..)) => return set("", &secret, "\n"),
        Setting::Anywhere => (numbers.pick(&PLAIN_NAMES), "", ""),
        Setting::Named(name) => (name, "", ""),
        Setting::Within(before, after) => ("url", before, after),
    };
    let frames: &[(&str, &str)] = match style {
        Style::Code => &CODE,
        Style::Log => &LOG,
        Style::Json => &JSON,
    };
    let (before, after) = frames.get(numbers.below(frames.len())).copied().unwrap_or_default();
    let before = before.replace("{name}", name).replace("{NAME}", &name.to_ascii_uppercase());
    set(&format!("{before}{inner}"), &secret, &format!("{outer}{after}"))
}

fn set(before: &str, secret: &str, after: &str) -> Planting {
    let (start, end) = (before.len(), before.len() + secret.len());
    Planting { text: format!("{before}{secret}{after}"), start, end }
}

fn secret(form: Form, numbers: &mut Numbers) -> String {
    match form {
        Form::Parts(parts) => parts.iter().fold(String::new(), |text, part| add(text, *part, numbers)),
        Form::Jwt => jwt(numbers),
        Form::Pem(label, n_lines) => pem(label, n_lines, numbers),
        Form::Password => password(numbers),
        Form::Uuid => uuid(numbers),
    }
}

fn add(mut text: String, part: Part, numbers: &mut Numbers) -> String {
    match part {
        Part::Fixed(fixed) => text.push_str(fixed),
        Part::Chars(alphabet, n_chars) => text.push_str(&chars(alphabet, n_chars, numbers)),
        Part::Crc62 => {
            let body = text.rsplit('_').next().unwrap_or_default();
            let sum = base62(crc32(body.as_bytes()));
            text.push_str(&sum);
        }
        Part::Crc16 => {
            let body = text.strip_suffix('_').unwrap_or(&text);
            let sum = format!("{:08x}", crc32(body.as_bytes()));
            text.push_str(&sum);
        }
    }
    text
}

pub(super) fn chars(alphabet: Alphabet, n_chars: usize, numbers: &mut Numbers) -> String {
    let characters = alphabet.characters();
    let one = |_| characters.get(numbers.below(characters.len())).map_or('0', |byte| char::from(*byte));
    (0..n_chars).map(one).collect()
}

/// Between 14 and 22 characters, with letters of both cases, digits and a mark that no address gives a meaning.
fn password(numbers: &mut Numbers) -> String {
    let half = chars(Alphabet::Base62, 6 + numbers.below(5), numbers);
    let rest = chars(Alphabet::Base62, 4 + numbers.below(5), numbers);
    let (mark, digit) = (numbers.pick(&["!", "_", ".", "*", "-", "~"]), numbers.below(10));
    format!("{half}{mark}{rest}K{digit}x")
}

pub(super) fn uuid(numbers: &mut Numbers) -> String {
    let [a, b, c, d, e] = [8, 4, 3, 3, 12].map(|n_chars| chars(Alphabet::Hex, n_chars, numbers));
    format!("{a}-{b}-4{c}-a{d}-{e}")
}

fn jwt(numbers: &mut Numbers) -> String {
    let header = base64url(br#"{"alg":"HS256","typ":"JWT"}"#);
    let subject = chars(Alphabet::Digits, 10, numbers);
    let claims = format!(r#"{{"sub":"{subject}","name":"A. Person","iat":17{}}}"#, numbers.below(99_999_999));
    let signature = chars(Alphabet::UrlSafe, 43, numbers);
    format!("{header}.{}.{signature}", base64url(claims.as_bytes()))
}

fn pem(label: &str, n_lines: usize, numbers: &mut Numbers) -> String {
    let (open, close) = (format!("BEGIN {label}PRIVATE"), format!("END {label}PRIVATE"));
    let mut text = format!("-----{open} KEY-----\n");
    for _ in 0..n_lines {
        text.push_str(&chars(Alphabet::Base64, 64, numbers));
        text.push('\n');
    }
    text.push_str(&chars(Alphabet::Base64, 22, numbers));
    text.push_str(&format!("==\n-----{close} KEY-----"));
    text
}

pub(super) fn base64url(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..=chunk.len() {
            let sextet = group >> (18 - 6 * place) & 63;
            text.push(alphabet.get(sextet as usize).map_or('A', |byte| char::from(*byte)));
        }
    }
    text
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

/// Six digits, zeros in front.
fn base62(mut number: u32) -> String {
    let characters = Alphabet::Base62.characters();
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = characters.get(number as usize % 62).copied().unwrap_or(b'0');
        number /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::kinds::KINDS;
    use super::*;

    #[test]
    fn the_same_seed_plants_the_same_and_the_place_is_right() {
        for kind in KINDS {
            for style in [Style::Code, Style::Log, Style::Json] {
                let planting = plant(kind, style, &mut Numbers::new(5));
                assert_eq!(planting, plant(kind, style, &mut Numbers::new(5)), "{}", kind.name);
                let (before, rest) = planting.text.split_at(planting.start);
                let (secret, after) = rest.split_at(planting.end - planting.start);
                assert!(secret.len() >= 14 && after.ends_with('\n'), "{}", kind.name);
                assert!(!before.contains('\n'), "{}", kind.name);
                assert!(!before.to_ascii_lowercase().contains("{name}"), "{before}");
            }
        }
    }

    #[test]
    fn checksums_and_encodings_are_the_known_ones() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(base62(0), "000000");
        assert_eq!(base62(62 * 62 + 61), "00010z");
        assert_eq!(base64url(b"{}"), "e30");
        assert_eq!(base64url(b"light w"), "bGlnaHQgdw");
    }
}
