//! Payments, shops and shipping.

use crate::rule::{
    Lead,
    Pattern::{Beside, Regex},
    Rule, hex, none,
};
use crate::rules::form::{BESIDE_MIXED, PREFIXED, encoded, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "paystack-key",
        about: "Paystack secret keys",
        keywords: &["sk_live_", "sk_test_"],
        pattern: Regex("sk_(?:live|test)_([0-9a-f]{40})"),
        entropy: 2.5,
        hit: &["sk_live", "_7f7fae", "8e77f97", "e761bd7", "4a2fdf1", "7e62dd7", "bdc576"],
        miss: &["sk_live", "_x9ab02", "4663f88", "73fecb3", "0b48b07", "6b02393", "482e92"],
        ..PREFIXED
    },
    Rule {
        name: "stripe-key",
        about: "Stripe secret and restricted keys",
        keywords: &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"],
        pattern: Regex("[sr]k_(?:live|test|prod)_([A-Za-z0-9]{10,})"),
        right: none,
        hit: &["sk_live", "_Jg3kbX", "jmor"],
        miss: &["sk_live", "_RugPgJ", "U9K"],
        ..PREFIXED
    },
    Rule {
        name: "stripe-webhook-secret",
        about: "Stripe and Svix webhook secrets",
        keywords: &["whsec_"],
        pattern: Regex("whsec_([A-Za-z0-9+/=]{32,64})"),
        hit: &["whsec_Y", "KJXna4R", "fYunS0Z", "2Ca9fMA", "zhpO8ob", "y0K"],
        miss: &["whsec_E", "7CVTYY0", "G5E871c", "H9xmMFn", "Ygyytix", "ID"],
        ..PREFIXED
    },
    Rule {
        name: "square-access-token",
        about: "Square access tokens",
        keywords: &["EAAA"],
        pattern: Regex("EAAA[A-Za-z0-9_-]{60}"),
        check: scattered,
        hit: &[
            "EAAAPZ3", "FswuowF", "UPbwVc0", "CoedX00", "pKiU50D", "HD96L6U", "CuGZgNQ", "ELRZL8v",
            "KM8W9ZB", "j",
        ],
        miss: &[
            "EAAAIoG", "2yV2VoE", "d7DyGdq", "R7mMlK2", "EmAlrKP", "q0r3uFC", "MsyNMAm", "mgkencG", "ja136VE",
        ],
        ..PREFIXED
    },
    Rule {
        name: "square-legacy-token",
        about: "Square access tokens of the older form",
        keywords: &["sq0atp-"],
        pattern: Regex("sq0atp-([A-Za-z0-9_-]{22,60})"),
        hit: &["sq0atp-", "APj7M0q", "9ScZUmu", "l2FfGDD", "4"],
        miss: &["sq0atp-", "JRZB3Yj", "J6TLLi5", "zp99PVO"],
        ..PREFIXED
    },
    Rule {
        name: "square-secret",
        about: "Square OAuth secrets",
        keywords: &["sq0csp-"],
        pattern: Regex("sq0csp-([A-Za-z0-9_-]{43})"),
        hit: &["sq0csp-", "Njolvva", "xlZ8LW4", "XqI9j98", "EEnD4WE", "tcfmbJ9", "kv9GppQ", "C"],
        miss: &["sq0csp-", "qv80ll5", "KQB8zkM", "J66Gji6", "SnvZsUj", "WdBObfx", "e4B4m39"],
        ..PREFIXED
    },
    Rule {
        name: "braintree-access-token",
        about: "Braintree access tokens of PayPal",
        keywords: &["ken$"],
        lead: Lead::Exactly(9),
        pattern: Regex(r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &[
            "access_", "token$p", "roducti", "on$sq4i", "wqtf9b5", "8bxym$8", "78bebb2", "dfe1840",
            "03b6b73", "2b07df7", "932",
        ],
        miss: &[
            "access_", "token$p", "roducti", "on$7acy", "715qwvd", "9im6r$2", "666aefc", "ca18271",
            "f651de7", "d594108", "ce",
        ],
        ..PREFIXED
    },
    Rule {
        name: "braintree-key",
        about: "Braintree keys beside the name",
        keywords: &["braintree"],
        pattern: Beside("(?:[0-9a-f]{32}|[0-9a-z]{16})"),
        hit: &["braintr", "ee_priv", "ate_key", " = 6b9e", "b87caf9", "1885f4b", "0ea5905", "5e09cb2"],
        miss: &["braintr", "ee_priv", "ate_key", " = 26f0", "9439705", "7f89756", "0804a90", "aa11a7"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "paypal-client-secret",
        about: "PayPal client secrets beside the name",
        keywords: &["paypal"],
        pattern: Beside("E[A-Za-z0-9_-]{79}"),
        hit: &[
            "paypal_", "secret ", "= EgMZx", "q2fJH_Q", "kFaJiZC", "zNolnKq", "VBFF2hh", "Z-A103k",
            "E72eJgp", "ZU64VtS", "5pWDkdj", "VAMuuUy", "DzdECsh", "Cc7pZ",
        ],
        miss: &[
            "paypal_", "secret ", "= ExNrY", "J88BIS9", "uDZT5n7", "7XFxMQU", "7FrTMhl", "jG7VW_4",
            "DEzZNaZ", "_c3QKeT", "EMynSwz", "vDd7Qz5", "F49NQv9", "Vqkw",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "adyen-key",
        about: "Adyen API keys",
        keywords: &["AQE"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex(
            r#"AQE[A-Za-z0-9]{5}[A-Za-z0-9+/]{20,}={0,2}-[A-Za-z0-9+/]{10,}={0,2}-[^\s"'`\\]{8,}"#,
        ),
        left: encoded,
        right: none,
        hit: &[
            "AQEH02K", "LMAzWDQ", "BgHX83w", "f/5s5D9", "QOCsvks", "ijVyfRw", "cSaAuPI", "gQ4jGlq",
            "g8-ZZV5", "w9mJGdp", "K4wfIqE", "42X2DRQ", "QKsSmYx", "6enM5OI", "qM0hD=-", "oXM690a",
            "98tT4fr", "bJ",
        ],
        miss: &[
            "AQE0DyZ", "VvqwkKr", "xAp9HyT", "/lvt8n7", "gN1aUVy", "+Ba3GP8", "5CetTW4", "iWkIFgX",
            "jW-6T0D", "QJLiLGV", "fc7ceVj", "+sC+MaA", "tWGJpoa", "2ac6XCl", "TR4DB",
        ],
        ..PREFIXED
    },
    Rule {
        name: "plaid-access-token",
        about: "Plaid access tokens",
        keywords: &["ess-sandbox-", "ess-development-", "ess-production-"],
        lead: Lead::Exactly(3),
        pattern: Regex(
            "access-(?:sandbox|development|production)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        entropy: 2.5,
        hit: &["access-", "sandbox", "-70366f", "29-d4ba", "-a30a-e", "cd4-d60", "97fef6f", "e4"],
        miss: &["access-", "sandbox", "-441f4a", "28-e72b", "-ada7-4", "57a-91f", "437eca0", "9"],
        ..PREFIXED
    },
    Rule {
        name: "plaid-secret",
        about: "Plaid secrets and client ids beside the name",
        keywords: &["laid"],
        pattern: Beside("(?:[a-z0-9]{30}|[a-z0-9]{24})"),
        hit: &["plaid_s", "ecret =", " vg9p9o", "3ivqq6t", "o9waeoo", "57k1nxy", "tk3"],
        miss: &["plaid_s", "ecret =", " m8krnx", "urkuvl8", "ai2bxf7", "uwdfaw4", "me"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "razorpay-key",
        about: "Razorpay key ids",
        keywords: &["rzp_live_", "rzp_test_"],
        pattern: Regex("rzp_(?:live|test)_([A-Za-z0-9]{14})"),
        entropy: 2.8,
        hit: &["rzp_liv", "e_m4wfT", "i0wQBdR", "W0"],
        miss: &["rzp_liv", "e_c1PoO", "E4oUqQP", "m"],
        ..PREFIXED
    },
    Rule {
        name: "razorpay-secret",
        about: "Razorpay secrets beside the name",
        keywords: &["razorpay"],
        pattern: Beside("[A-Za-z0-9]{24}"),
        hit: &["razorpa", "y_key_s", "ecret =", " YOP1Qu", "fXrY2GM", "BozZib8", "D1VF"],
        miss: &["razorpa", "y_key_s", "ecret =", " tQ5Qgs", "pBAr19Z", "y95Hke6", "BTx"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "coinbase-token",
        about: "Coinbase tokens and secrets beside the name",
        keywords: &["coinbase"],
        pattern: Beside("[A-Za-z0-9_-]{64}"),
        hit: &[
            "coinbas", "e_acces", "s_token", " = lFff", "CYLq3hl", "tYR-aXM", "djjJLUP", "3EzPEAy",
            "-6LJdZ0", "hDbG6HI", "Bdi9G5Z", "X6gCeoe", "kSIf",
        ],
        miss: &[
            "coinbas", "e_acces", "s_token", " = CxQ4", "VCVjzKs", "UFdXlrm", "FyNqz_k", "HRNmb8u",
            "Me9k8SB", "tCwI8_n", "nFq9aCd", "TWX3IYC", "SEW",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "coinbase-key-name",
        about: "Coinbase developer platform keys",
        keywords: &["organizations/"],
        pattern: Regex(
            "organizations/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/apiKeys/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        entropy: 2.5,
        hit: &[
            "organiz", "ations/", "f3ed1a9", "f-7130-", "8840-26", "22-01bb", "64079f1", "c/apiKe",
            "ys/53d7", "36c2-ff", "a8-98d9", "-6081-8", "e2783ea", "9f8c",
        ],
        miss: &[
            "organiz", "ations/", "44ac146", "1-a795-", "358f-b8", "a6-c1ef", "93f8089", "7/apiKe",
            "ys/1f26", "5a6a-da", "08-02c1", "-5d63-9", "d8df6c6", "af1",
        ],
        ..PREFIXED
    },
    Rule {
        name: "finicity-key",
        about: "Finicity keys and secrets beside the name",
        keywords: &["nicity"],
        pattern: Beside("(?:[0-9a-f]{32}|[a-z0-9]{20})"),
        hit: &["finicit", "y_api_k", "ey = db", "c86030c", "e7acf9c", "89a4dea", "bf460c7", "c3"],
        miss: &["finicit", "y_api_k", "ey = e5", "7f32b5e", "fa767d6", "091c578", "e9022ba", "7"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "flutterwave-key",
        about: "Flutterwave keys",
        keywords: &["FLWSECK", "FLWPUBK"],
        pattern: Regex("FLW(?:SEC|PUB)K(?:_TEST)?-(?:([a-hA-H0-9]{32})-X|([a-hA-H0-9]{12}))"),
        entropy: 2.2,
        hit: &["FLWSECK", "_TEST-1", "1b0b9f2", "5da9e2a", "8558c76", "1ec6e52", "29c-X"],
        miss: &["FLWSECK", "_TEST-1", "67bae4e", "d982911", "9ecb3db", "aa1570b", "82-X"],
        ..PREFIXED
    },
    Rule {
        name: "paddle-key",
        about: "Paddle API keys",
        keywords: &["pdl_live_", "pdl_sdbx_"],
        pattern: Regex("pdl_(?:live|sdbx)_apikey_([a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3})"),
        hit: &[
            "pdl_liv", "e_apike", "y_z8ui7", "kc93nir", "76y8gaj", "3q9b86x", "_s6u7ew", "ypnoeIH",
            "ZQAlcv6", "OD_ime",
        ],
        miss: &[
            "pdl_liv", "e_apike", "y_m65x5", "sgzarac", "urcget2", "hluars8", "_WjGBq4", "2ljfzWu",
            "d2APY5z", "fs_Gr",
        ],
        ..PREFIXED
    },
    Rule {
        name: "gocardless-token",
        about: "GoCardless tokens beside the name",
        keywords: &["gocardless"],
        pattern: Beside("(?:live|sandbox)_[A-Za-z0-9_=-]{40}"),
        hit: &[
            "gocardl", "ess_tok", "en = li", "ve_s3TN", "AbqjAbx", "eyLV5dd", "4ssdbss", "L6Yevjd",
            "MrJziuf", "7",
        ],
        miss: &[
            "gocardl", "ess_tok", "en = li", "ve_v03P", "hujXZKy", "NaxzR85", "QCjpxZL", "vr1cN2b", "TapFWfM",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "mollie-key",
        about: "Mollie keys beside the name",
        keywords: &["mollie"],
        pattern: Beside("(?:live|test)_[A-Za-z0-9]{30}"),
        hit: &["mollie_", "key = l", "ive_x4o", "9rAo2g1", "tAyJoAf", "Fox6yUl", "drYvm0"],
        miss: &["mollie_", "key = l", "ive_GfY", "Zl9T5U1", "xtRdrUO", "30nyyam", "HHVKD"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "checkout-key",
        about: "Checkout.com secret keys",
        keywords: &["sk_"],
        follow: |byte| hex(byte) || byte == b't' || byte == b's',
        pattern: Regex("sk_(?:test_|sbox_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        entropy: 2.5,
        hit: &["sk_9429", "aa72-50", "01-bd9e", "-cd13-a", "aa77ef3", "8cd3"],
        miss: &["sk_d1f7", "d0da-56", "9c-ac5b", "-7e31-a", "1fa79c9", "490"],
        ..PREFIXED
    },
    Rule {
        name: "mercadopago-token",
        about: "Mercado Pago access tokens",
        keywords: &["APP_USR-"],
        pattern: Regex("APP_USR-([0-9]{12,16}-[0-9]{6}-[0-9a-f]{32}(?:__[A-Z]{2}_[A-Z]{2}__)?-[0-9]{6,10})"),
        entropy: 2.5,
        hit: &[
            "APP_USR", "-627607", "2270974", "223-778", "124-cfe", "411499a", "3d1dd16", "f9015b8",
            "cba549e", "8-03245", "1758",
        ],
        miss: &[
            "APP_USR", "-131903", "6941315", "539-489", "040-1f4", "fde9ae6", "984bdac", "05fb630",
            "a34dde0", "-427130", "645",
        ],
        ..PREFIXED
    },
    Rule {
        name: "klarna-key",
        about: "Klarna API keys",
        keywords: &["klarna_"],
        pattern: Regex("klarna_(?:live|test)_api_([A-Za-z0-9+/=_-]{40,})"),
        hit: &[
            "klarna_", "live_ap", "i_MpaVM", "QuSQq7V", "HCwmA2t", "Y3RVXpH", "ub01ThO", "cdYE4l6",
            "xvpLCHd", "xPydEcw", "SLSbhT",
        ],
        miss: &["klarna_", "live_ap", "i_ys6WI", "eHniMjS", "6ntEm2r", "V"],
        ..PREFIXED
    },
    Rule {
        name: "xendit-key",
        about: "Xendit secret keys",
        keywords: &["xnd_"],
        pattern: Regex("xnd_(?:development|production)_([A-Za-z0-9]{40,80})"),
        hit: &[
            "xnd_pro", "duction", "_7HOZAA", "ZyLewoi", "hVOvrxa", "FD2BSQG", "Ye5qEZo", "q7MIS2d",
            "bSwGgGs", "iSb1mSt", "b",
        ],
        miss: &["xnd_pro", "duction", "_IsuQCB", "Hk1W4Zp", "8BA7di4", "ryai7Ql", "1G0"],
        ..PREFIXED
    },
    Rule {
        name: "midtrans-key",
        about: "Midtrans server keys",
        keywords: &["Mid-server-"],
        pattern: Regex("Mid-server-([A-Za-z0-9_-]{14,40})"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        hit: &["SB-Mid-", "server-", "8sYSWcO", "NrEwKOm", "Ub1vcp-", "06O"],
        miss: &["Mid-ser", "ver-793", "DItXEFL", "q7v"],
        ..PREFIXED
    },
    Rule {
        name: "asaas-key",
        about: "Asaas API keys",
        keywords: &["$aact_"],
        pattern: Regex(r"\$aact_((?:prod|hmlg)_[A-Za-z0-9_:$-]{20,}|[A-Za-z0-9_:$]{60,})"),
        left: none,
        hit: &[
            "$aact_p", "rod_PKt", "84d0Y7H", "UfCzLj6", "P1PdTw2", "vbFca8s", "fs1M12o", "NbgoGZb",
            "lJ0tiou", "R04sa8e", "9ZBitcC", "vNoglp6", "MQbVzr5", "0orgwbh", "AyU",
        ],
        miss: &["$aact_p", "rod_l41", "p5JxNBT", "5S9VETu", "V5"],
        ..PREFIXED
    },
    Rule {
        name: "cashfree-key",
        about: "Cashfree secret keys",
        keywords: &["cfsk_ma_"],
        pattern: Regex("cfsk_ma_(?:test|prod)_([0-9a-f]{32}_[0-9a-f]{8})"),
        entropy: 2.5,
        hit: &["cfsk_ma", "_prod_e", "03f7766", "a39baa6", "6b0ac4e", "5b1f5e3", "522_b31", "f6aa8"],
        miss: &["cfsk_ma", "_prod_4", "13c85eb", "c3f2b28", "5f3c0ed", "01280a1", "52f_4e8", "6f6b"],
        ..PREFIXED
    },
    Rule {
        name: "mercury-token",
        about: "Mercury banking tokens",
        keywords: &["mercury_production_", "mercury_sandbox_"],
        pattern: Regex("mercury_(?:production|sandbox)_([a-z0-9]{2,6}_[A-Za-z0-9]{30,}(?:_yrucrem)?)"),
        hit: &[
            "secret-", "token:m", "ercury_", "product", "ion_rma", "_OAVeYI", "V8uNVmv", "gHLmXb1",
            "jAyfPtY", "M0qV3OG", "GDf4RZN", "Eu_yruc", "rem",
        ],
        miss: &["secret-", "token:m", "ercury_", "product", "ion_rma", "_Z0PxiA", "eC2lDVe", "GSPhk6C"],
        ..PREFIXED
    },
];
