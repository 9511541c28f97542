//! Databases as a service.

use super::structure::random;
use crate::check::{jumbled, mixed};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "planetscale-token",
        about: "PlanetScale service tokens",
        keywords: &["pscale_tkn_"],
        pattern: Regex("pscale_tkn_[A-Za-z0-9=._-]{32,64}"),
        right: token,
        entropy: 3.0,
        hit: &["pscale_", "tkn_cvc", "tzADJWR", "Ne5KPQG", "5p1Uv2K", "yRR3px1", "s"],
        miss: &["pscale_", "tkn_GvX", "YquKAbg", "CHZSkxb", "cbYa391", "5EG12ZC"],
        ..Rule::TOKEN
    },
    Rule {
        name: "planetscale-password",
        about: "PlanetScale passwords",
        keywords: &["pscale_pw_"],
        pattern: Regex("pscale_pw_[A-Za-z0-9=._-]{32,64}"),
        right: token,
        entropy: 3.0,
        hit: &["pscale_", "pw_dgAI", "cKWHyQw", "DXECoWH", "7y2Np7W", "YLMUmln"],
        miss: &["pscale_", "pw_dZrP", "Ai6jeU5", "mQDS2yj", "iE1QJV2", "t7kYWC"],
        ..Rule::TOKEN
    },
    Rule {
        name: "planetscale-oauth-token",
        about: "PlanetScale OAuth tokens",
        keywords: &["pscale_oauth_"],
        pattern: Regex("pscale_oauth_[A-Za-z0-9=._-]{32,64}"),
        right: token,
        entropy: 3.0,
        hit: &["pscale_", "oauth_e", "EX6q7R4", "DhJxWvR", "5wrqgSZ", "NZq4yQZ", "mzm"],
        miss: &["pscale_", "oauth_Z", "k8PBZMo", "ZmcvFwV", "GDJoOca", "p3rxlMx", "2b"],
        ..Rule::TOKEN
    },
    Rule {
        name: "supabase-token",
        about: "Supabase personal tokens",
        keywords: &["sbp_"],
        pattern: Regex("sbp_(?:v0_)?([a-z0-9_-]{40})"),
        right: word,
        entropy: 2.5,
        hit: &["sbp_c38", "76e65dc", "a090037", "e977732", "441cb8f", "fd4f5d1", "4a"],
        miss: &["sbp_lht", "ad1crzm", "3ochjek", "jypr6ie", "x2e2o6h", "enx56t3", "g"],
        ..Rule::TOKEN
    },
    Rule {
        name: "supabase-secret-key",
        about: "Supabase project secret keys",
        keywords: &["sb_secret_"],
        pattern: Regex("sb_secret_([A-Za-z0-9_-]{31})"),
        right: token,
        entropy: 3.0,
        hit: &["sb_secr", "et_4qG2", "yvVlRKi", "rQZTVI1", "WYrp_Mp", "3Tp7lI"],
        miss: &["sb_secr", "et_Tzwl", "4FTgPuz", "JZv0vFZ", "hkU5Hop", "wPo6C"],
        ..Rule::TOKEN
    },
    Rule {
        name: "neon-key",
        about: "Neon API keys",
        keywords: &["napi_"],
        pattern: Regex("napi_[A-Za-z0-9]{64}"),
        right: word,
        entropy: 3.0,
        hit: &[
            "napi_ls", "81fk1md", "2q9c1qx", "j9gzw93", "cmo48mf", "li52f61", "j9txd6w", "6oma4r3",
            "c3aoxvp", "zkuuov",
        ],
        miss: &[
            "napi_p7", "ybzenr6", "36gmzqu", "wex0tfi", "eca508n", "l5pv11o", "1pu9fax", "yk92hiq",
            "7e7xtg2", "zajfc",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "cockroach-key",
        about: "CockroachDB Cloud keys",
        keywords: &["CCDB1_"],
        pattern: Regex("CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
        right: word,
        entropy: 3.5,
        hit: &[
            "CCDB1_Z", "ljW97f5", "wjmEPLL", "FCcxIz4", "_9wZSab", "Xx234hJ", "ZmN8fTZ", "77wq3FF",
            "JaVJzQt", "pCuBRZ",
        ],
        miss: &[
            "CCDB1_b", "lDFErn4", "s4tIqKa", "y5OoWvw", "_wKk9Ez", "7b2gkfM", "aywLkYX", "8Lbwywi",
            "Ma1SJVo", "uHIdV",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "mongodb-service-secret",
        about: "MongoDB Atlas service account secrets",
        keywords: &["mdb_sa_sk_"],
        pattern: Regex("mdb_sa_sk_[A-Za-z0-9_-]{40}"),
        right: token,
        entropy: 3.3,
        hit: &["mdb_sa_", "sk_IHVM", "vbH0y9-", "bOrxHLc", "WTzxQ2U", "I7aGw5q", "zSTsXxO", "I"],
        miss: &["mdb_sa_", "sk_2iKO", "gL2xiN3", "coTZJY2", "JqQ0g2q", "OB6glF1", "s5gHEga"],
        ..Rule::TOKEN
    },
    Rule {
        name: "mongodb-private-key",
        about: "MongoDB Atlas private keys beside the name",
        keywords: &[
            "mongodb_atlas",
            "mongodbatlas",
            "mongodb-atlas",
            "mongo_atlas",
            "atlas_private",
            "atlas_api",
            "mongocli",
            "mcli_private",
            "mongoatlas",
            "atlasprivate",
            "atlasapi",
            "mcliprivate",
        ],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "MONGODB", "_ATLAS_", "PRIVATE", "_KEY=16", "f003a7-", "0b2b-61", "58-2ade", "-51ac2b", "96e409",
        ],
        miss: &[
            "MONGODB", "_ATLAS_", "PRIVATE", "_KEY=ac", "b75165-", "58a7-a6", "87-e616", "-94bdaf", "1cd92",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "upstash-token",
        about: "Upstash tokens and keys beside the name",
        keywords: &["upstash"],
        pattern: Beside(
            "(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9+/_-]{32,100}={0,2})",
        ),
        right: base64,
        check: random,
        entropy: 3.0,
        hit: &["UPSTASH", "_REDIS_", "REST_TO", "KEN=skL", "T3oXqLH", "1xoD8Bq", "BC2Xl6z", "2nRLYdj", "H"],
        miss: &["UPSTASH", "_REDIS_", "REST_TO", "KEN=xP1", "lV8GG3r", "gb29FJO", "eA6Hm5z", "B4Mt4y6"],
        ..Rule::NAMED
    },
    Rule {
        name: "aiven-password",
        about: "Aiven service passwords",
        keywords: &["AVNS_"],
        pattern: Regex("AVNS_[A-Za-z0-9_-]{19}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["AVNS_t9", "dJPbV99", "fChidzA", "qms"],
        miss: &["AVNS_50", "BUDuZNd", "D_wddNK", "G3"],
        ..Rule::TOKEN
    },
    Rule {
        name: "aiven-token",
        about: "Aiven tokens beside the name",
        keywords: &["aiven"],
        reach: 640,
        pattern: Regex(
            r"(?i)aiven[A-Za-z0-9_ -]{0,40}[\x22']?[ \t]{0,4}[:=]?[ \t]{0,4}[\x22']?((?-i:[A-Za-z0-9/+]{340,400}={0,2}))",
        ),
        right: base64,
        check: mixed,
        entropy: 4.0,
        hit: &[
            "AIVEN_T", "OKEN=HK", "/LUlNIh", "tWVq7gw", "z06acqy", "Arv5hg1", "DAmQpVT", "wU6HPm1",
            "WtViM0K", "kzdZ3d9", "enakfgP", "NDK8I07", "kQuqT0u", "hnXl++2", "dSj+x/a", "BapbWF6",
            "Rv0hzTq", "LCBdrIj", "rjrecUe", "SmoweZ1", "jc0JbmH", "zdsHXZq", "+GgWIca", "QMKj3dK",
            "yLS3hIX", "yy6AMet", "8W2b7Hj", "K5IY3Dh", "5nKWtet", "OQdMeaJ", "TzvwIp1", "yAo3DXA",
            "iX5GlR3", "VAFeyCY", "t8zQ/ET", "rNGnFLM", "AGSj5KC", "ig75rzX", "lU1eFWe", "6ncpk7G",
            "jdh+/6p", "pbeQuq9", "i9Ra2Zr", "kYlwiZz", "mLRnSK9", "c384USy", "nheV8cx", "4iPiqlL",
            "DKr1kM6", "E/YA71d", "2V",
        ],
        miss: &[
            "AIVEN_T", "OKEN=Zt", "7d1tI7I", "z5ErOEz", "XB5eOYw", "00Or//6", "akWoWgN", "FNnI92/",
            "P6m6nwN", "XvhbH/3", "WqN5o3J", "Op/mw7d", "LaQzB/p", "/kijSOe", "KDQNj2b", "WBvmfLI",
            "8FHPAUg", "3RrWfI8", "utwn4Oy", "2ggFzov", "iUiUQNU", "2y/kEdI", "EOcs1Yg", "Z6ghZcb",
            "jODqXzr", "q9hAoc/", "xA91Rju", "7DNu9JP", "iaNnPI1", "QGLhFRQ", "PzGd/QL", "OQWE7Mn",
            "OtWnokr", "eqwRYNa", "J6SlEok", "3uBQl5m", "lSEkMH1", "x8S3RwL", "9Xy8sqQ", "OYc+eb1",
            "w31/i2e", "YP/A5ws", "HrYi8Xe", "KNYLrQF", "gIFF7iO", "HbGUHBK", "3+ubdr5", "jEv+nXS",
            "zoYtfuL", "ehBwpii", "e",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "astra-token",
        about: "DataStax Astra tokens",
        keywords: &["AstraCS:"],
        pattern: Regex("AstraCS:[A-Za-z]{24}:[a-f0-9]{64}"),
        right: word,
        entropy: 3.0,
        hit: &[
            "AstraCS", ":tEZRWv", "ikDmUyN", "wXyEjQA", "DVeN:b1", "9847448", "a6e22ec", "b07accf",
            "205160a", "9ddc631", "a081d1c", "fc7659b", "fc93b17", "be8042",
        ],
        miss: &[
            "AstraCS", ":QCDfCU", "HuIbToc", "fwPnVyj", "szTw:13", "2ca263a", "5077f5b", "45e5af8",
            "3c4683c", "20e4508", "eea93a0", "4c4d812", "8b39286", "21295",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "xata-key",
        about: "Xata API keys",
        keywords: &["xau_"],
        pattern: Regex("xau_[A-Za-z0-9]{36,64}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["xau_pfF", "1FQZZaG", "FY1uFw8", "MXugJVd", "5n2mJCS", "qufb5"],
        miss: &["xau_9xr", "pvX7du3", "pZQiGaX", "IpoPcqY", "HDyQnpf", "XoxS"],
        ..Rule::TOKEN
    },
    Rule {
        name: "influxdb-token",
        about: "InfluxDB tokens beside the name",
        keywords: &["influx"],
        pattern: Beside("(?:[A-Za-z0-9_-]{86}==|apiv3_[A-Za-z0-9_-]{80,})"),
        right: base64,
        check: mixed,
        entropy: 4.0,
        hit: &[
            "INFLUX_", "TOKEN=z", "8r7gnzu", "czscUCp", "NfPALn2", "ie3enkN", "befFtVb", "gdkd0IT",
            "RY0xaaT", "zG17tvy", "7keGZGN", "eDZC7Yq", "lHrXOEM", "sSZZRtk", "y==",
        ],
        miss: &[
            "INFLUX_", "TOKEN=d", "UIrUWyK", "bxXaT7e", "2a4X1DV", "8Vl9YD4", "nOiLEYu", "8rYnHVE",
            "CBWcLh3", "59bEIEU", "i-e3FA2", "0BgtGW-", "VZw_T9E", "T7_EvfF", "==",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "fauna-secret",
        about: "Fauna secrets",
        keywords: &["fnAA", "fnAC", "fnAD", "fnAE", "fnAF"],
        pattern: Regex("fnA[A-F][A-Za-z0-9_-]{34,52}"),
        right: token,
        check: jumbled,
        entropy: 3.5,
        hit: &["fnAEoJQ", "kEEyyCw", "X302y8x", "PkT0F4l", "SZna5tU", "LCi"],
        miss: &["fnAEkZl", "0quN_iE", "bvWhinw", "-F26jes", "6bV3uWy", "TX"],
        ..Rule::TOKEN
    },
    Rule {
        name: "couchbase-secret",
        about: "Couchbase Capella secrets beside the name",
        keywords: &["couchbase", "capella"],
        pattern: Beside("[A-Za-z0-9+/%#@!]{60,120}={0,2}"),
        right: base64,
        check: random,
        entropy: 4.0,
        hit: &[
            "CAPELLA", "_API_SE", "CRET=n7", "xVNoGaX", "IJLdVfe", "vVCkSDc", "rmubO6K", "qw0EtVD",
            "GCyDhLU", "4yCO5iu", "72QRt81", "pj",
        ],
        miss: &[
            "CAPELLA", "_API_SE", "CRET=N0", "B8PyH9w", "4TIsDvD", "3FpnFxo", "DjqLMvn", "uJ33QpB",
            "uIjbtYP", "zOm3Rvl", "llDUVMD", "p",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "cloudant-key",
        about: "Cloudant passwords beside the name",
        keywords: &["oudant"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "CLOUDAN", "T_PASSW", "ORD=af8", "5901cd8", "10ea81c", "8b29122", "1a5dc87", "cfa2f02",
            "cd0b4c4", "3f83e7d", "28a3e4c", "27446",
        ],
        miss: &[
            "CLOUDAN", "T_PASSW", "ORD=4ce", "3a0cc2e", "9728b37", "bde9096", "e42164a", "1236799",
            "1b31e5b", "082a105", "50ffa02", "48f8",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "hasura-secret",
        about: "Hasura admin secrets beside the name",
        keywords: &["hasura"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "x-hasur", "a-admin", "-secret", ": nyWuE", "xxN30Rj", "fnQ9rNd", "DBAIMMd", "OqUF63B",
            "VbXiwNQ", "ADdDNt4", "7aLSgxw", "E0a2PXg", "xMk",
        ],
        miss: &[
            "x-hasur", "a-admin", "-secret", ": upyJd", "o03otCS", "nTH717O", "X7Hdmec", "1A8LAeO",
            "CDzUYL6", "2gBVMZC", "GHsZTTP", "TyMI8sW", "zc",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "edgedb-token",
        about: "EdgeDB Cloud secret keys",
        keywords: &["nbwt1_", "edbt_", "edbt1_"],
        pattern: Regex("(?:nbwt1?|edbt1?)_[A-Za-z0-9_.-]{60,}"),
        entropy: 3.5,
        hit: &[
            "nbwt1_F", "7TW9CTD", "MWfBACF", "IvfyB6D", "wBrwMo2", "8LVu7xf", "BUFIGWi", "hW5M4vh",
            "FJ6C4ZG", "ENM",
        ],
        miss: &[
            "nbwt1_D", "Ayx0b3q", "vSY7nGg", "FCLuOK9", "gk34BUf", "YA41jSu", "izMpRjs", "dB9jVyv",
            "H9Pn8qc", "oK",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "redis-password",
        about: "Redis Cloud keys beside the name",
        keywords: &["redis_cloud", "rediscloud", "redis_api", "redisapi"],
        pattern: Beside("[A-Za-z0-9]{32,50}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["REDISCL", "OUD_API", "_KEY=gV", "321CjTV", "O2PQEdZ", "pnvx5CE", "yu4K954", "ur"],
        miss: &["REDISCL", "OUD_API", "_KEY=Yo", "93wAzfZ", "s8guRhp", "5Ccm9Ic", "bHMPvk5", "A"],
        ..Rule::NAMED
    },
];
