//! Names of variables that are withheld. Rows of data; the reason stands above each group.

/// Names that never reach a program, whoever asks for them: they make a loader, an interpreter, a shell, git or a build
/// tool run something else, send traffic elsewhere, or lead to a running agent or desktop of the person.
///
/// THREAT: P07, a variable that turns an allowed program into another one.
pub(crate) fn is_stripped(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let upper = upper.as_str();
    STRIPPED_NAMES.contains(&upper)
        || STRIPPED_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        || upper.ends_with("_PROXY")
}

/// Keys of the person, which the environment that we were started with may hold. A secret that a tool shall have is
/// named in its declaration; none is passed on by accident.
pub(super) fn is_credential(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    CREDENTIAL_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        || CREDENTIAL_SUFFIXES.iter().any(|suffix| upper.ends_with(suffix))
}

/// Whether it is read as a key and as nothing else, whichever program's name it begins with: `CARGO_REGISTRY_TOKEN`.
pub(super) fn holds_credential(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    PROGRAMS_KEYS.iter().any(|prefix| upper.starts_with(prefix))
        && ["_TOKEN", "_PASSWORD"].iter().any(|suffix| upper.ends_with(suffix))
}

const PROGRAMS_KEYS: &[&str] = &["CARGO_", "GIT_", "NODE_", "NPM_CONFIG_", "PIP_", "UV_", "POETRY_"];

const CREDENTIAL_PREFIXES: &[&str] = &[
    "AWS_",
    "AZURE_",
    "ARM_",
    "GOOGLE_",
    "GCP_",
    "CLOUDSDK_",
    "KUBE",
    "DOCKER_",
    "VAULT_",
    "TF_",
    "OPENAI_",
    "ANTHROPIC_",
    "GITHUB_",
    "GITLAB_",
    "HF_",
];

const CREDENTIAL_SUFFIXES: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "_PAT", "_PWD", "_DSN"];

const STRIPPED_PREFIXES: &[&str] = &[
    // Loaders and the C library.
    "LD_",
    "DYLD_",
    "MALLOC_",
    "GLIBC_",
    "GCONV_", // Interpreters.
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "LUA_",
    "JAVA_",
    "_JAVA_",
    "JDK_",
    "PHP",
    "TCL",
    "R_",
    "DENO_",
    "BUN_",
    // Shells: exported functions and their marks.
    "BASH_",
    "ZDOTDIR", // Version control, build tools, package managers.
    "GIT_",
    "CARGO_",
    "RUSTC",
    "RUSTDOC",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "POETRY_",
    "MAVEN_",
    "GRADLE_",
    "HG",
    // Agents and desktops of the person.
    "SSH_",
    "GPG_",
    "DBUS_",
    "WAYLAND_",
    "XDG_",
    "TMUX",
    "VSCODE_",
    "CLAUDE",
    "CODEX_",
    "VAMBRACE_",
];

const STRIPPED_NAMES: &[&str] = &[
    "ENV",
    "IFS",
    "CDPATH",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "HISTFILE",
    "FPATH",
    "INPUTRC",
    "LOCPATH",
    "NLSPATH",
    "RESOLV_HOST_CONF",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "TERMINFO",
    "TERMCAP",
    "TERMINFO_DIRS",
    "CLASSPATH",
    "ERL_FLAGS",
    "GOFLAGS",
    "GOPROXY",
    "GOENV",
    "GOPRIVATE",
    "RUSTFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "MAKEFILES",
    "MAKE",
    "CC",
    "CXX",
    "LINKER",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "JQ_LIBRARY_PATH",
    "TAR_OPTIONS",
    "GZIP",
    "RSYNC_RSH",
    "DISPLAY",
    "XAUTHORITY",
    "NETRC",
    "CURL_HOME",
    "WGETRC",
    "SUDO_ASKPASS",
    "PGPASSFILE",
    "PGPASSWORD",
    "MYSQL_PWD",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "SSLKEYLOGFILE",
    "AWKPATH",
    "AWKLIBPATH",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_never_reach_a_program() {
        #[track_caller]
        fn check(name: &str, stripped: bool) {
            assert_eq!(is_stripped(name), stripped, "{name}");
        }
        for name in [
            "LD_PRELOAD",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "https_proxy",
            "ALL_PROXY",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_ls%%",
            "SHELLOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "IFS",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "GCONV_PATH",
            "GLIBC_TUNABLES",
            "RUSTC_WRAPPER",
            "CARGO_BUILD_RUSTC",
            "MAKEFLAGS",
            "SSH_AUTH_SOCK",
            "XDG_RUNTIME_DIR",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "LESSOPEN",
            "npm_config_script_shell",
        ] {
            check(name, true);
        }
        for name in ["LANG", "LC_ALL", "TZ", "MODE", "DATABASE_URL", "RUST_LOG", "NO_COLOR", "CI"] {
            check(name, false);
        }
    }
}
