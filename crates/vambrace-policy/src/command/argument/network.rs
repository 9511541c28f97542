//! Words that reach other hosts or go there. This is the first of two locks: what is not seen here (a redirect, the
//! address of a remote), the proxy of the cage still judges.

use super::kind::Fault;
use super::place::{Place, System};
use crate::command::{CommandRefusal, Word};
use crate::url::is_refused_from_models;
use crate::url::{AllowEntry, Host, ProgramGrant, WebUrl};
use crate::{Access, Denial, Reason};

/// The hosts that are listed for one program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<'a> {
    pub(crate) program: &'a str,
    pub(crate) grants: &'a [ProgramGrant],
}

impl<'a> Reach<'a> {
    /// For what starts no program.
    pub(crate) const NOWHERE: Reach<'static> = Reach { program: "", grants: &[] };

    fn entries(self) -> impl Iterator<Item = &'a AllowEntry> {
        let own = self.grants.iter().filter(move |grant| grant.is_for(std::iter::once(self.program)));
        own.map(|grant| &grant.entry)
    }

    pub(crate) fn is_any(self) -> bool {
        self.entries().next().is_some()
    }
}

/// `{a,b}` and `[1-9]`, from which curl makes many addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signs {
    Refused,
    Taken,
}

const MULTIPLIES: [char; 4] = ['{', '}', '[', ']'];

fn why<T>(text: &str) -> Result<T, Fault> {
    Err(Fault::Why(text.to_owned()))
}

pub(crate) fn url(text: &str, signs: Signs, place: &Place<'_>) -> Result<&'static str, Fault> {
    listed(text, signs, place)?;
    Ok("address")
}

/// THREAT: P05, `http://listed\@other/`: readers of addresses differ about odd ones, and the program's is not ours. Only what
/// all read alike is taken.
fn listed<'t>(text: &'t str, signs: Signs, place: &Place<'_>) -> Result<&'t str, Fault> {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return why("an address begins with `https://` or `http://`");
    }
    if !text.chars().all(|character| character.is_ascii_graphic() && character != '\\') {
        return why("spaces, backslashes and letters outside ASCII are percent-encoded in an address");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if authority.contains(['%', '*']) || authority.is_empty() {
        return why("the host is written out in an address");
    }
    let is_ipv6 = authority.starts_with('[');
    let multiplied = if is_ipv6 { tail } else { rest };
    if signs == Signs::Refused && multiplied.contains(MULTIPLIES) {
        return why("curl makes many addresses of braces and brackets: percent-encode them, or give `-g`");
    }
    // An empty name too, which the parser forgives.
    if authority.contains('@') {
        return why("an address holds no name and no password");
    }
    let url = WebUrl::parse(text).or_else(|_| why("it is no address"))?;
    let (host, port) = (url.host(), url.port());
    if place.reach.entries().any(|entry| entry.matches(host, port)) {
        return Ok(tail);
    }
    let host = match host {
        Host::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
        Host::Address(_) | Host::Name(_) => host.to_string(),
    };
    let refusal = CommandRefusal::Host { host, port };
    let rule = refusal.rule();
    Err(Fault::Denied(Denial::new(Reason::Command(refusal), rule)))
}

/// What becomes of an address whose path ends in no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nameless {
    Refused,
    /// wget has a name for it.
    Index,
}

/// The file is called as the path ends; wget takes the query along.
pub(crate) fn saved_url(
    text: &str,
    nameless: Nameless,
    place: &mut Place<'_>,
) -> Result<&'static str, Fault> {
    let tail = listed(text, Signs::Refused, place)?;
    let tail = tail.split('#').next().unwrap_or_default();
    let path = tail.split('?').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let query = tail.strip_prefix(path).unwrap_or_default();
    // curl takes the percent signs as they are and wget decodes them.
    if name.contains('%') || name == "." || name == ".." {
        return why("its end is no plain name for a file: name the file with `-o` (curl) or `-O` (wget)");
    }
    let name = match (name, nameless) {
        ("", Nameless::Refused) => return why("its end names no file: name the file with `-o`"),
        ("", Nameless::Index) => "index.html",
        (name, Nameless::Refused | Nameless::Index) => name,
    };
    for name in [name.to_owned(), format!("{name}{}", query.replace('/', "%2F"))] {
        place.judge(&name, Access::Write, System::Refused)?;
    }
    Ok("address")
}

pub(crate) fn header(text: &str) -> Result<&'static str, Fault> {
    line(text)?;
    // `Name:` takes a header away and `Name;` sends it empty, both of them in curl.
    let (name, _) = text.split_once([':', ';']).unwrap_or((text, ""));
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(is_token) {
        return why("a header is written `Name: value`");
    }
    if is_refused_from_models(&name.to_ascii_lowercase()) {
        return why("this header names a host, a connection or a credential");
    }
    Ok("header")
}

pub(crate) fn line(text: &str) -> Result<&'static str, Fault> {
    if text.contains(char::is_control) { why("it must be one line") } else { Ok("text") }
}

pub(crate) fn data(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    match text.strip_prefix('@') {
        Some(file) => read(word, file, place),
        None => Ok("text"),
    }
}

/// curl looks for `=` first, and for `@` only where there is none.
pub(crate) fn encoded_data(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    match text.split_once('@') {
        Some((_, file)) if !text.contains('=') => read(word, file, place),
        Some(_) | None => Ok("text"),
    }
}

pub(crate) fn upload(word: &Word, text: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    // THREAT: P06, `-T '{.env,x}'`: one word, two files.
    if text.contains(MULTIPLIES) {
        return why("curl makes many names of braces and brackets");
    }
    read(word, text, place)
}

fn read(word: &Word, file: &str, place: &mut Place<'_>) -> Result<&'static str, Fault> {
    if word.is_glob() {
        return why("write the name of the file out");
    }
    match file {
        "-" => Ok("standard input"),
        file => Ok(place.judge(file, Access::Read, System::Counts)?),
    }
}

/// What `--write-out` takes: newer versions write a file with it.
pub(crate) fn curl_format(text: &str) -> Result<&'static str, Fault> {
    if text.starts_with('@') {
        return why("the format is written out, not read from a file");
    }
    if text.contains("%output{") {
        return why("it would write a file");
    }
    Ok("format")
}

/// A name leads where the repository's configuration says, and the proxy judges that.
pub(crate) fn remote(text: &str, place: &Place<'_>) -> Result<&'static str, Fault> {
    if text.contains("://") {
        return url(text, Signs::Taken, place);
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    // THREAT: P06, `ext::sh`, `host:path`, `../other`: helpers, ssh and folders.
    if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        return Ok("remote");
    }
    why("it must be the name of a remote, or an address with `https://`")
}

pub(crate) fn remote_ref(text: &str) -> Result<&'static str, Fault> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        return Ok("branch or tag");
    }
    why("it must be a branch or a tag, without `:` and `+`")
}

#[cfg(test)]
mod tests;
