//! What is done to the machine itself, always with a person's consent, and the table of the self-attack.

use std::time::Duration;

use vambrace_types::{Caller, ScopedPath};

use super::{allowance, chained, owned};
use crate::action::{Access, Action, Allowance, sealed};
use crate::job::{Job, Place, Runs, Variable};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings, Question, Starts};

/// Infrastructure, on the host, with vectors that are fixed by us.
#[derive(Debug, Clone)]
pub struct ManageSystem {
    /// What would be done, for the person who is asked.
    pub what: String,
    pub steps: Vec<Vec<String>>,
    pub variables: Vec<Variable>,
    pub folder: ScopedPath,
    pub time: Duration,
}

/// What a configuration file holds and what it would hold.
#[derive(Debug, Clone)]
pub struct ConfigChange {
    pub old: String,
    pub new: String,
    /// The name, beside the file, under which the old text is kept.
    pub backup: String,
}

/// Bringing a configuration file to another version. The file is protected; this is the one way an agent may cause a
/// change in it, and the change itself is ours.
#[derive(Debug, Clone)]
pub struct MigrateConfig {
    pub path: ScopedPath,
    pub target: u64,
    /// Only shows what would be done.
    pub rehearsal: bool,
    /// INVARIANT: empty until the file was read, and whoever fills it has the action decided again.
    pub change: Option<ConfigChange>,
}

/// The self-attack table.
#[derive(Debug, Clone)]
pub struct ReadPosture;

impl sealed::Sealed for ManageSystem {}
impl Action for ManageSystem {
    const CAPABILITY: Capability = Capability::ManageSystem;
    const KINDS: Kinds = Kinds { starts: Starts::OnHost, ..Kinds::NONE };

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn judge(&self, _settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let question = Question { rule: "system tools".to_owned(), what: self.what.clone() };
        Ok(Judgement { rule: Some("system tools".to_owned()), touched: Vec::new(), question: Some(question) })
    }

    fn time(&self) -> Allowance {
        allowance(&self.job())
    }

    fn vectors(&self) -> Vec<Vec<String>> {
        owned(&self.job())
    }
}

impl Runs for ManageSystem {
    fn job(&self) -> Job {
        let mut job = chained(&self.steps, &self.folder, self.time);
        job.variables = self.variables.clone();
        job.place = Place::Host;
        job
    }
}

impl sealed::Sealed for MigrateConfig {}
impl Action for MigrateConfig {
    const CAPABILITY: Capability = Capability::ManageSystem;
    const KINDS: Kinds = Kinds::CHANGES_AND_SHOWS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        vec![(&self.path, Access::Read)]
    }

    fn judge(&self, _settings: &PolicySettings, _caller: &Caller) -> Result<Judgement, Denial> {
        let mut judgement = Judgement::by("system tools");
        // Without a change there is nothing that could be done, so nothing to ask about.
        if self.change.is_some() && !self.rehearsal {
            let name = self.path.file_name().unwrap_or_default();
            let what = format!("bring the configuration file `{name}` to version {}.", self.target);
            judgement.question = Some(Question { rule: "system tools".to_owned(), what });
        }
        Ok(judgement)
    }
}

impl sealed::Sealed for ReadPosture {}
impl Action for ReadPosture {
    const CAPABILITY: Capability = Capability::ReadPosture;
    const KINDS: Kinds = Kinds::NONE;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }
}
