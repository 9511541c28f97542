//! Work and customers: tickets, documents, forms, calendars, sales.

use crate::check::{jumbled, mixed};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, base64, digit,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, encoded};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "notion-token",
        about: "Notion integration tokens",
        keywords: &["ntn_", "secret_"],
        pattern: Regex("(?:ntn_([0-9]{11}[A-Za-z0-9]{35})|secret_([A-Za-z0-9]{43}))"),
        check: mixed,
        hit: &["ntn_180", "5365016", "0DQLs6R", "nYXCenb", "vdLLZDw", "3Ghl32C", "Hwl6VbE", "K"],
        miss: &["ntn_750", "6644431", "1N0dan5", "kHcrIO1", "D7EggSr", "FwfAZVT", "AOB48f7"],
        ..PREFIXED
    },
    Rule {
        name: "linear-key",
        about: "Linear API keys and OAuth tokens",
        keywords: &["lin_api_", "lin_oauth_"],
        pattern: Regex("lin_(?:api_([A-Za-z0-9]{40})|oauth_([0-9a-f]{64}))"),
        hit: &["lin_api", "_6pVwtP", "aq5lgpA", "vGPID6L", "6741R4L", "YLIen6t", "1pGmrv"],
        miss: &["lin_api", "_rWXRyS", "VBkpzA4", "lMdJPp8", "HyIvC8n", "DdC62eg", "v3Izx"],
        ..PREFIXED
    },
    Rule {
        name: "linear-secret",
        about: "Linear client secrets beside the name",
        keywords: &["inear"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["LINEAR_", "CLIENT_", "SECRET=", "f1f5b9a", "89487d6", "349f5cf", "9f4da75", "d135"],
        miss: &["LINEAR_", "CLIENT_", "SECRET=", "503952b", "f7c8423", "86625c7", "dabe9d4", "c9b"],
        ..BESIDE_HEX
    },
    Rule {
        name: "asana-secret",
        about: "Asana tokens and secrets beside the name",
        keywords: &["asana"],
        pattern: Beside(
            "(?:[0-2]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32}|0/[0-9a-f]{32}|[A-Za-z0-9]{32,36})",
        ),
        hit: &["asana_s", "ecret =", " rv3njp", "wb9ivuy", "jc1fkmj", "auk51ll", "7b8kd"],
        miss: &["asana_s", "ecret =", " 5zb74t", "l7su3oe", "j0i9jvm", "vqgyhu8", "qc4j"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "trello-token",
        about: "Trello tokens",
        keywords: &["ATTA"],
        pattern: Regex("ATTA([0-9a-f]{64}[0-9A-F]{8})"),
        hit: &[
            "ATTA946", "2f1625e", "6ffd132", "ab2cb11", "f906dc6", "90122bf", "2dea685", "b19c573",
            "140428b", "74d0cD2", "8F5A14",
        ],
        miss: &[
            "ATTAee6", "06d8211", "737b306", "55681f7", "f299031", "1474f9b", "8155035", "df3357e",
            "9858298", "f59ccB2", "0D062",
        ],
        ..PREFIXED
    },
    Rule {
        name: "trello-key",
        about: "Trello keys and older tokens beside the name",
        keywords: &["trello"],
        pattern: Beside("(?:[0-9a-f]{64}|[0-9a-f]{32})"),
        hit: &["trello_", "key = 5", "4ff8a0e", "5f00926", "4fa9acf", "05f05b0", "dda"],
        miss: &["trello_", "key = 4", "d344acf", "db272b3", "0a7fceb", "c4ae8a8", "bc"],
        ..BESIDE_HEX
    },
    Rule {
        name: "atlassian-token",
        about: "Atlassian API tokens",
        keywords: &["ATATT3", "ATSTT3"],
        pattern: Regex("AT[AS]TT3([A-Za-z0-9_=-]{60,})"),
        reach: 600,
        hit: &[
            "ATATT3V", "3p1Iohs", "DCH4cbg", "Oh51LEd", "pPz7nFW", "PKjrBxH", "0wyLPGJ", "st1f4hZ",
            "ecTcvv1", "C4f3wn6", "VGFaDL7", "cjsd_Pg", "HGBMS6X", "GozVRLa", "S89yYV0", "Pi2q4-P",
            "CRwyeRd", "GNuEdiu", "FfjSIcH", "QBzv5B1", "ueq05j9", "qmWluG7", "sxOn5uH", "A9MPb-S",
            "BdCxPBW", "X-W9BEi", "WYLNjit", "1fV",
        ],
        miss: &["ATATT3E", "EsDdKbL", "p7Okeh0", "9Cl92p7", "xnFCcWA", "GqyQvs3", "gcNC"],
        ..PREFIXED
    },
    Rule {
        name: "atlassian-legacy-token",
        about: "Atlassian tokens of the older form beside the name",
        keywords: &["atlassian", "jira", "fluence"],
        pattern: Beside("[A-Za-z0-9]{24}"),
        hit: &["jira_to", "ken = V", "oZfKYTT", "Lfbh1hH", "SBF9JEX", "gW"],
        miss: &["jira_to", "ken = 5", "en01mtR", "U2Yy8yB", "52jwUAW", "7"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "zendesk-token",
        about: "Zendesk tokens and secrets beside the name",
        keywords: &["zendesk"],
        pattern: Beside("(?:[0-9a-f]{64}|[A-Za-z0-9]{40})"),
        hit: &["zendesk", "_token ", "= 117ax", "pXibMjN", "eQgdQTO", "VTjyFJS", "BMJ9Lgk", "1gkohrv"],
        miss: &["zendesk", "_token ", "= lLLlh", "uYTS8IY", "nrWIYnN", "JCjCqIK", "SLum8iB", "nRALq6"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "hubspot-token",
        about: "HubSpot private app tokens",
        keywords: &["pat-na", "pat-eu"],
        pattern: Regex(
            "pat-(?:na|eu)[0-9]-((?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        entropy: 2.5,
        hit: &["pat-na1", "-8a2ad2", "fb-3243", "-0e1f-f", "830-9ba", "13a717f", "07"],
        miss: &["pat-na1", "-e07c1f", "40-3b1f", "-5592-b", "96a-ff8", "e1dbf83", "4"],
        ..PREFIXED
    },
    Rule {
        name: "hubspot-key",
        about: "HubSpot keys beside the name",
        keywords: &["hubspot", "hapikey"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["hubspot", "_key = ", "ecf46c3", "d-a2fc-", "d440-4c", "d8-b132", "ce08ede", "2"],
        miss: &["hubspot", "_key = ", "1bbd60b", "f-09db-", "cbc0-e9", "84-8cfc", "28ef0ff"],
        ..BESIDE_HEX
    },
    Rule {
        name: "intercom-token",
        about: "Intercom tokens beside the name",
        keywords: &["ercom"],
        pattern: Beside("[A-Za-z0-9_=-]{60}"),
        hit: &[
            "interco", "m_token", " = CHfb", "GMlNu1s", "oJAdSEV", "WSOlGhD", "QbnW4bs", "_aOsaKL",
            "id8luAg", "gD7isLb", "FvE6Tsr",
        ],
        miss: &[
            "interco", "m_token", " = auwk", "EW2z_Js", "Ke4dhlu", "iQ4_SOT", "3FGNq0B", "zP-oVKP",
            "rGtbX5D", "63Dzp5n", "uieSYf",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "intercom-access-token",
        about: "Intercom access tokens",
        keywords: &["dG9rO"],
        pattern: Regex("dG9rO([A-Za-z0-9+/]{48,80}={0,2})"),
        left: encoded,
        right: base64,
        hit: &[
            "dG9rOU6", "OdiJBiG", "EueCA3r", "cCX1UAj", "gMJAXgA", "KcCNZDX", "FKEh9Ka", "sRDzMLv", "oqQ=",
        ],
        miss: &["dG9rOPD", "R4zU9TF", "8jiee3x", "8iud4ea", "8BEyEwS", "="],
        ..PREFIXED
    },
    Rule {
        name: "typeform-token",
        about: "Typeform tokens",
        keywords: &["tfp_"],
        pattern: Regex("tfp_([A-Za-z0-9_.=-]{40,60})"),
        hit: &[
            "tfp_Mpe", "PCIuqHe", "8x4h0EV", "gFUgn6a", "3UEF3CO", "DnjmcJ4", "ULeBTxA", "Yb8otc0", "Zn2DAi5",
        ],
        miss: &["tfp_RkQ", "jLvmXL0", "ktYYFy8", "Lt5FPu9", "m6fV4H"],
        ..PREFIXED
    },
    Rule {
        name: "clickup-token",
        about: "ClickUp tokens",
        keywords: &["pk_"],
        follow: digit,
        pattern: Regex("pk_([0-9]{5,10}_[A-Z0-9]{32})"),
        hit: &["pk_1123", "7102_4J", "0F6LN34", "XH644Z3", "ZPRU7NV", "1M7P3DM", "ER"],
        miss: &["pk_7133", "8838_S5", "17DSOV2", "5998RVV", "8FBX3ZK", "WQSARQY", "O"],
        ..PREFIXED
    },
    Rule {
        name: "zoom-secret",
        about: "Zoom secrets beside the name",
        keywords: &["zoom"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["ZOOM_CL", "IENT_SE", "CRET=OG", "usqyrv8", "xovOpQp", "TIGIofn", "Yn3BCSD", "i1"],
        miss: &["ZOOM_CL", "IENT_SE", "CRET=ze", "o0sxfIO", "so7WDn9", "nLu0mhA", "4ISyV4m", "m"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "freshdesk-key",
        about: "Freshdesk keys beside the name",
        keywords: &["freshdesk", "freshservice"],
        pattern: Beside("[A-Za-z0-9]{20}"),
        hit: &["freshde", "sk_key ", "= eR9FD", "btPRFGy", "IcQDSn2", "Z"],
        miss: &["freshde", "sk_key ", "= K0zGt", "oJvpqKR", "R4IPRnM"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "freshbooks-token",
        about: "FreshBooks tokens beside the name",
        keywords: &["freshbooks"],
        pattern: Beside("[a-z0-9]{64}"),
        hit: &[
            "freshbo", "oks_tok", "en = 9f", "11386a2", "6aabdeb", "21ac805", "f4c7eee", "68b196c",
            "b55b4ee", "caf79e3", "49db9d4", "d32de3",
        ],
        miss: &[
            "freshbo", "oks_tok", "en = bd", "7fbdb64", "5043014", "2f992cd", "5801d84", "fdc3b37",
            "ce9c27b", "2cc623d", "821c69e", "878e3",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "salesforce-token",
        about: "Salesforce access tokens",
        keywords: &["00D"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("00D[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?!([A-Za-z0-9._-]{80,130})"),
        hit: &[
            "00DV1j9", "zN3vlAW", "u!vkICp", "jBnfxkT", "6D0iCID", "urdYDoR", "lFppcYU", "hGCsHWo",
            "TsOxHVf", "0Nxj6CG", "aNAha1X", "N4RvTf2", "S5H6ATb", "P5eYJC7", "5N7YR3S", "hNkDmWT",
        ],
        miss: &[
            "00DsLmZ", "6njQI7G", "o!i1AQI", "yflLN9b", "5Z1Xesf", "6ON30DM", "dCNdH4s", "IHCcviZ",
            "Tnpv7NZ", "XLsGufL", "HV9h7z",
        ],
        ..PREFIXED
    },
    Rule {
        name: "pipedrive-token",
        about: "Pipedrive tokens beside the name",
        keywords: &["pipedrive"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["pipedri", "ve_toke", "n = b27", "4e760fe", "e8932fb", "4deb0be", "d4054e6", "d0105dd", "2b"],
        miss: &["pipedri", "ve_toke", "n = 89d", "0464f5b", "55e8d7a", "bb26f56", "ffceffd", "9343872", "3"],
        ..BESIDE_HEX
    },
    Rule {
        name: "calendly-token",
        about: "Cal.com keys",
        keywords: &["cal_live_", "cal_test_"],
        pattern: Regex("cal_(?:live|test)_([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["cal_liv", "e_2d048", "7f6eeb5", "56a65c1", "99c4ec3", "771cbf"],
        miss: &["cal_liv", "e_43293", "7773d0b", "c88f7b9", "c7c22a9", "8f2c5"],
        ..PREFIXED
    },
    Rule {
        name: "todoist-token",
        about: "Todoist tokens beside the name",
        keywords: &["todoist"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["todoist", "_token ", "= 5899d", "2a40f78", "3a76c98", "012958b", "b59ffb2", "83a513e"],
        miss: &["todoist", "_token ", "= 515fd", "e01c8c3", "5b00f86", "5129a0a", "cede4bc", "a8bf16"],
        ..BESIDE_HEX
    },
    Rule {
        name: "toggl-token",
        about: "Toggl tokens beside the name",
        keywords: &["toggl"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["TOGGL_A", "PI_TOKE", "N=69aff", "bf7785e", "2e16260", "de78977", "844080"],
        miss: &["TOGGL_A", "PI_TOKE", "N=f23c1", "600fcaf", "f1ad8cf", "df02a09", "a7353"],
        ..BESIDE_HEX
    },
    Rule {
        name: "docusign-key",
        about: "DocuSign keys beside the name",
        keywords: &["cusign"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["docusig", "n_integ", "rator =", " 6a4295", "c7-5be3", "-89ad-5", "972-915", "72ef1bc", "36"],
        miss: &["docusig", "n_integ", "rator =", " 9733e5", "59-40ff", "-11a3-5", "76d-830", "bd4710f", "0"],
        ..BESIDE_HEX
    },
    Rule {
        name: "close-key",
        about: "Close keys",
        keywords: &["api_"],
        pattern: Regex(r"api_([A-Za-z0-9]{20,24}\.[A-Za-z0-9]{20,24})"),
        hit: &["api_yWs", "FwGG8rr", "1m0CX8X", "DMbER.u", "71e5y28", "PSN1TFE", "GDyL3jZ"],
        miss: &["api_jnO", "zHTn8EO", "EeEmPxj", "W7f6s.9", "hlm1DMr", "kKJ7"],
        ..PREFIXED
    },
    Rule {
        name: "onfido-token",
        about: "Onfido tokens",
        keywords: &["api_live", "api_sandbox"],
        pattern: Regex(
            r"api_(?:live|sandbox)(?:_(?:us|ca|eu))?\.([A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{32}|[A-Za-z0-9_-]{20,40})",
        ),
        hit: &["api_liv", "e_us.b4", "yaoQR44", "toHSrYV", "X3Sm"],
        miss: &["api_liv", "e_us.Zd", "GbocxBE", "tPl2tIN", "8XS"],
        ..PREFIXED
    },
    Rule {
        name: "persona-key",
        about: "Persona keys",
        keywords: &["persona_production_", "persona_sandbox_"],
        pattern: Regex("persona_(?:production|sandbox)_([a-z0-9_-]{24,40})"),
        check: mixed,
        entropy: 2.5,
        hit: &["persona", "_produc", "tion_ce", "4e1bad-", "3ee1-15", "87-ec29", "-3542a5", "b2b72a"],
        miss: &["persona", "_produc", "tion_01", "omn2xlk", "t9zce36", "4cqvasq"],
        ..PREFIXED
    },
    Rule {
        name: "samsara-token",
        about: "Samsara tokens",
        keywords: &["samsara_api_"],
        pattern: Regex("samsara_api_([A-Za-z0-9]{30,40})"),
        hit: &["samsara", "_api_cP", "9uwdKHZ", "dKZfhx5", "t22xMem", "mSdJzV8"],
        miss: &["samsara", "_api_uA", "ofo7U0t", "8UcFOa3", "18wjVBU", "oJ09dB"],
        ..PREFIXED
    },
    Rule {
        name: "unkey-key",
        about: "Unkey root keys",
        keywords: &["unkey_"],
        pattern: Regex("unkey_([A-Za-z0-9]{20,30})"),
        check: jumbled,
        hit: &["unkey_f", "hpnbYjn", "x4hry2X", "kkoAKVQ"],
        miss: &["unkey_q", "zCR93y5", "N642"],
        ..PREFIXED
    },
    Rule {
        name: "valtown-token",
        about: "Val Town tokens",
        keywords: &["vtwn_"],
        pattern: Regex("vtwn_([A-Za-z0-9_]{26,40})"),
        hit: &["vtwn_fv", "3nmfRyX", "m5GQXEr", "8zKafGx", "tstjG8i"],
        miss: &["vtwn_P1", "xElso2U", "LLo9Rnu", "xLf1"],
        ..PREFIXED
    },
    Rule {
        name: "lemlist-key",
        about: "lemlist keys beside the name",
        keywords: &["lemlist"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["lemlist", "_key = ", "1d7a4df", "e2e7720", "1704a1c", "fece3b4", "5795"],
        miss: &["lemlist", "_key = ", "193a0d2", "9a5e7c5", "3f8c8c9", "1987afc", "dfd"],
        ..BESIDE_HEX
    },
    Rule {
        name: "workato-token",
        about: "Workato tokens",
        keywords: &["wrka-eyJ", "wrkaus-", "wrkaeu-", "wrkatrial-", "wrkajp-", "wrkasg-", "wrkaau-"],
        pattern: Regex(
            r"wrka(?:us|eu|jp|sg|au|trial)?-(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{40,})",
        ),
        reach: 1200,
        hit: &[
            "wrkaus-", "eyJAJ3d", "jCJSTJl", "Bje9ZWV", "AE.egd4", "ULUkfKF", "55y5qsW", "XiZbnvu",
            "uhw5Wb2", "UBjYOZ0", "xqQrkzF", "klkuX9v", "DQ0gLlE", ".CAycm4", "COJj2s_", "id9WRlF",
            "c9uht-5", "aVy1URS", "6bosIoq", "SKan0T-", "GfQfDO3", "5dqd0Tl", "_OW6dnY", "PzV-yim", "-RHx",
        ],
        miss: &[
            "wrkaus-", "eyJCBqW", "84Zv6bm", "28atmZY", "hD.mt57", "P5hAm7L", "ZzNET0M", "vLBtAi6",
            "bwy0QeS", "YJz92TP", "9uztjuZ", "dvljLfC", "cbDN5vW",
        ],
        ..PREFIXED
    },
    Rule {
        name: "jotform-key",
        about: "JotForm keys beside the name",
        keywords: &["jotform"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["jotform", "_key = ", "a267b50", "512a208", "aeee0cc", "bd879d1", "cfbc"],
        miss: &["jotform", "_key = ", "5f02543", "88092fb", "5b83d78", "9ac02e6", "f66"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "privateai-key",
        about: "Private AI keys beside the name",
        keywords: &["privateai", "private_ai", "private-ai"],
        pattern: Beside("[0-9a-z]{32}"),
        hit: &["private", "ai_key ", "= guxf4", "aaub8kc", "zra5qan", "5p0nzlb", "ktld95"],
        miss: &["private", "ai_key ", "= s8xyt", "wgux5tc", "xiscnwa", "sbhxn86", "n5b7e"],
        ..BESIDE_HEX
    },
];
