//! Warehouses, streams, and what moves data between them.

use super::structure::random;
use crate::check::{jumbled, mixed};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "dbt-token",
        about: "dbt Cloud tokens",
        keywords: &["dbtc_", "dbtu_", "dbts_"],
        pattern: Regex("dbt[cus]_[A-Za-z0-9_=-]{36,64}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["dbtc_s2", "v0LDtJC", "gLyVx6X", "uZcCuRM", "NSHJCYG", "vYX7z1"],
        miss: &["dbtc_TM", "YYusVrl", "1oFXPmP", "m61kYao", "YDg8mlJ", "2EN8s"],
        ..Rule::TOKEN
    },
    Rule {
        name: "fernet-key",
        about: "Airflow and other Fernet keys beside the name",
        keywords: &["fernet_key", "fernet-key", "fernetkey", "fernet("],
        pattern: Beside("[A-Za-z0-9_-]{43}="),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "AIRFLOW", "__CORE_", "_FERNET", "_KEY=BX", "HoelWXr", "Fl41Jtq", "vc7drhU", "kanz24l",
            "rAGxzko", "82BnhS=",
        ],
        miss: &[
            "AIRFLOW", "__CORE_", "_FERNET", "_KEY=vT", "ElDMfFN", "ESw5pB7", "TlHt2Dw", "sGq5qbj",
            "0ZX9bqt", "Idb-W=",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "databricks-token",
        about: "Databricks personal tokens",
        keywords: &["dapi"],
        pattern: Regex("dapi([a-f0-9]{32}(?:-[0-9]{1,2})?)"),
        right: word,
        entropy: 2.5,
        hit: &["dapi32c", "19b9520", "e63aff3", "13b31d9", "3fc801e", "8"],
        miss: &["dapid29", "502570e", "8085298", "7614fe9", "f04da81", "z"],
        ..Rule::TOKEN
    },
    Rule {
        name: "databricks-secret",
        about: "Databricks OAuth secrets beside the name",
        keywords: &["atabricks", "dose"],
        pattern: Beside("dose[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "DATABRI", "CKS_CLI", "ENT_SEC", "RET=dos", "ef6b941", "480f519", "411a8b2", "0e11e7e", "b156e",
        ],
        miss: &[
            "DATABRI", "CKS_CLI", "ENT_SEC", "RET=dos", "eb75027", "85ce17b", "6fa352f", "67c30f8", "7b0f",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "clickhouse-key",
        about: "ClickHouse Cloud secret keys",
        keywords: &["4b1d"],
        pattern: Regex("4b1d([A-Za-z0-9]{38})"),
        right: word,
        check: jumbled,
        entropy: 3.0,
        hit: &["4b1daB3", "dE5fG7h", "J9kL1mN", "2pQ4rS6", "tU8vW0x", "YaB3dE5"],
        miss: &["4b1dXXX", "XXXXXXX", "XXXXXXX", "XXXXXXX", "XXXXXXX", "XXXXXXX"],
        ..Rule::TOKEN
    },
    Rule {
        name: "confluent-secret",
        about: "Confluent Cloud secrets beside the name",
        keywords: &[
            "onfluent",
            "kafka_api_secret",
            "sasl.password",
            "sasl_password",
            "kafkaapisecret",
            "saslpassword",
        ],
        pattern: Beside("(?:cflt[A-Za-z0-9+/]{60}|[A-Za-z0-9+/]{64})"),
        right: base64,
        check: |value| random(value) && jumbled(value),
        entropy: 4.0,
        hit: &[
            "CONFLUE", "NT_CLOU", "D_API_S", "ECRET=I", "XuEFwbA", "MlhE6DP", "AIH0DK7", "Fuvagv/",
            "FEVYPxZ", "QFqhVeV", "ME5cmIq", "Z/w37HU", "cWAnDdF",
        ],
        miss: &[
            "CONFLUE", "NT_CLOU", "D_API_S", "ECRET=w", "yXfmCXP", "OmeUWBy", "ouOWXd1", "A4DAPzQ",
            "5j5HP9i", "ZIRPyVz", "Ry6IIy4", "DiEjUhn", "Ftu+8a",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "confluent-key",
        about: "Confluent Cloud keys beside the name",
        keywords: &["onfluent", "kafka_api_key", "kafkaapikey"],
        pattern: Beside("[A-Za-z0-9]{16}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["CONFLUE", "NT_CLOU", "D_API_K", "EY=IMU9", "63GF083", "CH492"],
        miss: &["CONFLUE", "NT_CLOU", "D_API_K", "EY=X2QJ", "NLZ6845", "CD0O"],
        ..Rule::NAMED
    },
    Rule {
        name: "materialize-password",
        about: "Materialize app passwords",
        keywords: &["mzp_"],
        pattern: Regex("mzp_[a-f0-9]{64}"),
        right: word,
        entropy: 2.5,
        hit: &[
            "mzp_933", "3222378", "4ce756c", "7755539", "8cd1cdc", "1dbbbb9", "7abf6a4", "147c6f3",
            "10d65b8", "e9ec6",
        ],
        miss: &[
            "mzp_20a", "a6c691a", "7da0c4e", "5a8fc4f", "d56cf02", "08fd789", "dce079e", "272cbf5",
            "ca12ac8", "e47f",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "tigris-secret",
        about: "Tigris access keys and secrets",
        keywords: &["tsec_", "tid_"],
        pattern: Regex("(?:tsec_[A-Za-z0-9_+-]{48,72}|tid_[A-Za-z0-9_]{32,48})"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["tsec_73", "RKrAhTD", "fBhdXIQ", "r6JUvDA", "zkS4mjh", "gjEL4ih", "E6IHeda", "dQ8D"],
        miss: &["tsec_ez", "TfGjY7R", "JIILFK9", "OcoCBtt", "vfLHEns", "foPyD0s", "kabWrDg", "k4t"],
        ..Rule::TOKEN
    },
    Rule {
        name: "snowflake-key",
        about: "Snowflake passwords beside the name",
        keywords: &[
            "snowflake_password",
            "snowflake_passphrase",
            "snowsql_pwd",
            "snowflakepassword",
            "snowflakepassphrase",
            "snowsqlpwd",
        ],
        pattern: Beside("[!-~]{10,64}"),
        check: random,
        entropy: 2.5,
        hit: &["SNOWFLA", "KE_PASS", "WORD=dP", "XVsaRnm", "7Ivif24"],
        miss: &["SNOWFLA", "KE_PASS", "WORD=PB", "YLpD930"],
        ..Rule::NAMED
    },
    Rule {
        name: "airbyte-secret",
        about: "Airbyte and Fivetran secrets beside the name",
        keywords: &["airbyte_client_secret", "airbyte_api", "fivetran", "airbyteclientsecret", "airbyteapi"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["FIVETRA", "N_API_S", "ECRET=S", "KEkhrCS", "69HcdVE", "cuujXdE", "wLWkkg8", "oYo"],
        miss: &["FIVETRA", "N_API_S", "ECRET=E", "XXkqysd", "h7rARpf", "WThxO1U", "wA9EPNq", "rm"],
        ..Rule::NAMED
    },
];
