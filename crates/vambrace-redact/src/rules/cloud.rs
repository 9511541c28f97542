//! The large clouds but Microsoft's.

use super::structure::random;
use crate::check::{jumbled, mixed, plausible};
use crate::rule::{Lead, Pattern::Beside, Pattern::Regex, Rule, base64, hex, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "aws-access-key-id",
        about: "AWS access key ids",
        keywords: &["AKIA", "ASIA", "ABIA", "ACCA", "A3T", "LSIA", "LKIA"],
        follow: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        pattern: Regex("(?:A3T[A-Z0-9]|AKIA|LSIA|LKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
        right: word,
        check: plausible,
        entropy: 2.5,
        hit: &["AKIAAOU", "KIADL2M", "QFIX7Q"],
        miss: &["AKIAIOS", "FODNN7E", "XAMPLE"],
        ..Rule::TOKEN
    },
    Rule {
        name: "aws-secret-access-key",
        about: "AWS secret access keys beside their name",
        keywords: &[
            "aws_sec",
            "aws-sec",
            "awssec",
            "aws.sec",
            "aws_key",
            "secret_access_key",
            "secretaccesskey",
            "secret-access-key",
            "secret access key",
            "awskey",
        ],
        pattern: Beside("[A-Za-z0-9/+]{40}"),
        right: base64,
        check: |value| mixed(value) && !value.iter().all(|byte| hex(*byte)),
        entropy: 3.5,
        hit: &[
            "aws_sec",
            "ret_acc",
            "ess_key",
            r#" = "rhT"#,
            "uvqCdmP",
            "G0tmKXP",
            "DZpAemm",
            "1za7v0f",
            "Hhvjwdb",
            r#"T2""#,
        ],
        miss: &[
            "aws_sec",
            "ret_acc",
            "ess_key",
            r#" = "HwD"#,
            "qzuM14q",
            "HOXHlpa",
            "BqCefuv",
            "2FSJghB",
            "6hRLeos",
            r#"4""#,
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "aws-session-token",
        about: "AWS session tokens",
        keywords: &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
        left: |byte| word(byte) || byte == b'+' || byte == b'/',
        reach: 4096,
        pattern: Regex("(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9/+=%_-]{80,}"),
        entropy: 4.0,
        hit: &[
            "IQoJb3J", "pZ2lu7w", "GJkcU/0", "XXkHG5q", "Jwv1MkA", "uYVbpS0", "Jso2jKF", "08mmf1U",
            "LmmcW3x", "vY27DfA", "NuRose6", "2CHN4XD", "EjG1kZA", "5",
        ],
        miss: &[
            "IQoJb3J", "pZ2lu8u", "/M7AsZ7", "nrsoTV7", "5Y4sxVe", "9RWlBaT", "F6E9CPc", "gYBy9Lm",
            "r4PaWbP", "3gvY1pI", "XoQOrgR", "b5vPG5c", "6qSYhzY",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "aws-session-token-field",
        about: "AWS session tokens beside their name",
        keywords: &["aws_session_token", "aws_security_token", "x-amz-security-token", "awssessiontoken"],
        reach: 4096,
        pattern: Regex(
            r#"(?i)(?:aws_?(?:session|security)_?token|x-amz-security-token)["'\\]{0,2}[ \t]{0,4}[=:][ \t]{0,4}["'\\]{0,2}([A-Za-z0-9/+=%]{100,})"#,
        ),
        check: mixed,
        entropy: 3.5,
        hit: &[
            "AWS_SES", "SION_TO", "KEN=TFQ", "y6k1qJA", "H4DxD3E", "oA1zCC/", "A4cGofF", "QrGZ7iH",
            "yEpp2LN", "Y2PG17+", "Dum2Jnk", "OGORtaU", "rvPq09O", "IvEzwj9", "qYUCs19", "aVmP2Gu", "aEsSuF",
        ],
        miss: &[
            "AWS_SES", "SION_TO", "KEN=RGI", "oApQ/n9", "rTLNNUD", "sKPMkOG", "0qWP/VA", "qCt7XL2",
            "CWc6Dt0", "CTpvNAA", "WQRCZlj", "wiMkmg4", "HeBUuvd", "pdr/M0K", "5IQKWuo", "naiIFeC", "lAV+Q",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "aws-bedrock-key",
        about: "Amazon Bedrock API keys",
        keywords: &["ABSK", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t"],
        pattern: Regex(
            "(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=%_.-]*)",
        ),
        reach: 4096,
        entropy: 3.0,
        hit: &[
            "ABSK1tE", "x/APXOF", "CChJMc3", "7Vscye7", "+byvV/J", "z2KEcns", "h1IsNRU", "zIOsZFq",
            "I0TNROh", "qavf0Aq", "aZtfcuZ", "pgJ2PuE", "P5IaaTk", "61nDaYb", "HratE5d", "3eyWkiU",
            "vLZY+uX", "pr8kJ==",
        ],
        miss: &[
            "ABSKhzM", "kxHneRr", "j9Oz15P", "Zv6oNzO", "Tl6mw/7", "oQZMJST", "CMRzBv1", "jLKakcv",
            "kCSUGk4", "1ZjsP5E", "lZSZa9N", "4O5wTJ8", "p/0My/A", "FkF",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "aws-mws-token",
        about: "Amazon marketplace tokens",
        keywords: &["amzn.mws."],
        pattern: Regex(r"amzn\.mws\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        right: word,
        entropy: 2.5,
        hit: &["amzn.mw", "s.ec5a3", "99f-c47", "f-5edb-", "ada5-14", "e287ba0", "547"],
        miss: &["amzn.mw", "s.69ba4", "1cb-b44", "f-0753-", "9038-70", "712d5f6", "3a"],
        ..Rule::TOKEN
    },
    Rule {
        name: "amazon-oauth-secret",
        about: "secrets of Login with Amazon",
        keywords: &["amzn1.oa2-cs.v1."],
        pattern: Regex(r"amzn1\.oa2-cs\.v1\.([a-f0-9]{64})"),
        right: word,
        entropy: 2.5,
        hit: &[
            "amzn1.o", "a2-cs.v", "1.fa395", "d6cff31", "aeea03b", "dba261a", "d590acb", "c5fbb5e",
            "cb983b4", "10e6f58", "de9b9d5", "619",
        ],
        miss: &[
            "amzn1.o", "a2-cs.v", "1.1e28c", "2f2388d", "c10da5b", "ffacefd", "697312b", "ba82af9",
            "83eadec", "108b08c", "3ce052e", "96",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "aws-appsync-key",
        about: "AWS AppSync API keys",
        keywords: &["da2-"],
        left: token,
        pattern: Regex("da2-([a-z0-9]{26})"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &["da2-qdt", "xquzg3n", "19529wn", "hzycp50", "6b"],
        miss: &["da2-8j1", "kad8itt", "kpkm2mc", "1nwtc9z", "1"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-api-key",
        about: "Google Cloud API keys",
        keywords: &["AIza"],
        pattern: Regex("AIza(Sy[A-Za-z0-9_-]{33})"),
        right: token,
        check: jumbled,
        entropy: 3.0,
        hit: &["AIzaSyD", "9xK2mQ7", "vR4tL8p", "W1nB5cJ", "3hF6gZ0", "sY_a"],
        miss: &["AIzaSya", "aaaaaaa", "aaaaaaa", "aaaaaaa", "aaaaaaa", "aaaa"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-oauth-secret",
        about: "Google OAuth client secrets",
        keywords: &["GOCSPX-"],
        pattern: Regex("GOCSPX-([A-Za-z0-9_-]{28})"),
        right: token,
        entropy: 3.0,
        hit: &["GOCSPX-", "ngAsUDx", "qWLF6O3", "tZLTehy", "TSATqsn"],
        miss: &["GOCSPX-", "AbuSJj-", "j"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-oauth-token",
        about: "Google OAuth access tokens",
        keywords: &["ya29."],
        pattern: Regex(r"ya29\.([A-Za-z0-9_-]{30,})"),
        reach: 1100,
        entropy: 3.0,
        hit: &[
            "ya29.-c", "liTJARo", "4embsQm", "tz7iTwG", "wvDX_Yp", "JSRe4U0", "q39j_LW", "Pk7V-5o",
            "gc1_vMk", "Zx",
        ],
        miss: &["ya29.P9", "zkOaYUC", "C"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-refresh-token",
        about: "Google OAuth refresh tokens",
        keywords: &["1//0"],
        left: token,
        pattern: Regex("1//0[A-Za-z0-9_-]{40,}"),
        check: jumbled,
        entropy: 4.0,
        hit: &["1//0GRa", "nc-AbCN", "Wddooaz", "VW6D3Ek", "3PXfKHj", "a5UfYEu", "HW"],
        miss: &["1//0KSu", "8DsAnRf", "wV5srCL", "FfHHQcM", "ZHP59Yz", "K4D6-gL", "t"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-hmac-key-id",
        about: "access ids of Google storage HMAC keys",
        keywords: &["GOOG"],
        pattern: Regex("GOOG(?:1E[A-Z0-9]{55}|[A-Z0-9]{16,20})"),
        right: word,
        check: random,
        entropy: 3.0,
        hit: &["GOOG7D8", "L65ZIMO", "42TG3R"],
        miss: &["GOOGC10", "LR8UBZ9", "D5T6V"],
        ..Rule::TOKEN
    },
    Rule {
        name: "google-hmac-secret",
        about: "Google storage HMAC secrets beside the name",
        keywords: &[
            "gcs_secret",
            "gcs_hmac",
            "gs_secret",
            "hmac_secret",
            "gle_hmac",
            "gcssecret",
            "gcshmac",
            "gssecret",
            "hmacsecret",
            "glehmac",
        ],
        pattern: Beside("[A-Za-z0-9+/]{40}"),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &["GCS_SEC", "RET_KEY", "=WHutV3", "l+sMO92", "7u2At1Y", "vpmM5Ny", "TFFrCVY", "0dXO5P"],
        miss: &["GCS_SEC", "RET_KEY", "=cjfZ2b", "30m8kvm", "+W8mdAd", "3Vss1mM", "N7QoIQH", "1YUDm"],
        ..Rule::NAMED
    },
    Rule {
        name: "firebase-messaging-key",
        about: "server keys of Firebase messaging",
        keywords: &[":APA91b"],
        lead: Lead::Exactly(11),
        pattern: Regex("AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}"),
        right: token,
        entropy: 4.0,
        hit: &[
            "AAAAl66", "yBGQ:AP", "A91bAd7", "xbpGuBQ", "R2rBWxo", "Q43iEDB", "TwE27wh", "77HbLYQ",
            "Z-9pnLD", "SwHxk64", "vTghza2", "pqlud-w", "1Nw4KgE", "j-KY88b", "v8-LUTE", "lkwmfMK",
            "KbtdIJY", "SFsA5jH", "L7lIecb", "7LAVFwx", "tktIvq4", "7QSXg",
        ],
        miss: &[
            "AAAA72v", "Ny6W:AP", "A91bgd4", "TYLC-y3", "OloR0gL", "Sp5s_kx", "V5zZJHE", "3P1G1Ak",
            "FUX6Fx1", "l3DD4U2", "DdgQT1n", "VvEiwMq", "MCvfZBJ", "COp95Wl", "0Rka53Z", "MG7SRXI",
            "RFU19aC", "-KkD2lQ", "1d595wx", "JJoT6V3", "RZke4rn", "O88Y",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "recaptcha-secret",
        about: "reCAPTCHA secrets beside the name",
        keywords: &[
            "recaptcha_secret",
            "recaptcha-secret",
            "recaptchasecret",
            "recaptcha_private",
            "recaptchaprivate",
        ],
        pattern: Beside("6L[A-Za-z0-9_-]{38}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &[
            "RECAPTC", "HA_SECR", "ET_KEY=", "6LlvVLW", "ePGNr74", "klo10Yz", "2cHvihn", "AqZLmky", "DilJc",
        ],
        miss: &[
            "RECAPTC", "HA_SECR", "ET_KEY=", "6LMVNWk", "24Pd8EG", "5nWfd2d", "0Wqs82y", "tYR_N-D", "RYg4",
        ],
        ..Rule::NAMED
    },
];
