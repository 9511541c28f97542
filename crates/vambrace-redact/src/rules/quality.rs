//! What examines and tests code.

use super::structure::random;
use crate::check::mixed;
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "sonar-token",
        about: "SonarQube tokens",
        keywords: &["squ_", "sqp_", "sqa_"],
        pattern: Regex("sq[upa]_([A-Za-z0-9]{40})"),
        right: token,
        entropy: 2.5,
        hit: &["squ_QU8", "2hRAc7L", "suk3orY", "dEVum08", "URqvJiW", "lKsiiTd", "lQ"],
        miss: &["squ_YsK", "KxpBje6", "W6rpmlM", "KhVirM4", "chc4OU6", "Bom8I3E", "A"],
        ..Rule::TOKEN
    },
    Rule {
        name: "sonar-legacy-token",
        about: "Sonar tokens of the old form beside the name",
        keywords: &["sonar"],
        pattern: Beside("[A-Za-z0-9]{40}"),
        right: token,
        check: random,
        entropy: 2.5,
        hit: &["SONAR_T", "OKEN=af", "34389e9", "b9603b9", "74dba5a", "e919287", "7f08d86", "1b1"],
        miss: &["SONAR_T", "OKEN=57", "1ede855", "675c391", "61930cb", "3cc1e17", "c030b81", "67"],
        ..Rule::NAMED
    },
    Rule {
        name: "snyk-key",
        about: "Snyk API keys beside the name",
        keywords: &["snyk"],
        pattern: Beside("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["SNYK_TO", "KEN=1d7", "8f89a-a", "f98-832", "4-d682-", "30207ad", "71c82"],
        miss: &["SNYK_TO", "KEN=90a", "a59cb-e", "b69-811", "a-a604-", "eeaa39d", "8a4c"],
        ..Rule::NAMED
    },
    Rule {
        name: "snyk-token",
        about: "Snyk personal and service tokens",
        keywords: &["snyk_uat.", "snyk_sat."],
        pattern: Regex(r"snyk_[us]at\.[a-f0-9]{8}\.[A-Za-z0-9_.-]{32,}"),
        entropy: 3.0,
        hit: &["snyk_ua", "t.9ea60", "bc3.C1z", "Je-NiXi", "oZQoyYS", "6ByedUR", "R008qof", "2"],
        miss: &["snyk_ua", "t.2fa4e", "a66.ZL5", "oK1iW5a", "7hYqRp1", "weHysaK", "Geovvl7"],
        ..Rule::TOKEN
    },
    Rule {
        name: "codecov-token",
        about: "Codecov upload tokens beside the name",
        keywords: &["odecov"],
        pattern: Beside("(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[a-f0-9]{32})"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["CODECOV", "_TOKEN=", "7af20eb", "4-c81f-", "1c75-c6", "63-2c9d", "d289c5a", "4"],
        miss: &["CODECOV", "_TOKEN=", "a26acaf", "6-fc7c-", "8dad-96", "0b-b49d", "472aac3"],
        ..Rule::NAMED
    },
    Rule {
        name: "codacy-token",
        about: "Codacy tokens beside the name",
        keywords: &["codacy"],
        pattern: Beside("(?:[a-f0-9]{32}|[A-Za-z0-9]{20,24})"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["CODACY_", "API_TOK", "EN=YCfN", "MKks7Lb", "1YkJ8DK", "n0"],
        miss: &["CODACY_", "API_TOK", "EN=n6T0", "8m4Dv8i", "9z0O4SK", "w"],
        ..Rule::NAMED
    },
    Rule {
        name: "codeclimate-token",
        about: "Code Climate tokens beside the name",
        keywords: &["odeclimate", "ode_climate", "de-climate", "cc_test_reporter", "cctestreporter"],
        pattern: Beside("(?:[a-f0-9]{64}|[a-f0-9]{40})"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "CC_TEST", "_REPORT", "ER_ID=1", "af0dc90", "1e968bc", "8478780", "de0108c", "396b613",
            "15e6f5e", "36f6ecd", "3ade303", "c866e13",
        ],
        miss: &[
            "CC_TEST", "_REPORT", "ER_ID=5", "c5bb32f", "7e416d3", "cac7f69", "6a2e8ec", "7985718",
            "a71e906", "fee81cd", "5ed927d", "c8fa4a",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "coveralls-token",
        about: "Coveralls tokens beside the name",
        keywords: &["coveralls"],
        pattern: Beside("[A-Za-z0-9-]{32,37}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["COVERAL", "LS_REPO", "_TOKEN=", "h7lD3bP", "M5nzz36", "3majFfS", "qC7EwWk", "RSok"],
        miss: &["COVERAL", "LS_REPO", "_TOKEN=", "U7yB8DY", "7ed3FJo", "KJiaY6d", "Sg8atGG", "YqS"],
        ..Rule::NAMED
    },
    Rule {
        name: "semgrep-token",
        about: "Semgrep tokens beside the name",
        keywords: &["semgrep"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "SEMGREP", "_APP_TO", "KEN=67a", "6a1be6c", "a98929d", "46506e6", "fa8440e", "68c88ed",
            "8585a20", "f19c3df", "1b10e72", "4e387",
        ],
        miss: &[
            "SEMGREP", "_APP_TO", "KEN=e01", "b9f3778", "da2216b", "d369ff5", "150d888", "d531c7b",
            "b030ce1", "9f27920", "10ece8d", "5930",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "deepsource-token",
        about: "DeepSource tokens beside the name",
        keywords: &["deepsource"],
        pattern: Beside("(?:dsp_)?[A-Za-z0-9]{40}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["deepsou", "rce_tok", "en: i1b", "7hp2smx", "h5o0t91", "5bzpxkh", "818xdja", "vjoh0oo", "76"],
        miss: &["deepsou", "rce_tok", "en: m7i", "ddxctaz", "vccm0ig", "rxvl4h0", "1osfmxn", "8jkezif", "8"],
        ..Rule::NAMED
    },
    Rule {
        name: "stackhawk-key",
        about: "StackHawk API keys",
        keywords: &["hawk."],
        pattern: Regex(r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["hawk.1f", "441rfc7", "voxYTjc", "fvvs.fZ", "GcYAL80", "9IBB8vw", "3fjz"],
        miss: &["hawk.dT", "TWDfKC9", "JD0tMNZ", "jjn1.Z4", "LIgAh7J", "SBAUW9A", "pzJ"],
        ..Rule::TOKEN
    },
    Rule {
        name: "dependency-track-key",
        about: "Dependency-Track API keys",
        keywords: &["odt_"],
        pattern: Regex("odt_(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["odt_rBE", "eClyup2", "cqW9FhT", "mvcLLtV", "oUAFx3m", "H"],
        miss: &["odt_s3R", "RvWzTiq", "2Qg28Iq", "ifcNfBO", "oj4eXw8"],
        ..Rule::TOKEN
    },
    Rule {
        name: "socket-key",
        about: "Socket API keys",
        keywords: &["sktsec_"],
        pattern: Regex("sktsec_[A-Za-z0-9_-]{32,}(?:_api)?"),
        entropy: 3.3,
        hit: &["sktsec_", "KY2rG21", "8TUZOmW", "pfuZqqV", "aMtQkw1", "VpQP"],
        miss: &["sktsec_", "KgrWxaZ", "Lfla3tJ", "AGflrjW", "4JlXF8z", "EzU"],
        ..Rule::TOKEN
    },
    Rule {
        name: "aikido-token",
        about: "Aikido tokens",
        keywords: &["AIK_CI_", "AIK_RUNTIME_", "AIK_SECRET_"],
        pattern: Regex("AIK_(?:CI|RUNTIME|SECRET)_[A-Za-z0-9_]{24,}"),
        check: random,
        entropy: 3.3,
        hit: &["AIK_CI_", "LOcaiNx", "JfaePjx", "jig7P5A", "o4s"],
        miss: &["AIK_CI_", "0EuU3GN", "WJGQ513", "LkbBqcl", "oz"],
        ..Rule::TOKEN
    },
    Rule {
        name: "endor-key",
        about: "Endor Labs API keys",
        keywords: &["endr+"],
        pattern: Regex(r"endr\+[A-Za-z0-9-]{16}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["endr+IG", "m2yeTsi", "3oFnl5O"],
        miss: &["endr+7P", "C9sVyzN", "FtXlW1"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitguardian-key",
        about: "GitGuardian API keys beside the name",
        keywords: &["gitguardian"],
        pattern: Beside("(?:[a-f0-9]{64}|[a-fA-F0-9]{71})"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "GITGUAR", "DIAN_AP", "I_KEY=7", "10cdfb0", "304c54a", "fe2814b", "d8cbe75", "ca63023",
            "7dcb8a2", "f2b23c0", "b34bc77", "bc24bd1",
        ],
        miss: &[
            "GITGUAR", "DIAN_AP", "I_KEY=f", "a550618", "8a39ea9", "c3fc964", "ac71b10", "769cd48",
            "ee34825", "b083682", "1403c33", "a9a7a2",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "veracode-key",
        about: "Veracode API credentials beside the name",
        keywords: &["veracode"],
        pattern: Beside("(?:vera01[a-z0-9]{2}-)?(?:[a-f0-9]{128}|[a-f0-9]{32})"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "VERACOD", "E_API_K", "EY_SECR", "ET=2f9a", "b3f005c", "c508263", "3a409b5", "13b513a",
            "89d1fcd", "f4427fc", "f699912", "950a54a", "5ec3f23", "17e5d55", "4af327a", "3179d47",
            "7fe31c3", "3b0fc0e", "5e20a80", "6b70699", "9f37f1f", "8b059",
        ],
        miss: &[
            "VERACOD", "E_API_K", "EY_SECR", "ET=fcee", "5ce346e", "dd778e1", "d65d9fc", "14c878a",
            "0dd0387", "48003d6", "a30bcec", "119971a", "e114481", "055ee46", "e7bf320", "47db3a0",
            "6c564ac", "7fc0a6d", "c28a4f3", "d6ae611", "e78ef89", "062c",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "fossa-key",
        about: "FOSSA API keys beside the name",
        keywords: &[
            "fossa_api",
            "fossa-api",
            "fossa_key",
            "fossa_token",
            "fossaapi",
            "fossakey",
            "fossatoken",
        ],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["FOSSA_A", "PI_KEY=", "3a10462", "ad2535f", "a49c63a", "104e308", "5517"],
        miss: &["FOSSA_A", "PI_KEY=", "0fbb804", "d19d1ab", "a8eeb67", "849db01", "c59"],
        ..Rule::NAMED
    },
    Rule {
        name: "wiz-secret",
        about: "Wiz client secrets beside the name",
        keywords: &["wiz_client", "wiz_secret", "wiz-client", "wiz_api", "wizclient", "wizsecret", "wizapi"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "WIZ_CLI", "ENT_SEC", "RET=wX9", "KrhkysX", "4d3mfzz", "jwvbnMv", "MdEceQP", "DKPL4Rp",
            "RbgY0PE", "vVhWBoB", "X18wZwb", "PSLXf",
        ],
        miss: &[
            "WIZ_CLI", "ENT_SEC", "RET=2ty", "kQcqecb", "NK94Jsm", "kwLTQ3b", "KdIBmAY", "tyKWiw9",
            "hsT0irk", "lt3xbnO", "ppZ9xgp", "QdJj",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "lacework-secret",
        about: "Lacework API secrets beside the name",
        keywords: &["acework", "lw_api_secret", "lwapisecret"],
        pattern: Beside("_[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["LW_API_", "SECRET=", "_1853f8", "ad405ae", "a474736", "ca7425e", "eb524"],
        miss: &["LW_API_", "SECRET=", "_8a1b4e", "de32463", "18775c6", "0c5b94c", "7e05"],
        ..Rule::NAMED
    },
    Rule {
        name: "lambdatest-key",
        about: "LambdaTest access keys beside the name",
        keywords: &["lambdatest", "lt_access_key", "ltaccesskey"],
        pattern: Beside("(?:LT_)?[A-Za-z0-9]{47,50}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "LT_ACCE", "SS_KEY=", "ZfVbMfy", "oKFeLj1", "OjHV2CP", "YQJZgqZ", "l6kfMvH", "MrzDYWP", "ivUqC",
        ],
        miss: &[
            "LT_ACCE", "SS_KEY=", "wKNwbI9", "RS4WWZe", "ppSxOet", "0Ehc4nK", "PZLgoPd", "E13BNmU", "XMN2",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "cypress-record-key",
        about: "Cypress record keys beside the name",
        keywords: &["cypress_record", "cypress-record", "cypress run", "cypressrecord"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["CYPRESS", "_RECORD", "_KEY=6e", "2d049d-", "bac5-98", "3a-6a7a", "-1fa1dd", "7135ab"],
        miss: &["CYPRESS", "_RECORD", "_KEY=c6", "a270ac-", "c29f-bf", "8d-342f", "-65b3a9", "b84dc"],
        ..Rule::NAMED
    },
    Rule {
        name: "percy-token",
        about: "Percy tokens beside the name",
        keywords: &["percy_token", "percy-token", "percytoken"],
        pattern: Beside("(?:[a-z]{2,4}_)?[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "PERCY_T", "OKEN=38", "1ac5960", "b926cc9", "a072b4b", "0e7c184", "1e5c323", "6287174",
            "81ca1cc", "5e876a2", "238884",
        ],
        miss: &[
            "PERCY_T", "OKEN=b0", "930f58d", "22901ee", "035dd17", "ed8ac46", "a81cb49", "04821ac",
            "e4057fc", "7cee109", "5e95c",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "chromatic-token",
        about: "Chromatic project tokens",
        keywords: &["chpt_"],
        pattern: Regex("chpt_[a-f0-9]{12,15}"),
        right: word,
        entropy: 2.5,
        hit: &["chpt_24", "d1ef2f3", "6ae"],
        miss: &["chpt_d0", "37aa5c2", "77"],
        ..Rule::TOKEN
    },
    Rule {
        name: "scrutinizer-token",
        about: "Scrutinizer tokens beside the name",
        keywords: &["scrutinizer"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "SCRUTIN", "IZER_TO", "KEN=558", "afe9fa6", "a8b37e9", "7d2461f", "cdccad1", "80c62cf",
            "7ee632a", "4e762ce", "5fb6213", "3ab40",
        ],
        miss: &[
            "SCRUTIN", "IZER_TO", "KEN=82f", "596ca49", "80232a1", "9491584", "24fc698", "b15b7ac",
            "4e8a282", "7017161", "6f73918", "e5fe",
        ],
        ..Rule::NAMED
    },
];
