//! What builds and deploys.

use super::structure::random;
use crate::check::{jumbled, mixed};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "circleci-token",
        about: "CircleCI personal and project tokens",
        keywords: &["CCIPAT_", "CCIPRJ_"],
        pattern: Regex("CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[A-Fa-f0-9]{40}"),
        right: word,
        entropy: 3.0,
        hit: &[
            "CCIPAT_", "f5xoE8R", "3NJvEyY", "w7gNXhJ", "v_08cda", "e4795cd", "c19230f", "ee4ec4f",
            "d1a39cb", "c4b646c",
        ],
        miss: &[
            "CCIPAT_", "iaEfbrk", "xus9j0l", "z6jrbvt", "W_0534a", "9b983f0", "f4539b7", "444a295",
            "bd7a473", "acae86",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "circleci-legacy-token",
        about: "CircleCI tokens of the old form beside the name",
        keywords: &["circleci", "circle_ci", "circle_token", "circle-token", "circletoken", "circle-ci"],
        pattern: Beside("[A-Fa-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["CIRCLE_", "TOKEN=e", "7d55eab", "f393b50", "552674a", "5bdd046", "d019a32", "16e6"],
        miss: &["CIRCLE_", "TOKEN=7", "2e548ca", "2c6cbd4", "85c1efc", "f4ade2c", "d7f4e09", "dc9"],
        ..Rule::NAMED
    },
    Rule {
        name: "travis-token",
        about: "Travis CI tokens beside the name",
        keywords: &["travis"],
        pattern: Beside("[A-Za-z0-9_-]{22}"),
        right: token,
        check: |value| random(value) && jumbled(value),
        entropy: 3.3,
        hit: &["TRAVIS_", "TOKEN=2", "YyfS_9g", "n8ZihpU", "Si-d_EM"],
        miss: &["TRAVIS_", "TOKEN=L", "AooVb4_", "QkCof8P", "Zc-1s6"],
        ..Rule::NAMED
    },
    Rule {
        name: "buildkite-token",
        about: "Buildkite API, agent and cluster tokens",
        keywords: &["bkua_", "bkaj_", "bkct_", "bkpt_", "bkar_", "bkps_"],
        pattern: Regex("bk(?:ua|aj|ct|pt|ar|ps)_[A-Za-z0-9_-]{40,80}"),
        right: word,
        entropy: 2.5,
        hit: &["bkua_9c", "58058ec", "5ae5389", "a82dc81", "39ab380", "40d8da2", "6d7"],
        miss: &["bkua_60", "0617b71", "9187dc0", "e3711ea", "981e94b", "e56dccc", "1d"],
        ..Rule::TOKEN
    },
    Rule {
        name: "buildkite-agent-token",
        about: "Buildkite agent tokens of the old form beside the name",
        keywords: &["ildkite"],
        pattern: Beside("[a-f0-9]{48,50}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "BUILDKI", "TE_AGEN", "T_TOKEN", "=ced0ef", "a52485a", "540e02f", "384a828", "7137261",
            "2be58c2", "5105e62",
        ],
        miss: &[
            "BUILDKI", "TE_AGEN", "T_TOKEN", "=5f4c17", "ca4ba9d", "0970149", "812d66e", "384264f",
            "11ea2d6", "993834",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "drone-token",
        about: "Drone tokens beside the name",
        keywords: &[
            "drone_token",
            "drone_secret",
            "drone_rpc",
            "drone-token",
            "droneci",
            "drone_server",
            "dronetoken",
            "dronesecret",
            "dronerpc",
            "droneserver",
        ],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["DRONE_T", "OKEN=5C", "P93N1Hz", "fqOFBf1", "XkByFp8", "pM699G2", "1s"],
        miss: &["DRONE_T", "OKEN=9p", "BozRZa0", "I4lCklY", "N0DYMjo", "m2lTUsu", "m"],
        ..Rule::NAMED
    },
    Rule {
        name: "jenkins-token",
        about: "Jenkins API tokens and crumbs beside the name",
        keywords: &["jenkins"],
        pattern: Beside("(?:11[a-f0-9]{32}|[a-f0-9]{64}|[a-f0-9]{32,36})"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["JENKINS", "_API_TO", "KEN=11d", "aa30280", "54fabb9", "9c8572c", "3351f90", "890"],
        miss: &["JENKINS", "_API_TO", "KEN=11f", "3fc91a6", "a76ced6", "404d617", "8d4022d"],
        ..Rule::NAMED
    },
    Rule {
        name: "teamcity-token",
        about: "TeamCity tokens",
        keywords: &["eyJ0eXAiOiAiVENWMiJ9."],
        pattern: Regex(r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{36}\.[A-Za-z0-9_-]{48}"),
        right: token,
        entropy: 4.0,
        hit: &[
            "eyJ0eXA", "iOiAiVE", "NWMiJ9.", "PNxwt4D", "111N_AC", "77QxfzK", "f5b5zq0", "JO4-jc2",
            "a.QoJcS", "ihR0fCe", "LnpRRX1", "f9t62cy", "onreqfC", "i48omxc", "h2RCgNJ", "d",
        ],
        miss: &[
            "eyJ0eXA", "iOiAiVE", "NWMiJ9.", "1V8cFh9", "NDjzAIM", "A9jvqCl", "eYM-XjG", "3J1mwbK",
            "h.0a7-i", "HubZx_B", "uwYLsTf", "FQOnEhB", "_V9OBNz", "4aLboPD", "muM09q6",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "bitrise-token",
        about: "Bitrise tokens beside the name",
        keywords: &["bitrise"],
        pattern: Beside("[A-Za-z0-9_-]{60,120}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "BITRISE", "_TOKEN=", "JT-B95s", "3aqL5IT", "NqPzusx", "YDi2dxM", "RKKoFoi", "f0kkUbz",
            "674yWNI", "UQA-W0g", "XVwZ",
        ],
        miss: &[
            "BITRISE", "_TOKEN=", "ixtUXm2", "98g-1cz", "dxppsZG", "Xe97SUU", "qKA0Dej", "aed82xk",
            "MGtuucq", "5apohYH", "kZa",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "codefresh-token",
        about: "Codefresh tokens beside the name",
        keywords: &["odefresh"],
        pattern: Beside(r"[a-f0-9]{24}\.[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "CODEFRE", "SH_API_", "KEY=b14", "0afb91e", "0ac9d1d", "29fe057", ".170d61", "efe9a09",
            "6db7066", "3d4a511", "af943",
        ],
        miss: &[
            "CODEFRE", "SH_API_", "KEY=b8b", "8f9de3c", "ed2f7d5", "462a74c", ".9707fe", "0602a8f",
            "6b7d35a", "fca9caf", "f2d5",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "appveyor-token",
        about: "AppVeyor tokens beside the name",
        keywords: &["appveyor"],
        pattern: Beside(r"(?:v2\.)?[a-z0-9]{20}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["APPVEYO", "R_TOKEN", "=v2.k6x", "oaprpzu", "88ka47t", "139"],
        miss: &["APPVEYO", "R_TOKEN", "=v2.1fs", "rl9o2cp", "flr1yb4", "n8"],
        ..Rule::NAMED
    },
    Rule {
        name: "semaphore-token",
        about: "Semaphore tokens beside the name",
        keywords: &["semaphore_api", "semaphore_token", "semaphoreci", "semaphoreapi", "semaphoretoken"],
        pattern: Beside("[A-Za-z0-9_-]{20,44}"),
        right: token,
        check: |value| random(value) && jumbled(value),
        entropy: 3.3,
        hit: &["SEMAPHO", "RE_API_", "TOKEN=o", "I1lsjCL", "7HjtRy0", "bvLdJ"],
        miss: &["SEMAPHO", "RE_API_", "TOKEN=Q", "1MXbLab", "3h2lru5", "46Wh"],
        ..Rule::NAMED
    },
    Rule {
        name: "harness-token",
        about: "Harness personal and service tokens",
        keywords: &["pat.", "sat."],
        pattern: Regex(r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
        right: word,
        check: random,
        entropy: 3.5,
        hit: &[
            "pat.BOJ", "uos9oVF", "PQ1f2ou", "_H3bD.5", "ede9086", "087a00d", "40e5fcd", "a3.jgog",
            "1Mz9PHd", "aYtMGqG", "23",
        ],
        miss: &[
            "pat.0bG", "8D9FjuO", "0_caMxL", "q_MbX.1", "dda9674", "401cb30", "7815ff0", "d2.WzXg",
            "Pb552H0", "a63Atpc", "5",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "octopus-key",
        about: "Octopus Deploy API keys",
        keywords: &["API-"],
        pattern: Regex("API-([A-Z0-9]{26})"),
        right: token,
        left: |byte| token(byte) || byte == b'/',
        check: mixed,
        entropy: 3.0,
        hit: &["API-E9V", "SLBYDIB", "ELC1Z3Z", "7YLR664", "G6"],
        miss: &["MYAPI-2", "O7LWITG", "RLG1EFA", "1UY44P5", "7AVL"],
        ..Rule::TOKEN
    },
    Rule {
        name: "depot-token",
        about: "Depot tokens",
        keywords: &["depot_project_", "depot_org_"],
        pattern: Regex("depot_(?:project|org)_[a-f0-9]{64}"),
        right: word,
        entropy: 2.5,
        hit: &[
            "depot_o", "rg_2bb1", "378a0dc", "6a34bbf", "abc09a2", "5c6309e", "7834aea", "3aa430f",
            "f163640", "696b6cf", "0913",
        ],
        miss: &[
            "depot_o", "rg_c1f0", "99d941d", "d14e51b", "fb4f4cf", "e0095ae", "042cb36", "bcad0b7",
            "ef7b513", "21fde53", "2da",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "nx-cloud-token",
        about: "Nx Cloud access tokens beside the name",
        keywords: &["nx_cloud", "nxcloud", "nx-cloud"],
        pattern: Beside("[A-Za-z0-9+/=]{40,96}"),
        right: base64,
        check: random,
        entropy: 3.5,
        hit: &[
            "NX_CLOU", "D_ACCES", "S_TOKEN", "=fYjtyj", "svkP5Uv", "I6GgrcJ", "9fW7oaK", "2gLWIuJ", "ieP4SA",
        ],
        miss: &[
            "NX_CLOU", "D_ACCES", "S_TOKEN", "=3ggpmi", "r7S4r2S", "C7P5Usk", "XeCPmaM", "38PalgW", "JTbZl",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "appcenter-token",
        about: "App Center tokens beside the name",
        keywords: &["appcenter", "app_center"],
        pattern: Beside("[a-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["APPCENT", "ER_TOKE", "N=29ac3", "b2f3ff5", "163fbcb", "c6c88d4", "f9e29fa", "3250f46"],
        miss: &["APPCENT", "ER_TOKE", "N=f22a8", "b1c7290", "8bd403c", "5a308c6", "ddd76de", "68cedd"],
        ..Rule::NAMED
    },
    Rule {
        name: "rundeck-token",
        about: "Rundeck tokens beside the name",
        keywords: &["rundeck"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["X-Runde", "ck-Auth", "-Token:", " uJn2nK", "QufmGT3", "uXcORIK", "QUK9o6D", "1yBW8"],
        miss: &["X-Runde", "ck-Auth", "-Token:", " I3Z4Zf", "gxJ9SiE", "u29M1OE", "M2PbzzP", "KwU6"],
        ..Rule::NAMED
    },
    Rule {
        name: "awx-token",
        about: "Ansible AWX and Tower tokens beside the name",
        keywords: &[
            "awx_",
            "tower_oauth",
            "tower_token",
            "nsible_tower",
            "roller_oauth",
            "toweroauth",
            "towertoken",
            "nsibletower",
            "rolleroauth",
        ],
        pattern: Beside("[A-Za-z0-9]{30}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["TOWER_O", "AUTH_TO", "KEN=krH", "p3cjlSz", "iZLG954", "oTvIBAf", "ZUblNj"],
        miss: &["TOWER_O", "AUTH_TO", "KEN=Sia", "OQuS2w3", "OIRbcb4", "jp0FxQT", "AwgdX"],
        ..Rule::NAMED
    },
    Rule {
        name: "puppet-token",
        about: "Puppet Forge keys beside the name",
        keywords: &[
            "puppet_forge",
            "forge_api",
            "blacksmith_forge",
            "puppetforge",
            "forgeapi.puppet",
            "forgeapi",
            "blacksmithforge",
        ],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "BLACKSM", "ITH_FOR", "GE_API_", "KEY=0b4", "5868e54", "7603c47", "48c1947", "7137a93",
            "088bee2", "a88719a", "2c9b023", "636aca6", "e9b96",
        ],
        miss: &[
            "BLACKSM", "ITH_FOR", "GE_API_", "KEY=c14", "8c2b6be", "ed28ed7", "eb016f6", "2242f9a",
            "c7108f7", "13dc933", "7d11284", "30d047b", "d593",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "codemagic-token",
        about: "Codemagic tokens beside the name",
        keywords: &["odemagic"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "CODEMAG", "IC_API_", "TOKEN=v", "EnQ7lFh", "HRcV3jI", "bLBS9KK", "pXtPI4I", "LbOZ7Wq", "HjO9G2e",
        ],
        miss: &[
            "CODEMAG", "IC_API_", "TOKEN=8", "-qmyjWH", "CIlIm0W", "VpkYHLJ", "965r9IA", "PIH-e5-", "hi1WfA",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "expo-token",
        about: "Expo robot and personal tokens beside the name",
        keywords: &["expo_token=", "expo_token:"],
        pattern: Regex(r"(?i)expo_token[=:][ ]?[\x22']?((?-i:[A-Za-z0-9_-]{40}))"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["EXPO_TO", "KEN=SsK", "_EnUZQR", "18i2qio", "qjnmmYQ", "USN_Xi7", "csWZDwP", "Lf"],
        miss: &["EXPO_TO", "KEN=E6e", "7ThQ8Mt", "K_9JOMs", "3Vq996E", "PZXpDuR", "wSZbx2L", "S"],
        ..Rule::NAMED
    },
    Rule {
        name: "speakeasy-key",
        about: "Speakeasy keys",
        keywords: &["sk-speakeasy-"],
        pattern: Regex("sk-speakeasy-[A-Za-z0-9]{32,}"),
        entropy: 3.0,
        hit: &["sk-spea", "keasy-O", "qoo9qi4", "f1piMLa", "n3aHXsk", "h4faFAY", "AFs"],
        miss: &["sk-spea", "keasy-e", "bpuaXpG", "b7XBuQ4", "K48m8gL", "N0KbtID", "G9"],
        ..Rule::TOKEN
    },
];
