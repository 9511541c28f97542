//! Where code is kept, built and published.

use crate::check::{mixed, not_dummy, varied};
use crate::rule::{Pattern::Regex, Rule, token};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "github-token",
        about: "GitHub personal, OAuth, app, installation and refresh tokens",
        keywords: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        pattern: Regex("gh[pousr]_([A-Za-z0-9_]{36,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "github-fine-grained-token",
        about: "GitHub fine-grained personal tokens",
        keywords: &["github_pat_"],
        pattern: Regex("github_pat_([A-Za-z0-9_]{36,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-token",
        about: "GitLab personal, deploy, runner, trigger, feed and other tokens",
        keywords: &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "glagent-", "glimt-",
            "gloas-", "glffct-",
        ],
        pattern: Regex(r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|oas|ffct)-([A-Za-z0-9_=.-]{20,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "gitlab-runner-registration",
        about: "GitLab runner registration tokens",
        keywords: &["GR1348941"],
        pattern: Regex("GR1348941([A-Za-z0-9_-]{20})"),
        right: token,
        ..Rule::TOKEN
    },
    Rule {
        name: "bitbucket-token",
        about: "Bitbucket app passwords and repository tokens",
        keywords: &["ATBB", "ATCTT3"],
        pattern: Regex("(?:ATBB[A-Za-z0-9]{24,}|ATCTT3[A-Za-z0-9_=-]{100,})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "npm-token",
        about: "npm access tokens",
        keywords: &["npm_"],
        pattern: Regex("npm_([A-Za-z0-9]{36})"),
        right: token,
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "npmrc-auth",
        about: "credentials in .npmrc",
        keywords: &["_authtoken", "_password", "_auth"],
        pattern: Regex(
            r#"(?i)_(?:authToken|auth|password)["']?[ \t]{0,4}[=:][ \t]{0,4}["']?([A-Za-z0-9+/_=.-]{12,})"#,
        ),
        check: mixed,
        ..Rule::NAMED
    },
    Rule {
        name: "pypi-token",
        about: "PyPI upload tokens",
        keywords: &["pypi-AgE"],
        pattern: Regex("pypi-AgE([A-Za-z0-9_-]{50,})"),
        reach: 2100,
        ..Rule::TOKEN
    },
    Rule {
        name: "rubygems-token",
        about: "RubyGems API keys",
        keywords: &["rubygems_"],
        pattern: Regex("rubygems_([a-f0-9]{48})"),
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
        ..Rule::TOKEN
    },
    Rule {
        name: "clojars-token",
        about: "Clojars deploy tokens",
        keywords: &["CLOJARS_"],
        pattern: Regex("CLOJARS_([a-f0-9]{60})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "nuget-password",
        about: "passwords in NuGet configuration",
        keywords: &["cleartextpassword"],
        pattern: Regex(r#"(?i)ClearTextPassword["'][ \t]{1,4}value[ \t]{0,4}=[ \t]{0,4}"([^"\n]{8,})""#),
        ..Rule::NAMED
    },
    Rule {
        name: "docker-auth",
        about: "registry credentials in Docker configuration",
        keywords: &["\"auth\""],
        pattern: Regex(r#""auth"[ \t]{0,8}:[ \t]{0,8}"([A-Za-z0-9+/]{12,}={0,2})""#),
        check: crate::check::encoded_pair,
        ..Rule::NAMED
    },
    Rule {
        name: "docker-token",
        about: "Docker Hub access tokens",
        keywords: &["dckr_pat_", "dckr_oat_"],
        pattern: Regex("dckr_[po]at_([A-Za-z0-9_-]{24,64})"),
        ..Rule::TOKEN
    },
    Rule {
        name: "sourcegraph-token",
        about: "Sourcegraph access tokens",
        keywords: &["sgp_"],
        pattern: Regex("sgp_((?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40})"),
        right: token,
        ..Rule::TOKEN
    },
    Rule {
        name: "sonar-token",
        about: "SonarQube tokens",
        keywords: &["squ_", "sqp_", "sqa_"],
        pattern: Regex("sq[upa]_([A-Za-z0-9]{40})"),
        right: token,
        ..Rule::TOKEN
    },
    Rule {
        name: "jfrog-token",
        about: "Artifactory API keys and reference tokens",
        keywords: &["AKCp", "cmVmdGtuO"],
        pattern: Regex("(?:AKCp[A-Za-z0-9]{69}|cmVmdGtuO[A-Za-z0-9]{50,60})"),
        check: mixed,
        ..Rule::TOKEN
    },
    Rule {
        name: "bundler-credential",
        about: "credentials for paid gem servers",
        keywords: &["__contribsys__com"],
        pattern: Regex(r#"(?i)__contribsys__com["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([a-f0-9]{8}:[a-f0-9]{8})"#),
        ..Rule::NAMED
    },
    Rule {
        name: "terraform-token",
        about: "Terraform Cloud tokens",
        keywords: &[".atlasv1."],
        lead: crate::rule::Lead::Exactly(14),
        pattern: Regex(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}"),
        check: not_dummy,
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
        ..Rule::TOKEN
    },
    Rule {
        name: "postman-key",
        about: "Postman API keys",
        keywords: &["PMAK-"],
        pattern: Regex("PMAK-([a-fA-F0-9]{24}-[a-fA-F0-9]{34})"),
        check: varied,
        ..Rule::TOKEN
    },
];
