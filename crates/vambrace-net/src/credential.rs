//! Credentials that no agent holds, put into requests after the decision and covered in answers.

mod cover;

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
    /// With a placeholder of its own, which no two processes share.
    pub fn new(binding: Binding, value: Secret<String>) -> Result<Credential, String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| format!("no random bytes: {error}"))?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // A front of our own, so that no scanner takes it for a token of somebody.
        let placeholder = format!("vbx_{}_{digits}", binding.secret.to_ascii_lowercase());
        Ok(Credential { binding, value, placeholder })
    }

    fn formatted(&self) -> String {
        self.binding.format.replace("{secret}", self.value.expose())
    }
}

#[derive(Debug, Clone, Default)]
pub struct Credentials(pub Vec<Credential>);

impl Credentials {
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

    /// Puts the placeholder in the place of every value.
    pub fn cover(&self, bytes: &mut Vec<u8>) {
        for credential in &self.0 {
            let value = credential.value.expose().as_bytes();
            if value.is_empty() || memchr::memmem::find(bytes, value).is_none() {
                continue;
            }
            let mut covered = Vec::with_capacity(bytes.len());
            let mut from = 0;
            for at in memchr::memmem::find_iter(bytes, value) {
                covered.extend_from_slice(bytes.get(from..at).unwrap_or_default());
                covered.extend_from_slice(credential.placeholder.as_bytes());
                from = at + value.len();
            }
            covered.extend_from_slice(bytes.get(from..).unwrap_or_default());
            *bytes = covered;
        }
    }

    /// Where an answer may hold a value: not only where one was sent just now, the server may remember one.
    pub(crate) fn cover_for(&self, url: &WebUrl) -> Option<Cover> {
        let known = self.0.iter().any(|credential| credential.binding.place.host.matches(url.host()));
        known.then(|| Cover::of(self.0.iter().map(|one| (one.value.expose().as_str(), one.formatted()))))
    }

    /// A placeholder on its way to where its credential does not go is refused: the program means to send a
    /// secret there, and would only learn that the placeholder is none.
    ///
    /// LIMIT: in bodies, and inside base64, placeholders are not looked for. They are nobody's secret.
    pub(crate) fn refuse_stray(
        &self,
        method: &str,
        url: &WebUrl,
        headers: &HeaderMap,
    ) -> Result<(), UrlRefusal> {
        for credential in &self.0 {
            if credential.binding.covers(method, url) {
                continue;
            }
            let placeholder = credential.placeholder.as_bytes();
            let holds = |bytes: &[u8]| memchr::memmem::find(bytes, placeholder).is_some();
            if let Some((name, _)) = headers.iter().find(|(_, value)| holds(value.as_bytes())) {
                return Err(UrlRefusal::Header { name: name.as_str().to_owned() });
            }
            if holds(url.as_str().as_bytes()) {
                return Err(UrlRefusal::Header { name: ":path".to_owned() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
