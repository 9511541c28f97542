use super::*;

const HERE: &str = "https://a.test/x/y?q=1";

fn from(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

fn go(rule: Redirects, start: &str, status: u16, method: &str, to: Option<&str>, n: usize) -> String {
    match next(rule, &from(start), status, method, to, n) {
        Ok(None) => "result".to_owned(),
        Ok(Some(next)) => {
            let method = if next.becomes_get { "GET" } else { "same" };
            let headers = if next.drops_headers { "drops" } else { "keeps" };
            format!("{} {method} {headers}", next.url.as_str())
        }
        Err(UrlRefusal::Redirect { why }) => format!("refused: {why}"),
        Err(UrlRefusal::Scheme { scheme }) => format!("scheme {scheme}"),
        Err(UrlRefusal::Credentials) => "credentials".to_owned(),
        Err(UrlRefusal::Unparsable { .. }) => "unparsable".to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

#[track_caller]
fn check(status: u16, method: &str, location: &str, expected: &str) {
    assert_eq!(
        go(Redirects::Checked, HERE, status, method, Some(location), 0),
        expected,
        "{status} {method} {location}"
    );
}

#[test]
fn every_status_and_method() {
    for status in (100..600).filter(|status| !matches!(status, 301 | 302 | 303 | 307 | 308)) {
        check(status, "GET", "/z", "result");
    }
    let keeps = "https://a.test/z same keeps";
    let get = "https://a.test/z GET keeps";
    for (status, method, expected) in [
        (301, "GET", keeps),
        (301, "HEAD", keeps),
        (301, "POST", get),
        (301, "PUT", keeps),
        (302, "POST", get),
        (302, "DELETE", keeps),
        (303, "POST", get),
        (303, "PUT", get),
        (303, "HEAD", keeps),
        (307, "POST", keeps),
        (308, "POST", keeps),
        (308, "GET", keeps),
    ] {
        check(status, method, "/z", expected);
    }
}

#[test]
fn what_changes_things_stays_at_its_origin() {
    for to in ["https://b.test/z", "https://a.test:444/z"] {
        for (status, method) in [(307, "POST"), (308, "POST"), (301, "PUT"), (302, "DELETE"), (307, "PATCH")]
        {
            let host = if to.contains("b.test") { "b.test" } else { "a.test" };
            let why = format!("refused: a {method} is not sent on to another origin, at `{host}`");
            check(status, method, to, &why);
        }
        for (status, method) in [(301, "GET"), (307, "GET"), (308, "HEAD"), (303, "HEAD")] {
            check(status, method, to, &format!("{to} same drops"));
        }
        for (status, method) in [(301, "POST"), (302, "POST"), (303, "PUT"), (303, "DELETE")] {
            check(status, method, to, &format!("{to} GET drops"));
        }
    }
}

#[test]
fn where_a_location_leads() {
    check(302, "GET", "z", "https://a.test/x/z same keeps");
    check(302, "GET", "?r", "https://a.test/x/y?r same keeps");
    check(302, "GET", "#part", "https://a.test/x/y?q=1 same keeps");
    check(302, "GET", "", "https://a.test/x/y?q=1 same keeps");
    check(302, "GET", "//b.test/z", "https://b.test/z same drops");
    check(302, "GET", "https://A.test:443/z", "https://a.test/z same keeps");
    check(302, "GET", "https://a.test:444/z", "https://a.test:444/z same drops");
    check(302, "GET", "https://a.test.evil.test/", "https://a.test.evil.test/ same drops");
    check(302, "GET", "https:\\\\0x7f.1\\", "https://127.0.0.1/ same drops");
    check(302, "GET", "http://a.test/z", "refused: from https to http at `a.test`");
    check(302, "GET", "file:///etc/passwd", "scheme file");
    check(302, "GET", "gopher://a.test/", "scheme gopher");
    check(302, "GET", "javascript:alert(1)", "scheme javascript");
    check(302, "GET", "https://u:p@a.test/", "credentials");
    check(302, "GET", "https://", "unparsable");
}

#[test]
fn rules_and_hops() {
    let to = Some("https://b.test/");
    assert_eq!(go(Redirects::None, HERE, 302, "GET", to, 0), "result");
    assert_eq!(
        go(Redirects::SameHost, HERE, 302, "GET", to, 0),
        "refused: from `a.test` to another host, `b.test`"
    );
    assert_eq!(
        go(Redirects::SameHost, HERE, 302, "GET", Some("https://www.a.test/"), 0),
        "refused: from `a.test` to another host, `www.a.test`"
    );
    assert_eq!(
        go(Redirects::SameHost, HERE, 302, "GET", Some("https://a.test:8443/"), 0),
        "https://a.test:8443/ same drops"
    );
    assert_eq!(go(Redirects::Checked, HERE, 302, "GET", None, 9), "result");
    assert_eq!(go(Redirects::Checked, HERE, 302, "GET", to, 4), "https://b.test/ same drops");
    assert_eq!(go(Redirects::Checked, HERE, 302, "GET", to, 5), "refused: more than 5 redirects");
    // To TLS is the right direction, and another origin.
    let up = go(Redirects::SameHost, "http://a.test/", 301, "GET", Some("https://a.test/"), 0);
    assert_eq!(up, "https://a.test/ same drops");
}
