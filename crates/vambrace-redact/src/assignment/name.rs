//! The name of a secret: what stands around the keyword, and whether all of it still names one.

use std::ops::Range;

use super::value::is_key;
use crate::check;
use crate::class::word;

pub(super) const LONGEST: usize = 40;

/// What the name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Chosen by a person: it may be a word with a digit.
    Password,
    /// Made by a machine: it looks random.
    Secret,
}

/// Whole words; `key` needs another word before it.
pub(crate) use crate::rules::ASSIGNMENT_KEYWORDS as KEYWORDS;
/// `app_key`, `hmac-key`, `jwt.key`: what opens something. A primary or foreign or cache key does not.
const KEY_WORDS: [&str; 30] = [
    "admin",
    "aes",
    "app",
    "auth",
    "cipher",
    "client",
    "consumer",
    "crypt",
    "crypto",
    "decryption",
    "deploy",
    "enc",
    "encrypt",
    "hmac",
    "ingest",
    "integration",
    "jwt",
    "licence",
    "priv",
    "root",
    "rsa",
    "security",
    "server",
    "service",
    "sign",
    "signature",
    "ssh",
    "storage",
    "subscription",
    "write",
];
/// Keys of tables, caches and messages, what everybody may see, and keys that have a keyword of their own.
const HARMLESS_KEYS: [&str; 96] = [
    "access",
    "account",
    "api",
    "artifact",
    "blob",
    "bucket",
    "build",
    "cache",
    "checksum",
    "child",
    "class",
    "commit",
    "component",
    "composite",
    "config",
    "data",
    "dedup",
    "dict",
    "digest",
    "el",
    "elem",
    "encryption",
    "end",
    "entry",
    "etag",
    "event",
    "evt",
    "expected",
    "file",
    "first",
    "foreign",
    "group",
    "hash",
    "host",
    "hot",
    "i18n",
    "idempotency",
    "index",
    "issue",
    "item",
    "job",
    "json",
    "kat",
    "label",
    "last",
    "left",
    "license",
    "lock",
    "lookup",
    "map",
    "master",
    "message",
    "natural",
    "next",
    "node",
    "obj",
    "object",
    "parent",
    "partition",
    "prev",
    "primary",
    "private",
    "product",
    "project",
    "pub",
    "public",
    "public_host",
    "publishable",
    "query",
    "range",
    "registry",
    "right",
    "route",
    "routing",
    "row",
    "s3",
    "self",
    "session",
    "shared",
    "signing",
    "sort",
    "start",
    "state",
    "style",
    "sub",
    "tag",
    "test",
    "theme",
    "this",
    "trace",
    "translation",
    "unique",
    "verification",
    "verify",
    "verifying",
    "want",
];
/// Keywords that are parts of many other words, so a word has to begin with them.
const SHORT: [&str; 4] = ["pass", "creds", "bearer", "pwd"];
/// But these are glued to them often.
const GLUED: [&str; 14] =
    ["db", "user", "my", "root", "admin", "smtp", "mail", "ftp", "ssh", "sql", "old", "new", "key", "store"];

/// `secret_name`, `token_url`, `password_file`: about a secret, but not one.
const ABOUT: [&str; 64] = [
    "name",
    "file",
    "path",
    "url",
    "uri",
    "type",
    "length",
    "size",
    "count",
    "limit",
    "field",
    "policy",
    "expir",
    "ttl",
    "time",
    "date",
    "hint",
    "reset",
    "label",
    "format",
    "regex",
    "pattern",
    "min",
    "max",
    "version",
    "endpoint",
    "host",
    "kind",
    "provider",
    "header",
    "algo",
    "usage",
    "prefix",
    "index",
    "store",
    "class",
    "title",
    "text",
    "message",
    "error",
    "invalid",
    "required",
    "strength",
    "help",
    "desc",
    "column",
    "param",
    "_env",
    "ref",
    "mode",
    "enabled",
    "display",
    "prompt",
    "input",
    "valid",
    "grant",
    "scope",
    "issuer",
    "audience",
    "manager",
    "stream",
    "list",
    "mask",
    "placeholder",
];
/// Shown to everybody on purpose, or no secret at all: the token of a page, of a parser, of a cursor.
const PUBLIC: [&str; 17] = [
    "public",
    "csrf",
    "xsrf",
    "publishable",
    "authenticity",
    "nexttoken",
    "next_token",
    "next-token",
    "page",
    "continuation",
    "cancel",
    "idempotency",
    "primary",
    "foreign",
    "jsonweb",
    "verification",
    "site",
];

pub(super) struct Name {
    /// With everything that is glued to the keyword.
    pub(super) range: Range<usize>,
    pub(super) class: Class,
    pub(super) keyword: Range<usize>,
}

impl Name {
    /// Reads around the keyword at `place`. Cheap, because the words are frequent: most are refused by `joint` next.
    pub(super) fn read(hay: &[u8], place: usize, keyword: &str) -> Option<Name> {
        let end = place + keyword.len();
        let rest = hay.get(end..hay.len().min(end + LONGEST))?;
        let key = hay.get(place..end)?;
        if !begins_word(key, rest) {
            return None;
        }
        let suffix = rest.iter().take_while(|byte| name_byte(**byte)).count();
        let before = hay.get(place.saturating_sub(LONGEST)..place)?;
        let prefix = before.iter().rev().take_while(|byte| name_byte(**byte)).count();
        let class = if keyword.starts_with('p') && !keyword.starts_with("pr") {
            Class::Password
        } else {
            Class::Secret
        };
        Some(Name { range: place - prefix..end + suffix, class, keyword: place..end })
    }

    /// Is the name that of a secret, and the value what it promises? Last, because looking at every part takes longest.
    pub(super) fn keeps(&self, hay: &[u8], value: &[u8]) -> bool {
        let part = |range: Range<usize>| hay.get(range).unwrap_or_default();
        let (key, suffix) = (part(self.keyword.clone()), part(self.keyword.end..self.range.end));
        let prefix = part(self.range.start..self.keyword.start);
        let is_id = matches!(suffix, [.., b'i' | b'I', b'd' | b'D']);
        let about = || ABOUT.iter().any(|word| check::contains_folded(suffix, word.as_bytes()));
        let so_far = part(self.range.start..self.keyword.end);
        let public = || PUBLIC.iter().any(|word| check::contains_folded(so_far, word.as_bytes()));
        if is_id || about() || public() {
            return false;
        }
        if key.eq_ignore_ascii_case(b"key") {
            return opens(key, prefix, suffix, value);
        }
        // Patterns are called so too.
        if key.eq_ignore_ascii_case(b"_pat") {
            return is_key(value);
        }
        stands_alone(key, prefix)
    }
}

/// `hmac_key` opens something. `acme_key` may be the key to a service that nobody here has heard of: then the value has
/// to look like one. A `key` alone is one of a table as often as not, unless it is an option.
fn opens(key: &[u8], prefix: &[u8], suffix: &[u8], value: &[u8]) -> bool {
    let (words, parted) = match prefix {
        [words @ .., b'_' | b'-' | b'.'] => (words, true),
        [.., b'a'..=b'z' | b'0'..=b'9'] if key.first() == Some(&b'K') => (prefix, false),
        _ => return false,
    };
    if parted && KEY_WORDS.iter().any(|word| ends_with_word(words, word)) {
        return true;
    }
    let plain_suffix = suffix.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'-'));
    let option = words == b"-";
    let named = words.iter().filter(|byte| byte.is_ascii_alphabetic()).count() > 1;
    let harmless = || HARMLESS_KEYS.iter().any(|word| ends_with_word(words, word));
    plain_suffix && (option || named) && is_key(value) && !harmless()
}

fn stands_alone(key: &[u8], prefix: &[u8]) -> bool {
    let short = SHORT.iter().any(|word| key.eq_ignore_ascii_case(word.as_bytes()));
    let new_word = match (prefix.last(), key.first()) {
        (Some(a), Some(b)) => !a.is_ascii_alphabetic() || (a.is_ascii_lowercase() && b.is_ascii_uppercase()),
        _ => true,
    };
    !short || new_word || GLUED.iter().any(|word| ends_with_word(prefix, word))
}

fn ends_with_word(text: &[u8], word: &str) -> bool {
    let Some((before, end)) = text.len().checked_sub(word.len()).and_then(|at| text.split_at_checked(at))
    else {
        return false;
    };
    let new_word = match (before.last(), end.first()) {
        (Some(a), Some(b)) => !a.is_ascii_alphabetic() || (a.is_ascii_lowercase() && b.is_ascii_uppercase()),
        _ => true,
    };
    new_word && end.eq_ignore_ascii_case(word.as_bytes())
}

fn name_byte(byte: u8) -> bool {
    word(byte) || byte == b'-' || byte == b'.'
}

/// The rest of a name must begin a new word: `token_a`, `tokenA`, `token2`, but not `tokenizer`.
fn begins_word(key: &[u8], suffix: &[u8]) -> bool {
    match suffix.first() {
        None | Some(b'_' | b'-' | b'.' | b'0'..=b'9') => true,
        Some(b'A'..=b'Z') => key.last().is_some_and(u8::is_ascii_lowercase),
        Some(b'a'..=b'z') => key.last() == Some(&b'_'),
        Some(_) => true,
    }
}
