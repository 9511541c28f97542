//! What no single service owns: keys in files, headers, addresses with passwords, and plain assignments.

use crate::check::{is_password, mixed, not_dummy, token_header};
use crate::rule::{Case, Pattern, Pattern::Regex, Rank, Rule, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        about: "private keys in PEM, OpenSSH and PGP form, to the END line or for 64 KiB",
        keywords: &["-----BEGIN "],
        pattern: Pattern::PrivateKey,
        left: crate::rule::none,
        ..Rule::TOKEN
    },
    Rule {
        name: "jwt",
        about: "JSON web tokens",
        keywords: &["eyJ"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}"),
        left: crate::rule::token,
        reach: 16 * 1024,
        check: token_header,
        ..Rule::TOKEN
    },
    Rule {
        name: "jwt-encoded",
        about: "JSON web tokens in base64",
        keywords: &["ZXlK"],
        pattern: Regex("ZXlK[a-zA-Z0-9/+_-]{40,}={0,2}"),
        left: crate::rule::base64,
        reach: 16 * 1024,
        check: encoded_jwt,
        ..Rule::TOKEN
    },
    Rule {
        name: "url-password",
        about: "passwords in URLs and connection strings",
        rank: Rank::Generic,
        keywords: &["://"],
        pattern: Regex(r#"://[^\s:@/"'`<>\\{}()|\[\],;?#&]*:([^\s@/"'`<>\\|,;]{3,})@[A-Za-z0-9\[_.-]"#),
        left: crate::rule::none,
        check: is_password,
        ..Rule::TOKEN
    },
    Rule {
        name: "authorization-header",
        about: "credentials in Authorization headers",
        keywords: &["authorization"],
        pattern: Regex(
            r#"(?i)authorization["'\\]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["'\\`]{0,2}(?:(?:basic|bearer|token|api-?token|apikey|digest|negotiate|splunk|genie-?key|aws4-hmac-sha256)[ \t]{1,4})?([A-Za-z0-9+/=._~@-]{8,})"#,
        ),
        reach: 4096,
        check: |value| not_dummy(value) && (mixed(value) || value.ends_with(b"=")) && value.len() >= 8,
        ..Rule::NAMED
    },
    Rule {
        name: "bearer-token",
        about: "bearer tokens away from their header",
        keywords: &["bearer "],
        pattern: Regex("(?i)bearer[ ]{1,4}([A-Za-z0-9+/=._~-]{20,})"),
        left: word,
        reach: 4096,
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "token-header",
        about: "API keys in other request headers",
        keywords: &[
            "api-token",
            "x-api-key",
            "x-auth-token",
            "apikey:",
            "api-key:",
            "-apikey:",
            "-h \"token:",
            "private-token",
        ],
        pattern: Regex(
            r#"(?i)(?:-h "token|(?:api-token|x-api-key|x-auth-token|-?apikey|api-key|private-token)[a-z-]{0,20}["']?):[ \t]{0,4}["']?([A-Za-z0-9+/=._~-]{8,})"#,
        ),
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "curl-user",
        about: "user and password on the command line of curl",
        keywords: &["curl "],
        case: Case::Exact,
        left: word,
        pattern: Regex(
            r#"curl [^\n]*?(?:-u|--user)[ =]{1,4}["']?(?:([^\s:"'$<{\[]{6,}):["'\s]|[^\s:"'<]*["']?:["']?([^\s"']{3,}))"#,
        ),
        check: is_password,
        ..Rule::NAMED
    },
    Rule {
        name: "netrc-password",
        about: "passwords in .netrc",
        keywords: &["login "],
        pattern: Regex(r"(?i)login[ \t]{1,8}[^\s]{1,}[ \t]{1,8}password[ \t]{1,8}([^\s]{4,})"),
        left: word,
        check: is_password,
        ..Rule::NAMED
    },
    Rule {
        name: "pgpass-line",
        about: "lines of .pgpass",
        keywords: &[":5432:"],
        pattern: Regex(r"(?i):5432:[^\s:]{1,64}:[^\s:]{1,64}:([^\s:]{4,})"),
        check: is_password,
        ..Rule::NAMED
    },
    Rule {
        name: "secret-assignment",
        about: "values assigned to names such as password, secret, token or api_key",
        keywords: &[
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "secret",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "auth_key",
            "encryption_key",
            "signing_key",
            "credential",
            "credentials",
            "user_auth",
        ],
        pattern: Pattern::Assignment,
        ..Rule::NAMED
    },
];

/// The text inside has the three letters that every such token begins with, and a dot.
fn encoded_jwt(value: &[u8]) -> bool {
    crate::encode::decode_base64(value)
        .is_some_and(|inner| inner.starts_with(b"eyJ") && inner.contains(&b'.') && token_header(&inner))
}
