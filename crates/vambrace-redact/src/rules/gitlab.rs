//! GitLab, which has a prefix for each of its kinds of token.

use super::structure::random;
use crate::check::jumbled;
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "gitlab-token",
        about: "GitLab personal access tokens",
        keywords: &["glpat-"],
        pattern: Regex(r"glpat-(?:[A-Za-z0-9_-]{27,300}\.(?:[0-9a-z]{2}\.)?[0-9a-z]{9}|[A-Za-z0-9_-]{20})"),
        right: token,
        entropy: 3.0,
        hit: &["glpat-0", "WwIQ_gO", "0uVATz8", "9B1Ba"],
        miss: &["glpat-E", "x4NJMW-", "rDkF21O", "YdGP"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-deploy-token",
        about: "GitLab deploy tokens",
        keywords: &["gldt-"],
        pattern: Regex("gldt-[A-Za-z0-9_-]{20}"),
        right: token,
        entropy: 3.0,
        hit: &["gldt-YA", "Hm0mfiI", "Kar2Qm4", "ZWGY"],
        miss: &["gldt-bP", "y02n6-L", "OlSV8qU", "Zch"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-runner-token",
        about: "GitLab runner authentication tokens",
        keywords: &["glrt-", "glrtr-"],
        pattern: Regex(
            r"glrtr?-(?:t[0-9]_)?(?:[A-Za-z0-9_-]{27,300}\.(?:[0-9a-z]{2}\.)?[0-9a-z]{9}|[A-Za-z0-9_-]{20})",
        ),
        right: token,
        entropy: 3.0,
        hit: &["glrt-pr", "NSREmr7", "k4AQTRm", "1DYu"],
        miss: &["glrt-ZX", "H-b-iga", "h53u4Ua", "y12"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-trigger-token",
        about: "GitLab pipeline trigger tokens",
        keywords: &["glptt-"],
        pattern: Regex("glptt-(?:[A-Fa-f0-9]{40}|[A-Za-z0-9_-]{20})"),
        right: token,
        entropy: 2.5,
        hit: &["glptt-c", "7965780", "7cee0c8", "0b7b5a0", "aa9dce4", "0833606", "8771"],
        miss: &["glptt-3", "c50a910", "65f082e", "170be19", "8a8be61", "a910234", "f8f"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-job-token",
        about: "GitLab job tokens",
        keywords: &["glcbt-"],
        pattern: Regex("glcbt-(?:[A-Za-z0-9]{1,5}_)?[A-Za-z0-9_-]{20}"),
        right: token,
        entropy: 3.0,
        hit: &["glcbt-4", "_vuM61h", "hXii_-B", "u9dDz7g"],
        miss: &["glcbt-4", "_sJp1B8", "Ka4tsR2", "PnO1"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-feed-token",
        about: "GitLab feed tokens",
        keywords: &["glft-"],
        pattern: Regex("glft-(?:[A-Za-z0-9_-]{20}|[a-f0-9]{64}-[0-9]{1,12})"),
        right: token,
        entropy: 3.0,
        hit: &["glft-rO", "3zSDtSJ", "Nx9oOnB", "V8iP"],
        miss: &["glft-cM", "50XP3X3", "AC81c8V", "dAQ"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-scim-token",
        about: "GitLab SCIM tokens",
        keywords: &["glsoat-"],
        pattern: Regex("glsoat-[A-Za-z0-9_-]{20}"),
        right: token,
        entropy: 3.0,
        hit: &["glsoat-", "x85Ou_H", "KZN44P-", "pMe75x"],
        miss: &["glsoat-", "2ht0aeW", "7VYkXm5", "3jkzv"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-agent-token",
        about: "GitLab agent tokens for Kubernetes",
        keywords: &["glagent-"],
        pattern: Regex("glagent-[A-Za-z0-9_-]{50}"),
        right: token,
        entropy: 3.0,
        hit: &["glagent", "-wboqHw", "kWkntbv", "iUqvOtr", "In0Imsc", "M2LD7O8", "FW0z9oP", "ZpQUKEq", "HF"],
        miss: &["glagent", "-Jzhi5a", "nRMraaX", "PF8HIRN", "9hqwwH6", "wXM0So5", "cJUlgHa", "H-KDyFx", "J"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-mail-token",
        about: "GitLab incoming mail tokens",
        keywords: &["glimt-"],
        pattern: Regex("glimt-[A-Za-z0-9_-]{25}"),
        right: token,
        entropy: 3.0,
        hit: &["glimt-c", "pFfbAq5", "7HRnjqo", "MVR1ON-", "ama"],
        miss: &["glimt-8", "eGUrXyy", "pVlIi3p", "5-IawuP", "_W"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-oauth-secret",
        about: "GitLab OAuth application secrets",
        keywords: &["gloas-"],
        pattern: Regex("gloas-[A-Za-z0-9_-]{64}"),
        right: token,
        entropy: 3.0,
        hit: &[
            "gloas-p", "4NhsNR5", "GSqmWK7", "XFE7OGt", "FJ5OGLQ", "YeXOQRS", "Jkjq9jg", "K0-r3Ki",
            "MgPxNS0", "RxyxkMk",
        ],
        miss: &[
            "gloas-c", "4i-rQIw", "75VYsqp", "Jp7qUIh", "AsAEaoR", "pi4goqk", "lnUi4fY", "ZDje-XV",
            "4K5zA0n", "esFw7g",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-feature-flag-token",
        about: "GitLab feature flag client tokens",
        keywords: &["glffct-"],
        pattern: Regex("glffct-[A-Za-z0-9_-]{20}"),
        right: token,
        entropy: 3.0,
        hit: &["glffct-", "qjUiKXZ", "222sgNq", "eVBud7"],
        miss: &["glffct-", "O769OXC", "f-0dQRW", "FCg1e"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-session",
        about: "GitLab session cookies",
        keywords: &["_gitlab_session="],
        pattern: Regex("_gitlab_session=([a-f0-9]{32})"),
        right: word,
        entropy: 2.5,
        hit: &["Cookie:", " _gitla", "b_sessi", "on=ca39", "4b81d62", "5467bf6", "4ee7e4c", "a0182f0"],
        miss: &["Cookie:", " _gitla", "b_sessi", "on=f105", "56871da", "084ef04", "db5979b", "7b01c7"],
        ..Rule::NAMED
    },
    Rule {
        name: "gitlab-runner-registration",
        about: "GitLab runner registration tokens",
        keywords: &["GR1348941"],
        pattern: Regex("GR1348941([A-Za-z0-9_-]{20})"),
        right: token,
        entropy: 2.5,
        hit: &["GR13489", "41IGdoW", "k0S6B26", "y2jOEvP", "L"],
        miss: &["GR13489", "41hGezK", "Cj2Cks3", "hi8QUFj"],
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-legacy-token",
        about: "GitLab tokens of the old form beside the name",
        keywords: &[
            "gitlab_token",
            "gitlab-token",
            "gitlabtoken",
            "gitlab_api",
            "gitlab_private",
            "gitlab_access",
            "gitlab_pat",
            "gitlab_key",
            "private-token",
            "gitlabapi",
            "gitlabprivate",
            "gitlabaccess",
            "gitlabpat",
            "gitlabkey",
        ],
        pattern: Beside("[A-Za-z0-9_-]{20}"),
        right: token,
        check: |value| random(value) && jumbled(value),
        entropy: 3.3,
        hit: &["GITLAB_", "TOKEN=N", "dyUt7yZ", "0vR2PFM", "lS_tw"],
        miss: &["GITLAB_", "TOKEN=L", "nucAuTB", "_f3j51v", "QDMv"],
        ..Rule::NAMED
    },
];
