//! Toolchains that live outside the system folders, mostly in the home folder, and how a cage shows them: read-only, at
//! their own places, without the person's credentials that lie beside them.
//!
//! INVARIANT: of a toolchain's home only the named parts are shown. What is not named, such as `credentials.toml` or
//! `settings.xml`, does not exist in a cage.

mod credential;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use credential::Reach;

#[derive(Debug, Default)]
pub(crate) struct Toolchains {
    /// Shown read-only at their own place.
    pub(crate) read_only: Vec<PathBuf>,
    /// Folders with programs, the person's order kept.
    pub(crate) path: Vec<PathBuf>,
    pub(crate) variables: Vec<(String, String)>,
    seen: Seen,
}

/// One kind of toolchain.
struct Row {
    /// The variable that says where it is, and that programs get.
    variable: &'static str,
    /// Where it is without the variable; `~` is the home folder.
    usual: &'static str,
    /// The parts shown; a lone dot is all of it.
    parts: &'static [&'static str],
    /// Folders with programs.
    programs: &'static [&'static str],
}

const ROWS: &[Row] = &[
    // cargo takes a read-only home for what it is: it goes without its lock.
    Row { variable: "CARGO_HOME", usual: "~/.cargo", parts: &["bin", "registry", "git"], programs: &["bin"] },
    Row { variable: "RUSTUP_HOME", usual: "~/.rustup", parts: &["."], programs: &[] },
    Row { variable: "PYENV_ROOT", usual: "~/.pyenv", parts: &["."], programs: &["shims", "bin"] },
    Row { variable: "NVM_DIR", usual: "~/.nvm", parts: &["versions", "alias"], programs: &[] },
    Row { variable: "FNM_DIR", usual: "~/.local/share/fnm", parts: &["."], programs: &[] },
    Row { variable: "VOLTA_HOME", usual: "~/.volta", parts: &["bin", "tools"], programs: &["bin"] },
    Row { variable: "PNPM_HOME", usual: "~/.local/share/pnpm", parts: &["."], programs: &["."] },
    Row { variable: "BUN_INSTALL", usual: "~/.bun", parts: &["bin"], programs: &["bin"] },
    Row { variable: "DENO_INSTALL", usual: "~/.deno", parts: &["bin"], programs: &["bin"] },
    Row { variable: "GOROOT", usual: "/usr/local/go", parts: &["."], programs: &["bin"] },
    Row { variable: "GOPATH", usual: "~/go", parts: &["bin", "pkg/mod"], programs: &["bin"] },
    Row { variable: "JAVA_HOME", usual: "/usr/lib/jvm/default-java", parts: &["."], programs: &["bin"] },
    Row { variable: "SDKMAN_DIR", usual: "~/.sdkman", parts: &["candidates"], programs: &[] },
    Row { variable: "", usual: "~/.m2", parts: &["repository", "wrapper"], programs: &[] },
    Row { variable: "RBENV_ROOT", usual: "~/.rbenv", parts: &["."], programs: &["shims", "bin"] },
    Row { variable: "ASDF_DATA_DIR", usual: "~/.asdf", parts: &["."], programs: &["shims"] },
    Row { variable: "MISE_DATA_DIR", usual: "~/.local/share/mise", parts: &["."], programs: &["shims"] },
    Row { variable: "DOTNET_ROOT", usual: "~/.dotnet", parts: &["."], programs: &["."] },
    Row { variable: "GHCUP_INSTALL_BASE_PREFIX", usual: "", parts: &[".ghcup"], programs: &[".ghcup/bin"] },
    Row { variable: "CONDA_ROOT", usual: "~/miniconda3", parts: &["."], programs: &["bin"] },
    Row { variable: "PIPX_HOME", usual: "~/.local/share/pipx", parts: &["venvs", "shared"], programs: &[] },
    // Poetry's and uv's own installations and environments; their settings and caches stay outside.
    Row { variable: "", usual: "~/.local/share/pypoetry", parts: &["venv"], programs: &[] },
    Row {
        variable: "POETRY_VIRTUALENVS_PATH",
        usual: "~/.cache/pypoetry/virtualenvs",
        parts: &["."],
        programs: &[],
    },
    Row {
        variable: "UV_PYTHON_INSTALL_DIR",
        usual: "~/.local/share/uv/python",
        parts: &["."],
        programs: &[],
    },
    Row { variable: "UV_TOOL_DIR", usual: "~/.local/share/uv/tools", parts: &["."], programs: &[] },
    Row { variable: "WORKON_HOME", usual: "~/.local/share/virtualenvs", parts: &["."], programs: &[] },
    // What `pip install --user` puts there; the private home folder has none of it.
    Row { variable: "PYTHONUSERBASE", usual: "~/.local", parts: &["bin", "lib"], programs: &["bin"] },
    Row { variable: "", usual: "/nix/store", parts: &["."], programs: &[] },
    Row { variable: "", usual: "/home/linuxbrew/.linuxbrew", parts: &["."], programs: &["bin"] },
];

/// Python environments that the person activated, and what makes a folder one: nothing else is shown for these variables.
const ACTIVATED: [(&str, &str); 2] = [("VIRTUAL_ENV", "pyvenv.cfg"), ("CONDA_PREFIX", "conda-meta")];

/// For how long it is believed what lies deeper in a toolchain: looking takes longer than a call may.
const BELIEVED: Duration = Duration::from_secs(1);

/// Of rustup's settings.
const MOST_SETTINGS: u64 = 64 << 10;

/// Where the system keeps its programs, in the usual order.
const SYSTEM_PROGRAMS: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games"];

/// Shown to every cage anyway.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];

impl Toolchains {
    /// From the environment that we were started with, and from what lies in the usual places.
    pub(crate) fn detect(host: &BTreeMap<String, String>) -> Toolchains {
        let home = host.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let mut found = Toolchains::default();
        let mut programs = Vec::new();
        for (variable, mark) in ACTIVATED {
            let is_one = |path: &String| is_plain(Path::new(path)) && Path::new(path).join(mark).exists();
            if host.get(variable).is_some_and(is_one) {
                let row = Row { variable, usual: "", parts: &["."], programs: &["bin"] };
                found.add_row(&row, host, home.as_deref(), &mut programs);
            }
        }
        for row in ROWS {
            found.add_row(row, host, home.as_deref(), &mut programs);
        }
        found.add_path(host, home.as_deref(), &mut programs);
        found.read_only.sort();
        found.read_only.dedup();
        let outer = found.read_only.clone();
        found.read_only.retain(|path| !outer.iter().any(|other| other != path && path.starts_with(other)));
        found.name_maven_repository();
        found
    }

    /// What a program's name is looked up in: the person's order for toolchains, then the system.
    pub(crate) fn program_folders(&self) -> Vec<PathBuf> {
        let system = SYSTEM_PROGRAMS.iter().map(PathBuf::from).filter(|folder| folder.is_dir());
        self.path.iter().cloned().chain(system).collect()
    }

    /// What rustup starts where nothing else is said, unless programs may write it.
    pub(crate) fn default_rust(&self, writable: &[PathBuf]) -> Option<String> {
        let (_, home) = self.variables.iter().find(|(variable, _)| variable == "RUSTUP_HOME")?;
        let home = std::fs::canonicalize(home).ok()?;
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(home.join("settings.toml")).ok()?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let mut text = String::new();
        io::Read::take(file, MOST_SETTINGS).read_to_string(&mut text).ok()?;
        let name = default_toolchain(&text)?;
        // It may be a link to a folder where somebody builds one.
        let linked = std::fs::canonicalize(home.join("toolchains").join(name)).ok();
        let places: Vec<&PathBuf> = std::iter::once(&home).chain(&linked).collect();
        let is_writable = places.iter().any(|place| writable.iter().any(|root| place.starts_with(root)));
        (!is_writable).then(|| name.to_owned())
    }

    fn add_row(
        &mut self,
        row: &Row,
        host: &BTreeMap<String, String>,
        home: Option<&Path>,
        programs: &mut Vec<PathBuf>,
    ) {
        let named = host.get(row.variable).map(PathBuf::from).filter(|path| is_plain(path));
        let Some(base) = named.or_else(|| usual(row.usual, home)) else { return };
        // A toolchain that is said to be the home folder or the root would show everything.
        let Ok(real) = std::fs::canonicalize(&base) else { return };
        let real_home = home.and_then(|home| std::fs::canonicalize(home).ok());
        let shows_home = real_home.is_some_and(|home| home.starts_with(&real));
        if real.parent().is_none() || shows_home {
            return;
        }
        let parts: Vec<PathBuf> =
            row.parts.iter().map(|part| within(&base, part)).filter(|it| it.exists()).collect();
        if parts.is_empty() {
            return;
        }
        for part in parts {
            // A program is found under its own name and checked as the file that links lead to: both must be there.
            self.read_only.extend(std::fs::canonicalize(&part).ok().filter(|real| !is_system(real)));
            self.read_only.extend(Some(part).filter(|part| !is_system(part)));
        }
        programs.extend(row.programs.iter().map(|part| within(&base, part)).filter(|it| it.is_dir()));
        if !row.variable.is_empty() {
            let value = base.to_string_lossy().into_owned();
            self.variables.push((row.variable.to_owned(), value));
        }
    }

    /// Folders of the person's own search path: those of known toolchains, and whole installations under `/opt`.
    fn add_path(
        &mut self,
        host: &BTreeMap<String, String>,
        home: Option<&Path>,
        programs: &mut Vec<PathBuf>,
    ) {
        let mut ordered: Vec<PathBuf> = Vec::new();
        for folder in host.get("PATH").map(|path| path.split(':')).into_iter().flatten().map(PathBuf::from) {
            let known =
                programs.contains(&folder) || self.read_only.iter().any(|shown| folder.starts_with(shown));
            let optional = folder.strip_prefix("/opt").ok().and_then(|rest| rest.components().next());
            let is_usable = is_plain(&folder) && folder.is_dir() && !ordered.contains(&folder);
            if !is_usable || is_system(&folder) {
                continue;
            }
            if known {
                ordered.push(folder);
            } else if let Some(installation) = optional {
                self.read_only.push(Path::new("/opt").join(installation));
                ordered.push(folder);
            } else if home.is_some_and(|home| folder.parent() == Some(home)) {
                // `~/bin`
                self.read_only.push(folder.clone());
                ordered.push(folder);
            }
        }
        // A server is often started with a bare search path; what is installed is found all the same.
        for folder in programs.drain(..) {
            if !ordered.contains(&folder) && !is_system(&folder) {
                ordered.push(folder);
            }
        }
        self.path = ordered;
    }

    /// Maven looks in the home folder of the account, which is a private one in a cage.
    fn name_maven_repository(&mut self) {
        let repository = self.read_only.iter().find(|path| path.ends_with(".m2/repository"));
        if let Some(text) = repository.and_then(|path| path.to_str()).filter(|text| !text.contains(' ')) {
            self.variables.push(("MAVEN_OPTS".to_owned(), format!("-Dmaven.repo.local={text}")));
        }
    }

    /// What must be masked inside of what is shown. The flag says that it is a folder.
    ///
    /// LIMIT: credentials that come while we run are noticed at once where a toolchain keeps its own, and after a second
    /// among its versions and environments, which may be many.
    pub(crate) fn masked(&self) -> Masked {
        let mut masked = self.look(Reach::Near);
        let mut seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        let far = match seen.take() {
            Some((at, far)) if at.elapsed() < BELIEVED => (at, far),
            _ => (Instant::now(), self.look(Reach::Far)),
        };
        masked.extend(far.1.iter().cloned());
        *seen = Some(far);
        masked.sort();
        // Nothing can be masked in a folder that is.
        masked.dedup_by(|(path, _), (outer, _)| path.starts_with(outer));
        masked
    }

    fn look(&self, reach: Reach) -> Masked {
        let is_shown = |path: &Path| self.read_only.iter().any(|root| path.starts_with(root));
        let mut masked = Vec::new();
        for root in &self.read_only {
            let Ok(real_root) = std::fs::canonicalize(root) else { continue };
            for found in credential::beneath(root, reach) {
                // A link leads to what is shown, or to nothing that a program could read. The folder itself may be shown
                // under a name that is a link outside.
                let Ok(real) = std::fs::canonicalize(&found) else { continue };
                let is_folder = real.is_dir();
                let at = real.strip_prefix(&real_root).map_or(real.clone(), |inside| root.join(inside));
                masked.extend(Some((at, is_folder)).filter(|(at, _)| is_shown(at)));
            }
        }
        masked
    }
}

/// What was seen when it was last looked.
#[derive(Debug, Default)]
struct Seen(Mutex<Option<(Instant, Masked)>>);

/// Each with whether it is a folder.
type Masked = Vec<(PathBuf, bool)>;

/// A name, never a path: `default_toolchain = "NAME"` before the first table.
fn default_toolchain(settings: &str) -> Option<&str> {
    let top = settings.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let mut values =
        top.filter_map(|line| line.strip_prefix("default_toolchain")?.trim_start().strip_prefix('='));
    let name = values.next()?.trim().strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let starts_plain = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    (starts_plain && name.bytes().all(is_plain)).then_some(name)
}

fn usual(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    match text.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => (!text.is_empty()).then(|| PathBuf::from(text)),
    }
}

/// Absolute, and nothing in it leads back up.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir))
}

fn within(base: &Path, part: &str) -> PathBuf {
    if part == "." { base.to_owned() } else { base.join(part) }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(base: &Path, folders: &[&str], files: &[&str]) {
        for folder in folders {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in files {
            std::fs::create_dir_all(base.join(file).parent().unwrap()).unwrap();
            std::fs::write(base.join(file), "").unwrap();
        }
    }

    #[track_caller]
    fn check(folders: &[&str], files: &[&str], variables: &[(&str, &str)], shown: &[&str], path: &[&str]) {
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        make(home, folders, files);
        let expand = |text: &str| text.replace('~', home.to_str().unwrap());
        let mut host: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), expand(value))).collect();
        host.insert("HOME".to_owned(), expand("~"));
        let found = Toolchains::detect(&host);
        let in_home = |paths: &[PathBuf]| -> Vec<String> {
            let inside = paths.iter().filter_map(|path| path.strip_prefix(home).ok());
            inside.map(|path| path.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(in_home(&found.read_only), shown, "{variables:?}");
        assert_eq!(in_home(&found.path), path, "{variables:?}");
    }

    #[test]
    fn of_a_home_only_toolchains_are_shown() {
        check(&[".ssh", ".config", "work"], &[".npmrc"], &[], &[], &[]);
        check(
            &[".cargo/bin", ".cargo/registry", ".rustup/toolchains"],
            &[".cargo/credentials.toml", ".cargo/config.toml"],
            &[],
            &[".cargo/bin", ".cargo/registry", ".rustup"],
            &[".cargo/bin"],
        );
        check(&["tools/py/shims"], &[], &[("PYENV_ROOT", "~/tools/py")], &["tools/py"], &["tools/py/shims"]);
        check(&[".m2/repository"], &[".m2/settings.xml"], &[], &[".m2/repository"], &[]);
        // The person's order of the search path is kept, and a folder that is no toolchain's stays outside.
        check(
            &[".cargo/bin", ".pyenv/shims", "bin", "work/node_modules/.bin"],
            &[],
            &[("PATH", "~/work/node_modules/.bin:~/bin:~/.pyenv/shims:~/.cargo/bin:/usr/bin")],
            &[".cargo/bin", ".pyenv", "bin"],
            &["bin", ".pyenv/shims", ".cargo/bin"],
        );
        check(
            &[".nvm/versions/node/v22/bin"],
            &[],
            &[("PATH", "~/.nvm/versions/node/v22/bin")],
            &[".nvm/versions"],
            &[".nvm/versions/node/v22/bin"],
        );
    }

    #[test]
    fn an_activated_environment_is_shown() {
        let bin = "envs/shop/bin";
        let path = [("VIRTUAL_ENV", "~/envs/shop"), ("PATH", "~/envs/shop/bin:/usr/bin")];
        check(&[bin], &["envs/shop/pyvenv.cfg"], &path, &["envs/shop"], &[bin]);
        check(&[bin], &[], &path, &[], &[]); // no environment, whatever the variable says
        check(&[], &["pyvenv.cfg", ".ssh/id"], &[("VIRTUAL_ENV", "~")], &[], &[]);
        let conda = [("CONDA_PREFIX", "~/forge/envs/shop")];
        let folders = ["forge/envs/shop/bin", "forge/envs/shop/conda-meta"];
        check(&folders, &[], &conda, &["forge/envs/shop"], &["forge/envs/shop/bin"]);
    }

    #[test]
    fn a_variable_cannot_show_the_whole_home() {
        check(&[".ssh"], &[], &[("PYENV_ROOT", "~")], &[], &[]);
        check(&[".ssh"], &[], &[("PYENV_ROOT", "/")], &[], &[]);
        check(&[".ssh"], &[], &[("RUSTUP_HOME", "~/..")], &[], &[]);
        check(&["x"], &[], &[("RUSTUP_HOME", "relative")], &[], &[]);
    }

    #[test]
    fn credentials_among_programs_are_masked() {
        let root = tempfile::tempdir().unwrap();
        make(root.path(), &[".pyenv/shims"], &[".pyenv/.pypirc"]);
        let host = BTreeMap::from([("HOME".to_owned(), root.path().to_str().unwrap().to_owned())]);
        let found = Toolchains::detect(&host);
        assert_eq!(found.masked(), [(root.path().join(".pyenv/.pypirc"), false)]);
        // One that comes after the start is masked as well, and one that a link leads to.
        make(root.path(), &[], &[".pyenv/.netrc", ".pyenv/versions/3.12/real"]);
        let link = root.path().join(".pyenv/versions/3.12/pip.conf");
        std::os::unix::fs::symlink("real", link).unwrap();
        let found = Toolchains::detect(&host);
        let names = [".netrc", ".pypirc", "versions/3.12/real"];
        assert_eq!(found.masked(), names.map(|name| (root.path().join(".pyenv").join(name), false)));
    }

    #[track_caller]
    fn check_default(settings: Option<&str>, expected: Option<&str>) {
        assert_eq!(settings.and_then(default_toolchain), expected, "{settings:?}");
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap();
        make(&home, &[".rustup/toolchains", "work/built"], &[]);
        if let Some(settings) = settings {
            std::fs::write(home.join(".rustup/settings.toml"), settings).unwrap();
        }
        let host = BTreeMap::from([("HOME".to_owned(), home.to_str().unwrap().to_owned())]);
        let found = Toolchains::detect(&host);
        assert_eq!(found.default_rust(&[home.join("work")]).as_deref(), expected, "{settings:?}");
        // Where programs may write.
        assert_eq!(found.default_rust(&[home.join(".rustup")]), None, "{settings:?}");
        if let Some(name) = expected {
            let link = home.join(".rustup/toolchains").join(name);
            std::os::unix::fs::symlink(home.join("work/built"), link).unwrap();
            assert_eq!(found.default_rust(&[home.join("work")]), None, "{settings:?}");
            assert_eq!(found.default_rust(&[]).as_deref(), expected, "{settings:?}");
        }
    }

    #[test]
    fn the_default_toolchain_is_a_name() {
        let usual = "default_host_triple = \"t\"\ndefault_toolchain = \"stable-x86_64\"\nversion = \"12\"\n";
        check_default(Some(usual), Some("stable-x86_64"));
        check_default(Some("default_toolchain=\"1.90.0\""), Some("1.90.0"));
        check_default(Some("[overrides]\ndefault_toolchain = \"a\"\n"), None);
        check_default(Some("default_toolchain_x = \"a\"\nx = \"b\"\n"), None);
        for name in ["", ".", "..", ".x", "-x", "/w/tc", "a/b", "a b", "a\\u002fb", "a\"b", "ä"] {
            check_default(Some(&format!("default_toolchain = \"{name}\"\n")), None);
        }
        for value in ["a", "'a'", "\"a", "a\"", "\"", ""] {
            check_default(Some(&format!("default_toolchain = {value}\n")), None);
        }
        check_default(Some(""), None);
        check_default(None, None);
    }
}
