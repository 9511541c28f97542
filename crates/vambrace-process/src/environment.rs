//! What a program finds in its environment: a few fixed variables, what the operator lets through, what the job adds,
//! and nothing that changes how a program is loaded. It knows neither cages nor files.

mod reach;
mod stripped;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use vambrace_policy::{Variable, VariableValue};
use vambrace_types::Secret;

use reach::OFFLINE;
pub(crate) use reach::{Authorities, Reach};
pub(crate) use stripped::is_stripped;
use stripped::{holds_credential, is_credential};

use crate::settings::Inherit;

/// The private home folder inside a cage.
pub(crate) const CAGE_HOME: &str = "/home/agent";

/// Two system configurations of git lie in a cage; see `repository`.
pub(crate) const GIT_CONFIG: &str = "/etc/gitconfig";
pub(crate) const GIT_CONFIG_DIRECT: &str = "/.gitconfig";

#[derive(Debug, Clone)]
pub(crate) struct SafeEnvironment {
    /// The trusted folders.
    pub(crate) path: Vec<PathBuf>,
    pub(crate) home: PathBuf,
    pub(crate) user: String,
    pub(crate) inherit: Inherit,
    pub(crate) host: BTreeMap<String, String>,
    /// Homes of the toolchains that a cage shows.
    pub(crate) toolchain: Vec<(String, String)>,
}

/// Who starts git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Git {
    /// The job itself: only repositories whose configuration was made harmless are opened at all.
    Direct,
    /// At most a program of the job: also repositories that it has just made, in the cage's own /tmp for instance.
    Inside,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) variables: Vec<(String, String)>,
    /// Variables of the job that no program gets, by name.
    pub(crate) dropped: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EnvironmentError {
    MissingSecret { variable: String, secret: String },
    BadName { name: String },
    BadValue { name: String },
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnvironmentError::MissingSecret { variable, secret } => {
                write!(f, "The secret `{secret}` for the variable `{variable}` has no value.")
            }
            EnvironmentError::BadName { name } => write!(f, "`{name}` cannot be the name of a variable."),
            EnvironmentError::BadValue { name } => {
                write!(f, "The value of the variable `{name}` contains a NUL byte.")
            }
        }
    }
}

impl SafeEnvironment {
    /// Later ones win: what is fixed comes last, so that neither a job nor the operator's host can move it.
    pub(crate) fn build(
        &self,
        variables: &[Variable],
        git: Git,
        reach: &Reach,
        secret: &dyn Fn(&str) -> Option<Secret<String>>,
    ) -> Result<Environment, EnvironmentError> {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let mut dropped = Vec::new();
        for (name, value) in &self.host {
            let wanted = match &self.inherit {
                Inherit::All => true,
                Inherit::Names(names) => names.contains(name),
            };
            if wanted && !is_stripped(name) && !is_credential(name) && is_name(name) && !value.contains('\0')
            {
                all.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in DEFAULTS {
            all.insert((*name).to_owned(), (*value).to_owned());
        }
        for Variable { name, value } in variables {
            if !is_name(name) {
                return Err(EnvironmentError::BadName { name: name.clone() });
            }
            // A missing secret fails the job even under a name that would be dropped: the tool is misdeclared.
            let value = match value {
                VariableValue::Plain(plain) => plain.expose().clone(),
                VariableValue::Named(named) => {
                    let found = secret(named).ok_or_else(|| EnvironmentError::MissingSecret {
                        variable: name.clone(),
                        secret: named.clone(),
                    })?;
                    found.expose().clone()
                }
            };
            if value.contains('\0') {
                return Err(EnvironmentError::BadValue { name: name.clone() });
            }
            if is_stripped(name) || is_fixed(name) {
                dropped.push(name.clone());
            } else {
                all.insert(name.clone(), value);
            }
        }
        for (name, value) in reach.further() {
            if !is_name(name) {
                return Err(EnvironmentError::BadName { name: name.clone() });
            }
            // THREAT: P07, they come from the operator's settings, where a name may be chosen by its looks. A program without
            // the placeholder of a credential still has the credential put in.
            let moves = (is_stripped(name) && !holds_credential(name)) || is_fixed(name);
            if !moves && !value.contains('\0') {
                all.insert(name.clone(), value.clone());
            }
        }
        all.extend(self.toolchain.iter().cloned());
        all.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        all.extend(reach.variables());
        all.extend(self.personal());
        all.extend(git_variables(git));
        Ok(Environment { variables: all.into_iter().collect(), dropped })
    }

    fn personal(&self) -> [(String, String); 4] {
        let folders: Vec<String> =
            self.path.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        [
            ("PATH".to_owned(), folders.join(":")),
            ("HOME".to_owned(), self.home.to_string_lossy().into_owned()),
            ("USER".to_owned(), self.user.clone()),
            ("LOGNAME".to_owned(), self.user.clone()),
        ]
    }
}

/// Set from the machine, never by a job.
const OURS: [&str; 4] = ["PATH", "HOME", "USER", "LOGNAME"];

/// A job may choose another language or terminal.
const DEFAULTS: &[(&str, &str)] = &[("LANG", "C.UTF-8"), ("TERM", "dumb")];

const FIXED: &[(&str, &str)] = &[
    ("TMPDIR", "/tmp"),
    ("PAGER", "cat"),
    ("GOTOOLCHAIN", "local"),
    ("GOTELEMETRY", "off"),
    // Unless there is one on disk; see `cache`.
    ("GOCACHE", "/tmp/go-build"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("npm_config_audit", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_update_notifier", "false"),
];

fn is_fixed(name: &str) -> bool {
    let fixed = FIXED.iter().chain(OFFLINE).any(|(fixed, _)| *fixed == name);
    fixed || OURS.contains(&name)
}

fn git_variables(git: Git) -> Vec<(String, String)> {
    let mut pairs = vec![
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        // A service is a mount of its own beneath the folder that holds its repository.
        ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
        ("GIT_EDITOR", "false"),
        ("GIT_NO_LAZY_FETCH", "1"),
        // A file of the project is no remote: a bundle would bring in what no listed host has.
        ("GIT_ALLOW_PROTOCOL", "http:https:ssh"),
        // A read-only repository cannot take the lock that `git status` would like.
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ];
    match git {
        // git then takes every repository for someone else's and opens only those that the configuration lists.
        // LIMIT: versions before 2.35.2 do not know this.
        Git::Direct => {
            pairs
                .extend([("GIT_CONFIG_SYSTEM", GIT_CONFIG_DIRECT), ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")]);
        }
        Git::Inside => pairs.push(("GIT_CONFIG_SYSTEM", GIT_CONFIG)),
    }
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// `NAME=value` must come apart again at the first `=`.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(inherit: Inherit) -> SafeEnvironment {
        let host = [
            ("LANGUAGE", "de"),
            ("LD_PRELOAD", "/x.so"),
            ("EDITOR", "vi"),
            ("http_proxy", "http://p"),
            ("COLOR", "1"),
            ("SOME_API_KEY", "k"),
            ("AWS_PROFILE", "p"),
        ];
        SafeEnvironment {
            path: vec![PathBuf::from("/usr/bin"), PathBuf::from("/bin")],
            home: PathBuf::from(CAGE_HOME),
            user: "agent".to_owned(),
            inherit,
            host: host.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect(),
            toolchain: vec![("CARGO_HOME".to_owned(), "/h/.cargo".to_owned())],
        }
    }

    fn plain(name: &str, value: &str) -> Variable {
        Variable { name: name.to_owned(), value: VariableValue::Plain(Secret::new(value.to_owned())) }
    }

    #[track_caller]
    fn check(inherit: Inherit, variables: &[Variable], name: &str, expected: Option<&str>) {
        let built = environment(inherit).build(variables, Git::Inside, &Reach::Nothing, &|_| None).unwrap();
        let found = built.variables.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn little_is_set_and_little_comes_through() {
        let none = || Inherit::Names(Vec::new());
        check(none(), &[], "PATH", Some("/usr/bin:/bin"));
        check(none(), &[], "HOME", Some("/home/agent"));
        check(none(), &[], "TMPDIR", Some("/tmp"));
        check(none(), &[], "LANG", Some("C.UTF-8"));
        check(none(), &[], "TERM", Some("dumb"));
        check(none(), &[], "COLOR", None);
        check(Inherit::Names(vec!["COLOR".to_owned()]), &[], "COLOR", Some("1"));
        check(Inherit::Names(vec!["LD_PRELOAD".to_owned()]), &[], "LD_PRELOAD", None);
        check(Inherit::All, &[], "LANGUAGE", Some("de"));
        check(Inherit::All, &[], "LD_PRELOAD", None);
        check(Inherit::All, &[], "EDITOR", None);
        check(Inherit::All, &[], "http_proxy", None);
        check(Inherit::All, &[], "SOME_API_KEY", None);
        check(Inherit::Names(vec!["AWS_PROFILE".to_owned()]), &[], "AWS_PROFILE", None);
        check(none(), &[plain("SOME_API_KEY", "k")], "SOME_API_KEY", Some("k")); // declared, not inherited
        check(none(), &[], "CARGO_HOME", Some("/h/.cargo"));
        check(none(), &[], "GIT_CONFIG_GLOBAL", Some("/dev/null"));
    }

    #[test]
    fn a_job_adds_but_does_not_move_what_is_fixed() {
        let none = || Inherit::Names(Vec::new());
        check(none(), &[plain("MODE", "test")], "MODE", Some("test"));
        check(none(), &[plain("PATH", "/evil")], "PATH", Some("/usr/bin:/bin"));
        check(none(), &[plain("HOME", "/evil")], "HOME", Some("/home/agent"));
        check(none(), &[plain("CARGO_HOME", "/evil")], "CARGO_HOME", Some("/h/.cargo"));
        check(none(), &[plain("GIT_CONFIG_GLOBAL", "/evil")], "GIT_CONFIG_GLOBAL", Some("/dev/null"));
        check(none(), &[plain("LANG", "de_DE.UTF-8")], "LANG", Some("de_DE.UTF-8"));
        let built = environment(none()).build(
            &[plain("LD_PRELOAD", "x"), plain("PATH", "x"), plain("OK", "x")],
            Git::Direct,
            &Reach::Nothing,
            &|_| None,
        );
        assert_eq!(built.unwrap().dropped, ["LD_PRELOAD", "PATH"]);
    }

    /// Whether programs get a variable that their proxy adds.
    #[track_caller]
    fn check_further(name: &str, expected: bool) {
        let further = vec![(name.to_owned(), "placeholder".to_owned())];
        let reach = Reach::Proxy { authorities: Authorities::System, further };
        let built =
            environment(Inherit::Names(Vec::new())).build(&[], Git::Inside, &reach, &|_| None).unwrap();
        let is_there = built.variables.contains(&(name.to_owned(), "placeholder".to_owned()));
        assert_eq!((is_there, built.dropped.is_empty()), (expected, true), "{name}");
    }

    #[test]
    fn a_proxy_adds_credentials_and_nothing_that_moves_a_program() {
        check_further("GITHUB_TOKEN", true);
        check_further("CARGO_REGISTRY_TOKEN", true);
        check_further("NODE_AUTH_TOKEN", true);
        check_further("GIT_TOKEN", true);
        check_further("REGISTRY_USER", true);
        check_further("LD_PRELOAD", false);
        check_further("LD_PRELOAD_TOKEN", false);
        check_further("NODE_OPTIONS", false);
        check_further("GIT_SSH_COMMAND", false);
        check_further("PATH", false);
        check_further("https_proxy", false);
        check_further("CARGO_NET_OFFLINE", false);
    }

    #[test]
    fn a_secret_without_a_value_fails_the_job() {
        let variable = Variable { name: "DB".to_owned(), value: VariableValue::Named("db_url".to_owned()) };
        let environment = environment(Inherit::Names(Vec::new()));
        let missing =
            environment.build(std::slice::from_ref(&variable), Git::Inside, &Reach::Nothing, &|_| None);
        let expected =
            EnvironmentError::MissingSecret { variable: "DB".to_owned(), secret: "db_url".to_owned() };
        assert_eq!(missing, Err(expected));
        let value = |name: &str| (name == "db_url").then(|| Secret::new("v".to_owned()));
        let built = environment.build(&[variable], Git::Inside, &Reach::Nothing, &value).unwrap();
        assert!(built.variables.contains(&("DB".to_owned(), "v".to_owned())));
        let bad = environment.build(&[plain("A=B", "x")], Git::Inside, &Reach::Nothing, &|_| None);
        assert_eq!(bad, Err(EnvironmentError::BadName { name: "A=B".to_owned() }));
        let bad = environment.build(&[plain("A", "x\0y")], Git::Inside, &Reach::Nothing, &|_| None);
        assert_eq!(bad, Err(EnvironmentError::BadValue { name: "A".to_owned() }));
    }
}
