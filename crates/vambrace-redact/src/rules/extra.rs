//! Smaller services, each beside its name.

use crate::check::plausible;
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "kagi-key",
        about: "Kagi keys beside the name",
        keywords: &["kagi"],
        pattern: Beside(r"[A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{43}"),
        hit: &[
            "kagi_ke", "y = Ugq", "SFkP8n6", "O.7Eh1G", "502fT4O", "3SNZqsg", "WYKGJWM", "QHznJQh",
            "SBSopoF", "nlB",
        ],
        miss: &[
            "kagi_ke", "y = K5e", "RJer9-f", "U.zI8qM", "rmIJJ1u", "kzCEL9I", "GCcz_Es", "eK6dxMG",
            "ruRHWx9", "Sj",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "mapbox-named-token",
        about: "Mapbox tokens of other lengths beside the name",
        keywords: &["mapbox"],
        pattern: Beside(r"[spt]k\.[A-Za-z0-9_-]{60,120}\.[A-Za-z0-9_-]{22}"),
        hit: &[
            "mapbox_", "token =", " pk.q6t", "zqtjmou", "c6b4kz4", "ezkld6d", "zplfpcd", "rulacj5",
            "lgxrjyu", "tloo7kd", "2ds9cfv", "3.g5xb3", "l62nyjg", "nc36dp8", "21u",
        ],
        miss: &[
            "mapbox_", "token =", " pk.67o", "esepcyn", "4gzywn8", "iu0pr2d", "wdbs8q5", "xyttqzb",
            "6dqxc27", "35m2pzu", "4jzzak8", "q.ibuqk", "6raz0j5", "5iqvb7i", "du",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "adafruit-key",
        about: "Adafruit IO keys",
        keywords: &["aio_"],
        pattern: Regex("aio_([A-Za-z0-9]{28})"),
        check: scattered,
        hit: &["aio_14W", "yVwW7Gi", "WgMQlGq", "NhCUce0", "3R2K"],
        miss: &["aio_0zn", "uGH1srX", "3aqpffW", "afXaoIx", "KZ5"],
        ..PREFIXED
    },
    Rule {
        name: "adafruit-legacy-key",
        about: "Adafruit IO keys of the older form beside the name",
        keywords: &["adafruit"],
        pattern: Beside("[A-Za-z0-9_-]{32}"),
        hit: &["adafrui", "t_key =", " BOr6eY", "EgV1oID", "_h6Y7Q5", "mQAFcPh", "drIcT"],
        miss: &["adafrui", "t_key =", " DGkwPL", "SGWyEDI", "W1SRv6o", "qhyeX7g", "TLQ1"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "greptile-key",
        about: "Greptile keys beside the name",
        keywords: &["greptile"],
        pattern: Beside("[A-Za-z0-9+/]{48}"),
        hit: &[
            "greptil", "e_key =", " pypdU9", "52Ouooe", "WS26DPA", "vjVfAoB", "UXvLeLv", "EnoBonk", "AxgwvX1",
        ],
        miss: &[
            "greptil", "e_key =", " fROEEt", "8TnH6IN", "NbXhXz3", "vtjS3WE", "Xq7hqyG", "b3DaIwG", "cYqJ0Z",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "agora-key",
        about: "Agora certificates beside the name",
        keywords: &["agora"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["agora_c", "ertific", "ate = 4", "d97530f", "b126e4b", "5f9aa7e", "4d1c892", "8da"],
        miss: &["agora_c", "ertific", "ate = 6", "ded3312", "b7940f7", "75fb7ce", "b9ca60b", "f0"],
        ..BESIDE_HEX
    },
    Rule {
        name: "bitly-token",
        about: "Bitly tokens beside the name",
        keywords: &["bitly"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["bitly_t", "oken = ", "d962543", "005076c", "3f9f85c", "af3bb4a", "cebc60f", "db101"],
        miss: &["bitly_t", "oken = ", "bdd9ddc", "246d58b", "e286e76", "8930b70", "e877846", "09dd"],
        ..BESIDE_HEX
    },
    Rule {
        name: "clearbit-key",
        about: "Clearbit keys beside the name",
        keywords: &["clearbit"],
        pattern: Beside("sk_[0-9a-f]{32}"),
        hit: &["clearbi", "t_key =", " sk_2e9", "975ea69", "df7f715", "0b929b9", "bd26253", "3"],
        miss: &["clearbi", "t_key =", " sk_920", "1c93f78", "9d51bed", "8bdb919", "d230613"],
        ..BESIDE_HEX
    },
    Rule {
        name: "gemini-exchange-key",
        about: "Gemini exchange keys beside the name",
        keywords: &["gemini"],
        pattern: Beside("(?:account|master)-[A-Za-z0-9]{20}"),
        check: plausible,
        hit: &["gemini_", "key = a", "ccount-", "np9GEdz", "Kpj0q3t", "qRnxnT"],
        miss: &["gemini_", "key = a", "ccount-", "gH8Zl1x", "itosEvh", "hldOR"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "harvest-token",
        about: "Harvest tokens beside the name",
        keywords: &["harvest"],
        pattern: Beside(r"[0-9]{5,8}\.(?:pt|at)\.[A-Za-z0-9_-]{80,90}"),
        hit: &[
            "harvest", "_token ", "= 56694", "02.pt.4", "OciEByE", "HB2Rwj0", "S22yIoo", "xsu_YiD",
            "xpU3jSt", "xIJxWJ4", "1tkxc_P", "JCoE0Rv", "6MEt3lW", "yAm4UhQ", "nzYg50L", "39",
        ],
        miss: &[
            "harvest", "_token ", "= 89277", "75.pt.M", "UtdbSc-", "OuICdHi", "x9HgSdp", "MMr7-Ni",
            "6yypQNA", "467To2y", "e6YwILw", "MSKJH-L", "yh_9KZR", "AJR_hhU", "fUMKAj3", "D",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pusher-key",
        about: "Pusher keys and secrets beside the name",
        keywords: &["pusher"],
        pattern: Beside("[0-9a-f]{20}"),
        hit: &["pusher_", "secret ", "= 56282", "2e4d8f4", "ddbf65e", "5"],
        miss: &["pusher_", "secret ", "= 7a7fb", "a43b6fb", "addf716"],
        ..BESIDE_HEX
    },
    Rule {
        name: "zenrows-key",
        about: "ZenRows keys beside the name",
        keywords: &["zenrows"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["zenrows", "_key = ", "99bdb48", "6b203eb", "9fd49bd", "0225245", "fc5bda6", "7ff8e"],
        miss: &["zenrows", "_key = ", "f9b5f5b", "7e15f16", "35f89e1", "a20e21a", "9e3966e", "5f8b"],
        ..BESIDE_HEX
    },
    Rule {
        name: "coinapi-key",
        about: "CoinAPI keys beside the name",
        keywords: &["coinapi"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["coinapi", "_key = ", "d198aef", "0-ac2a-", "11aa-3a", "ab-b4ad", "522cf96", "c"],
        miss: &["coinapi", "_key = ", "3d7983c", "3-38e1-", "b375-8a", "2a-89c2", "01e37cd"],
        ..BESIDE_HEX
    },
    Rule {
        name: "coinlayer-key",
        about: "coinlayer keys beside the name",
        keywords: &["coinlayer"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["coinlay", "er_key ", "= 05306", "034e154", "ba19db8", "b5a985a", "92f0a6"],
        miss: &["coinlay", "er_key ", "= dfd24", "acd138a", "e93d758", "61ea203", "3d6c1"],
        ..BESIDE_HEX
    },
    Rule {
        name: "diffbot-token",
        about: "Diffbot tokens beside the name",
        keywords: &["diffbot"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["diffbot", "_token ", "= 8fdb5", "11ea4b2", "6b91798", "7c599a0", "24632c"],
        miss: &["diffbot", "_token ", "= e0c41", "7cfc658", "c0caa2d", "0141e3a", "6d947"],
        ..BESIDE_HEX
    },
    Rule {
        name: "currencycloud-key",
        about: "Currencycloud keys beside the name",
        keywords: &["ncycloud"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "currenc", "ycloud_", "key = 8", "e9892f9", "9b1d37d", "cd57e68", "e293663", "650992e",
            "960aa95", "8176e71", "80fd93c", "c37d2eb",
        ],
        miss: &[
            "currenc", "ycloud_", "key = a", "31138bc", "a0012f5", "61708a4", "8b68f94", "5b55123",
            "1bfe8c5", "c55ad49", "fafff4e", "667dde",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "clockify-key",
        about: "Clockify keys beside the name",
        keywords: &["clockify"],
        pattern: Beside("[A-Za-z0-9+/]{48}"),
        hit: &[
            "clockif", "y_key =", " 5msGvi", "kq1bstx", "goFo8h5", "musxri5", "Aje9S90", "bjpJqBK", "ISWZToQ",
        ],
        miss: &[
            "clockif", "y_key =", " dLdOoY", "5w6782e", "9vmN1Vk", "65eRmQI", "2DJ7gwy", "rMGnJ2x", "p83Y0C",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "smartsheet-token",
        about: "Smartsheet tokens beside the name",
        keywords: &["smartsheet"],
        pattern: Beside("[A-Za-z0-9]{37}"),
        hit: &["smartsh", "eet_tok", "en = 0K", "XhJNO3g", "ks6duRy", "LhfqGvL", "x8RWUP5", "jnoW2Mm"],
        miss: &["smartsh", "eet_tok", "en = LD", "iibfLWs", "aGTmKDQ", "H0swCN8", "J4DrAt4", "lVNnHN"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "surveymonkey-token",
        about: "SurveyMonkey tokens beside the name",
        keywords: &["surveymonkey"],
        pattern: Beside("[A-Za-z0-9._-]{80,180}"),
        hit: &[
            "surveym", "onkey_t", "oken = ", "r3IMUDO", "YnMrUK7", "d3GSUUR", "CV38DVi", "KG8tZTX",
            "xBRjOH8", "Elg2PBZ", "CMuVVfz", "MCaKe1q", "7qo42eG", "M3Hofh7", "nHRfIHP", "6Gj2Zw4",
            "4a2peMt", "yx5VAZa", "CBvyE2I", "R6KEGDu", "Z",
        ],
        miss: &[
            "surveym", "onkey_t", "oken = ", "GZRJXCT", "hb9pY5a", "3xZWtZI", "zs36j8n", "KrauEuN",
            "l0p13zp", "J3CuFu9", "c",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "eventbrite-token",
        about: "Eventbrite tokens beside the name",
        keywords: &["tbrite"],
        pattern: Beside("[A-Z0-9]{20}"),
        hit: &["eventbr", "ite_tok", "en = WH", "5HWOVE9", "MBFOIFK", "PL9S"],
        miss: &["eventbr", "ite_tok", "en = EA", "KIJ8TY3", "JPXG281", "26F"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "vimeo-token",
        about: "Vimeo tokens beside the name",
        keywords: &["vimeo"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["vimeo_t", "oken = ", "3a98e4e", "b22fb15", "6b1f059", "2020d53", "6bef"],
        miss: &["vimeo_t", "oken = ", "88dc2f0", "b4b1b28", "f29efdc", "1b33982", "d05"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wistia-token",
        about: "Wistia tokens beside the name",
        keywords: &["wistia"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "wistia_", "token =", " 5a115a", "dd63b6f", "54d8bc2", "9e73424", "abba81e", "f6e8eae",
            "92c6eb2", "57a42d4", "2f28353", "f2",
        ],
        miss: &[
            "wistia_", "token =", " c93333", "adef52e", "ec9708f", "e1cde30", "9c3c720", "f58e213",
            "f6fd472", "8ab2960", "0c5073d", "d",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "mux-secret",
        about: "Mux token secrets beside the name",
        keywords: &["mux_token", "mux_secret"],
        pattern: Beside("[A-Za-z0-9+/]{75}"),
        hit: &[
            "MUX_TOK", "EN_SECR", "ET=DqAO", "fPI2fYW", "FjL0GJ2", "JyGkmpz", "ldQQudo", "D24Os3C",
            "wZUUzKB", "HlglzZd", "5BS1lPt", "kNlUZE8", "EAj1r88", "S",
        ],
        miss: &[
            "MUX_TOK", "EN_SECR", "ET=r0uJ", "hk5MEfX", "3TEfN0W", "UjcQ4eg", "JwNWOut", "YpHeYXj",
            "ktr6HYc", "TtBpAsk", "O6cgJZN", "0Gc8FzW", "K1T6RNo",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "imagekit-key",
        about: "ImageKit private keys",
        keywords: &["imagekit"],
        pattern: Beside("private_[A-Za-z0-9+/]{27}=?"),
        hit: &["imageki", "t_key =", " privat", "e_Opd7V", "yS6Lr81", "XNArERB", "teNAUoB", "M="],
        miss: &["imageki", "t_key =", " privat", "e_twPhj", "8aPK4qH", "aHhm5C7", "7="],
        ..BESIDE_MIXED
    },
    Rule {
        name: "uploadcare-key",
        about: "Uploadcare keys beside the name",
        keywords: &["uploadcare"],
        pattern: Beside("[0-9a-f]{20}"),
        hit: &["uploadc", "are_sec", "ret = 9", "ddbc6ec", "6cca5ae", "dcf21"],
        miss: &["uploadc", "are_sec", "ret = 8", "20b9381", "274d850", "12ba"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pandadoc-key",
        about: "PandaDoc keys beside the name",
        keywords: &["pandadoc"],
        pattern: Beside("(?:[0-9a-f]{40}|[0-9a-f]{32})"),
        hit: &["pandado", "c_key =", " 22f1a3", "51fe75a", "2933057", "746ca44", "1f2069a", "0bc53b"],
        miss: &["pandado", "c_key =", " 3d04f6", "9b2620e", "cb6e724", "0664f70", "b76dff0", "d7cb9"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "hellosign-key",
        about: "Dropbox Sign keys beside the name",
        keywords: &["hellosign"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "hellosi", "gn_key ", "= 33da0", "ea0b972", "2ca404c", "bb656f9", "efd5e13", "4ea7745",
            "6e66d58", "3c14e17", "ef322f4", "d09",
        ],
        miss: &[
            "hellosi", "gn_key ", "= 03625", "603f1a0", "ccc9917", "2ed79ac", "f3c2950", "54a702e",
            "8475c70", "25957df", "00407af", "97",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "copper-key",
        about: "Copper keys beside the name",
        keywords: &["coppercrm", "copper_api"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["copper_", "api_key", " = b2d9", "9f89ece", "ef139ea", "4b26174", "b20a641"],
        miss: &["copper_", "api_key", " = b373", "4237f71", "58f0894", "0659b9b", "16244a"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "apollo-key",
        about: "Apollo.io keys beside the name",
        keywords: &["apollo_api", "apollo.io", "apolloio"],
        pattern: Beside("[A-Za-z0-9_-]{22}"),
        hit: &["apollo_", "api_key", " = 4Hst", "DDxo3v2", "eTYRZiB", "PPVh"],
        miss: &["apollo_", "api_key", " = Wwga", "u2LGjo4", "Bjlp5uI", "m3c"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "helpscout-secret",
        about: "Help Scout secrets beside the name",
        keywords: &["helpscout", "help_scout"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["helpsco", "ut_secr", "et = d8", "z75td1z", "SgBXEVr", "zzCAEIl", "EK3XBCa", "pG"],
        miss: &["helpsco", "ut_secr", "et = Es", "LB96Avl", "FMX2DAu", "tWz9Cya", "ttwBh6R", "2"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "frontapp-token",
        about: "Front tokens beside the name",
        keywords: &["frontapp"],
        pattern: Beside(r"[A-Za-z0-9_-]{36}\.[A-Za-z0-9_.-]{100,}"),
        hit: &[
            "frontap", "p_token", " = VPQb", "0AXcVZu", "gTNstAv", "Vw8yBU8", "Xn7wszN", "L6T1.9T",
            "iYcucKH", "13nEVnT", "g9sdL1x", "kM1IC8F", "jgg4jIX", "TBapUzA", "7wfDstM", "7PDwd1M",
            "Ue4XSVh", "NyoFxIQ", "lDxYuaP", "huuG2eJ", "h56aTFO", "dGZWEGP", "YSJ2vBZ", "TN9bD2H",
            "0MLh8if", "7u09fMh", "dPqfHPi", "UbYkZ",
        ],
        miss: &[
            "frontap", "p_token", " = kqBx", "7c0jeLV", "QSaHjYz", "sN9S3nu", "JzI2ur3", "BFvY.vV",
            "uzIcEqQ", "6DeyLQN", "dmFw0si", "9QYjWuR", "UoADgw4", "r3e",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "tiktok-secret",
        about: "TikTok secrets beside the name",
        keywords: &["tiktok"],
        pattern: Beside("(?:[0-9a-f]{40}|[0-9a-f]{32}|[A-Za-z0-9]{32})"),
        hit: &["tiktok_", "secret ", "= 76581", "4490f33", "915b96a", "56ce6a2", "c0b1943", "52b2787"],
        miss: &["tiktok_", "secret ", "= 2e28c", "fdab590", "17ac528", "bf262d6", "66bcf4d", "e3a507"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "shutterstock-key",
        about: "Shutterstock secrets beside the name",
        keywords: &["shutterstock"],
        pattern: Beside("(?:v2/[A-Za-z0-9+/=_-]{100,}|[A-Za-z0-9]{16,32})"),
        hit: &["shutter", "stock_s", "ecret =", " hN4Zvp", "lwcP8eC", "ybI2pED", "ItojXd2", "OLTqZ"],
        miss: &["shutter", "stock_s", "ecret =", " Q30xJA", "OVtzY65", "ca"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "trustpilot-key",
        about: "Trustpilot keys beside the name",
        keywords: &["trustpilot"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["trustpi", "lot_key", " = RUAh", "bcZoup9", "pAOFF3R", "Bw7D4Mt", "CiF94aB"],
        miss: &["trustpi", "lot_key", " = Uzsp", "jhQYVSY", "UAJ9pcC", "hgqttMo", "9FF84q"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "meraki-key",
        about: "Cisco Meraki keys beside the name",
        keywords: &["meraki"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["meraki_", "key = 0", "cfbffc7", "a760447", "7f8b334", "9b5ced2", "49b2cb4", "effd"],
        miss: &["meraki_", "key = 0", "4bfb57b", "2b78e86", "961adac", "8de97e4", "fec2a34", "918"],
        ..BESIDE_HEX
    },
];
