//! Credentials that no agent holds: which secret goes into which request.

use super::{HostPattern, Scheme, WebUrl, is_method, is_ours, is_token, is_value};

/// Where a credential may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub scheme: Scheme,
    pub host: HostPattern,
    /// None: the scheme's own.
    pub port: Option<u16>,
    /// The beginning of the path, whole segments: `/api` is `/api` and `/api/x`, not `/apix`.
    pub path: String,
    /// Upper case. Empty: GET and HEAD.
    pub methods: Vec<String>,
}

/// A declared secret bound to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Its name in `secrets.env`.
    pub secret: String,
    pub place: Place,
    pub header: String,
    /// The header's value; `{secret}` is replaced by the value.
    pub format: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingError {
    pub why: &'static str,
}

impl Binding {
    /// What a place or a header cannot be.
    pub fn check(&self) -> Result<(), BindingError> {
        let wrong = |why| Err(BindingError { why });
        if self.secret.is_empty() {
            return wrong("`secret` is empty");
        }
        if !is_token(&self.header) {
            return wrong("`header` is not the name of a header");
        }
        if is_ours(&self.header) {
            return wrong("`header` says where the request goes or ends, which no secret does");
        }
        if self.format.matches(SLOT).count() != 1 {
            return wrong("`format` does not hold `{secret}` exactly once");
        }
        if !is_value(&self.format) {
            return wrong("`format` has more than one line");
        }
        if self.place.port == Some(0) {
            return wrong("`port` is 0");
        }
        if !self.place.methods.iter().all(|method| is_method(method)) {
            return wrong("`methods` has one that is not a method");
        }
        if !self.place.path.starts_with('/') {
            return wrong("`path` does not begin with `/`");
        }
        // A URL's path as it is sent, or it would never be met.
        if !self.place.path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte)) {
            return wrong("`path` has a character that stands in no path; write it percent-encoded");
        }
        if is_ambiguous(&self.place.path) {
            return wrong("`path` has `..`, `//`, a backslash, or an encoded slash or dot");
        }
        Ok(())
    }

    /// Whether a request to this URL by this method carries it.
    pub fn covers(&self, method: &str, url: &WebUrl) -> bool {
        let place = &self.place;
        let is_method = match place.methods.as_slice() {
            [] => matches!(method, "GET" | "HEAD"),
            own => own.iter().any(|own| own == method),
        };
        is_method
            && place.scheme == url.scheme()
            && place.host.matches(url.host())
            && place.port.unwrap_or(place.scheme.default_port()) == url.port()
            && covers_path(&place.path, url.path())
    }
}

const SLOT: &str = "{secret}";

fn covers_path(place: &str, path: &str) -> bool {
    let place = place.trim_end_matches('/');
    // The whole host: however the server reads the path, it is there.
    if place.is_empty() {
        return true;
    }
    let rest = path.strip_prefix(place);
    !is_ambiguous(path) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// THREAT: P02, `/api/..%2fadmin` begins with `/api` for us and is `/admin` for a server that decodes first.
/// Whether one does cannot be known, so such a request goes without the credential.
fn is_ambiguous(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    // Some servers cut `;…`, blanks or what cannot be shown off each part before they look at it.
    let is_dots = |part: &str| {
        let rest = part.trim_start_matches('.');
        let is_cut = |first: char| first == '%' || first == ';' || first == ' ' || first.is_control();
        rest.len() < part.len() && (rest.is_empty() || rest.starts_with(is_cut))
    };
    // `%u002f` and the too long forms of UTF-8 (`%c0%af`, `%e0%80%af`) are a slash for some.
    ["%2e", "%2f", "%5c", "%25", "%00", "%u", "%c0", "%c1", "%e0%80", "//", "\\"]
        .iter()
        .any(|odd| lower.contains(odd))
        || lower.split('/').any(is_dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding() -> Binding {
        Binding {
            secret: "TOKEN".to_owned(),
            place: Place {
                scheme: Scheme::Https,
                host: HostPattern::parse("api.example.com").unwrap(),
                port: None,
                path: "/v1".to_owned(),
                methods: Vec::new(),
            },
            header: "Authorization".to_owned(),
            format: "Bearer {secret}".to_owned(),
        }
    }

    #[track_caller]
    fn check(method: &str, url: &str, expected: bool) {
        assert_eq!(binding().covers(method, &WebUrl::parse(url).unwrap()), expected, "{method} {url}");
    }

    #[test]
    fn a_secret_goes_to_its_place_only() {
        check("GET", "https://api.example.com/v1", true);
        check("HEAD", "https://api.example.com/v1/", true);
        check("GET", "https://API.example.com.:443/v1/a/b?q=..%2f#x", true);
        check("GET", "https://api.example.com/v2/../v1/a", true);
        check("POST", "https://api.example.com/v1", false);
        check("get", "https://api.example.com/v1", false);
        check("GET", "http://api.example.com/v1", false);
        check("GET", "http://api.example.com:443/v1", false);
        check("GET", "https://api.example.com:8443/v1", false);
        check("GET", "https://a.api.example.com/v1", false);
        check("GET", "https://example.com/v1", false);
        check("GET", "https://api.example.com/", false);
        check("GET", "https://api.example.com/v1x", false);
        check("GET", "https://api.example.com/V1", false);
        check("GET", "https://api.example.com/%761", false);
        check("GET", "https://api.example.com/v1/../v2", false);
        check("GET", "https://api.example.com/v1/%2e%2e/v2", false);
        check("GET", "https://api.example.com/v1/..%2fv2", false);
        check("GET", "https://api.example.com/v1/..%5Cv2", false);
        check("GET", "https://api.example.com/v1/..%252fv2", false);
        check("GET", "https://api.example.com/v1/..;/v2", false);
        for odd in [
            "..%20/v2",
            "..%09/v2",
            "..%0d/v2",
            "..%3b/v2",
            "..;x=y/v2",
            ".%20/v2",
            "...%20/v2",
            ".../v2",
            ".. /v2",
            "%u002e%u002e/v2",
            "..%u2215v2",
            "%c0%ae%c0%ae/v2",
            "..%C0%AFv2",
            "..%c1%9cv2",
            "a%e0%80%afv2",
        ] {
            check("GET", &format!("https://api.example.com/v1/{odd}"), false);
        }
        for plain in [".well-known/x", "a..b", "a%20b", "a;b", "..a", "%c3%a4", "a.%20b", "a:u"] {
            check("GET", &format!("https://api.example.com/v1/{plain}"), true);
        }
        check("GET", "https://api.example.com/v1//v2", false);
        check("GET", "https://api.example.com/v1\\..\\v2", false);
        check("GET", "https://api.example.com//v1", false);
    }

    #[test]
    fn a_place_may_be_wider() {
        let wide = |path: &str| {
            let place = Place {
                host: HostPattern::parse("*.example.com").unwrap(),
                port: Some(8443),
                path: path.to_owned(),
                methods: vec!["POST".to_owned()],
                ..binding().place
            };
            Binding { place, ..binding() }
        };
        let url = WebUrl::parse("https://a.example.com:8443/@scope%2fname").unwrap();
        assert!(wide("/").covers("POST", &url));
        assert!(!wide("/").covers("GET", &url));
        assert!(!wide("/@scope").covers("POST", &url));
        assert!(!wide("/").covers("POST", &WebUrl::parse("https://example.com:8443/").unwrap()));
    }

    #[track_caller]
    fn check_form(part: &str, change: impl FnOnce(&mut Binding)) {
        let mut changed = binding();
        change(&mut changed);
        let checked = changed.check().map_err(|error| error.why);
        match part {
            "" => assert_eq!(checked, Ok(())),
            part => assert!(checked.is_err_and(|why| why.contains(part)), "{part}: {checked:?}"),
        }
    }

    #[test]
    fn a_binding_that_cannot_be_says_why() {
        check_form("", |_| {});
        check_form("", |binding| binding.header = "X-Api-Key".to_owned());
        check_form("", |binding| binding.place.scheme = Scheme::Http);
        check_form("`secret`", |binding| binding.secret.clear());
        for header in ["", "a b", "a:", "a\n"] {
            check_form("`header` is not", |binding| binding.header = header.to_owned());
        }
        for header in ["Host", "connection", "Content-Length", "Transfer-Encoding", "TE"] {
            check_form("`header` says", |binding| binding.header = header.to_owned());
        }
        for format in ["", "Bearer", "{secret}{secret}", "{SECRET}"] {
            check_form("exactly once", |binding| binding.format = format.to_owned());
        }
        for format in ["{secret}\r\nHost: x", "{secret}\n", "\0{secret}"] {
            check_form("one line", |binding| binding.format = format.to_owned());
        }
        for path in ["", "v1", "*"] {
            check_form("begin with", |binding| binding.place.path = path.to_owned());
        }
        for path in ["/a?b", "/a#b", "/a b", "/\u{e4}", "/a\n"] {
            check_form("character", |binding| binding.place.path = path.to_owned());
        }
        for path in ["/a/../b", "/a/..", "/%2E%2E/a", "/a%2Fb", "//a", "/a\\b", "/./a"] {
            check_form("has `..`", |binding| binding.place.path = path.to_owned());
        }
        check_form("`port`", |binding| binding.place.port = Some(0));
        check_form("`methods`", |binding| binding.place.methods = vec!["get".to_owned()]);
    }
}
