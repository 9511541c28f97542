//! What a `style` attribute hides.
//!
//! One declaration that hides is enough, whatever stands behind it: text that is lost does less harm than text
//! that only the agent reads.
//! LIMIT: text in the colour of its background, and text under something else, are not seen to be hidden.

/// So far out that nobody scrolls there.
const OFF_SCREEN: f64 = -999.0;
/// The same in units of which a screen is a few dozen to a hundred.
const OFF_SCREEN_LARGE_UNIT: f64 = -100.0;
const FAR_RIGHT: f64 = 5000.0;
/// Less than this, and nobody sees it.
const FAINT: f64 = 0.05;

pub(super) fn style_hides(style: &[u8]) -> bool {
    let plain = plain(&String::from_utf8_lossy(style));
    let (mut has_no_size, mut cuts) = (false, false);
    for declaration in plain.split(';') {
        let Some((name, value)) = declaration.split_once(':') else { continue };
        let (name, value) = (name.trim(), value.split('!').next().unwrap_or_default().trim());
        if hides(name, value) {
            return true;
        }
        has_no_size |=
            matches!(name, "width" | "height" | "max-width" | "max-height") && is_at_most_a_dot(value);
        cuts |=
            matches!(name, "overflow" | "overflow-x" | "overflow-y" | "overflow-block" | "overflow-inline")
                && (value.contains("hidden") || value.contains("clip"));
    }
    has_no_size && cuts
}

/// What a `width` or `height` attribute says.
pub(super) fn is_no_size(value: &[u8]) -> bool {
    is_zero(&String::from_utf8_lossy(value))
}

fn hides(name: &str, value: &str) -> bool {
    match name {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" => is_faint(value),
        "font-size" => is_at_most_a_dot(value),
        // The size is what stands before a slash; nothing else in it can be zero.
        "font" => value.split(' ').any(|word| is_zero(word.split('/').next().unwrap_or_default())),
        "left"
        | "top"
        | "right"
        | "bottom"
        | "text-indent"
        | "margin"
        | "margin-left"
        | "margin-top"
        | "margin-right"
        | "margin-inline-start"
        | "margin-block-start"
        | "inset"
        | "inset-inline-start"
        | "inset-block-start"
        | "inset-inline"
        | "inset-block"
        | "translate" => words(value).any(is_off_screen),
        "clip" => calls(value).any(|(function, arguments)| function == "rect" && rect_is_empty(arguments)),
        "clip-path" | "-webkit-clip-path" => {
            calls(value).any(|(function, arguments)| shape_is_empty(function, arguments))
        }
        "scale" | "zoom" => words(value).any(is_zero),
        "transform" | "-webkit-transform" => calls(value).any(|(function, arguments)| {
            (function.starts_with("scale") && words(arguments).any(is_zero))
                || (function.starts_with("translate") && words(arguments).any(is_off_screen))
        }),
        "filter" => calls(value).any(|(function, arguments)| {
            function == "opacity" && !arguments.is_empty() && is_faint(arguments)
        }),
        "color" | "-webkit-text-fill-color" => is_transparent(value),
        _ => false,
    }
}

/// Lower case, without comments, escapes and what stands in quotes or in `url()`; one space for many.
fn plain(style: &str) -> String {
    let mut out = String::with_capacity(style.len());
    let mut rest = style.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                let mut before = ' ';
                for c in rest.by_ref() {
                    if (before, c) == ('*', '/') {
                        break;
                    }
                    before = c;
                }
            }
            '\\' => out.extend(escaped(&mut rest).map(|c| c.to_ascii_lowercase())),
            '"' | '\'' => skip(&mut rest, |end| end == c || matches!(end, '\n' | '\r' | '\u{c}')),
            '(' => {
                out.push('(');
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if ends_with_url(&out) && !matches!(rest.peek(), Some('"' | '\'')) {
                    skip(&mut rest, |end| end == ')');
                    out.push(')');
                }
            }
            c if c.is_ascii_whitespace() => {
                if !out.ends_with([' ', ':', '(']) {
                    out.push(' ');
                }
            }
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The character that is meant by what stands behind a backslash.
fn escaped(rest: &mut Rest<'_>) -> Option<char> {
    let mut code = 0;
    let mut n_digits = 0;
    while n_digits < 6
        && let Some(digit) = rest.peek().and_then(|c| c.to_digit(16))
    {
        rest.next();
        code = code * 16 + digit;
        n_digits += 1;
    }
    if n_digits == 0 {
        return rest.next().filter(|c| *c != '\n');
    }
    rest.next_if(char::is_ascii_whitespace);
    char::from_u32(code)
}

fn skip(rest: &mut Rest<'_>, is_end: impl Fn(char) -> bool) {
    while let Some(c) = rest.next() {
        if c == '\\' {
            rest.next();
        } else if is_end(c) {
            break;
        }
    }
}

/// `url(`, and not the end of a longer name.
fn ends_with_url(out: &str) -> bool {
    let before = out.strip_suffix("url(").map(|before| before.chars().next_back());
    match before {
        None => false,
        Some(None) => true,
        Some(Some(c)) => c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'),
    }
}

/// A number at the start, and its unit.
fn number(word: &str) -> Option<(f64, &str)> {
    let word = word.trim().trim_start_matches("calc(");
    let mut n_bytes = 0;
    let mut bytes = word.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let is_sign = matches!(byte, b'+' | b'-') && n_bytes == 0;
        // `0e5` is a number, `0em` is not one so far.
        let is_exponent = byte == b'e' && n_bytes > 0 && bytes.peek().is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_digit() || byte == b'.' || is_sign || is_exponent) {
            break;
        }
        n_bytes += 1;
    }
    let (digits, unit) = word.split_at_checked(n_bytes)?;
    Some((digits.parse().ok()?, unit.trim_end_matches(')').trim()))
}

fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', ',']).filter(|word| !word.is_empty())
}

/// Functions and what they are called with.
fn calls(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split(')').filter_map(|call| {
        let (function, arguments) = call.split_once('(')?;
        Some((function.rsplit(' ').next().unwrap_or_default(), arguments))
    })
}

fn is_zero(word: &str) -> bool {
    number(word).is_some_and(|(n, _)| n.abs() < 1e-6)
}

fn is_at_most_a_dot(word: &str) -> bool {
    number(word).is_some_and(|(n, unit)| n < 1e-6 || (matches!(unit, "px" | "pt") && n <= 1.0))
}

fn is_faint(word: &str) -> bool {
    number(word).is_some_and(|(n, unit)| n < if unit == "%" { FAINT * 100.0 } else { FAINT })
}

fn is_off_screen(word: &str) -> bool {
    number(word).is_some_and(|(n, unit)| {
        let is_small_unit = matches!(unit, "" | "px" | "pt");
        n <= if is_small_unit { OFF_SCREEN } else { OFF_SCREEN_LARGE_UNIT } || n >= FAR_RIGHT
    })
}

/// Top, right, bottom, left.
fn rect_is_empty(arguments: &str) -> bool {
    let edges: Vec<Option<f64>> = words(arguments).take(5).map(|word| number(word).map(|(n, _)| n)).collect();
    match edges.as_slice() {
        [top, right, bottom, left] => {
            let is_empty = |near: &Option<f64>, far: &Option<f64>| match (near.unwrap_or(0.0), far) {
                (near, Some(far)) => *far <= near + 1.0,
                // `auto` is the far edge itself.
                (_, None) => false,
            };
            is_empty(top, bottom) || is_empty(left, right)
        }
        _ => words(arguments).all(is_zero),
    }
}

fn shape_is_empty(function: &str, arguments: &str) -> bool {
    let far = |word: &str, most: f64| number(word).is_some_and(|(n, unit)| unit == "%" && n >= most);
    let n_words = words(arguments).count();
    match function {
        // One number counts for opposite edges.
        "inset" if n_words <= 2 => words(arguments).any(|word| far(word, 50.0)),
        "inset" => words(arguments).any(|word| far(word, 100.0)),
        "rect" => rect_is_empty(arguments),
        "circle" | "ellipse" => words(arguments).next().is_some_and(is_zero),
        "polygon" => n_words > 0 && words(arguments).all(is_zero),
        _ => false,
    }
}

fn is_transparent(value: &str) -> bool {
    if let Some(digits) = value.strip_prefix('#') {
        return match digits.len() {
            4 => digits.ends_with('0'),
            8 => digits.ends_with("00"),
            _ => false,
        };
    }
    let alpha_is_zero = |arguments: &str| {
        let parts: Vec<&str> = arguments.split([' ', ',', '/']).filter(|part| !part.is_empty()).collect();
        parts.get(3).is_some_and(|alpha| is_faint(alpha))
    };
    value == "transparent" || calls(value).any(|(_, arguments)| alpha_is_zero(arguments))
}
