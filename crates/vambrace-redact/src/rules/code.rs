//! Where code is kept.

use super::structure::{github_checksum, random};
use crate::check::{mixed, varied};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "github-token",
        about: "GitHub personal, OAuth, app, installation and refresh tokens",
        keywords: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        reach: 1024,
        pattern: Regex("gh(?:[pour]_([A-Za-z0-9_]{36,})|s_([A-Za-z0-9_.-]{36,}))"),
        check: github_checksum,
        entropy: 0.1,
        hit: &["ghp_vRu", "GdAiKMB", "EUdFuZP", "VHB25Q1", "qb5YleQ", "Fk9XD"],
        miss: &["ghp_NDo", "BVMxtHw", "vthe28Q", "wLm7db4", "42xttoL", "TtmI"],
        ..Rule::TOKEN
    },
    Rule {
        name: "github-fine-grained-token",
        about: "GitHub fine-grained personal tokens",
        keywords: &["github_pat_"],
        pattern: Regex("github_pat_([A-Za-z0-9_]{82})"),
        right: word,
        entropy: 3.0,
        hit: &[
            "github_", "pat_9xh", "xT4l48w", "2ZsvGz7", "jOY5g_R", "NPfjrGy", "zt537kR", "RCr8y4G",
            "d7kuuSF", "yHPutc8", "WpsPR1g", "dKPiLHZ", "OecnogL", "L4",
        ],
        miss: &[
            "github_", "pat_krU", "x72g7o3", "b9wWAZq", "lnmF7_C", "KVn1Mgl", "AyAGtn8", "SK4oEPX",
            "FsHeUXm", "CsLhuGW", "fvrtuvM", "6tgfyKL", "UzFCSNn", "4",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "github-legacy-token",
        about: "GitHub tokens of the old form beside the name",
        keywords: &[
            "hub_token",
            "hub-token",
            "hubtoken",
            "hub token",
            "hub_pat",
            "hub_key",
            "hub_api",
            "hub_oauth",
            "hub_secret",
            "hub_access",
            "hub_client",
            "hubclient",
            "gh_token",
            "gh_pat",
            "git_token",
            "gitalk",
            "hubpat",
            "hubkey",
            "hubapi",
            "huboauth",
            "hubsecret",
            "hubaccess",
            "ghtoken",
            "gittoken",
        ],
        pattern: Beside("[a-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["GITHUB_", "TOKEN=c", "aba2d67", "96dd644", "33a50c6", "f5bc47f", "6b003a8", "582c"],
        miss: &["GITHUB_", "TOKEN=a", "9f31fe7", "a905a5d", "be4d6ba", "436deba", "fe811bf", "e89"],
        ..Rule::NAMED
    },
    Rule {
        name: "bitbucket-app-password",
        about: "Bitbucket app passwords",
        keywords: &["ATBB"],
        pattern: Regex("ATBB[A-Za-z0-9_=.-]{24,40}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["ATBBKE1", "rcs04jr", "5hle5Vq", "5tkRbF2"],
        miss: &["ATBBR4W", "nH6ClKy", "zl2AANM", "NPwZfB"],
        ..Rule::TOKEN
    },
    Rule {
        name: "bitbucket-token",
        about: "Bitbucket repository, project and workspace tokens",
        keywords: &["ATCTT3"],
        pattern: Regex("ATCTT3[A-Za-z0-9_=-]{100,}"),
        entropy: 3.5,
        hit: &[
            "ATCTT3m", "rz8UqjE", "NiiJv0E", "fx7duB3", "cqrjTAz", "Y_fT-KN", "3aMrwLo", "jly0xN9",
            "cM7RV19", "HSoPn6N", "hO2XqaO", "KKp0y3n", "MAGkKUI", "XO2r-_o", "1lQJ8iG", "m",
        ],
        miss: &[
            "ATCTT35", "ManizGa", "h7sbhGR", "0NEJ6FI", "FyLeEhO", "qxEw0J4", "j1f6KlU", "6Y-OIF1",
            "gCcnLfX", "I79d3vh", "qDMUhYG", "iy8W2Ly", "_9ykhNP", "9_ph35_", "tkeoAv0",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "bitbucket-client-secret",
        about: "Bitbucket consumer keys and secrets beside the name",
        keywords: &["bitbucket"],
        pattern: Beside("(?:[A-Za-z0-9=_-]{64}|[A-Za-z0-9]{32})"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["BITBUCK", "ET_CLIE", "NT_SECR", "ET=VRh5", "guiK7sJ", "mqUsc9J", "CVGpftQ", "5zKoh2i"],
        miss: &["BITBUCK", "ET_CLIE", "NT_SECR", "ET=9FXu", "zkJSj5a", "sPHRrLa", "KT2b3ww", "lwOthO"],
        ..Rule::NAMED
    },
    Rule {
        name: "bitbucket-server-token",
        about: "Bitbucket Data Center tokens",
        keywords: &["BBDC-"],
        pattern: Regex("BBDC-[A-Za-z0-9+/@_-]{32,50}"),
        right: base64,
        entropy: 3.5,
        hit: &["BBDC-bm", "9nWm5zr", "NXggpXS", "srEEHGi", "WddAkl9", "Nq0Cs0x", "uhV"],
        miss: &["BBDC-fm", "Bx2akWw", "MHOFydg", "YJ1olps", "hawKHao", "g"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitea-token",
        about: "Gitea, Forgejo and Gogs tokens beside the name",
        keywords: &["gitea", "forgejo", "odeberg", "gogs_"],
        pattern: Beside("[a-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["GITEA_T", "OKEN=75", "0732a60", "e762e44", "1684d71", "eeb9fb1", "55e5d3c", "966"],
        miss: &["GITEA_T", "OKEN=40", "5b98099", "ab66aeb", "1f41141", "f08ba23", "e0f5e77", "f9"],
        ..Rule::NAMED
    },
    Rule {
        name: "gitee-token",
        about: "Gitee tokens beside the name",
        keywords: &["gitee"],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["GITEE_T", "OKEN=71", "677986b", "cc63410", "2cd7af0", "0e336f4", "c4"],
        miss: &["GITEE_T", "OKEN=7c", "748f5e4", "e30980b", "85b88c8", "d5d4239", "2"],
        ..Rule::NAMED
    },
    Rule {
        name: "sourcegraph-token",
        about: "Sourcegraph access tokens",
        keywords: &["sgp_"],
        pattern: Regex("sgp_((?:[A-Fa-f0-9]{16}_)?(?:local_)?[A-Fa-f0-9]{40})"),
        right: token,
        entropy: 3.0,
        hit: &["sgp_c8f", "4c96642", "9de515c", "98ba6d0", "4644a3a", "6dca886", "0b"],
        miss: &["sgp_e9a", "c8a8534", "fa386b0", "5f342f1", "e70354e", "3f7ebc5", "2"],
        ..Rule::TOKEN
    },
    Rule {
        name: "sourcegraph-gateway-token",
        about: "Sourcegraph gateway and license tokens",
        keywords: &["sgd_", "slk_"],
        pattern: Regex("(?:sgd|slk)_([a-f0-9]{64})"),
        right: token,
        entropy: 2.5,
        hit: &[
            "sgd_7f0", "45717b5", "92f2f3b", "6288051", "9342d46", "68f3e77", "6dc7ad8", "1cf5b0d",
            "ddc55dd", "61b5f",
        ],
        miss: &[
            "sgd_d7c", "c4074fb", "ba7cf87", "e96d89e", "584c054", "56bb641", "2a99c7c", "70714d9",
            "6369965", "b3d9",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "sourcegraph-legacy-token",
        about: "Sourcegraph tokens of the old form beside the name",
        keywords: &["rcegraph"],
        pattern: Beside("[A-Fa-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &["SOURCEG", "RAPH_TO", "KEN=35d", "06353b1", "e4dea04", "b96babd", "59da91c", "ccbff47", "8d"],
        miss: &["SOURCEG", "RAPH_TO", "KEN=0d3", "58d392f", "542f0c2", "895f4ef", "7ba6871", "df1e699", "e"],
        ..Rule::NAMED
    },
    Rule {
        name: "gitpod-token",
        about: "Gitpod tokens",
        keywords: &["gitpod_pat_"],
        pattern: Regex("gitpod_pat_[A-Za-z0-9_.-]{32,}"),
        entropy: 3.3,
        hit: &["gitpod_", "pat_hQe", "2DK3EbH", "7VQafxo", "MYVE2Kz", "lGSrWhF", "K"],
        miss: &["gitpod_", "pat_r5J", "GzcY0FV", "buFld8M", "PXZHLX8", "SSt11aN"],
        ..Rule::TOKEN
    },
    Rule {
        name: "coder-token",
        about: "Coder session tokens beside the name",
        keywords: &["oder_session", "oder-session", "odersession"],
        pattern: Beside("[A-Za-z0-9]{10}-[A-Za-z0-9]{22}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["CODER_S", "ESSION_", "TOKEN=i", "j6ioNS5", "wT-6dM9", "oJ6slvd", "GgJUzJ3", "flmK"],
        miss: &["CODER_S", "ESSION_", "TOKEN=7", "DwF9nGn", "bk-68lq", "fQYEVr3", "hAJGzuu", "68p"],
        ..Rule::NAMED
    },
    Rule {
        name: "postman-key",
        about: "Postman API keys",
        keywords: &["PMAK-"],
        pattern: Regex("PMAK-([a-fA-F0-9]{24}-[a-fA-F0-9]{34})"),
        right: token,
        check: varied,
        entropy: 2.5,
        hit: &[
            "PMAK-8c", "ee4409d", "ddfa349", "8f363f7", "d-32783", "4602c61", "c88a949", "8738499",
            "2c93c86", "3",
        ],
        miss: &["PMAK-84", "25d7ce4", "0b175a8", "20b74af", "7"],
        ..Rule::TOKEN
    },
    Rule {
        name: "postman-collection-key",
        about: "Postman collection access keys",
        keywords: &["PMAT-"],
        pattern: Regex("PMAT-[A-Z0-9]{26}"),
        right: token,
        entropy: 3.0,
        hit: &["PMAT-P2", "A5G072X", "KHRIY4V", "ND3RWE1", "SRV"],
        miss: &["PMAT-HD", "3AUS6GT", "Q7VEYOF", "Z6AQDNF", "1D"],
        ..Rule::TOKEN
    },
    Rule {
        name: "swaggerhub-key",
        about: "SwaggerHub API keys beside the name",
        keywords: &["swaggerhub"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["SWAGGER", "HUB_API", "_KEY=f0", "137370-", "29cc-2f", "8a-f570", "-4c2c31", "c57f33"],
        miss: &["SWAGGER", "HUB_API", "_KEY=0c", "85a838-", "a599-90", "7c-1745", "-4c61cd", "dca6f"],
        ..Rule::NAMED
    },
];
