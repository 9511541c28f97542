//! A request to another host. Its addresses are part of the action: what was decided about is exactly what is
//! dialled.

use std::net::IpAddr;

use vambrace_types::{Caller, Door, ScopedPath, Secret};

use super::{Access, Action, Allowance, sealed};
use crate::url::{
    Host, OnDnsFailure, Terms, UrlPolicy, UrlRefusal, Voice, WebUrl, is_method, is_ours,
    is_refused_from_models, is_token, is_value, undone,
};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings, Reason};

/// Who wrote the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A model: method and headers are held against what models may use.
    Model,
    /// The operator, in a declared tool; a model only filled in values.
    Operator,
    /// Vambrace itself: news of a task, to the address that its caller named. The address and the headers are the
    /// caller's, the body is a clean reply.
    Ourselves,
}

/// What is known of the addresses behind the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// Nobody has asked yet.
    Unasked,
    Found(Vec<IpAddr>),
    /// The name has none.
    Missing,
}

#[derive(Debug, Clone)]
pub struct Header {
    /// Lower case.
    pub name: String,
    pub value: Secret<String>,
}

#[derive(Debug, Clone)]
pub struct FetchUrl {
    pub url: WebUrl,
    /// Upper case.
    pub method: String,
    pub headers: Vec<Header>,
    pub body: Option<Secret<String>>,
    pub author: Author,
    pub voice: Voice,
    pub answers: Answers,
    pub time: Option<std::time::Duration>,
    /// What the caller wrote, before it was parsed, lower-cased or filled into a template: secrets are looked for in it.
    pub spelled: Vec<String>,
    /// How much of the answer the caller wants to see. Nothing is decided by it.
    pub length: Option<usize>,
    /// The one place that the operator named for requests like this, where the ordinary rules would be too
    /// narrow: a sub-agent on a private network. INVARIANT: from the operator's configuration alone. It opens
    /// no other host or port.
    pub named: Option<Named>,
}

/// A host and port that the operator's configuration names as somebody to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub host: Host,
    pub port: u16,
    /// Where it is set.
    pub rule: String,
}

impl sealed::Sealed for FetchUrl {}
impl Action for FetchUrl {
    const CAPABILITY: Capability = Capability::FetchWeb;
    const KINDS: Kinds = Kinds::SENDS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    /// What a caller makes us send: a secret that it learned of somehow would leave with it. What the operator wrote is the
    /// operator's.
    fn sent(&self) -> Vec<String> {
        let mut texts = self.spelled.clone();
        match self.author {
            Author::Operator => {}
            Author::Model => {
                texts.push(self.url.as_str().to_owned());
                // A label is short; a secret goes into several.
                texts.push(self.url.host().to_string().replace('.', ""));
                for header in &self.headers {
                    texts.extend([header.name.clone(), header.value.expose().clone()]);
                }
                texts.extend(self.body.iter().map(|body| body.expose().clone()));
            }
            Author::Ourselves => {
                texts.push(self.url.as_str().to_owned());
                texts.push(self.url.host().to_string().replace('.', ""));
                texts.extend(self.headers.iter().map(|header| header.value.expose().clone()));
                // Callers choose words in what we write as well: the names of their tasks and conversations.
                texts.extend(self.body.iter().map(|body| body.expose().clone()));
            }
        }
        // THREAT: P02, `%2541` is `A` for whoever undoes it twice.
        texts.iter().flat_map(|text| undone(text)).collect()
    }

    fn judge(&self, settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
        let refuse = |refusal: UrlRefusal| {
            let rule = refusal.rule();
            Denial::new(Reason::Url { refusal, voice: self.voice }, rule)
        };
        let terms = self.terms(&settings.url).map_err(refuse)?;
        self.judge_answers(&settings.url, &terms).map_err(refuse)?;
        self.judge_form().map_err(refuse)?;
        self.judge_author(&settings.requests, caller).map_err(refuse)?;
        Ok(Judgement::by(terms.rule()))
    }

    fn time(&self) -> Allowance {
        self.time.map_or(Allowance::Usual, Allowance::Own)
    }
}

impl FetchUrl {
    /// Under which the URL is admitted, here and at the door.
    pub fn terms(&self, policy: &UrlPolicy) -> Result<Terms, UrlRefusal> {
        match &self.named {
            None => policy.admit(&self.url),
            Some(named) => policy.admit_named(&self.url, named),
        }
    }

    fn judge_answers(&self, policy: &UrlPolicy, terms: &Terms) -> Result<(), UrlRefusal> {
        match &self.answers {
            Answers::Unasked => Ok(()),
            Answers::Found(addresses) if !addresses.is_empty() => {
                addresses.iter().try_for_each(|address| policy.check(terms, self.url.host(), *address))
            }
            Answers::Found(_) | Answers::Missing => match (self.url.host(), policy.settings().on_dns_failure)
            {
                (Host::Name(name), OnDnsFailure::Deny) => Err(UrlRefusal::NoAddress { host: name.clone() }),
                (Host::Name(_) | Host::Address(_), OnDnsFailure::Defer) | (Host::Address(_), _) => Ok(()),
            },
        }
    }

    fn judge_author(&self, rules: &RequestRules, caller: &Caller) -> Result<(), UrlRefusal> {
        match (self.author, caller.door) {
            (Author::Operator, _) | (Author::Ourselves, Door::System) => Ok(()),
            (Author::Model, _) => rules.judge(&self.method, &self.headers),
            // THREAT: P05, whoever calls our own tool by its name would send what models may not send.
            (
                Author::Ourselves,
                Door::CommandLine | Door::Terminal | Door::McpStdio | Door::McpHttp | Door::Rest | Door::A2a,
            ) => Err(UrlRefusal::Method { method: self.method.clone() }),
        }
    }

    /// What would make another request of it, whoever wrote it.
    fn judge_form(&self) -> Result<(), UrlRefusal> {
        if !is_method(&self.method) {
            return Err(UrlRefusal::Method { method: self.method.clone() });
        }
        let is_wrong = |header: &&Header| {
            !is_token(&header.name) || is_ours(&header.name) || !is_value(header.value.expose())
        };
        match self.headers.iter().find(is_wrong) {
            Some(header) => Err(UrlRefusal::Header { name: header.name.clone() }),
            None => Ok(()),
        }
    }
}

/// What a model may ask for (decision C48).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRules {
    /// Upper case.
    pub methods: Vec<String>,
    /// Whether a model may set any header.
    pub any_header: bool,
}

impl Default for RequestRules {
    fn default() -> RequestRules {
        RequestRules { methods: vec!["GET".to_owned(), "HEAD".to_owned()], any_header: false }
    }
}

impl RequestRules {
    fn judge(&self, method: &str, headers: &[Header]) -> Result<(), UrlRefusal> {
        if !self.methods.iter().any(|own| own == method) {
            return Err(UrlRefusal::Method { method: method.to_owned() });
        }
        let wrong = headers.iter().find(|header| !self.any_header && is_refused_from_models(&header.name));
        match wrong {
            Some(header) => Err(UrlRefusal::Header { name: header.name.clone() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
