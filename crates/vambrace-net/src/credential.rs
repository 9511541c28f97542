//! Credentials that no agent holds, put into requests after the decision and covered in answers.

mod cover;
mod form;

use std::collections::BTreeMap;

use hyper::HeaderMap;
use vambrace_policy::url::{Binding, UrlRefusal, WebUrl};
use vambrace_types::Secret;

pub(crate) use cover::Cover;

/// A binding with its value. What programs and agents see in its place is the placeholder.
#[derive(Debug, Clone)]
pub struct Credential {
    pub binding: Binding,
    pub value: Secret<String>,
    pub placeholder: String,
}

impl Credential {
    /// With a placeholder of its own. Several bindings of a secret share one: see `Credentials::new`.
    pub fn new(binding: Binding, value: Secret<String>) -> Result<Credential, String> {
        let placeholder = placeholder(&binding.secret)?;
        Ok(Credential { binding, value, placeholder })
    }

    fn forms(&self) -> Vec<Secret<Vec<u8>>> {
        form::forms(self.value.expose(), &self.formatted())
    }

    fn formatted(&self) -> String {
        self.binding.format.replace("{secret}", self.value.expose())
    }
}

/// One that no two processes share.
fn placeholder(secret: &str) -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| format!("no random bytes: {error}"))?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    // A front of our own, so that no scanner takes it for a token of somebody.
    Ok(format!("vbx_{}_{digits}", secret.to_ascii_lowercase()))
}

#[derive(Debug, Clone, Default)]
pub struct Credentials(pub Vec<Credential>);

impl Credentials {
    /// With one placeholder for each secret: a program has one variable for it, wherever it is bound.
    pub fn new(bound: Vec<(Binding, Secret<String>)>) -> Result<Credentials, String> {
        let mut placeholders: BTreeMap<String, String> = BTreeMap::new();
        let mut credentials = Vec::new();
        for (binding, value) in bound {
            let placeholder = match placeholders.get(&binding.secret) {
                Some(placeholder) => placeholder.clone(),
                None => placeholder(&binding.secret)?,
            };
            placeholders.insert(binding.secret.clone(), placeholder.clone());
            credentials.push(Credential { binding, value, placeholder });
        }
        Ok(Credentials(credentials))
    }

    /// The headers that a request carries which was allowed.
    pub fn headers_for(&self, method: &str, url: &WebUrl) -> Vec<(String, Secret<String>)> {
        let covering = self.0.iter().filter(|credential| credential.binding.covers(method, url));
        covering
            .map(|credential| {
                let header = credential.binding.header.to_ascii_lowercase();
                (header, Secret::new(credential.formatted()))
            })
            .collect()
    }

    /// Puts the placeholder in the place of every value, in whatever form it stands there.
    pub fn cover(&self, bytes: &mut Vec<u8>) {
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for credential in &self.0 {
            for form in credential.forms() {
                let form = form.expose();
                let places = cover::occurrences(bytes, form);
                found.extend(places.map(|at| (at, at + form.len(), credential.placeholder.as_str())));
            }
        }
        // The first, and of those the longest; what overlaps it goes with it.
        found.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)));
        let mut covered = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for (at, end, placeholder) in found {
            if at >= done {
                covered.extend_from_slice(bytes.get(done..at).unwrap_or_default());
                covered.extend_from_slice(placeholder.as_bytes());
            }
            done = done.max(end);
        }
        covered.extend_from_slice(bytes.get(done..).unwrap_or_default());
        *bytes = covered;
    }

    /// How many bytes of an answer have to be there for a value in any form to be seen whole.
    pub fn longest_form(&self) -> usize {
        let forms = self.0.iter().flat_map(Credential::forms);
        forms.map(|form| form.expose().len()).max().unwrap_or(0)
    }

    /// Where an answer may hold a value: not only where one was sent just now, the server may remember one.
    pub(crate) fn cover_for(&self, url: &WebUrl) -> Option<Cover> {
        let known = self.0.iter().any(|credential| credential.binding.place.host.matches(url.host()));
        known.then(|| Cover::of(self.0.iter().flat_map(Credential::forms).collect()))
    }

    /// A placeholder goes where its secret goes: into a bound header of a request that a binding covers. On
    /// its way elsewhere it is refused: the program means to send a secret there, and would only learn that
    /// the placeholder is none.
    ///
    /// LIMIT: in bodies, and inside base64, placeholders are not looked for. They are nobody's secret.
    pub(crate) fn refuse_stray(
        &self,
        method: &str,
        url: &WebUrl,
        headers: &HeaderMap,
    ) -> Result<(), UrlRefusal> {
        for Credential { binding, placeholder, .. } in &self.0 {
            let holds = |bytes: &[u8]| memchr::memmem::find(bytes, placeholder.as_bytes()).is_some();
            let is_bound = |name: &str| {
                let same = self.0.iter().map(|one| &one.binding).filter(|one| one.secret == binding.secret);
                let mut here = same.filter(|one| one.covers(method, url));
                here.any(|one| one.header.eq_ignore_ascii_case(name))
            };
            let mut holding = headers.iter().filter(|(_, value)| holds(value.as_bytes()));
            if holds(url.as_str().as_bytes()) || holding.any(|(name, _)| !is_bound(name.as_str())) {
                return Err(UrlRefusal::Stray { secret: binding.secret.clone() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
