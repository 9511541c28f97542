//! Where packages and images are published.

use super::structure::{github_checksum, random};
use crate::check::{jumbled, mixed, odd};
use crate::rule::{Lead, Pattern::Beside, Pattern::Regex, Rule, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "npm-token",
        about: "npm access tokens",
        keywords: &["npm_"],
        pattern: Regex("npm_([A-Za-z0-9]{36})"),
        right: token,
        check: |value| mixed(value) && github_checksum(value),
        entropy: 0.1,
        hit: &["npm_VyC", "fCsImzR", "1nAvxRW", "zHWvYDd", "Cqcyi61", "BN3yD"],
        miss: &["npm_con", "fig_reg", "istry_a", "nd_some", "_more_w", "ords_he", "re"],
        ..Rule::TOKEN
    },
    Rule {
        name: "npmrc-auth",
        about: "credentials in .npmrc",
        keywords: &["_authtoken", "_password", "_auth"],
        pattern: Regex(
            r#"(?i)_(?:authToken|auth|password)["']?[ \t]{0,4}[=:][ \t]{0,4}["']?([A-Za-z0-9+/_=.-]{12,})"#,
        ),
        left: word,
        check: odd,
        entropy: 2.5,
        hit: &[
            "//reg.l", "ocal/:_", "authTok", "en=5cbb", "2e65-47", "ee-ce8f", "-1155-e", "4d96f4b", "0db9",
        ],
        miss: &["//reg.l", "ocal/:_", "authTok", "en=${TO", "KEN_FRO", "M_ENV}"],
        ..Rule::NAMED
    },
    Rule {
        name: "pypi-token",
        about: "PyPI upload tokens",
        keywords: &["pypi-AgE"],
        pattern: Regex("pypi-AgE([A-Za-z0-9_-]{50,})"),
        reach: 2100,
        entropy: 3.0,
        hit: &[
            "pypi-Ag", "EzWOJPx", "-xJJv4Y", "RVPcBF9", "KTnW7kL", "T9U-T8U", "nHq1THa", "8uOKOpJ",
            "QRONrXW", "5dXsoXG", "nm0-5uB", "Bjaf7qC", "9sN5",
        ],
        miss: &["pypi-Ag", "EZ6VGTH", "np-rQPZ", "x6OIUyy"],
        ..Rule::TOKEN
    },
    Rule {
        name: "rubygems-token",
        about: "RubyGems API keys",
        keywords: &["rubygems_"],
        pattern: Regex("rubygems_([a-f0-9]{48})"),
        right: word,
        entropy: 2.5,
        hit: &["rubygem", "s_965eb", "c912321", "8a2f63d", "ab6a237", "f23f763", "a0910b9", "896e916", "b"],
        miss: &["rubygem", "s_9ba60", "11b7d0a", "85f96af", "c9d0b31", "db76152", "73c5b11", "f731258"],
        ..Rule::TOKEN
    },
    Rule {
        name: "cargo-registry-token",
        about: "tokens of the Rust package registry",
        keywords: &["cio"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("cio([A-Za-z0-9]{32})"),
        right: token,
        check: crate::check::jumbled,
        entropy: 3.0,
        hit: &["cioaB3d", "E5fG7hJ", "9kL1mN2", "pQ4rS6t", "U8vW0xY"],
        miss: &["cioinvo", "lvement", "intheco", "mmittee", "swork12", "3"],
        ..Rule::TOKEN
    },
    Rule {
        name: "clojars-token",
        about: "Clojars deploy tokens",
        keywords: &["CLOJARS_"],
        pattern: Regex("CLOJARS_([a-z0-9]{60})"),
        right: word,
        entropy: 2.5,
        hit: &[
            "CLOJARS", "_t0edgx", "2yx0agt", "vxcejeb", "09zs3lj", "zhf3gxu", "5qir2lb", "tbeo3cp",
            "8g5d2nj", "m3xgu",
        ],
        miss: &[
            "CLOJARS", "_04jagz", "ycaol0c", "0bqw2h9", "b8ipdib", "gycnp9p", "jtdpe5z", "7wxprrz",
            "m8wj2lz", "q6ke",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "nuget-password",
        about: "passwords in NuGet configuration",
        keywords: &["cleartextpassword"],
        pattern: Regex(r#"(?i)ClearTextPassword["'][ \t]{1,4}value[ \t]{0,4}=[ \t]{0,4}"([^"\n]{8,})""#),
        entropy: 2.0,
        hit: &[
            "<add ke",
            r#"y="Clea"#,
            "rTextPa",
            r#"ssword""#,
            " value=",
            r#""l35qg2"#,
            r#"WZV2zp""#,
            " />",
        ],
        miss: &[
            "<add ke",
            r#"y="Clea"#,
            "rTextPa",
            r#"ssword""#,
            " value=",
            r#""%WORD_"#,
            "FROM_OU",
            r#"TSIDE%""#,
            " />",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "nuget-key",
        about: "NuGet API keys",
        keywords: &["oy2"],
        follow: |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        left: token,
        pattern: Regex("oy2[a-z0-9]{43}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["oy23vfj", "ajpe4po", "7bgpxew", "ywz5orb", "ox5hrji", "b8wq2id", "uw9w"],
        miss: &["oy2ynvr", "dhafzqw", "1ylyvbd", "11wm2lf", "sypont6", "qwsyevk", "eg0"],
        ..Rule::TOKEN
    },
    Rule {
        name: "docker-auth",
        about: "registry credentials in Docker configuration",
        keywords: &["\"auth\""],
        pattern: Regex(r#""auth"[ \t]{0,8}:[ \t]{0,8}"([A-Za-z0-9+/]{12,}={0,2})""#),
        check: crate::check::encoded_pair,
        hit: &[r#""auth":"#, r#" "c29tZ"#, "XVzZXI6", "TDhXbUp", "HSDk5Q2", r#"lk""#],
        miss: &[r#""auth":"#, r#" "bm8gY"#, "29sb24g", "aW4gaGV", "yZSBhdC", r#"BhbGw=""#],
        ..Rule::NAMED
    },
    Rule {
        name: "docker-token",
        about: "Docker Hub personal and organization tokens",
        keywords: &["dckr_pat_", "dckr_oat_"],
        pattern: Regex("dckr_(?:pat_[A-Za-z0-9_-]{27}|oat_[A-Za-z0-9_-]{32})"),
        right: token,
        entropy: 3.0,
        hit: &["dckr_pa", "t_23A3v", "kt_9u6k", "9L9AHnt", "tEntUzi", "7"],
        miss: &["dckr_pa", "t_6QHJx", "b6o3YSl", "IRFhKa5", "yO16VHU"],
        ..Rule::TOKEN
    },
    Rule {
        name: "artifactory-key",
        about: "Artifactory API keys",
        keywords: &["AKCp"],
        pattern: Regex("AKCp[A-Za-z0-9]{68,70}"),
        right: word,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "AKCpQcl", "6U3s2Y4", "2gsGnDQ", "QmJweLP", "Wd51mx1", "Fc8dU9B", "Q07XRD3", "lmoRS8r",
            "7sp6Kb1", "qJXyAx0", "rl",
        ],
        miss: &[
            "AKCpSdr", "6cZmxfz", "K4x50LI", "tGssHVf", "8bjSO2C", "qoNNDqv", "7R8jJqd", "RiU3pjr",
            "GhfLKnC", "GWiUkMI", "e",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "artifactory-reference-token",
        about: "Artifactory reference tokens",
        keywords: &["cmVmd"],
        pattern: Regex("cmVmd[A-Za-z0-9]{59}"),
        right: word,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "cmVmdFa", "bL7wCu5", "EiqQtcg", "JjWVSzM", "sb4FcBC", "ei6WotI", "UaAXj6e", "9OPII6L",
            "s7MhVdB", "u",
        ],
        miss: &[
            "cmVmdRA", "AFIbhL1", "DyWl9tx", "6fVgXYy", "xtBIUXN", "C1QxRvu", "GLQfZFV", "BwK8T0M", "Tkb7QDv",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "artifactory-password",
        about: "Artifactory passwords and encrypted keys beside the name",
        keywords: &["rtifactory", "jfrog"],
        pattern: Beside("(?:AP[0-9A-F][A-Za-z0-9]{8,}|[A-Za-z0-9]{73})"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &[
            "X-JFrog", "-Art-Ap", "i: PF01", "4xqxXoV", "7po8sa8", "n1sqmt3", "XMlXwZS", "Xv8kchN",
            "FQcbfmI", "rsWvlCQ", "hBy41bI", "4gxXzaq", "36z1wy",
        ],
        miss: &[
            "X-JFrog", "-Art-Ap", "i: HXCv", "PxAJWRt", "ncfVEc1", "Pn1UDXq", "w831Rxj", "6TvjkCv",
            "i8kVEq5", "rl5SKX0", "a19Z52e", "QMjsmCy", "IRxDs",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "bundler-credential",
        about: "credentials for paid gem servers",
        keywords: &["__contribsys__com"],
        pattern: Regex(r#"(?i)__contribsys__com["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([a-f0-9]{8}:[a-f0-9]{8})"#),
        entropy: 2.0,
        hit: &["BUNDLE_", "GEMS__C", "ONTRIBS", "YS__COM", ": e3c46", "250:732", "b588d"],
        miss: &["BUNDLE_", "GEMS__C", "ONTRIBS", "YS__COM", ": none"],
        ..Rule::NAMED
    },
    Rule {
        name: "packagist-token",
        about: "Packagist tokens",
        keywords: &[
            "agist_ort_",
            "agist_out_",
            "agist_uut_",
            "agist_urt_",
            "agist_oat_",
            "agist_uat_",
            "agist_ack_",
            "agist_acs_",
            "agist_cut_",
            "agist_crt_",
        ],
        lead: Lead::Exactly(4),
        pattern: Regex(
            "packagist_(?:[ou][rua]t_[a-f0-9]{68}|ack_[a-f0-9]{30,32}|acs_[a-f0-9]{64,96}|c[ru]t_[a-f0-9]{68})",
        ),
        right: word,
        entropy: 2.5,
        hit: &[
            "packagi", "st_ort_", "15ab9c7", "99d55c9", "6534255", "b111026", "93aae4a", "2f4b55b",
            "ea5d389", "7b27236", "829acd3", "c26f2",
        ],
        miss: &[
            "packagi", "st_ort_", "dfdb778", "8ea8f77", "71c9ef0", "56787fc", "1580f81", "b34ebab",
            "ee4db8c", "71013a2", "f6d6169", "b7d2",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "hex-key",
        about: "Hex.pm API keys beside the name",
        keywords: &["hex_api_key", "hexpm", "hexapikey"],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["HEX_API", "_KEY=6d", "e134bd0", "2026079", "e3870f7", "9117f26", "48"],
        miss: &["HEX_API", "_KEY=c5", "4d9827f", "b1cb62b", "ca967f3", "0db1ec4", "a"],
        ..Rule::NAMED
    },
    Rule {
        name: "cloudsmith-key",
        about: "Cloudsmith API keys beside the name",
        keywords: &["oudsmith"],
        pattern: Beside("[A-Fa-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["CLOUDSM", "ITH_API", "_KEY=77", "ef4a680", "7b7188e", "b14d327", "49754a2", "d4c02f1", "e46"],
        miss: &["CLOUDSM", "ITH_API", "_KEY=87", "675f0e6", "033c0d8", "5962f84", "c83cc4b", "f382fcf", "c5"],
        ..Rule::NAMED
    },
    Rule {
        name: "quay-token",
        about: "Quay robot tokens beside the name",
        keywords: &["quay_", "quay.io", "quay-", "quaytoken"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("(?:[A-Z0-9]{64}|[A-Za-z0-9]{40})"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &[
            "QUAY_TO", "KEN=2CN", "519V4M5", "X044OQY", "GDXX88G", "BQ9SKPU", "7UKVYF3", "Z9S3A4Q",
            "Y8YRODW", "T3O0NWR", "N56FB",
        ],
        miss: &[
            "QUAY_TO", "KEN=3GM", "6TAP52G", "D8W3XDN", "ECKEXQ6", "ZARMS0O", "CUD4J2Z", "STQ94A5",
            "2MX4NND", "83N9ZWP", "SHU2",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "gemfury-token",
        about: "Gemfury tokens beside the name",
        keywords: &["gemfury", "fury.io", "fury_"],
        pattern: Beside("[A-Za-z0-9_]{20,26}(?:-[A-Za-z0-9_]{6,})?"),
        right: token,
        check: |value| random(value) && jumbled(value),
        entropy: 3.3,
        hit: &["GEMFURY", "_TOKEN=", "i6BTgwb", "I923Wfg", "eRtmqm"],
        miss: &["GEMFURY", "_TOKEN=", "28iMPZN", "kYzN36k", "PCU9B"],
        ..Rule::NAMED
    },
    Rule {
        name: "anaconda-token",
        about: "Anaconda tokens beside the name",
        keywords: &["anaconda", "onda_token", "ondatoken"],
        pattern: Beside("[a-z]{2}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["ANACOND", "A_API_T", "OKEN=ab", "-d628a3", "16-8a68", "-bb21-c", "9da-b3b", "d03f7ba", "c0"],
        miss: &["ANACOND", "A_API_T", "OKEN=ab", "-b7225a", "17-4296", "-2e3c-8", "adf-07d", "6d37df7", "5"],
        ..Rule::NAMED
    },
    Rule {
        name: "open-vsx-token",
        about: "Open VSX tokens",
        keywords: &["ovsxp_", "ovsxat_"],
        pattern: Regex("ovsx(?:p|at)_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        right: word,
        entropy: 2.5,
        hit: &["ovsxp_2", "7d91a46", "-1598-6", "aa2-2fb", "0-c4988", "df85389"],
        miss: &["ovsxp_c", "652e3a0", "-c6c7-e", "fde-3f2", "e-71ef8", "e3ea7e"],
        ..Rule::TOKEN
    },
    Rule {
        name: "cocoapods-token",
        about: "CocoaPods trunk tokens beside the name",
        keywords: &["cocoapods_trunk", "trunk.cocoapods", "cocoapodstrunk"],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["COCOAPO", "DS_TRUN", "K_TOKEN", "=8d6f8b", "3fbf548", "e780888", "c42a620", "10750"],
        miss: &["COCOAPO", "DS_TRUN", "K_TOKEN", "=035d88", "1f8330d", "360b197", "e049a6c", "ea2e"],
        ..Rule::NAMED
    },
    Rule {
        name: "nexus-token",
        about: "Nexus user tokens beside the name",
        keywords: &[
            "nexus_pass",
            "nexus_token",
            "nexus-token",
            "nexususertoken",
            "nexus_user_token",
            "nexuspass",
            "nexustoken",
        ],
        pattern: Beside(
            "(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9_+/-]{44})",
        ),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["NEXUS_T", "OKEN=50", "gA06ikb", "1nzAwhc", "yrOXxg2", "7yqodFf", "HRsnpNw", "DgYnzDc"],
        miss: &["NEXUS_T", "OKEN=Bj", "eVmaCjg", "dyKRoEP", "2uzBM6z", "LBtFbbF", "xomIGWz", "6RtRzf"],
        ..Rule::NAMED
    },
    Rule {
        name: "pyx-key",
        about: "pyx keys",
        keywords: &["sk-pyx-"],
        pattern: Regex("sk-pyx-[A-Za-z0-9_-]{32,}"),
        entropy: 3.0,
        hit: &["sk-pyx-", "gd20Rhn", "_oI9CRK", "370hiff", "wMIrxFV", "FJyZ"],
        miss: &["sk-pyx-", "gnFJVzU", "o4dW0U8", "J95yJET", "-T8mvFA", "Q61"],
        ..Rule::TOKEN
    },
];
