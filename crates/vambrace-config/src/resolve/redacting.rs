//! The redactor that a configuration and a workspace come to.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use vambrace_files::{HiddenStamp, Root};
use vambrace_policy::Scope;
use vambrace_redact::{
    Entropy, FingerprintKey, KnownEnv, KnownValue, Marking, Redactor, RedactorSettings,
    known_from_environment,
};
use vambrace_runtime::Relearn;

use super::{ResolveError, agents, known, known_files, scope};
use crate::section::{self, Config};
use crate::{BaselineFile, Loaded};

/// A redactor, and what a person should know about the files it learned from.
pub struct Redacting {
    pub redactor: Redactor,
    pub warnings: Vec<String>,
    settings: RedactorSettings,
    /// How many of the known values come from elsewhere than hidden files. They come first.
    n_given: usize,
    stamps: Option<Vec<HiddenStamp>>,
    rule: KnownEnv,
}

impl Redacting {
    /// For a command that only redacts: what it knows is what a tool call in the same workspace would know. `marking`
    /// stands instead of what the configuration says.
    pub fn in_workspace(
        loaded: &Loaded,
        environment: &BTreeMap<String, String>,
        root: &Root,
        marking: Option<Marking>,
    ) -> Result<Redacting, ResolveError> {
        let location = root.location().map_err(|errno| ResolveError::WorkspaceLost(errno.into()))?;
        let spelled = std::path::absolute(&loaded.workspace).map_err(ResolveError::WorkspaceLost)?;
        let scope = scope(loaded, &location, &spelled)?;
        Redacting::start(&loaded.config, environment, root, &scope, marking, None, Vec::new())
    }

    pub(super) fn start(
        config: &Config,
        environment: &BTreeMap<String, String>,
        root: &Root,
        scope: &Scope,
        marking: Option<Marking>,
        key: Option<FingerprintKey>,
        known: Vec<KnownValue>,
    ) -> Result<Redacting, ResolveError> {
        let baseline = BaselineFile::read(root, config.profile)?;
        let baseline = baseline.map(|file| file.baseline()).unwrap_or_default();
        let mut settings = settings(config, environment);
        settings.known.extend(known);
        let marking = marking.unwrap_or(settings.marking);
        Redacting::learn(config, root, scope, RedactorSettings { baseline, marking, key, ..settings })
    }

    /// For whoever looks for what could be accepted.
    pub(super) fn without_baseline(
        config: &Config,
        environment: &BTreeMap<String, String>,
        root: &Root,
        scope: &Scope,
    ) -> Result<Redacting, ResolveError> {
        Redacting::learn(config, root, scope, settings(config, environment))
    }

    fn learn(
        config: &Config,
        root: &Root,
        scope: &Scope,
        mut settings: RedactorSettings,
    ) -> Result<Redacting, ResolveError> {
        let (rule, n_given) = (known_env(config), settings.known.len());
        let (warnings, stamps) = match config.redact.known_files {
            section::KnownFiles::Off => (Vec::new(), None),
            section::KnownFiles::On => {
                let learned = known_files::learn(root, scope, rule);
                settings.known.extend(learned.known);
                (learned.warnings, Some(learned.stamps))
            }
        };
        let redactor = Redactor::new(settings.clone()).map_err(ResolveError::Redactor)?;
        Ok(Redacting { redactor, warnings, settings, n_given, stamps, rule })
    }

    /// Looks whether the hidden files have changed, and makes a redactor that knows the new values too. What was known
    /// once stays known: an old password may still be good.
    pub(super) fn relearn(&self, root: &Root, scope: &Scope) -> Option<Relearn> {
        let stamps = self.stamps.clone()?;
        let root = root.try_clone().ok()?;
        let (settings, scope, rule) = (self.settings.clone(), scope.clone(), self.rule);
        let n_given = self.n_given;
        let state = Mutex::new((stamps, settings));
        Some(Box::new(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (stamps, settings) = &mut *state;
            if known_files::stamps(&root, &scope) == *stamps {
                return None;
            }
            let learned = known_files::learn(&root, &scope, rule);
            *stamps = learned.stamps;
            let is_new = |value: &KnownValue| {
                settings.known.iter().all(|known| known.value.expose() != value.value.expose())
            };
            let fresh: Vec<KnownValue> = learned.known.into_iter().filter(is_new).collect();
            if fresh.is_empty() {
                return None;
            }
            // The newest first, so that the oldest go when there are too many.
            settings.known.splice(n_given..n_given, fresh);
            settings.known.truncate(n_given + MOST_REMEMBERED);
            Redactor::new(settings.clone()).ok()
        }))
    }
}

/// LIMIT: of the values that hidden files held since the start.
const MOST_REMEMBERED: usize = 1024;

/// Without a workspace to learn from.
pub(super) fn redactor(
    config: &Config,
    environment: &BTreeMap<String, String>,
) -> Result<Redactor, ResolveError> {
    Redactor::new(settings(config, environment)).map_err(ResolveError::Redactor)
}

/// Everything we know to be secret: the environment's values, and every secret of the configuration itself.
fn settings(config: &Config, environment: &BTreeMap<String, String>) -> RedactorSettings {
    let vars = environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut known = known_from_environment(vars, known_env(config));
    known.extend(known::secrets(config));
    known.extend(agents::known(config, environment));
    let entropy = match config.redact.entropy {
        section::RedactEntropy::Off => Entropy::Off,
        section::RedactEntropy::Context => Entropy::Context,
        section::RedactEntropy::Aggressive => Entropy::Aggressive,
    };
    let patterns = config.secrets.redact_patterns.clone();
    let marking = match config.redact.placeholders {
        section::Placeholders::Plain => Marking::Plain,
        section::Placeholders::Numbered => Marking::Numbered,
    };
    RedactorSettings { known, patterns, entropy, marking, ..RedactorSettings::default() }
}

fn known_env(config: &Config) -> KnownEnv {
    match config.redact.known_env {
        section::KnownEnv::All => KnownEnv::All,
        section::KnownEnv::Named => KnownEnv::Named,
    }
}
