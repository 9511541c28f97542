//! Shops, subscriptions and shipping.

use crate::check::mixed;
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "shopify-token",
        about: "Shopify access tokens and shared secrets",
        keywords: &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"],
        pattern: Regex("shp(?:at|ca|pa|ss|ua|tka)_([A-Fa-f0-9]{32})"),
        entropy: 2.5,
        hit: &["shpat_0", "80b22b6", "cfc122a", "9d00811", "3112504", "085"],
        miss: &["shpat_8", "179ae5e", "1d45e5e", "b70c374", "8bb7a9c", "07"],
        ..PREFIXED
    },
    Rule {
        name: "easypost-key",
        about: "EasyPost API keys",
        keywords: &["EZAK", "EZTK"],
        pattern: Regex("EZ[AT]K([A-Za-z0-9]{54})"),
        hit: &["EZAKUjA", "0hESyp0", "pKQdJjO", "mtWv0ip", "QKfChzA", "CG9tnOh", "ccgQndF", "ZSiu7Lz", "ji"],
        miss: &["EZAK2zZ", "4R8cMu4", "6hG0aEL", "AFJw0e1", "bca0NlM", "xb1Qgtp", "wtlGQSo", "4W4JyoN", "d"],
        ..PREFIXED
    },
    Rule {
        name: "duffel-token",
        about: "Duffel tokens",
        keywords: &["duffel_test_", "duffel_live_"],
        pattern: Regex("duffel_(?:test|live)_([A-Za-z0-9_=-]{43})"),
        hit: &["duffel_", "live_Zg", "OkKdL8p", "SfceaFk", "Ln9mhv8", "EwsXpW8", "oTALll0", "VD3NuG"],
        miss: &["duffel_", "live_ct", "sQTycFH", "dHrEAiT", "Ir-JfD_", "Ve_d_KX", "KCviQra", "X7d0T"],
        ..PREFIXED
    },
    Rule {
        name: "shippo-token",
        about: "Shippo tokens",
        keywords: &["shippo_live_", "shippo_test_"],
        pattern: Regex("shippo_(?:live|test)_([A-Fa-f0-9]{40})"),
        entropy: 2.5,
        hit: &["shippo_", "live_bf", "ab6a93c", "0ee254f", "952d112", "1809e4f", "12313c4", "54e"],
        miss: &["shippo_", "live_59", "f1cbee1", "3408dd4", "99f077a", "83e65a9", "f12fda3", "ba"],
        ..PREFIXED
    },
    Rule {
        name: "lob-key",
        about: "Lob keys beside the name",
        keywords: &["lob", "lobkey", "lobtoken", "lobsecret"],
        follow: |byte| !byte.is_ascii_alphanumeric(),
        pattern: Beside("(?:live|test)_(?:pub_[0-9a-f]{31}|[0-9a-f]{35})"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        hit: &["LOB_API", "_KEY=li", "ve_6cf2", "2796c55", "d053df1", "8ac2195", "b760506", "d5c"],
        miss: &["LOB_API", "_KEY=li", "ve_8aa5", "1821879", "0443486", "ac79b3f", "b582b70", "20"],
        ..BESIDE_HEX
    },
    Rule {
        name: "ebay-key",
        about: "eBay application keys",
        keywords: &["PRD-", "SBX-"],
        pattern: Regex("(?:PRD|SBX)-([0-9a-f]{11,12}(?:-[0-9a-f]{4,8}){3,4})"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        check: mixed,
        entropy: 2.5,
        hit: &["PRD-64b", "29720cb", "b8-6f14", "-0079-8", "901-545", "0"],
        miss: &["PRD-e4e", "0f0-9b5", "a-99f2-", "83ae-06", "16"],
        ..PREFIXED
    },
    Rule {
        name: "amazon-mws-token",
        about: "Amazon marketplace tokens",
        keywords: &["amzn.mws."],
        pattern: Regex(r"amzn\.mws\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        entropy: 2.5,
        hit: &["amzn.mw", "s.f594e", "fcc-091", "4-f49c-", "6bbf-8d", "95a1eb5", "de0"],
        miss: &["amzn.mw", "s.408c5", "e6a-2ca", "b-267e-", "3701-d4", "9c51ef8", "54"],
        ..PREFIXED
    },
    Rule {
        name: "gumroad-token",
        about: "Gumroad tokens beside the name",
        keywords: &["gumroad"],
        pattern: Beside("(?:[0-9a-f]{64}|[A-Za-z0-9_-]{43})"),
        hit: &["gumroad", "_token ", "= Qz9BS", "cgXisuJ", "Wv7NrQm", "aZe5pS3", "gFNqtP0", "6D8uzUx", "dNQ"],
        miss: &["gumroad", "_token ", "= OHO4N", "0pEWEva", "fyLbT2L", "B41AI9P", "v5g8vvW", "A79TjmU", "M3"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "taxjar-key",
        about: "TaxJar keys beside the name",
        keywords: &["taxjar"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["taxjar_", "key = 3", "6b2552c", "31b97c1", "966fe90", "7de8a82", "a2a"],
        miss: &["taxjar_", "key = 8", "5f07ed7", "76633fe", "5a08e8a", "af917c7", "e6"],
        ..BESIDE_HEX
    },
    Rule {
        name: "polar-token",
        about: "Polar access tokens",
        keywords: &["polar_oat_", "polar_pat_", "polar_at_", "polar_rt_"],
        pattern: Regex("polar_(?:[op]at|[ar]t)_([A-Za-z0-9_-]{20,64})"),
        hit: &["polar_o", "at_3ZsU", "S6mJffV", "wIuZsRf", "UJaCI5X", "QXVSH27", "QTacMA1", "Cw9q"],
        miss: &["polar_o", "at_WyQr", "Zhpqr2I", "W32p2G0", "t"],
        ..PREFIXED
    },
    Rule {
        name: "chargebee-key",
        about: "Chargebee keys beside the name",
        keywords: &["gebee"],
        pattern: Beside("(?:live|test)_[A-Za-z0-9]{32,40}"),
        hit: &["chargeb", "ee_key ", "= live_", "3IJIDt8", "6dyjy2F", "m8awq9q", "KhvQLMD", "iU9z31"],
        miss: &["chargeb", "ee_key ", "= live_", "DkC1Vzo", "oz4l4wM", "VA9VRk"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "recurly-key",
        about: "Recurly private keys beside the name",
        keywords: &["recurly"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["recurly", "_privat", "e = 877", "dd64944", "e4937fb", "344713f", "ed80a0b", "8"],
        miss: &["recurly", "_privat", "e = c16", "47d9e6e", "fbe9505", "0f82b3c", "192340c"],
        ..BESIDE_HEX
    },
    Rule {
        name: "etsy-token",
        about: "Etsy keys beside the name",
        keywords: &["etsy"],
        pattern: Beside("[a-z0-9]{24}(?::[a-z0-9]{10,64})?"),
        hit: &["etsy_to", "ken = b", "c02th05", "qgrp9r6", "8pj1s3o", "de"],
        miss: &["etsy_to", "ken = j", "ttlhe1z", "0s29tg6", "0f6jo7n", "p"],
        ..BESIDE_MIXED
    },
];
