//! From files, environment and flags to one checked configuration.
//!
//! Layers, lowest first: strict defaults, profile, operator's file, project's file (which may only tighten), flags.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::check::{self, check};
use crate::layer::{Layer, Origin, Origins, merge};
use crate::node::{Entry, Node, Place, Value};
use crate::problem::{ConfigError, ConfigErrors, Problem, nearest};
use crate::section::{Config, ProfileName};
use crate::source::file::{self, Trust, WritableBy};
use crate::weaker::{Weaker, weaker};
use crate::{api_keys, casing, consistency, env_ref, schema, source, tighten};

/// Everything that settings can come from. Nothing else is looked at.
///
/// No `Debug`: the environment holds secrets.
#[derive(Clone, Default)]
pub struct Sources {
    /// The operator's file, as `--config` names it.
    pub explicit: Option<PathBuf>,
    /// The user's folder for Vambrace, where the operator's file is looked for otherwise (see [`user_folder`]).
    pub user_dir: Option<PathBuf>,
    /// The folder that a relative `workspace` is taken from.
    pub workspace: PathBuf,
    /// The profile, as `--profile` names it.
    pub profile: Option<String>,
    pub environment: BTreeMap<String, String>,
    pub overrides: Overrides,
}

/// What the command line says about settings.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--workspace DIR`
    pub workspace: Option<PathBuf>,
    /// `--service DIR`
    pub service: Option<PathBuf>,
    /// `--no-auth` and the like.
    pub auth_mode: Option<crate::section::AuthMode>,
    /// `--no-git`
    pub git_enabled: Option<bool>,
}

/// A configuration, with what there is to say about how it came to be.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub config: Config,
    pub origins: Origins,
    /// Every setting that is weaker than strict, to be shown at the start and written to the audit.
    pub weaker: Vec<Weaker>,
    pub warnings: Vec<Warning>,
    /// The folder the tools work in.
    pub workspace: PathBuf,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// Those of `secrets.redact_patterns` that only the project's file has. Whoever may write it must not decide what the
    /// record does not say.
    pub project_patterns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// `config.unknown: warn` let it pass.
    UnknownKey(ConfigError),
    /// Agents may be able to write the operator's file.
    OperatorFileInWorkspace(PathBuf),
    /// Everybody on the machine may write the operator's file.
    WritableByEverybody(PathBuf),
    /// The file says it too, and the file holds.
    EnvironmentPassedOver(&'static str),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnknownKey(error) => write!(f, "{error}"),
            Warning::OperatorFileInWorkspace(path) => {
                write!(f, "{}: lies in the workspace, where agents may be able to write it", path.display())
            }
            Warning::WritableByEverybody(path) => {
                write!(f, "{}: can be written by everybody on this machine", path.display())
            }
            Warning::EnvironmentPassedOver(name) => {
                write!(
                    f,
                    "the environment variable `{name}` is passed over, because the operator's file has `api_keys`"
                )
            }
        }
    }
}

/// The user's folder for Vambrace: `$XDG_CONFIG_HOME/vambrace`, else `~/.config/vambrace`.
pub fn user_folder(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(base.join("vambrace"))
}

/// Reads and checks everything. All mistakes are reported, not only the first.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigErrors> {
    let mut run = Run { sources, errors: Vec::new(), warnings: Vec::new(), operator_patterns: Vec::new() };
    let operator = run.operator();
    let workspace = run.workspace(operator.as_ref());
    if let Some(operator) = &operator {
        run.check_place(&operator.path, &workspace);
    }
    let project = run.project(&workspace, operator.as_ref());
    let profile = run.profile(operator.as_ref());
    let (tree, origins, files) = run.layers(profile, operator, project);
    let config = run.typed(&tree, &origins);
    match (config, run.errors.is_empty()) {
        (Some(config), true) => {
            let weaker = weaker(&config, &origins);
            let is_new = |pattern: &&String| !run.operator_patterns.contains(pattern);
            let project_patterns = config.secrets.redact_patterns.iter().filter(is_new).cloned().collect();
            let warnings = run.warnings;
            Ok(Loaded { config, origins, weaker, warnings, workspace, files, project_patterns })
        }
        (Some(_) | None, _) => Err(ConfigErrors(run.errors)),
    }
}

fn patterns(tree: &Node) -> Vec<String> {
    match tree.at_path("secrets.redact_patterns").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(Node::as_text).map(str::to_owned).collect(),
        Some(_) | None => Vec::new(),
    }
}

struct Document {
    path: PathBuf,
    root: Node,
}

struct Run<'s> {
    sources: &'s Sources,
    errors: Vec<ConfigError>,
    warnings: Vec<Warning>,
    /// `secrets.redact_patterns` before the project's file.
    operator_patterns: Vec<String>,
}

impl Run<'_> {
    fn operator(&mut self) -> Option<Document> {
        let path = match (&self.sources.explicit, &self.sources.user_dir) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(folder)) => file::find(folder).unwrap_or_else(|error| {
                self.errors.push(error);
                None
            }),
            (None, None) => None,
        }?;
        self.document(&path, Trust::Operator)
    }

    fn workspace(&self, operator: Option<&Document>) -> PathBuf {
        let set = operator.and_then(|document| document.root.get("workspace")).and_then(Node::as_text);
        match (&self.sources.overrides.workspace, set) {
            (Some(flag), _) => flag.clone(),
            (None, Some(".") | None) => self.sources.workspace.clone(),
            (None, Some(set)) => self.sources.workspace.join(set),
        }
    }

    fn project(&mut self, workspace: &Path, operator: Option<&Document>) -> Option<Document> {
        let path = match file::find(workspace) {
            Ok(path) => path?,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        let named = operator.map(|document| document.path.as_path()).or(self.sources.explicit.as_deref());
        // The operator named it with --config; then it is the operator's file, and `check_place` says so aloud.
        if named.is_some_and(|named| file::same(named, &path)) {
            return None;
        }
        self.document(&path, Trust::Project)
    }

    fn document(&mut self, path: &Path, trust: Trust) -> Option<Document> {
        let opened = match file::read(path, trust) {
            Ok(opened) => opened,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        if trust == Trust::Operator && opened.writable_by == WritableBy::Everybody {
            self.warnings.push(Warning::WritableByEverybody(path.to_owned()));
        }
        let mut root = opened.root;
        let found = understand(&mut root, Filling::From(&self.sources.environment, trust));
        let mut errors = found.errors;
        let tolerant = trust == Trust::Operator
            && root.at_path("config.unknown").and_then(Node::as_text) == Some("warn");
        if tolerant {
            let unknown = found.unknown.into_iter().map(|error| error.in_file(path));
            self.warnings.extend(unknown.map(Warning::UnknownKey));
        } else {
            errors.extend(found.unknown);
        }
        errors.sort_by_key(|error| error.place);
        self.errors.extend(errors.into_iter().map(|error| error.in_file(path)));
        Some(Document { path: path.to_owned(), root })
    }

    fn profile(&mut self, operator: Option<&Document>) -> ProfileName {
        let set = operator.and_then(|document| document.root.get("profile")).and_then(Node::as_text);
        let Some(name) = self.sources.profile.as_deref() else {
            return set.and_then(ProfileName::parse).unwrap_or_default();
        };
        ProfileName::parse(name).unwrap_or_else(|| {
            let error = ConfigError::new("profile", Problem::UnknownProfile(name.chars().take(64).collect()));
            let names = ProfileName::ALL.map(ProfileName::as_str);
            let hint = match nearest(name, names.into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            self.errors.push(error.hint(hint));
            ProfileName::Strict
        })
    }

    fn layers(
        &mut self,
        profile: ProfileName,
        operator: Option<Document>,
        project: Option<Document>,
    ) -> (Node, Origins, Vec<PathBuf>) {
        let shape = schema::shape();
        let mut origins = Origins::default();
        let mut files = Vec::new();
        let mut tree = defaults();
        match profile.tree() {
            Ok(mut root) => {
                let found = understand(&mut root, Filling::Nothing);
                self.errors.extend(found.errors.into_iter().chain(found.unknown));
                merge(&mut tree, root, shape, &Layer::Profile(profile), &mut origins);
            }
            Err(error) => self.errors.push(error),
        }
        if let Some(root) = self.environment_keys(operator.as_ref()) {
            merge(&mut tree, root, shape, &Layer::Environment(API_KEYS), &mut origins);
        }
        if let Some(root) = self.environment_token() {
            merge(&mut tree, root, shape, &Layer::Environment(INTERNAL_TOKEN), &mut origins);
        }
        if let Some(Document { path, root }) = operator {
            merge(&mut tree, root, shape, &Layer::File(path.clone()), &mut origins);
            files.push(path);
        }
        // Before the project's file, so that it may repeat the profile in force.
        if self.sources.profile.is_some() {
            let named = one_key("profile", Value::Text(profile.as_str().to_owned()));
            merge(&mut tree, named, shape, &Layer::Flags, &mut origins);
        }
        self.operator_patterns = patterns(&tree);
        // With mistakes below it is not known what holds, and a project must not be judged against a guess.
        if let Some(Document { path, mut root }) = project
            && self.errors.is_empty()
        {
            let mut errors = Vec::new();
            tighten::tighten(&mut root, &tree, shape, &mut errors);
            self.errors.extend(errors.into_iter().map(|error| error.in_file(&path)));
            merge(&mut tree, root, shape, &Layer::File(path.clone()), &mut origins);
            files.push(path);
        }
        merge(&mut tree, self.sources.overrides.tree(), shape, &Layer::Flags, &mut origins);
        (tree, origins, files)
    }

    /// `INTERNAL_AUTH_TOKEN`, as specification 001's deployments give it; a file that sets `auth.internal_token` wins.
    fn environment_token(&self) -> Option<Node> {
        let text = self.sources.environment.get(INTERNAL_TOKEN).filter(|text| !text.trim().is_empty())?;
        let token = one_key("internal_token", Value::Text(text.clone()));
        Some(one_key("auth", token.value))
    }

    /// `API_KEYS`, specification 001's way to give keys without a file. A file that sets `api_keys` wins.
    fn environment_keys(&mut self, operator: Option<&Document>) -> Option<Node> {
        let text = self.sources.environment.get(API_KEYS).filter(|text| !text.trim().is_empty())?;
        if operator.is_some_and(|document| document.root.get("api_keys").is_some()) {
            self.warnings.push(Warning::EnvironmentPassedOver(API_KEYS));
            return None;
        }
        let outside = |error: ConfigError| {
            ConfigError { key: "api_keys".to_owned(), file: None, place: None, ..error }
                .hint("it comes from the environment variable `API_KEYS`, which holds JSON")
        };
        let keys = match source::parse_json_text(text) {
            Ok(keys) => keys,
            Err(error) => {
                self.errors.push(outside(error));
                return None;
            }
        };
        let entry = Entry { key: "api_keys".to_owned(), at: Place::START, node: keys };
        let mut root = Node::new(Value::Map(vec![entry]), Place::START);
        let found = understand(&mut root, Filling::Nothing);
        self.errors.extend(found.errors.into_iter().chain(found.unknown).map(outside));
        Some(root)
    }

    fn typed(&mut self, tree: &Node, origins: &Origins) -> Option<Config> {
        if !self.errors.is_empty() {
            return None;
        }
        let Ok(config) = serde_json::from_value::<Config>(tree.to_json()) else {
            // INVARIANT: a checked tree has the types' shape. The library's message is left out: it quotes values.
            let reason =
                "the settings passed their checks and still cannot be used, which is a fault of this program";
            self.errors.push(ConfigError::new("", Problem::Conflict(reason.to_owned())));
            return None;
        };
        let located = |mut error: ConfigError| {
            if let Origin::File { path, line } = origins.of(&error.key) {
                error.place =
                    tree.at_path(&error.key).map(|node| node.at).or(Some(Place { line, column: 1 }));
                error.file = Some(path);
            }
            error
        };
        self.errors.extend(consistency::check_settings(&config, origins).into_iter().map(located));
        Some(config)
    }

    /// THREAT: an operator's file that agents can write is no operator's file. One that was named aloud is used with a
    /// warning; one that merely lay there is refused.
    fn check_place(&mut self, operator: &Path, workspace: &Path) {
        if !file::lies_in(operator, workspace) {
            return;
        }
        match self.sources.explicit {
            Some(_) => self.warnings.push(Warning::OperatorFileInWorkspace(operator.to_owned())),
            None => {
                let reason = "it lies in the workspace, where agents may be able to write it";
                let error = ConfigError::new("", Problem::Conflict(reason.to_owned())).in_file(operator);
                self.errors
                    .push(error.hint("name it with --config, or work in a smaller folder (--workspace)"));
            }
        }
    }
}

const API_KEYS: &str = "API_KEYS";
const INTERNAL_TOKEN: &str = "INTERNAL_AUTH_TOKEN";

/// Whether references to the environment mean anything in a tree.
pub(crate) enum Filling<'e> {
    From(&'e BTreeMap<String, String>, Trust),
    /// Our own profiles, and what came out of the environment already: a dollar sign in a secret is a dollar sign.
    Nothing,
}

/// Spelling, environment, shape and consistency of one tree.
pub(crate) fn understand(root: &mut Node, filling: Filling<'_>) -> check::Findings {
    let shape = schema::shape();
    let mut errors = Vec::new();
    casing::normalize(root, shape, &mut errors);
    if let Filling::From(environment, trust) = filling {
        env_ref::fill(root, environment, trust, &mut errors);
    }
    let mut findings = check(root, shape);
    errors.append(&mut findings.errors);
    consistency::check_tree(root, &mut errors);
    // Keys of the wrong shape have been reported; a second opinion on them would only confuse.
    let keys_are_sound = !errors.iter().any(|error| error.key.starts_with("api_keys"));
    if keys_are_sound
        && let Value::Map(entries) = &mut root.value
        && let Some(keys) = entries.iter_mut().find(|entry| entry.key == "api_keys")
    {
        api_keys::canonicalize(&mut keys.node, &mut errors);
    }
    check::Findings { errors, unknown: findings.unknown }
}

pub(crate) fn defaults() -> Node {
    let json = serde_json::to_value(Config::default()).unwrap_or_default();
    Node::from_json(&json, Place::START)
}

fn one_key(path: &str, value: Value) -> Node {
    let mut root = Node::empty_map(Place::START);
    set_key(&mut root, path, value);
    root
}

fn set_key(root: &mut Node, path: &str, value: Value) {
    let entry = Entry { key: String::new(), at: Place::START, node: Node::new(value, Place::START) };
    casing::insert(root, path, entry);
}

impl Overrides {
    fn tree(&self) -> Node {
        let mut root = Node::empty_map(Place::START);
        let text = |path: &Path| Value::Text(path.to_string_lossy().into_owned());
        if let Some(folder) = &self.workspace {
            set_key(&mut root, "workspace", text(folder));
        }
        if let Some(folder) = &self.service {
            set_key(&mut root, "scope.service_root", text(folder));
        }
        if let Some(mode) = self.auth_mode {
            set_key(&mut root, "auth.mode", Value::Text(mode.as_str().to_owned()));
        }
        if let Some(enabled) = self.git_enabled {
            set_key(&mut root, "tool_safety.git_enabled", Value::Bool(enabled));
        }
        root
    }
}
