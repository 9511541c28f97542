//! `{{name}}` in the operator's templates, filled from arguments that fit the schema and escaped for the place where they
//! land. What comes out is never read as a template again.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use vambrace_policy::url::{UrlRefusal, Voice, WebUrl};
use vambrace_types::{ErrorCode, ToolError};

use super::refused;

/// A template cut into text and names, once.
#[derive(Debug, Clone)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(String),
}

/// Where a value lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Json,
    Form,
    Markup,
    Plain,
}

impl Place {
    /// By the content type that the operator sets, or by the look of the template.
    pub(super) fn of(content_type: Option<&str>, template: &str) -> Place {
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match essence.as_str() {
            "" if template.trim_start().starts_with(['{', '[']) => Place::Json,
            "application/x-www-form-urlencoded" => Place::Form,
            json if json.ends_with("json") => Place::Json,
            markup if markup.ends_with("xml") || markup.ends_with("html") => Place::Markup,
            _ => Place::Plain,
        }
    }
}

/// The address of a declared request with something harmless in every place, for whoever checks the declaration.
pub fn sample_url(template: &str) -> Result<WebUrl, UrlRefusal> {
    WebUrl::parse(&Template::parse(template).fill(&Map::new(), |_, _| "x".to_owned()))
}

impl Template {
    /// Names are words; what is not one, such as `{{}}` or `{{a b}}`, is text.
    pub(super) fn parse(text: &str) -> Template {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let found = after.split_once("}}").filter(|(name, _)| is_name(name.trim()));
            match found {
                Some((name, behind)) => {
                    plain.push_str(before);
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(Part::Field(name.trim().to_owned()));
                    rest = behind;
                }
                None => {
                    plain.push_str(before);
                    plain.push('{');
                    // The second brace may begin another pair.
                    rest = rest.get(before.len() + 1..).unwrap_or_default();
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Template(parts)
    }

    fn fill(
        &self,
        arguments: &Map<String, Value>,
        mut escape: impl FnMut(&str, Option<&Value>) -> String,
    ) -> String {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(name) => {
                    let escaped = escape(&out, arguments.get(name));
                    out.push_str(&escaped);
                }
            }
        }
        out
    }

    /// INVARIANT: a value decides neither where the request goes nor which part of the path it is: it is one piece of it.
    pub(super) fn url(&self, arguments: &Map<String, Value>) -> Result<WebUrl, ToolError> {
        let mut wrong = None;
        let filled = self.fill(arguments, |before, value| {
            let text = plain(value);
            if in_authority(before) {
                let is_label = !text.is_empty() && text.len() <= 63;
                if !is_label || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                    wrong = Some("a part of the host's name is letters, digits and `-`");
                }
                return text;
            }
            // THREAT: P05, servers undo `%2F` before they look at the path, and `..` then leads out of it.
            if is_path(before) && (text.is_empty() || leads_out(&text)) {
                wrong = Some("a part of a path is neither empty nor `.` nor `..`");
            }
            percent(&text)
        });
        let sample = self.fill(arguments, |before, value| match in_authority(before) {
            true => plain(value),
            false => "x".to_owned(),
        });
        if let Some(why) = wrong {
            return Err(misplaced(why));
        }
        let unreadable = |refusal| refused(refusal, Voice::Seed000);
        let (url, sample) =
            (WebUrl::parse(&filled).map_err(unreadable)?, WebUrl::parse(&sample).map_err(unreadable)?);
        let n_segments = |url: &WebUrl| url.path().split('/').count();
        // `..` and its spellings make the path shorter than the template's.
        match n_segments(&url) == n_segments(&sample) && url.same_origin(&sample) {
            true => Ok(url),
            false => Err(misplaced("it would lead to another place than the tool's")),
        }
    }

    pub(super) fn header(&self, name: &str, arguments: &Map<String, Value>) -> Result<String, ToolError> {
        let filled = self.fill(arguments, |_, value| plain(value));
        match filled.chars().any(|letter| letter.is_control() && letter != '\t') {
            false => Ok(filled),
            true => {
                Err(invalid(&format!("A value cannot stand in the header `{name}`: it holds a line end.")))
            }
        }
    }

    pub(super) fn body(&self, place: Place, arguments: &Map<String, Value>) -> String {
        self.fill(arguments, |before, value| match place {
            Place::Json if in_string(before) => quoted(&plain(value)),
            Place::Json => value.map_or_else(|| "null".to_owned(), Value::to_string),
            Place::Form => percent(&plain(value)),
            Place::Markup => markup(&plain(value)),
            Place::Plain => plain(value),
        })
    }
}

fn misplaced(why: &str) -> ToolError {
    invalid(&format!("A value cannot stand in the address: {why}."))
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorCode::ValidationError, message)
        .suggestion("Send a plain value, as the tool's schema describes it.")
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

/// Text as it is, everything else as JSON writes it; nothing for what was left out.
fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Everything but the letters that mean nothing in a URL.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _written = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The inside of a JSON string.
fn quoted(text: &str) -> String {
    let whole = Value::String(text.to_owned()).to_string();
    whole.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Whether what follows still belongs to scheme, host or port.
fn in_authority(before: &str) -> bool {
    match before.split_once("://") {
        None => true,
        Some((_, rest)) => !rest.contains(['/', '?', '#', '\\']),
    }
}

/// Whether somebody on the other side could read a step upwards in it: servers undo percent signs, cut at `;` and know other
/// signs for a dot and a slash.
fn leads_out(value: &str) -> bool {
    let is_dot = |letter: char| matches!(letter, '.' | '\u{ff0e}' | '\u{2024}' | '\u{3002}');
    let is_end =
        |letter: char| matches!(letter, '/' | '\\' | ';' | '\u{ff0f}' | '\u{ff3c}' | '\u{2215}' | '\u{2044}');
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    value.split(is_end).any(|part| {
        let part = part.trim_matches(is_blank);
        !part.is_empty() && part.chars().all(is_dot)
    })
}

/// Whether what follows belongs to the path.
fn is_path(before: &str) -> bool {
    !before.contains(['?', '#'])
}

/// Whether a JSON text ends inside a string.
fn in_string(before: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for letter in before.chars() {
        match (inside, escaped, letter) {
            (true, true, _) => escaped = false,
            (true, false, '\\') => escaped = true,
            (_, false, '"') => inside = !inside,
            (true | false, _, _) => {}
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[track_caller]
    fn check_url(template: &str, value: Value, expected: Option<&str>) {
        let filled = Template::parse(template).url(&arguments(value.clone())).ok();
        assert_eq!(filled.as_ref().map(WebUrl::as_str), expected, "{template} {value}");
    }

    #[test]
    fn a_value_is_one_piece_of_the_address() {
        let path = "https://api.example.com/v1/{{city}}/now";
        check_url(path, json!({"city": "Bern"}), Some("https://api.example.com/v1/Bern/now"));
        check_url(path, json!({"city": "a/b?c#d"}), Some("https://api.example.com/v1/a%2Fb%3Fc%23d/now"));
        check_url(path, json!({"city": "Zürich"}), Some("https://api.example.com/v1/Z%C3%BCrich/now"));
        check_url(path, json!({"city": ".."}), None);
        check_url(path, json!({"city": "."}), None);
        check_url(path, json!({"city": "../../admin"}), None);
        check_url(path, json!({"city": "a\\..\\b"}), None);
        check_url(path, json!({"city": "..;/admin"}), None);
        check_url(path, json!({"city": ".. /admin"}), None);
        check_url(path, json!({"city": "\u{ff0e}\u{ff0e}\u{ff0f}admin"}), None);
        check_url(path, json!({"city": "a..b"}), Some("https://api.example.com/v1/a..b/now"));
        check_url(path, json!({}), None);
        check_url("https://h.example/v1/{{x}}", json!({"x": "."}), None);
        check_url("https://h.example/v1/{{x}}", json!({"x": ""}), None);
        check_url(path, json!({"city": "%2e%2e"}), Some("https://api.example.com/v1/%252e%252e/now"));
        check_url(
            "https://h.example/?q={{q}}",
            json!({"q": "a&b=c"}),
            Some("https://h.example/?q=a%26b%3Dc"),
        );
        check_url("https://h.example/?q={{q}}", json!({}), Some("https://h.example/?q="));
        check_url("https://h.example/{{n}}", json!({"n": 7}), Some("https://h.example/7"));
        check_url("https://{{r}}.h.example/", json!({"r": "eu-1"}), Some("https://eu-1.h.example/"));
        check_url("https://{{r}}.h.example/", json!({"r": "evil.com/"}), None);
        check_url("https://{{r}}.h.example/", json!({"r": "evil.com#"}), None);
        check_url("https://h.example:{{p}}/", json!({"p": "80@evil.com"}), None);
        check_url("{{u}}", json!({"u": "http://evil.com"}), None);
        check_url("{{u}}://h.example/", json!({"u": "file"}), None);
    }

    #[track_caller]
    fn check_body(content_type: Option<&str>, template: &str, value: Value, expected: &str) {
        let filled = Template::parse(template).body(Place::of(content_type, template), &arguments(value));
        assert_eq!(filled, expected, "{template}");
    }

    #[test]
    fn a_value_is_escaped_for_its_place() {
        let quote = json!({"x": "a\"b\\c\n{{y}}", "y": "no"});
        check_body(None, "{\"t\": \"{{x}}\"}", quote.clone(), "{\"t\": \"a\\\"b\\\\c\\n{{y}}\"}");
        check_body(None, "{\"t\": {{x}}}", quote.clone(), "{\"t\": \"a\\\"b\\\\c\\n{{y}}\"}");
        check_body(None, "{\"t\": {{x}}}", json!({"x": [1, {"a": 2}]}), "{\"t\": [1,{\"a\":2}]}");
        check_body(None, "{\"t\": {{x}}}", json!({}), "{\"t\": null}");
        check_body(None, "{\"t\": \"\\\"{{x}}\"}", json!({"x": "\""}), "{\"t\": \"\\\"\\\"\"}");
        check_body(
            Some("application/x-www-form-urlencoded"),
            "a={{x}}",
            json!({"x": "1&b=2"}),
            "a=1%26b%3D2",
        );
        check_body(Some("application/xml"), "<a>{{x}}</a>", json!({"x": "<b>"}), "<a>&lt;b&gt;</a>");
        check_body(Some("text/plain"), "{{x}}", quote, "a\"b\\c\n{{y}}");
    }

    #[test]
    fn what_is_no_name_is_text() {
        let same = |text: &str| assert_eq!(Template::parse(text).body(Place::Plain, &Map::new()), text);
        same("{{}} {{a b}} {{a");
        same("}} {{{ }");
        let filled = Template::parse("{{{x}}}").body(Place::Plain, &arguments(json!({"x": 1})));
        assert_eq!(filled, "{1}");
    }

    #[test]
    fn a_header_is_one_line() {
        let header = |value: &str| Template::parse("v {{x}}").header("X-A", &arguments(json!({"x": value})));
        assert_eq!(header("a").ok().as_deref(), Some("v a"));
        assert!(header("a\r\nHost: b").is_err() && header("a\0").is_err());
    }
}
