//! Analytics and feature flags.

use crate::check::{jumbled, mixed};
use crate::rule::{
    Lead,
    Pattern::{Beside, Regex},
    Rule, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, cased};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "segment-key",
        about: "Segment write keys beside the name",
        keywords: &["segment"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["SEGMENT", "_WRITE_", "KEY=pR4", "19Mk1eT", "JTUCIYd", "XsBRgRb", "2dnABzJ", "J"],
        miss: &["SEGMENT", "_WRITE_", "KEY=4M6", "qgbCBmF", "Ghi9kWK", "dOM5jLX", "jKbJv22"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "segment-token",
        about: "Segment public API tokens",
        keywords: &["sgp_"],
        pattern: Regex("sgp_([A-Za-z0-9]{64})"),
        hit: &[
            "sgp_JN0", "U3mgOMu", "lryMDaZ", "I0d6V9j", "6mt709a", "am45Ohh", "OXQT87r", "4u1XbaU",
            "LWeNwW6", "TFo76",
        ],
        miss: &[
            "sgp_Xvk", "7YzzMsF", "njsIv8v", "djwAvH3", "zOPPylo", "DcpZms3", "9H3vu9J", "aSXaqiX",
            "0WMIqK6", "SMs0",
        ],
        ..PREFIXED
    },
    Rule {
        name: "mixpanel-token",
        about: "Mixpanel tokens and secrets beside the name",
        keywords: &["mixpanel"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["mixpane", "l_secre", "t = 0c5", "1b3482d", "734696a", "2d18e74", "d306ad7", "9"],
        miss: &["mixpane", "l_secre", "t = e57", "a05aa62", "3afd038", "3eadb0b", "d8cfd12"],
        ..BESIDE_HEX
    },
    Rule {
        name: "amplitude-key",
        about: "Amplitude keys beside the name",
        keywords: &["litude"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["amplitu", "de_key ", "= d83cc", "1320000", "c106ea0", "909f455", "74f999"],
        miss: &["amplitu", "de_key ", "= 2f6e9", "f48647a", "20a4729", "88a2647", "06ef8"],
        ..BESIDE_HEX
    },
    Rule {
        name: "posthog-key",
        about: "PostHog keys and tokens",
        keywords: &["phc_", "phx_", "phs_", "pha_", "phr_"],
        pattern: Regex("ph[cxsar]_([A-Za-z0-9_-]{40,48})"),
        hit: &["phx_OFE", "RKwZLNi", "AkZncn4", "GrWxIlJ", "aUtX4N7", "CJMzh3g", "7nEcja5", "F8"],
        miss: &["phx_46r", "CuSxGr8", "irY35ff", "kjcbada", "akiBor"],
        ..PREFIXED
    },
    Rule {
        name: "launchdarkly-key",
        about: "LaunchDarkly keys",
        keywords: &["sdk-", "api-", "mob-"],
        pattern: Regex("(?:sdk|api|mob)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        left: token,
        entropy: 2.5,
        hit: &["sdk-238", "00c88-f", "e58-ec3", "0-e46f-", "ab70e57", "7dadb"],
        miss: &["sdk-e09", "14d56-7", "450-acb", "9-ccf0-", "51f0b74", "60c6"],
        ..PREFIXED
    },
    Rule {
        name: "launchdarkly-token",
        about: "LaunchDarkly tokens of the older form beside the name",
        keywords: &["launchdarkly"],
        pattern: Beside("[A-Za-z0-9_=-]{40}"),
        hit: &[
            "launchd", "arkly_t", "oken = ", "X5lSBvd", "1ievOQV", "EduUVcW", "Uat9SHv", "1Dqun3o", "Jmgwu",
        ],
        miss: &[
            "launchd", "arkly_t", "oken = ", "x5LflbE", "QUrVbYY", "APfGxwN", "6KSgytX", "zC4WoK3", "AJj7",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "statsig-key",
        about: "Statsig server keys",
        keywords: &["secret-"],
        pattern: Regex("secret-([A-Za-z0-9]{40,50})"),
        left: token,
        check: jumbled,
        hit: &["secret-", "3tavwzE", "qSIhPa0", "1KTBypF", "mLjQ2al", "T0ojYg6", "RsZzfcc", "p"],
        miss: &["secret-", "PHbRa3p", "WQCxdky", "VUe7ytF", "IJZtxJV", "Kf"],
        ..PREFIXED
    },
    Rule {
        name: "configcat-key",
        about: "ConfigCat keys",
        keywords: &["figcat-sdk-1/"],
        lead: Lead::Exactly(3),
        pattern: Regex("configcat-sdk-1/([A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22})"),
        hit: &[
            "configc", "at-sdk-", "1/wXKKE", "L-nc6pL", "9Fgewmc", "MJC/n_i", "3WnglZx", "CJJAT7J", "sPU6U",
        ],
        miss: &[
            "configc", "at-sdk-", "1/0BDzo", "CcfPFJJ", "DiyMeKz", "0g3/eIC", "fkMEDgN", "_537ve7", "kZWK",
        ],
        ..PREFIXED
    },
    Rule {
        name: "configcat-legacy-key",
        about: "ConfigCat keys of the older form beside the name",
        keywords: &["figcat"],
        pattern: Beside("[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}"),
        hit: &[
            "configc", "at_key ", "= SVkUg", "ON6Z6lt", "pMfCj4K", "tVj/m7_", "JAbwyzg", "6tUDvE9", "m86t1",
        ],
        miss: &[
            "configc", "at_key ", "= 41wWg", "b7lH9i7", "bz3DcuY", "s9u/Fn8", "zRbZ2WP", "F0BM6u8", "WY_Q",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "flagsmith-key",
        about: "Flagsmith server keys",
        keywords: &["ser."],
        pattern: Regex(r"ser\.([A-Za-z0-9]{22,24})"),
        check: jumbled,
        hit: &["ser.eJQ", "VNWOapN", "0fj9ijt", "4396x"],
        miss: &["ser.xSp", "6Wfr6yi", "ToKoUIp", "7Qz"],
        ..PREFIXED
    },
    Rule {
        name: "devcycle-key",
        about: "DevCycle keys",
        keywords: &["dvc_server_", "dvc_client_", "dvc_mobile_"],
        pattern: Regex("dvc_(?:server|client|mobile)_([A-Za-z0-9_]{8,64})"),
        check: |value| mixed(value) || cased(value),
        entropy: 2.5,
        hit: &["dvc_ser", "ver_q7s", "EJNM3"],
        miss: &["dvc_ser", "ver_q7p", "jJM3"],
        ..PREFIXED
    },
    Rule {
        name: "unleash-token",
        about: "Unleash tokens beside the name",
        keywords: &["unleash"],
        pattern: Beside(r"[A-Za-z0-9*_-]{1,40}:[A-Za-z0-9_-]{1,40}\.[0-9a-f]{56}"),
        hit: &[
            "unleash", "_token ", "= defau", "lt_app:", "develop", "ment.08", "d570bcf", "d5f359c",
            "28adb8a", "f4f81e0", "e45bad7", "c13a4b8", "3ab7681", "636e7",
        ],
        miss: &[
            "unleash", "_token ", "= defau", "lt_app:", "develop", "ment.08", "19c888c", "302b002",
            "aab7a0a", "24c34bd", "8986614", "08a5a47", "ee0be1c", "b388",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "fullstory-key",
        about: "FullStory keys beside the name",
        keywords: &["fullstory"],
        pattern: Beside(r"(?:na1|eu1)\.[A-Za-z0-9+/]{48,110}={0,2}"),
        hit: &[
            "fullsto", "ry_key ", "= na1.d", "46kj81X", "r4pvlDQ", "muHhBJm", "Fvtkj9K", "aAsxrwl",
            "tPxc6e9", "ZU7HXtN", "FxVoF6w", "lRJ",
        ],
        miss: &["fullsto", "ry_key ", "= na1.G", "fWFtwlV", "D8er7TC", "ltoKsSa", "Ui5AOii", "S"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "looker-secret",
        about: "Looker client ids and secrets beside the name",
        keywords: &["ooker"],
        pattern: Beside("(?:[A-Za-z0-9]{24}|[A-Za-z0-9]{20})"),
        hit: &["looker_", "secret ", "= i3myp", "hwywy4o", "zu95zrm", "8072c"],
        miss: &["looker_", "secret ", "= s2xa4", "cvw3l0v", "in1zmsw", "eqxt"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "tableau-token",
        about: "Tableau personal tokens beside the name",
        keywords: &["bleau"],
        pattern: Beside("[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}"),
        hit: &[
            "tableau", "_token ", "= 0a7pO", "6DrMteC", "jdnCf0L", "fba==:M", "F1XlXvl", "qFJ7m9c",
            "ccEpyiz", "AceA2zw", "hiD",
        ],
        miss: &[
            "tableau", "_token ", "= TdWpy", "b8HJ0qV", "1rM5LN9", "bbH==:c", "DHVQWoa", "rfeNN6X",
            "a6ypqEu", "x4ap2K3", "sh",
        ],
        ..BESIDE_MIXED
    },
];
