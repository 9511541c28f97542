use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use vambrace_policy::url::{Attempt, BoundPlace, Host, HostPattern, Scheme, Voice};
use vambrace_types::ErrorCode;

use super::*;

fn bound(secret: &str, path: &str, header: &str) -> (Binding, Secret<String>) {
    let place = BoundPlace {
        scheme: Scheme::Https,
        host: HostPattern::Exactly(Host::Name("api.test".to_owned())),
        port: None,
        path: path.to_owned(),
        methods: Vec::new(),
    };
    let binding = Binding {
        secret: secret.to_owned(),
        place,
        header: header.to_owned(),
        format: "Bearer {secret}".to_owned(),
    };
    (binding, Secret::new("hunter2".to_owned()))
}

fn credentials() -> Credentials {
    Credentials::new(vec![bound("API_KEY", "/v1", "Authorization")]).unwrap()
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
fn a_secret_has_one_placeholder_wherever_it_is_bound() {
    let one = bound("ONE", "/v1", "Authorization");
    let credentials =
        Credentials::new(vec![one.clone(), bound("TWO", "/v1", "X-Two"), bound("ONE", "/v2", "X-One")])
            .unwrap();
    let placeholders: Vec<&str> = credentials.0.iter().map(|one| one.placeholder.as_str()).collect();
    assert_eq!(placeholders[0], placeholders[2]);
    assert_ne!(placeholders[0], placeholders[1]);

    let check = |path: &str, header: &'static str, secret: usize, stray: Option<&str>| {
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static(header),
            HeaderValue::try_from(placeholders[secret]).unwrap(),
        )]);
        let refused = credentials.refuse_stray("GET", &url(&format!("https://api.test{path}")), &headers);
        let stray = stray.map(|secret| UrlRefusal::Stray { secret: secret.to_owned() });
        assert_eq!(refused.err(), stray, "{path} {header} {secret}");
    };
    check("/v1", "authorization", 0, None);
    check("/v2", "x-one", 0, None);
    check("/v1", "x-two", 1, None);
    check("/v1", "x-one", 0, Some("ONE"));
    check("/v2", "authorization", 0, Some("ONE"));
    check("/v1", "x-two", 0, Some("ONE"));
    check("/v1", "authorization", 1, Some("TWO"));
    check("/v2", "x-two", 1, Some("TWO"));
    check("/v3", "x-one", 0, Some("ONE"));
}

#[test]
fn a_stray_placeholder_is_refused_in_words() {
    let stray = UrlRefusal::Stray { secret: "API_KEY".to_owned() };
    let text = "the placeholder of API_KEY goes only where the secret is bound";
    assert_eq!(stray.text(Voice::Seed000), text);
    assert_eq!(stray.logged(), format!("URL validation failed: {text}"));
    assert_eq!((stray.code(), stray.rule()), (ErrorCode::HeaderNotAllowed, "secrets.bindings"));
    assert_eq!(stray.attempt(), Attempt::Other);
}

#[test]
fn a_value_is_replaced_in_every_form() {
    let credentials = credentials();
    let placeholder = credentials.0[0].placeholder.clone();
    for (text, expected) in [
        ("", ""),
        ("<hunter2>", "<P>"),
        ("<Bearer hunter2>", "<P>"),
        ("<Bearer%20hunter2>", "<P>"),
        ("<aHVudGVyMg==>", "<P>"),
        ("<aHVudGVyMg>", "<P>"),
        ("68756e74657232 68756E74657232", "P P"),
        ("hunter2hunter2", "PP"),
        ("hunter 2", "hunter 2"),
    ] {
        let mut bytes = text.as_bytes().to_vec();
        credentials.cover(&mut bytes);
        assert_eq!(String::from_utf8(bytes).unwrap(), expected.replace('P', &placeholder), "{text}");
    }
    // What overlaps leaves no end behind.
    let mut credentials = credentials;
    credentials.0[0].value = Secret::new("aba".to_owned());
    let mut bytes = b"xababax".to_vec();
    credentials.cover(&mut bytes);
    assert_eq!(String::from_utf8(bytes).unwrap(), format!("x{placeholder}x"));
    assert!(credentials.longest_form() >= "Bearer%20aba".len());
    assert_eq!(Credentials::default().longest_form(), 0);
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
    let refused = || Err(UrlRefusal::Stray { secret: "API_KEY".to_owned() });
    assert_eq!(stray("GET", "https://api.test/v1/x", &header), Ok(()));
    assert_eq!(stray("GET", "https://api.test/v1x", &header), refused());
    assert_eq!(stray("POST", "https://api.test/v1/x", &header), refused());
    assert_eq!(stray("GET", "http://api.test/v1/x", &header), refused());
    assert_eq!(stray("GET", "https://other.test/v1/x", &header), refused());
    assert_eq!(stray("GET", "https://other.test/v1/x", "Bearer x"), Ok(()));
    assert_eq!(stray("GET", &format!("https://other.test/?k={placeholder}"), ""), refused());
    assert_eq!(stray("GET", &format!("https://api.test/v1/?k={placeholder}"), ""), refused());
    assert_eq!(stray("GET", &format!("https://api.test/v1/{placeholder}"), &header), refused());
}

#[test]
fn answers_of_the_whole_host_are_covered() {
    let credentials = credentials();
    assert!(credentials.cover_for(&url("https://api.test/v1")).is_some());
    assert!(credentials.cover_for(&url("http://api.test/other")).is_some());
    assert!(credentials.cover_for(&url("https://other.test/v1")).is_none());
}
