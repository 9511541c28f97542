//! Mail, text messages and push.

use crate::rule::{
    Lead,
    Pattern::{Beside, Regex},
    Rule, hex, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "sendgrid-key",
        about: "SendGrid API keys",
        keywords: &["SG."],
        follow: token,
        pattern: Regex(r"SG\.([A-Za-z0-9=_.-]{66})"),
        hit: &[
            "SG.pck0", "eoCwbf_", "tJ7F5Pl", "RVIj.JZ", "nRZdx7Z", "wd6jau6", "kvffgd7", "QAQPQuI",
            "hUo7GG0", "KQdEZl",
        ],
        miss: &[
            "SG.JGwz", "7Kz3C5g", "KhG0hXV", "b0qi.6l", "ESMj-AY", "fbmweiE", "NRfvVO_", "1zbCnTz",
            "wnfAx0e", "w9OAr",
        ],
        ..PREFIXED
    },
    Rule {
        name: "mailgun-key",
        about: "Mailgun private and public keys",
        keywords: &["key-", "pubkey-"],
        pattern: Regex("(?:pub)?key-([0-9a-f]{32})"),
        left: token,
        entropy: 2.5,
        hit: &["key-a30", "ff992cc", "f73a504", "7ade56c", "cf20066", "f"],
        miss: &["key-75f", "f19f332", "dcc95e3", "648c422", "8795e41", "x"],
        ..PREFIXED
    },
    Rule {
        name: "mailgun-signing-key",
        about: "Mailgun keys of the newer form beside the name",
        keywords: &["mailgun"],
        pattern: Beside("(?:[0-9a-h]{32}-[0-9a-h]{8}-[0-9a-h]{8}|[0-9a-f]{32})"),
        hit: &[
            "mailgun", "_signin", "g = 8a5", "c50c1b4", "fac4a44", "cf80275", "834d6a6", "d-944d1",
            "33c-d30", "e3510",
        ],
        miss: &[
            "mailgun", "_signin", "g = 72d", "4db9eef", "8dbf07a", "93e2485", "e74070a", "3-f44b0",
            "f3e-753", "e65e",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "mailchimp-key",
        about: "Mailchimp API keys",
        keywords: &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
        lead: Lead::Run(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
        pattern: Regex("[0-9a-f]{32}-us[0-9]{1,2}"),
        entropy: 2.5,
        hit: &["e4ee146", "13cfc4b", "5a186e6", "9f4dea0", "f500-us", "18"],
        miss: &["c590cd6", "e1cfebd", "59902d1", "dcbd931", "cee-us1", "8"],
        ..PREFIXED
    },
    Rule {
        name: "mandrill-key",
        about: "Mandrill keys beside the name",
        keywords: &["mandrill"],
        pattern: Beside("(?:md-)?[A-Za-z0-9_-]{22}"),
        hit: &["mandril", "l_key =", " uU6gDC", "FV_zE1F", "x7qVP7C", "Jn"],
        miss: &["mandril", "l_key =", " xlIYeM", "MEzcE5p", "iiPRp8N", "U"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "postmark-token",
        about: "Postmark server tokens beside the name",
        keywords: &["postmark"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["postmar", "k_serve", "r = cb7", "218f8-0", "e02-e05", "c-af9b-", "678d546", "b395c"],
        miss: &["postmar", "k_serve", "r = 4c1", "76b66-7", "f07-ac9", "a-7ceb-", "31de000", "6b76"],
        ..BESIDE_HEX
    },
    Rule {
        name: "brevo-key",
        about: "Brevo API and SMTP keys",
        keywords: &["xkeysib-", "xsmtpsib-"],
        pattern: Regex("x(?:key|smtp)sib-([0-9A-Fa-f]{64}-[A-Za-z0-9]{16})"),
        hit: &[
            "xkeysib", "-ef51f6", "8deb456", "68550fa", "1cefa30", "f75e8f0", "bb911a7", "015aea6",
            "ac559c0", "0161f77", "82-JO47", "N34gKiF", "IQFR1",
        ],
        miss: &[
            "xkeysib", "-9408d8", "31983cc", "047f378", "3a1eab2", "05c5cdb", "c6914ec", "90e6077",
            "3f17563", "fca2ee9", "e9-8cl7", "3NsRLG1", "YC83",
        ],
        ..PREFIXED
    },
    Rule {
        name: "resend-key",
        about: "Resend API keys",
        keywords: &["re_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("re_([A-Za-z0-9]{8}_[A-Za-z0-9]{24})"),
        check: scattered,
        hit: &["re_5p2S", "9RO9_pd", "i2JNdEk", "zLNXtJ5", "8beJNKG", "e"],
        miss: &["re_dj8k", "5fmW_50", "39H9S1e", "CAwhTpS", "hSsEj5u"],
        ..PREFIXED
    },
    Rule {
        name: "twilio-key",
        about: "Twilio API keys",
        keywords: &["SK"],
        follow: |byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
        pattern: Regex("SK[0-9a-f]{32}"),
        entropy: 2.5,
        hit: &["SKacfad", "c32b162", "a78114e", "4c9a373", "12403e"],
        miss: &["SK94c4b", "f7a4d1c", "e4763b2", "3165091", "68156"],
        ..PREFIXED
    },
    Rule {
        name: "twilio-auth-token",
        about: "Twilio auth tokens beside the name",
        keywords: &["twilio"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["twilio_", "auth = ", "22448ee", "f3cbe83", "98a2624", "4235829", "1cb5"],
        miss: &["twilio_", "auth = ", "42e7d1b", "2e10b95", "3715aa3", "13c7697", "592"],
        ..BESIDE_HEX
    },
    Rule {
        name: "vonage-secret",
        about: "Vonage and Nexmo secrets beside the name",
        keywords: &["vonage", "nexmo"],
        pattern: Beside("[A-Za-z0-9]{16}"),
        hit: &["nexmo_s", "ecret =", " Jb6jQ8", "DEipPR4", "Ob2"],
        miss: &["nexmo_s", "ecret =", " sXP0qN", "e4LEkSa", "eT"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "messagebird-key",
        about: "MessageBird keys beside the name",
        keywords: &["gebird", "ge_bird", "ge-bird"],
        pattern: Beside("(?i)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[a-z0-9]{25})"),
        hit: &["message", "bird_ke", "y = NqX", "b2JU829", "5RqH9YR", "DXoBIzo", "U"],
        miss: &["message", "bird_ke", "y = QGN", "sbn6zDM", "yXeDNA2", "Rjvs7k0"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "plivo-token",
        about: "Plivo credentials beside the name",
        keywords: &["plivo"],
        pattern: Beside("(?:[A-Za-z0-9]{40}|[MS]A[A-Z0-9]{18})"),
        hit: &["plivo_a", "uth = M", "8ohH671", "BLlpl8o", "1OoVKls", "8ewNhVT", "X6yjLbM", "nuJI"],
        miss: &["plivo_a", "uth = m", "7UpyLpZ", "HGf2vUh", "Y2M6mM7", "t61dSjd", "BU0S4u7", "e0f"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "telnyx-key",
        about: "Telnyx API keys",
        keywords: &["KEY0"],
        pattern: Regex("KEY[0-9A-F]{32}_[A-Za-z0-9]{22}"),
        hit: &["KEY0E36", "E195FAF", "6228472", "7888A56", "CD55AD4", "_lD2eGQ", "09AZXC0", "sPH4Lv7", "qz"],
        miss: &["KEY07FA", "5AA402B", "2DDC460", "D5ABDC2", "AB0C9D7", "_vLokf6", "lZziFN0", "MGbyu1z", "h"],
        ..PREFIXED
    },
    Rule {
        name: "mailersend-token",
        about: "MailerSend tokens",
        keywords: &["mlsn."],
        pattern: Regex(r"mlsn\.([A-Za-z0-9]{35,64})"),
        entropy: 2.5,
        hit: &[
            "mlsn.1d", "b79ccc6", "aa3b5ed", "ed50ee3", "1b0d281", "5ac0818", "194c388", "8108472",
            "641232a", "d254ef",
        ],
        miss: &["mlsn.H5", "OH9uFcc", "f121MK7", "eiJqyCv", "776CtRX", "NhlF"],
        ..PREFIXED
    },
    Rule {
        name: "sparkpost-key",
        about: "SparkPost keys beside the name",
        keywords: &["sparkpost"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["sparkpo", "st_key ", "= e3697", "79a9c20", "9cbd65d", "5e4a019", "e7e481f", "aedf87f"],
        miss: &["sparkpo", "st_key ", "= c9fd7", "7375ed2", "2d6379f", "aae486a", "f9b2071", "b53529"],
        ..BESIDE_HEX
    },
    Rule {
        name: "mailjet-key",
        about: "Mailjet keys beside the name",
        keywords: &["mailjet", "mj_apikey"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["mailjet", "_secret", " = 5662", "2734be4", "f3ae45d", "ba224a3", "c7773a6"],
        miss: &["mailjet", "_secret", " = 51c4", "e4b3e6b", "5e6e41a", "e742933", "0d352e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "klaviyo-key",
        about: "Klaviyo private keys",
        keywords: &["pk_"],
        follow: hex,
        pattern: Regex("pk_([0-9a-f]{34})"),
        entropy: 2.5,
        hit: &["pk_d06b", "3d12e3d", "69315db", "66d4318", "479015b", "5a"],
        miss: &["pk_a61c", "904953a", "443f94b", "7233923", "b8c13d0", "b"],
        ..PREFIXED
    },
    Rule {
        name: "courier-key",
        about: "Courier keys",
        keywords: &["pk_prod_", "pk_test_"],
        pattern: Regex("pk_(?:prod|test)_([A-Z0-9]{28})"),
        hit: &["pk_prod", "_PYNWF4", "24FI3ZI", "YI3J6ET", "CL5B3O1", "B"],
        miss: &["pk_prod", "_UNXV1A", "1XMF2SW", "HOS2RBP", "G706LOH"],
        ..PREFIXED
    },
    Rule {
        name: "onesignal-key",
        about: "OneSignal keys",
        keywords: &["os_v2_"],
        pattern: Regex("os_v2_(?:app|org)_([a-z0-9]{80,120})"),
        hit: &[
            "os_v2_a", "pp_zpjk", "q7c5zef", "t43b3rp", "c26mga7", "sndlu62", "oh7gmtb", "k2dozkk",
            "rtwoqda", "toat7di", "z7wlas3", "aok53ql", "l6rumjg", "dhvpstj", "brp2afz", "pnjgso4", "3",
        ],
        miss: &[
            "os_v2_a", "pp_f76x", "mqjb5k3", "ydrdwpo", "xyxh3qi", "nd6i3yl", "546rvsb", "tdr4hoh",
            "2wgxprv", "7rid3fm",
        ],
        ..PREFIXED
    },
    Rule {
        name: "onesignal-rest-key",
        about: "OneSignal keys of the older forms beside the name",
        keywords: &["onesignal"],
        pattern: Beside(
            "(?i)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9]{48})",
        ),
        hit: &["onesign", "al_key ", "= cae27", "c56-bdb", "e-3085-", "5a7a-c1", "afc50b6", "5ec"],
        miss: &["onesign", "al_key ", "= a53e8", "b02-807", "4-35b0-", "d742-68", "58df7ef", "24"],
        ..BESIDE_HEX
    },
    Rule {
        name: "nylas-key",
        about: "Nylas API keys",
        keywords: &["nyk_"],
        pattern: Regex("nyk_(?:v0_([A-Za-z0-9]{64})|([A-Za-z0-9]{67}))"),
        hit: &[
            "nyk_v0_", "ewSyxpF", "9oWQFSP", "NLNVxBA", "dTG4Nr4", "h2WICQ3", "YsUv9Es", "aRnipUx",
            "UJsmEvZ", "tnrEGLW", "B",
        ],
        miss: &[
            "nyk_v0_", "jOkVr0s", "uOW4THi", "Z0BIzWn", "VjBoW3b", "H5grgpJ", "fCTbA8P", "aEsOo91",
            "fNZjWHJ", "LT3BQMd",
        ],
        ..PREFIXED
    },
    Rule {
        name: "smtp2go-key",
        about: "SMTP2GO keys",
        keywords: &["api-"],
        pattern: Regex("api-([A-F0-9]{32})"),
        left: token,
        entropy: 2.5,
        hit: &["api-FE9", "5904237", "0DED7F8", "DD9D587", "16A9172", "6"],
        miss: &["api-7E3", "D028A31", "521CB63", "87E265C", "13E67B1"],
        ..PREFIXED
    },
    Rule {
        name: "elasticemail-key",
        about: "Elastic Email keys beside the name",
        keywords: &["elasticemail", "elastic_email"],
        pattern: Beside("[A-F0-9]{96}"),
        hit: &[
            "elastic", "email_k", "ey = 15", "D8540C9", "610EE97", "C148B68", "D678716", "828C27C",
            "3258BFD", "398C7FD", "3DA8F5B", "4C24599", "61B6BFB", "8A1B466", "6CBD887", "24B26D0", "CDC",
        ],
        miss: &[
            "elastic", "email_k", "ey = 28", "176309D", "66D2634", "B71A591", "39995A3", "6E3A996",
            "ABB1401", "D850F76", "94E4A58", "3EF40E9", "DA03FAF", "CD7F408", "A1DF304", "2A56F86", "5A",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "infobip-key",
        about: "Infobip keys beside the name",
        keywords: &["fobip"],
        pattern: Beside("[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &[
            "infobip", "_key = ", "ccad197", "3640e31", "c16f5ef", "38e3aa8", "522e-80", "56a6b0-",
            "1e5d-2e", "54-0952", "-b62402", "b3a863",
        ],
        miss: &[
            "infobip", "_key = ", "b5c6d20", "d46d0ca", "4917a9d", "e471d78", "3205-8e", "4487f5-",
            "977b-4a", "b6-9168", "-d6722a", "4458a",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "clicksend-key",
        about: "ClickSend keys beside the name",
        keywords: &["clicksend"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["clickse", "nd_key ", "= b7f3f", "120-02d", "6-d54b-", "383c-e2", "0c80bf9", "e9f"],
        miss: &["clickse", "nd_key ", "= 06c7f", "abf-4a6", "3-04fe-", "b56a-91", "58947a3", "7a"],
        ..BESIDE_HEX
    },
    Rule {
        name: "customerio-key",
        about: "Customer.io keys beside the name",
        keywords: &["customerio", "customer_io", "customer.io"],
        pattern: Beside("(?:[0-9a-f]{32}|[0-9a-f]{20})"),
        hit: &["custome", "rio_key", " = 649e", "187ee74", "2f5b805", "7a"],
        miss: &["custome", "rio_key", " = 3aef", "157f561", "9bb80c4", "2"],
        ..BESIDE_HEX
    },
    Rule {
        name: "braze-key",
        about: "Braze keys beside the name",
        keywords: &["braze"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["braze_k", "ey = b6", "4cc187-", "3955-57", "72-d045", "-015f68", "4bb7c7"],
        miss: &["braze_k", "ey = d0", "8a591d-", "a013-5f", "2e-d195", "-2aa122", "f828a"],
        ..BESIDE_HEX
    },
    Rule {
        name: "fcm-server-key",
        about: "Firebase messaging server keys",
        keywords: &[":APA91b"],
        lead: Lead::Exactly(11),
        pattern: Regex("AAAA[A-Za-z0-9_-]{7}:(APA91b[A-Za-z0-9_-]{134})"),
        hit: &[
            "AAAA12r", "NFoW:AP", "A91byJY", "mE_OKQn", "E3YYg-7", "Ziufsh0", "ONiw1GH", "2veht_D",
            "jTg_0PB", "PAMzkHa", "Dc2APE6", "kKZQlr-", "3CquImg", "-7v8oB1", "F-K_hhF", "9sxHvTt",
            "O3Lsgly", "Xcvs-NK", "sKit_Xg", "ixQVPIA", "Z95K0lw", "7YlsJ",
        ],
        miss: &[
            "AAAAeLi", "B4kd:AP", "A91bWYU", "ZB1lBPs", "JzrmtTB", "zXtf656", "JRLJVcO", "cUSBdSS",
            "8CY3T1U", "pXwlzBu", "QvFHp7k", "mIHb9n2", "DTw5IaA", "CDeM6-m", "X37MxPB", "akcZVWp",
            "bCFLDcM", "9pOm_aZ", "tdg0_bo", "p0sWV7I", "9vAruMj", "kODf",
        ],
        ..PREFIXED
    },
    Rule {
        name: "zerobounce-key",
        about: "ZeroBounce keys beside the name",
        keywords: &["obounce"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["zerobou", "nce_key", " = 4575", "f36bf44", "9159f8a", "6ab8cff", "63d5d2c"],
        miss: &["zerobou", "nce_key", " = 1953", "d764cba", "ef9b17e", "b1fe10f", "381f51"],
        ..BESIDE_HEX
    },
];
