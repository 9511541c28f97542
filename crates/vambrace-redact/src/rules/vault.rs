//! What keeps secrets.

use super::structure::random;
use crate::check::mixed;
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "doppler-token",
        about: "Doppler tokens",
        keywords: &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        pattern: Regex(r"dp\.(?:pt|st|ct|sa|scim|audit)\.([A-Za-z0-9._-]{40,64})"),
        check: mixed,
        entropy: 3.0,
        hit: &["dp.pt.Y", "rWCvxMy", "FHC2lbB", "u3NENLe", "38lTU3j", "tacDexa", "jis8XdE"],
        miss: &["dp.pt.o", "dKPI4DK", "Mx"],
        ..Rule::TOKEN
    },
    Rule {
        name: "vault-token",
        about: "HashiCorp Vault tokens",
        keywords: &["hvs.", "hvb.", "hvr."],
        pattern: Regex(r"hv[sbr]\.([A-Za-z0-9_-]{24,})"),
        entropy: 3.0,
        hit: &[
            "hvs.gao", "2cw6HV1", "XkPqbEm", "ZcKpCLA", "cTZQUmd", "sc2coPy", "vKoKSoA", "0g_4QzN",
            "ai54sn9", "ajtmbGD", "6s9Zmem", "gBpcWXK", "6NSahiO", "6AX",
        ],
        miss: &[
            "hvs.xxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx",
            "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxx",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "vault-legacy-token",
        about: "HashiCorp Vault tokens of older servers, beside the name",
        keywords: &["token: s.", "token=s.", "token: \"s.", "token\": \"s.", "token=\"s.", "token = \"s."],
        pattern: Regex(r#"(?i)token["]?[ ]?[:=][ ]?["]?(?-i:(s\.[A-Za-z0-9]{24}))"#),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &["token: ", "s.aB3dE", "5fG7hJ9", "kL1mN2p", "Q4rS6"],
        miss: &["token: ", "s.abcde", "fghijkl", "mnopqrs", "tuvwx"],
        ..Rule::NAMED
    },
    Rule {
        name: "vault-unseal-key",
        about: "unseal and recovery keys of Vault",
        keywords: &["unseal key", "unseal_key", "unsealkey", "operator unseal", "ecovery key"],
        pattern: Beside("[A-Za-z0-9+/]{43,44}=?"),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &["Unseal ", "Key 1: ", "8DWoBmo", "x8y2czJ", "jf3dGYR", "oB44y6H", "5L4KNUo", "O2gKIHl", "N"],
        miss: &["Unseal ", "Key 1: ", "YiUY1hP", "QBVoAUU", "t/Wbd1/", "va/xVqv", "v+ab1p4", "snbvu4C"],
        ..Rule::NAMED
    },
    Rule {
        name: "vault-approle-secret",
        about: "secret ids of Vault roles beside the name",
        keywords: &["secret_id", "secret-id", "secretid", "x-vault-token", "vault_token", "vaulttoken"],
        pattern: Beside("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["VAULT_S", "ECRET_I", "D=9583b", "ad4-c00", "2-49b0-", "20e7-65", "7bb9913", "68c"],
        miss: &["VAULT_S", "ECRET_I", "D=c0205", "909-c85", "a-b481-", "5881-90", "0593449", "3c"],
        ..Rule::NAMED
    },
    Rule {
        name: "age-secret-key",
        about: "age identities",
        keywords: &["AGE-SECRET-KEY-1"],
        pattern: Regex("AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
        check: |_| true,
        hit: &[
            "AGE-SEC", "RET-KEY", "-1W3Z3P", "5UC2DAR", "KHSG5S9", "LWGF2H0", "MECPQWT", "MWUGQW8",
            "ZE4DA9W", "KDK97AZ", "E4EH",
        ],
        miss: &[
            "AGE-SEC", "RET-KEY", "-1BBBBB", "BBBBBBB", "BBBBBBB", "BBBBBBB", "BBBBBBB", "BBBBBBB",
            "BBBBBBB", "BBBBBBB", "BBBB",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "age-plugin-identity",
        about: "age plugin identities",
        keywords: &["AGE-PLUGIN-"],
        pattern: Regex("AGE-PLUGIN-[A-Z0-9]{2,24}-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{16,}"),
        entropy: 3.0,
        hit: &["AGE-PLU", "GIN-YUB", "IKEY-1C", "CC7H8AY", "32P0ZHJ", "8"],
        miss: &["AGE-PLU", "GIN-YUB", "IKEY-1T", "FTJX6C2", "2X3VFNT"],
        ..Rule::TOKEN
    },
    Rule {
        name: "onepassword-service-token",
        about: "1Password service account tokens",
        keywords: &["ops_eyJ"],
        reach: 4096,
        pattern: Regex("ops_(eyJ[A-Za-z0-9+/=_-]{200,})"),
        entropy: 4.0,
        hit: &[
            "ops_eyJ", "cyniVxn", "I73Z0t9", "G5nTZWz", "1KRpS38", "QR68Agh", "cKmBSFm", "MadG9wF",
            "ioRgsS9", "ovnVwdH", "Sp6ONYJ", "qE3sKmX", "Q2d4qyp", "5E5VBvl", "qGrDUZW", "dOq4ipu",
            "fTh42eV", "cBWX9aJ", "DnEJUKL", "0fzlmEb", "SYB7kVS", "AXo9uPW", "Yci03IV", "pN1gX9P",
            "PnMRbNJ", "oOBkXeV", "xCWeiv2", "5B4DCZm", "MxK46vm", "OMxr",
        ],
        miss: &[
            "ops_eyJ", "Y5ikpl3", "HLiYIEM", "qXKGXVX", "kVLusHC", "koMeETj", "bdRR3V5", "z9IYApy",
            "ALQubjR", "dlqwmso", "CLzIX97", "0unJRXE", "Dog8w07", "f9Coy9g", "A4TWFV3", "PVuDCjt",
            "S4XyHiU", "LKivDUt", "fzjEuH1", "FNU8SNt", "PzMxKFe", "eIi13pP", "SQ12ntM", "dT6O8dO",
            "hi5gpwq", "kqjaaRg", "1Js1hhD", "EGqQqoG", "jsvp0t5", "YpH",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "onepassword-secret-key",
        about: "1Password secret keys",
        keywords: &["A3-"],
        follow: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        pattern: Regex(
            "A3-([A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
        ),
        right: token,
        entropy: 3.0,
        hit: &["A3-714A", "XU-9YD4", "MK19Q94", "-1R42H-", "POFB5-5", "QDRA"],
        miss: &["A3-L9EY", "OT-C5NX", "SYRQ3XI", "-YTPF6-", "8B0QD-R", "LK3"],
        ..Rule::TOKEN
    },
    Rule {
        name: "bitwarden-token",
        about: "Bitwarden secrets manager tokens beside the name",
        keywords: &["bitwarden", "bws_", "bwsaccess"],
        pattern: Beside(
            r"0\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==",
        ),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "BWS_ACC", "ESS_TOK", "EN=0.31", "698e95-", "3219-8b", "38-13b0", "-ed900e", "688eb7.",
            "QK0pFAc", "NVsxYDe", "p5UChEr", "1ayP1vg", "4Z:KB5L", "W9LqoWp", "KvHqA/q", "8i83==",
        ],
        miss: &[
            "BWS_ACC", "ESS_TOK", "EN=0.2f", "7a3e66-", "b021-3c", "8d-2d98", "-a88d35", "925b45.",
            "elDimYT", "adSbgOK", "m2oUeu6", "tE0Th1Y", "Qy:dszA", "mIiZ2iP", "i+m6KE4", "k0b==",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "bitwarden-client-secret",
        about: "Bitwarden API client secrets beside the name",
        keywords: &["bw_clientsecret", "apikeyclientsecret", "bitwarden", "bwclientsecret"],
        pattern: Beside("[A-Za-z0-9]{30,50}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["BW_CLIE", "NTSECRE", "T=LMobr", "Jwm7oEC", "b2FSQcQ", "bJTgwGb", "cLz5"],
        miss: &["BW_CLIE", "NTSECRE", "T=O0k1h", "DNdXiXI", "UVul3k4", "fO8d9S8", "rHt"],
        ..Rule::NAMED
    },
    Rule {
        name: "infisical-token",
        about: "Infisical service tokens beside the name",
        keywords: &["infisical"],
        pattern: Beside(r"st\.[A-Za-z0-9_-]{3,48}\.[A-Za-z0-9_-]{3,48}\.[a-f0-9]{8,64}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &[
            "INFISIC", "AL_TOKE", "N=st.d9", "c330485", "711bc1d", "d631089", "6.16507", "803bbe2",
            "624a042", "8ab4c61", "010215.", "04073db", "90a825f", "e99f9eb", "dc76cc0", "d8c4",
        ],
        miss: &[
            "INFISIC", "AL_TOKE", "N=st.e3", "e4583b1", "c961d0c", "a2740dd", "1.662c7", "88202a3",
            "26b6699", "547fe11", "37c041.", "9b4f7b1",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "infisical-client-secret",
        about: "Infisical client secrets beside the name",
        keywords: &["infisical"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "INFISIC", "AL_CLIE", "NT_SECR", "ET=6d1b", "9fcebe0", "55fd062", "ebc7d8b", "2e4aa9b",
            "413f5fb", "c950676", "d3ac04f", "472dc4f", "5e01",
        ],
        miss: &[
            "INFISIC", "AL_CLIE", "NT_SECR", "ET=32f3", "c23ba2a", "9410b3c", "aff25f6", "9d7080c",
            "22b7062", "246cdbf", "2788a58", "680d69f", "d25",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "akeyless-key",
        about: "Akeyless access keys beside the name",
        keywords: &["akeyless"],
        pattern: Beside("[A-Za-z0-9+/]{43}="),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "AKEYLES", "S_ACCES", "S_KEY=B", "H8hHol6", "m79+Ljt", "nXjy+ZO", "tfdOm22", "KVT4MHa",
            "uw9XZVc", "=",
        ],
        miss: &[
            "AKEYLES", "S_ACCES", "S_KEY=o", "uOeFwe3", "GivLhXD", "npmoNdB", "bfB4QPj", "lLEa+hE", "k6qbKZ=",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "keeper-token",
        about: "one-time tokens of Keeper secrets manager",
        keywords: &["ksm_token", "keeper", "ksm profile", "ksmtoken"],
        pattern: Beside("(?:[A-Z]{2}:)?[A-Za-z0-9_-]{43}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["KSM_TOK", "EN=US:R", "dh6mPZG", "hIYGlgo", "VpAWP_c", "aqLoD6n", "D-Z95Ei", "swQrVix"],
        miss: &["KSM_TOK", "EN=US:t", "_IinoY_", "3Qe9I94", "WCeQZTZ", "-MRtJJ8", "TwURFVx", "JVrQIV"],
        ..Rule::NAMED
    },
    Rule {
        name: "hcp-secret",
        about: "HashiCorp Cloud client secrets beside the name",
        keywords: &["hcp_client_secret", "hcp_secret", "hcpclientsecret", "hcpsecret"],
        pattern: Beside("[A-Za-z0-9_-]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "HCP_CLI", "ENT_SEC", "RET=2Fo", "2RqDan6", "SsjoWTX", "VG91H2j", "7EwExj1", "GXHrssI",
            "GnaPQCV", "t4B8szu", "Av1O2Q_", "qFiKx",
        ],
        miss: &[
            "HCP_CLI", "ENT_SEC", "RET=3nh", "4WLYpJf", "cqJw3dm", "w5aSlEn", "Fy5537i", "oS9m_wi",
            "T6EJp6F", "Dj-i_ul", "POh69C3", "WiWL",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "phase-token",
        about: "Phase tokens",
        keywords: &["pss_user:", "pss_service:"],
        pattern: Regex("pss_(?:user|service):v[0-9]:[a-f0-9]{64}(?::[a-f0-9]{64}){0,3}"),
        entropy: 2.5,
        hit: &[
            "pss_use", "r:v1:2d", "43d5991", "b2dc4e4", "09d715d", "d7933d2", "147d94f", "076c5c8",
            "d5e493a", "0d86c9d", "ae3fc5",
        ],
        miss: &[
            "pss_use", "r:v1:39", "6769c2f", "4ee4b80", "879b64e", "0a198ae", "eeb92b9", "109e121",
            "f29f32e", "5b2e407", "25df1",
        ],
        ..Rule::TOKEN
    },
];
