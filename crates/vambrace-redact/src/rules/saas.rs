//! Content, design, location, documents and other services.

use crate::check::mixed;
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "figma-token",
        about: "Figma personal and OAuth tokens",
        keywords: &["figd_", "figo_", "figu_"],
        pattern: Regex("fig[dou]_([A-Za-z0-9_-]{36,64})"),
        hit: &["figd_rT", "yfkxdJz", "d3-eir3", "MAkqX9W", "rstYAjp", "4ICMfZo", "w1v"],
        miss: &["figd_lz", "nMYspqn", "Acw0QZ8", "M8XdN5T", "yKRFlJn"],
        ..PREFIXED
    },
    Rule {
        name: "figma-legacy-token",
        about: "Figma tokens of the older form beside the name",
        keywords: &["figma"],
        pattern: Beside("(?i)(?:[0-9a-f]{4,6}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"),
        hit: &["x-figma", "-token:", " a928-3", "2ff4ea2", "-f608-a", "c27-b85", "d-cd4c8", "d6be0ee"],
        miss: &["x-figma", "-token:", " b7b7-5", "b761748", "-9f0d-e", "830-0a4", "b-ae027", "df3bc4"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "airtable-key",
        about: "Airtable keys and tokens beside the name",
        keywords: &["airtable"],
        pattern: Beside(
            r"(?:pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|key[A-Za-z0-9]{14}|[A-Za-z0-9]{17}|[A-Za-z0-9]{6,60}\.v1\.[A-Za-z0-9_-]{6,}\.[0-9a-f]{8,})",
        ),
        hit: &[
            "airtabl", "e_token", " = patd", "IJWMu0X", "m7VYww.", "c089498", "3d32bd0", "3d909e1",
            "95cc56e", "4a53a47", "69d7b6d", "6e0d303", "d697497", "696aac2", "3",
        ],
        miss: &["airtabl", "e_token", " = Yx4E", "E676Iai", "sfZtg"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "dropbox-token",
        about: "Dropbox tokens and secrets beside the name",
        keywords: &["opbox"],
        pattern: Beside(r"(?:sl\.[A-Za-z0-9_=.-]{130,}|[A-Za-z0-9]{11}A{10}[A-Za-z0-9_=-]{43}|[a-z0-9]{15})"),
        entropy: 2.8,
        hit: &["dropbox", "_secret", " = vf11", "gxeamnm", "47k3"],
        miss: &["dropbox", "_secret", " = gu5t", "wzryx0y", "lb6"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "dropbox-short-token",
        about: "Dropbox short-lived tokens",
        keywords: &["sl."],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex(r"sl\.((?:u\.)?[A-Za-z0-9_-]{130,})"),
        hit: &[
            "sl.BXY6", "dUO5KRM", "TNriZcF", "0RRuQpk", "28DYaTW", "Q6sufcm", "frwvab-", "h1ylECS",
            "7ecMAuE", "RY_nMl0", "ua6Sq0T", "avs7a1t", "VMO8-h7", "IYioIQw", "9t7u_QX", "wUJm1JU",
            "G0ZEz_l", "BZ1SJh5", "wbgcVwy", "CJQJkJX", "5ghr",
        ],
        miss: &[
            "sl.BQKb", "RrZgQQr", "Cwmm2kv", "xYSVFHQ", "GgmD5X7", "AV-JdIW", "-pcxRIl", "TPtU4Hv",
            "mngYkwU", "m",
        ],
        ..PREFIXED
    },
    Rule {
        name: "box-secret",
        about: "Box secrets beside the name",
        keywords: &["box_client", "box_access", "box_dev", "box_api", "boxsdk", "boxclient"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        hit: &["BOX_CLI", "ENT_SEC", "RET=UyL", "bt4H6rs", "JeNg17k", "00STs4I", "IirBiIg", "s"],
        miss: &["BOX_CLI", "ENT_SEC", "RET=CpZ", "7vghwIh", "w0WcaTV", "DLLRWgS", "Bq1zhDD"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "algolia-key",
        about: "Algolia keys beside the name",
        keywords: &["algolia"],
        pattern: Beside("[a-z0-9]{32}"),
        hit: &["algolia", "_admin ", "= 4dd2f", "1f51258", "7984cd7", "5621b05", "69c52d"],
        miss: &["algolia", "_admin ", "= 2fb01", "4461f49", "34fd73b", "6576e87", "60e98"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "contentful-token",
        about: "Contentful management tokens",
        keywords: &["CFPAT-"],
        pattern: Regex("CFPAT-([A-Za-z0-9_-]{43})"),
        hit: &["CFPAT-K", "9HQoH-Y", "UlvhfYA", "OsHuZxJ", "4uU_sJQ", "h-Z30cG", "tkNYFpS"],
        miss: &["CFPAT-Q", "tAldr9O", "ucyNtDF", "tNKEIJB", "ZhLVYfU", "xPsD0Eo", "dXPfAH"],
        ..PREFIXED
    },
    Rule {
        name: "contentful-delivery-token",
        about: "Contentful delivery tokens beside the name",
        keywords: &["entful"],
        pattern: Beside("[A-Za-z0-9_=-]{43}"),
        hit: &[
            "content", "ful_tok", "en = ad", "lB6Trhk", "nqe8Fha", "61a7tQ4", "p2tg6l1", "Gwi1004", "9agMR6",
        ],
        miss: &[
            "content", "ful_tok", "en = Nj", "P_J7Vir", "IsRP6bH", "5god_iw", "l1_HIX0", "knj1thj", "S6PZB",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "canva-secret",
        about: "Canva client secrets",
        keywords: &["cnvca"],
        pattern: Regex("cnvca([A-Za-z0-9_-]{51})"),
        hit: &["cnvcaJe", "szfPhPe", "t406q6Y", "Xb1kTOD", "v1eqvLt", "0RupoL5", "eU9VSks", "pGuCWCd"],
        miss: &["cnvcaQB", "90jZKBu", "ZpxoCP6", "DcuaaRa", "YdCgma-", "Iszz1jA", "Kqrzneh", "M17Fzu"],
        ..PREFIXED
    },
    Rule {
        name: "frameio-token",
        about: "Frame.io tokens",
        keywords: &["fio-u-"],
        pattern: Regex("fio-u-([A-Za-z0-9_=-]{64})"),
        hit: &[
            "fio-u-R", "ray7w3f", "TPDvOsl", "KF0_M3_", "3BG_LyF", "TzoWUf5", "Tpl6ZjN", "juR3NNE",
            "fRkVdu6", "xLW8ABX",
        ],
        miss: &[
            "fio-u-5", "Zwdhi7Z", "yVo09ED", "N7tmQ5T", "2fYBpCu", "z4cVXL6", "GrCFFvK", "t4umH7u",
            "bxyRY9P", "k6oWr9",
        ],
        ..PREFIXED
    },
    Rule {
        name: "beamer-key",
        about: "Beamer keys beside the name",
        keywords: &["beamer"],
        pattern: Beside("b_[A-Za-z0-9_=-]{44}"),
        hit: &["beamer_", "key = b", "_3QJtT0", "5pH0wLp", "k9HLYWL", "eAnybIr", "nQYKJgc", "qYoATFd", "Iqs"],
        miss: &["beamer_", "key = b", "_N90UtZ", "LD9rDoa", "l0cj9Cg", "_QF2Wh5", "aqAT1f1", "ncqb-AA", "SA"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "cloudinary-secret",
        about: "Cloudinary secrets beside the name",
        keywords: &["cloudinary"],
        pattern: Beside("(?:[A-Za-z0-9_-]{32}|[A-Za-z0-9_-]{27})"),
        hit: &["cloudin", "ary_sec", "ret = h", "g3PW3ZP", "8GrzXVa", "sxgvKF7", "2W6qy"],
        miss: &["cloudin", "ary_sec", "ret = q", "gPgHRBh", "XF5BMTw", "ycomGh5", "tjpw"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "adobe-secret",
        about: "Adobe client secrets",
        keywords: &["p8e-"],
        pattern: Regex("p8e-([A-Za-z0-9-]{32})"),
        hit: &["p8e-iXY", "U0RfjOo", "cL18m48", "yrvKLEG", "QxgGKjg", "g"],
        miss: &["p8e-2En", "L3FdEgR", "2pg4mqS", "MNigT2F", "2TnVkSZ"],
        ..PREFIXED
    },
    Rule {
        name: "adobe-client-key",
        about: "Adobe keys beside the name",
        keywords: &["adobe"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["ADOBE_C", "LIENT=1", "91bfe08", "da2736d", "4b531ba", "922a27a", "f34"],
        miss: &["ADOBE_C", "LIENT=e", "b35344a", "884cd3a", "86e05c0", "db4e437", "d5"],
        ..BESIDE_HEX
    },
    Rule {
        name: "readme-key",
        about: "ReadMe keys",
        keywords: &["rdme_"],
        pattern: Regex("rdme_([a-z0-9]{70})"),
        hit: &[
            "rdme_5z", "hdvfpjg", "j75te9a", "reyq5id", "168iprn", "go57zlp", "zfpabfr", "1zv1png",
            "qpaamer", "s13tv9q", "ktor5",
        ],
        miss: &[
            "rdme_kf", "i6emb58", "dmylqoe", "k3f7se6", "sm7o8va", "h6wonrp", "3om0olx", "zhj8pvf",
            "0kzoema", "b5bf7lb", "kj1r",
        ],
        ..PREFIXED
    },
    Rule {
        name: "gitbook-token",
        about: "GitBook tokens",
        keywords: &["gb_api_"],
        pattern: Regex("gb_api_([A-Za-z0-9]{40})"),
        hit: &["gb_api_", "KarBHHO", "xiGmNYv", "Gs6TiuV", "fkGNXbT", "fp5LFrL", "qaJXj"],
        miss: &["gb_api_", "5fb8m9w", "rDkzwMR", "NL8B006", "BA0Zi13", "vkrWNG1", "NusP"],
        ..PREFIXED
    },
    Rule {
        name: "infracost-key",
        about: "Infracost keys",
        keywords: &["ico-"],
        pattern: Regex("ico-([A-Za-z0-9]{32})"),
        left: |byte| token(byte) || matches!(byte, b'.' | b'/' | b'+'),
        check: mixed,
        entropy: 2.5,
        hit: &["ico-VmC", "CRCLgXO", "q3vhWb5", "AGnsk6O", "tOr8mWv", "v"],
        miss: &["favorit", "e.ico-J", "pXWmig1", "cfN7SF8", "JPNhL4k", "ty0gPi4", "WrM"],
        ..PREFIXED
    },
    Rule {
        name: "prefect-key",
        about: "Prefect keys",
        keywords: &["pnu_", "pnb_"],
        pattern: Regex("pn[ub]_([A-Za-z0-9]{36})"),
        check: mixed,
        entropy: 2.5,
        hit: &["pnu_zhq", "tKc9i6k", "zwbEc1B", "j7U4DkA", "mTDqHWC", "gq2qJ"],
        miss: &["pnu_GHh", "TRQNM3K", "ZmZ046X", "GFpU7KD", "TNQmOY8", "PyYL"],
        ..PREFIXED
    },
    Rule {
        name: "intra42-secret",
        about: "42 school secrets",
        keywords: &["s-s4t2"],
        pattern: Regex("s-s4t2(?:ud|af)-([0-9a-f]{64})"),
        left: token,
        entropy: 2.5,
        hit: &[
            "s-s4t2u", "d-00f01", "06f4644", "16774c9", "6d1579b", "0f6f762", "d117140", "dfbc914",
            "f9c2372", "72a959b", "9b3",
        ],
        miss: &[
            "s-s4t2u", "d-037bb", "d1c8fb5", "7bb4b87", "293019b", "f392b99", "6bf9470", "c22d1db",
            "271ca4d", "0376dac", "08",
        ],
        ..PREFIXED
    },
    Rule {
        name: "deepl-key",
        about: "DeepL keys beside the name",
        keywords: &["deepl"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?::fx)?"),
        hit: &["deepl_k", "ey = 0c", "32c785-", "2251-2c", "88-1ece", "-68eb29", "387f03"],
        miss: &["deepl_k", "ey = 63", "99880f-", "e07a-59", "48-c7ee", "-e2a3c1", "81d91"],
        ..BESIDE_HEX
    },
    Rule {
        name: "webflow-token",
        about: "Webflow tokens beside the name",
        keywords: &["webflow"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "webflow", "_token ", "= 4c59b", "2b5d198", "b9e23bb", "3244844", "fb5f655", "7624b28",
            "e4da102", "293049b", "a339cc1", "1ae",
        ],
        miss: &[
            "webflow", "_token ", "= fb987", "377a0b8", "6b21fb3", "495e4c2", "764aa03", "d7911a2",
            "b73a32e", "1fbda52", "fd57c08", "04",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "squarespace-token",
        about: "Squarespace tokens beside the name",
        keywords: &["squarespace"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["squares", "pace_to", "ken = a", "3fde49c", "-2c7b-9", "846-a48", "8-0f7cd", "f250bc4"],
        miss: &["squares", "pace_to", "ken = a", "c0de963", "-7036-0", "7e9-277", "e-40af7", "1ef664"],
        ..BESIDE_HEX
    },
    Rule {
        name: "ghost-key",
        about: "Ghost admin keys beside the name",
        keywords: &["ghost_"],
        pattern: Beside("[0-9a-f]{24}:[0-9a-f]{64}"),
        hit: &[
            "GHOST_A", "DMIN_AP", "I_KEY=a", "bd80f19", "d14ddc9", "8972d13", "be:fb3a", "410c323",
            "d7c9541", "a8cae84", "cb3a59e", "a501e85", "d19e183", "9d9c758", "60d8da5", "ad42",
        ],
        miss: &[
            "GHOST_A", "DMIN_AP", "I_KEY=7", "c46e999", "168202b", "abdba72", "78:193c", "b444472",
            "d8002e5", "21f4ab8", "ade5600", "f9d43a3", "881491c", "3beb999", "0513a16", "b68",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "sanity-token",
        about: "Sanity tokens beside the name",
        keywords: &["sanity"],
        pattern: Beside("sk[A-Za-z0-9]{80,180}"),
        hit: &[
            "sanity_", "token =", " skoFpi", "RfoPKA7", "4i1qB3S", "SNVmwG5", "1RtrmYN", "TuwYEWq",
            "PNyVRn9", "4gks88U", "tenSQuW", "7c3Kvj6", "1vnirnG", "bbEXLNk", "acIAe1t", "hIym3U2",
            "k2f7oWe", "iDflpTh", "IbdErTw", "OiRrYdK", "0BWVgtJ", "OZcRjSS", "bUoyiWl", "vlwI0UR",
            "HcYtaQd", "IWs0n1Z", "q1KElh6", "NFEWeB",
        ],
        miss: &[
            "sanity_", "token =", " sklNgl", "Isqq71g", "qn6c5tt", "08w1XQB", "jhWrrND", "pGsy8Sc",
            "3SFWUd6", "LCUwMzN", "JCKD5Ri",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "buttercms-token",
        about: "ButterCMS tokens beside the name",
        keywords: &["buttercms", "butter_cms"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["butterc", "ms_toke", "n = 1e0", "881eddc", "25b609a", "01a2852", "31f22bd", "a1af2ea", "d8"],
        miss: &["butterc", "ms_toke", "n = 5c3", "f71f223", "35fc576", "c671a6c", "e83e443", "917213d", "e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "builderio-key",
        about: "Builder.io private keys",
        keywords: &["bpk-"],
        pattern: Regex("bpk-([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["bpk-482", "4cc4ff6", "cec983d", "c771730", "cb658c9", "7"],
        miss: &["bpk-4c5", "e655967", "60c55ac", "f6d165a", "89469a5"],
        ..PREFIXED
    },
    Rule {
        name: "lokalise-token",
        about: "Lokalise tokens beside the name",
        keywords: &["lokalise"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["lokalis", "e_token", " = 46e8", "e2859a7", "756e8a3", "b8f514d", "b5a29f0", "dd81c5c", "f"],
        miss: &["lokalis", "e_token", " = 0580", "04556af", "37efbac", "2be148f", "60255ec", "05266d2"],
        ..BESIDE_HEX
    },
    Rule {
        name: "crowdin-token",
        about: "Crowdin tokens beside the name",
        keywords: &["crowdin"],
        pattern: Beside("[0-9a-f]{80}"),
        hit: &[
            "crowdin", "_token ", "= 529ac", "05f721a", "6a59ad3", "2f0e87d", "1bf77d4", "b16c5a7",
            "62314b8", "4032117", "918fdff", "d265f9a", "83e10ed", "1241b",
        ],
        miss: &[
            "crowdin", "_token ", "= 92c54", "210f8a2", "a4da60c", "49ceb64", "2f13eda", "359f2a6",
            "89d26a1", "1d5733d", "f15903f", "222499b", "5017330", "f41e",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "browserstack-key",
        about: "BrowserStack keys beside the name",
        keywords: &["browserstack"],
        pattern: Beside("[A-Za-z0-9]{20}"),
        hit: &["browser", "stack_a", "ccess =", " aOefKU", "yZoJlPy", "O5D8LuZ"],
        miss: &["browser", "stack_a", "ccess =", " PKfY0b", "xgmeUwO", "QU9w6x"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "saucelabs-key",
        about: "Sauce Labs keys beside the name",
        keywords: &["saucelabs", "sauce_labs", "sauce_access"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["SAUCE_A", "CCESS_K", "EY=f2ba", "9ce2-0d", "d1-ffe5", "-e814-a", "39b3c3b", "9a30"],
        miss: &["SAUCE_A", "CCESS_K", "EY=02cb", "b854-1d", "28-b85e", "-0abe-8", "427ff8b", "d68"],
        ..BESIDE_HEX
    },
];
