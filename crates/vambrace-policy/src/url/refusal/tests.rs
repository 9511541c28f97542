use super::*;

const MESSAGES: &str = include_str!("../../../../../testdata/url_messages.tsv");

/// Every case of the table, by the name it has there.
fn refusal(case: &str) -> UrlRefusal {
    let (kind, filled) = case.split_once(':').unwrap_or((case, ""));
    let (host, rest) = filled.split_once(' ').unwrap_or((filled, ""));
    let (text, host) = (filled.to_owned(), host.to_owned());
    match kind {
        "unparsable" => UrlRefusal::Unparsable { why: text },
        "scheme" => UrlRefusal::Scheme { scheme: text },
        "credentials" => UrlRefusal::Credentials,
        "port" => UrlRefusal::Port { host, port: rest.parse().unwrap() },
        "localhost" => UrlRefusal::Localhost { host },
        "metadata" => UrlRefusal::Metadata { host, address: rest.parse().ok() },
        "kubernetes" => UrlRefusal::Kubernetes { host },
        "local_name" => UrlRefusal::LocalName { host },
        "blocked" => UrlRefusal::Blocked { host, pattern: rest.to_owned() },
        "address" => {
            let address = rest.parse().unwrap();
            let class = super::super::classify(address);
            UrlRefusal::Address { host, address, class, listing: Listing::Nothing }
        }
        "outside" => {
            let (address, allowed) = rest.split_once(' ').unwrap();
            UrlRefusal::Outside { host, address: address.parse().unwrap(), allowed: allowed.to_owned() }
        }
        "not_listed" => UrlRefusal::NotListed { host, port: rest.parse().unwrap() },
        "no_address" => UrlRefusal::NoAddress { host },
        "method" => UrlRefusal::Method { method: text },
        "header" => UrlRefusal::Header { name: text },
        "redirect" => UrlRefusal::Redirect { why: text },
        "mismatch" => UrlRefusal::Mismatch { host, named: rest.to_owned() },
        other => panic!("no case {other:?}"),
    }
}

#[test]
fn the_words_are_the_specifications_words() {
    let mut n_rows = 0;
    for (place, line) in MESSAGES.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let number = place + 1;
        let columns: Vec<&str> = line.split('\t').collect();
        let [case, attempt, text_001, text_000] = columns.as_slice() else {
            panic!("line {number} has not four columns");
        };
        let refusal = refusal(case);
        assert_eq!(refusal.text(Voice::Seed001), *text_001, "line {number}");
        assert_eq!(refusal.logged(), *text_001, "line {number}");
        assert_eq!(refusal.text(Voice::Seed000), *text_000, "line {number}");
        assert_eq!(format!("{:?}", refusal.attempt()), *attempt, "line {number}");
        let suggestion = refusal.suggestion();
        assert!(suggestion.ends_with('.') && !suggestion.contains("  "), "line {number}: {suggestion:?}");
        n_rows += 1;
    }
    assert!(n_rows > 20, "{n_rows} rows");
}

#[track_caller]
fn check_suggestion(refusal: &UrlRefusal, part: &str) {
    assert!(refusal.suggestion().contains(part), "{refusal:?}: {:?}", refusal.suggestion());
}

#[test]
fn a_suggestion_fits_what_was_meant() {
    check_suggestion(&refusal("address:a.example 169.254.169.254"), "credentials are not for agents");
    check_suggestion(&refusal("metadata:metadata.internal"), "credentials are not for agents");
    check_suggestion(&refusal("address:a.example 127.0.0.1"), "allowed_domains");
    check_suggestion(&refusal("scheme:example.com"), "in front of the host");
    check_suggestion(&refusal("scheme:localhost"), "in front of the host");
    check_suggestion(&refusal("scheme:file"), "read_file");
    assert!(!refusal("redirect:more than 5 redirects").suggestion().contains("leads to"));
    let listed = |address: &str, listing| {
        let address = address.parse().unwrap();
        let class = super::super::classify(address);
        UrlRefusal::Address { host: "a.example".to_owned(), address, class, listing }
    };
    check_suggestion(&listed("127.0.0.1", Listing::Plain), "`cidr`");
    check_suggestion(&listed("100.64.0.1", Listing::Plain), "`cidr`");
    check_suggestion(&listed("10.0.0.1", Listing::Ranges), "leads elsewhere");
    check_suggestion(&listed("169.254.169.254", Listing::Plain), "credentials are not for agents");
}
