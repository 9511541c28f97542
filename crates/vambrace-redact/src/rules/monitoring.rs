//! Monitoring, logs, alerts, analytics and feature flags.

use crate::check::mixed;
use crate::rule::{
    Lead,
    Pattern::{Beside, Regex},
    Rule, hex, none, token, word,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, jumbled_letters};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "datadog-key",
        about: "Datadog API and application keys beside the name",
        keywords: &[
            "tadog",
            "dd_api_key",
            "dd_app_key",
            "dd-api-key",
            "dd-application-key",
            "dd_application_key",
        ],
        pattern: Beside("(?:[0-9a-f]{40}|[0-9a-f]{32}|[A-Za-z0-9]{40}|[A-Za-z0-9]{32})"),
        hit: &["datadog", "_api_ke", "y = 468", "2445843", "5736816", "2bca852", "9af7b47", "2"],
        miss: &["datadog", "_api_ke", "y = e71", "e8adc01", "9669b60", "a40d696", "00fa998"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "newrelic-user-key",
        about: "New Relic user keys",
        keywords: &["NRAK-"],
        pattern: Regex("NRAK-([A-Z0-9]{27})"),
        hit: &["NRAK-95", "5NY59EI", "LH6H18N", "QCQISNL", "7SMC"],
        miss: &["NRAK-AJ", "IIIS3H3", "VTEJC5S", "8PH5YBJ", "MYX"],
        ..PREFIXED
    },
    Rule {
        name: "newrelic-ingest-key",
        about: "New Relic insert, query, browser and REST keys",
        keywords: &["NRII-", "NRIQ-", "NRJS-", "NRRA-"],
        pattern: Regex("(?:NRI[IQ]-([A-Za-z0-9_-]{32})|NRJS-([0-9a-f]{19})|NRRA-([0-9a-f]{42}))"),
        entropy: 2.5,
        hit: &["NRJS-56", "a90ec6c", "5675c5a", "dc2"],
        miss: &["NRJS-1f", "779ed31", "ad3defa", "e9"],
        ..PREFIXED
    },
    Rule {
        name: "newrelic-license-key",
        about: "New Relic license keys",
        keywords: &["NRAL"],
        lead: Lead::Run(|byte| byte.is_ascii_alphanumeric()),
        pattern: Regex("(?:eu01xx)?[0-9a-fA-F]{30,36}(?:FFFF)?NRAL"),
        entropy: 2.5,
        hit: &["a4a49ab", "d21bcee", "a205749", "ad2a826", "d6efd15", "6NRAL"],
        miss: &["64bac59", "6eb029c", "fa8936N", "RAL"],
        ..PREFIXED
    },
    Rule {
        name: "newrelic-key",
        about: "New Relic keys of the older forms beside the name",
        keywords: &["newrelic", "w_relic", "w-relic"],
        pattern: Beside("(?:[A-Za-z0-9]{64}|[0-9a-f]{47}|[0-9a-f]{40})"),
        hit: &[
            "newreli", "c_admin", " = goJk", "YpJRaIJ", "avDqV8y", "2gRhr3I", "62nY5Ao", "cdW3cvX",
            "ATZ3Nqx", "BiTBbY6", "ZKLkvMF", "DgHN",
        ],
        miss: &[
            "newreli", "c_admin", " = x1pI", "Ll1SFNW", "sYohU22", "PhWNC02", "Mszhx8X", "JiUoeBA",
            "gVPf1xl", "3uAeRuD", "LX513u9", "J4m",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "grafana-token",
        about: "Grafana cloud and service account tokens",
        keywords: &["glc_", "glsa_"],
        pattern: Regex("(?:glc_([A-Za-z0-9+/]{32,}={0,3})|glsa_([A-Za-z0-9]{32}_[A-Fa-f0-9]{8}))"),
        hit: &["glsa_cn", "iX3cVQU", "gUblfTA", "0KIWIt3", "FOifOdz", "KO_d486", "45a0"],
        miss: &["glsa_1w", "9DQKiRJ", "B6LvQbw", "IuWmh5F", "vZlV0v9", "7m_9894", "dae"],
        ..PREFIXED
    },
    Rule {
        name: "grafana-legacy-key",
        about: "Grafana API keys of the older form",
        keywords: &["eyJrIjoi"],
        pattern: Regex("eyJrIjoi([A-Za-z0-9+/]{40,400}={0,2})"),
        left: token,
        right: none,
        hit: &[
            "eyJrIjo", "iTqLbEC", "5WTdUfQ", "gtwQL4F", "qP0R1yz", "F2tlTCg", "cSvOdRs", "1CyFJEB",
            "OHiIIb1", "f2JEiHC", "prnkoOQ", "btdUo8h", "GKbc",
        ],
        miss: &["eyJrIjo", "in4BPii", "pCWo7it", "vecBqzE", "QIn6JAz", "49N"],
        ..PREFIXED
    },
    Rule {
        name: "sentry-token",
        about: "Sentry organization and user tokens",
        keywords: &["sntrys_eyJ", "sntryu_"],
        pattern: Regex("(?:sntrys_(eyJ[A-Za-z0-9+/=_-]{60,})|sntryu_([0-9a-f]{64}))"),
        right: word,
        reach: 600,
        entropy: 2.5,
        hit: &[
            "sntryu_", "113c8f8", "103a9d7", "1454c2b", "81f72a9", "7b55831", "64313d9", "2f4f9e7",
            "822c42b", "62f16d4", "d",
        ],
        miss: &[
            "sntryu_", "32f5679", "ef102d0", "0432bee", "ef9b089", "9b1f2a8", "c478336", "317e2c4",
            "b7265d7", "3faadf7",
        ],
        ..PREFIXED
    },
    Rule {
        name: "sentry-legacy-token",
        about: "Sentry tokens of the older form beside the name",
        keywords: &["sentry"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "sentry_", "auth_to", "ken = 4", "06c7b02", "01ba57f", "e9c881e", "7f9f7f4", "2c8b3e0",
            "8c67009", "63fe1e6", "9287df5", "fffe5bf",
        ],
        miss: &[
            "sentry_", "auth_to", "ken = 7", "4dcda18", "4b035dc", "0322ada", "2d29247", "8bd162c",
            "0001a87", "ce03e92", "2775db1", "39e91d",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "honeycomb-key",
        about: "Honeycomb keys",
        keywords: &["hcaik_", "hcbik_", "hcxik_", "hcamk_", "hcalk_", "hcaic_"],
        pattern: Regex("hc[a-z](?:ik|mk|lk|ic)_([a-z0-9]{58})"),
        hit: &[
            "hcaik_m", "sp9yezp", "rf2nymc", "u7bih25", "avuoweb", "cct9ctk", "gzhf6s6", "i8yk09a",
            "5sg8l7e", "g",
        ],
        miss: &[
            "hcaik_2", "ret0mkc", "symsmc2", "bkv3935", "4q29dpq", "3ihbeex", "s4x71cp", "5dv68nb", "51vgzdd",
        ],
        ..PREFIXED
    },
    Rule {
        name: "honeycomb-legacy-key",
        about: "Honeycomb keys of the older forms beside the name",
        keywords: &["honeycomb"],
        pattern: Beside("(?:[0-9a-f]{32}|[A-Za-z0-9]{22})"),
        hit: &["honeyco", "mb_key ", "= ec16b", "219cc7c", "5a89783", "89b72f8", "6817d3"],
        miss: &["honeyco", "mb_key ", "= 9687c", "8789a63", "2f0f112", "8720971", "da269"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pagerduty-key",
        about: "PagerDuty keys beside the name",
        keywords: &["pagerduty", "pager_duty", "pd_key", "pd_token", "pd_api"],
        pattern: Beside("(?:[0-9a-f]{32}|[A-Za-z0-9+_-]{20})"),
        hit: &["pagerdu", "ty_toke", "n = zAR", "1anwQsa", "xSQjTmM", "V2s"],
        miss: &["pagerdu", "ty_toke", "n = n8u", "MlwvHll", "F2KlaUh", "fO"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "opsgenie-key",
        about: "Opsgenie keys beside the name",
        keywords: &["opsgenie", "geniekey"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["opsgeni", "e_key =", " b84970", "14-ff52", "-031c-1", "60e-5cb", "57e0afc", "32"],
        miss: &["opsgeni", "e_key =", " 57c541", "c7-8c03", "-807f-c", "4f3-e11", "5aebd1b", "4"],
        ..BESIDE_HEX
    },
    Rule {
        name: "rollbar-token",
        about: "Rollbar tokens beside the name",
        keywords: &["rollbar"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["rollbar", "_token ", "= fbc65", "93e1486", "8643ee6", "1b3d01c", "545acb"],
        miss: &["rollbar", "_token ", "= 7c2bb", "01fa0fb", "51f61f0", "fd1ea35", "63e45"],
        ..BESIDE_HEX
    },
    Rule {
        name: "dynatrace-token",
        about: "Dynatrace tokens",
        keywords: &[
            "dt0c01.", "dt0s01.", "dt0s02.", "dt0s03.", "dt0s04.", "dt0s06.", "dt0s08.", "dt0s16.", "dt0a01.",
        ],
        pattern: Regex(r"dt0[a-z][0-9]{2}\.(?:[A-Za-z0-9]{24}|[A-Za-z0-9]{8})\.([A-Za-z0-9]{64})"),
        hit: &[
            "dt0c01.", "OK78BMY", "3B97WUM", "OHA7LR8", "ALI.Z9B", "0JG8P3P", "RC61UWD", "HUUXEHU",
            "SBWLTZY", "PLW1779", "YN0HFWT", "WIWQRWT", "8MMW84X", "H93EN",
        ],
        miss: &[
            "dt0c01.", "A2O2Y4X", "0PK2NAW", "DQR502F", "LNF.O6X", "V31TAXT", "78F8Y1H", "VUBJ2ZR",
            "KWKNL0T", "5RO0KSB", "E51TZKH", "TQ2WAUN", "FXQTK3X", "3W2U",
        ],
        ..PREFIXED
    },
    Rule {
        name: "splunk-token",
        about: "Splunk collector tokens beside the name",
        keywords: &["splunk"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["Authori", "zation:", " Splunk", " 1fd6df", "10-e1b1", "-5e4e-0", "191-c1a", "1f2e1d9", "ad"],
        miss: &["Authori", "zation:", " Splunk", " 466351", "42-a8e3", "-c76b-7", "233-ab2", "0e617d9", "5"],
        ..BESIDE_HEX
    },
    Rule {
        name: "logzio-token",
        about: "Logz.io tokens beside the name",
        keywords: &["logz"],
        pattern: Beside("(?:[A-Za-z]{32}|[0-9a-f-]{36})"),
        check: jumbled_letters,
        hit: &["logzio_", "token =", " oTQzsz", "LnWdOxj", "cUOlueA", "OcidWcP", "YCUwC"],
        miss: &["logzio_", "token =", " tHWORb", "pvnpkwg", "nAUIHaV", "WkadIhc", "gQdV"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "sumologic-key",
        about: "Sumo Logic access ids and keys beside the name",
        keywords: &["sumo"],
        pattern: Beside("(?:su[A-Za-z0-9]{12}|[A-Za-z0-9]{64})"),
        check: mixed,
        hit: &["SUMO_AC", "CESS_ID", " = suWo", "Xw2VJpW", "W3a"],
        miss: &["SUMO_AC", "CESS_ID", " = suy9", "MTPzzGl", "5u"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "bugsnag-key",
        about: "Bugsnag keys beside the name",
        keywords: &["bugsnag"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["bugsnag", "_key = ", "1d6ad50", "8af69bc", "c9130e9", "605520d", "5379"],
        miss: &["bugsnag", "_key = ", "5794472", "f922002", "2888c58", "3a69d05", "353"],
        ..BESIDE_HEX
    },
    Rule {
        name: "airbrake-key",
        about: "Airbrake keys beside the name",
        keywords: &["airbrake"],
        pattern: Beside("(?:[0-9a-f]{40}|[0-9a-f]{32})"),
        hit: &["airbrak", "e_key =", " 7f46d4", "ebb3713", "cc3e60f", "d7fb5f5", "0acb2"],
        miss: &["airbrak", "e_key =", " 5dface", "9056ffa", "b00ca6e", "c85bb1d", "7d51"],
        ..BESIDE_HEX
    },
    Rule {
        name: "appsignal-key",
        about: "AppSignal keys beside the name",
        keywords: &["appsignal"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["appsign", "al_push", " = 5fe5", "c26e-98", "c0-434e", "-438f-5", "c46b9d4", "6268"],
        miss: &["appsign", "al_push", " = 5209", "7ef4-52", "9f-5574", "-5c80-d", "c13f398", "a94"],
        ..BESIDE_HEX
    },
    Rule {
        name: "loggly-token",
        about: "Loggly tokens beside the name",
        keywords: &["loggly"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["loggly_", "token =", " ed9c59", "f3-b41a", "-6620-0", "9e0-26d", "47a1b7e", "c7"],
        miss: &["loggly_", "token =", " 10883b", "7a-ce76", "-d772-d", "11f-d4b", "927a20b", "a"],
        ..BESIDE_HEX
    },
    Rule {
        name: "logtail-token",
        about: "Better Stack tokens beside the name",
        keywords: &["logtail", "betterstack", "better_stack", "betteruptime"],
        pattern: Beside("[A-Za-z0-9]{24}"),
        hit: &["logtail", "_token ", "= NMwoB", "glVvwLT", "FtwL5FB", "9Tg5m"],
        miss: &["logtail", "_token ", "= cQSeQ", "4kbKZer", "wbZ9K2m", "jjaS"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "axiom-token",
        about: "Axiom tokens",
        keywords: &["xaat-", "xapt-"],
        pattern: Regex("xa(?:at|pt)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        entropy: 2.5,
        hit: &["xaat-c0", "5296a9-", "f97c-a1", "b7-0c31", "-a5c91a", "55a43f"],
        miss: &["xaat-fa", "6b7842-", "fc93-e9", "1e-8efa", "-80f1b8", "c76c3"],
        ..PREFIXED
    },
    Rule {
        name: "signalfx-token",
        about: "SignalFx tokens beside the name",
        keywords: &["nalfx", "sfx_"],
        pattern: Beside("[A-Za-z0-9_-]{22}"),
        hit: &["signalf", "x_token", " = dEwz", "wHg4BVM", "oJVzUou", "wi6l"],
        miss: &["signalf", "x_token", " = yhH5", "tGHhGDZ", "UY0SG4A", "elV"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wavefront-token",
        about: "Wavefront tokens beside the name",
        keywords: &["wavefront"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["wavefro", "nt_toke", "n = 6dd", "80f4e-7", "915-81e", "c-9aa1-", "e5df08d", "74397"],
        miss: &["wavefro", "nt_toke", "n = bc2", "212bb-8", "d4c-3c7", "f-f062-", "7ae4d40", "988c"],
        ..BESIDE_HEX
    },
    Rule {
        name: "uptimerobot-key",
        about: "UptimeRobot keys beside the name",
        keywords: &["uptimerobot", "uptime_robot"],
        pattern: Beside("(?:ur|u|m)[0-9]{6,10}-[0-9a-f]{24,32}"),
        hit: &["uptimer", "obot_ke", "y = u41", "72212-6", "d5bf8f9", "df60c7a", "7dfe87f", "c8"],
        miss: &["uptimer", "obot_ke", "y = u70", "69433-9", "9da1829", "789f789", "2f81505", "6"],
        ..BESIDE_HEX
    },
    Rule {
        name: "cronitor-key",
        about: "Cronitor keys beside the name",
        keywords: &["cronitor"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["cronito", "r_key =", " 84a6c3", "3a47f75", "59e993a", "641c0e8", "cd109"],
        miss: &["cronito", "r_key =", " 4038d4", "e11bbf6", "c8568ba", "399a914", "abac"],
        ..BESIDE_HEX
    },
    Rule {
        name: "incident-io-key",
        about: "incident.io keys",
        keywords: &["inc_"],
        follow: hex,
        pattern: Regex("inc_([0-9a-f]{64})"),
        entropy: 2.5,
        hit: &[
            "inc_626", "d51ff5f", "6ccf4ed", "56d0788", "2c172e2", "b452fce", "85024f2", "92a4e00",
            "e3f02f9", "49bbb",
        ],
        miss: &[
            "inc_91e", "3a6e0bd", "f6d99ee", "1bd6437", "8e1f659", "c40c8e3", "087317e", "ef31120",
            "c625d18", "2c59",
        ],
        ..PREFIXED
    },
    Rule {
        name: "rootly-key",
        about: "Rootly keys",
        keywords: &["otly_"],
        lead: Lead::Exactly(2),
        pattern: Regex("rootly_([0-9a-f]{64})"),
        entropy: 2.5,
        hit: &[
            "rootly_", "5e4ed91", "5987822", "31ea64f", "b1e49bd", "68cd069", "4f66d81", "d444238",
            "da3e129", "784ba01", "9",
        ],
        miss: &[
            "rootly_", "827655c", "5456d4a", "0dce607", "28b7403", "4b59719", "675ecb3", "375dd54",
            "a5b3b93", "8a2a5e8",
        ],
        ..PREFIXED
    },
    Rule {
        name: "firehydrant-token",
        about: "FireHydrant bot tokens",
        keywords: &["fhb-"],
        pattern: Regex("fhb-([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["fhb-f0d", "6164fa5", "2405146", "4ef0cb6", "ffa559e", "d"],
        miss: &["fhb-8bc", "9e9dd27", "6c4f35f", "7624049", "c5ea4b6"],
        ..PREFIXED
    },
    Rule {
        name: "coralogix-key",
        about: "Coralogix keys",
        keywords: &["cxtp_", "cxup_"],
        pattern: Regex("cx[tu]p_([A-Za-z0-9]{30,40})"),
        hit: &["cxtp_6L", "Q27EyZt", "HRKSaT4", "5ERMAvW", "ejTw9SL"],
        miss: &["cxtp_SC", "CqEYsXh", "DMpCtP1", "85Cp1Cg", "EZkpT2"],
        ..PREFIXED
    },
    Rule {
        name: "checkly-key",
        about: "Checkly keys",
        keywords: &["cu_"],
        follow: hex,
        pattern: Regex("cu_([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["cu_c3e8", "33f9458", "505e380", "2672eaa", "21beec5"],
        miss: &["cu_9f94", "0f89ff6", "b042e80", "4a3f4dc", "bb1462"],
        ..PREFIXED
    },
    Rule {
        name: "logdna-key",
        about: "Mezmo keys beside the name",
        keywords: &["logdna", "mezmo"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["logdna_", "key = b", "6903679", "2b8fff6", "f2e68d8", "2b07565", "dc0"],
        miss: &["logdna_", "key = 1", "2a58696", "b9ea3c1", "2afba62", "21b0285", "2f"],
        ..BESIDE_HEX
    },
];
