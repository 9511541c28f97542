//! A recipe for a text and its chunks, and what must hold for every one.
//!
//! Its first line holds the sizes of the chunks, in turn. Every other line adds to the text: `=name` an ingredient, `*9 =nl` nine
//! times the line after the space, `x0aff` bytes in hexadecimal, and any other line itself, without its end. So no file of
//! recipes holds anything that looks like a secret. Also used by the fuzz target, so it knows only the public face.

use std::sync::OnceLock;

use vambrace_redact::{KnownValue, Redactor, RedactorSettings, StreamStats};
use vambrace_types::Secret;

/// Longer texts only make a search slow.
const LONGEST: usize = 256 * 1024;

pub(crate) fn values() -> [String; 3] {
    [
        ["kn0wn value", "/ä\"9'$x"].concat(),
        ["zz-plain", "-known-zz"].concat(),
        (0..90).map(|n| format!("{:x}Q", n * 7919 % 4093)).collect(),
    ]
}

/// Ingredients by name.
pub(crate) fn ingredient(name: &str) -> Option<Vec<u8>> {
    let [odd, plain, long] = values();
    let escaped = |text: &str, write: fn(u8) -> String| text.bytes().map(write).collect::<String>();
    let wrapped = |text: &str, width: usize, with: &str| {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(width).map(String::from_iter).collect::<Vec<_>>().join(with)
    };
    let label = ["PRIVATE", "KEY"].join(" ");
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    let text = match name {
        "nl" => "\n".to_owned(),
        "cr" => "\r\n".to_owned(),
        "odd" => odd,
        "plain" => plain,
        "long" => long,
        "odd-json" => odd.replace('"', "\\\""),
        "odd-percent" => escaped(&odd, |byte| format!("%{byte:02X}")),
        "odd-unicode" => odd.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        "odd-html" => odd.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
        "odd-shell" => odd.replace('\'', "'\\''"),
        "odd-hex" => escaped(&odd, |byte| format!("{byte:02x}")),
        "odd-list" => escaped(&odd, |byte| format!("0x{byte:02x}, ")),
        "plain-lines" => wrapped(&plain, 5, "\n"),
        "plain-column" => wrapped(&plain, 1, "\n    "),
        "plain-joined" => wrapped(&plain, 7, "\" +\n  \""),
        "plain-unseen" => wrapped(&plain, 2, "\u{200b}"),
        "long-lines" => wrapped(&long, 60, "\r\n"),
        "long-wide" => wrapped(&long, 3, &format!("\n{}", " ".repeat(60))),
        "forge-token" => ["ghp", "_", &"a1B2".repeat(9)].concat(),
        "web-token" => {
            ["eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".", "c2lnbmF0dXJlLWhlcmU"]
                .concat()
        }
        "key-begin" => format!("-----BEGIN {label}-----\n"),
        "key-body" => body.repeat(4),
        "key-end" => format!("-----END {label}-----"),
        "assignment" => ["pass", "word = \"", "Plum", "Trio", "77xK", "\""].concat(),
        "placeholder" => "[REDACTED:env-odd]".to_owned(),
        "corporate" => "corp-123456".to_owned(),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// The names of all ingredients.
pub(crate) const INGREDIENTS: [&str; 29] = [
    "nl",
    "cr",
    "odd",
    "plain",
    "long",
    "odd-json",
    "odd-percent",
    "odd-unicode",
    "odd-html",
    "odd-shell",
    "odd-hex",
    "odd-list",
    "plain-lines",
    "plain-column",
    "plain-joined",
    "plain-unseen",
    "long-lines",
    "long-wide",
    "forge-token",
    "web-token",
    "key-begin",
    "key-body",
    "key-end",
    "assignment",
    "placeholder",
    "corporate",
    "nl",
    "nl",
    "nl",
];

fn expand(line: &[u8], text: &mut Vec<u8>) {
    match (line.split_first(), std::str::from_utf8(line)) {
        (Some((b'=', _)), Ok(name)) => {
            text.extend(name.strip_prefix('=').and_then(ingredient).unwrap_or_else(|| line.to_vec()));
        }
        (Some((b'*', rest)), _) => {
            let mut parts = rest.splitn(2, |byte| *byte == b' ');
            let count = parts.next().and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok());
            let mut unit = Vec::new();
            let line = parts.next().unwrap_or_default();
            if line.first() == Some(&b'*') {
                unit.extend_from_slice(line);
            } else {
                expand(line, &mut unit);
            }
            let most = LONGEST / unit.len().max(1);
            text.extend(unit.repeat(count.unwrap_or(1).min(most)));
        }
        (Some((b'x', digits)), Ok(_))
            if digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit) =>
        {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            text.extend(digits.chunks(2).filter_map(byte));
        }
        _ => text.extend_from_slice(line),
    }
    text.truncate(LONGEST);
}

fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Option<Redactor>> = OnceLock::new();
    let made = REDACTOR.get_or_init(|| {
        let known = ["ODD", "PLAIN", "LONG"].into_iter().zip(values());
        let known = known
            .map(|(name, value)| KnownValue { name: name.to_owned(), value: Secret::new(value) })
            .collect();
        let patterns = vec!["corp-[0-9]{6}".to_owned()];
        Redactor::new(RedactorSettings { known, patterns, ..RedactorSettings::default() }).ok()
    });
    match made {
        Some(redactor) => redactor,
        None => panic!("the redactor of the recipes cannot be made"),
    }
}

fn run(text: &[u8], sizes: &[usize]) -> (Vec<u8>, StreamStats) {
    let mut out = Vec::new();
    let mut stream = redactor().stream();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, others) = rest.split_at((*size).clamp(1, rest.len()));
        stream.push(chunk, &mut out);
        rest = others;
    }
    let stats = stream.finish(&mut out);
    (out, stats)
}

/// Any chunking gives the same output; twice gives the same as once; text without a finding, valid or not, passes.
pub(crate) fn check(recipe: &[u8]) -> Result<(), String> {
    let mut lines = recipe.split(|byte| *byte == b'\n');
    let sizes = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut sizes: Vec<usize> = sizes.split_whitespace().filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.push(1);
    }
    let mut text = Vec::new();
    lines.for_each(|line| expand(line, &mut text));
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let (whole, stats) = run(&text, &[text.len()]);
    let (pieces, other_stats) = run(&text, &sizes);
    if pieces != whole || stats != other_stats {
        let (text, whole, pieces) = (shown(&text), shown(&whole), shown(&pieces));
        return Err(format!("{text}\nwhole gives\n{whole}\nand in {sizes:?}\n{pieces}"));
    }
    let (twice, _) = run(&whole, &[whole.len()]);
    if twice != whole {
        return Err(format!("{}\nonce gives\n{}\nand twice\n{}", shown(&text), shown(&whole), shown(&twice)));
    }
    if stats.n_redactions == 0 && whole != text {
        return Err(format!("{}\nhas no finding and gives\n{}", shown(&text), shown(&whole)));
    }
    Ok(())
}
