//! Files that programs keep their credentials in.

use crate::check::{encoded_pair, is_password, not_dummy, odd};
use crate::rule::{Pattern, Pattern::Regex, Rank, Rule, Sight, none, word};
use crate::{kubernetes, netrc};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "kubernetes-secret",
        about: "values of Kubernetes secrets, in YAML and JSON",
        rank: Rank::Generic,
        keywords: &kubernetes::KEYWORDS,
        pattern: Pattern::Parsed(Sight::Lines, kubernetes::find),
        left: none,
        reach: kubernetes::REACH,
        glance: kubernetes::glance,
        hit: &["kind: S", "ecret\nd", "ata:\n  ", "a: S0wx", "RHdYTGp", "F\n"],
        miss: &["kind: C", "onfigMa", "p\ndata:", "\n  a: d", "1VBS2Nx", "NmVa\n"],
        ..Rule::TOKEN
    },
    Rule {
        name: "netrc-password",
        about: "passwords in .netrc, on one line or several",
        keywords: &["password ", "password\t"],
        pattern: Pattern::Parsed(Sight::Line, netrc::find),
        left: word,
        hit: &["machine", " a.loca", "l login", " me pas", "sword 0", "qypTnB6", "NeJ"],
        miss: &["machine", " a.loca", "l login", " me pas", "sword $", "WORD"],
        ..Rule::NAMED
    },
    Rule {
        name: "pgpass-line",
        about: "lines of .pgpass, on any port",
        keywords: &[":5432:", ":5433:", ":5434:", ":6432:", ":*:*:", ":*:", ":15432:", ":25060:", ":26257:"],
        follow: |byte| !byte.is_ascii_whitespace(),
        pattern: Regex(
            r"(?i):(?:[0-9]{4,5}|\*):(?:[^\s:\\]|\\[:\\]){1,64}:(?:[^\s:\\]|\\[:\\]){1,64}:((?:[^\s:\\/]|\\[:\\]){4,})",
        ),
        reach: 300,
        check: is_password,
        right: |byte| byte == b':' || byte == b'/',
        hit: &["db.loca", "l:5432:", "app:me:", "lA6HDyF", "holWN"],
        miss: &["db.loca", "l:5432:", "app:me:", "****"],
        ..Rule::NAMED
    },
    Rule {
        name: "laravel-app-key",
        about: "application keys of Laravel",
        keywords: &["base64:"],
        pattern: Regex("base64:([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{22}==)"),
        check: odd,
        hit: &["APP_KEY", "=base64", ":nNteTu", "+Q+t5TM", "mFtBzSp", "uyvVPUn", "LHoFTcw", "GLKGqH+", "jI="],
        miss: &["APP_KEY", "=base64", ":dKJtXu", "qluHNg2", "UD95VSB", "ISDjojM", "anpyVNT", "shisd0s", "j="],
        ..Rule::NAMED
    },
    Rule {
        name: "rclone-password",
        about: "obscured passwords in rclone.conf, which anybody can read back",
        keywords: &["pass = ", "password2 = ", "pass2 = "],
        pattern: Regex(r"(?i)pass(?:word)?2? = ([A-Za-z0-9_-]{22,})"),
        left: word,
        check: odd,
        hit: &["pass = ", "3xlT_zn", "1r-yk-d", "lrMGQCI", "tt2c-Ov", "lu"],
        miss: &["pass = ", "enoMMd1", "etxkaVi", "BYD0SQ"],
        ..Rule::NAMED
    },
    Rule {
        name: "encoded-login",
        about: "base64 of a user and a password beside a word for it",
        keywords: &["_auth", "basic_auth", "basicauth", "\"auth\"", "auth:", "basic "],
        pattern: Regex(
            r#"(?i)(?:_auth|basic_?auth|"auth"|auth|basic)["'\\]{0,2}[ \t]{0,4}[:= ][ \t]{0,4}["'\\]{0,2}([A-Za-z0-9+/]{10,}={0,2})"#,
        ),
        left: |byte| byte.is_ascii_alphanumeric(),
        right: word,
        check: |value| encoded_pair(value) && odd(value) && printable(value),
        hit: &["_auth =", " bWU6b3", "d6YTVYc", "HFkTHhI"],
        miss: &["_auth =", " bWUuVX", "ZIUndEU", "HA3NEFs"],
        ..Rule::NAMED
    },
    Rule {
        name: "erlang-cookie",
        about: "cookies that let a node into an Erlang cluster",
        keywords: &["-setcookie ", "erlang_cookie"],
        pattern: Regex(
            r#"(?i)(?:-setcookie |erlang_cookie["']?[ ]{0,4}[:=][ ]{0,4}["']?)([A-Za-z0-9_@-]{6,})"#,
        ),
        check: |value| not_dummy(value) && value.iter().any(u8::is_ascii_digit),
        hit: &["RABBITM", "Q_ERLAN", "G_COOKI", "E=mjnqC", "EoY6vlp", "RPNqMHK", "q"],
        miss: &["RABBITM", "Q_ERLAN", "G_COOKI", "E=${COO", "KIE}"],
        ..Rule::NAMED
    },
];

/// Random text decodes to anything; a user and a password can be typed.
fn printable(value: &[u8]) -> bool {
    crate::encode::decode_base64(value)
        .is_some_and(|pair| pair.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '))
}
