//! More services whose values have no form of their own, each beside its name.

use crate::check::{mixed, plausible};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, word,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "ably-key",
        about: "Ably keys beside the name",
        keywords: &["ably"],
        pattern: Beside(r"[A-Za-z0-9_-]{5,10}\.[A-Za-z0-9_-]{5,12}:[A-Za-z0-9_-]{20,60}"),
        left: |byte: u8| byte.is_ascii_alphabetic(),
        hit: &["ably_ke", "y = pHV", "mFQ.fvv", "ASY:ttW", "15JcmHZ", "UYbEmn9", "tCF"],
        miss: &["ably_ke", "y = WEe", "9tT.otf", "d6G:JWb", "yoTFbXz", "0kS0lTq", "7a"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "azure-maps-key",
        about: "Azure Maps keys beside the name",
        keywords: &["azure_maps", "azuremaps", "azure-maps", "azure maps"],
        pattern: Beside("(?:[A-Za-z0-9]{84}|[A-Za-z0-9_-]{43}=?|[A-Za-z0-9]{32})"),
        check: plausible,
        hit: &["azure_m", "aps_key", " = g3j6", "H7Lce4Q", "t1Xz9Zj", "TckkRkU", "mC3COTy"],
        miss: &["azure_m", "aps_key", " = ZTza", "svbQVgY", "5fzbYlP", "EIt1QjX", "7v4ylC"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "clay-key",
        about: "Clay keys beside the name",
        keywords: &["clay_key", "clay_token", "clay_api", "clay key", "clay api"],
        pattern: Beside("[0-9a-f]{20}"),
        hit: &["clay_ke", "y = 7e4", "e8d6680", "b75c31f", "844"],
        miss: &["clay_ke", "y = d10", "13b7a09", "6139e27", "40"],
        ..BESIDE_HEX
    },
    Rule {
        name: "customerio-tracking-key",
        about: "Customer.io tracking keys beside the name",
        keywords: &["tracking api key", "tracking_api_key", "trackingapikey"],
        pattern: Beside("[0-9a-f]{20}"),
        hit: &["trackin", "g_api_k", "ey = 18", "b89647c", "c1bef86", "1019"],
        miss: &["trackin", "g_api_k", "ey = 85", "f04cac2", "ebbf9bc", "b2e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "gemstash-key",
        about: "Gemstash keys beside the name",
        keywords: &["gemstash"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["gemstas", "h_key: ", "c5086d4", "938cfff", "a6c2cbb", "3961e32", "97f8"],
        miss: &["gemstas", "h_key: ", "6acaf85", "416f245", "e4d8b64", "8c7fab0", "ba8"],
        ..BESIDE_HEX
    },
    Rule {
        name: "hex-organization-key",
        about: "keys of Hex.pm organizations beside the name",
        keywords: &["hex_organization_key", "hex.organization auth"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["hex_org", "anizati", "on_key=", "cfb3e98", "20323b1", "860e536", "4dc996c", "9666"],
        miss: &["hex_org", "anizati", "on_key=", "5790aa5", "8618c62", "2bc2970", "988365d", "8e1"],
        ..BESIDE_HEX
    },
    Rule {
        name: "inngest-event-key",
        about: "Inngest event keys beside the name",
        keywords: &["inngest"],
        pattern: Beside("[A-Za-z0-9_-]{86}"),
        hit: &[
            "inngest", "_event_", "key = V", "zvJyKdk", "wNxAHHS", "CmIUkAm", "ovmPzDJ", "iBbaMZG",
            "No4gmsF", "3hhIvb2", "FPHLrdj", "3VjrupG", "ijuW2RP", "WAO8RGh", "PTbvfmX", "i",
        ],
        miss: &[
            "inngest", "_event_", "key = W", "epgArBR", "3uIe6d8", "4VEPGBJ", "hAPbC6T", "Rwvu610",
            "jAGJBE9", "bE4Wo0i", "MGoK7PF", "mmuaqGj", "kreQxyf", "toiN0fY", "mybPItd",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "iterable-key",
        about: "Iterable keys beside the name",
        keywords: &["iterable_key", "iterable_api", "iterable-api", "iterableapi"],
        pattern: Beside("[A-Fa-f0-9]{32}"),
        hit: &["iterabl", "e_key =", " bB7A3a", "A49C5CB", "22AEAB5", "26f02Ad", "Ed75B"],
        miss: &["iterabl", "e_key =", " AF4a11", "ec945CB", "8dA3B51", "2348eCA", "0E1b"],
        ..BESIDE_HEX
    },
    Rule {
        name: "keen-key",
        about: "Keen keys beside the name",
        keywords: &["keen_read", "keen_write", "keen_master", "keenio", "keen.io"],
        pattern: Beside("(?:[0-9A-Fa-f]{192}|[0-9A-Fa-f]{128}|[0-9A-Fa-f]{64})"),
        hit: &[
            "keen_ma", "ster_ke", "y = d60", "aacb879", "10d2d67", "422661f", "73e8aaa", "2a7567c",
            "07efa2a", "ed1d0f7", "a21d3ab", "368d5",
        ],
        miss: &[
            "keen_ma", "ster_ke", "y = b8e", "1c26b03", "f88ea94", "c16ddb4", "23418bb", "0784fa2",
            "336183b", "edf9345", "d779fa0", "b8b9",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "owlbot-token",
        about: "Owlbot tokens beside the name",
        keywords: &["owlbot"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["owlbot_", "token =", " 3c4793", "d0c8b31", "409308b", "28f9184", "a78a9fd", "9327b4"],
        miss: &["owlbot_", "token =", " 9ad319", "0be6d60", "35018a3", "23e5cd1", "fa2a8f2", "0f340"],
        ..BESIDE_HEX
    },
    Rule {
        name: "packagecloud-token",
        about: "packagecloud tokens beside the name",
        keywords: &["packagecloud"],
        pattern: Beside("[0-9a-f]{48}"),
        hit: &[
            "package", "cloud_t", "oken = ", "84e208f", "bf076da", "5b12eed", "75917ad", "f9b9148",
            "da6b893", "8e72be",
        ],
        miss: &[
            "package", "cloud_t", "oken = ", "be9a4e6", "355b6ff", "2de3117", "73d1c9b", "244647d",
            "88c7599", "baa2b",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "pendo-key",
        about: "Pendo integration keys beside the name",
        keywords: &["pendo_", "pendo-", "pendo key", "pendokey"],
        pattern: Beside("(?:[A-Za-z0-9]{40}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        hit: &["pendo_k", "ey = Z7", "EoC1cFh", "6ym44Gp", "MxNP1NP", "Z0oTW1Y", "yJcW5rl", "ju5"],
        miss: &["pendo_k", "ey = pb", "7148kpL", "R56fr04", "D2jmCfB", "O8meNYM", "Spk3GpZ", "bJ"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pepipost-key",
        about: "Pepipost keys beside the name",
        keywords: &["pepipost"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["pepipos", "t_key =", " 568a4b", "b47c1c3", "4083c82", "be400a5", "83333"],
        miss: &["pepipos", "t_key =", " 291ac2", "f8b3029", "0db442e", "078041d", "cc83"],
        ..BESIDE_HEX
    },
    Rule {
        name: "positionstack-key",
        about: "positionstack keys beside the name",
        keywords: &["positionstack"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["positio", "nstack_", "key = 2", "c9f5212", "e0e4a48", "7e2352f", "9f34d8d", "a9d"],
        miss: &["positio", "nstack_", "key = 0", "da067d4", "380731d", "7ff68a1", "25374ff", "23"],
        ..BESIDE_HEX
    },
    Rule {
        name: "travis-named-token",
        about: "Travis CI tokens beside the words",
        keywords: &["travis_token", "travis_api_token", "travis-token", "travis token"],
        pattern: Beside("[A-Za-z0-9_-]{22}"),
        check: mixed,
        hit: &["travis_", "token 9", "ODZrfgV", "10l4oRu", "rYwWx3P"],
        miss: &["travis_", "token M", "AWGJc1n", "6iMe8rZ", "cmYecr"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "twilio-mixed-token",
        about: "Twilio tokens in letters of both cases, beside the name",
        keywords: &["twilio"],
        pattern: Beside("[0-9A-Fa-f]{32}"),
        hit: &["twilio_", "key = 3", "9BfDBa3", "804EaE0", "E6B1Eb2", "091E38B", "cA2"],
        miss: &["twilio_", "key = 9", "4a0cC69", "c9E4d9a", "fde662d", "D5a0B56", "f8"],
        ..BESIDE_HEX
    },
    Rule {
        name: "uptimerobot-short-key",
        about: "UptimeRobot keys without their prefix, beside the name",
        keywords: &["uptimerobot"],
        pattern: Beside("[a-z0-9]{28}"),
        hit: &["uptimer", "obot_ke", "y = isf", "sn0ajel", "sujsh0z", "dmss8uc", "t7sp"],
        miss: &["uptimer", "obot_ke", "y = fbi", "qzc24ye", "2yfrpav", "7gz6jzx", "nob"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wechat-key",
        about: "WeChat keys beside the name",
        keywords: &["wechat", "weixin"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["wechat.", "key = 6", "42192fd", "477693c", "cd83a9c", "d4fc73e", "d1d"],
        miss: &["wechat.", "key = f", "31c5b55", "88c5d47", "5e3123a", "c055ae3", "5d"],
        ..BESIDE_HEX
    },
    Rule {
        name: "cloudinary-long-secret",
        about: "longer Cloudinary secrets beside the name",
        keywords: &["cloudinary_api_secret", "cloudinary_secret"],
        pattern: Beside("[A-Za-z0-9_-]{28,32}"),
        check: plausible,
        hit: &["cloudin", "ary_api", "_secret", "=2aOWA5", "55HX2ox", "Suaa5M1", "a0rsjRy", "N"],
        miss: &["cloudin", "ary_api", "_secret", "=ZLb7sV", "wUdictx", "cMYo2YX", "UxQetIL"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "imagekit-long-key",
        about: "longer ImageKit keys beside the name",
        keywords: &["imagekit"],
        pattern: Beside("private_[A-Za-z0-9+/]{24,32}={0,2}"),
        hit: &["imageki", "t token", " privat", "e_iN9u5", "1zhlaGC", "fIuFbRD", "apgie"],
        miss: &["imageki", "t token", " privat", "e_ZZc9m", "Ll2uMDh", "XQDdj4x", "FKGQ"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "seed-words",
        about: "the words that a wallet is restored from, beside their name",
        keywords: &[
            "mnemonic",
            "seed_phrase",
            "seed phrase",
            "seedphrase",
            "seed_words",
            "seed words",
            "recovery_phrase",
            "recovery phrase",
            "secret_phrase",
            "backup_phrase",
        ],
        pattern: Regex(
            r#"(?i)[a-z]{4,8}(?:[_ ]?(?:phrase|words))?["']?[ ]{0,4}[:=][ ]{0,4}["'\[]?(?-i:((?:[a-z]{3,8} ){11,23}[a-z]{3,8}))"#,
        ),
        check: word_list,
        right: word,
        hit: &[
            "mnemoni", "c: \"riv", "er mapl", "e stone", " anchor", " velvet", " copper", " lemon ",
            "tunnel ", "orbit b", "asket w", "indow j", "acket\"",
        ],
        miss: &[
            "mnemoni", "c: \"riv", "er mapl", "e stone", " anchor", " velvet", " copper", " lemon ",
            "tunnel ", "orbit b", "asket w", "indow\"",
        ],
        ..Rule::NAMED
    },
];

/// Words that every sentence has and no list of seed words.
const OF_SENTENCES: [&str; 14] =
    ["the", "and", "for", "are", "with", "from", "not", "was", "has", "which", "its", "but", "into", "each"];

fn word_list(value: &[u8]) -> bool {
    let mut words = value.split(|byte| *byte == b' ');
    !words.any(|word| OF_SENTENCES.iter().any(|other| word == other.as_bytes()))
}
