use hyper::header::AUTHORIZATION;
use vambrace_policy::url::{BoundPlace, Host, HostPattern, Scheme};

use super::*;

fn credentials() -> Credentials {
    let place = BoundPlace {
        scheme: Scheme::Https,
        host: HostPattern::Exactly(Host::Name("api.test".to_owned())),
        port: None,
        path: "/v1".to_owned(),
        methods: Vec::new(),
    };
    let binding = Binding {
        secret: "API_KEY".to_owned(),
        place,
        header: "Authorization".to_owned(),
        format: "Bearer {secret}".to_owned(),
    };
    Credentials(vec![Credential::new(binding, Secret::new("hunter2".to_owned())).unwrap()])
}

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

#[test]
fn placeholders_differ_and_say_whose_they_are() {
    let (one, two) = (credentials(), credentials());
    let placeholder = &one.0[0].placeholder;
    assert!(placeholder.starts_with("vbx_api_key_") && placeholder.len() == 12 + 32, "{placeholder}");
    assert_ne!(placeholder, &two.0[0].placeholder);
}

#[test]
fn a_value_is_replaced_by_its_placeholder() {
    let credentials = credentials();
    let mut text = b"hunter2, hunter22 and hunter".to_vec();
    credentials.cover(&mut text);
    let placeholder = &credentials.0[0].placeholder;
    assert_eq!(String::from_utf8(text).unwrap(), format!("{placeholder}, {placeholder}2 and hunter"));
}

#[test]
fn a_placeholder_goes_where_its_credential_goes_and_nowhere_else() {
    let credentials = credentials();
    let placeholder = credentials.0[0].placeholder.clone();
    let header = format!("Bearer {placeholder}");
    let stray = |method: &str, text: &str, value: &str| {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
        credentials.refuse_stray(method, &url(text), &headers)
    };
    let refused = |name: &str| Err(UrlRefusal::Header { name: name.to_owned() });
    assert_eq!(stray("GET", "https://api.test/v1/x", &header), Ok(()));
    assert_eq!(stray("GET", "https://api.test/v1x", &header), refused("authorization"));
    assert_eq!(stray("POST", "https://api.test/v1/x", &header), refused("authorization"));
    assert_eq!(stray("GET", "http://api.test/v1/x", &header), refused("authorization"));
    assert_eq!(stray("GET", "https://other.test/v1/x", &header), refused("authorization"));
    assert_eq!(stray("GET", "https://other.test/v1/x", "Bearer x"), Ok(()));
    assert_eq!(stray("GET", &format!("https://other.test/?k={placeholder}"), ""), refused(":path"));
    assert_eq!(stray("GET", &format!("https://api.test/v1/?k={placeholder}"), ""), Ok(()));
}

#[test]
fn answers_of_the_whole_host_are_covered() {
    let credentials = credentials();
    assert!(credentials.cover_for(&url("https://api.test/v1")).is_some());
    assert!(credentials.cover_for(&url("http://api.test/other")).is_some());
    assert!(credentials.cover_for(&url("https://other.test/v1")).is_none());
}
