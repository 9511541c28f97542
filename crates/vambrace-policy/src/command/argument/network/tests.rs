//! Words that reach out, each beside the one just outside the edge.

use std::borrow::Cow;

use vambrace_types::{Bearings, ScopedPath};

use super::*;
use crate::url::HostPattern;
use crate::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};

fn grant(host: Host, port: Option<u16>, programs: &[&str]) -> ProgramGrant {
    let entry = AllowEntry { port, ..AllowEntry::plain(HostPattern::Exactly(host)) };
    ProgramGrant { entry, programs: programs.iter().map(|name| (*name).to_owned()).collect() }
}

fn grants() -> Vec<ProgramGrant> {
    let name = |name: &str| Host::Name(name.to_owned());
    vec![
        grant(name("a.example"), None, &["curl"]),
        grant(name("b.example"), Some(8443), &[]),
        grant(name("c.example"), None, &["git"]),
        grant(Host::Address("2001:db8::1".parse().unwrap()), None, &["curl"]),
    ]
}

fn with_place<T>(judge: impl FnOnce(&mut Place<'_>) -> T) -> T {
    let scope = Scope::new(ScopeSettings {
        bearings: Bearings::new(&["/w"], "", &[]),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    })
    .unwrap();
    let grants = grants();
    let folders = vec![ScopedPath::from_components(Vec::new()).unwrap()];
    let mut touched = Vec::new();
    let reach = Reach { program: "curl", grants: &grants };
    judge(&mut Place { scope: &scope, folders: Cow::Owned(folders), touched: &mut touched, reach })
}

/// `None`: taken. Otherwise a part of what is said.
#[track_caller]
fn check(what: &str, found: Result<&'static str, Fault>, expected: Option<&str>) {
    let said = found.err().map(|fault| match fault {
        Fault::Why(why) => why,
        Fault::Denied(denial) => denial.to_tool_error().message,
    });
    match (&said, expected) {
        (None, None) => {}
        (Some(said), Some(part)) if said.contains(part) => {}
        _ => panic!("{what:?} is {said:?}, not {expected:?}"),
    }
}

#[track_caller]
fn check_url(text: &str, expected: Option<&str>) {
    check(text, with_place(|place| url(text, Signs::Refused, place)), expected);
}

#[test]
fn addresses_of_listed_hosts_and_of_no_others() {
    check_url("https://a.example", None);
    check_url("http://a.example:8080/x?y=z", None);
    check_url("HTTPS://A.Example/", None);
    check_url("https://a.example./", None);
    check_url("https://b.example:8443/", None);
    check_url("https://[2001:db8::1]/x", None);
    let denied = |host: &str| format!("network access denied for {host}: not listed in sandbox.net");
    check_url("https://b.example/", Some(&denied("b.example:443")));
    check_url("http://b.example:8444/", Some(&denied("b.example:8444")));
    check_url("https://c.example/", Some(&denied("c.example:443"))); // listed for git
    check_url("https://x.a.example/", Some(&denied("x.a.example:443")));
    check_url("http://0x7f.1/", Some(&denied("127.0.0.1:80")));
    check_url("http://2130706433/", Some(&denied("127.0.0.1:80")));
    check_url("https://[2001:db8::2]:1/", Some(&denied("[2001:db8::2]:1")));
    check_url("https://c.example/?https://a.example/", Some(&denied("c.example:443")));
}

#[test]
fn addresses_that_readers_differ_about() {
    for odd in
        ["a.example", "http:a.example", "ftp://a.example", "file:///a", "//a.example", "", "-", "https:/a"]
    {
        check_url(odd, Some("begins with"));
    }
    for odd in [
        "https://a.example\\@c.example/",
        "https://a.example/ x",
        "https://a.example/\n",
        "https://ä.example",
    ] {
        check_url(odd, Some("percent-encoded"));
    }
    for odd in ["https://%61.example/", "https:///a.example", "https://*.example/", "https://"] {
        check_url(odd, Some("written out"));
    }
    for odd in [
        "https://a.example@c.example/",
        "https://x:y@a.example/",
        "https://x@a.example",
        "https://@a.example/",
    ] {
        check_url(odd, Some("no name and no password"));
    }
    for odd in [
        "https://{a,c}.example/",
        "https://a.example/[1-9]",
        "https://[2001:db8::1]/[a]",
        "https://a.example/}",
    ] {
        check_url(odd, Some("braces"));
    }
    check_url("https://a.example:99999/", Some("no address"));
    let exact = |text| with_place(|place| url(text, Signs::Taken, place));
    check("signs", exact("https://a.example/{x}[0]"), None);
    check("signs in the host", exact("https://{a.example}/"), Some("no address"));
}

#[test]
fn a_file_called_like_the_end_of_its_address() {
    let check_saved = |text: &str, expected: Option<&str>| {
        check(text, with_place(|place| saved_url(text, Nameless::Index, place)), expected);
    };
    let check_named = |text: &str, expected: Option<&str>| {
        check(text, with_place(|place| saved_url(text, Nameless::Refused, place)), expected);
    };
    check_named("https://a.example/x.tgz", None);
    check_named("https://a.example/x.tgz?y=/", None);
    for nameless in
        ["https://a.example", "https://a.example/", "https://a.example/x/", "https://a.example/x/?y=z#a"]
    {
        check_named(nameless, Some("names no file"));
    }
    check_named("https://a.example/.env", Some("blocked"));
    check_saved("https://a.example/x.tgz", None);
    check_saved("https://a.example/", None);
    check_saved("https://a.example", None);
    check_saved("https://a.example/.env/x", None);
    check_saved("https://a.example/x?y=/../.env", None);
    check_saved("https://a.example/.env", Some("blocked"));
    check_saved("https://a.example/.env?x", Some("blocked"));
    check_saved("https://a.example/.env#x", Some("blocked"));
    check_saved("https://a.example/%2eenv", Some("no plain name"));
    check_saved("https://a.example/..", Some("no plain name"));
    check_saved("https://c.example/x", Some("not listed"));
}

#[test]
fn headers_without_hosts_and_credentials() {
    for good in ["Accept: */*", "X-A:b", "Accept:", "X-Empty;"] {
        check(good, header(good), None);
    }
    for bad in ["Host: x", "hOsT:", "Authorization;", "Cookie: a", "Proxy-X: y", "X-Forwarded-For: 127.0.0.1"]
    {
        check(bad, header(bad), Some("names a host"));
    }
    for bad in ["@file", " Host: x", "Host : x", ": x", "", "a b: c"] {
        check(bad, header(bad), Some("`Name: value`"));
    }
    check("two lines", header("A: b\r\nHost: x"), Some("one line"));
}

#[test]
fn files_within_words() {
    let judge = |kind: fn(&Word, &str, &mut Place<'_>) -> Result<&'static str, Fault>, text: &str| {
        with_place(|place| kind(&Word::literal(text), text, place))
    };
    for (text, expected) in
        [("a=b", None), ("@x", None), ("@-", None), ("a@/etc/x", None), ("@.env", Some("blocked"))]
    {
        check(text, judge(data, text), expected);
    }
    for (text, expected) in [
        ("a=@.env", None),
        ("a@b=/etc/x", None),
        ("a@x", None),
        ("@.env", Some("blocked")),
        ("a@../x", Some("outside")),
    ] {
        check(text, judge(encoded_data, text), expected);
    }
    for (text, expected) in
        [("x", None), ("-", None), ("{x,y}", Some("braces")), ("/etc/passwd", Some("outside"))]
    {
        check(text, judge(upload, text), expected);
    }
}

#[test]
fn remotes_by_name_or_listed_address() {
    let check_remote = |text: &str, expected: Option<&str>| {
        check(text, with_place(|place| remote(text, place)), expected);
    };
    for good in ["origin", "up-stream_2", "https://a.example/x.git"] {
        check_remote(good, None);
    }
    for bad in ["ext::sh", "host:x", "a@b", "../x", ".", "-x", "a/b", "", "/x"] {
        check_remote(bad, Some("name of a remote"));
    }
    check_remote("https://c.example/x", Some("not listed"));
    check_remote("ssh://a.example/x", Some("begins with"));
    check_remote("ext::sh://", Some("begins with"));
    for (text, expected) in
        [("main", None), ("a/b-1.0", None), ("a:b", Some(":")), ("+a", Some(":")), ("", Some(":"))]
    {
        check(text, remote_ref(text), expected);
    }
}
