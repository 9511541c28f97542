//! What a job is given: variables, secrets, caches, and packages that installs brought in.

use std::path::PathBuf;

use vambrace_policy::{Job, Variable};

use super::Programs;
use crate::environment::{EnvironmentError, Git, Reach};
use crate::fetched::{self, Fetched};
use crate::surroundings::Surroundings;
use crate::{Network, ProgramError, cache};

impl Programs {
    /// None for what runs on the machine itself.
    pub(super) fn environment_of(
        &self,
        job: &Job,
        caged: Option<&Reach>,
        fetched: &Fetched,
    ) -> Result<Vec<(String, String)>, ProgramError> {
        let git = if job.programs().any(|program| program == "git") { Git::Direct } else { Git::Inside };
        let mut environment = self.variables(&job.variables, git, caged)?;
        let mut found = fetched.variables.clone();
        found.extend(caged.and_then(|_| self.go_cache(job)));
        environment.retain(|(name, _)| found.iter().all(|(other, _)| other != name));
        environment.extend(found);
        Ok(environment)
    }

    fn go_cache(&self, job: &Job) -> Option<(String, String)> {
        let is_writable = self.surroundings.as_ref().is_ok_and(Surroundings::service_is_writable);
        if !self.is_caging() || !is_writable {
            return None;
        }
        let cache = cache::of_go(job, &self.settings.workspace, &self.service())?;
        Some((cache::VARIABLE.to_owned(), cache.to_str()?.to_owned()))
    }

    pub(super) fn fetched_for(&self, job: &Job, network: Option<&dyn Network>) -> Fetched {
        if !self.is_caging() {
            return Fetched::default();
        }
        let line = match network {
            Some(_) => fetched::Line::Up,
            None => fetched::Line::Down,
        };
        fetched::of(job, line, self.rustup(), &self.settings.state, &self.service())
    }

    fn rustup(&self) -> fetched::Rustup<'_> {
        if let Some(name) = &self.default_rust {
            return fetched::Rustup::Default(name);
        }
        // Its stand-ins are links to it or lie beside it.
        let is_by_rustup = self.trusted.find("cargo").is_ok_and(|found| {
            let places = [found.path.as_path(), found.file.path.as_path()];
            places.iter().any(|path| path.ends_with("rustup") || path.with_file_name("rustup").exists())
        });
        if is_by_rustup { fetched::Rustup::Unknown } else { fetched::Rustup::Absent }
    }

    pub(super) fn variables(
        &self,
        variables: &[Variable],
        git: Git,
        caged: Option<&Reach>,
    ) -> Result<Vec<(String, String)>, ProgramError> {
        let secret = |name: &str| self.settings.secrets.get(name).cloned().flatten();
        let mut safe = self.environment.clone();
        if let Some(home) =
            self.settings.environment.host.get("HOME").filter(|_| caged.is_none() || !self.is_caging())
        {
            // The letter of specification 000 where nothing else is private either.
            safe.home = PathBuf::from(home);
        }
        let environment = safe.build(variables, git, caged.unwrap_or(&Reach::Nothing), &secret).map_err(
            |error| match error {
                EnvironmentError::MissingSecret { secret, .. } => {
                    ProgramError::SecretUnresolved { name: secret }
                }
                EnvironmentError::BadName { .. } | EnvironmentError::BadValue { .. } => {
                    ProgramError::Broken { why: error.to_string() }
                }
            },
        )?;
        if let Some(name) = environment.dropped.first() {
            // The operator meant a program to have it, and it would not.
            let why = format!("the variable `{name}` changes how programs are loaded, so none gets it");
            return Err(ProgramError::NotStarted { program: "the tool".to_owned(), why });
        }
        Ok(environment.variables)
    }
}
