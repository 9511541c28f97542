//! The value of `Content-Type`, as far as it matters here.

pub(super) struct MediaType {
    /// `type/subtype`, in lower case.
    essence: String,
    /// As given; the label may mean nothing.
    pub(super) charset: Option<String>,
}

/// Which of specification 000's three rules holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Html,
    Other,
}

impl MediaType {
    pub(super) fn parse(header: &str) -> MediaType {
        let mut parts = Parts { rest: header };
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| unquoted(value.trim()))
        });
        MediaType { essence, charset }
    }

    pub(super) fn kind(&self) -> Kind {
        let essence = self.essence.as_str();
        match essence {
            "application/json" | "text/json" => Kind::Json,
            "text/html" | "application/xhtml+xml" => Kind::Html,
            _ if essence.ends_with("+json") && essence.contains('/') => Kind::Json,
            _ => Kind::Other,
        }
    }
}

/// What stands between semicolons; one inside quotes divides nothing.
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let mut quoted = false;
        let mut escaped = false;
        let divides = |c: char| {
            let plain = !std::mem::take(&mut escaped);
            match c {
                '"' if plain => quoted = !quoted,
                '\\' if plain && quoted => escaped = true,
                _ => {}
            }
            c == ';' && !quoted
        };
        let (part, rest) = self.rest.split_once(divides).unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(part)
    }
}

/// Servers quote with either sign, and sometimes forget the second.
fn unquoted(value: &str) -> String {
    value.trim_matches(['"', '\'']).chars().filter(|c| *c != '\\').collect()
}
