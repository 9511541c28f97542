//! Hooks: addresses that take a message from whoever knows them.

use crate::check::mixed;
use crate::rule::{Lead, Pattern::Regex, Rule, none};
use crate::rules::form::{PREFIXED, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "slack-webhook",
        about: "Slack incoming webhooks and workflow triggers",
        keywords: &["hooks.slack.com/"],
        pattern: Regex(
            r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_-]{8,14}/[A-Za-z0-9]{8,20}/(?:[0-9]{15,20}/)?[A-Za-z0-9_-]{20,40})",
        ),
        hit: &[
            "https:/", "/hooks.", "slack.c", "om/serv", "ices/T3", "9UIV2A4", "/BE73Y6", "ZR8/13W",
            "X51PwY9", "HPNHMPB", "RYmYXpR",
        ],
        miss: &[
            "https:/", "/hooks.", "slack.c", "om/serv", "ices/TY", "2FOCJ7A", "/B3CZ54", "FTO/hjt",
            "mdk4P9R", "CD",
        ],
        ..PREFIXED
    },
    Rule {
        name: "discord-webhook",
        about: "Discord webhooks",
        keywords: &["discord.com/api/", "discordapp.com/api/"],
        pattern: Regex(
            r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/([0-9]{16,20}/[A-Za-z0-9_-]{60,80})",
        ),
        hit: &[
            "https:/", "/discor", "d.com/a", "pi/webh", "ooks/75", "3482725", "0902378", "24/noup",
            "oIVo__n", "0UQ7BRw", "c3ZOqek", "WHAIXE8", "Hhxlv9R", "ldw0PV5", "00b51nD", "bzUTFnS",
            "K0UOvVu", "y",
        ],
        miss: &[
            "https:/", "/discor", "d.com/a", "pi/webh", "ooks/05", "3791048", "9902159", "73/52Pu",
            "gAxqKNW", "xqrheAG", "he-1Y9N", "sYR9QOI", "SrwHFPL", "U",
        ],
        ..PREFIXED
    },
    Rule {
        name: "teams-webhook",
        about: "Microsoft Teams incoming webhooks",
        keywords: &[".office.com/webhook"],
        pattern: Regex(
            r"(?i)\.office\.com/webhook(?:b2)?/([0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}@[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}/IncomingWebhook/[0-9a-z]{31,34}/[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12})",
        ),
        left: none,
        entropy: 2.5,
        hit: &[
            "https:/", "/acme.w", "ebhook.", "office.", "com/web", "hookb2/", "6d01bb5", "4-fbf0-",
            "6b0a-93", "17-e560", "853ac76", "c@17e42", "8c9-f08", "8-08bc-", "7ff6-d8", "d15a06c",
            "8d5/Inc", "omingWe", "bhook/5", "ce4f62c", "4e70a9f", "b05813f", "7f97c38", "151/69e",
            "6c97c-e", "029-877", "9-f763-", "ffb296c", "183af",
        ],
        miss: &[
            "https:/", "/acme.w", "ebhook.", "office.", "com/web", "hookb2/", "4399312", "f-b724-",
            "9a8a-ee", "06-ada2", "2afd8f8", "7@f5cc8", "2bf-90f", "b-00d5-", "3c3f-3c", "96f4cb4",
            "a87/Inc", "omingWe", "bhook/5", "bc3d7f7", "724a4cd", "1b99f77", "179c1c5", "ca4/2cc",
            "67926-2", "67a-fb8", "1-706d-", "dd7e1d0", "820a",
        ],
        ..PREFIXED
    },
    Rule {
        name: "google-chat-webhook",
        about: "Google Chat webhooks",
        keywords: &["chat.googleapis.com/v1/spaces/"],
        pattern: Regex(
            r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{6,20}/messages\?(?:key=[A-Za-z0-9_-]{20,60}&)?token=([A-Za-z0-9_%=-]{40,})",
        ),
        hit: &[
            "https:/", "/chat.g", "oogleap", "is.com/", "v1/spac", "es/XSWS", "K7Q5C2S", "/messag",
            "es?toke", "n=XMjQj", "sc9wThJ", "9MKJRHo", "q2IjfvF", "ULmsWmT", "4r-xPwg", "MRQ",
        ],
        miss: &[
            "https:/", "/chat.g", "oogleap", "is.com/", "v1/spac", "es/GLNQ", "0D146O7", "/messag",
            "es?toke", "n=rTVj7", "gz_p1LF",
        ],
        ..PREFIXED
    },
    Rule {
        name: "mattermost-webhook",
        about: "Mattermost and Rocket.Chat style incoming webhooks",
        keywords: &["/hooks/"],
        pattern: Regex("/hooks/([a-z0-9]{26}|[A-Za-z0-9]{17}/[A-Za-z0-9]{48})"),
        left: none,
        check: scattered,
        hit: &["https:/", "/chat.l", "ocal/ho", "oks/h2f", "1wtaqoo", "wx1ex3u", "237tie4", "3f"],
        miss: &["https:/", "/chat.l", "ocal/ho", "oks/t6u", "tfnf7tu", "rss441h", "39yqffa", "2"],
        ..PREFIXED
    },
    Rule {
        name: "lark-webhook",
        about: "Lark and Feishu bot webhooks",
        keywords: &["/open-apis/bot/"],
        pattern: Regex(
            "/open-apis/bot/(?:v2/)?hook/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        left: none,
        entropy: 2.5,
        hit: &[
            "https:/", "/open.f", "eishu.c", "n/open-", "apis/bo", "t/v2/ho", "ok/79e4", "702c-67",
            "3f-d03a", "-a23b-6", "e91873b", "1213",
        ],
        miss: &[
            "https:/", "/open.f", "eishu.c", "n/open-", "apis/bo", "t/v2/ho", "ok/60ba", "5e58-96",
            "0d-343a", "-0843-0", "8080aa9", "8c7",
        ],
        ..PREFIXED
    },
    Rule {
        name: "dingtalk-webhook",
        about: "DingTalk robot webhooks",
        keywords: &["oapi.dingtalk.com/robot/send"],
        pattern: Regex(r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9a-f]{64})"),
        entropy: 2.5,
        hit: &[
            "https:/", "/oapi.d", "ingtalk", ".com/ro", "bot/sen", "d?acces", "s_token", "=acf8c0",
            "57c3f12", "62d8fca", "fbee8a3", "c5fda25", "418fdaf", "212fd7f", "66a6384", "6325f74", "a9",
        ],
        miss: &[
            "https:/", "/oapi.d", "ingtalk", ".com/ro", "bot/sen", "d?acces", "s_token", "=e0bcdd",
            "8305ba3", "0917615", "b41da6c", "a34cb8b", "e5d133e", "07e34f2", "2f145de", "a7fd517", "7",
        ],
        ..PREFIXED
    },
    Rule {
        name: "wecom-webhook",
        about: "WeCom robot webhooks",
        keywords: &["qyapi.weixin.qq.com/cgi-bin/webhook/"],
        pattern: Regex(
            r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/[a-z_]{4,20}\?key=([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        entropy: 2.5,
        hit: &[
            "https:/", "/qyapi.", "weixin.", "qq.com/", "cgi-bin", "/webhoo", "k/send?", "key=a25",
            "3e7d4-b", "e1a-790", "c-8cf8-", "f023e8f", "d4175",
        ],
        miss: &[
            "https:/", "/qyapi.", "weixin.", "qq.com/", "cgi-bin", "/webhoo", "k/send?", "key=7c0",
            "e4b77-e", "61a-58d", "f-b31c-", "3f8e9f6", "7f5f",
        ],
        ..PREFIXED
    },
    Rule {
        name: "ifttt-webhook",
        about: "IFTTT webhooks",
        keywords: &["maker.ifttt.com/"],
        pattern: Regex(
            r"maker\.ifttt\.com/(?:use/|trigger/[A-Za-z0-9_-]{1,64}/(?:json/)?with/key/)([A-Za-z0-9_-]{22,43})",
        ),
        hit: &[
            "https:/", "/maker.", "ifttt.c", "om/trig", "ger/doo", "r/with/", "key/NQG", "08q3RMm",
            "N8DHtPH", "rroaW",
        ],
        miss: &[
            "https:/", "/maker.", "ifttt.c", "om/trig", "ger/doo", "r/with/", "key/03I", "oL9J3GL",
            "B89Ck3O", "FzO1",
        ],
        ..PREFIXED
    },
    Rule {
        name: "zapier-webhook",
        about: "Zapier catch hooks",
        keywords: &["hooks.zapier.com/hooks/catch/"],
        pattern: Regex(r"hooks\.zapier\.com/hooks/catch/([0-9]{5,9}/[A-Za-z0-9]{5,10})"),
        check: mixed,
        entropy: 2.0,
        hit: &["https:/", "/hooks.", "zapier.", "com/hoo", "ks/catc", "h/05025", "37/emhs", "s7a"],
        miss: &["https:/", "/hooks.", "zapier.", "com/hoo", "ks/catc", "h/51663", "40/abc"],
        ..PREFIXED
    },
    Rule {
        name: "make-webhook",
        about: "Make webhooks",
        keywords: &[".make.com/"],
        lead: Lead::Exactly(8),
        pattern: Regex(r"hook\.[a-z]{2}[0-9]\.make\.com/([a-z0-9]{32})"),
        check: scattered,
        hit: &["https:/", "/hook.e", "u1.make", ".com/5c", "ly3kod6", "hab5r7u", "j6977qv", "k00njm8", "el"],
        miss: &["https:/", "/hook.e", "u1.make", ".com/ez", "6ee1kig", "qvgbvww", "ki5hf41", "d4noadk", "9"],
        ..PREFIXED
    },
];
