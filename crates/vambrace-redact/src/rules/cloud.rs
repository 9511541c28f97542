//! Clouds, and the machines, vaults and pipelines on them.

use crate::check::{jumbled, mixed, not_dummy, varied};
use crate::rule::{ByteClass, Lead, Pattern::Regex, Rule, base64, hex, token, word};

const DASHED: ByteClass = |byte| token(byte) || byte == b'~' || byte == b'.';

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "aws-access-key-id",
        about: "AWS access key ids",
        keywords: &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        follow: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        pattern: Regex("(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
        right: word,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "aws-secret-access-key",
        about: "AWS secret access keys beside their name",
        keywords: &["aws_sec", "secret_access_key", "secretaccesskey"],
        pattern: Regex(
            r#"(?i)(?:aws_sec|secret_access_key|secretaccesskey)[a-z_.-]{0,24}["'\\`]{0,3}[ \t]{0,8}(?:=>|:=|=|:|,)[ \t]{0,8}["'\\`]{0,3}([A-Za-z0-9/+]{40})"#,
        ),
        right: base64,
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "aws-bedrock-key",
        about: "Amazon Bedrock API keys",
        keywords: &["ABSKQmVkcm9ja0FQSUtleS", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t"],
        pattern: Regex(
            "(?:ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/]{90,}={1,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=%_.-]*)",
        ),
        reach: 4096,
        ..Rule::TOKEN
    },
    Rule {
        name: "google-api-key",
        about: "Google Cloud API keys",
        keywords: &["AIza"],
        pattern: Regex("AIza([A-Za-z0-9_-]{35})"),
        right: word,
        check: jumbled,
        ..Rule::TOKEN
    },
    Rule {
        name: "google-oauth-secret",
        about: "Google OAuth client secrets",
        keywords: &["GOCSPX-"],
        pattern: Regex("GOCSPX-([A-Za-z0-9_-]{24,32})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "google-oauth-token",
        about: "Google OAuth access tokens",
        keywords: &["ya29."],
        pattern: Regex(r"ya29\.([A-Za-z0-9_-]{30,})"),
        reach: 1100,
        ..Rule::TOKEN
    },
    Rule {
        name: "azure-client-secret",
        about: "Microsoft Entra client secrets",
        keywords: &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        follow: |byte| word(byte) || matches!(byte, b'.' | b'~' | b'-'),
        lead: Lead::Exactly(3),
        pattern: Regex(r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
        left: |byte| token(byte) || byte == b'.' || byte == b'~',
        right: DASHED,
        check: |value| jumbled(value) && value.iter().filter(|byte| **byte == b'~').count() < 8,
        ..Rule::TOKEN
    },
    Rule {
        name: "azure-storage-key",
        about: "Azure storage, service bus and cosmos account keys",
        keywords: &["accountkey=", "sharedaccesskey="],
        pattern: Regex("(?i)(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}={0,2})"),
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "azure-sas-signature",
        about: "signatures of Azure shared access URLs",
        keywords: &["&sig=", "?sig=", ";sig="],
        pattern: Regex("[&?;]sig=([A-Za-z0-9%+/=_-]{40,})"),
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "digitalocean-token",
        about: "DigitalOcean personal, OAuth and refresh tokens",
        keywords: &["dop_v1_", "doo_v1_", "dor_v1_"],
        pattern: Regex("do[opr]_v1_([a-f0-9]{64})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "heroku-key",
        about: "Heroku API keys",
        keywords: &["HRKU-AA"],
        pattern: Regex("HRKU-AA([A-Za-z0-9_-]{50,70})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "cloudflare-origin-key",
        about: "Cloudflare origin CA keys",
        keywords: &["v1.0-"],
        pattern: Regex(r"v1\.0-([a-f0-9]{24}-[a-f0-9]{100,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "flyio-token",
        about: "Fly.io access tokens",
        keywords: &["fo1_", "fm1r_", "fm1a_", "fm2_"],
        pattern: Regex(r"(?:fo1_([A-Za-z0-9_-]{43})|fm(?:1[ar]|2)_([A-Za-z0-9+/=,_-]{80,}))"),
        reach: 4096,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "databricks-token",
        about: "Databricks personal tokens",
        keywords: &["dapi"],
        pattern: Regex("dapi([a-f0-9]{32}(?:-[0-9]{1,2})?)"),
        right: word,
        ..Rule::TOKEN
    },
    Rule {
        name: "doppler-token",
        about: "Doppler tokens",
        keywords: &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        pattern: Regex(r"dp\.(?:pt|st|ct|sa|scim|audit)\.([A-Za-z0-9._-]{40,64})"),
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "vault-token",
        about: "HashiCorp Vault tokens",
        keywords: &["hvs.", "hvb.", "hvr."],
        pattern: Regex(r"hv[sbr]\.([A-Za-z0-9_-]{24,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "vault-legacy-token",
        about: "HashiCorp Vault tokens of older servers, beside the name",
        keywords: &["token: s.", "token=s.", "token: \"s.", "token\": \"s.", "token=\"s.", "token = \"s."],
        pattern: Regex(r#"(?i)token["]?[ ]?[:=][ ]?["]?(?-i:(s\.[A-Za-z0-9]{24}))"#),
        right: token,
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "pulumi-token",
        about: "Pulumi access tokens",
        keywords: &["pul-"],
        pattern: Regex("pul-([a-f0-9]{40})"),
        right: hex,
        ..Rule::TOKEN
    },
    Rule {
        name: "openshift-token",
        about: "OpenShift user tokens",
        keywords: &["sha256~"],
        pattern: Regex("sha256~([A-Za-z0-9_-]{43})"),
        right: word,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "age-secret-key",
        about: "age identities",
        keywords: &["AGE-SECRET-KEY-1"],
        pattern: Regex("AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
        check: |_| true,
        ..Rule::TOKEN
    },
    Rule {
        name: "onepassword-token",
        about: "1Password service account tokens and secret keys",
        keywords: &["ops_eyJ", "A3-"],
        follow: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        pattern: Regex(
            "(?:ops_(eyJ[A-Za-z0-9+/=_-]{200,})|A3-([A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}))",
        ),
        reach: 4096,
        ..Rule::TOKEN
    },
    Rule {
        name: "scalingo-token",
        about: "Scalingo API tokens",
        keywords: &["tk-us-"],
        pattern: Regex("tk-us-([A-Za-z0-9_-]{48})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "clickhouse-key",
        about: "ClickHouse Cloud secret keys",
        keywords: &["4b1d"],
        pattern: Regex("4b1d([A-Za-z0-9]{38})"),
        right: word,
        check: jumbled,
        ..Rule::TOKEN
    },
    Rule {
        name: "cloud-account-key",
        about: "keys in the form of a UUID or digest beside a provider's name",
        keywords: &[
            "heroku",
            "snyk",
            "hubspot",
            "sonar",
            "messagebird",
            "sourcegraph",
            "mailchimp",
            "facebook",
            "okta",
        ],
        pattern: Regex(
            r#"(?i)(?:heroku|snyk|hubspot|sonar|messagebird|sourcegraph|mailchimp|facebook|okta)[a-z0-9_.-]{0,30}["'\\` ]{0,3}[ \t]{0,8}(?:=>|[:?]{0,3}=|:)[ \t]{0,8}["'\\`]{0,3}([a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|00[a-z0-9_-]{40}|[a-z0-9]{40}|[a-f0-9]{32}(?:-us[0-9]{1,2})?)"#,
        ),
        right: token,
        check: |value| not_dummy(value) && varied(value) && mixed(value),
        ..Rule::NAMED
    },
];
