//! A judgement told step by step, for people. It asks the same questions as the judgement itself.

use std::net::IpAddr;

use super::rules::Basis;
use super::{Host, OnDnsFailure, Terms, UrlPolicy, UrlRefusal, Voice, WebUrl, address};

/// One step of a judgement, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlStep {
    pub step: &'static str,
    pub what: String,
    pub allowed: bool,
    pub rule: String,
}

impl UrlPolicy {
    /// Every step with its rule; the answers of the look-up where there was one. All steps allowed: the URL
    /// is.
    pub fn explain(&self, text: &str, answers: Option<&[IpAddr]>) -> Vec<UrlStep> {
        let url = match WebUrl::parse(text) {
            Ok(url) => url,
            Err(refusal) => return vec![step("parse", Err(&refusal), "", "tools.url_policy")],
        };
        let terms = self.terms(&url);
        let what = format!("{} on port {} by {}", url.host(), url.port(), url.scheme().as_str());
        let mut steps = vec![step("parse", Ok(()), &what, "tools.url_policy")];
        steps.push(step("allowed list", Ok(()), listed(&terms), terms.rule()));
        let mut add = |name, result: Result<(), UrlRefusal>, rule: &str| {
            steps.push(step(name, result.as_ref().copied(), "nothing against it", rule));
        };
        add("blocked list", self.admit_list(&terms, &url), "tools.url_policy.blocked_domains");
        add("metadata", self.admit_metadata(&terms, &url), "tools.url_policy.host_rules");
        add("name", self.admit_name(&terms, &url), "tools.url_policy.host_rules");
        add("port", self.admit_port(&terms, &url), "tools.url_policy.allowed_domains");
        let literal = match url.host() {
            Host::Address(address) => Some(*address),
            Host::Name(_) => None,
        };
        let answers = match (literal.as_slice(), answers) {
            ([], Some([])) => {
                steps.push(self.unresolved(&url));
                return steps;
            }
            (literal, Some([]) | None) => literal,
            (_, Some(answers)) => answers,
        };
        steps.extend(answers.iter().map(|address| self.address_step(&terms, &url, *address)));
        steps
    }

    fn unresolved(&self, url: &WebUrl) -> UrlStep {
        let refusal = UrlRefusal::NoAddress { host: url.host().to_string() };
        let result = match self.settings().on_dns_failure {
            OnDnsFailure::Deny => Err(&refusal),
            OnDnsFailure::Defer => Ok(()),
        };
        let what = "no address; it is looked up again when the request is made";
        step("look-up", result, what, "tools.url_policy.on_dns_failure")
    }

    fn address_step(&self, terms: &Terms, url: &WebUrl, address: IpAddr) -> UrlStep {
        let row = address::row_words(address).unwrap_or_else(|| "in no special range".to_owned());
        let class = super::classify(address).words();
        let what = format!("{address}: {class} ({row})");
        match self.check(terms, url.host(), address) {
            Ok(()) => step("address", Ok(()), &what, terms.rule()),
            Err(refusal) => {
                UrlStep { step: "address", what, allowed: false, rule: refusal.rule().to_owned() }
            }
        }
    }
}

fn step(step: &'static str, result: Result<(), &UrlRefusal>, what: &str, rule: &str) -> UrlStep {
    match result {
        Ok(()) => UrlStep { step, what: what.to_owned(), allowed: true, rule: rule.to_owned() },
        Err(refusal) => UrlStep {
            step,
            what: refusal.text(Voice::Seed000),
            allowed: false,
            rule: refusal.rule().to_owned(),
        },
    }
}

fn listed(terms: &Terms) -> &'static str {
    match &terms.basis {
        Basis::Unchecked | Basis::Granted(_) => "no further rule applies",
        Basis::Ordinary => "not listed, the ordinary rules apply",
        Basis::Listed(_) | Basis::Named => "listed",
    }
}
