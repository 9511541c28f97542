//! What must hold for every text that is read as an address. Also used by the fuzz target of the same name, so it knows
//! only the public face.

use vambrace_policy::url::{
    AddressClass, AllowEntry, Host, HostPattern, UrlPolicy, UrlSettings, WebUrl, classify,
};

/// A URL that was read is read again as itself, and says nothing that ends a line of a request.
fn is_stable(url: &WebUrl) -> Result<(), String> {
    let again = WebUrl::parse(url.as_str()).map_err(|refusal| format!("{}: {refusal:?}", url.as_str()))?;
    if again.as_str() != url.as_str() || again.host() != url.host() || again.port() != url.port() {
        return Err(format!("{} is read again as {}", url.as_str(), again.as_str()));
    }
    let ends_a_line = |text: &str| text.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
    if ends_a_line(&url.target()) || ends_a_line(&url.authority()) || url.authority().contains('@') {
        return Err(format!("{:?} beside {:?}", url.authority(), url.target()));
    }
    Ok(())
}

fn is_public(host: &Host) -> bool {
    match host {
        Host::Name(name) => name.contains('.') && !name.ends_with('.'),
        Host::Address(address) => classify(*address) == AddressClass::Public,
    }
}

/// It is read or refused, as a URL, as a redirect, and as an entry of a list; without a list only public places are
/// admitted; what is told is what is decided.
pub(crate) fn check(input: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    let _ = HostPattern::parse(text);
    let _ = AllowEntry::parse(text);
    let _ = AllowEntry::for_programs(text);
    let base = WebUrl::parse("https://a.example/b/c?d").map_err(|refusal| format!("{refusal:?}"))?;
    if let Ok(joined) = base.join(text) {
        is_stable(&joined)?;
    }
    let policy = UrlPolicy::new(UrlSettings::default());
    let told = policy.explain(text, None).iter().all(|step| step.allowed);
    let Ok(url) = WebUrl::parse(text) else {
        return if told { Err(format!("{text:?} is refused, and nothing of it")) } else { Ok(()) };
    };
    is_stable(&url)?;
    let admitted = policy.admit(&url).is_ok();
    if admitted != told {
        return Err(format!("{text:?}: admitted {admitted}, told {told}"));
    }
    if admitted && !is_public(url.host()) {
        return Err(format!("{text:?} is admitted"));
    }
    Ok(())
}
