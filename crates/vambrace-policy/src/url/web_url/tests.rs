use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = WebUrl::parse(text);
    let parsed = parsed.as_ref().map(|url| url.host().to_string());
    assert_eq!(parsed.as_deref(), Ok(expected), "{text:?}");
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let parsed = WebUrl::parse(text).map_err(|refusal| {
        if let UrlRefusal::Scheme { scheme } = refusal {
            format!("scheme {scheme}")
        } else if refusal == UrlRefusal::Credentials {
            "credentials".to_owned()
        } else {
            assert!(matches!(refusal, UrlRefusal::Unparsable { .. }), "{text:?}: {refusal:?}");
            "unparsable".to_owned()
        }
    });
    assert_eq!(parsed.map(|url| url.as_str().to_owned()), Err(expected.to_owned()), "{text:?}");
}

#[test]
fn a_host_is_what_a_browser_would_dial() {
    check("http://Example.COM/", "example.com");
    check("HTTPS://example.com.", "example.com");
    check("http:\\\\example.com\\x", "example.com");
    check("http:///example.com", "example.com");
    check("http:example.com", "example.com");
    check("http:/example.com", "example.com");
    check("  http://example.com\n", "example.com");
    check("ht\ttp://exam\nple.c\rom/", "example.com");
    check("http://b\u{fc}cher.example/", "xn--bcher-kva.example");
    check("http://xn--bcher-kva.example/", "xn--bcher-kva.example");
    check("http://_a.example.com/", "_a.example.com");
    check("http://example.com#@10.0.0.1/", "example.com");
    check("http://example.com?@10.0.0.1/", "example.com");
    check("http://example.com/@10.0.0.1/", "example.com");
    check("http://example.com\\@10.0.0.1/", "example.com");
}

#[test]
fn odd_spellings_of_addresses_are_addresses() {
    for text in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0X7F000001",
        "0177.0.0.1",
        "0177.0x0.0.1",
        "2130706433",
        "017700000001",
        "127.0.0.1.",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "\u{2460}27.0.0.1",
        "127\u{3002}0\u{ff0e}0\u{ff61}1",
        "127.0.0.\u{ad}1",
        "%31%32%37.0.0.1",
        "127%2e0%2E0%2e1",
    ] {
        check(&format!("http://{text}/"), "127.0.0.1");
    }
    check("http://[::1]/", "::1");
    check("http://[0000::1]:80/", "::1");
    check("http://[0:0:0:0:0:0:0:1]/", "::1");
    check("http://[::127.0.0.1]/", "::7f00:1");
    check("http://[::FFFF:7F00:1]/", "::ffff:127.0.0.1");
    check("http://0/", "0.0.0.0");
    check("http://0x/", "0.0.0.0");
}

#[test]
fn other_spellings_of_localhost_are_localhost() {
    for text in [
        "LOCALHOST",
        "localhost.",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "loc\u{ad}alhost",
        "\u{ff4c}\u{ff4f}\u{ff43}\u{ff41}\u{ff4c}\u{ff48}\u{ff4f}\u{ff53}\u{ff54}",
        "\u{24db}\u{24de}\u{24d2}\u{24d0}\u{24db}\u{24d7}\u{24de}\u{24e2}\u{24e3}",
        "localho\u{17f}t",
        "loc\talhost",
    ] {
        check(&format!("http://{text}/"), "localhost");
    }
    // Another letter is another name.
    check("http://l\u{43e}calhost/", "xn--lcalhost-nbh");
}

#[test]
fn what_is_no_host_is_refused() {
    for text in [
        "",
        "example.com",
        "//example.com",
        "http://",
        "http:///",
        "http://a..b/",
        "http://localhost../",
        "http://./",
        "http://a b/",
        "http://a%20b/",
        "http://a%00b/",
        "http://*.example.com/",
        "http://a!b.example/",
        "http://a,b/",
        "http://a%25b/",
        "http://[::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[::g]/",
        "http://[127.0.0.1]/",
        "http://[v1.a]/",
        "http://0000::1:80",
        "http://256.256.256.256/",
        "http://4294967296/",
        "http://0x100000000/",
        "http://1.2.3.4.5/",
        "http://08.0.0.1/",
        "http://example.com:65536/",
        "http://example.com:-1/",
        "http://example.com:80a/",
        "http://xn--a/",
        "http://localhost:+11211aaa",
    ] {
        check_refused(text, "unparsable");
    }
    let label = "a".repeat(63);
    check(&format!("http://{label}.com/"), &format!("{label}.com"));
    check_refused(&format!("http://{label}a.com/"), "unparsable");
    let long = "a/".repeat(8 * 1024);
    check_refused(&format!("http://example.com/{long}"), "unparsable");
}

#[test]
fn only_http_and_https() {
    check_refused("file:///etc/passwd", "scheme file");
    check_refused("FILE:///etc/passwd", "scheme file");
    check_refused("ftp://example.com/", "scheme ftp");
    check_refused("gopher://localhost:70/", "scheme gopher");
    check_refused("gopher://[host]:[port]/", "scheme gopher");
    check_refused("dict://<user>;<auth>@<host>:<port>/d", "scheme dict");
    check_refused("jar:http://127.0.0.1!/", "scheme jar");
    check_refused("javascript:alert(1)", "scheme javascript");
    check_refused("data:text/html,x", "scheme data");
    check_refused("localhost:8080/", "scheme localhost");
    check_refused("ws://example.com/", "scheme ws");
    check_refused("blob:https://example.com/a", "scheme blob");
}

#[test]
fn nobody_stands_before_the_host() {
    check_refused("http://example.com@10.0.0.1/", "credentials");
    check_refused("http://a:b@example.com/", "credentials");
    check_refused("http://:b@example.com/", "credentials");
    check_refused("http://127.1.1.1:80@127.2.2.2:80", "credentials");
    check_refused("http://127.1.1.1:80:@@127.2.2.2:80", "credentials");
    // An empty one says nothing.
    check("http://@example.com/", "example.com");
}

#[track_caller]
fn check_join(location: &str, expected: Option<&str>) {
    let from = WebUrl::parse("https://example.com/a/b?c").unwrap();
    let joined = from.join(location).ok();
    assert_eq!(joined.as_ref().map(WebUrl::as_str), expected, "{location:?}");
}

#[test]
fn a_redirect_is_read_the_same_way() {
    check_join("d", Some("https://example.com/a/d"));
    check_join("/d#e", Some("https://example.com/d"));
    check_join("", Some("https://example.com/a/b?c"));
    check_join("//0x7f.1/", Some("https://127.0.0.1/"));
    check_join("\\\\localhost.\\", Some("https://localhost/"));
    check_join("http://[::1]/", Some("http://[::1]/"));
    check_join("file:///etc/passwd", None);
    check_join("https://a:b@example.com/", None);
    check_join("//a..b/", None);
}

#[test]
fn every_form_names_the_same_host() {
    let url = WebUrl::parse("http://Example.com.:8080/a?b#c").unwrap();
    assert_eq!(url.as_str(), "http://example.com:8080/a?b");
    assert_eq!((url.authority().as_str(), url.target().as_str()), ("example.com:8080", "/a?b"));
    let same = WebUrl::parse("http://example.com:8080").unwrap();
    assert!(url.same_origin(&same));
    assert!(!url.same_origin(&WebUrl::parse("http://example.com").unwrap()));
    assert_eq!(WebUrl::parse("https://[::1]:443/").unwrap().authority(), "[::1]");
    assert_eq!(WebUrl::parse("http://127.1:81/").unwrap().authority(), "127.0.0.1:81");
}
