//! Clusters, networks and the tools that describe them.

use super::form::cased;
use super::structure::random;
use crate::check::{mixed, plausible};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, hex, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "terraform-token",
        about: "Terraform Cloud tokens",
        keywords: &[".atlasv1."],
        lead: crate::rule::Lead::Exactly(14),
        pattern: Regex(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}"),
        check: plausible,
        entropy: 3.0,
        hit: &[
            "BYfqW3E", "TVcS89n", ".atlasv", "1.TmCDM", "5wjUcYB", "jWNTca6", "6etWyRa", "FIf0qos",
            "R6YIQRI", "CM9Wb6C", "OXmoIN9", "Z9hymP6", "Sjdt0U",
        ],
        miss: &[
            "xxxxxxx", "xxxxxxx", ".atlasv", "1.xxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx",
            "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxx",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "pulumi-token",
        about: "Pulumi access tokens",
        keywords: &["pul-"],
        pattern: Regex("pul-([a-f0-9]{40})"),
        right: hex,
        entropy: 2.5,
        hit: &["pul-9c4", "ffdb1c4", "5c9ac60", "e228a76", "f537927", "6ee80af", "b1"],
        miss: &["stipul-", "83fbc73", "1c9d6e7", "3f307ec", "932831a", "caff227", "281d6"],
        ..Rule::TOKEN
    },
    Rule {
        name: "openshift-token",
        about: "OpenShift user tokens",
        keywords: &["sha256~"],
        pattern: Regex("sha256~([A-Za-z0-9_-]{43})"),
        right: word,
        check: mixed,
        entropy: 3.0,
        hit: &["sha256~", "5omg9J6", "NqD4nsj", "84rhiMv", "U1ChmCS", "33atl0P", "1Eo7Rix", "X"],
        miss: &["sha256~", "kEJWDHX", "X6h08Jn", "tyRyV6"],
        ..Rule::TOKEN
    },
    Rule {
        name: "kubernetes-bootstrap-token",
        about: "bootstrap tokens of Kubernetes clusters",
        keywords: &["kubeadm", "trap-token", "trap_token", "traptoken", "--discovery-token "],
        reach: 200,
        pattern: Regex(
            r"(?i)(?:kubeadm|trap[_-]?token|--discovery-token )[^\n]*?[^A-Za-z0-9._-]([a-z0-9]{6}\.[a-z0-9]{16})",
        ),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["kubeadm", " join 1", "0.0.0.1", ":6443 -", "-token ", "0f0dxl.", "4rjovuc", "vb0ekd5", "6h"],
        miss: &["kubeadm", " join 1", "0.0.0.1", ":6443 -", "-token ", "whhy2e.", "x93t9za", "yxcdpi4", "g"],
        ..Rule::NAMED
    },
    Rule {
        name: "rancher-token",
        about: "Rancher API tokens",
        keywords: &["token-"],
        left: token,
        pattern: Regex("token-[a-z0-9]{5}:([a-z0-9]{54})"),
        right: word,
        entropy: 3.0,
        hit: &[
            "token-p", "h1bf:t9", "t1d6dyj", "gl815yr", "pttany2", "ui3z4ss", "d1igxy0", "55olqe2",
            "fzyhsih", "u9n",
        ],
        miss: &[
            "token-a", "sz9a:wg", "ykytxdt", "2fmqmc6", "dnui48s", "9vhblo6", "ybmcgd9", "lttiu9h",
            "tdrlptu", "q4",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "docker-swarm-token",
        about: "Docker swarm join tokens and unlock keys",
        keywords: &["SWMTKN-1-", "SWMKEY-1-"],
        pattern: Regex("SWM(?:TKN-1-[a-z0-9]{49,55}-[a-z0-9]{25}|KEY-1-[A-Za-z0-9+/]{40,50})"),
        right: word,
        entropy: 3.0,
        hit: &[
            "SWMTKN-", "1-jk05i", "5n3azkm", "et6xarb", "0kgzfnv", "k80zc0r", "qor92yh", "7slv0ct",
            "okz-1e2", "59bzcrr", "k61vmv1", "2un7qh5", "d",
        ],
        miss: &[
            "SWMTKN-", "1-avhy1", "rgjr1xt", "zy6yi2h", "kj50jtd", "m7h2a2t", "6xgx5l4", "1e706h9",
            "cik-nyt", "00jqk9v", "zdm2l89", "ur22636",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "k3s-token",
        about: "K3s server and agent tokens",
        keywords: &["K10"],
        follow: hex,
        pattern: Regex("K10[a-f0-9]{64}::[A-Za-z0-9:._-]{8,}"),
        entropy: 2.5,
        hit: &[
            "K1081ba", "4900d72", "ae1cc19", "1c60087", "0c61cc1", "58ee69f", "a50357b", "98eb3b3",
            "6c79b59", "3490::s", "erver:5", "af32f07", "b9e5f12", "c8b9db5", "ce91b25", "b86",
        ],
        miss: &[
            "K105ec4", "1b274b5", "32be244", "92ec9a3", "4d53165", "41182a8", "17ad13e", "5359f13",
            "b1c6e61", "5b3::se", "rver:58", "1683299", "d9b58ed", "e0b2e91", "a38a7e6", "75",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "portainer-token",
        about: "Portainer access tokens",
        keywords: &["ptr_"],
        pattern: Regex("ptr_[A-Za-z0-9+/]{43}="),
        right: base64,
        entropy: 3.5,
        hit: &["ptr_O3P", "4rbD/sR", "+q0o1Zw", "/zgaDFg", "H5/rzwN", "uhbL6fg", "L6UfV="],
        miss: &["ptr_0v3", "O+E/bZ/", "z6jleBt", "H/RlqSM", "/f1v4dO", "4bUX/Ze", "kO+J="],
        ..Rule::TOKEN
    },
    Rule {
        name: "tailscale-key",
        about: "Tailscale keys",
        keywords: &["tskey-"],
        pattern: Regex(
            "tskey-(?:(?:[a-z]{3,16}-)?[A-Za-z0-9]{10,20}-[A-Za-z0-9]{16,36}|[a-z]{3,16}-[A-Za-z0-9]{20,36})",
        ),
        right: token,
        check: |value| mixed(value) || cased(value),
        entropy: 3.0,
        hit: &["tskey-a", "uth-mWo", "ZGHNfQK", "0c-pFM2", "PiktzC5", "gBpIe"],
        miss: &["tskey-a", "uth-y92", "hyK6nLa", "zI-oERO", "kh8BENJ", "R5m0"],
        ..Rule::TOKEN
    },
    Rule {
        name: "zerotier-token",
        about: "ZeroTier API tokens beside the name",
        keywords: &["erotier", "zt_token", "zttoken"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["ZEROTIE", "R_TOKEN", "=gUOSvw", "PNgdLah", "UgKxNq3", "uhj3ETn", "FeeM7"],
        miss: &["ZEROTIE", "R_TOKEN", "=Wv91qI", "BpfHoaH", "XZLUlcJ", "7kp4RTu", "feJh"],
        ..Rule::NAMED
    },
    Rule {
        name: "netbird-token",
        about: "NetBird personal tokens",
        keywords: &["nbp_"],
        pattern: Regex("nbp_[A-Za-z0-9]{36}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["nbp_SUZ", "HtRAJZM", "zDQx8qD", "074iXeo", "w67C2Pn", "h2qwv"],
        miss: &["nbp_EZO", "L46ubq9", "pPBoT08", "VlgqjxD", "0GBbP7N", "buhK"],
        ..Rule::TOKEN
    },
    Rule {
        name: "ngrok-token",
        about: "ngrok tokens and API keys beside the name",
        keywords: &["ngrok"],
        pattern: Beside("(?:[A-Za-z0-9]{25,30}_[0-9][A-Za-z0-9]{18,24}|(?:cr|ak)_[A-Za-z0-9]{25,30})"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "ngrok c", "onfig a", "dd-auth", "token f", "D4ZcW5A", "hLRfcda", "Xs7Ca8Q", "0EH47_5",
            "V4RQpJP", "n2MJV4J", "vprpT3",
        ],
        miss: &[
            "ngrok c", "onfig a", "dd-auth", "token S", "c0ktFSD", "r1nbru1", "WQmjjmV", "A9S50_5",
            "580Bwg2", "JQVDYF9", "si",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "consul-token",
        about: "Consul ACL tokens beside the name",
        keywords: &["onsul"],
        pattern: Beside("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["CONSUL_", "HTTP_TO", "KEN=e35", "f0b58-6", "c5a-85b", "d-4262-", "4438240", "0e6ad"],
        miss: &["CONSUL_", "HTTP_TO", "KEN=3de", "cf0d2-2", "570-e5e", "d-e2dc-", "9214c6b", "52fd"],
        ..Rule::NAMED
    },
    Rule {
        name: "nomad-token",
        about: "Nomad ACL tokens beside the name",
        keywords: &["nomad_token", "nomad-token", "nomadtoken", "x-nomad"],
        pattern: Beside("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["NOMAD_T", "OKEN=b0", "16e688-", "350b-15", "41-0bdc", "-40bfcb", "77c76a"],
        miss: &["NOMAD_T", "OKEN=9b", "175e3b-", "0eba-27", "fe-2847", "-d4f5fd", "b744d"],
        ..Rule::NAMED
    },
    Rule {
        name: "teleport-token",
        about: "Teleport join tokens beside the name",
        keywords: &["teleport", "tsh_token", "tshtoken"],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["telepor", "t_join_", "token: ", "9b1435b", "8cfb8b7", "0202c67", "8c80105", "f61c"],
        miss: &["telepor", "t_join_", "token: ", "ba70772", "aff990f", "7aa3532", "aaf5e32", "3f7"],
        ..Rule::NAMED
    },
    Rule {
        name: "proxmox-token",
        about: "Proxmox API tokens",
        keywords: &["pveapitoken"],
        pattern: Regex(
            r"(?i)pveapitoken[=:][ ]?[^\s=!]{1,64}![^\s=]{1,64}[=:]([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        ),
        right: word,
        entropy: 2.5,
        hit: &["PVEAPIT", "oken=ro", "ot@pam!", "a=1cf37", "0ca-4e8", "5-0343-", "c6b8-d8", "098e544", "86e"],
        miss: &["PVEAPIT", "oken=ro", "ot@pam!", "a=4b118", "ae8-d19", "3-22bf-", "0550-7a", "aba0cf9", "91"],
        ..Rule::NAMED
    },
    Rule {
        name: "truenas-key",
        about: "TrueNAS API keys beside the name",
        keywords: &["ruenas", "reenas", "/api/v2.0"],
        pattern: Beside("[0-9]{1,3}-[A-Za-z0-9]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "TRUENAS", "_API_KE", "Y=1-rT6", "yHbRody", "qyyIjJc", "SVSv1WV", "nTEp8Bq", "MFv9FOI",
            "1bdN5vE", "baywmA5", "clwAGAi", "VgLsQ",
        ],
        miss: &[
            "TRUENAS", "_API_KE", "Y=1-PGV", "HQLIOlU", "kB0tWAP", "OciyDbD", "oASIdq4", "jKmQRFq",
            "dqdyxaS", "UbCftaj", "s14z289", "atxU",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "vmware-key",
        about: "VMware Cloud and vSphere refresh tokens beside the name",
        keywords: &["vmware", "vmc_token", "vcloud", "csp_api_token", "vmctoken", "cspapitoken"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "CSP_API", "_TOKEN=", "yyvdBJO", "tH2s94p", "VeXMjqJ", "02H9blQ", "vt2OrVS", "oa2Eq9y",
            "3TAV6ie", "wuqH4io", "C8vgKQ6", "q",
        ],
        miss: &[
            "CSP_API", "_TOKEN=", "tTAyUJp", "H0wAjMq", "fNt5xVv", "3YuzbDe", "In39x6z", "nNQyMZ4",
            "4t2YnYv", "ofyZpLa", "t91BmBd",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "spacelift-key",
        about: "Spacelift and env0 secrets beside the name",
        keywords: &["acelift_api_key_secret", "env0_api_secret", "aceliftapikeysecret", "env0apisecret"],
        pattern: Beside("[A-Za-z0-9_-]{16,80}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["ENV0_AP", "I_SECRE", "T=Rt1Co", "pqjQ-lK", "xj04"],
        miss: &["ENV0_AP", "I_SECRE", "T=UQX13", "7sjlnsF", "Ci7"],
        ..Rule::NAMED
    },
];
