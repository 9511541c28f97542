//! Search engines and vector stores as a service.

use super::structure::random;
use crate::check::mixed;
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "elastic-cloud-key",
        about: "Elastic Cloud keys",
        keywords: &["essu_"],
        pattern: Regex("essu_[A-Za-z0-9+/_-]{40,}={0,2}"),
        entropy: 3.5,
        hit: &["essu_aJ", "d/wyXxQ", "PplH8AC", "yjkz4jm", "BQlm7kn", "I4pShZF", "C8Z"],
        miss: &["essu_rX", "beg/fT3", "pG+h8ms", "Mlc+T1a", "h9sdbEl", "7oX8nrE", "HA"],
        ..Rule::TOKEN
    },
    Rule {
        name: "elastic-key",
        about: "Elasticsearch API keys beside the name",
        keywords: &[
            "elastic_api",
            "elasticsearch_api",
            "elastic_key",
            "elastic-api",
            "es_api_key",
            "elastic_cloud",
            "elasticapikey",
            "kibana_api",
            "elastic_apm_api",
            "elasticapi",
            "elasticsearchapi",
            "elastickey",
            "esapikey",
            "elasticcloud",
            "kibanaapi",
            "elasticapmapi",
        ],
        pattern: Beside("[A-Za-z0-9_-]{58}=="),
        right: base64,
        check: random,
        entropy: 3.5,
        hit: &[
            "ELASTIC", "_API_KE", "Y=lT958", "Y5qsbJL", "oYFqrVF", "gR8wTJf", "AWBX4eN", "j5IKoPg",
            "PFnHASk", "A85jNaa", "iMSd==",
        ],
        miss: &[
            "ELASTIC", "_API_KE", "Y=xPpCE", "IAAIeKe", "hc5ggN7", "abiqdVs", "iuIul06", "xGrOjWY",
            "k4LOFRH", "wKaUpf1", "Vnd==",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "zilliz-key",
        about: "Zilliz keys beside the name",
        keywords: &["zilliz"],
        pattern: Beside("[a-z0-9]{72}"),
        right: token,
        check: mixed,
        entropy: 3.3,
        hit: &[
            "ZILLIZ_", "API_KEY", "=e590jl", "lizsc18", "x1686hk", "7y3mzgw", "pkotqtz", "oa2p1eq",
            "c19kwn9", "3goi3vt", "t2wl0vk", "lbgrv64", "jii",
        ],
        miss: &[
            "ZILLIZ_", "API_KEY", "=r6vnv9", "pn9w6z4", "i967asb", "nvpo61n", "i20yugo", "4fnnrhw",
            "xplko68", "uk6xbfn", "l5n6hae", "4oq3ttc", "gi",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "typesense-key",
        about: "Typesense and Meilisearch keys beside the name",
        keywords: &["pesense", "meili_master", "meilisearch", "meili_api", "meilimaster", "meiliapi"],
        pattern: Beside("(?:[a-f0-9]{64}|[A-Za-z0-9_-]{32,43})"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["TYPESEN", "SE_API_", "KEY=Aw1", "A5Haow3", "4ZUyc98", "Cj8bJK4", "wu1M4MV", "P"],
        miss: &["TYPESEN", "SE_API_", "KEY=lwD", "erCxPCe", "I0PYhvv", "cY2ZydD", "F11qaHx"],
        ..Rule::NAMED
    },
    Rule {
        name: "tinybird-token",
        about: "Tinybird tokens",
        keywords: &["p.eyJ"],
        left: token,
        pattern: Regex(r"p\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
        entropy: 3.5,
        hit: &[
            "p.eyJ5c", "Qdu8bjb", "b8bm0wS", "nVHSaHa", "itm5Xwq", "7TUb7Is", "jS3t0bt", "9ys7ORj",
            "H97Geni", "PU.ilxF", "xH6iHbH", "DY8N0nV", "bX",
        ],
        miss: &[
            "p.eyJkB", "tbCgKMS", "tQNCSnF", "HA5fdeX", "lTM6g1X", "dtpK8ZA", "NTMxIYc", "uvzgXmv",
            "OagtAYI", "xv.LD__", "gcyxA14", "9VtbNwC", "W",
        ],
        ..Rule::TOKEN
    },
];
