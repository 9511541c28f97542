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
            UrlRefusal::Address { host, address, class: super::super::classify(address) }
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
