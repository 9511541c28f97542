//! What a caller works in: its rules, its workspace and service, its limits. Callers of one process
//! may each have another; the walk takes everything from the one of its caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use vambrace_policy::{Capability, Policy};
use vambrace_tools::{Instruments, Limits, Toolbox};
use vambrace_types::{Caller, ToolError};

use crate::Redaction;

pub struct Context {
    /// None: the configuration as it is.
    pub name: Option<Arc<str>>,
    pub policy: Policy,
    pub instruments: Instruments,
    pub limits: Limits,
    pub toolbox: Arc<Toolbox>,
    pub redaction: Arc<Redaction>,
    /// Stands for the whole policy in what an approval is bound to, across processes.
    pub policy_fingerprint: [u8; 32],
}

impl Context {
    /// Whether anything is served: nothing is from a sandbox that was broken into. Waits for no proof.
    pub(crate) fn unbroken(&self) -> Result<(), ToolError> {
        self.instruments.programs.unbroken().map_err(|error| error.to_tool_error())
    }

    pub(crate) fn may_use(&self, caller: &Caller, capability: Capability) -> bool {
        self.policy.authorize(caller, capability).is_ok()
    }
}

/// Every context there is, by name.
pub struct Contexts {
    default: Arc<Context>,
    named: BTreeMap<Arc<str>, Arc<Context>>,
}

impl Contexts {
    /// `default` is for whoever is in none: the people at this machine, and everybody where no
    /// contexts are configured.
    pub fn new(default: Context, others: Vec<Context>) -> Contexts {
        let named = others.into_iter().filter_map(|context| Some((context.name.clone()?, Arc::new(context))));
        Contexts { default: Arc::new(default), named: named.collect() }
    }

    /// None: the caller was placed in one that there is not, and gets no other.
    pub(crate) fn of(&self, caller: &Caller) -> Option<&Arc<Context>> {
        match &caller.context {
            None => Some(&self.default),
            Some(name) => self.named.get(name),
        }
    }

    pub(crate) fn default(&self) -> &Arc<Context> {
        &self.default
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Context>> {
        std::iter::once(&self.default).chain(self.named.values())
    }
}
