//! Chat and notifications: bots, hooks and session tokens.

use crate::check::{jumbled, mixed, varied};
use crate::rule::{
    Case, Lead,
    Pattern::{Beside, Regex},
    Rule, digit, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, NAMED_TOKEN, PREFIXED, scattered, slack_left};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "slack-bot-token",
        about: "Slack bot tokens",
        keywords: &["xoxb-"],
        case: Case::Any,
        pattern: Regex(
            "(?i)xoxb-(?:[0-9a-z]{8,15}-[0-9a-z]{8,15}-[0-9a-z]{16,66}|[0-9]{10,14}-[0-9]{10,14}[0-9a-z]*|[0-9]{8,14}-[0-9a-z]{16,26})",
        ),
        left: slack_left,
        check: mixed,
        hit: &["xoxb-33", "6585908", "308-895", "8398685", "840-Okb", "ZdpHyd5", "NLO0lAA", "8NZftKM"],
        miss: &["xoxb-23", "883-xZH", "KlFNcNf", "oAa0H6L", "onUSob1"],
        ..PREFIXED
    },
    Rule {
        name: "slack-user-token",
        about: "Slack user tokens",
        keywords: &["xoxp-", "xoxe-"],
        case: Case::Any,
        pattern: Regex("(?i)xox[pe](?:-[0-9]{8,14}){2,3}-[0-9a-z-]{24,66}"),
        left: slack_left,
        check: mixed,
        hit: &[
            "xoxp-36", "6178146", "69-8373", "0016302", "-093553", "590694-", "cd30901", "23c2d03",
            "df7a2b1", "b8163e7", "b416",
        ],
        miss: &["xoxp-73", "49-1864", "-8571-b", "fb2a059", "10491ec", "31cca77", "4d57bfc", "94b"],
        ..PREFIXED
    },
    Rule {
        name: "slack-workspace-token",
        about: "Slack legacy workspace tokens",
        keywords: &["xoxa-", "xoxr-"],
        case: Case::Any,
        pattern: Regex("(?i)xox[ar]-(?:[0-9]-)?(?:[0-9]{8,15}|[0-9a-z]{11,48})(?:-[0-9a-z]{8,64}){0,6}"),
        left: slack_left,
        check: mixed,
        entropy: 2.0,
        hit: &[
            "xoxa-2-", "5330758", "43-4506", "3803024", "-900467", "5389412", "-957fde", "18118d4", "c9fdc",
        ],
        miss: &["xoxa-2-", "25159"],
        ..PREFIXED
    },
    Rule {
        name: "slack-legacy-token",
        about: "Slack legacy tokens of old clients",
        keywords: &["xoxs-", "xoxo-"],
        case: Case::Any,
        pattern: Regex("(?i)xox[os]-[0-9]{3,15}-[0-9]{5,15}-[0-9]{4,15}-[0-9a-f]{7,}"),
        left: slack_left,
        check: varied,
        entropy: 2.5,
        hit: &["xoxs-02", "5435-73", "7730881", "-433424", "479-83d", "f9c2"],
        miss: &["xoxs-87", "4332-87", "3005443", "-443490", "943-6f8", "43d"],
        ..PREFIXED
    },
    Rule {
        name: "slack-configuration-token",
        about: "Slack configuration access and refresh tokens",
        keywords: &["xoxe.xox", "xoxe-"],
        case: Case::Any,
        pattern: Regex(r"(?i)(?:xoxe\.xox[a-z]-[0-9]{1,8}-[0-9a-z]{120,}|xoxe-[0-9]{1,8}-[0-9a-z]{120,})"),
        left: slack_left,
        hit: &[
            "xoxe-1-", "2LxRY6J", "Xyfn8SC", "ET0iJvF", "LBrhqrE", "iBqDTNy", "bYJo0L9", "aCNqCW4",
            "0Y1xD3H", "zxXdY41", "oG5LGyd", "ZHSGZfC", "qWuqYry", "rIlXYnE", "n3FNL1I", "sKFOakT",
            "IyWvQX1", "7edf3Sm", "AYSqfpq", "JWIjuVI", "0TpKm6s", "ujv7m8",
        ],
        miss: &[
            "xoxe-1-", "opcXY68", "jYCFKUj", "Q8PijOX", "opewlDC", "aBaNmx8", "xFwY0Oc", "tfEthxC",
            "QsWooAN", "00WB",
        ],
        ..PREFIXED
    },
    Rule {
        name: "slack-app-token",
        about: "Slack app-level tokens",
        keywords: &["xapp-"],
        case: Case::Any,
        pattern: Regex("(?i)xapp-[0-9]{1,8}-[0-9a-z]{8,15}-[0-9]{8,15}-[0-9a-z]{32,66}"),
        left: slack_left,
        hit: &[
            "xapp-1-", "C96TS76", "G5E2-49", "1725189", "2645-fc", "35caaf8", "a1878b1", "512c9e5",
            "f34925b", "d1fd29f", "2987c46", "457271d", "7a82a0a", "b7d013",
        ],
        miss: &["xapp-1-", "F4EGNTW", "W7TB-72", "3350440", "7920-4e", "8534d60", "d20b43e"],
        ..PREFIXED
    },
    Rule {
        name: "slack-session-token",
        about: "Slack session tokens of the browser",
        keywords: &["xoxc-"],
        pattern: Regex("(?i)xoxc-[0-9]{8,15}-[0-9]{8,15}-[0-9]{8,15}-[0-9a-f]{64}"),
        left: slack_left,
        hit: &[
            "xoxc-10", "1343665", "3-24341", "6103991", "7-34428", "1997443", "6-96301", "a2a2639",
            "c27235f", "e87deb5", "f2466ce", "3d4caa8", "31cea22", "4454bd6", "405eb8f", "e98",
        ],
        miss: &[
            "xoxc-17", "1387789", "2-80022", "9030623", "7-17232", "4757013", "7-7fded", "5cacf97",
            "c04e1e3", "7575dcc", "0e18b55", "5c1d100", "a20e4b7", "1bbcb6e", "cc9751d", "28",
        ],
        ..PREFIXED
    },
    Rule {
        name: "slack-session-cookie",
        about: "Slack session cookies",
        keywords: &["xoxd-"],
        pattern: Regex("xoxd-[A-Za-z0-9+/%_-]{100,}={0,2}"),
        left: slack_left,
        hit: &[
            "xoxd-TA", "dHkJycX", "Os1Tbm3", "7RORWyj", "wb2nWU0", "MwHwFQ9", "D3ZUpto", "rAjUE26",
            "vR0SQjc", "LFYZFVC", "8qN4w1e", "uHuXGA3", "yddWegx", "thtdkSQ", "WDxKYl2", "QyaANvA",
            "Il8YQGo", "Em7nDWA", "LvifKtv", "I4YTxvC", "B3aw6r8", "Gzbk2tf", "eoKGtcL", "Nlk7",
        ],
        miss: &[
            "xoxd-St", "3vTtPt8", "tV3I1w5", "2D1UucQ", "dw6c9go", "Oj7NCJa", "KFdXDeh", "n1tT3Jo",
            "H05CRv9", "Zq",
        ],
        ..PREFIXED
    },
    Rule {
        name: "discord-bot-token",
        about: "Discord bot tokens beside the name or a call that takes them",
        keywords: &["discord", "login(", "bot.run(", "nt.run(", "bot_token", "bottoken"],
        pattern: Beside(r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
        check: jumbled,
        hit: &[
            "discord", " bot us", "es MG8e", "x5eDqyt", "lnDZqUV", "uvRboFn", "C.1wjwD", "d.BYbM9",
            "wbMG4M2", "juVrf7c", "ulBiEvy", "xUQlQat", "jCtHb",
        ],
        miss: &[
            "discord", " bot us", "es PzrV", "UcRqZTJ", "SJsH4SA", "oxA9YkE", "D.8Mj5J", "w.Y6c8k",
            "XMfNvbI", "21eB7WY", "yCp9saM", "RY7hVHL", "ulto3",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "discord-client-secret",
        about: "Discord client secrets and keys beside the name",
        keywords: &["discord"],
        pattern: Beside("(?:[0-9a-f]{64}|[A-Za-z0-9_-]{32})"),
        hit: &["discord", "_client", "_secret", " = LDD4", "ctx5M2e", "CyzpLhU", "GTdRcrw", "xctoVdu"],
        miss: &["discord", "_client", "_secret", " = CAkK", "RT4ErKN", "bdK_D64", "ijv43Ft", "NDelpR"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "telegram-token",
        about: "Telegram bot tokens",
        keywords: &[":AA"],
        follow: token,
        lead: Lead::Run(digit),
        pattern: Regex("[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
        hit: &["1139059", "04:AATo", "-Lh1sxP", "f6RMgh-", "Eo2rKQu", "4yuuu23", "b_O"],
        miss: &["7310197", "80:AAyy", "M-gF8cr", "_iLNE40", "Yor0VU2", "spPBNvF", "UB"],
        ..PREFIXED
    },
    Rule {
        name: "telegram-named-token",
        about: "Telegram bot tokens of other lengths beside the name",
        keywords: &["telegr"],
        pattern: Regex(r"(?i)telegr[^\n]{0,80}?[^0-9a-z]([0-9]{5,16}:(?-i:A)[a-z0-9_-]{34})"),
        reach: 160,
        hit: &[
            "telegra", "m_bot =", " 278768", "197272:", "AuojHSv", "RCzY-WW", "0tyOJ1V", "P60YmEX", "CJdtTqJ",
        ],
        miss: &[
            "telegra", "m_bot =", " 405152", "061600:", "A8eBrhS", "g3W1kFx", "t2h9V7B", "7Wbkfln", "avwY1t",
        ],
        ..NAMED_TOKEN
    },
    Rule {
        name: "mattermost-token",
        about: "Mattermost access tokens beside the name",
        keywords: &["mattermost"],
        pattern: Beside("[a-z0-9]{26}"),
        hit: &["matterm", "ost_tok", "en = r2", "3f3767y", "lassl69", "tekn8kb", "zdx"],
        miss: &["matterm", "ost_tok", "en = 4m", "l3ll8a2", "i27pta2", "jtcmwo4", "ia"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "zulip-key",
        about: "Zulip API keys beside the name",
        keywords: &["zulip"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["zulip_a", "pi_key=", "GZsiONA", "BjBHy3m", "wsbg9EM", "vxF9trG", "j5h3"],
        miss: &["zulip_a", "pi_key=", "FRWTk5h", "dpRU6Lr", "Gh9pVNO", "U7g4meK", "IXc"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "twitch-token",
        about: "Twitch client secrets and tokens beside the name",
        keywords: &["twitch", "oauth:"],
        pattern: Beside("[a-z0-9]{30}"),
        hit: &["twitch_", "client_", "secret ", "= nk6op", "987vfnz", "7eqxpbb", "56nhlvb", "cmli"],
        miss: &["twitch_", "client_", "secret ", "= lblwf", "c7m0w3a", "fqc3fch", "1qzk7y6", "l1s"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "line-channel-token",
        about: "LINE channel access tokens and secrets",
        keywords: &["nel_access_token", "nelaccesstoken", "nel_secret", "nelsecret"],
        pattern: Beside("(?:[A-Za-z0-9+/]{150,180}={0,2}|[0-9a-f]{32})"),
        hit: &["line_ch", "annel_s", "ecret: ", "9cdf296", "bb4bdbb", "c6358b6", "2359500", "b13c"],
        miss: &["line_ch", "annel_s", "ecret: ", "bae8e93", "8c41da5", "20245a8", "0e966c2", "b23"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "dingtalk-secret",
        about: "DingTalk robot secrets beside the name",
        keywords: &["ngtalk"],
        pattern: Beside("SEC[0-9a-f]{64}"),
        hit: &[
            "dingtal", "k_secre", "t = SEC", "7d5c0aa", "719b921", "6f84cb8", "3bf3854", "770416a",
            "ce38f88", "d927866", "e46808b", "6528a50", "e",
        ],
        miss: &[
            "dingtal", "k_secre", "t = SEC", "9a44a4c", "f789326", "6fd31e1", "e0c0a04", "29c2c79",
            "b0fc882", "071d923", "1da71af", "37dc64a",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "webex-token",
        about: "Webex bot and personal tokens beside the name",
        keywords: &["webex"],
        pattern: Beside("[A-Za-z0-9]{64}_[A-Za-z0-9]{4}_[0-9a-f-]{36}"),
        hit: &[
            "webex_b", "ot = cE", "U5UeCRu", "YR8wjCr", "vNsOih9", "C3FLO6F", "GWgzXxq", "3EQTKK7",
            "xYv15HE", "qwrVCqU", "kDlitQ_", "T03h_88", "24c997-", "49ca-3b", "fb-d0fb", "-39cd21", "c9837b",
        ],
        miss: &[
            "webex_b", "ot = WJ", "QN3Frr0", "tinrkob", "FbZrM1I", "q2Z6Umt", "mh6U5rY", "0TTKsis",
            "IxEfETd", "yXP4ZJd", "kPrjJP_", "natQ_ae", "25556f-", "7cb1-e2", "ab-8d0e", "-151e1d", "c32a2",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "rocketchat-token",
        about: "Rocket.Chat tokens beside the name",
        keywords: &["rocketchat", "rocket_chat", "rocket.chat"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        hit: &[
            "rocketc", "hat_tok", "en = LI", "B7egHg1", "02-BfNO", "H7leO1_", "2xSJwLb", "wbvvwBO", "zt0ChK",
        ],
        miss: &[
            "rocketc", "hat_tok", "en = AR", "4ZQCy9d", "X-pLCn6", "nFuGXXH", "03w577c", "Cl59Eqm", "XTQNC",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "sendbird-token",
        about: "Sendbird tokens and application ids beside the name",
        keywords: &["ndbird"],
        pattern: Beside("(?i)(?:[0-9a-f]{40}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        hit: &["sendbir", "d_token", " = f3c7", "d8ae139", "940f0ab", "51ba66c", "0fd86dd", "94b99e4", "a"],
        miss: &["sendbir", "d_token", " = 4569", "d96acd8", "b34cdb0", "56e0e88", "b9a0f06", "f188bb3"],
        ..BESIDE_HEX
    },
    Rule {
        name: "gitter-token",
        about: "Gitter access tokens beside the name",
        keywords: &["gitter"],
        pattern: Beside("[A-Za-z0-9_-]{40}"),
        hit: &["gitter_", "token =", " gldtrz", "nl30zdl", "g1i875l", "87cre4h", "71g7d1g", "3209wi"],
        miss: &["gitter_", "token =", " qg86nq", "pyfjnwz", "1x26an7", "n5d86j7", "xebzlga", "amkmn"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pushover-token",
        about: "Pushover tokens beside the name",
        keywords: &["shover"],
        pattern: Beside("[a-z0-9]{30}"),
        hit: &["pushove", "r_token", " = fv2u", "0ced4lj", "jvpeu1k", "jvmxu6s", "rimrm"],
        miss: &["pushove", "r_token", " = wup0", "spgrnn5", "bucbj8a", "hgfh2y8", "skkj"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pushbullet-token",
        about: "Pushbullet tokens beside the name",
        keywords: &["hbullet"],
        pattern: Beside(r"o\.[A-Za-z0-9]{32}"),
        hit: &["pushbul", "let_key", " = o.yj", "YRNhuiL", "4p2Z07p", "thyA1e0", "2Thx0Km", "VE"],
        miss: &["pushbul", "let_key", " = o.Rg", "zDHlHHU", "gmApdiy", "CJCgdG2", "orV9ALF", "w"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "ntfy-token",
        about: "ntfy access tokens",
        keywords: &["tk_"],
        follow: |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        pattern: Regex("tk_[a-z0-9]{29}"),
        check: scattered,
        hit: &["tk_rzpg", "lrb7tox", "3zz7pay", "uxae7oo", "dmz9"],
        miss: &["tk_nemc", "jilto7j", "a9xs5ys", "bbfhibp", "be0"],
        ..PREFIXED
    },
    Rule {
        name: "viber-token",
        about: "Viber bot tokens beside the name",
        keywords: &["viber"],
        pattern: Beside("[0-9a-f]{16}-[0-9a-f]{16}-[0-9a-f]{16}"),
        hit: &[
            "viber_a", "uth = 1", "66183f6", "b8020be", "8-7b2bd", "5f1e2cb", "05fd-f3", "912a374", "06372ba",
        ],
        miss: &[
            "viber_a", "uth = 4", "ca4abed", "5bbd3b3", "e-03ed0", "f2e59ba", "0884-34", "13e7f00", "2b2a72",
        ],
        ..BESIDE_HEX
    },
];
