use vambrace_types::Role;

use super::*;
use crate::url::{AllowEntry, UrlSettings};

fn request(url: &str) -> FetchUrl {
    FetchUrl {
        url: WebUrl::parse(url).unwrap(),
        method: "GET".to_owned(),
        headers: Vec::new(),
        body: None,
        author: Author::Model,
        voice: Voice::Seed000,
        answers: Answers::Unasked,
        time: None,
        spelled: Vec::new(),
        length: None,
        named: None,
    }
}

fn header(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: Secret::new(value.to_owned()) }
}

#[track_caller]
fn check_form(author: Author, rules: &RequestRules, method: &str, headers: &[(&str, &str)], expected: &str) {
    let headers = headers.iter().map(|(name, value)| header(name, value)).collect();
    let request = FetchUrl { method: method.to_owned(), headers, author, ..request("https://example.com/") };
    let caller = Caller::named("ann", Role::Dev, Door::System);
    let judged = request.judge_form().and_then(|()| request.judge_author(rules, &caller));
    let refused = judged.map_or_else(|refusal| refusal.rule(), |()| "");
    assert_eq!(refused, expected, "{author:?} {method} {:?}", request.headers);
}

#[test]
fn a_model_sets_harmless_headers() {
    use Author::{Model, Operator, Ourselves};
    let usual = RequestRules::default();
    let wide = RequestRules { methods: vec!["GET".to_owned(), "POST".to_owned()], any_header: true };
    check_form(Model, &usual, "GET", &[], "");
    check_form(Model, &usual, "HEAD", &[("accept", "text/html")], "");
    check_form(Model, &usual, "POST", &[], "net.methods");
    check_form(Model, &wide, "POST", &[], "");
    check_form(Operator, &usual, "POST", &[], "");
    check_form(Model, &usual, "GET", &[("accept", "a"), ("authorization", "b")], "net.headers");
    check_form(Model, &wide, "GET", &[("authorization", "b")], "");
    check_form(Operator, &usual, "GET", &[("authorization", "b")], "");
    check_form(Model, &usual, "GET", &[("metadata-flavor", "Google")], "net.headers");
    for author in [Model, Operator, Ourselves] {
        check_form(author, &wide, "CONNECT", &[], "net.methods");
        check_form(author, &wide, "GET /a\r\n", &[], "net.methods");
        check_form(author, &wide, "GET", &[("host", "a")], "net.headers");
        check_form(author, &wide, "GET", &[("transfer-encoding", "chunked")], "net.headers");
        check_form(author, &wide, "GET", &[("x: y\r\nz", "a")], "net.headers");
        check_form(author, &wide, "GET", &[("", "a")], "net.headers");
        for value in ["a\r\nhost: b", "a\n", "a\r", "\0"] {
            check_form(author, &wide, "GET", &[("x", value)], "net.headers");
        }
    }
}

#[track_caller]
fn check_answers(settings: &UrlSettings, url: &str, answers: Answers, expected: Result<(), &str>) {
    let policy = UrlPolicy::new(settings.clone());
    let request = FetchUrl { answers: answers.clone(), ..request(url) };
    let judged = policy.admit(&request.url).and_then(|terms| request.judge_answers(&policy, &terms));
    assert_eq!(judged.map_err(|refusal| refusal.rule()), expected, "{url} {answers:?}");
}

#[test]
fn every_answer_has_to_pass() {
    let found =
        |answers: &[&str]| Answers::Found(answers.iter().map(|address| address.parse().unwrap()).collect());
    let usual = UrlSettings::default();
    let name = "https://a.example.com/";
    check_answers(&usual, name, Answers::Unasked, Ok(()));
    check_answers(&usual, name, found(&["93.184.215.14"]), Ok(()));
    check_answers(&usual, name, found(&["93.184.215.14", "2600::1"]), Ok(()));
    check_answers(&usual, name, found(&["93.184.215.14", "10.0.0.1"]), Err("tools.url_policy.ranges"));
    check_answers(&usual, name, found(&["93.184.215.14", "::ffff:10.0.0.1"]), Err("tools.url_policy.ranges"));
    let mut many = vec!["93.184.215.14"; 9];
    many.push("127.0.0.1");
    check_answers(&usual, name, found(&many), Err("tools.url_policy.ranges"));
    let missing = Err("tools.url_policy.on_dns_failure");
    check_answers(&usual, name, Answers::Missing, missing);
    check_answers(&usual, name, found(&[]), missing);
    let defers = UrlSettings { on_dns_failure: OnDnsFailure::Defer, ..usual.clone() };
    check_answers(&defers, name, Answers::Missing, Ok(()));
    check_answers(&usual, "https://93.184.215.14/", Answers::Unasked, Ok(()));
    check_answers(&usual, "https://93.184.215.14/", found(&["93.184.215.14"]), Ok(()));
    // An address is not another address.
    let other = Err("tools.url_policy.allowed_domains");
    check_answers(&usual, "https://93.184.215.14/", found(&["93.184.215.15"]), other);
    let entry = AllowEntry::parse("a.example.com").unwrap().with_cidr("127.0.0.0/8").unwrap();
    let listed = UrlSettings { allowed: vec![entry], ..usual };
    check_answers(&listed, name, found(&["127.0.0.1"]), Ok(()));
    check_answers(&listed, name, found(&["93.184.215.14"]), other);
}

#[track_caller]
fn check_sent(request: &FetchUrl, part: &str, expected: bool) {
    let found = request.sent().iter().any(|text| text.contains(part));
    assert_eq!(found, expected, "{part} in {:?}", request.sent());
}

#[test]
fn percent_signs_hide_nothing_that_is_sent() {
    // `x` one to five times over: `%78`, `%2578`, `%252578` and so on.
    let hidden = |n_times: usize| format!("a%{}78z", "25".repeat(n_times - 1));
    for n_times in 1..=5 {
        let (text, expected) = (hidden(n_times), n_times <= 4);
        let url = WebUrl::parse(&format!("https://example.com/?q={text}")).unwrap();
        check_sent(&FetchUrl { url, ..request("https://example.com/") }, "axz", expected);
        let secret = || Secret::new(text.clone());
        let body = Some(secret());
        check_sent(&FetchUrl { body, ..request("https://example.com/") }, "axz", expected);
        let headers = vec![header("accept", &text)];
        check_sent(&FetchUrl { headers, ..request("https://example.com/") }, "axz", expected);
        let spelled = vec![text.clone()];
        let author = Author::Operator;
        check_sent(&FetchUrl { spelled, author, ..request("https://example.com/") }, "axz", expected);
        // Every stage, also the first.
        check_sent(&FetchUrl { body: Some(secret()), ..request("https://example.com/") }, &text, true);
    }
    let odd = ["100%", "%", "%zz", "a%00b", "%ff"];
    for text in odd {
        let body = Some(Secret::new(text.to_owned()));
        check_sent(&FetchUrl { body, ..request("https://example.com/") }, text, true);
    }
}

/// News of a task are ours to send; called by name, the same tool is refused at every door.
#[test]
fn only_we_send_news() {
    let rules = RequestRules { methods: vec!["POST".to_owned()], any_header: true };
    let request = FetchUrl {
        method: "POST".to_owned(),
        author: Author::Ourselves,
        body: Some(Secret::new("{}".to_owned())),
        ..request("https://example.com/")
    };
    let judged = |door| request.judge_author(&rules, &Caller::named("ann", Role::Dev, door));
    assert!(judged(Door::System).is_ok());
    for door in [Door::CommandLine, Door::Terminal, Door::McpStdio, Door::McpHttp, Door::Rest, Door::A2a] {
        assert!(judged(door).is_err_and(|refusal| refusal.rule() == "net.methods"), "{door:?}");
    }
}
