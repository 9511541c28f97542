//! Tokens with a prefix of their own, of services that are met less often.

use crate::check::{is_password, mixed, varied};
use crate::rule::{
    Case, Lead,
    Pattern::{Beside, Regex},
    Rule, hex, none, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, NAMED_TOKEN, PREFIXED, encoded, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "zuplo-key",
        about: "Zuplo consumer keys",
        keywords: &["zpka_"],
        pattern: Regex("zpka_([a-z0-9]{32}_[0-9a-f]{8})"),
        hit: &["zpka_2f", "2d7u6k8", "cy3kuhr", "05rrm3i", "ig6yyt5", "b0_b637", "2ec4"],
        miss: &["zpka_2o", "eeo8q5w", "fg9iuap", "akqwfn4", "v0eore5", "zn_bb5d", "ea3"],
        ..PREFIXED
    },
    Rule {
        name: "iterative-token",
        about: "Iterative Studio tokens",
        keywords: &["isat_"],
        pattern: Regex("isat_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        entropy: 2.5,
        hit: &["isat_73", "26bf9e-", "3dd7-66", "eb-559c", "-12ef18", "a09814"],
        miss: &["isat_d5", "3d5390-", "1d18-c6", "e7-1342", "-54c784", "2be2e"],
        ..PREFIXED
    },
    Rule {
        name: "fleetbase-key",
        about: "Fleetbase keys",
        keywords: &["flb_live_", "flb_test_"],
        pattern: Regex("flb_(?:live|test)_([A-Za-z0-9]{20})"),
        hit: &["flb_liv", "e_S9VET", "uV5WyQr", "Zhpqr2I", "W"],
        miss: &["flb_liv", "e_tXEFL", "q7vl41p", "5JxNBT5"],
        ..PREFIXED
    },
    Rule {
        name: "settlemint-token",
        about: "SettleMint access tokens",
        keywords: &["sm_aat_", "sm_pat_", "sm_sat_"],
        pattern: Regex("sm_[aps]at_([A-Za-z0-9]{16})"),
        check: mixed,
        hit: &["sm_pat_", "GnXp6cY", "nXa14Aq", "GT"],
        miss: &["sm_pat_", "32p2G0t", "Ta3E4Dk", "0"],
        ..PREFIXED
    },
    Rule {
        name: "gemini-bound-key",
        about: "Gemini keys of the newer form",
        keywords: &["AQ.Ab8"],
        pattern: Regex(r"AQ\.Ab8([A-Za-z0-9_-]{47})"),
        hit: &["AQ.Ab8f", "QI1y68R", "cL5Bs9T", "wBEOxdv", "CPpiGfm", "Dcpzu30", "Nx5suvJ", "MdoX"],
        miss: &["AQ.Ab8n", "VX1Cwpr", "2Eptqqu", "JErqr9B", "33ajZSd", "msLwJrZ", "HFvdGwk", "lXU"],
        ..PREFIXED
    },
    Rule {
        name: "onepassword-recovery-code",
        about: "1Password recovery codes",
        keywords: &["1PRK-"],
        pattern: Regex("1PRK(?:-[A-Z0-9]{4}){12,13}"),
        hit: &[
            "1PRK-RR", "ZM-8WJ2", "-LZQ6-K", "EHO-HF2", "2-5MK4-", "8JCC-RX", "N7-FTFT", "-6PJZ-F",
            "Z7U-HPC", "W",
        ],
        miss: &[
            "1PRK-GU", "04-JAGZ", "-YCAO-L", "0C0-BQW", "2-H9B8-", "IPDI-BG", "YC-NP9P", "-JTDP-E", "5Z7-WXP",
        ],
        ..PREFIXED
    },
    Rule {
        name: "mergify-key",
        about: "Mergify application keys",
        keywords: &["mergify_application_key_"],
        pattern: Regex("mergify_application_key_([A-Za-z0-9_-]{40,70})"),
        hit: &[
            "mergify", "_applic", "ation_k", "ey_7I1o", "qSPwUwz", "CgmHmkW", "Pkx6et6", "dFeMvAa",
            "CkqmoO2", "F",
        ],
        miss: &[
            "mergify", "_applic", "ation_k", "ey_esnd", "G4xTj8N", "2Zps2Q0", "luiXIWv", "oFvcYWx", "JhyEeNw",
        ],
        ..PREFIXED
    },
    Rule {
        name: "coderabbit-key",
        about: "CodeRabbit keys",
        keywords: &["cr-"],
        pattern: Regex("cr-([0-9a-f]{58})"),
        follow: hex,
        left: token,
        entropy: 2.5,
        hit: &[
            "cr-0747", "f6f5d64", "22f677a", "db1af12", "efab41f", "446d14b", "8f9621d", "915dbd3", "68fd9",
        ],
        miss: &[
            "cr-daba", "3ff0283", "5605347", "3cea5f2", "6b25659", "c401957", "66caea8", "46e4302", "bbf2",
        ],
        ..PREFIXED
    },
    Rule {
        name: "retell-key",
        about: "Retell AI keys",
        keywords: &["key_"],
        pattern: Regex("key_([0-9a-f]{28})"),
        check: scattered,
        entropy: 2.5,
        hit: &["key_b70", "2a8cc31", "71c011e", "3248f22", "03ec"],
        miss: &["key_f48", "5e0f3b9", "a8aedd2", "2302c05", "e04"],
        ..PREFIXED
    },
    Rule {
        name: "ai71-key",
        about: "AI71 keys",
        keywords: &["ai71-api-"],
        pattern: Regex("ai71-api-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        entropy: 2.5,
        hit: &["ai71-ap", "i-467b3", "ff7-771", "8-c107-", "8f8d-3d", "f2a6a3e", "473"],
        miss: &["ai71-ap", "i-2efb5", "14a-e94", "8-a6a3-", "e227-c5", "fae9b53", "ed"],
        ..PREFIXED
    },
    Rule {
        name: "gc-notify-key",
        about: "GC Notify keys",
        keywords: &["gcntfy-"],
        pattern: Regex(
            "gcntfy-[A-Za-z0-9_-]{1,80}?-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        entropy: 2.5,
        hit: &[
            "gcntfy-", "kiosk-8", "3a9af42", "-5caa-a", "3b3-5ff", "3-07825", "b4a3101", "-88c5ad",
            "52-e5a6", "-3749-4", "a92-940", "b28b9cb", "20",
        ],
        miss: &[
            "gcntfy-", "kiosk-9", "585dbe4", "-a47e-b", "a3a-294", "f-67042", "5495e80", "-06938f",
            "27-08b3", "-7c0e-3", "dd7-861", "06c6d43", "b",
        ],
        ..PREFIXED
    },
    Rule {
        name: "proof-key",
        about: "Proof keys",
        keywords: &["prf_"],
        pattern: Regex("prf_(?:cli_)?(?:test_)?([A-Za-z0-9_]{22,48})"),
        check: scattered,
        hit: &["prf_cli", "_7pDeqB", "zi7CL9f", "79Li75H", "22"],
        miss: &["prf_cli", "_jVlk3q", "svOPrvU", "Qtakxyf", "h"],
        ..PREFIXED
    },
    Rule {
        name: "zoho-token",
        about: "Zoho access and refresh tokens",
        keywords: &["1000."],
        pattern: Regex(r"1000\.([0-9a-f]{32}\.[0-9a-f]{32})"),
        left: dotted,
        entropy: 2.5,
        hit: &[
            "1000.aa", "b14983d", "47d1978", "7a1a990", "65b9b84", "62.9afb", "069de11", "dac7207",
            "7fcc8ac", "cb56a78",
        ],
        miss: &[
            "1000.e9", "b3555f4", "4d4891c", "d869595", "297b9d8", "ff.2cf4", "4e321ce", "5fe8444",
            "dee9704", "48f931",
        ],
        ..PREFIXED
    },
    Rule {
        name: "zoho-secret",
        about: "Zoho client secrets and ZAPI keys beside the name",
        keywords: &["zoho"],
        pattern: Beside(r"(?:[0-9a-f]{42}|100[0-9]\.[0-9a-f]{32})"),
        hit: &["zoho_se", "cret = ", "79cdbe5", "135e600", "659f642", "558cadd", "410d46f", "0f6b26c"],
        miss: &["zoho_se", "cret = ", "b72bec3", "a7cfbb2", "e109a6b", "f5d642a", "f8ca73e", "664b21"],
        ..BESIDE_HEX
    },
    Rule {
        name: "flyio-header-token",
        about: "Fly.io tokens behind the name of their scheme",
        keywords: &["FlyV1 "],
        pattern: Regex("FlyV1 ([A-Za-z0-9+/=_,-]{60,})"),
        reach: 4096,
        check: scattered,
        entropy: 3.5,
        hit: &[
            "FlyV1 h", "bAYAonI", "2V4cbF2", "kWFi14q", "nmVLmH6", "BuTeyMH", "NmrsWwq", "zGVrqEM",
            "KSaudmc", "3lz",
        ],
        miss: &[
            "FlyV1 6", "5AiPRi8", "zLoeFzR", "wLKIDbq", "4PfvMPX", "mA5JnZB", "f1bMsOo", "Wc4ickO",
            "mdjhdx7", "eR",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "tableau-bare-token",
        about: "Tableau personal tokens",
        keywords: &["==:"],
        pattern: Regex("[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}"),
        follow: |byte: u8| byte.is_ascii_alphanumeric(),
        lead: Lead::Exactly(22),
        left: encoded,
        check: scattered,
        hit: &["zZN2Fhw", "8j0HqnI", "1eEDq3W", "C==:wsW", "qdXjyBa", "u82MohE", "MHzbwfx", "wD0nvXZ", "c"],
        miss: &["m6vKPRc", "7xYDg8D", "qKtfkuI", "6==:lU9", "YjnBRgq", "uRT20kd", "92d3Yh7", "mcnGd4i"],
        ..PREFIXED
    },
    Rule {
        name: "vault-quoted-token",
        about: "HashiCorp Vault tokens of older servers, in quotes",
        keywords: &["\"s.", "'s."],
        pattern: Regex(r#"["']s\.([A-Za-z0-9]{24})["'\\ ]"#),
        follow: |byte: u8| byte.is_ascii_alphanumeric(),
        right: none,
        check: scattered,
        hit: &["\"s.m6p8", "3k6y9fv", "dm3dsl6", "0r4ndj\""],
        miss: &["\"s.b9yz", "9z9y9ph", "60eze3v", "qgkjq\""],
        ..NAMED_TOKEN
    },
    Rule {
        name: "yandex-named-iam-token",
        about: "Yandex Cloud IAM tokens beside the name",
        keywords: &["yandex"],
        pattern: Beside(r"t1\.[A-Za-z0-9_-]{4,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
        hit: &[
            "yandex ", "= t1.Id", "zjOtiTg", "==.qDO0", "tGbgKsa", "81PV8dX", "YnHwtSC", "l4vOAdF",
            "fI2Cuez", "dl9eEP1", "eqR3ruw", "nFmhdcy", "3HUWVUm", "R7LeRrE", "RrvsjD7", "NcUPR",
        ],
        miss: &[
            "yandex ", "= t1.SH", "PrFCz8Q", "==.jspl", "530pml8", "sc3TpSo", "pmT2GYZ", "JYUCwhy",
            "LFizE3D", "AsRnvA7", "IzqT3O9", "1Elf8JP", "yqpJAiV", "hcuaKJQ", "leKkgNl", "uZEn",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "unleash-bare-token",
        about: "Unleash client and front-end tokens",
        keywords: &[":development.", ":production.", ":staging.", ":test."],
        pattern: Regex(r"(?:\*|[A-Za-z0-9_-]{1,60}):[a-z]{4,11}\.([0-9a-f]{56})"),
        lead: Lead::Run(project),
        left: none,
        entropy: 2.5,
        hit: &[
            "*:produ", "ction.7", "6eb8a7c", "4797dfc", "4d64e0d", "abd6c7c", "e315ade", "7da253b",
            "b0cb68c", "1b2c76",
        ],
        miss: &[
            "*:produ", "ction.f", "d7ae925", "4fb13e7", "fbf3ea7", "f1166e1", "daa2c42", "51aeae2",
            "9fc1829", "9943f",
        ],
        ..PREFIXED
    },
    Rule {
        name: "unleash-personal-token",
        about: "Unleash personal and admin tokens beside the name",
        keywords: &["unleash"],
        pattern: Beside("[0-9a-f]{56}"),
        hit: &[
            "unleash", "_pat = ", "user:c0", "a12367e", "164f125", "63abc91", "fa32757", "1ffcc7b",
            "4011d74", "5ca334e", "b5607",
        ],
        miss: &[
            "unleash", "_pat = ", "user:33", "0f9be8a", "1a212eb", "e1f025d", "c80e683", "10bb1b4",
            "8939077", "133e3ba", "c384",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "airtable-token",
        about: "Airtable personal tokens",
        keywords: &["pat"],
        pattern: Regex(r"pat[A-Za-z0-9]{14}\.([0-9a-f]{64})"),
        follow: |byte: u8| byte.is_ascii_alphanumeric(),
        entropy: 2.5,
        hit: &[
            "patVwlJ", "jMRB0LL", "bi2.d15", "0c0f382", "2547261", "758696a", "8e20c27", "4ec3a95",
            "b34eea5", "0d0ef1c", "1ad5ec8", "f712f",
        ],
        miss: &[
            "patYnUB", "Ydv5YqR", "xMG.c5c", "da33ccb", "eba96e7", "a6b78da", "584362a", "eced053",
            "a272de0", "a33ba6b", "1c7f121", "79c8",
        ],
        ..PREFIXED
    },
    Rule {
        name: "cisco-password-hash",
        about: "Cisco password hashes of types 8 and 9",
        keywords: &["$8$", "$9$"],
        pattern: Regex(r"\$[89]\$[A-Za-z0-9./]{14}\$[A-Za-z0-9./]{43}"),
        left: none,
        entropy: 3.5,
        hit: &[
            "$9$B91O", "k0QnfDx", "hUG$n7T", "Vy9GWg2", "LQXKxvu", "HacIDnm", "TGF7FWg", "sAeQeHS", "UQoiT",
        ],
        miss: &[
            "$9$HNEG", "59vLeIW", "g8G$DaH", "PuRcxr0", "QXaUcr6", "uuLUXdZ", "RpJPOzx", "PNbNc3z", "K11f",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "thingsboard-token",
        about: "device tokens in addresses of ThingsBoard",
        keywords: &["thingsboard"],
        pattern: Regex("(?i)thingsboard[a-z0-9.:-]{0,60}/api/v1/([A-Za-z0-9]{20})/"),
        right: none,
        check: scattered,
        hit: &[
            "thingsb", "oard.lo", "cal:808", "0/api/v", "1/cc3rr", "i6n07x8", "9fqr1qv", "5/telem", "etry",
        ],
        miss: &[
            "thingsb", "oard.lo", "cal:808", "0/api/v", "1/ehibq", "sur17td", "yjzn9jx", "/teleme", "try",
        ],
        ..NAMED_TOKEN
    },
    Rule {
        name: "tink-key",
        about: "keys in key sets of Tink that are not encrypted",
        keywords: &["google.crypto.tink."],
        pattern: Regex(
            r#"google\.crypto\.tink\.(?:Aes[A-Za-z]{1,20}|X?ChaCha20Poly1305|Hmac(?:Prf)?|HkdfPrf|[A-Za-z0-9]{1,30}Private)Key"[ ]?,[ ]?"value"[ ]?:[ ]?"([A-Za-z0-9+/=_-]{4,})""#,
        ),
        case: Case::Exact,
        reach: 2048,
        check: varied,
        hit: &[
            "google.",
            "crypto.",
            "tink.Hm",
            "acKey\",",
            " \"value",
            "\": \"wXD",
            "Vfur5Dm",
            "x3BEu25",
            "UF4BDON",
            "\"",
        ],
        miss: &[
            "google.",
            "crypto.",
            "tink.Ed",
            "25519Pu",
            "blicKey",
            "\", \"val",
            "ue\": \"V",
            "h90IYJV",
            "OKVKq5q",
            "1wD6KwE",
            "zj\"",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "ldap-name-password",
        about: "passwords behind a distinguished name in an LDAP address",
        keywords: &["ldap://", "ldaps://"],
        pattern: Regex(r#"(?i)ldaps?://[a-z]{1,6}=[^\s:@/"]{1,200}:([^\s@"]{3,100})@"#),
        check: is_password,
        hit: &["ldap://", "cn=read", "er,dc=i", "ntern:7", "p29ees1", "bxC7@ho", "st"],
        miss: &["ldap://", "cn=read", "er,dc=i", "ntern:v", "OoJBlOY", "HpQk/ho", "st"],
        ..Rule::NAMED
    },
];

/// A version (`2.1000.…`) is no token.
fn dotted(byte: u8) -> bool {
    token(byte) || byte == b'.'
}

/// What the name of a project in Unleash is made of.
fn project(byte: u8) -> bool {
    token(byte) || byte == b'*'
}
