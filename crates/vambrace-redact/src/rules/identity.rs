//! Who says who somebody is.

use super::structure::random;
use crate::check::mixed;
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "okta-token",
        about: "Okta API tokens beside the name",
        keywords: &["okta", "ssws"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("00[A-Za-z0-9_-]{40}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["OKTA_AP", "I_TOKEN", "=00e30-", "iwHhc38", "a-WXCIz", "hW_s6EP", "8UJc0ec", "KgjPRz2", "0"],
        miss: &["OKTA_AP", "I_TOKEN", "=005Oqj", "husevkQ", "37jbCGR", "KlF4fNF", "em0m--c", "zHNvEr5"],
        ..Rule::NAMED
    },
    Rule {
        name: "okta-client-secret",
        about: "Okta client secrets beside the name",
        keywords: &[
            "okta_client_secret",
            "oktaclientsecret",
            "okta_secret",
            "okta-client-secret",
            "oktasecret",
        ],
        pattern: Beside("[A-Za-z0-9_-]{40,64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["OKTA_CL", "IENT_SE", "CRET=x2", "FDbDJbU", "PTp9xqz", "kyzM_f3", "Jms4MPI", "jLi6KeI", "BRS"],
        miss: &["OKTA_CL", "IENT_SE", "CRET=Uc", "BDn4oe4", "1hONesa", "jBJC-gE", "f7IvCeA", "BMK1iWv", "_N"],
        ..Rule::NAMED
    },
    Rule {
        name: "auth0-secret",
        about: "Auth0 client secrets beside the name",
        keywords: &["auth0"],
        pattern: Beside("[A-Za-z0-9_-]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "AUTH0_C", "LIENT_S", "ECRET=5", "QWGQm_G", "Ejt72S5", "u-IO1fe", "Yt3eRak", "WhHhODI",
            "J-F6Qv_", "ZCFP9RX", "Dovf_LC", "KKXl8IX",
        ],
        miss: &[
            "AUTH0_C", "LIENT_S", "ECRET=q", "hDQBcKM", "Nl88Q6I", "dDoIeIv", "04yw-dw", "8mLPZy5",
            "pOiGtOG", "0QHUZ_6", "5rbhBqu", "AiYgvD",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "keycloak-secret",
        about: "Keycloak client secrets beside the name",
        keywords: &["keycloak"],
        pattern: Beside("(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9]{32})"),
        right: token,
        check: random,
        entropy: 2.8,
        hit: &["KEYCLOA", "K_CLIEN", "T_SECRE", "T=8iWQM", "2G7cPRk", "vYvN7s3", "koNAfkH", "4aG2uO"],
        miss: &["KEYCLOA", "K_CLIEN", "T_SECRE", "T=tRdQ3", "ulNJ82g", "8v3XCif", "7l2hcPl", "NVTG4"],
        ..Rule::NAMED
    },
    Rule {
        name: "onelogin-secret",
        about: "OneLogin client secrets beside the name",
        keywords: &["onelogin", "one_login"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "ONELOGI", "N_CLIEN", "T_SECRE", "T=38cbf", "c50c8ca", "a047680", "b350a55", "f1a7016",
            "e585144", "61871a9", "a420382", "01af259", "987",
        ],
        miss: &[
            "ONELOGI", "N_CLIEN", "T_SECRE", "T=cd2d6", "9bb1f91", "27b998f", "0b09711", "110d081",
            "db0506c", "34a77de", "6b978f1", "8744187", "7f",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "jumpcloud-key",
        about: "JumpCloud API keys",
        keywords: &["jca_"],
        pattern: Regex("jca_[A-Za-z0-9]{36}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["jca_u5X", "zw6eVr5", "dSRAu1K", "ETDfWmw", "myjnU6j", "5QxhA"],
        miss: &["jca_OTt", "D6FzHWo", "DcFNW2p", "evKuGqL", "jqKXH5G", "JZOK"],
        ..Rule::TOKEN
    },
    Rule {
        name: "jumpcloud-legacy-key",
        about: "JumpCloud API keys of the old form beside the name",
        keywords: &["jumpcloud"],
        pattern: Beside("[a-f0-9]{40}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["JUMPCLO", "UD_API_", "KEY=399", "1461cb2", "1d4c6e7", "d7f9e69", "30b70a1", "da2e296", "16"],
        miss: &["JUMPCLO", "UD_API_", "KEY=0b7", "141a968", "e73671a", "dfe9a8d", "d104bdd", "124435f", "4"],
        ..Rule::NAMED
    },
    Rule {
        name: "duo-secret",
        about: "Duo secret keys beside the name",
        keywords: &["duo_", "duo-", "duosec", "duoskey", "duointegration", "skey"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("[A-Za-z0-9]{40}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["DUO_SKE", "Y=MW8hf", "O6hxHpp", "XeIlFWv", "IvTt2qC", "Zioeivd", "bti0PHK"],
        miss: &["DUO_SKE", "Y=zAYw6", "4n8TnPY", "6tQGjgu", "dQkcvzy", "FrJfUiw", "siZSeo"],
        ..Rule::NAMED
    },
    Rule {
        name: "stytch-secret",
        about: "Stytch secrets",
        keywords: &["secret-live-", "secret-test-"],
        pattern: Regex("secret-(?:live|test)-[A-Za-z0-9_-]{35}=?"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["secret-", "live-k_", "Se9eA2e", "HYkwNux", "nQgYlAQ", "OeRlQ66", "RmqdM"],
        miss: &["secret-", "live-9e", "hl1UhGg", "7liaHbU", "yG-MdNB", "YmQiSPU", "VsSb"],
        ..Rule::TOKEN
    },
    Rule {
        name: "ory-token",
        about: "Ory API keys, access and session tokens",
        keywords: &["ory_pat_", "ory_at_", "ory_rt_", "ory_ac_", "ory_st_", "ory_wak_"],
        pattern: Regex("ory_(?:pat|at|rt|ac|st|wak)_[A-Za-z0-9_.-]{32,}"),
        entropy: 3.3,
        hit: &["ory_pat", "_062536", "3tUjM9O", "dbjSzla", "BVq4ZZV", "lbdyf"],
        miss: &["ory_pat", "_Wl7wqE", "7mGiycn", "BI6dnzH", "vTQItst", "u3BE"],
        ..Rule::TOKEN
    },
    Rule {
        name: "descope-key",
        about: "Descope management keys beside the name",
        keywords: &["escope"],
        pattern: Beside("K2[A-Za-z0-9]{40,}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "DESCOPE", "_MANAGE", "MENT_KE", "Y=K2Nfc", "OrxuE2D", "kMTELOI", "yo1TVQi", "QTOyHzu",
            "eUD4ATu", "1X",
        ],
        miss: &[
            "DESCOPE", "_MANAGE", "MENT_KE", "Y=K2Y8Z", "BXgKk7U", "IiOCXjx", "PzuY6Ef", "V6JGMtR",
            "ew1Vum3", "G",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "fusionauth-key",
        about: "FusionAuth API keys beside the name",
        keywords: &["fusionauth", "fusion_auth"],
        pattern: Beside("[A-Za-z0-9_-]{43,80}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "FUSIONA", "UTH_API", "_KEY=KZ", "aI4mAQN", "I_EnN6g", "EOBh2l9", "SfZP_jt", "3LKFc4b", "Dq3zUd",
        ],
        miss: &[
            "FUSIONA", "UTH_API", "_KEY=qe", "yPwdtlI", "PJ2I_RB", "HcKZKiH", "YYabMcs", "69HcnE1", "nNk2s",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "authentik-token",
        about: "authentik tokens beside the name",
        keywords: &["authentik"],
        pattern: Beside("[A-Za-z0-9]{50,128}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "AUTHENT", "IK_TOKE", "N=J5pAC", "JdvBVQ6", "QYpenXC", "eu6sYsM", "93EXSbY", "71SHEio",
            "gxDalwt", "aTZ",
        ],
        miss: &[
            "AUTHENT", "IK_TOKE", "N=buVvl", "gLUHMIH", "iHOCC6v", "nnD9CNU", "2PzlzsZ", "Cs5NvEY",
            "HJS69pg", "BQ",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "frontegg-key",
        about: "Frontegg secrets beside the name",
        keywords: &["frontegg"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["FRONTEG", "G_API_K", "EY=e589", "3656-2e", "d0-bde3", "-7757-9", "e374a97", "f504"],
        miss: &["FRONTEG", "G_API_K", "EY=eb46", "a288-00", "f3-2ed5", "-b3a1-c", "f245712", "d85"],
        ..Rule::NAMED
    },
    Rule {
        name: "workos-key",
        about: "WorkOS keys beside the name",
        keywords: &["orkos"],
        pattern: Beside("sk_(?:live_|test_)?[A-Za-z0-9]{24,}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["WORKOS_", "API_KEY", "=sk_LvP", "HUkUWCl", "9S3qSrN", "OFY8mof"],
        miss: &["WORKOS_", "API_KEY", "=sk_5pC", "T1U0JuC", "VgTjU31", "GAFcwA"],
        ..Rule::NAMED
    },
    Rule {
        name: "kinde-secret",
        about: "Kinde and Logto secrets beside the name",
        keywords: &[
            "nde_client_secret",
            "logto_app_secret",
            "zitadel_client_secret",
            "ertokens_api_key",
            "ndeclientsecret",
            "logtoappsecret",
            "zitadelclientsecret",
            "ertokensapikey",
        ],
        pattern: Beside("[A-Za-z0-9_-]{32,80}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["KINDE_C", "LIENT_S", "ECRET=x", "tXd4JJp", "29Y7PD3", "A33OCtm", "K3JLtV4", "uEL"],
        miss: &["KINDE_C", "LIENT_S", "ECRET=m", "EsSzLYS", "uC2VbXr", "ohIYEU7", "5gQPtQB", "tp"],
        ..Rule::NAMED
    },
];
