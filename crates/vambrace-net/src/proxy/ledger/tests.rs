use super::*;

fn reached() -> Outcome {
    Outcome::Reached { address: "203.0.113.1:443".to_owned() }
}

fn refused(host: &str) -> Outcome {
    Outcome::Refused(UrlRefusal::NotListed { host: host.to_owned(), port: 443 })
}

fn failed(why: &str) -> Outcome {
    Outcome::Failed { why: why.to_owned() }
}

#[test]
fn the_same_is_one_entry_and_other_ports_and_outcomes_are_others() {
    let ledger = Ledger::default();
    for (host, port, outcome) in [
        ("a.test", 443, reached()),
        ("a.test", 443, reached()),
        ("a.test", 80, reached()),
        ("a.test", 443, refused("a.test")),
        ("a.test", 443, Outcome::Refused(UrlRefusal::Header { name: "x".to_owned() })),
        ("a.test", 443, failed("")),
        ("b.test", 443, reached()),
    ] {
        ledger.note(host, port, outcome).sent.fetch_add(3, Ordering::Relaxed);
    }
    let contacts = ledger.contacts();
    let first = contacts.iter().find(|one| one.host == "a.test" && one.port == 443 && one.times == 2);
    assert_eq!(contacts.len(), 6);
    assert_eq!(first.map(|one| (&one.outcome, one.bytes_sent)), Some((&reached(), 6)));
}

/// One outcome of each kind for a host, with the room it has.
fn kinds(host: &str) -> Vec<(Outcome, usize)> {
    let host = || host.to_owned();
    vec![
        (reached(), 256),
        (Outcome::Refused(UrlRefusal::Metadata { host: host(), address: None }), 64),
        (Outcome::Refused(UrlRefusal::Kubernetes { host: host() }), 64),
        (Outcome::Refused(UrlRefusal::LocalName { host: host() }), 64),
        (refused(&host()), 64),
        (failed(&host()), 64),
    ]
}

#[test]
fn a_flood_of_one_kind_hides_nothing_of_another() {
    let n_kinds = kinds("").len();
    for flooding in 0..n_kinds {
        let ledger = Ledger::default();
        for n in 0..1000 {
            let host = format!("{n}.test");
            ledger.note(&host, 443, kinds(&host).swap_remove(flooding).0);
        }
        for (outcome, _) in kinds("late.test") {
            ledger.note("late.test", 443, outcome);
        }
        // Those that have an entry keep it.
        ledger.note("0.test", 443, kinds("0.test").swap_remove(flooding).0);
        let contacts = ledger.contacts();
        let (_, room) = kinds("").swap_remove(flooding);
        let late = contacts.iter().filter(|one| one.host == "late.test").count();
        assert_eq!((contacts.len(), late), (room + 1 + n_kinds - 1, n_kinds - 1), "{flooding}");
        let rest: Vec<&Contact> = contacts.iter().filter(|one| one.host == REST).collect();
        let [rest] = rest.as_slice() else { panic!("{rest:?}") };
        // Of its kind, and in the words of the first that found no room.
        let first = kinds(&format!("{room}.test")).swap_remove(flooding).0;
        assert_eq!((&rest.outcome, rest.times), (&first, 1001 - room as u64));
    }
}

#[test]
fn what_was_asked_for_is_there_until_something_comes_of_it() {
    let ledger = Ledger::default();
    let left = |times| vec![("a.test".to_owned(), failed(LEFT), times)];
    let contacts = || -> Vec<(String, Outcome, u64)> {
        let contacts = ledger.contacts().into_iter();
        contacts.map(|one| (one.host, one.outcome, one.times)).collect()
    };
    let (one, two) = (ledger.ask("a.test", 443), ledger.ask("a.test", 443));
    assert_eq!(contacts(), left(2));
    ledger.hand_over(one);
    assert_eq!(contacts(), left(1));
    ledger.became(two, reached());
    assert_eq!(contacts(), [("a.test".to_owned(), reached(), 1)]);

    // A crowd that comes to nothing leaves no entry, and room for others.
    let crowd: Vec<Asked> = (0..200).map(|n| ledger.ask(&format!("{n}.test"), 443)).collect();
    assert_eq!(contacts().len(), 1 + 64 + 1);
    crowd.into_iter().for_each(|asked| ledger.hand_over(asked));
    assert_eq!(contacts().len(), 1);
    drop(ledger.ask("b.test", 443));
    assert_eq!(contacts()[1], ("b.test".to_owned(), failed(LEFT), 1));
}

#[test]
fn the_first_text_stays() {
    let ledger = Ledger::default();
    for named in ["first.test", "second.test"] {
        let refusal = UrlRefusal::Mismatch { host: "a.test".to_owned(), named: named.to_owned() };
        ledger.note("a.test", 443, Outcome::Refused(refusal));
    }
    let first = UrlRefusal::Mismatch { host: "a.test".to_owned(), named: "first.test".to_owned() };
    assert_eq!(ledger.contacts()[0].outcome, Outcome::Refused(first));
}

#[test]
fn texts_are_cut_between_characters() {
    let ledger = Ledger::default();
    let (long, short) = ("é".repeat(1000), "é".repeat(126));
    ledger.note(&long, 1, Outcome::Refused(UrlRefusal::Header { name: long.clone() }));
    ledger.note(&long, 2, Outcome::Refused(UrlRefusal::Mismatch { host: long.clone(), named: long.clone() }));
    let [header, mismatch] = &ledger.contacts()[..] else { panic!() };
    assert_eq!((&header.host, &mismatch.host), (&short, &short));
    assert_eq!(header.outcome, Outcome::Refused(UrlRefusal::Header { name: short.clone() }));
    let cut = UrlRefusal::Mismatch { host: short.clone(), named: short.clone() };
    assert_eq!(mismatch.outcome, Outcome::Refused(cut));
}
