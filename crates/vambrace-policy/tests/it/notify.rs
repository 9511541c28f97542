//! News of tasks, which go to an address that a caller chose.

use vambrace_policy::url::{Voice, WebUrl};
use vambrace_policy::{Answers, Author, Decision, Facts, FetchUrl, Policy, SendNotification, Standing};
use vambrace_types::{Caller, Door, Role, ToolName};

use crate::question::{EPOCH, Rule, Word, World};

fn news() -> SendNotification {
    SendNotification {
        request: FetchUrl {
            url: WebUrl::parse("https://example.com/hook").unwrap(),
            method: "POST".to_owned(),
            headers: Vec::new(),
            body: None,
            author: Author::Ourselves,
            voice: Voice::Seed000,
            answers: Answers::Unasked,
            time: None,
            spelled: Vec::new(),
            length: None,
            named: None,
        },
    }
}

#[track_caller]
fn check(rules: &[(&'static str, &'static str)], door: Door, expected: Word) {
    let rules = rules.iter().map(|(tool, verdict)| Rule { tool: Some(tool), path: None, verdict });
    let world = World { rules: rules.collect(), ..World::plain() };
    let policy = Policy::new(world.settings(), EPOCH);
    let (caller, tool) = (Caller::named("ann", Role::Dev, door), ToolName::of("a2a_notify"));
    let found = match policy.decide(&caller, &Standing::Free, &tool, news(), &Facts::default()) {
        Decision::Allow(_) => Word::Allow,
        Decision::Ask(_) => Word::Ask,
        Decision::Deny(_) => Word::Deny,
    };
    assert_eq!(found, expected, "{:?}", world.rules);
}

#[test]
fn who_may_not_send_requests_may_not_have_news_sent() {
    check(&[], Door::System, Word::Allow);
    check(&[], Door::Rest, Word::Deny);
    check(&[("a2a_notify", "deny")], Door::System, Word::Deny);
    check(&[("a2a_notify", "ask")], Door::System, Word::Ask);
    check(&[("web_fetch", "deny")], Door::System, Word::Deny);
    check(&[("web_fetch", "ask")], Door::System, Word::Ask);
    // Deny beats allow here too.
    check(&[("web_fetch", "deny"), ("a2a_notify", "allow")], Door::System, Word::Deny);
    // Only reading pages is refused.
    check(&[("fetch_url", "deny")], Door::System, Word::Allow);
    check(&[("read_file", "deny")], Door::System, Word::Allow);
}
