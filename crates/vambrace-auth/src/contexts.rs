//! Which context a caller works in (specification 004's `ToolContext`): rows that are looked
//! through from the first to the last. Pure; what they are compared with was proved before.

use std::sync::Arc;

use vambrace_types::Role;

use crate::task::Task;
use crate::{Credential, Identity, Refusal};

/// What a caller has to be. Everything that is named has to fit; of one list, one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextMatch {
    pub caller_ids: Vec<String>,
    /// Callers whose API keys the configuration holds: no other credential gives their names.
    pub keys: Vec<String>,
    pub emails: Vec<String>,
    pub groups: Vec<String>,
    /// A token's claim, as a path, and the value that it has or holds.
    pub claims: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct ContextRow {
    pub name: Arc<str>,
    /// None: everybody whom no earlier row is about.
    pub matches: Option<ContextMatch>,
    pub role: Option<Role>,
}

/// Without rows, everybody works with the configuration as it is.
#[derive(Debug, Clone, Default)]
pub struct ContextRows(pub Vec<ContextRow>);

/// Where a caller works, and as what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) context: Option<Arc<str>>,
    pub(crate) role: Option<Role>,
}

impl ContextMatch {
    fn is_about(&self, identity: &Identity) -> bool {
        let fits = |list: &[String], is_one: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|entry| is_one(entry))
        };
        // THREAT: P13, only ASCII letters fold, as in the lists of permissions.
        let is_email = |entry: &str| {
            identity
                .email
                .as_deref()
                .is_some_and(|email| !email.is_empty() && email.eq_ignore_ascii_case(entry))
        };
        let has_claim = |wanted: &(String, String)| identity.claims.contains(wanted);
        fits(&self.caller_ids, &|entry| identity.caller_id == entry)
            && fits(&self.keys, &|entry| {
                identity.credential == Credential::ApiKey && identity.caller_id == entry
            })
            && fits(&self.emails, &is_email)
            && fits(&self.groups, &|entry| identity.groups.iter().any(|group| group == entry))
            && (self.claims.is_empty() || self.claims.iter().any(has_claim))
    }
}

impl ContextRows {
    pub fn find(&self, name: &str) -> Option<&ContextRow> {
        self.0.iter().find(|row| *row.name == *name)
    }

    /// THREAT: P13, with rows, who fits none has no place: a stranger to the table must not get
    /// more than all others.
    pub(crate) fn place(&self, identity: &Identity) -> Result<Place, Refusal> {
        if let Some(task) = &identity.task {
            return self.of_task(task);
        }
        if self.0.is_empty() {
            return Ok(Place::default());
        }
        let fits = |row: &&ContextRow| row.matches.as_ref().is_none_or(|matches| matches.is_about(identity));
        let row = self.0.iter().find(fits).ok_or(Refusal::NoContext)?;
        Ok(Place { context: Some(Arc::clone(&row.name)), role: row.role })
    }

    /// A task's context is what its token says, as it is now, and so is the context's role. Policy
    /// asks the token's role beside it.
    fn of_task(&self, task: &Task) -> Result<Place, Refusal> {
        match &task.context {
            None if self.0.is_empty() => Ok(Place { context: None, role: task.role }),
            None => Err(Refusal::NoContext),
            Some(name) => {
                let row = self.0.iter().find(|row| *row.name == **name).ok_or(Refusal::NoContext)?;
                Ok(Place { context: Some(Arc::clone(&row.name)), role: row.role.or(task.role) })
            }
        }
    }

    /// Paths of the claims that rows ask for.
    pub fn claim_paths(&self) -> impl Iterator<Item = &str> {
        let matches = self.0.iter().filter_map(|row| row.matches.as_ref());
        matches.flat_map(|matches| matches.claims.iter().map(|(path, _)| path.as_str()))
    }
}
