//! Messages, payments, models, and other services.

use crate::check::{jumbled, mixed, varied};
use crate::rule::{Lead, Pattern::Regex, Rule, digit, hex, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "slack-token",
        about: "Slack bot, user, app, workspace and configuration tokens",
        keywords: &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xox", "xapp-"],
        case: crate::rule::Case::Any,
        pattern: Regex(
            r"(?i)(?:xox[aeprsob]-[0-9]{1,2}-[a-z0-9-]{16,}|xox[aeprsob]-[0-9]{8,}-[a-z0-9-]{10,}|xox[b]-[0-9]{8,14}-[a-z0-9]{16,}|xox[os]-[0-9]{1,12}(?:-[a-z0-9]{1,64}){1,4}|xoxe\.xox[bp]-[0-9]-[a-z0-9]{120,}|xapp-[0-9]-[a-z0-9]{6,20}-[0-9]{6,20}-[a-z0-9]{32,})",
        ),
        left: |byte| token(byte) || byte == b'.',
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "slack-webhook",
        about: "Slack incoming webhooks and workflow triggers",
        keywords: &["hooks.slack.com/"],
        pattern: Regex(r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "discord-webhook",
        about: "Discord webhooks",
        keywords: &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        pattern: Regex(r"discord(?:app)?\.com/api/webhooks/([0-9]{16,20}/[A-Za-z0-9_-]{50,80})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "discord-token",
        about: "Discord bot tokens beside the name",
        keywords: &["discord"],
        pattern: Regex(
            r"(?i)discord[^\n]*?[^A-Za-z0-9_.-](?-i:([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}))",
        ),
        right: token,
        check: jumbled,
        reach: 160,
        ..Rule::NAMED
    },
    Rule {
        name: "telegram-token",
        about: "Telegram bot tokens",
        keywords: &[":AA"],
        follow: token,
        lead: Lead::Run(digit),
        pattern: Regex("[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
        right: token,
        ..Rule::TOKEN
    },
    Rule {
        name: "twilio-key",
        about: "Twilio API keys",
        keywords: &["SK"],
        follow: |byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
        pattern: Regex("SK[0-9a-f]{32}"),
        right: word,
        ..Rule::TOKEN
    },
    Rule {
        name: "sendgrid-key",
        about: "SendGrid API keys",
        keywords: &["SG."],
        follow: token,
        pattern: Regex(r"SG\.([A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "mailgun-key",
        about: "Mailgun private and signing keys",
        keywords: &["key-", "pubkey-"],
        pattern: Regex("(?:pub)?key-([a-f0-9]{32})"),
        right: hex,
        left: token,
        ..Rule::TOKEN
    },
    Rule {
        name: "mailchimp-key",
        about: "Mailchimp API keys",
        keywords: &["-us1", "-us2"],
        lead: Lead::Run(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        pattern: Regex("[0-9a-f]{32}-us[0-9]{1,2}"),
        right: word,
        ..Rule::TOKEN
    },
    Rule {
        name: "stripe-key",
        about: "Stripe secret and restricted keys, and webhook secrets",
        keywords: &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        pattern: Regex("(?:[sr]k_(?:live|test|prod)_([A-Za-z0-9]{16,})|whsec_([A-Za-z0-9+/=]{32,64}))"),
        ..Rule::TOKEN
    },
    Rule {
        name: "square-token",
        about: "Square access tokens and secrets",
        keywords: &["sq0atp-", "sq0csp-", "EAAA"],
        pattern: Regex("(?:sq0(?:atp|csp)-([A-Za-z0-9_-]{22,43})|(EAAA[A-Za-z0-9_-]{60}))"),
        right: token,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "shopify-token",
        about: "Shopify access tokens and shared secrets",
        keywords: &["shpat_", "shpca_", "shppa_", "shpss_"],
        pattern: Regex("shp(?:at|ca|pa|ss)_([A-Fa-f0-9]{32})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "anthropic-key",
        about: "Anthropic API keys",
        keywords: &["sk-ant-"],
        pattern: Regex("sk-ant-(?:[a-z]{2,8}[0-9]{2}-)?([A-Za-z0-9_-]{24,})"),
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "openai-key",
        about: "OpenAI keys, and those of services that copy their form",
        keywords: &["sk-"],
        follow: token,
        pattern: Regex(
            "sk-((?:proj|svcacct|admin|or-v1|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,}(?:[A-Za-z0-9_-]{0,}))",
        ),
        left: token,
        check: |value| mixed(value) && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2,
        ..Rule::TOKEN
    },
    Rule {
        name: "huggingface-token",
        about: "Hugging Face user and organization tokens",
        keywords: &["hf_", "api_org_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("(?:hf_|api_org_)([A-Za-z0-9]{34,40})"),
        right: word,
        check: |value| varied(value) && looks_cased(value),
        ..Rule::TOKEN
    },
    Rule {
        name: "perplexity-key",
        about: "Perplexity API keys",
        keywords: &["pplx-"],
        pattern: Regex("pplx-([A-Za-z0-9]{48})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "replicate-token",
        about: "Replicate and Groq keys",
        keywords: &["r8_", "gsk_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("(?:r8_([A-Za-z0-9]{37,40})|gsk_([A-Za-z0-9]{52}))"),
        right: word,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "linear-key",
        about: "Linear API keys",
        keywords: &["lin_api_", "lin_oauth_"],
        pattern: Regex("lin_(?:api|oauth)_([A-Za-z0-9]{32,64})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "notion-token",
        about: "Notion integration tokens",
        keywords: &["ntn_", "secret_"],
        pattern: Regex("(?:ntn_([0-9]{11}[A-Za-z0-9]{35})|secret_([A-Za-z0-9]{43}))"),
        right: word,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "atlassian-token",
        about: "Atlassian API tokens",
        keywords: &["ATATT3"],
        pattern: Regex("ATATT3([A-Za-z0-9_=-]{60,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "grafana-token",
        about: "Grafana cloud and service account tokens",
        keywords: &["glc_", "glsa_"],
        pattern: Regex("(?:glc_([A-Za-z0-9+/]{32,}={0,3})|glsa_([A-Za-z0-9]{32}_[A-Fa-f0-9]{8}))"),
        ..Rule::TOKEN
    },
    Rule {
        name: "sentry-token",
        about: "Sentry organization and user tokens",
        keywords: &["sntrys_eyJ", "sntryu_"],
        pattern: Regex("(?:sntrys_(eyJ[A-Za-z0-9+/=_-]{60,})|sntryu_([a-f0-9]{64}))"),
        reach: 600,
        ..Rule::TOKEN
    },
    Rule {
        name: "newrelic-key",
        about: "New Relic keys",
        keywords: &["NRAK-", "NRII-", "NRJS-"],
        pattern: Regex("NR(?:AK|II|JS)-([A-Za-z0-9_-]{19,32})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "facebook-token",
        about: "Facebook page and app access tokens",
        keywords: &["EAAM", "EAAC"],
        pattern: Regex("EAA[MC]([A-Za-z0-9]{80,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "facebook-app-token",
        about: "Facebook app id and secret joined by a bar",
        keywords: &["facebook", "fb_app"],
        pattern: Regex(r"(?i)(?:facebook|fb_app)[^\n]*?[^A-Za-z0-9]([0-9]{15,16}\|[A-Za-z0-9_-]{27})"),
        right: token,
        check: mixed,
        reach: 160,
        ..Rule::NAMED
    },
    Rule {
        name: "figma-token",
        about: "Figma personal tokens",
        keywords: &["figd_", "figo_"],
        pattern: Regex("fig[do]_([A-Za-z0-9_-]{36,64})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "prefixed-key",
        about: "tokens of smaller services, each with its own prefix",
        keywords: &["ico-", "rdme_", "pnu_", "s-s4t2", "EZAK", "EZTK", "tvly-", "lsv2_pt_"],
        pattern: Regex(
            "(?:ico-[A-Za-z0-9]{32}|rdme_[a-z0-9]{70}|pnu_[a-zA-Z0-9]{36}|s-s4t2(?:ud|af)-[a-f0-9]{64}|EZ[AT]K[A-Za-z0-9]{54}|tvly-[A-Za-z0-9-]{32,48}|lsv2_pt_[a-f0-9_]{32,48})",
        ),
        right: word,
        left: |byte| token(byte) || byte == b'.' || byte == b'/' || byte == b'+',
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "maxmind-key",
        about: "MaxMind license keys",
        keywords: &["_mmk"],
        lead: Lead::Run(word),
        pattern: Regex("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
        right: word,
        ..Rule::TOKEN
    },
    Rule {
        name: "sumologic-key",
        about: "Sumo Logic access ids and keys beside their name",
        keywords: &["sumo"],
        pattern: Regex(
            r#"(?i)sumo(?:logic)?[._-]?access[._-]?(?:id|key)["'`]?[ \t]{0,8}[:=][ \t]{0,8}["'`]?(?-i:(su[A-Za-z0-9]{12}|[A-Za-z0-9]{64}))"#,
        ),
        right: word,
        check: mixed,
        ..Rule::NAMED
    },
];

/// Random letters are of both cases in good number; an identifier has a capital per word.
fn looks_cased(value: &[u8]) -> bool {
    let n_small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    n_small * 6 >= value.len() && (value.len() - n_small) * 4 >= value.len()
}
