use super::*;
use crate::url::Voice;

fn entry(text: &str, cidr: &str) -> AllowEntry {
    let entry = AllowEntry::parse(text).unwrap();
    match cidr {
        "" => entry,
        cidr => entry.with_cidr(cidr).unwrap(),
    }
}

fn listing(allowed: &[(&str, &str)], blocked: &[&str]) -> UrlSettings {
    UrlSettings {
        allowed: allowed.iter().map(|(text, cidr)| entry(text, cidr)).collect(),
        blocked: blocked.iter().map(|text| HostPattern::parse(text).unwrap()).collect(),
        ..UrlSettings::default()
    }
}

/// The rule that lets it pass, or the name of the refusal.
fn judged(policy: &UrlPolicy, terms: Result<Terms, UrlRefusal>, url: &WebUrl, answer: &str) -> String {
    let checked = terms.and_then(|terms| {
        if let Ok(address) = answer.parse() {
            policy.check(&terms, url.host(), address)?;
        }
        Ok(terms)
    });
    match checked {
        Ok(terms) => terms.rule().to_owned(),
        Err(refusal) => format!("{refusal:?}").split([' ', '{']).next().unwrap_or_default().to_owned(),
    }
}

#[track_caller]
fn check(settings: &UrlSettings, url: &str, answer: &str, expected: &str) {
    let (policy, parsed) = (UrlPolicy::new(settings.clone()), WebUrl::parse(url).unwrap());
    let found = judged(&policy, policy.admit(&parsed), &parsed, answer);
    assert_eq!(found.strip_prefix("tools.url_policy").unwrap_or(&found), expected, "{url} at {answer}");
}

const PUBLIC: &str = "93.184.215.14";

#[test]
fn without_lists_the_world_is_public() {
    let usual = UrlSettings::default();
    check(&usual, "https://example.com/", PUBLIC, "");
    check(&usual, "https://example.com:8443/", "2600::1", "");
    check(&usual, "https://example.com/", "10.0.0.1", "Address");
    check(&usual, "https://example.com/", "127.0.0.1", "Address");
    check(&usual, "https://example.com/", "169.254.169.254", "Address");
    check(&usual, "http://localhost:6379/", "", "Localhost");
    check(&usual, "http://127.0.0.1:22/", "", "Address");
    check(&usual, "http://169.254.169.254/latest", "", "Metadata");
    check(&usual, "http://metadata.google.internal/", "", "Metadata");
    check(&usual, "http://redis.production.svc.cluster.local/", "", "Kubernetes");
    check(&usual, "http://printer.local/", "", "LocalName");
    check(&usual, "http://intranet/", "", "LocalName");
    check(&usual, "http://example.com:25/", "", "Port");
    check(&usual, "http://example.com:0/", "", "Port");
    check(&usual, &format!("http://{PUBLIC}/"), "", "");
}

#[test]
fn a_plain_entry_opens_private_networks() {
    let listed =
        listing(&[("git.corp.example", ""), ("*.lan.example", ""), ("intranet", ""), ("10.0.0.1", "")], &[]);
    check(&listed, "https://git.corp.example/", PUBLIC, ".allowed_domains[0]");
    check(&listed, "https://git.corp.example/", "10.0.0.1", ".allowed_domains[0]");
    check(&listed, "https://git.corp.example/", "fd00::1", ".allowed_domains[0]");
    check(&listed, "https://git.corp.example/", "127.0.0.1", "Address");
    check(&listed, "https://git.corp.example/", "::1", "Address");
    check(&listed, "https://git.corp.example/", "169.254.1.1", "Address");
    check(&listed, "https://git.corp.example/", "169.254.169.254", "Address");
    check(&listed, "https://git.corp.example/", "fd00:ec2::254", "Address");
    check(&listed, "https://git.corp.example/", "100.64.0.1", "Address");
    check(&listed, "https://git.corp.example/", "2002:a00:1::", "Address");
    check(&listed, "https://a.lan.example/", "192.168.1.1", ".allowed_domains[1]");
    check(&listed, "https://lan.example/", "192.168.1.1", "Address");
    check(&listed, "http://intranet/", "10.0.0.2", ".allowed_domains[2]");
    check(&listed, "http://intranet:25/", "10.0.0.2", "Port");
    check(&listed, "http://10.0.0.1/", "", ".allowed_domains[3]");
    check(&listed, "http://10.0.0.2/", "", "Address");
    // Not a name: it says no more about loopback than any plain entry does.
    check(&listing(&[("127.0.0.1", "")], &[]), "http://127.0.0.1/", "", "Address");
    check(&listing(&[("localhost", "")], &[]), "http://localhost/", "127.0.0.1", "Address");
    check(&listing(&[("metadata.internal", "")], &[]), "http://metadata.internal/", "", "Metadata");
    check(&listing(&[("169.254.169.254", "")], &[]), "http://169.254.169.254/", "", "Metadata");
}

#[test]
fn a_range_is_exactly_what_a_name_may_have() {
    let listed = listing(&[("dev.example:8080", "127.0.0.0/8"), ("127.0.0.1", "127.0.0.1")], &[]);
    check(&listed, "http://dev.example:8080/", "127.0.0.1", ".allowed_domains[0]");
    check(&listed, "http://dev.example:8080/", "::ffff:127.0.0.1", ".allowed_domains[0]");
    check(&listed, "http://dev.example:8080/", "128.0.0.0", "Outside");
    check(&listed, "http://dev.example:8080/", "10.0.0.1", "Address");
    // Another port: the ordinary rules.
    check(&listed, "http://dev.example:8081/", "127.0.0.1", "Address");
    check(&listed, "http://dev.example:8081/", PUBLIC, "");
    check(&listed, "http://127.0.0.1:9/", "", "Port");
    check(&listed, "http://127.0.0.1:90/", "", ".allowed_domains[1]");
    check(&listed, "http://127.0.0.2/", "", "Address");
    let wide = listing(&[("a.example", "169.254.0.0/16"), ("metadata.internal", "10.0.0.0/8")], &[]);
    check(&wide, "http://a.example/", "169.254.1.1", ".allowed_domains[0]");
    check(&wide, "http://a.example/", "169.254.169.254", "Address");
    check(&wide, "http://metadata.internal/", "10.0.0.1", ".allowed_domains[1]");
    let mut metadata =
        listing(&[("metadata.google.internal", ""), ("169.254.169.254", "169.254.169.254")], &[]);
    for entry in &mut metadata.allowed {
        entry.allow_metadata = true;
    }
    check(&metadata, "http://metadata.google.internal/", "169.254.169.254", ".allowed_domains[0]");
    check(&metadata, "http://metadata.google.internal/", "169.254.1.1", "Address");
    check(&metadata, "http://169.254.169.254/", "", ".allowed_domains[1]");
    // Two entries for one host: one that takes the address is enough.
    let twice = listing(&[("a.example", "10.0.0.0/8"), ("a.example", "127.0.0.1")], &[]);
    check(&twice, "http://a.example/", "127.0.0.1", ".allowed_domains[0]");
    check(&twice, "http://a.example/", "127.0.0.2", "Address");
}

#[test]
fn an_entry_opens_a_blocked_port_by_naming_it() {
    let listed = listing(&[("a.example:25", ""), ("b.example", "")], &[]);
    check(&listed, "http://a.example:25/", PUBLIC, ".allowed_domains[0]");
    check(&listed, "http://a.example:22/", PUBLIC, "Port");
    check(&listed, "http://b.example:25/", PUBLIC, "Port");
    check(&listed, "http://b.example:0/", PUBLIC, "Port");
}

#[test]
fn who_says_more_about_a_host_wins() {
    let both = listing(
        &[("*.example.com", ""), ("ok.evil.example", ""), ("tie.example", ""), ("*.b.c.example", "")],
        &["bad.example.com", "*.evil.example", "tie.example", "*.c.example", "203.0.114.9"],
    );
    check(&both, "http://a.example.com/", PUBLIC, ".allowed_domains[0]");
    check(&both, "http://bad.example.com/", "", "Blocked");
    check(&both, "http://BAD.example.com./", "", "Blocked");
    check(&both, "http://a.evil.example/", "", "Blocked");
    check(&both, "http://ok.evil.example/", PUBLIC, ".allowed_domains[1]");
    check(&both, "http://evil.example/", PUBLIC, "");
    check(&both, "http://tie.example/", "", "Blocked");
    check(&both, "http://a.b.c.example/", PUBLIC, ".allowed_domains[3]");
    check(&both, "http://b.c.example/", "", "Blocked");
    // A blocked address is blocked under every name.
    check(&both, "http://203.0.114.9/", "", "Blocked");
    check(&both, "http://other.example/", "203.0.114.9", "Blocked");
    check(&both, "http://other.example/", "203.0.114.8", "");
}

#[test]
fn settings_that_open_more() {
    let private = UrlSettings { allow_private: true, ..listing(&[], &["blocked.example"]) };
    check(&private, "http://127.0.0.1/", "", "");
    check(&private, "http://localhost/", "127.0.0.1", "");
    check(&private, "http://nas.local/", "192.168.0.2", "");
    check(&private, "http://a.example/", "fe80::1", "");
    check(&private, "http://a.example/", "169.254.169.254", "Address");
    check(&private, "http://a.example/", "100.64.0.1", "Address");
    check(&private, "http://169.254.169.254/", "", "Metadata");
    check(&private, "http://metadata.internal/", "", "Metadata");
    check(&private, "http://a.svc.cluster.local/", "", "Kubernetes");
    check(&private, "http://blocked.example/", "", "Blocked");
    check(&private, "http://a.example:25/", "", "Port");

    let bypass = UrlSettings {
        bypass_all: true,
        ..listing(&[("169.254.169.254", ""), ("a.example", "")], &["a.example"])
    };
    check(&bypass, "http://169.254.169.254/", "", ".allowed_domains_bypass_all");
    check(&bypass, "http://a.example/", "127.0.0.1", ".allowed_domains_bypass_all");
    check(&bypass, "http://b.example/", "127.0.0.1", "Address");

    let off = UrlSettings { enabled: false, ..listing(&[], &["a.example"]) };
    check(&off, "http://a.example:25/", "127.0.0.1", ".enabled");
    check(&off, "http://169.254.169.254/", "", ".enabled");

    let letter =
        UrlSettings { ranges: Ranges::Seed003, host_rules: HostRules::Seed003, ..UrlSettings::default() };
    check(&letter, "http://localhost/", "127.0.0.1", "Address");
    check(&letter, "http://intranet/", "100.64.0.1", "");
    check(&letter, "http://metadata.internal/", "", "Metadata");
    check(&letter, "http://168.63.129.16/", "", "Metadata");
}

#[test]
fn a_refused_address_tells_what_was_listed() {
    let settings = listing(&[("a.example", ""), ("b.example", "10.0.0.0/8")], &[]);
    let policy = UrlPolicy::new(settings);
    for (host, expected) in [("a", Listing::Plain), ("b", Listing::Ranges), ("c", Listing::Nothing)] {
        let url = WebUrl::parse(&format!("http://{host}.example/")).unwrap();
        let terms = policy.admit(&url).unwrap();
        match policy.check(&terms, url.host(), "127.0.0.1".parse().unwrap()) {
            Err(UrlRefusal::Address { listing, .. }) => assert_eq!(listing, expected, "{host}"),
            other => panic!("{host}: {other:?}"),
        }
    }
}

#[track_caller]
fn check_granted(settings: &UrlSettings, granted: &[(&str, &str)], url: &str, answer: &str, expected: &str) {
    let (policy, parsed) = (UrlPolicy::new(settings.clone()), WebUrl::parse(url).unwrap());
    let granted: Vec<AllowEntry> = granted.iter().map(|(text, cidr)| entry(text, cidr)).collect();
    let found = judged(&policy, policy.admit_granted(&parsed, &granted), &parsed, answer);
    assert_eq!(found, expected, "{url} at {answer}");
}

#[test]
fn a_program_reaches_what_was_granted() {
    let usual = UrlSettings::default();
    let granted =
        [("crates.example:443", ""), ("dev.example", "127.0.0.1"), ("*.b.example", ""), ("m.example", "")];
    let check = |settings: &UrlSettings, url: &str, answer: &str, expected: &str| {
        check_granted(settings, &granted, url, answer, expected);
    };
    check(&usual, "https://crates.example/", PUBLIC, "sandbox.net");
    check(&usual, "https://crates.example/", "10.0.0.1", "sandbox.net");
    check(&usual, "https://crates.example/", "127.0.0.1", "Address");
    check(&usual, "http://crates.example/", PUBLIC, "NotListed");
    check(&usual, "https://other.example/", PUBLIC, "NotListed");
    check(&usual, "http://127.0.0.1/", "", "Address");
    check(&usual, "http://169.254.169.254/", "", "Metadata");
    check(&usual, "http://kubernetes.default.svc/", "", "Kubernetes");
    check(&usual, "http://dev.example/", "127.0.0.1", "sandbox.net");
    check(&usual, "http://dev.example/", PUBLIC, "Outside");
    check(&usual, "http://dev.example:25/", "127.0.0.1", "Port");
    check(&usual, "http://m.example/", "169.254.169.254", "Address");
    check_granted(&usual, &[("metadata.internal", "")], "http://metadata.internal/", "", "Metadata");
    check_granted(&usual, &[("127.0.0.1", "")], "http://127.0.0.1/", "", "Address");
    check_granted(&usual, &[("127.0.0.1", "127.0.0.1")], "http://127.0.0.1/", "", "sandbox.net");
    // The operator's own entry adds its addresses; his blocks hold whatever was granted.
    let listed = listing(&[("dev.example", "10.0.0.0/8")], &["a.b.example", "crates.example"]);
    check(&listed, "http://dev.example/", "10.0.0.1", "sandbox.net");
    check(&listed, "http://dev.example/", "127.0.0.1", "sandbox.net");
    check(&listed, "http://dev.example/", "127.0.0.2", "Address");
    check(&listed, "http://a.b.example/", PUBLIC, "Blocked");
    check(&listed, "https://crates.example/", PUBLIC, "Blocked");
    // What is switched off for all is not switched on for programs, which still need the grant.
    let off = UrlSettings { enabled: false, ..listed };
    check(&off, "https://crates.example/", "127.0.0.1", "sandbox.net");
    check(&off, "https://other.example/", "127.0.0.1", "NotListed");
    check(&off, "http://dev.example:25/", "127.0.0.1", "sandbox.net");
    // The addresses of a grant are the grant's, whatever else is switched off.
    let bypass = UrlSettings { bypass_all: true, ..listing(&[("dev.example", "")], &[]) };
    for open in [&off, &bypass] {
        check(open, "http://dev.example/", "127.0.0.1", "sandbox.net");
        check(open, "http://dev.example/", "127.0.0.2", "Outside");
        check(open, "http://dev.example/", "169.254.169.254", "Outside");
        check(open, "http://dev.example/", PUBLIC, "Outside");
    }
    let twice = [("dev.example", "127.0.0.1"), ("dev.example", "10.0.0.0/8")];
    check_granted(&bypass, &twice, "http://dev.example/", "10.0.0.1", "sandbox.net");
    check_granted(&bypass, &twice, "http://dev.example/", "11.0.0.1", "Outside");
    check_granted(&off, &[("127.0.0.1", "10.0.0.0/8")], "http://127.0.0.1/", "", "Outside");
}

#[track_caller]
fn check_words(voice: Voice, url: &str, expected: &str) {
    let policy = UrlPolicy::new(UrlSettings::default());
    let judged = WebUrl::parse(url).and_then(|url| policy.admit(&url));
    assert_eq!(judged.map_err(|refusal| refusal.text(voice)), Err(expected.to_owned()), "{url}");
}

#[test]
fn the_attacks_of_the_specifications_get_their_words() {
    let check = |url: &str, expected: &str| {
        check_words(Voice::Seed001, url, &format!("URL validation failed: {expected}"));
    };
    check("http://localhost:6379/", "access to 'localhost' is not allowed (localhost/metadata service)");
    check("http://LOCALHOST./", "access to 'localhost' is not allowed (localhost/metadata service)");
    check("http://0x7f.1:22/", "access to '127.0.0.1' is not allowed (localhost/metadata service)");
    check("http://[0::1]/", "access to '::1' is not allowed (localhost/metadata service)");
    check("http://0/", "access to '0.0.0.0' is not allowed (localhost/metadata service)");
    check(
        "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
        "access to '169.254.169.254' is not allowed (localhost/metadata service)",
    );
    check(
        "http://metadata.google.internal/computeMetadata/v1/",
        "access to 'metadata.google.internal' is not allowed (localhost/metadata service)",
    );
    check(
        "http://kubernetes.default.svc.cluster.local/api/v1/namespaces",
        "access to Kubernetes internal services (*.svc.cluster.local) is not allowed",
    );
    check(
        "http://192.168.1.1/admin",
        "access to private/internal IP addresses is not allowed (resolved to 192.168.1.1)",
    );
    check("file:///etc/passwd", "unsupported URL scheme 'file': only http and https are allowed");
    check_words(
        Voice::Seed000,
        "http://metadata.internal/",
        "SSRF: private network access denied for metadata.internal (169.254.169.254)",
    );
    check_words(
        Voice::Seed000,
        "http://10.0.0.1/",
        "SSRF: private network access denied for 10.0.0.1 (10.0.0.1)",
    );
}

/// `url` is asked for where the operator named `place`.
#[track_caller]
fn check_named(settings: &UrlSettings, place: &str, url: &str, answer: &str, expected: &str) {
    let (policy, url, place) =
        (UrlPolicy::new(settings.clone()), WebUrl::parse(url).unwrap(), WebUrl::parse(place).unwrap());
    let named = Named { host: place.host().clone(), port: place.port(), rule: "named".to_owned() };
    assert_eq!(judged(&policy, policy.admit_named(&url, &named), &url, answer), expected, "{url:?} {answer}");
}

#[test]
fn a_place_of_the_operators_naming() {
    let off = UrlSettings { enabled: false, ..UrlSettings::default() };
    let bypassed = UrlSettings { bypass_all: true, ..listing(&[("agent.test", "")], &[]) };
    for settings in [&UrlSettings::default(), &off, &bypassed] {
        let check =
            |url: &str, answer: &str, expected: &str| check_named(settings, url, url, answer, expected);
        check("https://agent.test/", PUBLIC, "named");
        check("http://agent.test:9000/", "10.0.0.1", "named");
        check("http://agent.test/", "127.0.0.1", "named");
        check("http://agent.test/", "::1", "named");
        check("http://agent.test/", "169.254.169.254", "Address");
        check("http://agent.test/", "169.254.1.1", "Address");
        check("http://agent.test/", "fe80::1", "Address");
        check("http://agent.test/", "0.0.0.0", "Address");
        check("http://agent.test/", "224.0.0.1", "Address");
        check("http://agent.test/", "::ffff:169.254.169.254", "Address");
        check("http://localhost:8081/", "127.0.0.1", "named");
        check("http://127.0.0.1:8081/", "127.0.0.1", "named");
        check("http://docs.svc.cluster.local/", "10.0.0.1", "named");
        check("http://169.254.169.254/", "", "Metadata");
        check("http://metadata.google.internal/", "", "Metadata");
        // Nothing but the place itself.
        let place = "http://agent.test:9000/a";
        check_named(settings, place, "http://agent.test:9000/b", "10.0.0.1", "named");
        for other in ["http://agent.test/", "http://agent.test:9001/", "http://x.agent.test:9000/"] {
            check_named(settings, place, other, PUBLIC, "NotListed");
        }
    }
    // What blocks more loosely than it is named does not count; what says as much does.
    let agent = "http://agent.corp.test/";
    check_named(&listing(&[], &["*.corp.test"]), agent, agent, "10.0.0.1", "named");
    check_named(&listing(&[], &["agent.corp.test"]), agent, agent, "10.0.0.1", "Blocked");
    check_named(&listing(&[], &["10.0.0.1"]), agent, agent, "10.0.0.1", "Blocked");
}
