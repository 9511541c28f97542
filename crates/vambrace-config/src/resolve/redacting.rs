//! The redactor that a configuration and a workspace come to.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use vambrace_files::{HiddenStamp, Keeping, Root, Vouchers};
use vambrace_policy::Scope;
use vambrace_redact::{
    Entropy, FingerprintKey, KnownEnv, KnownValue, Marking, Redactor, RedactorSettings,
    known_from_environment,
};
use vambrace_runtime::{MarkPrograms, Relearn, Relearned};

use super::known_files::Source;
use super::{ResolveError, agents, known, scope};
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
    vouchers: Arc<Vouchers>,
}

impl Redacting {
    /// For a command that only redacts: what it knows is what a tool call in the same workspace would know. `marking`
    /// stands instead of what the configuration says.
    pub fn in_workspace(
        loaded: &Loaded,
        environment: &BTreeMap<String, String>,
        root: &Root,
        state: &Path,
        marking: Option<Marking>,
    ) -> Result<Redacting, ResolveError> {
        let location = root.location().map_err(|errno| ResolveError::WorkspaceLost(errno.into()))?;
        let spelled = std::path::absolute(&loaded.workspace).map_err(ResolveError::WorkspaceLost)?;
        let scope = scope(loaded, &location, &spelled)?;
        let vouchers = Arc::new(Vouchers::of(state, root, Keeping::Nothing));
        let place = Place { root, scope: &scope, vouchers };
        Redacting::start(loaded, environment, place, marking, None, Vec::new())
    }

    pub(super) fn start(
        loaded: &Loaded,
        environment: &BTreeMap<String, String>,
        place: Place<'_>,
        marking: Option<Marking>,
        key: Option<FingerprintKey>,
        known: Vec<KnownValue>,
    ) -> Result<Redacting, ResolveError> {
        let baseline = BaselineFile::read(place.root, loaded.config.profile)?;
        let baseline = baseline.map(|file| file.baseline()).unwrap_or_default();
        let mut settings = settings(&loaded.config, environment);
        settings.known.extend(known);
        let is_of_project = |pattern: &String| loaded.project_patterns.contains(pattern);
        (settings.project_patterns, settings.patterns) =
            settings.patterns.into_iter().partition(is_of_project);
        let marking = marking.unwrap_or(settings.marking);
        Redacting::learn(&loaded.config, place, RedactorSettings { baseline, marking, key, ..settings })
    }

    /// For whoever looks for what could be accepted.
    pub(super) fn without_baseline(
        config: &Config,
        environment: &BTreeMap<String, String>,
        place: Place<'_>,
    ) -> Result<Redacting, ResolveError> {
        Redacting::learn(config, place, settings(config, environment))
    }

    fn learn(
        config: &Config,
        place: Place<'_>,
        mut settings: RedactorSettings,
    ) -> Result<Redacting, ResolveError> {
        let (rule, n_given) = (known_env(config), settings.known.len());
        let Place { root, scope, vouchers } = place;
        let learned = match config.redact.known_files {
            section::KnownFiles::Off => None,
            section::KnownFiles::On => Source { root, scope, vouchers: &vouchers, rule }.learn(None),
        };
        let (warnings, stamps) = match learned {
            None => (Vec::new(), None),
            Some(learned) => {
                settings.known.extend(learned.known);
                settings.doubtful = learned.doubtful;
                (learned.warnings, Some(learned.stamps))
            }
        };
        let redactor = Redactor::new(settings.clone()).map_err(ResolveError::Redactor)?;
        Ok(Redacting { redactor, warnings, settings, n_given, stamps, rule, vouchers })
    }

    /// Looks whether the hidden files have changed, and makes a redactor that knows the new values too. What was known
    /// once stays known: an old password may still be good.
    pub(super) fn relearn(&self, root: &Root, scope: &Scope) -> Option<Relearn> {
        let stamps = self.stamps.clone()?;
        let root = root.try_clone().ok()?;
        let (settings, scope, rule) = (self.settings.clone(), scope.clone(), self.rule);
        let (n_given, vouchers) = (self.n_given, Arc::clone(&self.vouchers));
        let told = self.warnings.clone();
        let state = Mutex::new((stamps, settings, told));
        Some(Box::new(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (stamps, settings, told) = &mut *state;
            let source = Source { root: &root, scope: &scope, vouchers: &vouchers, rule };
            let Some(learned) = source.learn(Some(stamps)) else { return Relearned::default() };
            *stamps = learned.stamps;
            let warnings: Vec<String> =
                learned.warnings.iter().filter(|warning| !told.contains(warning)).cloned().collect();
            *told = learned.warnings;
            let fresh = fresh(learned.known, &settings.known);
            let doubtful = fresh_doubtful(learned.doubtful, settings);
            if fresh.is_empty() && doubtful.is_empty() {
                return Relearned { redactor: None, warnings };
            }
            // The newest first, so that the oldest go when there are too many.
            settings.known.splice(n_given..n_given, fresh);
            settings.known.truncate(n_given + MOST_REMEMBERED);
            settings.doubtful.splice(0..0, doubtful);
            settings.doubtful.truncate(MOST_DOUBTFUL_REMEMBERED);
            Relearned { redactor: Redactor::new(settings.clone()).ok(), warnings }
        }))
    }

    /// To be called before a program starts, and dropped when it has ended.
    pub(super) fn mark(&self) -> MarkPrograms {
        let vouchers = Arc::clone(&self.vouchers);
        Box::new(move || Box::new(vouchers.program_begins()))
    }
}

/// What the redactor of a workspace learns from.
pub(super) struct Place<'a> {
    pub(super) root: &'a Root,
    pub(super) scope: &'a Scope,
    pub(super) vouchers: Arc<Vouchers>,
}

fn fresh(found: Vec<KnownValue>, known: &[KnownValue]) -> Vec<KnownValue> {
    let is_new = |value: &KnownValue| known.iter().all(|known| known.value.expose() != value.value.expose());
    found.into_iter().filter(is_new).collect()
}

fn fresh_doubtful(found: Vec<KnownValue>, settings: &RedactorSettings) -> Vec<KnownValue> {
    fresh(fresh(found, &settings.known), &settings.doubtful)
}

/// LIMIT: the same for what nobody vouches for.
const MOST_DOUBTFUL_REMEMBERED: usize = 128;
/// LIMIT: of the values that hidden files held since the start.
const MOST_REMEMBERED: usize = 2048;

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
