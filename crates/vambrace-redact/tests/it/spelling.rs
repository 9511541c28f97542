//! Known values in every spelling. The encoders here are naive and know nothing of the redactor's.

use vambrace_redact::{FindingKind, KnownValue, Redactor, RedactorSettings};
use vambrace_types::Secret;

pub(crate) fn redactor(values: &[&str]) -> Redactor {
    let known = |(n, value): (usize, &&str)| KnownValue {
        name: format!("VALUE_{n}"),
        value: Secret::new((*value).to_owned()),
    };
    let known = values.iter().enumerate().map(known).collect();
    Redactor::new(RedactorSettings { known, ..RedactorSettings::default() }).unwrap()
}

fn each(value: &str, write: impl Fn(char) -> String) -> String {
    value.chars().map(write).collect()
}

fn each_byte(bytes: &[u8], write: impl Fn(u8) -> String) -> String {
    bytes.iter().map(|byte| write(*byte)).collect()
}

fn base64(bytes: &[u8], last: &str) -> String {
    let letters: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(last.chars().take(2)).collect();
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let mut text: String = bits
        .chunks(6)
        .map(|six| letters[(0..6).fold(0, |n, at| n * 2 + usize::from(*six.get(at).unwrap_or(&0)))])
        .collect();
    while !text.len().is_multiple_of(4) && last.len() > 2 {
        text.push('=');
    }
    text
}

fn wrapped(text: &str, width: usize, with: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let lines: Vec<String> = chars.chunks(width).map(|line| line.iter().collect()).collect();
    lines.join(with)
}

fn json(value: &str) -> String {
    each(value, |c| match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c => c.to_string(),
    })
}

fn utf16_units(value: &str, write: impl Fn(u16) -> String) -> String {
    value.encode_utf16().map(write).collect()
}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn percent(value: &str, keep: impl Fn(char) -> bool) -> String {
    percent_with(value, keep, |byte| format!("%{byte:02X}"))
}

fn percent_with(value: &str, keep: impl Fn(char) -> bool, write: impl Fn(u8) -> String) -> String {
    each(value, |c| if keep(c) { c.to_string() } else { each_byte(c.to_string().as_bytes(), &write) })
}

/// Every spelling that takes a whole value, by name.
pub(crate) fn spellings(value: &str) -> Vec<(&'static str, String)> {
    let bytes = value.as_bytes();
    let hex = each_byte(bytes, |byte| format!("{byte:02x}"));
    let hex_list =
        |separator: &str| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(separator);
    let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let html = each(value, |c| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    });
    let shell = value.replace('\'', "'\\''");
    let mut all = vec![
        ("plain", value.to_owned()),
        ("json", json(value)),
        ("json twice", json(&json(value))),
        ("json with slashes", json(value).replace('/', "\\/")),
        (
            "json of web pages",
            each(value, |c| {
                if plain(c) { c.to_string() } else { utf16_units(&c.to_string(), |u| format!("\\u{u:04x}")) }
            }),
        ),
        ("all \\u", utf16_units(value, |unit| format!("\\u{unit:04X}"))),
        ("all \\u{}", each(value, |c| format!("\\u{{{:x}}}", u32::from(c)))),
        ("all \\x", each_byte(bytes, |byte| format!("\\x{byte:02x}"))),
        ("octal", each_byte(bytes, |byte| format!("\\{byte:03o}"))),
        ("percent", percent(value, |c| plain(c) || "-_.~".contains(c))),
        ("percent, small", percent_with(value, plain, |byte| format!("%{byte:02x}"))),
        ("percent, partly", percent(value, |c| c != '+' && c != ' ' && c != '"')),
        ("percent, all", each_byte(bytes, |byte| format!("%{byte:02x}"))),
        ("percent twice", percent(&percent(value, plain), plain)),
        ("form", percent(value, |c| plain(c) || c == ' ').replace(' ', "+")),
        ("html", html.clone()),
        ("html twice", html.replace('&', "&amp;")),
        ("html numbers", each(value, |c| format!("&#{};", u32::from(c)))),
        ("html hexadecimal", each(value, |c| format!("&#x{:x};", u32::from(c)))),
        ("shell", shell.clone()),
        ("shell with double quotes", value.replace('\'', "'\"'\"'")),
        (
            "shell in double quotes",
            each(value, |c| if "$`\"\\!".contains(c) { format!("\\{c}") } else { c.to_string() }),
        ),
        (
            "shell with backslashes",
            each(value, |c| if plain(c) || c > '~' { c.to_string() } else { format!("\\{c}") }),
        ),
        ("shell, dollar", value.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")),
        ("shell in json", json(&shell)),
        ("reversed", value.chars().rev().collect()),
        ("hex", hex.clone()),
        ("HEX", hex.to_uppercase()),
        (
            "hEx",
            hex.chars()
                .enumerate()
                .map(|(n, c)| if n % 3 == 0 { c.to_ascii_uppercase() } else { c })
                .collect(),
        ),
        ("hex:", hex_list(":")),
        ("HEX:", hex_list(":").to_uppercase()),
        ("hex ", hex_list(" ")),
        ("hex-", hex_list("-")),
        ("hex, 0x", hex_list(", 0x")),
        ("hex,0x", hex_list(",0x")),
        ("utf-16 in base64", base64(&wide, "+/=")),
        ("soft hyphens", wrapped(value, 3, "\u{ad}")),
        ("zero width", wrapped(value, 1, "\u{200b}")),
        ("joined", wrapped(value, 5, "\u{2060}")),
        ("colors", wrapped(value, 4, "\u{1b}[01;31m\u{1b}[K")),
        ("two halves", wrapped(value, 6, "\" + \"")),
        ("quoted halves", wrapped(value, 4, "\"\"")),
    ];
    for n_before in 0..3 {
        for n_after in [0, 2] {
            let around = [&b"}x{"[..n_before], bytes, &b"}y{"[..n_after]].concat();
            all.push(("base64", base64(&around, "+/=")));
            all.push(("base64url", base64(&around, "-_")));
        }
    }
    let breaks = [
        "\n",
        "\r\n",
        "\n    ",
        "\n\t",
        " \\\n",
        "\\\n  ",
        "=\n",
        "\\n",
        "\\r\\n",
        "%0A",
        "\n> ",
        "\n+",
        "\n# ",
        "\n   12\t",
        "\n12:",
        "\" +\n    \"",
        "\"\n  \"",
        "\n\n",
    ];
    for (n, text) in [value.to_owned(), base64(bytes, "+/="), hex, base64(bytes, "-_")].iter().enumerate() {
        // All breaks for the value itself, the likely ones for the others.
        for with in breaks.iter().take(if n == 0 { breaks.len() } else { 6 }) {
            all.extend([1, 8].map(|width| ("wrapped", wrapped(text, width, with))));
        }
        all.extend([2, 3, 5, 13, 60, 64, 76].map(|width| ("wrapped", wrapped(text, width, "\n"))));
    }
    all.push(("list of bytes, wrapped", wrapped(&hex_list(", 0x"), 12, "").replace(", ", ",\n  ")));
    all.push((
        "hex:, wrapped",
        hex_list(":")
            .chars()
            .enumerate()
            .map(|(n, c)| if n % 15 == 14 { format!("{c}\n    ") } else { c.to_string() })
            .collect(),
    ));
    all
}

/// The output in pieces of a size.
pub(crate) fn streamed(redactor: &Redactor, text: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stream = redactor.stream();
    text.chunks(size).for_each(|chunk| stream.push(chunk, &mut out));
    stream.finish(&mut out);
    out
}

/// Nothing of `spelled` is left in what came out: no eight bytes in a row.
pub(crate) fn left(spelled: &str, shown: &[u8]) -> Option<String> {
    let windows = spelled.as_bytes().windows(8);
    // Padding, and what joins two lines, says nothing.
    let telling = |window: &&[u8]| {
        let mut bytes: Vec<u8> =
            window.iter().copied().filter(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80).collect();
        bytes.sort_unstable();
        bytes.dedup();
        bytes.len() >= 3
    };
    let mut windows = windows.filter(telling);
    windows
        .find(|window| shown.windows(8).any(|eight| eight == *window))
        .map(|w| String::from_utf8_lossy(w).into_owned())
}

fn awkward() -> Vec<String> {
    vec![
        ["Zq9/", "kW+x", "7=Lp"].concat(),
        ["it's \"5%\" & ", "<b>\\ok$`7`"].concat(),
        ["pä$$ wörd €", "漢字 😀 end"].concat(),
        ["\\\\srv\\share\\", "n00b\\x41"].concat(),
        ["%2Bodd%25", "&amp;7"].concat(),
        ["hunter2", "!"].concat(),
        ["correct horse ", "battery staple"].concat(),
        (0..60).map(|n| format!("{:x}Q", n * 7919 % 251)).collect(),
        ["aaaaaaaa", "aaaaaaab"].concat(),
    ]
}

#[test]
fn every_spelling_of_awkward_values_goes() {
    let mut wrong = Vec::new();
    let values = awkward();
    for value in &values {
        let redactor = redactor(&[value]);
        for (name, spelled) in spellings(value) {
            let positions = [("is ", " here\n"), ("", ""), ("\"", "\","), ("x", "x"), ("\n", "\n")];
            let n_positions =
                if name == "wrapped" || name.starts_with("base64") { 1 } else { positions.len() };
            for (before, after) in positions.into_iter().take(n_positions) {
                let text = format!("{before}{spelled}{after}");
                let shown = redactor.text(&text).value;
                if let Some(left) = left(&spelled, shown.as_str().as_bytes()) {
                    wrong.push(format!("{name}: {left:?} is left of {text:?}: {:?}", shown.as_str()));
                    continue;
                }
                assert_eq!(
                    redactor.text(shown.as_str()).value,
                    shown,
                    "{name}: twice is not once for {text:?}"
                );
                let findings = redactor.scan(text.as_bytes());
                assert!(
                    findings.iter().all(|finding| finding.kind == FindingKind::Known),
                    "{name}: {text:?}"
                );
                assert!(!findings.is_empty(), "{name}: {text:?}");
                let whole = streamed(&redactor, text.as_bytes(), 64 * 1024);
                let size = if text.len() < 80 { 1 } else { 7 };
                let pieces = streamed(&redactor, text.as_bytes(), size);
                assert_eq!(
                    String::from_utf8_lossy(&pieces),
                    String::from_utf8_lossy(&whole),
                    "{name} in pieces of {size}: {text:?}"
                );
                if let Some(left) = self::left(&spelled, &whole) {
                    wrong.push(format!("{name}, streamed: {left:?} is left of {text:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn a_value_of_several_lines_goes_whole_and_line_by_line() {
    let line =
        |n: usize| -> String { (0..16).map(|k| format!("{:03}z", (n * 7919 + k * 104_729) % 997)).collect() };
    let label = ["PRIVATE", "THING"].join(" ");
    let lines: Vec<String> = (1..12).map(line).collect();
    let value = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"));
    let redactor = redactor(&[&value, &lines.join("\\n")]);
    for text in [
        value.clone(),
        value.replace('\n', "\r\n"),
        value.replace('\n', "\n    "),
        json(&value),
        json(&json(&value)),
        value.replace('\n', "\n+"),
    ] {
        let shown = redactor.text(&text).value.into_string();
        assert!(lines.iter().all(|line| left(line, shown.as_bytes()).is_none()), "{text:?} gives {shown:?}");
        assert!(!shown.contains("END"), "{shown:?}");
    }
    let alone = redactor.text(&format!("see {} there", lines[4])).value.into_string();
    assert_eq!(alone, "see [REDACTED:env-value-0] there");
}

#[test]
fn a_long_value_goes_with_a_wrap_anywhere() {
    let value: String = (0..400).map(|n| format!("{:x}Q", n * 7919 % 4093)).collect();
    let redactor = redactor(&[&value]);
    for at in [1, 5, 250, 256, 700, value.len() - 2] {
        let (head, tail) = value.split_at(at);
        let shown = redactor.text(&format!("a{head}\n  {tail}b")).value.into_string();
        assert_eq!(left(&value, shown.as_bytes()), None, "{shown:?}");
        assert!(shown.starts_with("a[REDACTED:") && shown.ends_with("]b"), "{shown:?}");
    }
    let encoded = base64(value.as_bytes(), "+/=");
    assert_eq!(redactor.text(&encoded).value.as_str(), "[REDACTED:env-value-0]");
}

#[test]
fn text_that_only_resembles_a_value_stays() {
    let redactor =
        redactor(&[&["Zq9/", "kW+x", "7=Lp"].concat(), &["correct horse ", "battery staple"].concat()]);
    for text in [
        "Zq9/kW+x7=L p",
        "Zq9/kW+x\n7=L",
        "Zq9/kW%2Bx7%3DLq",
        "Zq9/\n\n\n\n\n\n\n\nkW+x7=Lp",
        "correct horse battery\n  stable",
        "correct horse, battery staple",
        "Q3%0A%0A \\\\\\\\ %% && &#; &#x; &amp \\u00 \\u{ \\x4 %u00",
    ] {
        assert_eq!(redactor.text(text).value.as_str(), text);
        assert_eq!(streamed(&redactor, text.as_bytes(), 1), text.as_bytes());
    }
}
