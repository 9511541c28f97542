//! Headers of requests, and what command lines pass on to them.

use crate::check::{encoded_pair, is_password, mixed, not_dummy, odd};
use crate::rule::{Case, Pattern, Pattern::Regex, Rule, Sight, word};
use crate::{command, cookie};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "authorization-header",
        about: "credentials in Authorization and Proxy-Authorization headers, whatever the scheme",
        keywords: &["authorization"],
        pattern: Regex(
            r#"(?i)authorization(?:["'\\\]]{0,3}[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}|["'\\]{1,2}[ \t]{1,4})(?:[a-z_.]{0,20}\()?[bfru]?["'\\`]{0,2}(?:[a-z][a-z0-9_-]{2,24}[ \t]{1,4}(?:(?:token|credential|apikey|api_key|key)[=:][ \t]?["'\\]{0,2})?)?([A-Za-z0-9+/=._~@:%-]{8,})"#,
        ),
        reach: 4096,
        check: |value| {
            encoded_pair(value) || odd(value) || (value.len() >= 16 && mixed(value) && many_kinds(value))
        },
        hit: &["Authori", "zation:", " Basic ", "dXNlcjo", "yVE9CR0", "s3aGg="],
        miss: &["Authori", "zation:", " Bearer", " $API_K", "EY"],
        ..Rule::NAMED
    },
    Rule {
        name: "request-signature",
        about: "signatures of requests: Signature and X-Amz-Signature",
        keywords: &["signature="],
        pattern: Regex(
            r#"(?i)signature=["'\\]{0,2}([a-f0-9]{64}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{27}=|[A-Za-z0-9%]{43,}%3d)"#,
        ),
        right: word,
        hit: &[
            "&X-Amz-", "Signatu", "re=eded", "c7c11ee", "911a4ea", "8a6fc14", "f375433", "88251a8",
            "be60d6f", "8723ef7", "2f124b5", "3a1b",
        ],
        miss: &[
            "&X-Amz-", "Signatu", "re=793d", "5c0ef22", "6a6dc0a", "a866545", "e14838b", "b96026b",
            "9d6428d", "bd8e433", "bd7f393", "92e",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "bearer-token",
        about: "bearer tokens away from their header",
        keywords: &["bearer ", "bearer%20"],
        pattern: Regex("(?i)bearer(?:[ ]{1,4}|%20)([A-Za-z0-9+/=._~-]{16,})"),
        left: word,
        reach: 4096,
        check: |value| mixed(value) && odd(value),
        hit: &["uses Be", "arer o7", "EymVAMo", "COexAvs", "LCQ9rsQ", "SaRNpaA", "xiL53qy", "Arv"],
        miss: &["a beare", "r of ex", "ception", "ally-go", "od-news", "-today"],
        ..Rule::NAMED
    },
    Rule {
        name: "token-header",
        about: "API keys in other request headers",
        keywords: &[
            "api-token",
            "api-key",
            "apikey",
            "auth-token",
            "auth-key",
            "access-token",
            "private-token",
            "job-token",
            "deploy-token",
            "session-token",
            "security-token",
            "secret-key",
            "client-secret",
            "-h \"token:",
            "-h 'token:",
            "x-token",
            "vault-token",
            "csrf-secret",
            "x-secret",
            "x-auth:",
            "subscription-key",
        ],
        pattern: Regex(
            r#"(?i)(?:-h ["']token|(?:api-?(?:token|key)|auth-(?:token|key)|x-auth|access-token|private-token|job-token|deploy-token|session-token|security-token|secret-key|client-secret|x-token|vault-token|csrf-secret|x-secret|subscription-key)[a-z-]{0,20}["'\\]{0,2}):[ \t]{0,4}["'\\]{0,2}([A-Za-z0-9+/=._~-]{8,})"#,
        ),
        check: |value| mixed(value) && (odd(value) || value.len() >= 20) && !is_name(value),
        hit: &["X-Api-K", "ey: g04", "2XLgIQg", "D5nfYxb", "xbULQSw", "5"],
        miss: &["X-Api-K", "ey: <yo", "ur key>"],
        ..Rule::NAMED
    },
    Rule {
        name: "session-cookie",
        about: "cookies that keep a session, or whose value is random",
        keywords: &["cookie:", "cookie\":", "cookie\\\":", "cookie': ", "cookie\", \""],
        pattern: Pattern::Parsed(Sight::Line, cookie::find),
        reach: 4096,
        hit: &[
            "Set-Coo", "kie: se", "ssionid", "=083bQO", "jEexkDG", "uEQPMdo", "bYzB1oP", "IShde; ",
            "Path=/;", " HttpOn", "ly",
        ],
        miss: &["Set-Coo", "kie: th", "eme=dar", "k; Path", "=/; Htt", "pOnly"],
        ..Rule::NAMED
    },
    Rule {
        name: "curl-user",
        about: "user and password on the command line of curl and its like",
        keywords: &["-u ", "-u\"", "-u'", "--user ", "--user=", "--proxy-user ", "--oauth2-bearer "],
        follow: |byte| byte != b'-',
        pattern: Pattern::Parsed(Sight::Line, command::curl_user),
        left: word,
        hit: &["curl -u", " admin:", "DPzYP7n", "HLn htt", "ps://a.", "local"],
        miss: &["curl -u", r#" "$NAME"#, r#":$WORD""#, " https:", "//a.loc", "al"],
        ..Rule::NAMED
    },
    Rule {
        name: "command-password",
        about: "passwords on the command lines of mysql, sshpass, docker, wget and others",
        keywords: &[
            "sshpass -p",
            "mysql -",
            "mysqldump -",
            "mysqladmin -",
            "docker login ",
            "podman login ",
            "helm registry login ",
            "redis-cli ",
            "mongo ",
            "mongosh ",
            "ldapsearch ",
            "smbclient ",
            "7z a",
            "zip -P",
            "openssl ",
            "xfreerdp ",
            "cmdkey ",
            "az login",
            "az acr login",
            "oc login",
        ],
        case: Case::Exact,
        pattern: Pattern::Parsed(Sight::Line, command::password),
        left: word,
        reach: 400,
        hit: &["sshpass", " -p Fx1", "jGzgVYf", "! ssh m", "e@a.loc", "al"],
        miss: &["sshpass", r#" -p "$W"#, r#"ORD" ss"#, "h me@a.", "local"],
        ..Rule::NAMED
    },
    Rule {
        name: "sql-password",
        about: "passwords in SQL statements",
        keywords: &["identified by", "identified with", "set password"],
        pattern: Regex(
            r#"(?i)(?:identified (?:by|with [a-z0-9_"']{1,40} (?:by|as))(?: values| password)?|set password(?: for [^\n=]{1,80})?[ \t]{0,4}=(?: password\()?)[ \t]{0,4}["']\*?([^"'\n]{4,})["']"#,
        ),
        reach: 256,
        check: is_password,
        hit: &["CREATE ", "USER me", " IDENTI", "FIED BY", " 'ak9PS", "NYV5q';"],
        miss: &["CREATE ", "USER me", " IDENTI", "FIED BY", " 'passw", "ord';"],
        ..Rule::NAMED
    },
];

/// Small letters, large ones and digits.
fn many_kinds(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

/// `WINBIO_PRESENCE_0`, `my-service.local`: a name, not a credential.
fn is_name(value: &[u8]) -> bool {
    !odd(value) || !not_dummy(value)
}
