//! Addresses and connection strings that carry their password.

use crate::check::{is_password, not_dummy, odd};
use crate::rule::{Case, Lead, Pattern::Regex, Rank, Rule, none, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "url-password",
        about: "passwords in URLs and connection strings",
        rank: Rank::Generic,
        keywords: &["://", ":\\/\\/", "%3A%2F%2F", "%3a%2f%2f"],
        pattern: Regex(
            r#"(?:://|:\\/\\/|%3[aA]%2[fF]%2[fF])[^\s:@/"'`<>\\{}()|\[\],;?#&]{0,128}(?::|%3[aA])([^\s@/"'`<>\\|,;][^\s/"'`<>\\|,;]{2,})(?:@|%40)[A-Za-z0-9\[_.-]"#,
        ),
        left: none,
        check: url_password,
        hit: &["postgre", "s://me:", "QZUEX4h", "BDj@db.", "local/a", "pp"],
        miss: &["https:/", "/user:p", "assword", "@host/p", "ath"],
        ..Rule::TOKEN
    },
    Rule {
        name: "url-user-token",
        about: "tokens in the place of the user in URLs",
        rank: Rank::Generic,
        keywords: &["https://", "http://"],
        pattern: Regex(
            r#"https?://([A-Za-z0-9_-]{20,})(?::(?:x-oauth-basic|x-token-auth)?)?@[A-Za-z0-9][A-Za-z0-9.-]{2,}"#,
        ),
        left: none,
        check: |value| odd(value) && value.iter().any(u8::is_ascii_digit),
        hit: &[
            "https:/", "/0bb03b", "d339327", "4299b77", "de16e53", "e43445d", "3d0743@", "git.loc",
            "al/a.gi", "t",
        ],
        miss: &["https:/", "/c590c3", "f91cd9@", "git.loc", "al/a.gi", "t"],
        ..Rule::TOKEN
    },
    Rule {
        name: "dsn-password",
        about: "passwords in data source names of Go's MySQL driver",
        rank: Rank::Generic,
        keywords: &["@tcp(", "@unix("],
        lead: Lead::Run(|byte| byte.is_ascii_graphic() && !b"\"'`()<>@/,;=".contains(&byte)),
        pattern: Regex(r#"[A-Za-z0-9_.-]{1,}:([^\s"'`()<>@/,;]{3,})@(?:tcp|unix)\("#),
        left: none,
        check: is_password,
        hit: &["me:fnqI", "hQ6Av5@", "tcp(db.", "local:3", "306)/ap", "p"],
        miss: &["me:pass", "word@tc", "p(db.lo", "cal:330", "6)/app"],
        ..Rule::TOKEN
    },
    Rule {
        name: "connection-string",
        about: "passwords in connection strings of ADO, ODBC and JDBC",
        keywords: &["password=", "pwd=", "password =", "pwd ="],
        pattern: Regex(
            r#"(?i)(?:password|pwd)[ ]?=[ ]?(?:'([^'\n]{4,})'|\{([^}\n]{4,})\}|([^;"'\s<>{}&\\$]{4,}))(?:;[ ]?[A-Za-z][A-Za-z ]{1,30}[ ]?=|;?["'])"#,
        ),
        left: |byte| word(byte) || byte == b'.' || byte == b'-',
        reach: 256,
        check: |value| is_password(value) && !looks_like_code(value),
        hit: &["Server=", "db.loca", "l;User ", "Id=sa;P", "assword", "=FnP4J8", "iK!;Dat", "abase=a"],
        miss: &["Server=", "db.loca", "l;User ", "Id=sa;P", "assword", "=${WORD", "};Datab", "ase=a"],
        ..Rule::NAMED
    },
    Rule {
        name: "account-key",
        about: "keys in connection strings of storage and message services",
        keywords: &["accountkey=", "sharedaccesskey=", "sharedsecret=", "accesskey="],
        case: Case::Any,
        pattern: Regex(
            "(?i)(?:accountkey|sharedaccesskey|sharedsecret|accesskey)=([A-Za-z0-9+/]{30,}={0,2})",
        ),
        check: not_dummy,
        hit: &[
            "Account", "Name=a;", "Account", "Key=mYM", "IHCVk29", "XT3Q5og", "NhuWPZC", "mVeOU9D",
            "+bV0naT", "FUVMAhO", "x/pSglB", "GI2VZlK", "mkYCGQe", "OttKKh+", "gYkrRcB", "a91Qjw=", "=;",
        ],
        miss: &["Account", "Name=a;", "Account", "Key=k4r", "W53p4Oj", "oTopYNo", "Bm1;"],
        ..Rule::NAMED
    },
    Rule {
        name: "url-token",
        about: "tokens and signatures in the query of URLs",
        keywords: &[
            "?token=",
            "&token=",
            "?key=",
            "&key=",
            "?sig=",
            "&sig=",
            "&signature=",
            "?signature=",
            "?code=",
            "&code=",
            "?auth=",
            "&auth=",
            "?sid=",
            "&sid=",
            "_token=",
            "api_key=",
            "apikey=",
            "?hmac=",
            "&hmac=",
            "&x-goog-signature=",
        ],
        pattern: Regex(
            r#"(?i)(?:[?&](?:token|key|sig|x-goog-signature|signature|code|auth|sid|hmac)|_token|api_?key)=([A-Za-z0-9._~%+/=-]{16,})"#,
        ),
        check: |value| not_dummy(value) && odd(value) && value.iter().any(u8::is_ascii_digit),
        hit: &["https:/", "/a.loca", "l/x?sig", "=uIi18h", "j3rEAc5", "B7ymRS7", "FFBSZyG", "XEg&b=1"],
        miss: &["https:/", "/a.loca", "l/x?sig", "=JV2kXL", "umaw0k&", "b=1"],
        ..Rule::NAMED
    },
];

/// A password, and not a port with a query that has an address in it.
fn url_password(value: &[u8]) -> bool {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let port = digits > 0 && matches!(value.get(digits), Some(b'?' | b'#' | b'&'));
    !port && is_password(value)
}

/// `password=form.value`, `pwd=getenv`: minified code has no spaces either.
fn looks_like_code(value: &[u8]) -> bool {
    let name = value
        .iter()
        .all(|byte| word(*byte) || matches!(byte, b'.' | b'(' | b')' | b'[' | b']' | b':' | b'!'));
    name && !value.iter().any(u8::is_ascii_digit)
        || value.iter().any(|byte| matches!(byte, b'(' | b')' | b'[' | b']'))
        || value.starts_with(b"%")
}
